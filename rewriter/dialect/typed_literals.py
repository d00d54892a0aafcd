"""Literals of Spark SQL: strings, numbers with a suffix, typed literals, and intervals."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.parsers.hive import HiveParser
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from rewriter.dialect.nodes import MultiUnitInterval, TypedLiteral

LITERAL_TYPES = ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "TIME")
"""Words that give the type of the string after them."""

STRINGS = (TokenType.STRING, TokenType.RAW_STRING)

SUFFIXES = ("L", "S", "Y", "D", "F", "BD")
"""Suffixes that give the type of a number."""

_UNITS = frozenset(
    unit + plural
    for unit in (
        "NANOSECOND",
        "MICROSECOND",
        "MILLISECOND",
        "SECOND",
        "MINUTE",
        "HOUR",
        "DAY",
        "WEEK",
        "MONTH",
        "YEAR",
    )
    for plural in ("", "S")
)


class LiteralParser(SparkParser):
    """Reads literals as they are spelled, and types, which a literal may begin with."""

    PRIMARY_PARSERS: ClassVar = {
        **SparkParser.PRIMARY_PARSERS,
        TokenType.STRING: lambda self, token: self._parse_strings(token),
        TokenType.RAW_STRING: lambda self, token: self._parse_strings(token),
    }

    UNARY_PARSERS: ClassVar = {
        **SparkParser.UNARY_PARSERS,
        TokenType.PLUS: lambda self: self.expression(
            exp.Anonymous(this="positive", expressions=[self._parse_unary()])
        ),
        TokenType.DASH: lambda self: self._parse_minus(),
    }

    def _parse_strings(self, token: Token) -> exp.Expr:
        """Join adjacent string literals, as Spark does; raw ones need no escapes once decoded."""
        text = token.text
        last = token
        while self._match_set(STRINGS):
            last = self._prev
            text += last.text
        literal = self.expression(exp.Literal(this=text, is_string=True), token)
        literal.meta["end"] = last.end
        return literal

    def _parse_primary(self) -> exp.Expr | None:
        if self._match_pair(TokenType.DOT, TokenType.NUMBER):
            return self.expression(exp.Literal.number(f".{self._prev.text}"), self._prev)
        return super()._parse_primary()

    def _parse_minus(self) -> exp.Expr | None:
        """Parse a minus; before a number it is part of the literal, tighter than ``::``."""
        if not self._match(TokenType.NUMBER):
            return self.expression(exp.Neg(this=self._parse_unary()))
        value: exp.Expr = self.expression(exp.Literal.number(self._prev.text), self._prev)
        if self._match(TokenType.DCOLON, advance=False) and self._next.text.upper() in SUFFIXES:
            self._advance()
            to = self._parse_types()
            value = self.build_cast(True, this=value, to=to) if to else value
        return self._parse_column_ops(self.expression(exp.Neg(this=value)))

    def build_cast(self, strict: bool, **kwargs: exp.Expr) -> exp.Expr:
        """Keep ``1L`` a literal: the tokenizer turns it into ``1::BIGINT``."""
        suffix = self._prev.text
        value = kwargs["this"]
        if suffix.upper() in SUFFIXES and isinstance(value, exp.Literal):
            return self.expression(
                TypedLiteral(this=value, to=kwargs["to"], suffix=suffix), comments=value.comments
            )
        return super().build_cast(strict, **kwargs)

    def _parse_type(
        self, parse_interval: bool = True, fallback_to_identifier: bool = False
    ) -> exp.Expr | None:
        literal = self._parse_typed_literal()
        if literal:
            return self._parse_column_ops(literal)
        return super()._parse_type(parse_interval, fallback_to_identifier)

    def _parse_types(
        self,
        check_func: bool = False,
        schema: bool = False,
        allow_identifiers: bool = True,
        with_collation: bool = False,
    ) -> exp.Expr | None:
        """Parse a type; ``HiveParser`` makes ``varchar(3)`` a string, which Spark decides."""
        parsed = super(HiveParser, self)._parse_types(
            check_func, schema, allow_identifiers, with_collation
        )
        collation = parsed.args.get("collate") if isinstance(parsed, exp.DataType) else None
        if isinstance(collation, exp.Column):  # the name of a collation is not a column's
            collation.replace(exp.var(collation.name))
        return parsed

    def _parse_typed_literal(self) -> exp.Expr | None:
        if self._curr.text.upper() not in LITERAL_TYPES or self._next.token_type not in STRINGS:
            return None
        if self._curr.token_type in (TokenType.IDENTIFIER, *STRINGS):
            return None
        prefix = self._curr.text.upper()
        to = self._parse_types()
        self._advance()
        return self.expression(
            TypedLiteral(this=self._parse_strings(self._prev), to=to, prefix=prefix)
        )

    def _parse_interval(
        self, require_interval: bool = True, parse_function_unit: bool = True
    ) -> exp.Interval | None:
        """Parse an interval literal; Spark has no intervals of an expression."""
        index = self._index
        if require_interval and not self._match(TokenType.INTERVAL):
            return None
        parts: list[exp.Interval] = []
        while (part := self._parse_interval_part(bare=not parts)) is not None:
            parts.append(part)
        if not parts:
            self._retreat(index)
            return None
        if len(parts) == 1:
            return parts[0]
        return self.expression(MultiUnitInterval(expressions=parts))

    def _parse_interval_part(self, bare: bool) -> exp.Interval | None:
        index = self._index
        sign = self._prev if self._match_set((TokenType.DASH, TokenType.PLUS)) else None
        value: exp.Expr
        if self._match_set(STRINGS):
            value = self._parse_strings(self._prev)
        elif self._match(TokenType.NUMBER):
            value = self.expression(exp.Literal.number(self._prev.text), self._prev)
        else:
            self._retreat(index)
            return None
        if sign and sign.token_type == TokenType.DASH:
            value = exp.Neg(this=value)
        unit = self._parse_interval_unit()
        if not unit and not (bare and value.is_string):
            self._retreat(index)
            return None
        return self.expression(exp.Interval(this=value, unit=unit))

    def _parse_interval_unit(self) -> exp.Expr | None:
        if self._curr.text.upper() not in _UNITS:
            return None
        self._advance()
        unit = exp.var(self._prev.text.upper())
        if self._match_text_seq("TO"):
            self._advance()
            return exp.IntervalSpan(this=unit, expression=exp.var(self._prev.text.upper()))
        return unit

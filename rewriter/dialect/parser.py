"""Reading Spark SQL: what sqlglot's Spark parser takes for something else."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import ClassVar

from sqlglot import exp
from sqlglot.parsers.hive import HiveParser
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from rewriter.dialect.functions import BUILDERS
from rewriter.dialect.nodes import (
    SPELLED,
    BoundedCTE,
    DerivedValues,
    IsNotNull,
    MultiUnitInterval,
    RelationQuery,
    TypedLiteral,
    UnsignedRightShift,
    VariantExtract,
)
from rewriter.dialect.pipes import Piped, PipeParser
from rewriter.dialect.table_arguments import TableArgumentParser

_JOIN_HINTS = (
    "BROADCAST",
    "BROADCASTJOIN",
    "MAPJOIN",
    "MERGE",
    "MERGEJOIN",
    "SHUFFLEMERGE",
    "SHUFFLE_HASH",
    "SHUFFLE_REPLICATE_NL",
)

_LITERAL_TYPES = ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "TIME")

_STRINGS = (TokenType.STRING, TokenType.RAW_STRING)

_SUFFIXES = ("L", "S", "Y", "D", "F", "BD")

_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)

_SET_OPERATIONS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)

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


class SparkSQLParser(PipeParser, TableArgumentParser):
    """The parser of :class:`rewriter.dialect.SparkSQL`."""

    ADD_JOIN_ON_TRUE = False
    COLON_IS_VARIANT_EXTRACT = True

    SUBQUERY_TOKENS: ClassVar = {*SparkParser.SUBQUERY_TOKENS, TokenType.FROM, TokenType.VALUES}

    RANGE_PARSERS: ClassVar = {
        token: parser
        for token, parser in SparkParser.RANGE_PARSERS.items()
        if token != TokenType.FOR  # comprehensions of other engines
    }

    TERM: ClassVar = {**SparkParser.TERM, TokenType.DPIPE: exp.DPipe}

    FUNCTIONS: ClassVar = {**BUILDERS}

    FUNCTION_PARSERS: ClassVar = {
        **{name: SparkParser.FUNCTION_PARSERS[name] for name in _JOIN_HINTS},
        "CAST": lambda self: self._parse_cast(True),
        "EXTRACT": lambda self: self._parse_extract(),
        "IF": lambda self: self._parse_if_call(),
        "OVERLAY": lambda self: self._parse_overlay_call(),
        "POSITION": lambda self: self._parse_position_call(),
        "SUBSTR": lambda self: self._parse_substring_call("substr"),
        "SUBSTRING": lambda self: self._parse_substring_call("substring"),
        "TRIM": lambda self: self._parse_trim_call(),
        "TRY_CAST": lambda self: self._parse_cast(False, safe=True),
    }

    NO_PAREN_FUNCTIONS: ClassVar = {
        TokenType.CURRENT_DATE: exp.CurrentDate,
        TokenType.CURRENT_TIME: exp.CurrentTime,
        TokenType.CURRENT_TIMESTAMP: exp.CurrentTimestamp,
        TokenType.CURRENT_USER: exp.CurrentUser,
        TokenType.SESSION_USER: exp.CurrentUser,
    }

    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}

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

    def parse(self, raw_tokens: list[Token], sql: str) -> list[exp.Expr | None]:
        """Parse statements; ``window(`` is a call, a window clause has a name after the word.

        ``TABLE t`` as a query is read as ``FROM t``, and ``VALUES`` as a query as one over them.
        """
        raw_tokens = _without_table_queries(raw_tokens)
        for token, following in pairwise(raw_tokens):
            if token.token_type == TokenType.WINDOW and following.token_type == TokenType.L_PAREN:
                token.token_type = TokenType.VAR
        return [self._with_inline_queries(part) for part in super().parse(raw_tokens, sql)]

    def _with_inline_queries(self, statement: exp.Expr | None) -> exp.Expr | None:
        if statement is None:
            return None
        for values in list(statement.find_all(exp.Values)):
            if values is statement:
                return self._values_to_select(values)
            if isinstance(values.parent, (exp.Exists, exp.Subquery, Piped)):
                values.replace(self._values_to_select(values.copy()))
        return statement

    def _values_to_select(self, values: exp.Values) -> exp.Select:
        """Return the query that an inline table is, with its ORDER BY and LIMIT."""
        clauses = {name: values.args.get(name) for name in exp.QUERY_MODIFIERS}
        rows = exp.Values(expressions=values.expressions, alias=values.args.get("alias"))
        query = RelationQuery(expressions=[exp.Star()], from_=exp.From(this=rows), **clauses)
        query.set("word", exp.var("VALUES"))
        return query

    def _parse_strings(self, token: Token) -> exp.Expr:
        """Join adjacent string literals, as Spark does; raw ones need no escapes once decoded."""
        text = token.text
        last = token
        while self._match_set(_STRINGS):
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
        if self._match(TokenType.DCOLON, advance=False) and self._next.text.upper() in _SUFFIXES:
            self._advance()
            to = self._parse_types()
            value = self.build_cast(True, this=value, to=to) if to else value
        return self._parse_column_ops(self.expression(exp.Neg(this=value)))

    def _parse_bitwise(self) -> exp.Expr | None:
        """Parse ``|``, ``^``, ``&`` and the shifts, each level binding tighter, as in Spark."""
        this = self._parse_bitwise_xor()
        while self._match(TokenType.PIPE):
            this = self.expression(exp.BitwiseOr(this=this, expression=self._parse_bitwise_xor()))
        return this

    def _parse_bitwise_xor(self) -> exp.Expr | None:
        this = self._parse_bitwise_and()
        while self._match(TokenType.CARET):
            this = self.expression(exp.BitwiseXor(this=this, expression=self._parse_bitwise_and()))
        return this

    def _parse_bitwise_and(self) -> exp.Expr | None:
        this = self._parse_shift()
        while self._match(TokenType.AMP):
            this = self.expression(exp.BitwiseAnd(this=this, expression=self._parse_shift()))
        return this

    def _parse_shift(self) -> exp.Expr | None:
        this = self._parse_term()
        while True:
            node: type[exp.Binary]
            if self._match_pair(TokenType.LT, TokenType.LT):
                node = exp.BitwiseLeftShift
            elif self._match_pair(TokenType.GT, TokenType.GT):
                unsigned = self._match(TokenType.GT)
                node = UnsignedRightShift if unsigned else exp.BitwiseRightShift
            else:
                return this
            this = self.expression(node(this=this, expression=self._parse_term()))

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """Parse ``value[index]``; Spark has no constructors in brackets."""
        while this and self._match(TokenType.L_BRACKET):
            index = self._parse_disjunction()
            if not self._match(TokenType.R_BRACKET):
                self.raise_error("Expected ]")
            this = self.expression(exp.Bracket(this=this, expressions=[index]))
        return this

    def _parse_is(self, this: exp.Expr | None) -> exp.Expr | None:
        parsed = super()._parse_is(this)
        if (
            type(parsed) is exp.Not
            and isinstance(parsed.this, exp.Is)
            and isinstance(parsed.this.expression, exp.Null)
        ):
            return self.expression(IsNotNull(this=parsed.this), comments=parsed.comments)
        return parsed

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        """Parse a join; one by comma is inner, not ``CROSS``."""
        comma = self._match(TokenType.COMMA, advance=False)
        join = super()._parse_join(skip_join_token, parse_bracket, alias_tokens)
        if comma and join:
            join.set("kind", None)
        return join

    def _parse_subquery(
        self, this: exp.Expr | None, parse_alias: bool = True
    ) -> exp.Subquery | None:
        """Parse what stands after a query in brackets; a sample stands before the alias."""
        sample = self._parse_table_sample()
        subquery = super()._parse_subquery(this, parse_alias)
        if subquery and sample:
            subquery.set("sample", sample)
        return subquery

    def _parse_cte(self) -> exp.CTE | exp.FunctionSpecification | None:
        """Parse a named query, which may say how deep it recurses."""
        index = self._index
        alias = self._parse_table_alias(self.ID_VAR_TOKENS)
        if not alias or not self._match_text_seq("MAX", "RECURSION", "LEVEL"):
            self._retreat(index)
            return super()._parse_cte()
        level = self._parse_number()
        self._match(TokenType.ALIAS)
        query = self._parse_wrapped(self._parse_statement)
        return self.expression(BoundedCTE(this=query, alias=alias, level=level))

    def _parse_value(self, values: bool = True) -> exp.Tuple | None:
        """Parse one row of an inline table; an alias after it is the table's."""
        if self._match(TokenType.L_PAREN):
            row = self._parse_csv(self._parse_disjunction)
            self._match_r_paren()
            return self.expression(exp.Tuple(expressions=row))
        value = self._parse_disjunction()
        return self.expression(exp.Tuple(expressions=[value])) if value else None

    def _parse_derived_table_values(self, allow_value_synonym: bool = False) -> exp.Values | None:
        derived = self._match_pair(TokenType.L_PAREN, TokenType.VALUES, advance=False)
        values = super()._parse_derived_table_values(allow_value_synonym)
        return DerivedValues(**values.args) if derived and values else values

    def _parse_pivot_aggregation(self) -> exp.Expr | None:
        """Parse an aggregate of PIVOT, or an expression over some, with its alias."""
        return self._parse_alias(self._parse_disjunction())

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        """Parse GROUP BY; ALL may also be the name of a column, as the user spelled it."""
        spelled = self._next.text
        group = super()._parse_group(skip_group_by_token)
        if group is not None and group.args.get("all"):
            group.meta[SPELLED] = spelled
        return group

    def _parse_cube_or_rollup(self, with_prefix: bool = False) -> exp.Cube | exp.Rollup | None:
        """Parse CUBE or ROLLUP; among their keys may be conditions."""
        for token, kind in ((TokenType.CUBE, exp.Cube), (TokenType.ROLLUP, exp.Rollup)):
            if self._match(token):
                keys = [] if with_prefix else self._parse_wrapped_csv(self._parse_disjunction)
                return self.expression(kind(expressions=keys))
        return None

    def _parse_grouping_set(self) -> exp.Expr | None:
        return (
            self._parse_grouping_sets() or self._parse_cube_or_rollup() or self._parse_disjunction()
        )

    def _parse_extract(self) -> exp.Extract:
        """Parse ``EXTRACT(field FROM source)``, the field spelled as the user did."""
        self._advance()
        field = exp.var(self._prev.text)
        if not self._match(TokenType.FROM):
            self.raise_error("Expected FROM after the field of EXTRACT")
        return self.expression(exp.Extract(this=field, expression=self._parse_bitwise()))

    def build_cast(self, strict: bool, **kwargs: exp.Expr) -> exp.Expr:
        """Keep ``1L`` a literal: the tokenizer turns it into ``1::BIGINT``."""
        suffix = self._prev.text
        value = kwargs["this"]
        if suffix.upper() in _SUFFIXES and isinstance(value, exp.Literal):
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
        if isinstance(collation, exp.Column):  # the name of a collation is no column's
            collation.replace(exp.var(collation.name))
        return parsed

    def _parse_typed_literal(self) -> exp.Expr | None:
        if self._curr.text.upper() not in _LITERAL_TYPES or self._next.token_type not in _STRINGS:
            return None
        if self._curr.token_type in (TokenType.IDENTIFIER, *_STRINGS):
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
        if self._match_set(_STRINGS):
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

    def _parse_colon_as_variant_extract(self, this: exp.Expr | None) -> exp.Expr | None:
        extracted = False
        while this and self._curr.token_type == TokenType.COLON:
            self._advance()
            start = self._curr
            self._parse_variant_path()
            path = self._find_sql(start, self._prev)
            this = self.expression(VariantExtract(this=this, path=exp.Literal.string(path)))
            extracted = True
        return self._parse_column_ops(this) if extracted else this

    def _parse_variant_path(self) -> None:
        first = True
        while True:
            if self._match(TokenType.L_BRACKET):
                while not self._match(TokenType.R_BRACKET):
                    self._advance()
                    if not self._curr:
                        self.raise_error("Expected ]")
            elif first or self._match(TokenType.DOT):
                self._advance()
            else:
                return
            first = False

    def _parse_if_call(self) -> exp.Expr:
        args = self._parse_function_args()
        if len(args) != 3:
            return exp.Anonymous(this="if", expressions=args)
        return self.expression(exp.If(this=args[0], true=args[1], false=args[2]))

    def _parse_overlay_call(self) -> exp.Expr:
        args = self._parse_function_args()
        if len(args) != 1 or not self._match_text_seq("PLACING"):
            return exp.Anonymous(this="overlay", expressions=args)
        placing = self._parse_bitwise()
        start = self._parse_bitwise() if self._match(TokenType.FROM) else None
        length = self._parse_bitwise() if self._match(TokenType.FOR) else None
        return self.expression(
            exp.Overlay(this=args[0], expression=placing, from_=start, for_=length)
        )

    def _parse_position_call(self) -> exp.Expr:
        first = self._parse_bitwise()
        if self._match(TokenType.IN):
            return self.expression(exp.StrPosition(this=self._parse_bitwise(), substr=first))
        rest = self._parse_function_args() if self._match(TokenType.COMMA) else []
        return exp.Anonymous(this="position", expressions=[first, *rest])

    def _parse_substring_call(self, name: str) -> exp.Expr:
        args = self._parse_function_args()
        for keyword in (TokenType.FROM, TokenType.FOR):
            if self._match(keyword) and (argument := self._parse_bitwise()):
                name = "substring"
                args.append(argument)
        return exp.Anonymous(this=name, expressions=args)

    def _parse_trim_call(self) -> exp.Expr:
        position = self._match_texts(("BOTH", "LEADING", "TRAILING")) and self._prev.text.upper()
        what = None if self._match(TokenType.FROM, advance=False) else self._parse_bitwise()
        if self._match(TokenType.FROM):
            return self.expression(
                exp.Trim(this=self._parse_bitwise(), expression=what, position=position or None)
            )
        rest = self._parse_function_args() if self._match(TokenType.COMMA) else []
        return exp.Anonymous(this="trim", expressions=[what, *rest])


def _without_table_queries(tokens: list[Token]) -> list[Token]:
    """Tokens with ``FROM t`` in the place of every query ``TABLE t``, the word as it was."""
    return [
        Token(TokenType.FROM, token.text, token.line, token.col, token.start, token.end)
        if token.token_type == TokenType.TABLE and _begins_query(tokens, number)
        else token
        for number, token in enumerate(tokens)
    ]


def _begins_query(tokens: list[Token], number: int) -> bool:
    """Tell whether a TABLE stands where a query may: neither in ``f(TABLE t)`` nor as a name."""
    if number + 1 == len(tokens) or tokens[number + 1].token_type not in _NAMES:
        return False
    before = [token.token_type for token in reversed(tokens[max(number - 2, 0) : number])]
    if not before or before[0] in (*_SET_OPERATIONS, TokenType.R_PAREN):
        return True
    if before[0] in (TokenType.ALL, TokenType.DISTINCT):
        return before[1:] != [] and before[1] in _SET_OPERATIONS
    return before[0] == TokenType.L_PAREN and (before[1:] == [] or before[1] not in _NAMES)

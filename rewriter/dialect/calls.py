"""Calls of functions that have a syntax of their own, such as ``TRIM(BOTH x FROM y)``."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

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


class CallParser(SparkParser):
    """Reads calls by the syntax of each function; all others are calls of plain arguments."""

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

    def _parse_extract(self) -> exp.Extract:
        """Parse ``EXTRACT(field FROM source)``, the field spelled as the user did."""
        self._advance()
        field = exp.var(self._prev.text)
        if not self._match(TokenType.FROM):
            self.raise_error("Expected FROM after the field of EXTRACT")
        return self.expression(exp.Extract(this=field, expression=self._parse_bitwise()))

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

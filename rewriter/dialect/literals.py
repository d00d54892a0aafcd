"""The literals of a text with their types, which Spark's plans do not show."""

from __future__ import annotations

from collections import Counter

from sqlglot.tokenizer_core import Token, TokenType

from rewriter.dialect.sparksql import tokenize
from rewriter.dialect.typed_literals import LITERAL_TYPES, STRINGS, SUFFIXES

_WORDS = (TokenType.NULL, TokenType.TRUE, TokenType.FALSE)
_PREFIXES = (*LITERAL_TYPES, "INTERVAL")

_NO_LITERAL_AFTER = (TokenType.DOT, TokenType.IS, TokenType.ALIAS)
"""Before a word that is no literal but part of a name or a predicate."""


def literals(sql: str) -> Counter[tuple[str, str]]:
    """Count the literals of a text by type and value; adjacent strings are one.

    A plan prints ``1``, ``1L`` and ``'1'`` alike. Two texts of one meaning have the same literals.
    """
    written: list[tuple[str, str]] = []
    before: Token | None = None
    for token in tokenize(sql):
        kind = token.token_type
        previous = before.token_type if before else None
        if kind in STRINGS and previous in STRINGS:
            written[-1] = (written[-1][0], written[-1][1] + token.text)
        elif kind in STRINGS:
            prefix = before.text.upper() if before else ""
            written.append((prefix if prefix in _PREFIXES else "STRING", token.text))
        elif kind == TokenType.NUMBER:
            written.append(("NUMBER", token.text))
        elif previous == TokenType.DCOLON and token.text.upper() in SUFFIXES:
            written[-1] = (token.text.upper(), written[-1][1])
        elif kind == TokenType.HEX_STRING:
            written.append(("BINARY", token.text.upper()))
        elif kind in _WORDS and previous not in _NO_LITERAL_AFTER:
            written.append((token.text.upper(), ""))
        if not (previous == TokenType.IS and kind == TokenType.NOT):
            before = token
    return Counter(written)

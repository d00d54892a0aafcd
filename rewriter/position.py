"""Places in the user's SQL text: where an operator stands, and the excerpt an error shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from traceback import walk_tb

import sqlglot
from sqlglot import Token, exp
from sqlglot.dialects.spark import Spark

_EXTENT = (exp.Column, exp.Dot, exp.Table)
"""Nodes shown whole; of others the first token is shown, since brackets carry no position."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the user's text: 1-based line and column of its start, and character offsets.

    With ``view``, the place is in the text of that view.
    """

    line: int
    column: int
    start: int
    end: int
    view: str | None = None


def span_at(sql: str, start: int, end: int) -> Span:
    """Return the span of ``sql[start:end]``."""
    lines = (sql[:start] + "|").splitlines()
    return Span(line=len(lines), column=len(lines[-1]), start=start, end=end)


def span_of(node: exp.Expr, sql: str) -> Span | None:
    """Return where a parsed node stands in the text it was parsed from.

    Many nodes carry no position. The earliest position below the node is taken, else that of the
    nearest ancestor that has one; None when no node on the way has any.
    """
    parts = node.parts if isinstance(node, exp.Table) else [node]
    places = [extent for part in parts for extent in _places(part)]
    if places:
        start, end = min(places)
        if isinstance(node, _EXTENT):
            end = max(end for _, end in places)
        return span_at(sql, start, end + 1)
    return span_of(node.parent, sql) if node.parent is not None else None


def keyword_before(sql: str, node: exp.Expr, *words: str) -> Span | None:
    """Return the last of the keywords that starts before the first position within the node."""
    places = list(_places(node))
    return keyword_before_offset(sql, min(places)[0], *words) if places else None


def keyword_before_offset(sql: str, offset: int, *words: str) -> Span | None:
    """Return the last of the keywords that starts before an offset of the text."""
    before = takewhile(lambda span: span.start < offset, keyword_spans(sql, *words))
    return max(before, key=lambda span: span.start, default=None)


def keyword_after(sql: str, node: exp.Expr, *words: str) -> Span | None:
    """Return the first of the keywords that starts after the last position within the node."""
    limit = max((end for _, end in _places(node)), default=len(sql))
    return next((span for span in keyword_spans(sql, *words) if span.start > limit), None)


def keyword_spans(sql: str, *words: str) -> Iterator[Span]:
    """Yield where the keywords stand in the text, in order."""
    for token in _keywords(sql, words):
        yield span_at(sql, token.start, token.end + 1)


def text_of(node: exp.Expr, sql: str) -> str | None:
    """Return the text of the token a node carries the position of: a function's name as written."""
    extent = _place(node)
    return sql[extent[0] : extent[1] + 1] if extent else None


def _place(node: exp.Expr) -> tuple[int, int] | None:
    meta = node.meta
    start, end = meta.get("start"), meta.get("end")
    return (start, end) if isinstance(start, int) and isinstance(end, int) else None


def _places(node: exp.Expr) -> Iterator[tuple[int, int]]:
    for child in node.walk():
        extent = _place(child)
        if extent:
            yield extent


@lru_cache(maxsize=64)
def _tokens(sql: str) -> tuple[Token, ...]:
    return tuple(sqlglot.tokenize(sql, dialect=Spark))


def _keywords(sql: str, words: tuple[str, ...]) -> Iterator[Token]:
    quoted = "'\"`"
    for token in _tokens(sql):
        if token.text.upper() in words and sql[token.start] not in quoted:
            yield token


def place_of_error(error: BaseException, sql: str) -> Span | None:
    """Return the place in the text that code was at when an error arose; None if none is known.

    It is that of the innermost node that a function on the stack had in hand.
    """
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        for value in reversed(frame.f_locals.values()):
            span = span_of(value, sql) if isinstance(value, exp.Expr) else None
            if span is not None:
                return span
    return None

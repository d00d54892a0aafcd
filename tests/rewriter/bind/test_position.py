"""Where nodes and keywords stand in the text."""

from __future__ import annotations

import pytest
from sqlglot import exp

from rewriter import dialect
from rewriter.position import (
    Span,
    keyword_after,
    keyword_before,
    keyword_before_offset,
    keyword_spans,
    span_at,
    span_of,
    text_of,
)

SQL = "SELECT t.a, count(*) FROM db.t AS t\nWHERE 'distinct' = \"x\" AND t.b > NULL"


def shown(span: Span | None, sql: str = SQL) -> str | None:
    """The text that a span covers."""
    return sql[span.start : span.end] if span else None


def test_line_and_column_are_of_the_start() -> None:
    """Both count from one; sqlglot's column is that of the end."""
    assert span_at("ab\ncd", 4, 5) == Span(line=2, column=2, start=4, end=5)
    assert span_at("a\r\nb", 3, 4) == Span(line=2, column=1, start=3, end=4)


@pytest.mark.parametrize(
    ("kind", "text", "line"),
    [
        (exp.Column, "t.a", 1),
        (exp.Count, "count", 1),
        (exp.Star, "*", 1),
        (exp.Table, "db.t", 1),
        (exp.Literal, "'distinct'", 2),
        (exp.GT, "t", 2),
        (exp.Null, "t", 2),
        (exp.Select, "t", 1),
    ],
)
def test_span_of(kind: type[exp.Expr], text: str, line: int) -> None:
    """A node without a position has that of its earliest part, else of its nearest ancestor."""
    node = next(dialect.parse(SQL).find_all(kind))
    span = span_of(node, SQL)
    assert shown(span) == text
    assert span is not None
    assert span.line == line


def test_span_of_a_node_of_no_text() -> None:
    """A node that was made has no place."""
    assert span_of(exp.Null(), SQL) is None


def test_keywords_are_not_names_or_strings() -> None:
    """A keyword in quotes, or in a comment, is none."""
    sql = "SELECT 'over', `over`, \"OVER\" /* over */, over FROM t"
    assert [span.start for span in keyword_spans(sql, "OVER")] == [sql.index(", over F") + 2]


def test_keyword_around_a_node() -> None:
    """The nearest before the first position within the node, and after the last."""
    sql = "SELECT a FROM t JOIN u ON x = y JOIN v ON z = w GROUP   BY a"
    second = dialect.parse(sql).args["joins"][1]
    assert keyword_before(sql, second.this, "JOIN") == span_at(sql, 32, 36)
    assert keyword_after(sql, second.args["on"], "GROUP BY") == span_at(sql, 48, 58)
    assert keyword_after(sql, second, "WHERE") is None
    assert keyword_before(sql, exp.Null(), "JOIN") is None
    assert keyword_before_offset(sql, 20, "JOIN") == span_at(sql, 16, 20)


def test_text_of() -> None:
    """A function's name as the user wrote it."""
    count = next(dialect.parse(SQL).find_all(exp.Count))
    assert text_of(count, SQL) == "count"
    assert text_of(exp.Null(), SQL) is None

"""`emit`: grouping made visible, and nodes without a text refused."""

import pytest
from sqlglot import exp

from rewriter.dialect import emit, parse
from rewriter.errors import NotUnderstoodError


@pytest.mark.parametrize(
    ("sql", "grouped"),
    [
        ("SELECT a + b * c FROM t", "SELECT a + (b * c) FROM t"),
        ("SELECT a AND b AND c OR d FROM t", "SELECT (a AND b AND c) OR d FROM t"),
        ("SELECT NOT a = 1 FROM t", "SELECT NOT (a = 1) FROM t"),
        ("SELECT a + 1 IS NOT NULL FROM t", "SELECT (a + 1) IS NOT NULL FROM t"),
        ("SELECT a LIKE 'x' ESCAPE '/' FROM t", "SELECT a LIKE 'x' ESCAPE '/' FROM t"),
        (
            "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3",
            "SELECT 1 UNION (SELECT 2 INTERSECT SELECT 3)",
        ),
    ],
)
def test_grouped(sql: str, grouped: str) -> None:
    assert emit(parse(sql), pretty=False, grouped=True) == grouped


def test_grouping_leaves_the_tree_alone() -> None:
    query = parse("SELECT a + b * c FROM t")
    before = query.copy()
    emit(query, grouped=True)
    assert query == before


def test_comments_are_dropped() -> None:
    assert emit(parse("SELECT a -- */ x\nFROM t"), pretty=False) == "SELECT a FROM t"


def test_node_without_text() -> None:
    with pytest.raises(NotUnderstoodError, match="cannot be written"):
        emit(exp.select(exp.Condition()))

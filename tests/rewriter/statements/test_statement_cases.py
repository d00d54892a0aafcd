"""Statements by cases: a text, and the query that reenacts it, or the refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewriter.dialect import parse
from rewriter.errors import QueryError
from rewriter.statements import (
    Relations,
    TableColumn,
    TableShape,
    parse_statement,
    read_fragments,
    reenact,
    source_query,
    split_statements,
)
from tests.rewriter.cases import ERROR, EXPECTED, Case, cases, check, strays

CASES = Path(__file__).parent / "cases"
KINDS = (EXPECTED, ERROR)
TYPES = {"k": "INT", "a": "INT", "c": "STRING", "op": "STRING"}
ORDERS = TableShape(
    (TableColumn("k", "INT"), TableColumn("a", "INT", "7"), TableColumn("c", "STRING")), ("a",)
)
SHAPES = {
    "numbered": TableShape((*ORDERS.columns, TableColumn("g", "INT", computed=True))),
    "generated": TableShape((*ORDERS.columns, TableColumn("g", "INT", generated="k + a"))),
}
VIEWS = {"db.news": "news_view", "news": "news_view", "orders": "orders_before"}


def outcome(sql: str) -> dict[str, str]:
    """Return the outcome by the section that holds it.

    Statements over ``dynamic`` replace partitions.
    """
    try:
        statement = parse_statement(sql)
        query = source_query(statement, VIEWS)
        name = statement.table[-1]
        shape = SHAPES.get(name, ORDERS)
        written = reenact(
            statement,
            shape,
            Relations("before", VIEWS),
            None if query is None else _shape(query),
            dynamic=name == "dynamic",
        )
    except QueryError as error:
        return {ERROR: f"{type(error).__name__}: {error}"}
    texts = [written.rows]
    if written.ambiguous:
        texts.append(f"-- fails for rows of\n{written.ambiguous}")
    if written.keys:
        texts.append("-- keys: " + ", ".join(f"{target} = {key}" for target, key in written.keys))
    return {EXPECTED: "\n".join(texts)}


def _shape(query: str) -> TableShape:
    names = [name for name in parse(query).named_selects if name != "*"] or list(TYPES)
    return TableShape(tuple(TableColumn(name, TYPES.get(name, "INT")) for name in names))


@pytest.mark.parametrize("case", cases(CASES).values(), ids=str)
def test_case(case: Case) -> None:
    """The text becomes the query, or the error, that its fixture holds."""
    check(case, outcome(case.given), KINDS)


def test_no_strays() -> None:
    """Every file has cases, and every section is compared."""
    assert len(cases(CASES)) > 30
    assert not strays(CASES, KINDS)


def test_a_file_is_split_at_semicolons_between_statements() -> None:
    text = "-- nightly;\nDELETE FROM t WHERE c = ';'; ;\nUPDATE t /* ; */ SET a = 1 -- the end;\n"
    assert split_statements(text) == ["DELETE FROM t WHERE c = ';'", "UPDATE t /* ; */ SET a = 1"]
    assert split_statements("  -- nothing") == []


def test_fragments_are_the_texts_that_spark_is_to_read_alike() -> None:
    sql = "UPDATE t SET a = a + 1 * 2, c = DEFAULT WHERE k IN (SELECT k FROM s)"
    assert [text for text, _ in read_fragments(sql)] == [
        "SELECT a + 1 * 2",
        "SELECT k IN (SELECT k FROM s)",
    ]
    assert "".join(read_fragments(sql)[0][1].split()) == "SELECTa+(1*2)"

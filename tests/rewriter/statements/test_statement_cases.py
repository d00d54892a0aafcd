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
    column_names,
    is_whole,
    parse_statement,
    passes_rows,
    read_fragments,
    reenact,
    select_items,
    source_query,
    split_statements,
    within,
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
    "nested": TableShape((*ORDERS.columns, TableColumn("s", "struct<x:int,y:struct<z:string>>"))),
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


def test_items_of_a_query_get_other_qualifiers_where_it_has_no_other_clause() -> None:
    names = {"t_": "target", "s_": None}
    query = "SELECT x.a + s_.b AS c0, TRUE AS c1 FROM t_ AS x CROSS JOIN s_"
    assert select_items(query, names) == ["target.a + b", "TRUE"]
    for other in ("SELECT a FROM t_ WHERE a > 1", "SELECT a FROM u", "VALUES (1)"):
        assert select_items(other, names) is None


def test_a_query_passes_rows_on_where_it_does_not_compute() -> None:
    assert passes_rows(parse("SELECT * FROM db.news")) == "db.news"
    assert passes_rows(parse("SELECT n.a AS k FROM News n WHERE n.a > 1 + 2")) == "news"
    for computing in (
        "SELECT a + 1 FROM news",
        "SELECT DISTINCT a FROM news",
        "SELECT a FROM news LIMIT 1",
        "SELECT a FROM news WHERE a > (SELECT 1)",
        "SELECT news.a FROM news, orders",
        "SELECT a FROM news TABLESAMPLE (1 ROWS)",
        "SELECT a FROM (SELECT a FROM news)",
    ):
        assert passes_rows(parse(computing)) is None


def test_a_query_is_a_whole_relation_where_it_neither_filters_nor_chooses_columns() -> None:
    assert is_whole(parse("SELECT * FROM db.news AS n"))
    for other in ("SELECT * FROM news WHERE a > 1", "SELECT a FROM news", "SELECT * FROM a, b"):
        assert not is_whole(parse(other))


def test_expressions_are_columns_of_an_alias_or_something_else() -> None:
    assert column_names(["`n`.`id`", "Day"], "N") == ("id", "Day")
    for other in ("n.id + 1", "m.id", "n.a.b"):
        assert column_names([other], "n") is None


def test_a_single_key_is_looked_up_by_its_literals_alone() -> None:
    """Two are looked up as pairs, too."""
    assert "EXISTS" not in within("SELECT * FROM t", "r", ["r.id"], "keys", [["1", None]])
    assert "EXISTS" in within("SELECT * FROM t", "r", ["r.id"], "keys", [])
    assert "EXISTS" in within("SELECT * FROM t", "r", ["r.id", "r.d"], "keys", [["1"], ["2"]])

"""`parse`: one query, its errors with their places, and the nodes later stages rely on."""

import pytest
from sqlglot import exp

from rewriter.dialect import emit, parse
from rewriter.dialect.nodes import IsNotNull, TypedLiteral
from rewriter.errors import NotUnderstoodError, UnsupportedError
from rewriter.position import span_of


def first(sql: str) -> exp.Expr:
    return parse(sql).selects[0].unalias()


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("INSERT INTO t SELECT 1", 1),
        ("  CREATE TABLE t (a INT)", 3),
        ("EXPLAIN SELECT 1", 1),
        ("SET a = 1", 1),
        ("WITH c AS (SELECT 1) INSERT INTO t SELECT * FROM c", 1),
    ],
)
def test_statement_that_is_no_query(sql: str, column: int) -> None:
    with pytest.raises(UnsupportedError, match="is not a query") as caught:
        parse(sql)
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (1, column)


def test_second_statement() -> None:
    with pytest.raises(UnsupportedError, match="A second statement at 2:1"):
        parse("SELECT 1;\nSELECT 2")


def test_final_semicolon() -> None:
    assert emit(parse("SELECT 1;"), pretty=False) == "SELECT 1"


@pytest.mark.parametrize("sql", ["", "  ", "-- only a comment"])
def test_empty_text(sql: str) -> None:
    with pytest.raises(UnsupportedError, match="The text is empty"):
        parse(sql)


def test_syntax_error_shows_its_place() -> None:
    with pytest.raises(NotUnderstoodError) as caught:
        parse("SELECT a\nFROM t WHERE (a = 1 AND")
    assert caught.value.span is not None
    assert caught.value.span.line == 2


def test_string_without_end() -> None:
    with pytest.raises(NotUnderstoodError, match="has no end at 1:8"):
        parse("SELECT 'abc")


def test_columns_have_the_names_values_and_from() -> None:
    sql = "SELECT explode(values), values[0], coalesce(values, 1), values AS v, from FROM t"
    spelled = "SELECT explode(`values`), `values`[0], COALESCE(`values`, 1), `values` AS v, `from`"
    assert emit(parse(sql), pretty=False) == f"{spelled} FROM t"
    assert emit(parse("SELECT a FROM VALUES .5, (1) AS t(a)"), pretty=False).count("VALUES") == 1
    assert parse("SELECT a FROM t WHERE from = to AND x IN (values)").find(exp.Values) is None


def test_inline_table_is_a_query() -> None:
    assert isinstance(parse("VALUES (1), (2)"), exp.Select)


def test_nodes_have_places() -> None:
    sql = "SELECT foo(a),\n  'x', 1L FROM t"
    query = parse(sql)
    places = [span_of(node, sql) for node in query.selects]
    assert [(p.line, p.column) for p in places if p] == [(1, 8), (2, 3), (2, 8)]


def test_aggregates_are_aggregates() -> None:
    names = ["any(x)", "count(*)", "listagg(x)", "percentile_cont(0.5)", "sum(x)", "std(x)"]
    assert all(isinstance(first(f"SELECT {name} FROM t"), exp.AggFunc) for name in names)


def test_typed_literals_are_casts() -> None:
    number = first("SELECT 1L")
    assert isinstance(number, TypedLiteral)
    assert number.is_type("bigint")
    assert isinstance(first("SELECT DATE '2020-01-31'"), exp.Cast)


def test_is_not_null_is_a_negation() -> None:
    node = first("SELECT a IS NOT NULL FROM t")
    assert isinstance(node, IsNotNull)
    assert isinstance(node, exp.Not)


def test_unit_is_no_column() -> None:
    assert not list(parse("SELECT dateadd(DAY, 1, DATE '2020-01-31')").find_all(exp.Column))


def test_tree_groups_as_spark_does() -> None:
    assert isinstance(first("SELECT a | b & c FROM t"), exp.BitwiseOr)
    assert isinstance(first("SELECT a || b + c FROM t"), exp.Add)
    assert isinstance(first("SELECT -1::string"), exp.Cast)


def test_not_like_is_a_negation_but_before_any_and_all() -> None:
    """`NOT LIKE ANY` asks whether one pattern does not match, its negation whether none does."""
    for text in ("c NOT LIKE 'a%'", "c NOT ILIKE 'a%'", "c NOT LIKE 'a!%' ESCAPE '!'"):
        condition = parse(f"SELECT 1 FROM r WHERE {text}").args["where"].this
        assert isinstance(condition, exp.Not)
        assert not any(node.args.get("negate") for node in condition.walk())
    text = "c NOT LIKE ANY ('a%', 'b%')"
    tree = parse(f"SELECT 1 FROM r WHERE {text}")
    assert not isinstance(tree.args["where"].this, exp.Not)
    assert emit(tree, pretty=False).endswith(text)

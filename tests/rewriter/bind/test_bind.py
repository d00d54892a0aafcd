"""Properties of the binder that a rendered plan does not show."""

from __future__ import annotations

import pytest
from sqlglot import exp

from rewriter.algebra import Aggregate, Filter, Limit, Project, Scan, SemiJoin, UnionAll, walk
from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation, ViewText
from rewriter.errors import UnsupportedError


def test_answer_has_the_names_of_the_user(catalog: MemoryCatalog) -> None:
    """Alias, column, field, and the text of other expressions."""
    query = bind_query(
        "SELECT Model, price AS `My Price`, upper(model), price + 1 FROM cars", Environment(catalog)
    )
    names = [attribute.name for attribute in query.root.attributes]
    assert names == ["Model", "My Price", "upper(model)", "price + 1"]
    assert query.sql.startswith("SELECT Model")


def test_declared_function_is_left_in_place(catalog: MemoryCatalog) -> None:
    """A function beside Spark's own is refused unless it is declared."""
    sql = "SELECT My_Function(a) FROM t"
    with pytest.raises(UnsupportedError, match="my_function is not one of Spark's"):
        bind_query(sql, Environment(catalog))
    assert bind_query(sql, Environment(catalog, functions={"my_function"})).root.attributes


def test_shared_query_is_one_operator(catalog: MemoryCatalog) -> None:
    """References to a named query that groups read the same object."""
    sql = "WITH c AS (SELECT a, max(b) FROM t GROUP BY a) SELECT * FROM c UNION ALL SELECT * FROM c"
    aggregates = [
        node
        for node in walk(bind_query(sql, Environment(catalog)).root)
        if isinstance(node, Aggregate)
    ]
    assert len(aggregates) == 1


def test_query_that_does_not_group_is_bound_anew(catalog: MemoryCatalog) -> None:
    """References to a named query that neither groups nor limits have scans of their own."""
    sql = "WITH c AS (SELECT a FROM t) SELECT * FROM c UNION ALL SELECT * FROM c"
    scans = [
        node for node in walk(bind_query(sql, Environment(catalog)).root) if isinstance(node, Scan)
    ]
    assert len(scans) == 2
    assert {attribute.id for attribute in scans[0].output}.isdisjoint(
        attribute.id for attribute in scans[1].output
    )


@pytest.mark.parametrize(
    ("sql", "kind", "text"),
    [
        ("SELECT a FROM t AS u", Scan, "t"),
        ("SELECT a FROM t WHERE a > 1", Filter, "WHERE"),
        ("SELECT a FROM t WHERE a IN (SELECT x FROM l)", SemiJoin, "IN"),
        ("SELECT a FROM t WHERE EXISTS (SELECT x FROM l)", SemiJoin, "EXISTS"),
        ("SELECT a FROM t GROUP BY a", Aggregate, "GROUP BY"),
        ("SELECT a FROM t GROUP BY ALL", Aggregate, "GROUP BY"),
        ("SELECT DISTINCT a FROM t", Aggregate, "DISTINCT"),
        ("SELECT a FROM t UNION ALL SELECT x FROM l", UnionAll, "UNION"),
        ("SELECT a FROM t ORDER BY a LIMIT 3", Limit, "LIMIT"),
    ],
)
def test_operators_know_their_place(
    sql: str, kind: type[Scan | Filter | SemiJoin | Limit], text: str, catalog: MemoryCatalog
) -> None:
    """The span of an operator is that of the keyword, or the name, that stands for it."""
    operator = next(
        node for node in walk(bind_query(sql, Environment(catalog)).root) if isinstance(node, kind)
    )
    assert operator.span is not None
    assert sql[operator.span.start : operator.span.end] == text


def test_long_conditions(catalog: MemoryCatalog) -> None:
    """A condition of many parts does not exhaust the stack."""
    condition = " AND ".join(f"(a <> {number} OR b = {number})" for number in range(300))
    assert bind_query(f"SELECT a FROM t WHERE {condition}", Environment(catalog)).root.attributes


def test_sides_of_a_set_operation_are_converted(catalog: MemoryCatalog) -> None:
    """To the types given for the place of its keyword, which are of two queries in two texts."""
    sql = "SELECT a, b FROM t EXCEPT SELECT x, x AS y FROM l"
    (keyword,) = bind_query(sql, Environment(catalog)).differences
    assert sql[keyword.start : keyword.end] == "EXCEPT"
    root = bind_query(sql, Environment(catalog, converted={keyword: {0: "bigint"}})).root
    casts = [
        [scalar.sql() for scalar in node.scalars if isinstance(scalar, exp.Cast)]
        for node in walk(root)
        if isinstance(node, Project)
    ]
    assert [len(of_node) for of_node in casts if of_node] == [1, 1]
    relations = [TrackedRelation("t", ("a", "b")), TrackedRelation("l", ("x",))]
    more = MemoryCatalog([*relations, ViewText("same", sql)])
    both = bind_query(f"{sql} UNION ALL SELECT * FROM same", Environment(more)).differences
    assert {span.view for span in both} == {None, "same"}

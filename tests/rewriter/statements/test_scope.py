"""Statements over other relations, and with the values of a moment."""

from __future__ import annotations

import pytest

from rewriter.dialect.renames import qualify_relations, rename_relations
from rewriter.errors import UnsupportedError
from rewriter.statements import (
    moments_of,
    names_read,
    over_relations,
    parse_statement,
    source_query,
    statement_to_run,
    with_queries,
)

MOMENT = {"now": "2026-01-31T08:00:00.000000Z", "current_date": "2026-01-31"}
NOW, TODAY = "TIMESTAMP_LTZ '2026-01-31T08:00:00.000000Z'", "DATE '2026-01-31'"


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (
            "UPDATE t SET at = now() -- then\nWHERE d < current_date",
            f"UPDATE db.t AS `t` SET at = {NOW} -- then\nWHERE d < {TODAY}",
        ),
        (
            "WITH q AS (SELECT now() AS n) INSERT INTO t SELECT *, current_date() FROM q",
            f" INSERT INTO db.t WITH q AS (SELECT {NOW} AS n) "
            f"SELECT *, {TODAY} AS `current_date()` FROM q",
        ),
        (
            "MERGE INTO t AS x USING s ON x.id = s.id WHEN MATCHED AND x.d < current_date "
            "THEN DELETE WHEN NOT MATCHED THEN INSERT (id, at) VALUES (s.id, now())",
            f"MERGE INTO db.t AS x USING s ON x.id = s.id WHEN MATCHED AND x.d < {TODAY} "
            f"THEN DELETE WHEN NOT MATCHED THEN INSERT (id, at) VALUES (s.id, {NOW})",
        ),
    ],
)
def test_the_text_that_runs_has_the_moment_as_literals(text: str, fixed: str) -> None:
    assert set(moments_of(parse_statement(text))) == set(MOMENT)
    assert statement_to_run(text, MOMENT, "db.t") == fixed
    assert not moments_of(parse_statement(fixed))


def test_names_keep_the_letters_of_paths() -> None:
    query = parse_statement("INSERT INTO t SELECT * FROM Db.Stage JOIN delta.`/Data/T.x` AS d")
    assert names_read(query) == {
        "db.stage": ("Db", "Stage"),
        "delta./Data/T.x": ("delta", "/Data/T.x"),
    }


def test_a_hint_reads_no_relation() -> None:
    text = "INSERT INTO t SELECT /*+ BROADCAST(v) */ r.a FROM db.r JOIN db.v ON r.a = v.a"
    assert set(names_read(parse_statement(text))) == {"db.r", "db.v"}
    query = "SELECT /*+ BROADCAST(s) */ s.a FROM s"
    assert over_relations(query, {"s": "x"}).split() == f"{query[:-1]}`x` AS `s`".split()
    assert rename_relations(query, {("s",): "x"})[0].startswith("SELECT /*+ BROADCAST(s) */")
    named = qualify_relations(query, lambda parts: ["c", *parts])
    assert named == "SELECT /*+ BROADCAST(s) */ s.a FROM `c`.`s`"


def test_a_view_is_read_as_its_query_under_its_name() -> None:
    merge = parse_statement("MERGE INTO t USING db.v ON t.a = db.v.a WHEN MATCHED THEN DELETE")
    read = with_queries(merge, {"db.v": ("SELECT k FROM s", ("a",))})
    assert source_query(read, {"s": "x"}) == over_relations(
        "SELECT * FROM (SELECT k FROM s) AS `v`(`a`)", {"s": "x"}
    )
    named = parse_statement("WITH s AS (SELECT 1 AS a) INSERT INTO t SELECT v.a FROM v, s")
    with pytest.raises(UnsupportedError, match="the view v reads s, which a named query"):
        with_queries(named, {"v": ("SELECT k FROM s", ("a",))})


def test_names_may_have_any_number_of_parts() -> None:
    """As those of branches, and of tables in namespaces within namespaces."""
    statement = parse_statement("INSERT INTO ice.db.t.branch_b SELECT * FROM ice.db.t.branch_b")
    name = ("ice", "db", "t", "branch_b")
    assert statement.table == name
    assert names_read(statement) == {".".join(name): name}
    query = "SELECT e.x FROM ice.db.t.branch_b AS e JOIN ice.db.deep.u USING (x)"
    assert " ".join(over_relations(query, {"ice.db.t.branch_b": "v"}).split()) == (
        "SELECT e.x FROM `v` AS e JOIN ice.db.deep.u USING (x)"
    )
    renamed, others = rename_relations(query, {name: "v"})
    assert renamed == "SELECT e.x FROM `v` AS e JOIN ice.db.deep.u USING (x)"
    assert others == {"v"}

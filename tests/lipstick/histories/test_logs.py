"""Statements found in the log of a table, and in what a run of dbt left."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import Row

from lipstick.errors import StatementError, TrackingError, UnsupportedError
from lipstick.histories.chain import Chain
from lipstick.histories.commands import TableCommand
from lipstick.histories.live import versions_made
from lipstick.histories.logs import dbt_statements, logged_statements
from lipstick.histories.rows import CellHistory, CellOrigin, changed_versions
from lipstick.histories.steps import ExecutedStatement
from lipstick.tracking.formats.versions import TableVersion
from rewriter.statements import TableColumn, TableShape, parse_statement, with_columns

SHAPE = TableShape(
    (TableColumn("id", "bigint"), TableColumn("name", "string"), TableColumn("m", "decimal(9,2)"))
)


def commit(version: int, operation: str, *predicates: str) -> TableVersion:
    """Return a commit as the log describes it."""
    parameters = {"predicate": json.dumps(predicates)} if predicates else {}
    return TableVersion(version, datetime(2026, 1, 1, tzinfo=UTC), operation, parameters, None)


def test_deletions_by_numbers_are_read_from_the_log() -> None:
    update = ExecutedStatement("UPDATE db.t SET m = 1", version=3)
    commits = [
        commit(0, "CREATE TABLE AS SELECT"),
        commit(1, "DELETE", "((id#12L >= 3) AND NOT (m#7 IN (1.5,2.50)))", "isnotnull(id#12L)"),
        commit(2, "OPTIMIZE"),
        commit(3, "UPDATE", "(id#1L = 1)"),
        commit(4, "TRUNCATE"),
    ]
    found = logged_statements("db.t", commits, lambda _: SHAPE, {3: update})
    assert [(each.name, each.version, each.text) for each in found] == [
        (
            "v1",
            1,
            "DELETE FROM `db`.`t` WHERE TRUE AND (((`id` >= 3) AND NOT (`m` IN (1.5,2.50)))) "
            "AND (isnotnull(`id`))",
        ),
        (None, 3, update.text),
        ("v4", 4, "TRUNCATE TABLE `db`.`t`"),
    ]
    for each in found:
        parse_statement(each.text)


@pytest.mark.parametrize(
    ("operation", "predicate", "reason"),
    [
        ("DELETE", "(name#3 = x3)", "without quotes and types"),
        ("DELETE", "(name#3 = 5)", "without quotes and types"),
        ("DELETE", "(id#3L = id)", "without quotes and types"),
        ("DELETE", "(other#3 = 1)", "without quotes and types"),
        ("DELETE", "StartsWith(name#3, it's)", "without quotes and types"),
        ("DELETE", "(id#3L > 2026-01-01 00:00:00)", "without quotes and types"),
        ("UPDATE", "(id#3L = 1)", "does not log its statement"),
        ("MERGE", "(id#3L = id#4L)", "does not log its statement"),
    ],
)
def test_what_the_log_does_not_say_is_refused(operation: str, predicate: str, reason: str) -> None:
    commits = [commit(6, "WRITE"), commit(7, operation, predicate)]
    with pytest.raises(UnsupportedError, match=f"{operation} made version 7 of t, .*{reason}"):
        logged_statements("t", commits, lambda _: SHAPE, {})


def test_a_run_of_dbt_has_the_statements_of_its_models(tmp_path: Path) -> None:
    texts = {
        "orders": "merge into db.orders as DBT_INTERNAL_DEST using `orders__dbt_tmp` as "
        "DBT_INTERNAL_SOURCE on DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id "
        "when matched then update set * when not matched then insert *\n;",
        "totals": "create or replace table db.totals using delta as select 1 as n",
        "shown": "create or replace view db.shown as select 1",
        "failed": "select",
    }
    nodes, results = {}, []
    for number, (name, text) in enumerate(texts.items()):
        path = tmp_path / "run" / "shop" / "models" / f"{name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        nodes[f"model.shop.{name}"] = {
            "name": name,
            "resource_type": "model",
            "package_name": "shop",
            "original_file_path": f"models/{name}.sql",
            "config": {"materialized": "view" if name == "shown" else "incremental"},
            "compiled_code": "select id, 'orders__dbt_tmp' as c from raw;\n",
        }
        results.append(
            {
                "unique_id": f"model.shop.{name}",
                "status": "error" if name == "failed" else "success",
                "timing": [{"completed_at": f"2026-01-31T00:00:0{9 - number}Z"}],
            }
        )
    (tmp_path / "manifest.json").write_text(json.dumps({"nodes": nodes}))
    (tmp_path / "run_results.json").write_text(json.dumps({"results": results}))
    totals, orders = dbt_statements(tmp_path)
    assert (totals.name, totals.text) == ("totals", texts["totals"])
    assert "using (select id, 'orders__dbt_tmp' as c from raw\n) as DBT_INTERNAL" in orders.text
    assert parse_statement(orders.text).table == ("db", "orders")
    with pytest.raises(TrackingError, match=r"has not the artifacts of a run of dbt"):
        dbt_statements(tmp_path / "run")


@dataclass
class _Command:
    base: int | None
    operation: str = "UPDATE"
    kind: str = "AppendData"
    logged: str = ""
    on_branch: bool = False

    may_read = TableCommand.may_read

    def commits_as(self, operation: str) -> bool:
        return operation == self.operation

    def is_logged(self, commit: TableVersion) -> bool:
        return self.logged in commit.parameters.get("predicate", "")


@pytest.mark.parametrize(
    ("bases", "made"),
    [
        ([3, 5], [4, 7]),
        ([3, 3, 5], [None, 4, 7]),  # the first changed no row
        ([3, 4, 7], [4, 7, None]),
        ([3, None], [4, 7]),  # CREATE OR REPLACE TABLE
        ([4], None),
        ([3], None),
        ([3, 8], None),
        ([5, 3], None),
    ],
)
def test_commands_made_the_versions_after_the_ones_that_they_read(
    bases: list[int | None], made: list[int | None] | None
) -> None:
    commits = [commit(4, "UPDATE"), commit(5, "OPTIMIZE"), commit(7, "UPDATE")]
    commands = cast("list[TableCommand]", list(map(_Command, bases)))
    found, complete = versions_made(3, commits, commands)
    assert complete == (made is not None)
    assert not complete or found == made


@pytest.mark.parametrize(
    ("conditions", "made"),
    [
        (["k = 1", "k = 2"], [4, 7]),
        (["k = 9", "k = 1", "k = 2"], [None, 4, 7]),
        (["k = 1", "k = 9", "k = 2"], [4, None, 7]),
        (["k = 1", "k = 2", "k = 9"], [4, 7, None]),
        (["k = 1"], [4]),
    ],
)
def test_commands_of_one_object_made_the_versions_whose_conditions_the_log_has(
    conditions: list[str], made: list[int | None]
) -> None:
    """A DeltaTable is analysed over the version of its making, whatever its commands read."""
    commits = [commit(4, "UPDATE", "k = 1"), commit(7, "UPDATE", "k = 2")]
    its = [_Command(3, kind="UpdateCommand", logged=condition) for condition in conditions]
    found, complete = versions_made(3, commits, cast("list[TableCommand]", its))
    assert found == made
    assert complete == (len(conditions) > 1)


def test_a_commit_of_another_operation_is_of_no_command() -> None:
    commands = cast("list[TableCommand]", [_Command(3)])
    assert not versions_made(3, [commit(4, "DELETE")], commands)[1]


def test_columns_follow_from_numbered_columns_by_their_numbers() -> None:
    before = TableShape((TableColumn("a", "int", field=1), TableColumn("b", "int", field=2)))
    later = TableShape((TableColumn("c", "int", field=3), TableColumn("a", "int", field=2)))
    assert before.columns_in(later) == {"a": before.columns[1]}
    assert "CAST(NULL AS INT) AS `c`,\n  `b` AS `a`" in with_columns("v", later, before)
    other = TableShape((TableColumn("c", "string", field=1),))
    assert not before.evolved(other)
    unnumbered = TableShape((TableColumn("c", "int"), TableColumn("a", "int")))
    chain = Chain({1: "", 2: ""}, {1: before, 2: unnumbered})
    with pytest.raises(StatementError, match="columns c, a, and version 1 a, b: some got other"):
        list(chain.evolutions(1, 2))


def test_a_renamed_column_is_no_change_of_a_row() -> None:
    """Cells keep the statement that gave them their value."""
    first = TableShape((TableColumn("k", "int", field=1), TableColumn("a", "int", field=2)))
    renamed = TableShape((*first.columns[:1], TableColumn("b", "int", field=2)))
    added = TableShape((*renamed.columns, TableColumn("c", "int", field=3)))
    chain = Chain({1: "", 2: "", 3: "", 4: ""}, {1: first, 2: first, 3: renamed, 4: added})
    rows = {
        1: [Row(k=1, a=1)],
        2: [Row(k=1, a=5)],
        3: [Row(k=1, b=5)],
        4: [Row(k=1, b=5, c=None)],
    }
    changes = list(changed_versions(rows, chain, {2: "s1"}))
    assert [(each.version, each.change) for each in changes] == [(1, "there"), (2, "updated")]
    cells, by_version = CellHistory(), {each.version: each for each in changes}
    for number, shape in chain.shapes.items():
        cells.follow(shape, number, None)
        if number in by_version:
            cells.change(by_version[number])
    assert list(cells.found.values()) == [
        CellOrigin("k", 1, None, 1),
        CellOrigin("b", 5, "s1", 2),
        CellOrigin("c", None, None, 4),
    ]

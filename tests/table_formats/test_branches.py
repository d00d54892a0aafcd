"""Branches of Iceberg: each is followed as a table of its own, until the table has its versions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import TrackingError

pytestmark = pytest.mark.many(3)

STATEMENTS = (
    "INSERT INTO {b} SELECT id + 10, v FROM {b} WHERE id < 3",
    "MERGE INTO {b} AS t USING (SELECT id, max(v) AS v FROM {b} GROUP BY id) AS s ON t.id = s.id "
    "WHEN MATCHED AND s.v > 4 THEN UPDATE SET v = s.v * 2",
    "DELETE FROM {b} WHERE v = 1",
)


@pytest.fixture
def table(lake: SparkSession, fresh: Callable[[str], str]) -> str:
    name = fresh("iceberg")
    lake.sql(f"CREATE TABLE {name} USING iceberg AS SELECT id, id AS v FROM range(1, 8)")
    lake.sql(f"ALTER TABLE {name} CREATE BRANCH audit")
    return name


def rows(lake: SparkSession, query: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, lake.sql(query).collect()))


def rerun(lake: SparkSession, without: int, start: str = "TRUE") -> list[tuple[object, ...]]:
    """Return the rows of a plain table by the statements, all but one of them."""
    name = "ice.db.branch_rerun"
    lake.sql(f"DROP TABLE IF EXISTS {name}")
    lake.sql(
        f"CREATE TABLE {name} USING iceberg AS SELECT id, id AS v FROM range(1, 8) WHERE {start}"
    )
    for number, text in enumerate(STATEMENTS):
        if number != without:
            lake.sql(text.format(b=name))
    found = rows(lake, f"SELECT id, v FROM {name}")
    lake.sql(f"DROP TABLE {name}")
    return found


def asked(frame: lipstick.AnnotatedFrame, **given: object) -> list[tuple[object, ...]]:
    return sorted(map(tuple, frame.what_if(**given).df.select("id", "v").collect()))


def test_a_branch_is_a_table_of_its_own(
    lake: SparkSession, ls: lipstick.Session, table: str
) -> None:
    branch = f"{table}.branch_audit"
    ls.track("t", table, key="id")
    ls.track("audit", branch, key="id")
    ls.sql(f"UPDATE {table} SET v = v + 100 WHERE id = 1")
    for text in STATEMENTS:
        ls.sql(text.format(b=branch))
    assert list(ls.history.statements) == ["s1", "s2", "s3", "s4"]
    own = ls.sql("SELECT id, v FROM audit")
    assert sorted(map(tuple, own.df.collect())) == rows(lake, f"SELECT id, v FROM {branch}")
    for number in range(len(STATEMENTS)):
        assert asked(own, undo=[f"s{number + 2}"]) == rerun(lake, number)
    (before,) = [name for name in ls.history._sources if name.startswith(branch)]
    assert asked(own, delete={before: "id = 2"}) == rerun(lake, 9, "id <> 2")
    by_name = ls.sql(f"SELECT b.id, b.v FROM {branch} AS b")
    assert asked(by_name, delete={"audit": "id = 3"}) == rows(
        lake, f"SELECT id, v FROM {branch} WHERE id <> 3"
    )
    main = ls.sql("SELECT id, v FROM t")
    assert asked(main, undo=["s2", "s3", "s4"]) == rows(lake, f"SELECT id, v FROM {table}")
    assert asked(main, undo=["s1"]) == [(n, n) for n in range(1, 8)]
    ls.history.check()
    found = ls.history.since("audit", f"SELECT max(v) > 7 FROM {branch}")
    assert found is not None
    assert found.statement == "s3"
    with pytest.raises(TrackingError, match="does not read"):
        ls.history.since("t", f"SELECT max(v) > 7 FROM {branch}")


def test_a_branch_that_is_published_is_followed_on(
    lake: SparkSession, ls: lipstick.Session, table: str
) -> None:
    """What undoes a statement on the branch undoes it in the table, too."""
    branch = f"{table}.branch_audit"
    ls.track("t", table, key="id")
    ls.track("audit", branch, key="id")
    for text in STATEMENTS:
        ls.sql(text.format(b=branch))
    short = table.removeprefix("ice.")
    lake.sql(f"CALL ice.system.fast_forward('{short}', 'main', 'audit')")
    ls.sql(f"UPDATE {table} SET v = v WHERE id = 3")
    main = ls.sql("SELECT id, v FROM t")
    assert sorted(map(tuple, main.df.collect())) == rows(lake, f"SELECT id, v FROM {table}")
    for number in range(len(STATEMENTS)):
        assert asked(main, undo=[f"s{number + 1}"]) == rerun(lake, number)
    replaced = "INSERT INTO {b} SELECT id + 10, 0 FROM {b} WHERE id < 2"
    given = asked(main, replace={"s1": replaced.format(b=branch)})
    assert [row for row in given if row[0] > 10] == [(11, 0)]
    ls.history.check()


@pytest.mark.parametrize("publish", [False, True])
def test_a_recording_follows_a_branch_and_the_table(
    lake: SparkSession, ls: lipstick.Session, table: str, *, publish: bool
) -> None:
    branch, short = f"{table}.branch_audit", table.removeprefix("ice.")
    ls.track("t", table, key="id")
    ls.track("audit", branch, key="id")
    with ls.recording():
        for text in STATEMENTS[:2]:
            lake.sql(text.format(b=branch))
    with ls.recording():
        lake.sql(STATEMENTS[2].format(b=branch))
        if publish:
            lake.sql(f"CALL ice.system.fast_forward('{short}', 'main', 'audit')")
        lake.sql(f"UPDATE {table} SET v = v WHERE id = 3")
    own, main = (ls.sql(f"SELECT id, v FROM {name}") for name in ("audit", "t"))
    assert sorted(map(tuple, own.df.collect())) == rows(lake, f"SELECT id, v FROM {branch}")
    assert sorted(map(tuple, main.df.collect())) == rows(lake, f"SELECT id, v FROM {table}")
    on_branch = [step.name for step in ls.history._steps if step.table == branch]
    assert len(on_branch) == len(STATEMENTS)
    for number, name in enumerate(on_branch):
        assert asked(own, undo=[name]) == rerun(lake, number)
        if publish:
            assert asked(main, undo=[name]) == rerun(lake, number)


def test_a_statement_on_a_branch_that_is_not_tracked_does_not_run(
    lake: SparkSession, ls: lipstick.Session, table: str
) -> None:
    ls.track("t", table, key="id")
    with pytest.raises(TrackingError, match=r"a branch of 't' that is not tracked"):
        ls.sql(f"UPDATE {table}.branch_audit SET v = 7")
    assert lake.table(f"{table}.branch_audit").where("v = 7").count() == 1

"""Jobs on Delta and Iceberg as their tutorials write them: what-ifs against real reruns.

Each job runs on tables of its own, by ``ls.sql``, in ``ls.recording()``, or plainly before
``ls.reenact``. One row of its input is deleted then, and the answer must be what the same job makes
on new tables without that row; the same with its first statement undone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import SourceChangedError, StatementError, UnsupportedError
from lipstick.stages.settings import temporary_settings
from rewriter.errors import UntrackedError
from tests.table_formats.jobs import JOBS, Run

SETTINGS: Final = {"spark.sql.sources.partitionOverwriteMode": "static"}
"""Settings that jobs change, and that are then as they were."""

ROLLED_BACK: Final = ("restored", "iceberg", "recording")
OTHER_COLUMNS: Final = ("create_or_replace", "delta", "recording")
CASES: Final = [
    pytest.param(name, format, way, id=f"{name}-{format}-{way}")
    for name, each in JOBS.items()
    for format in each.formats
    for way in each.ways
    if (name, format, way) not in (ROLLED_BACK, OTHER_COLUMNS)
]


NOT_FOLLOWED: Final = {
    "an identity column": (
        "delta",
        "id INT, v INT, n BIGINT GENERATED ALWAYS AS IDENTITY",
        "INSERT INTO {t} (id, v) VALUES (3, 30)",
        "the table numbers its rows in the column 'n'",
    ),
    "random values": (
        "delta",
        "id INT, v INT, r STRING",
        "UPDATE {t} SET r = uuid() WHERE id = 1",
        r"uuid\(\) is another value each time",
    ),
    "an earlier version": (
        "delta",
        "id INT, v INT",
        "INSERT INTO {t} SELECT * FROM {t} VERSION AS OF 1 WHERE id = 2",
        "VERSION AS OF 1 is an earlier version, and a replay has the tables as they are",
    ),
    "a variable": (
        "delta",
        "id INT, v INT",
        "UPDATE {t} SET v = v + step_by WHERE id = 2",
        "step_by is a variable of the session",
    ),
    "named queries before the statement": (
        "iceberg",
        "id INT, v INT",
        "WITH s AS (SELECT 1 AS id) MERGE INTO {t} AS t USING s ON t.id = s.id "
        "WHEN MATCHED THEN DELETE",
        "WITH before MERGE is not read",
    ),
    "an audit before it is published": (
        "iceberg",
        "id INT, v INT",
        "INSERT INTO {t} VALUES (3, 30)",
        "spark.wap.branch is set",
    ),
}
"""By what they have, the format, columns, statement, and why it is not followed."""


@pytest.mark.parametrize("what", NOT_FOLLOWED)
def test_a_statement_that_is_not_followed_says_so_before_it_runs(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], what: str
) -> None:
    """And what came before stays as it was."""
    format, columns, text, why = NOT_FOLLOWED[what]
    table = fresh(format)
    lake.sql(f"CREATE TABLE {table} ({columns}) USING {format}")
    lake.sql(f"INSERT INTO {table} (id, v) VALUES (1, 10), (2, 20)")
    ls.track("t", table, key="id")
    ls.sql(f"UPDATE {table} SET v = v + 1 WHERE id = 1")
    if format == "iceberg":
        lake.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
        lake.sql(f"ALTER TABLE {table} CREATE BRANCH audit")
    lake.sql("DECLARE OR REPLACE VARIABLE step_by INT DEFAULT 1")
    if "published" in what:
        lake.conf.set("spark.wap.branch", "audit")
    try:
        with pytest.raises(UnsupportedError, match=why):
            ls.sql(text.format(t=table))
    finally:
        lake.conf.unset("spark.wap.branch")
        lake.sql("DROP TEMPORARY VARIABLE step_by")
    assert list(ls.history.statements) == ["s1"]
    rows = ls.sql("SELECT id, v FROM t").what_if(undo=["s1"]).df.collect()
    assert sorted(map(tuple, rows)) == [(1, 10), (2, 20)]
    ls.sql(f"UPDATE {table} SET v = v + 1 WHERE id = 2")
    assert ls.sql("SELECT sum(v) AS v FROM t").what_if(undo=["s1"]).df.head()["v"] == 31


@pytest.mark.parametrize("source", ["updates", "(SELECT seq AS id, v FROM updates)"])
def test_a_source_keeps_the_key_that_it_had(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], source: str
) -> None:
    """Another relation of its name has another key; and a column may be called as the key is."""
    table = fresh("iceberg")
    lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT id, 0L AS v FROM range(1, 4)")
    ls.track("t", table, key="id")
    rows = "SELECT * FROM VALUES (1L, 1L, 7L), (2L, 2L, 7L), (3L, 3L, 8L) AS v(id, seq, v)"
    ls.track("updates", lake.sql(rows), key="id")
    ls.sql(
        f"MERGE INTO {table} AS t USING {source} AS u ON t.id = u.id "
        "WHEN MATCHED THEN UPDATE SET v = u.v"
    )
    ls.untrack("updates")
    ls.track("updates", lake.sql("SELECT 7L AS v, 9L AS id"), key="v")
    found = ls.sql("SELECT * FROM t").what_if(delete={"updates@1": [1]}).df.collect()
    assert sorted(map(tuple, found)) == [(1, 0), (2, 7), (3, 8)]


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_a_source_that_was_dropped_and_created_anew_is_not_read_as_it_is_now(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], format: str
) -> None:
    """Its rows of the first night are gone, and the second night's are another table's."""
    table, stage = fresh(format), fresh(format)
    lake.sql(f"CREATE TABLE {table} USING {format} AS SELECT 1 AS id, 10 AS v")
    for night in (1, 2):
        lake.sql(f"CREATE TABLE {stage} USING {format} AS SELECT {night} AS id, {night} AS v")
        if night == 1:
            ls.track("t", table, key="id")
            ls.track("load", stage, key="id")
        ls.sql(f"INSERT INTO {table} SELECT id + 10, v FROM {stage}")
        if night == 1:
            lake.sql(f"DROP TABLE {stage}")
    answer = ls.sql("SELECT * FROM t")
    left = answer.what_if(delete={"load": "id = 2"}).df.collect()
    assert sorted(map(tuple, left)) == [(1, 10), (11, 1)]
    with pytest.raises(SourceChangedError, match="load@1"):
        answer.what_if(delete={"load@1": "id = 1"})
    with pytest.raises(SourceChangedError, match="load@1"):
        ls.history.check()
    lake.sql(f"DROP TABLE {stage}")
    with pytest.raises(StatementError, match="'load' was dropped and created"), ls.recording():
        lake.sql(f"CREATE TABLE {stage} USING {format} AS SELECT 3 AS id, 3 AS v")


@pytest.mark.parametrize("text", ["RESTORE TABLE {t} TO VERSION AS OF 0", "VACUUM {t}"])
def test_what_delta_alone_parses_is_to_be_run_by_spark(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], text: str
) -> None:
    table = fresh("delta")
    lake.sql(f"CREATE TABLE {table} USING delta AS SELECT 1 AS id")
    ls.track("t", table, key="id")
    word = text.partition(" ")[0]
    with pytest.raises(UnsupportedError, match=f"{word} is not a query.*at 1:1(.|\n)*spark.sql"):
        ls.sql(text.format(t=table))


def test_a_rollback_within_a_recording_says_so(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], tmp_path: Path
) -> None:
    """The statements that it took back cannot be told from ones that changed no row."""
    name, format, way = ROLLED_BACK
    run = Run(lake, format, fresh(format), fresh(format), tmp_path, ls, way)
    with pytest.raises(StatementError, match="'t' was rolled back"), ls.recording():
        JOBS[name].run(run)


def test_a_table_of_delta_that_a_recorded_command_made_of_itself_has_its_columns(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], tmp_path: Path
) -> None:
    """Delta reads no frame of columns that its table has no more; a text is followed."""
    name, format, way = OTHER_COLUMNS
    run = Run(lake, format, fresh(format), fresh(format), tmp_path, ls, way)
    message = "recorded ReplaceTableAsSelect on 't' is not followed: The schema of your Delta table"
    with pytest.raises(UnsupportedError, match=message), ls.recording():
        JOBS[name].run(run)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("stream_merged_by_sql", "delta"),
        ("stream_merged_by_sql", "iceberg"),
        ("stream_merged_by_delta", "delta"),
    ],
)
def test_a_stream_that_is_recorded_is_said_not_to_be_followed(
    lake: SparkSession,
    ls: lipstick.Session,
    fresh: Callable[[str], str],
    tmp_path: Path,
    name: str,
    format: str,
) -> None:
    """Spark runs its batches in a copy of the session, over rows that no plan traces to files."""
    run = Run(lake, format, fresh(format), fresh(format), tmp_path, ls, "recording")
    with pytest.raises(UntrackedError, match="on 't' is not followed"), ls.recording():
        JOBS[name].run(run)
    assert lake.table(run.t).count() == 4


@pytest.mark.slow
@pytest.mark.parametrize(("name", "format", "way"), CASES)
def test_a_job_without_a_row_is_what_it_really_makes_without_it(
    lake: SparkSession,
    ls: lipstick.Session,
    fresh: Callable[[str], str],
    tmp_path: Path,
    name: str,
    format: str,
    way: str,
) -> None:
    """And with its first statement undone what the others really make."""
    job = JOBS[name]
    run = Run(lake, format, fresh(format), fresh(format), tmp_path / "own", ls, way)
    recording = ls.recording() if way == "recording" else nullcontext()
    with temporary_settings(lake, SETTINGS), recording:
        job.run(run)
    if way == "reenact":
        history = ls.reenact({table: table for table in run.changed}, run.ran, key="*")
        own = run.t.rpartition(".")[2]
    else:
        history, own = ls.history, "t"
    real = sorted(map(repr, lake.table(run.t).collect()))
    assert sorted(map(repr, history.what_if().table(own).collect())) == real

    def really(**options: Any) -> list[str]:
        folder = tmp_path / next(iter(options))
        other = Run(lake, format, fresh(format), fresh(format), folder, **options)
        with temporary_settings(lake, SETTINGS):
            job.run(other)
        return sorted(map(repr, lake.table(other.t).collect()))

    hidden = re.compile(r"datetime\.(datetime|date)\([^)]*\)")
    query = ls.sql(f"SELECT * FROM {own}")

    def shown(rows: list[str]) -> list[str]:
        return sorted(hidden.sub("then", row) for row in rows) if name == "moments" else rows

    delete = {run.called(name): condition for name, condition in job.delete.items()}
    without = sorted(map(repr, query.what_if(delete=delete).df.collect()))
    assert shown(without) == shown(really(without=dict(job.without)))
    if job.undo and run.count:
        (first, *_) = history.statements
        undone = sorted(map(repr, query.what_if(undo=[first]).df.collect()))
        assert shown(undone) == shown(really(undone=1))
    history.check()

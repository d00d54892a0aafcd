"""A row leads to its file, row group and commit, and a file to its rows: read back by PyArrow."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lipstick
from tests.table_formats.random_histories import FORMATS


def held(file: str, number: int, group: int, column: str) -> Any:
    """Return a value of a row in a file, by its number there; it is in that row group."""
    path = unquote(file.removeprefix("file:"))
    footer = pq.read_metadata(path)
    first = sum(footer.row_group(n).num_rows for n in range(group))
    assert first <= number < first + footer.row_group(group).num_rows
    rows = pq.ParquetFile(path).read_row_group(group)
    return rows.column(column)[number - first].as_py()


KEYS = {"a key": "id", "values": "*", "no key": None}
PROPERTIES = {
    "delta": "'delta.enableDeletionVectors' = 'true'",
    "plain delta": "'delta.enableDeletionVectors' = 'false'",
    "iceberg": "'write.delete.mode' = 'copy-on-write'",
}
"""By format; a table of Delta without deletion vectors does not number its rows."""


@pytest.mark.many(7)
@pytest.mark.parametrize(
    ("format", "key"),
    [*itertools.product(FORMATS, KEYS), ("plain delta", "a key")],
)
def test_rows_are_in_the_files_of_their_commits(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], format: str, key: str
) -> None:
    written = format.removeprefix("plain ")
    table = fresh(written)
    lake.sql(
        f"CREATE TABLE {table} (id BIGINT, v BIGINT) USING {written} "
        f"TBLPROPERTIES ({PROPERTIES[format]})"
    )
    now: dict[str, Any] = {}

    def commit(text: str) -> int:
        lake.sql(text.format(t=table))
        found = lipstick.session(lake).track("now", table, key=KEYS[key], replace=True)
        (pinned,) = found.source.versions
        now["version"] = pinned.version
        return int(pinned.version or 0)

    first = commit("INSERT INTO {t} SELECT id, id * 10 FROM range(0, 50)")
    second = commit("INSERT INTO {t} SELECT id, id * 10 FROM range(50, 100)")
    commit("DELETE FROM {t} WHERE id IN (7, 8, 70)")
    ls.track("t", table, key=KEYS[key])
    rows = "id IN (3, 60)" if key != "a key" else [3, 60]
    found = ls.files("t", rows).to_pylist()
    values = sorted(held(r["_file"], r["_row"], r["_row_group"], "id") for r in found)
    assert values == [3, 60]
    by_value = {held(r["_file"], r["_row"], r["_row_group"], "id"): r for r in found}
    if format == "delta":  # deletion vectors leave the files as they are
        assert [by_value[n]["_version"] for n in (3, 60)] == [first, second]
        assert by_value[3]["_operation"] == "WRITE"
    else:  # copied on write
        assert {by_value[n]["_version"] for n in (3, 60)} == {now["version"]}
    assert all(row["_time"] is not None for row in found)
    own = ls.rows_of_file(by_value[3]["_file"])["t"].to_pylist()
    ids = sorted(held(by_value[3]["_file"], r["_row"], 0, "id") for r in own)
    expected = {r["id"] for r in lake.table(table).collect()}
    assert 3 in ids
    assert 7 not in ids
    assert set(ids) <= expected
    q = ls.sql("SELECT count(*) AS n FROM t")
    keys = ls.rows_of_file(by_value[3]["_file"])["t"]
    if key == "a key":
        left = q.what_if(delete={"t": keys.drop_columns(["_row"])}).df.head()["n"]
        assert left == len(expected) - len(ids)
    lineage = ls.sql("SELECT id % 2 AS k, sum(v) AS v FROM t WHERE v < 40 GROUP BY id % 2")
    behind = ls.files("t", lineage.lineage("k = 1")["t"])
    assert sorted(
        held(r["_file"], r["_row"], r["_row_group"], "id") for r in behind.to_pylist()
    ) == [
        1,
        3,
    ]

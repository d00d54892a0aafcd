"""Versions of Delta and Iceberg tables as sources."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick.errors import (
    SourceChangedError,
    SourceError,
    TrackingError,
    UnsupportedError,
    UntrackedError,
    VersionGoneError,
)
from tests.oracle.database import Database, Relation
from tests.oracle.plain import PlainSpark
from tests.oracle.small import Oracles
from tests.table_formats.postgres import running_postgres, server_folder

Fresh = Callable[[str], str]

_ROWS = "SELECT CAST(id AS INT) AS k, CAST(id % 7 AS STRING) AS v, id * 3 AS n FROM range({}, {})"
_DELTA = "USING delta TBLPROPERTIES ('delta.enableRowTracking' = true, {})"
_ICEBERG = (
    "USING iceberg TBLPROPERTIES ('format-version' = {}, 'write.delete.mode' = 'merge-on-read', "
    "'write.update.mode' = 'merge-on-read')"
)

TABLES = {
    "delta with deletion vectors": (
        "CREATE TABLE {t} " + _DELTA.format("'delta.enableDeletionVectors' = true") + " AS "
        f"{_ROWS.format(0, 20)}",
        "DELETE FROM {t} WHERE k % 5 = 0",
        "UPDATE {t} SET n = -n WHERE v = '2'",
        "OPTIMIZE {t}",
    ),
    "delta with mapped columns": (
        "CREATE TABLE {t} (k INT, old STRING, gone INT, v STRING) USING delta PARTITIONED BY (v) "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        f"INSERT INTO {{t}} SELECT k, n, k, v FROM ({_ROWS.format(0, 12)})",
        "ALTER TABLE {t} DROP COLUMN gone",
        "ALTER TABLE {t} RENAME COLUMN old TO text",
        "ALTER TABLE {t} ADD COLUMN n BIGINT",
        f"INSERT INTO {{t}} SELECT k, n, v, n FROM ({_ROWS.format(12, 20)})",
        "DELETE FROM {t} WHERE k < 2",
    ),
    "delta with columns that it makes": (
        "CREATE TABLE {t} (k BIGINT GENERATED ALWAYS AS IDENTITY, v STRING, n BIGINT, "
        "m BIGINT GENERATED ALWAYS AS (n * 2)) USING delta",
        f"INSERT INTO {{t}} (v, n) SELECT v, n FROM ({_ROWS.format(0, 15)})",
        "UPDATE {t} SET n = n + 1 WHERE v = '1'",
    ),
    "iceberg of format 2": (
        "CREATE TABLE {t} (k INT, v STRING, n BIGINT) " + _ICEBERG.format(2),
        f"INSERT INTO {{t}} {_ROWS.format(0, 12)}",
        "ALTER TABLE {t} ADD PARTITION FIELD bucket(2, k)",
        f"INSERT INTO {{t}} {_ROWS.format(12, 20)}",
        "DELETE FROM {t} WHERE k % 5 = 0",
        "ALTER TABLE {t} ADD COLUMN w INT",
        "UPDATE {t} SET w = k WHERE v = '2'",
    ),
    "jdbc-iceberg of format 3": (
        "CREATE TABLE {t} (k INT, v STRING, n BIGINT) " + _ICEBERG.format(3),
        f"INSERT INTO {{t}} {_ROWS.format(0, 20)}",
        "DELETE FROM {t} WHERE k % 5 = 0",
        "UPDATE {t} SET n = -n WHERE v = '2'",
    ),
}


LONG = ("delta with mapped columns", "delta with columns that it makes", "iceberg of format 2")


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.slow) if k in LONG else k for k in TABLES]
)
def test_oracles_hold_on_a_version_after_later_commits(
    lake: SparkSession, fresh: Fresh, kind: str
) -> None:
    format = kind.split(maxsplit=1)[0]
    table = fresh(format)
    for statement in TABLES[kind]:
        lake.sql(statement.format(t=table))
    now = lake.table(table)
    schema = ", ".join(f"{c.name} {c.dataType.simpleString()}" for c in now.schema)
    database = Database({"t": Relation("t", ("k",), schema, now.toArrow())})
    with lipstick.session(lake) as ls, closing(PlainSpark(lake, database)) as plain:
        ls.track("t", table, key="k")
        lake.sql(f"DELETE FROM {table} WHERE k > 3")
        lake.sql(f"ALTER TABLE {table} ADD COLUMN later INT")
        if format == "delta":
            lake.sql(f"OPTIMIZE {table}")
        oracles = Oracles(ls, plain, database)
        sql = "SELECT v, count(*) AS c, sum(n) AS s FROM t WHERE k <> 4 GROUP BY v"
        oracles.hold(sql, {"t": [2, 9, 16]}, {"t": [3]}, grouping=True)


@pytest.mark.parametrize("kind", ["delta with deletion vectors", "jdbc-iceberg of format 3"])
def test_row_ids_stay_through_updates_of_other_rows_and_compaction(
    lake: SparkSession, ls: lipstick.Session, fresh: Fresh, kind: str
) -> None:
    format = kind.split(maxsplit=1)[0]
    table = fresh(format)
    for statement in TABLES[kind]:
        lake.sql(statement.format(t=table))

    def tokens(name: str) -> dict[int, str]:
        tracked = ls.track(name, table)
        assert tracked.naming.value == "row ids"
        rows = ls.sql(f"SELECT k FROM {name}").polynomials()
        return {row["k"]: str(token).partition(":")[2] for row, token in rows}

    before = tokens("before")
    lake.sql(f"UPDATE {table} SET n = 0 WHERE k IN (3, 4)")
    lake.sql(f"DELETE FROM {table} WHERE k = 6")
    if format == "delta":
        lake.sql(f"OPTIMIZE {table}")
    else:
        catalog, name = table.split(".", 1)
        lake.sql(
            f"CALL {catalog}.system.rewrite_data_files(table => '{name}', "
            "options => map('rewrite-all', 'true'))"
        )
    lake.sql(f"INSERT INTO {table} VALUES (100, 'x', 1)")
    after = tokens("after")
    assert before.keys() - after.keys() == {6}
    new = after.pop(100)
    assert new not in before.values()
    assert after.items() <= before.items()


def _versions(lake: SparkSession, fresh: Fresh, format: str) -> tuple[str, list[int]]:
    """Return a table with one row, then two, then a third in a column more; and its versions."""
    table = fresh(format)
    lake.sql(f"CREATE TABLE {table} (k INT) USING {format}")
    lake.sql(f"INSERT INTO {table} VALUES (1)")
    lake.sql(f"INSERT INTO {table} VALUES (2)")
    lake.sql(f"ALTER TABLE {table} ADD COLUMN v INT")
    lake.sql(f"INSERT INTO {table} VALUES (3, 3)")
    if format == "delta":
        return table, [1, 2, 4]
    rows = lake.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at").collect()
    return table, [row[0] for row in rows]


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_every_form_of_a_source_is_a_version(
    lake: SparkSession, ls: lipstick.Session, fresh: Fresh, format: str
) -> None:
    table, versions = _versions(lake, fresh, format)
    described = lake.sql(f"DESCRIBE TABLE EXTENDED {table}").where("col_name = 'Location'")
    path = described.collect()[0]["data_type"].removeprefix("file:")

    def count(source: str | DataFrame, at: int | str | None = None) -> int:
        name = f"t{len(ls.tracked)}"
        ls.track(name, source, key="k", at=at)
        return int(ls.sql(f"SELECT count(*) AS n FROM {name}").df.collect()[0].n)

    travelled = lake.sql(f"SELECT * FROM {table} VERSION AS OF {versions[0]}")
    assert [count(table), count(path), count(lake.table(table)), count(travelled)] == [3, 3, 3, 1]
    assert [count(table, at=version) for version in versions] == [1, 2, 3]
    known = ls.tracked["t0"].source.version
    assert known is not None
    history = known.history()
    assert known.current() == versions[-1]
    assert [entry.version for entry in history][-1] == versions[-1]
    times = {entry.version: str(entry.time) for entry in history}
    assert [count(table, at=times[version]) for version in versions] == [1, 2, 3]
    assert [known.schema(version).names for version in versions] == [["k"], ["k"], ["k", "v"]]
    if format == "iceberg":
        lake.sql(f"ALTER TABLE {table} CREATE TAG first AS OF VERSION {versions[0]}")
        lake.sql(f"ALTER TABLE {table} CREATE BRANCH apart")
        lake.sql(f"INSERT INTO {table}.branch_apart VALUES (4, 4)")
        assert [count(table, at="first"), count(f"{table}.branch_apart")] == [1, 4]
        by_tag = lake.sql(f"SELECT * FROM {table} FOR VERSION AS OF 'first'")
        by_option = lake.read.option("branch", "apart").table(table)
        assert [count(by_tag), count(by_option)] == [1, 4]
    else:
        by_option = lake.read.format("delta").option("versionAsOf", versions[1]).load(path)
        assert [count(f"delta.`{path}`"), count(by_option)] == [3, 2]


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_what_no_version_stands_for_is_refused(
    lake: SparkSession, ls: lipstick.Session, fresh: Fresh, format: str, tmp_path: Path
) -> None:
    table, versions = _versions(lake, fresh, format)
    file = lake.sql(f"SELECT * FROM {table}").inputFiles() or [
        row[0] for row in lake.sql(f"SELECT file_path FROM {table}.files").collect()
    ]
    with pytest.raises(SourceError, match="read as plain files they have rows that were deleted"):
        ls.track("t", Path(file[0].removeprefix("file:")).parent, key="k", format="parquet")
    with pytest.raises(SourceError, match="as it is whenever it runs"):
        ls.track("t", lake.table(table).where("k > 1"), key="k")
    with pytest.raises(VersionGoneError, match="cannot be read"):
        ls.track("t", table, at=12345)
    with pytest.raises(SourceError, match="of 2001-01-01 or before"):
        ls.track("t", table, at="2001-01-01")
    with pytest.raises(SourceError, match="the source has none"):
        ls.track("t", lake.range(3), at=1)
    live, now = lake.table(table), versions[-1]
    ls.track(table, table, key="k")
    q = ls.annotate(live.groupBy("v").count())
    assert len(q.polynomials()) == 2
    ls.track("events", lake.readStream.schema("k INT").csv(str(tmp_path)), key="k")
    with pytest.raises(UnsupportedError, match="each micro-batch may read a later version"):
        ls.sql(f"SELECT events.k FROM events JOIN {table} AS t ON events.k = t.k")
    lake.sql(f"INSERT INTO {table} VALUES (5, 5)")
    assert len(ls.sql(f"SELECT * FROM {table}").df.collect()) == 3
    with pytest.raises(SourceChangedError, match=f"is version {now} of it"):
        ls.annotate(lake.table(table))
    lake.sql(f"ALTER TABLE {table} ADD COLUMN w INT")
    with pytest.raises(SourceChangedError, match=r"columns of .* are others now"):
        ls.sql(f"SELECT * FROM {table}")


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_a_version_whose_files_were_removed_is_an_error(
    lake: SparkSession, ls: lipstick.Session, fresh: Fresh, tmp_path: Path, format: str
) -> None:
    table, versions = _versions(lake, fresh, format)
    ls.track("t", table, key="k")
    q = ls.sql("SELECT count(*) AS n FROM t")
    capture = q.save(tmp_path / "capture")
    (record,) = lipstick.open(tmp_path / "capture").manifest.relations.values()
    assert [pinned.version for pinned in record.versions] == versions[-1:]
    lake.sql(f"DELETE FROM {table}")
    if format == "delta":
        lake.sql(f"VACUUM {table} RETAIN 0 HOURS")
    else:
        catalog, name = table.split(".", 1)
        lake.sql(
            f"CALL {catalog}.system.expire_snapshots(table => '{name}', "
            "older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
        )
    saved = lipstick.open(tmp_path / "capture")
    assert saved.what_if(delete={"t": [1]}).df.to_pylist() == [{"n": 2}]
    for ask in (lambda: q.df, lambda: ls.sql("SELECT * FROM t"), lambda: q.capture):
        with pytest.raises(VersionGoneError, match="of its files were removed"):
            ask()
    with pytest.raises(VersionGoneError):
        capture.what_if(delete={"t": "k = 1"})
    with pytest.raises(VersionGoneError):
        ls.track("again", table, key="k", at=versions[-1])


@pytest.fixture
def database() -> Iterator[str]:
    """Return the URL of a database for JDBC: PostgreSQL, or Derby where there is none."""
    programs = server_folder()
    if programs is None:
        if os.environ.get("CI"):
            pytest.fail("there is no PostgreSQL: apt-get install postgresql")
        yield "jdbc:derby:memory:shop;create=true"
        return
    # Not below pytest's folders, which the server's user may not enter.
    with tempfile.TemporaryDirectory() as home, running_postgres(programs, Path(home)) as url:
        yield url


def test_rows_by_jdbc_are_copied_once_or_refused(
    lake: SparkSession, ls: lipstick.Session, database: str
) -> None:
    options = {"url": database, "dbtable": "customers"}
    if "postgresql" in database:
        options["driver"] = "org.postgresql.Driver"
    kinds = "id * 2 AS n", "CAST(id AS DECIMAL(20, 2)) AS m", "timestamp_seconds(id) AS at"
    rows = lake.range(4).selectExpr("CAST(id AS INT) AS k", *kinds)
    rows.write.format("jdbc").options(**options).save()
    frame = lake.read.format("jdbc").options(**options).load()
    with pytest.raises(SourceError, match="JDBCRelation, which may have other rows each time"):
        ls.track("customers", frame, key="K")
    ls.track("customers", frame, key="k", materialize=True)
    q = ls.sql("SELECT sum(n) AS n, max(m) AS m, max(at) AS at FROM customers")
    rows.write.format("jdbc").options(**options).mode("append").save()
    assert q.df.collect()[0].n == 12
    smaller = q.what_if(delete={"customers": [3]}).df
    assert smaller.collect()[0].n == 6
    # An answer goes into a database as any data frame does.
    smaller.write.format("jdbc").options(**{**options, "dbtable": "totals"}).save()
    stored = lake.read.format("jdbc").options(**{**options, "dbtable": "totals"}).load()
    assert [tuple(row) for row in stored.collect()] == [tuple(row) for row in smaller.collect()]
    if "postgresql" not in database:
        return
    catalog = "spark.sql.catalog.shop"
    lake.conf.set(catalog, "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    lake.conf.set(f"{catalog}.url", database)
    lake.conf.set(f"{catalog}.driver", "org.postgresql.Driver")
    with pytest.raises(SourceError, match="which may have other rows each time"):
        ls.track("t", "shop.public.customers", key="k")
    with pytest.raises(UntrackedError):
        ls.sql("SELECT count(*) FROM shop.public.customers")
    with pytest.raises(TrackingError):
        ls.sql("INSERT INTO shop.public.totals SELECT * FROM customers")

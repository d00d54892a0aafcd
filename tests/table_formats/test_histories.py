"""Statements that Delta and Iceberg really ran, reenacted from their versions."""

from __future__ import annotations

import os
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick.errors import StatementError, TrackingError, UnsupportedError, VersionGoneError
from lipstick.tracking.formats.probe import versioned_table
from lipstick.tracking.stored_rows import stored_rows
from tests.table_formats.random_histories import FORMATS, check_format_history

STATEMENTS = int(os.environ.get("LIPSTICK_FORMAT_STATEMENTS", "2"))


@pytest.mark.parametrize("format", FORMATS)
def test_random_statements_are_followed(
    lake: SparkSession, fresh: Callable[[str], str], format: str
) -> None:
    """Every version is that of the format, and hypothetical ones are what there would be."""
    seed = int(os.environ.get("LIPSTICK_FORMAT_SEED", "11"))
    check_format_history(lake, fresh(format), format, seed, STATEMENTS)


@pytest.mark.parametrize("format", ["delta", pytest.param("iceberg", marks=pytest.mark.slow)])
def test_statements_of_a_session_are_followed(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], format: str
) -> None:
    """Spark runs them as they are; their sources may be others each night."""
    table = fresh(format)
    lake.sql(
        f"CREATE TABLE {table} USING {format} AS SELECT id, id * 10 AS amount FROM range(1, 3)"
    )
    ls.track("orders", table, key="id")
    upsert = (
        f"MERGE INTO {table} AS t USING updates AS u ON t.id = u.id "
        "WHEN MATCHED THEN UPDATE SET amount = t.amount + u.amount WHEN NOT MATCHED THEN INSERT *"
    )
    for night, ids in enumerate([(2, 4), (3, 5)]):
        if night:
            ls.untrack("updates")
        ls.track("updates", lake.range(*ids).selectExpr("id", "5 AS amount"), key="id")
        after = ls.sql(upsert)
    ls.sql(f"-- too much\nDELETE FROM {table} WHERE amount > 1000")
    assert sorted(map(tuple, after.df.collect())) == [(1, 10), (2, 25), (3, 10), (4, 5)]
    assert not ls.tracked["orders"].verified
    lake.sql("SELECT id FROM orders").createOrReplaceTempView("ids")
    assert "keys not verified" not in ls.sql("SELECT * FROM ids").plan.explain()
    assert ls.tracked["orders"].verified
    lake.catalog.dropTempView("ids")
    total = ls.sql("SELECT sum(amount) AS total FROM orders")
    changed = total.what_if(delete={"updates": [4], "updates@1": [2]}, undo=["s3"])
    assert [tuple(row) for row in changed.df.collect()] == [(40,)]
    through = ls.history.query("SELECT amount FROM orders WHERE id = 3")
    ((_, annotation),) = through.polynomials()
    assert str(annotation) == "updates:3·`updates@1`:3"
    assert [v.statement for v in ls.history.rows("orders", 3)] == ["s1", "s2"]
    if format == "delta":
        with pytest.raises(UnsupportedError, match="MERGE made version 1 of"):
            ls.reenact({table: table}, [], key="id", log=True)
    lake.sql(f"INSERT INTO {table} VALUES (9, 9)")
    refused: list[tuple[type[Exception], str, str]] = [
        (StatementError, f"DELETE FROM {table}", "was changed since"),
        (UnsupportedError, f"UPDATE {table} SET amount = length(uuid())", "uuid"),
    ]
    for error, text, message in refused:
        with pytest.raises(error, match=message):
            ls.sql(text)
    ls.untrack("orders")
    ls.track("orders", table, key="id")
    with pytest.raises(TrackingError, match="'nowhere', which is not tracked"):
        ls.sql(f"INSERT INTO {table} SELECT * FROM nowhere")


def test_recorded_commands_are_statements(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str]
) -> None:
    """Commands of data frames and of DeltaTable are read from their plans."""
    from delta.tables import DeltaTable

    tables = [fresh(format) for format in FORMATS]
    updates = lake.range(2, 5).selectExpr("id", "5 AS amount")
    ls.track("updates", updates, key="id")
    for table, format in zip(tables, FORMATS, strict=True):
        rows = "SELECT id, id * 10 AS amount FROM range(1, 4)"
        mapped = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')" * (format == "delta")
        lake.sql(f"CREATE TABLE {table} USING {format} {mapped} AS {rows}")
        ls.track(f"of_{format}", table, key="id")
    with ls.recording():
        DeltaTable.forName(lake, tables[0]).update("id = 3", {"amount": "amount + 1"})
        lake.sql(f"ALTER TABLE {tables[0]} RENAME COLUMN amount TO euro")
        lake.sql(f"DELETE FROM {tables[0]} WHERE euro > 99")  # makes no version
        lake.sql(f"UPDATE {tables[1]} SET amount = amount + 1 WHERE id = 3")
        lake.sql(f"ALTER TABLE {tables[1]} RENAME COLUMN amount TO euro")
        for table in tables:
            source = updates.withColumnRenamed("amount", "euro").alias("u")
            merge = source.mergeInto(table, F.expr(f"u.id = {table}.id"))
            merge = merge.whenMatched(F.col("u.id") > 2).delete().whenMatched().updateAll()
            merge = merge.whenNotMatched().insertAll()
            merge.whenNotMatchedBySource().update({"euro": F.lit(0)}).merge()
        lake.sql(f"DELETE FROM {tables[1]} WHERE id = 4")
        DeltaTable.forName(lake, tables[0]).update("id = 2", {"euro": "euro"})
    assert [text.split()[0] for text in ls.history.statements.values()] == [
        *("UPDATE", "DELETE", "UPDATE"),
        *("MERGE", "MERGE", "DELETE", "UPDATE"),
    ]
    for format, last in zip(FORMATS, ([(4, 5)], []), strict=True):
        answer = ls.sql(f"SELECT id, euro FROM of_{format}")
        assert sorted(map(tuple, answer.df.collect())) == [(1, 0), (2, 5), *last]
        without = answer.what_if(delete={"updates": [3, 4]}, undo=["s1", "s3"])
        assert sorted(map(tuple, without.df.collect())) == [(1, 0), (2, 5), (3, 0)], format


def test_partitions_that_are_overwritten_and_tables_that_are_replaced_are_followed(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str]
) -> None:
    table = fresh("iceberg")
    lake.sql(f"CREATE TABLE {table} (id INT, p STRING) USING iceberg PARTITIONED BY (p)")
    lake.sql(f"INSERT INTO {table} VALUES (1, 'x'), (2, 'y')")
    ls.track("kept", table, key="id")
    late = lake.range(3, 5).selectExpr("CAST(id AS INT) AS id")
    ls.track("late", late, key="id")
    with ls.recording():
        late.selectExpr("id", "'y' AS p").writeTo(table).overwritePartitions()
        lake.sql(f"DELETE FROM {table}")
    undone = ls.sql("SELECT * FROM kept").what_if(undo=["s2"])
    assert sorted(map(tuple, undone.df.collect())) == [(1, "x"), (3, "y"), (4, "y")]
    ls.sql(f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT id, 'w' AS p FROM late")
    replaced = ls.sql("SELECT * FROM kept").what_if(delete={"late": [3]})
    assert [tuple(row) for row in replaced.df.collect()] == [(4, "w")]


def test_a_statement_that_no_snapshot_has_is_refused_by_the_question_that_reaches_it(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str]
) -> None:
    """ALTER TABLE makes no snapshot of Iceberg, nor does a DELETE that Spark leaves out."""
    table = fresh("iceberg")
    lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT id, id * 10 AS v FROM range(1, 4)")
    ls.track("t", table, key="id")
    ls.sql(f"UPDATE {table} SET v = 0 WHERE id = 1")
    lake.sql(f"ALTER TABLE {table} ADD COLUMN more INT")
    ls.sql(f"DELETE FROM {table} WHERE FALSE")
    with pytest.raises(UnsupportedError, match=f"'s2' changed no row of {table}, so that"):
        ls.history.what_if(undo=["s1"])
    (changed,) = ls.history.rows("t", 1)[1:]
    assert (changed.statement, changed.old, changed.new) == ("s1", (1, 10), (1, 0))


@pytest.mark.parametrize(
    ("statement", "partition"),
    [
        ("INSERT INTO {t} REPLACE WHERE v <> 5 SELECT 9, 9", ""),
        ("DELETE FROM {t} WHERE NOT (v = 5 OR id IS NULL)", ""),
        ("DELETE FROM {t} WHERE v < 50", "PARTITIONED BY (v)"),
        ("INSERT INTO {t} REPLACE WHERE v < 50 SELECT 9, 9", "PARTITIONED BY (truncate(10, v))"),
    ],
)
def test_rows_with_null_that_iceberg_may_remove_are_refused_by_name(
    lake: SparkSession,
    ls: lipstick.Session,
    fresh: Callable[[str], str],
    statement: str,
    partition: str,
) -> None:
    """Of NULL such a condition is not true in SQL, and true in files of Iceberg."""
    table, other = fresh("iceberg"), fresh("iceberg")
    for name, relation in ((table, "mended"), (other, "as_it_was")):
        lake.sql(f"CREATE TABLE {name} (id INT, v INT) USING iceberg {partition}")
        lake.sql(f"INSERT INTO {name} VALUES (1, 10), (2, NULL)")
        ls.track(relation, name, key="*")
    refused = pytest.raises(UnsupportedError, match="NULL, which SQL keeps and Iceberg may remove")
    ls.sql(f"UPDATE {table} SET v = 20 WHERE id = 2")
    ls.sql(statement.format(t=table))
    made = [(9, 9)] if statement.startswith("INSERT") else []
    assert sorted(map(tuple, lake.table(table).collect())) == made
    (first,) = ls.history._sources
    left = ls.history.what_if(delete={first: "id = 1"}).table(table)
    assert sorted(map(tuple, left.collect())) == made
    for ask in (
        lambda: ls.history.what_if(undo=["s1"]),
        lambda: ls.history.what_if(replace={"s1": f"UPDATE {table} SET v = NULL"}),
        lambda: ls.history.query("SELECT id FROM mended"),
    ):
        with refused:
            ask()
    ls.sql(statement.format(t=other))
    assert sorted(map(tuple, lake.table(other).collect())) == made
    with refused:
        ls.history.check()


@pytest.mark.parametrize("condition", ["NOT v <=> 5", "v = 10 OR v IS NULL", "v >= 5 AND v < 50"])
def test_conditions_that_say_what_becomes_of_null_are_followed(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], condition: str
) -> None:
    table = fresh("iceberg")
    lake.sql(f"CREATE TABLE {table} (id INT, v INT) USING iceberg")
    lake.sql(f"INSERT INTO {table} VALUES (2, NULL)")
    ls.track("t", table, key="*")
    ls.sql(f"UPDATE {table} SET v = 10")
    ls.sql(f"DELETE FROM {table} WHERE {condition}")
    kept = [(2, None)] if "AND" in condition else []
    assert [tuple(row) for row in ls.history.what_if(undo=["s1"]).table("t").collect()] == kept


@pytest.mark.parametrize("format", FORMATS)
def test_versions_that_were_removed_are_a_named_error(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], format: str
) -> None:
    table = fresh(format)
    lake.sql(f"CREATE TABLE {table} USING {format} AS SELECT id, id * 10 AS v FROM range(1, 4)")
    ls.track("t", table, key="id")
    for number in (1, 2):
        ls.sql(f"UPDATE {table} SET v = 0 WHERE id = {number}")
    if format == "delta":
        lake.sql(f"VACUUM {table} RETAIN 0 HOURS")
    else:
        lake.sql(
            f"CALL ice.system.expire_snapshots(table => '{table.removeprefix('ice.')}', "
            "older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
        )
    for ask in (lambda: ls.history.rows("t", 1), lambda: ls.history.what_if(undo=["s1"])):
        with pytest.raises(VersionGoneError, match="cannot be read any more"):
            ask()


@pytest.mark.parametrize("format", FORMATS)
def test_a_second_match_is_refused_where_clauses_change_only_other_rows(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], format: str
) -> None:
    """Delta fails on it, and Iceberg would write the matched row twice."""
    table = fresh(format)
    lake.sql(f"CREATE TABLE {table} USING {format} AS SELECT id FROM range(1, 4)")
    ls.track("orders", table, key="id")
    ls.track("news", lake.createDataFrame([(1, 1), (2, 2), (3, 2)], "n INT, id INT"), key="n")
    ls.track("cancelled", lake.createDataFrame([(3,)], "n INT"), key="n")
    source = "SELECT id FROM news WHERE NOT EXISTS (SELECT 1 FROM cancelled c WHERE c.n = news.n)"
    merge = f"MERGE INTO {table} t USING ({source}) s ON t.id = s.id"
    ls.sql(f"{merge} WHEN NOT MATCHED BY SOURCE THEN DELETE")
    ids = ls.sql("SELECT id FROM orders")
    assert sorted(map(tuple, ids.df.collect())) == [(1,), (2,)]
    without = ids.what_if(delete={"news": [1]}).df
    assert [tuple(row) for row in without.collect()] == [(2,)]
    with pytest.raises(StatementError, match="fail, or write a row twice"):
        ids.what_if(delete={"cancelled": [3]})


OWN_FILES = {
    "delta": ("delta", "", True),
    "iceberg": ("iceberg", "", True),
    "partitions of Iceberg": ("iceberg", "PARTITIONED BY (v)", True),
    "partitions of Delta": ("delta", "PARTITIONED BY (v)", False),
    "names of columns": (
        "delta",
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        False,
    ),
    "deletion vectors": (
        "delta",
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        False,
    ),
    "deletion files": (
        "iceberg",
        "TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')",
        False,
    ),
}


@pytest.mark.parametrize("name", OWN_FILES)
def test_versions_that_are_their_local_files_are_read_as_such(
    lake: SparkSession, fresh: Callable[[str], str], name: str
) -> None:
    format, properties, own = OWN_FILES[name]
    table = fresh(format)
    lake.sql(
        f"CREATE TABLE {table} USING {format} {properties} AS "
        "SELECT /*+ COALESCE(1) */ id, id % 2 AS v, CAST(id AS STRING) AS s FROM range(9)"
    )
    lake.sql(f"DELETE FROM {table} WHERE id = 4")
    lake.sql(f"INSERT INTO {table} VALUES (NULL, 1, 'é')")
    found = versioned_table(lake, table)
    assert found is not None
    versions = [each.version for each in found[0].history()]
    files = found[0].own_files(versions)
    assert (files is not None) == own
    schema = pa.schema([("id", pa.int64()), ("v", pa.int64()), ("s", pa.string())])
    keys = pa.table({"id": pa.array([None, 4, 8], pa.int64())})
    for version, paths in (files or {}).items():
        rows = []
        for path in paths:
            with pq.ParquetFile(path) as file:
                read = stored_rows(file, schema, keys)
            assert read is not None
            rows += [tuple(row.values()) for row in read.to_pylist()]
        there = found[0].read(version).where("id IN (4, 8) OR id IS NULL").collect()
        assert sorted(map(repr, rows)) == sorted(map(repr, map(tuple, there)))


@pytest.mark.parametrize("format", FORMATS)
def test_a_question_of_few_rows_starts_few_jobs(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], format: str
) -> None:
    """The answer is that of the same statements over what is left."""
    tables = [fresh(format), fresh(format)]
    statements = (
        "MERGE INTO {} AS t USING updates AS u ON t.id = u.id WHEN MATCHED THEN UPDATE SET "
        "v = t.v + u.v WHEN NOT MATCHED THEN INSERT *",
        "UPDATE {} SET v = v * 2 WHERE v > 50",
        "DELETE FROM {} WHERE v = 20",
    )
    updates = lake.range(3, 15).selectExpr("id", "id * 5 AS v")
    for table in tables:
        rows = "SELECT id, id * 10 AS v FROM range(10)"
        lake.sql(f"CREATE TABLE {table} USING {format} AS {rows}")
    ls.track("followed", tables[0], key="id")
    ls.track("updates", updates, key="id")
    for text in statements:
        ls.sql(text.format(tables[0]))
    context = lake.sparkContext._jsc.sc().dagScheduler()  # type: ignore[union-attr]
    total = ls.sql("SELECT sum(v) AS total FROM followed")
    for gone in ([4], [4, 12]):  # other values, and a row that would not be there
        before = context.numTotalJobs()
        answer = total.what_if(delete={"updates": gone}).df.collect()
        assert context.numTotalJobs() - before <= 10
        plain = updates.where(~F.col("id").isin(gone))
        plain.createOrReplaceTempView("updates_left")
        again = fresh(format)
        lake.sql(f"CREATE TABLE {again} USING {format} AS SELECT * FROM {tables[1]}")
        for text in statements:
            lake.sql(text.format(again).replace("USING updates", "USING updates_left"))
        assert answer == lake.sql(f"SELECT sum(v) AS total FROM {again}").collect()

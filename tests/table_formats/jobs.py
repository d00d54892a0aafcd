"""Jobs on Delta and Iceberg as their tutorials write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick import ExecutedStatement
from lipstick.tracking.formats.probe import versioned_table

FORMATS: Final = ("delta", "iceberg")
AFTERWARDS: Final = ("recording", "reenact")
"""Ways of jobs whose statements ``ls.sql`` refuses."""


@dataclass
class Run:
    """One run of a job: on tables of its own, followed or not."""

    spark: SparkSession
    format: str
    t: str
    stage: str
    folder: Path
    ls: Any = None
    way: str = "plain"
    without: Mapping[str, str] = field(default_factory=dict)
    """Rows that its sources do not have, by source and number of the load: ``load@2``."""
    undone: int | None = None
    ran: list[ExecutedStatement] = field(default_factory=list)
    changed: dict[str, None] = field(default_factory=dict)
    reads: dict[str, str] = field(default_factory=dict)
    loads: dict[str, int] = field(default_factory=dict)
    count: int = 0

    @property
    def followed(self) -> bool:
        """True if a session of ours looks on."""
        return self.ls is not None

    def create(self, text: str, key: Any = "id") -> None:
        """Make the target, and track it as ``t``."""
        self.spark.sql(self._filled(text))
        if self.followed and self.way != "reenact":
            self.ls.track("t", self.t, key=key)

    def rows(self, query: str, name: str = "load") -> DataFrame:
        """Return the rows of a load of a source, less the deleted ones."""
        self.loads[name] = number = self.loads.get(name, 0) + 1
        gone = self.without.get(f"{name}@{number}")
        rows = self.spark.sql(query)
        return rows if gone is None else rows.where(f"NOT ({gone})")

    def view(self, query: str, key: Any = "id", name: str = "load") -> None:
        """Let a source be a temporary view of a folder of Parquet, which is tracked."""
        path = str(self.folder / name)
        self.rows(query, name).coalesce(1).write.mode("overwrite").parquet(path)
        if self.followed:
            self.ls.track(f"{name}_files", path, key=key)
        self.spark.read.parquet(path).createOrReplaceTempView(name)

    def staged(self, query: str, key: Any = "id", name: str = "load") -> None:
        """Let a source be a table that is loaded anew."""
        rows, path = self.rows(query, name), str(self.folder / f"{name}_{self.loads[name]}")
        rows.coalesce(1).write.parquet(path)
        self.spark.read.parquet(path).createOrReplaceTempView("rows_of_load")
        table = self._filled("{stage}")
        if self.loads[name] == 1:
            self.spark.sql(
                f"CREATE TABLE {table} USING {self.format} AS SELECT * FROM rows_of_load"
            )
            if self.followed and self.way != "reenact":
                self.ls.track(name, table, key=key)
        else:
            self.spark.sql(f"INSERT OVERWRITE {table} SELECT * FROM rows_of_load")
        if self.way == "reenact":
            self.reads = {table: f"{name}_{self.loads[name]}"}
            self.ls.track(self.reads[table], table, key=key)

    def called(self, source: str) -> str:
        """Return what the rows of a load are called, as ``load@1``, the last one as ``load``."""
        name, _, number = source.partition("@")
        return f"{name}_{number or self.loads[name]}" if self.reads else source

    def sql(self, text: str) -> None:
        """Run a statement of the job."""
        text = self._filled(text)
        self.count += 1
        if self.count == self.undone:
            return
        (self.ls.sql if self.way == "sql" else self.spark.sql)(text)
        if self.way == "reenact":
            table = min((n for n in (self.t, self.stage) if n in text), key=text.index)
            found = versioned_table(self.spark, table)
            assert found is not None
            on_branch = versioned_table(self.spark, f"{table}.branch_audit")
            assert on_branch is not None or "branch_audit" not in text
            changed = on_branch if on_branch and "branch_audit" in text else found
            version = changed[0].current()
            self.ran.append(ExecutedStatement(text, version=version, reads=self.reads))
            self.changed[table] = None

    def aside(self, text: str) -> None:
        """Run what keeps the rows: OPTIMIZE, VACUUM, ALTER TABLE."""
        self.spark.sql(self._filled(text))

    def _filled(self, text: str) -> str:
        short = self.t.removeprefix("ice.")
        for name, value in {
            "t": self.t,
            "short": short,
            "stage": self.stage,
            "format": self.format,
            "folder": str(self.folder),
        }.items():
            text = text.replace(f"{{{name}}}", value)
        return text


@dataclass(frozen=True)
class Job:
    """A job, the formats that have it, and the row to delete."""

    run: Callable[[Run], None]
    delete: Mapping[str, str]
    without: Mapping[str, str]
    formats: tuple[str, ...] = FORMATS
    ways: tuple[str, ...] = ("sql", "recording", "reenact")
    undo: bool = True


JOBS: dict[str, Job] = {}


def job(
    delete: Mapping[str, str], without: Mapping[str, str] | None = None, **options: Any
) -> Callable[[Callable[[Run], None]], Callable[[Run], None]]:
    """Add a job by the name of its function."""

    def add(run: Callable[[Run], None]) -> Callable[[Run], None]:
        rows = without or {f"{n.removesuffix('_files')}@1": c for n, c in delete.items()}
        JOBS[run.__name__] = Job(run, delete, rows, **options)
        return run

    return add


# -- slowly changing dimensions --------------------------------------------------------------


@job({"load_files": "id = 1"})
def scd1(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} USING {format} AS SELECT * FROM VALUES "
        "(1, 'Rome', 'a'), (2, 'Oslo', 'b'), (3, 'Bern', 'c') AS v(id, city, name)"
    )
    run.view(
        "SELECT * FROM VALUES (1, 'Paris', 'a'), (2, 'Oslo', 'b'), (4, 'Kyiv', 'd') "
        "AS v(id, city, name)"
    )
    run.sql(
        "MERGE INTO {t} AS t USING load AS s ON t.id = s.id "
        "WHEN MATCHED AND (t.city <> s.city OR t.name <> s.name) THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    )
    run.sql("UPDATE {t} SET city = upper(city) WHERE id <> 3")


@job({"load": "id = 1"}, {"load@2": "id = 1"})
def scd2(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} USING {format} AS SELECT * FROM VALUES "
        "(1, 'Rome', true, DATE'2026-01-01', CAST(NULL AS DATE)), "
        "(2, 'Oslo', true, DATE'2026-01-01', NULL) AS v(id, address, current, effective, ended)",
        key=["id", "effective"],
    )
    for load in (
        "VALUES (1, 'Paris', DATE'2026-02-01'), (4, 'Kyiv', DATE'2026-02-01')",
        "VALUES (1, 'Lima', DATE'2026-03-01'), (2, 'Oslo', DATE'2026-03-01')",
    ):
        run.staged(f"SELECT * FROM {load} AS v(id, address, effective)")
        run.sql(
            """MERGE INTO {t} AS customers USING (
                 SELECT updates.id AS mergeKey, updates.* FROM {stage} AS updates
                 UNION ALL
                 SELECT NULL AS mergeKey, updates.* FROM {stage} AS updates
                 JOIN {t} AS customers ON updates.id = customers.id
                 WHERE customers.current = true AND updates.address <> customers.address
               ) AS staged_updates ON customers.id = mergeKey
               WHEN MATCHED AND customers.current = true
                 AND customers.address <> staged_updates.address
                 THEN UPDATE SET current = false, ended = staged_updates.effective
               WHEN NOT MATCHED THEN INSERT (id, address, current, effective, ended)
                 VALUES (staged_updates.id, staged_updates.address, true,
                         staged_updates.effective, NULL)"""
        )


@job({"load_files": "id = 5"}, formats=("delta",), ways=("recording",))
def scd2_by_delta(run: Run) -> None:
    from delta.tables import DeltaTable

    run.create(
        "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES "
        "(1, 'Rome', true, DATE'2026-01-01', CAST(NULL AS DATE)), "
        "(5, 'Oslo', true, DATE'2026-01-01', NULL) "
        "AS v(customerId, address, current, effectiveDate, endDate)",
        key=["customerId", "effectiveDate"],
    )
    run.view(
        "SELECT * FROM VALUES (1, 'Paris', DATE'2026-02-01'), (5, 'Lima', DATE'2026-02-01'), "
        "(7, 'Kyiv', DATE'2026-02-01') AS v(id, address, effectiveDate)"
    )
    customers = DeltaTable.forName(run.spark, run.t)
    updates = run.spark.table("load").withColumnRenamed("id", "customerId")
    changed = (
        updates.alias("updates")
        .join(customers.toDF().alias("customers"), "customerId")
        .where("customers.current = true AND updates.address <> customers.address")
    )
    staged = changed.selectExpr("NULL as mergeKey", "updates.*").union(
        updates.selectExpr("customerId as mergeKey", "*")
    )
    (
        customers.alias("customers")
        .merge(staged.alias("staged_updates"), "customers.customerId = mergeKey")
        .whenMatchedUpdate(
            condition="customers.current = true AND customers.address <> staged_updates.address",
            set={"current": "false", "endDate": "staged_updates.effectiveDate"},
        )
        .whenNotMatchedInsert(
            values={
                "customerId": "staged_updates.customerId",
                "address": "staged_updates.address",
                "current": "true",
                "effectiveDate": "staged_updates.effectiveDate",
                "endDate": "null",
            }
        )
        .execute()
    )


@job({"load": "id = 2"})
def scd3(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} USING {format} AS SELECT * FROM VALUES "
        "(1, 'Rome', CAST(NULL AS STRING)), (2, 'Oslo', NULL) AS v(id, city, previous_city)"
    )
    run.staged("SELECT * FROM VALUES (1, 'Rome'), (2, 'Bergen'), (3, 'Bern') AS v(id, city)")
    run.sql(
        "MERGE INTO {t} t USING {stage} s ON t.id = s.id "
        "WHEN MATCHED AND t.city <> s.city THEN UPDATE SET t.previous_city = t.city, "
        "t.city = s.city "
        "WHEN NOT MATCHED THEN INSERT (id, city, previous_city) VALUES (s.id, s.city, NULL)"
    )


# -- feeds -----------------------------------------------------------------------------------

ORDERS = (
    "CREATE TABLE {t} USING {format} AS SELECT * FROM VALUES "
    "(1, 10, 'new', TIMESTAMP'2026-01-01'), (2, 20, 'new', TIMESTAMP'2026-01-01'), "
    "(3, 30, 'new', TIMESTAMP'2026-01-01') AS v(id, amount, status, updated_at)"
)


@job({"load_files": "seq = 3"})
def deduplicated_upsert(run: Run) -> None:
    run.create(ORDERS)
    run.view(
        "SELECT * FROM VALUES (1, 1, 11, 'paid', TIMESTAMP'2026-02-01'), "
        "(2, 2, 21, 'paid', TIMESTAMP'2026-02-01'), (3, 2, 22, 'sent', TIMESTAMP'2026-02-02'), "
        "(4, 5, 50, 'new', TIMESTAMP'2026-02-01'), (5, 5, 51, 'new', TIMESTAMP'2026-02-03') "
        "AS v(seq, id, amount, status, updated_at)",
        key="seq",
    )
    run.sql(
        """MERGE INTO {t} AS t USING (SELECT id, amount, status, updated_at FROM (SELECT *,
             ROW_NUMBER() OVER (PARTITION BY id ORDER BY updated_at DESC) AS rn FROM load)
             WHERE rn = 1) AS s ON t.id = s.id
           WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET *
           WHEN NOT MATCHED THEN INSERT *"""
    )


@job({"load": "seq = 4"}, {"load@2": "seq = 4"})
def change_data_with_deletes(run: Run) -> None:
    run.create(ORDERS)
    for load in (
        "(1, 1, 15, 'U'), (2, 2, NULL, 'D'), (3, 7, 70, 'I')",
        "(4, 3, NULL, 'D'), (5, 7, 71, 'U'), (6, 7, 72, 'U')",
    ):
        run.staged(f"SELECT * FROM VALUES {load} AS v(seq, id, amount, op)", key="seq")
        run.sql(
            """MERGE INTO {t} t USING (SELECT seq, id, amount, op FROM (SELECT *, row_number()
                 OVER (PARTITION BY id ORDER BY seq DESC) AS n FROM {stage}) WHERE n = 1) s
               ON t.id = s.id
               WHEN MATCHED AND s.op = 'D' THEN DELETE
               WHEN MATCHED THEN UPDATE SET amount = s.amount, status = s.op
               WHEN NOT MATCHED AND s.op <> 'D' THEN INSERT (id, amount, status, updated_at)
                 VALUES (s.id, s.amount, 'new', TIMESTAMP'2026-03-01')"""
        )


@job({"load_files": "seq = 3"}, formats=("delta",), ways=("recording",))
def last_changes_by_delta(run: Run) -> None:
    from delta.tables import DeltaTable

    run.create(
        "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c') "
        "AS v(id, value)"
    )
    run.view(
        "SELECT * FROM VALUES (1, 1, 'x', false), (2, 2, NULL, true), (3, 1, NULL, true), "
        "(4, 9, 'n', false) AS v(seq, key, newValue, deleted)",
        key="seq",
    )
    latest = (
        run.spark.table("load")
        .selectExpr("key", "struct(seq as time, newValue, deleted) as otherCols")
        .groupBy("key")
        .agg(F.max("otherCols").alias("latest"))
        .select("key", "latest.*")
    )
    (
        DeltaTable.forName(run.spark, run.t)
        .alias("t")
        .merge(latest.alias("s"), "s.key = t.id")
        .whenMatchedDelete("s.deleted = true")
        .whenMatchedUpdate(set={"id": "s.key", "value": "s.newValue"})
        .whenNotMatchedInsert("s.deleted = false", {"id": "s.key", "value": "s.newValue"})
        .execute()
    )


@job({"load_files": "id = 5"}, undo=False, ways=("sql", "recording"))
def view_over_the_target(run: Run) -> None:
    """As dbt writes an incremental model."""
    run.create(DAYS)
    run.view(BACKFILL)
    run.aside(
        "CREATE OR REPLACE TEMPORARY VIEW new_rows AS SELECT id, amount, day FROM load "
        "WHERE id > (SELECT max(id) FROM {t} WHERE id < 5)"
    )
    run.sql(
        "MERGE INTO {t} AS DBT_INTERNAL_DEST USING new_rows AS DBT_INTERNAL_SOURCE "
        "ON DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    run.sql("INSERT INTO {t} SELECT id + 100, amount, day FROM new_rows")


@job({"load_files": "id = 5"}, formats=("iceberg",))
def rows_of_subqueries(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.sql("INSERT INTO {t} SELECT id + 10, amount, day FROM load")
    run.sql(
        "DELETE FROM {t} AS t WHERE EXISTS "
        "(SELECT 1 FROM load AS s WHERE s.id + 10 = t.id AND s.amount > 60)"
    )
    run.sql("DELETE FROM {t} WHERE id NOT IN (SELECT id + 10 FROM load) AND id > 3")
    run.sql(
        "UPDATE {t} AS t SET amount = (SELECT max(amount) FROM load AS s WHERE s.day = t.day) "
        "WHERE t.id IN (SELECT id FROM load)"
    )


@job({"load_files": "id = 2"})
def soft_delete(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} USING {format} AS SELECT * FROM VALUES (1, 10, false), (2, 20, false), "
        "(3, 30, false) AS v(id, amount, is_deleted)"
    )
    run.view("SELECT * FROM VALUES (1, 11), (2, 20), (4, 40) AS v(id, amount)")
    run.sql(
        """MERGE INTO {t} AS t USING load AS s ON t.id = s.id
           WHEN MATCHED AND t.amount <> s.amount THEN UPDATE SET amount = s.amount
           WHEN NOT MATCHED THEN INSERT (id, amount, is_deleted) VALUES (s.id, s.amount, false)
           WHEN NOT MATCHED BY SOURCE AND NOT t.is_deleted THEN UPDATE SET is_deleted = true"""
    )
    run.sql("DELETE FROM {t} WHERE is_deleted AND amount > 25")


@job({"load": "id = 1 AND day = DATE'2026-01-02'"})
def late_corrections(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} USING {format} PARTITIONED BY (day) AS SELECT * FROM VALUES "
        "(1, 10, DATE'2026-01-01'), (1, 12, DATE'2026-01-02'), (2, 20, DATE'2026-01-02'), "
        "(2, 22, DATE'2026-01-03') AS v(id, amount, day)",
        key=["id", "day"],
    )
    run.staged(
        "SELECT * FROM VALUES (1, 5, DATE'2026-01-02'), (2, -3, DATE'2026-01-02'), "
        "(3, 30, DATE'2025-12-31') AS v(id, change, day)",
        key=["id", "day"],
    )
    run.sql(
        """MERGE INTO {t} t USING {stage} c
           ON t.id = c.id AND t.day = c.day AND t.day >= DATE'2025-12-01'
           WHEN MATCHED THEN UPDATE SET t.amount = t.amount + c.change
           WHEN NOT MATCHED THEN INSERT (id, amount, day) VALUES (c.id, c.change, c.day)"""
    )
    run.sql("UPDATE {t} SET amount = 0 WHERE amount < 16 AND day < DATE'2026-01-02'")


# -- partitions and writers ------------------------------------------------------------------

DAYS = (
    "CREATE TABLE {t} USING {format} PARTITIONED BY (day) AS SELECT * FROM VALUES "
    "(1, 10, '2026-01-01'), (2, 20, '2026-01-02'), (3, 30, '2026-01-02'), (4, 40, '2026-01-03') "
    "AS v(id, amount, day)"
)
BACKFILL = (
    "SELECT * FROM VALUES (2, 21, '2026-01-02'), (5, 51, '2026-01-02'), (6, 61, '2026-01-02') "
    "AS v(id, amount, day)"
)


@job({"load_files": "id = 5"}, formats=("delta",))
def backfill_by_replace_where(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.sql("INSERT INTO {t} REPLACE WHERE day = '2026-01-02' SELECT id, amount, day FROM load")
    run.sql("UPDATE {t} SET amount = amount + 1 WHERE id > 2")


@job({"load_files": "id = 5"}, formats=("delta",), ways=("recording",))
def backfill_by_a_writer(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    (
        run.spark.table("load")
        .write.format("delta")
        .mode("overwrite")
        .option("replaceWhere", "day = '2026-01-02'")
        .saveAsTable(run.t)
    )
    run.spark.sql(f"UPDATE {run.t} SET amount = amount + 1 WHERE id > 2")


@job({"load_files": "id = 5"}, formats=("delta",), ways=("recording",))
def partitions_overwritten_by_a_writer(run: Run) -> None:
    """Columns of a saved table go by name."""
    run.create(DAYS)
    run.view(BACKFILL)
    rows = run.spark.table("load").write.format("delta").mode("overwrite")
    rows = rows.option("partitionOverwriteMode", "dynamic")
    rows.insertInto(run.t)
    run.spark.sql(f"UPDATE {run.t} SET amount = amount + 1 WHERE id > 2")
    named = run.spark.table("load").select("day", (F.col("id") + 10).alias("id"), "amount")
    named = named.write.format("delta").mode("overwrite")
    named.option("partitionOverwriteMode", "dynamic").saveAsTable(run.t)


@job({"load_files": "id = 5"}, formats=("iceberg",), ways=("recording",))
def overwritten_by_a_filter(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.spark.table("load").writeTo(run.t).overwrite(F.col("day") == "2026-01-02")
    run.spark.sql(f"UPDATE {run.t} SET amount = amount + 1 WHERE id > 2")


@job({"load_files": "id = 5"}, formats=("delta",), ways=("recording",))
def table_of_a_path(run: Run) -> None:
    """Columns of rows that are saved go by name."""
    from delta.tables import DeltaTable

    path = str(run.folder / "table")
    run.t = f"delta.`{path}`"
    rows = "SELECT * FROM VALUES (1, 10, 'a'), (2, 20, 'b') AS v(id, amount, day)"
    run.spark.sql(rows).write.format("delta").save(path)
    if run.followed:
        run.ls.track("t", run.t, key="id")
    run.view(BACKFILL)
    load = run.spark.table("load")
    target = DeltaTable.forPath(run.spark, path)
    (
        target.alias("t")
        .merge(load.alias("s"), "t.id = s.id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute()
    )
    load.selectExpr("day", "id + 10 AS id", "amount").write.format("delta").mode("append").save(
        path
    )
    target.delete(F.col("id") == 6)
    (
        load.where("id > 2")
        .write.format("delta")
        .mode("overwrite")
        .option("replaceWhere", "id < 10 AND id > 2")
        .save(path)
    )
    target.update("id = 5", {"amount": "amount + 1"})


@job({"load_files": "id = 5"}, formats=("delta",), ways=("recording",))
def overwritten_by_a_path(run: Run) -> None:
    path = str(run.folder / "table")
    run.t = f"delta.`{path}`"
    rows = "SELECT * FROM VALUES (1, 10, 'a'), (2, 20, 'b') AS v(id, amount, day)"
    run.spark.sql(rows).write.format("delta").save(path)
    if run.followed:
        run.ls.track("t", run.t, key="id")
    run.view(BACKFILL)
    load = run.spark.table("load")
    load.select("day", "amount", "id").write.format("delta").mode("overwrite").save(path)
    (
        load.groupBy("day")
        .agg(F.max("id").alias("id"), F.count("*").alias("n"))
        .write.format("delta")
        .mode("overwrite")
        .option("overwriteSchema", "true")
        .save(path)
    )
    run.spark.sql(f"UPDATE {run.t} SET n = n + 1 WHERE id > 2")


@job({"load_files": "id = 5"}, ways=("recording",))
def appended_with_another_column(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} (id INT, amount INT, day STRING) USING {format} "
        + ("TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')" * (run.format == "iceberg"))
    )
    run.view(
        "SELECT * FROM VALUES (2, 21, '2026-01-02', 'web'), (5, 51, '2026-01-02', 'shop'), "
        "(6, 61, '2026-01-02', NULL) AS v(id, amount, day, channel)"
    )
    rows = run.spark.table("load").selectExpr("id + 10 AS id", "amount", "day", "channel")
    if run.format == "delta":
        rows = rows.select("channel", "id", "day", "amount")
        rows.write.format("delta").option("mergeSchema", "true").mode("append").saveAsTable(run.t)
        run.spark.sql(f"UPDATE {run.t} SET amount = amount + 1 WHERE channel = 'web' OR id = 15")
    else:
        rows.writeTo(run.t).option("mergeSchema", "true").append()


@job({"load_files": "id = 5"})
def partition_overwritten(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.sql("INSERT INTO {t} PARTITION (day = '2026-01-05') SELECT id + 10, amount FROM load")
    run.sql(
        "INSERT OVERWRITE {t} PARTITION (day = '2026-01-02') SELECT id, amount FROM load "
        "WHERE id > 2"
    )


@job({"load_files": "id = 5"})
def dynamic_partition_overwrite(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    run.sql("INSERT OVERWRITE TABLE {t} SELECT id, amount, day FROM load WHERE amount > 20")
    run.sql("INSERT OVERWRITE TABLE {t} SELECT id + 100, amount, '2026-01-04' AS day FROM load")


@job({"load_files": "id = 5"}, ways=("recording",))
def dynamic_partition_overwrite_by_a_writer(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    run.spark.table("load").write.mode("overwrite").insertInto(run.t)


@job({"load_files": "id = 5"}, ways=("recording",))
def overwrite_partitions(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.spark.table("load").writeTo(run.t).overwritePartitions()
    run.spark.table("load").selectExpr("id + 10 AS id", "amount", "day").writeTo(run.t).append()


@job({"load_files": "id = 5"}, ways=("recording",))
def insert_into(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.spark.table("load").selectExpr("id + 20", "amount", "day").write.insertInto(run.t)
    run.spark.table("load").write.insertInto(run.t, overwrite=True)


@job({"load_files": "id = 5"}, ways=("recording",))
def save_as_table(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    rows = run.spark.table("load")
    rows.selectExpr("id + 20 AS id", "amount", "day").write.format(run.format).mode(
        "append"
    ).saveAsTable(run.t)
    rows.groupBy("day").agg(F.max("id").alias("id"), F.sum("amount").alias("amount")).select(
        "id", F.col("amount").cast("int"), "day"
    ).write.format(run.format).mode("overwrite").saveAsTable(run.t)


@job({"load_files": "id = 5"})
def insert_by_name(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.sql("INSERT INTO {t} BY NAME SELECT day, id + 10 AS id, amount FROM load")
    run.sql("INSERT INTO {t} (day, id) SELECT max(day), max(id) + 100 FROM load")


# -- DeltaTable --------------------------------------------------------------------


@job({"load_files": "id = 5"}, formats=("delta",), ways=("recording",))
def delta_merge_with_all_clauses(run: Run) -> None:
    from delta.tables import DeltaTable

    run.create(DAYS)
    run.view(
        "SELECT * FROM VALUES (1, 11, '2026-01-01'), (2, NULL, '2026-01-02'), "
        "(5, 51, '2026-01-05') AS v(id, amount, day)"
    )
    target = DeltaTable.forName(run.spark, run.t)
    (
        target.alias("t")
        .merge(run.spark.table("load").alias("s"), "t.id = s.id")
        .whenMatchedDelete("s.amount IS NULL")
        .whenMatchedUpdate("t.amount <> s.amount", {"amount": "s.amount", "day": F.col("s.day")})
        .whenNotMatchedInsert("s.amount > 1", {"id": "s.id", "amount": "s.amount", "day": "s.day"})
        .whenNotMatchedBySourceUpdate("t.amount > 35", {"amount": "t.amount * 2"})
        .whenNotMatchedBySourceDelete("t.amount < 5")
        .execute()
    )
    target.update("id = 3", {"amount": "amount + 100"})
    target.delete("id = 1")
    (
        target.alias("t")
        .merge(run.spark.table("load").alias("s"), "t.id = s.id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute()
    )


@job({"load_files": "id = 5"}, formats=("delta",), ways=("recording",), undo=False)
def delta_merge_with_schema_evolution(run: Run) -> None:
    from delta.tables import DeltaTable

    run.create(DAYS)
    run.view(
        "SELECT * FROM VALUES (1, 11, '2026-01-01', 'web'), (5, 51, '2026-01-05', 'shop') "
        "AS v(id, amount, day, channel)"
    )
    (
        DeltaTable.forName(run.spark, run.t)
        .alias("t")
        .merge(run.spark.table("load").alias("s"), "t.id = s.id")
        .withSchemaEvolution()
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute()
    )
    run.spark.sql(f"UPDATE {run.t} SET amount = amount + 1 WHERE channel = 'web'")


@job({"load_files": "id = 5"}, formats=("delta",), undo=False)
def merge_with_schema_evolution(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} USING {format} AS SELECT * FROM VALUES (1, 10), (2, 20) AS v(id, amount)"
    )
    run.view("SELECT * FROM VALUES (1, 11, 'web'), (5, 51, 'shop') AS v(id, amount, channel)")
    run.sql(
        "MERGE WITH SCHEMA EVOLUTION INTO {t} AS t USING load AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    run.sql("UPDATE {t} SET amount = amount + 1 WHERE channel = 'web'")


@job({"load_files": "id = 5"}, formats=("delta",), undo=False)
def columns_added_by_a_setting(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} USING {format} AS SELECT * FROM VALUES (1, 10), (2, 20) AS v(id, amount)"
    )
    run.view("SELECT * FROM VALUES (1, 11, 'web'), (5, 51, 'shop') AS v(id, amount, channel)")
    run.spark.conf.set("spark.databricks.delta.schema.autoMerge.enabled", "true")
    try:
        run.sql(
            "MERGE INTO {t} AS t USING load AS s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
    finally:
        run.spark.conf.unset("spark.databricks.delta.schema.autoMerge.enabled")
    run.sql("UPDATE {t} SET amount = amount + 1 WHERE channel = 'web'")


def _stream(run: Run, batch: Callable[[DataFrame, int], None]) -> None:
    """Run a stream over files that came one by one."""
    for _, values in enumerate(("(1, 11), (5, 51)", "(5, 52), (6, 61)", "(2, 22)"), start=1):
        query = f"SELECT * FROM VALUES {values} AS v(id, amount)"
        rows = run.rows(query, "load").coalesce(1)
        rows.write.mode("append").parquet(str(run.folder / "load"))
    if run.followed:
        run.ls.track("load_files", str(run.folder / "load"), key="*")
    (
        run.spark.readStream.schema("id INT, amount INT")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(run.folder / "load"))
        .writeStream.foreachBatch(batch)
        .option("checkpointLocation", str(run.folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
        .awaitTermination()
    )


@job({"load_files": "amount = 51"}, {"load@1": "amount = 51"}, ways=())
def stream_merged_by_sql(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} USING {format} AS SELECT * FROM VALUES (1, 10), (2, 20) AS v(id, amount)"
    )

    def upsert(rows: DataFrame, number: int) -> None:
        rows.createOrReplaceTempView("updates")
        rows.sparkSession.sql(
            f"MERGE INTO {run.t} AS t USING updates AS s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET amount = t.amount + s.amount "
            "WHEN NOT MATCHED THEN INSERT *"
        )

    _stream(run, upsert)


@job({"load_files": "amount = 51"}, formats=("delta",), ways=())
def stream_merged_by_delta(run: Run) -> None:
    from delta.tables import DeltaTable

    run.create(
        "CREATE TABLE {t} USING {format} AS SELECT * FROM VALUES (1, 10), (2, 20) AS v(id, amount)"
    )
    target = DeltaTable.forName(run.spark, run.t)

    def upsert(rows: DataFrame, number: int) -> None:
        (
            target.alias("t")
            .merge(rows.alias("s"), "t.id = s.id")
            .whenMatchedUpdate(set={"amount": "t.amount + s.amount"})
            .whenNotMatchedInsertAll()
            .execute()
        )

    _stream(run, upsert)


# -- tables replaced, restored and kept in order -----------------------------------------------


@job({"load_files": "id = 5"})
def create_or_replace(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.sql("INSERT INTO {t} SELECT id + 10, amount, day FROM load")
    run.sql(
        "CREATE OR REPLACE TABLE {t} USING {format} AS SELECT day, max(id) AS id, "
        "sum(amount) AS amount, count(*) AS n FROM {t} GROUP BY day"
    )
    run.sql("UPDATE {t} SET amount = amount / n WHERE n > 1")


@job({"load_files": "id = 5"}, undo=False)
def restored(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.sql("INSERT INTO {t} SELECT id + 10, amount, day FROM load")
    if run.format == "delta":
        kept = run.spark.sql(f"DESCRIBE HISTORY {run.t} LIMIT 1").head()["version"]
    else:
        kept = run.spark.sql(
            f"SELECT snapshot_id FROM {run.t}.snapshots ORDER BY committed_at DESC LIMIT 1"
        ).head()[0]
    run.sql("DELETE FROM {t} WHERE id < 3")
    run.ran = run.ran[:1]  # what is taken back is left out
    if run.format == "delta":
        run.aside(f"RESTORE TABLE {{t}} TO VERSION AS OF {kept}")
    else:
        run.aside(f"CALL ice.system.rollback_to_snapshot('{{short}}', {kept})")
    run.sql("UPDATE {t} SET amount = amount + 1 WHERE id > 2")


@job({"load_files": "id = 5"})
def kept_in_order(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.sql("INSERT INTO {t} SELECT id + 10, amount, day FROM load")
    if run.format == "delta":
        run.aside("OPTIMIZE {t}")
        run.aside("OPTIMIZE {t} ZORDER BY (id)")
        run.aside("VACUUM {t}")
    else:
        rewrite = "CALL ice.system.rewrite_data_files(table => '{short}', "
        run.aside(rewrite + "options => map('min-input-files', '2'))")
        run.aside(
            rewrite + "strategy => 'sort', sort_order => 'zorder(id, amount)', "
            "options => map('rewrite-all', 'true'))"
        )
        run.aside("CALL ice.system.rewrite_manifests('{short}')")
    run.sql("UPDATE {t} SET amount = amount + 1 WHERE id > 2")
    if run.format == "delta":
        run.aside("REORG TABLE {t} APPLY (PURGE)")
        run.aside("ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')")
    else:
        run.aside("CALL ice.system.rewrite_position_delete_files('{short}')")
        run.aside("ALTER TABLE {t} SET TBLPROPERTIES ('write.update.mode' = 'merge-on-read')")
    run.sql("UPDATE {t} SET amount = amount * 2 WHERE id = 15")


@job({"load_files": "id = 5"})
def generated_columns_and_mapping(run: Run) -> None:
    if run.format == "delta":
        run.create(
            "CREATE TABLE {t} (id INT, amount INT, day STRING, gone STRING, month STRING "
            "GENERATED ALWAYS AS (substring(day, 1, 7))) USING delta "
            "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
        )
    else:
        run.create("CREATE TABLE {t} (id INT, amount INT, day STRING, gone STRING) USING iceberg")
    run.view(BACKFILL)
    run.sql("INSERT INTO {t} (id, amount, day, gone) SELECT id + 10, amount, day, 'x' FROM load")
    run.aside("ALTER TABLE {t} DROP COLUMN gone")
    run.aside("ALTER TABLE {t} RENAME COLUMN amount TO total")
    run.aside("ALTER TABLE {t} ADD COLUMN note STRING")
    run.sql(
        "MERGE INTO {t} AS t USING load AS s ON t.id = s.id + 10 WHEN MATCHED AND s.id > 2 "
        "THEN UPDATE SET total = t.total + s.amount, note = 'seen' "
        "WHEN NOT MATCHED THEN INSERT (id, total, day) VALUES (s.id, s.amount, s.day)"
    )


@job({"load_files": "id = 5"}, formats=("iceberg",))
def merge_on_read(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} USING iceberg TBLPROPERTIES ('format-version' = '3', "
        "'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', "
        "'write.merge.mode' = 'merge-on-read') AS SELECT id, id * 10 AS amount, "
        "concat('2026-01-0', id) AS day FROM range(1, 8)"
    )
    run.view(BACKFILL)
    run.sql(
        "MERGE INTO {t} AS t USING load AS s ON t.id = s.id WHEN MATCHED AND s.id = 2 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET amount = t.amount + s.amount WHEN NOT MATCHED THEN INSERT *"
    )
    run.sql("DELETE FROM {t} WHERE amount > 100")
    run.sql("UPDATE {t} SET amount = -amount WHERE id IN (3, 4, 6)")


@job({"load_files": "id = 5"}, formats=("iceberg",), ways=AFTERWARDS, undo=False)
def write_audit_publish(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.sql("INSERT INTO {t} SELECT id + 10, amount, day FROM load")
    run.aside("ALTER TABLE {t} CREATE BRANCH audit")
    run.sql("INSERT INTO {t}.branch_audit SELECT id + 20, amount, day FROM load")
    run.sql("DELETE FROM {t}.branch_audit WHERE id = 1")
    run.aside("CALL ice.system.fast_forward('{short}', 'main', 'audit')")
    run.sql("UPDATE {t} SET amount = amount + 1 WHERE id > 20")


@job({"load_files": "id = 5"}, formats=("iceberg",), ways=AFTERWARDS[:1], undo=False)
def write_audit_publish_by_session(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.aside("ALTER TABLE {t} SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
    run.aside("ALTER TABLE {t} CREATE BRANCH audit")
    run.spark.conf.set("spark.wap.branch", "audit")
    try:
        run.sql("INSERT INTO {t} SELECT id + 20, amount, day FROM load")
    finally:
        run.spark.conf.unset("spark.wap.branch")
    run.aside("CALL ice.system.fast_forward('{short}', 'main', 'audit')")
    run.sql("UPDATE {t} SET amount = amount + 1 WHERE id > 20")


# -- sources, values and types -----------------------------------------------------------------


@job({"load_files": "id = 5"})
def path_as_source(run: Run) -> None:
    run.create(DAYS)
    run.view(BACKFILL)
    run.sql(
        "MERGE INTO {t} AS t USING parquet.`{folder}/load` AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    run.sql(
        "INSERT INTO {t} SELECT id + 10, amount, day FROM (SELECT * FROM parquet.`{folder}/load`)"
    )


@job({"load": "id = 9"}, {"load@3": "id = 9"}, undo=False, ways=("sql", "recording"))
def staging_loaded_anew(run: Run) -> None:
    run.create(ORDERS)
    for night in (1, 2, 3):
        run.staged(f"SELECT * FROM VALUES ({night}, {night * 11}), (9, {night}) AS v(id, amount)")
        run.sql(
            "MERGE INTO {t} AS t USING {stage} AS s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET amount = s.amount, status = 'seen' "
            "WHEN NOT MATCHED THEN INSERT (id, amount, status) VALUES (s.id, s.amount, 'new')"
        )


@job({"load_files": "id = 5"}, ways=("sql",))
def moments(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} (id INT, amount INT, day STRING, at TIMESTAMP, on DATE, run STRING) "
        "USING {format}"
    )
    run.view(BACKFILL)
    run.sql(
        "INSERT INTO {t} SELECT id, amount, day, current_timestamp(), current_date, "
        "date_format(now(), 'yyyy') FROM load"
    )
    run.sql("UPDATE {t} SET at = now(), on = current_date() WHERE id = 2")
    run.sql(
        "MERGE INTO {t} AS t USING load AS s ON t.id = s.id + 3 WHEN MATCHED THEN UPDATE SET "
        "at = current_timestamp() "
        "WHEN NOT MATCHED THEN INSERT (id, on) VALUES (s.id + 3, current_date)"
    )


@job({"load_files": "id = 5"})
def maps_and_arrays(run: Run) -> None:
    run.create(
        "CREATE TABLE {t} (id INT, code STRING, name STRING, tags MAP<STRING, INT>, "
        "parts ARRAY<STRUCT<a: INT, b: STRING>>) USING {format}"
    )
    run.view(BACKFILL)
    run.sql(
        "INSERT INTO {t} SELECT id, 'ab', day, map('amount', amount, 'id', id), "
        "array(named_struct('a', id, 'b', day)) FROM load"
    )
    run.sql("UPDATE {t} SET tags = map('id', id), code = 'c' WHERE id = 2 OR code = 'ab'")
    run.sql(
        "MERGE INTO {t} AS t USING load AS s ON t.id = s.id WHEN MATCHED AND t.tags['id'] = 6 "
        "THEN UPDATE SET name = t.code WHEN NOT MATCHED THEN INSERT (id, code) VALUES (s.id, 'z')"
    )
    run.sql("DELETE FROM {t} WHERE code = 'c' AND id = 5")


@job({"load_files": "id = 5"}, undo=False)
def two_tables(run: Run) -> None:
    """A statement that reads a table which an earlier statement changed."""
    run.create(DAYS)
    run.view(BACKFILL)
    run.aside("CREATE TABLE {stage} USING {format} AS SELECT * FROM VALUES (0, 0) AS v(id, total)")
    if run.followed and run.way != "reenact":
        run.ls.track("sums", run.stage, key="id")
    run.sql("INSERT INTO {t} SELECT id + 10, amount, day FROM load")
    run.sql(
        "MERGE INTO {stage} AS s USING (SELECT id % 2 AS id, sum(amount) AS total FROM {t} "
        "GROUP BY id % 2) AS n ON s.id = n.id WHEN MATCHED THEN UPDATE SET total = n.total "
        "WHEN NOT MATCHED THEN INSERT *"
    )
    run.sql("UPDATE {t} SET amount = 0 WHERE id = 15")
    run.sql("INSERT INTO {t} SELECT 100 + id, CAST(total AS INT), 'sum' FROM {stage}")

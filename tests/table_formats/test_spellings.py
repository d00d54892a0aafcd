"""Every spelling of a table means the same wherever a name is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import TrackingError, UnsupportedError
from tests.table_formats.random_histories import FORMATS

pytestmark = pytest.mark.many(6)

CREATE = "CREATE TABLE {t} USING {format} AS SELECT id, id * 10 AS v FROM range(1, 4)"


@pytest.fixture(params=FORMATS)
def named(request: pytest.FixtureRequest, lake: SparkSession) -> Iterator[tuple[str, str]]:
    """Return a format, and a schema with a table ``n`` that is the current one."""
    schema = "ice.names" if request.param == "iceberg" else "spark_catalog.names"
    lake.sql(f"CREATE NAMESPACE IF NOT EXISTS {schema}")
    for table in ("n", "target"):
        lake.sql(CREATE.format(t=f"{schema}.{table}", format=request.param))
    lake.sql(f"USE {schema}")
    yield request.param, schema
    lake.sql("USE spark_catalog.default")
    for table in ("n", "target"):
        lake.sql(f"DROP TABLE {schema}.{table}")


def spellings(lake: SparkSession, format: str, schema: str, table: str) -> list[str]:
    """Return names of a table, by all of which Spark finds it."""
    found = [f"{schema}.{table}", f"`{schema.partition('.')[2]}`.{table}", table]
    if format == "delta":
        (detail,) = lake.sql(f"DESCRIBE DETAIL {schema}.{table}").collect()
        path = detail["location"].removeprefix("file:")
        found += [f"NAMES.{table.upper()}", f"Spark_Catalog.names.{table}", f"delta.`{path}`"]
    return found


def test_names_mean_what_spark_finds_by_them(
    lake: SparkSession, ls: lipstick.Session, named: tuple[str, str]
) -> None:
    """As targets and sources, in conditions of since(), and asked for rows and deletions."""
    format, schema = named
    ls.track("tracked", f"{schema}.target", key="id")
    ls.track("source", f"{schema}.n", key="id")
    lake.sql(f"SELECT id, v FROM {schema}.n").createOrReplaceTempView("frame_of_n")
    lake.sql("CREATE OR REPLACE TEMP VIEW text_of_n (id, v) AS SELECT id, v FROM n WHERE id > 0")
    targets = ["tracked", *spellings(lake, format, schema, "target")]
    sources = ["source", *spellings(lake, format, schema, "n"), "frame_of_n", "text_of_n"]
    for number, source in enumerate(sources):
        target = targets[number % len(targets)]
        ls.sql(
            f"MERGE INTO {target} AS x USING {source} AS y ON x.id = y.id AND y.id = 2 "
            "WHEN MATCHED THEN UPDATE SET v = x.v + y.v"
        )
    history = ls.history
    assert len(history.statements) == len(sources)
    (chain,) = history._chains.values()
    assert history._sources == {"source", f"{history.tables[0]}@{chain.first}"}
    (row,) = ls.sql("SELECT v FROM tracked WHERE id = 2").df.collect()
    assert row["v"] == 20 + 20 * len(sources)
    became = 20 + 20 * len(sources) // 2
    for name in targets:
        assert len(history.rows(name, 2)) == len(sources) + 1
        assert history.blame(name, 2)["v"].statement == f"s{len(sources)}"
        for asked in ("tracked", name):
            found = history.since(asked, f"SELECT max(v) > {became} FROM {name}")
            assert found is not None
            assert found.statement == f"s{len(sources) // 2 + 1}", name
    without = [f"{schema}.n", *spellings(lake, format, schema, "n")]
    for name in without:
        answer = ls.sql("SELECT v FROM tracked WHERE id = 2").what_if(delete={name: [2]})
        assert [tuple(row) for row in answer.df.collect()] == [(20,)]
        assert ls.sql(f"SELECT count(*) AS n FROM {name}").df.collect()[0]["n"] == 3
    with pytest.raises(TrackingError, match="does not read"):
        history.since("tracked", "SELECT max(v) > 0 FROM source")
    plan = ls.erase({targets[-1]: "id = 1"}) if format == "delta" else None
    assert plan is None or plan.tables[0]["rows"] is not None


def test_a_name_follows_the_current_schema(
    lake: SparkSession, ls: lipstick.Session, named: tuple[str, str]
) -> None:
    """A table that was tracked by its short name is not another one of that name elsewhere."""
    schema = named[1]
    ls.track("n", key="id")
    lake.sql("USE spark_catalog.default")
    assert ls.sql(f"SELECT count(*) AS c FROM {schema}.n").df.collect()[0]["c"] == 3
    lake.sql("CREATE TABLE n USING parquet AS SELECT 7 AS id, 7 AS v")
    try:
        with pytest.raises(lipstick.errors.QueryError, match="not tracked"):
            ls.sql("SELECT * FROM n")
        ls.sql(f"UPDATE {schema}.n SET v = 0 WHERE id = 1")
        assert len(ls.history.rows(f"{schema}.n", 1)) == 2
    finally:
        lake.sql("DROP TABLE n")


@pytest.mark.parametrize("format", FORMATS)
def test_sources_that_are_loaded_anew_are_tracked_anew(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], format: str
) -> None:
    """Values of the moment are literals; each statement keeps the rows that it read."""
    table, staging = fresh(format), fresh(format)
    lake.sql(
        f"CREATE TABLE {table} USING {format} AS "
        "SELECT 0 AS id, 0 AS v, TIMESTAMP'2026-01-01' AS at"
    )
    lake.sql(f"CREATE TABLE {staging} USING {format} AS SELECT 0 AS id, 0 AS v")
    ls.track("orders", table, key="id")
    ls.track("staging", staging, key="id")
    for night in (1, 2, 3):
        lake.sql(f"INSERT OVERWRITE {staging} VALUES ({night}, {night * 10}), (9, {night})")
        ls.sql(
            f"MERGE INTO {table} AS t USING {staging} AS s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET v = s.v, at = current_timestamp() "
            "WHEN NOT MATCHED THEN INSERT (id, v, at) VALUES (s.id, s.v, now())"
        )
    ls.history.check()
    assert "TIMESTAMP_LTZ '2" in ls.history.statements["s3"]
    answer = ls.sql("SELECT id, v FROM orders")
    without = answer.what_if(delete={"staging@2": [2], "staging": [9]})
    assert sorted(map(tuple, without.df.collect())) == [(0, 0), (1, 10), (3, 30), (9, 2)]
    with pytest.raises(UnsupportedError, match=r"uuid\(\) is another value each time"):
        ls.sql(f"CREATE OR REPLACE TABLE {table} USING {format} AS SELECT uuid() AS id")


def test_reenacted_statements_name_their_table_in_any_way(
    lake: SparkSession, ls: lipstick.Session, named: tuple[str, str]
) -> None:
    """As their target, and as what they read: the version before them."""
    format, schema = named
    names = spellings(lake, format, schema, "target")
    texts = [
        f"INSERT INTO {target} SELECT max(id) + 1, max(v) + 1 FROM {source}"
        for target, source in zip(names, reversed(names), strict=True)
    ]
    for text in texts:
        lake.sql(text)
    history = ls.reenact({f"{schema}.target": f"{schema}.target"}, texts, key="id")
    assert [row.statement for row in history.rows("target", 3 + len(names))] == [f"s{len(names)}"]
    first = history._chains[history._name_of("target")].first
    asked = history.what_if(delete={f"target@{first}": [3]}, replace={"s1": texts[-1]})
    (last,) = asked.table("target").selectExpr("max(id)").collect()
    assert last[0] == 2 + len(names)

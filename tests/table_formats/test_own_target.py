"""Statements that read their own target, first and later in a history, against plain reruns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from pyspark.sql import SparkSession

import lipstick

BEFORE = "UPDATE {t} SET v = v + 1 WHERE id = 3"
FORMS = {
    "insert": "INSERT INTO {t} SELECT id + 10, v, p FROM {s} WHERE id < 3",
    "expressions by place": "INSERT INTO {t} (v, id) SELECT max(v) OVER (), id * 100 FROM {s}",
    "one column twice": "INSERT INTO {t} SELECT id + 20, id, p FROM {s} WHERE v > 10",
    "by name": "INSERT INTO {t} BY NAME SELECT p, v + 5 AS v, id + 30 AS id FROM {s}",
    "duplicates overwritten": (
        "INSERT OVERWRITE {t} SELECT id, v, p FROM (SELECT *, row_number() OVER (PARTITION BY p "
        "ORDER BY v DESC) AS n FROM {s}) WHERE n = 1"
    ),
    "replaced by itself": (
        "CREATE OR REPLACE TABLE {t} USING {format} AS SELECT id, max(v) OVER () AS v, p FROM {t} "
        "WHERE id <> 2"
    ),
    "slowly changing dimension": (
        "MERGE INTO {t} AS t USING (SELECT l.id AS k, l.* FROM load AS l UNION ALL SELECT NULL, "
        "l.* FROM load AS l JOIN {s} AS d ON l.id = d.id WHERE d.v <> l.v) AS x ON t.id = x.k "
        "WHEN MATCHED AND t.v <> x.v THEN UPDATE SET p = 'old' "
        "WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (x.id + 50, x.v, x.p)"
    ),
    "merged with itself": (
        "MERGE INTO {t} AS v USING (SELECT id + 1 AS id, v, p FROM {s}) AS p ON v.id = p.id "
        "WHEN MATCHED THEN UPDATE SET v = p.v WHEN NOT MATCHED THEN INSERT *"
    ),
    "replaced where": (
        "INSERT INTO {t} REPLACE WHERE id > 1 SELECT id, v * 2, p FROM {s} WHERE id > 1"
    ),
    "deleted by itself": "DELETE FROM {t} WHERE id IN (SELECT id + 1 FROM {s} WHERE v < 25)",
    "updated by itself": "UPDATE {t} SET p = 'm' WHERE v = (SELECT max(v) FROM {s})",
}
ONLY = {
    "replaced where": "delta",
    "deleted by itself": "iceberg",
    "updated by itself": "iceberg",
}
"""Forms that one of the formats runs alone."""
LOAD = "SELECT * FROM VALUES (1, 11, 'a'), (2, 20, 'b'), (7, 70, 'c') AS r(id, v, p)"
ROWS = "SELECT * FROM VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'a'), (4, 40, 'b') AS r(id, v, p)"
CASES = [
    (format, form, way)
    for way in ("sql", "recording", "reenact")
    for form in FORMS
    for format in ("delta", "iceberg")
    if ONLY.get(form, format) == format
]


def _made(lake: SparkSession, table: str, format: str, rows: str, run: Sequence[str]) -> list[str]:
    """Make a table, run statements on it plainly, and return its rows."""
    lake.sql(f"CREATE OR REPLACE TABLE {table} USING {format} AS {rows}")
    for text in run:
        lake.sql(text.format(t=table, s=table, format=format))
    return sorted(map(str, lake.table(table).collect()))


@pytest.mark.many(24)
@pytest.mark.parametrize("position", [0, 1], ids=["first", "second"])
@pytest.mark.parametrize(("format", "form", "way"), CASES)
def test_a_statement_that_reads_its_own_target_is_followed(
    lake: SparkSession,
    ls: lipstick.Session,
    fresh: Callable[[str], str],
    format: str,
    form: str,
    way: str,
    position: int,
) -> None:
    """It reads the version before it: by the table's name or the relation's, however it is run."""
    table, copy = fresh(format), fresh(format)
    run = [*([BEFORE] * position), FORMS[form]]
    lake.sql(LOAD).createOrReplaceTempView("load")
    _made(lake, table, format, ROWS, [])
    ls.track("load", lake.sql(LOAD), key="id")
    texts = [
        text.format(t=table, s="own" if way == "sql" else table, format=format) for text in run
    ]
    first = 0
    if way == "reenact":
        for text in texts:
            lake.sql(text)
        history = ls.reenact({table: table}, texts, key="id")
        own = table.rpartition(".")[2]
        first = history._chains[history._name_of(table)].first
    else:
        own = "own"
        first = ls.track("own", table, key="id").source.versions[0].version
        if way == "sql":
            for text in texts:
                ls.sql(text)
        else:
            with ls.recording():
                for text in texts:
                    lake.sql(text)
        history = ls.history
    assert [len(history.statements), history._sources & {own, table}] == [1 + position, set()]
    history.check()
    without = _made(lake, copy, format, f"{ROWS} WHERE id <> 1", run)
    asked = history.what_if(delete={f"{own}@{first}": "id = 1"}).table(own)
    assert sorted(map(str, asked.collect())) == without, way
    undone = _made(lake, copy, format, ROWS, run[position:])
    if position:
        asked = history.what_if(undo=["s1"]).table(own)
        assert sorted(map(str, asked.collect())) == undone, way

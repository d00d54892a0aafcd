"""Histories as pipelines have them: MERGE for dimensions, change data, late and repeated rows.

Columns are those of the oracle: ``k`` a key, ``a`` a value, ``b`` a number or flag, ``c`` a text.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.oracle.histories.check import HeldHistories, check_drawn
from tests.oracle.histories.draw import Drawn, DrawnClause, DrawnHistory, Row

NOW: list[Row] = [(1, 10, 1, "open"), (2, 20, 1, "open"), (3, 30, 1, "open"), (3, 25, 0, "closed")]
NEWS: list[Row] = [(1, 11, 1, "I"), (3, 30, 2, "U"), (4, 40, 3, "I"), (2, 0, 4, "D")]
LATE: list[Row] = [(1, 12, 1, "U"), (1, 13, 2, "U"), (5, 50, 3, "I"), (5, 51, 2, "I")]

_OPEN = {"k": "y.k", "a": "y.a", "b": "1", "c": "'open'"}
_LAST = (
    "SELECT k, a, b, c FROM (SELECT k, a, b, c, row_number() OVER (PARTITION BY k ORDER BY b DESC, "
    "a, c) AS place FROM {0}) AS ranked WHERE place = 1"
)


def merge(source: str, on: str, *clauses: DrawnClause) -> Drawn:
    """Return a MERGE into ``t AS x`` from a source ``y``."""
    written = []
    for each in clauses:
        when = f"WHEN {each.matching}" + (f" AND {each.condition}" if each.condition else "")
        if each.values is None:
            written.append(f"{when} THEN DELETE")
        elif each.matching == "NOT MATCHED":
            names, values = ", ".join(each.values), ", ".join(each.values.values())
            written.append(f"{when} THEN INSERT ({names}) VALUES ({values})")
        else:
            sets = ", ".join(f"x.{column} = {value}" for column, value in each.values.items())
            written.append(f"{when} THEN UPDATE SET {sets}")
    text = f"MERGE INTO t AS x USING ({source}) AS y ON {on} {' '.join(written)}"
    return Drawn(text, "t", "merge", source, on, clauses)


def plain(text: str) -> Drawn:
    """Return an UPDATE or DELETE of ``t``."""
    return Drawn(text, "t", "plain")


DIMENSION = merge(
    "SELECT s.k AS m, s.k, s.a, s.c FROM s UNION ALL SELECT NULL AS m, s.k, s.a, s.c FROM s "
    "JOIN t ON s.k = t.k WHERE t.b = 1 AND t.a <> s.a",
    "x.k = y.m AND x.b = 1",
    DrawnClause("MATCHED", "x.a <> y.a", {"b": "0", "c": "'closed'"}),
    DrawnClause("NOT MATCHED", None, _OPEN),
)
CHANGES = merge(
    _LAST.format("s"),
    "x.k = y.k AND x.b = 1",
    DrawnClause("MATCHED", "y.c = 'D'", None),
    DrawnClause("MATCHED", None, {"a": "y.a"}),
    DrawnClause("NOT MATCHED", "y.c <> 'D'", _OPEN),
)
REPEATED = merge(_LAST.format("r"), "x.k = y.k", DrawnClause("NOT MATCHED", None, _OPEN))
CORRECTION = merge(
    "SELECT k, sum(a) AS a FROM r GROUP BY k",
    "x.k = y.k AND x.b = 1",
    DrawnClause("MATCHED", "y.a IS NOT NULL", {"a": "x.a + y.a"}),
)
SNAPSHOT = merge(
    "SELECT k, max(a) AS a FROM s GROUP BY k",
    "x.k = y.k",
    DrawnClause("MATCHED", "x.b = 1", {"a": "y.a"}),
    DrawnClause("NOT MATCHED", None, _OPEN),
    DrawnClause("NOT MATCHED BY SOURCE", "x.b = 1", {"b": "0", "c": "'gone'"}),
    DrawnClause("NOT MATCHED BY SOURCE", "x.b = 0", None),
)
BACKFILL = plain("UPDATE t SET c = 'backfilled' WHERE c IS NULL OR k IN (SELECT k FROM r)")
RETENTION = plain("DELETE FROM t WHERE b = 0 AND a < 28")

OVERWRITTEN = merge(
    "SELECT k, a, c FROM s",
    "x.k = y.k",
    DrawnClause("MATCHED", None, {"a": "y.a", "c": "y.c"}),
    DrawnClause("NOT MATCHED", None, _OPEN),
)
BATCH = merge(
    _LAST.format("r"),
    "x.k = y.k AND x.b = 1",
    DrawnClause("MATCHED", "y.c = 'D'", None),
    DrawnClause("MATCHED", "y.a > x.a", {"a": "y.a"}),
    DrawnClause("NOT MATCHED", "y.c <> 'D'", _OPEN),
)
SOFT_DELETES = merge(
    "SELECT k, max(a) AS a FROM s WHERE c <> 'D' GROUP BY k",
    "x.k = y.k",
    DrawnClause("MATCHED", "x.b = 0", {"a": "y.a", "b": "1", "c": "'open'"}),
    DrawnClause("NOT MATCHED BY SOURCE", "x.b = 1", {"b": "0", "c": "'deleted'"}),
)
DIFFERENCE = merge(
    "SELECT coalesce(s.k, t.k) AS k, s.a, CASE WHEN s.k IS NULL THEN 'D' WHEN t.k IS NULL THEN 'I' "
    "ELSE 'U' END AS c FROM s FULL JOIN (SELECT * FROM t WHERE b = 1) AS t ON s.k = t.k "
    "WHERE s.k IS NULL OR t.k IS NULL OR s.a <> t.a",
    "x.k = y.k AND x.b = 1",
    DrawnClause("MATCHED", "y.c = 'D'", None),
    DrawnClause("MATCHED", None, {"a": "y.a"}),
    DrawnClause("NOT MATCHED", None, _OPEN),
)
FROM_DIMENSION = plain(
    "UPDATE t SET a = (SELECT max(s.a) FROM s WHERE s.k = t.k) WHERE a < 25 AND k IN "
    "(SELECT k FROM s)"
)
FORGOTTEN = plain("DELETE FROM t WHERE k IN (SELECT k FROM s WHERE c = 'D')")
FORGOTTEN_TOO = plain("DELETE FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.k = t.k AND r.a > 50)")


def rewritten(query: str, replaced: str = "TRUE") -> Drawn:
    """Return an INSERT in the place of some rows of ``t``, or of all."""
    head = "INSERT OVERWRITE t" if replaced == "TRUE" else f"INSERT INTO t REPLACE WHERE {replaced}"
    return Drawn(
        f"{head} {query}", "t", "insert", deletes=replaced, insert=f"INSERT INTO t {query}"
    )


INCREMENTAL = rewritten(
    "SELECT * FROM t WHERE b = 0 "
    "UNION ALL SELECT t.k, t.a, CASE WHEN s.a <> t.a THEN 0 ELSE 1 END, t.c FROM t "
    "LEFT JOIN s ON s.k = t.k WHERE t.b = 1 "
    "UNION ALL SELECT s.k, s.a, 1, 'open' FROM s LEFT JOIN (SELECT * FROM t WHERE b = 1) AS t "
    "ON s.k = t.k WHERE t.k IS NULL OR s.a <> t.a"
)
PARTITION = rewritten("SELECT k, a, 1, c FROM s WHERE a > 10", "b = 1")
EVEN = plain("UPDATE t SET a = a + 100 WHERE a % 2 = 0")
EVEN_GONE = plain("DELETE FROM t WHERE k % 2 = 0")

HISTORIES = {
    "slowly changing dimension": (DIMENSION, RETENTION, DIMENSION),
    "dimension that is overwritten": (OVERWRITTEN, RETENTION, OVERWRITTEN),
    "dimension without MERGE": (INCREMENTAL, RETENTION, INCREMENTAL),
    "first steps": (EVEN, EVEN_GONE, OVERWRITTEN),
    "change data with deletes": (CHANGES, CORRECTION, CHANGES),
    "change data in batches": (BATCH, CHANGES, BATCH),
    "insert of repeated rows": (REPEATED, REPEATED, BACKFILL),
    "late corrections": (CORRECTION, DIMENSION, CORRECTION),
    "backfill from a dimension": (FROM_DIMENSION, BACKFILL, DIMENSION),
    "soft deletes": (SOFT_DELETES, CHANGES, SOFT_DELETES),
    "snapshot of all rows": (SNAPSHOT, CHANGES, RETENTION, SNAPSHOT),
    "snapshot by its difference": (DIFFERENCE, RETENTION, DIFFERENCE),
    "people are forgotten": (FORGOTTEN, OVERWRITTEN, FORGOTTEN_TOO),
    "partitions are overwritten": (PARTITION, CORRECTION, PARTITION),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_practised_history(name: str) -> None:
    held = HeldHistories()
    rows = {"t": NOW, "u": [], "r": LATE, "s": NEWS}
    check_drawn(DrawnHistory(rows, HISTORIES[name]), Random(7), held, questions=1)
    assert held.statements["held"] >= 2

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

HISTORIES = {
    "slowly changing dimension": (DIMENSION, RETENTION, DIMENSION),
    "change data with deletes": (CHANGES, CORRECTION, CHANGES),
    "insert of repeated rows": (REPEATED, REPEATED, BACKFILL),
    "late corrections": (CORRECTION, DIMENSION, CORRECTION),
    "snapshot of all rows": (SNAPSHOT, CHANGES, RETENTION, SNAPSHOT),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_practised_history(name: str) -> None:
    held = HeldHistories()
    rows = {"t": NOW, "u": [], "r": LATE, "s": NEWS}
    check_drawn(DrawnHistory(rows, HISTORIES[name]), Random(7), held, questions=2)
    assert held.statements["held"] >= 2

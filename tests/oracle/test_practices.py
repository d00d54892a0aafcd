"""Statements as pipelines have them in public: what they make, and without some source rows.

The rows are computed by hand. `test_practised_histories.py` puts random questions to others like
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from lipstick.histories.chain import Chain, HistoryStep
from lipstick.histories.replay import Replay
from rewriter.statements import Bags, hypothetical, parse_statement, rows_of
from tests.oracle.duck import connected_duck
from tests.oracle.histories.check import DuckEngine

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Practice:
    """Tables by name with their columns and rows, statements on the last one, and its rows then."""

    name: str
    tables: Mapping[str, tuple[str, Sequence[Row]]]
    statements: Sequence[str]
    after: Sequence[Row]
    gone: Mapping[str, str]
    """By source, a condition on the rows without which the table is asked."""
    without: Sequence[Row]


_CUSTOMERS = "id INT, city STRING, since INT, until INT, current BOOLEAN"
_ROME = [(1, "Rome", 1, None, True), (2, "Oslo", 1, None, True)]
_ORDERS = "id INT, status STRING, cents INT"

PRACTICES = [
    Practice(
        "history of a dimension, by a MERGE whose source reads its target",
        {
            "changes": ("id INT, city STRING, day INT", [(1, "Bonn", 5), (3, "Lima", 5)]),
            "dim": (_CUSTOMERS, _ROME),
        },
        [
            "MERGE INTO dim AS d USING (SELECT c.id AS merge_id, c.* FROM changes c UNION ALL "
            "SELECT NULL AS merge_id, c.* FROM changes c JOIN dim d ON c.id = d.id "
            "WHERE d.current AND c.city <> d.city) AS s ON d.id = s.merge_id AND d.current "
            "WHEN MATCHED AND d.city <> s.city THEN UPDATE SET current = false, until = s.day "
            "WHEN NOT MATCHED THEN INSERT (id, city, since, until, current) "
            "VALUES (s.id, s.city, s.day, NULL, true)"
        ],
        [
            (1, "Rome", 1, 5, False),
            (1, "Bonn", 5, None, True),
            (2, "Oslo", 1, None, True),
            (3, "Lima", 5, None, True),
        ],
        {"changes": "id = 1"},
        [*_ROME, (3, "Lima", 5, None, True)],
    ),
    Practice(
        "history of a dimension, closed by UPDATE and opened by INSERT",
        {
            "changes": ("id INT, city STRING, day INT", [(1, "Bonn", 5), (2, "Oslo", 5)]),
            "dim": (_CUSTOMERS, _ROME),
        },
        [
            "UPDATE dim SET current = false, until = 5 WHERE current AND EXISTS "
            "(SELECT 1 FROM changes c WHERE c.id = dim.id AND c.city <> dim.city)",
            "INSERT INTO dim SELECT c.id, c.city, c.day, NULL, true FROM changes c WHERE NOT "
            "EXISTS (SELECT 1 FROM dim d WHERE d.id = c.id AND d.current)",
        ],
        [(1, "Rome", 1, 5, False), (1, "Bonn", 5, None, True), (2, "Oslo", 1, None, True)],
        {"changes": "id = 1"},
        _ROME,
    ),
    Practice(
        "history of a dimension as a query over the last one and the new season",
        {
            "season": ("player STRING, scorer STRING", [("ann", "star"), ("bob", "good")]),
            "scd": (
                "player STRING, scorer STRING, first INT, last INT",
                [("ann", "good", 1, 3), ("bob", "good", 2, 3), ("cy", "bad", 1, 2)],
            ),
        },
        [
            "INSERT OVERWRITE scd WITH closed AS (SELECT * FROM scd WHERE last < 3), "
            "open AS (SELECT * FROM scd WHERE last = 3), same AS (SELECT s.player, s.scorer, "
            "o.first, 4 FROM season s JOIN open o ON s.player = o.player AND s.scorer = o.scorer), "
            "other AS (SELECT s.player, s.scorer, 4, 4 FROM season s JOIN open o "
            "ON s.player = o.player WHERE s.scorer <> o.scorer), left_open AS (SELECT o.* FROM "
            "open o LEFT JOIN season s ON s.player = o.player AND s.scorer = o.scorer "
            "WHERE s.player IS NULL) SELECT * FROM closed UNION ALL SELECT * FROM same UNION ALL "
            "SELECT * FROM other UNION ALL SELECT * FROM left_open"
        ],
        [("ann", "good", 1, 3), ("ann", "star", 4, 4), ("bob", "good", 2, 4), ("cy", "bad", 1, 2)],
        {"season": "player = 'ann'"},
        [("ann", "good", 1, 3), ("bob", "good", 2, 4), ("cy", "bad", 1, 2)],
    ),
    Practice(
        "a first table: written over, updated, deleted from, merged into",
        {
            "new_data": ("id INT", [(n,) for n in range(8, 11)]),
            "numbers": ("id INT", [(n,) for n in range(5)]),
        },
        [
            "INSERT OVERWRITE numbers SELECT id + 5 FROM numbers",
            "UPDATE numbers SET id = id + 100 WHERE id % 2 = 0",
            "DELETE FROM numbers WHERE id % 2 = 0",
            "MERGE INTO numbers USING new_data ON numbers.id = new_data.id "
            "WHEN MATCHED THEN UPDATE SET id = new_data.id + 1000 WHEN NOT MATCHED THEN INSERT *",
        ],
        [(5,), (7,), (8,), (10,), (1009,)],
        {"new_data": "id = 9"},
        [(5,), (7,), (8,), (9,), (10,)],
    ),
    Practice(
        "changes of a database with deletions, the last one of each key",
        {
            "cdc": (
                "id INT, status STRING, cents INT, op STRING, lsn INT",
                [(1, "paid", 10, "U", 1), (1, None, None, "D", 2), (3, "new", 30, "I", 3)],
            ),
            "orders": (_ORDERS, [(1, "new", 10), (2, "new", 20)]),
        },
        [
            "MERGE INTO orders t USING (SELECT * FROM (SELECT *, ROW_NUMBER() OVER "
            "(PARTITION BY id ORDER BY lsn DESC) AS n FROM cdc) x WHERE n = 1) s ON t.id = s.id "
            "WHEN MATCHED AND s.op = 'D' THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET status = s.status, cents = s.cents "
            "WHEN NOT MATCHED AND s.op <> 'D' THEN INSERT (id, status, cents) "
            "VALUES (s.id, s.status, s.cents)"
        ],
        [(2, "new", 20), (3, "new", 30)],
        {"cdc": "op = 'D'"},
        [(1, "paid", 10), (2, "new", 20), (3, "new", 30)],
    ),
    Practice(
        "events that come twice, inserted once",
        {
            "batch": ("id INT, day INT", [(2, 1), (2, 1), (3, 2), (3, 2)]),
            "events": ("id INT, day INT", [(1, 1), (2, 1)]),
        },
        [
            "MERGE INTO events e USING (SELECT DISTINCT id, day FROM batch) b ON e.id = b.id "
            "AND e.day = b.day WHEN NOT MATCHED THEN INSERT *"
        ],
        [(1, 1), (2, 1), (3, 2)],
        {"batch": "id = 3"},
        [(1, 1), (2, 1)],
    ),
    Practice(
        "late rows added to totals by day",
        {
            "late": ("day INT, cents INT", [(1, 5), (1, 7), (3, 9)]),
            "totals": ("day INT, cents INT", [(1, 100), (2, 50)]),
        },
        [
            "MERGE INTO totals t USING (SELECT day, sum(cents) AS cents FROM late GROUP BY day) l "
            "ON t.day = l.day WHEN MATCHED THEN UPDATE SET cents = t.cents + l.cents "
            "WHEN NOT MATCHED THEN INSERT (day, cents) VALUES (l.day, l.cents)"
        ],
        [(1, 112), (2, 50), (3, 9)],
        {"late": "cents = 7 OR day = 3"},
        [(1, 105), (2, 50)],
    ),
    Practice(
        "a dimension filled in afterwards, where it has no value",
        {
            "countries": ("city STRING, country STRING", [("Rome", "IT"), ("Oslo", "NO")]),
            "dim": (
                "id INT, city STRING, country STRING",
                [(1, "Rome", None), (2, "Oslo", "??"), (3, "Oslo", None)],
            ),
        },
        [
            "MERGE INTO dim d USING countries c ON d.city = c.city "
            "WHEN MATCHED AND d.country IS NULL THEN UPDATE SET country = c.country"
        ],
        [(1, "Rome", "IT"), (2, "Oslo", "??"), (3, "Oslo", "NO")],
        {"countries": "city = 'Oslo'"},
        [(1, "Rome", "IT"), (2, "Oslo", "??"), (3, "Oslo", None)],
    ),
    Practice(
        "rows that the source has lost are marked, not deleted",
        {
            "feed": ("id INT, status STRING", [(1, "ok")]),
            "stock": ("id INT, status STRING, active BOOLEAN", [(1, "?", True), (2, "ok", True)]),
        },
        [
            "MERGE INTO stock t USING feed s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET status = s.status, active = true "
            "WHEN NOT MATCHED THEN INSERT (id, status, active) VALUES (s.id, s.status, true) "
            "WHEN NOT MATCHED BY SOURCE AND t.active THEN UPDATE SET active = false"
        ],
        [(1, "ok", True), (2, "ok", False)],
        {"feed": "id = 1"},
        [(1, "?", False), (2, "ok", False)],
    ),
    Practice(
        "a table kept equal to its source",
        {
            "source": (_ORDERS, [(1, "paid", 10), (3, "new", 30)]),
            "mirror": (_ORDERS, [(1, "new", 10), (2, "new", 20)]),
        },
        [
            "MERGE INTO mirror t USING source s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
            "WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE"
        ],
        [(1, "paid", 10), (3, "new", 30)],
        {"source": "id = 1"},
        [(3, "new", 30)],
    ),
    Practice(
        "one day loaded again in place of what it was",
        {
            "reload": ("id INT, day INT", [(7, 2), (8, 2)]),
            "facts": ("id INT, day INT", [(1, 1), (2, 2)]),
        },
        ["INSERT INTO facts REPLACE WHERE day = 2 SELECT id, day FROM reload"],
        [(1, 1), (7, 2), (8, 2)],
        {"reload": "id = 7"},
        [(1, 1), (8, 2)],
    ),
    Practice(
        "people who opted out are deleted",
        {
            "opted_out": ("email STRING", [("b@x",)]),
            "people": ("id INT, email STRING", [(1, "a@x"), (2, "b@x")]),
        },
        ["DELETE FROM people WHERE email IN (SELECT email FROM opted_out)"],
        [(1, "a@x")],
        {"opted_out": "email = 'b@x'"},
        [(1, "a@x"), (2, "b@x")],
    ),
    Practice(
        "a cumulative table: all of yesterday, and today",
        {
            "today": ("id INT, points INT", [(1, 5), (3, 1)]),
            "users": ("id INT, points INT, days INT", [(1, 10, 1), (2, 20, 1)]),
        },
        [
            "INSERT OVERWRITE users SELECT coalesce(u.id, t.id), coalesce(u.points, 0) + "
            "coalesce(t.points, 0), coalesce(u.days, 0) + IF(t.id IS NULL, 0, 1) "
            "FROM users u FULL OUTER JOIN today t ON u.id = t.id"
        ],
        [(1, 15, 2), (2, 20, 1), (3, 1, 1)],
        {"today": "id = 3"},
        [(1, 15, 2), (2, 20, 1)],
    ),
    Practice(
        "an inventory whose empty places go",
        {
            "sold": ("item INT, pieces INT", [(1, 4), (2, 1)]),
            "stock": ("item INT, pieces INT", [(1, 4), (2, 3)]),
        },
        [
            "MERGE INTO stock t USING (SELECT item, sum(pieces) AS pieces FROM sold GROUP BY item) "
            "s ON t.item = s.item WHEN MATCHED AND t.pieces <= s.pieces THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET pieces = t.pieces - s.pieces"
        ],
        [(2, 2)],
        {"sold": "item = 1"},
        [(1, 4), (2, 2)],
    ),
]


@pytest.mark.parametrize("practice", PRACTICES, ids=lambda practice: practice.name)
def test_practice(practice: Practice) -> None:
    database = connected_duck()
    engine = DuckEngine(database)
    *sources, table = practice.tables
    for name, (columns, rows) in practice.tables.items():
        database.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO {name} VALUES ({marks})", list(rows))
    shape = engine.shape(rows_of(table))
    views, shapes = {0: table}, {0: shape}
    steps = [
        HistoryStep(f"s{number}", parse_statement(text), table, number)
        for number, text in enumerate(practice.statements, start=1)
    ]
    bases = {name: Bags(name) for name in sources}
    for step in steps:
        before, number = views[step.version - 1], step.version
        known = {table: Chain({**views, number: before}, {**shapes, number: shape})}
        replay = Replay(engine, known, steps, bases)
        replay.stand_before(step)
        written = replay.reenacted(step)
        assert written.ambiguous is None or not engine.rows(written.ambiguous)
        made = engine.store(written.rows)
        assert made is not None
        views[number], shapes[number] = made, shape
    assert Counter(engine.rows(rows_of(views[len(steps)]))) == Counter(practice.after)
    for name, condition in practice.gone.items():
        bases[name] = Bags(name, engine.store(f"SELECT * FROM {name} WHERE {condition}"))
    bags = Replay(engine, {table: Chain(views, shapes)}, steps, bases).run()[table]
    assert Counter(engine.rows(hypothetical(bags))) == Counter(practice.without)

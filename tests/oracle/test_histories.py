"""Random histories, reenacted and replayed; ``LIPSTICK_HISTORIES=100`` asks for more."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import pytest

from lipstick.histories.chain import Chain, HistoryStep
from lipstick.histories.lookups import KnownRows
from lipstick.histories.replay import Replay
from lipstick.histories.sql_engine import Concerned, are_as_expected
from rewriter.statements import Bags, TableColumn, TableShape, hypothetical, parse_statement
from tests.oracle.histories.check import DuckEngine, HeldHistories, check_history
from tests.oracle.histories.draw import COLUMNS, TYPES, Row
from tests.oracle.histories.really import Tables

HISTORIES = int(os.environ.get("LIPSTICK_HISTORIES", "3"))


def test_histories() -> None:
    """Versions and hypothetical versions are those of statements that really ran."""
    held = HeldHistories()
    for seed in range(HISTORIES):
        check_history(seed, held)
    assert held.asked["changed"] > held.asked["same"] / 2


_ONE, _TWO = (1, 10, 0, "a"), (2, 20, 0, "b")


@pytest.mark.parametrize("is_true", [True, False])
@pytest.mark.parametrize(
    ("statement", "made", "not_made"),
    [
        ("DELETE FROM t WHERE {v} > 15", [_ONE], [_ONE, _TWO]),
        ("DELETE FROM t WHERE {v} < 15", [_TWO], []),
        ("UPDATE t SET {v} = 7 WHERE {k} = 2", [_ONE, (2, 7, 0, "b")], [_ONE, _TWO]),
        ("INSERT INTO t VALUES (3, 3, 3, 'c')", [_ONE, _TWO, (3, 3, 3, "c")], [_ONE]),
        ("MERGE INTO t USING s ON t.{k} = s.{k} WHEN MATCHED THEN DELETE", [_ONE], [_ONE, _TWO]),
        (
            "MERGE INTO t USING s ON t.{k} = s.{k} WHEN MATCHED AND s.{v} < 0 THEN DELETE",
            [_ONE, _TWO],
            [_ONE],
        ),
    ],
)
def test_a_false_version_is_noticed(
    statement: str, made: Sequence[Row], not_made: Sequence[Row], is_true: bool
) -> None:
    """The rows that a deletion concerns are looked up in the version, by the key of the table."""
    parsed = parse_statement(statement.format(k=COLUMNS[0], v=COLUMNS[1]))
    shape = TableShape(tuple(map(TableColumn, COLUMNS, TYPES)))
    source = [(2, 21, 0, "x")]
    after = made if is_true else not_made
    rows = {"t": [_ONE, _TWO], "after": after, "s": source, "gone_t": [_TWO], "gone_s": source}
    engine = DuckEngine(Tables(rows).database)
    looked_up: list[bool] = []

    def look_up(step: HistoryStep, concerned: Concerned) -> None:
        assert step.version == 1
        rows = concerned()
        assert rows is not None
        looked_up.append(are_as_expected(engine, rows))

    Replay(
        engine,
        {"t": Chain({0: "t", 1: "after"}, {0: shape, 1: shape})},
        [HistoryStep("s1", parsed, "t", 1)],
        {"s": Bags("s", "gone_s")},
        begins={"t": Bags("t", "gone_t")},
        check=look_up,
        row_keys={"t": COLUMNS[:1]},
    ).run()
    assert looked_up == [is_true]


class _ListedQueries(DuckEngine):
    """An engine that lists its queries."""

    def __init__(self, rows: Mapping[str, Sequence[Row]]) -> None:
        super().__init__(Tables(rows).database)
        self.queries: list[str] = []

    def _make(self, kind: str, query: str) -> str:
        self.queries.append(query)
        return super()._make(kind, query)

    def rows(self, query: str) -> list[Row]:
        self.queries.append(query)
        return super().rows(query)


def test_versions_are_read_once_for_the_same_rows() -> None:
    """A question about some of the rows of another one reads what that found."""
    texts = (
        "MERGE INTO t USING s ON t.{k} = s.{k} WHEN MATCHED THEN UPDATE SET {v} = s.{v}",
        "UPDATE t SET {v} = {v} + 1 WHERE {k} > 0",
        "DELETE FROM t WHERE {v} > 30",
    )
    steps = [
        HistoryStep(f"s{n}", parse_statement(text.format(k=COLUMNS[0], v=COLUMNS[1])), "t", n)
        for n, text in enumerate(texts, start=1)
    ]
    shape = TableShape(tuple(map(TableColumn, COLUMNS, TYPES)))
    source = [(1, 11, 0, "x"), (2, 41, 0, "x")]
    rows = {
        "v0": [_ONE, _TWO],
        "v1": [(1, 11, 0, "a"), (2, 41, 0, "b")],
        "v2": [(1, 12, 0, "a"), (2, 42, 0, "b")],
        "v3": [(1, 12, 0, "a")],
        "s": source,
        "gone": source,
        "fewer": source[1:],
    }
    engine = _ListedQueries(rows)
    known = KnownRows(engine)
    chain = Chain({n: f"v{n}" for n in range(4)}, dict.fromkeys(range(4), shape))
    checked: list[str] = []

    def check(step: HistoryStep, concerned: Concerned) -> None:
        found = concerned()
        assert found is not None
        assert are_as_expected(engine, found)
        checked.extend(step.name for each in found if not each.checked.add(step.name))

    undone = {"gone": (1, 11, 0, "a"), "fewer": (1, 12, 0, "a")}
    for gone, first in undone.items():
        engine.queries.clear()
        replay = Replay(
            engine,
            {"t": chain},
            steps,
            {"s": Bags("s", gone)},
            known,
            check=check,
            row_keys={"t": COLUMNS[:1]},
        )
        bags = replay.run()["t"]
        read = {view for view in chain.versions.values() if f"`{view}`" in str(engine.queries)}
        assert read == (set(chain.versions.values()) if gone == "gone" else set())
        assert sorted(engine.rows(hypothetical(bags))) == [first, (2, 21, 0, "b")]
    assert checked == ["s1", "s2", "s3"]

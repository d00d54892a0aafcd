"""Random histories, reenacted and replayed; ``LIPSTICK_HISTORIES=100`` asks for more."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from lipstick.histories.chain import Chain, HistoryStep
from lipstick.histories.replay import Replay
from lipstick.histories.sql_engine import ConcernedRows
from rewriter.statements import Bags, TableColumn, TableShape, parse_statement
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

    def look_up(step: HistoryStep, concerned: Sequence[ConcernedRows] | None) -> None:
        assert step.version == 1
        assert concerned is not None
        looked_up.extend(rows.are_in(engine, "after") for rows in concerned)

    Replay(
        engine,
        {"t": Chain({0: "t", 1: "after"}, {0: shape, 1: shape})},
        [HistoryStep("s1", parsed, "t", 1)],
        {"s": Bags("s", "gone_s")},
        {"t": Bags("t", "gone_t")},
        check=look_up,
        row_keys={"t": COLUMNS[:1]},
    ).run()
    assert looked_up == [is_true]

"""Causes planted in wide tables are said first, and nothing is said where nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lipstick.engines.memory.aggregates import computed_anew
from lipstick.questions.why.partials import GroupCells, PartialPercentile
from rewriter.interpret.calls import Anew
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture
from tests.planted.causes import KINDS, clean_case, planted_case
from tests.planted.found import find

_TURN = 25


@pytest.mark.parametrize(
    "kind",
    [
        "joined",
        "nested",
        "prefix",
        "calendar",
        "compared",
        "length",
        "heavy_hitter",
        "fan_out",
        "null_key",
        "filtered",
        "partnerless",
        "hidden",
    ],
)
def test_a_planted_cause_is_said_first(kind: str) -> None:
    seed = list(KINDS).index(kind) + _TURN
    found = find(planted_case(seed, 6_000))
    assert found.first, found.said
    assert found.checked > 0


@pytest.mark.parametrize("seed", [1, 4, 8])
def test_nothing_is_said_where_nothing_is_wrong(seed: int) -> None:
    found = find(clean_case(seed, 4_000))
    assert found.first, found.said


_FORMS = [
    "SELECT count(*) AS n FROM u WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.uid = u.id)",
    "SELECT count(*) AS n FROM u WHERE id NOT IN (SELECT uid FROM b)",
    "SELECT count(*) AS n FROM u LEFT ANTI JOIN b ON b.uid = u.id",
    "SELECT count(*) AS n FROM u LEFT JOIN b ON b.uid = u.id WHERE b.uid IS NULL",
    "SELECT count(*) AS n FROM (SELECT id FROM u EXCEPT SELECT uid FROM b) AS t",
    "SELECT count(*) >= 1180 AS n FROM u WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.uid = u.id)",
]


@pytest.mark.parametrize("sql", _FORMS)
def test_rows_on_the_negated_side_explain_a_number_that_is_too_low(
    sql: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    source = rng.choice(["manual", "bulk"], 100, p=[0.2, 0.8])
    u = pa.table({"id": np.arange(1_200)})
    b = pa.table(
        {"bid": np.arange(100), "uid": rng.choice(1_200, 100, replace=False), "source": source}
    )
    database = Database(
        {
            "u": Relation("u", ("id",), "id bigint", u),
            "b": Relation("b", ("bid",), "bid bigint, uid bigint, source string", b),
        }
    )
    capture = write_capture(sql, database, tmp_path / "c")
    asked = {} if ">=" in sql else {"than": 1_180.0, "too": "low"}
    said = capture.why("n", sources={"u": u, "b": b}, **asked)
    first = said.causes[0]
    assert first.text == "source = 'bulk'", said
    bulk = int((source == "bulk").sum())
    assert first.rows == bulk
    assert first.after == (0.0 if ">=" in sql else 1_100 + bulk)
    (row,) = first.what_if().df.to_pylist()
    assert row["n"] == (True if ">=" in sql else 1_100 + bulk)


def test_a_row_that_a_join_multiplies_is_named_with_the_number_of_each_counted_once(
    tmp_path: Path,
) -> None:
    orders = pa.table({"id": [10, 11], "amount": [1_768, 900]})
    items = pa.table({"item": [1, 2, 3], "id": [10, 10, 11]})
    database = Database(
        {
            "orders": Relation("orders", ("id",), "id bigint, amount bigint", orders),
            "items": Relation("items", ("item",), "item bigint, id bigint", items),
        }
    )
    sql = "SELECT sum(o.amount) AS v FROM orders o JOIN items i ON i.id = o.id"
    capture = write_capture(sql, database, tmp_path / "c")
    sources = {"orders": orders, "items": items}
    said = capture.why("v", too="high", sources=sources).fan_out
    assert said is not None
    assert (said.relation, said.by, said.before, said.once) == ("orders", "items", 4_436, 2_668)
    assert said.keys.to_pylist() == [{"id": 10, "_times": 2}]
    assert said.sentence == (
        "1 row of orders counts several times, once for each partner in items: 1,768 of the row "
        "with id = 10 counts 2 times. With each counted once, v would be 2,668 instead of 4,436."
    )
    # A number that is too low is not made right by counting less.
    assert capture.why("v", too="low", sources=sources).fan_out is None


@pytest.mark.parametrize("descending", [False, True])
def test_percentiles_without_codes_and_runs_are_those_of_what_is_left(descending: bool) -> None:
    rng = np.random.default_rng(3)
    size, count = 200, 6
    numbers = np.where(rng.random(size) < 0.1, np.nan, rng.integers(0, 40, size).astype(float))
    owner, codes = rng.integers(0, 2, size), rng.integers(-1, count, size)
    items = np.flatnonzero(codes >= 0)
    cells = GroupCells(items, owner[items] * count + codes[items], owner, 2, count)
    partial = PartialPercentile(numbers, 0.37, descending)
    first, last = np.triu_indices(count)

    def left(gone: np.ndarray, group: int) -> float:
        mine = numbers[(owner == group) & ~gone]
        call = Anew("percentile", descending=descending, share=0.37)
        values = pa.array(mine, mask=np.isnan(mine))
        (value,) = computed_anew(call, [values], np.array([0, len(mine)])).to_pylist()
        return np.nan if value is None else value

    singles, runs = partial.singles(cells), partial.runs(cells, first, last)
    for group in range(2):
        expected = [left(codes == code, group) for code in range(count)]
        np.testing.assert_allclose(singles[group], expected)
        spans = zip(first, last, strict=True)
        expected = [left((codes >= low) & (codes <= high), group) for low, high in spans]
        np.testing.assert_allclose(runs[group], expected)

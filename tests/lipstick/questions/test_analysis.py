"""Questions to the rows of a capture, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lipstick.capture.capture import Capture
from lipstick.questions.asking import question_cost
from semiring import Token
from semiring.errors import ArgumentError, ValuationError
from semiring.expression import compare
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

CARS = Relation(
    "cars",
    ("car",),
    "car string, model string, price int",
    pa.table(
        {
            "car": ["C1", "C2", "C3"],
            "model": ["Accord", "Civic", "Civic"],
            "price": pa.array([24, 20, 22], pa.int32()),
        }
    ),
)
BIDS = Relation(
    "bids",
    ("bid",),
    "bid int, wanted string",
    pa.table({"bid": pa.array([1, 2], pa.int32()), "wanted": ["Civic", "Civic"]}),
)
C2, C3 = Token("cars", "C2"), Token("cars", "C3")
B1, B2 = Token("bids", 1), Token("bids", 2)


@pytest.fixture(scope="module")
def civics(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    sql = """SELECT model, count(*) n, sum(price) s, min(price) lo, avg(price) a,
        avg(DISTINCT price) d
        FROM cars JOIN bids ON model = wanted GROUP BY model"""
    database = Database({"cars": CARS, "bids": BIDS})
    return write_capture(sql, database, tmp_path_factory.mktemp("capture") / "c")


def test_probability(civics: Capture) -> None:
    """(C2 + C3) · (B1 + B2), by one number, by relation, and by samples."""
    [(row, estimate)] = civics.probability(0.5)
    assert row["model"] == "Civic"
    assert estimate.exact
    assert estimate.value == pytest.approx(0.75 * 0.75)
    [(_, estimate)] = civics.probability({"cars": {"C2": 0.5, "C3": 0.5}, "bids": {1: 0.0}})
    assert estimate.value == pytest.approx(0.75)
    [(_, estimate)] = civics.probability({"cars": {"C2": 0.5}}, default=0.0)
    assert estimate.value == 0.5
    [(_, drawn)] = civics.probability(0.5, method="sample", error=0.05, confidence=0.9999)
    assert abs(drawn.value - 0.5625) <= drawn.error
    assert "±" in str(drawn)


def test_weights_that_are_none(civics: Capture) -> None:
    for weights in (1.5, {"cars": {"C2": 1.5}}):
        with pytest.raises(ValuationError, match=r"The weight 1\.5 is not a probability"):
            civics.probability(weights)
    with pytest.raises(ValueError, match="method is"):
        civics.probability(0.5, method="guess")


def test_expected_values(civics: Capture) -> None:
    [(_, count)] = civics.algebra.expected("n", 0.5)
    assert (count.mean, count.variance) == (1.0, 1.25)
    [(_, total)] = civics.algebra.expected("s", {"cars": {"C2": 0.0}})
    assert (total.mean, total.variance) == (44.0, 0.0)
    [(_, least)] = civics.algebra.expected("lo", {"cars": {"C2": 0.5}})
    assert (least.mean, least.presence) == (21.0, 1.0)


@pytest.mark.parametrize("column", ["a", "d"])
def test_expected_averages(civics: Capture, column: str) -> None:
    """20 and 22 with all bids or none: 21 where both cars are there, else 20 or 22."""
    [(_, estimate)] = civics.algebra.expected(
        column, {"cars": {"C2": 0.5, "C3": 0.25}, "bids": {1: 0.0}}
    )
    present = 1 - 0.5 * 0.75
    mean = (0.125 * 21 + 0.375 * 20 + 0.125 * 22) / present
    assert estimate.mean == pytest.approx(mean)
    assert estimate.presence == pytest.approx(present)
    assert estimate.exact
    weights = {"cars": {"C2": 0.5, "C3": 0.25}}
    [(_, drawn)] = civics.algebra.expected(
        column, weights, method="sample", error=0.05, confidence=0.999999
    )
    assert not drawn.exact
    assert abs(drawn.mean - mean) <= drawn.error <= 0.2


def test_attributions(civics: Capture) -> None:
    [(_, shares)] = civics.algebra.shapley()
    assert sum(share.value for share in shares.values()) == pytest.approx(1)
    assert shares[C2].value == pytest.approx(0.25)
    [(_, tossed)] = civics.algebra.banzhaf()
    assert tossed[B1].value == pytest.approx(0.5 * 0.75)
    [(_, drawn)] = civics.algebra.shapley(method="sample", error=0.2)
    assert not drawn[C2].exact


def test_witnesses_and_repairs(civics: Capture) -> None:
    [(_, sets)] = civics.algebra.witnesses()
    assert sets == [{B1, C2}, {B1, C3}, {B2, C2}, {B2, C3}]
    [(_, gone)] = civics.algebra.repairs()
    assert gone == [{B1, B2}, {C2, C3}]
    [(_, blame)] = civics.algebra.responsibility()
    assert blame == dict.fromkeys((B1, B2, C2, C3), 0.5)


def captured(sql: str, path: Path) -> Capture:
    return write_capture(sql, Database({"cars": CARS, "bids": BIDS}), path)


def test_probability_given_what_was_seen(civics: Capture, tmp_path: Path) -> None:
    """Rows of another query, conditions on values, and another query whole."""
    cheap = captured("SELECT car FROM cars WHERE price < 21", tmp_path / "c")
    [(_, seen)] = cheap.polynomials()
    [(_, estimate)] = civics.probability(0.5, given=seen)
    assert estimate.value == pytest.approx(0.75)
    assert civics.probability(0.5, given=cheap)[0][1].value == pytest.approx(0.75)
    [(_, n)] = civics.algebra.tensors("n")
    # All four pairs, where a row is there: (1/16) / (9/16).
    all_four = compare("=", n, 4)
    [(_, row)] = civics.polynomials()
    assert civics.algebra.probability_of(all_four, 0.5).value == pytest.approx(1 / 16)
    assert civics.algebra.probability_of(all_four, 0.5, given=row).value == pytest.approx(1 / 9)
    assert civics.algebra.probability_of(all_four, 0.5, given=[row, cheap]).value == pytest.approx(
        1 / 6
    )
    sampled = civics.algebra.probability_of(all_four, 0.5, given=row, method="sample", error=0.05)
    assert abs(sampled.value - 1 / 9) <= 2 * sampled.error
    # E[(cars)(bids) | a bid, a car] = (4/3)².
    [(_, moments)] = civics.algebra.expected("n", 0.5, given=row)
    assert moments.mean == pytest.approx(16 / 9)


def test_evidence_of_relations_that_the_query_does_not_read(tmp_path: Path) -> None:
    cars = captured("SELECT car FROM cars WHERE car = 'C2'", tmp_path / "cars")
    joined = captured(
        "SELECT car FROM cars JOIN bids ON model = wanted WHERE car = 'C2'", tmp_path / "joined"
    )
    for weights in ({"cars": 0.5, "bids": {1: 0.5, 2: 0.5}}, lambda token: 0.5, 0.5):
        [(_, estimate)] = cars.probability(weights, given=joined)
        assert estimate.value == pytest.approx(1.0)
    with pytest.raises(ValuationError, match="does not read bids, of which there is evidence"):
        cars.probability({"cars": 0.5}, given=joined)
    with pytest.raises(ArgumentError, match="given is 'C2', of type str"):
        cars.probability(0.5, given="C2")  # type: ignore[arg-type]


def test_tuples_of_a_block_exclude_each_other(civics: Capture) -> None:
    """One of the two Civics, or none; both bids, one, or none."""
    by_key = {"cars": {"C2": "Civic", "C3": "Civic"}}
    [(_, estimate)] = civics.probability(0.5, blocks=by_key)
    assert estimate.value == pytest.approx(1.0 * 0.75)
    [(_, moments)] = civics.algebra.expected(
        "s", {"cars": {"C2": 0.25, "C3": 0.5}, "bids": 1.0}, blocks=by_key
    )
    assert moments.mean == pytest.approx(2 * (0.25 * 20 + 0.5 * 22))
    [(_, moments)] = civics.algebra.expected(
        "lo", {"cars": {"C2": 0.25, "C3": 0.5}, "bids": 1.0}, blocks=by_key
    )
    assert moments.mean == pytest.approx((0.25 * 20 + 0.5 * 22) / 0.75)
    assert moments.presence == pytest.approx(0.75)
    [(_, estimate)] = civics.probability(0.3, blocks={"cars": "car", "bids": ["bid"]})
    assert estimate.value == pytest.approx((1 - 0.7**2) ** 2)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ({"cars": "model"}, "The columns model of 'cars' are not keys, which needs Spark"),
        ({"dealers": "city"}, "The query does not read 'dealers': give blocks of bids, cars"),
        ({"cars": {"C2": 1, "C3": 1}}, "block 1 of cars add up to more than 1: cars:C2 0.6"),
    ],
)
def test_blocks_that_are_none(civics: Capture, blocks: Any, message: str) -> None:
    with pytest.raises(ValuationError, match=message):
        civics.probability(0.6, blocks=blocks)


def test_expected_value_of_what_is_made_of_aggregates(tmp_path: Path) -> None:
    sql = """SELECT model, CASE WHEN count(*) > 1 THEN sum(price) ELSE 0 END c,
        round(avg(price), 1) a, bool_or(price > 21) b FROM cars GROUP BY model"""
    by_model = {
        row["model"]: m for row, m in captured(sql, tmp_path / "c").algebra.expected("c", 0.5)
    }
    assert by_model["Civic"].mean == pytest.approx(42 / 4)
    assert by_model["Accord"].mean == 0.0
    averages = captured(sql, tmp_path / "d").algebra.expected("a", 0.5)
    assert [m.mean for row, m in averages if row["model"] == "Civic"] == [pytest.approx(21)]
    truths = captured(sql, tmp_path / "e").algebra.expected("b", 0.5)
    assert [m.mean for row, m in truths if row["model"] == "Civic"] == [pytest.approx(2 / 3)]


def test_rows_named_by_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shown token is file and row, a stored one a single integer."""
    data = pa.table({"row": pa.array([5, (1 << 40) + 7], pa.int64()), "x": [1, 2]})
    relation = Relation("r", ("row",), "row bigint, x int", data)
    written_capture = write_capture("SELECT x FROM r", Database({"r": relation}), tmp_path / "c")
    object.__setattr__(written_capture.manifest.relations["r"], "naming", "rows")
    weights = {"r": pa.table({"row": data["row"], "p": [0.25, 0.5]})}
    assert [estimate.value for _, estimate in written_capture.probability(weights)] == [0.25, 0.5]


def test_questions_are_estimated(civics: Capture) -> None:
    """By the members that the rows asked about were made from."""
    assert civics.memory.count_members(None) == 4
    assert civics.memory.count_members(0) == 0
    estimate = question_cost("shapley", 4)
    assert estimate.members == 4
    assert estimate.seconds > question_cost("lineage", 4).seconds
    with pytest.raises(ArgumentError, match="There is no estimate of 'shapely'"):
        question_cost("shapely", 4)

"""Other values of inputs: the captured aggregates follow, without Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lipstick
from lipstick.capture.capture import Capture
from lipstick.capture.manifest import RelationRecord
from lipstick.errors import CaptureError, TrackingError
from lipstick.questions.updates import resolve_update
from tests.oracle.database import Database, Relation
from tests.oracle.duck import Duck, loosened
from tests.oracle.rows import from_arrow
from tests.oracle.written import write_capture

CARS = pa.table(
    {
        "car": ["C1", "C2", "C3", "C4"],
        "model": ["Accord", "Civic", "Civic", None],
        "price": pa.array([24, 20, 22, None], pa.int32()),
        "weight": [1.5, 0.25, 2.0, None],
    }
)
BIDS = pa.table({"bid": pa.array([1, 2, 3], pa.int32()), "wanted": ["Civic", "Civic", "Accord"]})
SQL = """SELECT model, count(price) n, sum(price * bid) s, min(price) lo, max(weight) hi,
    sum(weight) w, count(DISTINCT price) d, median(price) m, mode(price, true) o
    FROM cars JOIN bids ON model = wanted GROUP BY model
    HAVING sum(price) > 30"""


def _database(cars: pa.Table) -> Database:
    return Database(
        {
            "cars": Relation("cars", ("car",), "car string, model string, price int", cars),
            "bids": Relation("bids", ("bid",), "bid int, wanted string", BIDS),
        }
    )


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    return write_capture(SQL, _database(CARS), tmp_path_factory.mktemp("capture") / "c")


@settings(max_examples=20)
@given(
    st.dictionaries(
        st.sampled_from([0, 1, 2, 3]),
        st.tuples(
            st.one_of(st.none(), st.integers(0, 40)),
            st.one_of(st.none(), st.integers(0, 20).map(lambda n: n / 4)),
        ),
    )
)
def test_updates_are_the_query_on_the_changed_data(
    capture: Capture, changed: dict[int, tuple[int | None, float | None]]
) -> None:
    rows = CARS.to_pylist()
    for row, (price, weight) in changed.items():
        rows[row] |= {"price": price, "weight": weight}
    new = pa.Table.from_pylist(rows, CARS.schema)
    expected = loosened(Duck(_database(new)).answer(SQL))
    updated = new.take(pa.array(sorted(changed), pa.int64())).select(["car", "price", "weight"])
    actual = loosened(from_arrow(capture.what_if_updated({"cars": updated}).df))
    assert sorted(map(repr, actual.rows)) == sorted(map(repr, expected.rows))


def test_changes(capture: Capture) -> None:
    """All Civics ten per cent cheaper."""
    cheaper = pa.table({"car": ["C2", "C3"], "price": [18, 20]})
    what_if = capture.what_if_updated({"cars": cheaper})
    assert what_if.method == "annotations"
    [row] = what_if.changes.to_pylist()
    assert (row["_change"], row["old"]["s"], row["new"]["s"]) == ("changed", 126, 114)
    assert capture.what_if_updated({}).df == capture.df


@settings(max_examples=20)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["C1", "C2", "C3", "C4", "C9"]),
            st.one_of(st.none(), st.integers(0, 40)),
        ),
        max_size=4,
    )
)
def test_many_scenarios_are_each_of_them(
    capture: Capture, prices: list[dict[str, int | None]]
) -> None:
    listed = [{"cars": _prices(scenario)} for scenario in prices]
    many = capture.what_if_updated_many(listed)
    assert len(many) == len(listed)
    for number, update in enumerate(listed):
        alone = capture.what_if_updated(update)
        of_scenario = pc.equal(many.df.column("scenario"), number)
        assert (
            many.df.filter(of_scenario).drop_columns(["scenario"]).to_pylist()
            == alone.df.to_pylist()
        )
    owners = [number for number, scenario in enumerate(prices) for _ in scenario]
    if owners:
        together = pa.concat_tables([scenario["cars"] for scenario in listed])
        table = together.append_column("scenario", pa.array(owners))
        assert capture.what_if_updated_many({"cars": table}).changes == many.changes


def _prices(given: dict[str, int | None]) -> pa.Table:
    types = pa.schema({"car": pa.string(), "price": pa.int64()})
    return pa.table({"car": list(given), "price": list(given.values())}, schema=types)


def test_scenarios_change_other_columns(capture: Capture) -> None:
    named = {
        "dear": {"cars": pa.table({"car": ["C2"], "price": [90]})},
        "heavy": {"cars": pa.table({"car": ["C2"], "weight": [9.0]})},
        "nothing": {},
    }
    changes = capture.what_if_updated_many(named).changes.to_pylist()
    assert [(row["scenario"], row["s"], row["hi"]) for row in changes] == [
        ("dear", 336, 2.0),
        ("heavy", 126, 9.0),
    ]


def test_refused_scenarios(capture: Capture) -> None:
    keys = pa.table({"car": ["C2"], "price": [1]})
    with pytest.raises(TrackingError, match="no column 'scenario'"):
        capture.what_if_updated_many({"cars": keys})
    with pytest.raises(TrackingError, match=r"Scenario 0 says per relation .*, not 'C2'"):
        capture.what_if_updated_many(["C2"])  # type: ignore[list-item]
    for each in (lipstick.each("cars"), lipstick.each("cars", update={"price": "0"})):
        with pytest.raises(TrackingError, match=r"each\(..., update=...\), and Spark"):
            capture.what_if_updated_many(each)
    with pytest.raises(TrackingError, match="what_if_updated_many"):
        capture.what_if_many(lipstick.each("cars", update={"price": "0"}))


REFUSED = [
    ({"cars": pa.table({"car": ["C2"], "model": ["Jazz"]})}, CaptureError, "decides which rows"),
    ({"cars": pa.table({"car": ["C2", "C2"], "price": [1, 2]})}, CaptureError, "a key twice"),
    ({"cars": pa.table({"car": ["C2"], "colour": [1]})}, TrackingError, "no column 'colour'"),
    ({"cars": pa.table({"price": [1]})}, TrackingError, "needs its key 'car'"),
    ({"cars": {"price": "price * 0.9"}}, TrackingError, "with Spark"),
    ({"houses": pa.table({"id": [1]})}, TrackingError, "does not read"),
]


@pytest.mark.parametrize(("update", "error", "text"), REFUSED, ids=[t for _, _, t in REFUSED])
def test_refused(
    capture: Capture, update: dict[str, object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        capture.what_if_updated(update)


def test_rows_named_by_their_place_are_told_by_it() -> None:
    """The place is a token, and no column of the relation."""
    record = RelationRecord("rows", "view", "rows", ("_lipstick_row",), ("v",), True, "", (), ())
    types = {"rows": pa.schema({"_lipstick_row": pa.int64()})}
    update = pa.table({"_lipstick_row": pa.array([7], pa.int32()), "v": [1.5]})
    updates = resolve_update({"rows": record}, types, {"rows": update}, None)
    assert updates["rows"].to_pylist() == [{"_lipstick_row": 7, "v": 1.5}]
    assert updates["rows"].schema.field("_lipstick_row").type == pa.int64()


def test_several_blocks_are_refused(tmp_path: Path) -> None:
    sql = (
        "SELECT n, count(*) c FROM (SELECT model, sum(price) n FROM cars GROUP BY model) GROUP BY n"
    )
    written_capture = write_capture(sql, _database(CARS), tmp_path / "c")
    with pytest.raises(CaptureError, match="one grouping over joins"):
        written_capture.what_if_updated({"cars": pa.table({"car": ["C2"], "price": [1]})})


def test_groups_that_were_not_captured_are_refused(tmp_path: Path) -> None:
    """Where HAVING can only become false by deletions, the groups it drops are not kept."""
    written_capture = write_capture(SQL, _database(CARS), tmp_path / "c")
    object.__setattr__(written_capture.manifest, "pruned", (written_capture.manifest.root.name,))
    with pytest.raises(CaptureError, match="HAVING keeps"):
        written_capture.what_if_updated({"cars": pa.table({"car": ["C2"], "price": [1]})})

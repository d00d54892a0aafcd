"""Annotations, tensors, lineage, evaluation and members from a capture, without Spark."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lipstick
from lipstick import Session, semirings
from lipstick.capture.manifest import Manifest
from lipstick.engines.memory.memory import Memory
from lipstick.errors import CapabilityError, CaptureError
from semiring.encodings.valuation import Valuation
from semiring.token import Token
from tests.oracle.database import Relation

pytestmark = [pytest.mark.spark, pytest.mark.classic]

CARS = [("C1", "Accord", 24), ("C2", "Civic", 20), ("C3", "Civic", 22), ("C4", "Fit", None)]


@pytest.fixture(scope="module")
def cars(odd_session: Session) -> Session:
    """Four cars of three models; one has no price."""
    spark = odd_session.spark
    frame = spark.createDataFrame(CARS, "id string, model string, price int")
    odd_session.track("cars", frame, key=["id"])
    return odd_session


def _memory(session: Session, sql: str, path: Path) -> Memory:
    session.sql(sql).save(path / "c")
    return Memory(path / "c", Manifest.read(path / "c"))


def _texts(memory: Memory, name: str) -> dict[Any, str]:
    return {row[name]: str(annotation) for row, annotation in memory.annotations()}


@pytest.mark.engines("spark")
def test_rows_of_a_join_have_polynomials(cars: Session, tmp_path: Path) -> None:
    sql = "SELECT a.id i FROM cars a JOIN cars b ON a.model = b.model WHERE b.id = 'C3'"
    texts = _texts(_memory(cars, sql, tmp_path), "i")
    assert texts == {"C2": "cars:C2·cars:C3", "C3": "cars:C3²"}


def test_groups_have_delta_of_their_sum(cars: Session, tmp_path: Path) -> None:
    memory = _memory(cars, "SELECT model FROM cars GROUP BY model ORDER BY model", tmp_path)
    assert _texts(memory, "model") == {
        "Accord": "δ(cars:C1)",
        "Civic": "δ(cars:C2 + cars:C3)",
        "Fit": "δ(cars:C4)",
    }
    assert [row["model"] for row, _ in memory.annotations(limit=2)] == ["Accord", "Civic"]
    chosen = memory.annotations(where=lambda t: [m == "Fit" for m in t["model"].to_pylist()])
    assert [row for row, _ in chosen] == [{"model": "Fit"}]


def test_aggregate_without_keys_is_one(cars: Session, tmp_path: Path) -> None:
    memory = _memory(cars, "SELECT count(price) n FROM cars", tmp_path)
    assert _texts(memory, "n") == {3: "1"}
    ((_, tensor),) = memory.tensors("N")
    assert str(tensor) == "cars:C2⊗20 + cars:C3⊗22 + cars:C1⊗24"


def test_having_is_a_comparison_of_the_tensor(cars: Session, tmp_path: Path) -> None:
    sql = "SELECT model, sum(price) s FROM cars GROUP BY model HAVING sum(price) > 30"
    ((row, annotation),) = _memory(cars, sql, tmp_path).annotations()
    assert row == {"model": "Civic", "s": 42}
    assert str(annotation) == "δ(cars:C2 + cars:C3)·[SUM(cars:C2⊗20 + cars:C3⊗22) > 30]"
    counting = semirings.Counting()
    assert annotation.evaluate(counting) == 1
    assert annotation.evaluate(counting, lambda t: int(t != Token("cars", ("C2",)))) == 0


def test_membership_is_delta_of_the_tuples_found(cars: Session, tmp_path: Path) -> None:
    sql = "SELECT id FROM cars WHERE model IN (SELECT model FROM cars WHERE price > 21)"
    texts = _texts(_memory(cars, sql, tmp_path), "id")
    assert texts == {
        "C1": "cars:C1·δ(cars:C1)",
        "C2": "cars:C2·δ(cars:C3)",
        "C3": "cars:C3·δ(cars:C3)",
    }


def test_condition_on_an_inner_value_keeps_members_that_may_come(
    cars: Session, tmp_path: Path
) -> None:
    """C1 is dear only while the average is as it is; a deletion may bring C2 in."""
    sql = "SELECT count(*) n FROM cars WHERE price > (SELECT avg(price) FROM cars)"
    ((_, tensor),) = _memory(cars, sql, tmp_path).tensors("n")
    assert {str(token) for token in tensor.tokens} >= {"cars:C1", "cars:C2", "cars:C3"}
    assert tensor.evaluate(semirings.Counting()) == 1


@pytest.mark.engines("spark")
def test_tensor_of_distinct_values(cars: Session, tmp_path: Path) -> None:
    sql = "SELECT count(DISTINCT length(model)) n FROM cars"
    ((_, tensor),) = _memory(cars, sql, tmp_path).tensors("n")
    assert str(tensor) == "δ(cars:C4)⊗3 + δ(cars:C2 + cars:C3)⊗5 + δ(cars:C1)⊗6"


@pytest.mark.engines("spark")
def test_average_of_decimals_is_rounded_as_spark_does(cars: Session, tmp_path: Path) -> None:
    sql = "SELECT avg(cast(price AS decimal(4,1))) a FROM cars"
    memory = _memory(cars, sql, tmp_path)
    ((row, tensor),) = memory.tensors("a")
    assert tensor.evaluate(semirings.Counting()) == row["a"] == Decimal("22.00000")


@pytest.mark.engines("memory")
def test_every_column_has_a_formal_value(cars: Session, tmp_path: Path) -> None:
    sql = "SELECT model, sum(price) s, 2 * sum(price) twice FROM cars GROUP BY model"
    memory = _memory(cars, sql, tmp_path)
    for column in ("model", "s", "twice"):
        for row, value in memory.tensors(column):
            assert value.evaluate(semirings.Counting()) == row[column]
    with pytest.raises(CaptureError, match="no column 'other'"):
        memory.tensors("other")


def test_lineage_goes_through_groups_and_memberships(cars: Session, tmp_path: Path) -> None:
    sql = """SELECT model, n FROM (SELECT model, count(*) n FROM cars GROUP BY model) ORDER BY model
             LIMIT 2"""
    memory = _memory(cars, sql, tmp_path)
    assert sorted(memory.lineage()["cars"]["id"].to_pylist()) == ["C1", "C2", "C3"]
    assert memory.lineage([True, False])["cars"].to_pylist() == [{"id": "C1"}]
    assert memory.lineage([False, False])["cars"].num_rows == 0
    with pytest.raises(CaptureError, match="2 Booleans"):
        memory.lineage([True])


def _valuations(memory: Memory, semiring: Any, spec: Any = None) -> dict[str, Any]:
    return {"cars": Valuation.compile(semiring, "cars", spec)}


@pytest.mark.parametrize(
    ("semiring", "spec"),
    [
        (semirings.Counting(), {"C1": 3, "C2": 1, "C3": 2}),
        (semirings.Tropical(), {"C1": 3.0, "C2": 1.0, "C3": 2.0}),
        (semirings.Why(), None),
    ],
)
def test_evaluation_is_that_of_the_expressions(
    cars: Session, tmp_path: Path, semiring: Any, spec: dict[str, Any] | None
) -> None:
    sql = "SELECT a.model FROM cars a JOIN cars b ON a.model = b.model GROUP BY a.model"
    memory = _memory(cars, sql, tmp_path)
    evaluated = memory.evaluate(semiring, _valuations(memory, semiring, spec))
    values = dict(zip(*(evaluated[name].to_pylist() for name in ("model", "_value")), strict=True))

    def value(token: Token) -> Any:
        return (spec or {}).get(token.key[0], semiring.one)

    for row, annotation in memory.annotations():
        element = annotation.evaluate(semiring, None if spec is None else value)
        assert values[row["model"]] == semiring.to_arrow(semiring.pack([element]))[0].as_py()


def test_condition_has_a_value_where_tokens_are_zero_and_one(cars: Session, tmp_path: Path) -> None:
    sql = "SELECT model FROM cars GROUP BY model HAVING count(*) > 1"
    memory = _memory(cars, sql, tmp_path)
    counting = semirings.Counting()
    evaluated = memory.evaluate(counting, _valuations(memory, counting))
    assert evaluated.to_pylist() == [{"model": "Civic", "_value": 1}]
    ones = _valuations(memory, counting, {"C2": 1})
    assert memory.evaluate(counting, ones).num_rows == 1
    gone = memory.evaluate(counting, _valuations(memory, counting, {"C2": 0}))
    assert gone.to_pylist() == [{"model": "Civic", "_value": 0}]
    tropical = semirings.Tropical()
    there = memory.evaluate(tropical, _valuations(memory, tropical))
    assert there.to_pylist() == [{"model": "Civic", "_value": 0.0}]
    with pytest.raises(CapabilityError, match="neither 0 nor 1"):
        memory.evaluate(tropical, _valuations(memory, tropical, {"C2": 3.0}))


def test_members_are_listed_with_tokens_and_values(cars: Session, tmp_path: Path) -> None:
    sql = "SELECT model, sum(price) s FROM cars GROUP BY model ORDER BY model DESC"
    memory = _memory(cars, sql, tmp_path)
    listed = memory.members()
    assert listed.column_names[:3] == ["model", "s", "id"]
    assert [tuple(row.values())[:3] for row in listed.slice(0, 1).to_pylist()] == [
        ("Fit", None, "C4")
    ]
    assert sorted(listed["id"].to_pylist()) == ["C1", "C2", "C3", "C4"]
    assert memory.members(limit=2).num_rows == 2


def test_relation_that_is_not_read_cannot_be_deleted_from(
    cars: Session, odd: Relation, tmp_path: Path
) -> None:
    memory = _memory(cars, "SELECT id FROM cars", tmp_path)
    with pytest.raises(CaptureError, match=r"no relation 'odd'.*\n.*cars"):
        memory.what_if({"odd": odd.data})
    with pytest.raises(CaptureError, match="need the columns id"):
        memory.what_if({"cars": pa.table({"name": ["C1"]})})


def test_tokens_of_rows_are_shown_by_file_and_row(cars: Session, tmp_path: Path) -> None:
    cars.spark.table("cars").coalesce(1).write.parquet(str(tmp_path / "data"))
    with lipstick.session(cars.spark) as session:
        session.track("stored", str(tmp_path / "data"))
        memory = _memory(session, "SELECT id FROM stored", tmp_path)
    assert set(_texts(memory, "id").values()) == {f"stored:0|{i}" for i in range(4)}


def test_columns_with_one_name_are_all_there(cars: Session, tmp_path: Path) -> None:
    memory = _memory(cars, "SELECT id AS a, model AS a FROM cars", tmp_path)
    assert memory.answer().column_names == ["a", "a"]
    assert memory.what_if({}).changes.num_rows == 4

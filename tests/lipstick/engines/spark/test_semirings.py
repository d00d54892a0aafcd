"""Every way annotations travel between workers gives what memory gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick import Session, semirings
from semiring.errors import CapabilityError, ValuationError
from semiring.token import Token

pytestmark = pytest.mark.classic


class Bottleneck:
    """A semiring of the user's own, from a notebook: workers get it by value."""

    __module__ = "__main__"
    zero, one = 0.0, float("inf")
    plus, times = staticmethod(max), staticmethod(min)


CASES: list[tuple[semirings.Semiring[Any], Any]] = [
    (semirings.AccessControl(), {"C2": "SECRET", "C3": "CONFIDENTIAL"}),
    (semirings.Worlds(), {"C1": 5, "C2": 2**63}),
    (semirings.PosBool(), {}),
    (semirings.Formula(), {"C2": "red"}),
    (semirings.Sensitivity(), {"C2": 2.5}),
    (semirings.Validity(), {"C2": (1, 4), "C3": (3, None)}),
    (semirings.Validity(), lambda token: ((int(token.key[0][1:]), 5),)),
    (semirings.define("Capacity", Bottleneck, [1.0, 2.5]), {"C2": 2.0, "C3": 3.0}),
]


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[Session]:
    with lipstick.session(spark) as ls:
        rows = [("C1", "Accord"), ("C2", "Civic"), ("C3", "Civic")]
        ls.track("cars", spark.createDataFrame(rows, "car string, model string"), key="car")
        yield ls


@pytest.mark.engines("spark")
def test_valuations_by_rows(session: Session) -> None:
    """A function of the row, an expression over it, and a table of it are the same."""
    q = session.sql("SELECT DISTINCT model FROM cars")
    lengths = lipstick.of_row(lambda row: len(row["model"]), columns=["model"])
    for given in (lengths, "length(model)", {"C1": 6, "C2": 5, "C3": 5}):
        rows = q.algebra.evaluate(semirings.Tropical(), {"cars": given}).collect()
        assert {tuple(row) for row in rows} == {("Accord", 6.0), ("Civic", 5.0)}
    with pytest.raises(ValuationError, match="has no column 'price'"):
        q.algebra.evaluate(semirings.Tropical(), {"cars": lipstick.of_row(len, columns=["price"])})
    memory = lipstick.open(q.capture.directory)
    with pytest.raises(ValuationError, match="a function of its rows, which needs Spark"):
        memory.algebra.evaluate(semirings.Tropical(), {"cars": lengths})


def test_cluster_and_memory_agree(session: Session) -> None:
    q = session.sql("SELECT DISTINCT model FROM cars")
    memory = lipstick.open(q.capture.directory)
    for semiring, given in CASES:
        valuation = {"cars": given} if given else None
        actual = {tuple(row) for row in q.algebra.evaluate(semiring, valuation).collect()}
        expected = memory.algebra.evaluate(semiring, valuation).to_pylist()
        assert actual == {tuple(row.values()) for row in expected}, semiring.name


QUERIES = {
    "rows of a join": "SELECT a.car, b.car FROM cars a JOIN cars b ON a.model = b.model",
    "groups of groups": """SELECT n, count(*) m FROM
        (SELECT a.model, count(*) n FROM cars a JOIN cars b ON a.model = b.model GROUP BY a.model)
        GROUP BY n""",
    "EXCEPT ALL": "SELECT model FROM cars EXCEPT ALL SELECT model FROM cars WHERE car = 'C2'",
    "INTERSECT": "SELECT model FROM cars INTERSECT SELECT model FROM cars WHERE car = 'C3'",
    "groups of an outer join": """SELECT a.model, count(b.car) n FROM cars a
        LEFT JOIN cars b ON a.model = b.model AND a.car < b.car GROUP BY a.model""",
    "NOT EXISTS": """SELECT car FROM cars a WHERE NOT EXISTS
        (SELECT 1 FROM cars b WHERE b.model = a.model AND b.car > a.car)""",
    "a union of groups": """SELECT model FROM (SELECT model FROM cars GROUP BY model)
        UNION ALL SELECT car FROM cars""",
    "one group": "SELECT count(*) n FROM cars",
}


NUMBERED: tuple[semirings.Semiring[Any], ...] = (
    semirings.Why(),
    semirings.Trio(),
    semirings.Which(),
    semirings.Sensitivity(),
    semirings.Formula(),
)


@pytest.mark.parametrize(
    "name",
    [
        name if name == "groups of groups" else pytest.param(name, marks=pytest.mark.slow)
        for name in QUERIES
    ],
)
def test_annotations_made_of_tokens_are_those_of_memory(session: Session, name: str) -> None:
    q = session.sql(QUERIES[name])
    memory = lipstick.open(q.capture.directory)
    other = Token("other", (7, "x"))
    for semiring in NUMBERED:
        element = semiring.plus(semiring.default(other), semiring.default(Token("cars", ("C1",))))
        named = {"C2": element, "C3": semiring.zero}
        for given in (None, {"cars": named}, {"cars": _of_others(semiring)}):
            answers = []
            for engine in (q, memory):
                try:
                    answers.append(
                        alike(rows_of(engine.algebra.evaluate(semiring, given)), semiring)
                    )
                except CapabilityError as error:
                    answers.append(str(error))
            assert answers[0] == answers[1], (semiring.name, given)


def alike(rows: list[tuple[Any, ...]], semiring: semirings.Semiring[Any]) -> list[Any]:
    """Return rows whose formulas are alike where only the order of terms and factors differs."""
    if not isinstance(semiring, semirings.Formula):
        return rows
    return [(*values, _parts(formula)) for *values, formula in rows]


def _parts(formula: str) -> Any:
    """Return a formula as its operation and operands, those of + and · in one order."""
    for sign in (" ⊖ ", " + ", "·"):
        operands = [""]
        for part in re.split(f"({re.escape(sign)})", formula):
            inner = operands[-1].count("(") > operands[-1].count(")")
            if part == sign and not inner:
                operands.append("")
            else:
                operands[-1] += part
        if len(operands) > 1:
            parts = [_parts(each) for each in operands]
            return sign, parts if sign == " ⊖ " else sorted(parts, key=str)
    if formula.startswith(("δ(", "(")):
        inside = _parts(formula.partition("(")[2].removesuffix(")"))
        return ("δ", inside) if formula.startswith("δ") else inside
    return formula


def test_formulas_are_compared_up_to_the_order_of_what_commutes() -> None:
    assert _parts("δ(a·b + c)·d") == _parts("d·δ(c + b·a)")
    assert _parts("((a + b) ⊖ c)") == _parts("(b + a) ⊖ c")
    different = ("a ⊖ b", "b ⊖ a", "a + b", "a·b", "δ(a·b)", "δ(a)·b", "(a ⊖ b)·c", "a ⊖ (b·c)")
    assert len({str(_parts(each)) for each in different}) == len(different)


def _of_others(semiring: semirings.Semiring[Any]) -> Callable[[Token], Any]:
    """Give each token the value of another, of a relation that the query does not read."""
    return lambda token: semiring.default(Token("parts", (*token.key, 1)))


def rows_of(answer: DataFrame | pa.Table) -> list[tuple[Any, ...]]:
    table = answer if isinstance(answer, pa.Table) else answer.toArrow()
    return sorted(tuple(row.values()) for row in table.to_pylist())

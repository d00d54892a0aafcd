"""Circuits in arrays, held against expressions that are built node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring import AVG, COUNT, MAX, MIN, SUM, Expression, Polynomial, Tensor, Token, compare
from semiring.analysis import sampled_probability
from semiring.base import Semiring
from semiring.circuit import AnnotationCircuit, CircuitReading, evaluate
from semiring.circuit.evaluation import ArrayValues, operand_values
from semiring.circuit.gates import CANONICAL
from semiring.circuit.ranges import range_tensors
from semiring.columns import Columns, Source, columns_of
from semiring.columns.arrays import ArrayColumns
from semiring.errors import LipstickError
from semiring.expression import condition, simplify
from semiring.monoid import Monoid
from semiring.possible_worlds import PossibleWorlds
from semiring.semirings import Counting
from semiring.semirings.expressions import Expressions
from semiring.valuation import Valuation
from semiring.values import Aggregated, Windowed, WindowRows, applied, choice
from semiring.vocabulary import TokenScan
from tests.semiring.strategies import _ELEMENTS, TOKENS, elements
from tests.semiring.test_values import Longest, Minus, Place

ALGEBRA = Expressions()
NAMED = sorted(TOKENS)
VALUED = [kind() for kind in _ELEMENTS]
_PAIRS = st.tuples(st.integers(0, 99), st.integers(0, 99))
_STEPS = st.lists(
    st.tuples(
        st.sampled_from("tspdmacxvfhgwqb"), st.lists(st.integers(0, 99), min_size=2, max_size=4)
    ),
    min_size=1,
    max_size=12,
)


class Placed(Place):
    """The place of a row in the order of texts."""

    def __call__(self, relations: Any) -> list[list[Any]]:
        return super().__call__([[tuple(map(repr, row)) for row in rows] for rows in relations])


class Known:
    """True, or NULL of NULL."""

    name = "known"

    def text(self, operands: Any) -> str:
        return f"known({operands[0]})"

    def __call__(self, cases: Any) -> list[Any]:
        return [None if value is None else value > 1 for (value,) in cases]


def empty() -> tuple[AnnotationCircuit, CircuitReading]:
    circuit = AnnotationCircuit(len(NAMED))
    return circuit, CircuitReading(circuit, lambda numbers: [NAMED[n] for n in numbers])


def _formal(
    circuit: AnnotationCircuit,
    step: str,
    numbers: list[int],
    gates: tuple[np.ndarray, np.ndarray],
    objects: tuple[list[Any], list[Any]],
) -> tuple[int, Any]:
    """A formal value of as many terms or rows as there are numbers, as a gate and as an object."""
    (annotated, ends), (parts, args) = gates, objects
    whole, make = np.array([0, len(numbers)]), circuit.operands
    rows = [(k, [value]) for k, value in zip(parts, args, strict=True)]
    match step:
        case "v":
            monoid = (SUM, COUNT, MAX)[numbers[0] % 3]
            column = [number % 3 if number % 5 else None for number in numbers]
            tensor = circuit.tensors(monoid, annotated, pa.array(column, pa.int64()), whole)
            return int(tensor[0]), Tensor(monoid, zip(parts, column, strict=True))
        case "f":
            difference = make.applied(Minus(), [ends[:1], ends[1:2]])
            return int(difference[0]), applied(Minus(), args[:2])
        case "h":
            chosen = make.choices(annotated, ends, whole)
            return int(chosen[0]), choice(zip(parts, args, strict=True))
        case "g":
            total = make.aggregated(Longest(), annotated, [ends], whole)
            return int(total[0]), Aggregated(Longest(), rows)
    # Rows of windows are there once, or not.
    annotated = circuit.delta(annotated)
    there = annotated != 0
    rows = [(ALGEBRA.delta(k), row) for k, row in rows if not k.is_zero]
    if not rows:
        return int(make.plain([None])[0]), None
    places = make.windowed(Placed(), annotated[there], [ends[there]])
    return int(places[-1]), Windowed(WindowRows(Placed(), rows), len(rows) - 1)


def built(steps: list[tuple[str, list[int]]]) -> tuple[CircuitReading, np.ndarray, list[Any]]:
    """The gates and the annotations that the same steps make."""
    circuit, reading = empty()
    gates = list(range(2 + len(NAMED)))
    annotations: list[Any] = [Polynomial.zero(), Polynomial.one()]
    annotations += [Polynomial.token(token) for token in NAMED]
    operands: list[Any] = [1, None]
    values = circuit.operands.plain(operands).tolist()
    for step, numbers in steps:
        places = [number % len(gates) for number in numbers]
        chosen = np.array([gates[place] for place in places], dtype=np.int32)
        parts = [annotations[place] for place in places]
        a, b = chosen[:1], chosen[1:2]
        # Formal values, of as many alternatives or rows.
        args = [operands[number % len(operands)] for number in numbers]
        ends = np.array([values[number % len(values)] for number in numbers])
        whole = np.array([0, len(numbers)])
        if step in "vfhgw":
            pair = _formal(circuit, step, numbers, (chosen, ends), (parts, args))
            values.append(pair[0])
            operands.append(pair[1])
            continue
        match step:
            case "q":
                op = ("<", "=", "<=>")[numbers[0] % 3]
                gate = circuit.operands.compared(op, ends[:1], ends[1:2])
                made = simplify(compare(op, *args[:2]))
            case "b":
                gate = circuit.operands.conditions(circuit.operands.applied(Known(), [ends[:1]]))
                made = simplify(condition(applied(Known(), args[:1])))
            case "t":
                gate, made = circuit.times(a, b), ALGEBRA.times(parts[0], parts[1])
            case "p":
                columns = [chosen[[place]] for place in range(len(chosen))]
                gate, made = circuit.product(columns, 1), ALGEBRA.product(parts)
            case "s":
                gate = circuit.sum(chosen, np.array([0, len(chosen)]))
                made = ALGEBRA.sum(parts)
            case "d":
                gate, made = circuit.delta(a), ALGEBRA.delta(parts[0])
            case "m":
                gate, made = circuit.monus(a, b), ALGEBRA.monus(parts[0], parts[1])
            case "a":
                gate = circuit.absent(a)
                made = ALGEBRA.monus(ALGEBRA.one, ALGEBRA.delta(parts[0]))
            case "x":
                gate = circuit.any_of([chosen[[0]], chosen[[1]]], 1)
                kept = list(dict.fromkeys(parts[:2]))
                one = ALGEBRA.one in kept
                made = ALGEBRA.one if one else ALGEBRA.delta(ALGEBRA.sum(kept))
            case _:
                monoid = (SUM, COUNT, MAX)[numbers[0] % 3]
                column = [number % 3 if number % 5 else None for number in numbers]
                tensor = circuit.tensors(monoid, chosen, pa.array(column, pa.int64()), whole)
                op, constant = ("<", "=", ">=")[numbers[1] % 3], numbers[0] % 4
                gate = circuit.compare(op, tensor, [constant])
                terms = zip(parts, column, strict=True)
                made = simplify(compare(op, Tensor(monoid, terms), constant))
        gates.append(int(gate[0]))
        annotations.append(made)
    return reading, np.array(gates), annotations


def _counts(annotation: Any) -> list[Any]:
    worlds = PossibleWorlds.every(NAMED)
    return worlds.counts(annotation).tolist()


@given(_STEPS)
def test_a_circuit_says_in_every_world_what_expressions_say(
    steps: list[tuple[str, list[int]]],
) -> None:
    reading, gates, annotations = built(steps)
    for gate, annotation in zip(gates.tolist(), annotations, strict=True):
        read = reading.annotation(gate)
        assert isinstance(read, Polynomial) == isinstance(annotation, Polynomial)
        assert _counts(read) == _counts(annotation)
        assert (gate == 0) <= annotation.is_zero
        assert set(read.tokens) == set(reading.tokens(np.array([gate])))


@given(_STEPS)
def test_gates_with_the_canonical_structure_are_read_as_canonical(
    steps: list[tuple[str, list[int]]],
) -> None:
    reading, gates, _ = built(steps)
    flags = reading.circuit.gates.flags[gates]
    for gate in gates[(flags & CANONICAL) != 0].tolist():
        expression = reading.expression(gate)
        rebuilt = Expression.of(expression.evaluate(ALGEBRA, None))
        assert expression == rebuilt, gate
        assert expression.truncated(None) == rebuilt.truncated(None)


@given(_STEPS)
def test_equal_gates_are_made_once(steps: list[tuple[str, list[int]]]) -> None:
    reading, gates, _ = built(steps)
    canonical = gates[(reading.circuit.gates.flags[gates] & CANONICAL) != 0].tolist()
    by_expression: dict[Expression, int] = {}
    for gate in canonical:
        assert by_expression.setdefault(reading.expression(gate), gate) == gate


@pytest.mark.parametrize("factor", [False, True])
def test_large_sums_make_their_terms_when_these_are_looked_at(factor: bool) -> None:
    tokens = sorted(Token("r", (number,)) for number in range(50))
    made: list[int] = []

    def named(numbers: np.ndarray) -> list[Token]:
        made.extend(numbers.tolist())
        return [tokens[number] for number in numbers]

    circuit = AnnotationCircuit(50)
    reading = CircuitReading(circuit, named)
    gates = circuit.tokens(np.arange(50)[::-1])
    if factor:
        gates = circuit.times(circuit.delta(gates), np.roll(gates, 1))
    total = reading.annotation(int(circuit.sum(gates, np.array([0, 50]))[0]))
    parts = [Polynomial.token(token) for token in tokens]
    expected = ALGEBRA.sum(
        ALGEBRA.times(ALGEBRA.delta(k), parts[(n + 1) % 50]) if factor else k
        for n, k in enumerate(parts)
    )
    assert total.truncated(3) == expected.truncated(3)
    assert len(set(made)) < 8
    assert total.truncated(None) == expected.truncated(None)
    assert total == expected
    assert hash(total) == hash(expected)
    assert total.evaluate(Counting()) == 50
    assert total.delete(tokens[:49]).truncated(None) == expected.delete(tokens[:49]).truncated(None)


def test_large_tensors_make_their_terms_when_these_are_looked_at() -> None:
    tokens = sorted(Token("r", (number,)) for number in range(60))
    made: list[int] = []

    def named(numbers: np.ndarray) -> list[Token]:
        made.extend(numbers.tolist())
        return [tokens[number] for number in numbers]

    circuit = AnnotationCircuit(60)
    reading = CircuitReading(circuit, named)
    values = [None if number % 7 == 0 else -(number // 2) for number in range(60)]
    gates = circuit.tokens(np.arange(60))
    (gate,) = circuit.tensors(SUM, gates, pa.array(values, pa.int64()), np.array([0, 60]))
    tensor = reading.tensor(int(gate))
    expected = Tensor(SUM, [(Polynomial.token(t), v) for t, v in zip(tokens, values, strict=True)])
    for limit in (1, 3, 20):
        assert tensor.truncated(limit) == expected.truncated(limit)
    assert len(set(made)) < 25
    assert tensor == expected
    assert hash(tensor) == hash(expected)
    assert tensor.truncated(None) == expected.truncated(None)
    assert tensor.evaluate(Counting()) == expected.evaluate(Counting())
    assert tensor.tokens == expected.tokens


def test_an_edge_takes_at_most_sixteen_bytes() -> None:
    store = AnnotationCircuit(0).gates
    assert store.child.itemsize + store.label.itemsize <= 16


@pytest.mark.parametrize("monoid", [COUNT, SUM, AVG, MIN, MAX], ids=str)
def test_aggregates_of_ranges_share_those_of_blocks(monoid: Monoid) -> None:
    """Of rows that are in no world, that come twice, and that are sums; of values that are NULL."""
    named = [Token("t", number) for number in range(300)]
    circuit = AnnotationCircuit(300)
    reading = CircuitReading(circuit, lambda numbers: [named[n] for n in numbers])
    random = np.random.default_rng(0)
    rows = circuit.tokens(random.integers(0, 300, 1_000))
    rows[random.random(1_000) < 0.1] = 0
    rows[random.random(1_000) < 0.1] = 1
    rows = np.where(random.random(1_000) < 0.1, circuit.plus(rows, rows[::-1]), rows)
    numbers = random.integers(-3, 4, 1_000).tolist()
    values = [1 if monoid == COUNT else number or None for number in numbers]
    start, stop = np.sort(random.integers(0, 1_001, (60, 2)), axis=1).T
    start[:20] = 0
    before = circuit.gates.edges
    gates = range_tensors(circuit, monoid, rows, pa.array(values, pa.int64()), start, stop)
    assert circuit.gates.edges - before < 8_000 < (stop - start).sum()
    listed = range_tensors(circuit, monoid, rows, values, start, stop)
    there = ArrayValues(Counting(), (random.random(300) < 0.05).astype(np.int64))
    found = operand_values(circuit, gates, there)
    assert operand_values(circuit, listed, there) == found
    copies = evaluate(circuit, Counting(), rows, there)[1].tolist()
    ranges = list(zip(start.tolist(), stop.tolist(), strict=True))
    pairs = list(zip(copies, values, strict=True))
    assert found == [monoid.aggregate(pairs[a:b]) for a, b in ranges]
    for of_gates in (gates, listed):
        for (a, b), tensor in zip(ranges[::6], reading.tensors(of_gates[::6]), strict=True):
            flat = Tensor(monoid, zip(reading.annotations(rows[a:b]), values[a:b], strict=True))
            assert tensor == flat
            assert tensor.truncated(5) == flat.truncated(5)
            assert tensor.size == flat.size
    (few,) = reading.annotations(circuit.compare("<", gates[stop - start > 64][:1], [2]))
    rebuilt = Expression.of(few).evaluate(ALGEBRA, None)
    draws = (sampled_probability(part, 0.1) for part in (few, rebuilt))
    assert len({float(chance) for chance in draws}) == 1


def _named_values(semiring: Semiring[Any], draw: st.DataObject) -> dict[Token, Any]:
    values = elements(semiring)
    return {token: draw.draw(values) for token in NAMED}


class Numbered:
    """Values of the tokens in the form that a semiring's columns have."""

    def __init__(self, semiring: Semiring[Any], values: dict[Token, Any]) -> None:
        self._semiring = semiring
        self._values = values
        self.of = values.__getitem__

    def columns(self, numbers: np.ndarray) -> tuple[Columns[Any], Any]:
        valuation = Valuation(
            self._semiring, "all", function=lambda row: self.of(NAMED[row.key[0]])
        )
        scan = TokenScan("all", [pa.array(numbers)], len(numbers))
        columns = columns_of(self._semiring, {"all": Source(valuation, lambda: scan)})
        return columns, columns.tokens("all")

    def elements(self, numbers: np.ndarray) -> np.ndarray:
        return self._semiring.pack([self.of(NAMED[number]) for number in numbers])


@given(_STEPS, st.data())
@pytest.mark.parametrize("semiring", VALUED, ids=lambda semiring: semiring.name)
def test_layers_are_evaluated_as_expressions_are(
    semiring: Semiring[Any], steps: list[tuple[str, list[int]]], data: st.DataObject
) -> None:
    """In every semiring, against the evaluation of the objects one node after the other."""
    reading, gates, _ = built(steps)
    values = _named_values(semiring, data)
    tokens = Numbered(semiring, values)
    for gate in gates.tolist():
        at = np.array([gate])
        try:
            expected = reading.annotation(gate).evaluate(semiring, values)
        except LipstickError as error:
            with pytest.raises(type(error)):
                evaluate(reading.circuit, semiring, at, tokens)
            continue
        columns, found = evaluate(reading.circuit, semiring, at, tokens)
        text = reading.annotation(gate).truncated(None)
        if isinstance(columns, ArrayColumns):
            assert semiring.unpack(found) == [expected], text
        else:
            assert columns.to_arrow(found) == semiring.to_arrow(semiring.pack([expected])), text

"""Circuits in arrays, held against expressions that are built node by node."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring import AVG, COUNT, MAX, MIN, SUM, Expression, Polynomial, Tensor, Token
from semiring.analysis import sampled_probabilities
from semiring.base import Semiring
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.evaluation import ArrayValues, evaluate, operand_values
from semiring.circuit.gates import CANONICAL
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.circuit.ranges import range_tensors
from semiring.circuit.reading import CircuitReading
from semiring.columns import Columns, ValuedScan, columns_of
from semiring.columns.arrays import ArrayColumns
from semiring.comparison import compare_values
from semiring.encodings.valuation import Valuation
from semiring.encodings.vocabulary import TokenScan
from semiring.errors import LipstickError
from semiring.monoid import Monoid
from semiring.semirings import Counting
from semiring.semirings.expressions import Expressions
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


World = tuple[int, ...]
"""How often each token is there."""

Said = Callable[[World], Any]
"""What something is in a world: the count of an annotation, the value of an operand."""


def _bag(parts: list[Said], rows: list[Said], world: World) -> list[tuple[Any]]:
    pairs = zip(parts, rows, strict=True)
    return [(row(world),) for part, row in pairs for _ in range(part(world))]


def _formal(
    circuit: AnnotationCircuit,
    step: str,
    numbers: list[int],
    gates: tuple[np.ndarray, np.ndarray],
    said: tuple[list[Said], list[Said]],
) -> tuple[int, Said]:
    """A formal value of as many terms or rows as there are numbers, and what it is in worlds."""
    (annotated, ends), (parts, args) = gates, said
    whole, make = np.array([0, len(numbers)]), circuit.operands
    match step:
        case "v":
            monoid, column = _tensor(numbers)
            tensor = circuit.tensors(monoid, annotated, pa.array(column, pa.int64()), whole)
            return int(tensor[0]), lambda world: monoid.aggregate(
                (part(world), value) for part, value in zip(parts, column, strict=True)
            )
        case "f":
            difference = make.applied(Minus(), [ends[:1], ends[1:2]])
            return int(difference[0]), lambda world: Minus()([(args[0](world), args[1](world))])[0]
        case "h":
            chosen = make.choices(annotated, ends, whole)
            return int(chosen[0]), lambda world: next(
                (arg(world) for part, arg in zip(parts, args, strict=True) if part(world)), None
            )
        case "g":
            total = make.aggregated(Longest(), annotated, [ends], whole)
            return int(total[0]), lambda world: Longest()([_bag(parts, args, world)])[0]
    # Rows of windows are there once, or not.
    annotated = circuit.delta(annotated)
    there = np.flatnonzero(annotated)
    if not len(there):
        return int(make.plain([None])[0]), lambda world: None
    places = make.windowed(Placed(), annotated[there], [ends[there]])

    def place(world: World) -> Any:
        present = [n for n in there.tolist() if parts[n](world)]
        if there[-1] not in present:
            return None
        return Placed()([[(args[n](world),) for n in present]])[0][-1]

    return int(places[-1]), place


def _tensor(numbers: list[int]) -> tuple[Monoid, list[int | None]]:
    return (SUM, COUNT, MAX)[numbers[0] % 3], [n % 3 if n % 5 else None for n in numbers]


def built(steps: list[tuple[str, list[int]]]) -> tuple[CircuitReading, np.ndarray, list[Said]]:
    """The gates that some steps make, and what they are in a world, by hand."""
    circuit, reading = empty()
    gates = list(range(2 + len(NAMED)))
    counts: list[Said] = [lambda world: 0, lambda world: 1]
    counts += [lambda world, n=n: world[n] for n in range(len(NAMED))]
    operands: list[Said] = [lambda world: 1, lambda world: None]
    values = circuit.operands.plain([1, None]).tolist()
    for step, numbers in steps:
        places = [number % len(gates) for number in numbers]
        chosen = np.array([gates[place] for place in places], dtype=np.int32)
        parts = [counts[place] for place in places]
        # Formal values, of as many alternatives or rows.
        args = [operands[number % len(operands)] for number in numbers]
        ends = np.array([values[number % len(values)] for number in numbers])
        if step in "vfhgw":
            value, said = _formal(circuit, step, numbers, (chosen, ends), (parts, args))
            values.append(value)
            operands.append(said)
            continue
        gate, count = _annotation(circuit, step, numbers, (chosen, ends), (parts, args))
        gates.append(int(gate[0]))
        counts.append(count)
    return reading, np.array(gates), counts


def _annotation(
    circuit: AnnotationCircuit,
    step: str,
    numbers: list[int],
    gates: tuple[np.ndarray, np.ndarray],
    said: tuple[list[Said], list[Said]],
) -> tuple[np.ndarray, Said]:
    (chosen, ends), (parts, args) = gates, said
    a, b, whole = chosen[:1], chosen[1:2], np.array([0, len(numbers)])
    match step:
        case "q":
            op = ("<", "=", "<=>")[numbers[0] % 3]
            return circuit.operands.compared(op, ends[:1], ends[1:2]), lambda world: int(
                compare_values(op, args[0](world), args[1](world))
            )
        case "b":
            known = circuit.operands.applied(Known(), [ends[:1]])
            return circuit.operands.conditions(known), lambda world: int(
                Known()([(args[0](world),)])[0] is True
            )
        case "t":
            return circuit.times(a, b), lambda world: parts[0](world) * parts[1](world)
        case "p":
            columns = [chosen[[place]] for place in range(len(chosen))]
            return circuit.product(columns, 1), lambda world: prod(part(world) for part in parts)
        case "s":
            return circuit.sum(chosen, whole), lambda world: sum(part(world) for part in parts)
        case "d":
            return circuit.delta(a), lambda world: int(parts[0](world) > 0)
        case "m":
            return circuit.monus(a, b), lambda world: max(parts[0](world) - parts[1](world), 0)
        case "a":
            return circuit.absent(a), lambda world: int(not parts[0](world))
        case "x":
            either = circuit.any_of([chosen[[0]], chosen[[1]]], 1)
            return either, lambda world: int(parts[0](world) + parts[1](world) > 0)
    monoid, column = _tensor(numbers)
    tensor = circuit.tensors(monoid, chosen, pa.array(column, pa.int64()), whole)
    op, constant = ("<", "=", ">=")[numbers[1] % 3], numbers[0] % 4

    def compared(world: World) -> int:
        terms = ((part(world), value) for part, value in zip(parts, column, strict=True))
        return int(compare_values(op, monoid.aggregate(terms), constant))

    return circuit.compare(op, tensor, [constant]), compared


def _counts(reading: CircuitReading, gates: np.ndarray) -> list[list[int]]:
    worlds = PossibleWorlds.every(NAMED)
    return worlds.counts([reading.annotation(gate) for gate in gates.tolist()]).tolist()


@given(_STEPS)
def test_a_circuit_says_in_every_world_what_is_so_by_hand(
    steps: list[tuple[str, list[int]]],
) -> None:
    """Evaluated layer by layer in worlds and node by node in one; rewritten; after deletions."""
    reading, gates, counts = built(steps)
    worlds = [tuple(number >> bit & 1 for bit in range(len(NAMED))) for number in range(64)]
    worlds = worlds[: 1 << len(NAMED)]
    expected = [[count(world) for world in worlds] for count in counts]
    assert _counts(reading, gates) == expected
    gone = [token for number, token in enumerate(NAMED) if not worlds[5][number]]
    valued = {token: worlds[5][number] for number, token in enumerate(NAMED)}
    for gate, count in zip(gates.tolist(), expected, strict=True):
        read = reading.annotation(gate)
        assert (gate == 0) <= (not any(count))
        assert set(read.tokens) == set(reading.tokens(np.array([gate])))
        assert read.evaluate(Counting(), valued) == count[5]
        left = read.delete(gone)
        assert left.evaluate(Counting(), dict.fromkeys(left.tokens, 1)) == count[5]


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
        for (a, b), tensor in zip(ranges[::6], reading.listed(of_gates[::6]), strict=True):
            flat = Tensor(monoid, zip(reading.annotations(rows[a:b]), values[a:b], strict=True))
            assert tensor == flat
            assert tensor.truncated(5) == flat.truncated(5)
            assert tensor.size == flat.size
    (few,) = reading.annotations(circuit.compare("<", gates[stop - start > 64][:1], [2]))
    rebuilt = Expression.of(few).evaluate(ALGEBRA, None)
    draws = (sampled_probabilities([part], 0.1)[0] for part in (few, rebuilt))
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
        columns = columns_of(self._semiring, {"all": ValuedScan(valuation, lambda: scan)})
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

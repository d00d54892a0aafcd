"""Annotations as formal expressions: the input tuples that a row depends on, and how.

Exact in every world: evaluated in the database without some of its tuples, an annotation gives the
multiplicity of its row in the answer, and formal values give its columns. Conditions on aggregated
values, memberships, window functions and LIMIT are factors. Members are processed by whole columns,
as gates of one circuit; Python objects are built only for the annotations and values that are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.formal.aggregates import Aggregates
from lipstick.engines.memory.formal.checked import check, switched_on
from lipstick.engines.memory.formal.columns import FormalColumns
from lipstick.engines.memory.formal.conditions import Conditions
from lipstick.engines.memory.formal.domains import Domains
from lipstick.engines.memory.formal.elements import FormalElements
from lipstick.engines.memory.formal.possible import SHARES, is_possible
from lipstick.engines.memory.formal.scopes import Column, gates_of, of_type
from lipstick.engines.memory.formal.tensors import column_number
from lipstick.engines.memory.formal.tokens import Annotation, TokenNumbers, ValuedTokens
from lipstick.engines.memory.formal.tuples import Tuples
from lipstick.engines.memory.store import every
from lipstick.errors import LipstickError
from rewriter.analysis.conditional import shown_joins
from rewriter.blocks import Block
from semiring.arrays.segments import others
from semiring.base import Array, Semiring
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.evaluation import ArrayValues, evaluate
from semiring.circuit.reading import CircuitReading
from semiring.columns import Columns
from semiring.columns.arrays import ArrayColumns
from semiring.encodings.valuation import Valuation
from semiring.monoid import MAX
from semiring.polynomial import Polynomial
from semiring.semirings.counting import Counting
from semiring.support.chance import random_numbers
from semiring.tensor import Tensor
from semiring.value import Operand, Value

__all__ = ["Annotation", "Formal", "PotentialRow"]

_BATCH = 256
"""Number of rows checked together: small, since few rows may be wanted."""
_FEW = 16
"""Number of small rows up to which each is decided on its own."""
_LARGE = 5_000


@dataclass(frozen=True, slots=True)
class PotentialRow:
    """A row of the answer in some world.

    Attributes
    ----------
    values
        Per column of the answer, a plain value if it is the same in all worlds, else a formal one.
    annotation
        The multiplicity of the row.
    present
        Whether it is in the answer now.
    now
        Its current values; NULL if it is not in the answer.
    gate
        The annotation's gate in the circuit.
    """

    values: tuple[Operand, ...]
    annotation: Annotation
    present: bool
    now: tuple[Any, ...]
    gate: int = field(compare=False)

    @property
    def shown(self) -> tuple[Operand, ...]:
        """The current values of a row of the answer; for other rows, formal values where they
        vary.
        """
        return self.now if self.present else self.values


@dataclass(frozen=True, slots=True)
class PotentialGates:
    """The rows of the answers of all worlds as gates; some rows may be in no answer.

    Attributes
    ----------
    positions
        Their positions in the block of the answer: the row of a LEFT JOIN with its partner has the
        position of the one without.
    present
        Boolean array: the rows of the answer, which come first and in its order.
    annotations
        The gates of their annotations; before LIMIT and OFFSET of the answer cut them.
    values
        The gates of their values, by the columns of the block.
    """

    positions: Array
    present: Array
    annotations: Array
    values: dict[str, Array]


class Formal:
    """The formal annotations of a capture, each built once."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.tokens = TokenNumbers(engine)
        self.circuit = AnnotationCircuit(len(self.tokens))
        self.reading = CircuitReading(self.circuit, self.tokens.tokens)
        self.conditions = Conditions(self.reading)
        elements = FormalElements(self)
        self.domains = Domains(self, elements)
        self.aggregates = Aggregates(self, self.domains)
        self.tuples = Tuples(self, self.aggregates, elements)
        self.columns = FormalColumns(self, self.aggregates, elements)
        self._scalars: dict[tuple[str, str], int] = {}

    def size(self, name: str) -> int:
        """Return the number of positions of a block's tuples."""
        return self.domains.size(name)

    def scalar(self, block: Block, name: str) -> int:
        """Return the gate of a scalar subquery's value, which is NULL if it has no row."""
        key = (block.name, name)
        if key not in self._scalars:
            places = every(self.domains.size(block.name))
            gates = self.tuples.of(block.name, places)
            there = np.flatnonzero(gates)
            values = gates_of(self.reading, self.columns.column(block.name, name, there))
            one = np.array([0, len(there)])
            (self._scalars[key],) = self.circuit.operands.choices(gates[there], values, one)
        return self._scalars[key]

    # -- the answer --------------------------------------------------------------------------

    def shown(self, positions: Array) -> list[Annotation]:
        """Return the annotations of the answer's current rows; see `gates`."""
        row_annotations = self.reading.annotations(self.gates(positions))
        if switched_on():
            check(self, positions, row_annotations)
        return row_annotations

    def gates(self, positions: Array) -> Array:
        """Return the gates of the annotations of the answer's current rows.

        A row of a LEFT JOIN with its partner and the row without a partner are different rows.
        """
        name = self.engine.root.name
        gates = self.circuit.zeros(len(positions))
        places = {position: place for place, position in enumerate(positions.tolist())}
        for chosen, matched in self._now_matched(positions):
            of_rows = self._gates(name, chosen, matched)
            gates[[places[position] for position in chosen.tolist()]] = of_rows
        return gates

    def evaluate(
        self, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]], gates: Array
    ) -> tuple[Columns[Any], Any]:
        """Return the values of annotations in a semiring as a column, and the operations on such
        columns.
        """
        tokens = ValuedTokens(self.tokens, semiring, valuations)
        if semiring.symbolic:
            annotations = self.reading.annotations(gates)
            elements = [k.evaluate(semiring, tokens.of) for k in annotations]
            return ArrayColumns(semiring, {}), semiring.pack(elements)
        return evaluate(self.circuit, semiring, gates, tokens)

    def rows(self) -> Iterator[PotentialRow]:
        """Yield the rows of the answers of all worlds: present ones first, in their order.

        Raises
        ------
        ExactnessError
        When there are too many rows to decide which are possible.
        """
        root = self.engine.root.name
        ordered = self.engine.base(root).ordered
        absent = others(self.domains.size(root), ordered)
        choices = self._choices()
        nothing = (None,) * len(self.engine.root.outputs)
        for of_answer, positions in ((True, ordered), (False, absent)):
            for start in range(0, len(positions), _BATCH):
                chosen = positions[start : start + _BATCH]
                gates = [self._gates(root, chosen, matched) for matched in choices]
                now = [
                    self._is_now(chosen, matched) if of_answer else gates[0] < 0
                    for matched in choices
                ]
                there = [a | self._somewhere(b, ~a) for a, b in zip(now, gates, strict=True)]
                values = [
                    iter(self._values(chosen[held], matched))
                    for held, matched in zip(there, choices, strict=True)
                ]
                shown = [iter(self._now(chosen[held])) for held in now]
                for place in range(len(chosen)):
                    for number, matched in enumerate(choices):
                        gate = int(gates[number][place])
                        annotation = self.reading.annotation(gate)
                        if there[number][place]:
                            own_values = next(values[number])
                        elif is_possible(
                            annotation, sampled=self._is_large(gates[number][[place]])
                        ):
                            (own_values,) = self._values(chosen[[place]], matched)
                        else:
                            continue
                        present = bool(now[number][place])
                        own = next(shown[number]) if present else nothing
                        yield PotentialRow(own_values, annotation, present, own, gate)

    def potential_gates(self, columns: Sequence[str]) -> PotentialGates:
        """Return the rows of the answers of all worlds as gates, without checking each one.

        Parameters
        ----------
        columns
            The columns of the answer's block to compute.
        """
        root = self.engine.root.name
        size = self.domains.size(root)
        ordered = self.engine.base(root).ordered
        place = np.full(size, size)
        place[ordered] = np.arange(len(ordered))
        positions, flags, annotations = [ordered[:0]], [ordered[:0] < 0], [self.circuit.zeros(0)]
        values = [[self.circuit.zeros(0)] for _ in columns]
        for matched in self._choices():
            now = np.zeros(size, dtype=np.bool_)
            now[ordered] = self._is_now(ordered, matched)
            gates = self._gates(root, every(size), matched, uncut=True)
            chosen = np.flatnonzero(gates)
            positions.append(chosen)
            flags.append(now[chosen])
            annotations.append(gates[chosen])
            for column, parts in zip(columns, values, strict=True):
                parts.append(gates_of(self.reading, self._column(column, chosen, matched)))
        flag, position = np.concatenate(flags), np.concatenate(positions)
        order = np.lexsort([position, place[position], ~flag])
        of_rows = (np.concatenate(parts)[order] for parts in values)
        return PotentialGates(
            position[order],
            flag[order],
            np.concatenate(annotations)[order],
            dict(zip(columns, of_rows, strict=True)),
        )

    def _somewhere(self, gates: Array, wanted: Array) -> Array:
        """Return a mask of the wanted annotations that are not 0 in one of a few sampled worlds."""
        found = np.zeros(len(gates), dtype=np.bool_)
        random = random_numbers(0)
        for share in SHARES:
            rest = np.flatnonzero(wanted & ~found & (gates != 0))
            if len(rest) < _FEW and not self._is_large(gates[rest]):
                break
            there = random.random(len(self.tokens)) <= share
            try:
                found[rest] = self.counts(there, gates[rest]) > 0
            except LipstickError:
                # Only Spark knows a condition.
                break
        return found

    def _is_large(self, gates: Array) -> bool:
        return len(self.circuit.gates.reachable(gates)) >= _LARGE

    def counts(self, there: Array, gates: Array) -> Array:
        """Return the multiplicities of annotations in the world given by the presence of each
        token.
        """
        world = ArrayValues(Counting(), there.astype(np.int64))
        counts: Array = evaluate(self.circuit, Counting(), gates, world)[1]
        return counts

    def _now(self, positions: Array) -> list[tuple[Any, ...]]:
        """Return the current values of rows of the answer."""
        columns = self.engine.columns(self.engine.base(self.engine.root.name), positions)
        return list(zip(*(column.to_pylist() for column in columns), strict=True))

    def _values(self, positions: Array, matched: dict[str, bool]) -> list[tuple[Operand, ...]]:
        outputs = self.engine.root.outputs
        columns = (self._column(output.name, positions, matched) for output in outputs)
        return list(zip(*map(self.reading.listed, columns), strict=True))

    def _column(self, name: str, positions: Array, matched: dict[str, bool]) -> Column:
        """Return a column of rows of the root, plain values in its type."""
        root = self.engine.root.name
        column = self.columns.column(root, name, positions, matched)
        return of_type(self.reading, column, self.columns.type(root, name))

    def _choices(self) -> list[dict[str, bool]]:
        """Return all choices of having a partner, or none, in the LEFT JOINs that the answer
        shows.
        """
        read = sorted(shown_joins(self.engine.root))
        chosen = product((True, False), repeat=len(read))
        return [dict(zip(read, choice, strict=True)) for choice in chosen]

    def _gates(
        self, name: str, positions: Array, matched: dict[str, bool], *, uncut: bool = False
    ) -> Array:
        if not matched:
            return (self.tuples.uncut if uncut else self.tuples.of)(name, positions)
        return self.tuples.members(name, positions, matched)

    def uncut(self, name: str, positions: Array) -> list[Annotation]:
        """Return the annotations of tuples of a block before LIMIT."""
        return self.reading.annotations(self.tuples.uncut(name, positions))

    def _is_now(self, positions: Array, matched: dict[str, bool]) -> Array:
        """Return a mask of the rows of the answer that currently match this choice of partners."""
        held = np.ones(len(positions), dtype=np.bool_)
        members = self.domains.members(self.engine.root.name) if matched else None
        for alias, wanted in matched.items():
            assert members is not None
            found = members.lookups[alias].find(positions, members.base)
            held &= (found >= 0) == wanted
        return held

    # -- tensors -----------------------------------------------------------------------------

    def values(self, column: str, positions: Array) -> list[Value]:
        """Return a column of the answer's current rows as formal values.

        A value that no deletion changes is a simple tensor 1⊗v; NULL is the tensor without terms.

        Raises
        ------
        CaptureError
            When there is no such column, or several.
        """
        output = self.engine.root.outputs[column_number(self.engine, column)].name
        operands: dict[int, Operand] = {}
        for at, matched in self._now_matched(positions):
            found = self.reading.listed(self._column(output, at, matched))
            operands.update(zip(at.tolist(), found, strict=True))
        return [_formal_value(operands[position]) for position in positions.tolist()]

    def _now_matched(self, positions: Array) -> Iterator[tuple[Array, dict[str, bool]]]:
        """Yield positions with their current choice of partners in the shown outer joins."""
        for matched in self._choices():
            held = self._is_now(positions, matched)
            if held.any():
                yield positions[held], matched


def _formal_value(operand: Operand) -> Value:
    """Return an operand as a formal value; a plain value v, common to all worlds, is ι(v) = 1⊗v."""
    return operand if isinstance(operand, Value) else Tensor(MAX, [(Polynomial.one(), operand)])

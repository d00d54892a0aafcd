"""Aggregated values as tensors; as aggregates of formal values where their arguments are such."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.functions import Aggregation
from lipstick.engines.memory.formal.scopes import MemberScope, plain_or_operands, scalar_type
from lipstick.engines.memory.formal.tokens import ALGEBRA
from lipstick.engines.memory.formal.tuples import segments
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.store import every
from lipstick.engines.memory.window_rows import WindowRows
from rewriter.interpret import AggregateCall
from semiring.base import Array
from semiring.circuit.values import CircuitAggregated
from semiring.monoid import Monoid, divide_decimal
from semiring.tensor import Tensor
from semiring.value import Operand, Value

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal


class Aggregates:
    """The aggregates of groups, and of windows that only lose rows to a deletion."""

    def __init__(self, formal: Formal) -> None:
        self._formal = formal
        self._known: dict[tuple[str, str], dict[int, Operand]] = {}

    def values(self, name: str, aggregate: str, positions: Array) -> list[Operand]:
        """The values of an aggregate for some groups, or for the windows of some rows.

        Raises
        ------
        CaptureError
            When arguments are not in the capture, or only Spark can compute them.
        """
        known = self._known.setdefault((name, aggregate), {})
        new = np.array(sorted(set(positions.tolist()) - known.keys()), dtype=np.int64)
        if len(new):
            known.update(zip(new.tolist(), self._make(name, aggregate, new), strict=True))
        return [known[position] for position in positions.tolist()]

    def over_window(self, rows: WindowRows, column: str) -> bool:
        """Return True if a column aggregates frames that only lose rows to a deletion."""
        return (
            self._formal.domains.size(rows.block.name) == rows.base.size
            and rows.aggregated(column) is not None
            and rows.follows_deletions(column)
        )

    def _make(self, name: str, aggregate: str, positions: Array) -> list[Operand]:
        rows = self._formal.engine.rows(name)
        factors = None
        if isinstance(rows, WindowRows):
            call = rows.aggregated(aggregate)
            assert call is not None
            members, owners = rows.seen(aggregate, positions, every(rows.members.count))
        else:
            assert isinstance(rows, GroupRows)
            call = rows.calls[aggregate]
            members, owners, factors = self._formal.domains.grouped(rows, positions)
        terms = self._terms(rows, call, members, factors)
        offsets = segments(owners, len(positions)) * (len(terms.gates) // max(len(members), 1))
        values = _column(terms)
        kind = rows.type(aggregate)
        circuit, reading = self._formal.circuit, self._formal.reading
        if call.function is not None and values is not None:
            monoid = _monoid(call, kind)
            gates = circuit.tensors(monoid, terms.gates, values, offsets, distinct=call.distinct)
            if gates is not None:
                return list(reading.tensors(gates))
        function = Aggregation(call, terms.types, kind or pa.int64())
        arguments = list(zip(*map(_listed, terms.columns), strict=True))
        arguments = arguments or [()] * len(terms.gates)
        return [
            self._aggregated(function, call, kind, terms.gates[a:b], arguments[a:b])
            for a, b in pairwise(offsets.tolist())
        ]

    def _aggregated(
        self,
        function: Aggregation,
        call: AggregateCall,
        kind: pa.DataType | None,
        gates: Array,
        rows: Sequence[tuple[Operand, ...]],
    ) -> Operand:
        """An aggregate of rows whose values are not all plain, or that no monoid computes."""
        there = np.flatnonzero(gates)
        gates, rows = gates[there], [rows[place] for place in there.tolist()]
        reading = self._formal.reading
        formal = any(isinstance(value, Value) for row in rows for value in row)
        if call.function is None or formal:
            return CircuitAggregated(reading, function, gates, rows)
        terms = zip(reading.annotations(gates), map(_single, rows), strict=True)
        tensor = Tensor(_monoid(call, kind), terms)
        if not call.distinct:
            return tensor
        return Tensor(tensor.monoid, ((ALGEBRA.delta(k), v) for k, v in tensor.terms))

    def _terms(
        self,
        rows: GroupRows | WindowRows,
        call: AggregateCall,
        members: Array,
        factors: Array | None,
    ) -> _Terms:
        """The annotations and arguments of members: several where one is matched, or is not."""
        formal, name = self._formal, rows.block.name
        inside = formal.domains.members(name)
        read = [
            outer.alias
            for outer in rows.block.outer_lookups
            if outer.factor
            and any(outer.alias == alias for a in call.arguments for alias, _ in a.columns)
        ]
        scopes, gates = [], []
        for choice in product((True, False), repeat=len(read)):
            matched = dict(zip(read, choice, strict=True))
            annotations = formal.tuples.members(name, members, matched)
            if factors is not None:
                annotations = formal.circuit.times(annotations, factors)
            gates.append(annotations)
            scopes.append(MemberScope(formal, inside, members, matched=matched))
        types = [scalar_type(scopes[0], argument) for argument in call.arguments]
        columns = [[plain_or_operands(scope, a) for scope in scopes] for a in call.arguments]
        if len(scopes) == 1:
            return _Terms(gates[0], [parts[0] for parts in columns], types)
        # Member by member.
        interleaved = np.stack(gates, axis=1).ravel()
        listed = [
            [value for row in zip(*map(_listed, parts), strict=True) for value in row]
            for parts in columns
        ]
        return _Terms(interleaved, listed, types)


class _Terms(NamedTuple):
    """Annotations, their arguments column by column, and the types of these."""

    gates: Array
    columns: Sequence[Sequence[Operand] | pa.Array]
    types: Sequence[pa.DataType]


def _listed(column: Sequence[Operand] | pa.Array) -> Sequence[Operand]:
    return column.to_pylist() if isinstance(column, pa.Array) else column


def _column(terms: _Terms) -> pa.Array | None:
    """The plain values beside annotations as one column; None: they are no such."""
    if not terms.columns:
        return pa.repeat(1, len(terms.gates))
    if len(terms.columns) > 1:
        return None
    (column,) = terms.columns
    if isinstance(column, pa.Array):
        return column
    if any(isinstance(value, Value) for value in column):
        return None
    try:
        return pa.array(column, terms.types[0])
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def _single(row: tuple[Any, ...]) -> Any:
    """The value that a row of arguments is: of several a tuple, NULL where one is."""
    if not row:
        return 1
    if len(row) == 1:
        return row[0]
    return None if None in row else row


def _monoid(call: AggregateCall, kind: pa.DataType | None) -> Monoid:
    assert call.function is not None
    monoid = Monoid(call.function)
    if call.function != "AVG" or kind is None:
        return monoid
    if pa.types.is_decimal(kind):
        return monoid.finishing(partial(divide_decimal, scale=kind.scale))
    return monoid.finishing(_quotient)


def _quotient(total: Any, count: int) -> float:
    return float(total) / count

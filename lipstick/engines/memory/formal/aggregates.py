"""Aggregated values as tensors, or as aggregates of formal values if their arguments are formal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.blocks import FormalBlocks, remembered, segments
from lipstick.engines.memory.formal.domains import Domains
from lipstick.engines.memory.formal.functions import Aggregation
from lipstick.engines.memory.formal.matches import MemberScope
from lipstick.engines.memory.formal.scopes import (
    Column,
    assembled,
    gates_of,
    scalar_type,
    values_of,
)
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.store import every
from lipstick.engines.memory.window_rows import WindowRows
from rewriter.interpret import AggregateCall, is_exact
from semiring.base import Array
from semiring.circuit.gates import PLAIN
from semiring.circuit.ranges import FLAT, range_tensors
from semiring.monoid import Monoid, divide_decimal


class Aggregates:
    """The aggregates of groups, and of windows that only lose rows to a deletion."""

    def __init__(self, formal: FormalBlocks, domains: Domains) -> None:
        self._formal = formal
        self.domains = domains
        self._known: dict[tuple[str, str], Array] = {}

    def values(self, name: str, aggregate: str, positions: Array) -> Array:
        """Return the gates of an aggregate for some groups, or for the windows of some rows.

        Raises
        ------
        CaptureError
            When arguments are not in the capture, or only Spark can compute them.
        """
        return remembered(
            self._known, (name, aggregate), positions, lambda new: self._make(name, aggregate, new)
        )

    def over_window(self, rows: WindowRows, column: str) -> bool:
        """Return True if a column aggregates frames that only lose rows to a deletion."""
        return (
            self.domains.size(rows.block.name) == rows.base.size
            and rows.aggregated(column) is not None
            and rows.follows_deletions(column)
        )

    def _make(self, name: str, aggregate: str, positions: Array) -> Array:
        rows = self._formal.engine.rows(name)
        factors = None
        if isinstance(rows, WindowRows):
            call = rows.aggregated(aggregate)
            assert call is not None
            ordered, frames = rows.frames(aggregate, positions, every(rows.members.count))
            kind = rows.type(aggregate)
            if frames.sizes.sum() > FLAT * len(positions) and _is_shared(rows, aggregate, call):
                terms = self._terms(rows, call, ordered, None)
                values, width = self._plain(terms), len(terms.gates) // len(ordered)
                if values is not None and _is_monoid(call, terms.types):
                    return range_tensors(
                        self._formal.circuit,
                        _monoid(call, kind),
                        terms.gates,
                        values,
                        frames.start * width,
                        frames.stop * width,
                    )
            members, owners = rows.seen(aggregate, positions, every(rows.members.count))
        else:
            assert isinstance(rows, GroupRows)
            call = rows.calls[aggregate]
            members, owners, factors = self.domains.grouped(rows, positions)
        terms = self._terms(rows, call, members, factors)
        offsets = segments(owners, len(positions)) * (len(terms.gates) // max(len(members), 1))
        values = self._plain(terms)
        kind, circuit = rows.type(aggregate), self._formal.circuit
        if call.function is not None and values is not None and _is_monoid(call, terms.types):
            monoid = _monoid(call, kind)
            return circuit.tensors(monoid, terms.gates, values, offsets, distinct=call.distinct)
        function = Aggregation(call, terms.types, kind or pa.int64())
        arguments = [gates_of(self._formal.reading, column) for column in terms.columns]
        return circuit.operands.aggregated(function, terms.gates, arguments, offsets)

    def _terms(
        self,
        rows: GroupRows | WindowRows,
        call: AggregateCall,
        members: Array,
        factors: Array | None,
    ) -> _Terms:
        """Return the annotations and arguments of members; optional partners give several terms."""
        formal, name = self._formal, rows.block.name
        inside = self.domains.members(name)
        read = [
            outer.alias
            for outer in rows.block.lookups
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
        columns = [[values_of(scope, a) for scope in scopes] for a in call.arguments]
        if len(scopes) == 1:
            return _Terms(gates[0], [parts[0] for parts in columns], types)
        # Member by member.
        interleaved = np.stack(gates, axis=1).ravel()
        places = np.arange(len(interleaved)).reshape(-1, len(scopes)).T
        beside = [
            assembled(formal.reading, len(interleaved), [*zip(places, parts, strict=True)])
            for parts in columns
        ]
        return _Terms(interleaved, beside, types)

    def _plain(self, terms: _Terms) -> pa.Array | list[Any] | None:
        """Return the plain arguments of terms as one column, or None if some are formal.

        Several arguments form tuples, which are NULL if one argument is.
        """
        if not terms.columns:
            return pa.repeat(1, len(terms.gates))
        reading, kinds = self._formal.reading, self._formal.circuit.gates.kind
        formal = (column for column in terms.columns if not isinstance(column, pa.Array))
        if any((kinds[gates] != PLAIN).any() for gates in formal):
            return None
        if len(terms.columns) > 1:
            rows = zip(*map(reading.listed, terms.columns), strict=True)
            return [None if None in row else row for row in rows]
        (column,) = terms.columns
        if isinstance(column, pa.Array):
            return column
        values = reading.listed(column)
        try:
            return pa.array(values, terms.types[0])
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return values


def _is_monoid(call: AggregateCall, types: Sequence[pa.DataType]) -> bool:
    """Return False if only Spark adds up its values: texts, instants, intervals to be divided."""
    if call.function not in ("SUM", "AVG"):
        return True
    intervals = call.function == "SUM" and pa.types.is_duration(types[0])
    numbers = is_exact(types[0]) or pa.types.is_floating(types[0])
    return bool(intervals or numbers or pa.types.is_null(types[0]))


def _is_shared(rows: WindowRows, aggregate: str, call: AggregateCall) -> bool:
    """Return True if frames may be aggregated from aggregates of blocks of rows."""
    kind = rows.type(aggregate)
    doubles = call.function in ("SUM", "AVG") and (kind is None or pa.types.is_floating(kind))
    return not (call.function is None or call.distinct or doubles or rows.is_rank(aggregate))


class _Terms(NamedTuple):
    """Annotations, their arguments column by column, and the types of these."""

    gates: Array
    columns: Sequence[Column]
    types: Sequence[pa.DataType]


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

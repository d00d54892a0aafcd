"""Aggregated values as tensors; as aggregates of formal values where their arguments are such."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.algebra import ALGEBRA, Annotation, times
from lipstick.engines.memory.formal.functions import Aggregation
from lipstick.engines.memory.formal.scopes import MemberScope, operands, scalar_type
from lipstick.engines.memory.formal.tuples import segments
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.store import every
from lipstick.engines.memory.window_rows import WindowRows
from rewriter.interpret import AggregateCall
from semiring.base import Array
from semiring.monoid import Monoid, divide_decimal
from semiring.tensor import Tensor
from semiring.value import Operand, Value
from semiring.values import Aggregated

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
        new = np.unique(positions[[int(p) not in known for p in positions]])
        if len(new):
            known.update(zip(new.tolist(), self._make(name, aggregate, new), strict=True))
        return [known[int(position)] for position in positions]

    def over_window(self, rows: WindowRows, column: str) -> bool:
        """Return True if a column aggregates frames that only lose rows to a deletion."""
        return (
            self._formal.domains.size(rows.block.name) == rows.base.size
            and rows.aggregated(column) is not None
            and rows.follows_deletions(column)
        )

    def _make(self, name: str, aggregate: str, positions: Array) -> list[Operand]:
        rows = self._formal.engine.rows(name)
        if isinstance(rows, WindowRows):
            call = rows.aggregated(aggregate)
            assert call is not None
            kind = rows.type(aggregate)
            among = every(rows.members.count)
            members, owners = rows.seen(aggregate, positions, among)
            annotations, factors = self._formal.tuples.members(name, members), None
        else:
            assert isinstance(rows, GroupRows)
            call, kind = rows.calls[aggregate], rows.type(aggregate)
            members, owners, factors = self._formal.domains.grouped(rows, positions)
            annotations = self._formal.tuples.members(name, members)
        terms = self._terms(rows, call, members, annotations, factors)
        inside = self._formal.domains.members(name)
        types = [
            scalar_type(MemberScope(self._formal, inside, members[:0]), argument)
            for argument in call.arguments
        ]
        function = Aggregation(call, types, kind or pa.int64())
        return [
            _aggregated(function, call, kind, [term for part in terms[a:b] for term in part])
            for a, b in segments(owners, len(positions))
        ]

    def _terms(
        self,
        rows: GroupRows | WindowRows,
        call: AggregateCall,
        members: Array,
        annotations: list[Annotation],
        factors: list[Annotation] | None,
    ) -> list[list[tuple[Annotation, tuple[Operand, ...]]]]:
        """Per member its annotation and arguments: several where it is matched, or is not."""
        terms: list[list[tuple[Annotation, tuple[Operand, ...]]]] = [[] for _ in members]
        inside = self._formal.domains.members(rows.block.name)
        read = [
            outer.alias
            for outer in rows.block.outer_lookups
            if outer.factor
            and any(outer.alias == alias for a in call.arguments for alias, _ in a.columns)
        ]
        for choice in product((True, False), repeat=len(read)):
            matched = dict(zip(read, choice, strict=True))
            member_annotations = annotations
            if matched:
                member_annotations = self._formal.tuples.members(rows.block.name, members, matched)
            if factors is not None:
                member_annotations = times(member_annotations, factors)
            scope = MemberScope(self._formal, inside, members, matched=matched)
            columns = [operands(scope, argument) for argument in call.arguments]
            arguments = list(zip(*columns, strict=True)) if columns else [()] * len(members)
            for index, (annotation, row) in enumerate(
                zip(member_annotations, arguments, strict=True)
            ):
                if not annotation.is_zero:
                    terms[index].append((annotation, row))
        return terms


def _aggregated(
    function: Aggregation,
    call: AggregateCall,
    kind: pa.DataType | None,
    terms: list[tuple[Annotation, tuple[Operand, ...]]],
) -> Operand:
    formal = any(isinstance(value, Value) for _, row in terms for value in row)
    if call.function is None or formal:
        return Aggregated(function, terms)
    tensor = Tensor(_monoid(call, kind), [(k, _single(row)) for k, row in terms])
    if not call.distinct:
        return tensor
    return Tensor(tensor.monoid, ((ALGEBRA.delta(k), v) for k, v in tensor.terms))


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

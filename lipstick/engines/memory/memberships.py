"""Lookups of members in other blocks: the presence of a tuple, and its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Protocol

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.index import SortedIndex
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.places import NOTHING, beside, everywhere, positions_of, scenarios_of
from lipstick.engines.memory.state import Context, State, known_values, needs_spark, spread
from lipstick.engines.memory.store import every
from rewriter.blocks import Match
from rewriter.interpret import (
    Interpreted,
    Resolve,
    UninterpretableError,
    cast,
    from_arrow,
    interpret,
    unify,
)
from semiring.arrays.segments import ascending, union
from semiring.base import Array


class Asking(Protocol):
    """The members whose partners a membership finds."""

    base: Context

    @property
    def count(self) -> int:
        """The number of captured members."""

    def resolve(self, positions: Array, context: Context) -> Resolve:
        """The columns that scalars of the members read, at some members."""

    def dependent(self, scalars: Iterable[Interpreted]) -> set[str]:
        """The aliases of lookups that scalars read."""


class Membership:
    """A semi join, an anti join or an outer lookup of a block's members.

    Attributes
    ----------
    asked
        The semi join or outer lookup of the block.
    negated
        Whether members pass for which no tuple is there.
    """

    def __init__(self, lookup: Match, members: Asking) -> None:
        self.asked = lookup
        self.negated = lookup.negated
        self._members = members
        self.sides = tuple(interpret(left) for left, _ in lookup.pairs)
        self._guard = None if lookup.guard is None else interpret(lookup.guard)

    @property
    def deciding(self) -> tuple[Interpreted, ...]:
        """The scalars of the members that it reads."""
        return self.sides if self._guard is None else (*self.sides, self._guard)

    def refer(self, places: Array, context: Context) -> Array:
        """The places of the members' partners, present or not; -1: none."""
        positions, inner = positions_of(places), self._inner(context)
        left: list[pa.Array] | None = None
        if self.stable and (positions < self._members.count).all():
            references = self._reference[positions]
        else:
            left = self._left(places, context)
            references = self._table.find(left, len(places), nulls=self.asked.null_safe)
        new = self._new(inner)
        if len(new):
            left = left or self._left(places, context)
            table = KeyTable(self._right(inner, new), len(new))
            found = table.find(left, len(places), nulls=self.asked.null_safe)
            references = np.where(found >= 0, positions_of(new)[found], references)
        return beside(places, references)

    def _new(self, inner: State) -> Array:
        """A place of each tuple that is there in some scenario and has none without deletion."""
        new = inner.flipped[positions_of(inner.flipped) >= self._inner(self._members.base).size]
        return new[np.unique(positions_of(new), return_index=True)[1]]

    def concerned(self, places: Array, context: Context) -> Array | None:
        """Boolean array: the members that it concerns; None: all of them."""
        if self._guard is None:
            return None
        return holds(self._guard, self._members.resolve(places, context), len(places))

    def passed(self, there: Array, places: Array, context: Context) -> Array:
        """Boolean array: which members pass, given where a tuple is there."""
        concerned = self.concerned(places, context)
        return there if concerned is None else there | ~concerned

    def sought(self, places: Array, context: Context) -> Array:
        """The places of the concerned members' partners, present or not; -1: none."""
        references, concerned = self.refer(places, context), self.concerned(places, context)
        return references if concerned is None else np.where(concerned, references, -1)

    def find(self, places: Array, context: Context) -> Array:
        """The places of the concerned members' partners that a context has; -1: none."""
        references = self.refer(places, context)
        there = present_at(references, self._inner(context))
        concerned = self.concerned(places, context)
        return np.where(there if concerned is None else there & concerned, references, -1)

    def column(self, name: str, places: Array, context: Context) -> pa.Array:
        """A column of the members' partners, NULL where there is none."""
        references = self.find(places, context)
        there = np.flatnonzero(references >= 0)
        return spread(self._inner(context).take(name, references[there]), there, len(references))

    def suspects(self, context: Context, touched: Callable[[State], Array]) -> Array:
        """The places of members whose partner in the other block deletions touched."""
        inner, count = self._inner(context), self._members.count
        wanted = touched(inner)
        if not len(wanted):
            return NOTHING
        if not self.stable:
            return everywhere(ascending(scenarios_of(wanted)), every(count))
        rows, owners = self._referring.rows(positions_of(wanted))
        suspects = beside(wanted[owners], rows)
        new = self._new(inner)
        if not len(new):
            return suspects
        # Members whose key only tuples have that deletions make.
        table = KeyTable(self._right(inner, new), len(new))
        left = self._left(every(count), self._members.base)
        found = table.find(left, count, nulls=self.asked.null_safe)
        codes = np.where(found >= 0, positions_of(new)[found], -1)
        rows, owners = SortedIndex(codes).rows(positions_of(wanted))
        return union(suspects, beside(wanted[owners], rows))

    # -- the two sides ---------------------------------------------------------------------

    def _inner(self, context: Context) -> State:
        return context(self.asked.block.name)

    @cached_property
    def stable(self) -> bool:
        return not self._members.dependent(self.sides)

    @cached_property
    def _reference(self) -> Array:
        count, base = self._members.count, self._members.base
        left = self._left(every(count), base)
        return self._table.find(left, count, nulls=self.asked.null_safe)

    @cached_property
    def _referring(self) -> SortedIndex:
        return SortedIndex(self._reference)

    @property
    def _table(self) -> KeyTable:
        inner = self._inner(self._members.base)
        return KeyTable(self._right(inner, every(inner.size)), inner.size)

    def _left(self, places: Array, context: Context) -> list[pa.Array]:
        """The members' side, in the types that both sides are compared in."""
        resolve = self._members.resolve(places, context)
        return [
            known_values(side, resolve, len(places), kind)
            for side, kind in zip(self.sides, self._types, strict=True)
        ]

    def _right(self, inner: State, rows: Array) -> list[pa.Array]:
        """The other side: columns of another block's tuples."""
        pairs = zip(self.asked.pairs, self._types, strict=True)
        columns = [(from_arrow(inner.take(its, rows)), kind) for (_, its), kind in pairs]
        return [cast(column, kind).to_arrow(len(rows)) for column, kind in columns]

    @cached_property
    def _types(self) -> list[pa.DataType]:
        members = self._members
        inner, resolve = self._inner(members.base), members.resolve(NOTHING, members.base)
        try:
            return [
                unify(side.evaluate(resolve).type, inner.take(its, NOTHING).type)
                for side, (_, its) in zip(self.sides, self.asked.pairs, strict=True)
            ]
        except UninterpretableError as error:
            raise needs_spark(str(error)) from error


def all_hold(
    conditions: Iterable[Interpreted], resolve: Resolve, length: int, where: Array | None = None
) -> Array:
    """Return a Boolean array: the rows that satisfy all conditions, evaluated for the rows left.

    Raises
    ------
    CaptureError
    When only Spark can evaluate one, or it fails for a row that is left: where ``where`` is
    true, if given.
    """
    true = np.ones(length, dtype=np.bool_)
    for condition in conditions:
        true &= holds(condition, resolve, length, true if where is None else true & where)
    return true


def holds(
    condition: Interpreted, resolve: Resolve, length: int, where: Array | None = None
) -> Array:
    """Return a Boolean array: the rows that satisfy a condition.

    Raises
    ------
    CaptureError
        When only Spark can evaluate it, or it fails for a row: where ``where`` is true, if given.
    """
    truth = known_values(condition, resolve, length, pa.bool_(), where)
    mask: Array = truth.fill_null(False).to_numpy(zero_copy_only=False)
    return mask


def present_at(references: Array, state: State) -> Array:
    """Return a Boolean array: the references to tuples that are there; -1 refers to none."""
    there = references >= 0
    there[there] = state.there(references[there])
    return there

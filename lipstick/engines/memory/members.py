"""The members of a block: what they refer to, which of them a deletion touches, which survive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.member_tokens import MemberTokens
from lipstick.engines.memory.memberships import Membership, all_hold, present_at
from lipstick.engines.memory.places import NOTHING, contains, everywhere, positions_of
from lipstick.engines.memory.references import References
from lipstick.engines.memory.state import Context, State
from lipstick.engines.memory.store import OPEN_WITH_SPARK, Dataset, every
from lipstick.errors import NeedsSparkError
from rewriter.analysis.data_flow import dependent
from rewriter.blocks import EXPANDED, MEMBER, Block, Lookup
from rewriter.interpret import (
    Interpreted,
    Resolve,
    Vector,
    from_arrow,
    interpret,
)
from semiring.arrays.segments import union
from semiring.base import Array

ValueLookup: TypeAlias = Callable[[Block, Sequence[str], pa.Table], pa.Table]
"""From a block, member columns of it and members' tokens to the columns, row for row."""


class Members:
    """The members of one block.

    A block without a core of its own has the rows of the block that it reads as members, the
    combinations of rows where it reads several, or one member where it reads none. Where a core is
    joined with rows of blocks by conditions alone, members are the combinations, too.

    Parameters
    ----------
    dataset
        The captured members; None for a block without a core.
    base
        The rows of other blocks without any deletion.
    lookup
        Fetches member columns that are not in the capture; None: nothing can.
    """

    def __init__(
        self,
        block: Block,
        dataset: Dataset | None,
        base: Context,
        lookup: ValueLookup | None = None,
    ) -> None:
        self.block = block
        self.base = base
        self._lookup = lookup
        self._fetched_schema: pa.Schema | None = None
        self.references = References(block, dataset, base, self.is_stable)
        self.dataset = self.references.dataset
        self.lookups = self.references.lookups
        self._scalars = {lookup.alias: lookup for lookup in block.lookups if lookup.scalar}
        self._by_alias = {lookup.alias: lookup for lookup in self.lookups}
        self.conditions = tuple(map(interpret, block.conditions))
        self.memberships = tuple(Membership(semi, self) for semi in block.semis)
        self.outer_lookups = {o.alias: Membership(o, self) for o in block.outer_lookups}
        self.tokens = MemberTokens(block, self.dataset)

    # -- sizes and columns -----------------------------------------------------------------

    @cached_property
    def count(self) -> int:
        """The number of captured members."""
        return self.size(self.base)

    def size(self, context: Context) -> int:
        """The number of members, those included that only a deletion makes."""
        return self.references.size(context)

    def resolve(self, places: Array, context: Context) -> Resolve:
        """The columns that scalars of the members read, at some members; each taken once."""
        taken: dict[tuple[str, str], Vector] = {}

        def column(alias: str, name: str) -> Vector:
            if (alias, name) not in taken:
                if alias == MEMBER and self._by_reference(name):
                    fetched = self._fetch(positions_of(places))
                    columns = zip(fetched.column_names, fetched.columns, strict=True)
                    taken.update({(MEMBER, field): from_arrow(values) for field, values in columns})
                else:
                    taken[alias, name] = from_arrow(self._column(alias, name, places, context))
            return taken[alias, name]

        return column

    def _column(self, alias: str, name: str, places: Array, context: Context) -> pa.Array:
        if alias == MEMBER:
            assert self.dataset is not None
            return self.dataset.take(name, positions_of(places))
        if alias in self._scalars:
            return context(self._scalars[alias].block.name).scalar(name, places)
        if alias in self.outer_lookups:
            return self.outer_lookups[alias].column(name, places, context)
        lookup = self._by_alias[alias]
        return context(lookup.block.name).take(name, self.references.of(lookup, places))

    def _by_reference(self, name: str) -> bool:
        """Return True if a member column is not in the capture but can be fetched."""
        assert self.dataset is not None
        return self._lookup is not None and name not in self.dataset.names

    def _fetch(self, positions: Array) -> pa.Table:
        """All columns that are not in the capture, for some members."""
        assert self.dataset is not None
        assert self._lookup is not None
        if not len(positions) and self._fetched_schema is not None:
            return self._fetched_schema.empty_table()
        names = dict.fromkeys(c for token in self.block.tokens for c in token.columns)
        tokens = pa.table({name: self.dataset.take(name, positions) for name in names})
        assert self.block.core is not None
        stored = self.dataset.names
        wanted = [name for name, _ in self.block.core.select if name not in stored]
        fetched = self._lookup(self.block, wanted, tokens)
        self._fetched_schema = fetched.schema
        return fetched

    def dependent(self, scalars: Iterable[Interpreted]) -> set[str]:
        """The aliases of lookups that scalars read."""
        itself = (MEMBER, EXPANDED)
        return {alias for scalar in scalars for alias, _ in scalar.columns if alias not in itself}

    def is_stable(self, scalar: Interpreted) -> bool:
        """Return True if no deletion changes the value of a scalar while its member is there."""
        return all(self.is_stable_column(alias, name) for alias, name in scalar.columns)

    def is_stable_column(self, alias: str, name: str) -> bool:
        """Return True if no deletion changes a column while its member is there."""
        if alias in (MEMBER, EXPANDED):
            return True
        lookup = self._by_alias.get(alias)
        if lookup is None or not lookup.block.stable_identity:
            return False
        stable = {output.name for output in lookup.block.outputs if output.stable}
        return name in stable or name in lookup.block.identity

    # -- deletions -------------------------------------------------------------------------

    @property
    def alone(self) -> bool:
        """True if the presence and values of members depend on their own tokens alone."""
        block = self.block
        return self.dataset is not None and block.of_members_alone and not block.windowed

    def suspects(
        self,
        context: Context,
        gone: Array,
        valued: Iterable[Interpreted],
        at: Array | None = None,
    ) -> Array:
        """The places of members, sorted, whose presence or values deletions may change.

        Parameters
        ----------
        gone
            The places of members with a deleted token.
        valued
            The scalars whose values matter beyond presence.
        at
            Positions, sorted: no other members are asked for; None: all are.
        """
        self._check_combined(context)
        matched = (*self.memberships, *self.outer_lookups.values())
        deciding = (*self.conditions, *(scalar for lookup in matched for scalar in lookup.deciding))
        read = self.dependent((*deciding, *valued))
        scalars = rescaled(self._scalars, (*deciding, *valued), context)
        suspects = [gone, everywhere(scalars, every(self.size(context)) if at is None else at)]
        for lookup in self.lookups:
            inner = context(lookup.block.name)
            wanted = inner.changed if lookup.alias in read else inner.flipped
            suspects.append(self.references.members(lookup, wanted))
        suspects += [membership.suspects(context, _flipped) for membership in self.memberships]
        for alias, outer in self.outer_lookups.items():
            if alias in read:
                suspects.append(outer.suspects(context, _touched))
        if at is not None:
            suspects = [each[np.isin(positions_of(each), at)] for each in suspects]
        return union(*suspects)

    def _check_combined(self, context: Context) -> None:
        """Refuse combinations with rows that only a deletion makes."""
        for lookup in self.references.combined:
            if context(lookup.block.name).size > self.base(lookup.block.name).size:
                raise NeedsSparkError(
                    f"The deletion makes rows of {lookup.block.name}, which are joined by "
                    "conditions on them.\n" + OPEN_WITH_SPARK
                )

    def alive(self, places: Array, context: Context, gone: Array) -> Array:
        """Boolean array: the members at some places that are there.

        Raises
        ------
        CaptureError
            When a condition must be evaluated that only Spark can.
        """
        alive = ~contains(gone, places)
        for lookup in self.lookups:
            alive &= present_at(self.references.of(lookup, places), context(lookup.block.name))
        for membership in self.memberships:
            references = membership.refer(places, context)
            there = present_at(references, context(membership.asked.block.name))
            alive &= membership.passed(~there if membership.negated else there, places, context)
        if self.conditions:
            rows = np.flatnonzero(alive)
            resolve = self.resolve(places[rows], context)
            alive[rows] = all_hold(self.conditions, resolve, len(rows))
        return alive

    @cached_property
    def base_alive(self) -> Array | None:
        """Boolean array: the members that are there without any deletion; None: all of them."""
        if not (self.lookups or self.conditions or self.block.semis):
            return None
        alive = self.alive(every(self.count), self.base, NOTHING)
        return None if alive.all() else alive

    def fixed(self, positions: Array) -> Array:
        """Boolean array: the members for which those conditions hold that nothing can change."""
        return self._hold(self._fixed, positions, self.was_alive(positions))

    @cached_property
    def _fixed(self) -> tuple[Interpreted, ...]:
        pairs = zip(self.conditions, self.block.conditions, strict=True)
        return tuple(fixed for fixed, written in pairs if not dependent(written, self.block))

    def _hold(self, conditions: Sequence[Interpreted], positions: Array, where: Array) -> Array:
        """Return a Boolean array: the members that satisfy conditions.

        Conditions may fail for members where ``where`` is false.
        """
        if not conditions:
            return np.ones(len(positions), dtype=np.bool_)
        resolve = self.resolve(positions, self.base)
        return all_hold(conditions, resolve, len(positions), where)

    def was_alive(self, places: Array) -> Array:
        """Boolean array: the members at some places that are there without any deletion."""
        positions = positions_of(places)
        known = positions < self.count
        if self.base_alive is None:
            return known
        alive = np.zeros(len(positions), dtype=np.bool_)
        alive[known] = self.base_alive[positions[known]]
        return alive


def rescaled(
    lookups: Mapping[str, Lookup], scalars: Iterable[Interpreted], context: Context
) -> Array:
    """The scenarios in which a scalar subquery that some scalars read has another value."""
    read = dict.fromkeys(column for scalar in scalars for column in scalar.columns)
    return union(
        *(
            context(lookups[alias].block.name).rescaled(name)
            for alias, name in read
            if alias in lookups
        )
    )


def _flipped(state: State) -> Array:
    return state.flipped


def _touched(state: State) -> Array:
    return union(state.changed, state.flipped)

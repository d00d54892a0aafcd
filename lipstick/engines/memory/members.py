"""The members of a block: what they refer to, which of them a deletion touches, which survive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.index import SortedIndex, TokenIndex
from lipstick.engines.memory.joins import joined_places
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.memberships import Membership, all_hold, present_at
from lipstick.engines.memory.places import NOTHING, beside, contains, everywhere, pack, positions_of
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import Context, State, needs_spark
from lipstick.engines.memory.store import OPEN_WITH_SPARK, Dataset, TakenDataset, every
from lipstick.errors import NeedsSparkError
from rewriter.analysis.data_flow import dependent
from rewriter.blocks import EXPANDED, MEMBER, Block, Match, MatchKind
from rewriter.interpret import (
    Interpreted,
    Resolve,
    UninterpretableError,
    Vector,
    comparison,
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
        self.joined = self.references.joined
        self._matches = block.by_alias
        self.conditions = tuple(map(interpret, block.conditions))
        self.memberships = tuple(Membership(semi, self) for semi in block.memberships)
        self.lookups = {o.alias: Membership(o, self) for o in block.lookups}
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
        match = self._matches[alias]
        if match.kind is MatchKind.ONE:
            return context(match.block.name).scalar(name, places)
        if match.kind is MatchKind.AT_MOST_ONE:
            return self.lookups[alias].column(name, places, context)
        return context(match.block.name).take(name, self.references.of(match, places))

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
        match = self._matches.get(alias)
        if match is None or match.kind is not MatchKind.EACH or not match.block.stable_identity:
            return False
        stable = {output.name for output in match.block.outputs if output.stable}
        return name in stable or name in match.block.identity

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
        matched = (*self.memberships, *self.lookups.values())
        deciding = (*self.conditions, *(scalar for lookup in matched for scalar in lookup.deciding))
        read = self.dependent((*deciding, *valued))
        scalars = rescaled(self.block, (*deciding, *valued), context)
        suspects = [gone, everywhere(scalars, every(self.size(context)) if at is None else at)]
        for lookup in self.joined:
            inner = context(lookup.block.name)
            wanted = inner.changed if lookup.alias in read else inner.flipped
            suspects.append(self.references.members(lookup, wanted))
        suspects += [membership.suspects(context, _flipped) for membership in self.memberships]
        for alias, outer in self.lookups.items():
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
        for lookup in self.joined:
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
        if not (self.joined or self.conditions or self.memberships):
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


def rescaled(block: Block, scalars: Iterable[Interpreted], context: Context) -> Array:
    """The scenarios in which a scalar subquery that some scalars read has another value."""
    read = dict.fromkeys(column for scalar in scalars for column in scalar.columns)
    subqueries = {match.alias: match.block.name for match in block.subqueries}
    return union(
        *(context(subqueries[alias]).rescaled(n) for alias, n in read if alias in subqueries)
    )


def _flipped(state: State) -> Array:
    return state.flipped


def _touched(state: State) -> Array:
    return union(state.changed, state.flipped)


class MemberTokens:
    """The tokens of the members of one block, scan by scan.

    Parameters
    ----------
    dataset
        The captured members; None for a block without a core, whose members have no tokens.
    """

    def __init__(self, block: Block, dataset: Dataset | None) -> None:
        self._block = block
        self._dataset = dataset
        self._indexes: dict[int, TokenIndex] = {}

    def index(self, number: int) -> TokenIndex:
        """The index of the members' tokens of one scan."""
        if number not in self._indexes:
            assert self._dataset is not None
            columns = self._block.tokens[number].columns
            self._indexes[number] = TokenIndex([self._dataset.column(name) for name in columns])
        return self._indexes[number]

    def losing(self, deleted: Mapping[str, Deleted]) -> Array:
        """The members with a deleted token: places, sorted."""
        lost = []
        for number, token in enumerate(self._block.tokens):
            of_relation = deleted.get(token.relation)
            if of_relation is not None and of_relation.tokens.num_rows:
                columns = [column.combine_chunks() for column in of_relation.tokens.columns]
                positions, owners = self.index(number).pairs(columns)
                lost.append(pack(of_relation.scenarios[owners], positions))
        return union(*lost)


_PLACE = "_place"
_COMBINATIONS = 4_000_000
"""At most so many pairs of rows are looked at for members that are combinations of rows."""


class References:
    """The references of the members of one block to tuples of other blocks.

    Parameters
    ----------
    captured
        The captured members; None for a block without a core.
    base
        The rows of other blocks without any deletion.
    is_stable
        Whether no deletion changes the value of a scalar while its member is there.

    Attributes
    ----------
    joined
        The matches through which members refer to tuples; scalar subqueries are left out.
    free
        The lookup whose tuples are the members, one for one.
    combined
        The lookups whose tuples, and the captured members, are combined to members.
    dataset
        The captured members, each as often as it is a member.
    """

    def __init__(
        self,
        block: Block,
        captured: Dataset | None,
        base: Context,
        is_stable: Callable[[Interpreted], bool],
    ) -> None:
        self.captured = captured
        self.joined = block.joined
        free = [match for match in self.joined if not match.pairs]
        several = len(free) > 1 or (bool(free) and captured is not None)
        self.free = free[0] if free and not several else None
        self.combined = tuple(free) if several else ()
        self.dataset = captured
        if captured is not None and several:
            self.dataset = TakenDataset(captured, lambda: self._place(MEMBER))
        self._block = block
        self._base = base
        self._is_stable = is_stable
        self._places: dict[str, Array] = {}
        self._members: dict[str, SortedIndex] = {}

    def size(self, context: Context) -> int:
        """The number of members, those included that only a deletion makes."""
        if self.dataset is not None:
            return self.dataset.count
        if self.combined:
            return len(self._place(self.combined[0].alias))
        return context(self.free.block.name).size if self.free else 1

    def of(self, lookup: Match, members: Array) -> Array:
        """The places of the tuples that members refer to through a lookup; -1: none."""
        if lookup is self.free:
            return members
        return beside(members, self._of_all(lookup)[positions_of(members)])

    def members(self, lookup: Match, tuples: Array) -> Array:
        """The places of the members that refer to some tuples through a lookup."""
        if lookup is self.free:
            return tuples
        if not len(tuples):
            return tuples
        if lookup.alias not in self._members:
            self._members[lookup.alias] = SortedIndex(self._of_all(lookup))
        rows, owners = self._members[lookup.alias].rows(positions_of(tuples))
        return beside(tuples[owners], rows)

    @property
    def combines_captured(self) -> bool:
        """True if members are captured ones combined with tuples that conditions alone join."""
        return bool(self.combined) and self.captured is not None

    @property
    def captured_alone(self) -> Array:
        """Boolean array: the members for which every tuple that they refer to is captured."""
        count = self.size(self._base)
        captured = np.ones(count, dtype=np.bool_)
        for lookup in self.joined:
            captured &= self.of(lookup, every(count)) >= 0
        return captured

    def _of_all(self, lookup: Match) -> Array:
        if lookup in self.combined:
            return self._place(lookup.alias)
        if lookup.alias not in self._places:
            assert self.dataset is not None
            inner = self._base(lookup.block.name)
            rows = every(inner.size)
            table = KeyTable([inner.take(its, rows) for _, its in lookup.pairs], inner.size)
            references = [self.dataset.column(left.name) for left, _ in lookup.pairs]
            self._places[lookup.alias] = table.find(references, self.dataset.count)
        return self._places[lookup.alias]

    # -- combinations ----------------------------------------------------------------------

    def places(self) -> dict[str, Array]:
        """Return, by alias, the row of every combination, or its captured member."""
        aliases = [lookup.alias for lookup in self.combined]
        aliases += [] if self.captured is None else [MEMBER]
        return {alias: self._place(alias) for alias in aliases}

    def set_places(self, places: Mapping[str, Array]) -> None:
        """Have the combinations of rows come in another order; before they are first asked for."""
        self._places.update(places)

    def _place(self, alias: str) -> Array:
        """Return the row of every combination under an alias, or its captured member."""
        if alias not in self._places:
            self._places.update(self._combinations())
        return self._places[alias]

    def _combinations(self) -> dict[str, Array]:
        """By alias, the rows of the blocks that are read, which may be members together, and the
        captured members that they are joined with.

        Combinations that differ in compared columns which no deletion changes are left out.
        """
        predicates, names = [], dict[str, dict[str, None]]()
        for written in self._block.conditions:
            compared, condition = comparison(written), interpret(written)
            if compared is not None and compared.op == "=" and self._is_stable(condition):
                predicates.append(written)
                for alias, name in condition.columns:
                    names.setdefault(alias, {})[name] = None
        sources = {}
        if self.captured is not None:
            captured = self.captured
            columns = {name: captured.column(name) for name in names.get(MEMBER, ())}
            sources[MEMBER] = pa.table({_PLACE: every(captured.count), **columns})
        for lookup in self.combined:
            inner = self._base(lookup.block.name)
            rows = every(inner.size)
            columns = {name: inner.take(name, rows) for name in names.get(lookup.alias, ())}
            sources[lookup.alias] = pa.table({_PLACE: rows, **columns})
        try:
            return joined_places(sources, predicates, _COMBINATIONS)
        except UninterpretableError as error:
            raise needs_spark(str(error)) from error

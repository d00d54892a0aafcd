"""The tuples of other blocks that members refer to, and the combinations that members are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.cores import joined_places
from lipstick.engines.memory.index import SortedIndex
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.places import beside, positions_of
from lipstick.engines.memory.state import Context, needs_spark
from lipstick.engines.memory.store import Dataset, TakenDataset, every
from rewriter.blocks import MEMBER, Block, Lookup
from rewriter.interpret import Interpreted, UninterpretableError, comparison, interpret
from semiring.base import Array

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
    lookups
        The lookups through which members refer to tuples; scalar subqueries are left out.
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
        self.lookups = tuple(lookup for lookup in block.lookups if not lookup.scalar)
        free = [lookup for lookup in self.lookups if not lookup.on]
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

    def of(self, lookup: Lookup, members: Array) -> Array:
        """The places of the tuples that members refer to through a lookup; -1: none."""
        if lookup is self.free:
            return members
        return beside(members, self._of_all(lookup)[positions_of(members)])

    def members(self, lookup: Lookup, tuples: Array) -> Array:
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
        for lookup in self.lookups:
            captured &= self.of(lookup, every(count)) >= 0
        return captured

    def _of_all(self, lookup: Lookup) -> Array:
        if lookup in self.combined:
            return self._place(lookup.alias)
        if lookup.alias not in self._places:
            assert self.dataset is not None
            inner = self._base(lookup.block.name)
            rows = every(inner.size)
            table = KeyTable([inner.take(its, rows) for _, its in lookup.on], inner.size)
            references = [self.dataset.column(name) for name, _ in lookup.on]
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

"""Blocks whose tuples are their members, one for one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.places import positions_of
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import (
    COPIES,
    SORT,
    Context,
    Rows,
    State,
    Supposed,
    Take,
    needs_spark,
    same,
    values,
)
from lipstick.engines.memory.store import Dataset
from rewriter.blocks import Block
from rewriter.interpret import Interpreted, UninterpretableError, interpret
from semiring.base import Array


class MemberRows(Rows):
    """The tuples of a block without grouping, at the positions of its members.

    Parameters
    ----------
    stored
        The captured rows; None where they are the members as they are stored.
    """

    def __init__(
        self, block: Block, stored: Dataset | None, members: Members, base: Context
    ) -> None:
        self.block = block
        self.members = members
        self._stored = stored
        self._base = base
        self.outputs = {name: interpret(key) for name, key in block.keys}
        self.outputs |= {output.name: interpret(output.scalar) for output in block.outputs}
        for number, key in enumerate(block.order):
            self.outputs[f"{SORT}{number}"] = interpret(key.scalar)
        for number, count in enumerate(block.copies):
            self.outputs[f"{COPIES}{number}"] = interpret(count)
        self._stable = {output.name for output in block.outputs if output.stable}

    @cached_property
    def base(self) -> State:
        """The captured tuples."""
        return State(self.block, self.members.count, self.base_present(), self._base_take)

    def base_present(self) -> Array:
        """The members that are there without deletion, before LIMIT."""
        alive = self.members.base_alive
        return np.ones(self.members.count, dtype=np.bool_) if alive is None else alive.copy()

    def type(self, name: str) -> pa.DataType | None:
        """The type of a captured column; None where it is not captured."""
        known = self._stored is not None and name in self._stored.names
        return self._stored.type(name) if self._stored is not None and known else None

    def _base_take(self, name: str, positions: Array) -> pa.Array:
        return self._take(name, positions, self._base)

    def _take(self, name: str, places: Array, context: Context) -> pa.Array:
        scalar = self.outputs[name]
        resolve = self.members.resolve(places, context)
        try:
            return values(scalar, resolve, len(places), self.type(name))
        except UninterpretableError as error:
            if self._stored is None or not self._unchanged(name, scalar, places, context):
                raise needs_spark(str(error)) from error
            return self._stored.take(name, self._stored_rows[positions_of(places)])

    def _unchanged(self, name: str, scalar: Interpreted, places: Array, context: Context) -> bool:
        """Return True if the stored values of an output hold at some places."""
        if not self.block.unique_identity or not self.members.was_alive(places).all():
            return False
        if context is self._base or name in self._stable:
            return True
        new, old = (self.members.resolve(places, at) for at in (context, self._base))
        length = len(places)
        return all(
            same(old(*column).to_arrow(length), new(*column).to_arrow(length)).all()
            for column in scalar.columns
        )

    @cached_property
    def _stored_rows(self) -> Array:
        """The captured row of every member that is there without deletion."""
        assert self._stored is not None
        return stored_rows(self._stored, self.block, self.base_present(), self._base_take)

    def evaluate(self, context: Context, deleted: Mapping[str, Deleted]) -> State:
        """See :class:`Rows`."""
        members = self.members
        gone = members.tokens.losing(deleted)
        suspects = members.suspects(context, gone, self._read())
        if not len(suspects):
            return self.base
        now = members.alive(suspects, context, gone)
        return self._supposed(context, suspects, members.was_alive(suspects), now)

    def _read(self) -> tuple[Interpreted, ...]:
        """The scalars whose values rows have."""
        return tuple(self.outputs.values())

    def _supposed(self, context: Context, suspects: Array, was: Array, now: Array) -> State:
        """The rows in scenarios, given which of the suspects were there and are there now."""
        flipped = suspects[was != now]
        changed = suspects if self.members.dependent(self.outputs.values()) else flipped
        return Supposed(
            self.base, self.members.size(context), self._plain(context), changed, flipped
        )

    def _plain(self, context: Context) -> Take:
        return lambda name, places: self._take(name, places, context)


def stored_rows(stored: Dataset, block: Block, present: Array, take: Take) -> Array:
    """The captured row of every position that is present without deletion; -1 elsewhere.

    ``present`` is before LIMIT: whose sort keys may have to be taken from the captured rows.
    """
    names = block.identity
    table = KeyTable([stored.column(name) for name in names], stored.count)
    rows = np.flatnonzero(present)
    captured = np.full(len(present), -1, dtype=np.int64)
    captured[rows] = table.find([take(name, rows) for name in names], len(rows))
    return captured

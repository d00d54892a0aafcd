"""Blocks whose tuples are their members, one for one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.members import Members
from lipstick.engines.memory.rows import Rows
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import COPIES, AskedValue, Context, State, Supposed, Take
from lipstick.engines.memory.store import Dataset
from rewriter.blocks import Block
from rewriter.interpret import Interpreted
from semiring.base import Array


class MemberRows(Rows):
    """The tuples of a block without grouping, at the positions of its members.

    Parameters
    ----------
    stored
        The captured rows; None where they are the members as they are stored.
    """

    def __init__(
        self, block: Block, stored: Dataset | None, members: Members, context: Context
    ) -> None:
        outputs = ((output.name, output.scalar) for output in block.outputs)
        copies = ((f"{COPIES}{number}", count) for number, count in enumerate(block.copies))
        super().__init__(block, stored, context, (*block.keys, *outputs, *copies))
        self.members = members

    def base_present(self) -> Array:
        """See :class:`Rows`."""
        alive = self.members.base_alive
        return np.ones(self.members.count, dtype=np.bool_) if alive is None else alive.copy()

    def _base_take(self, name: str, positions: Array) -> pa.Array:
        return self._take(name, positions, self.context)

    def _take(self, name: str, places: Array, context: Context) -> pa.Array:
        before = None if context is self.context else self.members.resolve(places, self.context)
        return self._output(name, places, self.members.resolve(places, context), before)

    def evaluate(
        self, context: Context, deleted: Mapping[str, Deleted], asked: AskedValue | None = None
    ) -> State:
        """See :class:`Rows`."""
        members = self.members
        gone = members.tokens.losing(deleted)
        suspects = members.suspects(context, gone, self._read(asked), self._needed(asked))
        if not len(suspects):
            return self.base
        now = members.alive(suspects, context, gone)
        return self._supposed(context, suspects, members.was_alive(suspects), now, asked)

    def _needed(self, asked: AskedValue | None) -> Array | None:
        """The positions whose values and presence decide what is asked for; None: all."""
        return None if asked is None else asked.positions

    def _read(self, asked: AskedValue | None) -> tuple[Interpreted, ...]:
        """The scalars whose values rows have, as far as they are asked for."""
        return tuple(s for name, s in self.outputs.items() if asked is None or name == asked.output)

    def _supposed(
        self, context: Context, suspects: Array, was: Array, now: Array, asked: AskedValue | None
    ) -> State:
        """The rows in scenarios, given which of the suspects were there and are there now."""
        del asked
        flipped = suspects[was != now]
        changed = suspects if self.members.dependent(self.outputs.values()) else flipped
        return Supposed(
            self.base, self.members.size(context), self._plain(context), changed, flipped
        )

    def _plain(self, context: Context) -> Take:
        return lambda name, places: self._take(name, places, context)

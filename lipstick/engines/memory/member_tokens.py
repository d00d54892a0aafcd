"""The tokens of the tuples that members were made from, and the members that lose one."""

from __future__ import annotations

from collections.abc import Mapping

from lipstick.engines.memory.index import TokenIndex
from lipstick.engines.memory.places import pack
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.store import Dataset
from rewriter.blocks import Block
from semiring.arrays.segments import union
from semiring.base import Array


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

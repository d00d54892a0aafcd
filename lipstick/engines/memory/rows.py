"""The captured rows of a block, and what becomes of them under a deletion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.places import positions_of
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import (
    SORT,
    AskedValue,
    Context,
    State,
    same,
    values,
    values_by_spark,
)
from lipstick.engines.memory.store import Dataset
from rewriter.algebra import Scalar
from rewriter.blocks import Block
from rewriter.interpret import Interpreted, Resolve, UninterpretableError, interpret
from semiring.base import Array


class Rows(ABC):
    """The rows of a block.

    Parameters
    ----------
    stored
        The captured rows; None where all of their columns are computed here.
    context
        The rows of other blocks without any deletion.
    computed
        The columns that are computed, beside sort keys.

    Attributes
    ----------
    outputs
        The columns that are computed, sort keys among them.
    """

    def __init__(
        self,
        block: Block,
        stored: Dataset | None,
        context: Context,
        computed: Iterable[tuple[str, Scalar]],
    ) -> None:
        self.block = block
        self.context = context
        self._stored = stored
        keys = ((f"{SORT}{number}", key.scalar) for number, key in enumerate(block.order))
        self.outputs = {name: interpret(scalar) for name, scalar in (*computed, *keys)}
        self._stable = {output.name for output in block.outputs if output.stable}

    # -- without deletion ------------------------------------------------------------------

    @cached_property
    def base(self) -> State:
        """The rows without any deletion."""
        present = self.base_present()
        return State(self.block, len(present), present, self._base_take)

    @abstractmethod
    def base_present(self) -> Array:
        """Boolean array: the tuples that are there without deletion, before LIMIT."""

    @abstractmethod
    def _base_take(self, name: str, positions: Array) -> pa.Array:
        """A column without deletion."""

    def type(self, name: str) -> pa.DataType | None:
        """The type of a captured column; None where it is not captured."""
        known = self._stored is not None and name in self._stored.names
        return self._stored.type(name) if self._stored is not None and known else None

    def check(self) -> None:
        """Compute every column of the rows without any deletion, also of rows that LIMIT cuts.

        Raises
        ------
        CaptureError
            When that needs Spark, or fails.
        """
        for name in self.outputs:
            self.base.take(name, self.base.sequence)

    # -- with a deletion -------------------------------------------------------------------

    @abstractmethod
    def evaluate(
        self, context: Context, deleted: Mapping[str, Deleted], asked: AskedValue | None = None
    ) -> State:
        """Return the rows in scenarios that delete tuples.

        Parameters
        ----------
        context
            The other blocks.
        asked
            The one value that is asked for: others need not be evaluated; None: all are.

        Raises
        ------
        CaptureError
            When an expression must be evaluated that only Spark can.
        """

    # -- outputs ---------------------------------------------------------------------------

    def _output(
        self, name: str, places: Array, resolve: Resolve, before: Resolve | None
    ) -> pa.Array:
        """The values of an output at some places.

        Parameters
        ----------
        resolve
            The columns that it reads.
        before
            These columns without deletion; None: they are the same.

        Raises
        ------
        NeedsSparkError
            When only Spark can compute it, and something that it reads is not as it was.
        """
        scalar, length = self.outputs[name], len(places)
        try:
            return values(scalar, resolve, length, self.type(name))
        except UninterpretableError as error:
            rows = self._captured(positions_of(places))
            if rows is None or not (
                name in self._stable or _unchanged(scalar, before, resolve, length)
            ):
                return values_by_spark(scalar, resolve, length, self.type(name), error)
            assert self._stored is not None
            return self._stored.take(name, rows)

    def _captured(self, positions: Array) -> Array | None:
        """The captured rows of tuples; None where some have none."""
        if self._stored is None or not self.block.unique_identity:
            return None
        if positions.max(initial=-1) >= len(self._captured_rows):
            return None
        rows: Array = self._captured_rows[positions]
        return rows if (rows >= 0).all() else None

    @cached_property
    def _captured_rows(self) -> Array:
        """The captured row of every tuple that is there without deletion, before LIMIT; else -1.

        It is not asked for `base`, whose sort keys may have to be taken from the captured rows.
        """
        assert self._stored is not None
        present, names = self.base_present(), self.block.identity
        table = KeyTable([self._stored.column(name) for name in names], self._stored.count)
        rows = np.flatnonzero(present)
        captured = np.full(len(present), -1, dtype=np.int64)
        captured[rows] = table.find([self._base_take(name, rows) for name in names], len(rows))
        return captured


def _unchanged(scalar: Interpreted, old: Resolve | None, new: Resolve, length: int) -> bool:
    """Return True if the columns that a scalar reads have the same values; `old` as `before`."""
    if old is None:
        return True
    try:
        pairs = ((old(*c).to_arrow(length), new(*c).to_arrow(length)) for c in scalar.columns)
        return all(same(*pair).all() for pair in pairs)
    except UninterpretableError:  # branches of a union have no common type here
        return False

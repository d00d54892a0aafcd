"""The in-memory engine: questions answered from a capture directory without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from lipstick.capture.manifest import Manifest
from lipstick.memory.engine import Engine
from lipstick.memory.whatif import MemoryWhatIf

__all__ = ["Memory", "MemoryWhatIf"]


class Memory:
    """A capture, held in memory as far as questions need it.

    Datasets are read column by column and indexed when a question first needs them; what is read
    stays.

    Parameters
    ----------
    directory
        The capture.
    manifest
        Its manifest.
    """

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self._engine = Engine(directory, manifest)

    def answer(self) -> pa.Table:
        """The answer, as captured."""
        return self._answer

    @cached_property
    def _answer(self) -> pa.Table:
        engine = self._engine
        return engine.table(engine.base(engine.root.name))

    def what_if(self, deleted: Mapping[str, pa.Table]) -> MemoryWhatIf:
        """The answer without some input tuples, from the captured annotations.

        Parameters
        ----------
        deleted
            Per relation the tokens of the deleted tuples, under the names of its token columns.

        Raises
        ------
        CaptureError
            For relations that the query does not read, for values captured by reference, and
            where an expression must be evaluated that only Spark can.

        Cost: after the first call, O(d log n) for d deleted tuples among n members, and what the
        groups they belong to take; MIN and MAX pass over the members of a group that loses its
        extreme, sums of floats and DISTINCT over those of every touched group.
        """
        return MemoryWhatIf(self._engine, self._engine.evaluate(deleted))

"""Ranges of an ordered view of input tuples that outputs were made of, with probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lipstick.systems.scripts.errors import ScriptError
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Score:
    """The agreement of inferred sets with recorded ones.

    Attributes
    ----------
    exact
        The share of outputs whose sets are equal.
    precision, recall
        Of pairs of an output and an input.
    claimed
        The mean of the probabilities of being exact that the answers carry.
    """

    exact: float
    precision: float
    recall: float
    claimed: float


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Of every output the inputs from `starts` to `stops`, as places in the input view.

    Parameters
    ----------
    starts, stops
        int64, per output; stops are excluded.
    probabilities
        float64: that a range is right. 1 where it was recorded.
    inferred
        Whether the ranges are inferred; otherwise they were recorded, or follow by counting.
    """

    starts: Array
    stops: Array
    probabilities: Array
    inferred: bool = True

    @classmethod
    def recorded(cls, starts: Array, stops: Array) -> Ranges:
        """Explicit provenance: recorded when the outputs were made."""
        return cls(starts, stops, np.ones(len(starts)), inferred=False)

    def __len__(self) -> int:
        return len(self.starts)

    def of(self, output: int) -> tuple[Array, float]:
        """The inputs of one output, and the probability that these are all and the only ones."""
        places = np.arange(self.starts[output], self.stops[output], dtype=np.int64)
        return places, float(self.probabilities[output])

    def score(self, truth: Ranges) -> Score:
        """Compare with recorded provenance.

        Raises
        ------
        ScriptError
            Another number of outputs.
        """
        if len(self) != len(truth):
            raise ScriptError(f"{len(self):,} outputs were inferred, and {len(truth):,} recorded.")
        sizes, true = self.stops - self.starts, truth.stops - truth.starts
        low, high = np.maximum(self.starts, truth.starts), np.minimum(self.stops, truth.stops)
        shared = np.clip(high - low, 0, None)
        empty = (sizes == 0) & (true == 0)
        exact = ((self.starts == truth.starts) & (self.stops == truth.stops)) | empty
        return Score(
            float(exact.mean()),
            float(shared.sum() / max(sizes.sum(), 1)),
            float(shared.sum() / max(true.sum(), 1)),
            float(self.probabilities.mean()),
        )

    def write(self, path: str | Path, *, pairs: bool = False) -> None:
        """Write as Parquet: a row per output, or, as explicit provenance has it, per pair.

        Parameters
        ----------
        pairs
            Columns ``output`` and ``input`` instead of ``start``, ``stop`` and ``probability``.
        """
        if pairs:
            sizes = self.stops - self.starts
            outputs = np.repeat(np.arange(len(self)), sizes)
            first = np.repeat(self.starts - np.cumsum(sizes) + sizes, sizes)
            table = pa.table({"output": outputs, "input": first + np.arange(len(outputs))})
        else:
            table = pa.table(
                {
                    "start": self.starts,
                    "stop": self.stops,
                    "probability": self.probabilities,
                    "inferred": np.full(len(self), self.inferred),
                }
            )
        pq.write_table(table, path)

    @classmethod
    def read(cls, path: str | Path) -> Ranges:
        """Read what `write` has written, a row per output."""
        table = pq.read_table(path)
        starts, stops, probabilities, inferred = (
            table[name].to_numpy() for name in ("start", "stop", "probability", "inferred")
        )
        return cls(starts, stops, probabilities, bool(inferred.any()))

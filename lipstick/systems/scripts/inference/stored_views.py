"""The inputs of single outputs from views as they are stored: only what a window needs is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.inference.element import ProcessingElement
from lipstick.systems.scripts.inference.infer import one_step, posterior
from lipstick.systems.scripts.inference.timed_views import SEQUENCE, TIME, View
from semiring.base import Array


@dataclass(frozen=True, slots=True, eq=False)
class InferredInputs:
    """The inputs of one output.

    Attributes
    ----------
    sequences
        Of the input tuples, in the order of their times.
    times
        int64: their transaction times.
    probability
        That these are all of its inputs and no others.
    """

    sequences: Array
    times: Array
    probability: float


@dataclass(slots=True)
class StoredView:
    """A view in Parquet: a file or folder of files, whose row groups it reads as needed.

    What a question costs is the row groups that its window touches: one or two where the rows lie
    in the order of time. Groups of up to a million rows take some milliseconds.

    Parameters
    ----------
    path
        Of the file or folder.
    time, sequence
        The columns with the transaction time, in whole numbers, and the sequence.

    Raises
    ------
    ScriptError
        No Parquet file, or a column that there is not.
    """

    path: Path
    time: str = TIME
    sequence: str = SEQUENCE
    _files: list[pq.ParquetFile] = field(default_factory=list)
    _groups: list[tuple[int, int]] = field(default_factory=list)
    _lows: Array = field(default_factory=lambda: np.empty(0))
    _highs: Array = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        path = Path(self.path)
        files = [path] if path.is_file() else sorted(path.glob("[!_.]*.parquet"))
        if not files:
            raise ScriptError(f"{path} has no Parquet file.\nGive the folder of a view.")
        bounds: list[tuple[float, float]] = []
        for number, file in enumerate(files):
            opened = pq.ParquetFile(file)
            names = opened.schema_arrow.names
            for name in (self.time, self.sequence):
                if name not in names:
                    raise ScriptError(
                        f"The view has no column {name!r}; it has {', '.join(names)}.\n"
                        "Say which columns have the transaction time and the sequence."
                    )
            self._files.append(opened)
            column = names.index(self.time)
            for group in range(opened.metadata.num_row_groups):
                statistics = opened.metadata.row_group(group).column(column).statistics
                known = statistics is not None and statistics.has_min_max
                bounds.append((statistics.min, statistics.max) if known else (-np.inf, np.inf))
                self._groups.append((number, group))
        self._lows, self._highs = np.array(bounds).reshape(-1, 2).T

    def between(self, lower: int, upper: int) -> tuple[Array, Array]:
        """The times and sequences of the tuples from one time to before another, in their order."""
        chosen = np.flatnonzero((self._lows < upper) & (self._highs >= lower))
        times: list[Array] = [np.empty(0, dtype=np.int64)]
        sequences: list[Array] = [np.empty(0, dtype=np.int64)]
        for index in chosen:
            number, group = self._groups[index]
            columns = [self.time, self.sequence]
            table = self._files[number].read_row_group(group, columns, use_threads=False)
            at = table[self.time].to_numpy()
            inside = np.flatnonzero((at >= lower) & (at < upper))
            times.append(at[inside].astype(np.int64))
            sequences.append(table[self.sequence].take(inside).to_numpy())
        instants, numbers = np.concatenate(times), np.concatenate(sequences)
        order = np.lexsort((numbers, instants))
        return instants[order], numbers[order]


def infer_output(element: ProcessingElement, inputs: StoredView, time: int) -> InferredInputs:
    """The most probable inputs of one output, by :func:`posterior` inference without Spark.

    Parameters
    ----------
    time
        The transaction time of the output.

    Raises
    ------
    ScriptError
        A window or trigger by tuples, which follow by counting.
    """
    if element.window_by != "time" or element.trigger_by != "time":
        raise ScriptError(
            "Windows and triggers by tuples follow by counting.\nRead the views whole, and use"
            " by_sequence."
        )
    hypotheses = one_step(element)
    lower = time - max(each.lower for each in hypotheses)
    upper = time - min(each.upper for each in hypotheses)
    times, sequences = inputs.between(lower, upper)
    ranges = posterior(element, View(times), View(np.array([time])))
    places, probability = ranges.of(0)
    return InferredInputs(sequences[places], times[places], probability)

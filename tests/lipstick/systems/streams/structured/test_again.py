"""Batches that Spark runs again: the last one is passed over, others are refused."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.delays import Fixed
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.stored import Stored
from lipstick.systems.streams.structured.batch_rows import SOURCE, column_of
from lipstick.systems.streams.structured.job import RunningGraph
from lipstick.systems.streams.structured.joint_source import InProcess


class _Batch(DataFrame):
    """A batch as Structured Streaming hands it over."""

    table: pa.Table

    def toArrow(self) -> pa.Table:  # noqa: N802 - PySpark's name
        return self.table


def _frame(ts: int) -> Any:
    rows = pa.table({"ts": [ts]}).to_struct_array()
    table = pa.table({SOURCE: [0], column_of(0): rows})
    frame: Any = object.__new__(_Batch)
    frame.table = table
    return frame


@contextmanager
def _running(folder: Path) -> Iterator[Callable[[int, int], None]]:
    """A graph whose batches are given by hand: the number, and the time of the one event."""
    graph = Graph("q")
    graph.source("s", time="ts").length_window(2, name="w")
    with Assertions(folder / "store") as recorder:
        work = InProcess(graph, recorder, (), Fixed(), {})
        running = RunningGraph("q", recorder, work, _frame(0), str(folder / "checkpoint"))
        running._query = SimpleNamespace(id="a checkpoint")  # type: ignore[assignment]

        def batch(number: int, ts: int) -> None:
            offsets = folder / "checkpoint" / "offsets"
            offsets.mkdir(parents=True, exist_ok=True)
            (offsets / str(number)).write_text(f"v1\n{ts}")
            running._batch(_frame(ts), number)

        yield batch


def test_the_last_batch_comes_again_after_a_restart(tmp_path: Path) -> None:
    with _running(tmp_path) as batch:
        batch(0, 5)
        batch(1, 6)
    with _running(tmp_path) as batch:
        batch(1, 6)
        batch(2, 7)
    assert Stored(tmp_path / "store").whole("s").t.tolist() == [5, 6, 7]


def test_other_batches_that_come_again_are_refused(tmp_path: Path) -> None:
    """As when the checkpoint was restored from before, or lost what it had of the last batch."""
    with _running(tmp_path) as batch:
        batch(0, 5)
        batch(1, 6)
    with _running(tmp_path) as batch, pytest.raises(StreamError, match="Batch 0 of q comes again"):
        batch(0, 5)
    with _running(tmp_path) as batch, pytest.raises(StreamError, match="or has other input"):
        batch(1, 8)
    with _running(tmp_path) as batch, pytest.raises(StreamError, match="is at batch 3 of q"):
        batch(3, 8)
    assert Stored(tmp_path / "store").whole("s").t.tolist() == [5, 6]

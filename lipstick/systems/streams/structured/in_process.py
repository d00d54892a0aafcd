"""Micro-batches run by one process: for graphs that have streams without a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.delays import Delays
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.properties import Property
from lipstick.systems.streams.structured.batch_rows import by_source, result_table

Result = Callable[[pa.Table], object]


class InProcess:
    """Runs every micro-batch in this process, whose memory has the state between them."""

    def __init__(
        self,
        graph: Graph,
        recorder: Assertions,
        properties: Sequence[Property],
        delays: Delays,
        results: Mapping[str, Result],
    ) -> None:
        self._graph = graph
        self._runner = Runner(graph, delays=delays, properties=properties, recorders=[recorder])
        for sid, function in results.items():
            self._runner.subscribe(sid, self._as_batches(function))

    @property
    def following(self) -> int:
        """The number of the next batch."""
        return self._runner.number

    def take(self, frame: DataFrame) -> None:
        """Run a micro-batch, and record it."""
        self._runner.push(by_source(frame.toArrow(), self._graph.sources))

    def finish(self, empty: DataFrame) -> None:
        """End the input."""
        self._runner.close()

    def _as_batches(self, function: Result) -> Callable[[Batch], None]:
        def give(batch: Batch) -> None:
            function(result_table(batch, self._runner.codes))

        return give

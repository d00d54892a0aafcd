"""Micro-batches run by workers that each have some of the keys and their state."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame

import lipstick.systems.errors
import lipstick.systems.streams
import semiring
from graphquery.store import Transaction
from graphquery.store.streams import BatchPart
from lipstick.systems.errors import StreamError
from lipstick.systems.streams.delays import Delays
from lipstick.systems.streams.engine import TICK
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.properties import Property
from lipstick.systems.streams.recorded_query import RecordedQuery
from lipstick.systems.streams.recording import added
from lipstick.systems.streams.source import Disorder
from lipstick.systems.streams.structured.joint_source import Result, divided
from lipstick.systems.streams.structured.on_workers import REPLY, Work

for _module in (semiring, lipstick.systems.errors, lipstick.systems.streams, sys.modules[__name__]):
    cloudpickle.register_pickle_by_value(_module)  # type: ignore[no-untyped-call]


class Partitioned:
    """Runs every micro-batch on workers, each over the keys of one partition.

    The state of a partition is a file of the store, which the commit of a batch replaces: state and
    assertions always belong to the same batch.

    Parameters
    ----------
    slots
        For each partition, a number that Spark's hash sends there; see `slots_of`.
    """

    def __init__(
        self,
        graph: Graph,
        recorder: RecordedQuery,
        slots: Sequence[int],
        properties: Sequence[Property],
        delays: Delays,
        results: Mapping[str, Result],
    ) -> None:
        self._graph = graph
        self._recorder = recorder
        self._properties = tuple(properties)
        self._delays = delays
        self._results = dict(results)
        self._slots = slots
        self._states: list[str] = []
        self._frontiers: dict[str, int] = {}
        self.following = 0
        state = recorder.register(graph, len(slots))
        if state is not None:
            self.following = state["next"]
            self._frontiers = state["frontiers"]
            self._states = [str(path) for path in recorder.paths(state["files"])]

    def take(self, frame: DataFrame) -> None:
        """Run a micro-batch, and record it."""
        self._run(frame, final=False)

    def finish(self, empty: DataFrame) -> None:
        """End the input, by a batch without rows."""
        self._run(empty, final=True)

    def replies(self, frame: DataFrame, work: Work) -> list[tuple[str, list[bytes]]]:
        """Run workers on the rows of a batch, and return their replies."""
        rows = divided(frame, self._slots).mapInArrow(work, REPLY).collect()
        return [(row["document"], row["results"]) for row in rows]

    def _run(self, frame: DataFrame, *, final: bool) -> None:
        with self._recorder.transaction() as transaction:
            work = self._work(str(transaction.folder.absolute()), final=final)
            replies = [(json.loads(text), results) for text, results in self.replies(frame, work)]
            for document, _ in replies:
                if "error" in document:
                    raise StreamError(document["error"])
            replies.sort(key=lambda reply: reply[0]["partition"])
            self._check(replies)
            documents = [document for document, _ in replies]
            states, frontiers = self._append(transaction, documents, final=final)
        self._states = states
        self._frontiers = frontiers
        self.following += 1
        self._give([results for _, results in replies])

    def _work(self, folder: str, *, final: bool) -> Work:
        content = filter(self._recorder.keeps_content, self._graph.recorded)
        return Work(
            self._graph,
            self._properties,
            self._delays,
            frozenset(content),
            tuple(self._results),
            self.following,
            final,
            folder,
            self._states,
            self._frontiers,
            time.time_ns() // TICK,
            self._recorder.block,
        )

    def _check(self, replies: Sequence[tuple[dict[str, Any], Any]]) -> None:
        numbers = [document["partition"] for document, _ in replies]
        if numbers != list(range(len(self._slots))):
            raise StreamError(
                f"Batch {self.following} of {self._graph.name} was run for partitions {numbers}, "
                f"not for each of {len(self._slots)} once: nothing of it was stored."
            )

    def _append(
        self, transaction: Transaction, documents: Sequence[dict[str, Any]], *, final: bool
    ) -> tuple[list[str], dict[str, int]]:
        """Store the workers' output, and return the state files and the frontiers after it."""
        names: dict[str, str] = {}

        def stored(path: str) -> str:
            if path not in names:
                names[path] = transaction.add_rows_of(path)
            return names[path]

        parts = []
        disorder: dict[str, Disorder] = {}
        frontiers = dict(self._frontiers)
        states = []
        for document in documents:
            states.append(transaction.add_file(document["state"]))
            for stream in document["streams"]:
                stream |= {"file": stored(stream["file"])}
                if "content" in stream:
                    stream |= {"content": stored(stream["content"])}
                parts += list(_parts(stream, document["partition"]))
            counts = {sid: Disorder(**each) for sid, each in document["disorder"].items()}
            disorder = added(disorder, counts)
            for sid, frontier in document["frontiers"].items():
                frontiers[sid] = max(frontiers.get(sid, frontier), frontier)
        state = {"files": states, "frontiers": frontiers, "ended": final}
        self._recorder.append(transaction, self.following, parts, disorder, state)
        return [str(Path(self._recorder.path, name).absolute()) for name in states], frontiers

    def _give(self, results: Sequence[Sequence[bytes]]) -> None:
        for index, function in enumerate(self._results.values()):
            tables = [pa.ipc.open_stream(each[index]).read_all() for each in results]
            filled = [table for table in tables if len(table)]
            if filled:
                function(pa.concat_tables(filled, promote_options="default"))


def _parts(stream: dict[str, Any], partition: int) -> list[BatchPart]:
    """Return the parts of a stream that a worker wrote."""
    shared = {name: value for name, value in stream.items() if name != "blocks"}
    result = []
    for block in stream["blocks"]:
        start = block.pop("start")
        places = {"offset": stream["offset"] + start}
        if "content" in stream:
            places |= {"content_offset": stream["content_offset"] + start}
        result.append(BatchPart(**(shared | places | block | {"partition": partition})))
    return result

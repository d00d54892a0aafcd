"""What drivers and workers do with micro-batches, without Spark: random graphs, by the oracle."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphquery.store import fsck
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.recorded_query import RecordedQuery
from lipstick.systems.streams.stored import Stored
from lipstick.systems.streams.structured.batch_rows import (
    ARRIVAL,
    PARTITION,
    SLOT,
    SOURCE,
    column_of,
)
from lipstick.systems.streams.structured.joint_source import InProcess
from lipstick.systems.streams.structured.on_workers import Work
from lipstick.systems.streams.structured.partitioned import Partitioned
from tests.lipstick.systems.streams import oracle
from tests.lipstick.systems.streams.compared import check_questions, same_events
from tests.lipstick.systems.streams.fed import delay_by_time, given_by_time, specs_of
from tests.lipstick.systems.streams.generated import SCHEMA, graph_of, random_inputs

BATCHES = 6


class Local(Partitioned):
    """Has the work done here, on tables by source in the place of a frame."""

    def replies(self, frame: Any, work: Work) -> list[tuple[str, list[bytes]]]:
        documents = []
        for partition in range(len(self._slots)):
            table = _rows(frame, partition, len(self._slots))
            for batch in work(iter(table.to_batches(max_chunksize=7))):
                (row,) = batch.to_pylist()
                documents.append((row["document"], row["results"]))
        return documents[::-1]


def _rows(frame: Mapping[str, pa.Table], partition: int, partitions: int) -> pa.Table:
    """The rows of a partition in any order, as Spark gives them to a worker."""
    parts = [pa.table({SOURCE: [-1], PARTITION: [partition], ARRIVAL: [1 << 40], SLOT: [0]})]
    arrived = 0
    for number, table in enumerate(frame.values()):
        chosen = table.column("k").to_numpy() % partitions == partition
        count = int(chosen.sum())
        arrival = arrived + np.flatnonzero(chosen)
        arrived += len(table)
        rows = pa.table(
            {
                SOURCE: np.full(count, number),
                PARTITION: np.full(count, partition),
                ARRIVAL: arrival,
                SLOT: np.zeros(count, dtype=np.int64),
                column_of(number): table.filter(pa.array(chosen)).to_struct_array(),
            }
        )
        parts.append(rows)
    whole = pa.concat_tables(parts, promote_options="default")
    order = np.random.default_rng(arrived).permutation(len(whole))
    return whole.take(pa.array(order)).combine_chunks()


@pytest.mark.parametrize("first", range(500, 506, 3))
def test_random_graphs_whose_keys_are_divided(first: int, tmp_path: Path) -> None:
    """Also where the work is begun anew between batches, and is of other streams' disorder."""
    for seed in range(first, first + 3):
        rng = np.random.default_rng(seed)
        specs = specs_of(rng, keyed=True)
        inputs = random_inputs(specs, rng, BATCHES, 40)
        expected_events = oracle.run(specs, inputs, delay_by_time(seed))
        store = tmp_path / str(seed)
        for start in (0, 3):
            with RecordedQuery(store, full=bool(seed % 2), block=1 + seed % 9) as recorder:
                slots = [0] * (2 + seed % 2)
                graph, delays = graph_of(specs), given_by_time(seed)
                work = Local(graph, recorder, slots, (), delays, {})
                assert work.following == start
                for number in range(start, start + 3):
                    work.take(_batch(inputs, number))
                if start:
                    work.finish(_batch(inputs, None))
        recording = Stored(store)
        for spec in specs:
            same_events(seed, spec, recording, expected_events[spec.sid])
            assert len(recording.whole(spec.sid)) == len(expected_events[spec.sid])
        check_questions(seed, specs, recording, expected_events, rng)
        assert fsck(store) == []


class Frame:
    """A micro-batch of all sources, as `one_frame` has it, in the place of Spark's."""

    def __init__(self, rows: Mapping[str, pa.Table]) -> None:
        self._rows = rows

    def toArrow(self) -> pa.Table:  # noqa: N802 - the name that Spark has
        """The rows of every source after those of the one before."""
        parts = [
            pa.table({SOURCE: np.full(len(table), i), column_of(i): table.to_struct_array()})
            for i, table in enumerate(self._rows.values())
        ]
        return pa.concat_tables(parts, promote_options="default")


@pytest.mark.parametrize("first", range(700, 706, 3))
def test_random_graphs_in_one_process(first: int, tmp_path: Path) -> None:
    """As a driver runs them, begun anew between batches."""
    for seed in range(first, first + 3):
        rng = np.random.default_rng(seed)
        specs = specs_of(rng, keyed=False)
        inputs = random_inputs(specs, rng, BATCHES, 40)
        expected_events = oracle.run(specs, inputs, delay_by_time(seed))
        store = tmp_path / str(seed)
        for start in (0, 3):
            with Assertions(store, block=1 + seed % 9) as recorder:
                work = InProcess(graph_of(specs), recorder, (), given_by_time(seed), {})
                assert work.following == start
                for number in range(start, start + 3):
                    frame: Any = Frame(_batch(inputs, number))
                    work.take(frame)
                if start:
                    work.finish(frame)
        recording = Stored(store)
        for spec in specs:
            same_events(seed, spec, recording, expected_events[spec.sid])
        check_questions(seed, specs, recording, expected_events, rng)


def _batch(inputs: Mapping[str, Any], number: int | None) -> Any:
    return {
        sid: pa.Table.from_pylist([] if number is None else batches[number], SCHEMA)
        for sid, batches in inputs.items()
    }

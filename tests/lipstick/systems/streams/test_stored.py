"""Recordings in stores: restarted, compacted, asked, and held against the oracle."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphquery.store import Store, fsck
from graphquery.store.snapshot import Snapshot
from lipstick.systems.errors import StreamError
from lipstick.systems.streams.ancestors import ancestors
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.descendants import descendants
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.events import Events
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.stored import Stored
from semiring.errors import LipstickError
from semiring.support.document import read_json
from tests.lipstick.systems.streams import oracle
from tests.lipstick.systems.streams.compared import check_questions, same_events
from tests.lipstick.systems.streams.generated import (
    SCHEMA,
    delays_of,
    graph_of,
    random_inputs,
    random_specs,
)
from tests.mutated_documents import mutated

BATCHES = 6


@pytest.mark.parametrize("seed", range(100, 110))
def test_random_graphs_restarted_after_every_other_batch(seed: int, tmp_path: Path) -> None:
    """Events, and answers from the store, are the oracle's; also after a compaction."""
    rng = np.random.default_rng(seed)
    specs = random_specs(rng)
    inputs = random_inputs(specs, rng, BATCHES, 40)
    expected = oracle.run(specs, inputs, oracle.random_delay(seed, 7))
    tables = {
        sid: [pa.Table.from_pylist(rows, SCHEMA) for rows in batches]
        for sid, batches in inputs.items()
    }
    full = bool(seed % 2)
    block = 7 if seed % 3 else 1 << 15
    for start in range(0, BATCHES, 2):
        with Assertions(tmp_path / "store", full=full, block=block) as recorder:
            runner = Runner(graph_of(specs), recorders=[recorder])
            runner._delays = delays_of(seed, runner.codes)
            assert runner.number == start
            for number in (start, start + 1):
                batch = {sid: given[number] for sid, given in tables.items()}
                runner.push(batch, final=number == BATCHES - 1)
    for compacted in (False, True):
        if compacted:
            with Store.open(tmp_path / "store").writer() as writer:
                writer.compact()
        recording = Stored(tmp_path / "store")
        assert recording.graph.topology() == graph_of(specs).topology()
        for spec in specs:
            same_events(seed, spec, recording, expected[spec.sid])
        check_questions(seed, specs, recording, expected, np.random.default_rng(seed))
    assert fsck(tmp_path / "store") == []


def _graph(width: int = 5, name: str = "q") -> Graph:
    graph = Graph(name)
    source = graph.source("s", time="ts")
    source.time_window(width, name="w").aggregate({"v": ("sum", "v")}, name="a")
    return graph


def _record(path: Path, graph: Graph, *batches: list[int], final: bool = False) -> None:
    with Assertions(path) as recorder:
        runner = Runner(graph, recorders=[recorder])
        for times in batches:
            runner.push({"s": pa.table({"ts": times, "v": times})})
        if final:
            runner.close()


def test_intermediate_streams_have_keys_alone(tmp_path: Path) -> None:
    _record(tmp_path / "st", _graph(), [1, 3, 5], [9, 11])
    recording = Stored(tmp_path / "st", "q")
    assert ancestors(recording, Events("a", 3)).content("s").column("v").to_pylist() == [1, 3, 5]
    assert ancestors(recording, Events("a", t=(9, 11))).numbers("s") == [3, 4, 5]
    with pytest.raises(StreamError, match="content of stream a was not recorded"):
        recording.content("a", recording.whole("a"))


def test_errors_come_before_anything_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "st"
    with pytest.raises(StreamError, match="not open"):
        Runner(_graph(), recorders=[Assertions(tmp_path / "other")])
    _record(path, _graph(), [1], final=True)
    with pytest.raises(StreamError, match="has ended"):
        _record(path, _graph(), [2])
    with pytest.raises(StreamError, match="another query 'q'"):
        _record(path, _graph(width=6), [2])
    _record(path, _graph(name="r"), [2])
    with pytest.raises(StreamError, match="has the queries q, r"):
        Stored(path)
    with pytest.raises(StreamError, match="none that is called 'x'"):
        Stored(path, "x")
    mapped = Graph("m")
    mapped.source("s", time="ts").map(lambda table: table, name="f")
    _record(path, mapped, [1])
    runner = Runner(Stored(path, "m").graph)
    with pytest.raises(StreamError, match="not in the store, which keeps the names"):
        runner.push({"s": pa.table({"ts": [1]})})


def test_a_question_reads_blocks_not_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a batch of 2,000 events, a few blocks of 64 are read, in either direction."""
    graph = _graph()
    with Assertions(tmp_path / "st", block=64) as recorder:
        runner = Runner(graph, recorders=[recorder])
        times = list(range(0, 4_000, 2))
        runner.push({"s": pa.table({"ts": times, "v": times})})
    rows: list[int] = []
    read = Snapshot.read

    def counted(self: Snapshot, *given: Any) -> pa.Table:
        table = read(self, *given)
        rows.append(len(table))
        return table

    monkeypatch.setattr(Snapshot, "read", counted)
    assert ancestors(Stored(tmp_path / "st"), Events("a", 1000)).numbers("s") == [998, 999, 1000]
    assert descendants(Stored(tmp_path / "st"), Events("s", 998)).numbers("a") == [998, 999, 1000]
    assert max(rows) <= 64
    assert sum(rows) <= 12 * 64


def test_mutated_records(tmp_path: Path) -> None:
    """Each field deleted, of each wrong type, deep, huge or there twice."""
    _record(tmp_path / "st", _graph(), [1, 3, 5], [9, 11], final=True)
    snapshot = Store.open(tmp_path / "st").snapshot()
    whole, refused, count = dict(snapshot.records), 0, 0
    for name, document in whole.items():
        for what, changed in mutated(document, every=2):
            count += 1
            try:
                read = read_json(json.dumps(changed))  # as commits are read
            except ValueError:
                refused += 1
                continue
            try:
                stored = Stored(replace(snapshot, records={**whole, name: read}), "q")
                stored.content("s", stored.whole("s"))
                stored.states()
            except LipstickError:
                refused += 1
            except Exception as error:
                raise AssertionError(f"{name} {what}: {error!r}") from error
    assert refused > count / 2 > 50

"""Events of streams cross into other stores, where they come from what the oracle says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from graphquery.errors import FederationError
from graphquery.federation import Offer, import_rows
from graphquery.model import Kind, Segment
from graphquery.store import Store, fsck
from lipstick.systems.errors import StreamError
from lipstick.systems.streams import Assertions, Graph, Runner
from lipstick.systems.streams.exports import export_stream
from semiring.semirings import Counting
from tests.graphquery.federation.oracle import check_question, federation_of
from tests.lipstick.systems.streams import oracle
from tests.lipstick.systems.streams.generated import (
    SCHEMA,
    delays_of,
    graph_of,
    random_inputs,
    random_specs,
)

BATCHES = 6


def imported(store: Path, folder: Path, name: str) -> list[str]:
    """Import a dataset into a store; the names of its rows there."""
    rows = pq.read_table(folder / "part-00000.parquet")
    with Store.open(store).writer() as writer, writer.transaction() as transaction:
        offer = Offer.read(folder)
        segment = Segment(name, Kind.TOKEN, "", len(rows))
        import_rows(transaction, offer, segment)
        transaction.commit()
    return (
        [f"other::{name}[{row}]" for row in range(len(rows))]
        if len(rows) > 1
        else [f"other::{name}"]
    )


@pytest.mark.parametrize(
    "seed", [502, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(503, 530))]
)
def test_events_that_crossed_come_from_what_the_oracle_names(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    specs = random_specs(rng)
    inputs = random_inputs(specs, rng, BATCHES, 20)
    oracle_events = oracle.run(specs, inputs, oracle.random_delay(seed, 7))
    tables = {
        sid: [pa.Table.from_pylist(rows, SCHEMA) for rows in batches]
        for sid, batches in inputs.items()
    }
    store, other = tmp_path / "store", Store.create(tmp_path / "other").path
    derived = [spec.sid for spec in specs if spec.kind != "source" and oracle_events[spec.sid]]
    nodes: dict[str, list[str]] = {sid: [] for sid in derived}
    names: dict[str, list[tuple[object, int]]] = {sid: [] for sid in derived}
    for number in range(BATCHES):
        with Assertions(store) as recorder:
            runner = Runner(graph_of(specs), recorders=[recorder])
            runner._delays = delays_of(seed, runner.codes)
            batch = {sid: given[number] for sid, given in tables.items()}
            runner.push(batch, final=number == BATCHES - 1)
        if number % 2 == 0 and number < BATCHES - 2:
            continue
        for sid in rng.permutation(derived).tolist():
            folder = tmp_path / f"{sid}.{number}"
            try:
                export_stream(store, sid, sid, str(number), folder)
            except StreamError as error:
                assert "has no events that were not exported" in str(error)  # noqa: PT017
                continue
            nodes[sid] += imported(other, folder, f"{sid}.{number}")
            for row in pq.read_table(folder / "part-00000.parquet").to_pylist():
                names[sid].append((row.get("event_key"), row["event"]))
        if number == 3:
            with Store.open(store).writer() as writer:
                writer.compact()
    assert [fsck(store), fsck(other)] == [[], []]
    sources = {spec.sid for spec in specs if spec.kind == "source"}
    count = 0
    with federation_of({"streams": store, "other": other}) as federation:
        for sid in derived:
            events = {(event.key, event.n): event for event in oracle_events[sid]}
            assert sorted(map(str, names[sid])) == sorted(map(str, events)), f"seed {seed}: {sid}"
            for place in rng.permutation(len(names[sid]))[:3].tolist():
                want = {
                    f"{of}:{n}" if value is None else f"{of}:{value}|{n}"
                    for of, value, n in events[names[sid][place]].ancestors
                    if of in sources
                }
                ancestors = federation.names(federation.ancestors(nodes[sid][place]))
                parts = (name.removeprefix("streams::").partition(":") for name in ancestors)
                told = {f"{of.partition('~')[0]}:{key}" for of, _, key in parts}
                tokens = {each for each in told if each.partition(":")[0] in sources}
                assert tokens == want, f"seed {seed}: {sid}"
                count += 1
        graph = federation.merged()
        for number in range(3):
            check_question(federation, graph, rng, f"seed {seed}, {number}")
    assert count == sum(min(3, len(each)) for each in names.values())


def _record(store: Path, *batches: list[int]) -> None:
    graph = Graph("q")
    source = graph.source("s", time="ts")

    def smooth(stream):  # type: ignore[no-untyped-def]
        return stream.time_window(5, name="w").aggregate({"v": ("sum", "v")}, name="a")

    composed = graph.compose("smooth", smooth, source)
    composed.filter(pc.field("v") >= 0, name="f")
    with Assertions(store, full=True) as recorder:
        runner = Runner(graph, recorders=[recorder])
        for times in batches:
            runner.push({"s": pa.table({"ts": times, "v": times})})


def test_versions_go_on_where_the_last_ended_and_share_their_nodes(tmp_path: Path) -> None:
    store = tmp_path / "store"
    _record(store, [1, 3], [4])
    channel = export_stream(store, "f", "sums", "1", tmp_path / "one")
    rows = pq.read_table(tmp_path / "one" / "part-00000.parquet")
    assert rows.to_pylist()[2] == {"event": 3, "event_time": 4, "v": 8}
    with pytest.raises(StreamError, match="no events that were not exported as sums"):
        export_stream(store, "f", "sums", "2", tmp_path / "two")
    assert export_stream(store, "f", "sums", "1", tmp_path / "again") == channel
    _record(store, [6, 20])
    export_stream(store, "f", "sums", "2", tmp_path / "two")
    assert pq.read_table(tmp_path / "two" / "part-00000.parquet").column("v").to_pylist() == [
        14,
        20,
    ]
    with pytest.raises(FederationError, match="is not empty"):
        export_stream(store, "f", "sums", "2", tmp_path / "two")
    with pytest.raises(StreamError, match="was exported of the stream f"):
        export_stream(store, "s", "sums", "3", tmp_path / "three")
    with pytest.raises(StreamError, match="is inside of smooth"):
        export_stream(store, "w", "windows", "1", tmp_path / "three")
    with pytest.raises(StreamError, match="no stream 'x'"):
        export_stream(store, "x", "x", "1", tmp_path / "three")

    other = Store.create(tmp_path / "other").path
    (_, _, third), (fourth, _) = (imported(other, tmp_path / n, n) for n in ("one", "two"))
    with federation_of({"streams": store, "other": other}) as federation:
        # The second reading made rows of both versions; each is there by its own reading.
        gone = federation.names(federation.delete(["streams::s:2", "streams::s~2:4"]))
        assert fourth in gone
        assert third not in gone
        assert {third, fourth} <= set(federation.names(federation.descendants("streams::s:2")))
        annotated = federation.evaluate(Counting(), [third], {"streams::s:3": 5})
        assert annotated.values == {third: 5}
    assert fsck(store) == []

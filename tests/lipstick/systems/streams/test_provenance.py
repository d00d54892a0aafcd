"""The trace of a question, and ancestors as a graph that is zoomed, deleted in and evaluated."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from graphquery import ProvenanceGraph
from graphquery.model import Kind, Segment
from lipstick.systems.errors import StreamError
from lipstick.systems.streams.ancestors import ancestors
from lipstick.systems.streams.annotations import Annotation
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.events import Events
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.provenance import provenance_graph, trace
from lipstick.systems.streams.recording import InMemory
from lipstick.systems.streams.replay import replay
from semiring.semirings import Counting
from semiring.token import Token
from tests.lipstick.systems.streams import oracle
from tests.lipstick.systems.streams.generated import random_inputs, random_specs, run_graph


def _doubled(token: Token) -> int:
    return 2 * int(token.key[0])


def _recorded() -> InMemory:
    graph = Graph("sensors")
    source = graph.source("readings", time="ts")

    def smooth(stream):  # type: ignore[no-untyped-def]
        return stream.time_window(20).aggregate({"v": ("mean", "v")})

    mean = graph.compose("smooth", smooth, source)
    mean.filter(pc.field("v") >= 60, name="alarms")
    recording = InMemory()
    runner = Runner(graph, recorders=[recording], properties=[Annotation(Counting(), _doubled)])
    values = [58.0, 65.0, 70.0, 75.0, 72.0]
    runner.push({"readings": pa.table({"ts": [1, 11, 21, 31, 41], "v": values})})
    runner.close()
    return recording


def test_a_composed_operator_is_one_module() -> None:
    graph = provenance_graph(_recorded(), Events("alarms", [3, 4]))
    assert graph.modules == ("alarms", "smooth")
    alarm = "alarms#1/alarms:4"
    zoomed = graph.zoom_out("smooth", "alarms")
    assert zoomed.node_count < graph.node_count
    behind = [set(each.names(each.ancestors(alarm).ids)) for each in (graph, zoomed)]
    readings = [{name for name in names if name.startswith("readings:")} for names in behind]
    assert readings[0] == {"readings:3", "readings:4", "readings:5"}
    assert readings[1] == {"readings:2"} | readings[0], "zoomed out, an invocation is one node"
    assert zoomed.zoom_in("smooth", "alarms").equals(graph)
    assert graph.depends(alarm, "readings:5"), "the trigger is what an event is there by"
    assert not graph.depends(alarm, "readings:4"), "others in a window change its value alone"
    assert not graph.delete(["readings:5"]).has(np.array([graph.node(alarm)]))[0]


def test_the_graph_evaluates_to_what_travelled_with_the_stream() -> None:
    recording = _recorded()
    graph = provenance_graph(recording, Events("alarms"))
    names = [f"alarms#1/alarms:{n}" for n in recording.whole("alarms").n.tolist()]
    counts = graph.evaluate(Counting(), _doubled, nodes=names)
    travelled = recording.property("alarms", "annotation").tolist()
    assert counts.values(names).tolist() == travelled == [4, 6, 8, 10]


def _nodes(graph: ProvenanceGraph) -> list[tuple[Segment, np.ndarray]]:
    places = range(len(graph.segments))
    return [(graph.segments[number], graph.storage.ids_of(number)) for number in places]


@pytest.mark.parametrize("seed", range(300, 306))
def test_random_graphs_have_the_events_that_the_oracle_names(seed: int) -> None:
    """Tokens behind every event, and all events of the trace, are its ancestors."""
    rng = np.random.default_rng(seed)
    specs = random_specs(rng)
    inputs = random_inputs(specs, rng, 3, 30)
    expected = oracle.run(specs, inputs, oracle.random_delay(seed, 7))
    _, recording = run_graph(specs, inputs, seed, 3)
    named = {spec.sid for spec in specs}
    for spec in specs[::-1]:
        if spec.kind == "source" or not expected[spec.sid]:
            continue
        event = expected[spec.sid][-1]
        asked_events = Events(spec.sid, event.n, event.key)
        graph = provenance_graph(recording, asked_events)
        tokens = {
            name
            for segment, ids in _nodes(graph)
            if segment.kind is Kind.TOKEN
            for name in graph.names(ids)
        }
        sources = {each.sid for each in specs if each.kind == "source"}
        want = {
            f"{sid}:{n}" if value is None else f"{sid}:{value}|{n}"
            for sid, value, n in event.ancestors
            if sid in sources
        }
        assert tokens == want, f"seed {seed}: {spec.sid}"
        steps = trace(recording, asked_events).to_pylist()
        behind = {(row["stream"], row["n"], row["key"]) for row in steps if row["stream"] in named}
        wanted = {
            (sid, n, None if value is None else str(value)) for sid, value, n in event.ancestors
        }
        assert behind == wanted, f"seed {seed}: {spec.sid}"


def test_streams_that_an_answer_is_not_of_are_named() -> None:
    recording = _recorded()
    found = ancestors(recording, Events("alarms"))
    assert found.numbers("readings")
    with pytest.raises(StreamError, match=r"of readings; '\S+' was not asked about"):
        found.numbers(next(sid for sid in recording.graph.recorded if sid not in found.streams))
    with pytest.raises(StreamError, match="no stream"):
        found.numbers("nosuch")
    changed = replay(recording.graph, recording).changed
    with pytest.raises(StreamError, match="'readings' was not asked about"):
        changed.content("readings")

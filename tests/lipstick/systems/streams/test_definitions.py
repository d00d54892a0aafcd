"""The worked examples of the definitions, number for number, and each defect treated right."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.ancestors import ancestors, ancestors_of_each
from lipstick.systems.streams.delays import Fixed, Given
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.events import Events
from lipstick.systems.streams.graph import Graph, Stream
from lipstick.systems.streams.properties import SourceSet, TotalDelay, coverage
from lipstick.systems.streams.recording import InMemory


def _run(graph: Graph, **inputs: pa.Table) -> InMemory:
    recording = InMemory(full=True)
    runner = Runner(graph, delays=Fixed(1), recorders=[recording])
    runner.push(inputs)
    runner.close()
    return recording


def _source(times: list[int], values: list[int] | None = None) -> pa.Table:
    return pa.table({"ts": times, "v": times if values is None else values})


T1, T2 = [1, 11, 21, 31, 41], [2, 12, 22, 32, 42]


def _times(recording: InMemory, sid: str, n: int, source: str = "s1") -> list[int]:
    times: list[int] = ancestors(recording, Events(sid, n), [source]).streams[source].t.tolist()
    return times


def _key(recording: InMemory, sid: str, n: int) -> tuple[int, int, int]:
    keys = recording.whole(sid)
    index = int(np.flatnonzero(keys.n == n)[0])
    return int(keys.t[index]), n, int(keys.d[index])


def test_unary_operators() -> None:
    graph = Graph("unary")
    source = graph.source("s1", time="ts")
    source.map(lambda table: table, name="map")
    source.filter(pc.field("v") > 1, name="filter")
    source.time_window(20, name="tw")
    source.length_window(4, name="lw")
    recording = _run(graph, s1=_source(T1))
    assert (_key(recording, "map", 4), _times(recording, "map", 4)) == ((32, 4, 1), [31])
    assert (_key(recording, "filter", 2), _times(recording, "filter", 2)) == ((22, 2, 1), [21])
    assert (_key(recording, "tw", 5), _times(recording, "tw", 5)) == ((42, 5, 1), [21, 31, 41])
    assert _times(recording, "lw", 5) == [11, 21, 31, 41]
    lists = recording.content("tw", recording.whole("tw")).column("events")[4].as_py()
    assert [each["ts"] for each in lists] == [41, 31, 21], "a window lists its newest first"


def test_joins_have_the_whole_delay_from_their_tick() -> None:
    """The definitions' 44 with a delay of 2: at every output t - d is the tick."""
    graph = Graph("joins")
    left, right = graph.source("s1", time="ts"), graph.source("s2", time="ts")
    left.join_time(right, 10, 10, name="jt")
    left.join_length(right, 2, 2, name="jl")
    recording = InMemory(full=True)
    delay = {"jt": 2, "jl": 1}
    runner = Runner(graph, delays=Fixed(1, delay), recorders=[recording])
    runner.push({"s1": _source(T1), "s2": _source(T2)})
    runner.close()
    assert _key(recording, "jt", 9) == (44, 9, 2)
    assert (_times(recording, "jt", 9), _times(recording, "jt", 9, "s2")) == ([41], [32, 42])
    assert _key(recording, "jl", 9) == (43, 9, 1)
    assert _times(recording, "jl", 9) == [31, 41]
    assert _times(recording, "jl", 9, "s2") == [32, 42]
    assert recording.whole("jt").trigger.tolist() == sorted([*T1, *T2])[1:]


def test_a_chain_and_its_scope() -> None:
    graph = Graph("chain")
    window = graph.source("s1", time="ts").time_window(20, name="s2")
    means = window.aggregate({"v": ("mean", "v")}, name="s3")
    means.filter(pc.field("v") >= 60, name="s4")
    recording = _run(graph, s1=_source(T1, [58, 65, 70, 75, 72]))
    keys = recording.whole("s4")
    assert keys.t.tolist() == [14, 24, 34, 44]
    values = recording.content("s4", keys).column("v").to_pylist()
    assert [round(value + 0.01) for value in values] == [62, 64, 70, 72]
    asked_events = Events("s4", [3, 4])
    assert ancestors(recording, asked_events).numbers("s1") == [2, 3, 4, 5]
    assert ancestors(recording, asked_events, ["s2"]).streams["s2"].t.tolist() == [32, 42]
    both = ancestors(recording, asked_events, ["s3", "s2"])
    assert (both.numbers("s3"), both.numbers("s2")) == ([4, 5], [4, 5])
    assert list(both.streams) == ["s3", "s2"], "the walk ends where no stream asked for is left"


def _case_study() -> Graph:
    """Ceiling; above 60, and windows' means; both joined: the thesis's case study."""
    graph = Graph("case")
    source = graph.source("s1", time="ts")
    ceil = source.map(lambda t: {"area": t.column("area"), "v": pc.ceil(t.column("v"))}, name="s2")
    high = ceil.filter(pc.field("v") > 60, name="s3")
    twin = ceil.twin("s4")
    means = twin.time_window(5_000, name="s5").aggregate({"v": ("mean", "v")}, name="s6")
    high.join_time(means, 1_000, 1_000, name="s7")
    return graph


START = 1_279_398_100_000
TIMES = [START + 5_675, START + 7_678, START + 9_678]
READINGS = pa.table({"ts": TIMES, "v": [76.69, 99.49, 93.28], "area": ["A", "B", "C"]})
DELAYS = {"s2": [9, 0, 0], "s3": [9, 3, 3], "s5": [17, 2, 2], "s6": [1, 2, 2], "s7": [1, 1, 1]}
"""The delays of the thesis's run, by stream and number (appendix B, and the run on the fly)."""


def _recorded_delays(last: int) -> Given:
    """The delays of the run; the last output of the join has another in the two appendices."""

    def function(sid: str, code: object, trigger: np.ndarray) -> np.ndarray:
        delays = [*DELAYS.get(sid, [0, 0, 0])]
        if sid == "s7":
            delays[2] = last
        which = np.searchsorted(np.array(TIMES), trigger, "right") - 1
        return np.array(delays, dtype=np.int64)[which]

    return Given(function)


def test_the_case_study() -> None:
    """All 18 keys of appendix B, and the alarm that was made of all three readings."""
    recording = InMemory(full=True)
    runner = Runner(_case_study(), delays=_recorded_delays(3), recorders=[recording])
    runner.push({"s1": READINGS})
    runner.close()
    want = {
        "s1": ([5_675, 7_678, 9_678], [0, 0, 0]),
        "s2": ([5_684, 7_678, 9_678], [9, 0, 0]),
        "s3": ([5_693, 7_681, 9_681], [9, 3, 3]),
        "s5": ([5_701, 7_680, 9_680], [17, 2, 2]),
        "s6": ([5_702, 7_682, 9_682], [1, 2, 2]),
        "s7": ([5_703, 7_683, 9_685], [1, 1, 3]),
    }
    for sid, (t, d) in want.items():
        keys = recording.whole(sid)
        assert ((keys.t - START).tolist(), keys.d.tolist()) == (t, d), sid
        assert keys.n.tolist() == [1, 2, 3]
    alarm = Events("s7", 3)
    assert ancestors(recording, alarm).numbers("s1") == [1, 2, 3]
    assert ancestors(recording, alarm, ["s3"]).numbers("s3") == [3]
    twins = ancestors(recording, alarm, ["s4"])
    assert twins.numbers("s4") == [1, 2, 3], "twins are named as they were asked for"
    rows = recording.content("s7", recording.whole("s7")).column("events")[2].as_py()
    assert [(pair["left_v"], round(pair["right_v"], 2)) for pair in rows] == [(94.0, 90.33)]


def test_properties_survive_fan_out() -> None:
    """Total delays of the thesis's run; each consumer has its own hold: no source is lost."""
    graph = _case_study()
    recording = InMemory()
    runner = Runner(
        graph,
        delays=_recorded_delays(1),
        properties=[TotalDelay(), SourceSet(graph.sources), coverage("area")],
        recorders=[recording],
    )
    for row in range(3):  # a batch for each event: what is held between them is what matters
        runner.push({"s1": READINGS.slice(row, 1)})
    runner.close()
    assert recording.property("s7", "total_delay").tolist() == [28, 14, 14]
    assert recording.property("s7", "coverage").tolist() == [("A",), ("A", "B"), ("A", "B", "C")]
    names = SourceSet(graph.sources).decode(recording.property("s7", "sources"))
    assert names == [("s1",)] * 3


def test_colliding_and_disordered_times_are_made_increasing() -> None:
    """Where measured delays would collide or overtake, they are lengthened: look-ups stay exact."""
    graph = Graph("collide")
    graph.source("s1", time="ts").map(lambda table: table, name="m").time_window(3, name="w")
    recording = InMemory()
    delays = Given(lambda sid, code, trigger: np.where(trigger % 2 == 0, 5, 0).astype(np.int64))
    runner = Runner(graph, delays=delays, recorders=[recording])
    runner.push({"s1": _source([2, 2, 3, 4, 4, 5])})
    runner.close()
    assert recording.whole("s1").t.tolist() == [2, 3, 4, 5, 6, 7]
    assert recording.disorder()["s1"].collisions == 4 + 1
    for sid in ("s1", "m", "w"):
        assert bool((np.diff(recording.whole(sid).t) > 0).all())
    _, by_stream = ancestors_of_each(recording, Events("m"))
    assert by_stream["s1"][0].n.tolist() == [1, 2, 3, 4, 5, 6]
    assert any("later tick" in note for note in recording.notes())


def test_a_composed_operator_has_the_ancestor_function_of_its_parts() -> None:
    graph = Graph("composed")
    source = graph.source("s1", time="ts")

    def smoothed(stream: Stream) -> Stream:
        return stream.length_window(2).aggregate({"v": ("mean", "v")})

    once = graph.compose("smooth", smoothed, source)
    twice = graph.compose("smoother", smoothed, once)
    assert (once.sid, twice.sid) == ("smooth", "smoother")
    recording = _run(graph, s1=_source(T1))
    assert ancestors(recording, Events("smoother", 4)).numbers("s1") == [2, 3, 4]
    assert ancestors(recording, Events("smoother", 4), ["smooth"]).numbers("smooth") == [3, 4]
    modules = {node.module for node in graph.nodes.values()}
    assert modules == {"s1", "smooth", "smoother"}
    assert len(recording.whole("smooth").t) == len(T1)
    with pytest.raises(StreamError, match="has no stream 'rough'"):
        recording.whole("rough")

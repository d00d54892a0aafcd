"""Views of recorded streams and of reductions hold what the same questions to these answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphquery.store import Store
from lipstick.explorer import Explorer
from lipstick.explorer.cells import LONGEST
from lipstick.explorer.explorer import open_source
from lipstick.explorer.saved import canonical, save
from lipstick.systems.events import ReducedGraph
from lipstick.systems.streams import Events, Stored, ancestors, descendants, trace
from lipstick.systems.streams.page.source import RecordingSource
from tests.lipstick.explorer.conftest import HOSTILE, ask
from tests.lipstick.explorer.systems import recorded


@pytest.fixture(scope="module")
def sensors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sensors of the example."""
    return recorded.sensors(tmp_path_factory.mktemp("streams") / "store")


def drawn_edges(picture: dict[str, Any]) -> set[tuple[str, str]]:
    """The edges of a picture, by the labels of their ends."""
    labels = [box["label"] for box in picture["boxes"]]
    return {(labels[edge["source"]], labels[edge["target"]]) for edge in picture["edges"]}


def test_a_path_is_what_the_ancestor_functions_find(sensors: Path) -> None:
    source, recording = open_source(sensors), Stored(sensors)
    event = Events("alarms", 1, "kitchen")
    answer = ask(source, "path", stream="alarms", n=1, key="kitchen")
    by_function = ancestors(recording, event)
    (readings,) = answer["ends"]
    assert [(row[0], int(row[1])) for row in readings["rows"]] == by_function.numbers("readings")
    celsius = [column["name"] for column in readings["columns"]].index("celsius")
    wanted = by_function.content("readings").column("celsius").to_pylist()
    assert [float(row[celsius]) for row in readings["rows"]] == wanted
    steps = trace(recording, event).to_pylist()
    assert drawn_edges(answer["picture"]) == {
        (f"{step['stream']} {step['n']}", f"{step['of']} {step['of_n']}") for step in steps
    }
    namespace: dict[str, Any] = {}
    exec(answer["python"], namespace)  # what is copied runs


def test_what_an_event_is_in_is_what_descendants_finds(sensors: Path) -> None:
    source, recording = open_source(sensors), Stored(sensors)
    answer = ask(source, "path", stream="readings", n=23, key="kitchen", forwards=True)
    by_function = descendants(
        recording, Events("readings", 23, "kitchen"), within=recording.graph.recorded
    )
    counts = {sid: len(keys) for sid, keys in by_function.streams.items() if sid != "readings"}
    assert answer["counts"] == {sid: count for sid, count in counts.items() if count}
    (alarms,) = answer["ends"]
    assert [(row[0], int(row[1])) for row in alarms["rows"]] == by_function.numbers("alarms")
    lit = ask(source, "picture", stream="readings", n=23, key="kitchen", forwards=True)
    marks = {box["label"]: box.get("marks", {}).get("lit", [0])[0] for box in lit["boxes"]}
    assert marks == {"readings": 1, **counts}


def test_windows_of_events_have_all_of_them_once(sensors: Path) -> None:
    source, recording = open_source(sensors), Stored(sensors)
    for sid in recording.graph.nodes:
        rows: list[list[str]] = []
        while True:
            answer = ask(source, "events", stream=sid, offset=len(rows), limit=37)
            rows += answer["rows"]
            if len(rows) == answer["total"]:
                break
        keys = recording.whole(sid)
        known = recording.codes.decode(keys.code).to_pylist()
        assert sorted((row[0], int(row[1])) for row in rows) == sorted(
            zip(known, keys.n.tolist(), strict=True)
        )
        times = [column["name"] for column in answer["columns"]].index("t")
        assert int(rows[0][times]) == int(keys.t.max())


def test_a_stream_that_is_recorded_is_as_it_is_now(tmp_path: Path) -> None:
    recording = recorded.Recording(tmp_path / "store")
    recording.push(50)
    source = open_source(tmp_path / "store")
    assert isinstance(source, RecordingSource)
    first = ask(source, "about")
    assert (first["batches"], first["ended"]) == (1, False)
    assert first["streams"][0]["rate"] is None
    recording.push(30)
    second = ask(source, "about")
    assert second["version"] > first["version"]
    assert [batch["rows"]["ticks"] for batch in second["history"]] == [50, 30]
    ticks = second["streams"][0]
    between = second["history"][1]["time"] - second["history"][0]["time"]
    assert ticks["rate"] == pytest.approx(30 / between)
    assert (ticks["latest"], ticks["behind"]) == (80, 0)
    # Of more events than are drawn the rest are a bundle.
    answer = ask(source, "path", stream="highest", n=80)
    assert answer["counts"]["ticks"] == 60
    labels = [box["label"] for box in answer["picture"]["boxes"]]
    assert "36 more of ticks" in labels
    recording.close()
    assert ask(source, "about")["ended"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"stream": "nowhere", "n": 1}, "has no stream 'nowhere'"),
        ({"stream": "alarms", "n": 1, "key": "moon"}, "no events of key 'moon'"),
        ({"stream": "alarms", "n": 10**9, "key": "attic"}, "has no event number"),
        ({"stream": "alarms", "n": 1}, "'key' is a text"),
        (
            {"stream": "alarms", "n": 1, "key": "attic", "query": "other"},
            "none that is called 'other'",
        ),
    ],
)
def test_what_there_is_not_is_told(sensors: Path, asked: dict[str, Any], told: str) -> None:
    reply = Explorer([open_source(sensors)]).ask({"view": "path", "params": asked})
    assert told in reply["error"]["message"]
    assert reply["error"]["kind"] == "refused"


def test_a_reduction_tells_who_came_from_whom(tmp_path: Path) -> None:
    source = open_source(recorded.reduced(tmp_path))
    graph = ReducedGraph.open(tmp_path / "store")
    assert source.kind == "reduction"
    (topic,) = ask(source, "progress")["topics"]
    assert (topic["received"], topic["complete"], topic["exact"]) == (11, True, True)
    assert topic["kept"] == graph.graph.edge_count
    assert topic["ratio"] == 11 / topic["kept"]
    outputs = ask(source, "outputs")
    assert outputs["names"] == sorted(graph.effects)
    for name in outputs["names"]:
        assert ask(source, "trace", entity=name)["names"] == graph.lineage(name)
    assert ask(source, "trace", entity="i", forwards=True)["names"] == graph.descendants("i")
    reply = Explorer([source]).ask({"view": "trace", "params": {"entity": "between 0"}})
    assert "intermediate" in reply["error"]["message"]
    assert ask(source, "about")["deletable"] is False
    params = {"focus": {}, "marks": {"mode": "delete", "nodes": [0]}}
    reply = Explorer([source]).ask({"view": "picture", "params": params})
    assert "is in a reduced graph" in reply["error"]["message"]


def test_a_reduction_that_goes_on_is_as_it_is_now(tmp_path: Path) -> None:
    with recorded.followed(tmp_path, 2) as follower:
        source = open_source(tmp_path / "store")
        (topic,) = ask(source, "progress")["topics"]
        assert (topic["received"], topic["complete"]) == (63, False)
        assert topic["open_edges"] > 0
        assert topic["lag"] < 60
        recorded.emit(tmp_path, 2)
        follower.step()
        progress = ask(source, "progress")
        assert [point["topics"]["orders"]["received"] for point in progress["history"]] == [
            27,
            63,
            108,
        ]
        follower.close()
    (topic,) = ask(source, "progress")["topics"]
    assert (topic["complete"], topic["lag"], topic["open_edges"]) == (True, None, 0)


def test_a_saved_page_holds_streams_and_reductions(tmp_path: Path, sensors: Path) -> None:
    sources = [open_source(sensors), open_source(recorded.reduced(tmp_path))]
    save(Explorer(sources), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    data = page.partition('id="given">')[2].partition("</script>")[0]
    answers = json.loads(data)["answers"]
    version = Store.open(sensors).snapshot().version
    params = {"stream": "alarms", "n": 7, "key": "attic", "version": version}
    assert answers[canonical({"source": 0, "view": "path", "params": params})]["answer"]["ends"]
    version = Store.open(tmp_path / "store").snapshot().version
    params = {"entity": "m!", "version": version}
    traced = answers[canonical({"source": 1, "view": "trace", "params": params})]["answer"]
    assert traced["names"] == ["i", "m", "o"]


def test_hostile_names_are_answered_as_they_are(tmp_path: Path) -> None:
    texts = tuple(f"{number}{text}" for number, text in enumerate(HOSTILE))
    store = recorded.hostile(tmp_path / "store", texts)
    source, recording = open_source(store), Stored(store)
    explorer = Explorer([source])
    assert json.loads(explorer.ask_json({"view": "about"}))["answer"]["query"]
    for text in texts:
        if len(text) > LONGEST:
            continue
        answer = ask(source, "path", stream=texts[4], n=1, key=text)
        (end,) = answer["ends"]
        assert end["stream"] == texts[0]
        assert end["rows"][0][0] == text
        traced = ancestors(recording, Events(texts[4], 1, text))
        assert traced.numbers(texts[0]) == [(text, int(end["rows"][0][1]))]

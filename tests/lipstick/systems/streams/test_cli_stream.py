"""``lipstick stream`` on a small store, and the formulas that plans are by."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from lipstick.cli import main
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.planning import storage

GRAPH = """
from lipstick.systems.streams.graph import Graph

def graph(width=20):
    made = Graph("sensors")
    source = made.source("readings", time="ts", key="room")
    source.time_window(width, name="recent").aggregate({"v": ("mean", "v")}, name="means")
    return made

def other():
    return graph(30)
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    name = f"recorded_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(GRAPH)
    scope: dict[str, object] = {}
    exec(GRAPH, scope)
    graph = scope["graph"]()  # type: ignore[operator]
    assert isinstance(graph, Graph)
    with Assertions(tmp_path / "store") as recorder:
        runner = Runner(graph, recorders=[recorder])
        times, rooms = [1, 11, 11, 31], [7, 7, 8, 7]
        runner.push({"readings": pa.table({"ts": times, "room": rooms, "v": times})})
        runner.close()
    return tmp_path / "store"


def _ask(*given: object) -> Result:
    return CliRunner().invoke(main, ["stream", *map(str, given)])


def _rows(*given: object) -> list[dict[str, object]]:
    result = _ask(*given, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["rows"]  # type: ignore[no-any-return]


def test_questions(store: Path) -> None:
    assert [(row["stream"], row["events"]) for row in _rows("show", store)] == [
        ("readings", 4),
        ("recent", 4),
        ("means", 4),
    ]
    rows = _rows("ancestors", store, "means:3", "--key", 7)
    assert [(row["stream"], row["key"], row["n"], row["t"]) for row in rows] == [
        ("readings", "7", 2, 11),
        ("readings", "7", 3, 31),
    ]
    steps = _rows("ancestors", store, "means:3", "--key", 7, "--steps")
    assert [(row["operator"], row["of"], row["n"]) for row in steps] == [
        ("aggregate", "means", 3),
        ("time_window", "recent", 2),
        ("time_window", "recent", 3),
    ]
    rows = _rows("descendants", store, "readings", "--period", 11, 11)
    assert [(row["key"], row["n"]) for row in rows] == [("7", 2), ("7", 3), ("8", 1)]
    assert "means" in _ask("descendants", store, "readings:1", "--key", "8").output


def test_replay(store: Path) -> None:
    module = f"recorded_{store.parent.name}".replace("-", "_")
    rows = _rows("replay", store, f"{module}:graph")
    assert rows == [{"stream": "means", "same": 4, "changed": 0, "gone": 0, "appeared": 0}]
    other = _ask("replay", store, f"{module}:other")
    assert (other.exit_code, "not the one that was recorded" in other.output) == (2, True)
    assert "Give a module and a function" in _ask("replay", store, f"{module}:none").output


def test_plans(store: Path) -> None:
    """Twice the events take twice the bytes; the formulas give the thesis's own savings."""
    once, twice = (_rows("plan", store, "--events", number) for number in (1000, 2000))
    for row, double in zip(once, twice, strict=True):
        assert abs(double["predicted bytes"] - 2 * row["predicted bytes"]) <= 2  # type: ignore[operator]
    # Chains of 10 and 15 operators, keys of 50 bytes, payloads of 100 and 1,000 (section 6.2).
    shares = [
        storage(100_000, 1, c - 1, 50, e).saved for c, e in ((10, 100), (10, 1000), (15, 1000))
    ]
    assert [round(share, 2) for share in shares] == [0.6, 0.86, 0.89]


def test_refusals(store: Path) -> None:
    assert "has a key" in _ask("ancestors", store, "means:3").output
    assert "no event number 9" in _ask("ancestors", store, "means:9", "--key", 7).output
    assert "keys have type int64" in _ask("ancestors", store, "means:1", "--key", "x").output
    assert "alarms:3,4" in _ask("ancestors", store, "means:x").output
    assert _ask("ancestors", store, "means:1", "--key", 9).exit_code == 2


def test_the_demo_traces_an_alarm_and_replays_it(tmp_path: Path) -> None:
    """Six means have the faulty reading; those of the fire stay when it is corrected."""
    done = _ask("demo", "--keep", tmp_path / "kept")
    assert done.exit_code == 0, done.output
    _holds(done.output)
    assert _ask("show", tmp_path / "kept" / "store").exit_code == 0


def _holds(output: str) -> None:
    assert "400.0" in output
    assert "Reading 23 of kitchen is in 6 alarms." in output
    assert "Replayed as it was, all is the same: True" in output
    assert "corrected to 30.0: 6 alarms are gone, 7 stay." in output


@pytest.mark.classic
@pytest.mark.engines("memory")
def test_the_demo_on_structured_streaming(tmp_path: Path, spark: SparkSession) -> None:
    _holds(_ask("demo", "--spark", "--keep", tmp_path / "kept").output)

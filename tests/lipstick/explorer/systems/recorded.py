"""Recorded streams and reduced events to explore."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.events import Emitter, Follower, reduce_files
from lipstick.systems.streams import Assertions, Graph, Runner, example


def sensors(store: Path, readings: int = 40, *, close: bool = True) -> Path:
    """Record the example of the documentation: readings, means of windows, alarms."""
    with Assertions(store) as recorder:
        runner = Runner(example.graph(), recorders=[recorder])
        for table in example.readings(readings):
            runner.push({"readings": table})
        if close:
            runner.close()
    return store


class Recording:
    """A stream without key that is recorded batch by batch, and is not over."""

    def __init__(self, store: Path) -> None:
        self._recorder = Assertions(store).__enter__()
        graph = Graph("counts")
        source = graph.source("ticks", time="ts")
        source.time_window(3, name="few").aggregate({"v": ("sum", "v")}, name="sums")
        source.length_window(60, name="many").aggregate({"v": ("max", "v")}, name="highest")
        self._runner = Runner(graph, recorders=[self._recorder])
        self._next = 1

    def push(self, count: int) -> None:
        """Record a batch of so many events."""
        times = list(range(self._next, self._next + count))
        self._next += count
        self._runner.push({"ticks": pa.table({"ts": times, "v": [t % 7 for t in times]})})

    def close(self) -> None:
        """End the input, and the recording."""
        self._runner.close()
        self.stop()

    def stop(self) -> None:
        """Stop recording; the input is not over."""
        self._recorder.__exit__(None, None, None)


def hostile(store: Path, texts: tuple[str, ...]) -> Path:
    """Record streams whose names, keys and content are some texts."""
    graph = Graph("".join(texts[:2]).replace("/", "|"))
    source = graph.source(texts[0], time=texts[1], key=texts[2])
    kept = source.filter(pc.field(texts[3]) != "no", name=texts[4])
    kept.length_window(2, name=texts[5])
    times = list(range(1, len(texts) + 1))
    table = {texts[1]: times, texts[2]: list(texts), texts[3]: list(texts)}
    with Assertions(store) as recorder:
        runner = Runner(graph, recorders=[recorder])
        runner.push({texts[0]: pa.table(table)})
        runner.close()
    return store


def reduced(folder: Path, texts: tuple[str, ...] = ("i", "m", "o")) -> Path:
    """Reduce events whose topic and entities are some texts."""
    topic = texts[0]
    (folder / "in").mkdir(parents=True)
    with Emitter(folder / "in", topic) as emitter:
        for number, text in enumerate(texts):
            emitter.record("map", f"map.{number}", [text], [f"between {number}"], readers=1)
        between = [f"between {number}" for number in range(len(texts))]
        emitter.record("all", "all.0", between, [f"out {texts[-1]}", texts[1] + "!"], readers=0)
        emitter.seal()
    reduce_files([folder / "in"], folder / "store")
    return folder / "store"


def followed(folder: Path, files: int) -> Follower:
    """Follow a folder with so many files of events, which may get more."""
    (folder / "in").mkdir(parents=True, exist_ok=True)
    follower = Follower(folder / "in", folder / "store")
    for number in range(files):
        emit(folder, number)
        follower.step()
    return follower


def emit(folder: Path, number: int) -> None:
    """One more file of events."""
    with Emitter(folder / "in", "orders") as emitter:
        rows = [f"row {number}.{each}" for each in range(20 + 7 * number)]
        emitter.record("sum", f"sum.{number}", rows, [f"total {number}"], readers=0, inputs=True)
        emitter.record("late", f"late.{number}", rows[::4], [f"open {number}"], inputs=True)

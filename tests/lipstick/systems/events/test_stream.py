"""The tasks of the streaming job without Spark: any partitioning, restarts, redelivery, late."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from lipstick.cli import main
from lipstick.systems.events import Emitter, EventsError, ReducedGraph, reduce_files
from lipstick.systems.events.dead_letters import read_letters
from lipstick.systems.events.message import EDGES, END, SEALED, Counts, Message
from lipstick.systems.events.stream.batches import Batches
from lipstick.systems.events.stream.parsed_rows import BLOCK
from lipstick.systems.events.stream.plan import STATE, TopicPlan
from lipstick.systems.events.stream.settings import StreamSettings
from tests.lipstick.systems.events.inline import Line, run_batch, stepped, table_of, tasks_of
from tests.lipstick.systems.events.reduced import edges_in
from tests.lipstick.systems.events.streaming import run

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("seed", range(9_000, 9_006))
def test_random_jobs_through_the_tasks(seed: int, tmp_path: Path) -> None:
    run(seed, tmp_path)


def lines_of(*messages: Message) -> list[Line]:
    return [(each.line().encode(), "topic/0", n) for n, each in enumerate(messages, 1)]


def record(execution: str, uses: str, generates: str, time: int = 1, **given: Any) -> Message:
    edges = [(execution, uses, "used"), (generates, execution, "wasGeneratedBy")]
    return Message("t", EDGES, execution, None, "F", "w", 0, time, edges, **given)


def opened(folder: Path, **given: Any) -> Batches:
    return Batches(folder / "store", StreamSettings(**given), folder / "own")


def test_lines_of_files_and_of_rows_are_named_by_where_they_are(tmp_path: Path) -> None:
    good = record("e", "i", "o").line().encode()
    filler = b'{"version":1,"topic":"t","kind":"sealed","note":"%s"}\n' % (b"x" * 2_000_000)
    assert 5 * len(filler) > BLOCK
    with opened(tmp_path) as state:
        file = good + b"bad\n" + 5 * filler + b"\nworse"
        rows = table_of([(file, "file", 1)]), table_of([(good, "k", 7), (b"x\ny", "l", 3)])
        run_batch(state, 0, rows, RNG)
        state.close(stepped)
    letters = read_letters(tmp_path / "store.dead.jsonl")
    places = {(each.origin, each.line, each.text) for each in letters}
    assert places == {("file", 2, "bad"), ("file", 9, "worse"), ("l", 3, "x"), ("l", 4, "y")}
    assert edges_in(tmp_path / "store") == [("o", "i")]


def test_late_messages_are_repaired_or_reported(tmp_path: Path) -> None:
    early, late = record("e", "i", "m", 100), record("g", "m", "o", 1)
    for log in (True, False):
        folder = tmp_path / str(log)
        folder.mkdir()
        with opened(folder, lateness=10, log=log) as state:
            run_batch(state, 0, [table_of(lines_of(early))], RNG)
            progress = run_batch(state, 1, [table_of(lines_of(late))], RNG)
            assert progress is not None
            assert progress.topics["t"].late == 1
            assert progress.topics["t"].repaired == int(log)
            assert state.close(stepped).topics["t"].exact == log
        letters = read_letters(folder / "store.dead.jsonl")
        assert [each.reason[:4] for each in letters] == ([] if log else ["late"])
        assert (("o", "i") in edges_in(folder / "store")) == log
        if not log:
            assert json.loads(letters[0].text)["exec"] == "g"


def test_what_is_kept_on_disk_does_not_grow_with_the_stream(tmp_path: Path) -> None:
    sizes = []
    declared = Counts(readers=0, causes=1, used_causes=0, uses=1, generations=1)
    with pytest.raises(EventsError, match="Give a lateness, too"):
        StreamSettings(keep=5)
    for batch in range(40):
        with opened(tmp_path, lateness=20, keep=30, overlap=20) as state:
            now = 10 * batch
            messages = [
                record(f"{batch}/e{n}", f"{batch}/i{n}", f"{batch}/o{n}", now, counts=declared)
                for n in range(20)
            ]
            run_batch(state, batch, [table_of(lines_of(*messages))], RNG)
            own_files = [each for each in (tmp_path / "own").rglob("*") if each.is_file()]
            sizes.append((len(own_files), sum(each.stat().st_size for each in own_files)))
    files, size = zip(*sizes, strict=True)
    assert max(files[20:]) <= max(files[10:20])
    assert max(size[20:]) <= 1.2 * max(size[10:20])
    # What comes now may be joined to what is forgotten: that is said.
    with opened(tmp_path, lateness=20, keep=30, overlap=20) as state:
        for batch, number in ((40, 39), (41, 0)):
            late = record(f"late{batch}", f"{number}/o3", f"late{batch}/o", 1)
            progress = run_batch(state, batch, [table_of(lines_of(late))], RNG)
            assert progress is not None
        assert (progress.topics["t"].late, progress.topics["t"].repaired) == (2, 0)
        assert not state.close(stepped).topics["t"].exact
    letters = read_letters(tmp_path / "store.dead.jsonl")
    assert [each.reason[:16] for each in letters] == 2 * ["late, and joined"]
    edges = edges_in(tmp_path / "store")
    assert {("late40/o", "39/o3"), ("late41/o", "0/o3")} <= set(edges)


def test_a_topic_is_over_when_its_edges_have_come(tmp_path: Path) -> None:
    seal = Message("t", SEALED, event_time=9, counts=Counts(used=2, generated=2))
    with opened(tmp_path) as state:
        run_batch(state, 0, [table_of(lines_of(seal, record("e", "i", "m")))], RNG)
        assert not state.progress["t"].sealed
        run_batch(state, 1, [table_of(lines_of(record("g", "m", "o")))], RNG)
        assert state.progress["t"].sealed
        assert state.progress["t"].report.open_vertices == 0
    assert edges_in(tmp_path / "store") == [("o", "i")]
    assert not list((tmp_path / "own" / STATE).glob("*open*"))


def test_what_is_closed_is_not_committed_again(tmp_path: Path) -> None:
    with opened(tmp_path) as state:
        run_batch(state, 0, [table_of(lines_of(record("e", "i", "o")))], RNG)
        state.close(stepped)
        version = state._writer.version
        state.close(stepped)
        assert state._writer.version == version
    with opened(tmp_path) as state:  # what comes then is late, and repaired
        state.close(stepped)
        assert state._writer.version == version
        progress = run_batch(state, 1, [table_of(lines_of(record("g", "o", "p", 5)))], RNG)
        assert progress is not None
        assert (progress.topics["t"].late, progress.topics["t"].repaired) == (1, 1)
    assert ReducedGraph.open(tmp_path / "store").lineage("p") == ["i"]


def test_several_topics_are_one_commit_and_join(tmp_path: Path) -> None:
    edges = [("h", "o", "used"), ("p", "h", "wasGeneratedBy")]
    other = Message("u", EDGES, "h", None, "H", "w", 0, 1, edges)
    with opened(tmp_path) as state:
        before = state._writer.version
        run_batch(state, 0, [table_of(lines_of(record("e", "i", "o"), other))], RNG)
        assert state._writer.version == before + 1
        state.close(stepped)
    assert ReducedGraph.open(tmp_path / "store").lineage("p") == ["i"]


def test_state_that_a_stopped_batch_wrote_goes(tmp_path: Path) -> None:
    held = Message("t", EDGES, "e", 0, "F", "w", 0, 1, [("e", "i", "used")])
    with opened(tmp_path) as state:
        run_batch(state, 0, [table_of(lines_of(held))], RNG)
        tasks_of(state.plan(1), [table_of(lines_of(record("x", "y", "z")))])
        files = {file.name for file in (tmp_path / "own" / STATE).iterdir()}
        needed = state.topics["t"].files
        assert needed < files
    with opened(tmp_path) as state:
        assert {file.name for file in (tmp_path / "own" / STATE).iterdir()} == needed
        logs = [file.name[:9] for file in (tmp_path / "own").glob("log/*/*")]
        assert "000000001" not in logs
        end = Message("t", END, "e", 0, "F", "w", 1, 1, counts=Counts(messages=1))
        run_batch(state, 1, [table_of(lines_of(end))], RNG)
        assert state.progress["t"].waiting == 0
        assert state.progress["t"].report.received == 1


def test_a_plan_is_the_same_from_its_record(tmp_path: Path) -> None:
    counts = Counts(used=7, read_by=("G",))
    function = Message("t", SEALED, function="F", event_time=9, counts=counts)
    with opened(tmp_path, lateness=5) as state:
        run_batch(state, 0, [table_of(lines_of(function, record("e", "i", "m")))], RNG)
        known = state.topics["t"]
        assert known.functions["F"].read_by == frozenset({"G"})
        assert TopicPlan.of(json.loads(json.dumps(known.document()))) == known


def test_cycles_are_named_at_the_end(tmp_path: Path) -> None:
    with opened(tmp_path) as state:
        run_batch(state, 0, [table_of(lines_of(record("e", "a", "b"), record("f", "b", "a")))], RNG)
        run_batch(state, 1, [table_of(lines_of(record("g", "i", "o")))], RNG)
        progress = state.close(stepped).topics["t"]
    assert (progress.exact, progress.report.cyclic) == (False, 4)
    assert edges_in(tmp_path / "store") == [("o", "i")]
    letters = read_letters(tmp_path / "store.dead.jsonl")
    assert sorted(each.origin for each in letters) == [
        "topic t, execution e, seq 0", "topic t, execution f, seq 0",
    ]  # fmt: skip
    assert all("lie on a cycle, for example through" in each.reason for each in letters)


def test_what_a_job_cannot_go_on_with_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EventsError, match="'rows' is not a partitioning"):
        StreamSettings(partitioning="rows")
    with opened(tmp_path) as state:
        state.begin("a")
        run_batch(state, 0, [table_of(lines_of(record("e", "i", "o")))], RNG)
    with opened(tmp_path) as state, pytest.raises(EventsError, match="another checkpoint"):
        state.begin("b")
    with pytest.raises(EventsError, match="other settings"), opened(tmp_path, shards=3):
        pass
    with Emitter(tmp_path / "in", "t") as emitter:
        emitter.record("F", "f", ["i"], ["o"])
    reduce_files([tmp_path / "in"], tmp_path / "files")
    other = Batches(tmp_path / "files", StreamSettings(), tmp_path / "own")
    with pytest.raises(EventsError, match="reduced without Spark"), other:
        pass
    with opened(tmp_path) as state:
        tables = [table_of(lines_of(record(f"e{n}", "i", "o")), 0) for n in range(2)]
    with (
        Batches(tmp_path / "s", StreamSettings(partitioning="source"), tmp_path / "o") as state,
        pytest.raises(EventsError, match="Two tasks have read partition 0"),
    ):
        run_batch(state, 0, tables, RNG)


def test_spark_takes_one_folder(tmp_path: Path) -> None:
    arguments = ["events", "reduce", str(tmp_path), "--store", "s", "--spark", "local[1]"]
    for more in (["--dead", "d"], ["--batch", "5"], [str(tmp_path)]):
        result = CliRunner().invoke(main, [*arguments, *more])
        assert result.exit_code == 2
        assert "--spark takes one folder" in result.output

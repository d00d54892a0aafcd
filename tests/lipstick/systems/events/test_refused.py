"""What is refused takes nothing else with it, is named with its line, and makes results inexact."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from graphquery.reduction.cycles import in_cycles
from graphquery.reduction.edges import Edges
from lipstick.cli import main
from lipstick.systems.events import Follower, Settings, reduce_files
from lipstick.systems.events.dead_letters import read_letters
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.message import EDGES, Message
from lipstick.systems.events.stream.batches import Batches
from lipstick.systems.events.stream.settings import StreamSettings
from semiring.semirings import Counting
from tests.lipstick.systems.events.inline import run_batch, stepped, table_of
from tests.lipstick.systems.events.reduced import edges_in


def derived(effect: str, cause: str, seq: int = 0, topic: str = "t") -> str:
    edges = [(effect, cause, "wasDerivedFrom")]
    return Message(topic, EDGES, f"{effect}{cause}", None, "F", "w", seq, 1, edges).line()


CYCLE = [derived("a", "b"), derived("b", "c"), derived("c", "a")]
BESIDE = [derived("o", "i"), derived("p", "a"), derived("c", "j"), derived("q", "r", topic="u")]


def test_a_loop_is_a_refused_line(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(derived("o", "i") + derived("a", "a"))
    outcome = reduce_files([tmp_path / "in.jsonl"], tmp_path / "store")
    assert (outcome.dead, outcome.exact) == (1, False)
    assert edges_in(tmp_path / "store") == [("o", "i")]
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert (letter.line, letter.reason[:32]) == (2, "an edge leads from an entity to "[:32])


@pytest.mark.parametrize("block", [150, 1 << 20])
def test_a_cycle_takes_no_other_edges_and_is_named_by_files_and_lines(
    block: int, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.jsonl").write_text(BESIDE[0] + CYCLE[0] + BESIDE[1])
    (tmp_path / "in" / "2.jsonl").write_text(CYCLE[1] + BESIDE[2] + CYCLE[2] + BESIDE[3])
    outcome = reduce_files([tmp_path / "in"], tmp_path / "store", Settings(block=block))
    assert not outcome.exact
    assert sorted(edges_in(tmp_path / "store")) == [("o", "i"), ("p", "j"), ("q", "r")]
    letters = read_letters(tmp_path / "store.dead.jsonl")
    places = [(Path(each.origin).name, each.line) for each in letters]
    assert places == [("1.jsonl", 2), ("2.jsonl", 1), ("2.jsonl", 3)]
    assert all("lie on a cycle" in each.reason for each in letters)
    checked = CliRunner().invoke(main, ["events", "check", str(tmp_path / "in")])
    assert checked.exit_code == 1
    document = CliRunner().invoke(main, ["events", "check", str(tmp_path / "in"), "--json"]).stdout
    assert len(json.loads(document)["refused"]) == 3
    assert "4 messages as the format says, 3 not" in checked.output


def test_serving_goes_on_over_a_cycle_and_when_it_is_started_again(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number, lines in enumerate((BESIDE[:1], CYCLE, BESIDE[1:])):
        (folder / f"{number}.jsonl").write_text("".join(lines))
        with Follower(folder, tmp_path / "store") as follower:
            follower.step()
    command = ["events", "serve", str(folder), "--store", str(tmp_path / "store"), "--close"]
    for _ in range(2):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 2, result.output
        assert "not exact" in result.output
    assert sorted(edges_in(tmp_path / "store")) == [("o", "i"), ("p", "j"), ("q", "r")]
    told = CliRunner().invoke(main, ["events", "stats", str(tmp_path / "store")])
    assert told.exit_code == 2


@pytest.mark.parametrize("seed", range(6))
def test_random_cycles_lose_no_pair_beside_them(seed: int, tmp_path: Path) -> None:
    """What came of a vertex of a cycle is taken to come of all of them, in any order."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 12, (14, 2)).tolist()
    edges = [(f"v{a}", f"v{b}") for a, b in ends if a != b]
    edges += [(f"o{a}", f"v{a}") for a, _ in ends] + [(f"v{b}", f"i{b}") for _, b in ends]
    lines = [derived(effect, cause, number) for number, (effect, cause) in enumerate(edges)]
    lines = [lines[n] for n in rng.permutation(len(lines))]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    settings = Settings(batch=3, block=int(rng.choice([300, 1 << 20])))
    outcome = reduce_files([tmp_path / "in.jsonl"], tmp_path / "store", settings)
    with Batches(tmp_path / "streamed", StreamSettings(shards=3), tmp_path / "own") as state:
        for number, part in enumerate(np.array_split(np.arange(len(lines)), 3)):
            rows = [(lines[n].encode(), "file", int(n)) for n in part]
            run_batch(state, number, [table_of(rows)], rng)
        closed = state.close(stepped).topics["t"]
    names = {name: n for n, name in enumerate(sorted({v for edge in edges for v in edge}))}
    source, dest = (np.array([names[edge[n]] for edge in edges]) for n in (0, 1))
    cyclic = in_cycles(Edges(source, dest), len(names))
    effects = frozenset(name for name in names if name[0] == "o")
    causes = frozenset(name for name in names if name[0] == "i")
    expected = _reached(edges, effects, causes)
    assert outcome.exact == closed.exact == (not cyclic.any())
    for store in ("store", "streamed"):
        assert _reached(edges_in(tmp_path / store), effects, causes) == expected


def _reached(
    edges: list[tuple[str, str]], effects: frozenset[str], causes: frozenset[str]
) -> set[tuple[str, str]]:
    pairs = set()
    for effect in effects:
        seen, waiting = {effect}, [effect]
        while waiting:
            vertex = waiting.pop()
            new = {b for a, b in edges if a == vertex} - seen
            seen |= new
            waiting += new
        pairs |= {(effect, each) for each in seen & causes}
    return pairs


def test_bad_lines_make_a_streamed_topic_inexact_also_when_they_come_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    with Batches(tmp_path / "store", StreamSettings(), tmp_path / "own") as state:
        run_batch(state, 0, [table_of([(derived("o", "i").encode(), "f", 1)])], rng)
        assert state.close(stepped).topics["t"].exact
        run_batch(state, 1, [table_of([(b"{bad", "f", 2)])], rng)
    told = CliRunner().invoke(main, ["events", "stats", str(tmp_path / "store"), "--format=json"])
    assert (json.loads(told.output)[0]["exact"], told.exit_code) == (False, 2)


def test_labels_that_are_no_elements_are_refused_lines(tmp_path: Path) -> None:
    line = json.loads(derived("o", "i"))
    lines = [line | {"labels": [value], "exec": str(value)} for value in (2, 1.5, -1)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)))
    settings = Settings(semiring=Counting())
    outcome = reduce_files([tmp_path / "in.jsonl"], tmp_path / "store", settings)
    assert outcome.dead == 2
    letters = read_letters(tmp_path / "store.dead.jsonl")
    assert [each.line for each in letters] == [2, 3]
    assert "is not an element of Counting" in letters[0].reason


def test_messages_are_read_packed_and_behind_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.jsonl.gz").write_bytes(gzip.compress(derived("o", "i").encode()))
    (tmp_path / "in" / "2.jsonl").write_bytes(b"\xef\xbb\xbf" + derived("p", "i").encode())
    (tmp_path / "in" / "3.jsonl.gz").write_bytes(gzip.compress(derived("x", "y").encode())[:-6])
    outcome = reduce_files([tmp_path / "in"], tmp_path / "store")
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert Path(letter.origin).name == "3.jsonl.gz"
    assert letter.reason.startswith("cannot be read")
    assert {("o", "i"), ("p", "i")} <= set(edges_in(tmp_path / "store"))
    assert not outcome.exact


def test_lines_and_identifiers_have_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("reduction", "parse"):
        monkeypatch.setattr(f"lipstick.systems.events.{module}.MAX_LINE", 200_000)
    long_name, long_line = derived("n" * 70_000, "i"), derived("n" * 150_000, "i")
    (tmp_path / "in.jsonl").write_text(
        derived("o", "i") + long_line + long_name + derived("p", "i") + long_line[:-1]
    )
    for block in (10_000, 1 << 20):
        store = tmp_path / str(block)
        outcome = reduce_files([tmp_path / "in.jsonl"], store, Settings(block=block))
        assert outcome.dead == 3
        letters = read_letters(tmp_path / f"{block}.dead.jsonl")
        assert [each.line for each in letters] == [2, 3, 5]
        assert ["MiB" in each.reason for each in letters] == [True, False, True]
        assert all(len(each.text) < 5_000 for each in letters)
        assert sorted(edges_in(store)) == [("o", "i"), ("p", "i")]


def test_refused_lines_are_not_copied_through_links(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.jsonl").symlink_to(tmp_path / "secret")
    (tmp_path / "in" / "good.jsonl").write_text(derived("o", "i"))
    assert not reduce_files([tmp_path / "in"], tmp_path / "store").exact
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert (Path(letter.origin).name, letter.line, letter.text) == ("link.jsonl", 1, "")
    assert "secret" not in (tmp_path / "store.dead.jsonl").read_text()
    (tmp_path / "other.dead.jsonl").symlink_to(tmp_path / "secret")
    with pytest.raises(EventsError, match="a symbolic link is not followed"):
        reduce_files([tmp_path / "in"], tmp_path / "other")
    assert (tmp_path / "secret").read_text() == "a secret\n"

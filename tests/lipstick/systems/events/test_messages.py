"""Messages are checked, counted once, and told of when they are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lipstick.systems.events.attempts import Attempts
from lipstick.systems.events.dead_letters import append_letters, read_letters
from lipstick.systems.events.files import reduce_files
from lipstick.systems.events.message import EDGES, END, Counts, Message
from lipstick.systems.events.parse import DeadLetter, parse
from lipstick.systems.events.run_settings import Settings
from tests.lipstick.systems.events.reduced import edges_in

GOOD = Message("t", EDGES, "f", None, "F", None, 0, 1, [("f", "i", "used")])


def _changed(**changes: object) -> str:
    document = GOOD.document() | changes
    kept = {name: value for name, value in document.items() if value is not ...}
    return json.dumps(kept)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (_changed(version=2), "version is not 1, which this release reads"),
        (_changed(topic=...), "topic is missing"),
        (_changed(topic=""), "topic is missing"),
        (_changed(kind="edge"), "kind is not edges, end or sealed"),
        (_changed(exec=...), "exec is missing"),
        (_changed(seq=-1), "seq is negative"),
        (_changed(kind="end"), "an end is of an attempt, and attempt is missing"),
        (_changed(kind="end", attempt=0), "counts.messages is missing"),
        (_changed(counts={"readers": -1}), "counts.readers is negative"),
        (_changed(edges=...), "edges are missing"),
        (_changed(edges=[["f", "i"]]), "an edge is not [source, destination, relation]"),
        (_changed(edges=[["f", "", "used"]]), "an edge has an empty end"),
        (_changed(edges=[["f", "i", "read"]]), "an edge has a relation that PROV has not"),
        (_changed(edges=[["g", "i", "used"]]), "an edge of type used is of another execution"),
        (_changed(labels=[1, 2]), "labels are not one for every edge"),
        (_changed(seq="0"), "number"),
        ("{", "Missing"),
        ("[]", "object to array"),
    ],
)
def test_a_bad_message_is_told_with_its_line_and_reason(line: str, reason: str) -> None:
    good = GOOD.line().encode()
    parsed = parse(good + b"\n" + line.encode() + b"\n" + good, "file", 10)
    assert len(parsed.messages) == 2
    (letter,) = parsed.dead
    assert (letter.origin, letter.line, letter.text) == ("file", 12, line)
    assert reason in letter.reason


def test_other_relations_of_prov_are_dropped_and_unknown_fields_ignored() -> None:
    edges = [["f", "i", "used"], ["f", "me", "wasAssociatedWith"]]
    parsed = parse(_changed(edges=edges, later={"a": 1}).encode(), "file")
    assert not parsed.dead
    assert len(parsed.messages) == 1


def test_what_a_dead_process_left_of_a_letter_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "dead.jsonl"
    first, second = DeadLetter("a", 1, "why", "x"), DeadLetter("a", 2, "why", "yü")
    append_letters(path, [first])
    with path.open("ab") as file:
        file.write(b'{"origin": "a", "li')
    assert read_letters(path) == [first]
    append_letters(path, [second])
    assert read_letters(path) == [first, second]


def _table(*messages: Message) -> object:
    parsed = parse(b"".join(message.line().encode() for message in messages), "")
    assert not parsed.dead
    return parsed.messages


def _attempt(number: int, time: int, *causes: str) -> list[Message]:
    sent = [
        Message("t", EDGES, "f", number, "F", None, seq, time, [("f", cause, "used")])
        for seq, cause in enumerate(causes)
    ]
    end = Counts(messages=len(causes))
    return [*sent, Message("t", END, "f", number, "F", None, len(causes), time, counts=end)]


def test_of_attempts_the_first_that_is_whole_counts() -> None:
    attempts = Attempts()
    failed, slow = _attempt(0, 1, "a", "b"), _attempt(1, 2, "a", "b")
    taken = attempts.take(_table(failed[0], slow[2], slow[1]))  # type: ignore[arg-type]
    assert not len(taken.counting)
    taken = attempts.take(_table(slow[0], slow[0]))  # type: ignore[arg-type]
    assert sorted(taken.counting.column("seq").to_pylist()) == [0, 1, 2]
    assert (taken.repeated, taken.abandoned) == (1, 1)
    taken = attempts.take(_table(*failed, *slow))  # type: ignore[arg-type]
    assert (len(taken.counting), taken.repeated, taken.abandoned) == (0, 3, 3)
    assert not len(attempts.held)


@pytest.mark.parametrize("attempt", [None, 0])
@pytest.mark.parametrize("together", [True, False])
def test_a_message_that_comes_again_with_other_edges_is_reported(
    attempt: int | None, together: bool, tmp_path: Path
) -> None:
    def sent(*edges: tuple[str, str, str]) -> str:
        return Message("t", EDGES, "f", attempt, "F", None, 0, 1, edges).line()

    use, generation = ("f", "i", "used"), ("o", "f", "wasGeneratedBy")
    end = Message("t", END, "f", 0, "F", None, 1, 1, counts=Counts(messages=1)).line()
    lines = [sent(use, generation), *([end] if attempt == 0 else [])]
    again = [sent(generation, use), sent(use, ("o", "f", "wasGeneratedBy"))]
    other = [sent(use, ("q", "f", "wasGeneratedBy"))]
    for number, rest in enumerate((again, other)):
        for each, text in enumerate(("".join(lines + rest), "")):
            (tmp_path / f"{number}").mkdir(exist_ok=True)
            (tmp_path / f"{number}" / f"{each}.jsonl").write_text(text)
        settings = Settings(block=1 << 20 if together else 100)
        outcome = reduce_files([tmp_path / f"{number}"], tmp_path / f"s{number}", settings)
        assert edges_in(tmp_path / f"s{number}") == [("o", "i")]
        assert outcome.topics["t"].repeated == len(rest)
        letters = read_letters(tmp_path / f"s{number}.dead.jsonl")
        assert len(letters) == outcome.dead == number
        assert outcome.exact == (number == 0)
    assert letters[0].origin.startswith("message again: topic t, exec f, ")


def test_the_watermark_passes_what_ended_before_it() -> None:
    attempts = Attempts(overlap=5)
    attempts.take(_table(*_attempt(0, 10, "a")))  # type: ignore[arg-type]
    attempts.forget(12)
    again = attempts.take(_table(*_attempt(1, 16, "a")))  # type: ignore[arg-type]
    assert again.abandoned == 2
    attempts.forget(20)
    assert not len(attempts.done)
    late = attempts.take(_table(*_attempt(0, 10, "a")))  # type: ignore[arg-type]
    assert (len(late.counting), len(late.late)) == (0, 2)


def test_a_run_over_other_files_is_refused_and_one_over_the_same_changes_nothing(
    tmp_path: Path,
) -> None:
    generation = Message("t", EDGES, "f", None, "F", None, 1, 1, [("o", "f", "wasGeneratedBy")])
    file = tmp_path / "in.jsonl"
    file.write_text(GOOD.line() + "bad\n" + generation.line())
    store = tmp_path / "store"
    for _ in range(2):
        outcome = reduce_files([file], store)
        assert (outcome.dead, outcome.topics["t"].exact, outcome.exact) == (1, False, False)
        assert edges_in(store) == [("o", "i")]
        assert len(read_letters(tmp_path / "store.dead.jsonl")) == 1
    with pytest.raises(Exception, match="The store has topic t already, from other files"):
        reduce_files([file], store, Settings(hubs=False))


@pytest.mark.parametrize("seed", range(12))
def test_random_jobs_through_files(seed: int, tmp_path: Path) -> None:
    from tests.lipstick.systems.events.random import run

    run(3000 + seed, tmp_path)


def test_random_jobs_have_late_messages_that_are_repaired(tmp_path: Path) -> None:
    from tests.lipstick.systems.events.random import run

    assert run(25, tmp_path) > 0

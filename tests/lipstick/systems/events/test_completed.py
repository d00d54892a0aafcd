"""The index of what counts already, held against a dictionary."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from lipstick.systems.events import attempts as module
from lipstick.systems.events.attempts import SINGLE, WHOLE, Done, FinishedAttempts


@pytest.mark.parametrize("colliding", [False, True])
def test_what_was_entered_is_found(colliding: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if colliding:  # identifiers are compared where hashes are equal
        monkeypatch.setattr(module, "hashed", lambda keys: np.zeros(len(keys), dtype=np.uint64))
        monkeypatch.setattr(module, "mixed", lambda values: values % np.uint64(2))
    rng = np.random.default_rng(1)
    done = Done()
    known: dict[tuple[str, int], tuple[int, int]] = {}
    for start in range(0, 300, 30):
        names = [f"e{number}" for number in range(start, start + int(rng.integers(1, 30)))]
        seq = np.array([WHOLE if rng.random() < 0.5 else int(rng.integers(3)) for _ in names])
        attempt = np.where(seq == WHOLE, rng.integers(0, 3, len(seq)), SINGLE)
        messages = np.where(seq == WHOLE, rng.integers(0, 9, len(seq)), 0)
        done.add(pa.array(names), seq, attempt, messages, np.full(len(seq), start))
        known |= {
            key: (int(a), int(m))
            for key, a, m in zip(
                zip(names, seq.tolist(), strict=True), attempt, messages, strict=True
            )
        }
    assert len(done) == len(known)
    assert len(done.runs) < 8
    names = [f"e{number}" for number in range(310)]
    for seq in (WHOLE, 0, 1, 2):
        attempt, messages, _ = done.find(pa.array(names), np.full(len(names), seq))
        told = {
            (name, seq): (int(a), int(m))
            for name, a, m in zip(names, attempt, messages, strict=True)
            if m >= 0
        }
        assert told == {key: value for key, value in known.items() if key[1] == seq}


def test_runs_are_stored_and_forgotten_as_a_whole() -> None:
    done = Done()
    times = np.arange(100)
    done.add(pa.array([f"e{n}" for n in range(100)]), times, times, times, times)
    (run,) = done.runs
    again = FinishedAttempts.of_table(run.table(), "a")
    assert again.name == "a"
    assert again.execs.equals(run.execs)
    done = Done([again])
    done.forget(20)  # most of it stays, and so does the file
    assert done.runs == [again]
    done.forget(60)
    assert len(done) == 40
    assert done.runs[0].name is None
    done.forget(1_000)
    assert not done.runs

"""A folder that files keep arriving in, followed by processes that are stopped in between."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from graphquery.store import Store
from lipstick.cli import main
from lipstick.systems.events import Emitter, EventsError, Follower, Settings
from lipstick.systems.events.store import check_reduced
from tests.graphquery.reduction.jobs import random_job
from tests.graphquery.reduction.oracle import swept
from tests.lipstick.systems.events.reduced import edges_in, pairs_in
from tests.lipstick.systems.events.sent import send


@pytest.mark.parametrize("seed", range(4))
def test_restarts_between_files_change_nothing(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(700 + seed)
    job = random_job(rng)
    sent = send(job, rng, functions=False)
    folder, store = tmp_path / "in", tmp_path / "store"
    folder.mkdir()
    settings = Settings(batch=5, block=1_500)
    follower = Follower(folder, store, settings)
    for number, lines in enumerate(np.array_split(np.arange(len(sent.lines)), 4)):
        # Names do not tell the order of arrival.
        name = f"{rng.integers(1000):03}-{number}.jsonl"
        (folder / name).write_bytes(b"".join(sent.lines[line] for line in lines))
        follower.step()
        if rng.random() < 0.6:
            with follower:  # it is stopped, with whatever was open
                pass
            follower = Follower(folder, store, settings)
    with follower:
        follower.step()
        outcome = follower.close()
    assert outcome.dead == sent.bad
    expected = swept({edge[:2] for edge in job.edges}, job.effects, job.causes)
    assert pairs_in(store, job.effects, job.causes) == expected
    ends = edges_in(store)
    assert len(ends) == len(set(ends))


def test_a_store_says_how_far_its_reduction_is_and_goes_on_from_there(tmp_path: Path) -> None:
    folder, store = tmp_path / "in", tmp_path / "store"
    folder.mkdir()
    for number in range(3):
        with Follower(folder, store) as follower:  # of the files before
            with Emitter(folder, "t") as emitter:
                emitter.record("F", f"f{number}", [f"i{number}"], [f"o{number}"], inputs=True)
            follower.step()
        topic = check_reduced(Store.open(store).snapshot())["t"]
        report = topic["progress"]["report"]
        # Nothing says how many will read the outputs: all stay open.
        assert (report["received"], report["kept"]) == (2 * number + 2, 0)
        assert report["open_edges"] == number + 1
        assert topic["oldest"] > 0
    with Follower(folder, store) as follower:
        assert follower.close().topics["t"].report.kept == 3
    assert check_reduced(Store.open(store).snapshot())["t"]["complete"]


def test_a_file_that_was_read_must_stay(tmp_path: Path) -> None:
    folder, store = tmp_path / "in", tmp_path / "store"
    folder.mkdir()
    with Emitter(folder, "t") as emitter:
        emitter.record("F", "f", ["i"], ["o"], readers=0, inputs=True)
    runner = CliRunner()
    result = runner.invoke(main, ["events", "serve", str(folder), "--store", str(store), "--close"])
    assert result.exit_code == 0, result.output
    assert "t: 2 edges in, 1 kept, ratio 2.00, state 0 edges; closed" in result.output
    assert edges_in(store) == [("o", "i")]
    (file,) = folder.iterdir()
    file.write_text("")
    with pytest.raises(EventsError, match="is gone or has changed"):
        Follower(folder, store)

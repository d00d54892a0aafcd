"""``lipstick fsck``, ``compact`` and ``vacuum``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from graphquery.store import Store
from lipstick.cli import main
from tests.graphquery.dealership import dealership
from tests.lipstick.stored import store_graph


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A sound store."""
    return store_graph(dealership(), tmp_path / "run")


def _call(command: str, store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [command, str(store), *arguments])


@pytest.mark.parametrize("command", ["fsck", "compact", "vacuum"])
def test_a_folder_that_is_no_store_is_told(command: str, tmp_path: Path) -> None:
    result = _call(command, tmp_path)
    assert result.exit_code == 2
    assert "is not a store: it has no format.json." in result.stderr
    assert "Traceback" not in result.output


def test_a_sound_store_is_sound(store: Path) -> None:
    result = _call("fsck", store)
    assert (result.exit_code, result.stdout) == (0, "sound\n")
    assert _call("fsck", store, "--format", "json").stdout == "[]\n"


def test_damage_is_named(store: Path) -> None:
    damaged = sorted((store / "data").rglob("*.parquet"))[0]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    result = _call("fsck", store, "--format", "json")
    assert result.exit_code == 1
    damages = [row for row in json.loads(result.stdout) if row["damage"] == "damaged"]
    assert damages[0]["where"] == damaged.relative_to(store).as_posix()
    assert damages[0]["what"].startswith("The file was truncated: ")
    assert damages[0]["remedy"] == "Restore it from a copy of the store."
    told = _call("fsck", store)
    assert told.exit_code == 1
    assert "The file was truncated: " in told.stdout


def test_what_is_left_over_is_no_damage(store: Path) -> None:
    (store / "data" / "forgotten.parquet").touch()
    result = _call("fsck", store)
    assert result.exit_code == 0
    assert result.stdout.endswith("0 damaged, 1 left over\n")


def test_compaction_and_vacuum_change_no_graph(store: Path) -> None:
    before = _call("fsck", store), CliRunner().invoke(main, ["graph", "show", str(store)]).stdout
    files = len(list((store / "data").rglob("*.parquet")))
    done = _call("compact", store).stdout.split()
    assert done[1:] == ["files", "merged", "into", done[4]]
    merged, into = int(done[0]), int(done[4])
    assert merged > into > 0
    assert _call("vacuum", store).stdout == "0 files deleted\n"
    assert _call("vacuum", store, "--older-than", "0s").stdout == f"{merged} files deleted\n"
    assert len(list((store / "data").rglob("*.parquet"))) == files - merged + into
    assert _call("fsck", store).stdout == before[0].stdout
    assert json.loads(_call("compact", store, "--json").stdout).keys() == {
        "files_before",
        "files_after",
    }
    assert json.loads(_call("vacuum", store, "--json").stdout) == {"files_deleted": 0}
    assert CliRunner().invoke(main, ["graph", "show", str(store)]).stdout == before[1]


@pytest.mark.parametrize("text", ["", "1", "d", "-1d", "1.5h", "1w"])
def test_other_times_are_refused(store: Path, text: str) -> None:
    result = _call("vacuum", store, "--older-than", text)
    assert result.exit_code == 2
    assert f"{text!r} is not a time." in result.stderr


def test_one_writer_at_a_time(store: Path) -> None:
    with Store.open(store).writer():
        result = _call("compact", store)
    assert result.exit_code == 2
    assert "Traceback" not in result.output

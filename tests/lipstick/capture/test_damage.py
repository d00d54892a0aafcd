"""Captures, and the provenance of tables, are whole or refused."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from lipstick.capture import contents
from lipstick.capture.capture import open_capture
from lipstick.capture.documents import seal
from lipstick.capture.manifest import Manifest
from lipstick.cli import main
from lipstick.errors import CaptureDamagedError, CaptureError, UncheckedWarning
from lipstick.tables.derivation import read_latest
from semiring.semirings import Counting
from tests.damage.held import EACH, SUBJECTS, Held
from tests.damage.subjects import WRITTEN, A, ATable
from tests.oracle.database import Database
from tests.oracle.written import write_capture

AMOUNT = int(os.environ.get("LIPSTICK_DAMAGES", "12"))
"""Damages of each subject; ``python -m tests.damage 0-4000`` does many."""
SQL = "SELECT k, count(*) AS n, sum(x) AS s FROM a WHERE x > 1 GROUP BY k"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A capture of a block with members and rows."""
    write_capture(SQL, Database({"a": A}), tmp_path / "c")
    return tmp_path / "c"


def _files(path: Path) -> list[Path]:
    return sorted(each for each in path.rglob("*") if each.is_file())


def _fsck(path: Path) -> Result:
    return CliRunner().invoke(main, ["fsck", str(path), "--format", "json"])


def _named(path: Path) -> list[tuple[str, str]]:
    """What fsck says is damaged, by where."""
    result = _fsck(path)
    damages = json.loads(result.stdout)
    assert result.exit_code == any(each["damage"] == "damaged" for each in damages)
    return [(each["where"], each["what"]) for each in damages if each["damage"] == "damaged"]


def _altered(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 4
    path.write_bytes(data)


# -- at random -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(len(SUBJECTS)))
def test_random_damage_is_told_or_harmless(number: int, tmp_path: Path) -> None:
    """Whatever file of whatever is stored: what is answered is right, and fsck names it."""
    held = Held(tmp_path)
    for seed in range(number * EACH, number * EACH + AMOUNT):
        held.hold(seed)
    assert held.answers["refused"] > 0
    assert held.fsck["named"] > 0


# -- captures ------------------------------------------------------------------------------------


def test_a_missing_file_is_told_when_a_capture_is_opened(capture: Path) -> None:
    for path in _files(capture):
        data = path.read_bytes()
        path.unlink()
        if path.name == "manifest.json":
            with pytest.raises(CaptureError, match="is not a capture: it has no manifest"):
                open_capture(capture)
            assert _named(capture) == [(str(path), "The manifest is missing.")]
        else:
            with pytest.raises(CaptureDamagedError, match=rf"{path}: The file is missing\."):
                open_capture(capture)
            assert _named(capture) == [(str(path), "The file is missing.")]
        path.write_bytes(data)
    assert _fsck(capture).exit_code == 0


def test_sizes_and_other_files_are_told_when_a_capture_is_opened(capture: Path) -> None:
    [path] = (capture / "b0" / "members").iterdir()
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    told = f"The file has {len(data) - 1} bytes, not {len(data)}."
    with pytest.raises(CaptureDamagedError, match=told):
        open_capture(capture)
    assert _named(capture) == [(str(path), told)]
    path.write_bytes(data)
    added = path.with_name("part-2.parquet")
    added.write_bytes(data)
    with pytest.raises(
        CaptureDamagedError, match=rf"{added}: It is not a file of the capture: remo"
    ):
        open_capture(capture)
    added.rename(path.with_name(".part-2.parquet"))  # nothing reads it
    assert open_capture(capture).df.num_rows == 4
    assert _named(capture) == []


def test_rows_are_told_when_a_capture_is_opened(capture: Path) -> None:
    """Also where size and checksum were written anew, by something else."""
    manifest = Manifest.read(capture)
    assert manifest.files is not None
    files = tuple(replace(file, rows=file.rows + 1) for file in manifest.files)
    (capture / "manifest.json").write_bytes(
        seal("capture", 2, replace(manifest, files=files).to_json())
    )
    with pytest.raises(CaptureDamagedError, match=r"parquet: The file has 27 rows, not 28\."):
        open_capture(capture)


def test_an_altered_bit_is_told_when_a_file_is_first_read(capture: Path) -> None:
    """In whatever byte, of data or of the footer."""
    [path] = (capture / "b0" / "members").iterdir()
    data = path.read_bytes()
    for offset in range(8, len(data) - 8, 37):
        _altered(path, offset)
        try:
            opened = open_capture(capture)
        except CaptureDamagedError:  # a footer that says another number of rows, or nothing
            pass
        else:
            with pytest.raises(CaptureDamagedError, match=rf"{path}: The file was altered"):
                _ = opened.df
        [(where, _)] = _named(capture)
        assert where == str(path)
        path.write_bytes(data)


def test_every_bit_of_a_manifest_counts(capture: Path) -> None:
    path = capture / "manifest.json"
    data = path.read_bytes()
    for offset in range(0, len(data), 101):
        _altered(path, offset)
        with pytest.raises(CaptureDamagedError, match=str(path)):
            open_capture(capture)
        path.write_bytes(data)
    for offset in range(80):  # the head, which says what it is
        bit = 1 << (offset % 7)
        path.write_bytes(data[:offset] + bytes([data[offset] ^ bit]) + data[offset + 1 :])
        with pytest.raises(CaptureDamagedError, match=str(path)):
            open_capture(capture)
    path.write_bytes(data)


def test_files_are_checked_once(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening reads none whole; the first question about a dataset reads its files."""
    read: list[str] = []
    whole = contents.file_checksum

    def counted(path: Path) -> str:
        read.append(path.parent.name)
        return whole(path)

    monkeypatch.setattr(contents, "file_checksum", counted)
    opened = open_capture(capture)
    assert read == []
    assert opened.df.num_rows == 4
    opened.lineage()
    opened._token_types()
    opened.algebra.evaluate(Counting())
    assert sorted(read) == ["members", "rows"]
    open_capture(capture).lineage()
    assert len(read) > 2  # another opening


def test_a_capture_of_format_1_opens_with_a_warning(capture: Path) -> None:
    """Whether files are there, with their rows, is seen all the same."""
    manifest = Manifest.read(capture)
    document = {**manifest.to_json(), "format": 1, "counts": {"b0": {"members": 31, "rows": 4}}}
    document["counts"]["b0"]["members"] = _rows_in(capture / "b0" / "members")
    del document["files"]
    (capture / "manifest.json").write_text(json.dumps(document))
    with pytest.warns(UncheckedWarning, match="of format 1, which says nothing of its files"):
        opened = open_capture(capture)
    assert opened.df.num_rows == 4
    assert opened.lineage()["a"].num_rows == document["counts"]["b0"]["members"]
    result = _fsck(capture)
    assert result.exit_code == 0
    assert "cannot be checked" in result.stderr
    [path] = (capture / "b0" / "rows").iterdir()
    for damage, told in ((path.unlink, "has no Parquet files"), (path.touch, "cannot be read")):
        damage()
        with pytest.warns(UncheckedWarning), pytest.raises(CaptureDamagedError, match=told):
            open_capture(capture)
        assert _fsck(capture).exit_code == 1


def _rows_in(folder: Path) -> int:
    return sum(pq.read_metadata(path).num_rows for path in folder.iterdir())


def test_what_a_killed_save_leaves_is_left_over(capture: Path) -> None:
    left = capture.parent / ".c.1234.incomplete"
    left.mkdir()
    result = CliRunner().invoke(main, ["fsck", str(capture)])
    assert result.exit_code == 0
    assert "0 damaged, 1 left over" in result.output


# -- tables --------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> ATable:
    """The provenance of a table, in two versions."""
    return ATable(tmp_path / "w", 3)


def test_provenance_of_a_table_is_sound(table: ATable) -> None:
    assert _named(table.path) == []
    assert read_latest(table.path).version == len(WRITTEN)


def test_a_missing_version_is_told(table: ATable) -> None:
    """Also the last one, by the copy that its part has."""
    for number in (1, 2):
        path = table.path / f"v{number:06}.json"
        data = path.read_bytes()
        path.unlink()
        if number == 2:
            with pytest.raises(CaptureDamagedError, match=rf"{path}: The version is missing\."):
                read_latest(table.path)
        assert _named(table.path) == [(str(path), "The version is missing.")]
        path.write_bytes(data)


def test_another_version_in_its_place_is_told(table: ATable) -> None:
    """A capture knows the version that it read by its checksum."""
    path = table.path / "v000002.json"
    path.write_bytes((table.path / "v000001.json").read_bytes())
    with pytest.raises(CaptureDamagedError, match="it is version 1, under another name"):
        read_latest(table.path)
    assert isinstance(table.answer("origins", table.path), CaptureDamagedError)


def test_rows_of_a_table_are_checked_before_they_are_read(table: ATable) -> None:
    [path, *_] = _files(table.path / "parts" / "p1" / "rows")
    _altered(path, path.stat().st_size // 2)
    for question in ("annotations", "origins", "rows read by Spark"):
        answer = table.answer(question, table.path)
        assert isinstance(answer, CaptureDamagedError)
        assert f"{path}: The file was altered" in str(answer)
    assert _named(table.path) == [(str(path), "The file was altered: its checksum is another one.")]

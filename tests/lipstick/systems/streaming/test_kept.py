"""Offsets that are kept: cut off anywhere, they are whole again, each batch once."""

from pathlib import Path

from lipstick.systems.streaming.kept import OFFSETS, keep, read_kept


def offsets(folder: Path, *numbers: int) -> None:
    (folder / "offsets").mkdir(exist_ok=True)
    for file in (folder / "offsets").iterdir():
        file.unlink()
    for number in numbers:
        (folder / "offsets" / str(number)).write_text(f'v1\n{{"batch":"é{number}"}}\n-')


def contents(*numbers: int) -> dict[int, str]:
    return {number: f'v1\n{{"batch":"é{number}"}}\n-' for number in numbers}


def test_what_spark_removes_is_kept(tmp_path: Path) -> None:
    offsets(tmp_path, 0, 1)
    assert keep(tmp_path, set()) == {0, 1}
    offsets(tmp_path, 1, 2)
    assert keep(tmp_path, {0, 1}) == {2}
    assert keep(tmp_path, {0, 1, 2}) == set()
    assert read_kept(tmp_path).offsets == contents(0, 1, 2)


def test_a_copy_cut_off_at_any_byte_is_made_again(tmp_path: Path) -> None:
    """As a process leaves it that is killed while it writes."""
    offsets(tmp_path, 0, 1, 2)
    keep(tmp_path, set())
    whole = (tmp_path / OFFSETS).read_bytes()
    for length in range(len(whole) + 1):
        (tmp_path / OFFSETS).write_bytes(whole[:length])
        keep(tmp_path, set(read_kept(tmp_path).offsets))
        assert (tmp_path / OFFSETS).read_bytes() == whole

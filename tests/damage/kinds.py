"""What may happen to the files of a folder."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

KINDS = (
    "removed",
    "emptied",
    "cut",
    "lengthened",
    "flipped",
    "flipped",
    "overwritten",
    "swapped",
    "added",
    "folder",
    "linked",
)
"""As often as they are drawn."""


@dataclass(frozen=True)
class Done:
    """What was done to a folder.

    Parameters
    ----------
    kind
        One of `KINDS`.
    file
        The file or folder below it.
    place
        The number of bytes that are left, the bit that is another, or the other file.
    """

    kind: str
    file: str
    place: int | str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.file} {self.place}".rstrip()


def damage(root: Path, seed: int) -> Done | None:
    """Damage a folder in a way that a seed says; None where that leaves it as it was."""
    chance = random.Random(seed)
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    path = chance.choice(files)
    name = path.relative_to(root).as_posix()
    kind = chance.choice(KINDS)
    data = path.read_bytes()
    if kind == "removed":
        path.unlink()
        return Done(kind, name)
    if kind == "folder":
        folders = sorted(each for each in root.rglob("*") if each.is_dir())
        gone = chance.choice(folders)
        shutil.rmtree(gone)
        return Done(kind, gone.relative_to(root).as_posix())
    if kind == "added":
        added = path.with_name(f"{chance.choice(['a', 'part-', 'zz'])}{path.name}")
        if added.exists():
            return None
        added.write_bytes(data)
        return Done(kind, added.relative_to(root).as_posix())
    if kind == "linked":
        away = root.parent / f"away-{seed}"
        away.write_bytes(data)
        path.unlink()
        path.symlink_to(away)
        return Done(kind, name)
    if kind == "swapped":
        other = chance.choice(files)
        if other.read_bytes() == data:
            return None
        path.write_bytes(other.read_bytes())
        other.write_bytes(data)
        return Done(kind, name, other.relative_to(root).as_posix())
    return _changed(kind, path, name, data, chance)


def _changed(kind: str, path: Path, name: str, data: bytes, chance: random.Random) -> Done | None:
    """Change the bytes of a file."""
    if not data:
        return None
    offset = chance.randrange(len(data))
    if kind == "emptied":
        offset, changed = 0, b""
    elif kind == "cut":
        changed = data[:offset]
    elif kind == "lengthened":
        changed = data + chance.randbytes(1 + offset % 16)
    elif kind == "overwritten":  # a sector, say
        some = chance.randbytes(min(64, len(data) - offset))
        changed = data[:offset] + some + data[offset + len(some) :]
    else:
        offset = chance.randrange(8 * len(data))
        at, bit = divmod(offset, 8)
        changed = data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]
    if changed == data:
        return None
    path.write_bytes(changed)
    return Done(kind, name, offset)

"""Folders of cases: an input and the texts it must become.

``LIPSTICK_UPDATE_CASES=1`` writes what the code says now; read the difference before keeping it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

ADVISED = "advised.sql"
"""Beside the error of a case, the query that its advice leads to."""

UPDATE = bool(os.environ.get("LIPSTICK_UPDATE_CASES"))


def names(folder: Path, given: str = "input.sql") -> list[str]:
    """Return the names of the cases of a folder, whose inputs have a suffix."""
    return sorted(path.name.removesuffix(f".{given}") for path in folder.glob(f"*.{given}"))


def check(folder: Path, name: str, texts: Mapping[str, str], kinds: Iterable[str]) -> None:
    """Compare the outcomes of a case, by suffix, with its files.

    ``kinds`` are all suffixes that a case may have; those without an outcome have no file.
    """
    for kind in kinds:
        path = folder / f"{name}.{kind}"
        if UPDATE and kind in texts:
            path.write_text(texts[kind])
        elif UPDATE:
            path.unlink(missing_ok=True)
        assert path.exists() == (kind in texts), f"{path.name}: {texts.get(kind, 'no outcome')}"
        if kind in texts:
            assert texts[kind] == path.read_text()


def orphans(folder: Path, kinds: Iterable[str], given: str = "input.sql") -> set[str]:
    """Return the files of a folder that belong to no case."""
    wanted = {f"{name}.{kind}" for name in names(folder, given) for kind in (given, *kinds)}
    return {path.name for path in folder.iterdir()} - wanted

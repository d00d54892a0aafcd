"""Folders that hold values of relations: captures, stores, and files of exports."""

from __future__ import annotations

import json
from pathlib import Path

from graphquery.store.format import FORMAT_FILE
from lipstick.capture.contents import MANIFEST
from lipstick.errors import ErasureError


def holder_kind(path: Path) -> str | None:
    """Return ``capture``, ``store`` or ``file``; None for any other folder."""
    if path.is_file():
        return "file"
    if (path / FORMAT_FILE).is_file() and (path / "log").is_dir():
        return "store"
    try:
        manifest = json.loads((path / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    known = isinstance(manifest, dict) and {"blocks", "relations"} <= manifest.keys()
    return "capture" if known else None


def check_holder(path: Path) -> None:
    """Refuse to drop a folder that is neither a capture nor a store.

    Raises
    ------
    ErasureError
    """
    if path.exists() and holder_kind(path) is None:
        raise ErasureError(
            f"{path} is neither a capture nor a store nor a file: it is not removed.\n"
            "Remove it yourself; verify searches it where it is named in search=."
        )


def holder_of(path: Path) -> tuple[str, Path] | None:
    """Return the kind and the folder of the capture or store that a file is part of."""
    for folder in path.parents:
        kind = holder_kind(folder)
        if kind is not None:
            return kind, folder
    return None

"""Folders that hold values of relations: captures, stores, and files of exports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphquery.store.format import FORMAT_FILE
from lipstick.capture.contents import MANIFEST
from semiring.errors import LipstickError

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/")
"""The beginning of a URI; a path of pathlib has lost one of its slashes."""


def holder_kind(path: Path) -> str | None:
    """Return ``capture``, ``store`` or ``file``; None for any other folder."""
    if path.is_file():
        return "file"
    if (path / FORMAT_FILE).is_file() and (path / "log").is_dir():
        return "store"
    return None if manifest_of(path) is None else "capture"


def manifest_of(path: Path) -> dict[str, Any] | None:
    """Return the content of the manifest of a capture; None: the folder is not a capture."""
    try:
        sealed = json.loads((path / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    content = sealed.get("content", sealed) if isinstance(sealed, dict) else {}
    known = isinstance(content, dict) and {"blocks", "relations"} <= content.keys()
    return content if known else None


def captures_of(roots: Iterable[str], versions: Mapping[str, int | None]) -> Iterator[Path]:
    """Yield captures below some folders that were made of other versions of tables.

    Parameters
    ----------
    versions
        By the identity of a table, the version that captures may be of.
    """
    for root in roots:
        for file in Path(root).rglob(MANIFEST) if Path(root).is_dir() else ():
            relations = (manifest_of(file.parent) or {}).get("relations", {})
            pinned = [p for each in relations.values() for p in each.get("versions", ())]
            read = ((p["identity"], p["version"]) for p in pinned)
            # A version of a branch is none that the table has now.
            tables = (
                (name if name in versions else name.rpartition("#")[0], version)
                for name, version in read
            )
            if any(name in versions and version != versions[name] for name, version in tables):
                yield file.parent


def check_holder(path: Path) -> None:
    """Refuse to drop a folder that is neither a capture nor a store, or is on no local disk.

    Raises
    ------
    LipstickError
    """
    if _SCHEME.match(str(path)):
        raise LipstickError(
            f"{path} is not a local path: it is not removed.\n"
            "Remove it yourself; verify names it as not searched where it is named in search=."
        )
    if path.exists() and holder_kind(path) is None:
        raise LipstickError(
            f"{path} is neither a capture nor a store nor a file: it is not removed.\n"
            "Remove it yourself; verify searches it where it is named in search=."
        )


def is_remote(path: str) -> bool:
    """Return True for a path in a file system that is none of this machine."""
    return bool(_SCHEME.match(path)) and not path.startswith("file:")


def holder_of(path: Path) -> tuple[str, Path] | None:
    """Return the kind and the folder of the capture or store that a file is part of."""
    for folder in path.parents:
        kind = holder_kind(folder)
        if kind is not None:
            return kind, folder
    return None

"""The format of a store, its version, and migrations from older versions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from graphquery.errors import StoreDamagedError, StoreError, StoreFormatError
from graphquery.store.file_system import StoreFiles
from graphquery.store.lock import WriterLock
from semiring.support.document import check_shape, read_json

FORMAT = "lipstick-store"
VERSION = 1
FORMAT_FILE = "format.json"
LOG = "log"
DATA = "data"
STAGING = "staging"
CHECKPOINTS = "checkpoints"
FOLDERS = (LOG, DATA, STAGING, CHECKPOINTS)


@dataclass(frozen=True, slots=True)
class Format:
    """The content of ``format.json``.

    Parameters
    ----------
    version
        The version of the format.
    store
        The identity of the store, at which the chain of its commits starts.
    """

    version: int
    store: str

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        document = {"format": FORMAT, "version": self.version, "store": self.store}
        return json.dumps(document, indent=1).encode()


class _Document(TypedDict):
    format: str
    version: int
    store: str


@dataclass(frozen=True, slots=True)
class Migration:
    """The migration of a store from one version to the next.

    Parameters
    ----------
    description
        A description of the changes, for people.
    apply
        A function that migrates the store at a path. It is applied again after an interruption, so
        it must be idempotent.
    """

    description: str
    apply: Callable[[Path, StoreFiles], None]


MIGRATIONS: Mapping[int, Migration] = {}
"""Migrations by the version that they start from; version 1 is the first and needs none."""


def read_format(root: Path) -> Format:
    """Read ``format.json``, of any version.

    Raises
    ------
    StoreError
        When the folder is not a store.
    StoreDamagedError
        When the file cannot be understood.
    """
    path = root / FORMAT_FILE
    try:
        document = read_json(path.read_bytes())
        check_shape(document, _Document)
        stored = Format(document["version"], document["store"])
        name = document["format"]
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            f"{root} is not a store: it has no {FORMAT_FILE}.\n"
            "Give the folder of a store, or make one with Store.create(path)."
        ) from None
    except (OSError, ValueError) as error:
        raise StoreDamagedError(
            f"{path} cannot be understood: {error!r}.\nRestore it from a copy of the store."
        ) from error
    if name != FORMAT:
        raise StoreError(f"{root} is not a store: its format is {name!r}, not {FORMAT!r}.")
    return stored


def check_format(root: Path) -> Format:
    """Read ``format.json``, which must be of the present version.

    Raises
    ------
    StoreFormatError
        The version is not the present one.
    """
    known = read_format(root)
    if known.version > VERSION:
        raise StoreFormatError(
            f"The store {root} has format version {known.version}; this version of lipstick reads "
            f"{VERSION}.\nUpgrade lipstick-spark."
        )
    if known.version < VERSION:
        raise StoreFormatError(
            f"The store {root} has format version {known.version}; this version of lipstick reads "
            f"{VERSION}.\nBring it forward with graphquery.store.migrate(path); keep a copy."
        )
    return known


def migrate(
    path: str | Path,
    *,
    target: int = VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    files: StoreFiles | None = None,
) -> list[str]:
    """Migrate a store to the present format, one version after the other.

    Calling this again continues an interrupted migration. Nobody else may use the store meanwhile.

    Returns
    -------
    list
        The descriptions of the migrations applied; empty if the store is of the target's version.

    Raises
    ------
    StoreFormatError
        When the store is newer than the target, or a migration on the way is missing; nothing is
        changed then.
    StoreError
        When a writer holds the store.
    """
    root = Path(path)
    files = files or StoreFiles()
    known = read_format(root)
    if known.version > target:
        raise StoreFormatError(
            f"The store {root} has format version {known.version}, newer than {target}; "
            "there is no way back.\nUpgrade lipstick-spark."
        )
    missing = [version for version in range(known.version, target) if version not in migrations]
    if missing:
        raise StoreFormatError(
            f"There is no migration of the store {root} from format version {missing[0]} to "
            f"{missing[0] + 1}.\nUse the release of lipstick-spark that wrote it."
        )
    applied = []
    with WriterLock(root, files):
        for version in range(read_format(root).version, target):
            migrations[version].apply(root, files)
            files.replace(root / FORMAT_FILE, Format(version + 1, known.store).to_bytes())
            applied.append(migrations[version].description)
    return applied

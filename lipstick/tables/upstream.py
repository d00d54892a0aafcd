"""Where the provenance of written tables is that a capture refers to, when its folder travels.

A capture names the version of each written table that its query read three times: by the path from
its own folder, by the path in the file system, and by a checksum. A bundle has the versions, with
the captures of the queries that made their rows, and what is upstream of these::

    upstream/<checksum of the version's file>/v000001.json
    upstream/<checksum of the version's file>/parts/...

No file of theirs is changed, so that checksums hold; references in them are found by checksum.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lipstick.capture.contents import UPSTREAM
from lipstick.capture.manifest import RelationRecord
from lipstick.errors import CaptureError
from lipstick.tables.derivation import CAPTURE, Derivation, Part
from lipstick.tables.parts import FILLED_FILES

if TYPE_CHECKING:
    from lipstick.tables.ancestry import Ancestry


def placed(record: RelationRecord, directory: Path) -> RelationRecord:
    """Return a record with the path of its version as it is found from a capture's folder.

    That is the one whose checksum is right among: in the bundle of the capture, or in the bundle
    that the capture is in; from the folder of the capture; where it was when it was written.
    """
    if record.derived is None:
        return record
    written = Path(record.derived)
    places = (
        [written] if record.derived_from is None else [directory / record.derived_from, written]
    )
    if record.derived_checksum is not None:
        bundles = [directory / UPSTREAM, *(p for p in directory.parents if p.name == UPSTREAM)]
        places = [bundle / record.derived_checksum / written.name for bundle in bundles] + places
    present = [place for place in places if place.is_file()]
    chosen = next((place for place in present if _is_it(place, record)), None)
    found = chosen or next(iter(present), written)
    return replace(record, derived=str(found.resolve()))


def _is_it(place: Path, record: RelationRecord) -> bool:
    if record.derived_checksum is None:
        return True
    return hashlib.sha256(place.read_bytes()).hexdigest() == record.derived_checksum


def copy_upstream(ancestry: Ancestry, directory: Path) -> None:
    """Copy all that is upstream of a capture into its folder.

    Raises
    ------
    CaptureError
        Where a version is of format 1, to which nothing refers by a checksum.
    """
    for record in ancestry.all_records():
        if record.derived is None:
            continue
        if record.derived_checksum is None:
            raise CaptureError(
                f"The provenance of {record.name!r}, {record.derived}, has no checksum by which a "
                "bundle could refer to it.\nWrite the table anew, or save without bundle=True."
            )
        target = directory / UPSTREAM / record.derived_checksum
        if target.exists():
            continue
        derivation = ancestry.derivation(record)
        derivation.check()
        for part in derivation.parts:
            _copy_part(derivation, part, target)
        shutil.copy2(derivation.path, target / derivation.path.name)


def _copy_part(derivation: Derivation, part: Part, target: Path) -> None:
    """Copy what a version needs of a part: its rows, what fills it, and its capture."""
    source = derivation.directory / "parts"
    folders = [(part.name, part.folder), (part.name, FILLED_FILES), (part.name, CAPTURE)]
    folders += [(replaced.part, FILLED_FILES) for replaced in part.replaced]
    for name, folder in folders:
        if (source / name / folder).is_dir():
            shutil.copytree(
                source / name / folder,
                target / "parts" / name / folder,
                copy_function=_linked,
                ignore=shutil.ignore_patterns(UPSTREAM),
                dirs_exist_ok=True,
            )


def _linked(source: str, target: str) -> None:
    """Copy a file that never changes: by another name for it where the disk is the same."""
    if not Path(target).exists():
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)

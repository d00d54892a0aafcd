"""Checking captures and the provenance of written tables: all of their files, read once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from graphquery.store.fsck import Damage
from lipstick.capture.contents import MANIFEST, UPSTREAM, Contents
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.capture.writer import INCOMPLETE
from lipstick.errors import CaptureDamagedError, CaptureNotHereError, UncheckedWarning
from lipstick.tables.ancestry import placed
from lipstick.tables.derivation import (
    Derivation,
    Part,
    kept_versions,
    latest_version,
    read_version,
    version_path,
)

_RESTORE = "Restore it from a copy."
_REMOVE = "Remove it, unless something is being written."


def is_capture(path: Path) -> bool:
    """Return True if a folder is, or was, a capture."""
    return (path / MANIFEST).exists() or any(path.glob("*/members"))


def is_derivation(path: Path) -> bool:
    """Return True if a folder is, or was, the provenance of a written table."""
    return latest_version(path) > 0 or (path / "parts").is_dir()


def check_capture(path: Path) -> list[Damage]:
    """Check a capture, reading all of it once; changes nothing.

    Returns
    -------
    list
        What is wrong, damage before what is left over; empty for a sound capture.

    Raises
    ------
    CaptureError
        When it is of a later version.

    Warns
    -----
    UncheckedWarning
        When it is of format 1: that files are there with their rows is all that is checked.
    """
    damages = list(_capture(path, None))
    for left in sorted(path.absolute().parent.glob(f".{path.absolute().name}.*{INCOMPLETE}")):
        what = "A save was interrupted, or is at work."
        damages.append(Damage(what, str(left), _REMOVE, garbage=True))
    return damages


def _capture(path: Path, expected: str | None) -> Iterator[Damage]:
    if not (path / MANIFEST).exists():
        yield Damage("The manifest is missing.", str(path / MANIFEST), _RESTORE)
        return
    try:
        manifest = Manifest.read(path, expected)
    except CaptureDamagedError as error:
        yield _damage(path / MANIFEST, error)
        return
    yield from _contents(manifest.contents(path))
    for record in manifest.relations.values():
        yield from _reference(placed(record, path))


def _reference(record: RelationRecord) -> Iterator[Damage]:
    """Yield the damage of the version of a written table that a capture refers to.

    In a bundle all of its files are checked; elsewhere it may be checked by itself.
    """
    if record.derived is None:
        return
    file = Path(record.derived)
    try:
        version = read_version(file, record.derived_checksum)
    except CaptureNotHereError as error:
        what, _, remedy = str(error).partition("\n")
        yield Damage(what.replace(f": {file}", ""), str(file), remedy, absent=True)
        return
    except CaptureDamagedError as error:
        yield _damage(file, error)
        return
    if file.parent.parent.name == UPSTREAM:
        for part in version.parts:
            yield from _part(version, part, again=False)


def check_derivation(path: Path) -> list[Damage]:
    """Check the provenance of a written table: versions, rows and captures; changes nothing.

    Returns
    -------
    list
        The faults, damage before leftovers; empty if there are none.

    Raises
    ------
    CaptureError
        When a version is of a later format.

    Warns
    -----
    UncheckedWarning
        When a version is of format 1, which does not list its files.
    """
    kept = kept_versions(path)
    last = max([latest_version(path), *kept.values()])
    if not last:
        return [Damage("There is no version.", str(path), "Write the table again.")]
    damages: list[Damage] = []
    versions: list[Derivation] = []
    for number in range(1, last + 1):
        file = version_path(path, number)
        try:
            versions.append(read_version(file))
        except CaptureNotHereError:
            damages.append(Damage("The version is missing.", str(file), _RESTORE))
        except CaptureDamagedError as error:
            damages.append(_damage(file, error))
    looked: set[tuple[str, str]] = set()
    for version in versions:
        for part in version.parts:
            if (part.name, part.folder) not in looked:
                damages += _part(version, part, again=any(part.name == name for name, _ in looked))
                looked.add((part.name, part.folder))
    for copy, number in kept.items():
        file = version_path(path, number)
        if copy.is_symlink() or (file.exists() and copy.read_bytes() != file.read_bytes()):
            damages.append(Damage(f"It is not what {file.name} is.", str(copy), _RESTORE))
    if len(versions) == last:  # else what the others name would seem left over
        damages += _left_over(path, versions)
    return damages


def _part(version: Derivation, part: Part, *, again: bool) -> Iterator[Damage]:
    yield from _contents(version.contents(part))
    if part.captured and not again:
        yield from _capture(version.capture(part), part.manifest)


def _left_over(path: Path, versions: list[Derivation]) -> Iterator[Damage]:
    for version in versions:
        kept = version.directory / "parts" / version.parts[-1].name / version.path.name
        if kept.parent.is_dir() and not kept.exists():
            what = f"The copy of {version.path.name} is missing: a write was interrupted."
            yield Damage(what, str(kept), "Nothing needs it.", garbage=True)
    named = {part.name for version in versions for part in version.parts}
    named |= {r.part for version in versions for part in version.parts for r in part.replaced}
    what = "No version names it: a write was interrupted, is at work, or the last one is missing."
    for folder in sorted((path / "parts").glob("*")):
        if folder.name not in named:
            yield Damage(what, str(folder), _REMOVE, garbage=True)
    for file in sorted(path.glob(".v*")):
        yield Damage("A write was interrupted, or is at work.", str(file), _REMOVE, garbage=True)
    for file in sorted(path.glob("announced-*.json")):
        what = "A table was being written, or is: the next write to it finishes the version."
        remedy = "Write to the table, or restore it, unless something is at work."
        yield Damage(what, str(file), remedy, garbage=True)
    known = {version.path for version in versions} | kept_versions(path).keys()
    for file in sorted([*path.glob("*"), *(path / "parts").glob("*/*")]):
        is_ours = file in known or file.name.startswith((".", "announced-"))
        if file.is_file() and not is_ours:
            yield Damage(
                "It is not a file of the table's provenance.", str(file), "Remove it.", True
            )


def _contents(contents: Contents) -> Iterator[Damage]:
    for fault in contents.faults(checksums=True):
        yield Damage(fault.what, str(fault.where), _RESTORE)


def _damage(path: Path, error: CaptureDamagedError) -> Damage:
    what, _, remedy = str(error).partition("\n")
    return Damage(what if what.endswith(".") else f"{what}.", str(path), remedy or _RESTORE)


def told_quietly() -> warnings.catch_warnings[list[warnings.WarningMessage]]:
    """Record what is warned of while something is checked."""
    return warnings.catch_warnings(record=True, category=UncheckedWarning, action="always")

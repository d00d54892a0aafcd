"""The upstream relations of a query: the relations it reads, and what its derived relations read.

A capture names the version of each written table that its query read three times: by the path from
its own folder, by the absolute path, and by a checksum. A bundle contains the versions, the
captures of the queries that made their rows, and everything upstream of these::

    upstream/<checksum of the version's file>/v000001.json
    upstream/<checksum of the version's file>/parts/...

No file of theirs is changed, so that checksums hold; references in them are resolved by checksum.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lipstick.capture.contents import UPSTREAM
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.errors import CapabilityError, CaptureError, TrackingError
from lipstick.tables.derivation import CAPTURE, FILLED_FILES, Derivation, Part, read_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lipstick.tracking.tracker import Tracked


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


Records = Mapping[str, RelationRecord]


class Ancestry:
    """The relations of a query and, through derivations, all relations these were made from.

    Parameters
    ----------
    relations
        The relations that the query reads.
    directory
        The folder of its capture, from which written tables' provenance is found; None: it has
        none, and the paths are this session's.
    """

    def __init__(self, relations: Records, directory: Path | None = None) -> None:
        if directory is not None:
            relations = {name: placed(each, directory) for name, each in relations.items()}
        self.relations = relations
        self._known: dict[str, Derivation] = {}
        self._manifests: dict[Path, Manifest] = {}

    def derivation(self, record: RelationRecord) -> Derivation:
        """Return what a derived relation was made of."""
        assert record.derived is not None
        if record.derived not in self._known:
            self._known[record.derived] = read_version(
                Path(record.derived), record.derived_checksum
            )
        return self._known[record.derived]

    def manifest(self, derivation: Derivation, part: Part) -> Manifest:
        """Return the manifest of the capture of a part."""
        path = derivation.capture(part)
        if path not in self._manifests:
            manifest = Manifest.read(path, part.manifest)
            found = {name: placed(each, path) for name, each in manifest.relations.items()}
            self._manifests[path] = replace(manifest, relations=found)
        return self._manifests[path]

    @cached_property
    def records(self) -> Records:
        """All relations by name; of a table that was added to, the last version."""
        latest: dict[str, RelationRecord] = {}
        for record in self._all(self.relations):
            known = latest.setdefault(record.name, record)
            if len(self._parts(record)) > len(self._parts(known)):
                latest[record.name] = record
        return latest

    @cached_property
    def ambiguous(self) -> frozenset[str]:
        """Names of relations that were written anew since something was made of them."""
        return frozenset(
            record.name
            for record in self._all(self.relations)
            if not self._extends(self.records[record.name], record)
        )

    def _extends(self, last: RelationRecord, record: RelationRecord) -> bool:
        """Return True if the tuples of a record have the same names in the last record."""
        if (last.naming, last.token) != (record.naming, record.token):
            return False
        if last.derived is None or record.derived is None:
            return (last.derived, last.fingerprint) == (record.derived, record.fingerprint)
        parts = self._parts(record)
        return self._parts(last)[: len(parts)] == parts

    def _parts(self, record: RelationRecord) -> tuple[Part, ...]:
        return self.derivation(record).parts if record.derived else ()

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all of them, in lower case."""
        return frozenset(name.lower() for name in self.records)

    def check_unambiguous(self, names: Iterable[str]) -> None:
        """Refuse questions about relations read in several versions.

        Raises
        ------
        TrackingError
            When the relation was written anew, or tracked otherwise, in between.
        """
        for name in names:
            if name.lower() in {other.lower() for other in self.ambiguous}:
                raise TrackingError(
                    f"{name!r} is not the {name!r} any more that a derived relation was made of: "
                    "its rows, or their names, are others.\nWrite the derived relation anew."
                )

    def check_not_above(self, changed: Collection[str]) -> None:
        """Refuse changes of relations that derived relations of the same query were made of.

        Raises
        ------
        CapabilityError
            The derived relations would be others, too.
        """
        parts = (
            (record, part) for record in self.relations.values() for part in self._parts(record)
        )
        for record, part in parts:
            above = self.names_above(self.derivation(record), part) if part.captured else ()
            for name in above:
                if any(name == each.lower() for each in changed):
                    raise CapabilityError(
                        f"{record.name!r}, which the query reads too, was made from {name!r}: new "
                        "values are not followed through it.\nWrite its query into this one: "
                        "WITH t AS (...)."
                    )

    def names_above(self, derivation: Derivation, part: Part) -> frozenset[str]:
        """Return the names of all that a part was made of, in lower case."""
        records = self._all(self.manifest(derivation, part).relations)
        return frozenset(record.name.lower() for record in records)

    def all_records(self) -> Iterator[RelationRecord]:
        """Yield the records of all relations, of each version of a written table one."""
        return self._all(self.relations)

    def _all(self, relations: Records) -> Iterator[RelationRecord]:
        waiting = [relations]
        seen: set[str] = set()
        while waiting:
            records = waiting.pop(0)
            for record in records.values():
                yield record
                if record.derived is None or record.derived in seen:
                    continue
                seen.add(record.derived)
                derivation = self.derivation(record)
                captured = (part for part in derivation.parts if part.captured)
                waiting += [self.manifest(derivation, part).relations for part in captured]


def readable(
    spark: SparkSession,
    ancestry: Ancestry,
    record: RelationRecord,
    tracked: Mapping[str, Tracked],
) -> RelationRecord:
    """Return a record with a view that is there, if its rows are known to this session."""
    if spark.catalog.tableExists(record.view):
        return record
    if record.derived is not None:
        from lipstick.tables.derived_rows import relation_rows

        view = f"_lipstick_derived_{uuid.uuid4().hex[:8]}"
        relation_rows(spark, ancestry.derivation(record)).createOrReplaceTempView(view)
        return replace(record, view=view)
    tracked_relation = next(
        (t for t in tracked.values() if t.name.lower() == record.name.lower()), None
    )
    if tracked_relation is not None and _same(tracked_relation, record):
        return replace(record, view=tracked_relation.view)
    return record


def _same(tracked: Tracked, record: RelationRecord) -> bool:
    named = (tracked.naming.value, tracked.token) == (record.naming, record.token)
    return named and tracked.source.fingerprint == record.fingerprint

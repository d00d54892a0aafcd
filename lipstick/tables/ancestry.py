"""The relations that a query reads, and those that its derived relations were made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.errors import TrackingError
from lipstick.tables.derivation import Derivation, Part, read_version
from lipstick.tables.upstream import placed

Records = Mapping[str, RelationRecord]


class Ancestry:
    """The relations of a query and, through derivations, all that they were made of.

    Parameters
    ----------
    relations
        Those that the query reads.
    directory
        The folder of its capture, from which written tables' provenance is found; None: it has
        none, and the paths are those of this session.
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
        """Tell whether the tuples of a record are named as they are in the last one."""
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
        """Refuse to ask about relations of which several versions were read.

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

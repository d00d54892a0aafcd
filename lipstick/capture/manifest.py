"""The manifest of a capture: everything that is not in its Parquet files.

Layout of a capture, readable with pyarrow alone::

    manifest.json           written last; a directory without it is not a capture
    b1/members/*.parquet    one row per member: tokens, references, stored columns
    b1/rows/*.parquet       one row per tuple: identity, aggregates, outputs, _present, _o0...
    b0/...                  the block that yields the answer

The manifest lists the files, and carries a checksum of itself; ``lipstick fsck`` compares a capture
with it. Manifests of format 1 do not list files: these captures open with a warning.

Tokens are columns of members, as they are in the relation: integers stay integers. A member whose
token columns are all NULL did not use that scan (a branch of UNION ALL not taken).
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NotRequired, Required, TypeAlias, TypedDict

from lipstick.capture.contents import (
    MANIFEST,
    Contents,
    StoredFile,
    describe,
    stored_files,
)
from lipstick.capture.documents import (
    altered,
    check_harmless,
    check_types,
    seal,
    unseal,
    ununderstood,
)
from lipstick.errors import CaptureDamagedError, CaptureError, LipstickError, UncheckedWarning
from lipstick.tracking.states import PinnedVersion
from rewriter.blocks import Block, core_relations, topological
from rewriter.blocks.serialize import blocks_from_json, blocks_to_json
from semiring.support.document import check_shape, file_checksum

__all__ = ["FORMAT", "MANIFEST", "KeptValues", "Manifest", "RelationRecord", "SparkSchema"]

FORMAT = 2
KIND = "capture"

KeptValues: TypeAlias = Literal["copy", "reference"]
"""The storage of aggregated values in a capture: beside the tokens, or looked up by tokens."""


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """The record of a tracked relation in a capture."""

    name: str
    view: str
    naming: str
    token: tuple[str, ...]
    columns: tuple[str, ...]
    verified: bool
    description: str
    files: tuple[str, ...] = ()
    fingerprint: tuple[tuple[str, int, int], ...] = ()
    derived: str | None = None
    """The version of its derivation, where it was written by an annotated query."""
    derived_from: str | None = None
    """The path of that version from the folder of the capture."""
    derived_checksum: str | None = None
    """Of the file of that version; None: not known."""
    versions: tuple[PinnedVersion, ...] = ()
    """The versions of tables of Delta and Iceberg that its rows are read from."""


class _Field(TypedDict):
    name: str
    type: str | dict[str, Any]
    nullable: bool
    metadata: dict[str, Any]


class SparkSchema(TypedDict):
    """The JSON of a schema of Spark's."""

    type: Literal["struct"]
    fields: list[_Field]


class _Document(TypedDict):
    """The content of a manifest, of format 1 too; blocks are checked where they are read."""

    format: NotRequired[int]
    query: str
    names: list[str]
    schema: SparkSchema
    values: KeptValues
    blocks: list[Any]
    relations: dict[str, RelationRecord]
    counts: dict[str, dict[str, int]]
    schemas: dict[str, dict[str, SparkSchema]]
    recursive: NotRequired[bool]
    pruned: list[str]
    time_zone: NotRequired[str | None]
    files: NotRequired[list[tuple[str, int, int, str]] | None]


class _Sealed(_Document):
    """The content of a manifest since format 2, which describes its files."""

    files: Required[list[tuple[str, int, int, str]]]  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class Manifest:
    """See the module."""

    query: str
    names: tuple[str, ...]
    """Names of the answer's columns; duplicates allowed. Datasets use the blocks' own names."""
    schema: str
    """Spark's JSON of the answer's schema."""
    values: str
    """``copy`` or ``reference``."""
    root: Block
    relations: Mapping[str, RelationRecord]
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Rows per dataset: ``{"b0": {"members": 42, "rows": 7}}``."""
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Spark's schemas of the datasets, as JSON values: Spark need not read them from the files."""
    recursive: bool = False
    """True if it unfolds a recursion, to the depth that the captured rows reach."""
    pruned: tuple[str, ...] = ()
    """Blocks whose members are kept only for the tuples that HAVING keeps (it is monotone)."""
    time_zone: str | None = None
    """The session's, in which the query saw instants; None: it is not known."""
    files: tuple[StoredFile, ...] | None = None
    """The files of the datasets; None: of format 1, or not written yet."""

    def write(self, directory: Path) -> Manifest:
        """Describe the files of a capture, and write its manifest, which makes it one.

        Cost: the files are read once, in threads.

        Returns
        -------
        Manifest
            With what was described.
        """
        relations = {
            name: record if record.derived is None else _referring(record, directory)
            for name, record in self.relations.items()
        }
        done = replace(self, files=describe(directory), relations=relations)
        with (directory / MANIFEST).open("wb") as file:
            file.write(seal(KIND, FORMAT, done.to_json()))
            file.flush()
            os.fsync(file.fileno())
        return done

    def contents(self, directory: Path) -> Contents:
        """Return the files of the capture, which is in a directory."""
        counts = {
            f"{block}/{name}": rows
            for block, datasets in self.counts.items()
            for name, rows in datasets.items()
        }
        return Contents(directory, self.files, counts)

    @property
    def row_count(self) -> int:
        """The number of rows of all datasets."""
        return sum(count for datasets in self.counts.values() for count in datasets.values())

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``manifest.json``."""
        return {
            "query": self.query,
            "names": self.names,
            "schema": json.loads(self.schema),
            "values": self.values,
            "blocks": blocks_to_json(self.root),
            "relations": {name: asdict(record) for name, record in self.relations.items()},
            "counts": self.counts,
            "schemas": self.schemas,
            "recursive": self.recursive,
            "pruned": self.pruned,
            "time_zone": self.time_zone,
            "files": None if self.files is None else [file.to_json() for file in self.files],
        }

    @classmethod
    def read(cls, directory: Path, expected: str | None = None) -> Manifest:
        """Read the manifest of a capture.

        Parameters
        ----------
        expected
            The expected checksum of the manifest; None: any.

        Raises
        ------
        CaptureDamagedError
            When it differs from what was written, or is not a manifest of a capture.
        CaptureError
            When there is none, or its format is of another version.

        Warns
        -----
        UncheckedWarning
            When it is of format 1.
        """
        path = directory / MANIFEST
        try:
            if path.is_symlink():
                raise CaptureDamagedError(f"The manifest {path} is a link, which no capture has.")
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise CaptureError(
                f"{directory} is not a capture: it has no {MANIFEST}.\n"
                "A capture is written by save(path); one that was interrupted leaves none."
            ) from error
        except OSError as error:
            raise CaptureDamagedError(f"The manifest {path} cannot be read: {error}") from error
        if expected is not None and hashlib.sha256(data).hexdigest() != expected:
            raise altered(path)
        sealed = unseal(path, data, KIND, FORMAT)
        try:
            document = _Sealed if sealed.version > 1 else _Document
            check_shape(sealed.content, document)
            manifest = cls._of(sealed.content)
            check_harmless(path, manifest.root, manifest.values)
            check_types(path, [json.loads(manifest.schema), dict(manifest.schemas)])
        except LipstickError:
            raise
        except Exception as error:  # whatever a parser makes of what somebody wrote
            raise ununderstood(path, error) from error
        if sealed.version == 1:
            warnings.warn(
                f"{directory} is a capture of format 1, which says nothing of its files: whether "
                "they are whole cannot be checked. Save its query again to have that.",
                UncheckedWarning,
                stacklevel=3,
            )
        return manifest

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> Manifest:
        root = blocks_from_json(document["blocks"])
        names = tuple(document["names"])
        if not len(names) == len(root.outputs) == len(document["schema"]["fields"]):
            raise ValueError(f"it names {len(names)} columns of {len(root.outputs)}")
        manifest = cls(
            query=document["query"],
            names=names,
            schema=json.dumps(document["schema"]),
            values=document["values"],
            root=root,
            relations={name: _relation(record) for name, record in document["relations"].items()},
            counts=document["counts"],
            schemas=document["schemas"],
            recursive=document.get("recursive", False),
            pruned=tuple(document["pruned"]),
            time_zone=document.get("time_zone"),
            files=stored_files(document.get("files")),
        )
        manifest._check_references()
        return manifest

    def _check_references(self) -> None:
        """Refuse names of blocks, datasets and relations that stand for nothing."""
        blocks = {block.name: block for block in topological(self.root)}
        for name, record in self.relations.items():
            if record.name != name:
                raise ValueError(f"relation {name!r} is called {record.name!r}")
            if (
                record.derived is None
                and (record.derived_from, record.derived_checksum) != (None,) * 2
            ):
                raise ValueError(f"relation {name!r} has a checksum of nothing")
        for block in blocks.values():
            if len({token.alias for token in block.tokens}) < len(block.tokens):
                raise ValueError(f"{block.name} has a token twice")
            for token in block.tokens:
                if len(token.columns) != len(self.relations[token.relation].token):
                    raise ValueError(f"{block.name} has another token of {token.relation}")
            for scan in () if block.core is None else core_relations(block.core):
                self.relations[scan.relation]
        written = {tuple(file.name.split("/")[:-1]) for file in self.files or ()}
        for described in (self.counts, self.schemas):
            datasets = {(block, each) for block, those in described.items() for each in those}
            if not (written or datasets) <= datasets or not described.keys() <= blocks.keys():
                raise ValueError("the blocks that it describes are others than it has files of")


def _referring(record: RelationRecord, directory: Path) -> RelationRecord:
    """Return a record with the checksum of the version it refers to, and the path to it."""
    path = Path(record.derived or "").resolve()
    return replace(
        record,
        derived=str(path),
        derived_from=Path(os.path.relpath(path, directory.resolve())).as_posix(),
        derived_checksum=file_checksum(path),
    )


def _relation(record: Mapping[str, Any]) -> RelationRecord:
    return RelationRecord(
        name=record["name"],
        view=record["view"],
        naming=record["naming"],
        token=tuple(record["token"]),
        columns=tuple(record["columns"]),
        verified=record["verified"],
        description=record["description"],
        files=tuple(record["files"]),
        fingerprint=tuple((f[0], f[1], f[2]) for f in record["fingerprint"]),
        derived=record.get("derived"),
        derived_from=record.get("derived_from"),
        derived_checksum=record.get("derived_checksum"),
        versions=tuple(_pinned(version) for version in record.get("versions", ())),
    )


def _pinned(version: Mapping[str, Any]) -> PinnedVersion:
    files = tuple((f[0], f[1], f[2]) for f in version.get("files", ()))
    return PinnedVersion(
        version["format"], version["table"], version["identity"], version["version"], files
    )

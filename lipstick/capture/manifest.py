"""The manifest of a capture: everything that is not in its Parquet files.

Layout of a capture, readable with pyarrow alone::

    manifest.json           written last; a directory without it is no capture
    b1/members/*.parquet    one row per member: tokens, references, stored columns
    b1/rows/*.parquet       one row per tuple: identity, aggregates, outputs, _present, _o0...
    b0/...                  the block that yields the answer

The manifest says what files there are, and carries a checksum of itself; ``lipstick fsck`` holds a
capture against it. Captures of format 1 say nothing of their files: they open with a warning.

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
from typing import Any, Literal, TypeAlias

from lipstick.capture.contents import MANIFEST, Contents
from lipstick.capture.described import StoredFile, checksum, describe, stored_files
from lipstick.capture.foreign import check_harmless, check_types
from lipstick.capture.sealed import altered, seal, unseal
from lipstick.errors import CaptureDamagedError, CaptureError, UncheckedWarning
from rewriter.blocks import Block
from rewriter.blocks.serialize import blocks_from_json, blocks_to_json

__all__ = ["FORMAT", "MANIFEST", "KeptValues", "Manifest", "RelationRecord"]

FORMAT = 2
_KIND = "capture"

KeptValues: TypeAlias = Literal["copy", "reference"]
"""How a capture keeps aggregated values: beside the tokens, or to be looked up by these."""


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """What a capture remembers of a tracked relation."""

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
    """Whether a recursion is unfolded in it, as deep as it goes over the rows there were."""
    pruned: tuple[str, ...] = ()
    """Blocks whose members are kept only for the tuples that HAVING keeps (it is monotone)."""
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
            file.write(seal(_KIND, FORMAT, done.to_json()))
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
            "files": None if self.files is None else [file.to_json() for file in self.files],
        }

    @classmethod
    def read(cls, directory: Path, expected: str | None = None) -> Manifest:
        """Read the manifest of a capture.

        Parameters
        ----------
        expected
            The checksum of the manifest that is to be there; None: any.

        Raises
        ------
        CaptureDamagedError
            When it is not what was written, or says what no capture does.
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
        sealed = unseal(path, data, _KIND, FORMAT)
        try:
            manifest = cls._of(sealed.content)
        except Exception as error:  # whatever a parser makes of what somebody wrote
            raise CaptureDamagedError(
                f"The manifest {path} cannot be understood: {type(error).__name__}: {error}\n"
                "It was altered, or something else wrote it."
            ) from error
        check_harmless(path, manifest.root, manifest.values)
        check_types(path, [json.loads(manifest.schema), dict(manifest.schemas)])
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
        if len(names) != len(root.outputs):
            raise ValueError(f"it names {len(names)} columns of {len(root.outputs)}")
        if document["values"] not in ("copy", "reference"):
            raise ValueError(f"its values are {document['values']!r}")
        return cls(
            query=document["query"],
            names=names,
            schema=json.dumps(document["schema"]),
            values=document["values"],
            root=root,
            relations={name: _relation(record) for name, record in document["relations"].items()},
            counts=_by_dataset(document["counts"], int),
            schemas=_by_dataset(document["schemas"], dict),
            recursive=bool(document.get("recursive", False)),
            pruned=tuple(document["pruned"]),
            files=stored_files(document.get("files")),
        )


def _referring(record: RelationRecord, directory: Path) -> RelationRecord:
    """Return a record that says which version it refers to, and how to get there."""
    path = Path(record.derived or "").resolve()
    return replace(
        record,
        derived=str(path),
        derived_from=Path(os.path.relpath(path, directory.resolve())).as_posix(),
        derived_checksum=checksum(path),
    )


def _by_dataset(document: Any, kind: type) -> dict[str, dict[str, Any]]:
    """Return what is said of each dataset of each block."""
    described = {block: dict(datasets.items()) for block, datasets in document.items()}
    entries = [each for datasets in described.values() for each in datasets.values()]
    if not all(isinstance(each, kind) for each in entries):
        raise TypeError(f"of a dataset it says {entries[0]!r}")
    return described


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
    )

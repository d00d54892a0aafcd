"""The manifest of a capture: everything that is not in its Parquet files.

Layout of a capture, readable with pyarrow alone::

    manifest.json           written last; a directory without it is no capture
    b1/members/*.parquet    one row per member: tokens, references, stored columns
    b1/rows/*.parquet       one row per tuple: identity, aggregates, outputs, _present, _o0...
    b0/...                  the block that yields the answer

Tokens are columns of members, as they are in the relation: integers stay integers. A member whose
token columns are all NULL did not use that scan (a branch of UNION ALL not taken).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureError
from rewriter.blocks import Block
from rewriter.serialize import blocks_from_json, blocks_to_json

FORMAT = 1
MANIFEST = "manifest.json"


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

    def to_json(self) -> str:
        """Return the text of ``manifest.json``."""
        document = {
            "format": FORMAT,
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
        }
        return json.dumps(document, indent=1)

    @classmethod
    def read(cls, directory: Path) -> Manifest:
        """Read the manifest of a capture.

        Raises
        ------
        CaptureError
            When there is none, it cannot be read, or its format is of another version.
        """
        path = directory / MANIFEST
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise CaptureError(
                f"{directory} is not a capture: it has no {MANIFEST}.\n"
                "A capture is written by save(path); one that was interrupted leaves none."
            ) from error
        except (OSError, ValueError) as error:
            raise CaptureError(f"The manifest {path} cannot be read: {error}") from error
        if document.get("format") != FORMAT:
            raise CaptureError(
                f"{directory} has capture format {document.get('format')!r}; this version of "
                f"lipstick reads format {FORMAT}."
            )
        return cls(
            query=document["query"],
            names=tuple(document["names"]),
            schema=json.dumps(document["schema"]),
            values=document["values"],
            root=blocks_from_json(document["blocks"]),
            relations={name: _relation(record) for name, record in document["relations"].items()},
            counts=document["counts"],
            schemas=document["schemas"],
            recursive=document.get("recursive", False),
            pruned=tuple(document["pruned"]),
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
    )

"""The nodes of tuples that a query has read, each in the store's segment for it.

Tuples of a table that another store exported are imported by the manifest beside its files; tuples
of a table that this store exported are its own nodes; tuples of tables with a derivation are the
nodes of the parts in which they were written; all others are tokens of the store.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.federation import Offer, import_rows, is_dataset, read_dataset
from graphquery.model import Kind, Segment
from graphquery.store import Snapshot, Transaction
from graphquery.store.crossing import EXPORT, IMPORT, Export, Import
from graphquery.store.format import check_format
from lipstick.capture.manifest import RelationRecord
from lipstick.engines.memory.keys import KeyTable, distinct
from lipstick.tables.derivation import Derivation
from lipstick.tracking.naming import ROW_BITS, free_name
from lipstick.tracking.states import FileState
from lipstick.tracking.tracker import Naming
from lipstick.workflow.derivation.nodes import Origin
from lipstick.workflow.execution.invocation import ranges, spread
from semiring.arrays.arrow import whole
from semiring.base import Array
from semiring.errors import LipstickError


def permutation(rows: pa.Table, captured: pa.Table, names: Sequence[str]) -> Array:
    """Return the row of `captured` for each row of `rows`, by the values of some columns.

    Equal rows are matched in order, since nothing else distinguishes rows of a bag.

    Returns
    -------
    Array
        int64, a permutation.

    Raises
    ------
    LipstickError
        When the tables do not have the same rows.

    Notes
    -----
    Sorts both: O(n log n).
    """
    if len(rows) != len(captured):
        raise LipstickError(
            f"{len(captured)} rows were captured, and {len(rows)} are in the files."
        )
    both = [_both(rows.column(name), captured.column(name)) for name in names]
    codes, _ = distinct(both, 2 * len(rows))
    codes_of_rows, codes_of_captured = codes[: len(rows)], codes[len(rows) :]
    order, other = (
        np.argsort(codes_of_rows, kind="stable"),
        np.argsort(codes_of_captured, kind="stable"),
    )
    if not np.array_equal(codes_of_rows[order], codes_of_captured[other]):
        raise LipstickError("The rows in the files are not those that were captured.")
    order_found = np.empty(len(rows), dtype=np.int64)
    order_found[order] = other
    return order_found


def occurrences(columns: Sequence[pa.Array], count: int) -> Array:
    """Return the number of each row among rows equal to it, from 1, in their order."""
    codes, _ = distinct(columns, count)
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=1)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbers = np.empty(count, dtype=np.int64)
    numbers[order] = np.arange(count, dtype=np.int64) - starts + 1
    return numbers


def _both(left: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.Array:
    return whole(pa.chunked_array([*left.chunks, *other.cast(left.type).chunks], left.type))


TOKENS = "tokens/"
PART = "part/"


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Tuples that a query has read.

    Parameters
    ----------
    tokens
        The token columns of distinct tuples.
    origin
        Their nodes in the store.
    values
        By column, the v-nodes of their values, if any.
    table
        The values of all columns if some have v-nodes, else the tokens.
    """

    tokens: pa.Table
    origin: Origin
    values: Mapping[str, Origin] = field(default_factory=dict)
    table: pa.Table | None = None


def local_files(fingerprint: Sequence[FileState]) -> tuple[Path, tuple[str, ...]] | None:
    """Return the folder of all files of a source, and their names in order, or None.

    None unless there are files and all are in one folder of this machine.
    """
    parsed = [urlparse(uri) for uri, _, _ in fingerprint]
    if not parsed or any(each.scheme not in ("", "file") for each in parsed):
        return None
    paths = [Path(unquote(each.path)) for each in parsed]
    if len({path.parent for path in paths}) > 1:
        return None
    return paths[0].parent, tuple(sorted(path.name for path in paths))


def dataset_of(fingerprint: Sequence[FileState]) -> Path | None:
    """Return the folder of a source whose files have the manifest of an export beside them."""
    files = local_files(fingerprint)
    return files[0] if files is not None and is_dataset(files[0]) else None


def part_record(name: str, folder: str) -> str:
    """Return the name of the record that maps the rows of a written table's part to nodes."""
    return f"{PART}{name}/{folder}"


class Arriving:
    """Finds the nodes of tuples, and adds missing ones.

    Parameters
    ----------
    snapshot, transaction
        A snapshot of the store, and the transaction that adds missing nodes.
    """

    def __init__(self, snapshot: Snapshot, transaction: Transaction) -> None:
        self._snapshot = snapshot
        self._transaction = transaction
        self._taken = set(snapshot.segments)

    def read(
        self, record: RelationRecord, tokens: pa.Table, derivation: Derivation | None
    ) -> ReadRows:
        """Return the nodes of some tuples of a relation.

        Parameters
        ----------
        derivation
            The relation's, if it has one; the nodes of its parts are in the store.

        Raises
        ------
        LipstickError
            When a tuple is not among the rows that the relation was exported or written with.
        graphquery.federation.FederationError
            When files are not what was exported.
        """
        if derivation is not None:
            return self._of_parts(record, tokens, derivation)
        folder = dataset_of(record.fingerprint)
        if folder is not None:
            return ReadRows(tokens, self._of_dataset(record, tokens, folder))
        return ReadRows(tokens, self._of_tokens(record, tokens))

    def _name(self, wanted: str) -> str:
        name = free_name(self._taken, wanted)
        self._taken.add(name)
        return name

    # -- tokens of the store ---------------------------------------------------------------

    def _of_tokens(self, record: RelationRecord, tokens: pa.Table) -> Origin:
        name = f"{TOKENS}{_digest(record)}"
        names = list(self._transaction.get(name, {"segments": []})["segments"])
        known = [self._snapshot.values(segment, list(record.token)) for segment in names]
        places = _places(pa.concat_tables(known), tokens) if known else _nowhere(tokens)
        bounds = np.cumsum([0, *(len(table) for table in known)])
        segments = np.searchsorted(bounds, places, side="right") - 1
        new = np.flatnonzero(places < 0)
        ordinals = places - bounds[np.maximum(segments, 0)]
        if len(new):
            segment = Segment(
                name=self._name(record.name),
                kind=Kind.TOKEN,
                label="",
                count=len(new),
                relation=record.name,
                key=record.token if record.naming == Naming.KEY.value else (),
                file="",
            )
            self._transaction.add_segment(segment, tokens.take(pa.array(new)))
            segments[new], ordinals[new] = len(names), np.arange(len(new))
            names.append(segment.name)
            self._transaction.put(name, {"relation": record.name, "segments": names})
        return Origin(tuple(names), segments, ordinals)

    # -- rows of channels ------------------------------------------------------------------

    def _of_dataset(self, record: RelationRecord, tokens: pa.Table, folder: Path) -> Origin:
        data, offer = read_dataset(folder)
        rows = _channel_rows(record, tokens, folder, data, offer)
        if (rows < 0).any():
            raise LipstickError(
                f"{record.name!r} has tuples that are not in {folder}, which it was read from.\n"
                "Track it again: the files were replaced."
            )
        segment = self._imported(record, data, offer)
        return Origin((segment,), np.zeros(len(rows), dtype=np.int64), rows)

    def _imported(self, record: RelationRecord, data: pa.Table, offer: Offer) -> str:
        """Return the segment of all rows of a channel, in their order."""
        if offer.store == check_format(self._snapshot.root).store:
            document = self._snapshot.records[f"{EXPORT}{offer.channel}"]
            return Export.from_json(document, offer.name).segment
        document = self._transaction.get(f"{IMPORT}{offer.channel}")
        if document is not None:
            parts = Import.from_json(document, offer.name).parts
            whole_part = next((part for part in parts if part.rows is None), None)
            if whole_part is not None:
                return whole_part.segment
        named = record.naming == Naming.KEY.value
        segment = Segment(
            name=self._name(record.name),
            kind=Kind.TOKEN,
            label="",
            count=offer.count,
            relation=record.name,
            key=record.token if named else (),
            file="" if named else None,
        )
        values = data.select(list(record.token)) if named else None
        import_rows(self._transaction, offer, segment, values)
        return segment.name

    # -- rows of written tables ------------------------------------------------------------

    def _of_parts(
        self, record: RelationRecord, tokens: pa.Table, derivation: Derivation
    ) -> ReadRows:
        documents = [
            self._transaction.get(part_record(part.name, part.folder)) for part in derivation.parts
        ]
        documents = [document for document in documents if document["segment"] is not None]
        segments = [str(document["segment"]) for document in documents]
        tables = [self._snapshot.values(segment) for segment in segments]
        if not tables:
            return ReadRows(tokens, Origin.none(len(tokens)))
        table = pa.concat_tables(tables, promote_options="permissive")
        if record.naming == Naming.KEY.value:
            places = _places(table.select(list(record.token)), tokens)
        else:
            places = _packed(tokens, _starts(derivation))
        if (places < 0).any() or (places >= len(table)).any():
            raise LipstickError(f"{record.name!r} has tuples that were not written with it.")
        counts = [len(each) for each in tables]
        nodes = [Origin.of(name, count) for name, count in zip(segments, counts, strict=True)]
        values: dict[str, Origin] = {}
        for column in dict.fromkeys(name for each in documents for name in each["values"]):
            origins = [
                _values_of(each["values"].get(column), count)
                for each, count in zip(documents, counts, strict=True)
            ]
            values[column] = Origin.concatenated(origins).take(places)
        taken = table.take(pa.array(places))
        return ReadRows(tokens, Origin.concatenated(nodes).take(places), values, taken)


def put_values(values: Mapping[str, tuple[str, Array]]) -> dict[str, list[object]]:
    """Return v-nodes by column in the form of a record."""
    return {column: [segment, ranges(rows)] for column, (segment, rows) in values.items()}


def _values_of(document: Sequence[object] | None, count: int) -> Origin:
    if document is None:
        return Origin.none(count)
    return Origin.of(str(document[0]), count, spread(document[1]))  # type: ignore[arg-type]


def _digest(record: RelationRecord) -> str:
    """Return a digest of a relation's naming and files, which distinguishes relations of one
    name.
    """
    told = [record.name, record.naming, record.token, record.files, record.fingerprint]
    if not record.fingerprint:
        told.append(record.description)
    text = json.dumps(told, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _places(known: pa.Table, tokens: pa.Table) -> Array:
    """Return the row of each tuple in a table of token columns, or -1."""
    columns = [whole(known.column(name)) for name in tokens.column_names]
    wanted = [
        whole(tokens.column(name)).cast(column.type)
        for name, column in zip(tokens.column_names, columns, strict=True)
    ]
    return KeyTable(columns, len(known)).find(wanted, len(tokens))


def _nowhere(tokens: pa.Table) -> Array:
    return np.full(len(tokens), -1, dtype=np.int64)


def _channel_rows(
    record: RelationRecord, tokens: pa.Table, folder: Path, data: pa.Table, offer: Offer
) -> Array:
    """Return the channel's row number of each tuple."""
    if record.naming == Naming.ROWS.value:
        names = [unquote(urlparse(uri).path).rpartition("/")[2] for uri in record.files]
        unknown = [name for name in names if name not in offer.checksums]
        if unknown:
            raise LipstickError(f"The manifest in {folder} does not know the file {unknown[0]}.")
        counts = [_rows_in(folder / name) for name in offer.checksums]
        starts = dict(zip(offer.checksums, np.cumsum([0, *counts])[:-1].tolist(), strict=True))
        return _packed(tokens, np.array([starts[name] for name in names], dtype=np.int64))
    if record.naming == Naming.VALUES.value:
        columns = [whole(data.column(name)) for name in record.columns]
        numbers = pa.array(occurrences(columns, len(data)))
        data = pa.table([*columns, numbers], names=list(record.token))
    return _places(data.select(list(record.token)), tokens)


def _packed(tokens: pa.Table, starts: Array) -> Array:
    """Return the row numbers of rows that are identified by the number of their file and a
    position in it.
    """
    packed = whole(tokens.column(0)).to_numpy(zero_copy_only=False)
    rows: Array = starts[packed >> ROW_BITS] + (packed & ((1 << ROW_BITS) - 1))
    return rows


def _starts(derivation: Derivation) -> Array:
    """Return the number of the first row of each file, counted over all parts."""
    counts = [
        _rows_in(derivation.rows(part) / name) for part in derivation.parts for name in part.files
    ]
    return np.cumsum([0, *counts])[:-1]


def _rows_in(path: Path) -> int:
    with pq.ParquetFile(path) as file:
        return int(file.metadata.num_rows)

"""The store of a session, with the provenance graph of the tables that the session writes.

A write of a table is an invocation of a module with the table's name: its query's tuples are
derived as tuples of a workflow's modules are, and its rows are its output. A *version* of the
table, with all rows in the order of its files, is a segment of its own, which is exported.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.federation import Offer, checksums_of, export, is_dataset, offer_of
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Snapshot, Store
from graphquery.store.format import FORMAT_FILE
from graphquery.store.writer import Writer
from lipstick.capture.manifest import Manifest
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.reach import tokens
from lipstick.engines.memory.store import StoredDatasets
from lipstick.errors import LipstickError, NeedsSparkError, first_line
from lipstick.systems.federation.imports import (
    Arriving,
    ReadRows,
    dataset_of,
    local_files,
    part_record,
    permutation,
    put_values,
)
from lipstick.tables.derivation import TUPLE, Derivation, Part, read_version
from lipstick.tables.target import Target
from lipstick.tracking.naming import free_name
from lipstick.tracking.source import Source
from lipstick.tracking.tracker import Naming
from lipstick.workflow.derivation.blocks import problem
from lipstick.workflow.derivation.derive import derive
from lipstick.workflow.derivation.nodes import InvocationTrace, Nodes
from lipstick.workflow.derivation.reading import TupleNodes
from lipstick.workflow.derivation.value_nodes import TupleTarget as Rows
from lipstick.workflow.derivation.value_nodes import copies, kept
from semiring.arrays.arrow import whole
from semiring.base import Array

if TYPE_CHECKING:
    from lipstick.frame import AnnotatedFrame

_MADE = ".made"


class TableExports:
    """Exports the tables that a session writes, from a store that is created if missing.

    Parameters
    ----------
    path
        The folder of the store.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        root = Path(path)
        there = (root / FORMAT_FILE).is_file()
        self.store = Store.open(root) if there else Store.create(root)

    def check(self, frame: AnnotatedFrame, target: Target) -> None:
        """Refuse a table that cannot be exported, before anything is written.

        Raises
        ------
        LipstickError
            When the files are not Parquet, or the query's rows have no place in a graph.
        graphquery.federation.FederationError
            When a manifest beside the files of a relation that is read cannot be understood.
        """
        if target.format not in (None, "parquet"):
            raise LipstickError(
                f"{target.name!r} is written as {target.format}: a session with exports writes "
                "Parquet files, whose rows it finds again."
            )
        refusal = problem(frame.plan.root)
        if refusal is not None:
            raise LipstickError(f"{target.name!r} cannot be exported: {refusal}")
        for tracked in frame.plan.relations.values():
            folder = None if tracked.derived else dataset_of(tracked.source.fingerprint)
            if folder is not None:
                Offer.read(folder).check()

    def export(self, derivation: Derivation, source: Source) -> str:
        """Export a version of a written table; a table with a manifest is not exported again.

        Parameters
        ----------
        source
            The table as it was written.

        Returns
        -------
        str
            The identity of the channel.

        Raises
        ------
        LipstickError
            When the files are not Parquet in one folder of this machine, or queries compute what
            only Spark can.
        """
        located = local_files(source.fingerprint)
        if located is None or not all(name.endswith(".parquet") for name in located[1]):
            raise LipstickError(
                f"{derivation.name!r} is written and tracked, and is not exported: its files are "
                "not Parquet files in one folder of this machine."
            )
        folder, names = located
        checksums = checksums_of(folder, names)
        if is_dataset(folder):
            known = Offer.read(folder)
            if known.checksums == checksums:
                return known.channel
        files = pa.concat_tables([pq.read_table(folder / n, partitioning=None) for n in names])
        with self.store.writer() as writer:
            self._add_parts(writer, derivation)
            segment, version = self._add_version(writer, derivation, files)
            channel = export(writer, segment, derivation.name, version, checksums=checksums)
            offer_of(writer.snapshot(), channel).write(folder)
        return channel

    # -- parts -----------------------------------------------------------------------------

    def _add_parts(self, writer: Writer, derivation: Derivation) -> None:
        """Add nodes for the rows of all parts without nodes, and for their origins."""
        for part in derivation.parts:
            name = part_record(part.name, part.folder)
            if name in writer.snapshot().records:
                continue
            if part.captured:
                self._add_captured(writer, derivation, part, name)
            else:
                self._add_given(writer, derivation, part, name)

    def _add_given(self, writer: Writer, derivation: Derivation, part: Part, name: str) -> None:
        """Add rows of unknown origin as tokens."""
        rows = _rows(derivation, part)
        with writer.transaction() as transaction:
            segment = None
            if len(rows):
                segment = free_name(writer.snapshot().segments, derivation.name)
                token_segment = _segment(segment, Kind.TOKEN, "", rows, derivation)
                transaction.add_segment(token_segment, rows)
            transaction.put(name, {"segment": segment, "values": {}})
            transaction.commit()

    def _add_captured(self, writer: Writer, derivation: Derivation, part: Part, name: str) -> None:
        """Add rows that a query produced, as the output of an invocation."""
        directory = derivation.capture(part)
        manifest = Manifest.read(directory, part.manifest)
        engine = Engine(StoredDatasets(manifest.contents(directory)), manifest)
        versions = {
            record.name: read_version(Path(record.derived), record.derived_checksum)
            for record in manifest.relations.values()
            if record.derived is not None
        }
        for version in versions.values():
            self._add_parts(writer, version)
        snapshot = writer.snapshot()
        trace = InvocationTrace(
            derivation.name, number := _invocation(snapshot, derivation), number - 1
        )
        rows = _rows(derivation, part)
        with writer.transaction() as transaction:
            arriving = Arriving(snapshot, transaction)
            sources = {
                record.name: _enter(
                    trace,
                    record.name,
                    arriving.read(record, tokens(engine, record.name), versions.get(record.name)),
                    record.token if record.naming == Naming.KEY.value else (),
                )
                for record in manifest.relations.values()
                if record.naming != Naming.NONE.value
            }
            values = _leave(trace, engine, sources, rows, derivation, part)
            fragment = trace.fragment()
            for new in fragment.segments:
                transaction.add_segment(new.segment, new.values)
            for edges in fragment.edges:
                transaction.add_edges(edges.edges, edges.sources, edges.targets)
            segment = f"{trace.name}/{derivation.name}" if len(rows) else None
            transaction.put(name, {"segment": segment, "values": put_values(values)})
            transaction.commit()

    # -- versions --------------------------------------------------------------------------

    def _add_version(
        self, writer: Writer, derivation: Derivation, files: pa.Table
    ) -> tuple[str, str]:
        """Add all rows of a table in the order of its files; return the segment and the version."""
        snapshot = writer.snapshot()
        records = [snapshot.records[part_record(p.name, p.folder)] for p in derivation.parts]
        segments = [str(each["segment"]) for each in records if each["segment"] is not None]
        names = list(derivation.key) or files.column_names
        tables = [snapshot.values(segment, names) for segment in segments]
        captured = pa.concat_tables([files.schema.empty_table().select(names), *tables])
        places = permutation(files, captured, names)
        numbers = (number for number in range(derivation.version, 1 << 31))
        taken = snapshot.segments
        version = next(n for n in numbers if f"{derivation.name}@{n}" not in taken)
        segment = f"{derivation.name}@{version}"
        bounds = np.cumsum([0, *(len(table) for table in tables)])
        with writer.transaction() as transaction:
            values = files.select(list(derivation.key)) if derivation.key else None
            version_segment = _segment(segment, Kind.DERIVED, "+", files, derivation)
            if values is None:
                transaction.add_segment(version_segment)
            else:
                transaction.add_segment(version_segment, values)
            for source, start, end in zip(segments, bounds[:-1], bounds[1:], strict=True):
                there = np.flatnonzero((places >= start) & (places < end))
                edges = EdgeSet(
                    source, segment, len(there), Ordinals.COLUMN, Ordinals.COLUMN, file=""
                )
                transaction.add_edges(edges, places[there] - start, there)
            transaction.commit()
        return segment, str(version)


def _segment(name: str, kind: Kind, label: str, rows: pa.Table, derivation: Derivation) -> Segment:
    return Segment(
        name=name,
        kind=kind,
        label=label,
        count=len(rows),
        relation=derivation.name,
        key=derivation.key,
        file="" if derivation.key or kind is Kind.TOKEN else None,
    )


def _invocation(snapshot: Snapshot, derivation: Derivation) -> int:
    """Return the number of the next write of a table."""
    numbers = (
        segment.invocation or 0
        for segment in snapshot.segments.values()
        if segment.kind is Kind.INVOCATION and segment.module == derivation.name
    )
    return 1 + max(numbers, default=0)


def _rows(derivation: Derivation, part: Part) -> pa.Table:
    """Return the rows of a part in the order of its files, with their tuples."""
    folder = derivation.rows(part)
    tables = [pq.read_table(folder / name, partitioning=None) for name in part.files]
    if not tables:
        return pa.table({})
    return pa.concat_tables(tables)


def _enter(trace: InvocationTrace, name: str, read: ReadRows, key: Sequence[str]) -> TupleNodes:
    """Return nodes for the tuples that an invocation reads, as far as results derive from them."""
    count = len(read.tokens)
    table = read.tokens if read.table is None else read.table
    pool = trace.pool(
        name,
        Kind.INPUT,
        "·",
        count,
        relation=name,
        values=read.tokens,
        key=tuple(key),
        used=np.zeros(count, dtype=np.bool_),
        origin=read.origin,
    )
    nodes = Nodes.of(pool, np.arange(count, dtype=np.int64))
    # Of state, as values are that only some derivations use.
    values = copies(trace, name, table, read.values, Kind.STATE)
    columns = [whole(read.tokens.column(each)) for each in read.tokens.column_names]
    return TupleNodes(nodes, values, KeyTable(columns, count))


def _leave(
    trace: InvocationTrace,
    engine: Engine,
    sources: dict[str, TupleNodes],
    rows: pa.Table,
    derivation: Derivation,
    part: Part,
) -> dict[str, tuple[str, Array]]:
    """Add the output rows of an invocation; return the v-nodes of their values by column."""
    if not len(rows):
        return {}
    every = np.arange(len(rows), dtype=np.int64)
    name = derivation.name
    target = Rows(f"{name}{_MADE}", every, own=True)
    try:
        derived = derive(trace, engine, _positions(engine, rows), sources, target)
    except NeedsSparkError as error:
        raise LipstickError(
            f"{name!r} cannot be exported: its nodes are made in this process, which cannot "
            f"follow what Spark computed.\n{first_line(error)}"
        ) from error
    table = rows.drop_columns([TUPLE])
    pool = trace.pool(
        name, Kind.OUTPUT, "·", len(rows), relation=name, values=table, key=derivation.key
    )
    trace.edges(derived.nodes, pool, every)
    trace.from_invocation(pool, len(rows))
    columns = dict(zip(engine.manifest.names, part.columns, strict=True))
    values = {columns[each]: nodes for each, nodes in derived.values.items() if each in columns}
    return dict(kept(trace, name, table, values, Kind.OUTPUT))


def _positions(engine: Engine, rows: pa.Table) -> Array:
    """Return the positions, in a capture, of the tuples of rows."""
    state = engine.base(engine.root.name)
    identity = engine.root.identity
    tuples = whole(rows.column(TUPLE))
    wanted = [tuples.field(number) for number in range(len(identity))]
    columns = [state.take(each, state.ordered) for each in identity]
    places = KeyTable(columns, len(state.ordered)).find(wanted, len(rows))
    if (places < 0).any():
        raise LipstickError("A row is none of the tuples that were captured with it: run fsck.")
    positions: Array = state.ordered[places]
    return positions

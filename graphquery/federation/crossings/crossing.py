"""Exports and imports of a store, recorded in its own commits.

channel = export(writer, "dealer1#3/Counts", "sales.counts", "3")
offer_of(writer.snapshot(), channel).write("/data/sales/counts")
...
with other.transaction() as transaction:
    import_rows(transaction, Offer.read("/data/sales/counts"), segment)
    transaction.commit()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from graphquery.errors import FederationError
from graphquery.federation.crossings.boundary import relation_bytes, sketches_of
from graphquery.federation.crossings.filters import check_blocks
from graphquery.federation.crossings.offer import Offer
from graphquery.federation.crossings.relation import BoundaryRelation, relation_of
from graphquery.federation.crossings.sketches import BLOCKS, Sketches
from graphquery.model import Kind, Segment
from graphquery.store.crossing import EXPORT, IMPORT, Export, Import, ImportPart, channel_id
from graphquery.store.crossing import exports as exports_of
from graphquery.store.crossing import imports as imports_of
from graphquery.store.format import check_format
from graphquery.store.snapshot import Snapshot
from graphquery.store.transaction import Transaction
from graphquery.store.writer import Writer
from semiring.arrays.segments import ascending
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Summaries:
    """The summaries that an export computes.

    Parameters
    ----------
    sketches
        Whether rows get sketches of their ancestors.
    boundary
        Whether the export adds to the boundary graph of the store.
    blocks
        Blocks of 32 bytes of a sketch that is a filter; a power of two, one per federation.
    """

    sketches: bool = True
    boundary: bool = True
    blocks: int = BLOCKS


def export(
    writer: Writer,
    segment: str,
    name: str,
    version: str = "1",
    *,
    key: bytes = b"",
    checksums: Mapping[str, str] | None = None,
    summaries: Summaries | None = None,
) -> str:
    """Export the nodes of a segment, as a commit of their store; return the channel's identity.

    From then on, no edges into these nodes or their ancestors can be added. Exporting the same
    segment again under the same name and version changes nothing.

    Parameters
    ----------
    segment
        Its nodes are the rows of the channel, in their order.
    name, version
        Of the dataset.
    key
        The key of the federation, if it has one.
    checksums
        The checksums of the data files, by name.

    Raises
    ------
    FederationError
        The store has no such segment, or exported a different one under this name and version.

    Takes the time of building the graph back to what was exported or imported before.
    """
    wanted = summaries or Summaries()
    check_blocks(wanted.blocks)
    channel = channel_id(check_format(writer.root).store, name, version, key)
    with writer.exclusive() as snapshot:
        if _is_exported(snapshot, channel, segment, f"{name} {version}"):
            return channel
        if segment not in snapshot.segments:
            raise FederationError(f"The store {writer.root} has no segment {segment!r} to export.")
        relation = relation_of(snapshot, segment, channel)
        record = Export(
            segment=segment,
            count=relation.count,
            name=name,
            version=version,
            commit=snapshot.version + 1,
            keyed=bool(key),
            checksums=dict(checksums or {}),
            channels=ancestor_channels(snapshot, relation),
        )
        with writer.transaction() as transaction:
            record = _with_summaries(transaction, snapshot, relation, record, wanted)
            transaction.put(EXPORT + channel, record.to_json())
            transaction.commit()
    return channel


def _is_exported(snapshot: Snapshot, channel: str, segment: str, label: str) -> bool:
    """Return True if a channel has a segment already.

    Raises
    ------
    FederationError
        It has another one.
    """
    known = exports_of(snapshot.records).get(channel)
    if known is not None and known.segment != segment:
        raise FederationError(
            f"{label} was exported as {known.segment}.\nGive {segment} another version."
        )
    return known is not None


def _with_summaries(
    transaction: Transaction,
    snapshot: Snapshot,
    relation: BoundaryRelation,
    record: Export,
    wanted: Summaries,
) -> Export:
    """Add the summaries of an export, and return its record with their files."""
    if wanted.boundary:
        file = _add_boundary(transaction, relation)
        record = replace(record, boundary=file, sources=relation.channels)
    if wanted.sketches:
        known = stored_sketches(snapshot, relation.channels)
        column = sketches_of(relation, known, wanted.blocks)
        file = transaction.add_table(column.to_arrow(), "sketches")
        record = replace(record, sketches=file, blocks=wanted.blocks)
    return record


def import_rows(
    transaction: Transaction,
    offer: Offer,
    segment: Segment,
    table: pa.Table | None = None,
    rows: str | None = None,
    *,
    key: bytes = b"",
) -> str:
    """Add rows of another store's channel as tokens.

    Parameters
    ----------
    segment
        The tokens: all rows of the channel in their order, or the rows that `rows` lists.
    table
        The values of the tokens, if they have any.
    rows
        The column of `table` with the channel's row number for each token.
    key
        The key of the federation, if the export was made with one.

    Returns
    -------
    str
        The identity of the channel.

    Raises
    ------
    FederationError
        An offer that contradicts itself or an earlier one of the same channel; rows that the
        channel does not have; a segment of another kind than tokens.
    """
    offer.check(key)
    if segment.kind is not Kind.TOKEN:
        raise FederationError(
            f"Segment {segment.name} is of kind {segment.kind.value}.\nImport rows as tokens."
        )
    if rows is None and segment.count != offer.count:
        raise FederationError(
            f"Segment {segment.name} has {segment.count} nodes for the {offer.count} rows of "
            f"{offer.name}.\nGive the row of each node in a column."
        )
    if rows is not None:
        _check_rows(offer, segment, table, rows)
    name = IMPORT + offer.channel
    document = transaction.get(name)
    known = None if document is None else Import.from_json(document, f"Record {name}")
    if known is not None:
        _check_same(offer, known)
    part = ImportPart(transaction.add_segment(segment, table).name, rows)
    if known is None:
        imported = _new_import(transaction, offer, part)
    else:
        imported = replace(known, parts=(*known.parts, part))
    transaction.put(name, imported.to_json())
    return offer.channel


def ancestor_channels(snapshot: Snapshot, relation: BoundaryRelation) -> tuple[str, ...]:
    """Return the channels behind the rows of a channel, direct and indirect."""
    exported, taken = exports_of(snapshot.records), imports_of(snapshot.records)
    used = ascending(relation.source_channels).tolist()
    direct = [relation.channels[number] for number in used if number < len(relation.channels) - 1]
    behind = dict.fromkeys(direct)
    for channel in direct:
        record = exported.get(channel) or taken.get(channel)
        behind.update(dict.fromkeys(() if record is None else record.channels))
    return tuple(behind)


def stored_sketches(snapshot: Snapshot, channels: Iterable[str]) -> dict[str, Sketches]:
    """Return the sketches of the rows of channels that a store has exported or imported, by
    channel.
    """
    exported, taken = exports_of(snapshot.records), imports_of(snapshot.records)
    sketches = {}
    for channel in channels:
        record = exported.get(channel) or taken.get(channel)
        if record is not None and record.sketches is not None:
            sketches[channel] = Sketches.from_arrow(snapshot.read(record.sketches), record.blocks)
    return sketches


def _check_same(offer: Offer, known: Import) -> None:
    """Raise unless an offer describes its channel as the earlier import did."""
    offered = (offer.store, offer.name, offer.version, offer.commit, offer.count)
    if (known.store, known.name, known.version, known.commit, known.count) != offered:
        raise FederationError(
            f"{offer.name} {offer.version} was imported before with a different description: "
            f"{known.count} rows of commit {known.commit}, now {offer.count} of {offer.commit}.\n"
            "The exporting store was replaced or restored: ask its owner."
        )


def _new_import(transaction: Transaction, offer: Offer, part: ImportPart) -> Import:
    imported = Import(
        store=offer.store,
        name=offer.name,
        version=offer.version,
        commit=offer.commit,
        count=offer.count,
        parts=(part,),
        channels=offer.channels,
    )
    if offer.relation is not None:
        file = _add_boundary(transaction, offer.relation)
        imported = replace(imported, boundary=file, sources=offer.relation.channels)
    if offer.sketches is not None:
        file = transaction.add_table(offer.sketches.to_arrow(), f"sketches-{offer.channel}")
        imported = replace(imported, sketches=file, blocks=offer.sketches.blocks)
    return imported


def _add_boundary(transaction: Transaction, relation: BoundaryRelation) -> str:
    path = transaction.folder / f"boundary-{relation.channels[-1]}.parquet"
    path.write_bytes(relation_bytes(relation))
    return transaction.add_file(path)


def _check_rows(offer: Offer, segment: Segment, table: pa.Table | None, rows: str) -> None:
    if table is None or rows not in table.column_names:
        raise FederationError(f"The values of {segment.name} have no column {rows!r}.")
    column = table.column(rows)
    if not pa.types.is_integer(column.type) or column.null_count:
        raise FederationError(f"Column {rows!r} of {segment.name} is not of row numbers.")
    numbers: Array = column.to_numpy()
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < offer.count:
        outside = int(numbers.min()) if numbers.min() < 0 else int(numbers.max())
        raise FederationError(
            f"{segment.name} imports row {outside} of {offer.name}, which has {offer.count} rows."
        )

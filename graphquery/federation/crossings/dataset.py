"""Datasets that are handed over with a manifest that states their origin.

A dataset is a folder with one Parquet file of the rows in the order of the channel, and the
manifest beside it. Other files in the folder are not part of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.errors import FederationError
from graphquery.federation.crossings.crossing import Summaries, export
from graphquery.federation.crossings.offer import MANIFEST, Offer, offer_of
from graphquery.store.writer import Writer
from semiring.support.document import file_checksum

DATA = "part-00000.parquet"


def export_dataset(
    writer: Writer,
    segment: str,
    name: str,
    version: str,
    folder: str | Path,
    *,
    key: bytes = b"",
    summaries: Summaries | None = None,
    rows: pa.Table | None = None,
) -> str:
    """Export a segment, and write the values of its nodes to a folder with the manifest.

    Parameters
    ----------
    folder
        A new or empty folder.
    rows
        A row for each node, written instead of the node's values.

    Returns
    -------
    str
        The identity of the channel.

    Raises
    ------
    FederationError
        The segment has no values, its number of nodes is not the number of rows, or the folder is
        not empty.
    """
    snapshot = writer.snapshot()
    known = snapshot.segments.get(segment)
    if known is None or (rows is None and known.file is None):
        raise FederationError(f"The store {writer.root} has no segment {segment!r} with values.")
    if rows is not None and len(rows) != known.count:
        raise FederationError(f"Segment {segment!r} has {known.count} nodes for {len(rows)} rows.")
    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise FederationError(f"{root} is not empty.\nGive a folder for the dataset alone.")
    root.mkdir(parents=True, exist_ok=True)
    table = snapshot.values(segment) if rows is None else rows
    pq.write_table(table, root / DATA, compression="zstd")
    checksums = checksums_of(root, [DATA])
    channel = export(
        writer, segment, name, version, key=key, checksums=checksums, summaries=summaries
    )
    offered = offer_of(writer.snapshot(), channel)
    if offered.checksums != checksums:
        raise FederationError(
            f"{name} {version} was exported with other data.\nGive it another version."
        )
    offered.write(root)
    return channel


def is_dataset(path: object) -> bool:
    """Return True if a path is a local folder of data with a manifest beside it."""
    return isinstance(path, str | Path) and (Path(path) / MANIFEST).is_file()


def read_dataset(folder: str | Path) -> tuple[pa.Table, Offer]:
    """Return the rows of a dataset in the order of its channel, and its description.

    Raises
    ------
    FederationError
        The data does not match its description.
    """
    root = Path(folder)
    offered = Offer.read(root)
    parts = []
    for name, checksum in offered.checksums.items():
        path = root / name
        if Path(name).name != name or not path.is_file():
            raise FederationError(f"{root} has no file {name!r}, which its manifest names.")
        if file_checksum(path) != checksum:
            raise FederationError(
                f"{path} is not what was exported: its checksum differs.\nGet it again."
            )
        parts.append(pq.read_table(path, partitioning=None))
    if sum(len(part) for part in parts) != offered.count:
        raise FederationError(f"{root} does not have the {offered.count} rows of {offered.name}.")
    return pa.concat_tables(parts), offered


def checksums_of(folder: str | Path, names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of files in a folder, by name, in hexadecimal."""
    return {name: file_checksum(Path(folder) / name) for name in names}

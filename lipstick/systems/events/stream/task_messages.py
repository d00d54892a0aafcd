"""The messages that the tasks of a batch send to each other, and finally to the driver."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

SCHEMA = pa.schema(
    [
        ("to", pa.int32()),
        ("kind", pa.string()),
        ("topic", pa.string()),
        ("shard", pa.int32()),
        ("number", pa.int64()),
        ("data", pa.binary()),
    ]
)
DDL = "to int, kind string, topic string, shard int, number bigint, data binary"

MESSAGES, COUNTING, SHARE = "messages", "counting", "share"
"""Kinds of rows between stages: messages to decide on, messages that count, a shard's share."""
EVENTS, LETTER, READ, DECIDED, REDUCED, RESOLVED, FINAL, LATE = (
    "events",
    "letter",
    "read",
    "decided",
    "reduced",
    "resolved",
    "final",
    "late",
)
"""Kinds of rows for the driver."""


@dataclass(frozen=True, slots=True)
class Row:
    """A part of a batch in transit.

    Parameters
    ----------
    to
        The label of a partition.
    kind
        One of this module's.
    topic, shard
        The topic and the shard that it belongs to.
    number
        The position of the part, whatever the order of arrival.
    data
        Bytes.
    """

    to: int
    kind: str
    topic: str
    shard: int
    number: int
    data: bytes


def told(kind: str, topic: str, shard: int, document: Mapping[str, Any]) -> Row:
    """Return a row for the driver, with a document as JSON."""
    return Row(0, kind, topic, shard, 0, json.dumps(document).encode())


def batches_of(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """Yield rows as batches of one: they are large and few."""
    for row in rows:
        values = [[getattr(row, name)] for name in SCHEMA.names]
        arrays = [pa.array(v, f.type) for v, f in zip(values, SCHEMA, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Yield the rows in some batches."""
    for batch in batches:
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield Row(*values)


def by_topic(rows: Iterable[Row], kind: str) -> dict[str, list[Row]]:
    """Return rows of a kind by topic, in the order of their numbers."""
    topics: dict[str, list[Row]] = {}
    for row in sorted((row for row in rows if row.kind == kind), key=lambda row: row.number):
        topics.setdefault(row.topic, []).append(row)
    return topics

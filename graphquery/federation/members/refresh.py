"""The heads and boundary graphs that members send when a federation is refreshed."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import pyarrow as pa

from graphquery.errors import WireError
from graphquery.federation.crossings.boundary import relation_of_table
from graphquery.federation.crossings.head import Head
from graphquery.federation.crossings.relation import BoundaryRelation
from graphquery.federation.members.directory import Directory
from graphquery.federation.wire import requests
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.requests import StoreVersion
from graphquery.federation.wire.transport import RequestExchange, RequestFailure


def fetch_directory(exchange: RequestExchange, expected: Mapping[str, str | None]) -> Directory:
    """Ask members for their heads, at the newest versions.

    Parameters
    ----------
    expected
        By alias, the expected identity of a member, if it is known.

    Raises
    ------
    FederationError
        A member is not the expected store, or members contradict each other.
    """
    replies = exchange.round([(alias, requests.head()) for alias in expected])
    heads: dict[str, Head] = {}
    absent: dict[str, RequestFailure] = {}
    for alias, reply in zip(expected, replies, strict=True):
        if isinstance(reply, RequestFailure):
            absent[alias] = reply
            continue
        try:
            heads[alias] = Head.from_json(reply.header["head"])
        except (KeyError, WireError) as error:
            absent[alias] = RequestFailure("damaged", str(error))
    directory = Directory.of(heads, absent, expected)
    exchange.pinned = {alias: head.checksum for alias, head in heads.items()}
    return directory


def fetch_boundary(
    exchange: RequestExchange, directory: Directory, known: Container[str]
) -> dict[str, BoundaryRelation]:
    """Fetch the boundary relations that members disclose, by channel.

    A member that does not answer has none: its rows are followed by asking. So has one whose
    relations do not fit what heads say of the channels in them.

    Parameters
    ----------
    known
        The channels whose relations are loaded.
    """
    batch: list[tuple[str, WireMessage]] = []
    for alias, head in directory.heads.items():
        wanted = [c for c, e in head.exports.items() if e.boundary and c not in known]
        if wanted:
            batch.append((alias, requests.boundary(StoreVersion(head.version), wanted)))
    relations: dict[str, BoundaryRelation] = {}
    for (alias, _), reply in zip(batch, exchange.round(batch), strict=True):
        if isinstance(reply, RequestFailure):
            continue
        for channel, table in reply.tables.items():
            relation = _fitting(directory, alias, channel, table, reply.header.get("sources"))
            if relation is not None:
                relations[channel] = relation
    return relations


def _fitting(
    directory: Directory, alias: str, channel: str, table: pa.Table, sources: Any
) -> BoundaryRelation | None:
    """Return a relation if it agrees with the heads about its channels, else None."""
    export = directory.heads[alias].exports.get(channel)
    if export is None or not isinstance(sources, dict):
        return None
    try:
        named = [str(each) for each in sources[channel]]
        relation = relation_of_table(table, named, export.count)
    except (KeyError, TypeError, WireError):
        return None
    if named[-1:] != [channel] or not set(named[:-1]) <= set(export.channels):
        return None
    for number, source in enumerate(named[:-1]):
        known = directory.exported(source)
        rows = relation.sources[relation.source_channels == number]
        if known is not None and int(rows.max(initial=-1)) >= known.count:
            return None
    return relation

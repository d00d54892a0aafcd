"""Names of nodes: a segment and a key, `dealer1#3/Cars:C2`, or a number, `dealer1#3/Bids[4]`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.errors import GraphError, UnknownNameError, closest
from graphquery.model import Segment
from graphquery.storage import GraphStorage
from semiring.arrays.arrow import decoded
from semiring.base import Array
from semiring.token import format_value

ZOOMED_SUFFIX = "[zoomed]"
"""The suffix of a zoomed node's name, after the name of its invocation."""

_NUMBERED = re.compile(r"(?P<segment>.*)\[(?P<ordinal>\d+)\]", re.DOTALL)
_PLAIN = r"^[A-Za-z0-9_.\-/@#$%]+$"
_SPECIAL = r"^([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:null|true|false|nan|-?inf|-?infinity))$"
_COMPARED = 10_000
"""Limit on the keys compared with an unknown one to suggest similar ones."""


def names(storage: GraphStorage, ids: Array) -> list[str]:
    """Return the names of nodes, in the order of `ids`; vectorised by segment."""
    named = np.empty(len(ids), dtype=object)
    zoomed = np.flatnonzero(ids >= storage.count)
    if len(zoomed):
        inner = names(storage, storage.invocations[ids[zoomed] - storage.count])
        named[zoomed] = [name + ZOOMED_SUFFIX for name in inner]
    stored = np.flatnonzero(ids < storage.count)
    for segment, places, ordinals in storage.by_segment(ids[stored]):
        named[stored[places]] = _segment_names(storage, segment, ordinals)
    result: list[str] = named.tolist()
    return result


def find(storage: GraphStorage, name: str) -> int:
    """Return the id of the node with a name; ``segment[ordinal]`` distinguishes nodes with one key.

    Raises
    ------
    UnknownNameError
        There is no such node; the message has the most similar names.
    """
    if name.endswith(ZOOMED_SUFFIX):
        inner = find(storage, name[: -len(ZOOMED_SUFFIX)])
        rank = int(np.searchsorted(storage.invocations, inner))
        if rank < len(storage.invocations) and storage.invocations[rank] == inner:
            return storage.count + rank
        raise UnknownNameError(f"{name}: only invocations have zoomed nodes.\nLeave out the end.")
    if name in storage.position:
        return _only(storage, name)
    numbered = _NUMBERED.fullmatch(name)
    if numbered and numbered["segment"] in storage.position:
        position = storage.position[numbered["segment"]]
        ordinal, count = int(numbered["ordinal"]), storage.segments[position].count
        if ordinal >= count:
            raise UnknownNameError(
                f"There is no node {name}.\n{numbered['segment']} has {count:,} nodes, from [0]."
            )
        return int(storage.bases[position]) + ordinal
    return _by_key(storage, name)


def numbers(storage: GraphStorage, nodes: Any) -> Array:
    """Return ids, names, or arrays and collections of these as int64 ids, in their order.

    Raises
    ------
    GraphError
        An array of another type than integers.
    UnknownNameError
        As :func:`find`.
        An id that no stored or zoomed node has.
    """
    ids = getattr(nodes, "ids", nodes)
    if isinstance(ids, (str, int, np.integer)):
        ids = [ids]
    if not isinstance(ids, np.ndarray):
        items = [getattr(item, "ids", item) for item in ids]
        resolved = [find(storage, item) if isinstance(item, str) else item for item in items]
        parts = [np.atleast_1d(np.asarray(item)) for item in resolved]
        ids = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    if ids.dtype.kind not in "iu":
        raise GraphError(
            f"Nodes are given by ids and names, not by an array of {ids.dtype}.\nOf a Boolean"
            " mask, give numpy.flatnonzero."
        )
    result: Array = ids.astype(np.int64)
    check_range(storage, result)
    return result


def check_range(storage: GraphStorage, ids: Array) -> None:
    """Refuse ids that no stored or zoomed node has.

    Raises
    ------
    UnknownNameError
        Naming one of them.
    """
    if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < storage.size:
        outside = int(ids.min()) if ids.min() < 0 else int(ids.max())
        raise UnknownNameError(
            f"There is no node {outside}.\nIds are from 0 to {storage.size - 1:,}."
        )


def module_names(storage: GraphStorage, modules: Iterable[str | Iterable[str]]) -> frozenset[str]:
    """Return the set of module names, given one by one or in collections, checked.

    Raises
    ------
    UnknownNameError
        A module that the graph does not have.
    """
    ids_given: set[str] = set()
    for item in modules:
        ids_given.update([item] if isinstance(item, str) else item)
    for module in sorted(ids_given):
        if module not in storage.modules:
            raise UnknownNameError(
                f"The graph has no module {module!r}.\n{closest(module, storage.modules)}"
            )
    return frozenset(ids_given)


def key_texts(storage: GraphStorage, segment: Segment) -> pa.Array:
    """Return the keys of a segment's nodes as text, by ordinal."""
    parts = [_texts(storage.column(segment, column)) for column in segment.key]
    return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, "|")


def _segment_names(storage: GraphStorage, segment: Segment, ordinals: Array) -> list[str]:
    if segment.key:
        texts = [_texts(storage.column(segment, c).take(pa.array(ordinals))) for c in segment.key]
        key = texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, "|")
        result: list[str] = pc.binary_join_element_wise(f"{segment.name}:", key, "").to_pylist()
        return result
    if segment.count == 1:
        return [segment.name] * len(ordinals)
    return [f"{segment.name}[{ordinal}]" for ordinal in ordinals.tolist()]


def _only(storage: GraphStorage, name: str) -> int:
    position = storage.position[name]
    segment = storage.segments[position]
    if segment.count == 1 and not segment.key:
        return int(storage.bases[position])
    if segment.count == 0:
        raise UnknownNameError(f"{name} has no nodes.\nChoose another relation or invocation.")
    first = _segment_names(storage, segment, np.arange(min(2, segment.count)))
    raise UnknownNameError(
        f"{name} is {segment.count:,} node{'' if segment.count == 1 else 's'}.\nSay which, such as"
        f" {' or '.join(first)}, or select(segment={name!r}) for all."
    )


def _by_key(storage: GraphStorage, name: str) -> int:
    hint = closest(name, storage.position)
    for match in re.finditer(":", name):
        head, key = name[: match.start()], name[match.end() :]
        if head not in storage.position:
            continue
        position = storage.position[head]
        segment = storage.segments[position]
        if not segment.key:
            hint = f"The nodes of {head} have no key; they are {head}[0], {head}[1] ..."
            continue
        texts = key_texts(storage, segment)
        places = pc.indices_nonzero(pc.equal(texts, key))
        if len(places) > 1:
            raise UnknownNameError(
                f"{len(places):,} nodes have the name {name}.\nName one by its number: "
                f"{head}[{places[0]}] or {head}[{places[1]}], for example."
            )
        if len(places) == 1:
            return int(storage.bases[position]) + int(places[0].as_py())
        hint = closest(name, (f"{head}:{text}" for text in texts.slice(0, _COMPARED).to_pylist()))
    raise UnknownNameError(f"There is no node {name}.\n{hint}")


def _texts(column: pa.Array) -> pa.Array:
    """Return key values as `semiring.token.format_value` writes them."""
    column = decoded(column)
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return pc.fill_null(column.cast(pa.string()), "NULL")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        text = column.cast(pa.string())
        plain = pc.and_not(
            pc.match_substring_regex(text, _PLAIN), pc.match_substring_regex(text, _SPECIAL)
        )
        quoted = pc.replace_substring(text, "'", "''")
        quoted = pc.binary_join_element_wise("'", quoted, "'", "")
        return pc.fill_null(pc.if_else(plain, text, quoted), "NULL")
    encoded = column.dictionary_encode(null_encoding="encode")
    texts = pa.array([format_value(value) for value in encoded.dictionary.to_pylist()], pa.string())
    return texts.take(encoded.indices)

"""Messages as partial graphs, for the reducer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import UNKNOWN, EdgeType, FunctionCounts, Partial, VertexRole, merge
from graphquery.reduction.partial import VertexDeclarations
from graphquery.reduction.vertices import SEVERAL
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.message import EDGES, END, SEALED, TYPES
from semiring.base import Array, Semiring


def partial_of(messages: pa.Table, semiring: Semiring[Any] | None = None) -> Partial:
    """Return committed messages as one partial graph, without edges that are filtered out.

    Parameters
    ----------
    messages
        Of one topic, in the form of `SCHEMA`, checked, each once.
    semiring
        Of the edges' labels; messages without labels are labelled 1.

    Raises
    ------
    EventsError
        When a label is not an element of the semiring.
    """
    parts = [
        *_edges(_of_kind(messages, EDGES), semiring),
        *_ends(_of_kind(messages, END), semiring),
        *_sealed(_of_kind(messages, SEALED), semiring),
    ]
    return merge([Partial.about({}, pa.string(), semiring), *parts], semiring)


def is_sealed(messages: pa.Table) -> bool:
    """Return True if a message seals the topic."""
    sealed = _of_kind(messages, SEALED)
    return bool(sealed.column("function").null_count)


def _of_kind(messages: pa.Table, kind: str) -> pa.Table:
    return messages.filter(pc.equal(messages.column("kind"), kind)).combine_chunks()


def _counts(messages: pa.Table, name: str) -> Array:
    counts = messages.column("counts").combine_chunks()
    values: Array = pc.fill_null(pc.struct_field(counts, name), UNKNOWN).to_numpy()
    return values


def _edges(messages: pa.Table, semiring: Semiring[Any] | None) -> Iterator[Partial]:
    if not len(messages):
        return
    edges = messages.column("edges").combine_chunks()
    owner = np.repeat(np.arange(len(messages)), pc.list_value_length(edges).to_numpy())
    parts = pc.list_flatten(pc.list_flatten(edges))
    source, dest, relation = (parts.take(pa.array(np.arange(n, len(parts), 3))) for n in range(3))
    kinds = pc.index_in(relation, pa.array(list(TYPES)))
    passing = kinds.is_valid().to_numpy(zero_copy_only=False)
    label = _labels(messages, owner, semiring)
    if not passing.all():
        owner = owner[passing]
        source, dest, kinds = (each.filter(pa.array(passing)) for each in (source, dest, kinds))
        label = None if label is None else label[passing]
    types = kinds.to_numpy(zero_copy_only=False).astype(np.int64)
    is_used, is_generated = types == EdgeType.USED, types == EdgeType.GENERATED
    is_derived = types == EdgeType.DERIVED

    def of_ends(used: str | None, generated: str | None, derived: str | None) -> Array:
        """Return the declared count for an end of each edge, by its relation."""
        declared = np.full(len(owner), UNKNOWN, dtype=np.int64)
        for name, where in ((used, is_used), (generated, is_generated), (derived, is_derived)):
            if name is not None and where.any():
                declared[where] = _counts(messages, name)[owner[where]]
        return declared

    keep = pc.struct_field(messages.column("counts").combine_chunks(), "keep")
    kept = pc.fill_null(keep, False).to_numpy(zero_copy_only=False)[owner]
    kept &= is_generated | is_derived
    partial = Partial.of_edges(
        source,
        dest,
        types,
        label,
        semiring,
        (
            VertexDeclarations(
                of_ends("generations", "readers", "readers"),
                of_ends("uses", "causes", "causes"),
                np.where(kept, VertexRole.KEPT, 0).astype(np.uint8),
            ),
            VertexDeclarations(
                of_ends(None, "generations", None), of_ends("used_causes", "uses", "used_causes")
            ),
        ),
    )
    yield _scoped(partial, messages, owner, is_used, is_generated)


def _labels(messages: pa.Table, owner: Array, semiring: Semiring[Any] | None) -> Array | None:
    """Return the label of every edge; the default is 1."""
    if semiring is None:
        return None
    labels = messages.column("labels").combine_chunks()
    given = pc.list_flatten(labels).to_numpy(zero_copy_only=False)
    has = labels.is_valid().to_numpy(zero_copy_only=False)[owner]
    integral = np.issubdtype(semiring.dtype, np.integer)
    try:
        if integral and not np.equal(np.mod(given, 1), 0).all():
            raise EventsError(f"A label is not a whole number, as labels in {semiring.name} are.")
        column = pa.array(given.astype(np.int64) if integral else given)
        values = semiring.from_arrow(column)
    except (ValueError, TypeError) as error:
        raise EventsError(f"Labels are not elements of {semiring.name}: {error}") from error
    label = semiring.ones(len(owner))
    if len(values):
        label = label.astype(values.dtype)
        label[has] = values
    return label


def _scoped(
    partial: Partial, messages: pa.Table, owner: Array, is_used: Array, is_generated: Array
) -> Partial:
    """Return a partial graph with the function of each vertex, and the counts of each function."""
    encoding = messages.column("function").combine_chunks().dictionary_encode()
    names = encoding.dictionary.to_pylist()
    function = encoding.indices.to_numpy(zero_copy_only=False).astype(np.int64)[owner]
    lowest = np.full(len(partial.keys), len(names), dtype=np.int64)
    highest = np.full(len(partial.keys), UNKNOWN, dtype=np.int64)
    # Sources of both relations belong to the function, as does the generating execution.
    either = is_used | is_generated
    for ends, of in (
        (partial.edges.source[either], function[either]),
        (partial.edges.dest[is_generated], function[is_generated]),
    ):
        np.minimum.at(lowest, ends, of)
        np.maximum.at(highest, ends, of)
    scope = np.where((highest != UNKNOWN) & (lowest != highest), SEVERAL, highest)
    used = np.bincount(function[is_used], minlength=len(names))
    generated = np.bincount(function[~is_used], minlength=len(names))
    known = {
        name: FunctionCounts(int(used[number]), int(generated[number]), read_by=read_by)
        for (number, name), read_by in zip(
            enumerate(names), _readers(messages, encoding, len(names)), strict=True
        )
    }
    vertices = replace(partial.vertices, scope=scope)
    return replace(partial, vertices=vertices, functions=known)


def _readers(messages: pa.Table, functions: Any, count: int) -> list[frozenset[str] | None]:
    """Return, for every function, the declared readers of its results, or None."""
    declared = pc.struct_field(messages.column("counts").combine_chunks(), "read_by")
    if declared.null_count == len(declared):
        return [None] * count
    both = pa.table({"function": functions.indices, "read_by": declared})
    stated = both.filter(declared.is_valid())
    readers_of: list[frozenset[str] | None] = [None] * count
    # A message declares the same for all its edges: there are few different lists.
    pairs = dict.fromkeys(
        zip(
            stated.column("function").to_pylist(),
            map(tuple, stated.column("read_by").to_pylist()),
            strict=True,
        )
    )
    for function, readers in pairs:
        readers_of[function] = (readers_of[function] or frozenset()) | frozenset(readers)
    return readers_of


def _ends(messages: pa.Table, semiring: Semiring[Any] | None) -> Iterator[Partial]:
    if not len(messages):
        return
    yield Partial.declaring(
        messages.column("exec").combine_chunks(),
        VertexDeclarations(
            _counts(messages, "generations"), _counts(messages, "uses"), int(VertexRole.ACTIVITY)
        ),
        ended=messages.column("event_time").to_numpy(),
        semiring=semiring,
    )


def _sealed(messages: pa.Table, semiring: Semiring[Any] | None) -> Iterator[Partial]:
    """Yield a partial graph for each sealed function; there are few."""
    for row in messages.to_pylist():
        if row["function"] is None:
            continue
        counts = row["counts"] or {}
        read_by = counts.get("read_by")
        known = FunctionCounts(
            due_used=_or_unknown(counts.get("used")),
            due_generated=_or_unknown(counts.get("generated")),
            ended=_or_unknown(row["event_time"]),
            read_by=None if read_by is None else frozenset(read_by),
        )
        yield Partial.about({row["function"]: known}, pa.string(), semiring)


def _or_unknown(value: int | None) -> int:
    return UNKNOWN if value is None else int(value)

"""Closing an open block: what its members store, what its tail does.

The rule that keeps hypothetical answers exact: a scalar over stable columns may be computed once
and stored; one that depends on another block's evaluated rows is computed by the tail, from stored
columns, every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from rewriter.algebra import Attribute, Scalar
from rewriter.blocks import (
    EXPANDED,
    GROUP,
    SET_NUMBER,
    UNION,
    Block,
    GroupBlock,
    Kind,
    Named,
    Output,
    RowsBlock,
    UnionBlock,
    qualified,
)
from rewriter.lower.aggregates import decided, over_values, read_by
from rewriter.lower.certainty import is_stable
from rewriter.lower.scope import OpenCore, OpenPost
from rewriter.lower.stored_columns import (
    StoredMembers,
    identity_of_rows,
    members_of,
    unique_identity,
)
from rewriter.lower.ties import settled, ties_of
from rewriter.scalars.aggregates import chooses


def close_core(
    core: OpenCore, attributes: Iterable[Attribute], name: str, *, written: bool = False
) -> Block:
    """Close a core without grouping: its tuples are its members.

    ``written``: it has members of its own though all it reads are tuples of other blocks.
    """
    members = members_of(core, written=written)
    outputs = [
        Output(
            a.id, members.store.reference(core.env[a.id], a.id), _stable_output(core, a, members)
        )
        for a in attributes
    ]
    order, arrival = (
        tuple(replace(key, scalar=members.store.reference(key.scalar)) for key in keys)
        for keys in (core.post.order, core.post.arrival)
    )
    identity, stable = identity_of_rows(members, {output.name for output in outputs})
    unique = not core.untokened and not core.copies and unique_identity(members.lookups)
    if core.post.windowed:
        scalars = [*(output.scalar for output in outputs), *(key.scalar for key in order)]
        ties = ties_of([scalar for _, scalar in identity], scalars, unique=unique)
        outputs = [replace(o, scalar=settled(o.scalar, ties, arrival)) for o in outputs]
        order = tuple(replace(k, scalar=settled(k.scalar, ties, arrival)) for k in order)
    return RowsBlock(
        name=name,
        core=members.core(),
        tokens=members.tokens,
        lookups=members.lookups,
        semis=members.semis,
        conditions=members.conditions,
        keys=identity,
        outputs=tuple(outputs),
        order=order,
        limit=core.post.limit,
        offset=core.post.offset,
        identity=tuple(name for name, _ in identity),
        stable_identity=stable and not core.untokened,
        unique_identity=unique,
        generators=members.generators,
        outer_lookups=members.outer_lookups,
        copies=_copies(core, members),
    )


def _stable_output(core: OpenCore, attribute: Attribute, members: StoredMembers) -> bool:
    return is_stable(core.env[attribute.id], members.split.core)


def close_post(post: OpenPost, attributes: Iterable[Attribute], name: str) -> Block:
    """Close a grouping or a union of blocks."""
    if post.kind is Kind.UNION:
        return _close_union(post, tuple(attributes), name)
    assert post.core is not None
    core = replace(post.core, post=type(post.core.post)())
    members = members_of(core)
    store = members.store
    keys_stable = all(
        is_stable(scalar, members.split.core)
        for _, scalar in post.keys
        if not _is_set_number(scalar)
    )
    keys = tuple(
        (key, _in_sets(store.reference(scalar, key), key, post.sets)) for key, scalar in post.keys
    )
    aggregates = _aggregates(post, members)
    difference = post.difference
    if difference is not None:
        difference = replace(difference, side=store.reference(difference.side, "side"))
    key_names = frozenset(key for key, _ in keys)
    outputs = tuple(
        Output(a.id, post.env[a.id], keys_stable and _only(post.env[a.id], GROUP, key_names))
        for a in attributes
    )
    return GroupBlock(
        name=name,
        core=members.core(),
        tokens=members.tokens,
        lookups=(*members.lookups, *post.scalars),
        semis=members.semis,
        conditions=members.conditions,
        keys=keys,
        aggregates=aggregates,
        having=post.having,
        outputs=outputs,
        order=post.post.order,
        limit=post.post.limit,
        offset=post.post.offset,
        identity=tuple(key for key, _ in keys),
        stable_identity=keys_stable and bool(keys),
        unique_identity=True,
        generators=members.generators,
        outer_lookups=members.outer_lookups,
        sets=len(post.sets),
        difference=difference,
        copies=_copies(core, members),
    )


def _copies(core: OpenCore, members: StoredMembers) -> tuple[Scalar, ...]:
    return tuple(members.store.reference(count) for count in core.copies)


def _is_set_number(scalar: Scalar) -> bool:
    return isinstance(scalar, exp.Column) and scalar.table == EXPANDED


def _in_sets(scalar: Scalar, key: str, sets: Sequence[frozenset[str]]) -> Scalar:
    """Return a key as it is in the rows of each grouping set: NULL in those it is not a part of."""
    own_sets = [number for number, keys in enumerate(sets) if key in keys]
    if len(own_sets) == len(sets):
        return scalar
    numbers = [exp.Literal.number(number) for number in own_sets]
    there = exp.In(this=qualified(EXPANDED, SET_NUMBER), expressions=numbers)
    return exp.Case().when(there if own_sets else exp.false(), scalar)


def _aggregates(post: OpenPost, members: StoredMembers) -> tuple[Named, ...]:
    """Return the aggregates of a grouping over what members store of their arguments."""
    calls = [
        (name, over_values(call, partial(members.store.reference, hint=name, arithmetic=True)))
        for name, call in post.aggregates
    ]
    if not any(chooses(call) for _, call in calls):
        return tuple(calls)
    identity, _ = identity_of_rows(members, set())
    rows = [scalar for _, scalar in identity]
    unique = not members.split.core.untokened and unique_identity(members.lookups)
    return tuple(
        (name, decided(call, ties_of(rows, read_by(call), unique=unique))) for name, call in calls
    )


def _only(scalar: Scalar, alias: str, names: frozenset[str]) -> bool:
    return all(n.table == alias and n.name in names for n in scalar.find_all(exp.Column))


def _close_union(post: OpenPost, attributes: tuple[Attribute, ...], name: str) -> Block:
    identity = ["_branch"]
    for number, branch in enumerate(post.branches):
        identity += [f"_{number}_{column}" for column in branch.identity]
    outputs = tuple(
        Output(a.id, post.env[a.id], _only(post.env[a.id], UNION, post.stable_columns))
        for a in attributes
    )
    return UnionBlock(
        name=name,
        lookups=post.scalars,
        branches=post.branches,
        having=post.having,
        outputs=outputs,
        order=post.post.order,
        limit=post.post.limit,
        offset=post.post.offset,
        identity=tuple(identity),
        stable_identity=all(branch.potential_known for branch in post.branches),
        unique_identity=all(branch.unique_identity for branch in post.branches),
    )

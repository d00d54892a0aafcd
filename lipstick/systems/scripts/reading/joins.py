"""Values of variables and objects where branches of the text meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias

from lipstick.systems.scripts.graph import ScriptEdge
from lipstick.systems.scripts.model import Key, Role, ScriptNode
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.frames import Changes
from lipstick.systems.scripts.reading.values import (
    MISSING,
    PyValue,
    Reference,
    joined_kind,
    regions_of,
)

Candidates: TypeAlias = list[tuple[ScriptNode, PyValue | None]]
"""By branch what a key holds at its end; None: it is not there."""

Objects: TypeAlias = dict[int, dict[int, Candidates]]
"""Candidates by region, for each group of regions that may be the same object."""


def join(context: Context, block: ScriptNode, branches: list[tuple[ScriptNode, Changes]]) -> None:
    """Let all that some branches change be what the block of them makes of it."""
    for node, _ in branches:
        context.graph.link(ScriptEdge(node.id, block.id, Role.BRANCH))
    keys = dict.fromkeys(key for _, changes in branches for key in changes)
    objects: Objects = {}
    for key in keys:
        if isinstance(key, tuple) and key[0] in context.closed_scopes:
            continue
        prior = None
        if any(key not in changes for _, changes in branches):
            prior = context.lookup(key)
        if context.only_doubts(key):
            ends = [(node, changes.get(key, prior)) for node, changes in branches]
            context.write(key, PyValue(_versions(ends)))
            continue
        candidates = [(node, changes.get(key, prior)) for node, changes in branches]
        if isinstance(key, int):
            held = [value for _, value in candidates if value is not None]
            if len(held) == 1 or not any(value.refs for value in held):
                # An object that one branch makes, or that none changes.
                context.write(key, held[0])
            else:
                objects.setdefault(context.group(key), {})[key] = candidates
        else:
            context.write(key, joined(context, block, key, candidates))
    for region, version in join_objects(context, block, objects).items():
        context.write(region, version)


def join_objects(context: Context, block: ScriptNode, objects: Objects) -> dict[int, PyValue]:
    """Return the values that a block makes of objects, by region.

    Objects that may be the same are joined once, since a reader of one of them reads all, and so
    are objects that every branch leaves in the same versions.
    """
    joined_values: dict[int, PyValue] = {}
    alike: dict[tuple[tuple[Reference, ...], ...], PyValue] = {}
    for group in objects.values():
        versions = tuple(map(_versions, zip(*group.values(), strict=True)))
        if versions not in alike:
            first = next(iter(group))
            nodes = [node for node, _ in group[first]]
            candidates: Candidates = [
                (node, PyValue(refs)) for node, refs in zip(nodes, versions, strict=True)
            ]
            alike[versions] = PyValue(joined(context, block, first, candidates).refs)
        joined_values |= dict.fromkeys(group, alike[versions])
    return joined_values


def _versions(candidates: Iterable[tuple[ScriptNode, PyValue | None]]) -> tuple[Reference, ...]:
    """The versions that some objects have at the end of a branch, each once."""
    held = [value for _, value in candidates if value is not None]
    return tuple(dict.fromkeys(ref for value in held for ref in value.refs))


def joined(context: Context, block: ScriptNode, key: Key, candidates: Candidates) -> PyValue:
    """Return the value that a block makes of one key, from the values in its branches."""
    values = [value for _, value in candidates if value is not None]
    regions = regions_of(values)
    same = len({id(v.target) for v in values}) == 1 and len(values) == len(candidates)
    doubts: tuple[Reference, ...] = ()
    if context.graph.doubts:
        # What is open on one of the ways is open behind them, whatever their conditions.
        doubts = tuple(
            dict.fromkeys(r for v in values for r in v.refs if r[0] in context.graph.doubts)
        )
        if doubts:
            candidates = [(node, v and _sure(v, doubts)) for node, v in candidates]
            sure = [v for _, v in candidates if v is not None]
            if same and all(_alike(v, sure[0]) for v in sure):
                return replace(sure[0], refs=(*sure[0].refs, *doubts), regions=regions)
    for node, value in candidates:
        if value is not None:
            context.link(value, node, Role.ACTIVITY, key)
    first = values[0] if values else PyValue()
    consts = [value.const for value in values]
    const = first.const if values and all(_equal(c, first.const) for c in consts) else MISSING
    if not same:
        for value in values:
            context.escape(value)
    return PyValue(
        ((block.id, key, None), *doubts),
        regions,
        joined_kind(values),
        first.target if same else None,
        first.cls if len({id(v.cls) for v in values}) == 1 else None,
        const,
    )


def _sure(value: PyValue, doubts: tuple[Reference, ...]) -> PyValue:
    """A value without what is open about it."""
    open_nodes = {node for node, _, _ in doubts}
    return replace(value, refs=tuple(ref for ref in value.refs if ref[0] not in open_nodes))


def _alike(left: PyValue, right: PyValue) -> bool:
    return (
        left.refs == right.refs
        and left.kind == right.kind
        and left.cls is right.cls
        and _equal(left.const, right.const)
    )


def _equal(left: Any, right: Any) -> bool:
    return left is right or (type(left) is type(right) and bool(left == right))

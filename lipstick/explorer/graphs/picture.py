"""Pictures of a graph from afar: modules, one module's invocations, one invocation's segments.

A *focus* is the subject of a picture: ``{}`` is everything, ``{"module": m}`` a module,
``{"module": m, "invocation": k}`` an invocation, ``{"segment": name}`` the nodes of a segment and
``{"node": id}`` a node with what it is made of and makes. ``start`` is the place of the first
that is shown of more than are shown at once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from graphquery import Kind, Segment
from lipstick.display.markup import counted
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.graphs.boxes import MOST, Focus, Marks, Picture
from lipstick.explorer.graphs.outline import NONE, Outline
from semiring.arrays.segments import ascending, outside
from semiring.base import Array

INVOCATIONS = 36
"""Invocations of a module that are shown at once."""

AROUND = 40
"""Boxes around the subject of a picture, at most."""

EVERYTHING = {"label": "all modules", "focus": {}}


def everything(outline: Outline, marks: Marks | None, executions: Array | None) -> dict[str, Any]:
    """All modules, and the relations that come from outside.

    Parameters
    ----------
    executions
        Boolean array: the segments to show; None: all.
    """
    picture = Picture(outline=outline, marks=marks)
    there = outline.there if executions is None else outline.there & executions
    count = len(outline.groups)
    nodes = np.bincount(outline.group[there], outline.counts[there], minlength=count)
    calls = np.bincount(outline.group[there & _invocations(outline)], minlength=count)
    present = np.flatnonzero(np.bincount(outline.group[there], minlength=count))
    shown = present
    if len(present) > MOST - 1:
        largest = present[np.argsort(-nodes[present], kind="stable")]
        shown = np.sort(largest[: MOST - 1])
    members = _by_group(outline.group, there)
    for group in shown.tolist():
        name = outline.groups[group]
        module = name in outline.modules
        lines = [counted(int(nodes[group]), "node")]
        if module:
            lines.insert(0, counted(int(calls[group]), "invocation"))
        first = int(members[group][0])
        focus: Focus = {"module": name} if module else {"segment": outline.segments[first].name}
        if not module and len(members[group]) > 1:
            focus = {"relation": name}
        token = outline.segments[first].kind is Kind.TOKEN
        sort = "module" if module else "input" if token else "segment"
        box = picture.add(sort, name, lines=lines, focus=focus)
        picture.own(box, members[group])
    rest = outside(present, shown)
    if len(rest):
        left = int(nodes[rest].sum())
        label = f"{len(rest):,} more modules"
        picture.add("bundle", label, lines=(counted(left, "node"),), focus={"search": ""})
    picture.link_segments()
    return picture.answer(len(shown), len(present), [EVERYTHING], "modules and inputs")


def module(
    outline: Outline, name: str, start: int, marks: Marks | None, executions: Array | None
) -> dict[str, Any]:
    """The invocations of a module, in the order of executions, and what is around them."""
    inside = _of_module(outline, name)
    numbers = ascending(outline.invocation[inside & (outline.invocation != NONE)])
    if executions is not None:
        numbers = ascending(outline.invocation[inside & executions & (outline.invocation != NONE)])
    picture = Picture(outline=outline, marks=marks)
    whole = picture.add("module", name, inside="grid")
    start = max(0, min(start, len(numbers) - 1))
    chosen = numbers[start : start + INVOCATIONS]
    picture.before(whole, {"module": name}, start, INVOCATIONS)
    places = np.flatnonzero(inside)
    by_number = _by_group(outline.invocation[places] + 1, np.ones(len(places), np.bool_))
    for number in chosen.tolist():
        of_invocation = places[by_number[number + 1]]
        execution = int(outline.execution[of_invocation].max())
        lines = [counted(int(outline.counts[of_invocation].sum()), "node")]
        if execution != NONE:
            lines.insert(0, f"execution {execution:,}")
        focus = {"module": name, "invocation": number}
        box = picture.add("invocation", f"#{number}", lines=lines, parent=whole, focus=focus)
        picture.own(box, of_invocation)
        # What leads into the module or out of it is drawn once, at the module.
        picture.owner[of_invocation] = whole
    picture.after(whole, {"module": name}, start + len(chosen), len(numbers))
    for position in places[outline.invocation[places] == NONE][:8].tolist():
        _segment(picture, position, whole)
    picture.owner[places] = whole
    _around(picture, _modules_of(outline), frozenset({name}))
    picture.link_segments()
    crumbs = [EVERYTHING, {"label": name, "focus": {"module": name}}]
    return picture.answer(len(chosen), len(numbers), crumbs, "invocations")


def invocation(outline: Outline, name: str, number: int, marks: Marks | None) -> dict[str, Any]:
    """The segments of an invocation of a module, and what they come from and lead to."""
    inside = _of_module(outline, name)
    of_invocation = np.flatnonzero(inside & (outline.invocation == number) & outline.there)
    if not len(of_invocation):
        raise ExploreError(f"Module {name!r} has no invocation {number}.")
    picture = Picture(outline=outline, marks=marks)
    whole = picture.add("module", name, inside="boxes", focus={"module": name})
    within = picture.add("invocation", f"{name} #{number}", parent=whole, inside="boxes")
    for position in of_invocation[:MOST].tolist():
        _segment(picture, position, within)
    _around(picture, _invocations_of(outline), frozenset(), name, whole)
    picture.link_segments()
    crumbs = [
        EVERYTHING,
        {"label": name, "focus": {"module": name}},
        {"label": f"#{number}", "focus": {"module": name, "invocation": number}},
    ]
    return picture.answer(len(of_invocation[:MOST]), len(of_invocation), crumbs, "groups of nodes")


def relation(outline: Outline, name: str, start: int, marks: Marks | None) -> dict[str, Any]:
    """The segments outside of modules that are called alike: one an execution, say."""
    of_relation = np.array(
        [
            position
            for position in np.flatnonzero(outline.group == outline.groups.index(name)).tolist()
            if outline.segments[position].module is None
        ],
        dtype=np.int64,
    )
    picture = Picture(outline=outline, marks=marks)
    whole = picture.add("input", name, inside="grid")
    picture.before(whole, {"relation": name}, start, INVOCATIONS)
    chosen = of_relation[start : start + INVOCATIONS]
    for shown in chosen.tolist():
        _segment(picture, shown, whole)
    picture.after(whole, {"relation": name}, start + len(chosen), len(of_relation))
    picture.owner[of_relation[picture.owner[of_relation] < 0]] = whole
    _around(picture, _modules_of(outline), frozenset({name}))
    picture.link_segments()
    crumbs = [EVERYTHING, {"label": name, "focus": {"relation": name}}]
    return picture.answer(len(chosen), len(of_relation), crumbs, "inputs")


def crumbs_of(segment: Segment) -> list[dict[str, Any]]:
    """Return the box around the nodes of a segment."""
    crumbs: list[dict[str, Any]] = [EVERYTHING]
    if segment.module is not None:
        crumbs.append({"label": segment.module, "focus": {"module": segment.module}})
        if segment.invocation is not None:
            focus = {"module": segment.module, "invocation": segment.invocation}
            crumbs.append({"label": f"#{segment.invocation}", "focus": focus})
    return [*crumbs, {"label": inner_name(segment), "focus": {"segment": segment.name}}]


def inner_name(segment: Segment) -> str:
    """The name of a segment without that of its invocation."""
    before, slash, after = segment.name.partition("/")
    return after if slash and segment.module is not None else before + slash + after


def _segment(picture: Picture, position: int, parent: int | None) -> int:
    """Add the box of a segment."""
    segment = picture.outline.segments[position]
    sort = "input" if segment.kind is Kind.TOKEN else "segment"
    what = _KINDS[segment.kind]
    label = f"{segment.label} " if segment.label and len(segment.label) < 4 else ""
    lines = [f"{label}{what}", counted(int(picture.outline.counts[position]), "node")]
    focus = {"segment": segment.name}
    box = picture.add(sort, inner_name(segment), lines=lines, parent=parent, focus=focus)
    picture.own(box, np.array([position]))
    return box


_KINDS = {
    Kind.TOKEN: "tokens",
    Kind.INVOCATION: "invocation",
    Kind.INPUT: "inputs",
    Kind.OUTPUT: "outputs",
    Kind.STATE: "state",
    Kind.DERIVED: "derived",
    Kind.VALUE: "values",
    Kind.ZOOMED: "zoomed out",
}


def _modules_of(outline: Outline) -> list[tuple[str, int]]:
    """Return the group of each segment, without an invocation: its part in a module's picture."""
    return [(outline.groups[g], NONE) for g in outline.group.tolist()]


def _invocations_of(outline: Outline) -> list[tuple[str, int]]:
    """Return the group and invocation of each segment: its part in an invocation's picture."""
    pairs = zip(outline.group.tolist(), outline.invocation.tolist(), strict=True)
    return [(outline.groups[group], number) for group, number in pairs]


def _around(
    picture: Picture,
    part_of: list[tuple[str, int]],
    leave_out: frozenset[str],
    module: str | None = None,
    parent: int | None = None,
) -> None:
    """Add boxes for what is joined with the segments that are shown, the most joined first.

    Parameters
    ----------
    part_of
        Per segment what it is shown as.
    leave_out
        Not these.
    module, parent
        Invocations of this module are in this box.
    """
    outline = picture.outline
    shown = picture.owner >= 0
    near: dict[tuple[str, int], set[int]] = {}
    for ends, other in ((outline.sources, outline.targets), (outline.targets, outline.sources)):
        for position in ascending(other[shown[ends] & ~shown[other]]).tolist():
            name, number = part_of[position]
            if name not in leave_out:
                near.setdefault((name, number), set()).add(position)
    ranked = sorted(near.items(), key=lambda item: -len(item[1]))
    for (name, number), places in ranked[:AROUND]:
        members = np.array(sorted(places), dtype=np.int64)
        inside = parent if name == module else None
        segment = outline.segments[int(members[0])]
        if len(members) == 1 and number == NONE and name not in outline.modules:
            _segment(picture, int(members[0]), inside)
            continue
        if number != NONE:
            focus: Focus = {"module": name, "invocation": number}
            box = picture.add("invocation", f"{name} #{number}", parent=inside, focus=focus)
        elif name == module:
            label = segment.relation or segment.name
            box = picture.add("input", label, parent=inside, focus={"segment": segment.name})
        elif name in outline.modules:
            box = picture.add("module", name, parent=inside, focus={"module": name})
        else:
            box = picture.add("input", name, parent=inside, focus={"relation": name})
        picture.own(box, members)
    if len(ranked) > AROUND:
        label = f"{len(ranked) - AROUND:,} more around"
        box = picture.add("bundle", label, focus={"search": ""})
        for _, places in ranked[AROUND:]:
            picture.owner[np.array(sorted(places), dtype=np.int64)] = box


def _of_module(outline: Outline, name: str) -> Array:
    """Boolean array: the segments of a module."""
    if name not in outline.modules:
        raise ExploreError(f"There is no module {name!r}.")
    inside: Array = (outline.group == outline.groups.index(name)) & outline.there
    return inside


def _invocations(outline: Outline) -> Array:
    is_invocation = (segment.kind is Kind.INVOCATION for segment in outline.segments)
    return np.fromiter(is_invocation, np.bool_, len(outline.segments))


def _by_group(group: Array, there: Array) -> list[Array]:
    """Return the places of the members of each group."""
    places = np.flatnonzero(there)
    order = places[np.argsort(group[places], kind="stable")]
    size = int(group.max(initial=-1)) + 1
    bounds = np.searchsorted(group[order], np.arange(size + 1))
    return [order[a:b] for a, b in pairwise(bounds.tolist())]

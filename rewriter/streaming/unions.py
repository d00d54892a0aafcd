"""Unions of streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import Attribute, Project, Relation, UnionAll
from rewriter.streaming.context import Context, columns
from rewriter.streaming.flow import Flow, united_times


def union_of_streams(
    context: Context, union: UnionAll, branches: Sequence[tuple[Relation, Flow]]
) -> tuple[Relation, Flow]:
    """Return the rows of several streams, of which ``branches`` are the recorded ones."""
    late_of = [flow.late for _, flow in branches if flow.late is not None]
    if len(late_of) < len(branches):
        raise context.unsupported("a union of a stream with what is none is", union.span)
    placed = len({len(flow.place) for _, flow in branches}) == 1 and bool(branches[0][1].place)
    names = ("branch", *("place" for _ in branches[0][1].place)) if placed else ()
    added = [context.attribute(name) for name in ("batch", "late", *names)]
    whole = []
    for number, (branch, (below, flow), late) in enumerate(
        zip(union.branches, branches, late_of, strict=True)
    ):
        rows, order = _ordered(context, below, flow, number) if placed else (below, ())
        whole.append(columns(rows, (*branch.attributes, *flow.batches, late, *order)))
    first = branches[0][1]
    flow = Flow(
        True,
        united_times(union, first.times),
        added[1],
        batches=(added[0],),
        place=tuple(added[2:]),
        delay=first.delay,
        bits=max(flow.bits for _, flow in branches),
        unordered=not placed or any(flow.unordered for _, flow in branches),
        deduplicated=any(flow.deduplicated for _, flow in branches),
        joined=any(flow.joined for _, flow in branches),
        untold=any(flow.joined for _, flow in branches),
    )
    return replace(union, branches=tuple(whole), output=(*union.output, *added)), flow


def _ordered(
    context: Context, below: Relation, flow: Flow, number: int
) -> tuple[Relation, tuple[Attribute, ...]]:
    """Return the rows of a branch with its number, and what they come by in a batch."""
    branch = context.attribute("branch")
    numbered = Project(
        below,
        (*below.attributes, branch),
        (
            *(attribute.column() for attribute in below.attributes),
            exp.Literal.number(number),
        ),
    )
    return numbered, (branch, *flow.place)

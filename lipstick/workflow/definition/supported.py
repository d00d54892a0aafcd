"""Queries whose blocks have no place in a provenance graph, found before anything runs."""

from __future__ import annotations

from collections.abc import Iterator

from lipstick.workflow.derivation.columns import plain_text
from rewriter.blocks import GROUP, Block, Kind, topological
from rewriter.interpret import WindowCall, aggregate_call, interpret, windowed


def problem(root: Block) -> str | None:
    """Say why a query cannot be derived, and what to write in its place; None: it can be.

    Invocations are derived in this process, which computes what rows are grouped, sorted and
    aggregated by as Spark does, and cannot do so of everything.
    """
    for block in topological(root):
        for refusal in (_joins(block), _copies(block, root), _generators(block)):
            if refusal is not None:
                return refusal
        for text in (*_windows(block), *_aggregates(block)):
            return (
                f"{text} reads what only Spark can compute, and its nodes are made of that.\n"
                "Compute it as a column of a relation of the chain, and use that."
            )
    return None


def _joins(block: Block) -> str | None:
    free = [lookup for lookup in block.lookups if not lookup.scalar and not lookup.on]
    if len(free) <= (1 if block.core is None else 0):
        return None
    return (
        "it joins rows of a grouping, or another inner query, by conditions on their values.\n"
        "Make the inner query a relation of the chain, and join that."
    )


def _copies(block: Block, root: Block) -> str | None:
    if not block.copies or (block.name == root.name and block.kind is Kind.ROWS):
        return None
    return (
        "it groups or combines rows of EXCEPT ALL or INTERSECT ALL.\n"
        "Make these a relation of the chain, and read that."
    )


def _generators(block: Block) -> str | None:
    if not block.generators:
        return None
    return (
        "it takes apart arrays that it has computed from an inner query.\n"
        "Make the inner query a relation of the chain, and take its arrays apart."
    )


def _windows(block: Block) -> Iterator[str]:
    """The window functions whose frames only Spark can compute."""
    scalars = [*(output.scalar for output in block.outputs), *(key.scalar for key in block.order)]
    for scalar in scalars:
        for call in windowed(scalar).calls:
            if not _known(call):
                yield plain_text(call.text)


def _known(call: WindowCall) -> bool:
    read = (*call.partition, *(key.scalar for key in call.order))
    return call.extent is not None and all(scalar.run is not None for scalar in read)


def _aggregates(block: Block) -> Iterator[str]:
    """The aggregates of values that only Spark can compute."""
    shown = [*(output.scalar for output in block.outputs), *block.having]
    used = {name for scalar in shown for alias, name in interpret(scalar).columns if alias == GROUP}
    for name, scalar in block.aggregates:
        call = aggregate_call(scalar)
        computed = all(argument.run is not None for argument in call.arguments)
        if name in used and call.function is not None and not computed:
            yield plain_text(call.text)

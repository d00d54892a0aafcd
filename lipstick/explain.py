"""A readable account of how a query is annotated and captured."""

from __future__ import annotations

from collections.abc import Mapping

from lipstick.tracking import Tracked
from rewriter.analysis.annotation_type import annotation_type
from rewriter.analysis.monotone import monotone_having
from rewriter.blocks import Block, Kind, core_relations, topological
from rewriter.scalars.text import text
from semiring.annotation import AnnotationType


def key_types(relations: Mapping[str, Tracked]) -> dict[str, tuple[str, ...]]:
    """Return the types of every relation's token columns."""
    return {
        name: tuple(
            tracked.schema[column].dataType.simpleString()
            if column in tracked.schema.names
            else "bigint"
            for column in tracked.token
        )
        for name, tracked in relations.items()
    }


def root_type(root: Block, relations: Mapping[str, Tracked]) -> AnnotationType:
    """Return the annotation type of the answer's tuples."""
    return annotation_type(root, key_types(relations))


def explain(root: Block, relations: Mapping[str, Tracked]) -> str:
    """Return an account of the blocks of a query, inner ones first."""
    types = key_types(relations)
    lines: list[str] = []
    for block in topological(root):
        lines.append(f"{block.name}{' (the answer)' if block is root else ''}: {_kind(block)}")
        lines += [f"  {line}" for line in _details(block)]
        lines.append(f"  annotation: {annotation_type(block, types)}")
    unverified = [name for name, tracked in relations.items() if not tracked.verified]
    if unverified:
        lines.append(f"keys not verified: {', '.join(sorted(unverified))}")
    return "\n".join(lines)


def _kind(block: Block) -> str:
    if block.kind is Kind.UNION:
        return f"union of {', '.join(branch.name for branch in block.branches)}"
    if block.kind is Kind.ROWS:
        return "rows"
    if not block.keys:
        return "one group of everything"
    sets = f" in {block.sets} grouping sets" if block.sets else ""
    return f"groups by {', '.join(name for name, _ in block.keys)}{sets}"


def _details(block: Block) -> list[str]:
    lines = []
    if block.core is not None:
        scans = [scan.relation for scan in core_relations(block.core)]
        lines.append(f"members captured from: {', '.join(scans)}")
        if block.core.once:
            lines.append("written once: chance decides its values or rows")
    read = [lookup.block.name for lookup in block.lookups]
    read += [f"{semi.block.name} (membership)" for semi in block.semis]
    if read:
        lines.append(f"refers to: {', '.join(read)}")
    lines += [f"aggregate {name}: {text(call)}" for name, call in block.aggregates]
    windows = [output for output in block.outputs if output.windowed]
    lines += [f"window function in {output.name}: {text(output.scalar)}" for output in windows]
    lines += [f"decided by evaluated rows: {text(c)}" for c in block.conditions]
    for condition in block.having:
        lines.append(f"having: {text(condition)}")
    if monotone_having(block) is not None:
        lines.append("having only falls under deletion: other groups are not captured")
    return lines

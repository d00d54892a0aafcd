"""A readable account of how a query is annotated and captured."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

from lipstick.tracking.tracker import Tracked
from rewriter import PASSES, PassStep, dialect, planned_capture
from rewriter.algebra import walk
from rewriter.analysis.annotation_type import annotation_type
from rewriter.blocks import Block, Kind, core_relations, topological
from rewriter.passes import LOGGER, Alike
from rewriter.passes.capture_plan import monotone_having
from rewriter.scalars.text import text

if TYPE_CHECKING:
    from lipstick.pipeline import PreparedQuery, StageResult

SWITCH = "LIPSTICK_EXPLAIN"
"""The environment variable that has passes written to the standard error."""


def explain(root: Block, relations: Mapping[str, Tracked]) -> str:
    """Return an account of the blocks of a query, inner ones first."""
    lines: list[str] = []
    for block in topological(root):
        lines.append(f"{block.name}{' (the answer)' if block is root else ''}: {_kind(block)}")
        lines += [f"  {line}" for line in _details(block)]
        lines.append(f"  annotation: {annotation_type(block)}")
    unverified = [name for name, tracked in relations.items() if not tracked.verified]
    if unverified:
        lines.append(f"keys not verified: {', '.join(sorted(unverified))}")
    return "\n".join(lines)


def explain_passes(steps: Sequence[PassStep], root: Block, alike: Alike) -> str:
    """Return what each pass did, in the order in which they ran, and the blocks that this gave.

    Parameters
    ----------
    steps
        What was done until the query was cut into blocks.
    root
        The block of the answer.
    alike
        Whether member columns are of one type, see :func:`rewriter.passes.planned_capture`.
    """
    from rewriter.passes.rendering import render_blocks

    done = [*steps]
    planned_capture(root, alike, done.append)
    fired = {step.name for step in done}
    idle = [each.__name__ for stage in PASSES for each in stage if each.__name__ not in fired]
    lines = ["passes:", *map(str, done)]
    if idle:
        lines.append(f"nothing to do: {', '.join(idle)}")
    return "\n".join([*lines, "blocks:", render_blocks(root).rstrip()])


def explain_stages(trace: Sequence[StageResult], later: Mapping[str, str]) -> str:
    """Return a line per stage of a query: its name, its milliseconds and what it yielded.

    Parameters
    ----------
    later
        What became of the steps after the stages, by their names.
    """
    lines = ["stages:"]
    before = trace[0].query
    for stage in trace:
        yielded = _SUMMARIES[stage.name](before, stage.query)
        lines.append(f"{stage.name:<10} {stage.seconds * 1000:8.1f} ms  {yielded}")
        before = stage.query
    lines += [f"{name:<10} {'':8}     {text}" for name, text in later.items()]
    return "\n".join(lines)


def _moment(before: PreparedQuery, after: PreparedQuery) -> str:
    emitted = dialect.emit(after.expression)
    return "nothing to fix" if emitted == dialect.emit(before.written) else shorten(emitted, 80)


def _operators(after: PreparedQuery) -> str:
    counts = Counter(type(operator).__name__ for operator in walk(after.bound.root))
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _levels(after: PreparedQuery) -> str:
    known = [
        f"{after.bound.recursions[key].name}: {1 + levels} levels"
        if isinstance(levels, int)
        else f"{after.bound.recursions[key].name}: rows computed"
        for key, levels in after.levels.items()
    ]
    return ", ".join(known) or "no recursions"


def _blocks(after: PreparedQuery) -> str:
    passes = dict.fromkeys(step.name for step in after.steps)
    blocks = ", ".join(f"{block.name} {_kind(block)}" for block in topological(after.root))
    return f"{blocks}; passes: {', '.join(passes) or 'nothing to do'}"


def _conversions(after: PreparedQuery) -> str:
    kinds = sorted({kind for types in after.converted.values() for kind in types.values()})
    return f"to {', '.join(kinds)}" if kinds else "nothing to convert"


_SUMMARIES: dict[str, Callable[[PreparedQuery, PreparedQuery], str]] = {
    "understand": lambda _, after: after.schema.simpleString(),
    "fix_moment": _moment,
    "bind": lambda _, after: _operators(after),
    "unfold": lambda _, after: _levels(after),
    "lower": lambda _, after: _blocks(after),
    "convert": lambda _, after: _conversions(after),
    "check": lambda _, after: f"{len(after.root.outputs)} columns, nothing to refuse",
}


def log_passes_where_asked() -> None:
    """Write what passes do to the standard error, where ``LIPSTICK_EXPLAIN`` is set."""
    if os.environ.get(SWITCH, "0") in ("", "0"):
        return
    if any(handler.name == SWITCH for handler in LOGGER.handlers):
        return
    handler = logging.StreamHandler()
    handler.name = SWITCH
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)


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
    read = [lookup.block.name for lookup in (*block.joined, *block.subqueries)]
    read += [f"{semi.block.name} (membership)" for semi in block.memberships]
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

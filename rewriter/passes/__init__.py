"""Rewrites that preserve the answer of a query and make its capture smaller.

A pass is a pure function: of the query (a tree of :mod:`rewriter.algebra`), or of the plan of its
capture. It returns its argument unchanged if it does not apply. :data:`PASSES` has them all in the
order in which they run.

On the query, before it is cut into blocks:

1. ``eliminate_outer_joins`` comes first: an inner join is part of a core, where an outer join is a
   union of two, so all that follows sees simpler trees.
2. ``prune_windows`` drops the window functions whose values nothing reads, so that what follows
   may merge and compare the operators around them.
3. ``fuse_scalar_subqueries`` compares subqueries as they stand. Two that differed in an outer join
   which has become an inner one may now be equal.

While a block is finished, :mod:`rewriter.lower.split_components` divides its core; that needs to
know which conditions a deletion may decide, which is known there only.

On the plan of a capture, when the blocks are final:

4. ``push_predicates`` comes first, for what it leaves out is left out of whatever is counted or
   joined later.
5. ``prune_groups`` finds the blocks whose groups HAVING decides once and for all. The groups are
   computed from the rows of all blocks below,
6. so ``reduce_semijoins`` must not reduce a block by the members of such a one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rewriter.algebra import Relation
from rewriter.algebra.rendering import render
from rewriter.blocks import Block
from rewriter.passes.capture_plan import (
    Alike,
    CapturePlan,
    SemijoinReduction,
    prune_groups,
    reduce_semijoins,
)
from rewriter.passes.eliminate_outer_joins import eliminate_outer_joins
from rewriter.passes.fuse_scalar_subqueries import fuse_scalar_subqueries
from rewriter.passes.prune_windows import prune_windows
from rewriter.passes.push_predicates import push_predicates
from rewriter.passes.steps import LOGGER, Observer, PassStep, log, run

__all__ = [
    "LOGGER",
    "PASSES",
    "Alike",
    "CapturePlan",
    "Observer",
    "PassStep",
    "Passes",
    "SemijoinReduction",
    "log",
    "planned_capture",
    "rewritten",
]


class Passes(NamedTuple):
    """The passes, in the order in which they run."""

    query: tuple[Callable[[Relation], Relation], ...]
    capture: tuple[Callable[[CapturePlan], CapturePlan], ...]


PASSES = Passes(
    query=(eliminate_outer_joins, prune_windows, fuse_scalar_subqueries),
    capture=(push_predicates, prune_groups, reduce_semijoins),
)


def rewritten(root: Relation, observe: Observer = log) -> Relation:
    """Return a query rewritten by the passes."""
    return run(PASSES.query, root, _lines, observe)


def planned_capture(root: Block, alike: Alike, observe: Observer = log) -> CapturePlan:
    """Return the capture plan of a query's blocks, rewritten by the passes.

    Parameters
    ----------
    root
        The block of the answer.
    alike
        Whether columns of members have one type. If a union converts some of its columns, a
        condition on the union's column does not apply to each of them.
    observe
        Receives each pass that changed something.
    """
    return run(PASSES.capture, CapturePlan(root, alike), CapturePlan.lines, observe)


def _lines(root: Relation) -> Iterator[str]:
    yield from render(root).split("\n")

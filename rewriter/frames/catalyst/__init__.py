"""The front end for data frames: a plan that Spark analysed becomes the text of a query.

A plan comes as ``TreeNode.toJSON`` writes it, pure data. The names of its columns play no part:
an attribute is its expression id. The text is Spark SQL, one SELECT for as many operators as go
into one, the others in named steps before it; whoever made it proves that Spark reads it as a plan
equal to the one it was made of.

Five entries are added to the objects of the JSON by whoever reads the plan:

- ``tracked`` of an operator: ``{"name": ..., "columns": [[expression id, name], ...]}``, it is this
  tracked relation;
- ``values`` of a ``LocalRelation``: ``VALUES ... AS v(...)``, the text of its rows;
- ``text`` of an operator: ``{"sql": ..., "columns": [[expression id, name], ...]}``, it was made of
  this query;
- ``registered`` of a ``PythonUDF``: the name under which the function is registered;
- ``unmarked`` of an ``Alias``: whether it takes the marks of a column away, see
  :mod:`rewriter.bind.columns.types`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rewriter.dialect import emit
from rewriter.frames.catalyst.outputs import needed
from rewriter.frames.catalyst.plans import CatalystPlans
from rewriter.frames.catalyst.scalars import CatalystScalars
from rewriter.frames.catalyst.tree import PlanNode, tree
from rewriter.frames.writing.rows import relations_read
from rewriter.frames.writing.selects import Steps

__all__ = ["query_text", "relations_read"]


def query_text(plan: Sequence[dict[str, Any]], *, literal: bool = False) -> str:
    """Return Spark SQL with the meaning of an analysed plan.

    A ``literal`` text has a step for every list of columns, with all of them, as the plan has: it
    is longer, and its optimised plan nearer to that of the frame.

    Raises
    ------
    UntrackedError
        The plan scans what is not tracked.
    UnsupportedError
        An operator or an expression of the plan has no rule.
    """
    root = tree(plan)
    if "stated" in root.fields:
        return str(root.fields["stated"]["sql"])
    taken = set(_taken(root))
    steps = Steps(taken, None if literal else needed(root))
    return emit(steps.query(CatalystPlans(steps, CatalystScalars({}), literal=literal).rows(root)))


def _taken(root: PlanNode) -> Iterator[str]:
    """Yield the names that no step may have."""
    for node in root.walk():
        if "tracked" in node.fields:
            yield node.fields["tracked"]["name"].rpartition(".")[2]
        if "stated" in node.fields:
            yield from relations_read(node.fields["stated"]["sql"]) or ()

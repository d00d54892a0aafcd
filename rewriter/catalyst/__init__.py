"""The front end for data frames: a plan that Spark analysed becomes the text of a query.

A plan comes as ``TreeNode.toJSON`` writes it, pure data. The names of its columns play no part:
an attribute is its expression id. The text is Spark SQL, one SELECT for as many operators as go
into one, the others in named steps before it; whoever made it proves that Spark reads it as a plan
equal to the one it was made of.

Two entries are added to the objects of the JSON by whoever reads the plan:

- ``tracked`` of an operator: ``{"name": ..., "columns": [[expression id, name], ...]}``, it is this
  tracked relation;
- ``registered`` of a ``PythonUDF``: the name under which the function is registered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewriter.catalyst.outputs import needed
from rewriter.catalyst.plans import Plans
from rewriter.catalyst.scalars import Scalars
from rewriter.catalyst.selects import Steps
from rewriter.catalyst.tree import tree
from rewriter.dialect import emit

__all__ = ["query_text"]


def query_text(plan: Sequence[dict[str, Any]]) -> str:
    """Return Spark SQL with the meaning of an analysed plan.

    Raises
    ------
    UntrackedError
        The plan scans what is not tracked.
    UnsupportedError
        An operator or an expression of the plan has no rule.
    """
    root = tree(plan)
    taken = [node.fields["tracked"]["name"] for node in root.walk() if "tracked" in node.fields]
    steps = Steps((name.rpartition(".")[2] for name in taken), needed(root))
    return emit(steps.query(Plans(steps, Scalars({})).rows(root)))

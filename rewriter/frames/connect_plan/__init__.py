"""The front end for data frames over Spark Connect: a plan of the protocol becomes a query's text.

A plan comes as ``MessageToDict`` makes it of the message, pure data, without analysis: names are
resolved here as Spark does, and whoever made the text proves that Spark plans both alike.

``tracked`` in a relation, ``{"name": ..., "columns": [name, ...]}``, is added by whoever reads the
plan: the relation is this tracked one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count
from typing import Any

from rewriter.dialect import emit
from rewriter.frames.connect_plan.fields import written_out
from rewriter.frames.connect_plan.frame import is_local_sort, may_be_marked, sorted_before_draws
from rewriter.frames.connect_plan.missing import present, shown
from rewriter.frames.connect_plan.plans import ConnectPlans
from rewriter.frames.writing.selects import Steps

__all__ = [
    "is_local_sort",
    "may_be_marked",
    "present",
    "query_text",
    "shown",
    "sorted_before_draws",
    "written_out",
]


def query_text(
    relation: Mapping[str, Any],
    names: Collection[str],
    schema_of: Callable[[Mapping[str, Any]], Sequence[tuple[str, Any]]],
    *,
    literal: bool = False,
) -> str:
    """Return Spark SQL with the meaning of a plan.

    A ``literal`` text has a derived table for every relation of the plan: it is longer, and Spark
    reads it as the plan more often.

    Parameters
    ----------
    relation
        The root of the plan.
    names
        The tracked relations' names, which steps must not have.
    schema_of
        Asks Spark for the columns of a relation in the plan: their names, and their types as
        ``DataType.jsonValue`` has them.

    Raises
    ------
    UntrackedError
        The plan reads what is not tracked.
    UnsupportedError
        A relation or an expression of the plan has no rule.
    """
    if "sql" in relation and not relation["sql"].keys() - {"query"}:
        return str(relation["sql"]["query"])
    steps = Steps((name.rpartition(".")[2] for name in names), nested=literal)
    frame = ConnectPlans(steps, schema_of, count(), literal=literal).frame(relation)
    return emit(steps.query(frame.rows))

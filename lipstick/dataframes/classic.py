"""The text of a data frame of a classic session, from its analysed plan."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lipstick.dataframes.applied_classic import applies_functions, with_ordinary_operators
from lipstick.dataframes.hidden import (
    register_functions,
    show_constants,
    show_copies,
    show_expressions,
    show_pivot_values,
    show_unmarked,
)
from lipstick.dataframes.jvm import (
    Json,
    Plan,
    analysed,
    described,
    kind,
    node_at,
    sizes,
    with_subqueries,
)
from lipstick.dataframes.named import only
from lipstick.dataframes.prove import prove
from lipstick.dataframes.sampled_classic import with_filters
from lipstick.dataframes.stated import with_texts
from lipstick.dataframes.streaming import name_first_rows
from lipstick.errors import SourceChangedError
from rewriter.errors import NotUnderstoodError, QueryError
from rewriter.frames import catalyst

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lipstick.tracking.tracker import Tracked

_NAMING = ("SubqueryAlias", "View")


def classic_text(spark: SparkSession, frame: DataFrame, tracked: Sequence[Tracked]) -> str:
    """Return the text of a frame, proven to be it.

    The plan is fetched by one call; others find the tracked relations and the texts in it, and
    register the Python functions that only the frame knows. Parts that were made of a text are
    written as it. Where Spark reads another query in that, every part is written from its plan;
    and where it does so again, each operator as a step of its own.

    Raises
    ------
    NotUnderstoodError
        With the first line of the optimised plans that differs.
    """
    plan = analysed(frame)
    nodes = described(plan)
    if applies_functions(nodes):
        frame = with_ordinary_operators(spark, plan, nodes)
        plan = analysed(frame)
        nodes = described(plan)
    relations = [_Relation(relation) for relation in tracked]
    if any(kind(node) == "Sample" for node in nodes):
        _mark_relations(plan, nodes, relations)
        filtered = with_filters(spark, plan, nodes)
        if filtered is not None:
            frame = filtered
            plan = analysed(frame)
            nodes = described(plan)
    for part, described_part in with_subqueries(plan, nodes):
        _mark_relations(part, described_part, relations)
        register_functions(spark, part, described_part)
        show_constants(part, described_part)
        show_copies(part, described_part)
        show_expressions(part, described_part)
        show_pivot_values(part, described_part)
        show_unmarked(part, described_part)
    if frame.isStreaming:
        name_first_rows(spark, plan, nodes)
    stated = with_texts(spark, plan, nodes)
    if stated is not None:
        with suppress(QueryError):
            return _proven(spark, frame, catalyst.query_text(stated))
    try:
        return _proven(spark, frame, catalyst.query_text(nodes))
    except NotUnderstoodError:
        with suppress(QueryError):
            return _proven(spark, frame, catalyst.query_text(nodes, literal=True))
        raise


def _proven(spark: SparkSession, frame: DataFrame, text: str) -> str:
    prove(spark, frame, text)
    return text


class _Relation:
    """A tracked relation with its plan, below the names that views and tables give it."""

    def __init__(self, tracked: Tracked) -> None:
        self.tracked = tracked
        plan = analysed(tracked.source.frame)
        nodes = described(plan)
        names = 0
        while kind(nodes[names]) in _NAMING:
            plan, names = plan.children().apply(0), names + 1
        self.plan: Plan = plan
        self.shape = [kind(node) for node in nodes[names:]]


def _mark_relations(plan: Plan, nodes: Json, relations: Sequence[_Relation]) -> None:
    """Mark the operators that are a tracked relation, from the top down."""
    size, shape = sizes(nodes), [kind(node) for node in nodes]
    position, name = 0, ""
    while position < len(nodes):
        node = nodes[position]
        if shape[position] == "SubqueryAlias":
            name = node["identifier"]["name"]
        alike = [r for r in relations if r.shape == shape[position : position + size[position]]]
        same = []
        if alike:
            here = node_at(plan, nodes, size, position)
            same = [relation.tracked for relation in alike if here.sameResult(relation.plan)]
        if not same:
            position += 1
            continue
        chosen = only(same, name)
        _check_files(here, chosen)
        columns = [
            [_expression_id(here.output().apply(number)), column]
            for number, column in enumerate(chosen.columns)
        ]
        node["tracked"] = {"name": chosen.name, "columns": columns}
        position += size[position]
        name = ""


def _check_files(node: Plan, tracked: Tracked) -> None:
    """Refuse a frame that read the files of a source at another time, and found others."""
    if node.getClass().getSimpleName() != "LogicalRelation":
        return
    relation = node.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return
    files = {state[0] for state in tracked.source.fingerprint}
    if set(relation.location().inputFiles()) != files:
        raise SourceChangedError(
            f"This data frame reads other files than {tracked.name!r} had when it was tracked.\n"
            f"untrack({tracked.name!r}), then track it again."
        )


def _expression_id(attribute: Any) -> int:
    return int(attribute.exprId().id())

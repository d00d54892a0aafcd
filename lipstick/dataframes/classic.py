"""The text of a data frame of a classic session, from its analysed plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.errors import PySparkException

from lipstick.dataframes.classic_proof import prove
from lipstick.dataframes.group_functions import applies_functions, with_ordinary_operators
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
    changed,
    children,
    described,
    described_expressions,
    elements,
    frame_of,
    jvm_of,
    kind,
    node_at,
    rebuilt,
    sequence,
    sizes,
    subqueries_of,
    untracked,
    with_parameters,
    with_plans,
    with_subqueries,
)
from lipstick.dataframes.leaves import relation_of_leaf
from lipstick.dataframes.streaming import name_first_rows
from lipstick.dataframes.texts import named_relation
from lipstick.errors import SourceChangedError
from lipstick.tracking.formats.probe import versioned_leaf
from rewriter.errors import NotUnderstoodError, QueryError, UntrackedError
from rewriter.frames import catalyst
from rewriter.frames.catalyst.refusals import is_local_sort
from rewriter.frames.writing.rows import condition, is_percentage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lipstick.tracking.formats.versions import Leaf
    from lipstick.tracking.tracker import Tracked


_NAMING = ("SubqueryAlias", "View")
_CHECKED = ("CheckOverflowInTableInsert", "CheckOverflowInTableWrite")
"""Casts for a table's column, by Spark and by Delta, whose errors name the column."""
_OUTPUT = 1
"""The place of the columns among the parameters of a leaf that reads a table."""
_TABLES = ("DataSourceV2Relation", "LogicalRelation")

Reading: TypeAlias = Callable[["DataFrame"], "DataFrame"]
"""A function that makes a frame read tracked versions."""


def classic_text(
    spark: SparkSession,
    frame: DataFrame,
    tracked: Sequence[Tracked],
    replaced_since: Collection[str] = (),
) -> str:
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
    read = partial(_read_versions, spark, tracked, replaced_since)
    try:
        return _classic_text(spark, frame, tracked, read)
    except UntrackedError:
        respelt = _respelt(spark, frame, tracked)
        if respelt is None:
            raise
    return _classic_text(spark, respelt, tracked, read)


def _classic_text(
    spark: SparkSession, frame: DataFrame, tracked: Sequence[Tracked], read: Reading
) -> str:
    frame = read(frame)
    plan = analysed(frame)
    nodes = described(plan)
    checked = {number for number, node in enumerate(nodes) if _has_checks(node)}
    if checked:
        frame = frame_of(spark, _without_checks(spark, plan, nodes, checked))
        plan = analysed(frame)
        nodes = described(plan)
    if applies_functions(nodes):
        frame = with_ordinary_operators(spark, plan, nodes)
        plan = analysed(frame)
        nodes = described(plan)
    if sum("UpdateFields" in str(node) for node in nodes) > 1:
        # A text does not say that the fields of a struct are there whenever the struct is.
        collapse = jvm_of(spark).org.apache.spark.sql.catalyst.optimizer.CollapseProject
        frame = frame_of(spark, collapse.apply(plan, True))
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
            return _proven(spark, frame, catalyst.query_text(stated), read)
    try:
        return _proven(spark, frame, catalyst.query_text(nodes), read)
    except NotUnderstoodError:
        with suppress(QueryError):
            return _proven(spark, frame, catalyst.query_text(nodes, literal=True), read)
        raise


def _proven(spark: SparkSession, frame: DataFrame, text: str, read: Reading) -> str:
    prove(spark, frame, text, read)
    return text


def _read_versions(
    spark: SparkSession,
    tracked: Sequence[Tracked],
    replaced_since: Collection[str],
    frame: DataFrame,
) -> DataFrame:
    """Return a frame that reads tracked versions where it reads their tables as they are now.

    Parameters
    ----------
    replaced_since
        See :func:`lipstick.dataframes.query_text`.

    Raises
    ------
    SourceChangedError
        When the frame reads another version of a table than is tracked.
    """
    versioned = [relation for relation in tracked if relation.source.version is not None]

    def chosen(leaf: Plan) -> DataFrame | None:
        found = versioned_leaf(spark, leaf)
        same = [] if found is None else [t for t in versioned if _is_of(t, found)]
        if found is None or not same:
            return None
        for each in same:
            known = each.source.versions[0].version == found.version
            if known or (each.name in replaced_since and not found.pinned):
                return each.source.frame
        raise SourceChangedError(
            f"This data frame reads version {found.version} of {found.table.table}, and "
            f"{same[0].name!r} is version {same[0].source.versions[0].version} of it.\n"
            "Track the version that the frame reads, or have the frame read that one."
        )

    if not versioned:
        return frame
    plan = analysed(frame)
    other = with_tables(spark, plan, chosen)
    return frame if other is plan else frame_of(spark, other)


def _respelt(spark: SparkSession, frame: DataFrame, tracked: Sequence[Tracked]) -> DataFrame | None:
    """Return a frame that reads tracked files by the spelling of their path by which they are.

    None: it reads none of them.

    Raises
    ------
    SourceChangedError
        When the frame reads other files than were tracked.
    """
    of_files = [relation for relation in tracked if relation.source.fingerprint]

    def chosen(leaf: Plan) -> DataFrame | None:
        relation = relation_of_leaf(leaf, of_files)
        if relation is None:
            return None
        _check_files(leaf, relation)
        return relation.source.frame

    plan = analysed(frame)
    other = with_tables(spark, plan, chosen)
    return None if other is plan else frame_of(spark, other)


def with_tables(
    spark: SparkSession, plan: Plan, chosen: Callable[[Plan], DataFrame | None]
) -> Plan:
    """Return a plan that reads other versions of tables.

    Parameters
    ----------
    chosen
        Returns the rows that a leaf shall read; None: it stays as it is.
    """
    return _with_tables(spark, plan, described(plan), chosen)


def _with_tables(
    spark: SparkSession, plan: Plan, nodes: Json, chosen: Callable[[Plan], DataFrame | None]
) -> Plan:
    size = sizes(nodes)
    leaves: dict[str, Plan] = {}
    inner: dict[int, Plan] = {}
    positions: list[int] = []
    for position, node in enumerate(nodes):
        if kind(node) in _TABLES:
            leaf = node_at(plan, nodes, size, position)
            rows = chosen(leaf)
            if rows is not None:
                own = analysed(rows).collectLeaves().apply(0)
                places = set(range(own.productArity())) - {_OUTPUT}
                changes = {place: own.productElement(place) for place in places}
                leaves[str(leaf.output())] = with_parameters(spark, leaf, changes)
                positions.append(position)
            continue
        plans = {}
        for subquery, description in subqueries_of(plan, nodes, size, position):
            before = subquery.plan()
            other = _with_tables(spark, before, description, chosen)
            if other is not before:
                plans[int(subquery.exprId().id())] = other
        if plans:
            inner |= plans
            positions.append(position)
    if not positions:
        return plan

    def change(node: Plan) -> Plan:
        if node.children().size() == 0 and str(node.output()) in leaves:
            return leaves[str(node.output())]
        return with_plans(spark, node, inner)

    return changed(spark, plan, nodes, positions, change)


def _has_checks(node: dict[str, Any]) -> bool:
    return any(described_expressions(node.get("projectList") or (), _CHECKED))


def _without_checks(
    spark: SparkSession, plan: Plan, nodes: Json, positions: Collection[int]
) -> Plan:
    """Return a plan whose casts for a table's columns, in some projections, are plain casts."""

    def cast(value: Plan) -> Plan:
        return value.child() if value.getClass().getSimpleName() in _CHECKED else value

    def items(project: Plan) -> Plan:
        chosen = [rebuilt(spark, item, cast) for item in elements(project.projectList())]
        return with_parameters(spark, project, {0: sequence(spark, chosen)})

    return changed(spark, plan, nodes, positions, items)


def _is_of(tracked: Tracked, leaf: Leaf) -> bool:
    known = tracked.source.version
    return known is not None and (known.format, known.identity) == (
        leaf.table.format,
        leaf.identity or leaf.table.identity,
    )


class _Relation:
    """A tracked relation with its plan, below the names that views and tables give it."""

    def __init__(self, tracked: Tracked) -> None:
        self.tracked = tracked
        plan = analysed(tracked.source.frame)
        nodes = described(plan)
        names = 0
        if tracked.source.version is not None:
            plan, names = plan.collectLeaves().apply(0), len(nodes) - 1
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
        chosen = named_relation(same, name)
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


def with_texts(spark: SparkSession, plan: Plan, nodes: Json) -> Json | None:
    """Return the description of a plan whose parts are marked with the texts they were made from.

    Only texts whose relations are all found as tracked ones in the part are used: a name may stand
    for something else by now. The proof is still to come that a part equals its text. None:
    there is no such part.
    """
    marked = deepcopy(nodes)
    parts = list(with_subqueries(plan, marked))
    marked_count = sum(_mark(spark, part, described) for part, described in parts)
    return marked if marked_count else None


def _mark(spark: SparkSession, plan: Plan, nodes: Json) -> int:
    """Mark the highest operators that were made of a text; return how many these are."""
    size = sizes(nodes)

    def visit(node: Plan, position: int) -> int:
        if "tracked" in nodes[position]:
            return 0
        text = _text(node, nodes[position])
        subtree = nodes[position : position + size[position]]
        if text is not None and _is_stated(
            spark, node, text, set(_tracked(subtree)), whole=position == 0
        ):
            columns = [
                [int(attribute.exprId().id()), attribute.name()]
                for attribute in elements(node.output())
            ]
            nodes[position]["stated"] = {"sql": text, "columns": columns}
            return 1
        below = children(nodes, size, position)
        return sum(visit(node.children().apply(n), child) for n, child in enumerate(below))

    return visit(plan, 0)


def _tracked(described: Any) -> Iterator[str]:
    """Yield the names, in lower case, of the tracked relations in a description."""
    if isinstance(described, dict):
        if "tracked" in described:
            yield described["tracked"]["name"].lower()
        described = list(described.values())
    if isinstance(described, list):
        for part in described:
            yield from _tracked(part)


def _text(node: Plan, described: dict[str, object]) -> str | None:
    """Return the text that an operator was parsed from, unless it is that of a view."""
    if kind(described) == "WithCTE":
        node = node.plan()
    origin = node.origin()
    if origin.sqlText().isEmpty() or origin.objectType().isDefined():
        return None
    return str(origin.sqlText().get())


def _is_stated(spark: SparkSession, node: Plan, text: str, names: set[str], *, whole: bool) -> bool:
    """Return True if a text is a query over these relations with the columns of an operator."""
    read = catalyst.relations_read(text)
    if read is None or not read <= names:
        return False
    try:
        stated = analysed(spark.sql(text))
    except PySparkException:
        return False
    columns = [str(name).lower() for name in stated.schema().fieldNames()]
    if stated.schema().catalogString() != node.schema().catalogString():
        return False
    return whole or len(set(columns)) == len(columns)


def with_filters(spark: SparkSession, plan: Plan, nodes: Json) -> DataFrame | None:
    """Return the frame of a plan without such samples; None where it has none.

    What tracked relations are made of, which are marked, is kept.
    """
    positions = {
        position
        for position, node in untracked(nodes, sizes(nodes))
        if kind(node) == "Sample" and _is_drawn(nodes, position)
    }
    if not positions:
        return None
    return frame_of(spark, changed(spark, plan, nodes, positions, partial(_filtered, spark)))


def _is_drawn(nodes: Json, position: int) -> bool:
    sample, below = nodes[position : position + 2]
    if sample["withReplacement"]:
        return False
    return is_local_sort(kind(below), below) or not is_percentage(*_bounds_and_seed(sample))


def _filtered(spark: SparkSession, sample: Plan) -> Plan:
    rows = frame_of(spark, sample.children().apply(0))
    return analysed(rows.where(condition(*_bounds_and_seed(described(sample)[0]))))


def _bounds_and_seed(sample: dict[str, Any]) -> tuple[tuple[float, float], int]:
    return (float(sample["lowerBound"]), float(sample["upperBound"])), int(sample["seed"])

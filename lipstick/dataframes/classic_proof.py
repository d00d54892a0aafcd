"""The proof that a text is the query of a data frame: both optimised plans are one.

Spark decides: ``sameResult`` of the plans that its optimiser leaves. Before that, both plans are
stripped of the parts that a text must have and a data frame need not: column names on the way, the
names of lateral views, the order of the columns of a DISTINCT, operators that only place rows, and
ids that are not expressions. Expressions of a canonical plan refer to columns by their places; but
an existence join still has the id of its mark, and a recursion its own and its columns' ids. The
condition of ``dropna``, which has no text, is rewritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.errors import PySparkException

from lipstick.dataframes.jvm import (
    Json,
    Plan,
    active,
    alias,
    analysed,
    changed,
    described,
    elements,
    jvm_of,
    kind,
    sequence,
    with_parameters,
)
from lipstick.dataframes.texts import ANOTHER_MEANING
from lipstick.errors import first_line
from lipstick.stages.settings import temporary_settings
from rewriter.errors import NotUnderstoodError
from rewriter.frames.catalyst.refusals import is_placement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_SETTINGS = {
    # Local rows are not evaluated: the expressions are compared.
    "spark.sql.optimizer.excludedRules": (
        "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
    ),
    # Steps of a text are other ones than those of the frame: neither decides what is computed once.
    "spark.sql.optimizer.collapseProjectAlwaysInline": "true",
    # A text names the fields that dropFields() leaves, and so reads no others from a file.
    "spark.sql.optimizer.nestedSchemaPruning.enabled": "false",
    # Iceberg answers aggregates by rows of its metadata, which equal no others.
    "spark.sql.iceberg.aggregate-push-down.enabled": "false",
}
_LISTS = {"Aggregate": (1, "aggregateExpressions"), "Project": (0, "projectList")}
_QUALIFIER = 3
"""The place of the view's name among the parameters of ``Generate``."""
_NOT_MISSING = "AtLeastNNonNulls"
"""The condition of ``dropna``, which no function of Spark SQL calls."""


def prove(
    spark: SparkSession,
    frame: DataFrame,
    text: str,
    read: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> None:
    """Refuse a text that is not the query of the frame.

    Parameters
    ----------
    read
        Makes the frame of the text read the versions of tables that the other reads.

    Raises
    ------
    NotUnderstoodError
        With the first line of the plans that differs.
    """
    try:
        other = read(spark.sql(text))
    except PySparkException as error:
        reason = first_line(error)
        problem = f"The text made of this data frame is not a query of Spark's: {reason}"
        raise NotUnderstoodError(problem, ANOTHER_MEANING, text) from error
    if _columns(frame) != _columns(other):
        problem = "The text made of this data frame has other columns than the frame"
        raise NotUnderstoodError(problem, ANOTHER_MEANING, text)
    with temporary_settings(spark, _SETTINGS), active(spark):
        plans = _at_one_time(spark, analysed(frame), analysed(other))
        for of_columns, prepare in product(
            (_with_keys, _of_columns), (_renamed, _inlined, _of_unions)
        ):
            prepared = (prepare(spark, of_columns(spark, plan)) for plan in plans)
            of_frame, of_text = (_optimised(spark, plan) for plan in prepared)
            if same_result(spark, of_frame, of_text):
                return
    raise _difference(text, of_frame, of_text)


def _columns(frame: DataFrame) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in frame.schema]


def _optimised(spark: SparkSession, plan: Plan) -> Plan:
    return spark._jsparkSession.sessionState().optimizer().execute(plan)


def _at_one_time(spark: SparkSession, *plans: Plan) -> list[Plan]:
    """Return plans with one time of the query, as a literal: Spark reads the clock for each."""
    catalyst = jvm_of(spark).org.apache.spark.sql.catalyst
    union = catalyst.plans.logical.Union(sequence(spark, plans), False, False)
    return elements(catalyst.optimizer.ComputeCurrentTime.apply(union).children())


def _with_keys(spark: SparkSession, plan: Plan) -> Plan:
    """Return a plan whose pivots are by columns: expressions are columns before, as in a text."""
    nodes = described(plan)
    return changed(spark, plan, nodes, set(_inner_aggregates(nodes)), partial(_keyed, spark))


def _of_columns(spark: SparkSession, plan: Plan) -> Plan:
    """Return a plan whose UNPIVOT is of columns too."""
    plan = _with_keys(spark, plan)
    nodes = described(plan)
    copies = {n for n, node in enumerate(nodes) if kind(node) == "Expand"}
    return changed(spark, plan, nodes, copies, partial(_of_attributes, spark))


def _of_attributes(spark: SparkSession, expand: Plan) -> Plan:
    """Return an operator that copies rows, whose values are columns of a projection below it."""
    catalyst = jvm_of(spark).org.apache.spark.sql.catalyst
    new_id = catalyst.expressions.NamedExpression.newExprId
    child = expand.child()
    columns: list[Plan] = []
    copies = []
    for row in elements(expand.projections()):
        values = elements(row)
        for place, value in enumerate(values):
            if value.getClass().getSimpleName() not in ("AttributeReference", "Literal"):
                named = alias(spark, value, f"value{len(columns)}", new_id())
                columns.append(named)
                values[place] = named.toAttribute()
        copies.append(sequence(spark, values))
    if not columns:
        return expand
    outputs = sequence(spark, [*elements(child.output()), *columns])
    below = catalyst.plans.logical.Project(outputs, child)
    return with_parameters(spark, expand, {0: sequence(spark, copies), 2: below})


def _inner_aggregates(nodes: Json) -> Iterator[int]:
    """Yield the positions of the aggregations by the keys and the pivot column."""
    for position, node in enumerate(nodes):
        items = node["aggregateExpressions"] if kind(node) == "Aggregate" else ()
        if any(kind(part) == "PivotFirst" for item in items for part in item):
            yield position + 1


def _keyed(spark: SparkSession, aggregate: Plan) -> Plan:
    """Return an aggregation whose keys are columns of a projection below it."""
    logical = jvm_of(spark).org.apache.spark.sql.catalyst.plans.logical
    items, child = elements(aggregate.aggregateExpressions()), aggregate.child()
    count = aggregate.groupingExpressions().size()
    named_keys = [item for item in items[:count] if item.getClass().getSimpleName() == "Alias"]
    if not named_keys:
        return aggregate
    below = logical.Project(sequence(spark, [*elements(child.output()), *named_keys]), child)
    keys = [item.toAttribute() for item in items[:count]]
    items[:count] = keys
    changes = {0: sequence(spark, keys), 1: sequence(spark, items), 2: below}
    return with_parameters(spark, aggregate, changes)


def _renamed(spark: SparkSession, plan: Plan, *, in_the_end: bool = True) -> Plan:
    """Return a plan with its operators in the form that text and frame share.

    Aliases of attributes get the name of the attribute, or of its origin.
    """
    nodes = described(plan)
    origins = _origins(nodes, in_the_end=in_the_end)
    positions = {n for n, node in enumerate(nodes) if not _is_common(node, origins)}
    return changed(spark, plan, nodes, positions, lambda node: _common(spark, node, origins))


def _inlined(spark: SparkSession, plan: Plan) -> Plan:
    """Return a plan without the names of relations, named queries and columns it can do without.

    The optimiser does the same, later: until then its rules on column names, and on distinct rows,
    stop at a named query.
    """
    jvm = jvm_of(spark)
    catalyst = jvm.org.apache.spark.sql.catalyst
    for rule in (catalyst.analysis.EliminateSubqueryAliases, catalyst.analysis.EliminateView):
        plan = rule.apply(plan)
    inline = catalyst.optimizer.InlineCTE
    (constructor,) = jvm.java.lang.Class.forName(inline._fqn).getConstructors()
    plan = inline(*[False] * constructor.getParameterCount()).apply(plan)
    if any(kind(node) == "Expand" for node in described(plan)):
        plan = _instance(spark, plan)
    remove = catalyst.optimizer.RemoveRedundantAliases
    plan = remove.apply(_renamed(spark, plan))
    # Aliases that are left where others are gone are of attributes with other names.
    return remove.apply(_renamed(spark, plan, in_the_end=False))


def _of_unions(spark: SparkSession, plan: Plan) -> Plan:
    """Return a plan as :func:`_inlined` does, whose unions have columns of their own.

    They have the columns of their first rows, which the optimiser does not name otherwise.
    """
    nodes = described(plan)
    unions = {n for n, node in enumerate(nodes) if kind(node) == "Union"}
    return _inlined(spark, changed(spark, plan, nodes, unions, partial(_with_columns, spark)))


def _with_columns(spark: SparkSession, union: Plan) -> Plan:
    """Return a union with its columns in a projection of a copy of its first rows."""
    first, *others = elements(union.children())
    copy = _instance(spark, first)
    columns = zip(elements(copy.output()), elements(first.output()), strict=True)
    items = [alias(spark, new, str(old.name()), old.exprId()) for new, old in columns]
    logical = jvm_of(spark).org.apache.spark.sql.catalyst.plans.logical
    below = logical.Project(sequence(spark, items), copy)
    return with_parameters(spark, union, {0: sequence(spark, [below, *others])})


def _instance(spark: SparkSession, plan: Plan) -> Plan:
    """Return a plan with other attributes, as Spark makes one of a relation that occurs twice.

    It makes one of a named query: ``Expand`` passes on columns as they are before, and not after.
    """
    catalyst = jvm_of(spark).org.apache.spark.sql.catalyst
    twice = catalyst.plans.logical.Except(plan, plan, True)
    return catalyst.analysis.DeduplicateRelations.apply(twice).children().apply(1)


def _origins(nodes: Json, *, in_the_end: bool) -> dict[int, str]:
    """Return for each alias of an attribute its name, or the name of its origin.

    Another alias of it in the same list has another name: of two without one the optimiser would
    make one column, and an invalid plan.
    """
    names: dict[int, str] = {}
    for node in reversed(nodes):
        items = _items(node)
        taken = Counter(_id(item[0]) for item in items if kind(item[0]) == "AttributeReference")
        for item in items:
            if _renames(item):
                attribute, name = _id(item[1]), str(item[1]["name"])
                name = names.get(attribute, name) if in_the_end else name
                again = taken[attribute]
                names[_id(item[0])] = f"{name}_{again}" if again else name
                taken[attribute] += 1
    return names


def _items(node: dict[str, Any]) -> Sequence[Json]:
    name = kind(node)
    return node[_LISTS[name][1]] if name in _LISTS else ()


def _id(named: dict[str, Any]) -> int:
    return int(named["exprId"]["id"])


def _renames(item: Json) -> bool:
    return len(item) == 2 and kind(item[0]) == "Alias" and kind(item[1]) == "AttributeReference"


def _is_common(node: dict[str, Any], origins: Mapping[int, str]) -> bool:
    """Return True if an operator already has the form that text and frame share."""
    name = kind(node)
    if name == "Filter":
        return kind(node["condition"][0]) != _NOT_MISSING
    if name == "Generate":
        return not node.get("qualifier")
    if name == "Deduplicate":
        return False
    if is_placement(name, node):
        return False
    return all(item[0]["name"] == origins[_id(item[0])] for item in _items(node) if _renames(item))


def _common(spark: SparkSession, node: Plan, origins: Mapping[int, str]) -> Plan:
    """Return an operator without details that only its text, or only its frame, has."""
    name = node.getClass().getSimpleName()
    if name == "Filter":
        return with_parameters(spark, node, {0: _present(spark, node.condition())})
    if name == "Generate":
        jvm = jvm_of(spark)
        return with_parameters(spark, node, {_QUALIFIER: jvm.scala.Option.empty()})
    if name == "Deduplicate":
        # PySpark 4.0 has them in no order.
        columns = [attribute.exprId() for attribute in elements(node.child().output())]
        keys = sorted(elements(node.keys()), key=lambda key: columns.index(key.exprId()))
        return with_parameters(spark, node, {0: sequence(spark, keys)})
    if name not in _LISTS:
        return node.children().apply(0)
    number, _ = _LISTS[name]
    items = node.productElement(number)
    unnamed = [_unnamed(spark, items.apply(n), origins) for n in range(items.size())]
    return with_parameters(spark, node, {number: sequence(spark, unnamed)})


def _present(spark: SparkSession, condition: Plan) -> Plan:
    """Return the condition of ``dropna`` as conditions on single columns, which a text has."""
    jvm = jvm_of(spark)
    catalyst = jvm.org.apache.spark.sql.catalyst.expressions
    children = condition.children()
    parts = []
    for value in (children.apply(number) for number in range(children.size())):
        part = catalyst.IsNotNull(value)
        if value.dataType().typeName() in ("double", "float"):
            part = catalyst.And(part, catalyst.Not(catalyst.IsNaN(value)))
        parts.append(part)
    wanted = condition.n()
    if wanted not in (1, len(parts)):
        flags = catalyst.CreateArray(sequence(spark, parts), False)
        size = catalyst.Size(catalyst.ArrayRemove(flags, catalyst.Literal.FalseLiteral()), False)
        return catalyst.GreaterThanOrEqual(
            size, catalyst.Literal(wanted, jvm.org.apache.spark.sql.types.DataTypes.IntegerType)
        )
    return reduce(catalyst.And if wanted == len(parts) else catalyst.Or, parts)


def _unnamed(spark: SparkSession, item: Plan, origins: Mapping[int, str]) -> Plan:
    """Return the alias of an attribute under the attribute's name: the optimiser drops it.

    An alias that it keeps is independent of the frame then.
    """
    if item.getClass().getSimpleName() != "Alias":
        return item
    name = origins.get(int(item.exprId().id()))
    if name is None:
        return item
    return alias(spark, item.child(), name, item.exprId())


def _difference(text: str, of_frame: Plan, of_text: Plan) -> NotUnderstoodError:
    left, right = (plan.canonicalized().toString().splitlines() for plan in (of_frame, of_text))
    pairs = zip(left, right, strict=False)
    left_line, other = next((pair for pair in pairs if pair[0] != pair[1]), (left[-1], right[-1]))
    problem = (
        "This data frame is not understood: Spark plans\n"
        f"  {left_line.strip()[:160]}\nand of the text made of it\n  {other.strip()[:160]}\n"
        f"The text is\n{text}\n"
    )
    return NotUnderstoodError(problem.rstrip(), ANOTHER_MEANING)


_NUMBERED = {"Join": (2,), "UnionLoop": (0, 3), "UnionLoopRef": (0,)}
"""Places of these ids among the parameters of an operator."""
Ids: TypeAlias = dict[tuple[int, int | None], Any]
"""An id for each place and, where it is a recursion's, the number of the recursion in its plan."""


def same_result(spark: SparkSession, left: Plan, right: Plan) -> bool:
    """Return True if two plans give the same result, as ``sameResult`` does, whatever their ids."""
    if left.sameResult(right):
        return True
    ids: Ids = {}
    left_plan, other = (_renumbered(spark, plan.canonicalized(), ids) for plan in (left, right))
    return bool(ids) and bool(left_plan.equals(other))


def _renumbered(spark: SparkSession, plan: Plan, ids: Ids) -> Plan:
    """Return a canonical plan with the same ids as others; the first plan decides about them."""
    nodes = described(plan)
    loops = [node["id"] for node in nodes if kind(node) == "UnionLoop"]

    def renumber(node: Plan) -> Plan:
        name = str(node.getClass().getSimpleName())
        loop = None if name == "Join" else loops.index(node.productElement(0))
        numbers = {n: ids.setdefault((n, loop), node.productElement(n)) for n in _NUMBERED[name]}
        return with_parameters(spark, node, numbers)

    positions = {position for position, node in enumerate(nodes) if _is_numbered(node)}
    return changed(spark, plan, nodes, positions, renumber) if positions else plan


def _is_numbered(node: dict[str, Any]) -> bool:
    name = kind(node)
    return name in _NUMBERED and (name != "Join" or "exists" in node["joinType"])

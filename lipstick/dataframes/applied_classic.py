"""Functions of groups in the plan of a classic session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from lipstick.dataframes.applied import EVALUATION, Applied, Side, unknown_partitions
from lipstick.dataframes.hidden import callable_function
from lipstick.dataframes.jvm import (
    Json,
    Plan,
    alias,
    analysed,
    changed,
    elements,
    frame_of,
    jvm_of,
    kind,
    sequence,
    with_parameters,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_OF_A_GROUP = ("FlatMapGroupsInArrow", "FlatMapGroupsInPandas")
_OF_TWO = ("FlatMapCoGroupsInArrow", "FlatMapCoGroupsInPandas")
_OF_A_PARTITION = ("MapInArrow", "MapInPandas")
_KEEPING = ("Filter", "Generate", "Project", "SubqueryAlias")
"""Operators whose rows are in the partitions of those that they are made of."""
_ALL = (*_OF_A_GROUP, *_OF_TWO, *_OF_A_PARTITION)


def applies_functions(nodes: Json) -> bool:
    """Tell whether a plan applies functions to groups or partitions, outside its subqueries."""
    return any(kind(node) in _ALL for node in nodes)


def with_ordinary_operators(spark: SparkSession, plan: Plan, nodes: Json) -> DataFrame:
    """Return the frame of a plan in which ordinary operators apply the functions of groups.

    Raises
    ------
    UnsupportedError
        See :meth:`lipstick.dataframes.applied.Applied.check`.
    """
    positions = {n for n, node in enumerate(nodes) if applies_functions([node])}
    return frame_of(spark, changed(spark, plan, nodes, positions, partial(_stand_in, spark)))


def _stand_in(spark: SparkSession, node: Plan) -> Plan:
    """Return what makes the same rows, in columns of the same ids, as an operator."""
    function = node.functionExpr()
    row_type = StructType.fromJson(json.loads(function.dataType().json()))
    applied = Applied(
        function.name(),
        function.evalType(),
        _bytes(spark, function.func().command()),
        row_type,
        tuple(_sides(spark, node)),
    )
    applied.check()
    rows = analysed(applied.rows(partial(_called, spark, applied, function)))
    pairs = zip(elements(rows.output()), elements(node.output()), strict=True)
    items = [alias(spark, attribute, to.name(), to.exprId()) for attribute, to in pairs]
    return jvm_of(spark).org.apache.spark.sql.catalyst.plans.logical.Project(
        sequence(spark, items), rows
    )


def _sides(spark: SparkSession, node: Plan) -> Iterator[Side]:
    inputs = elements(node.children())
    name = node.getClass().getSimpleName()
    if name in _OF_A_PARTITION:
        yield _partitions(spark, name, inputs[0])
        return
    if name in _OF_TWO:
        keys = [node.leftGroupingLen(), node.rightGroupingLen()]
    else:
        keys = [node.groupingAttributes().size()]
    for input_plan, number in zip(inputs, keys, strict=True):
        yield _side(spark, input_plan, number)


def _partitions(spark: SparkSession, name: str, plan: Plan) -> Side:
    """Return the rows of a plan in the partitions that it says, if it says any."""
    shown = f"{name[0].lower()}{name[1:]}"
    below, filtered = plan, True
    if _sorts_within_partitions(plan):
        plan, below = with_parameters(spark, plan, {1: True}), plan.child()
    while (kept := below.getClass().getSimpleName()) in _KEEPING:
        filtered = filtered and kept != "Project"
        below = below.child()
    if _sorts_within_partitions(below):
        raise unknown_partitions(shown)
    if kept not in ("RebalancePartitions", "Repartition", "RepartitionByExpression"):
        return Side.of_partitions(frame_of(spark, plan))
    if not filtered or kept == "RebalancePartitions":
        raise unknown_partitions(shown)
    if kept == "Repartition":
        if below.numPartitions() != 1:
            raise unknown_partitions(shown)
        return Side.of_partitions(frame_of(spark, plan), ())
    ids = [int(attribute.exprId().id()) for attribute in elements(plan.output())]
    keys = elements(below.partitionExpressions())
    if not keys or any(
        attribute.getClass().getSimpleName() != "AttributeReference" for attribute in keys
    ):
        raise unknown_partitions(shown)
    places = [ids.index(int(attribute.exprId().id())) for attribute in keys]
    return Side.of_partitions(frame_of(spark, plan), places, below.numPartitions())


def _sorts_within_partitions(plan: Plan) -> bool:
    return plan.getClass().getSimpleName() == "Sort" and not getattr(plan, "global")()


def _side(spark: SparkSession, plan: Plan, keys: int) -> Side:
    """Return the rows of a plan whose first columns are keys, which may be among the others."""
    attributes = elements(plan.output())
    ids = [int(attribute.exprId().id()) for attribute in attributes]
    added = [number for number in range(keys) if ids[number] not in ids[keys:]]
    places = [*added, *range(keys, len(ids))]
    chosen = sequence(spark, [attributes[number] for number in places])
    project = jvm_of(spark).org.apache.spark.sql.catalyst.plans.logical.Project(chosen, plan)
    kept = [ids[number] for number in places]
    columns = tuple(attribute.name() for attribute in attributes[keys:])
    return Side(frame_of(spark, project), tuple(kept.index(key) for key in ids[:keys]), columns)


def _called(spark: SparkSession, applied: Applied, function: Plan, *arrays: Column) -> Column:
    """Return the call of the function of arrays, which has what a function of groups needs."""
    from pyspark.sql.classic.column import Column, _to_seq
    from pyspark.sql.udf import _wrap_function

    definition = function.func()
    wrapped = _wrap_function(spark.sparkContext, applied.of_arrays(spark), applied.returned)
    python_function = jvm_of(spark).SimplePythonFunction(
        wrapped.command(),
        definition.envVars(),
        definition.pythonIncludes(),
        definition.pythonExec(),
        definition.pythonVer(),
        definition.broadcastVars(),
        definition.accumulator(),
    )
    returned = spark._jsparkSession.parseDataType(applied.returned.json())
    values = {1: python_function, 2: returned, 4: EVALUATION}
    known = callable_function(spark, with_parameters(spark, function, values))
    given = _to_seq(spark.sparkContext, [each._jc for each in arrays])
    return Column(known.apply(given))


def _bytes(spark: SparkSession, values: Any) -> bytes:
    """Return a sequence of bytes of Scala."""
    array = values.toArray(jvm_of(spark).scala.reflect.ClassTag.Byte())
    return bytes(array)

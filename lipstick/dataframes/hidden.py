"""What the description of a plan hides: functions, constants, values of a pivot, and metadata.

What a tracked relation is made of stays hidden: nothing is written of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StringType, StructField

from lipstick.dataframes import FUNCTION_PREFIX
from lipstick.dataframes.jvm import (
    Json,
    Plan,
    described,
    described_expressions,
    elements,
    expressions,
    jvm_of,
    kind,
    node_at,
    sizes,
    untracked,
)
from lipstick.errors import UnsupportedError
from lipstick.tracking import mark_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PYTHON = ("PythonUDF", "PythonUDAF")
_PIVOT = "PivotFirst"


def register_functions(spark: SparkSession, plan: Plan, nodes: Json) -> None:
    """Register the Python functions of a plan, and write their names into its description."""
    size = sizes(nodes)
    for position, node in untracked(nodes, size):
        functions = list(described_expressions(node, _PYTHON))
        if not functions:
            continue
        names = {}
        for function in expressions(node_at(plan, nodes, size, position), _PYTHON):
            names[int(function.resultId().id())] = _registered(spark, function)
        for description in functions:
            description["registered"] = names.get(description["resultId"]["id"])


def _registered(spark: SparkSession, function: Plan) -> str:
    """Return the name of a function, registered unless it is."""
    name = f"{FUNCTION_PREFIX}{function.func().hashCode() & 0xFFFFFFFF:08x}_{function.evalType()}"
    if not spark.catalog.functionExists(name):
        spark._jsparkSession.udf().registerPython(name, callable_function(spark, function))
    return name


def callable_function(spark: SparkSession, function: Plan) -> Any:
    """Return a function that can be registered and called: what calls it is ``function``."""
    jvm = jvm_of(spark)
    function_class = jvm.org.apache.spark.sql.execution.python.UserDefinedPythonFunction
    (constructor,) = jvm.java.lang.Class.forName(function_class._fqn).getConstructors()
    known = [
        function.name(),
        function.func(),
        function.dataType(),
        function.evalType(),
        function.udfDeterministic(),
    ]
    added: list[list[Any]] = [[] for _ in range(constructor.getParameterCount() - len(known))]
    return function_class(*known, *added)


def show_constants(plan: Plan, nodes: Json) -> None:
    """Write the rows that a text has, ``VALUES ...``, into the description of its plan.

    Rows that were made in another way are those of a relation, which must be tracked.
    """
    size = sizes(nodes)
    for position, node in untracked(nodes, size):
        if kind(node) != "LocalRelation":
            continue
        relation = node_at(plan, nodes, size, position)
        if relation.origin().sqlText().isDefined() and not relation.data().isEmpty():
            node["values"] = relation.toSQL("v")


def show_copies(plan: Plan, nodes: Json) -> None:
    """Write the expressions of copied rows into the description of their plan.

    Spark leaves out sequences that it computes when they are asked for.
    """
    size = sizes(nodes)
    for position, node in untracked(nodes, size):
        if kind(node) != "Expand" or node.get("projections"):
            continue
        rows = node_at(plan, nodes, size, position).projections()
        node["projections"] = [
            [described(expression) for expression in elements(row)] for row in elements(rows)
        ]


def show_unmarked(plan: Plan, nodes: Json) -> None:
    """Write into the description of a plan which names take a column's marks away.

    Those with metadata of their own: what Spark knows of a column beyond its type is metadata.

    Raises
    ------
    UnsupportedError
        The metadata are such marks themselves.
    """
    size = sizes(nodes)
    for position, node in untracked(nodes, size):
        named = described_expressions(node, ("Alias",))
        aliases = {alias["exprId"]["id"]: alias for alias in named if "explicitMetadata" in alias}
        if not aliases:
            continue
        for name in expressions(node_at(plan, nodes, size, position), ("Alias",)):
            described_alias, child = aliases.get(int(name.exprId().id())), name.child()
            if described_alias is None or child.getClass().getSimpleName() != "AttributeReference":
                continue
            before, after = (_mark(expression.metadata()) for expression in (child, name))
            if after not in (before, None):
                raise marked_by_hand(str(name.name()))
            described_alias["unmarked"] = after != before


def _mark(metadata: Any) -> str | None:
    return mark_of(StructField("", StringType(), metadata=json.loads(metadata.json())))


def marked_by_hand(name: str) -> UnsupportedError:
    """Return the refusal of a column that was given the metadata of a time window or of CHAR."""
    return UnsupportedError(
        f"in this data frame, the metadata of column {name} make it a time window or CHAR(n)",
        "Leave them out: Spark gives such columns their metadata itself.",
    )


def show_pivot_values(plan: Plan, nodes: Json) -> None:
    """Write the values of a pivot, as text, into the description of its plan."""
    size = sizes(nodes)
    for position, node in untracked(nodes, size):
        calls = list(described_expressions(node, (_PIVOT,)))
        if not calls:
            continue
        first = next(expressions(node_at(plan, nodes, size, position), (_PIVOT,)), None)
        if first is None:
            continue
        values = first.pivotColumnValues()
        pivot_values = [values.apply(number) for number in range(values.size())]
        for call in calls:
            call["pivotColumnValues"] = [None if v is None else _text(v) for v in pivot_values]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

"""Details that a plan's JSON lacks: functions, constants, values of a pivot, and metadata.

The JSON of a plan has the parameters of expressions only as far as they are numbers, texts and
trees. The rest is asked of the expression in the JVM, and written into its description.

The plan below a tracked relation stays hidden: no text is made of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StringType, StructField

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
    texts,
    untracked,
)
from lipstick.dataframes.texts import FUNCTION_PREFIX
from lipstick.errors import UnsupportedError
from lipstick.tracking.tracker import mark_of
from rewriter.frames.catalyst.shown import Hidden, hidden
from rewriter.frames.catalyst.tree import is_tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PYTHON = ("PythonUDF", "PythonUDAF")
_PIVOT = "PivotFirst"


def register_functions(spark: SparkSession, plan: Plan, nodes: Json) -> None:
    """Register the Python functions of a plan, and write their names into its description.

    Of functions of the JVM it writes whether they are registered.
    """
    size = sizes(nodes)
    for position, node in untracked(nodes, size):
        for function in described_expressions(node, ("ScalaUDF",)):
            name = function.get("udfName")
            function["registered"] = name is not None and spark.catalog.functionExists(str(name))
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

    Rows made in another way belong to a relation, which must be tracked.
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
    """Mark, in the description of a plan, the names that take a column's marks away.

    They have metadata of their own: what Spark knows of a column beyond its type is metadata.

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


def show_expressions(plan: Plan, nodes: Json) -> None:
    """Write into the description of a plan what its expressions do not say of themselves.

    The names of functions whose class has several, options, characters, literals as text, and the
    structs that changes of fields make.
    """
    size = sizes(nodes)
    for position, node in untracked(nodes, size):
        trees = list(_trees(list(node.values())))
        if any(hidden(part) for tree in trees for part in _parts(tree)):
            roots = elements(node_at(plan, nodes, size, position).expressions())
            _show_trees(roots, trees)


def _trees(values: list[Any]) -> Iterator[Json]:
    """Yield the trees among the parameters of a node, in order."""
    for value in values:
        if isinstance(value, list):
            if is_tree(value):
                yield value
            else:
                yield from _trees(value)
        elif isinstance(value, dict) and "product-class" in value:
            yield from _trees(list(value.values()))


def _parts(tree: Json) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a tree, and of the trees among their parameters."""
    for node in tree:
        yield node
        for nested in _trees(list(node.values())):
            yield from _parts(nested)


def _show_trees(roots: list[Plan], trees: list[Json]) -> None:
    """Complete the descriptions of some expressions, where it is plain which is whose."""
    names = [root.getClass().getSimpleName().rstrip("$") for root in roots]
    if names != [kind(tree[0]).rstrip("$") for tree in trees]:
        return
    for root, tree in zip(roots, trees, strict=True):
        size = sizes(tree)
        for position, node in enumerate(tree):
            inner = list(_trees(list(node.values()))) if "replacement" in node else []
            what = hidden(node)
            if what is None and not any(hidden(part) for each in inner for part in _parts(each)):
                continue
            expression = node_at(root, tree, size, position)
            if what is not None:
                node["shown"] = _shown(expression, what)
            if inner:
                _show_trees(elements(expression.parameters()), inner)


def _shown(expression: Plan, what: Hidden) -> Any:
    match what:
        case Hidden.FIELDS:
            made = expression.evalExpr()
            tree = described(made)
            _show_trees([made], [tree])
            return tree
        case Hidden.EVALUATION:
            return str(expression.evalMode())
        case Hidden.FIELD:
            return str(expression.extractFieldName())
        case Hidden.OPTIONS:
            return texts(expression.options())
        case Hidden.ESCAPE:
            return str(expression.escapeChar())
        case Hidden.TEXT:
            return str(expression.sql())
    return str(expression.prettyName())

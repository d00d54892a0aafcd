"""The texts that parts of a data frame were made of: Spark keeps what ``spark.sql`` was given."""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from lipstick.dataframes.jvm import (
    Json,
    Plan,
    analysed,
    children,
    elements,
    kind,
    sizes,
    with_subqueries,
)
from rewriter import catalyst

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def with_texts(spark: SparkSession, plan: Plan, nodes: Json, names: Collection[str]) -> Json | None:
    """Return the description of a plan whose parts are marked with the texts that they were.

    Only texts over relations of these names are used. That a part still is what its text says
    is not known yet. None: there is no such part.
    """
    marked = deepcopy(nodes)
    parts = list(with_subqueries(plan, marked))
    found = sum(_mark(spark, part, described, names) for part, described in parts)
    return marked if found else None


def _mark(spark: SparkSession, plan: Plan, nodes: Json, names: Collection[str]) -> int:
    """Mark the highest operators that were made of a text; return how many these are."""
    size = sizes(nodes)

    def visit(node: Plan, position: int) -> int:
        if "tracked" in nodes[position]:
            return 0
        text = _text(node, nodes[position])
        if text is not None and _is_stated(spark, node, text, names, whole=position == 0):
            columns = [[int(one.exprId().id()), one.name()] for one in elements(node.output())]
            nodes[position]["text"] = {"sql": text, "columns": columns}
            return 1
        below = children(nodes, size, position)
        return sum(visit(node.children().apply(n), child) for n, child in enumerate(below))

    return visit(plan, 0)


def _text(node: Plan, described: dict[str, object]) -> str | None:
    """Return the text that an operator was parsed from, unless it is that of a view."""
    if kind(described) == "WithCTE":
        node = node.plan()
    origin = node.origin()
    if origin.sqlText().isEmpty() or origin.objectType().isDefined():
        return None
    return str(origin.sqlText().get())


def _is_stated(
    spark: SparkSession, node: Plan, text: str, names: Collection[str], *, whole: bool
) -> bool:
    """Tell whether a text is a query over known relations with the columns of an operator."""
    read = catalyst.relations_read(text)
    if read is None or not read <= set(names):
        return False
    try:
        stated = analysed(spark.sql(text))
    except PySparkException:
        return False
    own = [str(name).lower() for name in stated.schema().fieldNames()]
    if stated.schema().catalogString() != node.schema().catalogString():
        return False
    return whole or len(set(own)) == len(own)

"""The texts that parts of a data frame were made of: Spark keeps what ``spark.sql`` was given."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any

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
from rewriter.frames import catalyst

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def with_texts(spark: SparkSession, plan: Plan, nodes: Json) -> Json | None:
    """Return the description of a plan whose parts are marked with the texts that they were.

    Only texts whose relations are all found as tracked ones in the part are used: a name may stand
    for something else by now. That a part still is what its text says is not known yet. None:
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
    """Tell whether a text is a query over these relations with the columns of an operator."""
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

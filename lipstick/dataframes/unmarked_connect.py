"""Names that take the marks of columns away over Spark Connect: those that have metadata.

What Spark knows of a column beyond its type is metadata. Over Spark Connect ``withColumn`` always
gives a column metadata of its own, so that a time window is none under another name, and CHAR(n)
is a text like others. A text of SQL has no metadata: there, a call takes the marks away.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StringType, StructField

from lipstick.dataframes.hidden import marked_by_hand
from lipstick.dataframes.messages import Message, client_of, plan_of
from lipstick.tracking.tracker import mark_of
from rewriter.frames.connect_plan import may_be_marked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LISTS = {
    "aggregate": ("grouping_expressions", "aggregate_expressions"),
    "project": ("expressions",),
    "with_columns": ("aliases",),
}


def without_marks(spark: SparkSession, value: Any) -> Any:
    """Return a plan in which names with metadata are given to calls where columns have marks.

    Raises
    ------
    UnsupportedError
        The metadata are marks themselves.
    """
    if isinstance(value, list):
        return [without_marks(spark, part) for part in value]
    if not isinstance(value, dict) or "tracked" in value:
        return value
    value = {key: without_marks(spark, part) for key, part in value.items()}
    kind = next((name for name in _LISTS if name in value), None) if "common" in value else None
    if kind is not None:
        value[kind] = _relation(spark, value[kind], kind)
    return value


def _relation(spark: SparkSession, message: Message, kind: str) -> Message:
    items = [_name(item, kind) for field in _LISTS[kind] for item in message.get(field, [])]
    marked = [item for item in items if item is not None and may_be_marked(item["expr"])]
    if not marked or not _has_marks(spark, message, marked):
        return message
    for name in marked:
        call = {"function_name": "coalesce", "arguments": [name["expr"]]}
        name["expr"] = {"unresolved_function": call}
    return message


def _name(item: Message, kind: str) -> Message | None:
    """Return the naming that an item is, if it gives metadata of its own."""
    alias = item if kind == "with_columns" else item.get("alias", {})
    metadata = json.loads(alias.get("metadata") or "{}")
    if mark_of(StructField("", StringType(), metadata=metadata)) is not None:
        raise marked_by_hand(".".join(alias["name"]))
    return alias if kind == "with_columns" or "metadata" in alias else None


def _has_marks(spark: SparkSession, message: Message, names: list[Message]) -> bool:
    """Tell whether a name is given to a time window, or where there are columns with marks."""
    if not all("unresolved_attribute" in item["expr"] for item in names):
        return True
    fields = client_of(spark).schema(plan_of(message["input"])).fields
    return any(mark_of(field) is not None for field in fields)

"""``pivot`` without values over Spark Connect: they are read, as Spark reads them.

A classic session reads them when the frame is made, and they are part of its plan; the plan of a
client says nothing of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from lipstick.dataframes.messages import Message, as_data, client_of, frame_of
from lipstick.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

_MOST = "spark.sql.pivotMaxValues"


def with_pivot_values(spark: SparkSession, value: Any) -> Any:
    """Return a plan in which every ``pivot`` has the values that there are.

    Raises
    ------
    UnsupportedError
        There are no values, or more than Spark allows, or they have no literals.
    """
    if isinstance(value, list):
        return [with_pivot_values(spark, one) for one in value]
    if not isinstance(value, dict):
        return value
    value = {key: with_pivot_values(spark, one) for key, one in value.items()}
    message = value.get("aggregate")
    if "common" in value and message and "pivot" in message and not message["pivot"].get("values"):
        values = _values(spark, message["input"], message["pivot"]["col"])
        pivot = {**message["pivot"], "values": values}
        value["aggregate"] = {**message, "pivot": pivot}
    return value


def _values(spark: SparkSession, rows: Message, column: Message) -> list[Message]:
    """Return the different values of a column in their order."""
    most = int(str(spark.conf.get(_MOST)))
    read: Message = {"common": {}, "project": {"input": rows, "expressions": [column]}}
    values = frame_of(spark, read).toDF("value").distinct().limit(most + 1).sort("value")
    found = [row.value for row in values.collect()]
    if not found:
        raise UnsupportedError("pivot() without values finds none", "Give it the values.")
    if len(found) > most:
        raise UnsupportedError(
            f"pivot() without values finds more than {most} of them",
            f"Give it the values, or set {_MOST}.",
        )
    try:
        return [_literal(spark, F.lit(one)) for one in found]
    except PySparkException as error:
        raise UnsupportedError(
            f"pivot() without values finds some that are no literals: {error}",
            "Give it the values.",
        ) from error


def _literal(spark: SparkSession, value: Column) -> Message:
    expression: Any = value._expr
    found: Message = as_data(expression.to_plan(client_of(spark)))["literal"]
    return found

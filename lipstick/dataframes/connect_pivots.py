"""``pivot`` over Spark Connect as PIVOT has it: of values, and by columns that nothing else reads.

Values that are not given are read, as Spark reads them: a classic session does when the frame is
made, and they are part of its plan; the plan of a client lacks them. Keys that are
expressions, or that aggregates read too, become columns before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from lipstick.dataframes.messages import Message, as_data, client_of, frame_of
from lipstick.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

_MOST = "spark.sql.pivotMaxValues"


def with_stated_pivots(spark: SparkSession, value: Any) -> Any:
    """Return a plan in which every ``pivot`` has its values, and columns of its own as keys.

    Raises
    ------
    UnsupportedError
        There are no values, or more than Spark allows, or they have no literals.
    """
    if isinstance(value, list):
        return [with_stated_pivots(spark, part) for part in value]
    if not isinstance(value, dict):
        return value
    value = {key: with_stated_pivots(spark, part) for key, part in value.items()}
    message = value.get("aggregate")
    if "common" not in value or not message or "pivot" not in message:
        return value
    if not message["pivot"].get("values"):
        values = _values(spark, message["input"], message["pivot"]["col"])
        message = {**message, "pivot": {**message["pivot"], "values": values}}
    return _with_own_keys(spark, {**value, "aggregate": message})


def _with_own_keys(spark: SparkSession, relation: Message) -> Message:
    """Return a pivot by columns under the same names, whose keys it reads nowhere else."""
    message = relation["aggregate"]
    keys, of = message.get("grouping_expressions", []), message["pivot"]["col"]
    read = set(_names([*message["aggregate_expressions"], of]))
    parts = [*keys, of]
    computed = [n for n, part in enumerate(parts) if not _is_column(part)]
    computed += [n for n, key in enumerate(keys) if _is_column(key) and read & set(_names(key))]
    if not computed:
        return relation
    taken = {name.lower() for name in _columns(spark, message["input"])}
    names = (name for name in map("part{}".format, count()) if name not in taken)
    aliases = []
    for number in computed:
        name, part = next(names), parts[number]
        aliases.append({"expr": part["alias"]["expr"] if "alias" in part else part, "name": [name]})
        parts[number] = {"unresolved_attribute": {"unparsed_identifier": name}}
    *keys, of = parts
    pivot = {
        **message,
        "input": {"common": {}, "with_columns": {"input": message["input"], "aliases": aliases}},
        "grouping_expressions": keys,
        "pivot": {**message["pivot"], "col": of},
    }
    named = {"input": {"common": {}, "aggregate": pivot}, "column_names": _columns(spark, relation)}
    return {"common": relation["common"], "to_df": named}


def _is_column(part: Message) -> bool:
    """Return True if a part is surely a column: a dotted name may be a field."""
    return "." not in part.get("unresolved_attribute", {}).get("unparsed_identifier", ".")


def _names(value: Any) -> Iterator[str]:
    """Yield the names of columns in expressions."""
    if isinstance(value, list):
        for part in value:
            yield from _names(part)
    elif isinstance(value, dict):
        if "unparsed_identifier" in value:
            yield value["unparsed_identifier"].replace("`", "").lower()
        yield from _names(list(value.values()))


def _columns(spark: SparkSession, relation: Message) -> list[str]:
    return list(frame_of(spark, relation).columns)


def _values(spark: SparkSession, rows: Message, column: Message) -> list[Message]:
    """Return the different values of a column in their order."""
    most = int(str(spark.conf.get(_MOST)))
    read: Message = {"common": {}, "project": {"input": rows, "expressions": [column]}}
    values = frame_of(spark, read).toDF("value").distinct().limit(most + 1).sort("value")
    distinct = [row.value for row in values.collect()]
    if not distinct:
        raise UnsupportedError("pivot() without values finds none", "Give it the values.")
    if len(distinct) > most:
        raise UnsupportedError(
            f"pivot() without values finds more than {most} of them",
            f"Give it the values, or set {_MOST}.",
        )
    try:
        return [_literal(spark, F.lit(value)) for value in distinct]
    except PySparkException as error:
        raise UnsupportedError(
            f"pivot() without values finds some that are no literals: {error}",
            "Give it the values.",
        ) from error


def _literal(spark: SparkSession, value: Column) -> Message:
    expression: Any = value._expr
    literal: Message = as_data(expression.to_plan(client_of(spark)))["literal"]
    return literal

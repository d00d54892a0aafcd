"""Functions of groups in the plan of a Spark Connect session."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from google.protobuf.json_format import ParseDict
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql.connect.proto import DataType
from pyspark.sql.connect.types import proto_schema_to_pyspark_data_type
from pyspark.sql.connect.udf import UserDefinedFunction
from pyspark.sql.types import StructType

from lipstick.dataframes.group_functions import (
    EVALUATION,
    FunctionInput,
    GroupFunction,
    unknown_partitions,
)
from lipstick.dataframes.messages import (
    Message,
    as_data,
    client_of,
    frame_of,
    relation_of,
    rewritten,
)
from lipstick.errors import UnsupportedError
from rewriter.frames import connect_plan

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession


_INPUTS = {
    "group_map": (("input", "grouping_expressions"),),
    "co_group_map": (
        ("input", "input_grouping_expressions"),
        ("other", "other_grouping_expressions"),
    ),
}
"""Operators that apply a function to groups: their inputs, and by what each is grouped."""
_KEEPING = (
    "filter",
    "project",
    "subquery_alias",
    "to_df",
    "with_columns",
    "drop",
    "with_columns_renamed",
    "hint",
)
"""Operators whose rows stay in the partitions of their input."""

_PLACING_HINTS = ("coalesce", "rebalance", "repartition", "repartition_by_range")


def with_ordinary_operators(spark: SparkSession, plan: Message) -> Any:
    """Return a plan in which ordinary operators apply the functions of groups.

    Raises
    ------
    UnsupportedError
        See :meth:`lipstick.dataframes.group_functions.Applied.check`.
    """
    return rewritten(plan, partial(_with_ordinary_operator, spark))


def _with_ordinary_operator(spark: SparkSession, value: Message) -> Message:
    if "common" not in value:
        return value
    for kind, inputs in _INPUTS.items():
        if (message := value.get(kind)) and "transform_with_state_info" not in message:
            sides = tuple(_side(spark, message[of], message.get(by, [])) for of, by in inputs)
            return {**_stand_in(spark, message["func"], sides), "common": value["common"]}
    if message := value.get("map_partitions"):
        side = _partitions(spark, message["func"]["function_name"], message["input"])
        return {**_stand_in(spark, message["func"], (side,)), "common": value["common"]}
    return value


def _stand_in(spark: SparkSession, function: Message, sides: tuple[FunctionInput, ...]) -> Message:
    """Return a relation with the rows that a function makes."""
    python_function = function["python_udf"]
    returned = ParseDict(python_function["output_type"], DataType())
    row_type = proto_schema_to_pyspark_data_type(returned)
    assert isinstance(row_type, StructType)
    applied = GroupFunction(
        function["function_name"],
        int(python_function["eval_type"]),
        b64decode(python_function["command"]),
        row_type,
        sides,
    )
    applied.check()

    def call(*arrays: Column) -> Column:
        known = UserDefinedFunction(
            applied.of_arrays(spark), applied.returned, applied.name, EVALUATION
        )
        return known(*arrays)

    return relation_of(spark, applied.rows(call).toDF(*row_type.names))


def _partitions(spark: SparkSession, name: str, relation: Message) -> FunctionInput:
    """Return the rows of a relation in the partitions that it names, if it names any."""
    below, filtered = relation, True
    if connect_plan.is_local_sort(relation):
        sort = relation["sort"]
        relation, below = {**relation, "sort": {**sort, "is_global": True}}, sort["input"]
    while kept := next((kind for kind in _KEEPING if kind in below), None):
        filtered = filtered and kept in ("filter", "hint", "subquery_alias")
        if below[kept].get("name", "").lower() in _PLACING_HINTS:
            raise unknown_partitions(name)
        below = below[kept]["input"]
    if connect_plan.is_local_sort(below):
        raise unknown_partitions(name)
    frame = frame_of(spark, relation)
    if message := below.get("repartition"):
        if not filtered or message["num_partitions"] != 1:
            raise unknown_partitions(name)
        return FunctionInput.of_partitions(frame, ())
    if message := below.get("repartition_by_expression"):
        names = [column.lower() for column in frame.columns]
        keys = [_column_name(key).lower() for key in message["partition_exprs"]]
        if not filtered or any(names.count(key) != 1 for key in keys):
            raise unknown_partitions(name)
        number = message.get("num_partitions") or spark.conf.get("spark.sql.shuffle.partitions")
        return FunctionInput.of_partitions(
            frame, [names.index(key) for key in keys], int(str(number))
        )
    return FunctionInput.of_partitions(frame)


def _side(spark: SparkSession, relation: Message, keys: Sequence[Message]) -> FunctionInput:
    """Return the rows of a relation by keys, which may be among its columns."""
    columns = frame_of(spark, relation).columns
    names = [column.lower() for column in columns]
    known = [_column_name(key).lower() for key in keys]
    added = [key for key, name in zip(keys, known, strict=True) if names.count(name) != 1]
    places, before = [], 0
    for name in known:
        if names.count(name) == 1:
            places.append(len(added) + names.index(name))
        else:
            places.append(before)
            before += 1
    if added:
        items = [*added, {"unresolved_star": {}}]
        relation = {"common": {}, "project": {"input": relation, "expressions": items}}
    return FunctionInput(frame_of(spark, relation), tuple(places), tuple(columns))


def _column_name(key: Message) -> str:
    """Return the name by which a key is a column; nothing where it may be something else."""
    name = str(key.get("unresolved_attribute", {}).get("unparsed_identifier", ""))
    return "" if "." in name or "`" in name else name


_MOST = "spark.sql.pivotMaxValues"


def with_stated_pivots(spark: SparkSession, plan: Message) -> Any:
    """Return a plan in which every ``pivot`` has its values, and columns of its own as keys.

    Raises
    ------
    UnsupportedError
        There are no values, or more than Spark allows, or they have no literals.
    """
    return rewritten(plan, partial(_with_stated_pivot, spark))


def _with_stated_pivot(spark: SparkSession, value: Message) -> Message:
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
            f"pivot() without values finds some that are not literals: {error}",
            "Give it the values.",
        ) from error


def _literal(spark: SparkSession, value: Column) -> Message:
    expression: Any = value._expr
    literal: Message = as_data(expression.to_plan(client_of(spark)))["literal"]
    return literal

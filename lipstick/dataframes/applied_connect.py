"""Functions of groups in the plan of a Spark Connect session."""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from google.protobuf.json_format import MessageToDict, ParseDict
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.plan import LogicalPlan
from pyspark.sql.connect.proto import DataType, Relation
from pyspark.sql.connect.types import proto_schema_to_pyspark_data_type
from pyspark.sql.connect.udf import UserDefinedFunction
from pyspark.sql.types import StructType

from lipstick.dataframes.applied import EVALUATION, Applied, Side

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.connect.client import SparkConnectClient

Message: TypeAlias = dict[str, Any]


def with_ordinary_operators(spark: SparkSession, value: Any) -> Any:
    """Return a plan in which ordinary operators apply the functions of groups.

    Raises
    ------
    UnsupportedError
        See :meth:`lipstick.dataframes.applied.Applied.check`.
    """
    if isinstance(value, list):
        return [with_ordinary_operators(spark, one) for one in value]
    if not isinstance(value, dict):
        return value
    value = {key: with_ordinary_operators(spark, one) for key, one in value.items()}
    message = value.get("group_map")
    if "common" not in value or not message:
        return value
    side = _side(spark, message["input"], message.get("grouping_expressions", []))
    return {**_stand_in(spark, message["func"], side), "common": value["common"]}


def _stand_in(spark: SparkSession, function: Message, side: Side) -> Message:
    """Return a relation with the rows that a function makes."""
    python_function = function["python_udf"]
    returned = ParseDict(python_function["output_type"], DataType())
    made = proto_schema_to_pyspark_data_type(returned)
    assert isinstance(made, StructType)
    one = Applied(
        function["function_name"],
        int(python_function["eval_type"]),
        b64decode(python_function["command"]),
        made,
        (side,),
    )
    one.check()

    def call(*arrays: Column) -> Column:
        assert EVALUATION is not None
        known = UserDefinedFunction(one.of_arrays(spark), one.returned, one.name, EVALUATION)
        return known(*arrays)

    return _relation(spark, one.rows(call).toDF(*made.names))


def _side(spark: SparkSession, relation: Message, keys: Sequence[Message]) -> Side:
    """Return the rows of a relation by keys, which may be among its columns."""
    columns = _frame(spark, relation).columns
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
    return Side(_frame(spark, relation), tuple(places), tuple(columns))


def _column_name(key: Message) -> str:
    """Return the name by which a key is a column; nothing where it may be something else."""
    name = str(key.get("unresolved_attribute", {}).get("unparsed_identifier", ""))
    return "" if "." in name or "`" in name else name


def _frame(spark: SparkSession, relation: Message) -> Any:
    return DataFrame(_Known(relation), spark)  # type: ignore[arg-type]


def _relation(spark: SparkSession, frame: Any) -> Message:
    found: Message = MessageToDict(frame._plan.plan(spark.client), preserving_proto_field_name=True)
    return found


class _Known(LogicalPlan):
    """A relation as a plan of the client."""

    def __init__(self, relation: Message) -> None:
        super().__init__(None)
        self._relation = relation

    def plan(self, session: SparkConnectClient) -> Relation:
        """Return the relation."""
        del session
        found: Relation = ParseDict(
            self._relation, Relation(), max_recursion_depth=sys.getrecursionlimit()
        )
        return found

"""Relations of Spark Connect's protocol as data, and the frames that they are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from google.protobuf.json_format import MessageToDict, ParseDict
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.plan import LogicalPlan
from pyspark.sql.connect.proto import Plan, Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client import SparkConnectClient

Message: TypeAlias = dict[str, Any]
"""A message of the protocol as data."""


def client_of(spark: SparkSession) -> Any:
    """Return the client of a session over Spark Connect."""
    return spark.client


def relation_of(spark: SparkSession, frame: Any) -> Message:
    """Return the relation that a frame is."""
    return as_data(frame._plan.plan(client_of(spark)))


def frame_of(spark: SparkSession, relation: Message) -> Any:
    """Return a relation as a frame of the session."""
    return DataFrame(_Known(relation), spark)  # type: ignore[arg-type]


def plan_of(relation: Mapping[str, Any]) -> Any:
    """Return a plan of the protocol whose root is a relation."""
    return _parsed({"root": relation}, Plan())


def as_data(message: Any) -> Message:
    """Return a message of the protocol as data."""
    data: Message = MessageToDict(message, preserving_proto_field_name=True)
    return data


def rewritten(value: Any, change: Callable[[Message], Any]) -> Any:
    """Return a plan as data with every message changed, the innermost first.

    The plan of a tracked relation stays as it is.
    """
    if isinstance(value, list):
        return [rewritten(part, change) for part in value]
    if not isinstance(value, dict) or "tracked" in value:
        return value
    return change({key: rewritten(part, change) for key, part in value.items()})


def values_of(value: Any, *keys: str) -> list[Any]:
    """Return all that stands under some keys in a plan as data."""
    if isinstance(value, list):
        return [found for part in value for found in values_of(part, *keys)]
    if not isinstance(value, dict):
        return []
    own = [part for key, part in value.items() if key in keys]
    return own + [found for part in value.values() for found in values_of(part, *keys)]


def _parsed(data: Message, message: Any) -> Any:
    depth = sys.getrecursionlimit()
    return ParseDict(data, message, ignore_unknown_fields=True, max_recursion_depth=depth)


class _Known(LogicalPlan):
    """A relation as a plan of the client."""

    def __init__(self, relation: Message) -> None:
        super().__init__(None)
        self._relation = relation

    def plan(self, session: SparkConnectClient) -> Relation:
        """Return the relation."""
        del session
        relation: Relation = _parsed(self._relation, Relation())
        return relation

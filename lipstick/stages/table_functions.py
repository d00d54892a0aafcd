"""Table functions of whole relations: black boxes over the rows of each partition.

Spark does not report from which partition a row of such a function's answer comes. So beside a
registered function stands one that carries it: called for a row that has a partition as an array,
it runs the function over the array's rows, and yields its output with the place of each row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType
from pyspark.sql.udtf import SkipRestOfInputTableException
from pyspark.util import PythonEvalType

from lipstick.errors import TrackingError
from lipstick.stages.reading import own_sql
from rewriter import TableFunction
from rewriter.blocks import Block
from rewriter.emit.statements import partitions_sql
from rewriter.errors import UnsupportedError
from rewriter.scalars.functions import OF_SPARK

_OF_ROWS = (PythonEvalType.SQL_TABLE_UDF, PythonEvalType.SQL_ARROW_TABLE_UDF)
_OF_BATCHES = ("SQL_ARROW_UDTF",)
TABLE_FUNCTIONS = (
    *_OF_ROWS,
    *(getattr(PythonEvalType, name) for name in _OF_BATCHES if hasattr(PythonEvalType, name)),
)
"""Kinds of functions that make tables, in this version of PySpark."""
_PLACE = "_at"
_UNLIKE_GROUPS = re.compile(r"\b(?:float|double|timestamp)\b|collate")
"""Types that have values which make one group, and partitions apart, or the other way round."""


def register_function(spark: SparkSession, name: str, function: Any) -> TableFunction | None:
    """Register a function, and its carrier under another name if it makes tables of relations.

    Functions of Arrow batches, and those whose columns depend on the call, have no carrier.

    Raises
    ------
    TrackingError
        For a name that no function can have, or one of Spark's has, and what is no such function.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise TrackingError(
            f"{name!r} cannot name a function.\nA name has letters, digits and underscores."
        )
    if not hasattr(function, "evalType"):
        raise TrackingError(
            f"{function!r} has no type of its result.\nMake it with udf, pandas_udf, arrow_udf or "
            "udtf of pyspark.sql.functions, and register what that gives."
        )
    if name.lower() in OF_SPARK:
        raise TrackingError(f"{name!r} is a function of Spark's.\nChoose another name.")
    if function.evalType not in TABLE_FUNCTIONS:
        spark.udf.register(name, function)
        return None
    spark.udtf.register(name, function)
    returned = _columns(function)
    if function.evalType not in _OF_ROWS or returned is None:
        return None
    carrier = f"{name}_of_rows"
    index_field = StructField(_PLACE, IntegerType())
    carried = type(function)(
        _carrying(function.func),
        returnType=StructType([index_field, *returned.fields]),
        name=carrier,
        evalType=function.evalType,
        deterministic=True,
    )
    spark.udtf.register(carrier, carried)
    return TableFunction(carrier, tuple(returned.names))


def _columns(function: Any) -> StructType | None:
    """Return the type of the rows that a table function makes; None where a call decides it.

    Over Spark Connect it may still be text.
    """
    returned = function.returnType
    if returned is not None and not isinstance(returned, StructType):
        returned = StructType.fromDDL(returned.data_type_string)
    return cast("StructType | None", returned)


def check_partitions(spark: SparkSession, root: Block, query: str) -> None:
    """Refuse partitions by values that are equal to GROUP BY and not to Python, or the reverse.

    Raises
    ------
    UnsupportedError
        For floats (NaN), timestamps (an hour that comes twice) and collated strings.
    """
    for statement in partitions_sql(root):
        for field in own_sql(spark, statement).schema:
            kind = field.dataType.simpleString()
            if _UNLIKE_GROUPS.search(kind):
                raise UnsupportedError(
                    f"PARTITION BY of the type {kind} in a table function is not supported",
                    "Cast it, to DECIMAL, TIMESTAMP_NTZ or a STRING without collation.",
                    query,
                )


def _carrying(handler: type) -> type:
    """Return the class of a table function that runs another one over the rows of an array.

    It is local, so that it is pickled by value: workers need not have this module.
    """
    skip = SkipRestOfInputTableException
    place_name = _PLACE

    class Carrier:
        def eval(self, rows: list[Any], place: Any, *arguments: Any, **named: Any) -> Iterator[Any]:
            function = handler()
            for at, row in enumerate(run(function, rows, place, arguments, named)):
                yield with_place(at, row)
            if hasattr(function, "cleanup"):
                function.cleanup()

    def run(
        function: Any,
        rows: list[Any],
        argument: Any,
        arguments: tuple[Any, ...],
        named: dict[str, Any],
    ) -> Iterator[Any]:
        try:
            for row in rows:
                if isinstance(argument, str):
                    results = function.eval(*arguments, **{**named, argument: row})
                else:
                    results = function.eval(
                        *arguments[:argument], row, *arguments[argument:], **named
                    )
                yield from nothing_or(results)
        except skip:
            pass
        if hasattr(function, "terminate"):
            yield from nothing_or(function.terminate())

    def nothing_or(results: Iterable[Any] | None) -> Iterable[Any]:
        return () if results is None else results

    def with_place(at: int, row: Any) -> Any:
        if isinstance(row, (tuple, list)):
            return (at, *row)
        fields = row if isinstance(row, dict) else vars(row)
        return {place_name: at, **fields}

    return Carrier

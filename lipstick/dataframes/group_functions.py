"""Functions of groups in data frames, as queries of the groups' rows.

``groupBy(k).applyInPandas(f, schema)`` is a grouping that collects the rows of each group into an
array, a function of arrays that calls ``f``, and ``inline``, which takes apart what it returns. The
rows of two frames are the union of both, collected into an array for each frame. ``mapInPandas(f,
schema)`` is the same by the number of the partition that a row is in, which is decided once, as
any random value is. Such operators are replaced by ordinary ones before anything else is asked of a
frame, so that the text, the proof and the capture only know ordinary operators.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Self

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructField, StructType
from pyspark.util import PythonEvalType

from lipstick.dataframes import on_workers
from lipstick.dataframes.conversions import SETTINGS, of_values
from lipstick.dataframes.hidden import callable_function
from lipstick.dataframes.jvm import (
    Json,
    Plan,
    alias,
    analysed,
    changed,
    elements,
    frame_of,
    jvm_of,
    kind,
    sequence,
    with_parameters,
)
from rewriter.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession


_OF_ARRAYS: int | None = getattr(PythonEvalType, "SQL_SCALAR_ARROW_UDF", None)
"""The kind of a function of Arrow arrays; None in PySpark 4.0, which has none."""
EVALUATION: int = _OF_ARRAYS or PythonEvalType.SQL_BATCHED_UDF
"""The kind of the function that stands for one of groups."""
_KINDS = {
    getattr(PythonEvalType, name): name
    for name in on_workers.KINDS
    if hasattr(PythonEvalType, name)
}


@dataclass(frozen=True, slots=True)
class FunctionInput:
    """The rows of a frame, in groups.

    Attributes
    ----------
    keys
        The places of the columns that it is grouped by.
    columns
        The names of the columns that the function sees, which are the last ones.
    """

    frame: DataFrame
    keys: tuple[int, ...]
    columns: tuple[str, ...]

    @classmethod
    def of_partitions(
        cls, frame: DataFrame, keys: Sequence[int] | None = None, number: int = 0
    ) -> Self:
        """Return the rows of a frame by partitions.

        Parameters
        ----------
        keys, number
            They are as many as ``number``, by the hash of the columns at the places of ``keys``, as
            ``repartition`` makes them; without columns there is one. None: Spark decides, once.
        """
        columns = tuple(frame.columns)
        if keys is not None and not keys:
            return cls(frame, (), columns)
        names = named_by_place(frame.schema).names
        named = frame.toDF(*names)
        part = F.spark_partition_id()
        if keys is not None:
            part = F.pmod(F.hash(*(F.col(names[number]) for number in keys)), F.lit(number))
        return cls(named.select(part.alias("part"), *names), (0,), columns)

    @property
    def key_types(self) -> list[DataType]:
        """The types of the keys."""
        return [self.frame.schema[number].dataType for number in self.keys]

    def rows(self, sides: Sequence[FunctionInput]) -> DataFrame:
        """Return the keys, and beside them a row of this side and none of the others."""
        names = named_by_place(self.frame.schema).names
        # Without keys all are a group, but there is none where there are no rows.
        keys = [F.col(names[number]) for number in self.keys] or [F.lit("")]
        rows = [F.struct(*names) if side is self else F.lit(None) for side in sides]
        return self.frame.toDF(*names).select(*_numbered("key", keys), *_numbered("rows", rows))


@dataclass(frozen=True, slots=True)
class GroupFunction:
    """A function of groups.

    Attributes
    ----------
    evaluation
        Its kind, one of PySpark's.
    command
        The function and the type of its rows, as PySpark pickled them.
    """

    name: str
    evaluation: int
    command: bytes
    made: StructType
    sides: tuple[FunctionInput, ...]

    def check(self) -> None:
        """Refuse what nothing can stand for.

        Raises
        ------
        UnsupportedError
            The rows are of a stream, the function makes rows without columns, or keys of two frames
            have other types.
        """
        if any(side.frame.isStreaming for side in self.sides):
            raise UnsupportedError(
                f"{self.name} is called for the rows of one micro-batch at a time, and where a "
                "micro-batch ends is not in the data",
                "Use aggregates, or a udf() of one row; or track the folder that the stream is "
                "written to, and call the function there.",
            )
        if not self.made.fields:
            raise UnsupportedError(
                f"{self.name} makes rows without columns",
                "Give its rows a column.",
            )
        if any(side.key_types != self.sides[0].key_types for side in self.sides):
            raise UnsupportedError(
                f"{self.name} is applied to groups of two frames by keys of other types",
                "Cast the keys to the same types.",
            )

    @property
    def returned(self) -> ArrayType:
        """The type that the function of arrays returns."""
        return ArrayType(named_by_place(self.made), containsNull=False)

    def of_arrays(self, spark: SparkSession) -> Callable[..., Any]:
        """Return the function of arrays that calls it on the workers, of the kind `EVALUATION`."""
        settings = {
            name: str(spark.conf.get(key, default)).strip()
            for name, (key, default) in SETTINGS.items()
        }
        sides = [(side.keys, side.columns) for side in self.sides]
        of_arrow = on_workers.caller(_KINDS[self.evaluation], self.command, sides, settings)
        if _OF_ARRAYS is not None:
            return of_arrow
        return of_values(of_arrow, [named_by_place(side.frame.schema) for side in self.sides])

    def rows(self, call: Callable[..., Column]) -> DataFrame:
        """Return the rows that it makes, where ``call`` calls the function of arrays."""
        rows = [side.rows(self.sides) for side in self.sides]
        both = reduce(DataFrame.unionAll, rows)
        keys = [name for name in both.columns if name.startswith("key")]
        names = [name for name in both.columns if name.startswith("rows")]
        groups = both.groupBy(*keys).agg(*(F.collect_list(name).alias(name) for name in names))
        return groups.select(F.inline(call(*map(F.col, names))))


def unknown_partitions(name: str) -> UnsupportedError:
    """Return the error of a function of partitions that are not a function of the data."""
    return UnsupportedError(
        f"{name} sees partitions that are not a function of the data",
        "Call it right after repartition(n, columns), repartition(1) or coalesce(1), with filters "
        "and then sortWithinPartitions() alone between them; or where partitions do not matter, on "
        "a frame that is not repartitioned.",
    )


def named_by_place(rows: StructType) -> StructType:
    """Return a type of rows whose columns have the names ``c0``, ``c1`` ..."""
    return StructType(
        [
            StructField(f"c{number}", field.dataType, field.nullable)
            for number, field in enumerate(rows.fields)
        ]
    )


def _numbered(name: str, columns: Sequence[Column]) -> list[Column]:
    return [column.alias(f"{name}{number}") for number, column in enumerate(columns)]


_OF_A_GROUP = ("FlatMapGroupsInArrow", "FlatMapGroupsInPandas")
_OF_TWO = ("FlatMapCoGroupsInArrow", "FlatMapCoGroupsInPandas")
_OF_A_PARTITION = ("MapInArrow", "MapInPandas")
_KEEPING = ("Filter", "Generate", "Project", "SubqueryAlias")
"""Operators whose rows stay in the partitions of their input."""
_ALL = (*_OF_A_GROUP, *_OF_TWO, *_OF_A_PARTITION)


def applies_functions(nodes: Json) -> bool:
    """Return True if a plan applies functions to groups or partitions, outside its subqueries."""
    return any(kind(node) in _ALL for node in nodes)


def with_ordinary_operators(spark: SparkSession, plan: Plan, nodes: Json) -> DataFrame:
    """Return the frame of a plan in which ordinary operators apply the functions of groups.

    Raises
    ------
    UnsupportedError
        See :meth:`lipstick.dataframes.group_functions.Applied.check`.
    """
    positions = {n for n, node in enumerate(nodes) if applies_functions([node])}
    return frame_of(spark, changed(spark, plan, nodes, positions, partial(_stand_in, spark)))


def _stand_in(spark: SparkSession, node: Plan) -> Plan:
    """Return what makes the same rows, in columns of the same ids, as an operator."""
    function = node.functionExpr()
    row_type = StructType.fromJson(json.loads(function.dataType().json()))
    applied = GroupFunction(
        function.name(),
        function.evalType(),
        _bytes(spark, function.func().command()),
        row_type,
        tuple(_sides(spark, node)),
    )
    applied.check()
    rows = analysed(applied.rows(partial(_called, spark, applied, function)))
    pairs = zip(elements(rows.output()), elements(node.output()), strict=True)
    items = [alias(spark, attribute, to.name(), to.exprId()) for attribute, to in pairs]
    return jvm_of(spark).org.apache.spark.sql.catalyst.plans.logical.Project(
        sequence(spark, items), rows
    )


def _sides(spark: SparkSession, node: Plan) -> Iterator[FunctionInput]:
    inputs = elements(node.children())
    name = node.getClass().getSimpleName()
    if name in _OF_A_PARTITION:
        yield _partitions(spark, name, inputs[0])
        return
    if name in _OF_TWO:
        keys = [node.leftGroupingLen(), node.rightGroupingLen()]
    else:
        keys = [node.groupingAttributes().size()]
    for input_plan, number in zip(inputs, keys, strict=True):
        yield _side(spark, input_plan, number)


def _partitions(spark: SparkSession, name: str, plan: Plan) -> FunctionInput:
    """Return the rows of a plan in the partitions that it names, if it names any."""
    shown = f"{name[0].lower()}{name[1:]}"
    below, filtered = plan, True
    if _sorts_within_partitions(plan):
        plan, below = with_parameters(spark, plan, {1: True}), plan.child()
    while (kept := below.getClass().getSimpleName()) in _KEEPING:
        filtered = filtered and kept != "Project"
        below = below.child()
    if _sorts_within_partitions(below):
        raise unknown_partitions(shown)
    if kept not in ("RebalancePartitions", "Repartition", "RepartitionByExpression"):
        return FunctionInput.of_partitions(frame_of(spark, plan))
    if not filtered or kept == "RebalancePartitions":
        raise unknown_partitions(shown)
    if kept == "Repartition":
        if below.numPartitions() != 1:
            raise unknown_partitions(shown)
        return FunctionInput.of_partitions(frame_of(spark, plan), ())
    ids = [int(attribute.exprId().id()) for attribute in elements(plan.output())]
    keys = elements(below.partitionExpressions())
    if not keys or any(
        attribute.getClass().getSimpleName() != "AttributeReference" for attribute in keys
    ):
        raise unknown_partitions(shown)
    places = [ids.index(int(attribute.exprId().id())) for attribute in keys]
    return FunctionInput.of_partitions(frame_of(spark, plan), places, below.numPartitions())


def _sorts_within_partitions(plan: Plan) -> bool:
    return plan.getClass().getSimpleName() == "Sort" and not getattr(plan, "global")()


def _side(spark: SparkSession, plan: Plan, keys: int) -> FunctionInput:
    """Return the rows of a plan whose first columns are keys, which may be among the others."""
    attributes = elements(plan.output())
    ids = [int(attribute.exprId().id()) for attribute in attributes]
    added = [number for number in range(keys) if ids[number] not in ids[keys:]]
    places = [*added, *range(keys, len(ids))]
    chosen = sequence(spark, [attributes[number] for number in places])
    project = jvm_of(spark).org.apache.spark.sql.catalyst.plans.logical.Project(chosen, plan)
    kept = [ids[number] for number in places]
    columns = tuple(attribute.name() for attribute in attributes[keys:])
    return FunctionInput(
        frame_of(spark, project), tuple(kept.index(key) for key in ids[:keys]), columns
    )


def _called(spark: SparkSession, applied: GroupFunction, function: Plan, *arrays: Column) -> Column:
    """Return the call of the function of arrays, which has what a function of groups needs."""
    from pyspark.sql.classic.column import Column, _to_seq
    from pyspark.sql.udf import _wrap_function

    definition = function.func()
    wrapped = _wrap_function(spark.sparkContext, applied.of_arrays(spark), applied.returned)
    python_function = jvm_of(spark).SimplePythonFunction(
        wrapped.command(),
        definition.envVars(),
        definition.pythonIncludes(),
        definition.pythonExec(),
        definition.pythonVer(),
        definition.broadcastVars(),
        definition.accumulator(),
    )
    returned = spark._jsparkSession.parseDataType(applied.returned.json())
    values = {1: python_function, 2: returned, 4: EVALUATION}
    known = callable_function(spark, with_parameters(spark, function, values))
    given = _to_seq(spark.sparkContext, [each._jc for each in arrays])
    return Column(known.apply(given))


def _bytes(spark: SparkSession, values: Any) -> bytes:
    """Return a sequence of bytes of Scala."""
    array = values.toArray(jvm_of(spark).scala.reflect.ClassTag.Byte())
    return bytes(array)

"""Functions of groups in data frames, as queries of the groups' rows.

``groupBy(k).applyInPandas(f, schema)`` is a grouping that collects the rows of each group into an
array, a function of arrays that calls ``f``, and ``inline``, which takes apart what it returns. The
rows of two frames are the union of both, collected into an array for each frame. ``mapInPandas(f,
schema)`` is the same by the number of the partition that a row is in, which is decided once, as
what chance decides. Operators of the one kind are replaced by those of the other before anything
else is asked of a frame, so that the text, the proof and the capture know of ordinary operators
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Self

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructField, StructType
from pyspark.util import PythonEvalType

from lipstick.dataframes import on_workers
from lipstick.dataframes.conversions import SETTINGS, of_values
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
class Side:
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

    def rows(self, sides: Sequence[Side]) -> DataFrame:
        """Return the keys, and beside them a row of this side and none of the others."""
        names = named_by_place(self.frame.schema).names
        # Without keys all are a group, but there is none where there are no rows.
        keys = [F.col(names[number]) for number in self.keys] or [F.lit("")]
        rows = [F.struct(*names) if side is self else F.lit(None) for side in sides]
        return self.frame.toDF(*names).select(*_numbered("key", keys), *_numbered("rows", rows))


@dataclass(frozen=True, slots=True)
class Applied:
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
    sides: tuple[Side, ...]

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
        """What the function of arrays returns."""
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
    """Return the error of a function of partitions that are no function of the data."""
    return UnsupportedError(
        f"{name} sees partitions that are no function of the data",
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

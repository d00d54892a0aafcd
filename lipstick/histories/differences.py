"""Rows that two queries have differently often; of large answers, few are compared as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.capture.files import arrow_of
from lipstick.dataframes.arrow import arrow_rows
from lipstick.stages.reading import own_sql
from lipstick.stages.settings import temporary_settings
from lipstick.tables.comparison import keyed, paired, with_change
from lipstick.tracking.row_checksum import row_hash
from lipstick.tracking.views import column_of
from rewriter.statements import Bags

_SMALL: Final = 8 * 2**20
"""Bytes that the query that reads less reads, up to which all rows are compared."""
_BUCKETS: Final = 65_536
_MANY: Final = 8_192
"""Buckets with differing rows from which on all rows are compared."""
_LOCAL: Final = frozenset({"LocalRelation", "OneRowRelation"})
"""Leaves of plans that read nothing."""
_HELD: Final = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
}
"""Settings by which Spark runs a query as one job of one task, without compiling it."""
_COUNT, _BUCKET, _HASH = "_lipstick_count", "_lipstick_bucket", "_lipstick_hash"


def differing_rows(spark: SparkSession, left: str, right: str, columns: Sequence[str]) -> DataFrame:
    """Return the rows that two queries have differently often, with how much oftener the first.

    The number is the last column. Rows of large answers are spread over buckets by a hash of 64
    bits. A bucket is held to be equal on both sides where the number of rows and the sum of hashes
    are; of the other buckets the rows are compared. So little is exchanged that computing both
    queries twice takes less time than grouping all their rows.
    """
    sides = [own_sql(spark, query).toDF(*columns) for query in (left, right)]
    signed = [side.withColumn(_COUNT, F.lit(n)) for side, n in zip(sides, (1, -1), strict=True)]
    both = signed[0].unionAll(signed[1])
    total = F.sum(_COUNT)
    # One side is mostly a table, and the other one about as large.
    if min(map(bytes_read, sides)) > _SMALL:
        hashed = both.withColumn(_HASH, row_hash(both.drop(_COUNT)))
        hashed = hashed.withColumn(_BUCKET, F.pmod(_HASH, F.lit(_BUCKETS)))
        # Sums of hashes may overflow, sums of their halves do not.
        halves = (F.col(_HASH).bitwiseAND(F.lit(0xFFFFFFFF)), F.shiftright(_HASH, 32))
        sums = [F.sum(F.col(_COUNT) * half) for half in halves]
        unequal = F.greatest(*(F.abs(each) for each in (total, *sums))) > 0
        buckets = hashed.groupBy(_BUCKET).agg(unequal.alias("unequal")).where("unequal")
        found = buckets.select(_BUCKET).limit(_MANY).toArrow()
        numbers = found.column(0).to_pylist()
        if not numbers:
            both = both.limit(0)
        elif len(numbers) < _MANY:
            among = f"{_BUCKET} IN ({', '.join(map(str, numbers))})"
            both = hashed.where(among).drop(_HASH, _BUCKET)
    grouped = both.groupBy(*map(column_of, columns)).agg(total.alias(_COUNT))
    return grouped.where(F.col(_COUNT) != 0)


def paired_changes(spark: SparkSession, bags: Bags, key: Sequence[str]) -> DataFrame:
    """Return the rows of a table that are changed, deleted or added: ``_change``, ``old``, ``new``.

    Parameters
    ----------
    key
        The columns by which rows are paired; empty: rows are deleted or added.
    """
    real = spark.table(bags.real)
    sides = []
    for view, side in ((bags.gone, "old"), (bags.came, "new")):
        rows = real.limit(0) if view is None else spark.table(view)
        keys = [column_of(column) for column in key] or [F.lit(side)]
        sides.append(keyed(rows, side, [column_of(c) for c in rows.columns], keys))
    return with_change(paired(*sides), F.lit(False))


def few_rows(frame: DataFrame, most: int | None) -> pa.Table:
    """Compute the first rows of a query; over rows that this process holds by one job of one task.

    Such a query takes longer to be compiled, and to be planned anew after each of its parts, than
    to run.
    """
    rows, spark = frame if most is None else frame.limit(most), frame.sparkSession
    settings = _HELD if is_held(frame) else {}
    with temporary_settings(spark, settings):
        return arrow_rows(rows).cast(arrow_of(frame.schema))


def is_held(frame: DataFrame) -> bool:
    """Return True if a query reads few rows, and this process holds them all."""
    if not hasattr(frame, "_jdf"):
        return False
    leaves = _leaves(frame._jdf.queryExecution().analyzed())
    if any(leaf.getClass().getSimpleName() not in _LOCAL for leaf in leaves):
        return False
    return sum(int(str(leaf.stats().sizeInBytes())) for leaf in leaves) <= _SMALL


def bytes_read(frame: DataFrame) -> int:
    """Return the bytes that a query reads, as Spark estimates them; 0 over Spark Connect."""
    if not hasattr(frame, "_jdf"):
        return 0
    execution = frame._jdf.queryExecution()
    leaves = _leaves(execution.analyzed())
    # Optimising looks up the files of tables, which is not needed of rows that are in this process.
    if any(leaf.getClass().getSimpleName() != "LocalRelation" for leaf in leaves):
        leaves = _leaves(execution.optimizedPlan())
    return sum(int(str(leaf.stats().sizeInBytes())) for leaf in leaves)


def _leaves(plan: Any) -> list[Any]:
    leaves = plan.collectLeaves()
    return [leaves.apply(number) for number in range(leaves.size())]

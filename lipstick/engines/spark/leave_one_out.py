"""The tuples that move a value most, found on the cluster: memory is bounded by their number."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F
from pyspark.sql.types import NumericType

from lipstick.capture.manifest import Manifest
from lipstick.dataframes.arrow import arrow_rows
from lipstick.engines.spark.engine import SparkEngine
from lipstick.errors import CaptureError
from lipstick.stages.reading import own_sql
from rewriter.emit.statements.leave_one_out import AFTER, BEFORE, leave_one_out_sql
from semiring.errors import CapabilityError

_IN_MEMORY = "Ask the capture in memory: cluster=False."


def top_on_cluster(
    engine: SparkEngine,
    manifest: Manifest,
    output: str,
    relation: str,
    where: Mapping[str, Any],
    limit: int,
) -> pa.Table:
    """Return the tuples whose deletion, each alone, moves a value most; see :meth:`top`.

    Parameters
    ----------
    output
        The output of the root block.
    where
        By output, the values that name the row.

    Raises
    ------
    CapabilityError
        For values other than arithmetic of SUM, COUNT, AVG, MIN and MAX of one grouping over
        relations, for captures of tokens alone, and where values without a tuple are not finite.
    CaptureError
        When no row, or several, have the values of `where`.
    """
    rows, spark = engine.present(), engine.spark
    view = f"_lipstick_chosen_{uuid.uuid4().hex[:8]}"
    is_number = isinstance(rows.schema[output].dataType, NumericType)
    statement = leave_one_out_sql(manifest.root, output, relation, engine.members_view, view, limit)
    if statement is None or not is_number or manifest.values == "reference":
        raise CapabilityError(
            "The cluster leaves out tuples one by one of numbers alone: arithmetic of SUM, COUNT, "
            "AVG, MIN and MAX of one grouping over relations, without HAVING or LIMIT, whose "
            "values are in the capture.\n" + _IN_MEMORY
        )
    conditions = [F.col(f"`{name}`").eqNullSafe(F.lit(value)) for name, value in where.items()]
    chosen = reduce(and_, conditions, F.lit(True))
    found = rows.where(chosen).select(*(f"`{name}`" for name in manifest.root.identity))
    number = found.limit(2).count()
    if number != 1:
        raise CaptureError(
            "Not one row of the answer has these values: name one by the values of its columns."
        )
    found.createOrReplaceTempView(view)
    try:
        table = arrow_rows(own_sql(spark, statement))
    finally:
        spark.catalog.dropTempView(view)
    # Infinities and NaNs are not taken away from sums; Spark sorts what comes of them first.
    if not pc.all(pc.is_finite(table[AFTER]), min_count=0).as_py():
        raise CapabilityError(
            "The cluster does not leave tuples out of sums with an infinity or NaN.\n" + _IN_MEMORY
        )
    token = manifest.relations[relation].token
    effect = pc.subtract(table[AFTER], table[BEFORE])
    renamed = table.drop_columns([BEFORE]).rename_columns([*token, AFTER])
    return renamed.append_column("_effect", effect)

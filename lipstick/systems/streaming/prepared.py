"""The projections and filters that a tracked stream applies to each row of its source.

The standard job reads text and parses it, and only then has a time for its watermark. Spark
recomputes the same from the recorded rows: its operators are applied to them, and the columns that
identify a row are passed through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lipstick.dataframes.jvm import (
    Plan,
    alias,
    analysed,
    elements,
    frame_of,
    jvm_of,
    sequence,
)
from lipstick.errors import SourceError

RAW = "_lipstick_raw_"
"""The prefix of source columns, which stand beside columns computed from them."""
WATERMARK = "EventTimeWatermark"
_HIDDEN = "__metadata_col"
"""Spark's name prefix of a source's metadata columns."""
TRANSPARENT = ("SubqueryAlias", "View")


@dataclass(frozen=True, slots=True)
class Prepared:
    """The operators between a stream's source and its rows.

    Parameters
    ----------
    plan
        The uppermost operator, in the JVM.
    schema
        Of the source.
    text
        A canonical text of the operators.
    settings
        The settings by which it was read.
    """

    plan: Any
    schema: StructType
    text: str
    settings: Mapping[str, str]

    def of(self, rows: DataFrame) -> DataFrame:
        """Return the computed columns of recorded rows, beside the rows' own columns.

        Columns of the source are renamed; see :data:`RAW`.
        """
        named = [F.col(f"`{name}`").alias(f"{RAW}{name}") for name in self.schema.names]
        added = [name for name in rows.columns if name not in self.schema.names]
        hidden = rows.select(*named, *(f"`{name}`" for name in added))
        spark = rows.sparkSession
        plan = over_rows(spark, self.plan, hidden, RAW, hidden.columns)
        result = frame_of(spark, plan)
        # Static rows must not have Spark's mark of a watermark.
        return result.select(*(F.col(f"`{n}`").alias(n, metadata={}) for n in result.columns))


def over_rows(
    spark: SparkSession, plan: Plan, rows: DataFrame, prefix: str, carried: Sequence[str]
) -> Plan:
    """Return the projections and filters of a plan, applied to other rows of the source's schema.

    Parameters
    ----------
    prefix
        The prefix of the source's columns in these rows.
    carried
        Columns of the rows to pass through, beside the plan's columns.
    """
    logical = jvm_of(spark).org.apache.spark.sql.catalyst.plans.logical
    source = analysed(rows)
    by_name = {attribute.name(): attribute for attribute in elements(source.output())}
    kept = [by_name[name] for name in carried]

    def visit(node: Plan) -> Plan:
        name = node.getClass().getSimpleName()
        if name == "Project":
            scalars = [*elements(node.projectList()), *kept]
            return logical.Project(sequence(spark, scalars), visit(node.child()))
        if name == "Filter":
            return logical.Filter(node.condition(), visit(node.child()))
        if name == WATERMARK or name in TRANSPARENT:
            return visit(node.children().apply(0))
        named = [
            alias(spark, by_name[f"{prefix}{a.name()}"], a.name(), a.exprId())
            for a in elements(node.output())
        ]
        return logical.Project(sequence(spark, [*named, *kept]), source)

    return visit(plan)


def check_prepared(name: str, spark: SparkSession, plan: Plan, schema: StructType) -> str:
    """Return the canonical text of projections and filters over a source with some schema.

    Raises
    ------
    SourceError
        They are not deterministic, or a filter is above the watermark.
    """
    patterns = jvm_of(spark).org.apache.spark.sql.catalyst.trees.TreePattern
    texts: list[str] = []
    above = plan
    if any(_HIDDEN in (field.metadata or {}) for field in schema):
        raise SourceError(
            f"The stream {name!r} has columns of the hidden column _metadata, which are other ones "
            "when its files were moved or are read in other parts.\nLeave them out, or have who "
            "writes the files write them as columns."
        )
    below_watermark = False
    while elements(above.children()):
        kind = above.getClass().getSimpleName()
        below_watermark |= kind == WATERMARK
        if kind == "Filter" and not below_watermark and _has_watermark(above):
            raise SourceError(
                f"The stream {name!r} has a filter above its watermark, which sees other rows.\n"
                "Filter before withWatermark, or in the query."
            )
        if kind in ("Project", "Filter"):
            scalars = elements(above.expressions())
            if not above.deterministic() or above.containsPattern(patterns.CURRENT_LIKE()):
                raise SourceError(
                    f"The stream {name!r} computes a new value each time, by chance or from the "
                    "present time.\nUse the time of the events."
                )
            if above.containsPattern(patterns.PLAN_EXPRESSION()):
                raise SourceError(
                    f"The stream {name!r} has a subquery.\nPut it into the query over the stream."
                )
            texts += [str(scalar.sql()) for scalar in scalars]
        above = above.children().apply(0)
    return "\n".join(texts)


def _has_watermark(plan: Plan) -> bool:
    while elements(plan.children()):
        plan = plan.children().apply(0)
        if plan.getClass().getSimpleName() == WATERMARK:
            return True
    return False

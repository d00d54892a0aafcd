"""Estimates of the cost of a capture, from Spark's statistics."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import SparkSession

from lipstick.capture.writer import needs_rows
from rewriter.blocks import Block, topological
from rewriter.emit.statements import members_from_sources_sql
from rewriter.passes.capture_plan import monotone_having

_SIZE = re.compile(r"Statistics\(sizeInBytes=([0-9.E+]+) ([KMGTPE]?i?B)(?:, rowCount=([0-9.E+]+))?")
_UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}
_COLUMN_BYTES = 8


@dataclass(frozen=True, slots=True)
class Cost:
    """An estimate: an upper bound more often than not, and coarse without table statistics.

    Attributes
    ----------
    members
        Rows of all members datasets.
    bytes
        Their size in memory, before encoding and compression; files are several times smaller.
    jobs
        Spark jobs that write a dataset, at most: of small relations none does.
    """

    members: int
    bytes: int
    jobs: int


def estimate_cost(spark: SparkSession, root: Block) -> Cost:
    """Estimate the cost of capturing a query from Spark's statistics of its members."""
    members = size = jobs = 0
    for block in topological(root):
        if block.core is not None:
            bytes_, rows = _statistics(spark, members_from_sources_sql(block))
            width = max(1, len(block.core.select)) * _COLUMN_BYTES
            members += rows if rows is not None else bytes_ // width
            size += bytes_
            jobs += 1 + (monotone_having(block) is not None)
        jobs += needs_rows(block)
    return Cost(members, size, jobs)


def _statistics(spark: SparkSession, sql: str) -> tuple[int, int | None]:
    """Return size in bytes and, if Spark knows it, number of rows of a query's result."""
    plan = str((spark.sql(f"EXPLAIN COST {sql}").head() or ("",))[0])
    match = _SIZE.search(plan)
    if match is None:
        return 0, None
    size = int(float(match[1]) * 1024 ** _UNITS[match[2]])
    return size, None if match[3] is None else int(float(match[3]))

"""Estimates of the cost of a capture, from Spark's statistics."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from lipstick.capture.writer import needs_rows
from rewriter.blocks import Block, topological
from rewriter.emit.statements import members_from_sources_sql
from rewriter.passes.capture_plan import monotone_having

_NODE = re.compile(
    r"^(?P<tree>[ :+-]*)(?P<operator>\w+)(?P<rest>.*), Statistics\(sizeInBytes=(?P<size>[0-9.E+]+) "
    r"(?P<unit>[KMGTPE]?i?B)(?:, rowCount=(?P<rows>[0-9.E+]+))?.*\)$",
    re.MULTILINE,
)
_MORE = re.compile(r"\.\.\. (\d+) more fields")
_UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}
_COLUMN_BYTES = 8
_INDENT = 3
_HALF_JOINS = ("LeftSemi", "LeftAnti", "ExistenceJoin")


@dataclass(frozen=True, slots=True)
class Cost:
    """An estimate, coarse without table statistics; a join by equal values is taken to be by keys.

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
            rows = _rows(spark, members_from_sources_sql(block))
            members += rows
            size += rows * max(1, len(block.core.select)) * _COLUMN_BYTES
            jobs += 1 + (monotone_having(block) is not None)
        jobs += needs_rows(block)
    return Cost(members, size, jobs)


def _rows(spark: SparkSession, sql: str) -> int:
    """Estimate the number of rows of a query from the plan that Spark optimises it to.

    Spark multiplies the sizes of both sides of a join unless it has statistics of all columns.
    """
    plan = str((spark.sql(f"EXPLAIN COST {sql}").head() or ("",))[0])
    waiting: list[tuple[int, int]] = []
    for node in reversed(list(_NODE.finditer(plan.partition("== Physical Plan ==")[0]))):
        depth, inputs = len(node["tree"]), []
        while waiting and waiting[-1][0] > depth:
            below, rows = waiting.pop()
            if below == depth + _INDENT:  # plans of subqueries are further below
                inputs.append(rows)
        waiting.append((depth, _node_rows(node, inputs)))
    return waiting[-1][1] if waiting else 0


def _node_rows(node: re.Match[str], inputs: Sequence[int]) -> int:
    """Estimate the number of rows of an operator from the rows of its inputs."""
    rest = node["rest"]
    if node["rows"] is not None:
        return int(float(node["rows"]))
    if not inputs:
        more = _MORE.search(rest)
        fields = rest.count("#") + (int(more[1]) if more else 0)
        size = float(node["size"]) * 1024 ** _UNITS[node["unit"]]
        return int(size) // (max(1, fields) * _COLUMN_BYTES)
    if node["operator"] == "Union":
        return sum(inputs)
    if node["operator"] != "Join" or rest.split(",")[0].strip().startswith(_HALF_JOINS):
        return inputs[0]
    return max(inputs) if " = " in rest or " <=> " in rest else math.prod(inputs)

"""Types of member columns, as Spark's analysis of their statements says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from rewriter.blocks import Block
from rewriter.emit.statements import members_sql


class MemberTypes:
    """The types of member columns that are known before anything is captured. No job runs."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._types: dict[tuple[str, str], DataType | None] = {}

    def alike(self, columns: Sequence[tuple[Block, str]]) -> bool:
        """Whether member columns are known to be of one type."""
        types = {self._type(block, name) for block, name in columns}
        return len(types) == 1 and None not in types

    def _type(self, block: Block, name: str) -> DataType | None:
        """The type of a member column; None where that depends on other blocks."""
        if (block.name, name) not in self._types:
            self._types[block.name, name] = self._analyzed(block, name)
        return self._types[block.name, name]

    def _analyzed(self, block: Block, name: str) -> DataType | None:
        if block.core is None:
            return None
        core = replace(block.core, semis=())
        if any(True for _ in core.reads()):
            return None
        sql = members_sql(replace(block, core=core), lambda inner: inner.name, (name,))
        return self._spark.sql(sql).schema[0].dataType

"""A hypothetical answer and what became of each row."""

from __future__ import annotations

import json
from functools import cached_property, reduce
from operator import and_
from typing import TYPE_CHECKING, Literal, TypeAlias

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType
from pyspark.sql.window import Window

from lipstick import display
from lipstick.capture.manifest import Manifest
from lipstick.tracking.tracker import comparable
from semiring.door import checked

if TYPE_CHECKING:
    from lipstick.engines.memory.whatif import MemoryWhatIf

CHANGE = "_change"

Route: TypeAlias = Literal["annotations", "blocks", "rerun"]
"""The route of a hypothetical answer; see :class:`WhatIf`."""


@checked
class WhatIf:
    """The hypothetical answer without some inputs.

    Attributes
    ----------
    method
        The route of the answer: ``annotations`` (the captured ones), ``blocks`` (an outer block
        was run over evaluated inner rows) or ``rerun`` (the query ran on the reduced sources).
    """

    def __init__(
        self,
        spark: SparkSession,
        manifest: Manifest,
        new: DataFrame,
        old: DataFrame,
        method: Route,
    ) -> None:
        self._spark = spark
        self._manifest = manifest
        self._new = new
        self._old = old
        self.method: Route = method

    def __repr__(self) -> str:
        return display.whatif_text(self)

    def _repr_html_(self) -> str:
        return display.whatif_html(self)

    @cached_property
    def df(self) -> DataFrame:
        """The hypothetical answer, with the schema of the answer."""
        return self._outputs(self._new)

    def _outputs(self, rows: DataFrame) -> DataFrame:
        names = [f"`{output.name}`" for output in self._manifest.root.outputs]
        return rows.select(*names).toDF(*self._manifest.names)

    @cached_property
    def changes(self) -> DataFrame:
        """The change of each row: ``_change``, ``old``, ``new``.

        ``_change`` is unchanged, changed, deleted or added; ``old`` and ``new`` are structs of
        the answer's columns, NULL where there is no such row. Rows are matched by the grouping
        key or the tokens they are made of, else by their values with multiplicity.
        """
        identity = list(self._manifest.root.identity)
        old, new = self._side(self._old, "old", identity), self._side(self._new, "new", identity)
        keys = [c for c in old.columns if c.startswith("_id")]
        if keys:
            match: Column = reduce(and_, (old[k].eqNullSafe(new[k]) for k in keys))
        else:
            match = F.lit(True)
        joined = old.join(new, match, "full_outer").select(old["old"], new["new"])
        kind = joined.schema["old"].dataType
        before, after = (comparable(F.col(side), kind) for side in ("old", "new"))
        change = (
            F.when(F.col("new").isNull(), "deleted")
            .when(F.col("old").isNull(), "added")
            .when(before.eqNullSafe(after), "unchanged")
            .otherwise("changed")
        )
        return joined.select(change.alias(CHANGE), "old", "new")

    def _side(self, rows: DataFrame, name: str, identity: list[str]) -> DataFrame:
        outputs = self._manifest.root.outputs
        values = [
            F.col(f"`{output.name}`").alias(shown)
            for output, shown in zip(outputs, self._manifest.names, strict=True)
        ]
        single = not self._manifest.root.identity and self._manifest.root.aggregates
        keys = [F.col(f"`{column}`") for column in identity]
        if not (single or (identity and self._manifest.root.unique_identity)):
            columns = [
                comparable(F.col(f"`{output.name}`"), rows.schema[output.name].dataType)
                for output in outputs
            ]
            ordinal = F.row_number().over(Window.partitionBy(*columns).orderBy(F.lit(1)))
            keys = [*columns, ordinal]
        return rows.select(
            *(key.alias(f"_id{number}") for number, key in enumerate(keys)),
            F.struct(*values).alias(name),
        )


class SparkWhatIf(WhatIf):
    """A hypothetical answer computed in memory, as data frames."""

    def __init__(self, spark: SparkSession, manifest: Manifest, memory: MemoryWhatIf) -> None:
        self._spark = spark
        self._manifest = manifest
        self._memory = memory
        self.method = "annotations"

    @cached_property
    def df(self) -> DataFrame:
        """The hypothetical answer, with the schema of the answer."""
        schema = StructType.fromJson(json.loads(self._manifest.schema))
        return self._spark.createDataFrame(self._memory.answer, schema=schema)

    @cached_property
    def changes(self) -> DataFrame:
        """See :attr:`WhatIf.changes`."""
        fields = StructType.fromJson(json.loads(self._manifest.schema)).fields
        # pyarrow looks for NULLs in the fields of a struct that is NULL itself.
        answer = StructType([StructField(field.name, field.dataType) for field in fields])
        schema = StructType().add(CHANGE, "string", False).add("old", answer).add("new", answer)
        return self._spark.createDataFrame(self._memory.changes, schema=schema)

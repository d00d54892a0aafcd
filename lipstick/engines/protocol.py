"""The interface of the engines that answer questions to a capture, on a cluster or in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from semiring.base import Semiring
from semiring.encodings.valuation import Valuation
from semiring.expression import Expression
from semiring.polynomial import Polynomial

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

    from lipstick.engines.memory.members import ValueLookup
    from lipstick.questions.deletion import Cascade
    from lipstick.questions.what_if import WhatIf

Row: TypeAlias = dict[str, Any]
"""A row of an answer: its values by column."""


class CaptureEngine(Protocol):
    """Answers in one form: data frames of a session, or Arrow tables.

    What is the same for both, as formal values and scenarios are, the capture asks its memory for.
    """

    @property
    def spark(self) -> SparkSession | None:
        """The session, in whose terms deletions and valuations may be given."""

    def value_lookup(self) -> ValueLookup | None:
        """Return the lookup of member columns captured by reference; None if it has none."""

    def answer(self) -> DataFrame | pa.Table:
        """The answer, from the capture."""

    def annotated(self) -> DataFrame:
        """The answer's columns, then ``_prov``."""

    def annotations(self, limit: int | None) -> list[tuple[Row, Polynomial | Expression]]:
        """The first rows of the answer with their annotations."""

    def lineage(self, where: str | Column | None) -> Mapping[str, DataFrame | pa.Table]:
        """The input rows, or their tokens, that rows of the answer were made from."""

    def evaluate(
        self, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
    ) -> DataFrame | pa.Table:
        """The answer's columns, then ``_value``."""

    def shown(self, table: pa.Table) -> DataFrame | pa.Table:
        """An answer with its annotations that was computed in memory."""

    def what_if(
        self, delete: Mapping[str, Any], cascade: Cascade | None, *, strict: bool
    ) -> WhatIf[DataFrame | pa.Table]:
        """Return the hypothetical answer without some inputs."""

"""The interface of the engines that answer questions to a capture, on a cluster or in memory."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from semiring.base import Semiring
from semiring.encodings.valuation import Valuation
from semiring.expression import Expression
from semiring.polynomial import Polynomial

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

    from lipstick.capture.contents import Contents
    from lipstick.capture.manifest import Manifest, RelationRecord
    from lipstick.engines.memory.members import ValueLookup
    from lipstick.engines.memory.memory import Memory
    from lipstick.questions.keys import Cascade
    from lipstick.questions.what_if import WhatIf
    from lipstick.tables.ancestry import Ancestry
    from lipstick.tables.derivation import Derivation, Part
    from lipstick.tracking.tracker import Tracked
    from semiring.token import Token

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

    def annotations(
        self, limit: int | None, reason: Exception
    ) -> list[tuple[Row, Polynomial | Expression]]:
        """The first rows of the answer with their annotations; ``reason``: why not by memory."""

    def lineage(self, where: str | Column | None) -> Mapping[str, DataFrame | pa.Table]:
        """The input rows, or their tokens, that rows of the answer were made from."""

    def shown(self, table: pa.Table) -> DataFrame | pa.Table:
        """An answer with its annotations that was computed in memory."""

    def what_if(
        self, delete: Mapping[str, Any], cascade: Cascade | None, *, strict: bool
    ) -> WhatIf[DataFrame | pa.Table]:
        """Return the hypothetical answer without some inputs."""


class ClusterEngine(Protocol):
    """The engine on a cluster, as questions use it beside its answers."""

    @property
    def readable(self) -> Mapping[str, RelationRecord]:
        """The relations of the ancestry, by name."""

    def present(self) -> DataFrame:
        """The rows of the answer, with their identity."""

    def tokens_of(self, rows: DataFrame) -> dict[str, DataFrame]:
        """The tokens that rows of the answer were made from, per relation."""

    def rows_of(self, name: str) -> DataFrame | None:
        """The rows of a relation of the ancestry; None: the session cannot read them."""

    def hypothetical(self, deleted: Mapping[str, tuple[str, tuple[str, ...]]]) -> DataFrame:
        """The rows of the answer without some tokens, given by views and their columns."""

    def unchanged_rows(self, views: Container[str]) -> dict[str, str]:
        """Views of the captured rows of blocks that other rows of some views do not change."""

    def what_if_changed(
        self, update: Mapping[str, pa.Table], insert: Mapping[str, pa.Table]
    ) -> WhatIf[DataFrame]:
        """Return the answer over relations with other values and further rows."""

    def evaluates(self, semiring: Semiring[Any]) -> bool:
        """Return True if jobs evaluate annotations in a semiring."""

    def evaluate(
        self, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
    ) -> DataFrame:
        """The answer's columns, then ``_value``."""

    def in_worlds(self, semiring: Semiring[Any]) -> bool:
        """Return True if worlds decide annotations with conditions in a semiring."""

    def evaluate_in_world(self, gone: Mapping[str, pa.Table], semiring: Semiring[Any]) -> DataFrame:
        """The answer's columns, then ``_value``: 0 or 1 in the world without some tokens."""


class AskedCapture(Protocol):
    """A capture as questions see it: :class:`lipstick.Capture`."""

    @property
    def manifest(self) -> Manifest:
        """The description of the capture."""

    @property
    def ancestry(self) -> Ancestry:
        """The relations that the query reads, and what the derived ones were made of."""

    @property
    def engine(self) -> CaptureEngine:
        """The engine that answers: on a cluster, or in memory."""

    @property
    def memory(self) -> Memory:
        """The engine in memory."""

    @property
    def cluster(self) -> ClusterEngine:
        """The engine on a cluster; :class:`NeedsSparkError` without Spark."""

    @property
    def directory(self) -> Path:
        """The folder of the capture."""

    @property
    def contents(self) -> Contents:
        """The files, each checked when it is first read."""

    @property
    def tracked(self) -> Mapping[str, Tracked]:
        """The relations that the session tracks, by name."""

    def what_if(self, delete: dict[str, Any], /) -> WhatIf[Any]: ...

    def what_if_updated(self, update: dict[str, Any], /) -> WhatIf[pa.Table]: ...

    def _token_types(self) -> dict[str, pa.Schema]: ...

    def _key_of(self, name: str) -> pa.Schema | None: ...

    def _token_weights(
        self, weights: Any, default: Any
    ) -> Callable[[Sequence[Token]], list[float]]: ...

    def _part_capture(self, derivation: Derivation, part: Part) -> AskedCapture: ...

    def _part_captures(self, record: RelationRecord) -> Sequence[AskedCapture]: ...

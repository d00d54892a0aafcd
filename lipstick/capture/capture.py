"""A capture and the questions it answers, with Spark or without."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import Column, DataFrame, SparkSession

from lipstick import display
from lipstick.analysis import Analyses
from lipstick.capture.engines.cluster import SparkEngine
from lipstick.capture.engines.local import MemoryEngine
from lipstick.capture.engines.protocol import CaptureEngine
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.deletion import Cascade
from lipstick.derived.ancestry import Ancestry
from lipstick.derived.derivation import Derivation, Part
from lipstick.derived.origins import A, expanded
from lipstick.errors import NeedsSparkError
from lipstick.memory import Memory, MemoryWhatIf, WhatIfMany
from lipstick.memory.store import OPEN_WITH_SPARK
from lipstick.scenarios import Given, resolve_scenarios
from lipstick.tracking import Tracked
from lipstick.updates import resolve_update, resolve_updates
from lipstick.valuation import compile_valuations, token_weights
from lipstick.whatif import WhatIf
from rewriter.blocks import topological
from semiring.base import Semiring
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings.viterbi import Viterbi
from semiring.token import Token
from semiring.value import Value

Row = dict[str, Any]


class Capture(Analyses):
    """A query's annotations on disk: made by ``save``, opened by :func:`lipstick.open`.

    With a SparkSession the answers are Spark data frames; without one they are Arrow tables,
    computed in memory. Both read the same datasets.
    """

    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        spark: SparkSession | None = None,
        tracked: Mapping[str, Tracked] = MappingProxyType({}),
    ) -> None:
        self.directory = directory
        self.manifest = manifest
        self.contents = manifest.contents(directory)
        """The files, each checked when it is first read."""
        self.tracked = tracked
        """The relations that the session tracks, by name."""
        self._engine: CaptureEngine = (
            MemoryEngine(self) if spark is None else SparkEngine(self, spark)
        )
        self._made: dict[Path, Capture] = {}

    @property
    def cluster(self) -> SparkEngine:
        """The engine on a cluster.

        Raises
        ------
        NeedsSparkError
            When the capture was opened without Spark.
        """
        if not isinstance(self._engine, SparkEngine):
            raise NeedsSparkError(OPEN_WITH_SPARK)
        return self._engine

    @cached_property
    def memory(self) -> Memory:
        """The in-memory engine over this capture."""
        return Memory(self.directory, self.manifest, self._engine.value_lookup(), self.contents)

    @property
    def query(self) -> str:
        """The text of the query."""
        return self.manifest.query

    def __repr__(self) -> str:
        return display.capture_text(self)

    def _repr_html_(self) -> str:
        return display.capture_html(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any] | None:
        from lipstick.explore.opening import bundle

        return bundle(self)

    def explore(self, to: str | os.PathLike[str] | None = None, *, browser: bool = True) -> Any:
        """Look at it in a browser or a notebook; see :func:`lipstick.explore.explore`."""
        from lipstick.explore import explore

        return explore(self, to=to, browser=browser)

    def token_types(self) -> dict[str, pa.Schema]:
        """Return the token columns of each relation, as members store them."""
        types: dict[str, pa.Schema] = {}
        for block in topological(self.manifest.root):
            if block.core is None:
                continue
            files = self.contents.read(f"{block.name}/members")
            stored = ds.dataset([str(file) for file in files], format="parquet").schema
            for token in block.tokens:
                names = self.manifest.relations[token.relation].token
                fields = [
                    pa.field(its, stored.field(name).type)
                    for name, its in zip(token.columns, names, strict=True)
                ]
                types[token.relation] = pa.schema(fields)
        return types

    # -- derived relations -----------------------------------------------------------------

    @cached_property
    def ancestry(self) -> Ancestry:
        """The relations that the query reads, and what the derived ones were made of."""
        return Ancestry(self.manifest.relations)

    def made(self, derivation: Derivation, part: Part) -> Capture:
        """Return the capture of the query that made a part of a derived relation."""
        path = derivation.capture(part)
        if path not in self._made:
            manifest = self.ancestry.manifest(derivation, part)
            manifest.contents(path).check()
            self._made[path] = Capture(path, manifest, self._engine.spark, self.tracked)
        return self._made[path]

    def makers(self, record: RelationRecord) -> list[Capture]:
        """Return the captures of all queries that made a derived relation."""
        derivation = self.ancestry.derivation(record)
        return [self.made(derivation, part) for part in derivation.parts if part.captured]

    # -- the answer ------------------------------------------------------------------------

    @property
    def df(self) -> DataFrame | pa.Table:
        """The answer, from the capture."""
        return self._engine.answer()

    def annotated(self) -> DataFrame:
        """Return the answer's columns, then ``_prov``, from the captured members.

        Raises
        ------
        NeedsSparkError
            Without Spark.
        """
        return self._engine.annotated()

    def members(self, limit: int | None = None) -> pa.Table:
        """One row per output tuple and member: the answer's columns, tokens, values."""
        return self.memory.members(limit)

    # -- annotations -----------------------------------------------------------------------

    def polynomials(
        self, limit: int | None = 20, *, expand: bool = False, potential: bool = False
    ) -> list[tuple[Row, Polynomial | Expression]]:
        """Return the first rows of the answer, each with its annotation in N[X].

        Annotations with δ, ⊖ or conditions are expressions: evaluated, never multiplied out. They
        are exact in every world, that is without any set of input tuples: how often the row is
        in the answer follows from the annotation alone.

        Parameters
        ----------
        expand
            Put the annotations of derived relations in the place of their tokens.
        potential
            Also rows that are in the answer of some world and not in this one, after the others.
            Their columns that differ from world to world are formal values.

        Raises
        ------
        NeedsSparkError
            Without Spark, where an array that a deletion may change is taken apart.
        CapabilityError
            Where Spark alone evaluates the conditions; with ``expand``, where a deletion above a
            derived relation may do more than the annotations would say.
        ExactnessError
            Where a row depends, through an order, a window or changing keys, on too many others.
        """
        if potential:
            rows = self.memory.potential_rows(limit)
            annotated = [
                (dict(zip(self.manifest.names, r.shown, strict=True)), r.annotation) for r in rows
            ]
        else:
            annotated = self._engine.annotations(limit)
        return self._expanded(annotated, values=False) if expand else annotated

    def _expanded(self, rows: list[tuple[Row, A]], *, values: bool) -> list[tuple[Row, A]]:
        formal = expanded(self, [k for _, k in rows], values=values)
        return [(row, k) for (row, _), k in zip(rows, formal, strict=True)]

    def tensors(
        self, column: str, limit: int | None = 20, *, expand: bool = False
    ) -> list[tuple[Row, Value]]:
        """Return the first rows of the answer, each with the tensor of an aggregated column.

        Where a deletion may change what is aggregated, other formal values stand for tensors.
        ``expand`` as in :meth:`polynomials`.
        """
        tensors = self.memory.tensors(column, limit)
        return self._expanded(tensors, values=True) if expand else tensors

    def lineage(self, where: str | Column | None = None) -> dict[str, DataFrame | pa.Table]:
        """Return the input rows that the selected rows of the answer were made from, per relation.

        Those that rows of derived relations were made of are among them.

        Parameters
        ----------
        where
            A predicate over the answer's columns; None selects all. Needs Spark.
        """
        return dict(self._engine.lineage(where))

    def evaluate(
        self,
        semiring: Semiring[Any],
        valuation: Any = None,
        default: Any = None,
        *,
        potential: bool = False,
    ) -> DataFrame | pa.Table:
        """Return the answer's columns, then ``_value``: each row's annotation in a semiring.

        Parameters
        ----------
        semiring
            One of ``lipstick.semirings``.
        valuation
            None (the semiring's default), a function of a token, or per relation: a mapping from
            key to value, a function, an Arrow table or data frame (key columns, value), or, with
            Spark, an expression over the relation's columns or :func:`lipstick.of_row`.
        default
            The value of tokens that a mapping or table leaves out; the semiring's 1 if None.
        potential
            Also rows that are in the answer of some world and not in this one, computed in memory.
            Columns have the values of the world of the tuples that are not valued 0.

        Raises
        ------
        ValuationError
            A value outside the carrier.
        CapabilityError
            The semiring has no monus, and rows may appear by a deletion; or conditions are on
            tuples valued neither 0 nor 1. By tokens valued 0 and 1, annotations say in any
            semiring what is in the answer without the tuples valued 0.
        """
        valuations = compile_valuations(
            semiring, valuation, default, self.manifest.relations, self._engine.spark
        )
        if potential:
            return self._engine.shown(self.memory.evaluate_potential(semiring, valuations))
        return self._engine.evaluate(semiring, valuations)

    def k_relation(
        self, semiring: Semiring[Any], valuation: Any = None, default: Any = None
    ) -> pa.Table:
        """Return the answer as a K-relation: distinct rows with the sums of their annotations.

        Rows that are not in the answer but would be annotated other than 0, as those of an outer
        join or NOT EXISTS may be, are not shown: see :meth:`what_if`.

        Parameters and errors are those of :meth:`evaluate`; computed in memory.

        Source: Green, Karvounarakis, Tannen, *Provenance Semirings*, PODS 2007, section 3.
        """
        valuations = compile_valuations(
            semiring, valuation, default, self.manifest.relations, self._engine.spark
        )
        return self.memory.evaluate(semiring, valuations, merged=True)

    @property
    def _asked(self) -> Capture:
        return self

    def token_weights(self, weights: Any, default: Any) -> Callable[[Sequence[Token]], list[float]]:
        """Return the probabilities of tokens, from a valuation by numbers from 0 to 1."""
        relations = self.manifest.relations
        valuations = compile_valuations(Viterbi(), weights, default, relations, self._engine.spark)
        return token_weights(valuations, relations, self.token_types())

    # -- hypothetical answers --------------------------------------------------------------

    def what_if(
        self, delete: Mapping[str, Any], cascade: Cascade | None = None
    ) -> WhatIf | MemoryWhatIf:
        """Return what the answer would be had some inputs not been there.

        Parameters
        ----------
        delete
            Per relation a predicate over its columns or a list of its keys; without Spark, a list
            of keys or an Arrow table of key columns. With Spark, relations that derived ones were
            made of may be named too.
        cascade
            ``{child: (columns, parent)}``: also delete the child's rows that refer to deleted rows
            of the parent. Needs Spark.
        """
        return self._engine.what_if(delete, cascade)

    def what_if_many(self, scenarios: Given) -> WhatIfMany:
        """Return what the answer would be in each of many scenarios, computed in memory.

        Parameters
        ----------
        scenarios
            A sequence of deletions, each as :meth:`what_if` takes one; a mapping from the
            scenarios' names to deletions; per relation an Arrow table (with Spark, or a data
            frame) of its key columns and a column ``scenario``; or :func:`lipstick.each`.

        Returns
        -------
        WhatIfMany
            ``changes`` and ``df`` are Arrow tables whose first column is ``scenario``.

        Raises
        ------
        CaptureError
            When some scenario needs an expression that only Spark evaluates.

        A query of one block costs what the scenarios touch, whatever their number; a predicate
        costs a Spark job each, so list keys, or tabulate them, where there are many.
        """
        resolved = resolve_scenarios(
            scenarios, self.manifest.relations, self.token_types(), self.memory, self._engine.spark
        )
        return self.memory.what_if_many(resolved)

    def what_if_updated(self, update: Mapping[str, Any]) -> MemoryWhatIf:
        """Return what the answer would be had some inputs had other values, computed in memory.

        Parameters
        ----------
        update
            Per relation an Arrow table of its key columns and of the columns that change, with
            their new values; or, with Spark, a mapping from columns to expressions over the
            relation's columns, in which a tuple is left as it was where the value is the same.

        Raises
        ------
        CaptureError
            When a column decides which rows are joined, selected or grouped, or the query has
            several blocks: the capture then has not all there is to know.
        TrackingError
            For relations that the query does not read, and expressions without Spark.
        """
        tables = resolve_update(
            self.manifest.relations, self.token_types(), update, self._engine.spark
        )
        return self.memory.what_if_updated(tables)

    def what_if_updated_many(self, scenarios: Given) -> WhatIfMany:
        """Return what the answer would be had inputs had other values, in each of many scenarios.

        Parameters
        ----------
        scenarios
            A sequence of updates, each as :meth:`what_if_updated` takes one; a mapping from the
            scenarios' names to updates; per relation an Arrow table (with Spark, or a data frame)
            of its key columns, a column ``scenario`` and new values; or :func:`lipstick.each` with
            ``update``.

        Raises
        ------
        CaptureError, TrackingError
            As :meth:`what_if_updated`. All are computed together, and cost what they touch.
        """
        relations, types = self.manifest.relations, self.token_types()
        updates = resolve_updates(scenarios, relations, types, self._engine.spark)
        return self.memory.what_if_updated_many(updates)


def open_capture(path: str | os.PathLike[str], spark: SparkSession | None = None) -> Capture:
    """Open a saved capture.

    Parameters
    ----------
    path
        The directory that ``save`` wrote.
    spark
        Answers become data frames of this session; None answers in memory, as Arrow tables.

    Raises
    ------
    CaptureDamagedError
        When files are missing, or others than those that were written. What is in them is held
        against their checksums when a question first reads them.
    CaptureError
        When the directory is not a capture, or one of a later version.

    Warns
    -----
    UncheckedWarning
        When it is of format 1, which says nothing of its files.
    """
    directory = Path(path)
    manifest = Manifest.read(directory)
    manifest.contents(directory).check()
    return Capture(directory, manifest, spark)

"""A capture and the questions it answers, with Spark or without."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from lipstick import display
from lipstick.analysis import Analyses
from lipstick.capture.lookup import ValueLookup
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.capture.write import needs_rows
from lipstick.deletion import Cascade, check_readable, resolve_deletion, resolve_keys
from lipstick.derived.ancestry import Ancestry
from lipstick.derived.derivation import Derivation, Part
from lipstick.derived.hypothesis import Hypothesis
from lipstick.derived.lineage import with_origins
from lipstick.derived.origins import A, expanded, origins_of
from lipstick.derived.readable import readable
from lipstick.errors import CapabilityError, CaptureError, NeedsSparkError
from lipstick.evaluate import (
    Evaluation,
    check_difference,
    in_world,
    named_token,
    root_rows,
    valued_frame,
)
from lipstick.lineage import lineage_rows, lineage_tokens
from lipstick.memory import Memory, MemoryWhatIf, WhatIfMany
from lipstick.scenarios import Given, resolve_scenarios
from lipstick.tracking import Tracked
from lipstick.updates import resolve_update, resolve_updates
from lipstick.valuation import compile_valuations, token_weights
from lipstick.whatif import SparkWhatIf, WhatIf
from rewriter.analysis.conditional import conditional, shown_joins
from rewriter.blocks import Block, Kind, topological
from rewriter.emit import Lasting
from rewriter.emit.statements import answer_sql, concerned, hypothetical_sql, rewritten_sql
from semiring.base import Semiring
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings.counting import Counting
from semiring.semirings.expressions import Expressions
from semiring.semirings.viterbi import Viterbi
from semiring.token import Token
from semiring.valuation import Valuation
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
        self._contents = manifest.contents(directory)
        self._spark = spark
        self._tracked = tracked
        self._made: dict[Path, Capture] = {}
        self._id = uuid.uuid4().hex[:8]
        self._views: set[str] = set()

    @cached_property
    def memory(self) -> Memory:
        """The in-memory engine over this capture."""
        lookup = None
        if self._spark is not None and self.manifest.values == "reference":
            lookup = ValueLookup(self._spark, self.manifest.relations)
        return Memory(self.directory, self.manifest, lookup, self._contents)

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

    def _members_view(self, block: Block) -> str:
        return self._dataset_view(block, "members")

    def _dataset_view(self, block: Block, dataset: str) -> str:
        assert self._spark is not None
        view = f"_lipstick_open_{self._id}_{block.name}_{dataset}"
        if view not in self._views:
            folder = f"{block.name}/{dataset}"
            self._contents.read(folder)
            path = self.directory / folder
            schema = StructType.fromJson(dict(self.manifest.schemas[block.name][dataset]))
            self._spark.read.schema(schema).parquet(str(path)).createOrReplaceTempView(view)
            self._views.add(view)
        return view

    def _rows_views(self) -> dict[str, str]:
        """Return views of all captured rows, by block."""
        blocks = topological(self.manifest.root)
        return {b.name: self._dataset_view(b, "rows") for b in blocks if needs_rows(b)}

    def hypothetical(self, deleted: Mapping[str, tuple[str, tuple[str, ...]]]) -> DataFrame:
        """Return the rows of the answer over the members that survive, with their identity.

        ``deleted`` gives, per relation, a view of deleted tokens and its columns.
        """
        root = self.manifest.root
        reached = concerned(root, deleted)
        if root.name not in reached:
            return self.present()
        rows = {name: view for name, view in self._rows_views().items() if name not in reached}
        return self._survivors(deleted, rows, self._lasting(reached))

    def _survivors(
        self,
        deleted: Mapping[str, tuple[str, tuple[str, ...]]],
        rows: Mapping[str, str],
        lasting: Mapping[str, Lasting],
    ) -> DataFrame:
        assert self._spark is not None
        root = self.manifest.root
        sql = hypothetical_sql(root, self._members_view, deleted, rows, lasting)
        return self._spark.sql(sql)

    def _lasting(self, reached: Container[str]) -> dict[str, Lasting]:
        """The captured rows of groupings from which a deletion only takes members of their own."""
        found = {}
        for block in topological(self.manifest.root):
            own = block.kind is Kind.GROUP and not (block.sets or block.difference)
            if not own or any(inner.name in reached for inner in block.derived):
                continue
            fields = self.manifest.schemas[block.name]["rows"]["fields"]
            names = {name for name, _ in block.aggregates}
            rounded = {
                field["name"]
                for field in fields
                if field["name"] in names and field["type"] in ("float", "double")
            }
            if rounded:
                found[block.name] = Lasting(self._dataset_view(block, "rows"), frozenset(rounded))
        return found

    def present(self) -> DataFrame:
        """Return the answer's rows as captured, with the columns that tell them apart."""
        assert self._spark is not None
        root = self.manifest.root
        if not needs_rows(root):
            return self._survivors({}, self._rows_views(), {})
        shown = {output.name for output in root.outputs}
        extra = tuple(name for name in root.identity if name not in shown)
        return self._spark.sql(answer_sql(root, self._dataset_view(root, "rows"), extra))

    def token_types(self) -> dict[str, pa.Schema]:
        """Return the token columns of each relation, as members store them."""
        types: dict[str, pa.Schema] = {}
        for block in topological(self.manifest.root):
            if block.core is None:
                continue
            files = self._contents.read(f"{block.name}/members")
            stored = ds.dataset([str(file) for file in files], format="parquet").schema
            for token in block.tokens:
                names = self.manifest.relations[token.relation].token
                fields = [
                    pa.field(its, stored.field(mine).type)
                    for mine, its in zip(token.columns, names, strict=True)
                ]
                types[token.relation] = pa.schema(fields)
        return types

    # -- derived relations -----------------------------------------------------------------

    @cached_property
    def ancestry(self) -> Ancestry:
        """The relations that the query reads, and what the derived ones were made of."""
        return Ancestry(self.manifest.relations)

    @cached_property
    def readable(self) -> Mapping[str, RelationRecord]:
        """The relations of the ancestry, with views of this session where it knows their rows."""
        assert self._spark is not None
        return {
            name: readable(self._spark, self.ancestry, record, self._tracked)
            for name, record in self.ancestry.records.items()
        }

    def made(self, derivation: Derivation, part: Part) -> Capture:
        """Return the capture of the query that made a part of a derived relation."""
        path = derivation.capture(part)
        if path not in self._made:
            manifest = self.ancestry.manifest(derivation, part)
            manifest.contents(path).check()
            self._made[path] = Capture(path, manifest, self._spark, self._tracked)
        return self._made[path]

    def makers(self, record: RelationRecord) -> list[Capture]:
        """Return the captures of all queries that made a derived relation."""
        derivation = self.ancestry.derivation(record)
        return [self.made(derivation, part) for part in derivation.parts if part.captured]

    def tokens_of(self, rows: DataFrame, where: str | Column | None = None) -> dict[str, DataFrame]:
        """Return, per relation that the query reads, the tokens in the annotations of rows.

        ``rows`` has the columns that tell the answer's rows apart.
        """
        assert self._spark is not None
        views = self._rows_views()
        return lineage_tokens(self._spark, self.manifest, rows, self._members_view, views, where)

    # -- the answer ------------------------------------------------------------------------

    @property
    def df(self) -> DataFrame | pa.Table:
        """The answer, from the capture."""
        if self._spark is None:
            return self.memory.answer()
        outputs = [f"`{output.name}`" for output in self.manifest.root.outputs]
        return self.present().select(*outputs).toDF(*self.manifest.names)

    def annotated(self) -> DataFrame:
        """The answer's columns, then ``_prov``, from the captured members.

        Raises
        ------
        NeedsSparkError
            Without Spark.
        """
        if self._spark is None:
            raise NeedsSparkError("lipstick.open(path, spark=spark) has a frame of annotations.")
        sql = rewritten_sql(self.manifest.root, self._members_view)
        return self._spark.sql(sql).toDF(*self.manifest.names, "_prov")

    def members(self, limit: int | None = None) -> pa.Table:
        """One row per output tuple and member: the answer's columns, tokens, values."""
        return self.memory.members(limit)

    # -- annotations -----------------------------------------------------------------------

    def polynomials(
        self, limit: int | None = 20, *, expand: bool = False, potential: bool = False
    ) -> list[tuple[Row, Polynomial | Expression]]:
        """The first rows of the answer, each with its annotation in N[X].

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
            found = [
                (dict(zip(self.manifest.names, r.shown, strict=True)), r.annotation) for r in rows
            ]
        else:
            found = self._annotations(limit)
        return self._expanded(found, values=False) if expand else found

    def _annotations(self, limit: int | None) -> list[tuple[Row, Polynomial | Expression]]:
        try:
            return self.memory.annotations(limit)
        except NeedsSparkError:
            if self._spark is None:
                raise
        return self._annotations_of_cluster(limit)

    def _expanded(self, found: list[tuple[Row, A]], *, values: bool) -> list[tuple[Row, A]]:
        made = expanded(self, [one for _, one in found], values=values)
        return [(row, one) for (row, _), one in zip(found, made, strict=True)]

    def _annotations_of_cluster(
        self, limit: int | None
    ) -> list[tuple[Row, Polynomial | Expression]]:
        assert self._spark is not None
        root, semiring, relations = self.manifest.root, Expressions(), self.manifest.relations
        if conditional(root):
            raise CapabilityError(
                "The conditions of this query are evaluated by Spark alone, and are not written "
                "down as annotations.\nAsk what_if(), or evaluate() with tokens valued 0 and 1."
            )
        tokens = {name: named_token(record.naming) for name, record in relations.items()}
        valuations = compile_valuations(semiring, tokens, None, relations, self._spark)
        evaluation = Evaluation(
            self._spark, root, self._members_view, self._rows_views(), semiring, valuations
        )
        names = self.manifest.names
        return [
            (dict(zip(names, row, strict=True)), value) for row, value in evaluation.first(limit)
        ]

    def tensors(
        self, column: str, limit: int | None = 20, *, expand: bool = False
    ) -> list[tuple[Row, Value]]:
        """The first rows of the answer, each with the tensor of an aggregated column.

        Where a deletion may change what is aggregated, other formal values stand for tensors.
        ``expand`` as in :meth:`polynomials`.
        """
        found = self.memory.tensors(column, limit)
        return self._expanded(found, values=True) if expand else found

    def lineage(self, where: str | Column | None = None) -> dict[str, DataFrame | pa.Table]:
        """The input rows that the selected rows of the answer were made from, per relation.

        Those that rows of derived relations were made of are among them.

        Parameters
        ----------
        where
            A predicate over the answer's columns; None selects all. Needs Spark.
        """
        if self._spark is None:
            if where is not None:
                raise CaptureError(
                    "A predicate on the answer needs Spark: lipstick.open(path, spark=spark)."
                )
            return dict(origins_of(self, self.memory.lineage(None)))
        tokens = with_origins(self._spark, self, self.tokens_of(self.present(), where))
        for name in tokens:
            check_readable(self._spark, self.readable[name])
        sources = {
            name: (record.view, record.token, record.columns)
            for name, record in self.readable.items()
        }
        return dict(lineage_rows(self._spark, tokens, sources))

    def evaluate(
        self,
        semiring: Semiring[Any],
        valuation: Any = None,
        default: Any = None,
        *,
        potential: bool = False,
    ) -> DataFrame | pa.Table:
        """The answer's columns, then ``_value``: each row's annotation in a semiring.

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
        root = self.manifest.root
        valuations = compile_valuations(
            semiring, valuation, default, self.manifest.relations, self._spark
        )
        if potential:
            table = self.memory.evaluate_potential(semiring, valuations)
            return table if self._spark is None else self._frame_of(table)
        if self._spark is None:
            return self.memory.evaluate(semiring, valuations)
        if conditional(root):
            return self._conditional(semiring, valuations)
        check_difference(root, semiring)
        views = self._rows_views()
        evaluation = Evaluation(self._spark, root, self._members_view, views, semiring, valuations)
        return evaluation.run().toDF(*self.manifest.names, "_value")

    def _conditional(
        self, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
    ) -> DataFrame:
        """The annotations of a query with conditions, which worlds say; see :meth:`evaluate`."""
        assert self._spark is not None
        root = self.manifest.root
        gone = self.memory.valued_zero(semiring, valuations)
        counted = semiring.idempotent or isinstance(semiring, Counting) or not root.copies
        if gone is None or shown_joins(root) or not counted:
            return self._frame_of(self.memory.evaluate(semiring, valuations))
        deleted = {}
        for name, table in gone.items():
            if table.num_rows:
                view = f"_lipstick_open_{self._id}_zero_{name}"
                self._spark.createDataFrame(table).createOrReplaceTempView(view)
                deleted[name] = (view, self.manifest.relations[name].token)
        left = self.hypothetical(deleted) if deleted else None
        rows = root_rows(self._spark, root, self._rows_views(), self._members_view)
        found = in_world(self._spark, root, rows, left, semiring)
        return found.toDF(*self.manifest.names, "_value")

    def _frame_of(self, table: pa.Table) -> DataFrame:
        """An answer with its annotations, computed in memory, as a data frame."""
        assert self._spark is not None
        schema = StructType.fromJson(json.loads(self.manifest.schema))
        return valued_frame(self._spark, table, schema)

    def k_relation(
        self, semiring: Semiring[Any], valuation: Any = None, default: Any = None
    ) -> pa.Table:
        """The answer as a K-relation: every distinct row once, with the sum of its annotations.

        Rows that are not in the answer but would be annotated other than 0, as those of an outer
        join or NOT EXISTS may be, are not shown: see :meth:`what_if`.

        Parameters and errors are those of :meth:`evaluate`; computed in memory.

        Source: Green, Karvounarakis, Tannen, *Provenance Semirings*, PODS 2007, section 3.
        """
        valuations = compile_valuations(
            semiring, valuation, default, self.manifest.relations, self._spark
        )
        return self.memory.evaluate(semiring, valuations, merged=True)

    @property
    def _asked(self) -> Capture:
        return self

    def token_weights(self, weights: Any, default: Any) -> Callable[[Sequence[Token]], list[float]]:
        """Return the probabilities of tokens, from a valuation by numbers from 0 to 1."""
        relations = self.manifest.relations
        found = compile_valuations(Viterbi(), weights, default, relations, self._spark)
        return token_weights(found, relations, self.token_types())

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
        if self._spark is None:
            if cascade:
                raise CaptureError(
                    "A cascade reads the tracked sources: lipstick.open(path, spark=spark)."
                )
            self._check_direct(delete)
            return self.memory.what_if(
                resolve_keys(self.manifest.relations, self.token_types(), delete)
            )
        self.ancestry.check_unambiguous(delete)
        hypothesis = Hypothesis(
            self._spark, resolve_deletion(self._spark, self.readable, delete, cascade)
        )
        reduced = hypothesis.reduced(self)
        if self.manifest.values == "reference" and not reduced.replaced:
            answer = self.memory.what_if(reduced.deletion.tokens)
            return SparkWhatIf(self._spark, self.manifest, answer)
        method = "blocks" if reduced.replaced else "annotations"
        new = hypothesis.rows(self, reduced)
        return WhatIf(self._spark, self.manifest, new, self.present(), method)

    def _check_direct(self, delete: Mapping[str, Any]) -> None:
        """Refuse deletions above derived relations, which Spark follows."""
        read = {name.lower() for name in self.manifest.relations}
        above = [n for n in delete if n.lower() not in read and n.lower() in self.ancestry.names]
        if above:
            raise CaptureError(
                f"{above[0]!r} is read through derived relations, which needs Spark: "
                "lipstick.open(path, spark=spark)."
            )

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
        found = resolve_scenarios(
            scenarios, self.manifest.relations, self.token_types(), self.memory, self._spark
        )
        return self.memory.what_if_many(found)

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
        found = resolve_update(self.manifest.relations, self.token_types(), update, self._spark)
        return self.memory.what_if_updated(found)

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
        found = resolve_updates(scenarios, relations, types, self._spark)
        return self.memory.what_if_updated_many(found)


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

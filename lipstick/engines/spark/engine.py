"""Questions to a capture answered on a cluster, as data frames."""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from collections.abc import Container, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lipstick.capture.files import Files, in_arrow
from lipstick.capture.local_rows import arrow_schema, as_spark_has, computes_alike
from lipstick.capture.lookup import ValueLookup, source_rows
from lipstick.capture.manifest import RelationRecord
from lipstick.capture.writer import needs_rows
from lipstick.dataframes.arrow import arrow_rows, frame_of_arrow
from lipstick.engines.route import answer, fits_memory, left_to_spark
from lipstick.engines.spark.evaluate import (
    Evaluation,
    check_difference,
    in_world,
    named_token,
    root_rows,
    valued_frame,
)
from lipstick.engines.spark.lineage import lineage_rows, lineage_tokens, select_rows
from lipstick.engines.spark.workers import use_own_python
from lipstick.errors import CapabilityError, NeedsSparkError, UnsupportedError
from lipstick.questions.deletion import Deletion, check_readable, resolve_deletion
from lipstick.questions.diff.answers import net_changes
from lipstick.questions.keys import Cascade
from lipstick.questions.updates import inserted_rows, updated_rows
from lipstick.questions.valuation import compile_valuations
from lipstick.questions.what_if import Route, WhatIf
from lipstick.stages.reading import own_sql
from lipstick.tables.ancestry import readable
from lipstick.tables.comparison import as_frames, compared_answers
from lipstick.tables.hypothesis import Fate, Hypothesis, Reduced, rerun_problem
from lipstick.tables.origins import origins_of, with_origins
from lipstick.tracking.unknown_keys import check_deletion
from lipstick.tracking.views import drop_once_read, plain_word
from rewriter.analysis.conditional import conditional, shown_joins
from rewriter.blocks import Block, Kind, topological
from rewriter.emit import CapturedGroups, unchanged
from rewriter.emit.statements import (
    answer_sql,
    concerned,
    hypothetical_sql,
    rewritten_sql,
)
from semiring.arrays.arrow import whole
from semiring.base import Semiring
from semiring.encodings.valuation import Valuation
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings.counting import Counting
from semiring.semirings.expressions import Expressions

if TYPE_CHECKING:
    from lipstick.engines.protocol import AskedCapture, Row


_BROADCAST_BYTES = 32 << 20
"""Tokens of a relation that are sent to every worker, at most."""

_LITERAL_KEYS = 1_000
"""Tokens of a relation, at most, that stand as literals in the query of its rows."""
_COUNTED_TOKENS = 10_000
"""Tokens of a relation, at least, for which its rows are counted: fewer are looked up sooner."""

_QUALIFIED = re.compile(r"\b\w+\.`([^`]+)`")
"""A column as blocks qualify it; users know its name alone."""


class SparkEngine:
    """Answers with a session: see :class:`lipstick.engines.protocol.CaptureEngine`.

    It also has what else is asked of captured datasets on a cluster: by derived relations, whose
    rows are tuples of a capture, and by workflows.
    """

    def __init__(self, capture: AskedCapture, spark: SparkSession) -> None:
        self._capture = capture
        self._manifest = capture.manifest
        use_own_python(spark)
        self._spark = spark
        self._id = uuid.uuid4().hex[:8]
        self._views: set[str] = set()

    @property
    def spark(self) -> SparkSession:
        """The session."""
        return self._spark

    def value_lookup(self) -> ValueLookup | None:
        """Return the lookup of member columns captured by reference; None if all were copied."""
        if self._manifest.values != "reference":
            return None
        return ValueLookup(self._spark, self._manifest.relations)

    # -- the answer and its annotations ----------------------------------------------------

    def answer(self) -> DataFrame:
        """The answer, from the capture."""
        outputs = [f"`{output.name}`" for output in self._manifest.root.outputs]
        return self.present().select(*outputs).toDF(*self._manifest.names)

    def annotated(self) -> DataFrame:
        """The answer's columns, then ``_prov``."""
        sql = rewritten_sql(self._manifest.root, self.members_view)
        return own_sql(self._spark, sql).toDF(*self._manifest.names, "_prov")

    def annotations(
        self, limit: int | None, reason: Exception
    ) -> list[tuple[Row, Polynomial | Expression]]:
        """The first rows of the answer with their annotations, where memory has none."""
        root, semiring, relations = self._manifest.root, Expressions(), self._manifest.relations
        if conditional(root):
            why = _QUALIFIED.sub(r"\1", str(reason).split("\n")[0])
            raise CapabilityError(
                "The conditions of this query are evaluated by Spark alone, and are not written "
                f"down as annotations. {why}\nWrite this expression with functions that are "
                "computed without Spark (docs/support.md lists them), or compute it in a table "
                "that you track; or ask what_if(), or algebra.evaluate() with tokens valued 0 or 1."
            ) from reason
        tokens = {name: named_token(record.naming) for name, record in relations.items()}
        valuations = compile_valuations(semiring, tokens, None, relations, self._spark)
        evaluation = Evaluation(
            self._spark, root, self.members_view, self._rows_views(), semiring, valuations
        )
        names = self._manifest.names
        return [
            (dict(zip(names, row, strict=True)), value) for row, value in evaluation.first(limit)
        ]

    def lineage(self, where: str | Column | None) -> dict[str, DataFrame]:
        """The input rows that the selected rows of the answer were made from, per relation.

        Of relations whose rows this session cannot read, the keys.
        """
        rows = self.present()
        if where is not None:
            rows = select_rows(rows, self._manifest, where)
        return answer(
            partial(self._lineage_of_memory, None if where is None else rows),
            lambda _: self._rows_named(
                with_origins(self._spark, self._capture, self.tokens_of(rows))
            ),
            left_to_spark(),
        )

    def _rows_named(self, tokens: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
        """Return the input rows that tokens name; the tokens where the rows cannot be read."""
        sources = {
            name: (record.view, record.token, record.columns)
            for name, record in self.readable.items()
            if name in tokens and self.rows_of(name) is not None
        }
        keys = {
            name: frame.toDF(*self.readable[name].token)
            for name, frame in tokens.items()
            if name not in sources
        }
        known = {name: frame for name, frame in tokens.items() if name in sources}
        return {**lineage_rows(self._spark, known, sources), **keys}

    def _lineage_of_memory(self, rows: DataFrame | None) -> dict[str, DataFrame]:
        """Return the lineage of rows of the answer (None: of all rows), found in memory.

        Raises
        ------
        NeedsSparkError
            Where the capture is too large for that, where Arrow has not the types of Spark, and
            where Spark alone knows what the rows were made from.
        """
        if not fits_memory(self._manifest):
            raise NeedsSparkError("The capture has too many members for this process.")
        memory = self._capture.memory
        if rows is None:
            tables = memory.lineage()
        else:
            chosen = rows.select(*(f"`{name}`" for name in self._manifest.root.identity))
            keys = arrow_rows(chosen).cast(arrow_schema(chosen.schema))
            tables = memory.lineage_of([whole(column) for column in keys], keys.num_rows)
        frames, found = {}, {}
        for name, table in origins_of(self._capture, tables).items():
            unjoined = self._rows_without_join(name, table)
            if unjoined is None:
                frames[name] = self._tokens_frame(name, table)
            else:
                found[name] = unjoined
        return {**self._rows_named(frames), **found}

    def _rows_without_join(self, name: str, tokens: pa.Table) -> DataFrame | None:
        """Return the rows of a relation that tokens name, where that takes no join; else None.

        Few keys stand in the query, so that files are skipped by them. Distinct tokens of an
        unchanged source that are as many as its rows name all of them.
        """
        record = self.readable[name]
        few = tokens.num_rows <= _LITERAL_KEYS and _is_literal_key(tokens)
        many = tokens.num_rows >= _COUNTED_TOKENS and bool(record.fingerprint or record.derived)
        source = self.rows_of(name) if few or many else None
        if source is None or (many and source.count() != tokens.num_rows):
            return None
        if few:
            source = source.where(F.col(f"`{record.token[0]}`").isin(tokens.column(0).to_pylist()))
        return source.select(*(f"`{column}`" for column in record.columns))

    def _tokens_frame(self, name: str, tokens: pa.Table) -> DataFrame:
        """Return tokens of a relation as a data frame, hinted to be broadcast where they are few.

        Raises
        ------
        NeedsSparkError
            Where their types differ from the types of the relation.
        """
        record = self.readable[name]
        if not self._spark.catalog.tableExists(record.view):
            raise NeedsSparkError(f"The types of the keys of {name!r} are not known.")
        fields = {field.name: field for field in self._spark.table(record.view).schema}
        schema = StructType([fields[column] for column in record.token])
        frame = frame_of_arrow(self._spark, as_spark_has(tokens, arrow_schema(schema)), schema)
        return F.broadcast(frame) if tokens.nbytes <= _BROADCAST_BYTES else frame

    def evaluates(self, semiring: Semiring[Any]) -> bool:
        """Return True if jobs evaluate annotations in a semiring; else memory does."""
        root = self._manifest.root
        if conditional(root):
            return False
        check_difference(root, semiring)
        # Whether δ has a value is known once it is computed; workers would fail too late.
        return semiring.total_delta or all(b.kind is not Kind.GROUP for b in topological(root))

    def evaluate(
        self, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
    ) -> DataFrame:
        """The answer's columns, then ``_value``; see :meth:`CaptureEngine.evaluates`."""
        root, views = self._manifest.root, self._rows_views()
        evaluation = Evaluation(self._spark, root, self.members_view, views, semiring, valuations)
        return evaluation.run().toDF(*self._manifest.names, "_value")

    def in_worlds(self, semiring: Semiring[Any]) -> bool:
        """Return True if worlds decide annotations with conditions in a semiring."""
        root = self._manifest.root
        counted = semiring.idempotent or isinstance(semiring, Counting) or not root.copies
        return conditional(root) and not shown_joins(root) and counted

    def evaluate_in_world(self, gone: Mapping[str, pa.Table], semiring: Semiring[Any]) -> DataFrame:
        """The answer's columns, then ``_value``: 0 or 1 in the world without some tokens."""
        root, deleted = self._manifest.root, {}
        for name, table in gone.items():
            if table.num_rows:
                view = f"_lipstick_open_{self._id}_zero_{plain_word(name)}"
                frame_of_arrow(self._spark, table).createOrReplaceTempView(view)
                deleted[name] = (view, self._manifest.relations[name].token)
        left = self.hypothetical(deleted) if deleted else None
        rows = root_rows(self._spark, root, self._rows_views(), self.members_view)
        values = in_world(self._spark, root, rows, left, semiring)
        return values.toDF(*self._manifest.names, "_value")

    def shown(self, table: pa.Table) -> DataFrame:
        """An answer with its annotations, computed in memory, as a data frame."""
        schema = StructType.fromJson(json.loads(self._manifest.schema))
        return valued_frame(self._spark, table, schema)

    # -- hypothetical answers --------------------------------------------------------------

    def token_types(self, name: str) -> pa.Schema | None:
        """The types of the key of a relation of the ancestry, as captures have it."""
        return self._capture._key_of(name)

    def rows_of(self, name: str) -> DataFrame | None:
        """The rows of a relation of the ancestry; None: this session cannot read them."""
        record = self.readable[name]
        known = self._spark.catalog.tableExists(record.view)
        return source_rows(self._spark, record) if known else None

    def what_if(
        self, delete: Mapping[str, Any], cascade: Cascade | None, *, strict: bool
    ) -> WhatIf[DataFrame]:
        """Return the hypothetical answer without some inputs."""
        capture = self._capture
        capture.ancestry.check_unambiguous(delete)
        deletion = resolve_deletion(self._spark, self.readable, delete, cascade, self.token_types)
        check_deletion(capture, delete, deletion.tokens, strict=strict)
        return self.what_if_replayed(deletion, {})

    def what_if_replayed(self, deletion: Deletion, fates: Mapping[str, Fate]) -> WhatIf[DataFrame]:
        """Return the hypothetical answer without some tuples, over tables that became others.

        Parameters
        ----------
        fates
            By name in lower case, the outcome for relations that statements made.
        """
        capture = self._capture
        hypothesis = Hypothesis(self._spark, deletion, fates=fates)
        reduced = hypothesis.reduced(capture)

        def by_spark(_: Exception) -> WhatIf[DataFrame]:
            method: Route = "blocks" if reduced.replaced else "annotations"
            new = hypothesis.rows(capture, reduced)
            return compared_answers(self._manifest, new, self.present(), method)

        def here() -> WhatIf[DataFrame]:
            if reduced.replaced:
                found = hypothesis.answer(capture, reduced)
            else:
                found = self._what_if_of_memory(reduced.deletion)
            return as_frames(self._spark, self._manifest, found)

        def again(_: Exception) -> WhatIf[DataFrame]:
            return answer(here, by_spark, left_to_spark() if reduced.replaced else self._left)

        return answer(partial(self._updated, reduced), again, left_to_spark())

    def _updated(self, reduced: Reduced) -> WhatIf[DataFrame]:
        """Return the answer from memory where only values of rows are others.

        Raises
        ------
        NeedsSparkError
            Where rows are deleted or added, or the capture has too many; other errors of
            `left_to_spark` where the values are not read by aggregates alone.
        """
        if not (reduced.replaced and reduced.updates and self._has_few_rows()):
            raise NeedsSparkError("Rows are deleted or added, or too many for this process.")
        found = self._capture.memory.what_if_updated(reduced.updates)
        _ = found.df  # computed now, while Spark can still take over
        return as_frames(self._spark, self._manifest, found)

    def changes_without(self, deletion: Deletion) -> tuple[pa.Table, int, int]:
        """Return the rows of the answer that differ without some tuples, as `WhatIf.changes` does.

        A row that is made from other rows and has the same values does not differ.

        Returns
        -------
        tuple
            The changes, and the numbers of rows of the answer before and after.
        """

        def here() -> tuple[pa.Table, Counter[str]]:
            changes = self._what_if_of_memory(deletion).changes
            kinds = changes["_change"]
            counted = (each.to_pylist() for each in kinds.value_counts().flatten())
            counts = Counter(dict(zip(*counted, strict=True)))
            return changes.filter(pc.not_equal(kinds, "unchanged")), counts

        def by_spark(_: Exception) -> tuple[pa.Table, Counter[str]]:
            frame = self.what_if_replayed(deletion, {}).changes
            counts = Counter[str](dict(frame.groupBy("_change").count().collect()))
            return arrow_rows(frame.where("_change <> 'unchanged'")), counts

        changes, counts = answer(here, by_spark, self._left)
        total = counts.total()
        return net_changes(changes), total - counts["added"], total - counts["deleted"]

    def what_if_changed(
        self, update: Mapping[str, pa.Table], insert: Mapping[str, pa.Table]
    ) -> WhatIf[DataFrame]:
        """Return the answer over relations with other values and further rows.

        Blocks that read no changed relation are read as captured, the others are run again.

        Raises
        ------
        UnsupportedError
            For queries that cannot be run again.
        """
        manifest = self._manifest
        if (problem := rerun_problem(manifest.root, deeper=manifest.recursive)) is not None:
            advice = "New values are followed where aggregates alone read the columns."
            raise UnsupportedError(problem, advice, manifest.query)
        views = {}
        for name in dict.fromkeys([*update, *insert]):
            record = self.readable[name]
            check_readable(self._spark, record)
            rows = source_rows(self._spark, record)
            if name in update:
                rows = updated_rows(rows, record, update[name])
            if name in insert:
                rows = rows.unionByName(inserted_rows(rows, record, insert[name]))
            views[name.lower()] = f"_lipstick_changed_{uuid.uuid4().hex[:8]}"
            rows.createOrReplaceTempView(views[name.lower()])
        answer = self.what_if_replayed(Deletion({}), views)
        drop_once_read(answer.df, views.values())
        return answer

    def _what_if_of_memory(self, deletion: Deletion) -> WhatIf[pa.Table]:
        """The answer from memory, where only tokens were captured or rows are few."""
        if self._left and not self._has_few_rows():
            raise NeedsSparkError("The capture has too many rows for this process.")
        answer = self._capture.memory.what_if(deletion.tokens)
        _ = answer.df  # whose columns are computed when they are asked for
        return answer

    @property
    def _left(self) -> tuple[type[Exception], ...]:
        """The errors of memory that leave a deletion to Spark: none if it has tokens alone."""
        return () if self._manifest.values == "reference" else left_to_spark()

    def _has_few_rows(self) -> bool:
        """Return True if memory has room for the capture, and answers as Spark does."""
        few = fits_memory(self._manifest)
        schema = StructType.fromJson(json.loads(self._manifest.schema))
        return few and in_arrow(schema) and computes_alike(self._spark)

    def hypothetical(self, deleted: Mapping[str, tuple[str, tuple[str, ...]]]) -> DataFrame:
        """The rows of the answer over the members that survive, with their identity.

        ``deleted`` gives, per relation, a view of deleted tokens and its columns.
        """
        root = self._manifest.root
        reached = concerned(root, deleted)
        if root.name not in reached:
            return self.present()
        rows = {name: view for name, view in self._rows_views().items() if name not in reached}
        return self._survivors(deleted, rows, self._captured_groups(reached))

    def _survivors(
        self,
        deleted: Mapping[str, tuple[str, tuple[str, ...]]],
        rows: Mapping[str, str],
        captured_groups: Mapping[str, CapturedGroups],
    ) -> DataFrame:
        root = self._manifest.root
        sql = hypothetical_sql(root, self.members_view, deleted, rows, captured_groups)
        return own_sql(self._spark, sql)

    def _captured_groups(self, reached: Container[str]) -> dict[str, CapturedGroups]:
        """The captured rows of groupings from which a deletion only takes members of their own."""
        captured_groups = {}
        for block in topological(self._manifest.root):
            plain_group = block.kind is Kind.GROUP and not (block.sets or block.difference)
            if not plain_group or any(inner.name in reached for inner in block.derived):
                continue
            fields = self._manifest.schemas[block.name]["rows"]["fields"]
            names = {name for name, _ in block.aggregates}
            rounded = {
                field["name"]
                for field in fields
                if field["name"] in names and field["type"] in ("float", "double")
            }
            if rounded:
                captured_groups[block.name] = CapturedGroups(
                    self._dataset_view(block, "rows"), frozenset(rounded)
                )
        return captured_groups

    def present(self) -> DataFrame:
        """Return the answer's rows as captured, with the columns that identify them."""
        root = self._manifest.root
        if not needs_rows(root):
            return self._survivors({}, self._rows_views(), {})
        shown = {output.name for output in root.outputs}
        extra = tuple(name for name in root.identity if name not in shown)
        return own_sql(self._spark, answer_sql(root, self._dataset_view(root, "rows"), extra))

    # -- derived relations -----------------------------------------------------------------

    @cached_property
    def readable(self) -> Mapping[str, RelationRecord]:
        """The relations of the ancestry, with views of this session where it knows their rows."""
        return {
            name: readable(self._spark, self._capture.ancestry, record, self._capture.tracked)
            for name, record in self._capture.ancestry.records.items()
        }

    def tokens_of(self, rows: DataFrame) -> dict[str, DataFrame]:
        """Return, per relation that the query reads, the tokens in the annotations of rows.

        ``rows`` has the columns that identify the answer's rows.
        """
        views = self._rows_views()
        return lineage_tokens(self._spark, self._manifest, rows, self.members_view, views)

    # -- views -----------------------------------------------------------------------------

    def members_view(self, block: Block) -> str:
        return self._dataset_view(block, "members")

    def _dataset_view(self, block: Block, dataset: str) -> str:
        view = f"_lipstick_open_{self._id}_{block.name}_{dataset}"
        if view not in self._views:
            folder = f"{block.name}/{dataset}"
            self._capture.contents.read(folder)
            path = self._capture.directory / folder
            schema = StructType.fromJson(dict(self._manifest.schemas[block.name][dataset]))
            Files(self._spark).read(path, schema).createOrReplaceTempView(view)
            self._views.add(view)
        return view

    def unchanged_rows(self, views: Container[str]) -> dict[str, str]:
        """Views of the captured rows of blocks that other rows of some views do not change."""
        names = unchanged(self._manifest.root, views)
        return {name: view for name, view in self._rows_views().items() if name in names}

    def _rows_views(self) -> dict[str, str]:
        """Views of all captured rows, by block."""
        blocks = topological(self._manifest.root)
        return {b.name: self._dataset_view(b, "rows") for b in blocks if needs_rows(b)}


def _is_literal_key(tokens: pa.Table) -> bool:
    """Return True if tokens are whole numbers or texts of one column, none of them NULL."""
    if tokens.num_columns != 1:
        return False
    keys = tokens.column(0)
    plain: bool = pa.types.is_integer(keys.type) or pa.types.is_string(keys.type)
    return plain and keys.null_count == 0

"""A bench: a session that runs a specification's queries over changing rows.

A text is analysed once, over relations declared by their columns. Every invocation then binds the
relations to files and captures the prepared query. A query without a tuple to read is empty, and is
not run.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from lipstick.capture.capture import Capture
from lipstick.capture.files import arrow_of, in_arrow
from lipstick.capture.local_capture import TooLargeError, collect
from lipstick.capture.local_rows import computes_alike
from lipstick.capture.writer import write_capture
from lipstick.dataframes import plain_frame, query_text
from lipstick.dataframes.arrow import arrow_rows, frame_of_arrow
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.state import State
from lipstick.engines.memory.store import StoredDatasets
from lipstick.errors import CaptureError, LipstickError, first_line
from lipstick.frame import AnnotatedFrame
from lipstick.sessions import Session
from lipstick.stages.spark_errors import failed
from lipstick.tracking.source import Source
from lipstick.tracking.tracker import ROW_COLUMN, Naming, Tracked
from lipstick.workflow.definition.functions import register
from lipstick.workflow.definition.module import Specification
from lipstick.workflow.definition.query import BEFORE, FrameFunction, Sql
from lipstick.workflow.definition.steps import Step, column_error, place_error, steps
from lipstick.workflow.derivation.blocks import problem
from lipstick.workflow.errors import DefinitionError, WorkflowError
from lipstick.workflow.execution.tables import column_texts, conform, plain_struct, struct_of
from rewriter.blocks import (
    Block,
    BlockSource,
    ConstantSource,
    Core,
    IterationSource,
    Kind,
    OneRowSource,
    ScanSource,
    UnionSource,
    ValuesSource,
)
from rewriter.blocks import (
    Source as CoreSource,
)
from rewriter.dialect import parse, volatile_calls
from semiring.arrays.arrow import whole
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The result of a query: its rows and, if tracked, its capture and their positions in it."""

    table: pa.Table
    engine: Engine | None = None
    positions: Array | None = None


def captured_answer(engine: Engine, table: pa.Table) -> QueryAnswer:
    """Return the answer of a capture in memory, with its rows as a table."""
    return QueryAnswer(table, engine, engine.base(engine.root.name).repeated)


def rows_by_spark(capture: Capture, state: State) -> pa.Table:
    """Return the answer's rows in the order of its positions, with expressions computed by
    Spark.
    """
    root, positions = capture.manifest.root, state.repeated
    rows = arrow_rows(capture.cluster.present())
    keys = KeyTable([whole(rows.column(name)) for name in root.identity], rows.num_rows)
    wanted = [state.take(name, positions) for name in root.identity]
    places = pa.array(keys.find(wanted, len(positions)))
    columns = [whole(rows.column(output.name)).take(places) for output in root.outputs]
    return pa.Table.from_arrays(columns, names=list(capture.manifest.names))


def is_empty(block: Block, empty: Collection[str]) -> bool:
    """Return True if a block certainly has no tuples.

    Parameters
    ----------
    empty
        The relations without tuples, in lower case.

    An aggregate without GROUP BY always has one.
    """
    if block.kind is Kind.UNION:
        return all(is_empty(branch, empty) for branch in block.branches)
    if block.kind is Kind.GROUP and not block.keys:
        return False
    if block.core is not None and _core_empty(block.core, empty):
        return True
    joined = (match.block for match in block.joined)
    required = (semi.block for semi in block.memberships if not semi.negated and semi.guard is None)
    return any(is_empty(inner, empty) for inner in (*joined, *required))


def _core_empty(core: Core, empty: Collection[str]) -> bool:
    if any(_source_empty(source, empty) for source in core.sources):
        return True
    return any(
        is_empty(semi.block, empty)
        for semi in core.semis
        if not semi.negated and semi.guard is None
    )


def _source_empty(source: CoreSource, empty: Collection[str]) -> bool:
    if isinstance(source, ScanSource):
        return source.relation.lower() in empty
    if isinstance(source, BlockSource):
        return is_empty(source.block, empty)
    if isinstance(source, UnionSource):
        return all(_core_empty(branch, empty) for branch in source.branches)
    if isinstance(source, ValuesSource):
        return _core_empty(source.core, empty)
    assert isinstance(source, ConstantSource | IterationSource | OneRowSource)
    return False


class StepQueries:
    """The queries of one specification, over the relations that a session shows.

    Parameters
    ----------
    spark
        Relations have the names of its views.
    """

    def __init__(self, spark: SparkSession, specification: Specification) -> None:
        self._spark = spark
        self._specification = specification

    def named(self, step: Step, relations: Iterable[str]) -> set[str]:
        """Return the relations that a step can read: their names occur in its text."""
        if isinstance(step.query, FrameFunction):
            return {name.lower() for name in step.query.reads(step.what)}
        text = f"{step.name} {step.query.text}" if step.role == "delete" else step.query.text
        return {name for name in map(str.lower, relations) if name in text.lower()}

    def deletion(self, step: Step) -> DataFrame:
        """Return the keys, or rows, that a step deletes."""
        if not isinstance(step.query, Sql) or step.query.selects:
            return self.frame(step)
        relation = self._specification.state[step.name]
        columns = [F.col(f"`{name}`") for name in relation.key or relation.names]
        try:
            deleted = self._spark.table(f"`{step.name}`").where(step.query.sql).select(*columns)
            deleted.schema  # noqa: B018 - Connect analyses here
            return deleted
        except PySparkException as error:
            raise DefinitionError(
                f"{self._specification.name}: {step.what} is not a predicate over it: "
                f"{step.query.text.strip()}\n{first_line(error)}"
            ) from error

    def text(self, step: Step, tracked: Mapping[str, Tracked]) -> str:
        """Return the query of a step as SQL."""
        if isinstance(step.query, Sql):
            return step.query.sql
        assert isinstance(step.query, FrameFunction)
        names = step.query.reads(f"{self._specification.name}: {step.what}")
        read = [tracked[name.lower()] for name in names]
        return query_text(self._spark, self.frame(step), read)

    def frame(self, step: Step) -> DataFrame:
        """Return the query of a step as a data frame, over the bound relations."""
        if isinstance(step.query, Sql):
            return self._spark.sql(step.query.sql)
        assert isinstance(step.query, FrameFunction)
        owner = f"{self._specification.name}: {step.what}"
        frame = step.query.frame(owner, lambda name: self._spark.table(f"`{name}`"))
        try:
            return plain_frame(frame)
        except LipstickError as error:
            raise DefinitionError(
                f"{owner}: {step.query.reference} gives no data frame: {error}"
            ) from error


_FEW = 100_000
_ROW_INDEX = "_metadata.row_index"
_FOR_FEW = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
}
"""Settings that speed up small queries only."""


class Bench(Session):
    """One specification's queries, analysed and checked, over relations to be bound.

    Parameters
    ----------
    spark
        A Spark session that nobody else uses: relations have the names of its views.
    folder
        The folder of temporary files.
    tracked
        True if queries are captured.

    Raises
    ------
    DefinitionError
        When a query's columns differ from the declared ones.
    rewriter.errors.QueryError, pyspark.errors.AnalysisException
        For SQL that is not understood.
    """

    def __init__(
        self, spark: SparkSession, specification: Specification, folder: Path, *, tracked: bool
    ) -> None:
        super().__init__(spark, folder)
        self.specification = specification
        self.provenance = tracked
        self.schemas: dict[str, StructType] = {}
        self._frames: dict[Step, AnnotatedFrame] = {}
        self._volatile: set[Step] = set()
        self._read: set[str] = set()
        self._empty: set[str] = set()
        self._tables: dict[str, pa.Table] = {}
        self._hidden: dict[str, str] = {}
        self._few = False
        self._alike = computes_alike(spark)
        self._settings = {key: spark.conf.get(key, None) for key in _FOR_FEW}
        self._queries = StepQueries(spark, specification)
        register(spark, specification.name, specification.functions)
        self._prepare()

    # -- understanding ---------------------------------------------------------------------

    def _prepare(self) -> None:
        specification = self.specification
        for schema in (specification.inputs, specification.state):
            for name, relation in schema.items():
                keys = (relation.key,) if relation.key else ()
                self._declare(name, struct_of(relation), keys)
        before = False
        for step in steps(specification):
            if step.part == "query_output" and not before:
                before = True
                for name in specification.state:
                    self._declare(f"{BEFORE}{name}", self.schemas[name])
            columns = self._understand(step)
            self._check(step, columns)
            if step.role == "relation":
                self._declare(step.name, columns, self._keys(step))

    def _keys(self, step: Step) -> tuple[tuple[str, ...], ...]:
        """Return the columns by which a query groups, if all are shown: they are unique in its
        answer.
        """
        frame = self._frames.get(step)
        places = None if frame is None else frame.plan.root.key_outputs
        if frame is None or places is None:
            return ()
        return (tuple(frame.schema.names[index] for index in places),)

    def _declare(
        self, name: str, schema: StructType, unique: tuple[tuple[str, ...], ...] = ()
    ) -> None:
        """Track a relation by its columns and unique keys alone."""
        names = [column.lower() for column in schema.names]
        twice = next((column for column in schema.names if names.count(column.lower()) > 1), None)
        if twice is not None:
            raise DefinitionError(
                f"{self.specification.name}: {name} has two columns called {twice}.\n"
                "Give them different names (AS)."
            )
        self.schemas[name] = schema
        frame = self.spark.createDataFrame([], schema)
        self._views.put(frame, name)
        if not self.provenance:
            return
        view = self._numbered(name)
        self._views.put(frame.select("*", F.lit(None).cast("bigint").alias(ROW_COLUMN)), view)
        source = Source(frame, f"relation {name}", "parquet", ())
        self._tracked[name.lower()] = Tracked(
            name, source, view, Naming.ROWS, (ROW_COLUMN,), schema, True, unique=unique
        )

    def _show(self, name: str, frame: DataFrame, rows: DataFrame) -> None:
        """Make a relation readable; `rows` is the frame with the numbers of its rows."""
        if not self.provenance or self._deletes or self._volatile:
            self._views.put(frame, name)
        if self.provenance:
            self._views.put(rows, self._numbered(name))

    def _numbered(self, name: str) -> str:
        return f"_lipstick_{self._id}_{name}"

    def _understand(self, step: Step) -> StructType:
        """Return the columns that a step returns."""
        if step.role == "delete" or not self.provenance:
            self._read |= self._queries.named(step, self.schemas)
        if step.role == "delete":
            return self._queries.deletion(step).schema
        if not self.provenance:
            return plain_struct(self._queries.frame(step).schema)
        frame = self.sql(self._queries.text(step, self._tracked))
        refusal = problem(frame.plan.root)
        if refusal is not None:
            raise place_error(self.specification, step, refusal)
        self._frames[step] = frame
        if volatile_calls(parse(frame.query)):
            self._volatile.add(step)
        self._read |= {name.lower() for name in frame.plan.relations}
        return plain_struct(frame.schema)

    def _check(self, step: Step, columns: StructType) -> None:
        """Check the columns of a step against the declared ones."""
        specification = self.specification
        if step.role == "relation":
            if step.part == "query_state" or step.name not in specification.outputs:
                return
            declared = struct_of(specification.outputs[step.name])
        else:
            declared = self.schemas[step.name]
            key = specification.state[step.name].key
            if step.role == "delete" and key:
                declared = StructType([declared[name] for name in key])
        expected, given = column_texts(declared), column_texts(columns)
        if expected != given:
            raise column_error(specification, step, expected, given)

    def expect(self, rows: int) -> None:
        """Prepare for a number of rows to read: with few, planning takes longer than running."""
        few = rows <= _FEW
        if few is self._few:
            return
        self._few = few
        for key, value in (_FOR_FEW if few else self._settings).items():
            if value is None:
                self.spark.conf.unset(key)
            else:
                self.spark.conf.set(key, value)

    # -- running ---------------------------------------------------------------------------

    def bind(self, name: str, table: pa.Table) -> None:
        """Bind a relation to its rows, unless no query reads it."""
        if name.lower() not in self._read:
            return
        (self._empty.discard if table.num_rows else self._empty.add)(name.lower())
        schema = self.schemas[name]
        table = conform(table, arrow_of(schema))
        held = self._few and in_arrow(schema)
        if held and self.provenance:
            numbers = pa.array(np.arange(table.num_rows))
            self._tables[self._numbered(name)] = table.append_column(ROW_COLUMN, numbers)
            self._hidden[name.lower()] = name
        elif held:
            self._views.put(frame_of_arrow(self.spark, table, schema), name)
        else:
            self._tables.pop(self._numbered(name), None)
            path = self.store / f"{name}-{uuid.uuid4().hex[:8]}.parquet"
            pq.write_table(table, path)
            frame = self.spark.read.schema(schema).parquet(str(path))
            self._show(name, frame, frame.select("*", F.col(_ROW_INDEX).alias(ROW_COLUMN)))

    def _reveal(self, names: Iterable[str] | None = None) -> None:
        """Make relations in this process readable for Spark: these, or all."""
        for lower in [*self._hidden] if names is None else map(str.lower, names):
            name = self._hidden.pop(lower, None)
            if name is not None:
                numbered = StructType([*self.schemas[name], StructField(ROW_COLUMN, LongType())])
                rows = frame_of_arrow(self.spark, self._tables[self._numbered(name)], numbered)
                self._show(name, rows.drop(ROW_COLUMN), rows)

    @property
    def _deletes(self) -> bool:
        """True if some queries run unchanged."""
        return bool(self.specification.query_state.delete)

    def define(self, step: Step) -> None:
        """Define a relation as a view of its query, without provenance."""
        self._views.put(self._queries.frame(step), step.name)

    def answer(self, step: Step) -> QueryAnswer:
        """Run a step over the bound relations.

        Raises
        ------
        WorkflowError
            When Spark fails.
        """
        try:
            if step.role == "delete" or step in self._volatile:
                # Queries that run as written, or that are parsed again, read the names themselves.
                self._reveal()
            if step.role == "delete":
                return QueryAnswer(arrow_rows(self._queries.deletion(step)))
            if not self.provenance:
                return QueryAnswer(arrow_rows(self._queries.frame(step)))
            if step in self._volatile:
                self._frames[step] = self.sql(self._frames[step].query)
            return self._captured(self._frames[step])
        except PySparkException as error:
            text = step.query.text.strip()
            raise WorkflowError(
                f"{self.specification.name}: {step.what} failed.\n{text}\n{failed(error)}"
            ) from error

    def _captured(self, frame: AnnotatedFrame) -> QueryAnswer:
        if is_empty(frame.plan.root, self._empty):
            return QueryAnswer(arrow_of(plain_struct(frame.schema)).empty_table())
        manifest = frame._manifest("copy")
        reveal = partial(self._reveal, frame.plan.relations)
        if self._few and self._alike:
            # Answers that are too large, or of unsupported types, are written to files.
            with suppress(TooLargeError, CaptureError):
                engine = collect(self.spark, manifest, self._tables, reveal, _FEW)
                return captured_answer(engine, engine.table(engine.base(engine.root.name)))
        reveal()
        directory = self.store / f"capture-{uuid.uuid4().hex[:8]}"
        engine = Engine(StoredDatasets(directory), write_capture(self.spark, manifest, directory))
        try:
            table = engine.table(engine.base(engine.root.name))
        except CaptureError:  # some expression is Spark's to compute
            capture = Capture(directory, engine.manifest, self.spark)
            table = rows_by_spark(capture, engine.base(engine.root.name))
        return captured_answer(engine, table)

    def clear(self) -> None:
        """Remove the files of an invocation; its relations must be bound again."""
        self._tables.clear()
        self._hidden.clear()
        for path in self.store.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

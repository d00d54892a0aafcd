"""Declarative pipelines that ran, and the sources of their tables' rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lipstick import display
from lipstick.dataframes.jvm import Plan, analysed, frame_of
from lipstick.dataframes.leaves import row_leaves, table_parts
from lipstick.engines.spark.local_session import unlogged_errors
from lipstick.errors import LipstickError, first_line
from lipstick.frame import AnnotatedFrame
from lipstick.questions.deletion import resolve_deletion
from lipstick.systems.declarative.batches import as_batch
from lipstick.systems.declarative.definitions import (
    MATERIALIZED_VIEW,
    SINK,
    STREAMING_TABLE,
    TEMPORARY_VIEW,
    Definitions,
    FlowDefinition,
    OutputDefinition,
)
from lipstick.tracking.names import known_as
from lipstick.tracking.views import quoted_name
from lipstick.written_tables import LeafRelation, TableWrite, WrittenTables
from rewriter.dialect import name_parts
from semiring.support.door import checked

_HARMLESS = ("spark.sql.shuffle.partitions", "spark.sql.adaptive.")
"""Name prefixes of settings that change no row."""
_UNKNOWN = "the pipeline does not write it"

TableName = tuple[str, ...]
"""The catalog, schema and name of a table, in lower case."""


@dataclass(frozen=True, slots=True)
class PipelineFlow:
    """A flow of a pipeline, with the plan of the rows that it writes.

    Attributes
    ----------
    plan
        Its plan over current tables and files, without streams; None if there is none.
    refusal
        The reason why it cannot be followed; None if it can, provided the table has its rows.
    """

    number: int
    name: str
    target: str
    place: str
    columns: tuple[str, ...] = ()
    plan: Plan | None = None
    refusal: str | None = None

    @property
    def title(self) -> str:
        """The words for its query in reasons."""
        return f"the flow {self.name} ({self.place})"


@dataclass(frozen=True, slots=True)
class PipelineDataset:
    """A table, view or sink of a pipeline.

    Attributes
    ----------
    table
        Its full name, as a table has one.
    kind
        ``materialized view``, ``streaming table``, ``temporary view`` or ``sink``.
    place
        The file of its definition, from the project's folder, and the line.
    flows
        The flows that write to it.
    """

    table: TableName
    kind: str
    place: str
    flows: tuple[PipelineFlow, ...]

    @property
    def name(self) -> str:
        """The full name, with dots."""
        return ".".join(self.table)

    @property
    def refusal(self) -> str | None:
        """The reason why its rows cannot be followed to its inputs, or None."""
        if self.kind == SINK:
            return "it is a sink, outside of the catalog"
        if not self.flows:
            return "no flow writes to it"
        return next((flow.refusal for flow in self.flows if flow.refusal is not None), None)


@dataclass(frozen=True, slots=True)
class DatasetReport:
    """The sources of a dataset's rows.

    Attributes
    ----------
    sources
        The names of the sources that its rows are annotated with; none if it cannot be read.
    reason
        The reason why its rows act as a source, or cannot be read; None if they are followed.
    """

    dataset: PipelineDataset
    sources: tuple[str, ...]
    reason: str | None


@dataclass(frozen=True, slots=True)
class DatasetImpact:
    """The change of a dataset without some rows of a source.

    Attributes
    ----------
    changes
        The rows that differ: ``_change``, ``old`` and ``new``. None if unknown.
    reason
        The reason why further rows may differ; None if none do.
    """

    dataset: PipelineDataset
    changes: pa.Table | None
    reason: str | None


@checked
class DeclarativePipeline(WrittenTables):
    """A project of Spark's declarative pipelines, over the tables that its last run left.

    The Python files of the project are imported, as a run imports them.

    Parameters
    ----------
    path
        The specification, or the folder that has ``spark-pipeline.yml``.
    spark
        A classic session with the catalog that the pipeline writes to.
    store
        The folder of captures and copies; None: a temporary directory, removed on close.

    Raises
    ------
    LipstickError
        The project cannot be read.
    """

    _closed_message = (
        "The pipeline was closed, and what it kept is gone.\n"
        "Open it again: DeclarativePipeline(path, spark)."
    )

    def __init__(
        self,
        path: str | os.PathLike[str],
        spark: SparkSession,
        store: str | os.PathLike[str] | None = None,
    ) -> None:
        if not hasattr(spark, "_jsparkSession"):
            raise LipstickError(
                "A pipeline is read in a classic session, and this one is of Spark Connect.\n"
                "Give a session that was made without a remote server."
            )
        super().__init__(spark, store)
        self._tables: dict[str, TableName | None] = {}
        try:
            self._definitions = Definitions(path, self.session.spark)
            self._apply(self._definitions.specification)
            self._definitions.read()
            self.datasets = self._read_datasets()
            self._by_table = {dataset.table: dataset for dataset in self.datasets}
        except BaseException:
            self.close()
            raise

    # -- questions ---------------------------------------------------------------------------

    def dataset(self, name: str) -> PipelineDataset:
        """Return the dataset with a name, with or without its catalog and schema.

        Raises
        ------
        LipstickError
            There is none.
        """
        dataset = self._by_table.get(self._full_name(name_parts(name)))
        if dataset is None:
            known = ", ".join(each.name for each in self.datasets) or "none"
            raise LipstickError(f"The pipeline has no dataset {name!r}.\nIt has: {known}.")
        return dataset

    def query(self, name: str, where: str | None = None) -> AnnotatedFrame:
        """Annotate the rows of a dataset with rows of sources, which no flow writes.

        Parameters
        ----------
        where
            A condition on its columns. It goes down to the sources, so that few rows are captured.

        Raises
        ------
        LipstickError
            There is no such dataset, or none that has rows: it was not built, or is a sink.
        QueryError
            When a temporary view has an operator without a rule. Tables whose flows have one are
            sources.
        """
        dataset = self.dataset(name)
        self._check_open()
        if dataset.kind == SINK:
            raise LipstickError(f"{dataset.name} is a sink: its rows are not in the catalog.")
        if dataset.kind == TEMPORARY_VIEW and dataset.refusal is not None:
            raise LipstickError(f"{dataset.name} cannot be read: {dataset.refusal}")
        with _refused(f"{dataset.name} cannot be read"):
            if dataset.kind == TEMPORARY_VIEW:
                frame = frame_of(self.session.spark, dataset.flows[0].plan)
            else:
                frame = self.session.spark.table(quoted_name(dataset.table))
            frame = frame if where is None else frame.where(where)
        return self._annotated(frame, 1 + sum(len(d.flows) for d in self.datasets))

    def check(self) -> list[DatasetReport]:
        """Annotate every dataset, and return the sources of their annotations.

        Every dataset that reads a dataset is annotated with it.
        """
        with display.progress(after=2.0) as line:
            queried: dict[TableName, DatasetReport] = {}
            met = self._met()
            for number, dataset in enumerate(reversed(self.datasets), start=1):
                line(f"following {dataset.name}, {number} of {len(self.datasets)}")
                if dataset.table not in met:
                    queried[dataset.table] = self._report(dataset)
                    met = self._met()
            reports = []
            for dataset in self.datasets:
                if (relation := met.get(dataset.table)) is None:
                    reports.append(queried[dataset.table])
                else:
                    sources = tuple(sorted(relation.sources))
                    reports.append(DatasetReport(dataset, sources, relation.reason))
            return reports

    def _report(self, dataset: PipelineDataset) -> DatasetReport:
        try:
            with unlogged_errors():
                frame = self.query(dataset.name)
        except (LipstickError, PySparkException) as error:
            return DatasetReport(dataset, (), dataset.refusal or first_line(error))
        return DatasetReport(dataset, tuple(sorted(frame.plan.relations)), None)

    def impact(self, source: str, where: str) -> list[DatasetImpact]:
        """Return materialized views and streaming tables without some rows of a source.

        Parameters
        ----------
        source
            A name in :attr:`sources` after `check`.
        where
            A condition on its columns.

        Raises
        ------
        LipstickError
            No dataset is annotated with rows of such a source, or no row satisfies the condition.
        TrackingError
            Spark refuses the condition.
        """
        with display.progress(after=2.0) as line:
            return self._impact(source, where, line)

    def _impact(self, source: str, where: str, line: Any) -> list[DatasetImpact]:
        reports = self.check()
        if source not in self.sources:
            known = ", ".join(sorted(self.sources)) or "none"
            raise LipstickError(f"The pipeline reads no source {source!r}.\nIts sources: {known}.")
        tracked, spark = self.session.tracked[source], self.session.spark
        deletion = resolve_deletion(spark, {source: tracked.record}, {source: where})
        if not deletion.tokens[source].num_rows:
            raise LipstickError(f"No row of {source} satisfies {where}.")
        ends = self._ends()
        found = []
        for each in reports:
            if each.dataset.kind not in (MATERIALIZED_VIEW, STREAMING_TABLE):
                continue
            as_is = [end for end in each.sources if end in ends and end != source]
            unknown = each.reason or (
                f"it reads {', '.join(as_is)} as it stands" if as_is else None
            )
            changes = None
            if source in each.sources:
                line(f"asking {each.dataset.name}")
                capture = self.query(each.dataset.name).capture
                changes, _, _ = capture.cluster.changes_without(deletion)
            if changes is not None or unknown is not None:
                found.append(DatasetImpact(each.dataset, changes, unknown))
        return found

    def __repr__(self) -> str:
        return f"<pipeline {self._definitions.specification.name}, {len(self.datasets)} datasets>"

    # -- the session that definitions are evaluated in -----------------------------------------

    def _prepare_copy(self, copy: Any) -> None:
        """Leave the copy unchanged: its settings and names come from the specification later."""

    def _apply(self, specification: Any) -> None:
        """Give the session the settings, catalog and schema of the specification."""
        spark = self.session.spark
        for key, value in specification.configuration.items():
            with (
                suppress(PySparkException),
                unlogged_errors(),
            ):  # static ones are the session's, as in a run
                spark.conf.set(key, value)
        with _refused(f"{self._definitions.path}: its catalog or schema cannot be used"):
            if specification.catalog is not None:
                spark.catalog.setCurrentCatalog(specification.catalog)
            if specification.database is not None:
                spark.catalog.setCurrentDatabase(specification.database)

    def _full_name(self, parts: Sequence[str], namespace: Sequence[str] = ()) -> TableName:
        catalog = self.session.spark.catalog
        here = [catalog.currentCatalog(), catalog.currentDatabase()]
        here[: len(namespace)] = namespace
        return known_as((*here[: max(0, 3 - len(parts))], *parts))

    def _ends(self) -> dict[str, TableName]:
        """Return the datasets that act as sources, by their names as sources."""
        return {r.tracked.name: table for table, r in self._met().items() if r.reason}

    def _met(self) -> dict[TableName, LeafRelation]:
        """Return the relations of the datasets that queries have read, by table."""
        relations = self._current.relations
        for each in relations:
            if each.tracked.name not in self._tables:
                self._tables[each.tracked.name] = self._table_of(each.leaf)
        met = ((self._tables[each.tracked.name], each) for each in relations)
        return {table: each for table, each in met if table is not None and table in self._by_table}

    def _table_of(self, leaf: Plan) -> TableName | None:
        parts = table_parts(leaf)
        return None if parts is None else self._full_name(parts)

    # -- datasets ----------------------------------------------------------------------------

    def _read_datasets(self) -> tuple[PipelineDataset, ...]:
        """Evaluate the flows, and return the datasets in an order in which they can be built."""
        outputs = {
            self._full_name(name_parts(output.name), output.namespace): output
            for output in self._definitions.outputs
        }
        evaluated = self._evaluated(outputs)
        reads = {
            name: {read for each in evaluated[name] for read in each.reads} for name in outputs
        }
        depth = _depths(reads)
        order = sorted(outputs, key=lambda n: (depth[n], outputs[n].kind != TEMPORARY_VIEW))
        numbers = count(1)
        datasets = []
        for name in order:
            flows = tuple(replace(each.flow, number=next(numbers)) for each in evaluated[name])
            datasets.append(PipelineDataset(name, outputs[name].kind, outputs[name].place, flows))
        return tuple(datasets)

    def _evaluated(
        self, outputs: Mapping[TableName, OutputDefinition]
    ) -> dict[TableName, list[_Evaluated]]:
        """Evaluate the flows of outputs, and create the temporary views that others read."""
        found: dict[int, _Evaluated] = {}
        flows = self._definitions.flows
        targets = [self._full_name(name_parts(flow.target), flow.namespace) for flow in flows]
        waiting = dict(enumerate(flows))
        with self._definitions.evaluating():
            while waiting:
                before = len(waiting)
                for number, flow in list(waiting.items()):
                    found[number] = self._evaluate(flow)
                    if found[number].flow.refusal is None:
                        del waiting[number]
                        output = outputs.get(targets[number])
                        if output is not None and output.kind == TEMPORARY_VIEW:
                            rows = frame_of(self.session.spark, found[number].defined)
                            rows.createOrReplaceTempView(name_parts(flow.target)[-1])
                if len(waiting) == before:
                    break
        by_target: dict[TableName, list[_Evaluated]] = {name: [] for name in outputs}
        for number, target in enumerate(targets):
            if target in by_target:
                by_target[target].append(found[number])
        return by_target

    def _evaluate(self, flow: FlowDefinition) -> _Evaluated:
        spark = self.session.spark
        unknown = PipelineFlow(0, flow.name, flow.target, flow.place)
        if flow.merges and sum(each.target == flow.target for each in self._definitions.flows) > 1:
            reason = "several flows write to it, and one merges changes"
            return _Evaluated(replace(unknown, refusal=reason))
        own = [key for key, value in flow.settings.items() if not _is_set(spark, key, value)]
        if own:
            reason = f"the flow has settings of its own: {', '.join(sorted(own))}"
            return _Evaluated(replace(unknown, refusal=reason))
        try:
            with _namespace(spark, flow.namespace):
                frame = flow.frame()
                defined = analysed(frame)
                plan = as_batch(spark, frame)
                leaves = row_leaves(analysed(frame_of(spark, plan)))
                reads = {self._table_of(leaf) for leaf in leaves}
        except Exception as error:  # the project's own code runs
            reason = f"{type(error).__name__}: {first_line(error)}"
            return _Evaluated(replace(unknown, refusal=reason))
        tables = frozenset(table for table in reads if table is not None)
        columns = tuple(frame.columns)
        return _Evaluated(replace(unknown, columns=columns, plan=plan), defined, tables)

    # -- the way back ------------------------------------------------------------------------

    def _writes_of(self, leaf: Plan, before: int) -> Sequence[TableWrite] | str:
        table = self._table_of(leaf)
        dataset = None if table is None else self._by_table.get(table)
        if dataset is None or dataset.kind == SINK or not dataset.flows:
            return _UNKNOWN
        if dataset.refusal is not None:
            return dataset.refusal
        flows = dataset.flows
        return flows if flows[-1].number < before else "it is read before it is written"

    def _is_complete(self, write: TableWrite, writes: Sequence[TableWrite]) -> bool:
        return write is writes[-1]


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """An evaluated flow: its plan as defined, and the tables that it reads."""

    flow: PipelineFlow
    defined: Plan | None = None
    reads: frozenset[TableName] = frozenset()


def _depths(reads: Mapping[TableName, set[TableName]]) -> dict[TableName, int]:
    """Return the number of datasets between each dataset and the pipeline's sources."""
    depth = dict.fromkeys(reads, 0)
    for _ in reads:
        deeper = {
            name: max([0, *(1 + depth[read] for read in of if read in depth and read != name)])
            for name, of in reads.items()
        }
        if deeper == depth:
            return depth
        depth = deeper
    return depth


def _is_set(spark: SparkSession, key: str, value: str) -> bool:
    return key.startswith(_HARMLESS) or spark.conf.get(key, None) == value


@contextmanager
def _namespace(spark: SparkSession, namespace: Sequence[str]) -> Iterator[None]:
    """Make a catalog and schema current."""
    before = spark.catalog.currentCatalog(), spark.catalog.currentDatabase()
    try:
        if namespace:
            spark.catalog.setCurrentCatalog(namespace[0])
        if len(namespace) > 1:
            spark.catalog.setCurrentDatabase(namespace[1])
        yield
    finally:
        if namespace:
            spark.catalog.setCurrentCatalog(before[0])
            spark.catalog.setCurrentDatabase(before[1])


@contextmanager
def _refused(problem: str) -> Iterator[None]:
    try:
        with unlogged_errors():
            yield
    except (PySparkException, LipstickError) as error:
        raise LipstickError(f"{problem}: {first_line(error)}") from error

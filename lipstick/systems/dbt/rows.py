"""The rows of models, each computed over the rows of the models that it reads.

One query of a model over seeds and sources has the text of every model below it, which Spark reads
as often as models read it. Here the query of a model is its own text over files of rows. Rows that
stay without some tuples keep their numbers, by which the rows of the next model are the same.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql.types import LongType, StructType

from lipstick.capture.files import arrow_of, in_arrow, write_table
from lipstick.capture.local_rows import as_spark_has, computes_alike
from lipstick.dataframes.arrow import arrow_rows
from lipstick.engines.memory.what_if import with_kinds
from lipstick.engines.route import answer, left_to_spark
from lipstick.engines.spark.local_session import unlogged_errors
from lipstick.errors import LipstickError, NeedsSparkError, first_line
from lipstick.frame import AnnotatedFrame
from lipstick.questions.deletion import Deletion, without
from lipstick.questions.diff.answers import net_changes, pair_rows
from lipstick.stages.reading import own_sql
from lipstick.systems.dbt.manifest import DbtNode
from lipstick.systems.dbt.project import Refusal
from lipstick.systems.dbt.schemas import NodeSchemas
from lipstick.tables.comparison import identifies_rows
from lipstick.tables.hypothesis import rerun_problem
from lipstick.tracking.tracker import ROW_COLUMN
from rewriter.blocks import topological
from rewriter.emit.statements import plain_sql

if TYPE_CHECKING:
    from lipstick.systems.dbt.questions import TrackedProject

MOST = 1_000_000
"""The number of rows of a model that are read into this process, at most."""

_IDENTITY = "_lipstick_identity_"


@dataclass(frozen=True, slots=True)
class ModelRows:
    """The rows of a model or test: in a file, and as a view of Spark.

    Attributes
    ----------
    ties
        The titles of models whose rows depend on the order of tied rows: it, or models below it.
    """

    path: Path
    view: str
    count: int
    ties: frozenset[str]

    def table(self) -> pa.Table:
        """Return the columns, the number of each row, and its identity."""
        return pq.read_table(self.path, partitioning=None)


@dataclass(frozen=True, slots=True)
class RowChanges:
    """The rows that differ, as `WhatIf.changes` has them, and the rows before and after."""

    changes: pa.Table
    before: int
    after: int
    ties: frozenset[str]


@dataclass
class RowsLeft:
    """The tables of a project without some rows; a table that has no entry is unchanged."""

    views: dict[str, str] = field(default_factory=dict)
    deleted: Mapping[str, pa.Table] = field(default_factory=dict)
    rows: dict[str, ModelRows] = field(default_factory=dict)
    refused: dict[str, Refusal] = field(default_factory=dict)


class ProjectRows:
    """The rows of a project's models, which are computed when they are first asked for."""

    def __init__(self, tracked: TrackedProject) -> None:
        self._project, self._session = tracked.project, tracked.session
        self.schemas = NodeSchemas(tracked)
        self._folder = self._session.store / f"dbt-{uuid.uuid4().hex[:8]}"
        self._known: dict[str, ModelRows | Refusal | NeedsSparkError] = {}

    @contextmanager
    def without(self, base: DbtNode, deletion: Deletion) -> Iterator[RowsLeft]:
        """Yield the project without some rows of a seed or source, to be asked in build order."""
        name, spark = self._project.names[base.id], self._session.spark
        ((gone, columns),) = deletion.views(spark).values()
        reduced = without(spark, self._session.tracked[name].view, gone, columns)
        left = RowsLeft({name: reduced}, deletion.tokens)
        try:
            with self.schemas:
                yield left
        finally:
            for view in (gone, reduced, *(each.view for each in left.rows.values())):
                spark.catalog.dropTempView(view)
            for each in left.rows.values():
                shutil.rmtree(each.path, ignore_errors=True)

    def changes(self, node: DbtNode, left: RowsLeft) -> RowChanges | Refusal:
        """Return the changed rows of a model or test. Nodes are asked in build order.

        Raises
        ------
        NeedsSparkError
            A node has many rows or other rows in each run, or reads such a node.
        """
        old = self._present(node)
        if isinstance(old, Refusal):
            return old
        none = pa.table({"_change": pa.array([], pa.string())})
        same = RowChanges(none, old.count, old.count, old.ties)
        for each in self._project.read_by(node):
            if each.id in left.refused:
                left.refused[node.id] = left.refused[each.id].of_reader(each)
                return left.refused[node.id]
        frame = self._frame(node)
        if not left.views.keys() & frame.plan.relations.keys():
            return same
        try:
            with unlogged_errors():
                found = self._computed(node, left)
        except (LipstickError, PySparkException) as error:
            if isinstance(error, NeedsSparkError):
                raise
            left.refused[node.id] = Refusal(first_line(error), node.file)
            return left.refused[node.id]
        table, ties = found
        before = old.table()
        changes, numbers = _changes(frame, before, table)
        if not changes.num_rows:
            return RowChanges(changes, old.count, old.count, old.ties | ties)
        rows = self._stored(frame, table, numbers, ties)
        left.rows[node.id] = rows
        if node.id in self._project.names:
            left.views[self._project.names[node.id]] = rows.view
        return RowChanges(changes, old.count, rows.count, old.ties | ties)

    def _present(self, node: DbtNode) -> ModelRows | Refusal:
        """Return the rows of a node as the project stands."""
        if node.id not in self._known:
            self._known[node.id] = self._first(node)
        known = self._known[node.id]
        if isinstance(known, NeedsSparkError):
            raise known
        return known

    def _first(self, node: DbtNode) -> ModelRows | Refusal | NeedsSparkError:
        frame = self.schemas.annotated(node)
        if isinstance(frame, Refusal):
            return frame
        try:
            for each in self._read_by(frame):
                rows = self._present(each)
                if isinstance(rows, Refusal):
                    return rows.of_reader(each)
            with unlogged_errors():
                table, ties = self._computed(node, RowsLeft())
            return self._stored(frame, table, np.arange(table.num_rows), ties)
        except (LipstickError, PySparkException) as error:
            problem = Refusal(first_line(error), node.file)
            return error if isinstance(error, NeedsSparkError) else problem

    def _frame(self, node: DbtNode) -> AnnotatedFrame:
        frame = self.schemas.annotated(node)
        assert isinstance(frame, AnnotatedFrame)
        return frame

    def _read_by(self, frame: AnnotatedFrame) -> Iterator[DbtNode]:
        """Yield the models and snapshots that the query of a frame reads."""
        for name in frame.plan.relations:
            node = self._project.by_name.get(name)
            if node is not None and node.kind not in ("seed", "source"):
                yield node

    def _computed(self, node: DbtNode, left: RowsLeft) -> tuple[pa.Table, frozenset[str]]:
        """Return the rows of a node over the rows that it reads, and the models with ties."""
        frame = self._frame(node)
        root, relations = frame.plan.root, frame.plan.relations
        if rerun_problem(root) is not None or not in_arrow(frame.schema):
            raise NeedsSparkError(f"The rows of {node.title} are not computed twice.")
        read: dict[str, ModelRows] = {}
        for each in self._read_by(frame):
            rows = left.rows.get(each.id) or self._present(each)
            assert isinstance(rows, ModelRows)
            read[self._project.names[each.id]] = rows
        ties = frozenset[str]().union(*(rows.ties for rows in read.values()))
        views = {**left.views, **{name: rows.view for name, rows in read.items()}}
        replaced = {relations[n].view: view for n, view in views.items() if n in relations}
        frame._check_sources()
        table = answer(
            partial(self._here, frame, read, left),
            lambda _: self._run(node, plain_sql(root, replaced, identity=True)),
            left_to_spark(),
        )
        if any(block.breaks_ties for block in topological(root)):
            other = plain_sql(root, replaced, identity=True, reversed_ties=True)
            outputs = [output.name for output in root.outputs]
            if any(block.chooses for block in topological(root)) or not _is_same(
                table.select(outputs), self._run(node, other).select(outputs)
            ):
                ties |= {node.title}
        return table, ties

    def _here(
        self, frame: AnnotatedFrame, read: Mapping[str, ModelRows], left: RowsLeft
    ) -> pa.Table:
        """Return the rows of a query without a job of Spark, over few rows."""
        from lipstick.tables.small_tables import rows_again

        spark = self._session.spark
        if not computes_alike(spark):
            raise NeedsSparkError("Spark computes otherwise.")

        def rows_of(name: str) -> pa.Table:
            if name in read:
                return read[name].table()
            base = frame.plan.relations[name]
            found = self._session.local_relations.of([base])([base.view])
            if found is None:
                raise NeedsSparkError(f"Spark reads {name}.")
            return found[base.view]

        engine, state = rows_again(spark, frame._manifest("copy"), left.deleted, rows_of)
        at = state.repeated
        outputs = [output.name for output in engine.root.outputs]
        values = pa.table({n: state.take(n, at) for n in dict.fromkeys(outputs)})
        schema = arrow_of(frame.schema)
        typed = pa.schema([f.with_name(n) for f, n in zip(schema, outputs, strict=True)])
        values = as_spark_has(values, typed)
        for name in engine.root.identity:
            if name not in outputs:
                values = values.append_column(name, state.take(name, at))
        return values

    def _run(self, node: DbtNode, sql: str) -> pa.Table:
        table = arrow_rows(own_sql(self._session.spark, sql).limit(MOST + 1))
        if table.num_rows > MOST:
            raise NeedsSparkError(f"{node.title} has many rows.")
        return table

    def _stored(
        self, frame: AnnotatedFrame, table: pa.Table, numbers: np.ndarray, ties: frozenset[str]
    ) -> ModelRows:
        """Write rows, and show them to Spark without their identity."""
        root, name = frame.plan.root, uuid.uuid4().hex[:8]
        columns = [table[output.name] for output in root.outputs] + [pa.array(numbers, pa.int64())]
        names = [*frame.schema.names, ROW_COLUMN]
        for number, each in enumerate(root.identity):
            columns.append(table[each])
            names.append(f"{_IDENTITY}{number}")
        path, view = self._folder / name, f"_lipstick_dbt_{name}"
        write_table(pa.table(columns, names=names), path)
        schema = StructType(list(frame.schema.fields)).add(ROW_COLUMN, LongType())
        spark = self._session.spark
        spark.read.schema(schema).parquet(str(path)).createOrReplaceTempView(view)
        return ModelRows(path, view, table.num_rows, ties)


def _changes(
    frame: AnnotatedFrame, before: pa.Table, after: pa.Table
) -> tuple[pa.Table, np.ndarray]:
    """Return the rows that differ, and the number of each row after.

    Rows are paired by their identity, and by their values where it is not of one row alone.
    """
    root = frame.plan.root
    names, count = frame.schema.names, len(frame.schema.names)
    old = [column.combine_chunks() for column in before.columns]
    new = [after[output.name].combine_chunks() for output in root.outputs]
    new_keys = [after[name].combine_chunks() for name in root.identity]
    keys = old[count + 1 :], new_keys
    if not identifies_rows(root):
        keys = [*keys[0], *old[:count]], [*keys[1], *new]
    pairs = pair_rows(*keys, (before.num_rows, after.num_rows))
    is_old, is_new = pairs.before >= 0, pairs.after >= 0
    sides = [
        pa.StructArray.from_arrays(
            [column.take(pa.array(at, mask=at < 0)) for column in columns],
            fields=[pa.field(n, c.type) for n, c in zip(names, columns, strict=True)],
            mask=pa.array(at < 0),
        )
        for columns, at in ((old[:count], pairs.before), (new, pairs.after))
    ]
    before_rows, after_rows = sides
    changes = with_kinds(before_rows, after_rows, is_old, is_new, is_old & is_new)
    changes = net_changes(changes.filter(pc.not_equal(changes["_change"], "unchanged")))
    numbers = -1 - np.arange(after.num_rows)
    both = pairs.both
    numbers[pairs.after[both]] = old[count].to_numpy()[pairs.before[both]]
    return changes, numbers


def _is_same(one: pa.Table, other: pa.Table) -> bool:
    """Return True if two tables have the same rows, in any order."""
    mine, theirs = ([c.combine_chunks() for c in each.columns] for each in (one, other))
    pairs = pair_rows(mine, theirs, (one.num_rows, other.num_rows))
    return one.num_rows == other.num_rows and bool(pairs.both.all())

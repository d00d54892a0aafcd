"""Deletions followed through derived relations: hypothetical rows of relations that a query reads.

The capture of the query that wrote a relation gives its hypothetical rows, which are compared with
the rows that were written. If only rows disappear, they are deleted and the captured annotations of
the query answer. If values change or rows appear, the query is run over the hypothetical rows. Of
small captures all of this is done in this process (:mod:`lipstick.tables.small_tables`).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructType

from lipstick.capture.lookup import source_rows
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.dataframes.arrow import arrow_rows, frame_of_arrow
from lipstick.engines.route import answer, left_to_spark
from lipstick.errors import NeedsSparkError
from lipstick.questions.deletion import Deletion, check_readable, without
from lipstick.stages.reading import own_sql
from lipstick.tables.comparison import RowComparison, identifies_rows
from lipstick.tables.derivation import TUPLE, Derivation, Part
from lipstick.tables.derived_rows import (
    filled_of,
    naming_of,
    not_replaced,
    part_rows,
    schema_of,
    table_columns,
)
from lipstick.tracking.tracker import ROW_COLUMN
from lipstick.tracking.views import drop_once_read
from rewriter.blocks import Block, decided_once, iterates, topological
from rewriter.emit.statements import plain_sql
from rewriter.errors import UnsupportedError

if TYPE_CHECKING:
    from lipstick.engines.memory.engine import Engine
    from lipstick.engines.memory.state import State
    from lipstick.engines.protocol import AskedCapture
    from lipstick.questions.what_if import WhatIf


@dataclass(frozen=True, eq=False)
class HypotheticalRows:
    """The hypothetical rows of a written table, in this process and as a view of Spark.

    Parameters
    ----------
    schema
        Of the table, without tokens.
    table
        Its columns, then the tokens if they are none of them.
    """

    spark: SparkSession
    schema: StructType
    table: pa.Table

    @cached_property
    def view(self) -> str:
        """A view of the rows, made when it is first asked for."""
        view = f"_lipstick_hypothetical_{uuid.uuid4().hex[:8]}"
        schema = StructType(list(self.schema.fields))
        if ROW_COLUMN in self.table.column_names:
            schema.add(ROW_COLUMN, LongType())
        frame_of_arrow(self.spark, self.table, schema).createOrReplaceTempView(view)
        return view


@dataclass(frozen=True, eq=False)
class UpdatedRows:
    """The rows of a relation that are as many, and some of them with other values.

    Parameters
    ----------
    show
        Makes a view of all rows.
    update
        The tokens of the rows with other values, and the columns that differ in any.
    """

    show: Callable[[], str]
    update: pa.Table

    @cached_property
    def view(self) -> str:
        """A view of all rows, made when it is first asked for."""
        return self.show()


Fate: TypeAlias = pa.Table | str | HypotheticalRows | UpdatedRows
"""The outcome for a relation: the tokens of deleted rows, or its hypothetical rows, or a view of
these."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """The outcome for the relations that a query reads.

    Parameters
    ----------
    deletion
        The tokens deleted from them.
    replaced
        By relation, its hypothetical rows or a view of them; the deletion is still to be applied.
    """

    deletion: Deletion
    replaced: Mapping[str, str | HypotheticalRows | UpdatedRows]

    @property
    def updates(self) -> dict[str, pa.Table] | None:
        """By relation the new values of rows; None: rows are deleted or added."""
        of = self.replaced.items()
        found = {name: rows.update for name, rows in of if isinstance(rows, UpdatedRows)}
        gone = any(table.num_rows for table in self.deletion.tokens.values())
        return None if gone or len(found) < len(self.replaced) else found


class Hypothesis:
    """A deletion of tuples of relations, also of relations behind derived ones.

    Parameters
    ----------
    deletion
        The tokens to delete, by relation.
    rerun
        Run all queries over the remaining rows, in place of asking captures.
    fates
        By name in lower case, the outcome for relations that statements made.
    """

    def __init__(
        self,
        spark: SparkSession,
        deletion: Deletion,
        *,
        rerun: bool = False,
        fates: Mapping[str, Fate] | None = None,
    ) -> None:
        self._spark = spark
        self._tokens = {name.lower(): table for name, table in deletion.tokens.items()}
        self._rerun = rerun
        self._fates: dict[str, Fate | None] = {}
        self._replayed = fates or {}

    def reduced(self, capture: AskedCapture) -> Reduced:
        """Return what becomes of the relations that the query of a capture reads."""
        deleted: dict[str, pa.Table] = {}
        replaced: dict[str, str | HypotheticalRows | UpdatedRows] = {}
        for name, record in capture.manifest.relations.items():
            gone = self._tokens.get(name.lower())
            fate = self._replayed.get(name.lower())
            if fate is None and record.derived is not None:
                fate = self._fate(capture, record)
            if isinstance(fate, str | HypotheticalRows | UpdatedRows):
                replaced[name] = fate
            elif fate is not None:
                gone = fate if gone is None else pa.concat_tables([gone.cast(fate.schema), fate])
            if gone is not None:
                deleted[name] = gone
        return Reduced(Deletion(deleted), replaced)

    def rows(self, capture: AskedCapture, reduced: Reduced) -> DataFrame:
        """Return the rows of a query over what is left: its outputs and its identity."""
        gone = reduced.deletion.views(self._spark)
        if not reduced.replaced and not self._rerun:
            rows = capture.cluster.hypothetical(gone)
        else:
            check_runs_again(capture.manifest, reduced)
            rows = self._run_again(capture, reduced, gone)
        drop_once_read(rows, (view for view, _ in gone.values()))
        return rows

    def answer(self, capture: AskedCapture, reduced: Reduced) -> WhatIf[pa.Table]:
        """Return the answer over hypothetical rows of relations, computed in this process.

        Raises
        ------
        NeedsSparkError
            Where Spark is to compute it; so say the other errors of `left_to_spark`.
        """
        from lipstick.engines.memory.what_if import answers_compared

        self._check_small(capture.manifest)
        engine, again = capture.memory.engine, self._ran(capture, reduced)[0]
        answer = answers_compared(engine, again)
        types = engine.table(engine.base(engine.root.name)).schema.types
        _ = answer.changes  # computed now, while Spark can still take over
        if answer.df.schema.types != types:
            raise NeedsSparkError("Spark computes columns of other types.")
        return answer

    def _check_small(self, manifest: Manifest) -> None:
        """Leave captures to Spark that are large, or whose rows nothing identifies."""
        from lipstick.tables.small_tables import is_small

        if not (is_small(self._spark, manifest) and identifies_rows(manifest.root)):
            raise NeedsSparkError("The capture is large, or its rows are not told apart.")

    def _run_again(
        self,
        capture: AskedCapture,
        reduced: Reduced,
        gone: Mapping[str, tuple[str, tuple[str, ...]]],
    ) -> DataFrame:
        views, views_left = {}, []
        for name, record in capture.manifest.relations.items():
            rows_or_view = reduced.replaced.get(name)
            if isinstance(rows_or_view, str):
                view = rows_or_view
            elif rows_or_view is not None:
                view = rows_or_view.view
            else:
                known = capture.cluster.readable[name]
                check_readable(self._spark, known)
                source_rows(self._spark, known)
                view = known.view
            if name in gone:
                view = without(self._spark, view, *gone[name])
                views_left.append(view)
            views[record.view] = view
        changed = {own for own, view in views.items() if own != view}
        known_rows = {} if self._rerun else capture.cluster.unchanged_rows(changed)
        root = capture.manifest.root
        rows = own_sql(self._spark, plain_sql(root, views, identity=True, rows=known_rows))
        drop_once_read(rows, views_left)
        return rows

    def _fate(self, capture: AskedCapture, record: RelationRecord) -> Fate | None:
        """Return what becomes of a derived relation by deletions above it; None: nothing."""
        assert record.derived is not None
        if record.derived not in self._fates:
            self._fates[record.derived] = self._follow(capture, record)
        return self._fates[record.derived]

    def _follow(self, capture: AskedCapture, record: RelationRecord) -> Fate | None:
        derivation = capture.ancestry.derivation(record)
        concerned = [
            part
            for part in derivation.parts
            if part.captured and self._concerns(capture, derivation, part)
        ]
        if not concerned:
            return None
        if self._rerun:
            return self._followed_by_spark(capture, derivation, concerned)
        return answer(
            partial(self._followed, capture, derivation, concerned),
            lambda _: self._followed_by_spark(capture, derivation, concerned),
            left_to_spark(),
        )

    def _followed_by_spark(
        self, capture: AskedCapture, derivation: Derivation, concerned: Sequence[Part]
    ) -> Fate:
        """Return the fate of a derived relation, given its parts that the deletion concerns."""
        compared = {part: self._compared(capture, derivation, part) for part in concerned}
        if all(comparison.only_deletes for comparison in compared.values()):
            gone = [comparison.deleted for comparison in compared.values()]
            return arrow_rows(reduce(DataFrame.unionAll, gone))
        rows = [
            compared[part].rows
            if part in compared
            else part_rows(self._spark, derivation, part).drop(TUPLE)
            for part in derivation.parts
        ]
        view = f"_lipstick_hypothetical_{uuid.uuid4().hex[:8]}"
        reduce(DataFrame.unionAll, rows).createOrReplaceTempView(view)
        return view

    def _followed(
        self, capture: AskedCapture, derivation: Derivation, concerned: Sequence[Part]
    ) -> Fate:
        """Return what becomes of a derived relation, computed in this process."""
        # Sessions without written tables do not load this module.
        from lipstick.tables.small_tables import compared_part, part_table, rows_without

        captures = {part: capture._part_capture(derivation, part) for part in concerned}
        for made_by in captures.values():
            self._check_small(made_by.manifest)
        compared, schema = {}, schema_of(derivation)
        for part, made_by in captures.items():
            reduced = self.reduced(made_by)
            if reduced.replaced:
                new = self._ran(made_by, reduced)
            else:
                new = rows_without(made_by.memory.engine, reduced.deletion.tokens)
            compared[part] = compared_part(derivation, part, schema, new)
        if all(comparison.only_deletes for comparison in compared.values()):
            return pa.concat_tables([comparison.deleted for comparison in compared.values()])
        tables = [
            compared[part].rows if part in compared else part_table(derivation, part, schema)
            for part in derivation.parts
        ]
        return HypotheticalRows(self._spark, schema, _without_tuples(tables))

    def _ran(self, capture: AskedCapture, reduced: Reduced) -> tuple[Engine, State]:
        from lipstick.tables.small_tables import rows_again

        check_runs_again(capture.manifest, reduced)
        rows_of = partial(self._few_rows, capture, reduced)
        return rows_again(self._spark, capture.manifest, reduced.deletion.tokens, rows_of)

    def _few_rows(self, capture: AskedCapture, reduced: Reduced, name: str) -> pa.Table:
        """Return the rows of a relation that a query reads, with tokens, if they are few."""
        from lipstick.tables.small_tables import MOST, part_table

        replaced = reduced.replaced.get(name)
        if isinstance(replaced, HypotheticalRows):
            return replaced.table
        record = capture.manifest.relations[name]
        if replaced is not None:
            rows = self._spark.table(replaced if isinstance(replaced, str) else replaced.view)
        elif record.derived is not None:
            derivation = capture.ancestry.derivation(record)
            schema = schema_of(derivation)
            return _without_tuples(part_table(derivation, p, schema) for p in derivation.parts)
        else:
            known = capture.cluster.readable[name]
            check_readable(self._spark, known)
            rows = source_rows(self._spark, known)
        table = arrow_rows(rows.limit(MOST + 1))
        if table.num_rows > MOST:
            raise NeedsSparkError(f"{name} is large.")
        return table

    def _concerns(self, capture: AskedCapture, derivation: Derivation, part: Part) -> bool:
        """Return True if the deletion has tuples of a relation that a part was made from."""
        names = capture.ancestry.names_above(derivation, part)
        return any(table.num_rows and name in names for name, table in self._tokens.items())

    def _compared(self, capture: AskedCapture, derivation: Derivation, part: Part) -> RowComparison:
        made_by = capture._part_capture(derivation, part)
        _, token = naming_of(derivation)
        new = self.rows(made_by, self.reduced(made_by))
        filled = filled_of(self._spark, derivation, part)
        if filled is not None:
            new = new.crossJoin(F.broadcast(filled))
        root, schema = made_by.manifest.root, schema_of(derivation)
        values = table_columns(root, new.schema, part.columns, schema)
        new = not_replaced(self._spark, derivation, part.replaced, new, values)
        old = part_rows(self._spark, derivation, part)
        number = derivation.parts.index(part)
        return RowComparison(old, new, root, part, token, number)


def _without_tuples(tables: Iterable[pa.Table]) -> pa.Table:
    """Return the rows of parts together, without the tuples that they came from."""
    return pa.concat_tables(
        [t.drop_columns([TUPLE]) if TUPLE in t.column_names else t for t in tables]
    )


def check_runs_again(manifest: Manifest, reduced: Reduced) -> None:
    """Refuse to run queries over other rows that would choose otherwise, or go deeper.

    Raises
    ------
    UnsupportedError
        Where chance decides something, or rows of a recursion were computed before.
    """
    problem = rerun_problem(manifest.root, deeper=manifest.recursive and bool(reduced.replaced))
    if problem is not None:
        advice = "Write the query of the derived relation into this one: WITH t AS (...)."
        raise UnsupportedError(problem, advice, manifest.query)


def rerun_problem(root: Block, *, deeper: bool = False) -> str | None:
    """Return the reason why a query cannot be run again over other rows; None if it can.

    Parameters
    ----------
    deeper
        The levels of a recursion may be more over the other rows.
    """
    if decided_once(root):
        return "a query in which chance decides something cannot be run again"
    cores = (block.core for block in topological(root))
    if deeper or any(core is not None and iterates(core) for core in cores):
        return "a recursive query cannot be run again over other rows"
    return None

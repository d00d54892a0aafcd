"""Deletions followed through derived relations: hypothetical rows of relations that a query reads.

The capture of the query that wrote a relation gives its hypothetical rows, which are compared with
the rows that were written. If only rows disappear, they are deleted and the captured annotations of
the query answer. If values change or rows appear, the query is run over the hypothetical rows.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.capture.lookup import source_rows
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.questions.deletion import Deletion, check_readable, without
from lipstick.tables.comparison import RowComparison
from lipstick.tables.derivation import TUPLE, Derivation, Part
from lipstick.tables.derived_rows import (
    filled_of,
    naming_of,
    not_replaced,
    part_rows,
    schema_of,
    table_columns,
)
from lipstick.tracking.views import drop_once_read
from rewriter.blocks import Block, decided_once, iterates, topological
from rewriter.emit.statements import plain_sql
from rewriter.errors import UnsupportedError

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture


Fate: TypeAlias = pa.Table | str
"""The outcome for a relation: the tokens of deleted rows, or a view of its hypothetical rows."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """The outcome for the relations that a query reads.

    Parameters
    ----------
    deletion
        The tokens deleted from them.
    replaced
        By relation, a view of its hypothetical rows; the deletion is still to be applied to it.
    """

    deletion: Deletion
    replaced: Mapping[str, str]


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

    def reduced(self, capture: Capture) -> Reduced:
        """Return what becomes of the relations that the query of a capture reads."""
        deleted: dict[str, pa.Table] = {}
        replaced: dict[str, str] = {}
        for name, record in capture.manifest.relations.items():
            gone = self._tokens.get(name.lower())
            fate = self._replayed.get(name.lower())
            if fate is None and record.derived is not None:
                fate = self._fate(capture, record)
            if isinstance(fate, str):
                replaced[name] = fate
            elif fate is not None:
                gone = fate if gone is None else pa.concat_tables([gone.cast(fate.schema), fate])
            if gone is not None:
                deleted[name] = gone
        return Reduced(Deletion(deleted), replaced)

    def rows(self, capture: Capture, reduced: Reduced) -> DataFrame:
        """Return the rows of a query over what is left: its outputs and its identity."""
        gone = reduced.deletion.views(self._spark)
        if not reduced.replaced and not self._rerun:
            rows = capture.cluster.hypothetical(gone)
        else:
            check_runs_again(capture.manifest, reduced)
            rows = self._run_again(capture, reduced, gone)
        drop_once_read(rows, (view for view, _ in gone.values()))
        return rows

    def _run_again(
        self, capture: Capture, reduced: Reduced, gone: Mapping[str, tuple[str, tuple[str, ...]]]
    ) -> DataFrame:
        views, views_left = {}, []
        for name, record in capture.manifest.relations.items():
            view = reduced.replaced.get(name)
            if view is None:
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
        rows = self._spark.sql(plain_sql(root, views, identity=True, rows=known_rows))
        drop_once_read(rows, views_left)
        return rows

    def _fate(self, capture: Capture, record: RelationRecord) -> Fate | None:
        """Return what becomes of a derived relation by deletions above it; None: nothing."""
        assert record.derived is not None
        if record.derived not in self._fates:
            self._fates[record.derived] = self._follow(capture, record)
        return self._fates[record.derived]

    def _follow(self, capture: Capture, record: RelationRecord) -> Fate | None:
        derivation = capture.ancestry.derivation(record)
        compared = {
            part: self._compared(capture, derivation, part)
            for part in derivation.parts
            if part.captured and self._concerns(capture, derivation, part)
        }
        if not compared:
            return None
        if all(comparison.only_deletes for comparison in compared.values()):
            gone = [comparison.deleted for comparison in compared.values()]
            return reduce(DataFrame.unionAll, gone).toArrow()
        rows = [
            compared[part].rows
            if part in compared
            else part_rows(self._spark, derivation, part).drop(TUPLE)
            for part in derivation.parts
        ]
        view = f"_lipstick_hypothetical_{uuid.uuid4().hex[:8]}"
        reduce(DataFrame.unionAll, rows).createOrReplaceTempView(view)
        return view

    def _concerns(self, capture: Capture, derivation: Derivation, part: Part) -> bool:
        """Return True if the deletion has tuples of a relation that a part was made from."""
        names = capture.ancestry.names_above(derivation, part)
        return any(table.num_rows and name in names for name, table in self._tokens.items())

    def _compared(self, capture: Capture, derivation: Derivation, part: Part) -> RowComparison:
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

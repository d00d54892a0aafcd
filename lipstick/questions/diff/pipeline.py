"""The way of a difference, from two captures of a query to rows and parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.capture.lookup import source_rows
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.dataframes.arrow import arrow_rows, frame_of_arrow
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.memory import Memory
from lipstick.engines.route import answer
from lipstick.errors import CaptureError
from lipstick.questions.asking import evaluating
from lipstick.questions.diff.answers import RowPairs, answer_key, differing, pair_rows
from lipstick.questions.diff.cells import data_parts, rational
from lipstick.questions.diff.changes import ChangedRows, changed_rows
from lipstick.questions.diff.counterexample import (
    Counterexample,
    Runs,
    Tables,
    differing_tuples,
    prove,
)
from lipstick.questions.diff.difference import AnswerDifference
from lipstick.questions.diff.edits import EditPart, edit_parts
from lipstick.questions.diff.parts import DifferenceParts
from lipstick.questions.diff.shares import DividedChange
from lipstick.questions.why.measure import column_of, rows_with
from lipstick.questions.why.sources import held_rows, read_sources
from rewriter.analysis.text_edits import text_edits
from rewriter.analysis.value_columns import read_columns
from semiring.errors import ArgumentError, CapabilityError
from semiring.support.budget import within

RunText = Callable[[str, Mapping[str, Any], str], Any]
"""From a text, the key of a row and a column to the value; None where there is no such row."""


@dataclass(frozen=True)
class Version:
    """A run of a query: its capture, and what reads its sources."""

    memory: Memory
    spark: SparkSession | None = None
    sources: Mapping[str, pa.Table] | None = None
    shown: Callable[[], pa.Table] | None = None
    """Yields the answer as Spark has it; None without a session."""

    @property
    def engine(self) -> Engine:
        """The rows of all blocks."""
        return self.memory.engine


def difference(
    before: Version,
    after: Version,
    bridge: Version,
    key: Sequence[str] | None,
    run_text: RunText | None = None,
) -> AnswerDifference:
    """Return the difference of two runs.

    Parameters
    ----------
    bridge
        The text of `before` over the data of `after`; it is either of them where the texts, or
        the data, are the same.
    run_text
        Runs a text over the data of `after`; None: only its two texts were run.

    Raises
    ------
    CaptureError
        For a key that both answers do not have.
    """
    answers = _answers(before, after, bridge)
    names = [list(answer.column_names) for answer in answers]
    if key is None:
        roots = [before.engine.root, after.engine.root]
        key = answer_key(roots, names[:2])
    pairs = pair_answers(answers[0], answers[1], key)
    runs = _Runs(before, after, bridge, key, answers, run_text)
    return AnswerDifference(answers[0], answers[1], key, pairs, runs)


def compared_runs(
    before: Any,
    after: Any,
    key: Sequence[str] | None,
    sources: tuple[Mapping[str, pa.Table], Mapping[str, pa.Table]],
) -> AnswerDifference:
    """Return the difference of two frames or captures; see :meth:`lipstick.Capture.diff`."""
    old, new = _version(before, sources[0]), _version(after, sources[1])
    with evaluating(new.engine.manifest, new.spark):
        bridge = _bridge(before, after, (old, new), sources[1])
        session = getattr(after, "_session", None)
        run_text = None if session is None else _run_text(session.sql)
        return difference(old, new, bridge, key, run_text)


def _run_text(rerun: Callable[[str], Any]) -> RunText:
    """Return the function that runs a text for one number of its answer."""

    def run(query: str, where: Mapping[str, Any], column: str) -> Any:
        frame = rerun(query).df
        for name, value in where.items():
            frame = frame.where(F.col(f"`{name}`").eqNullSafe(F.lit(value)))
        rows = frame.select(F.col(f"`{column}`")).head(1)
        return rows[0][0] if rows else None

    return run


def _bridge(
    before: Any, after: Any, versions: tuple[Version, Version], sources: Mapping[str, pa.Table]
) -> Version:
    """Return the run of the earlier text over the later data."""
    old, new = versions
    if _has_same_data(old.engine.manifest, new.engine.manifest):
        return old
    if before.query.split() == after.query.split():
        return new
    session = getattr(after, "_session", None)
    if session is None:
        raise ArgumentError(
            "The texts differ, and so may the data; a saved capture cannot run the other's text.\n"
            "Compare runs of one text, or in Python the frames: q.diff(earlier)."
        )
    return _version(session.sql(before.query), sources)


def _version(run: Any, sources: Mapping[str, pa.Table]) -> Version:
    capture = run._captured
    spark = capture.engine.spark
    shown = None if spark is None else (lambda: arrow_rows(capture.engine.answer()))
    return Version(capture.memory, spark, sources, shown)


def _answers(*versions: Version) -> list[pa.Table]:
    """Return the answers of versions, all made in one way."""
    shown = [version.shown for version in versions if version.shown is not None]
    return answer(
        lambda: [version.memory.answer() for version in versions],
        (lambda _: [show() for show in shown]) if len(shown) == len(versions) else None,
    )


def _has_same_data(before: Manifest, after: Manifest) -> bool:
    """Return True if two captures read the same versions of the relations that both read.

    Frames over the same files may have other rows: what they do with them is not in a record.
    """
    for name in before.relations.keys() & after.relations.keys():
        old, new = before.relations[name], after.relations[name]
        whole = old.description.startswith("parquet ") or old.description in {
            version.description for version in old.versions
        }
        read = [(each.description, each.fingerprint, each.versions) for each in (old, new)]
        if old.view != new.view and not (whole and read[0] == read[1]):
            return False
    return True


def pair_answers(before: pa.Table, after: pa.Table, key: Sequence[str] | None) -> RowPairs:
    """Pair the rows of two answers by the columns of a key; None: by all columns."""
    if key is None:
        columns = [list(answer.columns) for answer in (before, after)]
        if len(columns[0]) != len(columns[1]):
            raise CaptureError(
                f"The answers have {len(columns[0])} and {len(columns[1])} columns: name the "
                "columns that identify a row, key=[...]."
            )
    else:
        columns = [
            [answer.column(column_of(answer.column_names, name)) for name in key]
            for answer in (before, after)
        ]
    old, new = ([column.combine_chunks() for column in its] for its in columns)
    try:
        return pair_rows(old, new, (before.num_rows, after.num_rows))
    except CaptureError as error:
        if key is not None:
            raise
        shown = (", ".join(answer.column_names) for answer in (before, after))
        raise CaptureError(
            "The answers have the columns {} and {}, which are not compared.\nGive two versions of "
            "one query, or the columns that identify a row in both, key=[...].".format(*shown)
        ) from error


def found_counterexample(first: Any, second: Any, budget: float | None) -> Counterexample | None:
    """Return a small database on which two frames differ; see `QueryPlan.counterexample`."""
    versions = [_version(run, {}) for run in (first, second)]
    spark = first._session.spark
    if not _has_same_data(*(version.engine.manifest for version in versions)):
        raise ArgumentError(
            "counterexample: the relations of both queries may have other rows.\n"
            "It should be: two texts over the same data; diff() compares data, too."
        )
    records: dict[str, RelationRecord] = {}
    for version in versions:
        records |= version.engine.manifest.relations

    def runs(tables: Tables) -> list[pa.Table]:
        rows = {}
        for name, record in records.items():
            key = list(record.token) if {*record.token} <= {*record.columns} else "*"
            rows[name] = (_small(spark, record, tables.get(name)), key if record.token else None)
        return [_answer_over(run, rows) for run in (first, second)]

    with within(budget), evaluating(versions[0].engine.manifest, spark):
        return small_difference(versions[0], versions[1], runs)


def _answer_over(frame: Any, rows: Mapping[str, tuple[DataFrame, Any]]) -> pa.Table:
    """Return the plain answer over other rows of its relations, each with a key or None."""
    with type(frame._session)(frame._session.spark) as session:
        for name, (source, key) in rows.items():
            session.track(name, source, key, provenance=key is not None)
        return arrow_rows(session.sql(frame.query).df)


def _small(spark: SparkSession, record: RelationRecord, few: pa.Table | None) -> DataFrame:
    """Return the rows of a relation that are in a table, as a frame that has them in its plan."""
    rows = source_rows(spark, record)
    names = [f"`{name}`" for name in record.columns]
    if not record.token:
        return rows.select(*names)
    if few is None:
        return rows.select(*names).limit(0)
    wanted = F.broadcast(frame_of_arrow(spark, few.select(list(record.token))))
    chosen = rows.join(wanted, list(record.token), "left_semi").select(*names)
    return frame_of_arrow(spark, arrow_rows(chosen), chosen.schema)


def small_difference(before: Version, after: Version, runs: Runs) -> Counterexample | None:
    """Return a small database on which two queries over the same data differ; None: they do not.

    Parameters
    ----------
    runs
        Runs both queries over the rows that are found.

    Raises
    ------
    CaptureError
        For answers with different numbers of columns, and where only Spark computes the answers
        without some rows.
    """
    answers = _answers(before, after)
    key = answer_key(
        [before.engine.root, after.engine.root], [answer.column_names for answer in answers]
    )
    widths = [answer.num_columns for answer in answers]
    pairs = pair_answers(answers[0], answers[1], key if widths[0] == widths[1] else None)
    changed = np.zeros(len(pairs.before), dtype=np.bool_)
    both = np.flatnonzero(pairs.both)
    was, now = (pa.array(rows[both]) for rows in (pairs.before, pairs.after))
    for own, other in zip(answers[0].columns, answers[1].columns, strict=True):
        old, new = own.combine_chunks().take(was), other.combine_chunks().take(now)
        changed[both] |= differing(old, new)
    found = differing_tuples([before.memory, after.memory], pairs, changed)
    if found is None:
        return None
    tokens, minimal = found
    tables = {}
    read = [read_sources(v.engine, v.spark, v.sources or {}) for v in (before, after)]
    for name, chosen in tokens.items():
        source = next(sources[name] for sources in read if name in sources)
        rows = source.find(chosen)
        tables[name] = source.take(np.sort(rows[rows >= 0]))
    return prove(tables, minimal, runs)


@dataclass(frozen=True, eq=False)
class _Runs:
    """Three runs, whose cells are divided when they are asked for."""

    before: Version
    after: Version
    bridge: Version
    key: Sequence[str] | None
    answers: Sequence[pa.Table]
    run_text: RunText | None = None

    @property
    def notes(self) -> list[str]:
        """The columns that are not compared, in sentences."""
        names = [list(answer.column_names) for answer in self.answers[:2]]
        lower = [{name.lower() for name in its} for its in names]
        notes = []
        for own, other, word in ((0, 1, "before"), (1, 0, "after")):
            alone = [name for name in names[own] if name.lower() not in lower[other]]
            if alone and self.key is not None:
                notes.append(f"Only the answer {word} has the columns {', '.join(alone)}.")
        return notes

    @cached_property
    def _bridge_rows(self) -> pa.Array:
        """The row of the bridge by row of the answer after; -1: there is none."""
        pairs = pair_answers(self.answers[2], self.answers[1], self.key)
        rows = np.full(self.answers[1].num_rows, -1, dtype=np.int64)
        rows[pairs.after[pairs.both]] = pairs.before[pairs.both]
        return rows

    @cached_property
    def _bridge_rows_of_before(self) -> pa.Array:
        pairs = pair_answers(self.answers[0], self.answers[2], self.key)
        rows = np.full(self.answers[0].num_rows, -1, dtype=np.int64)
        rows[pairs.before[pairs.both]] = pairs.after[pairs.both]
        return rows

    @cached_property
    def changes(self) -> dict[str, ChangedRows]:
        """The changed rows of the relations."""
        if self.is_of_code:
            return {}
        old, new = (
            {
                name: held_rows(run.engine, source)
                for name, source in read_sources(run.engine, run.spark, run.sources or {}).items()
            }
            for run in (self.before, self.bridge)
        )
        read = read_columns(self.before.engine.manifest.root)
        return {
            name: changed_rows(old[name], new[name], read.get(name)) for name in new if name in old
        }

    @property
    def is_of_code(self) -> bool:
        """True if both runs read the same data."""
        return self.bridge is self.before

    def evaluating(self) -> AbstractContextManager[None]:
        """Return the context in which values are compared, that of the later run."""
        return evaluating(self.after.engine.manifest, self.after.spark)

    def parts(
        self, place: int, before: int | None, after: int | None, subject: str
    ) -> DifferenceParts:
        """Return the parts of a cell, by its column and its rows in both answers."""
        name = self.answers[1].column_names[place]
        middle = None
        if after is not None:
            middle = int(self._bridge_rows[after])
        elif before is not None:
            middle = int(self._bridge_rows_of_before[before])
        middle = None if middle is None or middle < 0 else middle
        rows = (before, after, middle)
        values = [
            None
            if row is None
            else answer.column(column_of(answer.column_names, name))[row].as_py()
            for answer, row in zip(self.answers, rows, strict=True)
        ]
        was, now, between = values
        code = rational(now) - rational(between)
        divided: list[tuple[Fraction, DividedChange]] = []
        rest, kinds = Fraction(0), dict[str, tuple[int, Fraction]]()
        if not self.is_of_code:
            engines = [self.before.engine, self.bridge.engine]
            positions = [
                None if row is None else int(engine.base(engine.root.name).ordered[row])
                for engine, row in zip(engines, (before, middle), strict=True)
            ]
            output = column_of(self.answers[0].column_names, name)
            try:
                divided, rest = data_parts(engines, positions, output, (was, between), self.changes)
            except CapabilityError as error:
                kinds = self._kinds(name, rows, (was, between), error)
                moved = sum((part for _, part in kinds.values()), Fraction(0))
                rest = rational(between) - rational(was) - moved
        edits = self._edits(name, rows, (rational(between), rational(now)))
        engine = self.after.engine
        return DifferenceParts(
            subject, was, now, code, rest, edits, divided, kinds, self.changes, engine
        )

    def _edits(
        self, column: str, rows: Sequence[int | None], ends: tuple[Fraction, Fraction]
    ) -> list[EditPart]:
        """Return the parts of the edits of the text, where texts in between can be run."""
        run = self.run_text
        texts = [version.engine.manifest.query for version in (self.before, self.after)]
        if run is None or self.bridge is self.after or texts[0] == texts[1]:
            return []
        where = self._key_values(rows)
        edits = text_edits(*texts)
        return edit_parts(edits, ends, lambda sql: rational(run(sql, where, column)))

    def _key_values(self, rows: Sequence[int | None]) -> dict[str, Any]:
        """Return the key of a cell's row, in one of the answers that have it."""
        place = next(number for number, row in enumerate(rows) if row is not None)
        table = self.answers[place]
        row = rows[place]
        return {
            name: table.column(column_of(table.column_names, name))[row].as_py()
            for name in self.key or ()
        }

    def _kinds(
        self,
        column: str,
        rows: Sequence[int | None],
        values: tuple[Any, Any],
        error: CapabilityError,
    ) -> dict[str, tuple[int, Fraction]]:
        """Return the parts of removed, changed and added rows, in this order, by what-ifs.

        Raises
        ------
        CapabilityError
            The given one, where only Spark computes them.
        """
        where = self._key_values(rows)
        deleted: list[dict[str, pa.Table]] = [{}, {}]
        counts = [0, 0, 0]
        for name, changed in self.changes.items():
            for kind in range(3):
                chosen = np.flatnonzero(changed.kinds == kind)
                counts[kind] += len(chosen)
                if kind < 2 and len(chosen):
                    source, positions = (
                        (changed.new, changed.after) if kind else (changed.old, changed.before)
                    )
                    deleted[kind][name] = source.tokens.take(pa.array(positions[chosen]))
        try:
            kept, without = (
                _cell(version.memory.what_if(gone).df, where, column)
                for version, gone in zip((self.before, self.bridge), deleted, strict=True)
            )
        except CaptureError:
            raise error from None
        was, between = map(rational, values)
        parts = {
            "removed": (counts[0], kept - was),
            "changed": (counts[2], without - kept),
            "added": (counts[1], between - without),
        }
        # What no row makes is rounding, of sums of doubles in another order.
        return {word: each for word, each in parts.items() if each[0]}


def _cell(answer: pa.Table, where: Mapping[str, Any], column: str) -> Fraction:
    found = rows_with(answer, where)
    if not len(found):
        return Fraction(0)
    values = answer.column(column_of(answer.column_names, column))
    return rational(values[int(found[0])].as_py())

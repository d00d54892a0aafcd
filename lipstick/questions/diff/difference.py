"""The difference of two answers as users see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from lipstick.errors import CaptureError
from lipstick.questions.asking import question
from lipstick.questions.diff.answers import RowPairs, differing
from lipstick.questions.diff.changes import ChangedInput, ChangedRows
from lipstick.questions.diff.parts import DifferenceParts
from lipstick.questions.why.answer import described
from lipstick.questions.why.measure import column_of, is_measurable, rows_with
from lipstick.tracking.naming import free_name
from semiring.arrays.segments import mask_of
from semiring.base import Array
from semiring.support.door import checked

_SHOWN = 5
"""Changed rows of a relation in words."""


class ComparedRuns(Protocol):
    """The runs of two answers: what they read, and the parts of differences between them."""

    @property
    def notes(self) -> Sequence[str]:
        """The columns that are not compared, in sentences."""

    @property
    def is_of_code(self) -> bool:
        """True if both runs read the same data."""

    @property
    def changes(self) -> Mapping[str, ChangedRows]:
        """The changed rows of the relations."""

    def evaluating(self) -> AbstractContextManager[None]:
        """Return the context in which values are compared."""

    def parts(
        self, place: int, before: int | None, after: int | None, subject: str
    ) -> DifferenceParts:
        """Return the parts of a cell, by its column and its rows in both answers."""


@checked
class AnswerDifference:
    """The difference of two answers: rows added, removed and changed, and why.

    Attributes
    ----------
    before, after
        Both answers.
    key
        The columns by which rows are the same; None: by all of their columns.
    notes
        Columns that were not compared.
    is_of_code
        True if both runs read the same data.
    """

    def __init__(
        self,
        before: pa.Table,
        after: pa.Table,
        key: Sequence[str] | None,
        pairs: RowPairs,
        runs: ComparedRuns | None = None,
    ) -> None:
        self.before = before
        self.after = after
        self.key = None if key is None else tuple(key)
        self.notes = () if runs is None else tuple(runs.notes)
        self.is_of_code = runs is not None and runs.is_of_code
        self._pairs = pairs
        self._runs = runs

    # -- rows ------------------------------------------------------------------------------

    @cached_property
    def _differing(self) -> dict[str, Array]:
        """By column that both answers have, a Boolean per pair of rows: the values differ."""
        both = np.flatnonzero(self._pairs.both)
        before, after = (pa.array(each[both]) for each in (self._pairs.before, self._pairs.after))
        differs = {}
        for name in self._common:
            mask = np.zeros(len(self._pairs.before), dtype=np.bool_)
            mask[both] = differing(
                self._column(self.before, name).take(before),
                self._column(self.after, name).take(after),
            )
            differs[name] = mask
        return differs

    @property
    def _common(self) -> list[str]:
        theirs = {name.lower() for name in self.before.column_names}
        return [name for name in self.after.column_names if name.lower() in theirs]

    @staticmethod
    def _column(table: pa.Table, name: str) -> pa.Array:
        return table.column(column_of(table.column_names, name)).combine_chunks()

    @cached_property
    def _changed(self) -> Array:
        changed = np.zeros(len(self._pairs.before), dtype=np.bool_)
        for mask in self._differing.values():
            changed |= mask
        return changed

    @property
    def added(self) -> int:
        """The number of rows that are in the answer after alone."""
        return int((self._pairs.before < 0).sum())

    @property
    def removed(self) -> int:
        """The number of rows that were in the answer before alone."""
        return int((self._pairs.after < 0).sum())

    @property
    def changed(self) -> int:
        """The number of rows with another value."""
        return int(self._changed.sum())

    @property
    def is_empty(self) -> bool:
        """True if both answers have the same rows."""
        return not (self.added or self.removed or self.changed)

    def rows(self, limit: int | None = None) -> pa.Table:
        """Return the rows that differ.

        Returns
        -------
        pa.Table
            ``_change`` (removed, added or changed), the columns of the key, then of each other
            column its values before and after. Without a key they are the rows themselves.
        """
        single = ~self._pairs.both
        chosen = np.flatnonzero(single | self._changed)[:limit]
        before, after = self._pairs.before[chosen], self._pairs.after[chosen]
        kinds = np.where(after < 0, 0, np.where(before < 0, 1, 2))
        words = pa.array(["removed", "added", "changed"]).take(pa.array(kinds))
        names, columns = [free_name(self._common, "_change")], [words]
        was, now = (pa.array(each, mask=each < 0) for each in (before, after))
        key = {name.lower() for name in (self.key or self._common)}
        for name in self._common:
            old = self._column(self.before, name).take(was)
            new = self._column(self.after, name).take(now)
            if self.key is None or name.lower() in key:
                names.append(name)
                old = old.cast(new.type) if old.type != new.type else old
                columns.append(pa.compute.coalesce(new, old))
            else:
                names += [f"{name} before", f"{name} after"]
                columns += [old, new]
        return pa.table(columns, names)

    def inputs(self, limit: int | None = None) -> list[ChangedInput]:
        """Return the rows of the relations that differ, the changed ones first.

        Rows are compared by the columns that the query reads: of sources that are out of reach, by
        the columns that both captures hold.

        Parameters
        ----------
        limit
            Rows of each relation at most.

        Raises
        ------
        TrackingError
            For relations whose rows have no key.
        """
        changed = self._changes.values()
        first = ((each, np.argsort(-each.kinds, kind="stable")[:limit]) for each in changed)
        return [row for each, numbers in first for row in each.inputs(numbers)]

    @property
    def _changes(self) -> Mapping[str, ChangedRows]:
        return {} if self._runs is None else self._runs.changes

    @property
    def inputs_sentences(self) -> list[str]:
        """The first rows that :meth:`inputs` returns in words, how many there are, and the rest."""
        lines = [row.sentence for row in self.inputs(_SHOWN)]
        for name, changed in self._changes.items():
            if len(changed) > _SHOWN:
                lines.append(f"{len(changed) - _SHOWN:,} more rows of {name} differ")
        if self.not_held:
            lines.append(f"not held by both captures: {', '.join(self.not_held)}")
        return lines

    @property
    def not_held(self) -> list[str]:
        """The columns that the query reads, whose values are not held of both runs."""
        return [f"{name}.{c}" for name, its in self._changes.items() for c in its.unread]

    # -- numbers ---------------------------------------------------------------------------

    @question("running the texts between")
    def parts(
        self,
        column: str | None = None,
        where: Mapping[str, Any] | None = None,
        *,
        budget: float | None = None,
        **values: Any,
    ) -> DifferenceParts:
        """Return the parts of the difference of one number.

        The part of a changed text is divided among its edits, which takes a run of the text for
        each set of up to six edits; of a saved capture it is one.

        Parameters
        ----------
        column
            The column; None: the only one whose numbers differ in the row.
        where, values
            The row by the values of its columns, after or before; not needed for one row, and
            where one row differs alone.
        budget
            Seconds for the question; None: as many as it takes.

        Raises
        ------
        ExactnessError
            When the budget is spent.
        CaptureError
            When no row, or several have these values, for columns that are not numbers, and for
            answers that are compared as bags.
        CapabilityError
            For numbers whose change is not divided among rows.
        """
        if self.key is None:
            raise CaptureError(
                "The answers have no key by which their rows are the same: name the columns that "
                "identify a row, key=[...]."
            )
        if self._runs is None:
            raise CaptureError("Rows were compared, and not captured: compare frames by diff.")
        with self._runs.evaluating():
            return self._runs.parts(*self._cell(column, {**(where or {}), **values}, self.key))

    def _cell(
        self, column: str | None, where: Mapping[str, Any], key: Sequence[str]
    ) -> tuple[int, int | None, int | None, str]:
        """Return the column of a number, its rows in both answers, and its name."""
        pair = self._pair(where)
        column = self._only_number(pair, key) if column is None else column
        place = column_of(self.after.column_names, column)
        if not is_measurable(self.after.schema.field(place).type):
            raise CaptureError(f"The column {column!r} has no numbers, whose difference has parts.")
        old, new = (int(each[pair]) for each in (self._pairs.before, self._pairs.after))
        table, row = (self.after, new) if new >= 0 else (self.before, old)
        named = {name: self._column(table, name)[row].as_py() for name in key}
        subject = column + (f" of {described(named)}" if named else "")
        return place, None if old < 0 else old, None if new < 0 else new, subject

    def _only_number(self, pair: int, key: Sequence[str]) -> str:
        """Return the column of the only number that differs in a row."""
        numbers = [
            name
            for name, differs in self._differing.items()
            if (differs[pair] or not self._pairs.both[pair])
            and is_measurable(self._column(self.after, name).type)
            and name not in key
        ]
        if len(numbers) != 1:
            raise CaptureError(
                "Name the column of the number; numbers that differ in this row: "
                f"{', '.join(numbers) or 'none'}."
            )
        return numbers[0]

    def _pair(self, where: Mapping[str, Any]) -> int:
        pairs = self._pairs
        chosen = np.zeros(len(pairs.before), dtype=np.bool_)
        for table, rows in ((self.before, pairs.before), (self.after, pairs.after)):
            named = mask_of(rows_with(table, where), table.num_rows + 1)
            chosen |= named[np.minimum(rows, table.num_rows)] & (rows >= 0)
        found = np.flatnonzero(chosen)
        if len(found) > 1 and not where:
            found = np.flatnonzero(~pairs.both | self._changed)
        if len(found) != 1:
            named_by = f" with {described(dict(where))}" if where else " that differ"
            raise CaptureError(
                f"The answers have {len(found)} rows{named_by}: name one by the values of its "
                "columns, where={...}."
            )
        return int(found[0])

    # -- how it looks ----------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        """The numbers of rows that differ."""
        if self.is_empty:
            return "There is no difference on this data."
        counts = ((self.added, "added"), (self.removed, "removed"), (self.changed, "changed"))
        parts = [f"{number:,} {word}" for number, word in counts if number]
        return f"Of the answer's rows, {', '.join(parts)}."

    def __str__(self) -> str:
        return "\n".join([self.sentence, *self.notes])

    __repr__ = __str__

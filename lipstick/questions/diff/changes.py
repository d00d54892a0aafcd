"""The rows of a relation that differ between two versions of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa

from lipstick.display.number_text import spelled
from lipstick.errors import TrackingError
from lipstick.questions.diff.answers import differing, pair_rows
from lipstick.questions.why.answer import described
from lipstick.questions.why.columns import shown
from lipstick.questions.why.sources import SourceRows
from lipstick.tracking.naming import ROWS, free_name
from semiring.arrays.arrow import decoded
from semiring.base import Array

KINDS: Final = ("removed", "added", "changed")

PARTIAL: Final = {"removed": "in the run before only", "added": "in the run after only"}
"""Rows of relations out of reach: a capture has the rows that take part, and no others."""


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """A row of a relation that differs between two runs.

    Attributes
    ----------
    key
        The values of the key of its relation.
    change
        ``removed``, ``added`` or ``changed``.
    values
        Of a changed row, the values before and after of each column that differs.
    whole
        True if all rows of the relation are known; False: only the rows that take part in a run.
    """

    relation: str
    key: Mapping[str, Any]
    change: str
    values: Mapping[str, tuple[Any, Any]]
    whole: bool

    @property
    def sentence(self) -> str:
        """Return the row and its values."""
        row = f"{self.relation} with {described(dict(self.key))}"
        if self.values:
            moved = [
                f"{n} from {_text(was)} to {_text(now)}" for n, (was, now) in self.values.items()
            ]
            return f"{row}: {', '.join(moved)}"
        if self.whole:
            return f"{row}: {self.change}"
        return f"{row} takes part {PARTIAL[self.change]}; its values in the other run are not held"

    def document(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return {
            "relation": self.relation,
            "key": dict(self.key),
            "change": self.change,
            "values": {n: {"before": was, "after": now} for n, (was, now) in self.values.items()},
        }


def _text(value: Any) -> str:
    """Return a value for people; numbers with separators."""
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return spelled(value) if is_number else shown(value)


@dataclass(frozen=True)
class ChangedRows:
    """The rows of a relation that were removed, added or changed, numbered from 0.

    Attributes
    ----------
    old, new
        Both versions of the relation.
    before, after
        The position of each changed row in them; -1: it is not there.
    old_place
        The position in the old version of each row of the new one; -1: it was added.
    fields
        By name, a Boolean per changed row: the column has another value.
    unread
        The columns that queries read, and by which rows in both versions are not compared: their
        values are not known here of both.
    """

    old: SourceRows
    new: SourceRows
    before: Array
    after: Array
    old_place: Array
    fields: dict[str, Array]
    unread: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.before)

    @property
    def name(self) -> str:
        """The name of the relation."""
        return self.new.name

    @property
    def whole(self) -> bool:
        """True if all rows of both versions are known; False: only the rows that take part."""
        return self.old.whole and self.new.whole

    @cached_property
    def kinds(self) -> Array:
        """The place in `KINDS` of each changed row."""
        kinds: Array = np.where(self.after < 0, 0, np.where(self.before < 0, 1, 2))
        return kinds

    @cached_property
    def numbers(self) -> tuple[Array, Array]:
        """Of each row of both versions, the number among the changed rows; -1: it is the same."""
        return _numbers(self.before, len(self.old)), _numbers(self.after, len(self.new))

    @cached_property
    def numbering(self) -> tuple[Array, Array]:
        """Numbers of the rows of both versions, equal where the key is."""
        return np.arange(len(self.old)), np.where(
            self.old_place >= 0, self.old_place, len(self.old) + np.arange(len(self.new))
        )

    @property
    def columns(self) -> list[str]:
        """The columns that both versions have."""
        return [name for name in self.new.schema.names if name in self.old.schema.names]

    def spread(self, numbers: Array, values: Array) -> Array:
        """Return values of changed rows among all rows; the others have 0.

        All rows are the rows of the new version, then the removed ones among the changed rows.
        """
        every = np.zeros(len(self.new) + int((self.after[numbers] < 0).sum()))
        every[self._places(numbers)] = values
        return every

    def _places(self, numbers: Array) -> Array:
        after = self.after[numbers]
        removed = after < 0
        places: Array = np.where(removed, len(self.new) + np.cumsum(removed) - 1, after)
        return places

    def subset(self, numbers: Array, rows: Array, names: Sequence[str]) -> SourceRows:
        """Return some columns of some of all rows, by their sorted places among them."""
        first = int(np.searchsorted(rows, len(self.new)))
        removed = self.before[numbers[self.after[numbers] < 0]][rows[first:] - len(self.new)]
        wanted = list(dict.fromkeys([*self.new.record.token, *names]))
        new = self.new.subset(rows[:first], wanted)
        old = self.old.take(removed).select(wanted)
        columns = []
        for name in wanted:
            now, was = decoded(new.column(name)), old.column(name).combine_chunks()
            columns.append(pa.concat_arrays([now, was.cast(now.type)]))
        return SourceRows.of_table(self.new.record, pa.table(columns, wanted), whole=True)

    def take(self, numbers: Array) -> pa.Table:
        """Return changed rows: as they are, removed ones as they were, then what changed.

        The columns ``_change`` and ``_fields`` say which kind of change each is, and which columns
        of changed rows have another value.
        """
        before, after = self.before[numbers], self.after[numbers]
        gone = after < 0
        old, new = self.old.take(before[gone]), self.new.take(after[~gone])
        names = self.columns
        order = np.argsort(np.argsort(gone, kind="stable"), kind="stable")
        columns = []
        for name in names:
            now = new.column(name).combine_chunks()
            was = old.column(name).combine_chunks()
            if was.type != now.type:
                was = was.cast(now.type, safe=False)
            columns.append(pa.concat_arrays([now, was]).take(pa.array(order)))
        kinds = pa.DictionaryArray.from_arrays(
            pa.array(self.kinds[numbers].astype(np.int32)), pa.array(KINDS)
        )
        columns += [kinds.dictionary_decode(), self._field_texts(numbers)]
        taken = [*names]
        taken += [free_name(taken, wanted) for wanted in ("_change", "_fields")]
        return pa.table(columns, taken)

    def inputs(self, numbers: Array) -> list[ChangedInput]:
        """Return some changed rows with their values before and after."""
        before, after = self.before[numbers], self.after[numbers]
        values: list[dict[str, tuple[Any, Any]]] = [{} for _ in numbers]
        for name, differs in self.fields.items():
            at = np.flatnonzero(differs[numbers])
            was = decoded(self.old.column(name).take(pa.array(before[at])))
            now = decoded(self.new.column(name).take(pa.array(after[at])))
            for place, *pair in zip(at.tolist(), was.to_pylist(), now.to_pylist(), strict=True):
                values[place][name] = (pair[0], pair[1])
        keys = self.take(numbers).select(list(self.new.record.token)).to_pylist()
        words = [KINDS[kind] for kind in self.kinds[numbers].tolist()]
        return [
            ChangedInput(self.name, key, word, its, self.whole)
            for key, word, its in zip(keys, words, values, strict=True)
        ]

    def _field_texts(self, numbers: Array) -> pa.Array:
        """Return the names of the columns that differ, NULL for rows added or removed."""
        codes = np.zeros(len(numbers), dtype=np.int64)
        texts = [""]
        for name, differs in self.fields.items():
            codes = codes + len(texts) * differs[numbers]
            texts += [f"{text}, {name}" if text else name for text in texts]
            used, codes = np.unique(codes, return_inverse=True)
            texts = [texts[code] for code in used]
        labels = pa.array([text or None for text in texts], pa.string())
        return labels.take(pa.array(codes))


def changed_rows(old: SourceRows, new: SourceRows, read: Collection[str] | None) -> ChangedRows:
    """Return the rows that differ between two versions of a relation.

    Parameters
    ----------
    read
        The columns, in lower case, by which rows are compared, which the queries read; None:
        all. A row that differs in others alone takes no part in the difference.

    Raises
    ------
    TrackingError
        For relations tracked without a key, whose rows are named by their places in files.
    """
    token = new.record.token
    if old.record.naming == ROWS or new.record.naming == ROWS or old.record.token != token:
        raise TrackingError(
            f"The rows of {new.name!r} are not the same in both versions by any key.\n"
            f"Track both with their key: track({new.name!r}, ..., key=[...])."
        )
    pairs = pair_rows(
        [old.column(name) for name in token],
        [new.column(name) for name in token],
        (len(old), len(new)),
    )
    both = np.flatnonzero(pairs.both)
    compared, unread = _columns_of_both(old, new, read)
    old.load(compared)
    new.load(compared)
    before, after = pa.array(pairs.before[both]), pa.array(pairs.after[both])
    differs = {
        name: differing(
            decoded(old.column(name).take(before)), decoded(new.column(name).take(after))
        )
        for name in compared
    }
    changed = np.zeros(len(both), dtype=np.bool_)
    for each in differs.values():
        changed |= each
    single = np.flatnonzero(~pairs.both)
    chosen = np.concatenate([single, both[changed]])
    none = np.zeros(len(single), dtype=np.bool_)
    fields = {
        name: np.concatenate([none, each[changed]]) for name, each in differs.items() if each.any()
    }
    old_place = np.full(len(new), -1, dtype=np.int64)
    old_place[pairs.after[both]] = pairs.before[both]
    return ChangedRows(
        old, new, pairs.before[chosen], pairs.after[chosen], old_place, fields, unread
    )


def _columns_of_both(
    old: SourceRows, new: SourceRows, read: Collection[str] | None
) -> tuple[list[str], tuple[str, ...]]:
    """Return the columns beside the key to compare, and those to compare that cannot be read."""
    loaded = {name for name in old.schema.names if name in new.schema.names}
    compared = [
        name
        for name in new.schema.names
        if name in loaded
        and name not in new.record.token
        and (read is None or name.lower() in read)
    ]
    unread = tuple(
        name
        for name in new.record.columns
        if name in old.record.columns
        and (read is None or name.lower() in read)
        and name not in loaded
    )
    return compared, unread


def _numbers(positions: Array, count: int) -> Array:
    numbers = np.full(count, -1, dtype=np.int64)
    known = positions >= 0
    numbers[positions[known]] = np.flatnonzero(known)
    return numbers

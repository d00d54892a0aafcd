"""The parts of the difference of one cell: of the code, of changed rows, and of predicates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.display.number_text import signed, spelled
from lipstick.engines.memory.engine import Engine
from lipstick.errors import CaptureError
from lipstick.questions.diff.cells import no_rule, rational
from lipstick.questions.diff.changes import KINDS, PARTIAL, ChangedInput, ChangedRows
from lipstick.questions.diff.edits import EditPart
from lipstick.questions.diff.shares import DividedChange
from lipstick.questions.why.columns import RelationColumns
from lipstick.questions.why.deletions import PartMeasure, part_effects
from lipstick.questions.why.search import PredicateSearch, choose
from lipstick.questions.why.sources import SourceRows, decided_columns
from semiring.base import Array
from semiring.support.door import checked

_SEEN = Fraction(1, 10**9)
"""The smallest part of a difference that its digits show."""

_SAMPLE = 50_000
"""Rows of a relation among which predicates are looked for at most."""


@dataclass(frozen=True)
class ChangePredicate:
    """A predicate on the changed rows of a relation, and their part of a difference."""

    relation: str
    text: str
    sql: str
    rows: int
    part: Fraction

    @property
    def sentence(self) -> str:
        """Return the rows and their part."""
        number = "1 changed row" if self.rows == 1 else f"{self.rows:,} changed rows"
        return f"{number} of {self.relation} where {self.text}: {signed(self.part)}"

    def __str__(self) -> str:
        return self.sentence


@checked
@dataclass(frozen=True, eq=False)
class DifferenceParts:
    """The parts of the difference of one number of an answer; they add up to it exactly.

    Attributes
    ----------
    subject
        The column and the row.
    before, after
        The values; None: NULL, or the row is not there, which counts as 0.
    code
        The part of the text of the query.
    edits
        The edits of the text, with parts that add up to that of the code; () where the text in
        between cannot be run.
    data
        The part of the data: all that follow.
    unchanged
        The part of rows that are the same in both versions, which conditions on other rows now
        keep or lose; and of rows whose values are not known in both, which cannot be compared.
    rest
        The part that Spark's types round; where a value is NULL or its row is not there in one
        version, also the constants in its number.
    """

    subject: str
    before: Any
    after: Any
    code: Fraction
    rest: Fraction
    edits: Sequence[EditPart]
    divided: Sequence[tuple[Fraction, DividedChange]]
    kinds: Mapping[str, tuple[int, Fraction]]
    changes: Mapping[str, ChangedRows]
    engine: Engine

    @property
    def unchanged(self) -> Fraction:
        """The part of rows that are the same in both versions."""
        return sum((slope * each.unchanged for slope, each in self.divided), Fraction(0))

    @property
    def difference(self) -> Fraction:
        """The sum of all parts."""
        return rational(self.after) - rational(self.before)

    @property
    def data(self) -> Fraction:
        """The part of the data."""
        return self.difference - self.code

    @cached_property
    def _by_row(self) -> dict[str, Array]:
        parts = {}
        for name, changed in self.changes.items():
            total = np.zeros(len(changed))
            for slope, each in self.divided:
                total += float(slope * each.unit) * each.shares[name]
            parts[name] = total
        return parts

    def exact(self, relation: str, numbers: Array | None = None) -> Fraction:
        """Return the sum of the parts of changed rows of a relation, by number; None: of all."""
        total = Fraction(0)
        for slope, each in self.divided:
            shares = each.shares[relation]
            chosen = shares if numbers is None else shares[numbers]
            total += slope * each.unit * Fraction(float(chosen.sum()))
        return total

    def exact_rows(self) -> dict[str, dict[tuple[Any, ...], Fraction]]:
        """Return the exact part of each changed row, by relation and key: an object per row."""
        rows: dict[str, dict[tuple[Any, ...], Fraction]] = {}
        for name, changed in self.changes.items():
            numbers = np.flatnonzero(self._taking_part(name))
            table = changed.take(numbers).select(list(changed.new.record.token))
            keys = zip(*(column.to_pylist() for column in table.columns), strict=True)
            rows[name] = {
                key: self.exact(name, np.array([number]))
                for key, number in zip(keys, numbers.tolist(), strict=True)
            }
        return rows

    @property
    def table(self) -> pa.Table:
        """The parts: part, relation, change, rows, value; of edits, kinds of changes, the rest."""
        rows: list[dict[str, Any]] = [
            {"part": "code", "change": each.sentence, "value": float(each.part)}
            for each in self.edits
        ]
        if self.code and not self.edits:
            rows.append({"part": "code", "value": float(self.code)})
        for name, changed in self.changes.items():
            by_row = self._by_row[name]
            for kind, word in enumerate(KINDS):
                numbers = np.flatnonzero((changed.kinds == kind) & self._taking_part(name))
                if len(numbers):
                    rows.append(
                        {
                            "part": "rows",
                            "relation": name,
                            "change": word,
                            "rows": len(numbers),
                            "value": float(by_row[numbers].sum()),
                        }
                    )
        for word, (number, part) in self.kinds.items():
            rows.append({"part": "rows", "change": word, "rows": number, "value": float(part)})
        if self.unchanged:
            unread = [f"{name}.{u}" for name, each in self.changes.items() for u in each.unread]
            word = f"rows in both, whose values of {', '.join(unread)} are not known here"
            word = word if unread else "unchanged rows"
            rows.append({"part": word, "value": float(self.unchanged)})
        if self.rest:
            is_rounding = self.before is not None and self.after is not None
            word = "rounding" if is_rounding else "constants and rounding"
            rows.append({"part": word, "value": float(self.rest)})
        schema = pa.schema(
            [(name, pa.string()) for name in ("part", "relation", "change")]
            + [("rows", pa.int64()), ("value", pa.float64())]
        )
        return pa.Table.from_pylist(rows, schema)

    def _taking_part(self, relation: str) -> Array:
        """Return a Boolean per changed row: it has a share of some aggregate."""
        taking = np.zeros(len(self.changes[relation]), dtype=np.bool_)
        for _, each in self.divided:
            taking |= each.shares[relation] != 0
        return taking

    def rows(self, relation: str | None = None, limit: int | None = 20) -> pa.Table:
        """Return the changed rows with a part of the difference, the largest parts first.

        Parameters
        ----------
        relation
            The relation of the rows; None: the only one with such rows.

        Returns
        -------
        pa.Table
            The rows with their columns (of removed rows as they were), ``_change`` (removed, added
            or changed), ``_fields`` (the columns that changed) and ``_part``.

        Raises
        ------
        CaptureError
            When the relation has no changed rows, or several have and none is named.
        """
        name = self._relation(relation)
        chosen = self._largest(name, limit)
        table = self.changes[name].take(chosen)
        return table.append_column("_part", pa.array(self._by_row[name][chosen]))

    def inputs(self, limit: int | None = 5) -> list[tuple[ChangedInput, Fraction]]:
        """Return the changed rows with the largest parts, each with its part."""
        found: list[tuple[ChangedInput, Fraction]] = []
        for name, changed in self.changes.items():
            numbers = self._largest(name, limit)
            parts = [self.exact(name, numbers[[at]]) for at in range(len(numbers))]
            found += zip(changed.inputs(numbers), parts, strict=True)
        return sorted(found, key=lambda each: -abs(each[1]))[:limit]

    def _largest(self, relation: str, limit: int | None) -> Array:
        """Return the numbers of the changed rows of a relation with the largest parts."""
        numbers = np.flatnonzero(self._taking_part(relation))
        parts = self._by_row[relation][numbers]
        order: Array = np.argsort(-np.abs(parts), kind="stable")
        return numbers[order][:limit]

    def _relation(self, relation: str | None) -> str:
        if self.kinds:
            raise no_rule(self.subject, "this query's values")
        known = [name for name in self.changes if self._taking_part(name).any()]
        if relation is None and len(known) == 1:
            return known[0]
        chosen = [n for n in self.changes if relation is not None and n.lower() == relation.lower()]
        if not chosen:
            problem = "Not one relation has" if relation is None else f"No {relation!r} has"
            raise CaptureError(
                f"{problem} all changed rows with a part: name one of "
                f"{', '.join(sorted(known)) or 'none'}."
            )
        return chosen[0]

    def predicates(self, limit: int = 5, conditions: int = 2) -> list[ChangePredicate]:
        """Return conditions on the changed rows whose parts are largest, upwards or downwards.

        Conditions are on the columns that the question itself does not decide, with the values
        of the rows after (of removed ones before). A predicate is scored by its part for the
        number of all rows of the relation that satisfy it, in a sample of 50,000; the parts that
        are returned are exact.

        Parameters
        ----------
        conditions
            The number of conditions in a predicate at most.
        """
        decided = decided_columns(self.engine, keys=True)
        found: list[ChangePredicate] = []
        for name, changed in self.changes.items():
            numbers = np.flatnonzero(self._taking_part(name))
            if len(numbers):
                of_question = decided.get(name, set()).union(changed.new.record.token)
                wanted = [c for c in changed.columns if c not in of_question]
                found += self._found(changed, numbers, wanted, limit, conditions)
        return sorted(found, key=lambda each: -abs(each.part))[:limit]

    def _found(
        self,
        changed: ChangedRows,
        numbers: Array,
        wanted: Sequence[str],
        limit: int,
        conditions: int,
    ) -> list[ChangePredicate]:
        name = changed.name
        parts = changed.spread(numbers, self._by_row[name][numbers])
        few = SourceRows.of_table(changed.new.record, changed.take(numbers), whole=True)
        samples = {sign: part_effects(parts * sign).sampled(_SAMPLE) for sign in (1, -1)}
        columns = RelationColumns(changed.subset(numbers, samples[1][0], wanted), [], wanted)
        found = []
        for sign, (_, effects) in samples.items():
            measure = PartMeasure(
                self.engine, "", None, None, "high", total=float(parts.sum()) * sign
            )
            search = PredicateSearch(measure, columns, effects, conditions, lambda _: None)
            for candidate in choose(search.run(), {name: search}, limit):
                predicate = candidate.predicate
                rows = predicate.rows(few)
                part = self.exact(name, numbers[rows])
                if part * sign > 0:
                    found.append(
                        ChangePredicate(name, predicate.text, predicate.sql, len(rows), part)
                    )
        return found

    @property
    def sentences(self) -> list[str]:
        """One sentence per part; rounding is left out that cannot be seen in the difference."""
        lines = []
        seen = _SEEN * abs(self.difference)
        for row in self.table.to_pylist():
            if row["part"] == "rounding" and abs(row["value"]) < seen:
                continue
            part = signed(Fraction(row["value"]))
            if row["part"] == "rows":
                number = "1 row" if row["rows"] == 1 else f"{row['rows']:,} rows"
                name, change = row["relation"], row["change"]
                if name and not self.changes[name].whole and change in PARTIAL:
                    change = f"taking part {PARTIAL[change]}"
                lines.append(f"{number}{f' of {name}' if name else ''} {change}: {part}")
            else:
                lines.append(": ".join(filter(None, (row["part"], row["change"], part))))
        return lines

    def __str__(self) -> str:
        moved = f"{_shown(self.before)} to {_shown(self.after)}"
        lines = [f"{self.subject} went from {moved} ({signed(self.difference)}):"]
        return "\n".join([*lines, *(f"- {line}" for line in self.sentences)])

    __repr__ = __str__


def _shown(value: Any) -> str:
    return "nothing" if value is None else spelled(value)

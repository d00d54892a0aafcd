"""Rows that a query loses, where a number is too low: conditions on them, against the other rows.

A row is lost if none of its tokens is in the capture: WHERE or a join drops it. Some are meant to
be; a condition is shown whose rows are lost more often than chance explains, beside the column
that decides where one of its values, or NULL, occurs there alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.reach import tokens
from lipstick.questions.why.columns import Predicate, RelationColumns, ValueColumn
from lipstick.questions.why.deletions import PartMeasure, part_effects
from lipstick.questions.why.measure import Measure, WhyQuestion
from lipstick.questions.why.search import PredicateSearch, choose
from lipstick.questions.why.sources import SourceRows, read_columns
from semiring.arrays.segments import mask_of
from semiring.base import Array

_SAMPLE = 50_000
"""Rows of a relation among which conditions are looked for at most."""

_OWN = 0.2
"""The share of a value among the lost rows of a condition, at least, to be named beside it."""

_FOREIGN = 0.02
"""The share of the rows of such a value that may be outside the condition."""


@dataclass(frozen=True)
class LostCondition:
    """Rows of a relation that have a condition in common, and are lost.

    Attributes
    ----------
    relation, text, sql
        The relation, and the condition on its rows for people and as Spark SQL.
    rows, lost
        The number of rows that satisfy the condition, and of the lost ones among them.
    others, others_lost
        The same of the other rows of the relation.
    keys
        The keys of the lost rows that satisfy the condition.
    """

    relation: str
    text: str
    sql: str
    rows: int
    lost: int
    others: int
    others_lost: int
    keys: pa.Table
    before: float
    subject: str
    is_condition: bool = field(repr=False)

    @property
    def described_rows(self) -> str:
        """The number of rows, and the condition on them, for people."""
        return f"{self.lost:,} lost rows of {self.relation} where {self.text}"

    @property
    def sentence(self) -> str:
        """Return how many rows are lost, beside the share of the others."""
        share = self.others_lost / max(self.others, 1)
        return (
            f"Of the {self.rows:,} rows of {self.relation} where {self.text}, {self.lost:,} are "
            f"lost before {self.subject} is computed; of the others {share:.1%}."
        )

    def __str__(self) -> str:
        return self.sentence


def lost_rows(
    asked: WhyQuestion, conditions: int, limit: int, progress: Callable[[str], None]
) -> list[LostCondition]:
    """Return conditions on the rows that a query loses, the plainest first."""
    measure = asked.measure
    found: list[tuple[float, LostCondition]] = []
    for name, source in asked.read.items():
        if not source.whole:
            continue
        there = source.find(tokens(measure.engine, name))
        lost = ~mask_of(there[there >= 0], len(source))
        if not 0 < int(lost.sum()) < len(source):
            continue
        progress(f"{name}: {int(lost.sum()):,} of {len(source):,} rows are lost")
        total = PartMeasure(measure.engine, "", None, None, "high", total=float(lost.sum()))
        chosen, effects = part_effects(lost.astype(float)).sampled(_SAMPLE)
        # A key whose partner is lost says no more than that: the partner's relation does.
        decide = {n for r, n, role in read_columns(measure.engine) if r == name and role != "key"}
        names = [each for each in asked.wanted[name] if each not in decide]
        few = source.subset(chosen, {*names, *(decide & {*source.schema.names})})
        columns = RelationColumns(few, [], names)
        columns.equalities += [
            values.only(values.missing)
            for values in RelationColumns(few, [], decide).equalities
            if values.missing >= 0
        ]
        search = PredicateSearch(total, columns, effects, conditions, progress)
        for each in choose(search.run(), {name: search}, limit, strict=True):
            predicate = _decided(measure, source, each.predicate, lost)
            shown = _shown(measure, asked.subject, source, predicate, lost)
            if all(shown.sql != other.sql for _, other in found):
                found.append((each.rank, shown))
    found.sort(key=lambda pair: -pair[0])
    return [each for _, each in found[:limit]]


def _decided(measure: Measure, source: SourceRows, predicate: Predicate, lost: Array) -> Predicate:
    """Return a condition on the column that decides, where it has a value of its own there."""
    compared = [n for r, n, role in read_columns(measure.engine) if r == source.name]
    names = [n for n in dict.fromkeys(compared) if n in source.schema.names]
    inside = mask_of(predicate.rows(source), len(source))
    for values in RelationColumns(source, [], names).equalities:
        if not isinstance(values, ValueColumn) or values.term.columns != (values.name,):
            continue
        codes = values.codes
        known = codes >= 0
        own = np.bincount(codes[inside & lost & known], minlength=values.count)
        every = np.bincount(codes[known], minlength=values.count)
        dropped = np.bincount(codes[known & lost], minlength=values.count)
        share = own / max(int((inside & lost).sum()), 1)
        fits = (share >= _OWN) & (own >= (1 - _FOREIGN) * every) & (dropped == every)
        if fits.any():
            code = int(np.where(fits, share, -1.0).argmax())
            condition = values.condition(code)
            return replace(predicate, conditions=(condition,))
    return predicate


def _shown(
    measure: Measure, subject: str, source: SourceRows, predicate: Predicate, lost: Array
) -> LostCondition:
    rows = predicate.rows(source)
    gone = rows[lost[rows]]
    return LostCondition(
        source.name,
        predicate.text,
        predicate.sql,
        len(rows),
        len(gone),
        len(source) - len(rows),
        int(lost.sum()) - len(gone),
        source.tokens.take(pa.array(gone)),
        measure.before,
        subject,
        measure.is_condition,
    )

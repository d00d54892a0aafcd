"""Corrections: other values in the rows of a cause, and the number that they lead to.

A wrong unit is a power of ten between the values in a cause and in the other rows, a wrong sign
a median on the other side of 0; otherwise the median of the other rows stands for what is not
known. These are evaluated exactly, from the capture, all of them together. A column that decides
which rows are joined, selected or grouped may have one wrong value in the rows of a cause: the
usual value of its other rows, or of all others, takes its place, and Spark runs the query again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.reach import lineage, tokens
from lipstick.engines.memory.scenarios import Updated
from lipstick.engines.memory.updates import evaluate_update
from lipstick.errors import CapabilityError, NeedsSparkError
from lipstick.questions.why.answer import outcome
from lipstick.questions.why.columns import shown
from lipstick.questions.why.measure import Measure, as_numbers, is_number
from lipstick.questions.why.sources import MEASURED, SourceRows, read_columns
from rewriter.analysis.value_columns import updated_columns
from semiring.arrays.arrow import decoded
from semiring.arrays.segments import others
from semiring.base import Array

if TYPE_CHECKING:
    from lipstick.questions.what_if import WhatIf
    from lipstick.questions.why.answer import Cause
    from lipstick.questions.why.lost import LostCondition

_RUNS = 6
"""Corrections for which the query is run again at most."""

UpdateOf: TypeAlias = "Callable[[dict[str, Any]], WhatIf[Any]]"


@dataclass(frozen=True)
class Correction:
    """Other values of one column in the rows of a cause.

    Attributes
    ----------
    cause
        The cause whose rows change.
    column, change
        The column, and its new value for people: ``amount / 100``.
    after
        The measure with the new values, exactly.
    reached
        True if the measure is then what is wanted.
    values
        The keys of the rows that change, and their new values.
    """

    cause: Cause | LostCondition
    column: str
    change: str
    after: float
    reached: bool
    values: pa.Table
    _update: UpdateOf

    def what_if(self) -> WhatIf[Any]:
        """Return the answer with the new values."""
        return self._update({self.cause.relation: self.values})

    @property
    def sentence(self) -> str:
        """Return what is changed, and what becomes of the number."""
        cause = self.cause
        ends = outcome(cause.before, self.after, condition=cause.is_condition)
        some = self.values.num_rows
        of_them = "" if some == cause.rows else f"{some:,} of "
        changed = f"With {self.change} as {self.column} in {of_them}the {cause.described_rows}"
        return f"{changed}, {cause.subject} {ends}"

    def __str__(self) -> str:
        return self.sentence


def corrections(
    measure: Measure,
    sources: Mapping[str, SourceRows],
    causes: Sequence[Cause],
    update: UpdateOf,
    *,
    lost: Sequence[LostCondition] = (),
) -> list[Correction]:
    """Return corrections that gain; first each that reaches what is wanted.

    Raises
    ------
    CapabilityError
        For relations whose rows were not read; and without Spark where no column of numbers of
        the causes is read by aggregates alone.
    """
    drawn: list[tuple[Cause, str, str, pa.Table]] = []
    known = False
    for name in dict.fromkeys(cause.relation for cause in causes) or sources:
        if not sources[name].whole:
            raise CapabilityError(
                f"The rows of {name} were not read, and their values are not known: give "
                "sources=..., or open the capture with Spark."
            )
    for cause in causes:
        source = sources[cause.relation]
        rows = source.find(cause.keys)
        for name in _columns(measure, source):
            known = True
            drawn += [(cause, name, *each) for each in _changes(source, name, rows)]
    updated = [
        Updated(cause.relation, values, np.full(values.num_rows, number, dtype=np.int64))
        for number, (cause, _, _, values) in enumerate(drawn)
    ]
    after = np.zeros(0)
    if drawn:
        after = measure.of_state(evaluate_update(measure.engine, updated), len(drawn))
    reached, gains = measure.reached(after), np.nan_to_num(measure.gain(after))
    # Of several that suffice the first is of the best cause, in the fewest words.
    order = np.lexsort([np.where(reached, 0.0, -gains), ~reached])
    found = [
        Correction(cause, name, change, float(after[number]), bool(reached[number]), values, update)
        for number, (cause, name, change, values) in ((int(n), drawn[n]) for n in order)
        if gains[number] > 0
    ]
    try:
        found += _deciding(measure, sources, causes, update)
        found += _brought_back(measure, sources, lost, update)
    except NeedsSparkError as error:
        if not known and (causes or lost):
            raise CapabilityError(
                "No column of numbers is read by aggregates alone, in a query of one grouping; new "
                "values of columns that decide which rows are there need Spark.\n"
                "Open the capture with Spark."
            ) from error
    return sorted(found, key=lambda each: not each.reached)


def _deciding(
    measure: Measure,
    sources: Mapping[str, SourceRows],
    causes: Sequence[Cause],
    update: UpdateOf,
) -> Iterator[Correction]:
    """Yield corrections of columns that decide, for which the query is run again."""
    positions = measure.positions
    if positions is None:
        positions = measure.engine.base(measure.engine.root.name).ordered
    behind = lineage(measure.engine, positions)
    decide = {(r, n) for r, n, role in read_columns(measure.engine) if role not in MEASURED}
    runs = 0
    for cause in causes:
        source = sources[cause.relation]
        rows = source.find(cause.keys)
        wrong = np.intersect1d(rows, source.find(behind[cause.relation]))
        for name in sorted(n for r, n in decide if r == cause.relation):
            if runs == _RUNS or name in source.record.token or not len(wrong):
                continue
            for change, values in _usual(source, name, rows, wrong):
                runs += 1
                after = measure.of_answer(update({cause.relation: values}).df)
                if measure.gain(np.array([after]))[0] > 0:
                    reached = bool(measure.reached(np.array([after]))[0])
                    yield Correction(cause, name, change, after, reached, values, update)


def _brought_back(
    measure: Measure,
    sources: Mapping[str, SourceRows],
    lost: Sequence[LostCondition],
    update: UpdateOf,
) -> Iterator[Correction]:
    """Yield corrections of lost rows: a column that decides has the usual value of the others."""
    decide = {(r, n) for r, n, role in read_columns(measure.engine) if role not in MEASURED}
    runs = 0
    for each in lost:
        source = sources[each.relation]
        gone = source.find(each.keys)
        kept = source.find(tokens(measure.engine, each.relation))
        for name in sorted(n for r, n in decide if r == each.relation):
            usable = name not in source.record.token and name in source.schema.names
            values = decoded(source.column(name)).take(pa.array(kept)).drop_null()
            if runs == _RUNS or not usable or not len(values):
                continue
            counts = values.value_counts()
            usual = counts.field("values")[int(counts.field("counts").to_numpy().argmax())]
            new = pa.repeat(usual, len(gone))
            table = source.tokens.take(pa.array(gone)).append_column(name, new)
            runs += 1
            after = measure.of_answer(update({each.relation: table}).df)
            if measure.gain(np.array([after]))[0] > 0:
                reached = bool(measure.reached(np.array([after]))[0])
                yield Correction(each, name, shown(usual.as_py()), after, reached, table, update)


def _usual(
    source: SourceRows, name: str, rows: Array, wrong: Array
) -> Iterator[tuple[str, pa.Table]]:
    """Yield the value that most other rows have, of a cause or at all, in place of a wrong one."""
    column = decoded(source.column(name))
    own = column.take(pa.array(wrong)).unique()
    if len(own) > 1:
        if is_number(column.type):
            yield from _changes(source, name, wrong)
        return
    for beside in (np.setdiff1d(rows, wrong), others(len(column), rows)):
        values = column.take(pa.array(beside)).drop_null()
        counts = values.filter(pc.invert(pc.is_in(values, value_set=own))).value_counts()
        if len(counts):
            usual = counts.field("values")[int(counts.field("counts").to_numpy().argmax())]
            table = source.tokens.take(pa.array(wrong))
            new = pa.repeat(usual, len(wrong))
            yield shown(usual.as_py()), table.append_column(name, new)
            return


def _columns(measure: Measure, source: SourceRows) -> list[str]:
    """Return the columns of numbers that aggregates alone read."""
    block = measure.engine.root
    names = []
    for name in source.record.columns:
        if name not in source.schema.names or name in source.record.token:
            continue
        if is_number(source.schema.field(name).type) and updated_columns(block, source.name, name):
            names.append(name)
    return names


def _changes(source: SourceRows, name: str, rows: Array) -> Iterator[tuple[str, pa.Table]]:
    """Yield the changes of a column in some rows that make them like the other rows, in words."""
    column = decoded(source.column(name))
    numbers = as_numbers(column)
    inside, others = numbers[rows], np.delete(numbers, rows)
    inside, others = inside[np.isfinite(inside)], others[np.isfinite(others)]
    if not len(inside) or not len(others):
        return
    usual = np.quantile(others, 0.5, method="lower")
    sizes = [float(np.median(np.abs(each))) for each in (inside, others)]
    if all(size > 0 for size in sizes):
        power = round(float(np.log10(sizes[0] / sizes[1])))
        factor = float(10 ** abs(power))
        if power > 0:
            yield from _changed(
                source, name, rows, numbers[rows] / factor, f"{name} / {factor:.0f}"
            )
        elif power < 0:
            yield from _changed(
                source, name, rows, numbers[rows] * factor, f"{name} * {factor:.0f}"
            )
    if np.median(inside) * usual < 0:
        yield from _changed(source, name, rows, -numbers[rows], f"-{name}")
    of_rows = np.where(np.isnan(numbers[rows]), np.nan, usual)
    text = f"the median of the other rows, {shown(float(usual))},"
    yield from _changed(source, name, rows, of_rows, text)


def _changed(
    source: SourceRows, name: str, rows: Array, numbers: Array, text: str
) -> Iterator[tuple[str, pa.Table]]:
    """Yield new values with their keys, where the type of the column has them."""
    kind = source.schema.field(name).type
    known = np.isfinite(numbers)
    rows, numbers = rows[known], numbers[known]
    if not pa.types.is_floating(kind):
        scale = kind.scale if pa.types.is_decimal(kind) else 0
        if not np.allclose(numbers * 10.0**scale, np.round(numbers * 10.0**scale), rtol=1e-12):
            return
    try:
        values = pc.cast(pa.array(numbers), kind, safe=pa.types.is_integer(kind))
    except pa.ArrowInvalid:
        return
    yield text, source.tokens.take(pa.array(rows)).append_column(name, values)

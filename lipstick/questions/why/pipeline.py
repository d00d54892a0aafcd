"""From what people ask to a measure, and from predicates back to an explanation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lipstick.display.progress_line import progress as progress_line
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.scenarios import Deleted
from lipstick.errors import CapabilityError, CaptureError, TrackingError
from lipstick.questions.why.answer import Cause, Explanation, described, only_row
from lipstick.questions.why.columns import RelationColumns, row_predicate
from lipstick.questions.why.deletions import SearchEffects
from lipstick.questions.why.effects import effects_on
from lipstick.questions.why.fan_out import fan_out
from lipstick.questions.why.lost import lost_rows
from lipstick.questions.why.measure import (
    Direction,
    Measure,
    WhyQuestion,
    column_of,
    is_measurable,
    rows_with,
)
from lipstick.questions.why.search import CandidatePredicate, GainScores, PredicateSearch, choose
from lipstick.questions.why.sources import (
    SourceRows,
    decided_columns,
    extreme_columns,
    read_sources,
)
from semiring.arrays.segments import union
from semiring.base import Array
from semiring.errors import ArgumentError
from semiring.support.budget import free_memory, spent, within

if TYPE_CHECKING:
    from lipstick.engines.protocol import AskedCapture

_BYTES = 200
"""Bytes of memory for each captured row at most, as measured over 10 million of them."""

_SAMPLE = 50_000
"""Rows of a relation among which predicates are looked for at most."""

_IMPRECISE = 10
"""A condition that hits an extreme value by chance has so many times the rows that have it."""


@dataclass(frozen=True)
class FoundPredicate:
    """A predicate that is shown, and the scores of deletions from all rows of its relation."""

    candidate: CandidatePredicate
    scores: GainScores


class SampledRows(NamedTuple):
    """Rows of a relation that are looked at, the effects of deleting them, and of any rows."""

    rows: Array
    effects: SearchEffects
    every: SearchEffects


@np.errstate(over="ignore", invalid="ignore")  # infinite values of the data and their differences
def explain(
    asked: WhyQuestion,
    limit: int,
    conditions: int,
    budget: float | None,
    progress: Callable[[str], None] | None,
) -> Explanation:
    """Return an explanation; see :meth:`lipstick.Capture.why`."""
    if limit < 1 or conditions < 1:
        raise ArgumentError("limit and conditions are 1 or more.")
    signed = replace(asked, measure=replace(asked.measure, signed=True))
    with progress_line(after=2.0) as line, within(budget):
        say = progress or line
        among = _sampled(signed, say)
        chosen = _searched(signed, among, conditions, limit, say)
        extremes = (
            _searched(signed.of_extremes, among, conditions, limit, say) if signed.extremes else []
        )
        lost = lost_rows(asked, conditions, limit, say) if asked.measure.is_low else []
        complete = not spent()
        singles: list[str] | None = []
        added = fan_out(asked.measure, asked.subject)
        if not (chosen or extremes or lost or added):
            from lipstick.questions.why.rows import single_rows

            say("leaving single rows out")
            singles = single_rows(asked.measure, asked.read)
    causes, together = _shown(asked, chosen)
    own, of_own = _shown(asked, extremes)
    fewest = min((each.rows for each in own), default=0)
    if own and all(each.rows > _IMPRECISE * fewest for each in causes):
        causes, together = own, of_own
    return Explanation(asked, causes, together, added, lost, singles, complete=complete)


def question_of(
    capture: AskedCapture,
    measured: tuple[Measure, str],
    columns: Mapping[str, Sequence[str]],
    sources: Mapping[str, pa.Table],
) -> WhyQuestion:
    """Return the question about a measure, with the rows of its relations."""
    measure, subject = measured
    read = read_sources(measure.engine, capture.engine.spark, sources)
    wanted, chosen = _wanted(measure, read, columns), bool(columns) or measure.is_check
    extremes = frozenset() if chosen else extreme_columns(measure.engine, measure.scalar)
    return WhyQuestion(capture, measure, subject, read, wanted, extremes)


def check_memory(rows: int) -> None:
    """Refuse captures that do not fit in memory, before they are read.

    Raises
    ------
    CapabilityError
    """
    free, needed = free_memory(), rows * _BYTES
    if free is not None and needed > free:
        raise CapabilityError(
            f"An explanation of {rows:,} captured rows takes about {needed / 1e9:,.3g} GB of "
            f"memory, and {free / 1e9:,.3g} GB are free. Capture less, q.filter(condition), or "
            "ask the cluster for single rows, q.top(column, k, cluster=True)."
        )


def _sampled(asked: WhyQuestion, progress: Callable[[str], None]) -> dict[str, SampledRows]:
    """Return the rows of each relation that conditions are looked for among."""
    found: dict[str, SampledRows] = {}
    for name, rows in asked.read.items():
        effects = effects_on(asked.measure, rows) if len(rows) else None
        if effects is None:
            continue
        chosen, sampled = effects.sampled(_SAMPLE)
        if len(chosen):
            progress(f"{name}: {len(chosen):,} of {len(rows):,} rows are looked at")
            found[name] = SampledRows(chosen, sampled, effects)
    return found


def _searched(
    asked: WhyQuestion,
    among: Mapping[str, SampledRows],
    conditions: int,
    limit: int,
    progress: Callable[[str], None],
) -> list[FoundPredicate]:
    searches: dict[str, PredicateSearch] = {}
    candidates: list[CandidatePredicate] = []
    for name, looked_at in among.items():
        rows, wanted = asked.read[name], asked.wanted[name]
        others = [other for other in asked.read.values() if other is not rows]
        relation = RelationColumns(rows.subset(looked_at.rows, wanted), others, wanted)
        searches[name] = PredicateSearch(
            asked.measure, relation, looked_at.effects, conditions, progress
        )
        candidates += searches[name].run()
    best = choose(candidates, searches, limit, strict=True)
    scores = {name: search.scores.over(among[name].every) for name, search in searches.items()}
    return [FoundPredicate(each, scores[each.predicate.relation]) for each in best]


def _shown(
    asked: WhyQuestion, chosen: Sequence[FoundPredicate]
) -> tuple[list[Cause], tuple[float, ...]]:
    """Return predicates as they are shown: with numbers over all rows, never over a sample.

    Returns
    -------
    tuple
        The causes, first each that alone brings the measure where it is wanted; and where none
        does, the measure without the rows of the first two causes, the first three, and so on.
    """
    measure, read = asked.measure, asked.read
    satisfying: list[Array] = []
    for found in chosen:
        source = read[found.candidate.predicate.relation]
        conditions = found.candidate.predicate.conditions
        source.load(name for each in conditions for name in each.term.columns)
        satisfying.append(found.candidate.predicate.rows(source))
    names = [found.candidate.predicate.relation for found in chosen]
    after = _exact(measure, read, [[pair] for pair in zip(names, satisfying, strict=True)])
    causes = []
    for found, rows, exact in zip(chosen, satisfying, after, strict=True):
        predicate = found.candidate.predicate
        score = found.scores.of_rows(rows, float(exact))
        source = read[predicate.relation]
        key = source.record.token
        if len(rows) == 1 and len(key) == 1 and key[0] in asked.wanted[predicate.relation]:
            predicate = row_predicate(source, int(rows[0]))
        shown = Cause(
            predicate.relation,
            predicate.text,
            predicate.sql,
            len(predicate.conditions),
            len(rows),
            measure.before,
            float(exact),
            score,
            source.tokens.take(pa.array(rows)),
            asked.subject,
            measure.is_condition,
            asked.capture.what_if,
        )
        causes.append((shown, rows))
    # What gains in a sample alone is chance; what is shown gains over all rows.
    causes = [(each, rows) for each, rows in causes if each.score > 0]
    causes.sort(key=lambda pair: not measure.reached(np.array([pair[0].after]))[0])
    reached = measure.reached(np.array([each.after for each, _ in causes]))
    if not measure.has_goal or reached.any():
        return [each for each, _ in causes], ()
    parts = [(each.relation, rows) for each, rows in causes]
    together = _exact(measure, read, [parts[: number + 1] for number in range(1, len(parts))])
    return [each for each, _ in causes], tuple(together.tolist())


def _wanted(
    measure: Measure, read: Mapping[str, SourceRows], columns: Mapping[str, Sequence[str]]
) -> dict[str, frozenset[str]]:
    """Return the columns of each relation that conditions may be on.

    Raises
    ------
    TrackingError
        For relations and columns that there are not.
    """
    named = {name.lower(): names for name, names in columns.items()}
    # Which group of another block's grouping it is may well be the answer.
    keys = not measure.is_check and not measure.engine.root.has_one_row
    decided = decided_columns(measure.engine, keys=keys)
    wanted = {}
    for name, rows in read.items():
        own = {*rows.record.columns}
        known = {n for n in rows.schema.names if rows.paths.get(n, (n,))[0] in own}
        chosen = named.pop(name.lower(), None)
        if chosen is None:
            wanted[name] = frozenset(known - decided.get(name, set()))
            continue
        if missing := [column for column in chosen if column not in known]:
            raise TrackingError(
                f"{name!r} has no column {missing[0]!r} for conditions.\n"
                f"It has: {', '.join(sorted(known))}."
            )
        wanted[name] = frozenset(chosen)
    if named:
        raise TrackingError(
            f"The query reads no relation {next(iter(named))!r} with tokens.\n"
            f"It reads: {', '.join(sorted(read)) or 'none'}."
        )
    return wanted


def _exact(
    measure: Measure,
    read: Mapping[str, SourceRows],
    scenarios: Sequence[Sequence[tuple[str, Array]]],
) -> Array:
    """Return the measure in scenarios that each delete rows of relations, from the capture."""
    deleted = {}
    for name in {name for parts in scenarios for name, _ in parts}:
        rows = [union(*(each for of, each in parts if of == name)) for parts in scenarios]
        owners = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
        deleted[name] = Deleted(read[name].tokens.take(pa.array(np.concatenate(rows))), owners)
    return measure.of_deletions(deleted, len(scenarios))


def measured(
    memory: Memory,
    column: str | None,
    where: Mapping[str, Any],
    than: Mapping[str, Any] | float | None,
    too: Direction | None,
) -> tuple[Measure, str]:
    """Return what a question measures, and its name in sentences.

    Raises
    ------
    CaptureError
        As :meth:`lipstick.Capture.why`.
    """
    engine = memory.engine
    if engine.root.copies:
        raise CaptureError(
            "Rows of EXCEPT ALL and INTERSECT ALL are there several times, and are not explained."
        )
    answer = memory.answer()
    is_single = engine.root.has_one_row and answer.num_columns == 1
    if column is None and is_single and pa.types.is_boolean(answer.schema.field(0).type):
        # A check that answers by a truth value, in place of the rows that fail it.
        column = answer.column_names[0]
    if column is None:
        if than is not None or too is not None:
            raise ArgumentError("than and too are about a value: name its column.")
        return _measured_rows(engine, answer, where)
    return _measured_value(engine, answer, column, where, than, too)


def _measured_rows(
    engine: Engine, answer: pa.Table, where: Mapping[str, Any]
) -> tuple[Measure, str]:
    """Measure the number of rows of a check."""
    rows, named = rows_with(answer, where), f" with {described(dict(where))}" if where else ""
    if not len(rows):
        raise CaptureError(f"The answer has no row{named}: there is nothing to explain.")
    positions = engine.base(engine.root.name).ordered[rows] if where else None
    measure = Measure(engine, None, positions, named=(where,) if where else ())
    return measure, f"the number of rows{named}"


def _not_finite(subject: str, value: float, is_null: bool) -> CaptureError:
    if is_null:
        return CaptureError(f"{subject} is NULL: there is no number to explain.")
    named = "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return CaptureError(
        f"{subject} is {named}: differences from it are no numbers.\n"
        "contributions() lists the value without each row."
    )


def _measured_value(
    engine: Engine,
    answer: pa.Table,
    column: str,
    where: Mapping[str, Any],
    than: Mapping[str, Any] | float | None,
    too: Direction | None,
) -> tuple[Measure, str]:
    """Measure a value, its distance from a number that is wanted, or a difference of two values."""
    place = column_of(answer.column_names, column)
    kind = answer.schema.field(place).type
    if not (is_measurable(kind) or pa.types.is_boolean(kind)):
        raise CaptureError(
            f"The column {column!r} is of type {kind}: numbers, moments and truth values are "
            "explained.\nLeave out the column to explain that rows are there."
        )
    output = engine.root.outputs[place].name
    ordered = engine.base(engine.root.name).ordered
    positions = ordered[[only_row(answer, where)]]
    name = answer.column_names[place]
    subject = name + (f" of {described(dict(where))}" if where else "")
    expected = None
    rows_named: tuple[Mapping[str, Any], ...] = (where,)
    if isinstance(than, Mapping):
        rows_named = (where, than)
        other = only_row(answer, than)
        positions = np.append(positions, ordered[other])
        subject = f"the difference of {subject} and of {described(dict(than))}"
        expected = 0.0
    elif than is not None:
        expected = float(than)
    measure = Measure(engine, output, positions, expected, too, name=name, named=rows_named)
    if measure.is_condition and (than is not None or too is not None):
        raise ArgumentError("A condition should hold: than and too are about numbers.")
    if not np.isfinite(measure.before):
        rows = [only_row(answer, each) for each in rows_named]
        is_null = answer.column(place).take(pa.array(rows)).null_count > 0
        raise _not_finite(subject, measure.before, is_null)
    if measure.is_condition and measure.before == 0:
        raise CaptureError(f"{column} is true: there is nothing to explain.")
    return measure, subject

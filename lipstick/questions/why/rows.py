"""Single tuples: the most influential ones, and all that failing rows were made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from lipstick.capture.manifest import Manifest
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.reach import lineage
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.protocol import CaptureEngine
from lipstick.engines.route import if_here
from lipstick.errors import CaptureError
from lipstick.questions.why.answer import described, shown_number
from lipstick.questions.why.deletions import aggregate, formulas, simple_scan
from lipstick.questions.why.effects import effects_on
from lipstick.questions.why.measure import Measure, column_of
from lipstick.questions.why.partials import (
    DistinctCount,
    PartialAggregate,
    PartialExtreme,
    PartialSum,
)
from lipstick.questions.why.pipeline import measured
from lipstick.questions.why.sources import SourceRows, chosen_relation, read_source
from rewriter.interpret import UninterpretableError
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.support.budget import spent

_IN_MEMORY = 20_000_000
"""The number of captured rows up to which tuples are left out in memory."""

_SINGLES = 5
"""Rows that are listed where no condition explains a number."""

_AT_ONCE = 1 << 18
"""Tuples that are left out one by one together."""


@np.errstate(over="ignore", invalid="ignore")
def top_rows(measure: Measure, source: SourceRows, limit: int) -> pa.Table:
    """Return the rows whose deletion, each alone, gains most, with their effects.

    Rows without which the value is gone, or NULL, come first where any move counts, else last, and
    have NULL as their effects.

    Cost: one pass over the members where the measure has partial aggregates, else a scenario per
    tuple; of each part of the relation only the best rows stay in memory.
    """
    table, best = moving_rows(measure, source, limit)
    shares = shapley_shares(measure, source)
    of_rows = pa.nulls(len(best), pa.float64()) if shares is None else pa.array(shares[best])
    return table.append_column("_shapley", of_rows)


def moving_rows(measure: Measure, source: SourceRows, limit: int) -> tuple[pa.Table, Array]:
    """Return what `top_rows` does but for Shapley values, and the numbers of the rows."""
    best, gains = np.zeros(0, dtype=np.int64), np.zeros(0)
    for rows, numbers in _left_out(measure, source):
        gained = measure.gain(numbers)
        gained[np.isnan(gained)] = np.inf if measure.any_move_counts else -np.inf
        moved = np.flatnonzero(numbers != measure.before)
        best = np.concatenate([best, rows[moved]])
        gains = np.concatenate([gains, gained[moved]])
        if len(best) > limit:
            kept = np.argpartition(-gains, limit - 1)[:limit]
            best, gains = best[kept], gains[kept]
    best = best[np.lexsort([best, -gains])]
    # Exactly: from the capture, a what-if each.
    deleted = {source.name: Deleted(source.tokens.take(pa.array(best)), np.arange(len(best)))}
    after, effect = measure.exactly(deleted, len(best))
    table = source.take(best, source.own)
    return table.append_column("_after", after).append_column("_effect", effect), best


@np.errstate(over="ignore", invalid="ignore")
def single_rows(measure: Measure, sources: Mapping[str, SourceRows]) -> list[str] | None:
    """Return a line for each of the rows of a relation that move the measure most, each alone.

    None: it is not known for all relations, or no time is left to find out.
    """
    known = True
    for name, source in sources.items():
        if spent() or effects_on(measure, source) is None:
            known = False
            continue
        try:
            found = moving_rows(measure, source, _SINGLES)[0].to_pylist()
        except CaptureError:  # its files are gone
            known = False
            continue
        key = measure.engine.manifest.relations[name].token
        named = key if {*key} <= {*source.own} else source.own
        if found:
            return [
                f"- {name} with {described({each: row[each] for each in named})}: "
                + ("gone" if row["_after"] is None else shown_number(row["_after"]))
                for row in found
            ]
    return [] if known else None


def _left_out(measure: Measure, source: SourceRows) -> Iterator[tuple[Array, Array]]:
    """Yield the rows in parts, and the measure without each of them alone."""
    effects = effects_on(measure, source)
    for start in range(0, len(source) if effects is not None else 0, _AT_ONCE):
        assert effects is not None
        rows = np.arange(start, min(start + _AT_ONCE, len(source)))
        yield rows, effects.singles(np.arange(len(rows)), len(rows), rows).numbers


class CaptureOfRows(Protocol):
    """A capture, in memory and on the cluster."""

    manifest: Manifest
    engine: CaptureEngine

    @property
    def memory(self) -> Memory:
        """The engine in memory."""

    @property
    def cluster(self) -> Any:
        """The engine on the cluster."""


@np.errstate(over="ignore", invalid="ignore")
def top_tuples(
    capture: CaptureOfRows,
    column: str,
    limit: int,
    where: Mapping[str, Any],
    relation: str | None,
    cluster: bool | None,
) -> pa.Table:
    """Return the tuples that move a value most; see :meth:`lipstick.Capture.top`."""
    manifest = capture.manifest
    named = [name for name, each in manifest.relations.items() if each.token]
    chosen = chosen_relation(named, relation)
    if cluster is None:
        has_session, has_values = capture.engine.spark is not None, manifest.values == "copy"
        cluster = has_session and has_values and manifest.row_count > _IN_MEMORY
    if not cluster:
        memory = capture.memory
        measure, _ = measured(memory, column, where, None, None)
        source = read_source(memory.engine, capture.engine.spark, manifest.relations[chosen])
        return top_rows(measure, source, limit)
    from lipstick.engines.spark.leave_one_out import top_on_cluster

    outputs = [output.name for output in manifest.root.outputs]
    place = column_of(list(manifest.names), column)
    values = {outputs[column_of(list(manifest.names), n)]: value for n, value in where.items()}
    return top_on_cluster(capture.cluster, manifest, outputs[place], chosen, values, limit)


_NO_ROWS = np.zeros(0, dtype=np.int64)


def quarantined_rows(
    measure: Measure, source: SourceRows, reasons: Sequence[tuple[str, pa.Table]]
) -> pa.Table:
    """Return the rows to set aside, with reasons: the sources of failing rows, or explaining rows.

    Of a number that should be 0, such as one of failures, they are the rows that add to it. If
    nothing fails without the ones that have reasons, these suffice.

    Parameters
    ----------
    reasons
        Predicates, and the tokens of the rows that satisfy each.
    """
    counts_failures = measure.expected == 0 and measure.direction == "high"
    if measure.is_check or counts_failures:
        found = _failing_rows(measure, source) if counts_failures else _sources(measure, source)
        if reasons:
            explained = found[np.isin(found, np.concatenate([source.find(t) for _, t in reasons]))]
            deleted = Deleted(
                source.tokens.take(pa.array(explained)), np.zeros(len(explained), int)
            )
            if measure.of_deletions({source.name: deleted}, 1)[0] == 0:
                # Nothing fails without them: the other sources are innocent.
                found = explained
    else:
        # All rows made the value; to be set aside are those that explain it.
        found = np.concatenate([source.find(tokens) for _, tokens in reasons] or [_NO_ROWS])
    rows = ascending(found[found >= 0])
    texts = np.full(len(rows), "", dtype=object)
    for text, tokens in reasons:
        holds = np.isin(rows, source.find(tokens))
        texts[holds] = np.where(texts[holds] == "", text, texts[holds] + "; " + text)
    table = source.take(rows, source.own)
    return table.append_column("_reasons", pa.array(texts.tolist(), pa.string()))


def _sources(measure: Measure, source: SourceRows) -> Array:
    """Return the rows that the rows of the answer were made from."""
    positions = measure.positions
    if positions is None:
        positions = measure.engine.base(measure.engine.root.name).ordered
    return source.find(lineage(measure.engine, positions)[source.name])


def _failing_rows(measure: Measure, source: SourceRows) -> Array:
    """Return the rows whose deletion, each alone, lessens a number that should be 0."""
    parts = [rows[numbers < measure.before] for rows, numbers in _left_out(measure, source)]
    return np.concatenate([_NO_ROWS, *parts])


def shapley_shares(measure: Measure, source: SourceRows) -> Array | None:
    """Return the Shapley value of each tuple of a relation; None: there is no closed form.

    Of a condition it is the one in the aggregate that is compared with a constant; of a difference
    it is the one in the first value, less the one in the second.

    Cost: O(n log n) for the n members behind the number.
    """
    return if_here(lambda: _closed_form(measure, source))


def _closed_form(measure: Measure, source: SourceRows) -> Array | None:
    scan = simple_scan(measure, source)
    root = measure.engine.root
    rows = measure.engine.rows(root.name)
    relations = [token.relation for token in root.tokens]
    if scan is None or len(set(relations)) < len(relations):
        return None
    if isinstance(rows, GroupRows) and not measure.is_check:
        members, of_members = _of_values(measure, rows, len(relations))
    elif isinstance(rows, MemberRows) and measure.is_check:
        base = measure.engine.base(root.name)
        chosen = measure.positions
        members = np.flatnonzero(base.present) if chosen is None else chosen
        of_members = 1.0 / _makers(rows, members, len(relations))
    else:
        return None
    owners = source.rows_of(rows.members, scan)[members]
    known = owners >= 0
    shares: Array = np.bincount(owners[known], of_members[known], minlength=len(source))
    return shares


def _makers(rows: GroupRows | MemberRows, members: Array, scans: int) -> Array:
    """Return the number of tuples that each member is made of."""
    made = np.zeros(len(members))
    for scan in range(scans):
        absent = rows.members.tokens.index(scan).absent
        made += 1 if absent is None else ~absent[members]
    return made


def _of_values(measure: Measure, rows: GroupRows, scans: int) -> tuple[Array, Array]:
    """Return the members of a value or of two, and the part of each in it or the difference.

    Raises
    ------
    UninterpretableError
        For values without closed form.
    """
    used = [formula for formula in formulas(measure, rows) if formula.columns]
    if len(used) != 1 or used[0].column is None or used[0].column[1] not in rows.calls:
        raise UninterpretableError(str(measure.column))
    name = used[0].column[1]
    assert measure.positions is not None
    members, owners = rows.grouping.present_members(measure.positions)
    parts = np.zeros(len(members))
    for group, sign in enumerate([1.0, -1.0][: len(measure.positions)]):
        mine = np.flatnonzero(owners == group)
        makers = _makers(rows, members[mine], scans)
        partial = aggregate(rows, name, members[mine])
        if isinstance(partial, PartialSum) and partial.function != "AVG":
            of_members = (partial.weights if partial.function == "SUM" else partial.valid) / makers
        elif (makers == 1).all():
            of_members = _of_single_tuples(partial)
        else:
            raise UninterpretableError(rows.calls[name].text)
        parts[mine] = sign * of_members
    return members, parts


def _of_single_tuples(partial: PartialAggregate) -> Array:
    """Return the Shapley values in an aggregate of members that are one tuple each.

    Raises
    ------
    UninterpretableError
        For percentiles, which have no closed form.
    """
    if isinstance(partial, PartialSum):
        return _of_average(partial.weights, partial.valid > 0)
    if isinstance(partial, DistinctCount):
        known = partial.values >= 0
        counts = np.bincount(partial.values[known], minlength=1)
        return np.where(known, 1.0 / np.maximum(counts[partial.values], 1), 0.0)
    if not isinstance(partial, PartialExtreme):
        raise UninterpretableError("a percentile")
    highest = _of_maximum(-partial.numbers if partial.least else partial.numbers)
    return -highest if partial.least else highest


def _of_average(values: Array, valid: Array) -> Array:
    """Return φᵢ = (aᵢ + (Hₙ - 1)(aᵢ - mᵢ)) / n, where mᵢ is the mean of the others."""
    n = int(valid.sum())
    if n < 2:
        return np.where(valid, values, 0.0)
    harmonic = float((1.0 / np.arange(1, n + 1)).sum())
    others = (float(values[valid].sum()) - values) / (n - 1)
    return np.where(valid, (values + (harmonic - 1.0) * (values - others)) / n, 0.0)


def _of_maximum(values: Array) -> Array:
    """Return the values in a maximum: each step up is shared by all that reach it."""
    shares = np.zeros(len(values))
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = np.diff(values[order], prepend=0.0)
    shares[order] = np.cumsum(steps / np.arange(len(order), 0, -1))
    return shares

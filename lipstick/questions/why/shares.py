"""Shapley values of single tuples in the number that is explained, in closed form.

The game gives each set of input tuples the number over the members that it makes, and 0 where
there is none. A member is worth its weight in SUM, COUNT and numbers of rows, which its tuples
share equally: for each of them completes it in as many orders. AVG, MAX, MIN and COUNT(DISTINCT)
have closed forms where a member is made of one tuple: a distinct value is shared by its tuples, a
maximum is a sum of such games over its steps, and an average follows from the mean of the others.

Sources: Livshits, Bertossi, Kimelfeld, Sebag, *The Shapley Value of Tuples in Query Answering*,
ICDT 2020 (sections 4 and 5); Littlechild, Owen, *A Simple Expression for the Shapley Value in a
Special Case*, Management Science 20(3), 1973, for maxima.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.errors import NeedsSparkError
from lipstick.questions.why.deletions import aggregate, formulas, simple_scan
from lipstick.questions.why.measure import Measure
from lipstick.questions.why.partials import (
    DistinctCount,
    PartialAggregate,
    PartialExtreme,
    PartialSum,
)
from lipstick.questions.why.sources import SourceRows
from rewriter.interpret import FailedError, UninterpretableError
from semiring.base import Array


def shapley_shares(measure: Measure, source: SourceRows) -> Array | None:
    """Return the Shapley value of each tuple of a relation; None: there is no closed form.

    Of a condition it is the one in the aggregate that is compared with a constant; of a difference
    it is the one in the first value, less the one in the second.

    Cost: O(n log n) for the n members behind the number.
    """
    scan = simple_scan(measure, source)
    root = measure.engine.root
    rows = measure.engine.rows(root.name)
    relations = [token.relation for token in root.tokens]
    if scan is None or len(set(relations)) < len(relations):
        return None
    try:
        if measure.is_check:
            if not isinstance(rows, MemberRows):
                return None
            base = measure.engine.base(root.name)
            chosen = measure.positions
            members = np.flatnonzero(base.present) if chosen is None else chosen
            of_members = 1.0 / _makers(rows, members, len(relations))
        elif isinstance(rows, GroupRows):
            members, of_members = _of_values(measure, rows, len(relations))
        else:
            return None
    except (UninterpretableError, FailedError, NeedsSparkError, pa.ArrowException):
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
    members, owners = rows.grouping.members_of(measure.positions)
    if rows.members.base_alive is not None:
        alive = rows.members.base_alive[members]
        members, owners = members[alive], owners[alive]
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
    """Return the Shapley values in an aggregate of members that are one tuple each."""
    if isinstance(partial, PartialSum):
        return _of_average(partial.weights, partial.valid > 0)
    if isinstance(partial, DistinctCount):
        known = partial.values >= 0
        counts = np.bincount(partial.values[known], minlength=1)
        return np.where(known, 1.0 / np.maximum(counts[partial.values], 1), 0.0)
    assert isinstance(partial, PartialExtreme)
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

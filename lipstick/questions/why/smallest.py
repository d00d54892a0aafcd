"""The smallest sets of tuples whose deletion makes a check pass, a condition true, a value right.

A bound on SUM, COUNT or AVG is one on the sum of a weight per tuple, so that the tuples of the
largest weights are a smallest set; a bound on MIN or MAX forces the tuples beyond it; a bound on
COUNT(DISTINCT) leaves out the rarest values. Groups that fail HAVING are independent of each
other. Rows of other queries have repairs over their annotations, :func:`semiring.analysis.repairs`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.scenarios import Deleted
from lipstick.errors import CapabilityError
from lipstick.questions.why.deletions import aggregate, simple_scan
from lipstick.questions.why.measure import Measure, as_numbers
from lipstick.questions.why.partials import DistinctCount, PartialExtreme, PartialSum
from lipstick.questions.why.sources import SourceRows
from rewriter.blocks import GROUP
from rewriter.interpret import Interpreted, UninterpretableError, Vector, comparison, interpret
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.support.budget import check_budget

_COUNTED = 100_000
"""Sets that are counted one by one at most."""

_PLACES = 10_000_000
"""Rows of the sets that are counted, at most."""

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "<>": "="}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


@dataclass(frozen=True)
class SmallestSets:
    """The smallest sets of tuples of one relation whose deletion closes a gap.

    Attributes
    ----------
    sets
        The first of them, each the rows of the relation in it.
    size
        The number of tuples in each.
    count
        The number of such sets; None: more than were counted.
    """

    relation: str
    sets: tuple[pa.Table, ...]
    size: int
    count: int | None

    def __str__(self) -> str:
        number = "uncounted" if self.count is None else f"{self.count:,}"
        tuples = "tuple" if self.size == 1 else "tuples"
        return (
            f"{self.size:,} {tuples} of {self.relation} must go; there are {number} such sets, "
            f"{len(self.sets):,} of them here."
        )

    __repr__ = __str__


@dataclass(frozen=True)
class _Choices:
    """The smallest sets of rows for one group.

    Attributes
    ----------
    size, count
        The number of rows in each, and the number of sets; None: not counted.
    """

    size: int
    count: int | None
    rows: Array
    places: Sequence[tuple[int, ...]]


def smallest_sets(measure: Measure, source: SourceRows, limit: int) -> SmallestSets:
    """Return the smallest sets of tuples of a relation whose deletion closes the gap.

    Each set that is returned was deleted by a what-if, which closed the gap.

    Raises
    ------
    CapabilityError
        For values without an expectation, for gaps that no deletion closes, and queries
        whose smallest sets are not found from partial aggregates.
    """
    if not measure.has_goal:
        raise CapabilityError(
            "The smallest sets that make a value right need to know what is right: than=..., and "
            'too="high" or too="low" where a bound is meant.'
        )
    try:
        groups = _groups(measure, source, limit)
    except UninterpretableError as error:
        raise CapabilityError(
            f"The smallest sets are not found for {error}: the condition must compare one "
            "aggregate (SUM, COUNT, AVG, MIN, MAX) with a number, over tuples of one query block."
        ) from error
    size = sum(group.size for group in groups)
    counts = [group.count for group in groups]
    known = [count for count in counts if count is not None]
    count = math.prod(known) if len(known) == len(counts) else None
    chosen = list(islice(_products(groups), limit))
    _verify(measure, source, chosen)
    tables = tuple(source.take(np.sort(rows)) for rows in chosen)
    return SmallestSets(source.name, tables, size, count)


def _products(groups: Sequence[_Choices]) -> Iterator[Array]:
    """Yield a choice of each group, the last groups varying fastest."""
    numbers = [0] * len(groups)
    while True:
        check_budget()
        parts = [g.rows[list(g.places[n])] for g, n in zip(groups, numbers, strict=True)]
        yield ascending(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)
        at = len(groups) - 1
        while at >= 0 and numbers[at] + 1 >= len(groups[at].places):
            numbers[at] = 0
            at -= 1
        if at < 0:
            return
        numbers[at] += 1


def _verify(measure: Measure, source: SourceRows, chosen: Sequence[Array]) -> None:
    if not chosen:
        return
    rows = np.concatenate(chosen)
    owners = np.repeat(np.arange(len(chosen)), [len(each) for each in chosen])
    tokens = source.tokens.take(pa.array(rows))
    deleted = {source.name: Deleted(tokens, owners)}
    gaps = measure.gap(measure.of_deletions(deleted, len(chosen)))
    wrong = ~(np.abs(gaps) <= 1e-9 * max(1.0, abs(measure.expected or 0.0)))
    if wrong.any():
        raise CapabilityError(
            f"No deletion of tuples of {source.name} alone makes it right: the value is gone first."
        )


def _groups(measure: Measure, source: SourceRows, limit: int) -> list[_Choices]:
    rows = measure.engine.rows(measure.engine.root.name)
    scan = simple_scan(measure, source)
    if scan is None or not isinstance(rows, GroupRows | MemberRows):
        raise UninterpretableError("queries of several blocks, or with LIMIT")
    if isinstance(rows, MemberRows):
        if not measure.is_check:
            raise UninterpretableError("values that are not aggregates")
        positions = measure.positions
        if positions is None:
            positions = np.flatnonzero(rows.base.present)
        failing = ascending(source.rows_of(rows.members, scan)[positions])
        failing = failing[failing >= 0]
        return [_Choices(len(failing), 1, failing, [tuple(range(len(failing)))])]
    return list(_of_groups(measure, source, rows, scan, limit))


def _of_groups(
    measure: Measure, source: SourceRows, rows: GroupRows, scan: int, limit: int
) -> Iterator[_Choices]:
    op, name, bound = _bound(measure, rows)
    positions = measure.positions
    if positions is None:
        positions = np.flatnonzero(rows.base.present)
    members, owners = rows.grouping.present_members(positions)
    of_member = source.rows_of(rows.members, scan)[members]
    partial = aggregate(rows, name, members)
    order = np.argsort(owners, kind="stable")
    ends = np.searchsorted(owners[order], np.arange(len(positions) + 1))
    for group in range(len(positions)):
        check_budget()
        items = order[ends[group] : ends[group + 1]]
        yield _of_group(partial, items, of_member[items], op, bound, limit)


def _bound(measure: Measure, rows: GroupRows) -> tuple[str, str, float]:
    """Return the comparison that should hold: operator, aggregate and number."""
    if not measure.is_check and not measure.is_condition:
        assert measure.expected is not None
        op = {"high": "<=", "low": ">=", None: "="}[measure.direction]
        if len(measure.positions if measure.positions is not None else ()) != 1:
            raise UninterpretableError("differences of two values")
        return op, _call(interpret(measure.scalar), rows), measure.expected
    if measure.is_condition:
        sides = comparison(measure.scalar)
    else:
        if len(rows.block.having) != 1:
            raise UninterpretableError("HAVING of several conditions, or none")
        sides = comparison(rows.block.having[0])
    if sides is None:
        raise UninterpretableError("conditions that are not a comparison")
    op, left, right = sides.op, sides.left, sides.right
    if not left.columns:
        op, left, right = _FLIPPED.get(op, op), right, left
    if right.columns:
        raise UninterpretableError(right.text)
    if measure.is_check:
        op = _NEGATED.get(op, "")
    number = as_numbers(right.evaluate(lambda _, name: _none(name)).to_arrow(1))[0]
    if op not in _FLIPPED or op == "<>":
        raise UninterpretableError(sides.op)
    return op, _call(left, rows), float(number)


def _none(name: str) -> Vector:
    raise UninterpretableError(name)


def _call(scalar: Interpreted, rows: GroupRows) -> str:
    """Return the aggregate that a scalar is, or is by a cast."""
    columns = [name for alias, name in scalar.columns if alias == GROUP]
    if len(scalar.columns) != 1 or len(columns) != 1 or columns[0] not in rows.calls:
        raise UninterpretableError(scalar.text)
    if scalar.column is None and not scalar.text.upper().startswith("CAST("):
        raise UninterpretableError(scalar.text)
    return columns[0]


def _of_group(
    partial: object, items: Array, rows: Array, op: str, bound: float, limit: int
) -> _Choices:
    known = rows >= 0
    items, rows = items[known], rows[known]
    tuples, places = np.unique(rows, return_inverse=True)
    if isinstance(partial, PartialSum):
        weights, valid = partial.weights[items], partial.valid[items].astype(np.float64)
        if partial.function == "AVG":
            weights = np.where(valid > 0, weights - bound, 0.0)
            bound = 0.0
        if op == "=" and partial.function != "COUNT":
            raise UninterpretableError("a sum or an average that should be equal to a number")
        sign = -1.0 if op in (">", ">=") else 1.0
        by_tuple = np.bincount(places, sign * weights, minlength=len(tuples))
        need = float(by_tuple.sum()) - sign * bound
        return _heaviest(tuples, by_tuple, need, strict=op in ("<", ">"), limit=limit)
    if isinstance(partial, PartialExtreme):
        numbers = partial.numbers[items]
        if op not in (("<", "<=") if not partial.least else (">", ">=")):
            raise CapabilityError("No deletion raises a maximum or lowers a minimum.")
        beyond = {"<": numbers >= bound, "<=": numbers > bound}.get(op)
        if beyond is None:
            beyond = numbers <= bound if op == ">" else numbers < bound
        forced = np.flatnonzero(np.isin(tuples, rows[beyond]))
        return _Choices(len(forced), 1, tuples, [tuple(forced.tolist())])
    if not isinstance(partial, DistinctCount):
        raise UninterpretableError("a percentile")
    if len(tuples) != len(rows):
        raise UninterpretableError("distinct values of tuples with several members")
    if op in (">", ">="):
        raise CapabilityError("No deletion raises a number of distinct values.")
    return _rarest(tuples, partial.values[items], bound - (op == "<"), limit)


def _heaviest(rows: Array, weights: Array, need: float, *, strict: bool, limit: int) -> _Choices:
    """Return the smallest sets of rows whose weights add up to what is needed."""
    order = np.argsort(-weights, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    slack = 1e-12 * max(abs(need), float(np.abs(weights).max(initial=0.0)), 1e-300)
    enough = sums > need + slack if strict else sums >= need - slack
    if not enough.any():
        if strict and len(rows):
            # Without any tuple there is no value that could be wrong.
            return _Choices(len(rows), 1, rows, [tuple(range(len(rows)))])
        raise CapabilityError("No deletion of tuples closes the gap.")
    size = int(enough.argmax())
    ordered = weights[order]
    if size and ordered[0] == ordered[-1]:
        count: int | None = math.comb(len(rows), size)
        found = [tuple(each) for each in islice(combinations(range(len(rows)), size), limit)]
        return _Choices(size, count, rows[order], found)
    floor = need + slack if strict else need - slack
    every = _subsets(ordered, size, floor, strict=strict)
    found = list(islice(every, limit))
    most = min(_COUNTED, max(limit + 1, _PLACES // size if size else 1))
    more = sum(1 for _ in islice(every, most - len(found)))
    count = None if len(found) + more >= most else len(found) + more
    return _Choices(size, count, rows[order], found)


def _subsets(weights: Array, size: int, need: float, *, strict: bool) -> Iterator[tuple[int, ...]]:
    """Yield all sets of a size of descending weights that add up to what is needed.

    Every branch that is taken ends in a set: the next weights are the largest that are left.
    """
    ends = np.concatenate([[0.0], np.cumsum(weights)])

    chosen: list[int] = []
    totals, place = [0.0], 0
    while True:
        left = size - len(chosen)
        if left == 0:
            yield tuple(chosen)
        elif place <= len(weights) - left:
            best = totals[-1] + ends[place + left] - ends[place]
            if best > need if strict else best >= need:
                chosen.append(place)
                totals.append(totals[-1] + float(weights[place]))
                place += 1
                continue
        # Later weights are smaller still: the last one that was chosen is replaced.
        if not chosen:
            return
        place = chosen.pop() + 1
        totals.pop()


def _rarest(rows: Array, values: Array, bound: float, limit: int) -> _Choices:
    """Return the smallest sets of rows without which so many distinct values are left."""
    known, numbers = np.unique(values[values >= 0], return_counts=True)
    gone = len(known) - math.floor(bound)
    if gone < 0:
        raise CapabilityError("No deletion raises a number of distinct values.")
    order = np.argsort(numbers, kind="stable")
    if gone == 0:
        return _Choices(0, 1, rows, [()])
    last = numbers[order[gone - 1]]
    forced = known[numbers < last]
    ties = known[numbers == last]
    count = math.comb(len(ties), gone - len(forced))
    found = []
    for chosen in islice(combinations(ties.tolist(), gone - len(forced)), limit):
        wanted = np.isin(values, [*forced.tolist(), *chosen])
        found.append(tuple(np.flatnonzero(wanted).tolist()))
    return _Choices(int(numbers[order[:gone]].sum()), count, rows, found)

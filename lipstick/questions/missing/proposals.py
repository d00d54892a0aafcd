"""Edits of the data by which the rows of a reason may get further."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import islice, product
from typing import Any

import pyarrow as pa

from lipstick.questions.missing.answer import LossOrigin, LostRows
from lipstick.questions.missing.cells import (
    CandidateCells,
    DataCell,
    beyond,
    cells_of,
    distance,
    fitting,
    fitting_values,
)
from lipstick.questions.missing.why_not import Tracer, padding
from rewriter.algebra import (
    Aggregate,
    Join,
    Limit,
    Relation,
    Scan,
    Windows,
    column,
    conjuncts,
    references,
    walk,
)
from rewriter.algebra import Scalar as Condition
from rewriter.analysis.pattern_origins import paths, trace
from rewriter.emit.candidate_values import (
    aggregates_of,
    almost_meeting,
    constants,
    extremes,
    group_count,
    last_admitted,
    linked_values,
    most_alike,
    pairs_of,
    row_at_place,
    row_with_key,
    taken_partners,
    window_of,
    with_literals,
)
from rewriter.emit.edits import Edit
from rewriter.emit.flow import FlowStep, Loss
from rewriter.emit.operators import OperatorQueries
from rewriter.emit.patterns import least_number
from rewriter.scalars.text import text

Edits = tuple[Edit, ...]
_MOST_ROWS = 10
"""The number of rows that one change adds or deletes at most."""
_AWAY = {True: ROUND_CEILING, False: ROUND_FLOOR}
_FITTING = 2
"""The number of values that are tried in a cell."""


@dataclass(frozen=True, eq=False)
class Proposals:
    """Edits for the reasons of a missing row.

    Parameters
    ----------
    root
        The plan of the query.
    """

    tracer: Tracer
    root: Relation

    def of(self, reason: LostRows) -> Iterator[Edits]:
        """Yield edits by which the rows of a reason may get further."""
        origin = reason.origin
        if origin is None:
            return
        step = origin.step
        if step is None:
            if reason.operator == "relation":
                flow = origin.flow
                yield from self._new_rows(flow.scan, flow.candidates, changing=True)
            return
        match step.loss:
            case Loss.WHERE | Loss.PATTERN:
                yield from self._failed(origin, step)
            case Loss.HAVING:
                yield from self._groups(origin, step)
            case Loss.LIMIT:
                yield from self._ranked(origin, step)
            case Loss.JOIN | Loss.SEMI:
                for partner in reason.partners:
                    yield from self.of(partner)
                yield from self._partners(origin, step, self._wanted(origin, step))
            case Loss.ANTI:
                yield from self._deleted(reason.partners)

    # -- cells of the candidate ----------------------------------------------------------------

    def _failed(self, origin: LossOrigin, step: FlowStep) -> Iterator[Edits]:
        """Yield edits for conditions of WHERE and of the pattern."""
        failing = [c.scalar for c in step.conditions if origin.values.get(c.holds) is not True]
        if (join := padding(self.tracer, origin, failing)) is not None:
            over = self._over(join.step.partner, origin, failing)
            yield from self._partners(origin, join.step, [], over)
            return
        for join in origin.flow.joins:
            if step.loss is Loss.PATTERN and join.step.operator is step.operator:
                over = self._over(join.step.partner, origin, failing)
                yield from self._partners(origin, join.step, over, pattern=True)
        for condition in failing:
            if (window := window_of(self.root, condition, self.tracer.texts)) is not None:
                yield from self._windowed(origin, *window, condition)
                return
        for edits in self._set(origin, failing, [c.scalar for c in step.conditions]):
            if step.loss is not Loss.PATTERN or not self._is_shared(origin, edits):
                yield edits
        yield from self._unjoined(origin, failing)

    def _over(
        self, relation: Relation | None, origin: LossOrigin, conditions: Sequence[Condition]
    ) -> list[Condition]:
        """Return conditions over the attributes of a relation, if they are over these alone."""
        assert relation is not None
        known = {attribute.id for attribute in relation.attributes}
        expanded = [
            self.tracer.texts.expanded(each, known, origin.flow.renamed) for each in conditions
        ]
        return [each for each in expanded if set(references(each)) <= known]

    def _set(
        self, origin: LossOrigin, failing: Sequence[Condition], all_of: Sequence[Condition]
    ) -> Iterator[Edits]:
        """Yield values of the cells of a candidate with which its failing conditions hold."""
        candidate = CandidateCells(self.tracer, origin)
        over = [candidate.over_cells(each) for each in failing]
        rest = [candidate.over_cells(each) for each in (*all_of, *origin.flow.candidates)]
        chosen = [[n for n in references(each) if n in candidate.cells] for each in over]
        for names in islice(product(*(dict.fromkeys(each) for each in chosen)), 4):
            values: dict[str, list[Any]] = {}
            for name in dict.fromkeys(names):
                its = [each for each in rest if name in set(references(each))]
                cell = candidate.cells[name]
                also = self._free_keys(cell)
                found = fitting(self.tracer, cell.scan, name, its, candidate.values, also)
                values[name] = self._allowed(cell, found)[:_FITTING]
            for each in islice(product(*values.values()), _FITTING):
                yield _sets((candidate.cells[n], v) for n, v in zip(values, each, strict=True))

    def _allowed(self, cell: DataCell, values: Sequence[Any]) -> list[Any]:
        """Return the values that a cell may get: a key is not NULL, nor that of another row."""
        if cell.column not in self.tracer.tokens[cell.scan.relation].columns:
            return list(values)
        keys = [{**cell.key, cell.column: value} for value in values if value is not None]
        return [key[cell.column] for key in keys if not self._is_there(cell.scan, key)]

    def _free_keys(self, cell: DataCell) -> list[Any]:
        """Return values of a column of the key that no row has: the ones beside all others."""
        source = self.tracer.tokens[cell.scan.relation]
        if cell.column not in source.columns:
            return []
        ends = self.tracer.run(text(extremes(source.view, cell.column))).to_pylist()[0]
        free = [beyond(ends["least"], upwards=False), beyond(ends["most"], upwards=True)]
        return [value for value in free if value is not None]

    def _is_there(self, scan: Scan, key: Mapping[str, Any]) -> bool:
        view = self.tracer.tokens[scan.relation].view
        return bool(self.tracer.run(text(row_with_key(view, list(key), key))).num_rows)

    def _is_shared(self, origin: LossOrigin, edits: Edits) -> bool:
        """Return True if edits change a row that is the partner of other rows, too."""
        for join in origin.flow.joins:
            for scan, _ in join.scans:
                for edit in edits:
                    queries = OperatorQueries(self.tracer.tokens, self.tracer.sql)
                    if edit.relation == scan.relation and edit.key != origin.key:
                        query = pairs_of(join.step.operator, scan, edit.key, queries)
                        if self.tracer.run(text(query)).num_rows > 1:
                            return True
        return False

    # -- joins ---------------------------------------------------------------------------------

    def _wanted(self, origin: LossOrigin, step: FlowStep) -> list[Condition]:
        """Return what the pattern asks of the partners of a candidate."""
        later = [
            each.own.scalar
            for each in origin.flow.steps
            if each.loss is Loss.PATTERN and each.own is not None and each.number > step.number
        ]
        return self._over(step.partner, origin, later)

    def _partners(
        self,
        origin: LossOrigin,
        step: FlowStep,
        wanted: Sequence[Condition],
        filters: Sequence[Condition] = (),
        *,
        pattern: bool = False,
    ) -> Iterator[Edits]:
        """Yield edits that give a candidate a partner.

        Parameters
        ----------
        wanted
            Conditions that only other partners may meet.
        filters
            Conditions that a partner may be made to meet.
        pattern
            True if partners are there, but others than the wanted ones.
        """
        assert step.partner is not None
        parts = self.tracer.partner_pattern(step, origin.values)
        yield from self._linked(origin, step, [*wanted, *filters])
        if not parts:
            return
        queries = OperatorQueries(self.tracer.tokens, self.tracer.sql)
        for path in paths(step.partner):
            scan = path.scan
            if not self.tracer.tokens[scan.relation].columns:
                continue
            own = {attribute.id for attribute in step.partner.attributes}
            links = [set(references(each)) - own for each in _parts_of(step)]
            taken = None
            assert isinstance(step.operator, Join)
            conditions: list[tuple[Condition, str]] = []
            for kind, its in (("part", parts), ("filter", filters), ("wanted", wanted)):
                for number, each in enumerate(its):
                    is_link = kind == "part" and bool(links[number])
                    for found in trace(path, [each]).candidates:
                        conditions.append((found.scalar, "link" if is_link else kind))
            scalars = [condition for condition, _ in conditions]
            for number, (_, kind) in enumerate(conditions):
                if kind == "wanted":
                    continue
                if kind == "link":
                    if taken is None:
                        taken = taken_partners(step.operator, step.partner, scan, queries)
                    if not taken:
                        continue
                query = almost_meeting(
                    scan, scalars, number, queries, taken if kind == "link" else None
                )
                yield from self._row_set(scan, scalars, scalars[number], query)
            if not pattern or wanted:
                yield from self._new_rows(scan, scalars, changing=False)

    def _linked(
        self, origin: LossOrigin, step: FlowStep, wanted: Sequence[Condition]
    ) -> Iterator[Edits]:
        """Yield values of a candidate's own columns with which a partner matches."""
        assert step.partner is not None
        if step.condition is None:
            return
        known = {attribute.id for attribute in step.partner.attributes}
        candidate = CandidateCells(self.tracer, origin)
        expanded = self.tracer.texts.expanded(step.condition, known, origin.flow.renamed)
        candidate.over_cells(step.condition)
        own = [n for n in dict.fromkeys(references(expanded)) if n not in known]
        for name in own:
            cell = candidate.cells.get(name)
            if cell is None:
                continue
            rest = [candidate.over_cells(each) for each in origin.flow.candidates]
            its = [each for each in rest if name in set(references(each))]
            values = {n: v for n, v in candidate.values.items() if n != name and n not in known}
            try:
                conditions = [with_literals(each, values) for each in (expanded, *its)]
                queries = OperatorQueries(self.tracer.tokens, self.tracer.sql)
                old = candidate.values.get(name)
                found: list[Any] = []
                for query in linked_values(step.partner, name, conditions, wanted, old, queries):
                    found += self.tracer.run(text(query)).column(0).to_pylist()
            except TypeError:
                continue
            unequal = [v for n, v in enumerate(found) if v != old and v not in found[:n]]
            unequal.sort(key=lambda value: distance(old, value))
            for value in self._allowed(cell, unequal)[:_FITTING]:
                yield _sets([(cell, value)])

    def _row_set(
        self, scan: Scan, conditions: Sequence[Condition], failing: Condition, query: Any
    ) -> Iterator[Edits]:
        """Yield values of a row that meets all conditions but one, with which it meets them all."""
        found = self._row(scan, query)
        if found is None:
            return
        key, values = found
        cells = cells_of(scan, key)
        for name in dict.fromkeys(references(failing)):
            if name in cells:
                its = [each for each in conditions if name in set(references(each))]
                fits = fitting(self.tracer, scan, name, its, values)
                for value in self._allowed(cells[name], fits)[:1]:
                    yield _sets([(cells[name], value)])

    def _row(self, scan: Scan, query: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the key and the values of the first row of a query over a relation's rows."""
        rows = self.tracer.run(text(query)).to_pylist()
        if not rows:
            return None
        names = self.tracer.tokens[scan.relation].columns
        identity = list(rows[0])[len(scan.output) :]
        key = {name: rows[0][own] for name, own in zip(names, identity, strict=True)}
        return key, {each.id: rows[0][each.id] for each in scan.output}

    def _new_rows(
        self, scan: Scan, conditions: Sequence[Condition], *, changing: bool
    ) -> Iterator[Edits]:
        """Yield a row that meets conditions, like the row that meets the most of them.

        Parameters
        ----------
        changing
            Whether this row may itself be changed.
        """
        queries = OperatorQueries(self.tracer.tokens, self.tracer.sql)
        found = self._row(scan, most_alike(scan, conditions, queries))
        if found is None:
            return
        key, values = found
        new: dict[str, Any] = {}
        cells = cells_of(scan, key)
        for condition in conditions:
            for name in dict.fromkeys(references(condition)):
                if name not in cells or cells[name].column in new or self._holds(condition, values):
                    continue
                its = [each for each in conditions if name in set(references(each))]
                fits = fitting(self.tracer, scan, name, its, values)
                if fits and fits[0] is not None:
                    values[name] = new[cells[name].column] = fits[0]
        if changing and new and not set(new) & set(key):
            yield (Edit(scan.relation, "set", key, new),)
        if not (set(key) <= set(new) and self._is_there(scan, {n: new[n] for n in key})):
            yield (Edit(scan.relation, "add", key, new),)

    def _holds(self, condition: Condition, values: Mapping[str, Any]) -> bool:
        try:
            query = constants([with_literals(condition, values)])
        except TypeError:
            return False
        return bool(self.tracer.run(text(query)).column(0)[0].as_py())

    def _unjoined(self, origin: LossOrigin, failing: Sequence[Condition]) -> Iterator[Edits]:
        """Yield the deletion of partners that are there where conditions ask for none."""
        for join in origin.flow.joins:
            assert join.step.partner is not None
            if origin.values.get(join.there) is None or not self._over(
                join.step.partner, origin, failing
            ):
                continue
            parts = self.tracer.partner_pattern(join.step, origin.values)
            found = self.tracer.lost(join.step.partner, parts, 3) if parts else []
            yield from self._deleted([each for each in found if each.operator == "answer"])

    @staticmethod
    def _deleted(partners: Sequence[LostRows]) -> Iterator[Edits]:
        for partner in partners:
            if partner.origin is not None and partner.rows <= partner.keys.num_rows:
                name = partner.origin.flow.scan.relation
                yield tuple(Edit(name, "delete", row, {}) for row in partner.keys.to_pylist())

    # -- places --------------------------------------------------------------------------------

    def _windowed(
        self, origin: LossOrigin, windows: Windows, call: Any, condition: Condition
    ) -> Iterator[Edits]:
        """Yield values with which a row comes before the last one that a condition admits."""
        known = {attribute.id for attribute in windows.attributes}
        over = self.tracer.texts.expanded(condition, known, origin.flow.renamed)
        queries = OperatorQueries(self.tracer.tokens, self.tracer.sql)
        if call.args.get("order") is None:
            return
        keys = [(key.this, bool(key.args.get("desc"))) for key in call.args["order"].expressions]
        candidate = CandidateCells(self.tracer, origin)
        try:
            query = last_admitted(windows, call, over, candidate.values, queries)
        except TypeError:
            return
        yield from self._overtaking(candidate, keys, query, is_before=True)

    def _ranked(self, origin: LossOrigin, step: FlowStep) -> Iterator[Edits]:
        """Yield values with which a row comes within LIMIT."""
        limit = step.operator
        assert isinstance(limit, Limit)
        sort = limit.input
        keys = [(key.scalar, key.descending) for key in getattr(sort, "keys", ())]
        place = origin.values[step.counts[0]]
        is_before = place > limit.offset
        last = limit.offset + (limit.count or 0) if is_before else limit.offset + 1
        queries = OperatorQueries(self.tracer.tokens, self.tracer.sql)
        candidate = CandidateCells(self.tracer, origin)
        try:
            query = row_at_place(limit, last, candidate.values, queries)
        except TypeError:
            return
        yield from self._overtaking(candidate, keys, query, is_before=is_before)

    def _overtaking(
        self,
        candidate: CandidateCells,
        keys: Sequence[tuple[Condition, bool]],
        query: Any,
        *,
        is_before: bool,
    ) -> Iterator[Edits]:
        """Yield values of order keys with which a row comes before another one, or after it."""
        rows = self.tracer.run(text(query)).to_pylist() if keys else []
        if not rows:
            return
        row = rows[0]
        differing = [n for n in range(len(keys)) if row[f"o{n}"] != row[f"k{n}"]]
        first = differing[0] if differing else 0
        for number in range(first, -1, -1):
            key, descending = keys[number]
            over = candidate.over_cells(key)
            names = list(references(over))
            if len(names) != 1 or names[0] not in candidate.cells:
                continue
            cell = candidate.cells[names[0]]
            other = row[f"k{number}"]
            values = [beyond(other, upwards=descending == is_before)]
            if number == first and (len(keys) > number + 1 or not differing):
                values.insert(0, other)
            for value in values:
                if value is not None and value != candidate.values.get(names[0]):
                    yield _sets([(cell, value)])

    # -- groups --------------------------------------------------------------------------------

    def _groups(self, origin: LossOrigin, step: FlowStep) -> Iterator[Edits]:
        """Yield edits of the rows of a group with which a condition on its aggregates holds."""
        assert step.own is not None
        condition = step.own.scalar
        scan = origin.flow.scan
        have = [origin.values.get(name) for _, name in step.own.operands]
        least = least_number(condition, have[0]) if len(have) == 1 else None
        if least is not None and isinstance(have[0], int):
            missing = int(least - have[0])
            if 0 < missing <= _MOST_ROWS:
                yield (Edit(scan.relation, "add", origin.key, {}, missing),)
                for name, key in self._joined_rows(origin):
                    yield (Edit(name, "add", key, {}, missing),)
        candidate = CandidateCells(self.tracer, origin)
        over = candidate.over_cells(condition)
        for call, argument, other in aggregates_of(over):
            if argument not in candidate.cells:
                continue
            cell = candidate.cells[argument]
            candidate.over_cells(column(argument))
            old = candidate.values.get(argument)
            if len(have) != 1 or have[0] is None or isinstance(have[0], str):
                continue
            kind = pa.chunked_array([pa.array([have[0]])])
            for now in fitting_values(self.tracer, "_aggregate", [other], have[0], kind)[:1]:
                value = now
                if call in ("SUM", "AVG") and old is not None:
                    more = Decimal(str(now)) - Decimal(str(have[0]))
                    more *= self._size(origin, argument) if call == "AVG" else 1
                    number = Decimal(str(old)) + more
                    if isinstance(old, int):
                        number = number.to_integral_value(_AWAY[more > 0])
                    value = type(old)(number)
                yield _sets([(cell, value)])

    def _size(self, origin: LossOrigin, counted: str) -> int:
        """Return the number of values of a column in the group of a candidate."""
        for aggregate in walk(self.root):
            if not isinstance(aggregate, Aggregate) or not aggregate.aggregate_output:
                continue
            below = {attribute.id for attribute in aggregate.input.attributes}
            if counted in below and aggregate.aggregate_output[0].id in origin.values:
                queries = OperatorQueries(self.tracer.tokens, self.tracer.sql)
                query = group_count(
                    aggregate.input, aggregate.keys, column(counted), origin.values, queries
                )
                return int(self.tracer.run(text(query)).column(0)[0].as_py())
        return 1

    def _joined_rows(self, origin: LossOrigin) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the relation and key of rows that the candidate was joined with."""
        for cell in CandidateCells(self.tracer, origin).cells.values():
            if cell.scan is not origin.flow.scan:
                yield cell.scan.relation, cell.key


def _parts_of(step: FlowStep) -> list[Condition]:
    """Return the conditions of a join that :func:`partner_pattern` has, in its order."""
    assert step.partner is not None
    known = {attribute.id for attribute in step.partner.attributes}
    return [each for each in conjuncts(step.condition) if set(references(each)) & known]


def _sets(values: Any) -> Edits:
    """Return new values of cells as edits, one for each row."""
    rows: dict[str, Edit] = {}
    for cell, value in values:
        name = f"{cell.scan.relation} {cell.key}"
        before = rows[name].values if name in rows else {}
        rows[name] = Edit(cell.scan.relation, "set", cell.key, {**before, cell.column: value})
    return tuple(rows.values())

"""Changes of the data that bring a missing row: found by the reasons, and each of them run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lipstick.questions.missing.answer import LossOrigin, LostRows, shown_value
from lipstick.questions.missing.why_not import Tracer
from rewriter.algebra import Relation, Scan
from rewriter.algebra import Scalar as Condition
from rewriter.emit.edits import Edit, fitting_values
from rewriter.emit.flow import Loss
from rewriter.emit.patterns import column_of, least_number, own_operands
from semiring.support.budget import spent

Edits = tuple[Edit, ...]
_RUNS = 24
"""Reruns at most."""
_STEPS = 3
"""Edits of one change at most."""


@dataclass(frozen=True, slots=True)
class DataChange:
    """A smallest change that was found to bring the row.

    Attributes
    ----------
    edits
        Rows that get other values, are added or deleted.
    """

    edits: Edits

    @property
    def sentence(self) -> str:
        """The change in words."""
        return "; ".join(map(_sentence, self.edits)) + "."

    def __str__(self) -> str:
        return self.sentence


class EditedData(Protocol):
    """Runs the query over edited relations."""

    def tracer(self, edits: Edits) -> Tracer:
        """Return what follows candidates over the edited relations."""

    def brings(self, edits: Edits) -> bool:
        """Return True if the query over the edited relations has the row."""


def changes(
    data: EditedData, root: Relation, pattern: Sequence[Condition], limit: int
) -> list[DataChange]:
    """Return changes that bring a row, with the fewest edits of all that were run."""
    found: list[DataChange] = []
    tried: set[str] = set()
    frontier: list[Edits] = [()]
    runs = 0
    for _ in range(_STEPS):
        next_frontier: list[Edits] = []
        for before in frontier:
            if spent():
                return found
            tracer = data.tracer(before)
            for reason in tracer.lost(root, pattern):
                for new in _proposals(tracer, reason):
                    edits = (*before, *new)
                    if str(edits) in tried or runs >= _RUNS or len(found) >= limit or spent():
                        continue
                    tried.add(str(edits))
                    runs += 1
                    if data.brings(edits):
                        found.append(DataChange(edits))
                    elif len(edits) < _STEPS:
                        next_frontier.append(edits)
        if found:
            break  # what has more edits is not a smallest change
        frontier = next_frontier
    return found


def _proposals(tracer: Tracer, reason: LostRows) -> Iterator[Edits]:
    """Yield edits by which the rows of a reason may get further."""
    origin = reason.origin
    if origin is None:
        return
    step = origin.step
    if step is None:
        if reason.operator == "relation":
            yield from _new_rows(tracer, origin.flow.scan, origin.flow.candidates)
        return
    if step.loss in (Loss.WHERE, Loss.PATTERN):
        failing = [c.scalar for c in step.conditions if origin.values.get(c.holds) is not True]
        values = _columns(tracer, origin.flow.scan, failing)
        if values:
            yield (Edit(origin.flow.scan.relation, "set", origin.key, values),)
    elif step.loss is Loss.HAVING:
        yield from _larger_groups(tracer, origin)
    elif step.loss in (Loss.JOIN, Loss.SEMI):
        yield from _partners(tracer, origin)
        for partner in reason.partners:
            yield from _proposals(tracer, partner)
    elif step.loss is Loss.ANTI:
        for partner in reason.partners:
            if partner.origin is not None and partner.rows <= partner.keys.num_rows:
                name = partner.origin.flow.scan.relation
                yield tuple(Edit(name, "delete", row, {}) for row in partner.keys.to_pylist())


def _columns(tracer: Tracer, scan: Scan, conditions: Sequence[Condition]) -> dict[str, Any]:
    """Return values of a relation's columns that may make conditions true; {} if others decide."""
    places = {each.id: name for each, name in zip(scan.output, scan.columns, strict=True)}
    values: dict[str, Any] = {}
    for condition in conditions:
        fitting = fitting_values(tracer.texts.expanded(condition))
        if not fitting or not set(fitting) <= set(places):
            return {}
        values |= {places[name]: value for name, value in fitting.items()}
    return values


def _new_rows(tracer: Tracer, scan: Scan, conditions: Sequence[Condition]) -> Iterator[Edits]:
    """Yield a row of a relation with other values, and a new one, that satisfy conditions."""
    values = _columns(tracer, scan, conditions)
    near = tracer.nearest_key(scan, conditions)
    if not values or near is None:
        return
    if not set(values) & set(near):
        yield (Edit(scan.relation, "set", near, values),)
    yield (Edit(scan.relation, "add", near, values),)


def _larger_groups(tracer: Tracer, origin: LossOrigin) -> Iterator[Edits]:
    assert origin.step is not None
    assert origin.step.own is not None
    condition = origin.step.own.scalar
    scan = origin.flow.scan
    have = [origin.values.get(name) for _, name in origin.step.own.operands]
    least = least_number(condition, have[0]) if len(have) == 1 else None
    if least is not None and isinstance(have[0], int | float):
        missing = least - int(have[0])
        if 0 < missing <= 10:
            yield (Edit(scan.relation, "add", origin.key, {}, int(missing)),)
            for name, key in _joined_rows(tracer, origin):
                yield (Edit(name, "add", key, {}, int(missing)),)
    places = {each.id: name for each, name in zip(scan.output, scan.columns, strict=True)}
    for name, value in fitting_values(tracer.texts.expanded(condition)).items():
        if name in places:
            old = origin.values.get(name)
            if isinstance(value, int | float) and isinstance(old, int | float) and len(have) == 1:
                more = value - have[0] if isinstance(have[0], int | float) else value
                yield (Edit(scan.relation, "set", origin.key, {places[name]: old + more}),)
            yield (Edit(scan.relation, "set", origin.key, {places[name]: value}),)


def _joined_rows(tracer: Tracer, origin: LossOrigin) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the relation and key of rows that the first example was joined with."""
    assert origin.step is not None
    for step in origin.flow.steps:
        if step.loss is not Loss.JOIN or step.number >= origin.step.number:
            continue
        assert step.partner is not None
        parts = tracer.partner_pattern(step, origin.values)
        for there in tracer.lost(step.partner, parts) if parts else ():
            if there.operator == "answer" and there.origin is not None:
                yield there.origin.flow.scan.relation, dict(there.origin.key)


def _partners(tracer: Tracer, origin: LossOrigin) -> Iterator[Edits]:
    assert origin.step is not None
    assert origin.step.partner is not None
    parts = tracer.partner_pattern(origin.step, origin.values)
    if not parts:
        return
    scan = origin.flow.scan
    places = {each.id: name for each, name in zip(scan.output, scan.columns, strict=True)}
    for row in tracer.nearest_rows(origin.step.partner, parts):
        for name, other in own_operands(origin.step):
            column = tracer.texts.expanded(column_of(name))
            value = row["row"].get(other.name, row["operand"])
            if column.name in places and value is not None:
                yield (Edit(scan.relation, "set", origin.key, {places[column.name]: value}),)
    for flow in tracer.flows(origin.step.partner, parts):
        yield from _new_rows(tracer, flow.scan, flow.candidates)


def _sentence(edit: Edit) -> str:
    key = ", ".join(f"{name}={shown_value(value)}" for name, value in edit.key.items())
    values = ", ".join(f"{name} = {shown_value(value)}" for name, value in edit.values.items())
    if edit.kind == "delete":
        return f"delete the row of {edit.relation} with {key}"
    if edit.kind == "set":
        return f"in the row of {edit.relation} with {key} set {values}"
    copies = "a row" if edit.copies == 1 else f"{edit.copies} rows"
    new = "" if set(edit.values) & set(edit.key) else ", under a new key"
    more = f", with {values}" if values else ""
    return f"add {copies} like that with {key} to {edit.relation}{new}{more}"


def edits_by_relation(edits: Edits) -> Mapping[str, list[Edit]]:
    """Return the edits of each relation."""
    grouped: dict[str, list[Edit]] = {}
    for edit in edits:
        grouped.setdefault(edit.relation, []).append(edit)
    return grouped

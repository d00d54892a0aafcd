"""Why a row is not in an answer: the pattern, the flows of its candidates, and their partners."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from lipstick.questions.missing.answer import LossOrigin, LostRows, described_values, shown_value
from rewriter.algebra import Relation, references
from rewriter.algebra import Scalar as Condition
from rewriter.analysis.pattern_origins import paths
from rewriter.blocks import TokenSource
from rewriter.emit.flow import CANDIDATES, STAGE, CandidateFlow, FlowJoin, FlowStep, Loss
from rewriter.emit.flow_writer import flows
from rewriter.emit.operators import OperatorQueries
from rewriter.emit.patterns import (
    ScalarTexts,
    computed_operand,
    constant_operands,
    least_number,
    nearest,
    partner_pattern,
    with_constants,
)
from rewriter.scalars.text import text

Run = Callable[[str], pa.Table]
"""Runs Spark SQL."""

_DEEPEST = 3
"""The number of joins that partners are followed through."""


@dataclass(frozen=True, slots=True)
class Tracer:
    """Asks where candidates are lost.

    Parameters
    ----------
    run
        Runs a statement.
    tokens
        The view and token columns of each relation.
    texts
        Shows the scalars of the plan.
    examples
        The number of candidates that are shown of each step.
    """

    run: Run
    tokens: Mapping[str, TokenSource]
    sql: str
    texts: ScalarTexts
    examples: int = 3

    def lost(self, root: Relation, pattern: Sequence[Condition], depth: int = 0) -> list[LostRows]:
        """Return where the candidates for a row of an operator are lost, furthest first."""
        found: list[tuple[tuple[bool, float], LostRows]] = []
        for flow in self.flows(root, pattern):
            rows = self.run(text(flow.query)).to_pylist()
            if not rows:
                found.append(((flow.derived, 2.0), self._none(flow)))
            for number in sorted({row[STAGE] for row in rows}, reverse=True):
                examples = [row for row in rows if row[STAGE] == number]
                order = (flow.derived, 1 - number / flow.arrived)
                found.append((order, self._reason(flow, number, examples, depth)))
        return [reason for _, reason in sorted(found, key=lambda pair: pair[0])]

    def flows(self, root: Relation, pattern: Sequence[Condition]) -> list[CandidateFlow]:
        """Return the flows of the candidates for a row of an operator."""
        queries = OperatorQueries(self.tokens, self.sql)
        return flows(root, pattern, queries, self.examples)

    def partner_pattern(self, step: FlowStep, values: Mapping[str, Any]) -> list[Condition] | None:
        """Return what a partner of a row must meet, with the row's own operands as literals."""
        parts = partner_pattern(step, values)
        computed = constant_operands(parts or ())
        if not parts or computed is None:
            return parts
        found = self.run(text(computed)).to_pylist()[0]
        return with_constants(parts, list(found.values()))

    def nearest_rows(self, relation: Relation, parts: Sequence[Condition]) -> list[dict[str, Any]]:
        """Return, for each condition, the row that meets the others and comes nearest to it."""
        query = nearest(relation, parts, OperatorQueries(self.tokens, self.sql))
        return [] if query is None else self.run(text(query)).to_pylist()

    # -- one reason ------------------------------------------------------------------------

    def _none(self, flow: CandidateFlow) -> LostRows:
        """Return that a relation has no candidates, with the row that comes nearest."""
        name = self.texts.relation(flow.scan)
        wanted = self._texts(flow.candidates)
        near = self._nearest(flow.scan, flow.candidates)
        sentence = f"{name} has no row with {wanted}.{near}"
        origin = LossOrigin(flow, None, {}, {})
        span, keys = flow.scan.span, _keys([])
        return LostRows(name, 0, "relation", wanted, (), span, sentence, keys, origin=origin)

    def _reason(
        self, flow: CandidateFlow, number: int, examples: Sequence[Mapping[str, Any]], depth: int
    ) -> LostRows:
        name, count = self.texts.relation(flow.scan), examples[0][CANDIDATES]
        values = dict(examples[0]["_row"])
        step = flow.step(number)
        tokens = dict(zip(flow.tokens, self.tokens[flow.scan.relation].columns, strict=True))
        key = ", ".join(f"{tokens[n]}={shown_value(examples[0][n])}" for n in flow.tokens)
        subject = f"The row of {name} ({key})" if count == 1 else f"{count:,} rows of {name}"
        if count > 1:
            subject += f" (first: {key})"
        example = {
            column: values.get(attribute.id)
            for column, attribute in zip(flow.scan.columns, flow.scan.output, strict=True)
        }
        keys = _keys([{tokens[n]: row[n] for n in flow.tokens} for row in examples])
        if step is None:
            verb, what = ("is", "such a row") if count == 1 else ("are", "such rows")
            # Partners are in a subquery, or on the other side of a join.
            sentence = f"{subject} {verb} {what if depth else 'in the answer'}."
            origin = LossOrigin(flow, None, values, keys.slice(0, 1).to_pylist()[0])
            return LostRows(
                name, count, "answer", "", (), None, sentence, keys, example, origin=origin
            )
        origin = LossOrigin(flow, step, values, keys.slice(0, 1).to_pylist()[0])
        explained = self._explained(origin, step, depth)
        span = getattr(step.operator, "span", None)
        sentence = f"{subject}: {explained.why}"
        return LostRows(
            name,
            count,
            step.loss.value,
            explained.condition,
            explained.values,
            span,
            sentence,
            keys,
            example,
            explained.partners,
            origin,
        )

    def _explained(self, origin: LossOrigin, step: FlowStep, depth: int) -> _Explained:
        values = origin.values
        match step.loss:
            case Loss.WHERE | Loss.HAVING | Loss.PATTERN:
                return self._failed(origin, step, depth)
            case Loss.JOIN | Loss.SEMI:
                return self._unmatched(step, values, depth)
            case Loss.ANTI:
                return self._matched(step, values)
            case Loss.LIMIT:
                return _beyond(step, values)
            case Loss.EXPLODE:
                return _Explained(
                    "", (), f"its array is empty or NULL where it is exploded{_place(step)}."
                )
        left, right = (values[name] for name in step.counts)
        counts = (("copies", left), ("copies in the other query", right))
        return _Explained("", counts, f"{left} against {right} copies at {_at(step)}.")

    def _failed(self, origin: LossOrigin, step: FlowStep, depth: int) -> _Explained:
        assert step.own is not None
        values = origin.values
        shown = self.texts.text(step.own.scalar)
        operands = self._operands(step, values)
        truth = "NULL" if values.get(step.own.holds) is None else "false"
        if (join := padding(self, origin, [step.own.scalar])) is not None:
            lost, partners, near = self._no_partner(join.step, values, depth)
            nulls = [f"{name} is NULL" for name, value in operands if value is None]
            so = ", ".join(nulls) or "its columns are NULL"
            drops = f"{step.loss.value} `{shown}` drops it"
            if step.loss is Loss.PATTERN:
                drops = f"`{shown}` is {truth}"
            sentence = f"lost at {_at(step)}, {lost}, so {so} and {drops}.{near}"
            return _Explained(shown, operands, sentence, partners)
        others = [
            self.texts.text(each.scalar)
            for each in step.conditions
            if each is not step.own and values.get(each.holds) is False
        ]
        more = f" So is {_quoted(others)}." if others else ""
        at = f"lost at {_at(step)},"
        if step.loss is Loss.PATTERN:
            at = "in a row of the answer, but"
            if step.condition is not None:
                pairs = _quoted([self.texts.text(step.condition)])
                at = f"joined at JOIN{_place(step)} on {pairs}, but with other rows:"
        found = f": {described_values(operands)}" if operands else ""
        found += _difference(step.own.scalar, operands)
        return _Explained(shown, operands, f"{at} {_quoted([shown])} is {truth}{found}.{more}")

    def _operands(self, step: FlowStep, values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        assert step.own is not None
        if step.own.operands:
            known = [(scalar, values.get(name)) for scalar, name in step.own.operands]
            return tuple((self.texts.text(scalar), value) for scalar, value in known)
        names = dict.fromkeys(references(step.own.scalar))
        return tuple((self.texts.column(name), values.get(name)) for name in names)

    def _unmatched(self, step: FlowStep, values: Mapping[str, Any], depth: int) -> _Explained:
        condition = "" if step.condition is None else self.texts.text(step.condition)
        operands = self._sides(step, values)
        lost, partners, near = self._no_partner(step, values, depth)
        sentence = f"lost at {_at(step)}, {lost}"
        if operands:
            sentence += f", where {described_values(operands)}"
        return _Explained(condition, operands, f"{sentence}.{near}", partners)

    def _no_partner(
        self, step: FlowStep, values: Mapping[str, Any], depth: int
    ) -> tuple[str, tuple[LostRows, ...], str]:
        """Return the clause that no row matches, the partners lost below, and the nearest rows."""
        assert step.partner is not None
        sentence = f"no row of {self._other(step.partner)} matches"
        if step.condition is not None:
            sentence += f" {_quoted([self.texts.text(step.condition)])}"
        parts = self.partner_pattern(step, values)
        partners: tuple[LostRows, ...] = ()
        near = ""
        if parts and depth < _DEEPEST:
            partners = tuple(self.lost(step.partner, parts, depth + 1))
            if partners and all(partner.operator == "relation" for partner in partners):
                partners, near = (), self._nearest(step.partner, parts)
        return sentence, partners, near

    def _matched(self, step: FlowStep, values: Mapping[str, Any]) -> _Explained:
        assert step.partner is not None
        condition = "" if step.condition is None else self.texts.text(step.condition)
        operands = self._sides(step, values)
        other = self._other(step.partner)
        if operands or not condition:
            sentence = f"lost at {_at(step)}, a row of {other} makes"
            sentence += f" {_quoted([condition])} true" if condition else " it so"
        else:  # of NOT IN, which is true of nothing where the subquery has a NULL
            sentence = (
                f"lost at {_at(step)}, since the subquery has a row with {_quoted([condition])}"
            )
        if operands:
            sentence += f", where {described_values(operands)}"
        parts = self.partner_pattern(step, values)
        partners = self.lost(step.partner, parts, _DEEPEST) if parts else []
        there = tuple(each for each in partners if each.operator == "answer")
        return _Explained(condition, operands, f"{sentence}.", there)

    def _sides(self, step: FlowStep, values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        """Return the columns of the row itself that a join compares, and their values."""
        assert step.partner is not None
        known = {attribute.id for attribute in step.partner.attributes}
        names = dict.fromkeys(references(step.condition) if step.condition is not None else ())
        own = [name for name in names if name not in known and name in values]
        return tuple((self.texts.column(name), values[name]) for name in own)

    def _other(self, relation: Relation) -> str:
        names = list(dict.fromkeys(self.texts.relation(path.scan) for path in paths(relation)))
        return " with ".join(names) or "the other side"

    def _nearest(self, relation: Relation, parts: Sequence[Condition]) -> str:
        """Return a sentence with the rows that meet all conditions but one, and come closest."""
        sentences = []
        for row in self.nearest_rows(relation, parts):
            part = parts[row["part"]]
            names = dict.fromkeys(references(part))
            values = [(self.texts.column(name), row["row"][name]) for name in names]
            if names and _is_near(row["distance"], values):
                near = described_values(values)
                if (operand := computed_operand(part)) is not None:
                    computed = shown_value(row["operand"])
                    near = f"{self.texts.text(operand)} is {computed} ({near})"
                wanted = f" to {_quoted([self.texts.text(part)])}" if len(parts) > 1 else ""
                sentences.append(f" Nearest{wanted}: {near}.")
        return "".join(sentences)

    def _texts(self, conditions: Sequence[Condition]) -> str:
        return _quoted([self.texts.text(each) for each in conditions])


@dataclass(frozen=True, slots=True)
class _Explained:
    """A reason: the condition, its operands, the rest of the sentence, and partners."""

    condition: str
    values: tuple[tuple[str, Any], ...]
    why: str
    partners: tuple[LostRows, ...] = ()


def padding(tracer: Tracer, origin: LossOrigin, failing: Sequence[Condition]) -> FlowJoin | None:
    """Return the outer join that found no partner for a row, if conditions fail of its NULLs."""
    for join in origin.flow.joins:
        assert join.step.partner is not None
        known = {attribute.id for attribute in join.step.partner.attributes}
        if origin.values.get(join.there) is None and join.there in origin.values:
            for each in failing:
                if known & set(references(tracer.texts.expanded(each, known))):
                    return join
    return None


def _difference(condition: Condition, operands: Sequence[tuple[str, Any]]) -> str:
    """Return how much is missing of a number that should be at least a constant."""
    value = operands[0][1] if len(operands) == 1 else None
    least = least_number(condition, value)
    if least is None or not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return ""
    missing = least - Decimal(str(value))
    return f", {missing.normalize():f} too little" if missing > 0 else ""


def _beyond(step: FlowStep, values: Mapping[str, Any]) -> _Explained:
    place, ties = (values[name] for name in step.counts)
    count, offset = getattr(step.operator, "count", None), getattr(step.operator, "offset", 0)
    shown = f"LIMIT {count}" if count is not None else f"OFFSET {offset}"
    sentence = f"at place {place} in the order of {shown}{_place(step)}"
    if count is not None and place > offset + count:
        sentence += f", {place - offset - count} too far"
    if ties > 1:
        sentence += f"; {ties - 1} other rows tie with it"
    return _Explained(shown, (("place", place),), f"{sentence}.")


def _is_near(distance: float | None, values: Sequence[tuple[str, Any]]) -> bool:
    if distance is None or not any(isinstance(value, str) for _, value in values):
        return True
    longest = max(len(value) for _, value in values if isinstance(value, str))
    return distance <= max(2, longest // 3)


def _quoted(texts: Sequence[str]) -> str:
    return " and ".join(f"`{each}`" for each in texts)


def _at(step: FlowStep) -> str:
    return f"{step.loss.value}{_place(step)}"


def _place(step: FlowStep) -> str:
    span = getattr(step.operator, "span", None)
    return "" if span is None or span.view else f" at {span.line}:{span.column}"


def _keys(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows)) if rows else pa.table({})

"""Writes the flow of candidates as one query: a WITH item per operator, over the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    BagDifference,
    CorrelatedScalar,
    ExistenceJoin,
    Filter,
    Generate,
    InnerJoin,
    Join,
    Limit,
    OuterJoin,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    SemiJoin,
    UnionAll,
    Windows,
    conjuncts,
    walk,
)
from rewriter.analysis.may_throw import may_raise, without_errors
from rewriter.analysis.pattern_origins import (
    Path,
    PatternTrace,
    is_strict_comparison,
    paths,
    trace,
)
from rewriter.analysis.placed_conditions import is_above_groups
from rewriter.blocks import Generator, Named, qualified
from rewriter.emit.core import with_generators
from rewriter.emit.flow import (
    LOST,
    CandidateFlow,
    FlowJoin,
    FlowStep,
    Loss,
    TracedCondition,
    examples_by_stage,
)
from rewriter.emit.operators import OperatorQueries, OperatorRows, looked_up, scans_of_identity
from rewriter.emit.trees import is_true, named, table
from rewriter.errors import UnsupportedError

_THERE = "_there"
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ)


def flows(
    root: Relation, pattern: Sequence[Scalar], queries: OperatorQueries, examples: int
) -> list[CandidateFlow]:
    """Return the flows of all relations on which a pattern puts conditions.

    If it puts conditions on no relation, because it is about computed columns only, all rows of all
    relations below are candidates; so are all rows of other relations if NULLs of rows without a
    partner may satisfy it.

    Parameters
    ----------
    root
        A plan whose conditions are placed, :func:`rewriter.analysis.placed_conditions`.
    pattern
        Conditions over the attributes of ``root``.
    examples
        The number of example candidates of each step.

    Raises
    ------
    UnsupportedError
        As :class:`rewriter.emit.operators.OperatorQueries`, and for table functions, relations
        without tokens below window functions and LIMIT, and joins of rows with themselves.
    """
    queries.rows(root)  # refuses what has no rule, wherever it stands
    tracked = [path for path in paths(root) if queries.tokens[path.scan.relation].columns]
    traced = [(path, trace(path, pattern).of_the_pattern()) for path in tracked]
    chosen = [each for each in traced if each[1].candidates]
    if any(isinstance(operator, OuterJoin) for operator in walk(root)) and not all(
        is_strict_comparison(part.scalar) for _, own in chosen for part in own.candidates
    ):
        # A padded row, whose columns no relation has, may satisfy the condition, too.
        chosen = traced
    return [_FlowWriter(queries, *each, examples).flow() for each in chosen or traced]


class _FlowWriter:
    """Writes the flow of one scan: a WITH item per operator, each over the one before."""

    def __init__(
        self,
        queries: OperatorQueries,
        path: Path,
        trace: PatternTrace,
        examples: int,
    ) -> None:
        self._queries = queries
        self._path = path
        self._trace = trace
        self._examples = examples
        self._steps: list[FlowStep] = []
        self._joins: list[FlowJoin] = []
        self._renamed: dict[str, str] = {}
        rows = queries.rows(path.scan)
        query = exp.select(
            *named((name, qualified(rows.name, name)) for name in rows.columns),
            *named([(LOST, exp.cast(exp.null(), "int"))]),
        ).from_(table(rows.name, rows.name))
        for part in trace.candidates:
            # Conditions must not fail for rows that the query may drop earlier.
            query = query.where(without_errors(part.scalar))
        self._name = queries.add(query, "_f")
        self._columns = [*rows.columns, LOST]
        self._tokens = rows.identity
        self._identity = rows.identity
        self._attributes = list(rows.ids)

    def flow(self) -> CandidateFlow:
        """Write all operators and the counts, and return the flow."""
        traced = zip(self._path.operators, self._trace.checks, self._trace.passed, strict=True)
        for (operator, place), checks, passed in traced:
            self._operator(operator, place, passed)
            if checks:
                self._filter(checks, Loss.PATTERN, operator)
        arrived = len(self._steps) + 1
        return CandidateFlow(
            self._path.scan,
            tuple(part.scalar for part in self._trace.candidates),
            bool(self._trace.candidates) and all(p.derived for p in self._trace.candidates),
            tuple(self._steps),
            self._tokens,
            tuple(self._attributes),
            examples_by_stage(
                self._queries, self._name, self._columns, self._tokens, arrived, self._examples
            ),
            arrived,
            tuple(self._joins),
            self._renamed,
        )

    def _operator(self, operator: Relation, place: int, passed: Sequence[Scalar]) -> None:
        match operator:
            case Filter():
                kind = Loss.HAVING if is_above_groups(operator.input) else Loss.WHERE
                self._filter(conjuncts(operator.predicate), kind, operator)
            case Project():
                self._project(operator)
            case Windows():
                rows = self._queries.rows(operator)
                self._match_identity(rows, [each.id for each in operator.output], operator)
            case Generate():
                self._generate(operator)
            case Aggregate():
                self._aggregate(operator, passed)
            case Limit():
                self._limit(operator)
            case SemiJoin() | AntiJoin():
                self._half_join(operator)
            case InnerJoin() | OuterJoin():
                self._join(operator, place)
            case ExistenceJoin():
                self._add([(operator.output.id, self._exists(operator))])
                self._attributes.append(operator.output.id)
            case ScalarSubquery():
                inner = self._queries.rows(operator.query)
                value = exp.select(qualified(inner.name, operator.value.id))
                self._attribute(
                    operator.output, value.from_(table(inner.name, inner.name)).subquery()
                )
            case CorrelatedScalar():
                self._correlated(operator)
            case UnionAll():
                self._union(operator, place)
            case BagDifference():
                self._difference(operator)

    # -- one more query over the flow ----------------------------------------------------------

    def _alive(self) -> Scalar:
        return exp.Is(this=qualified(self._name, LOST), expression=exp.null())

    def _guarded(self, scalar: Scalar, *more: Scalar) -> Scalar:
        """Return a scalar that is computed only for rows that are not lost."""
        condition = exp.and_(self._alive(), *(each.copy() for each in more))
        return exp.Case().when(condition, scalar.copy())

    def _lost_unless(self, *kept: Scalar) -> Scalar:
        """Return the number of the step that loses a row, with one step per condition; NULL for
        none.
        """
        case = exp.Case().when(exp.Not(this=self._alive()), qualified(self._name, LOST))
        for number, condition in enumerate(kept, start=len(self._steps) + 1):
            lost = exp.Not(this=is_true(condition))
            case = case.when(lost, exp.Literal.number(number))
        return case

    def _step(self, loss: Loss, operator: Relation, **more: Any) -> None:
        self._steps.append(FlowStep(len(self._steps) + 1, loss, operator, **more))

    def _add(
        self,
        more: Sequence[Named],
        lost: Scalar | None = None,
        join: exp.Join | None = None,
        generators: Sequence[Generator] = (),
    ) -> None:
        """Add columns to the flow, and recompute which rows are lost."""
        kept: list[Named] = [
            (name, qualified(self._name, name))
            for name in self._columns
            if lost is None or name != LOST
        ]
        if lost is not None:
            kept.append((LOST, exp.cast(lost, "int")))
        query = exp.select(*named([*kept, *more])).from_(table(self._name, self._name))
        if join is not None:
            query.append("joins", join)
        query = with_generators(query, generators)
        self._columns += [name for name, _ in more]
        self._name = self._queries.add(query, "_f")

    def _attribute(self, attribute: Attribute, scalar: Scalar) -> None:
        self._add([(attribute.id, scalar)])
        self._attributes.append(attribute.id)

    def _traced(
        self, condition: Scalar, before: Sequence[Scalar]
    ) -> tuple[TracedCondition, list[Named]]:
        """Return a condition with columns for its truth and its operands.

        A condition that may fail is computed only where the conditions before it are true.
        """
        guards = before if may_raise(condition) else ()
        holds = self._queries.fresh("_c")
        columns: list[Named] = [(holds, self._guarded(condition, *guards))]
        operands: list[tuple[Scalar, str]] = []
        bare = condition.unnest()
        if isinstance(bare, _COMPARISONS):
            for operand in (bare.this, bare.expression):
                if operand.find(exp.Column):
                    name = self._queries.fresh("_v")
                    columns.append((name, self._guarded(operand, *guards)))
                    operands.append((operand, name))
        return TracedCondition(condition, holds, tuple(operands)), columns

    def _rename(self, output: Sequence[Attribute], inputs: Sequence[Attribute]) -> None:
        pairs = zip(output, inputs, strict=True)
        self._renamed |= {out.id: into.id for out, into in pairs if out.id != into.id}

    # -- operators -----------------------------------------------------------------------------

    def _filter(self, conditions: Sequence[Scalar], loss: Loss, operator: Relation) -> None:
        traced, columns = [], []
        for place, condition in enumerate(conditions):
            each, its = self._traced(condition, conditions[:place])
            traced.append(each)
            columns += its
        self._add(columns, self._lost_unless(*conditions))
        pairs = None
        if loss is Loss.PATTERN and isinstance(operator, InnerJoin | OuterJoin):
            pairs = operator.condition
        for each in traced:
            self._step(loss, operator, own=each, conditions=tuple(traced), condition=pairs)

    def _project(self, project: Project) -> None:
        new: list[Named] = []
        for attribute, scalar in zip(project.output, project.scalars, strict=True):
            if attribute.id in self._columns:
                continue  # it is passed on as it is
            new.append((attribute.id, self._guarded(scalar) if may_raise(scalar) else scalar))
            self._attributes.append(attribute.id)
        if new:
            self._add(new)

    def _partner(self, rows: OperatorRows, condition: Scalar | None) -> tuple[str, exp.Expr]:
        """Return the rows of the other input with a column that is never NULL.

        If equalities join few candidates with them, only the matching rows are read.
        """
        there = rows.select().select(*named([(_THERE, exp.true())]))
        equal = [c for c in conjuncts(condition) if isinstance(c, exp.EQ) and not may_raise(c)]
        if self._trace.candidates and equal:
            on = exp.and_(self._alive(), *(each.copy() for each in equal))
            flow = table(self._name, self._name)
            there.append("joins", exp.Join(this=flow, side="LEFT", kind="SEMI", on=on))
        name = self._queries.add(there, "_p")
        return name, table(name, name)

    def _left_join(self, source: exp.Expr, condition: Scalar | None) -> exp.Join:
        conditions = [self._alive(), *([] if condition is None else [condition.copy()])]
        return exp.Join(this=source, side="LEFT", on=exp.and_(*conditions))

    def _join(self, join: InnerJoin | OuterJoin, place: int) -> None:
        other = join.right if place == 0 else join.left
        rows = self._queries.rows(other)
        if set(rows.ids) & set(self._columns):
            raise UnsupportedError(
                "a join of rows with themselves is not followed here",
                "Name the relation in FROM twice.",
                self._queries.sql,
                join.span,
            )
        name, source = self._partner(rows, join.condition)
        fresh = {column: self._queries.fresh() for column in rows.identity}
        new = [(each, qualified(name, each)) for each in rows.ids]
        new += [(column, qualified(name, old)) for old, column in fresh.items()]
        there = self._queries.fresh(_THERE)
        new.append((there, qualified(name, _THERE)))
        keeps = isinstance(join, OuterJoin) and (
            join.side.keeps_left if place == 0 else join.side.keeps_right
        )
        lost = None
        if not keeps:
            lost = self._lost_unless(qualified(name, _THERE))
            self._step(Loss.JOIN, join, partner=other, condition=join.condition)
        step = FlowStep(len(self._steps), Loss.JOIN, join, partner=other, condition=join.condition)
        scans = scans_of_identity(other, self._queries)
        own = tuple((scan, tuple(fresh[token] for token in tokens)) for scan, tokens in scans)
        self._joins.append(FlowJoin(step, there, own))
        joined = self._left_join(source, join.condition)
        self._add(new, lost, joined)
        self._attributes += rows.ids
        sides = (self._identity, tuple(fresh.values()))
        first, second = sides if place == 0 else sides[::-1]
        self._identity = (*first, *second)

    def _exists(self, join: Join) -> Scalar:
        rows = self._queries.rows(join.right)
        partner = exp.select(exp.Literal.number(1)).from_(table(rows.name, rows.name))
        partner = partner.where(self._alive())
        if join.condition is not None:
            partner = partner.where(join.condition.copy())
        return is_true(exp.Exists(this=partner))

    def _half_join(self, join: SemiJoin | AntiJoin) -> None:
        found = self._queries.fresh("_c")
        self._add([(found, self._exists(join))])
        is_semi = isinstance(join, SemiJoin)
        kept: Scalar = qualified(self._name, found)
        kept = kept if is_semi else exp.Not(this=kept)
        self._add([], self._lost_unless(kept))
        loss = Loss.SEMI if is_semi else Loss.ANTI
        self._step(loss, join, partner=join.right, condition=join.condition)

    def _match_identity(self, rows: OperatorRows, names: Sequence[str], operator: Relation) -> None:
        if not self._identity or len(rows.identity) != len(self._identity):
            raise UnsupportedError(
                "a window function or LIMIT over rows without distinct tokens is not followed",
                "Track all relations with provenance.",
                self._queries.sql,
                getattr(operator, "span", None),
            )
        pairs = zip(rows.identity, self._identity, strict=True)
        same = [
            exp.NullSafeEQ(this=qualified(rows.name, name), expression=qualified(self._name, own))
            for name, own in pairs
        ]
        joined = self._left_join(table(rows.name, rows.name), exp.and_(*same))
        self._add([(name, qualified(rows.name, name)) for name in names], join=joined)
        self._attributes += [name for name in names if not name.startswith("_")]

    def _aggregate(self, aggregate: Aggregate, passed: Sequence[Scalar]) -> None:
        rows = self._queries.rows(aggregate)
        if passed:
            # Only these groups have candidates, so only they are computed.
            query = rows.select().where(*(p.copy() for p in passed))
            rows = replace(rows, name=self._queries.add(query))
        same: list[Scalar] = []
        for place, (attribute, key) in enumerate(
            zip(aggregate.key_output, aggregate.keys, strict=True)
        ):
            equal: Scalar = exp.NullSafeEQ(
                this=qualified(rows.name, attribute.id), expression=exp.paren(key.copy())
            )
            if aggregate.sets is not None:
                without = [exp.Literal.number(n) for n in aggregate.sets.without(place)]
                if without:
                    number = qualified(rows.name, aggregate.sets.number.id)
                    equal = exp.or_(exp.In(this=number, expressions=without), equal)
            same.append(equal)
        fresh = [self._queries.fresh() for _ in rows.identity]
        joined = self._left_join(
            table(rows.name, rows.name), exp.and_(*same) if same else exp.true()
        )
        new = [(each, qualified(rows.name, each)) for each in rows.ids]
        new += [(n, qualified(rows.name, o)) for n, o in zip(fresh, rows.identity, strict=True)]
        self._add(new, None, joined)
        self._attributes += rows.ids
        self._identity = tuple(fresh)

    def _limit(self, limit: Limit) -> None:
        rows, number, ties = self._queries.ranked(limit)
        self._match_identity(rows, [number, ties], limit)
        place = qualified(self._name, number)
        kept: Scalar = exp.GT(this=place, expression=exp.Literal.number(limit.offset))
        if limit.count is not None:
            last = exp.Literal.number(limit.offset + limit.count)
            kept = exp.and_(kept, exp.LTE(this=place.copy(), expression=last))
        self._add([], self._lost_unless(kept))
        self._step(Loss.LIMIT, limit, counts=(number, ties))

    def _generate(self, generate: Generate) -> None:
        if generate.function:
            raise UnsupportedError(
                "table functions are not followed row by row",
                "Ask this of the query below the function.",
                self._queries.sql,
                generate.span,
            )
        position = generate.position
        generator = Generator(
            "_made",
            self._guarded(generate.argument),
            None if position is None else position.id,
            tuple(each.id for each in generate.output),
            True,
            generate.inline,
        )
        new = [(each.id, exp.column(each.column().this.copy())) for each in generate.made]
        lost = None
        if position is not None and not generate.outer:
            there = exp.Not(this=exp.Is(this=position.column(), expression=exp.null()))
            lost = self._lost_unless(there)
            self._step(Loss.EXPLODE, generate)
        self._add(new, lost, generators=[generator])
        self._attributes += [each.id for each in generate.made]
        if position is not None:
            fresh = self._queries.fresh()
            self._add([(fresh, position.column())])
            self._identity = (*self._identity, fresh)

    def _correlated(self, relation: CorrelatedScalar) -> None:
        inner = self._queries.rows(relation.query)
        value, pairs = looked_up(relation, inner)
        joined = self._left_join(table(inner.name, inner.name), exp.and_(*pairs))
        self._add([(relation.output.id, value)], None, joined)
        self._attributes.append(relation.output.id)

    def _union(self, union: UnionAll, place: int) -> None:
        rows = self._queries.rows(union)
        inputs = zip(union.output, union.branches[place].attributes, strict=True)
        new: list[Named] = [
            (out.id, into.column()) for out, into in inputs if out.id not in self._columns
        ]
        branch = union.branches[place].attributes
        self._rename(union.output, branch)
        before = sum(len(self._queries.rows(each).identity) for each in union.branches[:place])
        fresh = [self._queries.fresh() for _ in rows.identity]
        new.append((fresh[0], exp.Literal.number(place)))
        for index, column in enumerate(fresh[1:]):
            own = index - before
            known = 0 <= own < len(self._identity)
            new.append(
                (column, qualified(self._name, self._identity[own]) if known else exp.null())
            )
        self._add(new)
        self._attributes += [out.id for out in union.output if out.id not in self._attributes]
        self._identity = tuple(fresh)

    def _difference(self, difference: BagDifference) -> None:
        counts = []
        for side in (difference.left, difference.right):
            rows = self._queries.rows(side)
            count = self._queries.fresh("_copies")
            keys = [qualified(rows.name, name) for name in rows.ids]
            grouped = exp.select(*named(zip(rows.ids, keys, strict=True)))
            grouped = grouped.select(*named([(count, exp.Count(this=exp.Star()))]))
            grouped = grouped.from_(table(rows.name, rows.name)).group_by(*(k.copy() for k in keys))
            name = self._queries.add(grouped)
            pairs = zip(rows.ids, difference.left.attributes, strict=True)
            same = [
                exp.NullSafeEQ(
                    this=qualified(name, own), expression=qualified(self._name, attribute.id)
                )
                for own, attribute in pairs
            ]
            joined = self._left_join(table(name, name), exp.and_(*same))
            number = exp.func("coalesce", qualified(name, count), exp.Literal.number(0))
            self._add([(count, number)], None, joined)
            counts.append(count)
        left, right = (qualified(self._name, count) for count in counts)
        kept: Scalar = exp.GT(this=left, expression=right)
        if difference.common:
            kept = exp.GT(this=right.copy(), expression=exp.Literal.number(0))
        outputs = zip(difference.output, difference.left.attributes, strict=True)
        new = [(out.id, into.column()) for out, into in outputs if out.id not in self._columns]
        self._rename(difference.output, difference.left.attributes)
        self._add(new, self._lost_unless(kept))
        self._attributes += [name for name, _ in new]
        self._identity = ()
        loss = Loss.INTERSECT if difference.common else Loss.EXCEPT
        self._step(loss, difference, counts=tuple(counts))

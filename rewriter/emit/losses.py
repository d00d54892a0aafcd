"""The rows that each operator of a query loses, as queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import (
    AntiJoin,
    BagDifference,
    Filter,
    InnerJoin,
    Limit,
    OuterJoin,
    Relation,
    Scalar,
    SemiJoin,
    conjuncts,
    walk,
)
from rewriter.analysis.placed_conditions import is_above_groups
from rewriter.blocks import qualified
from rewriter.emit.flow import Loss
from rewriter.emit.operators import OperatorQueries, OperatorRows
from rewriter.emit.trees import is_true, named, table, union_all


@dataclass(frozen=True, slots=True)
class OperatorLoss:
    """An operator, one of its inputs, and the query for the input's rows that the operator
    loses.
    """

    loss: Loss
    operator: Relation
    input: Relation
    condition: Scalar | None
    rows: OperatorRows
    lost: str


def operator_losses(root: Relation, queries: OperatorQueries) -> list[OperatorLoss]:
    """Return the operators of a plan that may lose rows, inputs before their readers."""
    queries.rows(root)  # refuses what has no rule, wherever it stands
    return [loss for operator in walk(root) for loss in _losses(operator, queries)]


def _losses(operator: Relation, queries: OperatorQueries) -> Iterator[OperatorLoss]:
    match operator:
        case Filter():
            loss = Loss.HAVING if is_above_groups(operator.input) else Loss.WHERE
            query, rows = _input(operator.input, queries)
            for condition in conjuncts(operator.predicate):
                lost = queries.add(query.where(exp.Not(this=is_true(condition))))
                yield OperatorLoss(loss, operator, operator.input, condition, rows, lost)
                rows = replace(rows, name=queries.add(query.where(is_true(condition))))
                query = rows.select()
        case InnerJoin() | OuterJoin():
            outer = operator.side if isinstance(operator, OuterJoin) else None
            if outer is None or not outer.keeps_left:
                yield _unmatched(operator, operator.left, operator.right, "ANTI", queries)
            if outer is None or not outer.keeps_right:
                yield _unmatched(operator, operator.right, operator.left, "ANTI", queries)
        case SemiJoin():
            yield _unmatched(operator, operator.left, operator.right, "ANTI", queries)
        case AntiJoin():
            yield _unmatched(operator, operator.left, operator.right, "SEMI", queries)
        case Limit():
            ranked, place, _ = queries.ranked(operator)
            number = qualified(ranked.name, place)
            first = exp.LTE(this=number, expression=exp.Literal.number(operator.offset))
            beyond: Scalar = first
            if operator.count is not None:
                last = exp.Literal.number(operator.offset + operator.count)
                beyond = exp.or_(first, exp.GT(this=number.copy(), expression=last))
            lost = queries.add(ranked.select().where(beyond))
            rows = queries.rows(operator.input)
            yield OperatorLoss(Loss.LIMIT, operator, operator.input, None, rows, lost)
        case BagDifference():
            left, kept_rows = queries.rows(operator.left), queries.rows(operator)
            all_rows, kept_query = left.select(left.ids), kept_rows.select(kept_rows.ids)
            lost = queries.add(exp.except_(all_rows, kept_query, distinct=False))
            loss = Loss.INTERSECT if operator.common else Loss.EXCEPT
            yield OperatorLoss(loss, operator, operator.left, None, left, lost)


def _input(relation: Relation, queries: OperatorQueries) -> tuple[exp.Select, OperatorRows]:
    rows = queries.rows(relation)
    return rows.select(), rows


def _unmatched(
    join: InnerJoin | OuterJoin | SemiJoin | AntiJoin,
    own: Relation,
    other: Relation,
    kind: str,
    queries: OperatorQueries,
) -> OperatorLoss:
    query, rows = _input(own, queries)
    partner = queries.rows(other)
    on = exp.true() if join.condition is None else join.condition.copy()
    source = table(partner.name, partner.name)
    query.append("joins", exp.Join(this=source, side="LEFT", kind=kind, on=on))
    loss = {SemiJoin: Loss.SEMI, AntiJoin: Loss.ANTI}.get(type(join), Loss.JOIN)
    return OperatorLoss(loss, join, own, join.condition, rows, queries.add(query))


def counted_losses(losses: list[OperatorLoss], queries: OperatorQueries) -> exp.Query | None:
    """Return, by loss, the number of the input's rows and the number of lost ones."""
    selects = [
        exp.select(
            *named(
                [
                    ("place", exp.Literal.number(place)),
                    ("rows", _count(loss.rows.name)),
                    ("lost", _count(loss.lost)),
                ]
            )
        )
        for place, loss in enumerate(losses)
    ]
    return queries.statement(union_all(selects)) if selects else None


def lost_examples(loss: OperatorLoss, queries: OperatorQueries, limit: int) -> exp.Query:
    """Return examples of the rows that an operator loses, by the attributes of its input."""
    columns = [(name, qualified(loss.lost, name)) for name in loss.rows.ids]
    select = exp.select(*named(columns) or [exp.true()]).from_(table(loss.lost, loss.lost))
    return queries.statement(select.limit(limit))


def _count(name: str) -> Scalar:
    count = exp.select(*named([("n", exp.Count(this=exp.Star()))])).from_(table(name, name))
    return count.subquery()

"""The flow of candidates for a missing row through a query, up to the operators that lose them.

A pattern is a list of conditions on the columns of the answer. It is traced down to the relations
(re-sourcing, as in Breadcrumb): the rows of a relation that satisfy the conditions arriving there
are the *candidates*. One query then follows them up again, with the conditions of all operators as
columns instead of filters; a row that an operator loses carries the operator's number. The operator
that loses a candidate is the first one above which no successor of the candidate remains that can
still match the pattern: the frontier picky operator of Chapman and Jagadish (Why not?, SIGMOD
2009), by the successors of NedExplain (Bidoit, Herschel and Tzompanaki, EDBT 2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp

from rewriter.algebra import (
    Relation,
    Scalar,
    Scan,
)
from rewriter.blocks import Named, qualified
from rewriter.emit.operators import OperatorQueries
from rewriter.emit.trees import named, table

LOST = "_lost"
STAGE = "_stage"
CANDIDATES = "_candidates"


class Loss(Enum):
    """The kinds of steps at which a row can be lost."""

    WHERE = "WHERE"
    HAVING = "HAVING"
    JOIN = "JOIN"
    SEMI = "IN or EXISTS"
    ANTI = "NOT IN, NOT EXISTS or EXCEPT"
    LIMIT = "LIMIT"
    EXCEPT = "EXCEPT ALL"
    INTERSECT = "INTERSECT ALL"
    EXPLODE = "explode"
    PATTERN = "the pattern"


@dataclass(frozen=True, slots=True)
class TracedCondition:
    """A condition of a step, and the columns of the flow with its truth and its operands."""

    scalar: Scalar
    holds: str
    operands: tuple[tuple[Scalar, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FlowStep:
    """An operator at which rows of a flow may be lost.

    Parameters
    ----------
    number
        The value of column `LOST` in the rows that are lost here.
    operator
        The operator in the plan.
    own, conditions
        For WHERE, HAVING and the pattern: the failing condition, and all conditions of the step.
    partner, condition
        The other input of a join, and the condition on pairs; of a pattern that fails above a join
        this condition alone.
    counts
        Columns with the deciding numbers: for LIMIT a row's rank and the number of rows tied with
        it, for EXCEPT ALL the copies in both inputs.
    """

    number: int
    loss: Loss
    operator: Relation
    own: TracedCondition | None = None
    conditions: tuple[TracedCondition, ...] = ()
    partner: Relation | None = None
    condition: Scalar | None = None
    counts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlowJoin:
    """A join on the way of a flow.

    Parameters
    ----------
    step
        The join as a step: a step of the flow, unless it keeps rows without a partner.
    there
        The column that is NULL in rows without a partner.
    scans
        The scans of the partner, and the columns of the flow with the tokens of their rows.
    """

    step: FlowStep
    there: str
    scans: tuple[tuple[Scan, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class CandidateFlow:
    """The flow of the candidates of one relation.

    Parameters
    ----------
    scan
        The scan of the relation in the query.
    candidates
        The conditions that make a row a candidate.
    derived
        True if the conditions follow from the pattern only through equalities of joins.
    steps
        The operators that may lose a row, in their order.
    tokens, attributes
        Columns of the flow: the candidate's token, and all attributes on its way.
    query
        For each number of a step, and for `arrived`, the number of candidates that end there, with
        examples.
    arrived
        The value of `STAGE` for candidates that arrive.
    joins, renamed
        The joins on the way; and columns by their names after set operations.
    """

    scan: Scan
    candidates: tuple[Scalar, ...]
    derived: bool
    steps: tuple[FlowStep, ...]
    tokens: tuple[str, ...]
    attributes: tuple[str, ...]
    query: exp.Query
    arrived: int
    joins: tuple[FlowJoin, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)

    def step(self, number: int) -> FlowStep | None:
        """Return the step with a number; None for the number of rows that arrive."""
        return next((step for step in self.steps if step.number == number), None)


def examples_by_stage(
    queries: OperatorQueries,
    flow: str,
    names: Sequence[str],
    token: Sequence[str],
    arrived: int,
    examples: int,
) -> exp.Query:
    """Return, per step, the number of candidates that get no further, with examples.

    Parameters
    ----------
    flow, names
        The last item of a flow, and its columns.
    token
        The columns with the candidate's token.
    arrived
        The stage of candidates that arrive.
    """
    stage = exp.func("coalesce", qualified(flow, LOST), exp.Literal.number(arrived))
    shown = [name for name in names if name not in (LOST, *token)]
    fields: list[exp.Expr] = []
    for name in shown:
        fields += [exp.Literal.string(name), qualified(flow, name)]
    row = exp.Anonymous(this="named_struct", expressions=fields or [exp.Literal.string("_")] * 2)
    furthest = exp.Anonymous(this="max_by", expressions=[row, stage])
    tokens = [(name, qualified(flow, name)) for name in token]
    grouped = exp.select(*named(tokens)).select(
        *named([(STAGE, exp.Max(this=stage.copy())), ("_row", furthest)])
    )
    grouped = grouped.from_(table(flow, flow))
    grouped = grouped.group_by(*(part.copy() for _, part in tokens))
    name = queries.add(grouped, "_f")
    at = qualified(name, STAGE)
    order = [exp.Ordered(this=qualified(name, part), nulls_first=True) for part in token]
    count = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[at.copy()])
    place = exp.Window(
        this=exp.RowNumber(), partition_by=[at.copy()], order=exp.Order(expressions=order)
    )
    columns: list[Named] = [(part, qualified(name, part)) for part in token]
    columns += [(STAGE, at), ("_row", qualified(name, "_row"))]
    numbered = exp.select(*named(columns)).select(*named([(CANDIDATES, count), ("_place", place)]))
    numbered = numbered.from_(table(name, name))
    last = queries.add(numbered, "_f")
    few = exp.select(*named((n, qualified(last, n)) for n, _ in columns)).select(
        *named([(CANDIDATES, qualified(last, CANDIDATES))])
    )
    limit = exp.LTE(this=qualified(last, "_place"), expression=exp.Literal.number(examples))
    return queries.statement(few.from_(table(last, last)).where(limit))

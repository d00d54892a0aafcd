"""UNION, EXCEPT and INTERSECT of queries that are bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from rewriter.algebra import AntiJoin, BagDifference, Scalar, SemiJoin, UnionAll
from rewriter.bind.catalog import SESSION, WINDOW
from rewriter.bind.clauses.grouping import distinct
from rewriter.bind.columns.scope import Bound
from rewriter.bind.columns.types import marks_of
from rewriter.bind.context import BindContext
from rewriter.bind.text import Source
from rewriter.position import Span
from rewriter.scalars.comparable import cast_to


def bind_set_operation(
    operation: exp.SetOperation,
    operands: Sequence[exp.Expr],
    branches: Sequence[Bound],
    context: BindContext,
) -> Bound:
    """Return a set operation of bound queries.

    Raises
    ------
    QueryError
        The queries have different numbers of columns.
    """
    source, first = context.source, branches[0]
    name = type(operation).__name__.upper()
    words = (name, "MINUS") if name == "EXCEPT" else (name,)
    span = source.keyword_after(operation.this, *words)
    for branch, operand in zip(branches[1:], operands[1:], strict=True):
        have, need = len(branch.scope.entries), len(first.scope.entries)
        if have != need:
            advice = "Select as many columns in each of them."
            problem = f"{name} of queries of {need} and {have} columns"
            raise source.error(problem, advice, operand)
    _check_marks(operation, branches, source)
    if not isinstance(operation, exp.Union):
        if operation.args.get("distinct"):
            return _difference(operation, branches, context, span)
        return _bag_difference(operation, branches, context, span)
    names = [attribute.name for attribute in first.relation.attributes]
    output = tuple(context.names.attribute(name) for name in names)
    union = UnionAll(tuple(branch.relation for branch in branches), output, span)
    bound = Bound(union, first.scope.over(output))
    return distinct(bound, context, span) if operation.args.get("distinct") else bound


def _check_marks(operation: exp.SetOperation, branches: Sequence[Bound], source: Source) -> None:
    """Refuse what Spark does otherwise to columns that it knows more of than their types."""
    name = type(operation).__name__.upper()
    marks = [
        [known.get(attribute.id) for attribute in bound.relation.attributes]
        for bound, known in ((bound, marks_of(bound.relation)) for bound in branches)
    ]
    if not isinstance(operation, exp.Union) and any(SESSION in each for each in marks):
        advice = "Compare the starts and ends of the windows, as columns of their own."
        raise source.unsupported(f"{name} of session windows has no rule", advice, operation)
    for column in zip(*marks, strict=True):
        if len({None if mark in (WINDOW, SESSION) else mark for mark in column}) > 1:
            advice = "Convert them: CAST(... AS STRING)."
            problem = f"{name} of CHAR with a text of another length has no rule"
            raise source.unsupported(problem, advice, operation)


def _difference(
    operation: exp.SetOperation, branches: Sequence[Bound], context: BindContext, span: Span | None
) -> Bound:
    """Return EXCEPT or INTERSECT: the different rows of the left that the right lacks or has."""
    if span is not None:
        context.differences.add(span)
        if span in context.environment.converted:
            branches = [
                _converted(each, context.environment.converted[span], context) for each in branches
            ]
    left, right = distinct(branches[0], context, span), branches[1]
    pairs = zip(left.relation.attributes, right.relation.attributes, strict=True)
    equal = exp.and_(
        *(exp.NullSafeEQ(this=left.column(), expression=other.column()) for left, other in pairs),
        copy=False,
    )
    join = AntiJoin if isinstance(operation, exp.Except) else SemiJoin
    return Bound(join(left.relation, right.relation, equal, span), left.scope)


def _converted(bound: Bound, types: Mapping[int, str], context: BindContext) -> Bound:
    """Return the rows with some columns, by their numbers, converted to a type."""
    attributes = bound.relation.attributes
    converted: list[Scalar] = [attribute.column() for attribute in attributes]
    for number, name in types.items():
        converted[number] = cast_to(converted[number], name)
    project = context.project(bound.relation, [a.name for a in attributes], converted)
    return Bound(project, bound.scope.over(project.output))


def _bag_difference(
    operation: exp.SetOperation, branches: Sequence[Bound], context: BindContext, span: Span | None
) -> Bound:
    """Return EXCEPT ALL or INTERSECT ALL; of a chain of EXCEPT ALL all but the first are taken."""
    left, *further = branches
    output = tuple(context.names.attribute(a.name) for a in left.relation.attributes)
    right = further[0].relation
    if len(further) > 1:
        taken = tuple(context.names.attribute(a.name) for a in left.relation.attributes)
        right = UnionAll(tuple(bound.relation for bound in further), taken, span)
    common = isinstance(operation, exp.Intersect)
    relation = BagDifference(left.relation, right, output, common, span)
    return Bound(relation, left.scope.over(output))

"""The annotation type of a block's tuples: what the plan alone says of an annotation."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import GROUP, Block, Kind, Semi, aliases
from rewriter.emit import dependent, uncertain_having
from rewriter.serialize import text
from semiring.annotation import (
    Alt,
    AnnotationType,
    BlackBox,
    Compare,
    Delta,
    Literal,
    Monus,
    One,
    Ref,
    Sum,
    TensorOf,
    Times,
    TokenOf,
)

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.EQ: "=",
    exp.NEQ: "<>",
}
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Sum: "SUM",
    exp.Count: "COUNT",
    exp.Min: "MIN",
    exp.Max: "MAX",
    exp.Avg: "AVG",
}


def annotation_type(block: Block, key_types: Mapping[str, tuple[str, ...]]) -> AnnotationType:
    """Return τ of a block's tuples.

    Parameters
    ----------
    key_types
        The types of the token columns of every relation.
    """
    if block.kind is Kind.UNION:
        return Alt(tuple(Ref(branch.name, branch.identity) for branch in block.branches))
    member = _member(block, key_types)
    if block.kind is Kind.ROWS:
        return member
    values = tuple(name for name, call in block.aggregates if not isinstance(call.this, exp.Star))
    members = Sum(member, values)
    if block.difference is not None:
        less = Monus(members, members)
        return Monus(members, less) if block.difference.common else less
    root: AnnotationType = Delta(members) if block.keys else One()
    factors = [_condition(condition, block, members) for condition in uncertain_having(block)]
    return Times((root, *factors)) if factors else root


def _member(block: Block, key_types: Mapping[str, tuple[str, ...]]) -> AnnotationType:
    factors: list[AnnotationType] = [
        TokenOf(token.relation, key_types[token.relation]) for token in block.tokens
    ]
    calls = [generator.argument for generator in block.generators if generator.placed]
    called = {alias: call for call in calls for alias in aliases(call)}
    for lookup in block.lookups:
        if not lookup.scalar:
            found = Ref(lookup.block.name, lookup.block.identity)
            call = called.get(lookup.alias)
            factors.append(found if call is None else BlackBox(str(call.this), (found,)))
    factors += [_membership(semi) for semi in block.semis]
    factors += [
        Ref(outer.block.name, outer.block.identity) for outer in block.outer_lookups if outer.factor
    ]
    for condition in block.conditions:
        if dependent(condition, block):
            factors.append(BlackBox(f"[{text(condition)}]", ()))
    if not factors:
        return One()
    return factors[0] if len(factors) == 1 else Times(tuple(factors))


def _membership(semi: Semi) -> AnnotationType:
    found = Delta(Ref(semi.block.name, semi.block.identity))
    return Monus(One(), found) if semi.negated else found


def _condition(condition: Scalar, block: Block, members: Sum) -> AnnotationType:
    """Return a comparison of HAVING; a black box over the members if it is not a simple one."""
    condition = condition.unnest()
    op = _OPERATORS.get(type(condition))
    if op is not None:
        left = _operand(condition.this, block, members)
        right = _operand(condition.expression, block, members)
        if left is not None and right is not None:
            return Compare(op, left, right)
    return BlackBox(f"[{text(condition)}]", (members,))


def _operand(scalar: Scalar, block: Block, members: Sum) -> TensorOf | Literal | None:
    scalar = scalar.unnest()
    if isinstance(scalar, exp.Literal):
        return Literal(scalar.this if scalar.is_string else scalar.to_py())
    if isinstance(scalar, exp.Column) and scalar.table == GROUP:
        call = dict(block.aggregates).get(scalar.name)
        name = _AGGREGATES.get(type(call)) if call is not None else None
        if call is not None and name is not None:
            value = scalar.name if scalar.name in members.values else None
            distinct = isinstance(call.this, exp.Distinct)
            return TensorOf(name, members, value, distinct, sibling=0)
    return None

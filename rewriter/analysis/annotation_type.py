"""The annotation type of a block's tuples: the facts about an annotation that the plan decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.data_flow import dependent, uncertain_having
from rewriter.blocks import (
    GROUP,
    UNION,
    Block,
    Kind,
    Semi,
    aliases,
    qualified,
)
from rewriter.scalars.comparable import AGGREGATES, COMPARISONS
from rewriter.scalars.text import text
from semiring.annotation import (
    Alt,
    AnnotationType,
    BlackBox,
    ComparisonOf,
    DeltaOf,
    Literal,
    MonusOf,
    One,
    Ref,
    SumOf,
    TensorOf,
    Times,
    TokenOf,
)


def annotation_type(block: Block, key_types: Mapping[str, tuple[str, ...]]) -> AnnotationType:
    """Return τ of a block's tuples.

    Parameters
    ----------
    key_types
        The types of the token columns of every relation.
    """
    uncut = _uncut(block, key_types)
    if not block.limited:
        return uncut
    last = "∞" if block.limit is None else block.offset + block.limit
    return _product([uncut, BlackBox(f"[{block.offset + 1} ≤ place ≤ {last}]", (uncut,))])


def _uncut(block: Block, key_types: Mapping[str, tuple[str, ...]]) -> AnnotationType:
    if block.kind is Kind.UNION:
        branches = Alt(tuple(Ref(branch.name, branch.identity) for branch in block.branches))
        return _product([branches, *(_condition_on(c, block) for c in block.having)])
    member = _member(block, key_types)
    if block.kind is Kind.ROWS:
        return member
    values = tuple(name for name, call in block.aggregates if not isinstance(call.this, exp.Star))
    members = SumOf(member, values)
    if block.difference is not None:
        less = MonusOf(members, members)
        return MonusOf(members, less) if block.difference.common else less
    root: AnnotationType = DeltaOf(members) if block.keys else One()
    conditions = uncertain_having(block)
    return _product([root, *(_condition(condition, block, members) for condition in conditions)])


def _product(factors: Sequence[AnnotationType]) -> AnnotationType:
    return factors[0] if len(factors) == 1 else Times(tuple(factors))


def _member(block: Block, key_types: Mapping[str, tuple[str, ...]]) -> AnnotationType:
    factors: list[AnnotationType] = [
        TokenOf(token.relation, key_types[token.relation]) for token in block.tokens
    ]
    calls = [generator.argument for generator in block.generators if generator.placed]
    called = {alias: call for call in calls for alias in aliases(call)}
    for lookup in block.lookups:
        if not lookup.scalar:
            tuple_read = Ref(lookup.block.name, lookup.block.identity)
            call = called.get(lookup.alias)
            factors.append(tuple_read if call is None else BlackBox(str(call.this), (tuple_read,)))
    factors += [_membership(semi) for semi in block.semis]
    factors += [
        Ref(outer.block.name, outer.block.identity) for outer in block.outer_lookups if outer.factor
    ]
    factors += [_condition_on(c, block) for c in block.conditions if dependent(c, block)]
    if block.grouped and not block.stable_identity:
        factors += [
            _condition_on(exp.NullSafeEQ(this=key.copy(), expression=qualified(GROUP, name)), block)
            for name, key in block.keys
            if dependent(key, block)
        ]
    return _product(factors) if factors else One()


def _condition_on(condition: Scalar, block: Block) -> AnnotationType:
    """Return a condition on values of other blocks' tuples."""
    read = aliases(condition)
    lookups = block.lookups_by_alias
    known = [lookups[alias].block for alias in sorted(read) if alias in lookups]
    if UNION in read:
        known += block.branches
    return BlackBox(f"[{text(condition)}]", tuple(Ref(b.name, b.identity) for b in known))


def _membership(semi: Semi) -> AnnotationType:
    member_of = DeltaOf(Ref(semi.block.name, semi.block.identity))
    return MonusOf(One(), member_of) if semi.negated else member_of


def _condition(condition: Scalar, block: Block, members: SumOf) -> AnnotationType:
    """Return a comparison of HAVING; a black box over the members if it is not a simple one."""
    condition = condition.unnest()
    op = COMPARISONS.get(type(condition))
    if op is not None:
        left = _operand(condition.this, block, members)
        right = _operand(condition.expression, block, members)
        if left is not None and right is not None:
            return ComparisonOf(op, left, right)
    return BlackBox(f"[{text(condition)}]", (members,))


def _operand(scalar: Scalar, block: Block, members: SumOf) -> TensorOf | Literal | None:
    scalar = scalar.unnest()
    if isinstance(scalar, exp.Literal):
        return Literal(scalar.this if scalar.is_string else scalar.to_py())
    if isinstance(scalar, exp.Column) and scalar.table == GROUP:
        call = dict(block.aggregates).get(scalar.name)
        name = AGGREGATES.get(type(call)) if call is not None else None
        if call is not None and name is not None:
            value = scalar.name if scalar.name in members.values else None
            distinct = isinstance(call.this, exp.Distinct)
            return TensorOf(name, members, value, distinct, sibling=0)
    return None

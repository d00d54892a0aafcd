"""Outer joins: through monus, as lookups of a unique key, or as COGROUP."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    Filter,
    InnerJoin,
    OuterJoin,
    Project,
    Relation,
    Scalar,
    SemiJoin,
    Side,
    UnionAll,
    conjuncts,
)
from rewriter.blocks import (
    Match,
    MatchKind,
    ScanSource,
)
from rewriter.lower.context import LoweringContext, Open, OpenCore
from rewriter.lower.inputs import asking, block_of, core_of, derived
from rewriter.lower.outer import (
    Correlation,
    Keyed,
    Padded,
    may_be_joined,
    outer_join_of_cores,
    where_true,
)
from rewriter.lower.semi_joins import correlated, keyed_by, membership_of
from rewriter.scalars.text import substitute

_DOUBLED = 2
"""Limit on successive outer joins in a core of all potential rows, matched and padded."""


def lower_outer_join(context: LoweringContext, relation: OuterJoin) -> Open:
    context.share(relation.left)
    context.share(relation.right)
    keyed = _keyed_join(context, relation)
    if keyed is not None:
        return keyed
    left, right = core_of(context, relation.left), core_of(context, relation.right)
    if not (may_be_joined(left) and may_be_joined(right)):
        return context.rule(context, _as_union(context, relation))
    env = {**left.env, **right.env}
    condition = conjuncts(relation.condition)
    predicates = [p for c in condition for p in conjuncts(substitute(c, env))]
    return outer_join_of_cores(
        relation.attributes,
        (left, right),
        predicates,
        _padded(context, relation, Side.LEFT) if relation.side.keeps_left else None,
        _padded(context, relation, Side.RIGHT) if relation.side.keeps_right else None,
        context.names.alias("outer_join"),
    )


def _keyed_join(context: LoweringContext, relation: OuterJoin) -> OpenCore | None:
    """Return an outer join whose kept sides find at most one tuple on the other side.

    A LEFT JOIN is then its left side with the lookup's columns; a FULL JOIN is a COGROUP.
    """
    parts = correlated(context, relation, relation.left, relation.right)
    if parts.outer or parts.inner or parts.others or not parts.pairs or parts.null_safe:
        return None
    lefts, rights = ([pair[n] for pair in parts.pairs] for n in (0, 1))
    if relation.side is Side.FULL:
        sides = ((relation.left, lefts), (relation.right, rights))
        # Both sides are checked before either becomes a block of its own.
        if not all(_may_be_keyed(context, side, columns) for side, columns in sides):
            return None
        left, right = (_unique_on(context, side, columns) for side, columns in sides)
        if left is None or right is None:
            return None
        return _cogroup(context, relation, parts, left, right)
    kept, other, outer, inner = relation.left, relation.right, lefts, rights
    if relation.side is Side.RIGHT:
        kept, other, outer, inner = relation.right, relation.left, rights, lefts
    if not all(isinstance(column, exp.Column) for column in inner):
        return None
    # A relation as it is joins faster as a source of the core, which doubles its rows.
    if keyed_by(context, other, inner) is None and _outer_joins(kept) < _DOUBLED:
        return None
    keyed = _unique_on(context, other, inner)
    if keyed is None:
        return None
    core = asking(context, kept, outer)
    pairs = tuple(
        (core.resolve(scalar), name) for scalar, name in zip(outer, keyed.names, strict=True)
    )
    alias = context.names.alias(f"{keyed.block.name}_match")
    lookup = Match(alias, keyed.block, pairs, MatchKind.AT_MOST_ONE, span=relation.span)
    return replace(
        core,
        env={**core.env, **keyed.columns(alias)},
        matches=(*core.matches, lookup),
    )


def _unique_on(context: LoweringContext, relation: Relation, columns: list[Scalar]) -> Keyed | None:
    """Return the block of a relation if these columns identify its tuples, else None.

    It is a grouping by exactly them, or a relation in which they are known to be unique.
    """
    if not all(isinstance(column, exp.Column) for column in columns):
        return None
    keyed = keyed_by(context, relation, columns)
    if keyed is None and _is_unique(context, context.pending[relation], columns):
        block = block_of(context, relation)
        names = [column.name for column in columns]
        return Keyed(block, names, {output.name: output.name for output in block.outputs})
    if keyed is None:
        return None
    block, names = keyed
    open_ = context.pending.pop(relation, None)
    if isinstance(open_, OpenCore):
        (source,) = open_.sources
        env = dict(open_.env)
        renamed = {
            identity: scalar
            for identity, scalar in env.items()
            if isinstance(scalar, exp.Column) and scalar.table == source.alias
        }
        if len(renamed) != len(env):
            return None
        return Keyed(block, names, {i: scalar.name for i, scalar in renamed.items()})
    return Keyed(block, names, {o.name: o.name for o in block.outputs})


def _may_be_keyed(context: LoweringContext, relation: Relation, columns: list[Scalar]) -> bool:
    if not all(isinstance(column, exp.Column) for column in columns):
        return False
    if keyed_by(context, relation, columns) is not None:
        return True
    return _is_unique(context, context.pending[relation], columns)


def _is_unique(context: LoweringContext, open_: Open, columns: list[Scalar]) -> bool:
    """Return True if columns of one scan, filtered or not, are known to be unique."""
    if not isinstance(open_, OpenCore) or open_.post.limited:
        return False
    more = open_.matches or open_.generators or open_.copies
    if more or len(open_.sources) != 1:
        return False
    (source,) = open_.sources
    resolved = [open_.resolve(column) for column in columns]
    if not isinstance(source, ScanSource) or not all(
        isinstance(scalar, exp.Column) and scalar.table == source.alias for scalar in resolved
    ):
        return False
    names = {scalar.name.lower() for scalar in resolved}
    known = context.tokens[source.relation].unique
    return any({name.lower() for name in key} == names for key in known)


def _cogroup(
    context: LoweringContext, relation: OuterJoin, parts: Correlation, left: Keyed, right: Keyed
) -> OpenCore:
    """Return one tuple per key of either side, δ of their sum, with the values of both.

    NULL keys are equal to none: they are grouped by side.
    """
    sides = []
    for number, (side, columns) in enumerate(
        (
            (relation.left, [pair[0] for pair in parts.pairs]),
            (relation.right, [pair[1] for pair in parts.pairs]),
        )
    ):
        unknown = exp.or_(
            *(exp.Is(this=c.copy(), expression=exp.null()) for c in columns), copy=False
        )
        apart_ = exp.Case().when(unknown, exp.Literal.number(number))
        output = tuple(
            Attribute(context.names.attribute(f"key{n}"), "key") for n in range(len(columns) + 1)
        )
        sides.append(Project(side, output, (*columns, apart_)))
    keys = tuple(Attribute(context.names.attribute("key"), "key") for _ in sides[0].output)
    union = UnionAll(tuple(sides), keys, relation.span)
    grouped = tuple(Attribute(context.names.attribute("key"), "key") for _ in keys)
    group = Aggregate(union, grouped, tuple(key.column() for key in keys), (), (), relation.span)
    for operator in (*sides, union, group):
        context.readers[operator] = 1
    core = derived(context, group)
    matches = list(core.matches)
    env: dict[str, Scalar] = {}
    side_of = core.env[grouped[-1].id]
    for number, keyed in enumerate((left, right)):
        alias = context.names.alias(f"{keyed.block.name}_side")
        pairs = tuple(
            (core.env[key.id], name) for key, name in zip(grouped[:-1], keyed.names, strict=True)
        )
        guard = exp.EQ(
            this=exp.func("coalesce", side_of.copy(), exp.Literal.number(number)),
            expression=exp.Literal.number(number),
        )
        kind = MatchKind.AT_MOST_ONE
        matches.append(Match(alias, keyed.block, pairs, kind, True, guard, False, relation.span))
        env |= keyed.columns(alias)
    return replace(core, env={**core.env, **env}, matches=tuple(matches))


def _padded(context: LoweringContext, relation: OuterJoin, side: Side) -> Padded:
    """Return the rows of one input, and the membership whose absence pads them."""
    kept, other = relation.left, relation.right
    if side is Side.RIGHT:
        kept, other = other, kept
    anti = AntiJoin(kept, other, relation.condition, relation.span)
    core = core_of(context, kept)
    parts = correlated(context, relation, kept, other)
    semi = membership_of(context, anti, parts, core)
    guard = where_true([p for c in parts.outer for p in conjuncts(core.resolve(c))])
    return Padded(core, replace(semi, kind=MatchKind.ABSENT, guard=guard))


def _as_union(context: LoweringContext, relation: OuterJoin) -> UnionAll:
    """Return an outer join as the union of an inner join and padded anti joins."""
    left, right, condition = relation.left, relation.right, relation.condition
    output = relation.attributes
    inner = InnerJoin(left, right, condition, relation.span)
    branches: list[Relation] = [Project(inner, output, tuple(a.column() for a in output))]
    kept = [(left, right)] * relation.side.keeps_left
    kept += [(right, left)] * relation.side.keeps_right
    for kept_side, other in kept:
        anti = AntiJoin(kept_side, other, condition, relation.span)
        kept_attributes = set(kept_side.attributes)
        scalars = tuple(a.column() if a in kept_attributes else exp.null() for a in output)
        branches.append(Project(anti, output, scalars))
    union = UnionAll(tuple(branches), output, relation.span)
    for operator in (*branches, *(child for b in branches for child in b.inputs)):
        context.readers[operator] = 1
    return union


def _outer_joins(relation: Relation) -> int:
    """Return the number of outer joins in a core that the rows of a relation have passed."""
    match relation:
        case OuterJoin():
            return 1 + _outer_joins(relation.left) + _outer_joins(relation.right)
        case InnerJoin():
            return _outer_joins(relation.left) + _outer_joins(relation.right)
        case Filter() | Project():
            return _outer_joins(relation.input)
        case SemiJoin() | AntiJoin():
            return _outer_joins(relation.left)
    return 0

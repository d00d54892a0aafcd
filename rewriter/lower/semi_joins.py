"""Semi joins, anti joins and scalar subqueries.

A semi or anti join is a membership in the block of the partners of a row; a scalar subquery is a
value that the tail looks up for each row.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    CorrelatedScalar,
    ExistenceJoin,
    Filter,
    OuterJoin,
    OuterValues,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    SemiJoin,
    column,
    conjuncts,
)
from rewriter.blocks import (
    GROUP,
    Block,
    BlockSource,
    Kind,
    Match,
    MatchKind,
    Named,
    qualified,
)
from rewriter.lower.context import LoweringContext, Open, OpenCore, OpenPost, Pairs, apart, cross
from rewriter.lower.inputs import asking, block_of, core_of, derived, finished, lowered, unlimited
from rewriter.lower.outer import (
    Correlation,
    correlation,
    distinct_values,
    outer_columns,
    where_true,
)

Joined = SemiJoin | AntiJoin | ExistenceJoin | OuterJoin
"""Operators that test the rows of one side for partners on the other."""


def lower_semi_join(context: LoweringContext, relation: SemiJoin | AntiJoin) -> OpenCore:
    negated = isinstance(relation, AntiJoin)
    parts = correlated(context, relation, relation.left, relation.right)
    if parts.others:
        context.share(relation.left)
    left = core_of(context, relation.left)
    outer = tuple(p for c in parts.outer for p in conjuncts(left.resolve(c)))
    semi = membership_of(context, relation, parts, left)
    if not negated:
        return replace(left, matches=(*left.matches, semi), predicates=left.predicates + outer)
    semi = replace(semi, kind=MatchKind.ABSENT, guard=where_true(outer))
    return replace(left, matches=(*left.matches, semi))


def correlated(
    context: LoweringContext, relation: Joined, left: Relation, right: Relation
) -> Correlation:
    """Split the condition of a join, for left rows and their partners."""
    parts = correlation(relation.condition, left, right)
    types = context.converted.get(relation.span) if relation.span is not None else None
    return parts if types is None else parts.converted(types)


def membership_of(
    context: LoweringContext, relation: SemiJoin | AntiJoin, parts: Correlation, left: OpenCore
) -> Match:
    """Return the membership of left rows in the block of their partners."""
    known = (relation.left, relation.right, relation.condition)
    if known not in context.memberships:
        grouped = _by_values if parts.others else _by_pairs
        context.memberships[known] = grouped(context, relation.left, relation.right, parts)[:2]
    block, pairs = context.memberships[known]
    resolved = tuple((left.resolve(scalar), column) for scalar, column in pairs)
    null_safe = parts.null_safe or bool(parts.others)
    return Match("", block, resolved, MatchKind.EXISTS, null_safe, span=relation.span)


def partners_of(
    context: LoweringContext, relation: ExistenceJoin, parts: Correlation
) -> tuple[Block, Pairs, str]:
    """Return the block of the partners of left rows, and a column of it that is never NULL.

    That is a side of an equality, or an additional key that is TRUE.
    """
    if relation not in context.partners:
        marked = bool(parts.others) or parts.null_safe or not parts.pairs
        grouped = _by_values if parts.others else _by_pairs
        partners = grouped(context, relation.left, relation.right, parts, marked=marked)
        context.partners[relation] = partners
    return context.partners[relation]


def _by_pairs(
    context: LoweringContext,
    left: Relation,
    right: Relation,
    parts: Correlation,
    *,
    marked: bool = False,
) -> tuple[Block, Pairs, str]:
    """Return the right rows, grouped by their sides of the equalities."""
    del left
    columns = [column for _, column in parts.pairs]
    for condition in parts.inner:
        right = Filter(right, condition)
    outer = [scalar for scalar, _ in parts.pairs]
    if not marked and not parts.inner and all(isinstance(column, exp.Column) for column in columns):
        keyed = keyed_by(context, right, columns)
        if keyed is not None:
            return keyed[0], list(zip(outer, keyed[1], strict=True)), keyed[1][0]
    core = core_of(context, right)
    names = [f"k{number}" for number in range(1, len(columns) + 1)]
    keys = [(name, core.resolve(column)) for name, column in zip(names, columns, strict=True)]
    if marked or not keys:
        keys.append((f"k{len(keys) + 1}", exp.true()))
    block = _grouped(context, core, keys)
    return block, list(zip(outer, names, strict=True)), keys[-1][0]


def keyed_by(
    context: LoweringContext, relation: Relation, columns: list[Scalar]
) -> tuple[Block, list[str]] | None:
    """Return the block of a grouping by exactly these columns, and their names in it, or None."""
    open_ = context.pending[relation] = lowered(context, relation)
    resolved = [open_.resolve(column) for column in columns]
    if isinstance(open_, OpenPost):
        keys = {key for key, _ in open_.keys}
        if open_.post.limited or not keys or not _are_keys(resolved, keys):
            return None
        return block_of(context, relation), [column.name for column in columns]
    block = _only_block(open_)
    if block is None or not block.grouped or block.limited:
        return None
    names = [scalar.name for scalar in resolved if isinstance(scalar, exp.Column)]
    outputs = {output.name: output.scalar for output in block.outputs}
    if len(names) != len(resolved) or not _are_keys(
        [outputs[name] for name in names], dict(block.keys).keys()
    ):
        return None
    return block, names


def _by_values(
    context: LoweringContext,
    left: Relation,
    right: Relation,
    parts: Correlation,
    *,
    marked: bool = False,
) -> tuple[Block, Pairs, str]:
    """Return the partners of left rows, grouped by the values that the condition uses.

    If the sources determine these values, they are joined as values, else as tuples.
    """
    scalars = [scalar for scalar, _ in parts.pairs] + list(parts.others)
    known = {attribute.id for attribute in left.attributes}
    used = [node.name for scalar in scalars for node in scalar.find_all(exp.Column)]
    ids = [name for name in dict.fromkeys(used) if name in known]
    outer = core_of(context, left)
    values = distinct_values(outer, ids, context.names.alias("outer"))
    joined = cross(core_of(context, right), values or outer)
    conditions = [*parts.inner, *parts.others]
    equal = exp.NullSafeEQ if parts.null_safe else exp.EQ
    conditions += [equal(this=a.copy(), expression=b.copy()) for a, b in parts.pairs]
    predicates = tuple(p for c in conditions for p in conjuncts(joined.resolve(c)))
    joined = replace(joined, predicates=joined.predicates + predicates)
    keys = [(name, joined.env[name]) for name in ids]
    if marked:
        keys.append((apart("found", set(ids)), exp.true()))
    block = _grouped(context, joined, keys)
    return block, [(column(name), name) for name in ids], keys[-1][0]


def _grouped(context: LoweringContext, core: OpenCore, keys: list[Named]) -> Block:
    """Return the block of the groups of a core by some keys, without aggregates."""
    env = {name: qualified(GROUP, name) for name, _ in keys}
    # The presence of a group does not depend on the multiplicity of its rows.
    core = replace(core, copies=())
    post = OpenPost(kind=Kind.GROUP, env=env, core=core, keys=tuple(keys))
    return finished(
        context, post, tuple(Attribute(name, name) for name, _ in keys), context.names.block()
    )


def _are_keys(scalars: list[Scalar], keys: Set[str]) -> bool:
    """Return True if scalars over a grouping are exactly its keys."""
    return len(scalars) == len(keys) and {_group_key(scalar) for scalar in scalars} == keys


def _only_block(core: OpenCore) -> Block | None:
    """Return the block whose tuples a core yields one for one, if that is all it does."""
    more = core.predicates or core.matches or core.generators
    if more or core.copies or core.post.final:
        return None
    match core.sources:
        case (BlockSource(block=block),):
            return block
    return None


def _group_key(scalar: Scalar) -> str | None:
    if isinstance(scalar, exp.Column) and scalar.table == GROUP:
        return str(scalar.name)
    return None


_TOO_MANY_ROWS = "[SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row returned by a subquery."


def lower_subquery(
    context: LoweringContext,
    relation: ScalarSubquery | CorrelatedScalar | ExistenceJoin | OuterValues,
) -> Open:
    match relation:
        case ScalarSubquery():
            return _lower_scalar_subquery(context, relation)
        case CorrelatedScalar():
            return _lower_correlated_scalar(context, relation)
        case ExistenceJoin():
            return _lower_existence_join(context, relation)
        case OuterValues():
            return _lower_outer_values(context, relation)


def _lower_scalar_subquery(context: LoweringContext, relation: ScalarSubquery) -> Open:
    block = block_of(context, relation.query)
    open_ = unlimited(context, relation.input)
    alias = context.names.alias(f"{block.name}_value")
    value = qualified(alias, relation.value.id)
    return replace(
        open_,
        env={**open_.env, relation.output.id: value},
        matches=(*open_.matches, Match(alias, block, kind=MatchKind.ONE, factor=False)),
    )


def _lower_correlated_scalar(context: LoweringContext, relation: CorrelatedScalar) -> OpenCore:
    block = block_of(context, relation.query)
    core = asking(context, relation.input, (scalar for scalar, _ in relation.pairs))
    alias = context.names.alias(f"{block.name}_value")
    pairs = tuple((core.resolve(scalar), key.id) for scalar, key in relation.pairs)
    value: Scalar = qualified(alias, relation.value.id)
    if relation.empty is not None:
        there = exp.Is(this=qualified(alias, relation.pairs[0][1].id), expression=exp.null())
        value = exp.Case().when(there, relation.empty.copy()).else_(value)
    if relation.count is not None:
        several = exp.GT(this=qualified(alias, relation.count.id), expression=exp.Literal.number(1))
        value = exp.Case().when(several, _too_many_rows()).else_(value)
    kind, span = MatchKind.AT_MOST_ONE, relation.span
    lookup = Match(alias, block, pairs, kind, relation.null_safe, None, False, span)
    return replace(
        core,
        env={**core.env, relation.output.id: value},
        matches=(*core.matches, lookup),
    )


def _lower_existence_join(context: LoweringContext, relation: ExistenceJoin) -> OpenCore:
    """Return the left side with a lookup of each row's partner, which may find none."""
    parts = correlated(context, relation, relation.left, relation.right)
    if parts.others:
        context.share(relation.left)
    left = asking(context, relation.left, outer_columns(relation.condition, relation.left))
    block, columns, marker = partners_of(context, relation, parts)
    alias = context.names.alias(f"{block.name}_found")
    pairs = tuple((left.resolve(scalar), column) for scalar, column in columns)
    null_safe = parts.null_safe or bool(parts.others)
    guard = where_true([p for c in parts.outer for p in conjuncts(left.resolve(c))])
    kind, span = MatchKind.AT_MOST_ONE, relation.span
    lookup = Match(alias, block, pairs, kind, null_safe, guard, False, span)
    unknown = exp.Is(this=qualified(alias, marker), expression=exp.null())
    return replace(
        left,
        env={**left.env, relation.output.id: exp.Not(this=unknown)},
        matches=(*left.matches, lookup),
    )


def _lower_outer_values(context: LoweringContext, relation: OuterValues) -> OpenCore:
    """Return the values as such if the sources determine them, else as tuples of a grouping."""
    project = Project(relation.input, relation.output, relation.scalars)
    core = core_of(context, project)
    ids = [attribute.id for attribute in relation.output]
    values = distinct_values(core, ids, context.names.alias("outer"))
    if values is not None:
        return values
    keys = tuple(attribute.column() for attribute in relation.output)
    group = Aggregate(project, relation.output, keys, (), ())
    return derived(context, group)


def _too_many_rows() -> Scalar:
    return exp.Anonymous(this="raise_error", expressions=[exp.Literal.string(_TOO_MANY_ROWS)])

"""Scans, filters, projections, inner joins, groupings, orders and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Attribute,
    Constant,
    Filter,
    FirstRows,
    InnerJoin,
    Iteration,
    Limit,
    LocalSort,
    OneRow,
    Project,
    Relation,
    Scalar,
    Scan,
    Sort,
    SortKey,
    UnionAll,
    Watermarked,
    Windows,
    conjuncts,
)
from rewriter.analysis.may_throw import may_raise
from rewriter.blocks import (
    EXPANDED,
    GROUP,
    SET_NUMBER,
    ConstantSource,
    IterationSource,
    Kind,
    ScanSource,
    qualified,
)
from rewriter.lower.context import (
    LoweringContext,
    Open,
    OpenCore,
    OpenPost,
    Post,
    TokenLeaves,
    cross,
)
from rewriter.lower.inputs import closed, core_of, lowered, unlimited
from rewriter.lower.set_operations import refuse_copies
from rewriter.lower.ties import follows_order, is_ordered, lists_by_range, placed_by
from rewriter.scalars.aggregates import ARRAYS, collects_in_order, in_order, is_distinct, name_of
from rewriter.scalars.text import rewrite_columns
from rewriter.scalars.windows import depends_on_ties


def lower_scan(context: LoweringContext, scan: Scan) -> OpenCore:
    source = context.tokens[scan.relation]
    alias = context.names.alias(scan.relation.rsplit(".", 1)[-1])
    env: dict[str, Scalar] = {
        attribute.id: qualified(alias, column)
        for attribute, column in zip(scan.output, scan.columns, strict=True)
    }
    leaves = tuple(qualified(alias, column) for column in source.columns)
    return OpenCore(
        env=env,
        sources=(ScanSource(alias, scan.relation, source.view),),
        tokens=(TokenLeaves(scan.relation, alias, leaves),) if leaves else (),
        stable={alias: None},
        untokened=not leaves,
    )


def _lower_iteration(context: LoweringContext, relation: Iteration) -> OpenCore:
    table = relation.table
    alias = context.names.alias("recursion")
    pairs = zip(relation.output, table.columns, strict=True)
    tokens = tuple(
        TokenLeaves(name, context.names.alias(name), tuple(qualified(alias, c) for c in columns))
        for name, columns in table.tokens
    )
    relations = tuple(sorted({name for name, _ in table.tokens}))
    return OpenCore(
        env={attribute.id: qualified(alias, column) for attribute, column in pairs},
        sources=(IterationSource(alias, table.view, relations),),
        tokens=tokens,
        positions=(qualified(alias, table.position),),
        stable={alias: None},
    )


def lower_constant(context: LoweringContext, relation: OneRow | Constant | Iteration) -> OpenCore:
    if isinstance(relation, OneRow):
        return OpenCore(env={})
    if isinstance(relation, Iteration):
        return _lower_iteration(context, relation)
    alias = context.names.alias("values_" if isinstance(relation.table, exp.Values) else "range_")
    columns = tuple(attribute.id for attribute in relation.output)
    source = ConstantSource(alias, relation.table, columns, relation.position.id)
    env = {column: qualified(alias, column) for column in columns}
    return OpenCore(
        env=env,
        sources=(source,),
        positions=(qualified(alias, relation.position.id),),
        stable={alias: None},
    )


def lower_filter(context: LoweringContext, relation: Filter) -> Open:
    open_ = unlimited(context, relation.input, windowed=False)
    predicates = tuple(conjuncts(open_.resolve(relation.predicate)))
    if isinstance(open_, OpenCore):
        return replace(open_, predicates=open_.predicates + predicates)
    keys = dict(open_.keys)
    having = list(open_.having)
    core = open_.core
    for predicate in predicates:
        if core is not None and not open_.sets and keys and _on_keys(predicate, keys):
            below = rewrite_columns(predicate, lambda node: keys[node.name])
            core = replace(core, predicates=(*core.predicates, below))
        else:
            having.append(predicate)
    return replace(open_, core=core, having=tuple(having))


def lower_project(context: LoweringContext, relation: Project) -> Open:
    open_ = lowered(context, relation.input)
    if open_.post.limited and any(may_raise(s, overflows=False) for s in relation.scalars):
        open_ = _within_limit(context, relation.input, open_)
    env = {
        attribute.id: open_.resolve(scalar)
        for attribute, scalar in zip(relation.output, relation.scalars, strict=True)
    }
    return replace(open_, env=env)


def _within_limit(context: LoweringContext, relation: Relation, open_: Open) -> Open:
    """Return the rows kept by LIMIT as a block, or unchanged if tokens do not identify them."""
    if isinstance(open_, OpenCore) and (open_.untokened or open_.copies):
        return open_
    return closed(context, relation, open_)


def lower_inner_join(context: LoweringContext, relation: InnerJoin) -> OpenCore:
    left, right = core_of(context, relation.left), core_of(context, relation.right)
    joined = cross(left, right)
    predicates = tuple(
        p for c in conjuncts(relation.condition) for p in conjuncts(joined.resolve(c))
    )
    return replace(joined, predicates=joined.predicates + predicates)


def _on_keys(predicate: Scalar, keys: Mapping[str, Scalar]) -> bool:
    columns = list(predicate.find_all(exp.Column))
    return bool(columns) and all(c.table == GROUP and c.name in keys for c in columns)


def lower_first_rows(context: LoweringContext, relation: FirstRows | Watermarked) -> Open:
    """Lower a deduplication by numbering rows with equal keys; a watermark keeps all rows."""
    if isinstance(relation, Watermarked):
        return lowered(context, relation.input)
    number = Attribute(context.names.attribute("number"), "number")
    one = exp.Literal.number(1)
    call = exp.Window(
        this=exp.Anonymous(this="ROW_NUMBER"),
        partition_by=[key.column() for key in relation.keys],
        order=exp.Order(expressions=[exp.Ordered(this=one, nulls_first=True)]),
        over="OVER",
    )
    windows = Windows(relation.input, (number,), (call,), relation.span)
    return lower_filter(context, Filter(windows, exp.EQ(this=number.column(), expression=one)))


def lower_aggregate(context: LoweringContext, relation: Aggregate) -> OpenPost:
    follows = any(map(follows_order, relation.aggregates))
    if follows and is_sorted(relation.input, within_tasks=True):
        advice = "Write the order in the aggregate: min_by(x, t), or LISTAGG WITHIN GROUP."
        problem = "an aggregate that follows the order of a derived table is not supported"
        context.refuse(problem, advice, relation.span)
    order = order_of_core(context, relation.input)
    core = core_of(context, relation.input)
    if not relation.aggregates:
        # The presence of a group does not depend on the multiplicity of its rows.
        core = replace(core, copies=())
    if core.copies and core.untokened:
        context.refuse(
            "a grouping of EXCEPT ALL or INTERSECT ALL with a relation without provenance",
            "Track the relation with a key, so that its tuples can be distinguished.",
            relation.span,
        )
    keys = tuple(
        (attribute.id, core.resolve(key))
        for attribute, key in zip(relation.key_output, relation.keys, strict=True)
    )
    aggregates = tuple(
        (attribute.id, _in_order(context, attribute, core.resolve(call), order))
        for attribute, call in zip(relation.aggregate_output, relation.aggregates, strict=True)
    )
    env = {attribute.id: qualified(GROUP, attribute.id) for attribute in relation.attributes}
    if relation.sets is None:
        return OpenPost(Kind.GROUP, env, core, keys, aggregates)
    number = relation.sets.number.id
    sets = tuple(
        frozenset({number, *(keys[index][0] for index in places)}) for places in relation.sets.sets
    )
    keys = ((number, qualified(EXPANDED, SET_NUMBER)), *keys)
    return OpenPost(Kind.GROUP, env, core, keys, aggregates, sets)


def _in_order(
    context: LoweringContext, attribute: Attribute, call: Scalar, order: Sequence[SortKey]
) -> Scalar:
    """Return the call of an aggregate; for a collecting one, in a defined order if that matters."""
    if name_of(call) not in ARRAYS or collects_in_order(call):
        return call
    if not order and attribute.id not in context.observed:
        return call
    return in_order(call, () if is_distinct(call) else order)


def lower_ordered(context: LoweringContext, relation: Sort | LocalSort | Limit) -> Open:
    match relation:
        case Sort():
            return _lower_sort(context, relation)
        case Limit():
            return _lower_limit(context, relation)
        case LocalSort():
            return lowered(context, relation.input)


def _lower_sort(context: LoweringContext, relation: Sort) -> Open:
    open_ = unlimited(context, relation.input)
    order = tuple(replace(key, scalar=open_.resolve(key.scalar)) for key in relation.keys)
    return replace(open_, post=replace(open_.post, order=order))


def _lower_limit(context: LoweringContext, relation: Limit) -> Open:
    open_ = unlimited(context, relation.input)
    if isinstance(open_, OpenCore) and open_.copies:
        refuse_copies(context, "LIMIT", relation.span)
    return replace(
        open_,
        post=replace(open_.post, limit=relation.count, offset=relation.offset),
    )


def is_sorted(relation: Relation, *, within_tasks: bool = False) -> bool:
    """Return True if the query sorts the rows of a relation.

    With ``within_tasks``, SORT BY counts too, which orders the rows within each task, and one
    sorted branch of a union suffices.
    """
    while isinstance(relation, Project | Filter | Limit):
        relation = relation.input
    if isinstance(relation, UnionAll) and within_tasks:
        return any(is_sorted(branch, within_tasks=True) for branch in relation.branches)
    return isinstance(relation, Sort) or (within_tasks and isinstance(relation, LocalSort))


def order_of_core(context: LoweringContext, relation: Relation) -> tuple[SortKey, ...]:
    """Return the sort keys of a derived table, over the sources of its core, if it has one."""
    if not is_sorted(relation):
        return ()
    open_ = context.pending.pop(relation, None) or lowered(context, relation)
    context.pending[relation] = open_
    return () if isinstance(open_, OpenPost) or open_.post.final else open_.post.order


def order_of_attributes(relation: Relation) -> tuple[SortKey, ...]:
    """Return the sort keys of a derived table as its own columns; () if it lacks one."""
    if isinstance(relation, Sort):
        return relation.keys
    if isinstance(relation, Filter | Limit | Windows):
        return order_of_attributes(relation.input)
    if not isinstance(relation, Project):
        return ()
    pairs = zip(relation.scalars, relation.output, strict=True)
    columns = {s.name: a for s, a in reversed(list(pairs)) if isinstance(s, exp.Column)}
    keys = order_of_attributes(relation.input)
    if not all(isinstance(k.scalar, exp.Column) and k.scalar.name in columns for k in keys):
        return ()
    return tuple(replace(key, scalar=columns[key.scalar.name].column()) for key in keys)


def lower_windows(context: LoweringContext, relation: Windows) -> OpenCore:
    below, calls = relation.input, relation.calls
    if lists_by_range(relation):
        advice = "Count the frame in rows: ROWS BETWEEN ... AND ..."
        context.refuse("LISTAGG over a RANGE frame is not supported", advice, relation.span)
    _check_order(context, relation)
    placed = placed_by(relation, context.names.attribute)
    if placed is not None:
        below, calls = placed.positions, placed.calls
    order = order_of_core(context, below)
    core = core_of(context, below)
    if core.copies:
        refuse_copies(context, "a window", relation.span)
    arrival = order or tuple(
        replace(key, scalar=core.resolve(key.scalar)) for key in order_of_attributes(below)
    )
    env = dict(core.env)
    for attribute, call in zip(relation.output, calls, strict=True):
        env[attribute.id] = core.resolve(call)
    return replace(core, env=env, post=Post(windowed=True, arrival=arrival))


def _check_order(context: LoweringContext, relation: Windows) -> None:
    """Refuse windows without an order over sorted rows.

    Spark usually computes them in the order of the rows, but not if a key is NULL or if several
    executors send rows to one task.
    """
    windows = [call for call in relation.calls if isinstance(call, exp.Window)]
    open_ = any(depends_on_ties(window) and not is_ordered(window) for window in windows)
    if open_ and is_sorted(relation.input, within_tasks=True):
        context.refuse(
            "a window without ORDER BY that follows the order of a derived table is not supported",
            "Write the order in the window, and the frame if it has all rows: OVER (PARTITION BY "
            "... ORDER BY ... ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING).",
            relation.span,
        )

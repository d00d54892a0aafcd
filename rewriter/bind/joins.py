"""FROM: the joins of its relations, and which columns they leave in scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import (
    AntiJoin,
    InnerJoin,
    OneRow,
    OuterJoin,
    Project,
    Relation,
    Scalar,
    SemiJoin,
    Side,
)
from rewriter.bind.clauses import refuse_join_clauses
from rewriter.bind.conditions import (
    Condition,
    bind_condition,
    restrict,
)
from rewriter.bind.context import Context
from rewriter.bind.generators import bind_lateral, is_generator
from rewriter.bind.memberships import conjunction
from rewriter.bind.pivot import bind_pivoted
from rewriter.bind.samples import bind_sample
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.scope import AmbiguousError, Bound, Entry, Outer, Scope
from rewriter.bind.sources import aliased_join, bind_derived, bind_inline, bind_table
from rewriter.bind.subqueries import Subqueries
from rewriter.bind.table_functions import bind_table_function, table_argument
from rewriter.position import Span

Joined: TypeAlias = type[InnerJoin] | type[SemiJoin] | type[AntiJoin] | Side

_KINDS: dict[str, Joined] = {"SEMI": SemiJoin, "ANTI": AntiJoin}
_SIDES: dict[str, Joined] = {side.value: side for side in Side}
_MEMBERSHIPS = (SemiJoin, AntiJoin)


def bind_from(
    select: exp.Select,
    context: Context,
    outer: Outer | None,
    subqueries: Subqueries,
    given: Bound | None = None,
) -> Bound:
    """Bind the FROM clause of a SELECT; without one the SELECT reads one row of no columns.

    ``given`` stands in the place of its first relation.
    """
    from_ = select.args.get("from_")
    binder = _FromBinder(context, outer, subqueries)
    if from_ is not None:
        given = binder.source(from_.this)
    if given is None:
        return Bound(OneRow(), Scope())
    return binder.joined(given, select.args.get("joins") or [])


class _FromBinder:
    def __init__(self, context: Context, outer: Outer | None, subqueries: Subqueries) -> None:
        self._context = context
        self._outer = outer
        self._subqueries = subqueries

    def source(self, node: exp.Expr) -> Bound:
        """Bind one item of FROM with the joins inside its own brackets."""
        item = bind_sample(self._item(node), node.args.get("sample"), self._context)
        return self.joined(self._pivoted(item, node), node.args.get("joins") or [])

    def _pivoted(self, bound: Bound, node: exp.Expr) -> Bound:
        for pivot in node.args.get("pivots") or []:
            bound = bind_pivoted(bound, pivot, self._context)
        return bound

    def joined(self, left: Bound, joins: Sequence[exp.Join]) -> Bound:
        """Bind joins to a relation, from left to right."""
        for join in joins:
            left = self._pivoted(self._join(left, join), join)
        return left

    def _item(self, node: exp.Expr) -> Bound:
        source = self._context.source
        if isinstance(node, exp.Table) and table_argument(node.this) is not None:
            return bind_table_function(node, self._context)
        if isinstance(node, exp.Table):
            return bind_table(node, self._context)
        if isinstance(node, exp.Subquery):
            if _is_query(node.this):
                return bind_derived(node, self._context, self._outer)
            return aliased_join(self.source(node.this), node, source)
        if isinstance(node, exp.Values):
            return bind_inline(node, self._context)
        name = type(node).__name__.upper()
        advice = "Store its rows in a relation and track it."
        place = source.keyword_before(node, name) or node
        raise source.unsupported(f"{name} in FROM is not supported", advice, place)

    def _join(self, left: Bound, join: exp.Join) -> Bound:
        refuse_join_clauses(join, self._context.source)
        if isinstance(join.this, exp.Lateral):
            return self._lateral(left, join)
        right = self.source(join.this)
        kind = _KINDS.get(join.kind) or _SIDES.get(join.side, InnerJoin)
        span = self._context.source.keyword_before(join.this, "JOIN", ",")
        using = self._using(left.scope, right.scope, join)
        if using is not None:
            return self._using_join(left, right, using, kind, span)
        return self._on_join(left, right, join, kind, span)

    def _lateral(self, left: Bound, join: exp.Join) -> Bound:
        source = self._context.source
        span = source.keyword_before(join.this, "LATERAL")
        if isinstance(join.this.this, exp.Subquery):
            return self._lateral_subquery(left, join, span)
        on, called = join.args.get("on"), is_generator(join.this.this)
        outer = join.side == "LEFT" and called and on == exp.true()
        if join.args.get("using") or (join.side and not outer):
            # Without ON, Spark's optimiser leaves out the rows for which none is generated.
            problem = "this join with LATERAL is not supported"
            advice = "Write LEFT JOIN LATERAL ... ON TRUE, or LATERAL VIEW [OUTER]."
            raise source.unsupported(problem, advice, span or join)
        lookups = (left.scope.lookup(source),)
        refusal = "cannot stand in LATERAL"
        binder = ScalarBinder(
            self._context, lookups, self._subqueries, left.scope, refusal, self._outer
        )
        bound = bind_lateral(left, join.this, binder, span, outer=outer)
        if on is None or outer:
            return bound
        condition = self._condition(on, bound.scope, InnerJoin)
        relation = restrict(bound.relation, condition, self._subqueries, span)
        return Bound(relation, bound.scope)

    def _on_join(
        self,
        left: Bound,
        right: Bound,
        join: exp.Join,
        kind: Joined,
        span: Span | None,
        tied: tuple[Scalar, ...] = (),
    ) -> Bound:
        scope = left.scope + right.scope
        condition = self._condition(join.args.get("on"), scope, kind)
        predicates = (*tied, *condition.predicates)
        one, other = left.relation, right.relation
        later: tuple[Scalar, ...] = ()
        if kind is InnerJoin:
            of_pairs = [p for p in predicates if self._subqueries.tied_to_both(p, one, other)]
            predicates = tuple(p for p in predicates if p not in of_pairs)
            later = tuple(of_pairs)
        one, other, predicates = self._subqueries.attach_to_sides(one, other, predicates)
        predicate = conjunction(predicates) if predicates else None
        joined = _joined(kind, one, other, predicate, span)
        if kind in _MEMBERSHIPS:
            return Bound(joined, left.scope)
        rest = Condition(later, condition.memberships)
        return Bound(restrict(joined, rest, self._subqueries, span), scope)

    def _lateral_subquery(self, left: Bound, join: exp.Join, span: Span | None) -> Bound:
        """Join the rows before LATERAL with what a subquery has for each of them."""
        around = self._outer.refused("LATERAL of a subquery") if self._outer else None
        outer = Outer(left.scope, self._context.referred, around=around)
        query = join.this.this.this
        found = self._context.bind.lateral(query, left.relation, self._context, outer)
        right = aliased_join(found.bound, join.this, self._context.source)
        kind = _SIDES.get(join.side, InnerJoin)
        return self._on_join(left, right, join, kind, span, found.conditions)

    def _condition(self, on: exp.Expr | None, scope: Scope, kind: Joined) -> Condition:
        if on is None:
            return Condition((), ())
        source = self._context.source
        lookups = [scope.lookup(source)]
        if self._outer is not None:
            lookups.append(self._outer.refused("ON of a subquery").lookup(source))
        refusal = "cannot stand in ON"
        binder = ScalarBinder(
            self._context, tuple(lookups), self._subqueries, scope, refusal, self._outer
        )
        return bind_condition(on, binder, memberships_apart=kind is InnerJoin)

    def _using(self, left: Scope, right: Scope, join: exp.Join) -> list[tuple[Entry, Entry]] | None:
        """Return the pairs of columns that USING or NATURAL equates; None without either."""
        if join.method == "NATURAL":
            place = self._context.source.keyword_before(join.this, "NATURAL")
            return [
                (self._key(left, entry.name, place), self._key(right, entry.name, place))
                for entry in left.visible
                if any(other.named(entry.name) for other in right.visible)
            ]
        if join.method:
            advice = "Joins with ON, USING and NATURAL have rules."
            problem = f"{join.method} JOIN is not supported"
            raise self._context.source.unsupported(problem, advice, join)
        using = join.args.get("using")
        if not using:
            return None
        return [(self._key(left, n.name, n), self._key(right, n.name, n)) for n in using]

    def _key(self, scope: Scope, name: str, place: exp.Expr | Span | None) -> Entry:
        source = self._context.source
        try:
            found = scope.resolve([name])
        except AmbiguousError:
            advice = "Write the join's condition with ON."
            raise source.error(f"column {name} is ambiguous", advice, place) from None
        if found is None:
            advice = "Name a column that both sides of the join have."
            raise source.error(f"column {name} is not known", advice, place)
        return found[0]

    def _using_join(
        self,
        left: Bound,
        right: Bound,
        pairs: Sequence[tuple[Entry, Entry]],
        kind: Joined,
        span: Span | None,
    ) -> Bound:
        equalities: tuple[Scalar, ...] = tuple(
            exp.EQ(this=key.attribute.column(), expression=other.attribute.column())
            for key, other in pairs
        )
        predicate = conjunction(equalities) if equalities else None
        joined = _joined(kind, left.relation, right.relation, predicate, span)
        keys = [key for key, _ in pairs]
        others = [other for _, other in pairs]
        rest = tuple(entry for entry in left.scope.entries if entry not in keys)
        if kind in _MEMBERSHIPS:
            return Bound(joined, Scope((*keys, *rest)))
        right_rest = tuple(entry for entry in right.scope.entries if entry not in others)
        shown, hidden = keys, others
        if kind is Side.RIGHT:
            shown, hidden = others, keys
        elif kind is Side.FULL and pairs:
            joined, shown = self._coalesced(joined, pairs)
            hidden = [*keys, *others]
        out_of_sight = tuple(replace(entry, hidden=True) for entry in hidden)
        return Bound(joined, Scope((*shown, *rest, *right_rest, *out_of_sight)))

    def _coalesced(
        self, joined: Relation, pairs: Sequence[tuple[Entry, Entry]]
    ) -> tuple[Relation, list[Entry]]:
        """Return a full outer join with the columns of USING: either side's, where it is there."""
        added = []
        scalars: list[Scalar] = [attribute.column() for attribute in joined.attributes]
        for key, other in pairs:
            added.append(self._context.names.attribute(key.name))
            columns = [key.attribute.column(), other.attribute.column()]
            scalars.append(exp.Coalesce(this=columns[0], expressions=columns[1:]))
        output = (*joined.attributes, *added)
        entries = [
            Entry(attribute, key.name, origin=attribute.id)
            for attribute, (key, _) in zip(added, pairs, strict=True)
        ]
        return Project(joined, output, tuple(scalars)), entries


def _joined(
    kind: Joined, left: Relation, right: Relation, condition: Scalar | None, span: Span | None
) -> Relation:
    if isinstance(kind, Side):
        return OuterJoin(left, right, condition, span, side=kind)
    return kind(left, right, condition, span)


def _is_query(node: exp.Expr) -> bool:
    """Tell a query in brackets from a join in brackets."""
    while isinstance(node, exp.Subquery):
        if node.args.get("alias") or node.args.get("joins"):
            return False
        node = node.this
    return isinstance(node, exp.Query)

"""FROM: the joins of its relations, by ON, USING and NATURAL, and the columns in their scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import (
    AntiJoin,
    InnerJoin,
    OneRow,
    OuterJoin,
    OuterRow,
    Project,
    Relation,
    Scalar,
    SemiJoin,
    Side,
)
from rewriter.bind.clauses.conditions import BoundCondition, bind_condition, restrict
from rewriter.bind.clauses.generators import bind_lateral, is_generator
from rewriter.bind.clauses.pivot import bind_pivoted
from rewriter.bind.clauses.sources import (
    aliased,
    aliased_join,
    bind_derived,
    bind_inline,
    bind_range,
    bind_sample,
    bind_table,
    is_range,
    renamed,
)
from rewriter.bind.columns.scope import AmbiguousError, Bound, Entry, Outer, Scope
from rewriter.bind.context import BindContext, refuse_join_clauses
from rewriter.bind.functions.table import bind_table_function, table_argument
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.subqueries.memberships import conjunction
from rewriter.bind.subqueries.unnesting import bind_carried
from rewriter.bind.subqueries.values import Subqueries
from rewriter.bind.text import SourceText
from rewriter.errors import CorrelationError
from rewriter.position import Span

Joined: TypeAlias = type[InnerJoin] | type[SemiJoin] | type[AntiJoin] | Side
Key: TypeAlias = tuple[Entry, Entry]
"""A column of the left side, and the one of the right side that equals it."""

MEMBERSHIPS = (SemiJoin, AntiJoin)


def joined(
    kind: Joined, left: Relation, right: Relation, condition: Scalar | None, span: Span | None
) -> Relation:
    """Return the join of two relations."""
    if isinstance(kind, Side):
        return OuterJoin(left, right, condition, span, side=kind)
    return kind(left, right, condition, span)


def shared_keys(left: Scope, right: Scope, join: exp.Join, source: SourceText) -> list[Key] | None:
    """Return the columns that USING or NATURAL equates; None without either."""
    if join.method == "NATURAL":
        span = source.keyword_before(join.this, "NATURAL")
        return [
            (_key(left, entry.name, span, source), _key(right, entry.name, span, source))
            for entry in left.visible
            if any(other.named(entry.name) for other in right.visible)
        ]
    if join.method:
        advice = "Joins with ON, USING and NATURAL have rules."
        raise source.unsupported(f"{join.method} JOIN is not supported", advice, join)
    using = join.args.get("using")
    if not using:
        return None
    return [(_key(left, n.name, n, source), _key(right, n.name, n, source)) for n in using]


def _key(scope: Scope, name: str, at: exp.Expr | Span | None, source: SourceText) -> Entry:
    try:
        resolved = scope.resolve([name])
    except AmbiguousError:
        advice = "Write the join's condition with ON."
        raise source.error(f"column {name} is ambiguous", advice, at) from None
    if resolved is None:
        advice = "Name a column that both sides of the join have."
        raise source.error(f"column {name} is not known", advice, at)
    return resolved[0]


_KINDS: dict[str, Joined] = {"SEMI": SemiJoin, "ANTI": AntiJoin}
_SIDES: dict[str, Joined] = {side.value: side for side in Side}
_OF_LEFT_ROWS = (InnerJoin, Side.LEFT, *MEMBERSHIPS)
"""The joins whose rows are each of one row of the left side."""


def bind_from(
    select: exp.Select, context: BindContext, outer: Outer | None, given: Bound | None = None
) -> tuple[Bound, Subqueries]:
    """Bind the FROM clause of a SELECT; without one the SELECT reads one row of no columns.

    ``given`` stands in the place of its first relation. In a subquery that is computed for all
    outer rows these are joined last; where something in FROM refers to them, they come first, and
    are on the left of every join.
    """
    if outer is None or outer.row is None:
        binder = _FromBinder(context, outer)
        return binder.rows(select, given), binder.subqueries
    try:
        binder = _FromBinder(context, outer)
        bound = binder.rows(select, given)
        return Bound(InnerJoin(bound.relation, outer.row), bound.scope), binder.subqueries
    except CorrelationError:
        binder = _FromBinder(context, outer, outer.row)
        return binder.rows(select, given), binder.subqueries


class _FromBinder:
    """Binds the relations of one FROM, and their joins.

    With ``leading``, the outer rows are the first relation: ``leads`` is true for a left side that
    has them, so that its joins may refer to them.
    """

    def __init__(
        self, context: BindContext, outer: Outer | None, leading: OuterRow | None = None
    ) -> None:
        self._context = context
        self._outer = outer
        self._leading = leading
        self._ties: list[Scalar] = []
        self.subqueries = Subqueries(context)

    def rows(self, select: exp.Select, given: Bound | None) -> Bound:
        """Bind FROM."""
        from_ = select.args.get("from_")
        joins = select.args.get("joins") or []
        leads = self._leading is not None
        if from_ is not None:
            before, kept, joins = _split_at_right(joins) if leads else ((), None, joins)
            given = self._source(from_.this, leads=leads and kept is None)
            if kept is not None:
                given = self._joined(given, before, leads=False)
                given = self._pivoted(self._join(given, kept, leads=False, right_leads=True), kept)
        elif self._leading is not None:
            given = self._led(Bound(OneRow(), Scope()) if given is None else given)
        if given is None:
            return Bound(OneRow(), Scope())
        return self._joined(given, joins, leads=leads)

    def _source(self, node: exp.Expr, *, leads: bool) -> Bound:
        """Bind one item of FROM with the joins inside its own brackets."""
        item = self._item(node, leads=leads)
        if self._ties and (node.args.get("sample") or node.args.get("pivots")):
            problem = "a sample or PIVOT of a relation that refers to the outer query"
            advice = "Write the subquery as a join with the outer query's relation."
            raise self._context.source.unsupported(f"{problem} is not supported", advice, node)
        item = bind_sample(item, node.args.get("sample"), self._context)
        item = self._pivoted(item, node)
        if leads and not (_in_brackets(node) or _generates(node)):
            item = self._led(item)
        return self._joined(item, node.args.get("joins") or [], leads=leads)

    def _led(self, item: Bound) -> Bound:
        """Return the first relation joined with the outer rows."""
        assert self._leading is not None
        ties = self._taken_ties()
        condition = conjunction(ties) if ties else None
        return Bound(InnerJoin(self._leading, item.relation, condition), item.scope)

    def _taken_ties(self) -> tuple[Scalar, ...]:
        """Return what ties the relations bound last to the outer rows, which a join must take."""
        ties, self._ties = tuple(self._ties), []
        return ties

    def _pivoted(self, bound: Bound, node: exp.Expr) -> Bound:
        for pivot in node.args.get("pivots") or []:
            bound = bind_pivoted(bound, pivot, self._context)
        return bound

    def _joined(self, left: Bound, joins: Sequence[exp.Join], *, leads: bool) -> Bound:
        """Bind joins to a relation, from left to right."""
        for join in joins:
            left = self._pivoted(self._join(left, join, leads=leads), join)
        return left

    def _item(self, node: exp.Expr, *, leads: bool) -> Bound:
        source = self._context.source
        if isinstance(node, exp.Table) and table_argument(node.this) is not None:
            return bind_table_function(node, self._context)
        if _generates(node):
            return self._generated(node, leads=leads)
        if isinstance(node, exp.Table):
            return self._or_carried(node, lambda: bind_table(node, self._context))
        if isinstance(node, exp.Subquery):
            if _is_query(node.this):
                return self._derived(node, node.this)
            return aliased_join(self._source(node.this, leads=leads), node, source)
        if isinstance(node, exp.Values):
            return bind_inline(node, self._context)
        if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            return self._derived(node, node.this.this)
        if isinstance(node, exp.Lateral) and is_range(node.this):
            return aliased(bind_range(node.this, self._context), node, (), source)
        name = type(node).__name__.upper()
        advice = "Store its rows in a relation and track it."
        at = source.keyword_before(node, name) or node
        raise source.unsupported(f"{name} in FROM is not supported", advice, at)

    def _derived(self, node: exp.Expr, query: exp.Query) -> Bound:
        return self._or_carried(
            node, lambda: bind_derived(node, query, self._context, self._outer), query
        )

    def _or_carried(
        self, node: exp.Expr, bind: Callable[[], Bound], query: exp.Query | None = None
    ) -> Bound:
        """Bind a derived table or named query, for all outer rows where it refers to them."""
        try:
            return bind()
        except CorrelationError:
            if self._leading is None or self._outer is None:
                raise
            context, outer, names = self._context, self._outer, None
            if query is None:
                definition = context.ctes.get(node.name.lower())
                if definition is None or definition.around is None:
                    raise
                outer, names = definition.around, definition.columns
                if outer.row is not self._leading:
                    raise
                query, context = definition.query, definition.context
            bound, ties = bind_carried(query, context, outer)
        self._ties += ties
        source = self._context.source
        parts = (node.name,) if isinstance(node, exp.Table) else ()
        return aliased(renamed(bound, names, node, source), node, parts, source)

    def _generated(self, node: exp.Expr, *, leads: bool) -> Bound:
        """Bind a generator as a relation, of the outer row at most."""
        source = self._context.source
        lateral = exp.Lateral(this=node.this, alias=node.args.get("alias"))
        span = source.span(node.this)
        single = Bound(OneRow(), Scope())
        outer = self._reachable("a table function", leads=leads)
        around = () if outer is None else (outer.lookup(source),)
        lookups = (Scope().lookup(source), *around)
        refusal = "cannot stand in a table function"
        binder = ScalarBinder(
            self._context, lookups, self.subqueries, Scope(), refusal, self._outer
        )
        if not leads:
            return bind_lateral(single, lateral, binder, span)
        assert self._leading is not None
        return bind_lateral(Bound(self._leading, Scope()), lateral, binder, span)

    def _reachable(self, clause: str, *, leads: bool) -> Outer | None:
        """Return the outer query's columns: to be used where the outer rows are on the left."""
        if self._outer is None or (leads and self._leading is not None):
            return self._outer
        return self._outer.refused(clause)

    def _join(
        self, left: Bound, join: exp.Join, *, leads: bool, right_leads: bool = False
    ) -> Bound:
        source = self._context.source
        refuse_join_clauses(join, source)
        if self._ties and not leads:
            raise self._untied(join)
        if isinstance(join.this, exp.Lateral) and not is_range(join.this.this):
            return self._lateral(left, join, leads=leads)
        leads = right_leads or (leads and _kind(join) in _OF_LEFT_ROWS)
        right = self._source(join.this, leads=right_leads)
        ties = self._taken_ties()
        if ties and not leads:
            raise self._untied(join)
        span = source.keyword_before(join.this, "JOIN", ",")
        keys = shared_keys(left.scope, right.scope, join, source)
        if keys is not None:
            return self._join_using(left, right, keys, join, span, ties)
        return self._on_join(left, right, join, span, ties, leads=leads)

    def _join_using(
        self,
        left: Bound,
        right: Bound,
        keys: Sequence[Key],
        join: exp.Join,
        span: Span | None,
        ties: tuple[Scalar, ...],
    ) -> Bound:
        """Bind a join by shared columns, which are in scope once, and first.

        ``ties`` are what ties the right side to outer rows.
        """
        kind = _kind(join)
        equalities: tuple[Scalar, ...] = tuple(
            exp.EQ(this=key.attribute.column(), expression=other.attribute.column())
            for key, other in keys
        )
        predicates = (*ties, *equalities)
        predicate = conjunction(predicates) if predicates else None
        relation = joined(kind, left.relation, right.relation, predicate, span)
        left_keys = [key for key, _ in keys]
        right_keys = [other for _, other in keys]
        rest = tuple(entry for entry in left.scope.entries if entry not in left_keys)
        if kind in MEMBERSHIPS:
            return Bound(relation, Scope((*left_keys, *rest)))
        right_rest = tuple(entry for entry in right.scope.entries if entry not in right_keys)
        shown, hidden = left_keys, right_keys
        if kind is Side.RIGHT:
            shown, hidden = right_keys, left_keys
        elif kind is Side.FULL and keys:
            relation, shown = _coalesced(relation, keys, self._context)
            hidden = [*left_keys, *right_keys]
        out_of_sight = tuple(replace(entry, hidden=True) for entry in hidden)
        return Bound(relation, Scope((*shown, *rest, *right_rest, *out_of_sight)))

    def _untied(self, join: exp.Join) -> CorrelationError:
        problem = "this join of a relation that refers to the outer query is not supported"
        advice = "Write the subquery as a join with the outer query's relation."
        return self._context.source.untied(problem, advice, join)

    def _lateral(self, left: Bound, join: exp.Join, *, leads: bool) -> Bound:
        source = self._context.source
        span = source.keyword_before(join.this, "LATERAL")
        called = join.this.this
        if isinstance(called, exp.Subquery):
            return self._lateral_subquery(left, join, called.this, span, leads=leads)
        on, generates = join.args.get("on"), is_generator(called)
        outer = join.side == "LEFT" and generates and on == exp.true()
        if join.side == "LEFT" and generates and on is not None and not outer:
            alias = join.this.args.get("alias")
            table = exp.Table(this=called.copy(), alias=alias and alias.copy())
            query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=table))
            return self._lateral_subquery(left, join, query, span, leads=leads)
        if join.args.get("using") or (join.side and not outer):
            # Without ON, Spark's optimiser leaves out the rows for which none is generated.
            problem = "this join with LATERAL is not supported"
            advice = "Write LEFT JOIN LATERAL ... ON TRUE, or LATERAL VIEW [OUTER]."
            raise source.unsupported(problem, advice, span or join)
        lookups = [left.scope.lookup(source)]
        further = self._reachable("LATERAL of a subquery", leads=leads)
        if further is not None:
            lookups.append(further.lookup(source))
        refusal = "cannot stand in LATERAL"
        binder = ScalarBinder(
            self._context, tuple(lookups), self.subqueries, left.scope, refusal, self._outer
        )
        bound = bind_lateral(left, join.this, binder, span, outer=outer)
        if on is None or outer:
            return bound
        condition = self._condition(on, bound.scope, InnerJoin, leads=leads)
        relation = restrict(bound.relation, condition, self.subqueries, span)
        return Bound(relation, bound.scope)

    def _on_join(
        self,
        left: Bound,
        right: Bound,
        join: exp.Join,
        span: Span | None,
        tied: tuple[Scalar, ...],
        *,
        leads: bool,
    ) -> Bound:
        scope, kind = left.scope + right.scope, _kind(join)
        condition = self._condition(join.args.get("on"), scope, kind, leads=leads)
        predicates = (*tied, *condition.predicates)
        first, second = left.relation, right.relation
        later: tuple[Scalar, ...] = ()
        if kind is InnerJoin:
            of_pairs = [p for p in predicates if self.subqueries.tied_to_both(p, first, second)]
            predicates = tuple(p for p in predicates if p not in of_pairs)
            later = tuple(of_pairs)
        first, second, predicates = self.subqueries.attach_to_sides(first, second, predicates)
        predicate = conjunction(predicates) if predicates else None
        relation = joined(kind, first, second, predicate, span)
        if kind in MEMBERSHIPS:
            return Bound(relation, left.scope)
        rest = BoundCondition(later, condition.memberships)
        return Bound(restrict(relation, rest, self.subqueries, span), scope)

    def _lateral_subquery(
        self, left: Bound, join: exp.Join, query: exp.Query, span: Span | None, *, leads: bool
    ) -> Bound:
        """Join the rows before LATERAL with what a subquery has for each of them."""
        around = self._reachable("LATERAL of a subquery", leads=leads)
        if around is not None and around.row is not None:
            around = replace(around, row=None)
        outer = Outer(left.scope, self._context.referred, around=around)
        lateral = self._context.bind.lateral(query, left.relation, self._context, outer)
        right = aliased_join(lateral.bound, join.this, self._context.source)
        return self._on_join(left, right, join, span, lateral.conditions, leads=leads)

    def _condition(
        self, on: exp.Expr | None, scope: Scope, kind: Joined, *, leads: bool
    ) -> BoundCondition:
        if on is None:
            return BoundCondition((), ())
        source = self._context.source
        lookups = [scope.lookup(source)]
        outer = self._reachable("ON of a subquery", leads=leads)
        if outer is not None:
            lookups.append(outer.lookup(source))
        refusal = "cannot stand in ON"
        binder = ScalarBinder(
            self._context, tuple(lookups), self.subqueries, scope, refusal, self._outer
        )
        return bind_condition(on, binder, memberships_apart=kind is InnerJoin)


def _kind(join: exp.Join) -> Joined:
    return _KINDS.get(join.kind) or _SIDES.get(join.side, InnerJoin)


def _coalesced(
    relation: Relation, keys: Sequence[Key], context: BindContext
) -> tuple[Relation, list[Entry]]:
    """Return a full outer join with the columns of USING: either side's, where it is there."""
    added = []
    scalars: list[Scalar] = [attribute.column() for attribute in relation.attributes]
    for key, other in keys:
        added.append(context.names.attribute(key.name))
        columns = [key.attribute.column(), other.attribute.column()]
        scalars.append(exp.Coalesce(this=columns[0], expressions=columns[1:]))
    output = (*relation.attributes, *added)
    entries = [
        Entry(attribute, key.name, origin=attribute.id)
        for attribute, (key, _) in zip(added, keys, strict=True)
    ]
    return Project(relation, output, tuple(scalars)), entries


def _split_at_right(
    joins: Sequence[exp.Join],
) -> tuple[Sequence[exp.Join], exp.Join | None, Sequence[exp.Join]]:
    """Return the joins before the last RIGHT JOIN, which keeps its own rows, it, and the rest."""
    places = [index for index, join in enumerate(joins) if join.side == Side.RIGHT.value]
    if not places:
        return (), None, joins
    return joins[: places[-1]], joins[places[-1]], joins[places[-1] + 1 :]


def _generates(node: exp.Expr) -> bool:
    """Return True if the node is a generator that is a relation of its own.

    It is over the outer rows, if these lead.
    """
    return isinstance(node, exp.Table | exp.Lateral) and is_generator(node.this)


def _in_brackets(node: exp.Expr) -> bool:
    """Return True if the node is a parenthesised join."""
    return isinstance(node, exp.Subquery) and not _is_query(node.this)


def _is_query(node: exp.Expr) -> bool:
    """Return True if the node is a query, maybe in brackets, and no join in brackets."""
    while isinstance(node, exp.Subquery):
        if node.args.get("alias") or node.args.get("joins"):
            return False
        node = node.this
    return isinstance(node, exp.Query)

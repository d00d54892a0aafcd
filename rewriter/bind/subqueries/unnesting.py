"""Subqueries that refer to the outer query anywhere, computed for all values of the outer row.

The different values that the outer rows have in the columns used are one more relation in FROM;
items and grouping keys pass them on, through derived tables and named queries too. The answer of
the subquery for one outer row are the rows with that row's values (T. Neumann, A. Kemper, Unnesting
Arbitrary Queries, BTW 2015).

A subquery in pipe syntax is first written as nested SELECTs. Operators that a SELECT has clauses
for are put into one, in the order in which it applies them; else the SELECT so far becomes a
derived table. Qualifiers do not reach into a derived table: an operator that uses one which pipe
syntax would keep is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Aggregate, Attribute, OuterRow, Scalar, bracketed
from rewriter.bind.clauses.grouping import EVERY_ROW, is_grouped, without_keys
from rewriter.bind.clauses.ordering import row_bounds
from rewriter.bind.columns.scope import CARRIED, Bound, Entry, Outer, Scope
from rewriter.bind.context import BindContext, Correlated, SubqueryMembers, Tie
from rewriter.bind.text import SourceText, unwrap
from rewriter.dialect import (
    AggregateStep,
    DropStep,
    ExtendStep,
    NameStep,
    OrderStep,
    Piped,
    PipeSource,
)
from rewriter.errors import UnsupportedError

_BOUNDS = frozenset({"limit", "offset"})
_ORDERED = _BOUNDS | {"order"}
_QUERIES = (exp.Select, exp.SetOperation, Piped)


@dataclass(frozen=True, slots=True)
class _Selects:
    """The SELECTs of the operators so far.

    Attributes
    ----------
    query
        What they are.
    open
        Whether ``query`` is a SELECT of all columns of FROM, with WHERE at most.
    name
        The one qualifier of all columns, where it is open.
    names
        All names that may be qualifiers of its columns, in lower case.
    lost
        Qualifiers that pipe syntax would keep.
    ordered
        Whether the rows have an order that LIMIT goes by.
    """

    query: exp.Query
    open: bool = False
    name: str | None = None
    names: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    ordered: bool = False

    def closed(self, query: exp.Query, *, ordered: bool | None = None) -> _Selects:
        """Return a query to which no clause is added, in the place of these SELECTs."""
        lost = self.lost | self.names
        return _Selects(query, lost=lost, ordered=self.ordered if ordered is None else ordered)

    def derived(self, name: str | None = None) -> _Selects:
        """Return a SELECT of these as a derived table; all of one relation keeps its name."""
        name = self.name if name is None else name
        names = frozenset[str]() if name is None else frozenset({name.lower()})
        lost = (self.lost | self.names) - names
        return _Selects(_all_of(self.query, name), True, name, names, lost, self.ordered)

    def opened(self, *, unrestricted: bool = False) -> _Selects:
        """Return a SELECT of all columns; ``unrestricted``: without WHERE."""
        restricted = unrestricted and self.query.args.get("where") is not None
        return self if self.open and not restricted else self.derived()


@dataclass(frozen=True, slots=True)
class _Steps:
    """The operators of a text, one after the other."""

    source: SourceText

    def selects(self, piped: Piped) -> _Selects:
        """Return the SELECTs of an operator and those before it."""
        step = piped.args["step"]
        given = _before_step(self._before(piped.this), step)
        qualifiers = {
            part.name.lower() for column in step.find_all(exp.Column) for part in column.parts[:-1]
        }
        if given is None or qualifiers & given.lost or _is_ordered(piped):
            raise self._refusal(piped)
        after = self._after(given, step)
        if after is None:
            raise self._refusal(piped)
        if piped.args.get("with_"):
            after.query.set("with_", piped.args["with_"])
        return after

    def query(self, query: exp.Query) -> exp.Query:
        """Return a query with SELECTs in place of its own pipe syntax."""
        if isinstance(query, Piped):
            return self.selects(query).query
        sides = ("this", "expression") if isinstance(query, exp.SetOperation) else ("this",)
        for side in sides if not isinstance(query, exp.Select) else ():
            if isinstance(query.args.get(side), exp.Query):
                query.set(side, self.query(query.args[side]))
        return query

    def _before(self, given: exp.Expr) -> _Selects:
        """Return the rows of FROM, of a query, or of the operators before."""
        if isinstance(given, Piped):
            return self.selects(given)
        if isinstance(given, PipeSource):
            select = exp.Select(expressions=[exp.Star()], from_=given.args["from_"])
            select.set("laterals", given.args.get("laterals"))
            return _Selects(select, True, _only_name(given), _names(given))
        assert isinstance(given, exp.Query)
        named = given.find_all(exp.Table, exp.TableAlias)
        lost = frozenset(relation.name.lower() for relation in named if relation.name)
        return _Selects(_all_of(self.query(given)), True, lost=lost, ordered=_is_ordered(given))

    def _after(self, given: _Selects, step: exp.Expr) -> _Selects | None:
        """Return the rows of an operator, None where a SELECT has no clause for it."""
        match step:
            case exp.Where():
                given.query.set("where", step)
                return given
            case exp.Join():
                given.query.append("joins", step)
                return replace(given, name=None, names=given.names | _names(step))
            case NameStep():
                return given.derived(step.name)
            case exp.SetOperation():
                step.set("this", given.query)
                step.set("expression", self.query(step.expression))
                return given.closed(step, ordered=False)
            case OrderStep():
                for name, value in step.args.items():
                    given.query.set(name, value)
                return given.closed(given.query, ordered=True)
            case exp.Select():
                return _selected(given, step.expressions, step)
            case ExtendStep():
                return _selected(given, [exp.Star(), *step.expressions])
            case DropStep():
                return _selected(given, [exp.Star(except_=step.expressions)])
            case AggregateStep():
                return _aggregated(given, step)
        return None

    def _refusal(self, piped: Piped) -> UnsupportedError:
        at = self.source.keyword_before(piped.args["step"], "|>") or piped
        problem = "this operator in a subquery that refers to the outer query is not supported"
        return self.source.unsupported(problem, "Write the subquery as a SELECT.", at)


def without_pipes(query: exp.Query, source: SourceText) -> exp.Query:
    """Return a query with SELECTs in place of pipe syntax, also in its set operations.

    Raises
    ------
    UnsupportedError
        An operator has no place in a SELECT.
    """
    return _Steps(source).query(query)


def _before_step(before: _Selects, step: exp.Expr) -> _Selects | None:
    """Return the SELECT that an operator adds clauses to, None where there is none."""
    if isinstance(step, exp.Where | exp.Join):
        return before.opened(unrestricted=True)
    if isinstance(step, NameStep | exp.SetOperation):
        return before
    if not isinstance(step, OrderStep):
        return before.opened()
    clauses = {name for name, value in step.args.items() if value}
    if not clauses <= _ORDERED:
        return None
    if "order" in clauses or not before.ordered:
        return before.opened()
    # A derived table has no order that LIMIT goes by.
    bounded = any(before.query.args.get(name) for name in _BOUNDS)
    return before if before.query.args.get("order") and not bounded else None


def _selected(
    given: _Selects, items: Sequence[exp.Expr], step: exp.Select | None = None
) -> _Selects:
    given.query.set("expressions", list(items))
    for clause in ("hint", "distinct", "windows"):
        given.query.set(clause, None if step is None else step.args.get(clause))
    return given.closed(given.query)


def _aggregated(given: _Selects, step: AggregateStep) -> _Selects | None:
    """Return the keys, then the aggregates; an integer would be a place among the columns."""
    keys = step.args.get("keys") or []
    bare = [unwrap(key.this if isinstance(key, exp.Alias) else key) for key in keys]
    if any(isinstance(key, exp.Literal) for key in bare):
        return None
    selected = _selected(given, [*keys, *step.expressions])
    if bare:
        selected.query.set("group", exp.Group(expressions=[key.copy() for key in bare]))
    return replace(selected, ordered=False)


def _is_ordered(query: exp.Expr) -> bool:
    return any(query.args.get(clause) for clause in _ORDERED)


def _all_of(query: exp.Query, name: str | None = None) -> exp.Select:
    """Return a SELECT of all columns of a query, under a name."""
    alias = None if name is None else exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    table = exp.Subquery(this=query, alias=alias)
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=table))


def _only_name(given: PipeSource) -> str | None:
    """Return the qualifier of all columns of FROM, None where there may be others."""
    relation = given.args["from_"].this
    if given.args.get("laterals") or relation.args.get("joins") or relation.args.get("pivots"):
        return None
    if isinstance(relation, exp.Table) and not relation.db:
        return str(relation.alias_or_name) or None
    return relation.alias or None if isinstance(relation, exp.Subquery) else None


def _names(node: exp.Expr) -> frozenset[str]:
    """Return the names that may be qualifiers of columns of a text's relations, in lower case."""
    names: list[str] = []
    for part in node.walk(prune=lambda inner: isinstance(inner, _QUERIES)):
        if isinstance(part, exp.Table) and not part.alias:
            names += [part.name, part.db, part.catalog]
        elif isinstance(part, exp.TableAlias):
            names.append(part.name)
    return frozenset(name.lower() for name in names if name)


def bind_carried(
    query: exp.Query, context: BindContext, outer: Outer
) -> tuple[Bound, tuple[Scalar, ...]]:
    """Bind a relation of FROM of a subquery that is computed for all outer rows at once.

    Returned is the relation, and what ties its rows to the outer row, ``outer.row``.
    """
    assert outer.row is not None
    output = outer.row.output
    bound = context.bind.query(carrying(query, output, context.source), context, outer)
    count = len(bound.scope.entries) - len(output)
    visible, passed = bound.scope.entries[:count], bound.scope.entries[count:]
    conditions: tuple[Scalar, ...] = tuple(
        exp.NullSafeEQ(this=entry.attribute.column(), expression=attribute.column())
        for entry, attribute in zip(passed, output, strict=True)
    )
    return Bound(bound.relation, Scope(visible)), conditions


def carrying(query: exp.Query, output: Sequence[Attribute], source: SourceText) -> exp.Query:
    """Return a query in which every SELECT also yields the outer values, last."""
    copy = without_pipes(query.copy(), source)
    _carry(copy, output, source)
    return copy


def _carry(query: exp.Expr, output: Sequence[Attribute], source: SourceText) -> None:
    _limit_each(query, source)
    _refuse_sets(query, source)
    if isinstance(query, exp.SetOperation):
        _carry(query.this, output, source)
        _carry(query.expression, output, source)
    elif isinstance(query, exp.Subquery):
        _carry(query.this, output, source)
    elif isinstance(query, exp.Select):
        if is_grouped(query):
            every = without_keys(query)
            if every:
                query.set("group", exp.Group(expressions=[]))
                query.meta[EVERY_ROW] = True
            group = query.args["group"]
            if not group.args.get("all"):
                for attribute in output:
                    group.append("expressions", _reference(attribute))
        _partition(query, output, source)
        for attribute in output:
            query.append("expressions", _reference(attribute))


def _partition(select: exp.Select, output: Sequence[Attribute], source: SourceText) -> None:
    """Have every window of a SELECT be one of rows for the same outer values."""
    parts = [*select.expressions, *filter(None, [select.args.get("qualify")])]
    windows = [
        node
        for part in parts
        for node in part.walk(prune=lambda inner: isinstance(inner, exp.Query))
        if isinstance(node, exp.Window)
    ]
    if windows and select.args.get("windows"):
        problem = "WINDOW in a subquery that refers to the outer query is not supported"
        at = source.keyword_before(select.args["windows"][0], "WINDOW")
        raise source.unsupported(problem, "Write the window after OVER.", at)
    for window in windows:
        keys = window.args.get("partition_by") or []
        window.set("partition_by", [*keys, *map(_reference, output)])


def _refuse_sets(query: exp.Expr, source: SourceText) -> None:
    """Refuse what would have to be computed apart for each outer row."""
    group = query.args.get("group")
    nested = (exp.Rollup, exp.Cube, exp.GroupingSets)
    if group is not None and group.find(*nested) is not None:
        problem = "grouping sets in a subquery that refers to the outer query are not supported"
        raise source.unsupported(problem, "Group by one set of keys.", group)


def _limit_each(query: exp.Expr, source: SourceText) -> None:
    """Have LIMIT be one for each outer row: a condition on the row's number, before windows."""
    if not (query.args.get("limit") or query.args.get("offset")):
        return
    limit, offset = row_bounds(query, source)
    keeps_one = isinstance(query, exp.Select) and without_keys(query) and limit != 0
    if not offset and (limit is None or keeps_one):
        for clause in ("limit", "offset"):
            query.set(clause, None)
        return
    if not isinstance(query, exp.Select) or query.args.get("distinct") or query.args.get("windows"):
        raise source.unsupported(
            "LIMIT of DISTINCT or UNION in a subquery that refers to the outer query is not "
            "supported",
            "Select an aggregate (MIN, MAX), or limit a derived table.",
            query,
        )
    number = exp.Window(
        this=exp.Anonymous(this="ROW_NUMBER"),
        partition_by=[],
        order=_window_order(query, source),
        over="OVER",
    )
    conditions = [query.args["qualify"].this] if query.args.get("qualify") else []
    if limit is not None:
        last = exp.Literal.number(limit + offset)
        conditions.append(exp.LTE(this=number.copy(), expression=last))
    if offset:
        conditions.append(exp.GT(this=number.copy(), expression=exp.Literal.number(offset)))
    query.set("qualify", exp.Qualify(this=exp.and_(*conditions)))
    for clause in ("order", "limit", "offset"):
        query.set(clause, None)


def _window_order(select: exp.Select, source: SourceText) -> exp.Order:
    """Return ORDER BY of a SELECT as one of a window, which does not know its aliases."""
    order = select.args.get("order")
    if order is None:
        return exp.Order(expressions=[exp.Ordered(this=exp.null(), nulls_first=True)])
    aliased = {item.alias.lower(): item.this for item in select.expressions if item.alias}
    for ordered in order.expressions:
        if isinstance(unwrap(ordered.this), exp.Literal | exp.Var):
            advice = "Write the expressions to order by."
            problem = "a position in ORDER BY of a subquery that refers to the outer query"
            raise source.unsupported(f"{problem} is not supported", advice, ordered)
    copy: exp.Order = order.copy()
    for column in list(copy.find_all(exp.Column)):
        if not column.table and column.name.lower() in aliased:
            column.replace(exp.paren(aliased[column.name.lower()].copy()))
    return copy


def _reference(attribute: Attribute) -> exp.Column:
    name = exp.to_identifier(attribute.id, quoted=True)
    return exp.column(name, table=exp.to_identifier(CARRIED, quoted=True))


@dataclass(frozen=True, slots=True)
class Dependent:
    """A bound subquery whose rows carry the outer values that they are for.

    ``carried`` are these attributes of ``bound.relation``, one for each of the tie's values.
    """

    bound: Bound
    carried: tuple[Attribute, ...]
    tie: Tie

    @property
    def conditions(self) -> tuple[Scalar, ...]:
        """The conditions that tie a row of the subquery to an outer row."""
        return tuple(
            exp.NullSafeEQ(this=attribute.column(), expression=bracketed(scalar.copy()))
            for attribute, (_, scalar) in zip(self.carried, self.tie.values, strict=True)
        )


def bind_dependent(query: exp.Query, context: BindContext, outer: Outer) -> Dependent:
    """Bind a subquery for all outer rows.

    Raises
    ------
    UnsupportedError
        Where it refers to the outer query in a clause that is not computed once for all rows.
    """
    entries = {e.attribute.id: e for scope in outer.scopes for e in scope.entries}
    output = tuple(context.names.attribute(entry.name) for entry in entries.values())
    row = OuterRow(output)
    inside = _inside(outer, dict(zip(entries, output, strict=True)), row)
    carried = Scope(tuple(Entry(a, a.id, (CARRIED,), hidden=True) for a in output))
    inside = replace(inside, scope=inside.scope + carried)
    bound = context.bind.query(carrying(query, output, context.source), context, inside)
    count = len(bound.scope.entries) - len(output)
    inner, passed = bound.scope.entries[:count], bound.scope.entries[count:]
    values, kept = [], []
    for identity, attribute, entry in zip(entries, output, passed, strict=True):
        if attribute.id in outer.referred:
            outer.referred.add(identity)
            values.append((attribute, entries[identity].attribute.column()))
            kept.append(entry.attribute)
    return Dependent(Bound(bound.relation, Scope(inner)), tuple(kept), Tie(row, tuple(values)))


def _inside(outer: Outer, attributes: Mapping[str, Attribute], row: OuterRow) -> Outer:
    """Return the columns of the outer queries as columns of the outer row."""
    entries = (replace(e, attribute=attributes[e.attribute.id]) for e in outer.scope.entries)
    around = None if outer.around is None else _inside(outer.around, attributes, row)
    return replace(outer, scope=Scope(tuple(entries)), row=row, around=around, refusal=None)


def members_of(dependent: Dependent) -> SubqueryMembers:
    """Return the subquery of IN or EXISTS."""
    values = tuple(entry.attribute.column() for entry in dependent.bound.scope.entries)
    return SubqueryMembers(dependent.bound.relation, values, dependent.conditions, dependent.tie)


def scalar_of(dependent: Dependent, query: exp.Query, context: BindContext) -> Correlated:
    """Return a scalar subquery: its value for the outer values that its rows carry.

    Where there may be several rows for them, the value is checked as Spark does.
    """
    entries = dependent.bound.scope.entries
    if len(entries) != 1:
        problem = f"a scalar subquery has one column, not {len(entries)}"
        raise context.source.error(problem, "Select the column that is meant.", query)
    names = context.names
    relation, value = dependent.bound.relation, entries[0].attribute
    keys, count = dependent.carried, None
    if not _at_most_one_row(query):
        scalars = tuple(attribute.column() for attribute in keys)
        calls = (exp.Max(this=value.column()), exp.Count(this=exp.Star()))
        keys = tuple(names.attribute(attribute.name) for attribute in keys)
        value, count = names.attribute(value.name), names.attribute("rows")
        relation = Aggregate(relation, keys, scalars, (value, count), calls)
    pairs = tuple(
        (scalar.copy(), key) for key, (_, scalar) in zip(keys, dependent.tie.values, strict=True)
    )
    return Correlated(relation, pairs, value, tie=dependent.tie, count=count)


def _at_most_one_row(query: exp.Query) -> bool:
    """Return True if a query has at most one row for each outer row, whatever the data."""
    bare: exp.Expr = query
    while isinstance(bare, exp.Subquery):
        bare = bare.this
    return isinstance(bare, exp.Select) and without_keys(bare)

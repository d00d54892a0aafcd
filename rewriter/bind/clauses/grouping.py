"""Grouping: expressions over the input become expressions over its keys and aggregates.

ROLLUP, CUBE and GROUPING SETS are lists of grouping sets.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import product

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Attribute,
    GroupingSets,
    OuterRow,
    Project,
    Relation,
    Scalar,
    UnionAll,
    references,
)
from rewriter.bind.clauses.ordering import ordinal
from rewriter.bind.columns.items import Item, alias_lookup
from rewriter.bind.columns.scope import Bound, Lookup, Parts, item_name
from rewriter.bind.context import BindContext
from rewriter.bind.functions.calls import call_name, has_aggregate, is_aggregate
from rewriter.bind.functions.time_windows import in_sessions
from rewriter.bind.scalars import PLACE, ScalarBinder, is_star
from rewriter.bind.subqueries.values import Subqueries
from rewriter.bind.text import fingerprint, unwrap
from rewriter.dialect import SparkSQL, TypedLiteral
from rewriter.errors import QueryError
from rewriter.position import Span
from rewriter.scalars.functions import GROUPING_FUNCTIONS, is_opaque
from rewriter.scalars.windows import changed


def is_grouped(select: exp.Select) -> bool:
    """Return True if a SELECT aggregates its rows."""
    if select.args.get("group") or select.args.get("having"):
        return True
    items = [item for item in select.expressions if not is_star(item)]
    return any(map(has_aggregate, [*items, *filter(None, [select.args.get("qualify")])]))


def without_keys(select: exp.Select) -> bool:
    """Return True if a SELECT has one group, which is there even if it has no rows."""
    group = select.args.get("group")
    if group is None or not group.args.get("all"):
        return group is None and is_grouped(select)
    return all(not is_star(item) and has_aggregate(item) for item in select.expressions)


def is_of_everything(select: exp.Select) -> bool:
    """Return True if a SELECT is grouped by GROUPING SETS (()) alone."""
    group = select.args.get("group")
    return group is not None and not group.args.get("all") and group_by(group).everything


def key_scalars(
    binder: ScalarBinder, select: exp.Select, items: Sequence[Item]
) -> tuple[list[tuple[str, Scalar]], list[tuple[int, ...]] | None]:
    """Return the names and expressions of the grouping keys, and the keys of each grouping set.

    A name is a column of FROM, else the alias of an item; an integer is the item at that place.
    """
    group = select.args.get("group")
    if group is None:
        return [], None
    if group.args.get("all"):
        if binder.scope.resolve(["all"]) is None:
            return [(i.name, i.scalar) for i in items if not has_aggregate(i.scalar)], None
        return [("all", binder.bind(exp.column("all")))], None

    first, *further = binder.lookups
    binder = replace(binder, lookups=(first, alias_lookup(items), *further))
    written = group_by(group)
    return list(_keys(binder, written.expressions, items)), written.sets


def having_lookup(columns: Lookup, items: Sequence[Item]) -> Lookup:
    """Return how HAVING resolves a name: a column of FROM where it is grouped by, else an alias."""

    aliases = alias_lookup(items)

    def find(parts: Parts, inside: bool) -> Scalar | None:
        column, alias = columns(parts, inside), aliases(parts, inside)
        if column is None:
            return alias
        if alias is not None and not inside:
            column.meta[OTHERWISE] = alias
        return column

    return find


def _keys(
    binder: ScalarBinder, written: Sequence[exp.Expr], items: Sequence[Item]
) -> Iterator[tuple[str, Scalar]]:
    source = binder.context.source
    for node in written:
        position = ordinal(node, len(items), "GROUP BY", source)
        if position is None:
            scalar, name = binder.bind(node), item_name(node)
        else:
            scalar, name = items[position].scalar, items[position].name
        if has_aggregate(scalar):
            advice = "Group by an expression without aggregates."
            raise source.error("GROUP BY refers to an aggregate", advice, node)
        yield name, unwrap(scalar)


_ANALYTICS = (exp.Rollup, exp.Cube, exp.GroupingSets)


@dataclass(slots=True)
class GroupBy:
    """The expressions of a GROUP BY, in order, and the places of the keys of each grouping set.

    ``sets`` is None for a plain grouping, by all of them; ``everything`` is true for GROUPING SETS
    (()), which has no keys.
    """

    expressions: list[exp.Expr] = field(default_factory=list)
    sets: list[tuple[int, ...]] | None = None
    everything: bool = False

    def place(self, node: exp.Expr) -> int:
        """Return the place of one more expression."""
        self.expressions.append(node)
        return len(self.expressions) - 1


def group_by(group: exp.Group) -> GroupBy:
    """Return the keys of a GROUP BY and its grouping sets: elements beside each other multiply.

    GROUPING SETS (()) alone is a grouping without keys: it has a row over an empty input too.
    """
    grouping = GroupBy()
    elements = [_alternatives(node, grouping) for node in group.expressions]
    suffixes = [part for key in ("rollup", "cube") for part in group.args.get(key) or []]
    if suffixes:
        units = [keys for element in elements for keys in element]
        grouping.sets = _prefixes(units) if group.args.get("rollup") else _subsets(units)
    elif group.args.get("grouping_sets"):
        suffix = group.args["grouping_sets"]
        grouping.sets = [keys for part in suffix for keys in _alternatives(part, grouping)]
    elif any(isinstance(node, _ANALYTICS) for node in group.expressions):
        grouping.sets = [_joined(keys) for keys in product(*elements)]
    return GroupBy(everything=True) if grouping.sets == [()] else grouping


def is_grouping_function(node: exp.Expr) -> bool:
    """Return True if a node calls grouping() or grouping_id()."""
    return isinstance(node, exp.AnonymousAggFunc) and str(node.this).lower() in GROUPING_FUNCTIONS


def grouping_flag(number: Scalar, without: Sequence[int]) -> Scalar:
    """Return grouping(key): 1 in the grouping sets without the key."""
    missing = exp.In(this=number, expressions=[exp.Literal.number(index) for index in without])
    case = exp.Case().when(missing if without else exp.false(), _literal(1, "Y"))
    return case.else_(_literal(0, "Y"))


def grouping_id(number: Scalar, sets: Sequence[Sequence[int]], keys: int) -> Scalar:
    """Return grouping_id(): a bit for each key, the first the highest, 1 where it is missing."""
    values = [
        sum(1 << (keys - 1 - key) for key in range(keys) if key not in grouping_set)
        for grouping_set in sets
    ]
    case = exp.Case(this=number)
    for index, value in enumerate(values[:-1]):
        case = case.when(exp.Literal.number(index), bigint(value))
    return case.else_(bigint(values[-1])) if len(values) > 1 else bigint(values[0])


def bigint(value: int) -> Scalar:
    """Return a BIGINT as a literal."""
    return _literal(value, "L")


def _alternatives(node: exp.Expr, grouping: GroupBy) -> list[tuple[int, ...]]:
    """Return the grouping sets that one element of GROUP BY stands for."""
    if isinstance(node, exp.GroupingSets):
        return [keys for part in node.expressions for keys in _alternatives(part, grouping)]
    if isinstance(node, exp.Rollup | exp.Cube):
        units = [_unit(part, grouping) for part in node.expressions]
        return _prefixes(units) if isinstance(node, exp.Rollup) else _subsets(units)
    return [_unit(node, grouping)]


def _unit(node: exp.Expr, grouping: GroupBy) -> tuple[int, ...]:
    """Return the places of the expressions that stand together in brackets."""
    parts = node.expressions if isinstance(node, exp.Tuple) else [node]
    return tuple(grouping.place(part) for part in parts)


def _prefixes(units: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [_joined(units[:size]) for size in range(len(units), -1, -1)]


def _subsets(units: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    chosen = product((True, False), repeat=len(units))
    return [_joined([u for u, keep in zip(units, kept, strict=True) if keep]) for kept in chosen]


def _joined(units: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(key for unit in units for key in unit)


def _literal(value: int, suffix: str) -> Scalar:
    kind = {"Y": "tinyint", "L": "bigint"}[suffix]
    number = exp.Literal.number(value)
    return TypedLiteral(this=number, to=exp.DataType.build(kind), suffix=suffix)


OTHERWISE = "otherwise"
"""Marks a column of HAVING, or a field of it, with what its name means where the column is not a
grouping key.
"""


EVERY_ROW = "every row"
"""Marks a grouping by outer values that was an aggregate without GROUP BY: no rows have a row."""


class Grouping:
    """The keys and aggregates of one query block, found while its expressions are rewritten.

    ``everything`` is true if it is written as GROUPING SETS (()): without keys.
    """

    def __init__(
        self,
        context: BindContext,
        subqueries: Subqueries,
        keys: Sequence[tuple[str, Scalar]],
        sets: Sequence[tuple[int, ...]] | None = None,
        *,
        everything: bool = False,
    ) -> None:
        self._context = context
        self._everything = everything
        self._subqueries = subqueries
        self._keys: dict[Hashable, tuple[Attribute, Scalar]] = {}
        self._aggregates: dict[Hashable, tuple[Attribute, Scalar]] = {}
        places = [self._place(self.key(name, scalar)) for name, scalar in keys]
        self._sets: GroupingSets | None = None
        if sets is not None:
            chosen = tuple(
                tuple(sorted({places[key] for key in grouping_set})) for grouping_set in sets
            )
            self._sets = GroupingSets(context.names.attribute("grouping_set"), chosen)
        self._written = len(self._keys)

    def _place(self, key: Attribute) -> int:
        return [attribute for attribute, _ in self._keys.values()].index(key)

    def key(self, name: str, scalar: Scalar) -> Attribute:
        """Return the key that is equal to an expression; a new one if there is none."""
        known = fingerprint(scalar)
        if known not in self._keys:
            self._keys[known] = (self._context.names.attribute(name), scalar)
        return self._keys[known][0]

    @property
    def keys(self) -> tuple[Scalar, ...]:
        """The expressions over the input that it is by, so far."""
        return tuple(scalar for _, scalar in self._keys.values())

    @property
    def has_keys(self) -> bool:
        """True with keys or grouping sets: an empty input then has no group."""
        return bool(self._keys) or self._sets is not None

    def aggregate(self, call: exp.Expr, name: str = "") -> Attribute:
        """Return the value of an aggregate call over the input; a new one if there is none."""
        known = fingerprint(call)
        if known not in self._aggregates:
            attribute = self._context.names.attribute(name or _call_name(call))
            self._aggregates[known] = (attribute, call.copy())
        return self._aggregates[known][0]

    def over(self, scalar: Scalar, kept: frozenset[str] = frozenset()) -> Scalar:
        """Return an expression over the input as one over the grouping.

        A part equal to a key becomes the key, a call of an aggregate its value. ``kept`` are ids
        of attributes that come from elsewhere.

        Raises
        ------
        QueryError
            A column of the input is neither.
        """

        def replaced(node: exp.Expr) -> exp.Expr:
            if is_grouping_function(node):
                return self._grouping_function(node)
            key = self._keys.get(fingerprint(node))
            if key is not None and (self._sets is not None or any(references(key[1]))):
                return key[0].column()
            other = node.meta.get(OTHERWISE)
            if other is not None and not self._has_key(node):
                return self.over(other, kept)
            if isinstance(node, exp.Window):
                return changed(node, lambda operand: self.over(operand, kept))
            if is_aggregate(node):
                return self.aggregate(node).column()
            if isinstance(node, exp.Column) and node.name in self._subqueries.ids:
                return self._subqueries.above(node.name, self.over).column()
            if isinstance(node, exp.Column) and node.name not in kept:
                raise self._ungrouped(node)
            return node

        result: Scalar = scalar.copy().transform(replaced, copy=False)
        return result

    def relation(
        self, source: Relation, span: Span | None, every: OuterRow | None = None
    ) -> Relation:
        """Return the grouping of an input, once all expressions over it are known.

        With ``every`` there is a group for each of these rows, though no input row may have it.
        """
        if not self._keys and not self._aggregates and self._sets is None:
            self.aggregate(exp.Count(this=exp.Star()))
        scalars = [scalar for _, scalar in (*self._keys.values(), *self._aggregates.values())]
        source, attached = self._subqueries.attach(source, scalars)
        count = len(self._keys)
        self._check_opaque(attached[count:], span, everywhere=every is not None)
        keys, calls, sets = attached[:count], attached[count:], self._sets is not None
        source, by = in_sessions(source, keys, calls, self._context, span, sets=sets)
        attached = (*by, *attached[count:])
        if every is not None:
            there = self._context.names.attribute("there")
            used = {name for scalar in attached for name in references(scalar)}
            source = _padded(source, every, there, used)
            attached = (*attached[:count], *(_filtered(call, there) for call in attached[count:]))
        return Aggregate(
            source,
            tuple(attribute for attribute, _ in self._keys.values()),
            attached[:count],
            tuple(attribute for attribute, _ in self._aggregates.values()),
            attached[count:],
            span,
            self._all_sets(),
        )

    def _check_opaque(
        self, calls: Sequence[Scalar], span: Span | None, *, everywhere: bool
    ) -> None:
        """Refuse registered aggregates beside Spark's own, and where no rows have a row."""
        names = [str(call.this) for call in calls if is_opaque(call)]
        if names and len(names) < len(calls):
            problem = f"the registered aggregate {names[0]} beside one of Spark's"
            advice = "Spark does not compute both at once: join two queries."
        elif names and everywhere:
            problem = f"the registered aggregate {names[0]} in a subquery without GROUP BY"
            advice = "Group by a constant: GROUP BY 'all'."
        else:
            return
        at = span or next(call for call in calls if is_opaque(call))
        raise self._context.source.unsupported(f"{problem} is not supported", advice, at)

    def _all_sets(self) -> GroupingSets | None:
        """Return the grouping sets; keys that were not written in GROUP BY belong to all."""
        if self._sets is None:
            return None
        more = tuple(range(self._written, len(self._keys)))
        return replace(
            self._sets, sets=tuple((*grouping_set, *more) for grouping_set in self._sets.sets)
        )

    def _grouping_function(self, call: exp.Expr) -> Scalar:
        source = self._context.source
        name = str(call.this).lower()
        if self._everything and name == "grouping_id" and not call.expressions:
            return bigint(0)
        if self._sets is None:
            advice = "Use it with ROLLUP, CUBE or GROUPING SETS."
            raise source.error(f"{name} without grouping sets", advice, call)
        number = self._sets.number.column()
        if name == "grouping_id":
            return grouping_id(number, self._sets.sets, self._written)
        key = self._keys.get(fingerprint(call.expressions[0]))
        if key is None:
            advice = "Give it an expression of GROUP BY."
            raise source.error("grouping of what is not grouped by", advice, call)
        return grouping_flag(number, self._sets.without(self._place(key[0])))

    def _has_key(self, node: exp.Expr) -> bool:
        """Return True if a column is grouped by, or the struct that has this field."""
        return any(fingerprint(each) in self._keys for each in node.walk())

    def _ungrouped(self, node: exp.Column) -> QueryError:
        advice = "Add it to GROUP BY, or aggregate it."
        span = node.meta.get(PLACE)
        problem = f"column {node.name} is neither grouped by nor aggregated"
        return self._context.source.error(problem, advice, span if isinstance(span, Span) else None)


def _padded(source: Relation, every: OuterRow, there: Attribute, used: Set[str]) -> Relation:
    """Return the input, where ``there`` is true, and each row of ``every`` with NULLs beside it."""
    kept = tuple(attribute for attribute in source.attributes if attribute.id in used)
    columns = tuple(attribute.column() for attribute in kept)
    outer_attributes = set(every.attributes)
    beside = tuple(a.column() if a in outer_attributes else exp.null() for a in kept)
    output = (*kept, there)
    rows = Project(source, output, (*columns, exp.true()))
    return UnionAll((rows, Project(every, output, (*beside, exp.false()))), output)


def _filtered(call: Scalar, there: Attribute) -> Scalar:
    condition: Scalar = there.column()
    if isinstance(call, exp.Filter):
        condition = exp.and_(condition, call.expression.this, copy=False)
        call = call.this
    return exp.Filter(this=call, expression=exp.Where(this=condition))


def _call_name(call: exp.Expr) -> str:
    return call.sql(dialect=SparkSQL, normalize_functions=False).replace("`", "")


def distinct(bound: Bound, context: BindContext, span: Span | None) -> Bound:
    """Return the different rows of a query: a grouping by all columns."""
    relation = bound.relation
    output = tuple(context.names.attribute(attribute.name) for attribute in relation.attributes)
    columns = [attribute.column() for attribute in relation.attributes]
    relation, keys = in_sessions(relation, columns, (), context, span)
    return Bound(Aggregate(relation, output, keys, (), (), span), bound.scope.over(output))


def group_without_keys(grouping: Grouping, select: exp.Select, context: BindContext) -> None:
    """Group by a constant where a SELECT without keys has registered aggregates.

    Spark computes these beside none of its own, and has no row for an empty input, where its own
    aggregates have one.

    Raises
    ------
    UnsupportedError
        Inside another query: whether it has a row for no input depends on what Spark's optimiser
        leaves of it.
    """
    call = None if grouping.has_keys else _opaque_call(_clauses(select))
    if call is None:
        return
    if select.find_ancestor(exp.Query, exp.CTE) is not None:
        name = call_name(call, context.source)
        problem = f"the registered aggregate {name} in a subquery without GROUP BY"
        advice = "Group by a constant: GROUP BY 'all'."
        raise context.source.unsupported(f"{problem} is not supported", advice, call)
    grouping.key("all", exp.true())


def _clauses(select: exp.Select) -> list[exp.Expr]:
    clauses = [select.args.get(name) for name in ("having", "qualify", "order")]
    return [*select.expressions, *filter(None, clauses)]


def _opaque_call(parts: Sequence[exp.Expr]) -> exp.Expr | None:
    """Return a call of a registered aggregate, not one of a subquery's; None without."""
    for part in parts:
        for node in part.walk(prune=lambda inner: isinstance(inner, exp.Query)):
            if is_opaque(node):
                return node
    return None

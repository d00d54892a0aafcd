"""The context of binding, the same for every operator of a query, and clauses that it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Protocol

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    BagDifference,
    InnerJoin,
    OuterJoin,
    OuterRow,
    OuterValues,
    Project,
    Relation,
    Scalar,
    SemiJoin,
    UnionAll,
    Windows,
    conjuncts,
    references,
)
from rewriter.bind.catalog import Environment
from rewriter.bind.columns.scope import AttributeNames, Bound, Outer
from rewriter.bind.text import SourceText
from rewriter.position import Span


def with_outer_values(relation: Relation, row: OuterRow, values: OuterValues) -> Relation:
    """Return a subquery with the outer values in their place, without the columns they lack.

    Parameters
    ----------
    relation
        The subquery. Its operators that pass on columns of ``row`` do so by name alone: as items,
        grouping keys, and columns of unions.
    values
        Has some of the attributes of ``row``.
    """
    lacking = {attribute.id for attribute in row.output} - {a.id for a in values.output}
    return _Narrowing(row, values, lacking).relation(relation)


class _Narrowing:
    def __init__(self, row: OuterRow, values: OuterValues, lacking: set[str]) -> None:
        self._row = row
        self._values = values
        self._lacking = lacking
        self._known: dict[int, Relation] = {}

    def relation(self, relation: Relation) -> Relation:
        if relation is self._row:
            return self._values
        if id(relation) not in self._known:
            self._known[id(relation)] = self._rebuilt(relation)
        return self._known[id(relation)]

    def _rebuilt(self, relation: Relation) -> Relation:
        changed: dict[str, Any] = {}
        for each in fields(relation):
            value = getattr(relation, each.name)
            if isinstance(value, Relation):
                new: Any = self.relation(value)
                if new is not value:
                    changed[each.name] = new
            elif each.name == "branches":
                new = tuple(map(self.relation, value))
                if any(old is not other for old, other in zip(new, value, strict=True)):
                    changed[each.name] = new
        if not changed:
            return relation
        match relation:
            case Project():
                kept = self._kept(relation.output, relation.scalars)
                changed |= {"output": _at(relation.output, kept)}
                changed |= {"scalars": _at(relation.scalars, kept)}
            case Aggregate():
                kept = self._kept(relation.key_output, relation.keys)
                changed |= {"key_output": _at(relation.key_output, kept)}
                changed |= {"keys": _at(relation.keys, kept)}
            case SemiJoin() | AntiJoin() | InnerJoin() | OuterJoin():
                # EXCEPT, INTERSECT and relations of FROM compare the outer values too.
                parts = conjuncts(relation.condition) if relation.condition is not None else []
                kept_parts = [p for p in parts if self._lacking.isdisjoint(references(p))]
                changed["condition"] = exp.and_(*kept_parts) if kept_parts else None
            case Windows():
                changed["calls"] = tuple(map(self._in_partition, relation.calls))
            case UnionAll():
                columns = [branch.attributes for branch in relation.branches]
                kept = [
                    index
                    for index in range(len(relation.output))
                    if not any(branch[index].id in self._lacking for branch in columns)
                ]
                self._lose(relation.output, kept)
                changed["output"] = _at(relation.output, kept)
            case BagDifference(left=left):
                there = enumerate(left.attributes)
                kept = [index for index, a in there if a.id not in self._lacking]
                self._lose(relation.output, kept)
                changed["output"] = _at(relation.output, kept)
        return replace(relation, **changed)

    def _in_partition(self, window: Scalar) -> Scalar:
        copy = window.copy()
        keys = copy.args.get("partition_by") or []
        kept = [key for key in keys if self._lacking.isdisjoint(references(key))]
        copy.set("partition_by", kept)
        return copy

    def _kept(self, output: Sequence[Attribute], scalars: Sequence[Scalar]) -> list[int]:
        kept = [
            index
            for index, scalar in enumerate(scalars)
            if not (isinstance(scalar, exp.Column) and scalar.name in self._lacking)
        ]
        self._lose(output, kept)
        return kept

    def _lose(self, output: Sequence[Attribute], kept: Sequence[int]) -> None:
        self._lacking |= {a.id for index, a in enumerate(output) if index not in kept}


def _at(values: Sequence[Any], places: Sequence[int]) -> tuple[Any, ...]:
    return tuple(values[index] for index in places)


class Binders(Protocol):
    """Binding of queries inside queries; a parameter of every part, so that none imports all."""

    def query(self, query: exp.Query, context: BindContext, outer: Outer | None) -> Bound:
        """Bind a query of its own: a derived table, a named query, a scalar subquery."""
        ...

    def scalar(self, query: exp.Query, context: BindContext, outer: Outer) -> Bound | Correlated:
        """Bind a scalar subquery, which WHERE of its own may correlate."""
        ...

    def lateral(
        self, query: exp.Query, left: Relation, context: BindContext, outer: Outer
    ) -> LateralRows:
        """Bind a subquery of FROM that refers to the rows of ``left`` before it."""
        ...

    def members(
        self, query: exp.Query, context: BindContext, outer: Outer, *, exists: bool
    ) -> SubqueryMembers:
        """Bind the subquery of IN or EXISTS, which WHERE of its own may correlate."""
        ...


@dataclass(frozen=True, slots=True)
class Tie:
    """The outer values in a subquery: attributes of ``row``, and what they are in the outer row."""

    row: OuterRow
    values: tuple[tuple[Attribute, Scalar], ...]

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """The values of the outer row that the subquery uses."""
        return tuple(scalar for _, scalar in self.values)

    def above(self, over: Callable[[Scalar, frozenset[str]], Scalar]) -> Tie:
        """Return the same values in the groups of outer rows."""
        values = tuple((attribute, over(scalar, frozenset())) for attribute, scalar in self.values)
        return Tie(self.row, values)

    def over(self, relation: Relation, outer: Relation) -> Relation:
        """Return the subquery over the values that these outer rows have."""
        output = tuple(attribute for attribute, _ in self.values)
        return with_outer_values(relation, self.row, OuterValues(outer, output, self.scalars))


@dataclass(frozen=True, slots=True)
class SubqueryMembers:
    """The subquery of IN or EXISTS: its rows, the values IN compares, what ties it to the outer.

    ``conditions`` refer to the attributes of the outer query and of ``relation``, in which the
    values of ``tie`` are still to be put.
    """

    relation: Relation
    values: tuple[Scalar, ...]
    conditions: tuple[Scalar, ...]
    tie: Tie | None = None


@dataclass(frozen=True, slots=True)
class Correlated:
    """A scalar subquery with a value for each outer row.

    ``relation`` has a row for each combination of the inner sides of the equalities: ``pairs`` are
    their outer sides and these columns, ``value`` the subquery's; see
    :class:`rewriter.algebra.CorrelatedScalar`. With ``tie``, the pairs are the outer values,
    which are still to be put in, and compared null-safe; ``count`` are the rows that had a value.
    """

    relation: Relation
    pairs: tuple[tuple[Scalar, Attribute], ...]
    value: Attribute
    empty: Scalar | None = None
    tie: Tie | None = None
    count: Attribute | None = None


@dataclass(frozen=True, slots=True)
class LateralRows:
    """A subquery of FROM and the conditions that join it with the rows before it."""

    bound: Bound
    conditions: tuple[Scalar, ...]


@dataclass(slots=True)
class Definition:
    """A named query: a common table expression or a view, with what its text may refer to."""

    name: str
    query: exp.Query
    columns: tuple[str, ...] | None
    context: BindContext
    outer: Outer | None
    shared: Bound | None = None
    """The one plan of all references, where the query must be computed once."""
    around: Outer | None = None
    """The columns of the query around the one that defines it."""
    once: bool = False
    """True if all references share the plan."""


@dataclass(frozen=True, slots=True)
class Recursion:
    """A recursive query: its levels, the first being its start.

    ``step`` makes a level of the rows of the level before it, which it reads as an
    :class:`rewriter.algebra.Iteration`; ``most`` is the number in MAX RECURSION LEVEL.
    """

    name: str
    levels: tuple[Relation, ...]
    span: Span | None = None
    step: Relation | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class BindContext:
    """The surroundings of a query: what names of relations mean, and how to bind inside it."""

    source: SourceText
    environment: Environment
    names: AttributeNames
    bind: Binders
    ctes: Mapping[str, Definition] = field(default_factory=lambda: MappingProxyType({}))
    views: dict[str, Definition] = field(default_factory=dict)
    recursions: dict[str, Recursion] = field(default_factory=dict)
    """The recursions met, by key."""
    differences: set[Span] = field(default_factory=set)
    """The places of EXCEPT and INTERSECT met."""
    reading: tuple[str, ...] = ()
    referred: set[str] = field(default_factory=set)
    """The ids of attributes that subqueries of the query refer to as columns around them."""

    def with_cte(self, definition: Definition) -> BindContext:
        """Return the context in which one more common table expression is defined."""
        return replace(self, ctes={**self.ctes, definition.name.lower(): definition})

    def inside_view(self, name: str, text: str) -> BindContext:
        """Return the context of a view's text: its own positions, no names of the query's."""
        source = SourceText(text, name)
        return replace(self, source=source, ctes={}, reading=(*self.reading, name.lower()))

    def project(self, relation: Relation, names: list[str], scalars: list[Scalar]) -> Project:
        """Return a projection on new attributes."""
        output = tuple(self.names.attribute(name) for name in names)
        return Project(relation, output, tuple(scalars))


_QUERY = {
    "by_name",
    "with_",
    "word",
    "expressions",
    "distinct",
    "from_",
    "joins",
    "laterals",
    "where",
    "group",
    "having",
    "qualify",
    "windows",
    "order",
    "limit",
    "offset",
    "this",
    "alias",
    "expression",
    # How to run the query, and where rows are then: the answer is the same.
    "hint",
    "sort",
    "distribute",
    "cluster",
    "step",
}
_TABLE = {"this", "alias", "db", "catalog", "joins", "pivots", "sample"}
_JOIN = {"this", "on", "side", "kind", "using", "method", "pivots"}

_PLAIN = "Leave it out."
_REFUSED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "version": (("VERSION AS OF", "VERSION", "TIMESTAMP"), "Track that version of the relation."),
    "hints": (("/*+",), "Leave the hint out: it cannot change the answer."),
}


def refuse_query_clauses(query: exp.Expr, source: SourceText) -> None:
    """Raise for a clause of a query that has no rule."""
    _refuse(query, _QUERY, source)
    distinct = query.args.get("distinct")
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on"):
        advice = "Aggregate with GROUP BY."
        at = source.keyword_before(distinct, "DISTINCT")
        raise source.unsupported("DISTINCT ON is not supported", advice, at)


def refuse_table_clauses(table: exp.Expr, source: SourceText) -> None:
    """Raise for a clause of a table that has no rule."""
    _refuse(table, _TABLE, source)


def refuse_join_clauses(join: exp.Join, source: SourceText) -> None:
    """Raise for a kind of join that has no rule."""
    _refuse(join, _JOIN, source)


def refuse_rows_as_keys(group: exp.Group, source: SourceText) -> None:
    """Raise for GROUP BY of a row in brackets that is not a grouping set: a struct to Spark."""
    for bare in group.expressions:
        if isinstance(bare, exp.Tuple):
            advice = "Write its columns without the brackets."
            at = group_span(group.parent_select, source)
            problem = "GROUP BY of a row in brackets is not supported"
            raise source.unsupported(problem, advice, at)


def group_span(select: exp.Expr | None, source: SourceText) -> Span | None:
    """Return the place of GROUP BY; None without it."""
    if select is None or not select.args.get("group"):
        return None
    at = source.keyword_before(select.args["group"], "GROUP BY")
    if at is not None:
        return at
    before = [select.args.get("where"), *reversed(select.args.get("joins") or [])]
    for clause in (*before, select.args.get("from_")):
        if clause is not None:
            return source.keyword_after(clause, "GROUP BY")
    return None


def refuse_set_operation(operation: exp.SetOperation, source: SourceText) -> None:
    """Raise for a set operation that has no rule."""
    name = type(operation).__name__.upper()
    words = (name, "MINUS") if name == "EXCEPT" else (name,)
    at = source.keyword_after(operation.this, *words)
    if operation.args.get("by_name"):
        advice = "List the columns in the same order in both queries."
        raise source.unsupported(f"{name} BY NAME is not supported", advice, at)


def _refuse(node: exp.Expr, allowed: Iterable[str], source: SourceText) -> None:
    for key, value in node.args.items():
        if not value or key in allowed:
            continue
        words, advice = _REFUSED.get(key, ((key.strip("_").upper(),), _PLAIN))
        part = value[0] if isinstance(value, list) else value
        name = words[0]
        at: Span | exp.Expr | None = None
        if isinstance(part, exp.Expr):
            at = source.keyword_before(part, *words) or part
        raise source.unsupported(
            f"{name.replace('/*+', 'a hint')} is not supported", advice, at or node
        )

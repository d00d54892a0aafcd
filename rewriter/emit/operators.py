"""The relational algebra as Spark SQL, with a named query for each operator.

Blocks serve capture; questions about a single operator (such as the rows that it loses) need the
rows below it and above it. :class:`OperatorQueries` writes each operator as one WITH item that
reads the items of its inputs, with columns that identify a row beside its attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    BagDifference,
    Constant,
    CorrelatedScalar,
    ExistenceJoin,
    Filter,
    Generate,
    InnerJoin,
    Join,
    Limit,
    LocalSort,
    OneRow,
    OuterJoin,
    OuterValues,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    Scan,
    SemiJoin,
    Sort,
    SortKey,
    UnionAll,
    Windows,
)
from rewriter.blocks import Generator, Named, TokenSource, qualified
from rewriter.dialect.nodes import DerivedValues
from rewriter.emit.core import with_generators
from rewriter.emit.trees import is_true, named, no_ordinal, table, union_all
from rewriter.errors import UnsupportedError

_EXPANDED = "_expanded"
_KEEPING = (
    Filter,
    Project,
    Windows,
    Generate,
    Sort,
    LocalSort,
    Limit,
    SemiJoin,
    AntiJoin,
    ExistenceJoin,
    ScalarSubquery,
    CorrelatedScalar,
)
"""Operators whose rows have the identity of the rows of their first input, and more."""


@dataclass(frozen=True, slots=True)
class OperatorRows:
    """The rows of an operator: the name of their query and its columns.

    ``identity`` are the columns that identify a row, beside the attributes; they are unique, except
    over relations without tokens.
    """

    name: str
    attributes: tuple[Attribute, ...]
    identity: tuple[str, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of the attributes' columns."""
        return tuple(attribute.id for attribute in self.attributes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        return (*self.ids, *self.identity)

    def select(self, columns: Iterable[str] | None = None) -> exp.Select:
        """Return a query of columns of the rows; None: all of them."""
        names = self.columns if columns is None else columns
        items = named((name, qualified(self.name, name)) for name in names)
        return exp.select(*items or [exp.true()]).from_(table(self.name, self.name))


@dataclass(slots=True)
class OperatorQueries:
    """Writes operators as WITH items, each once.

    Parameters
    ----------
    tokens
        The view and token columns of each tracked relation, by name.
    sql
        The user's text, into which refusals point.
    """

    tokens: Mapping[str, TokenSource]
    sql: str
    items: list[tuple[str, exp.Query]] = field(default_factory=list)
    _rows: dict[int, tuple[Relation, OperatorRows]] = field(default_factory=dict)
    _names: int = 0

    def rows(self, relation: Relation) -> OperatorRows:
        """Return the rows of an operator.

        Raises
        ------
        UnsupportedError
            For random operators, recursions and operators over streams.
        """
        if id(relation) not in self._rows:
            # The operator is kept beside its rows, so that its id is not used again.
            self._rows[id(relation)] = (relation, self._written(relation))
        return self._rows[id(relation)][1]

    def add(self, query: exp.Query, prefix: str = "_r") -> str:
        """Add a WITH item and return its name."""
        self._names += 1
        name = f"{prefix}{self._names}"
        self.items.append((name, query))
        return name

    def fresh(self, prefix: str = "_i") -> str:
        """Return an unused column name."""
        self._names += 1
        return f"{prefix}{self._names}"

    def statement(self, query: exp.Query) -> exp.Query:
        """Return a query that reads items, with WITH for all items that it needs."""
        needed = _names_of(query)
        chosen: list[tuple[str, exp.Query]] = []
        for name, item in reversed(self.items):
            if name in needed:
                needed |= _names_of(item)
                chosen.append((name, item))
        whole = query.copy()
        for name, item in reversed(chosen):
            whole = whole.with_(exp.to_identifier(name, quoted=True), as_=item.copy(), copy=False)
        return whole

    # -- operators -------------------------------------------------------------------------

    def _written(self, relation: Relation) -> OperatorRows:  # noqa: C901 - a case per operator
        match relation:
            case Scan():
                return self._scan(relation)
            case OneRow():
                select = exp.select(*named([(self.fresh(), exp.true())]))
                return OperatorRows(self.add(select), (), ())
            case Constant():
                return self._constant(relation)
            case Filter():
                below = self.rows(relation.input)
                query = self._select(below, below.columns).where(relation.predicate.copy())
                return OperatorRows(self.add(query), below.attributes, below.identity)
            case Project():
                return self._project(relation)
            case Windows():
                below = self.rows(relation.input)
                calls = zip(relation.output, relation.calls, strict=True)
                query = self._select(
                    below, below.columns, [(each.id, call) for each, call in calls]
                )
                return OperatorRows(self.add(query), relation.attributes, below.identity)
            case Generate():
                return self._generate(relation)
            case Aggregate():
                return self._aggregate(relation)
            case Sort() | LocalSort():
                return self.rows(relation.input)
            case Limit():
                return self._limit(relation)
            case SemiJoin() | AntiJoin():
                return self._half_join(relation)
            case InnerJoin() | OuterJoin():
                return self._join(relation)
            case ExistenceJoin():
                return self._existence(relation)
            case ScalarSubquery():
                below, inner = self.rows(relation.input), self.rows(relation.query)
                value = exp.select(qualified(inner.name, relation.value.id))
                scalar = value.from_(table(inner.name, inner.name)).subquery()
                query = self._select(below, below.columns, [(relation.output.id, scalar)])
                return OperatorRows(self.add(query), relation.attributes, below.identity)
            case CorrelatedScalar():
                return self._correlated(relation)
            case OuterValues():
                return self._outer_values(relation)
            case UnionAll():
                return self._union(relation)
            case BagDifference():
                return self._difference(relation)
        kind = type(relation).__name__
        raise UnsupportedError(
            f"operators of the kind {kind} are not followed row by row",
            "Ask this of a query without samples, random values, recursion and streams.",
            self.sql,
            getattr(relation, "span", None),
        )

    def _outer_values(self, relation: OuterValues) -> OperatorRows:
        below = self.rows(relation.input)
        values = zip(relation.output, relation.scalars, strict=True)
        items = named([(each.id, scalar) for each, scalar in values])
        query = exp.select(*items).distinct().from_(table(below.name, below.name))
        return self._identified(self.add(query), relation.output, relation.output)

    def _existence(self, relation: ExistenceJoin) -> OperatorRows:
        left, right = self.rows(relation.left), self.rows(relation.right)
        partner = exp.select(exp.Literal.number(1)).from_(table(right.name, right.name))
        if relation.condition is not None:
            partner = partner.where(relation.condition.copy())
        found = is_true(exp.Exists(this=partner))
        query = self._select(left, left.columns, [(relation.output.id, found)])
        return OperatorRows(self.add(query), relation.attributes, left.identity)

    def _difference(self, relation: BagDifference) -> OperatorRows:
        left, right = self.rows(relation.left), self.rows(relation.right)
        first = self._select(left, (), _renamed(relation.output, left))
        second = self._select(right, (), _renamed(relation.output, right))
        combine = exp.intersect if relation.common else exp.except_
        both: exp.Query = combine(first, second, distinct=False)
        return OperatorRows(self.add(both), relation.output, ())

    def _select(
        self, rows: OperatorRows, columns: Iterable[str], more: Sequence[Named] = ()
    ) -> exp.Select:
        """Return a SELECT of an operator's columns, and of further computed ones."""
        kept = [(name, qualified(rows.name, name)) for name in columns]
        items = named([*kept, *more])
        return exp.select(*items or [exp.true()]).from_(table(rows.name, rows.name))

    def _scan(self, scan: Scan) -> OperatorRows:
        source = self.tokens[scan.relation]
        columns = [
            (attribute.id, qualified("t", name))
            for attribute, name in zip(scan.output, scan.columns, strict=True)
        ]
        identity = [(self.fresh(), qualified("t", name)) for name in source.columns]
        query = exp.select(*named([*columns, *identity])).from_(table(source.view, "t"))
        return OperatorRows(self.add(query), scan.output, tuple(name for name, _ in identity))

    def _constant(self, constant: Constant) -> OperatorRows:
        names = [exp.to_identifier(each.id, quoted=True) for each in constant.output]
        alias = exp.TableAlias(this=exp.to_identifier("c"), columns=names)
        source: exp.Expr
        if isinstance(constant.table, exp.Values):
            rows = [row.copy() for row in constant.table.expressions]
            source = DerivedValues(expressions=rows, alias=alias)
        else:
            source = exp.Table(this=constant.table.copy(), alias=alias)
        columns = [(each.id, qualified("c", each.id)) for each in constant.output]
        query = exp.select(*named(columns)).from_(source)
        return self._identified(self.add(query), constant.output, (constant.position,))

    def _identified(
        self, name: str, attributes: tuple[Attribute, ...], keys: Iterable[Attribute]
    ) -> OperatorRows:
        """Return the rows of a query that some of their own attributes identify."""
        identity = [(self.fresh(), qualified(name, each.id)) for each in keys]
        columns = [(each.id, qualified(name, each.id)) for each in attributes]
        query = exp.select(*named([*columns, *identity])).from_(table(name, name))
        return OperatorRows(self.add(query), attributes, tuple(name for name, _ in identity))

    def _project(self, project: Project) -> OperatorRows:
        below = self.rows(project.input)
        items = list(zip((each.id for each in project.output), project.scalars, strict=True))
        query = self._select(below, (), items)
        if below.identity:
            query = query.select(
                *named((name, qualified(below.name, name)) for name in below.identity)
            )
        return OperatorRows(self.add(query), project.output, below.identity)

    def _generate(self, generate: Generate) -> OperatorRows:
        below = self.rows(generate.input)
        position = generate.position
        place = self.fresh() if position is None else position.id
        generator = Generator(
            "_made",
            generate.argument,
            None if position is None else place,
            tuple(each.id for each in generate.output),
            generate.outer,
            generate.inline,
            generate.function,
            generate.placed,
        )
        made = [(each.id, exp.column(each.column().this.copy())) for each in generate.made]
        select = self._select(below, below.columns, made)
        rows = self.add(with_generators(select, [generator]))
        if position is None:
            return OperatorRows(rows, generate.attributes, below.identity)
        identity = self.fresh()
        columns = [(name, qualified(rows, name)) for name in below.columns]
        columns += [(each.id, qualified(rows, each.id)) for each in generate.made]
        columns.append((identity, qualified(rows, place)))
        query = exp.select(*named(columns)).from_(table(rows, rows))
        return OperatorRows(self.add(query), generate.attributes, (*below.identity, identity))

    def _aggregate(self, aggregate: Aggregate) -> OperatorRows:
        below = self.rows(aggregate.input)
        keys = list(aggregate.keys)
        sets = aggregate.sets
        source = table(below.name, below.name)
        select = exp.select().from_(source)
        if sets is not None:
            numbers = [exp.Literal.number(number) for number in range(len(sets.sets))]
            each = exp.Anonymous(
                this="explode", expressions=[exp.Anonymous(this="array", expressions=numbers)]
            )
            alias = exp.TableAlias(
                this=exp.to_identifier(_EXPANDED), columns=[exp.to_identifier("number")]
            )
            select.append("laterals", exp.Lateral(this=each, view=True, alias=alias))
            number = qualified(_EXPANDED, "number")
            for place, key in enumerate(keys):
                without = [exp.Literal.number(each) for each in sets.without(place)]
                if without:
                    absent = exp.In(this=number.copy(), expressions=without)
                    keys[place] = exp.Case().when(absent, exp.null()).else_(key.copy())
            keys.append(number)
        named_keys = [*aggregate.key_output, *(() if sets is None else (sets.number,))]
        items: list[Named] = [(out.id, key) for out, key in zip(named_keys, keys, strict=True)]
        calls = zip(aggregate.aggregate_output, aggregate.aggregates, strict=True)
        items += [(output.id, call) for output, call in calls]
        select = select.select(*named(items))
        if keys:
            select = select.group_by(*(no_ordinal(key) for key in keys))
        return self._identified(self.add(select), aggregate.attributes, named_keys)

    def ranked(self, limit: Limit) -> tuple[OperatorRows, str, str]:
        """Return the input of LIMIT with two more columns: a row's rank, and the number of rows
        tied with it.

        Ranks are from 1; tied rows are ordered by identity.
        """
        below = self.rows(limit.input)
        place, ties = self.fresh("_place"), self.fresh("_ties")
        keys = limit.input.keys if isinstance(limit.input, Sort) else ()
        order = [_ordered(key) for key in keys]
        whole = [*order, *(_tie_break(qualified(below.name, name)) for name in below.identity)]
        first = exp.Window(
            this=exp.RowNumber(),
            order=exp.Order(expressions=whole or [_tie_break(exp.null())]),
        )
        # In the order of the first window, so that Spark sorts once.
        tied = exp.Window(this=exp.Count(this=exp.Star()))
        if order:
            frame = {"kind": "RANGE", "start": "CURRENT ROW", "end": "CURRENT ROW"}
            tied.set("order", exp.Order(expressions=[key.copy() for key in order]))
            tied.set("spec", exp.WindowSpec(**frame))
        query = self._select(below, below.columns, [(place, first), (ties, tied)])
        return OperatorRows(self.add(query), below.attributes, below.identity), place, ties

    def _limit(self, limit: Limit) -> OperatorRows:
        ranked, place, _ = self.ranked(limit)
        number = qualified(ranked.name, place)
        query = self._select(ranked, ranked.columns).where(
            exp.GT(this=number, expression=exp.Literal.number(limit.offset))
        )
        if limit.count is not None:
            last = exp.Literal.number(limit.offset + limit.count)
            query = query.where(exp.LTE(this=number.copy(), expression=last))
        return OperatorRows(self.add(query), limit.attributes, ranked.identity)

    def _joined(
        self, join: Join, kind: dict[str, Any]
    ) -> tuple[OperatorRows, OperatorRows, exp.Join]:
        left, right = self.rows(join.left), self.rows(join.right)
        condition = exp.true() if join.condition is None else join.condition.copy()
        made = exp.Join(this=table(right.name, right.name), on=condition, **kind)
        return left, right, made

    def _half_join(self, join: SemiJoin | AntiJoin) -> OperatorRows:
        kind = "SEMI" if isinstance(join, SemiJoin) else "ANTI"
        left, _, made = self._joined(join, {"side": "LEFT", "kind": kind})
        query = self._select(left, left.columns)
        query.append("joins", made)
        return OperatorRows(self.add(query), left.attributes, left.identity)

    def _join(self, join: InnerJoin | OuterJoin) -> OperatorRows:
        side = {"side": join.side.value} if isinstance(join, OuterJoin) else {}
        left, right, made = self._joined(join, side)
        fresh = {name: self.fresh() for name in right.identity}
        more = [(each, qualified(right.name, each)) for each in right.ids]
        more += [(new, qualified(right.name, name)) for name, new in fresh.items()]
        query = self._select(left, left.columns, more)
        query.append("joins", made)
        identity = (*left.identity, *fresh.values())
        return OperatorRows(self.add(query), join.attributes, identity)

    def _correlated(self, relation: CorrelatedScalar) -> OperatorRows:
        below, inner = self.rows(relation.input), self.rows(relation.query)
        value, pairs = looked_up(relation, inner)
        query = self._select(below, below.columns, [(relation.output.id, value)])
        query.append(
            "joins",
            exp.Join(this=table(inner.name, inner.name), side="LEFT", on=exp.and_(*pairs)),
        )
        return OperatorRows(self.add(query), relation.attributes, below.identity)

    def _union(self, union: UnionAll) -> OperatorRows:
        branches = [self.rows(branch) for branch in union.branches]
        number = self.fresh()
        identity = [(branch.name, name) for branch in branches for name in branch.identity]
        fresh = [self.fresh() for _ in identity]
        selects: list[exp.Query] = []
        for place, rows in enumerate(branches):
            more = _renamed(union.output, rows)
            more.append((number, exp.Literal.number(place)))
            position = sum(len(branch.identity) for branch in branches[:place])
            for index, name in enumerate(fresh):
                own = position <= index < position + len(rows.identity)
                known = qualified(rows.name, identity[index][1]) if own else exp.null()
                more.append((name, known))
            selects.append(self._select(rows, (), more))
        return OperatorRows(self.add(union_all(selects)), union.output, (number, *fresh))


def scans_of_identity(
    relation: Relation, queries: OperatorQueries
) -> list[tuple[Scan, tuple[str, ...]]]:
    """Return the scans whose tokens are among the identity of an operator's rows, with these."""
    return list(_scans_of(relation, queries.rows(relation).identity, queries))


def _scans_of(
    relation: Relation, identity: tuple[str, ...], queries: OperatorQueries
) -> Iterator[tuple[Scan, tuple[str, ...]]]:
    match relation:
        case Scan():
            yield relation, identity
        case InnerJoin() | OuterJoin():
            first = len(queries.rows(relation.left).identity)
            yield from _scans_of(relation.left, identity[:first], queries)
            yield from _scans_of(relation.right, identity[first:], queries)
        case _ if isinstance(relation, _KEEPING):
            first = len(queries.rows(relation.inputs[0]).identity)
            yield from _scans_of(relation.inputs[0], identity[:first], queries)


def looked_up(relation: CorrelatedScalar, inner: OperatorRows) -> tuple[Scalar, list[Scalar]]:
    """Return the value of a correlated subquery, and the conditions that join its rows."""
    value: Scalar = qualified(inner.name, relation.value.id)
    if relation.empty is not None:
        key = qualified(inner.name, relation.pairs[0][1].id)
        absent = exp.Is(this=key, expression=exp.null())
        value = exp.Case().when(absent, relation.empty.copy()).else_(value)
    equal = exp.NullSafeEQ if relation.null_safe else exp.EQ
    pairs: list[Scalar] = [
        equal(this=exp.paren(scalar.copy()), expression=qualified(inner.name, key.id))
        for scalar, key in relation.pairs
    ]
    return value, pairs


def _renamed(output: Sequence[Attribute], rows: OperatorRows) -> list[Named]:
    return [(new.id, qualified(rows.name, old)) for new, old in zip(output, rows.ids, strict=True)]


def _ordered(key: SortKey) -> exp.Ordered:
    return exp.Ordered(this=key.scalar.copy(), desc=key.descending, nulls_first=key.nulls_first)


def _tie_break(scalar: Scalar) -> exp.Ordered:
    return exp.Ordered(this=scalar, desc=False, nulls_first=True)


def _names_of(query: exp.Query) -> set[str]:
    return {found.name for found in query.find_all(exp.Table)}

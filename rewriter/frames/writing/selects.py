"""SELECTs in the making, and the steps they are cut into.

A plan is a chain of operators, a SELECT a fixed order of clauses. An operator goes into the SELECT
below it while its clause comes later than its present clauses; otherwise the SELECT so far becomes
a named step, a common table expression, and a new SELECT begins.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from rewriter.algebra import bracketed
from rewriter.dialect import emit, parse, tokenize
from rewriter.errors import UnsupportedError

ADVICE = "Compute it before tracking, or write this part as a query for sql()."


def unsupported(problem: str, advice: str = ADVICE) -> UnsupportedError:
    """Return the refusal of a part of a data frame."""
    return UnsupportedError(f"in this data frame, {problem}", advice)


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def identifier(name: str) -> exp.Identifier:
    """Return a name, in backticks unless it is a word without another meaning."""
    plain = _PLAIN.fullmatch(name) is not None and tokenize(name)[0].token_type == TokenType.VAR
    return exp.to_identifier(name, quoted=not plain)


def column(table: str, name: str) -> exp.Column:
    """Return the reference to a column of a relation of FROM."""
    return exp.Column(this=identifier(name), table=identifier(table))


def fresh(name: str, taken: Container[str]) -> str:
    """Return the name, with a number where it is taken; ``taken`` are names in lower case."""
    candidate, number = name, 2
    while candidate.lower() in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate


def negated(value: exp.Expr) -> exp.Expr:
    """Return the negation of a condition."""
    if type(value) is exp.EQ:
        return exp.NEQ(this=value.this, expression=value.expression)
    return exp.Not(this=bracketed(value))


def case_when(parts: Sequence[exp.Expr]) -> exp.Expr:
    """Return a CASE of conditions and values in turn, and of the default if their number is odd."""
    pairs = zip(parts[::2], parts[1::2], strict=False)
    branches = [exp.If(this=condition, true=value) for condition, value in pairs]
    return exp.Case(ifs=branches, default=parts[-1] if len(parts) % 2 else None)


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return the call of a function."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def membership(values: list[exp.Expr], query: exp.Query) -> exp.Expr:
    """Return IN of a query."""
    left = [bracketed(value) for value in values]
    operand = left[0] if len(left) == 1 else exp.Tuple(expressions=left)
    return exp.In(this=operand, query=exp.Subquery(this=query))


_INLINED = 60
"""Nodes of an expression that is not written more than once."""


class LastClause(IntEnum):
    """The last clause that a SELECT has."""

    FROM = 0
    WHERE = 1
    ORDER = 2
    ITEMS = 3
    """Grouping, windows, DISTINCT: no expression over the columns can be added."""
    OFFSET = 4
    LIMIT = 5


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its expression id, its name, and what it is over the relations of FROM."""

    id: int
    name: str
    scalar: exp.Expr

    weight: int = 1
    """The number of nodes of the expression when it is written over tracked relations."""

    @property
    def plain(self) -> bool:
        """True for a bare column of FROM."""
        return isinstance(self.scalar, exp.Column)

    @property
    def kept(self) -> bool:
        """True for a bare column of FROM under its own name."""
        return self.plain and self.scalar.name.lower() == self.name.lower()

    def item(self, name: str) -> exp.Expr:
        """Return the item of a select list that gives it a name."""
        if isinstance(self.scalar, exp.Column) and self.scalar.name.lower() == name.lower():
            return column(self.scalar.table, name)
        return exp.Alias(this=self.scalar.copy(), alias=identifier(name))


@dataclass(frozen=True)
class FromRows:
    """A SELECT without its items, and the columns that it can have.

    ``query`` is a query that is not a SELECT: a set operation of the columns' names.
    """

    columns: tuple[Column, ...]
    select: exp.Select
    stage: LastClause = LastClause.FROM
    query: exp.Query | None = None

    @property
    def scalars(self) -> Mapping[int, exp.Expr]:
        """The column of each attribute."""
        return {output.id: output.scalar for output in self.columns}

    @property
    def tables(self) -> frozenset[str]:
        """The names of the relations of FROM, in lower case."""
        joins = self.select.args.get("joins", ())
        sources = [self.select.args["from_"].this, *(join.this for join in joins)]
        sources += self.select.args.get("laterals", ())
        return frozenset(source.alias_or_name.lower() for source in sources)

    @property
    def single(self) -> bool:
        """True for a single relation without any clause."""
        return self.stage is LastClause.FROM and not self.joined and self.is_plain()

    @property
    def in_order(self) -> bool:
        """True if the rows have an order, which a step loses."""
        return "order" in self.select.args and self.stage < LastClause.LIMIT

    @property
    def joined(self) -> bool:
        """True if FROM has more than one relation."""
        return bool(self.select.args.get("joins") or self.select.args.get("laterals"))

    def is_plain(self, ids: Collection[int] | None = None) -> bool:
        """Return True if these columns, or all, are columns of FROM."""
        return all(output.plain for output in self.columns if ids is None or output.id in ids)

    def with_clause(
        self, clause: str, value: exp.Expr | list[exp.Expr] | None, stage: LastClause
    ) -> FromRows:
        """Return the rows with one more clause."""
        select = self.select.copy()
        select.set(clause, value)
        return replace(self, select=select, stage=max(stage, self.stage))

    def written(self, names: Iterable[str] | None = None) -> exp.Query:
        """Return the query, its columns under these names, or under their own."""
        if self.query is not None:
            return self.query
        select = self.select.copy()
        chosen = list(names) if names is not None else [output.name for output in self.columns]
        items = [output.item(name) for output, name in zip(self.columns, chosen, strict=True)]
        select.set("expressions", items)
        return select


class Steps:
    """The named steps of one query.

    ``needed`` are the attributes that are used at all; None if that is not known. ``nested`` steps
    stand where they are used, as derived tables.
    """

    def __init__(
        self, taken: Iterable[str], needed: Iterable[int] | None = None, *, nested: bool = False
    ) -> None:
        self._taken = {name.lower() for name in taken}
        self._needed = None if needed is None else set(needed)
        self._nested = nested
        self._names: dict[str, str] = {}
        self._definitions: list[exp.CTE] = []

    def relation(self, name: str, columns: Iterable[tuple[int, str]]) -> FromRows:
        """Return the rows of a named relation."""
        parts = name.split(".")
        keys = ("this", "db", "catalog")
        table = exp.Table(**dict(zip(keys, map(identifier, reversed(parts)), strict=False)))
        return _over(table, columns)

    def close(self, rows: FromRows) -> FromRows:
        """Return the rows as rows of a named step; equal steps are one."""
        if rows.query is None:
            rows = self._pruned(rows)
            names = unique([output.name for output in rows.columns])
        else:
            names = [output.scalar.name for output in rows.columns]
        columns = zip((output.id for output in rows.columns), names, strict=True)
        step = self._step(rows.written(names), columns)
        pairs = zip(step.columns, rows.columns, strict=True)
        renamed = tuple(replace(new, name=old.name, weight=old.weight) for new, old in pairs)
        return replace(step, columns=renamed)

    def _step(self, body: exp.Query, columns: Iterable[tuple[int, str]]) -> FromRows:
        """Return the rows of a step that has this body."""
        text = f"{len(self._names)}" if self._nested else emit(body)
        known = text in self._names
        if not known:
            self._names[text] = fresh(f"q{len(self._names) + 1}", self._taken)
            self._taken.add(self._names[text])
        name = self._names[text]
        alias = exp.TableAlias(this=identifier(name))
        if self._nested:
            return _over(exp.Subquery(this=body, alias=alias), columns)
        if not known:
            self._definitions.append(exp.CTE(this=body, alias=alias))
        return self.relation(name, columns)

    def _pruned(self, rows: FromRows) -> FromRows:
        kept = tuple(output for output in rows.columns if self.needs(output.id))
        return replace(rows, columns=kept or rows.columns[:1])

    def needs(self, attribute: int) -> bool:
        """Return True if an attribute is used."""
        return self._needed is None or attribute in self._needed

    def need(self, attributes: Iterable[int]) -> None:
        """Let steps keep these attributes too."""
        if self._needed is not None:
            self._needed.update(attributes)

    def finished(self, rows: FromRows) -> FromRows:
        """Return the rows with their columns under their own names."""
        if rows.query is not None and any(
            output.name != output.scalar.name for output in rows.columns
        ):
            return self.close(rows)
        return rows

    def query(self, rows: FromRows) -> exp.Query:
        """Return the whole query, with its steps before it."""
        query = self.finished(rows).written()
        if self._definitions:
            query.set("with_", exp.With(expressions=self._definitions))
        return query


def _over(source: exp.Table | exp.Subquery, columns: Iterable[tuple[int, str]]) -> FromRows:
    """Return the rows of one relation of FROM, whose columns have these names."""
    name = source.alias_or_name
    known = tuple(Column(number, label, column(name, label)) for number, label in columns)
    return FromRows(known, exp.Select(from_=exp.From(this=source)))


def lateral_view(
    rows: FromRows, generator: exp.Expr, names: Iterable[str], *, outer: bool
) -> tuple[FromRows, list[exp.Column]]:
    """Return the rows joined with the rows that a generator makes of each, and its columns."""
    alias = fresh("g", rows.tables)
    view_columns = unique(names)
    lateral = exp.Lateral(
        this=generator,
        view=True,
        outer=outer or None,
        alias=exp.TableAlias(this=identifier(alias), columns=[*map(identifier, view_columns)]),
    )
    laterals = [*rows.select.args.get("laterals", ()), lateral]
    return rows.with_clause("laterals", laterals, rows.stage), [
        column(alias, name) for name in view_columns
    ]


def is_long(column: Column) -> bool:
    """Return True if an expression is too long to be written where its column is used."""
    return sum(1 for _ in column.scalar.walk()) > _INLINED


def unique(names: Iterable[str]) -> list[str]:
    """Return the names with numbers where one stands before."""
    unique_names: list[str] = []
    taken: set[str] = set()
    for name in names:
        unique_names.append(fresh(name, taken))
        taken.add(unique_names[-1].lower())
    return unique_names


def counted(number: int, start: int, end: int, step: int, slices: int | None) -> FromRows:
    """Return the rows of ``range``: one column, ``id``."""
    values = [start, end, step, *([] if slices is None else [slices])]
    literals = [exp.Literal.number(value) for value in values]
    table = exp.Table(
        this=exp.Anonymous(this="range", expressions=literals),
        alias=exp.TableAlias(this=identifier("n")),
    )
    return FromRows(
        (Column(number, "id", column("n", "id")),), exp.Select(from_=exp.From(this=table))
    )


def constants(values: str, ids: Iterable[int]) -> FromRows:
    """Return the rows of a text ``VALUES ... AS v(...)``; its columns have different names."""
    source = parse(f"SELECT * FROM {values}").args["from_"]
    names = [part.name for part in source.this.args["alias"].args["columns"]]
    alias = source.this.alias
    pairs = zip(ids, names, strict=True)
    columns = tuple(Column(number, name, column(alias, name)) for number, name in pairs)
    return FromRows(columns, exp.Select(from_=source.copy()))


def beside(rows: FromRows, taken: Collection[str]) -> FromRows:
    """Return the rows of one relation under a free name."""
    table = rows.select.args["from_"].this
    name = table.alias_or_name
    alias = fresh(name, taken)
    if alias == name:
        return rows
    aliased = table.copy()
    aliased.set("alias", exp.TableAlias(this=identifier(alias)))
    columns = tuple(
        replace(output, scalar=column(alias, output.scalar.name)) for output in rows.columns
    )
    return replace(rows, columns=columns, select=exp.Select(from_=exp.From(this=aliased)))

"""Names in statements: the relations that they read, and the columns of their target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from sqlglot import exp

from rewriter.dialect import emit, parse, volatile_calls, with_literals
from rewriter.dialect.identifiers import named_queries
from rewriter.scalars.functions import DRAWN, OF_FILES
from rewriter.statements.model import (
    Assignment,
    Clause,
    Delete,
    Insert,
    MergeInto,
    Name,
    Replace,
    Statement,
    TableShape,
    Truncate,
    Update,
)

E = TypeVar("E", bound=exp.Expr)


def expressions_of(statement: Statement) -> Iterator[exp.Expr]:
    """Yield the expressions and queries of a statement."""
    values: tuple[Assignment, ...] = ()
    match statement:
        case Update():
            values = statement.assignments
        case Truncate():
            values = statement.partition
        case Insert():
            yield statement.query
            values = statement.partition
            if statement.replaced is not None:
                yield statement.replaced
        case Replace():
            yield statement.query
        case MergeInto():
            yield statement.source
            yield statement.condition
            for clause in statement.clauses:
                values += clause.assignments or ()
                if clause.condition is not None:
                    yield clause.condition
        case Delete():
            pass
    if isinstance(statement, Update | Delete) and statement.condition is not None:
        yield statement.condition
    yield from (assigned.value for assigned in values if assigned.value is not None)


def sources_of(statement: Statement) -> frozenset[str]:
    """Return the relations that a statement reads beside its target's rows, dotted, lower case."""
    return frozenset(
        dotted(tuple(part.name for part in table.parts))
        for expression in expressions_of(statement)
        for table in _relations(expression)
    )


def beside_source(statement: MergeInto) -> frozenset[str]:
    """Return the relations that the clauses of a MERGE read, in subqueries of their values."""
    return sources_of(replace(statement, source=exp.select("1")))


def moments_of(statement: Statement) -> tuple[str, ...]:
    """Return the functions of the moment in a statement, such as ``current_timestamp``."""
    calls = (volatile_calls(expression) for expression in expressions_of(statement))
    return tuple(sorted({name for found in calls for name in found}))


def drawn_by(statement: Statement) -> str | None:
    """Return a function in a statement that depends on chance or on files; None: it has none."""
    for expression in expressions_of(statement):
        for call in expression.find_all(exp.Anonymous):
            if call.name.lower() in DRAWN | OF_FILES:
                return call.name.lower()
    return None


def with_moments(statement: Statement, values: Mapping[str, str]) -> Statement:
    """Return a statement with literals for its functions of the moment."""
    if not moments_of(statement):
        return statement

    def given(expression: E) -> E:
        wrapper = exp.Paren(this=expression.copy())
        literal: E = with_literals(wrapper, values).this
        return literal

    return mapped(statement, given)


def mapped(statement: Statement, change: Callable[[exp.Expr], exp.Expr]) -> Statement:
    """Return a statement whose expressions and queries a function has changed."""
    changes: dict[str, Any] = {}
    for field in fields(statement):
        value = getattr(statement, field.name)
        if isinstance(value, exp.Expr):
            changes[field.name] = change(value)
        elif isinstance(value, tuple):
            changes[field.name] = tuple(_mapped_part(part, change) for part in value)
    return replace(statement, **changes)


def _mapped_part(part: Any, change: Callable[[exp.Expr], exp.Expr]) -> Any:
    match part:
        case Assignment(value=exp.Expr() as value):
            return replace(part, value=change(value))
        case Clause(condition=condition, assignments=assignments):
            values = (
                None
                if assignments is None
                else tuple(_mapped_part(each, change) for each in assignments)
            )
            own = None if condition is None else change(condition)
            return replace(part, condition=own, assignments=values)
    return part


def row_by_row(statement: Statement) -> bool:
    """Return True if the statement treats every row of its target without regard to others."""
    if isinstance(statement, Truncate):
        return True
    if not isinstance(statement, Update | Delete):
        return False
    return not any(has_query(expression) for expression in expressions_of(statement))


def has_query(expression: exp.Expr | None) -> bool:
    """Return True if an expression has a subquery."""
    return expression is not None and expression.find(exp.Query) is not None


def dotted(name: Name) -> str:
    """Return a name with dots, in lower case."""
    return ".".join(name).lower()


def with_relations(expression: E, views: Mapping[str, str]) -> E:
    """Return a copy that reads views in the place of relations, under their names.

    Parameters
    ----------
    views
        By the dotted name of a relation in lower case.
    """
    wrapper = exp.Paren(this=expression.copy())
    for table in list(_relations(wrapper)):
        name = tuple(part.name for part in table.parts)
        if dotted(name) not in views:
            continue
        view = exp.to_table(f"`{views[dotted(name)]}`", dialect="spark")
        for key in ("alias", "joins", "laterals", "pivots", "sample"):
            if table.args.get(key):
                view.set(key, table.args[key])
        if table.args.get("alias") is None or table.args["alias"].this is None:
            alias = table.args.get("alias") or exp.TableAlias()
            alias.set("this", exp.to_identifier(name[-1], quoted=True))
            view.set("alias", alias)
        table.replace(view)
        if len(name) > 1:
            _shorten(wrapper, name)
    copy: E = wrapper.this
    return copy


def over_relations(query: str, views: Mapping[str, str]) -> str:
    """Return a query that reads views in the place of relations, by their dotted names."""
    return emit(with_relations(parse(query), views))


def passes_rows(query: exp.Query) -> str | None:
    """Return the relation if a query filters its rows and passes columns on; None: it does more.

    Such a query over some of the rows gives some of its rows.
    """
    clauses = {key for key, value in query.args.items() if value}
    if not isinstance(query, exp.Select) or clauses - {"expressions", "from_", "where"}:
        return None
    items = [item.unalias() for item in query.expressions]
    columns = all(isinstance(item, exp.Column | exp.Star) for item in items)
    table = query.args["from_"].this if "from_" in clauses else None
    if not columns or not isinstance(table, exp.Table) or has_query(query.args.get("where")):
        return None
    if {key for key, value in table.args.items() if value} - {"this", "db", "catalog", "alias"}:
        return None
    return dotted(tuple(part.name for part in table.parts))


def select_items(query: str, names: Mapping[str, str | None]) -> list[str] | None:
    """Return the items of a query over relations as they are, which get other names.

    None: the query is another than ``SELECT ... FROM`` such relations.

    Parameters
    ----------
    names
        By relation in lower case, the qualifier of its columns; None: they have none.
    """
    tree = parse(query)
    read = [table for table in tree.find_all(exp.Table) if table.parent_select is tree]
    clauses = {key for key, value in tree.args.items() if value}
    if not isinstance(tree, exp.Select) or clauses - {"expressions", "from_", "joins"}:
        return None
    if any(table.name.lower() not in names for table in read):
        return None
    aliases = {table.alias_or_name.lower(): names[table.name.lower()] for table in read}
    for column in tree.find_all(exp.Column):
        if column.table.lower() in aliases:
            qualifier = aliases[column.table.lower()]
            column.set("table", None if qualifier is None else exp.to_identifier(qualifier))
    return [emit(item.unalias(), pretty=False) for item in tree.expressions]


def references(query: str, relation: str) -> int:
    """Return how often a query reads a relation of one name."""
    return sum(table.name.lower() == relation.lower() for table in _relations(parse(query)))


def with_short_name(expression: E, table: Name) -> E:
    """Return a copy in which a table's columns are qualified by the last part of its name."""
    wrapper = exp.Paren(this=expression.copy())
    _shorten(wrapper, table)
    copy: E = wrapper.this
    return copy


def qualified(expression: E, alias: str, shape: TableShape) -> E:
    """Return a copy in which the target's columns are qualified that stand without a qualifier.

    In a subquery such a column is that of the subquery's own relations.
    """
    copy = expression.copy()
    for column in list(copy.find_all(exp.Column)):
        if (
            column.find_ancestor(exp.Query) is None
            and not column.args.get("table")
            and column.name.lower() in shape.by_name
        ):
            column.set("table", exp.to_identifier(alias, quoted=True))
    return copy


def _shorten(expression: exp.Expr, table: Name) -> None:
    """Leave of the qualifiers of a table's columns the last part."""
    for column in expression.find_all(exp.Column):
        qualifiers = tuple(part.name.lower() for part in column.parts[:-1])
        if len(qualifiers) > 1 and qualifiers == tuple(part.lower() for part in table):
            for key in ("db", "catalog"):
                column.set(key, None)


def _relations(expression: exp.Expr) -> Iterator[exp.Table]:
    """Yield the relations that are read by a name, and are not common table expressions."""
    for table in expression.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        alone = table.args.get("db") is None
        if not (alone and table.name.lower() in named_queries(table)):
            yield table

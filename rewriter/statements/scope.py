"""Names in statements: the relations that they read, and the columns of their target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, TypeVar, cast

from sqlglot import exp

from rewriter.dialect import emit, parse, volatile_calls
from rewriter.dialect.identifiers import relations
from rewriter.errors import UnsupportedError
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
M = TypeVar("M", bound=Statement)
S = TypeVar("S", bound=Statement | exp.Query)


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
    return frozenset(names_read(statement))


def names_read(read: Statement | exp.Query) -> dict[str, Name]:
    """Return the parts of the names of relations that a query, or a statement's queries, read.

    The keys are as :func:`dotted` writes them.
    """
    expressions = [read] if isinstance(read, exp.Query) else expressions_of(read)
    tables = (table for expression in expressions for table in relations(expression))
    names = (tuple(part.name for part in table.parts) for table in tables)
    return {dotted(name): name for name in names}


def with_queries(read: S, queries: Mapping[str, tuple[str, Sequence[str]]]) -> S:
    """Return a query or statement that reads queries in the place of relations.

    Parameters
    ----------
    queries
        By the key of :func:`names_read`, the text of a query and its columns' names.

    Raises
    ------
    UnsupportedError
        When a named query would stand for a relation that one of them reads.
    """
    expressions = [read] if isinstance(read, exp.Query) else expressions_of(read)
    clauses = {query.alias.lower() for each in expressions for query in each.find_all(exp.CTE)}
    for key, (text, _) in queries.items():
        if hidden := clauses & names_read(parse(text)).keys():
            raise UnsupportedError(
                f"the view {key} reads {min(hidden)}, which a named query here has as its name",
                "Name that query otherwise.",
                text,
            )
    rows = {
        key: parse(text).subquery(
            exp.TableAlias(columns=[exp.to_identifier(name, quoted=True) for name in columns])
        )
        for key, (text, columns) in queries.items()
    }
    if isinstance(read, exp.Query):
        return with_relations(read, rows)
    statement: Statement = read
    if isinstance(statement, MergeInto) and statement.source_alias is None:
        named = statement.source.args["from_"].this if statement.source.is_star else None
        if isinstance(named, exp.Table) and not named.alias:
            name = tuple(part.name for part in named.parts)
            short = mapped(statement, partial(with_short_name, table=name))
            statement = replace(short, source_alias=name[-1])
    return cast("S", mapped(statement, partial(with_relations, views=rows)))


def beside_source(statement: MergeInto) -> frozenset[str]:
    """Return the relations that the clauses of a MERGE read, in subqueries of their values."""
    return sources_of(replace(statement, source=exp.select("1")))


def moments_of(statement: Statement) -> dict[str, str]:
    """Return by function of the moment in a statement Spark SQL for its value as text."""
    calls = (volatile_calls(expression) for expression in expressions_of(statement))
    return {name: query for found in calls for name, query in sorted(found.items())}


def variables_of(statement: Statement) -> set[str]:
    """Return the names in a statement, in lower case, that are variables unless they are columns.

    Others are qualified by a relation.
    """
    columns = (c for each in expressions_of(statement) for c in each.find_all(exp.Column))
    return {c.name.lower() for c in columns if c.table.lower() in ("", "session")}


def check_repeatable(statement: Statement) -> None:
    """Refuse what another run would compute or read otherwise: chance, files, other versions.

    Raises
    ------
    UnsupportedError
    """
    for expression in expressions_of(statement):
        for table in relations(expression):
            if table.args.get("version"):
                raise UnsupportedError(
                    f"{emit(table, pretty=False)} is an earlier version, and a replay has the "
                    "tables as they are before the statement",
                    "Run it by spark.sql, then untrack the table and track it again: its history "
                    "begins anew there.",
                    statement.text,
                )
        for call in expression.find_all(exp.Anonymous):
            if call.name.lower() in DRAWN | OF_FILES:
                raise UnsupportedError(
                    f"{call.name.lower()}() is another value each time that the statement runs",
                    "Store its values in a column of a relation that the statement reads.",
                    statement.text,
                )


def mapped(statement: M, change: Callable[[exp.Expr], exp.Expr]) -> M:
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
    """Return a name with dots, in lower case unless it is a path."""
    text = ".".join(name)
    return text if "/" in text else text.lower()


def with_relations(expression: E, views: Mapping[str, str | exp.Subquery]) -> E:
    """Return a copy that reads views or queries in the place of relations, under their names.

    Parameters
    ----------
    views
        By the dotted name of a relation, as :func:`dotted` writes it.
    """
    wrapper = exp.Paren(this=expression.copy())
    for table in list(relations(wrapper)):
        name = tuple(part.name for part in table.parts)
        if dotted(name) not in views:
            continue
        given = views[dotted(name)]
        view = given.copy() if isinstance(given, exp.Subquery) else _table_of(given)
        own = view.args.get("alias")
        for key in ("alias", "joins", "laterals", "pivots", "sample"):
            if table.args.get(key):
                view.set(key, table.args[key])
        alias = view.args.get("alias") or exp.TableAlias()
        if own is not None and not alias.args.get("columns"):
            alias.set("columns", own.args["columns"])
        if alias.this is None:
            alias.set("this", exp.to_identifier(name[-1], quoted=True))
        view.set("alias", alias)
        table.replace(view)
        if len(name) > 1:
            _shorten(wrapper, name)
    copy: E = wrapper.this
    return copy


def over_relations(query: str | exp.Query, views: Mapping[str, str]) -> str:
    """Return a query that reads views in the place of relations, by their dotted names."""
    return emit(with_relations(parse(query) if isinstance(query, str) else query, views))


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


def is_whole(query: exp.Query) -> bool:
    """Return True if a query is ``SELECT * FROM`` a relation."""
    items = query.expressions if isinstance(query, exp.Select) else []
    star = len(items) == 1 and isinstance(items[0], exp.Star) and not any(items[0].args.values())
    return star and passes_rows(query) is not None and not query.args.get("where")


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
    return sum(table.name.lower() == relation.lower() for table in relations(parse(query)))


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


def renamed_alias(expression: E, alias: str, columns: TableShape, other: str) -> E:
    """Return a copy in which the columns of an alias have another qualifier.

    ``a.b`` is a column of the alias ``a`` if this has one, else a field of a column ``a``.
    """
    wrapper = exp.Paren(this=expression.copy())
    for column in wrapper.find_all(exp.Column):
        first, *others = column.parts
        known = bool(others) and others[0].name.lower() in columns.by_name
        if known and first.name.lower() == alias.lower() and not _is_shadowed(column, alias):
            first.replace(exp.to_identifier(other, quoted=True))
    copy: E = wrapper.this
    return copy


def _is_shadowed(column: exp.Column, alias: str) -> bool:
    """Return True if a relation of a subquery around a column has an alias."""
    select = column.find_ancestor(exp.Select)
    while select is not None:
        clauses = [select.args.get("from_"), *(select.args.get("joins") or ())]
        read = (clause.this for clause in clauses if clause is not None)
        if any(each.alias_or_name.lower() == alias.lower() for each in read):
            return True
        select = select.find_ancestor(exp.Select)
    return False


def _table_of(view: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(view, quoted=True))


def _shorten(expression: exp.Expr, table: Name) -> None:
    """Leave of the qualifiers of a table's columns the last part."""
    for column in expression.find_all(exp.Column):
        qualifiers = tuple(part.name.lower() for part in column.parts[:-1])
        if len(qualifiers) > 1 and qualifiers == tuple(part.lower() for part in table):
            for key in ("db", "catalog"):
                column.set(key, None)

"""Writes expressions, rows and relations of reenacted statements as trees of SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from sqlglot import exp

from rewriter.dialect import emit, parse
from rewriter.errors import UnsupportedError
from rewriter.statements.model import (
    Assignment,
    Insert,
    MergeInto,
    Name,
    Replace,
    Statement,
    TableColumn,
    TableShape,
)
from rewriter.statements.scope import renamed_alias, with_relations, with_short_name
from rewriter.statements.templates import for_all_views

MATCHED = "_lipstick_matched"
"""The column that is TRUE of every row of the source of MERGE."""
TARGET, SOURCE = "_lipstick_target", "_lipstick_source"
"""Aliases of the target, and of the source, of a statement."""


@dataclass(frozen=True, slots=True)
class Relations:
    """The relations that a reenacted statement reads.

    Parameters
    ----------
    before
        A view of the rows before the statement.
    views
        Views of the other relations, by dotted name in lower case.
    source
        A view of the rows of the source of MERGE, or of the query of INSERT; None: the statement's
        own text, over `views`.
    """

    before: str
    views: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Reenactment:
    """Queries over the relations before a statement.

    Parameters
    ----------
    rows
        The rows after it.
    ambiguous
        A row for each row before it that several rows of the source match, where that is an error
        of the statement, or writes the row twice: it must have none. None: it is never so.
    keys
        For MERGE pairs of expressions, over target and source, which its condition equates.
    aliases
        The names by which these expressions know target and source.
    touched
        The rows before it that it may change: all others stay, and `rows` over the touched rows
        alone are these after it, and the inserted rows. None: it may change any row.
    """

    rows: str
    ambiguous: str | None = None
    keys: tuple[tuple[str, str], ...] = ()
    aliases: tuple[str, str] = ("", "")
    touched: str | None = None


@for_all_views
def source_query(statement: Statement, views: Mapping[str, str]) -> str | None:
    """Return the query whose rows a statement brings; None: it brings none."""
    match statement:
        case MergeInto():
            return emit(with_relations(statement.source, views))
        case Insert() | Replace():
            return emit(with_relations(statement.query, views))
    return None


def is_by_place(statement: Statement) -> bool:
    """Return True if a statement takes the columns of its query by their places."""
    return isinstance(statement, Replace) or (
        isinstance(statement, Insert) and not statement.by_name
    )


@for_all_views
def with_places(query: str, count: int) -> str:
    """Return a query whose columns, which may have no names or the same, are named by places."""
    return emit(exp.select("*").from_(_by_places(parse(query), SOURCE, count)))


def _by_places(query: exp.Query, alias: str, count: int) -> exp.Subquery:
    columns = [exp.to_identifier(_place(number), quoted=True) for number in range(count)]
    named = exp.TableAlias(this=exp.to_identifier(alias, quoted=True), columns=columns)
    return exp.Subquery(this=query, alias=named)


def _place(number: int) -> str:
    return f"_lipstick_{number}"


class StatementWriter:
    """Writes what reenactments of all kinds of statements have in common."""

    def __init__(
        self,
        statement: Statement,
        shape: TableShape,
        relations: Relations,
        source: TableShape | None,
        dynamic: bool,
    ) -> None:
        self._statement = statement
        self._shape = shape
        self._relations = relations
        self._source = source
        self._dynamic = dynamic
        self._given_alias: str = getattr(statement, "alias", None) or statement.table[-1]
        self._alias = self._free(self._given_alias, TARGET)
        self._source_alias = self._free(self._given_source_alias, SOURCE)

    def _free(self, alias: str, other: str) -> str:
        """Return an alias, or another if it is a column's name, which Spark finds first."""
        shapes = (self._shape, self._source)
        taken = any(shape is not None and alias.lower() in shape.by_name for shape in shapes)
        return other if taken else alias

    def _rows(self, rows: exp.Query, touched: exp.Query | None = None) -> Reenactment:
        return Reenactment(emit(rows), touched=None if touched is None else emit(touched))

    def _touched(self, condition: exp.Expr | None) -> exp.Query:
        rows = self._all()
        condition = self._of_target(condition)
        return rows if condition is None else rows.where(condition)

    # -- values ----------------------------------------------------------------------------

    def _assigned(self, assignments: Sequence[Assignment]) -> dict[str, exp.Expr]:
        """Return new values by column, in lower case."""
        given: dict[str, dict[Name, exp.Expr | None]] = {}
        for assignment in assignments:
            name, *fields = self._path(assignment.column)
            column, path = self._known(name).name, tuple(fields)
            paths = given.setdefault(column.lower(), {})
            if any(path[: len(known)] == known or known[: len(path)] == path for known in paths):
                raise self._unsupported(
                    f"the column {'.'.join((column, *path))!r} is assigned twice", "Assign it once."
                )
            paths[path] = assignment.value
        return {
            name: self._stored(self._known(name), paths[()])
            if () in paths
            else self._with_fields(self._known(name), self._column(name), paths)
            for name, paths in given.items()
        }

    def _path(self, name: Name) -> Name:
        """Return a column that is assigned, and the fields in it, in lower case."""
        name = tuple(part.lower() for part in name)
        own = (self._given_alias.lower(),)
        for qualifier in (own, tuple(part.lower() for part in self._statement.table)):
            if len(name) > len(qualifier) and name[: len(qualifier)] == qualifier:
                return name[len(qualifier) :]
        return name

    def _with_fields(
        self, column: TableColumn, value: exp.Expr, paths: Mapping[Name, exp.Expr | None]
    ) -> exp.Expr:
        """Return a struct with other values of some fields.

        Parameters
        ----------
        paths
            By the names of fields, from the outermost, the new values.
        """
        kind = self._cast(exp.null(), column).args["to"]
        is_struct = kind.this == exp.DataType.Type.STRUCT
        fields = {field.name.lower(): field for field in kind.expressions} if is_struct else {}
        unknown = next((path[0] for path in paths if path[0] not in fields), None)
        if unknown is not None:
            raise self._unsupported(
                f"{column.name!r} has no field {unknown!r}", f"Its type is {column.type}."
            )
        parts: list[exp.Expr] = []
        for name, part in fields.items():
            own = TableColumn(part.name, emit(part.args["kind"], pretty=False))
            before: exp.Expr = exp.Dot(
                this=value.copy(), expression=exp.to_identifier(part.name, quoted=True)
            )
            within = {path[1:]: new for path, new in paths.items() if path[0] == name}
            if () in within:
                before = self._stored(own, within[()])
            elif within:
                before = self._with_fields(own, before, within)
            parts += [exp.Literal.string(part.name), before]
        return exp.Anonymous(this="named_struct", expressions=parts)

    def _by_place(self, columns: Sequence[TableColumn]) -> dict[str, exp.Expr]:
        given = self._given()
        if len(given) != len(columns):
            raise self._unsupported(
                f"the query gives {len(given)} columns for {len(columns)}",
                "Give each column of the table a value, or list the columns.",
            )
        values = (column_of(self._source_alias, _place(number)) for number in range(len(given)))
        return {
            column.name.lower(): value if one.type == column.type else self._cast(value, column)
            for column, one, value in zip(columns, given, values, strict=True)
        }

    def _by_name(self) -> dict[str, exp.Expr]:
        return {
            one.name.lower(): self._stored(
                self._known(one.name), column_of(self._source_alias, one.name)
            )
            for one in self._given()
        }

    def _given(self) -> tuple[TableColumn, ...]:
        assert self._source is not None
        return self._source.columns

    def _stored(self, column: TableColumn, value: exp.Expr | None) -> exp.Expr:
        """Return a value as the table stores it."""
        if value is None:
            return self._default(column)
        value = self._of_target(value)
        assert value is not None
        if isinstance(value, exp.Column) and self._source is not None:
            of_source = value.table.lower() == self._source_alias.lower()
            given = self._source.by_name.get(value.name.lower())
            if of_source and given is not None and given.type == column.type:
                return value
        return self._cast(value, column)

    def _default(self, column: TableColumn) -> exp.Expr:
        if column.default is None:
            return self._cast(exp.null(), column)
        return self._cast(parse(f"SELECT {column.default}").expressions[0].copy(), column)

    def _cast(self, value: exp.Expr, column: TableColumn) -> exp.Expr:
        cast: exp.Expr = parse(f"SELECT CAST(NULL AS {column.type})").expressions[0].copy()
        cast.set("this", value)
        return cast

    def _known(self, name: str) -> TableColumn:
        column = self._shape.by_name.get(name.lower())
        if column is None:
            raise self._unsupported(
                f"the table has no column {name!r}",
                f"Its columns are {', '.join(self._shape.names)}.",
            )
        return column

    @property
    def _given_source_alias(self) -> str:
        if not isinstance(self._statement, MergeInto):
            return SOURCE
        if self._statement.source_alias is not None:
            return self._statement.source_alias
        tables = list(self._statement.source.find_all(exp.Table))
        named = self._statement.source.args.get("from_")
        alone = named is not None and isinstance(named.this, exp.Table) and len(tables) == 1
        return tables[0].name if alone and self._statement.source.is_star else SOURCE

    # -- relations -------------------------------------------------------------------------

    def _column(self, name: str) -> exp.Column:
        return column_of(self._alias, self._known(name).name)

    def _of_target(self, expression: exp.Expr | None) -> exp.Expr | None:
        """Return an expression of the statement over the relations that it reads here."""
        if expression is None:
            return None
        if getattr(self._statement, "alias", None) is None:
            expression = with_short_name(expression, self._statement.table)
        if isinstance(self._statement, MergeInto) and self._statement.source_alias is None:
            table = self._statement.source.find(exp.Table)
            if table is not None:
                expression = with_short_name(expression, tuple(p.name for p in table.parts))
        if self._alias != self._given_alias:
            expression = renamed_alias(expression, self._given_alias, self._shape, self._alias)
        if self._source is not None and self._source_alias != self._given_source_alias:
            expression = renamed_alias(
                expression, self._given_source_alias, self._source, self._source_alias
            )
        return with_relations(expression, self._relations.views)

    def _before(self, values: Mapping[str, exp.Expr] | None = None) -> exp.Select:
        """Return the rows before, with other values of some columns."""
        values = values or {}
        columns = [
            exp.alias_(
                values.get(column.name.lower(), self._column(column.name)).copy(),
                column.name,
                quoted=True,
            )
            for column in self._shape.columns
        ]
        table = exp.alias_(table_of(self._relations.before), self._alias, table=True, quoted=True)
        return exp.select(*columns).from_(table)

    def _all(self) -> exp.Select:
        return self._before()

    def _not(self, rows: exp.Select, condition: exp.Expr | None) -> exp.Select:
        """Return the rows for which a condition is not true; None: it is true of all."""
        condition = self._of_target(condition)
        return rows.where(exp.false() if condition is None else is_not_true(condition))

    def _from_source(self, values: Mapping[str, exp.Expr]) -> exp.Select:
        """Return rows of the table over the source; columns without a value have their default."""
        columns = [
            exp.alias_(
                (values.get(column.name.lower()) or self._default(column)).copy(),
                column.name,
                quoted=True,
            )
            for column in self._shape.columns
        ]
        return exp.select(*columns).from_(self._source_rows())

    def _source_rows(self, *, matched: bool = False) -> exp.Expr:
        """Return the source under its alias, beside a column that is TRUE for each row if asked."""
        rows: exp.Query
        if self._relations.source is not None:
            rows = exp.select("*").from_(table_of(self._relations.source))
        else:
            text = source_query(self._statement, self._relations.views)
            assert text is not None
            rows = parse(text)
        if is_by_place(self._statement):
            return _by_places(rows, self._source_alias, len(self._given()))
        alias = exp.to_identifier(self._source_alias, quoted=True)
        if not matched:
            return rows.subquery(alias)
        inner = exp.to_identifier("_lipstick_source_row", quoted=True)
        marked = exp.select("*", f"TRUE AS {MATCHED}").from_(rows.subquery(inner))
        return marked.subquery(alias)

    def _unsupported(self, problem: str, advice: str) -> UnsupportedError:
        return UnsupportedError(problem, advice, self._statement.text)


def first_case(
    branches: Sequence[tuple[exp.Expr, exp.Expr]], otherwise: exp.Expr | None
) -> exp.Case:
    case = exp.Case()
    for condition, value in branches:
        case = case.when(condition.copy(), value.copy(), copy=False)
    return case if otherwise is None else case.else_(otherwise.copy(), copy=False)


def bag_union(branches: Sequence[exp.Query]) -> exp.Query:
    return reduce(lambda left, right: exp.union(left, right, distinct=False), branches)


def is_not_true(condition: exp.Expr) -> exp.Expr:
    true = exp.NullSafeEQ(this=exp.paren(condition.copy(), copy=False), expression=exp.true())
    return exp.Not(this=exp.paren(true, copy=False))


def column_of(table: str, name: str) -> exp.Column:
    return exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True)
    )


def table_of(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))

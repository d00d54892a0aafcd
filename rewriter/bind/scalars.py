"""Scalar expressions and stars: names become attributes, calls that have no rule are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Relation, Scalar
from rewriter.bind.catalog import Variable
from rewriter.bind.columns.scope import Entry, Lookup, Outer, Parts, Scope, with_fields
from rewriter.bind.columns.types import fields_of, type_of
from rewriter.bind.context import BindContext
from rewriter.bind.functions.calls import call_name, check_call, is_aggregate, is_mean
from rewriter.bind.functions.time_windows import time_of
from rewriter.bind.subqueries.memberships import is_membership, membership_value, simplified
from rewriter.bind.subqueries.values import Subqueries
from rewriter.bind.text import SourceText, unwrap
from rewriter.dialect import TypedLiteral
from rewriter.errors import UnsupportedError
from rewriter.position import Span, keyword_spans, text_of
from rewriter.scalars import aggregates, functions
from rewriter.scalars.functions import is_opaque
from rewriter.scalars.windows import called, changed


def is_star(node: exp.Expr) -> bool:
    """Return True if a node is ``*`` or ``t.*``."""
    return _mark_of(node) is not None


def _mark_of(node: exp.Expr) -> exp.Star | None:
    """Return the star itself; names of more than four parts are read as fields of fields."""
    mark = node.this if isinstance(node, exp.Column) else node
    mark = mark.expression if isinstance(mark, exp.Dot) else mark
    return mark if isinstance(mark, exp.Star) else None


def star_fields(
    star: exp.Expr, scope: Scope, rows: Relation, context: BindContext
) -> tuple[tuple[str, Scalar], ...]:
    """Return the fields that the star of a struct means, by their names; () of other stars."""
    mark = _mark_of(star)
    if mark is None or not isinstance(star, exp.Column | exp.Dot):
        return ()
    parts = tuple(exp.to_identifier(part.name) for part in star.parts[:-1])
    if scope.qualified([part.name for part in parts]):
        return ()
    struct = scope.lookup(context.source)(parts, False)
    if struct is None:
        return ()
    names = fields_of(type_of(struct, rows, context.environment.catalog))
    excepted = {excluded.name.lower() for excluded in mark.args.get("except_") or []}
    fields = [exp.to_identifier(name) for name in names if name.lower() not in excepted]
    return tuple((field.name, with_fields(struct.copy(), [field])) for field in fields)


def outer_columns(star: exp.Expr, scope: Scope, outer: Outer | None) -> tuple[exp.Column, ...]:
    """Return the columns of an outer query that ``t.*`` means, as names; () of other stars."""
    if outer is None or not isinstance(star, exp.Column):
        return ()
    relation = star.parts[:-1]
    qualifier = [part.name for part in relation]
    if scope.qualified(qualifier) or scope.resolve(qualifier) is not None:
        return ()
    columns = next(filter(None, (each.qualified(qualifier) for each in outer.scopes)), ())
    excepted = {each.name.lower() for each in star.this.args.get("except_") or []}
    kept = [entry for entry in columns if entry.name.lower() not in excepted]
    return tuple(_named(entry.name, relation) for entry in kept)


def _named(name: str, relation: Sequence[exp.Expr]) -> exp.Column:
    *before, table = [part.copy() for part in relation]
    identifier = exp.to_identifier(name, quoted=True)
    identifier.meta.update(table.meta)
    db = before[-1] if before else None
    return exp.Column(this=identifier, table=table, db=db)


def expand_star(star: exp.Expr, scope: Scope, source: SourceText) -> tuple[Entry, ...]:
    """Return the columns that ``*``, ``t.*`` or ``* EXCEPT (...)`` means, in order."""
    mark = _mark_of(star)
    assert mark is not None
    for key, name in (("replace", "REPLACE"), ("rename", "RENAME"), ("ilike", "ILIKE")):
        if mark.args.get(key):
            advice = "List the columns instead."
            raise source.unsupported(f"* {name} is not supported", advice, mark)
    parts = star.parts[:-1] if isinstance(star, exp.Column | exp.Dot) else []
    qualifier = [part.name for part in parts]
    entries = scope.qualified(qualifier) if qualifier else scope.visible
    name = ".".join([*qualifier, "*"])
    if qualifier and not entries:
        if scope.resolve(qualifier) is not None:
            advice = "Name the fields, each as column.field."
            raise source.unsupported(f"{name} of a struct is not supported", advice, star)
        advice = "Name a relation of FROM."
        raise source.error(f"relation {'.'.join(qualifier)} is not known", advice, star)
    for excepted in mark.args.get("except_") or []:
        entries = _without(entries, excepted, source)
    return entries


def _without(
    entries: tuple[Entry, ...], excepted: exp.Expr, source: SourceText
) -> tuple[Entry, ...]:
    if not isinstance(excepted, (exp.Column, exp.Identifier)):
        advice = "Name the fields to keep, each as column.field."
        raise source.unsupported("EXCEPT of a field is not supported", advice, excepted)
    *qualifier, name = (
        [part.name for part in excepted.parts]
        if isinstance(excepted, exp.Column)
        else [excepted.name]
    )
    dropped = [
        entry
        for entry in entries
        if entry.named(name) and (not qualifier or entry.qualified(qualifier))
    ]
    if dropped:
        return tuple(entry for entry in entries if entry not in dropped)
    written = ".".join([*qualifier, name])
    if qualifier and any(entry.named(qualifier[0]) for entry in entries):
        advice = "Name the fields to keep, each as column.field."
        raise source.unsupported("EXCEPT of a field is not supported", advice, excepted)
    advice = "Name a column that * means."
    raise source.error(f"column {written} is not known", advice, excepted)


PLACE = "place"
"""Marks a bound column with its span in the text."""
_BOUND = "bound"
"""Marks a column that is an attribute already, in an expression that is being bound."""
_TIMES = (
    exp.DType.DATE,
    exp.DType.TIMESTAMP,
    exp.DType.TIMESTAMPLTZ,
    exp.DType.TIMESTAMPTZ,
    exp.DType.TIMESTAMPNTZ,
)
_WRITTEN = re.compile(
    r"(boolean|tinyint|smallint|int|bigint|float|double|decimal\(\d+,\d+\)|string|date|timestamp"
    r"|timestamp_ntz)$"
)
"""Types whose values are written as the CAST of their text."""
_INTEGERS = {"tinyint": "Y", "smallint": "S", "int": "", "bigint": "L"}
"""Types of integers, and the suffixes of their literals."""
_MOMENT = re.compile(r"\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)
_WITHOUT_BRACKETS = {
    "current_catalog",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_user",
    "localtimestamp",
    "session_user",
    "user",
}
"""Functions that Spark calls where their bare name is not a column."""


GROUPING_ID = "grouping__id"
"""A name of grouping_id() without brackets, where it is not a column."""


@dataclass(frozen=True)
class ScalarBinder:
    """Binds the scalar expressions of one clause.

    ``lookups`` are tried in order for each name. ``refusal`` is the reason why aggregates cannot
    stand in the clause; None where they may. ``windows``: window functions may stand in it.
    ``draws``: so may functions whose value chance decides, for each row of the clause.
    ``groups``: the clause is HAVING, whose subqueries may read aggregates of its group.
    """

    context: BindContext
    lookups: tuple[Lookup, ...]
    subqueries: Subqueries
    scope: Scope
    refusal: str | None = None
    outer: Outer | None = None
    inside: bool = False
    windows: bool = False
    draws: bool = False
    groups: bool = False

    @property
    def around(self) -> Outer:
        """The columns that a subquery in this clause may refer to."""
        return Outer(self.scope, self.context.referred, around=self.outer, groups=self.groups)

    def bind(self, node: exp.Expr) -> Scalar:
        """Return the expression over attributes; the input is left as it is."""
        bound: Scalar = node.copy().transform(self._replace, copy=False)
        return bound if isinstance(node, exp.Paren) else unwrap(bound)

    def _bind_aggregate(self, node: exp.Expr) -> Scalar:
        refusal = "cannot stand inside another aggregate"
        inner = replace(self, refusal=refusal, inside=True, windows=False)
        return inner._bind_parts(node.copy())

    def _bind_parts(self, node: exp.Expr) -> exp.Expr:
        """Bind the call of an aggregate, and what stands around it."""
        if not isinstance(node, aggregates.WRAPPERS):
            return self._bind_call(node)
        node.set("this", self._bind_parts(node.this))
        if isinstance(node, exp.Filter):
            node.expression.set("this", self.bind(node.expression.this))
        if isinstance(node, exp.WithinGroup):
            for key in node.expression.expressions:
                key.set("this", self.bind(key.this))
        return node

    def _bind_call(self, call: exp.Expr) -> Scalar:
        if is_mean(call):
            call = exp.Avg(this=call.expressions[0])
        if isinstance(call.this, exp.Star):
            return call
        if call == exp.Count(this=exp.Literal.number(1)):
            return exp.Count(this=exp.Star())  # Spark reads the one for the other
        if call.expressions and is_star(call.this):
            columns = [*self._expanded([call.this]), *call.expressions]
            call.set("this", columns[0])
            call.set("expressions", columns[1:])
        for key, value in list(call.args.items()):
            if isinstance(value, list):
                call.set(key, [self.bind(element) for element in self._expanded(value)])
            elif isinstance(value, exp.Distinct):
                call.set(key, exp.Distinct(expressions=self._distinct(value)))
            elif isinstance(value, exp.Expr):
                call.set(key, self.bind(value))
        return call

    def _distinct(self, distinct: exp.Distinct) -> list[exp.Expr]:
        return [self.bind(element) for element in self._expanded(distinct.expressions)]

    def resolve(self, parts: Parts) -> Scalar | None:
        """Return what a name stands for in this clause."""
        for lookup in self.lookups:
            scalar = lookup(parts, self.inside)
            if scalar is not None:
                return scalar
        return None

    def _replace(self, node: exp.Expr) -> exp.Expr:
        self._refuse(node)
        if is_star(node):
            advice = "Name the columns that are meant."
            raise self.context.source.error("* cannot stand here", advice, node)
        if isinstance(node, exp.Window):
            return self._window(node)
        if is_aggregate(node):
            return self._aggregate(node)
        parts = name_parts(node)
        if parts is not None:
            return self._column(node, parts)
        if is_membership(node):
            return membership_value(node, self)
        match node:
            case exp.Not() | exp.EQ() | exp.NEQ() if (known := simplified(node, self)) is not None:
                return known
            case exp.Subquery() | exp.Select() | exp.SetOperation():
                return self._scalar_subquery(node)
            case exp.Dot() if isinstance(node.expression, exp.Func):
                problem = f"function {node.sql(dialect='spark')} of a schema is not supported"
                raise self._unsupported(problem, "Call it by its name alone.", node)
            case exp.Tuple() if not isinstance(node.parent, exp.Predicate):
                elements = [self.bind(_struct_field(part)) for part in node.expressions]
                return exp.Anonymous(this="struct", expressions=elements)
            case exp.Anonymous() if self._is_drawn(node):
                return self._draw(node)
            case exp.Anonymous() if str(node.this).lower() == "arrays_zip":
                return self._zipped(self._expanded(node.expressions))
            case exp.Anonymous(expressions=[window]) if node.name.lower() == "window_time":
                return time_of(self.bind(window))
            case exp.Func():
                self._check_call(node)
                self._expand_arguments(node)
        return node

    def _column(self, node: exp.Expr, parts: Parts) -> exp.Expr:
        scalar = self.resolve(parts)
        if scalar is not None:
            for column in scalar.find_all(exp.Column):
                column.meta.setdefault(PLACE, self.context.source.span(node))
            return scalar
        if len(parts) == 1 and parts[0].name.lower() == "localtimestamp":
            problem = "localtimestamp without brackets is not supported"
            raise self._unsupported(problem, "Write localtimestamp().", parts[0])
        if len(parts) == 1 and parts[0].name.lower() in _WITHOUT_BRACKETS:
            return exp.Anonymous(this=parts[0].name.lower(), expressions=[])
        if len(parts) == 1 and parts[0].name.lower() == GROUPING_ID:
            call = exp.AnonymousAggFunc(this="grouping_id", expressions=[])
            call.meta.update(parts[0].meta)
            return self._aggregate(call)
        name = ".".join(part.name for part in parts)
        variable = self.context.environment.catalog.variable(tuple(part.name for part in parts))
        if variable is not None:
            return self._value(variable, name, parts[0])
        advice = "Name a column of the relations in FROM."
        raise self.context.source.error(f"column {name} is not known", advice, parts[0])

    def _value(self, variable: Variable, name: str, at: exp.Expr) -> exp.Expr:
        """Return the value that a session variable has now."""
        if not _WRITTEN.match(variable.type):
            problem = f"the variable {name} of the type {variable.type} is not supported"
            raise self._unsupported(problem, "Give its value as a parameter or in a column.", at)
        text, to = variable.value, exp.DataType.build(variable.type, dialect="spark")
        if text is None:
            return exp.Cast(this=exp.Null(), to=to)
        if variable.type not in _INTEGERS:
            return exp.Cast(this=exp.Literal.string(text), to=to)
        value: exp.Expr = exp.Literal.number(text.removeprefix("-"))
        suffix = _INTEGERS[variable.type]
        if suffix:
            value = TypedLiteral(this=value, to=to, suffix=suffix)
        return exp.Paren(this=exp.Neg(this=value)) if text.startswith("-") else value

    def _aggregate(self, node: exp.Expr) -> exp.Expr:
        name = call_name(node, self.context.source)
        call = aggregates.called(node)
        if self.refusal and self._is_of_outer_group(node):
            if self.outer is not None and self.outer.row is not None:
                problem = f"aggregate {name} of the query around this subquery is not supported"
                advice = "Group in a derived table, and compare its column in WHERE."
                raise self._unsupported(problem, advice, node)
            of_group = replace(self, lookups=self.lookups[1:], refusal=None)
            return of_group._aggregate(node)
        if self.refusal:
            advice = "Compute the aggregate in a derived table and refer to its column."
            raise self.context.source.error(f"aggregate {name} {self.refusal}", advice, node)
        why = functions.REFUSED_AGGREGATES.get(name)
        if why is not None and not is_opaque(call):
            raise self._unsupported(f"aggregate {name}, {why[0]}, is not supported", why[1], node)
        if any(isinstance(part, exp.Kwarg) for part in call.expressions):
            problem = f"arguments by name of the aggregate {name} are not supported"
            raise self._unsupported(problem, "Give the arguments in their order.", node)
        return self._bind_aggregate(node)

    def _is_of_outer_group(self, node: exp.Expr) -> bool:
        """Return True if an aggregate reads columns of the group around a subquery alone."""
        if self.outer is None or not self.outer.groups:
            return False
        own, around = self.lookups[0], self.outer.scope.lookup(self.context.source)
        names = [parts for each in node.walk() if (parts := name_parts(each)) is not None]
        return bool(names) and all(
            own(parts, True) is None and around(parts, True) is not None for parts in names
        )

    def _window(self, node: exp.Window) -> exp.Expr:
        call = called(node)
        if not self.windows:
            span = self.context.source.keyword_after(node.this, "OVER")
            advice = "Compute it in a derived table and refer to its column."
            problem = "a window function (OVER) cannot stand here"
            raise self._unsupported(problem, advice, span or node)
        name = call_name(call, self.context.source)
        registered = name not in functions.OF_SPARK and name in self.context.environment.aggregates
        if not (registered or name in functions.IN_WINDOWS):
            advice = "Use a ranking or offset function, or an aggregate such as SUM."
            raise self._unsupported(f"window function {name} is not supported", advice, call)
        inner = replace(self, windows=False)
        bound = changed(node, inner.bind)
        if is_mean(call):
            called(bound).replace(exp.Avg(this=called(bound).expressions[0]))
        return bound

    def _scalar_subquery(self, node: exp.Query) -> exp.Expr:
        attribute = self.subqueries.scalar(node, self.context, self.around)
        return attribute.column()

    def _is_drawn(self, node: exp.Anonymous) -> bool:
        drawn = self.draws and not self.inside and node.name.lower() in functions.DRAWN
        return drawn and node.find_ancestor(exp.Lambda) is None

    def _draw(self, node: exp.Anonymous) -> exp.Expr:
        arguments = [self.bind(part) for part in self._expanded(node.expressions)]
        call = exp.Anonymous(this=node.name.lower(), expressions=arguments)
        return self.subqueries.drawn(call, self.context.source.span(node)).column()

    def _refuse(self, node: exp.Expr) -> None:
        source = self.context.source
        match node:
            case exp.Any() | exp.All() if isinstance(node.this, exp.Query):
                name = type(node).__name__.upper()
                span = source.keyword_before(node.this, name)
                advice = "Use IN or EXISTS as a condition of WHERE."
                problem = f"{name} (subquery) is not supported"
                raise self._unsupported(problem, advice, span or node)
            case exp.Cast() if _of_the_moment(node):
                problem = f"'{node.this.name}' as a time is not supported"
                advice = "Use now(), current_date() and intervals."
                raise self._unsupported(problem, advice, node)

    def _check_call(self, node: exp.Func) -> None:
        source = self.context.source
        name = call_name(node, source)
        check_call(node, name, self.context)
        bare = text_of(node, source.sql) is None
        if bare and name in _WITHOUT_BRACKETS and self.resolve((exp.to_identifier(name),)):
            advice = f"Write the column as `{name}` with its relation's name before it."
            span = next(keyword_spans(source.sql, name.upper()), None)
            raise self._unsupported(f"{name} is both a column and a function", advice, span)

    def _expand_arguments(self, node: exp.Func) -> None:
        if isinstance(node.this, exp.Star) and "expressions" in node.arg_types:
            first, *rest = self._expanded([node.this])
            node.set("this", first)
            node.set("expressions", [*rest, *node.expressions])
        arguments = self._expanded(node.expressions)
        if call_name(node, self.context.source) == "struct":
            arguments = [_struct_field(argument) for argument in arguments]
        if arguments:
            node.set("expressions", arguments)

    def _zipped(self, arrays: Sequence[exp.Expr]) -> exp.Expr:
        """Return ``arrays_zip``, its fields named after what the arrays are called in the text."""
        values = [exp.Coalesce(this=self.bind(array), expressions=[]) for array in arrays]
        zipped = exp.Anonymous(this="arrays_zip", expressions=values)
        element, fields = exp.to_identifier("e"), list[exp.Expr]()
        for index, array in enumerate(arrays):
            number = exp.to_identifier(str(index), quoted=True)
            fields.append(exp.Literal.string(_name_of(array) or str(index)))
            fields.append(exp.Dot(this=element.copy(), expression=number))
        named = exp.Anonymous(this="named_struct", expressions=fields)
        each = exp.Lambda(this=named, expressions=[element])
        return exp.Anonymous(this="transform", expressions=[zipped, each])

    def _expanded(self, arguments: Sequence[exp.Expr]) -> list[exp.Expr]:
        """Replace ``*`` among a function's arguments by the columns it means."""
        result: list[exp.Expr] = []
        for argument in arguments:
            if not is_star(argument):
                result.append(argument)
                continue
            for entry in expand_star(argument, self.scope, self.context.source):
                column = entry.attribute.column()
                column.meta[_BOUND] = entry.name
                result.append(column)
        return result

    def _unsupported(
        self, problem: str, advice: str, at: exp.Expr | Span | None
    ) -> UnsupportedError:
        return self.context.source.unsupported(problem, advice, at)


def _of_the_moment(cast: exp.Cast) -> bool:
    """Return True if a cast stands for another time in every job of a query."""
    literal = isinstance(cast.this, exp.Literal) and cast.this.is_string
    return literal and cast.to.is_type(*_TIMES) and bool(_MOMENT.match(cast.this.name))


def name_parts(node: exp.Expr) -> Parts | None:
    """Return the parts of a column's name with the fields accessed of it; None for other nodes."""
    fields: list[exp.Identifier] = []
    while isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        fields.append(node.expression)
        node = node.this
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star) or _BOUND in node.meta:
        return None
    column_parts = [part for part in node.parts if isinstance(part, exp.Identifier)]
    return (*column_parts, *reversed(fields))


def _struct_field(element: exp.Expr) -> exp.Expr:
    """Name a field of struct(...) as its column, which is about to become an attribute."""
    name = _name_of(element)
    return exp.alias_(element, name, quoted=True, copy=False) if name else element


def _name_of(element: exp.Expr) -> str | None:
    """Return what a column is called in the text; None for another expression."""
    parts = name_parts(element)
    name: str | None = parts[-1].name if parts else element.meta.get(_BOUND)
    return name

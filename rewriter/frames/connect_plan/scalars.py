"""Expressions of a Connect plan as scalars of a text."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlglot import exp

from rewriter.algebra import bracketed
from rewriter.dialect import SparkSQL, decimal_width, name_parts, parse
from rewriter.dialect.nodes import IsNotNull
from rewriter.frames.connect_plan.frame import ConnectFrame, with_fields
from rewriter.frames.writing.literals import cast, literal, sql_type
from rewriter.frames.writing.refusals import NUMBERED
from rewriter.frames.writing.selects import (
    call,
    case_when,
    identifier,
    membership,
    negated,
    unsupported,
)

Message = Mapping[str, Any]
"""A message of the protocol, as ``MessageToDict`` makes it."""

_BINARY: dict[str, type[exp.Binary]] = {
    "!=": exp.NEQ,
    "%": exp.Mod,
    "&": exp.BitwiseAnd,
    "*": exp.Mul,
    "+": exp.Add,
    "-": exp.Sub,
    "/": exp.Div,
    "<": exp.LT,
    "<=": exp.LTE,
    "<=>": exp.NullSafeEQ,
    "==": exp.EQ,
    ">": exp.GT,
    ">=": exp.GTE,
    "^": exp.BitwiseXor,
    "and": exp.And,
    "like": exp.Like,
    "or": exp.Or,
    "|": exp.BitwiseOr,
}
_TYPES = {"byte", "short", "integer", "long", "float", "double", "string", "boolean"}
_MOMENTS = {"date", "timestamp", "timestamp_ntz"}
_NAMED = {
    "day_time_interval": "interval day to second",
    "year_month_interval": "interval year to month",
}


Subquery = Callable[[int, ConnectFrame], exp.Query]
"""Writes the plan of a number, which may refer to the columns of the frame around it."""


@dataclass(frozen=True)
class ConnectScalars:
    """Writes expressions over the columns of a frame."""

    frame: ConnectFrame
    subquery: Subquery | None = None
    variables: Mapping[str, exp.Expr] = field(default_factory=dict)

    def write(self, message: Message) -> exp.Expr:
        """Return the text's tree of an expression.

        Raises
        ------
        UnsupportedError
            For an expression without a rule, or a name that is not a column's.
        """
        kind = kind_of(message)
        rule = _RULES.get(kind)
        if rule is None:
            raise unsupported(f"the expression {kind} has no rule")
        return rule(self, message[kind])

    def attribute(self, message: Message) -> exp.Expr:
        """Return the column, or the field of one, that a name means."""
        plan = message.get("plan_id")
        parts = name_parts(message["unparsed_identifier"])
        column, fields = self.frame.resolve(parts, None if plan is None else int(plan))
        return with_fields(column.scalar.copy(), fields)

    def _function(self, message: Message) -> exp.Expr:
        name, arguments = message["function_name"], message.get("arguments", [])
        if name == "distributed_sequence_id":
            raise unsupported(*NUMBERED)
        if message.get("is_distinct"):
            values = [self.write(argument) for argument in arguments]
            return call(name, exp.Distinct(expressions=values))
        if name == "struct":
            return call(name, *map(self._struct_field, arguments))
        values = [self.write(argument) for argument in arguments]
        if name in _BINARY and len(values) == 2:
            left, right = map(bracketed, values)
            return _BINARY[name](this=left, expression=right)
        rule = _FUNCTIONS.get(name)
        return rule(values) if rule is not None else call(name.lower(), *values)

    def _struct_field(self, message: Message) -> exp.Expr:
        """Name a field of a struct as its column, which may have another name in the text."""
        value, name = self.write(message), name_of(message)
        if name is None or (isinstance(value, exp.Column) and value.name == name):
            return value
        return exp.Alias(this=value, alias=identifier(name))

    def _cast(self, message: Message) -> exp.Expr:
        written = message.get("type_str")
        to = exp.DataType.build(written, dialect=SparkSQL) if written else _type(message["type"])
        tried = message.get("eval_mode") == "EVAL_MODE_TRY"
        return cast(self.write(message["expr"]), to, tried=tried)

    def _extract(self, message: Message) -> exp.Expr:
        value, key = self.write(message["child"]), message["extraction"]
        if "string" in key.get("literal", {}):
            return with_fields(value, [key["literal"]["string"]])
        value = value if isinstance(value, exp.Column | exp.Dot) else exp.Paren(this=value)
        return exp.Bracket(this=value, expressions=[self.write(key)])

    def _lambda(self, message: Message) -> exp.Expr:
        names = [".".join(variable["name_parts"]) for variable in message["arguments"]]
        known = {name: exp.Column(this=identifier(name)) for name in names}
        inner = replace(self, variables={**self.variables, **known})
        body = inner.write(message["function"])
        return exp.Lambda(this=body, expressions=[identifier(name) for name in names])

    def _variable(self, message: Message) -> exp.Expr:
        return self.variables[".".join(message["name_parts"])].copy()

    def _window(self, message: Message) -> exp.Expr:
        window = exp.Window(
            this=self.write(message["window_function"]),
            partition_by=[self.write(key) for key in message.get("partition_spec", [])],
            over="OVER",
        )
        if message.get("order_spec"):
            window.set("order", self.order(message["order_spec"]))
        frame = message.get("frame_spec")
        if frame is not None:
            start, start_side = self._boundary(frame["lower"], "PRECEDING")
            end, end_side = self._boundary(frame["upper"], "FOLLOWING")
            kind = "ROWS" if frame["frame_type"] == "FRAME_TYPE_ROW" else "RANGE"
            spec = exp.WindowSpec(
                kind=kind, start=start, start_side=start_side, end=end, end_side=end_side
            )
            window.set("spec", spec)
        return window

    def _subquery(self, message: Message) -> exp.Expr:
        if self.subquery is None:
            raise unsupported("a subquery stands where none has a rule", "Write it as a join.")
        kind = message["subquery_type"]
        if kind not in _SUBQUERIES:
            raise unsupported("a frame as the argument of a function has no rule")
        query = self.subquery(int(message["plan_id"]), self.frame)
        values = [self.write(value) for value in message.get("in_subquery_values", [])]
        return _SUBQUERIES[kind](values, query)

    def _boundary(self, message: Message, side: str) -> tuple[exp.Expr | str, str | None]:
        if message.get("current_row"):
            return "CURRENT ROW", None
        if message.get("unbounded"):
            return "UNBOUNDED", side
        value = self.write(message["value"])
        return (value.this, "PRECEDING") if isinstance(value, exp.Neg) else (value, "FOLLOWING")

    def order(self, keys: Sequence[Message]) -> exp.Order:
        """Return ORDER BY."""
        return exp.Order(expressions=[self._ordered(key) for key in keys])

    def _ordered(self, key: Message) -> exp.Ordered:
        return exp.Ordered(
            this=self.write(key["child"]),
            desc=key["direction"] == "SORT_DIRECTION_DESCENDING" or None,
            nulls_first=key["null_ordering"] == "SORT_NULLS_FIRST",
        )

    def _text(self, message: Message) -> exp.Expr:
        """Write an expression that was given as text: its names are the frame's columns."""
        given = message["expression"]
        # A function of its own is only read as an argument.
        (item,) = parse(f"SELECT f({given})" if "->" in given else f"SELECT {given}").expressions
        item = item.expressions[0] if "->" in given else item
        bound: exp.Expr = item.unalias().transform(self._named, copy=True)
        return bound

    def _named(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Subquery | exp.Select):
            raise unsupported("an expression in text has a subquery")
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return node
        column, fields = self.frame.resolve([part.name for part in node.parts])
        return with_fields(column.scalar.copy(), fields)


def kind_of(message: Message) -> str:
    """Return which message of a ``oneof`` this is."""
    return next(key for key in message if key != "common")


def name_of(message: Message) -> str | None:
    """Return the name that an expression gives its column; None if Spark makes one."""
    kind = kind_of(message)
    if kind == "alias":
        names = message["alias"]["name"]
        return str(names[0]) if len(names) == 1 else None
    if kind == "unresolved_attribute":
        return name_parts(message[kind]["unparsed_identifier"])[-1]
    return None


def _literal(scalars: ConnectScalars, message: Message) -> exp.Expr:
    (kind, value), *_ = ((k, v) for k, v in message.items() if k != "data_type")
    type_ = _NAMED.get(kind, kind)
    if kind == "null":
        return exp.Null()
    if kind == "boolean":
        value = str(value).lower()
    elif kind == "decimal":
        width = decimal_width(Decimal(value["value"]))
        precision, scale = map(max, width, (value.get("precision", 0), value.get("scale", 0)))
        type_ = f"decimal({max(precision, scale)},{scale})"
        value = value["value"]
    elif kind == "date":
        value = (date(1970, 1, 1) + timedelta(days=int(value))).isoformat()
    elif kind == "timestamp":
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(value))
        value = moment.isoformat(sep=" ")
    elif kind == "binary":
        return exp.HexString(this=b64decode(value).hex().upper())
    elif kind in ("array", "map"):
        parts = value.get("elements", [])
        if kind == "map":
            pairs = zip(value.get("keys", []), value.get("values", []), strict=True)
            parts = [part for pair in pairs for part in pair]
        return call(kind, *(_literal(scalars, part) for part in parts))
    elif kind not in _TYPES and kind not in _NAMED and kind != "timestamp_ntz":
        raise unsupported(f"a literal of type {kind} has no text")
    return literal(str(value), type_)


def _type(message: Message) -> exp.DataType:
    """Return a type of the protocol, which has one part unless it is a decimal."""
    (kind, parts), *_ = message.items()
    if kind == "decimal":
        return sql_type(f"decimal({parts.get('precision', 10)},{parts.get('scale', 0)})")
    if kind not in _TYPES | _MOMENTS:
        raise unsupported("a cast to a type that is not text has no rule", "Name the type.")
    return sql_type(kind)


def _is_null(values: list[exp.Expr]) -> exp.Expr:
    return exp.Is(this=bracketed(values[0]), expression=exp.Null())


def _in_units(name: str) -> Callable[[list[exp.Expr]], exp.Expr]:
    """Return how a call is written whose first argument is a unit of time: a word, not a text."""

    def write(values: list[exp.Expr]) -> exp.Expr:
        unit, *others = values
        return call(name, exp.var(unit.name), *others)

    return write


_SUBQUERIES: dict[str, Callable[[list[exp.Expr], exp.Query], exp.Expr]] = {
    "SUBQUERY_TYPE_EXISTS": lambda _, query: exp.Exists(this=query),
    "SUBQUERY_TYPE_IN": membership,
    "SUBQUERY_TYPE_SCALAR": lambda _, query: exp.Subquery(this=query),
}

_FUNCTIONS: dict[str, Callable[[list[exp.Expr]], exp.Expr]] = {
    "extract": lambda values: call("date_part", *values),
    "in": lambda values: exp.In(this=bracketed(values[0]), expressions=values[1:]),
    "isNotNull": lambda values: IsNotNull(this=_is_null(values)),
    "isNull": _is_null,
    "negative": lambda values: exp.Neg(this=bracketed(values[0])),
    "not": lambda values: negated(*values),
    "timestampadd": _in_units("timestampadd"),
    "timestampdiff": _in_units("timestampdiff"),
    "when": case_when,
    "~": lambda values: exp.BitwiseNot(this=bracketed(values[0])),
}

_RULES: dict[str, Callable[[ConnectScalars, Message], exp.Expr]] = {
    "alias": lambda scalars, message: scalars.write(message["expr"]),
    "call_function": ConnectScalars._function,
    "cast": ConnectScalars._cast,
    "expression_string": ConnectScalars._text,
    "lambda_function": ConnectScalars._lambda,
    "literal": _literal,
    "named_argument_expression": lambda scalars, message: exp.Kwarg(
        this=exp.var(message["key"]), expression=scalars.write(message["value"])
    ),
    "subquery_expression": ConnectScalars._subquery,
    "unresolved_attribute": ConnectScalars.attribute,
    "unresolved_extract_value": ConnectScalars._extract,
    "unresolved_function": ConnectScalars._function,
    "unresolved_named_lambda_variable": ConnectScalars._variable,
    "unresolved_star": lambda scalars, message: exp.Star(),
    "window": ConnectScalars._window,
}
"""Kind of an expression: how it is written."""

"""Values that are missing, or are to be others: ``fillna``, ``replace`` and ``dropna``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from rewriter.algebra import bracketed
from rewriter.dialect import name_parts
from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.items import Made, PlanItem, select
from rewriter.frames.connect_plan.scalars import ConnectScalars, Message
from rewriter.frames.writing.literals import cast, literal, sql_type
from rewriter.frames.writing.selects import call, unsupported

if TYPE_CHECKING:
    from rewriter.frames.connect_plan.plans import ConnectPlans

_FLOATING = ("double", "float")
_NUMBERS = ("byte", "decimal", "double", "float", "integer", "long", "short")


def filled(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a frame with values in the place of NULL or NaN.

    One value fills the columns of its kind among the named ones, or all; several are cast to the
    types of the columns that they are for.
    """
    frame, types = _typed(plans, message)
    write, values = ConnectScalars(frame).write, message["values"]
    named = _named(frame, message)
    if len(values) == 1:
        (value,) = values
        fillings = {
            number: value
            for number, type_ in types.items()
            if (number in named or not named) and _kind(type_) == _kind(next(iter(value)))
        }
    else:
        fillings = dict(zip(named, values, strict=True))
    made_columns = {
        number: _filling(write({"literal": value}), types[number])
        for number, value in fillings.items()
    }
    return select(plans, frame, _items(frame, made_columns))


def replaced(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a frame with values in place of others, in columns of the kind of the first."""
    frame, types = _typed(plans, message)
    named = _named(frame, message)
    pairs = [
        (replacement["old_value"], replacement["new_value"])
        for replacement in message["replacements"]
    ]
    kind = _kind(next(iter(pairs[0][0])))
    made_columns = {
        number: _replacing(frame, pairs, type_)
        for number, type_ in types.items()
        if (number in named or not named) and _kind(type_) == kind
    }
    return select(plans, frame, _items(frame, made_columns))


def present(relation: Message, schema: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return ``dropna`` as the filter that it is, of conditions on single columns.

    Spark has a condition of its own for it, which no function of Spark SQL calls.

    Parameters
    ----------
    relation
        The relation, with its number.
    schema
        The columns of its input: names and types.

    Raises
    ------
    UnsupportedError
        Over columns of one name.
    """
    message = relation["drop_na"]
    types = {name.lower(): type_ for name, type_ in schema}
    if len(types) < len(schema):
        raise unsupported(
            "dropna() is of columns of one name", "Give them names of their own before."
        )
    names = message.get("cols") or [f"`{name.replace('`', '``')}`" for name, _ in schema]
    wanted = message.get("min_non_nulls", len(names))
    parts = [_is_present(name, types.get(name_parts(name)[-1].lower())) for name in names]
    return {
        "common": relation["common"],
        "filter": {"input": message["input"], "condition": _at_least(wanted, parts)},
    }


def _at_least(wanted: int, parts: Sequence[Message]) -> Message:
    if wanted in (1, len(parts)):
        connective = "or" if wanted < len(parts) else "and"
        return reduce(lambda left, right: _called(connective, left, right), parts)
    flags = _called("array_remove", _called("array", *parts), {"literal": {"boolean": False}})
    return _called(">=", _called("array_size", flags), {"literal": {"integer": wanted}})


def _is_present(name: str, type_: Any) -> Message:
    value = {"unresolved_attribute": {"unparsed_identifier": name}}
    known = _called("isNotNull", value)
    if type_ not in _FLOATING:
        return known
    return _called("and", known, _called("not", _called("isnan", value)))


def _called(name: str, *arguments: Message) -> Message:
    return {"unresolved_function": {"function_name": name, "arguments": list(arguments)}}


def _typed(plans: ConnectPlans, message: Message) -> tuple[ConnectFrame, Mapping[int, Any]]:
    """Return the input of a relation, and the types of its columns by their ids."""
    frame = plans.frame(message["input"])
    schema = plans.schema_of(message["input"])
    pairs = zip(frame.columns, schema, strict=True)
    return frame, {column.id: type_ for column, (_, type_) in pairs}


def _named(frame: ConnectFrame, message: Message) -> list[int]:
    """Return the ids of the columns that a relation names."""
    names = [name for name in message.get("cols", []) if name != "*"]
    return [frame.resolve(name_parts(name))[0].id for name in names]


def _items(frame: ConnectFrame, makers: Mapping[int, Made]) -> list[PlanItem]:
    return [
        PlanItem((column.name,), None, column, makers.get(column.id)) for column in frame.columns
    ]


def _kind(type_: Any) -> str:
    """Return the kind of a value or a column that ``fillna`` and ``replace`` distinguish."""
    name = str(type_).partition("(")[0]
    return "number" if name in _NUMBERS else name


def _filling(value: exp.Expr, type_: Any) -> Made:
    to = sql_type(type_)

    def fill(scalar: exp.Expr) -> exp.Expr:
        if type_ in _FLOATING:
            scalar = call("nanvl", scalar, cast(exp.Null(), to.copy(), tried=False))
        return call("coalesce", scalar, cast(value.copy(), to.copy(), tried=False))

    return fill


def _replacing(frame: ConnectFrame, pairs: Sequence[tuple[Message, Message]], type_: Any) -> Made:
    written = [(_compared(frame, old), _compared(frame, new)) for old, new in pairs]

    def fill(scalar: exp.Expr) -> exp.Expr:
        branches = [
            exp.If(
                this=exp.EQ(this=bracketed(scalar.copy()), expression=old.copy()),
                true=cast(new.copy(), sql_type(type_), tried=False),
            )
            for old, new in written
        ]
        return exp.Case(ifs=branches, default=scalar.copy())

    return fill


def _compared(frame: ConnectFrame, value: Message) -> exp.Expr:
    """Return a value of ``replace`` as it is compared, or given."""
    if _kind(next(iter(value))) != "number":
        return ConnectScalars(frame).write({"literal": value})
    return literal(shown(value), "double")


def shown(value: Message) -> str:
    """Return a value of ``replace`` as Spark shows it in a plan: a number is a double."""
    (kind, content), *_ = value.items()
    if _kind(kind) != "number":
        return str(content).lower() if kind == "boolean" else str(content)
    number = repr(float(content["value"] if kind == "decimal" else content))
    return number.replace("nan", "NaN").replace("inf", "Infinity")

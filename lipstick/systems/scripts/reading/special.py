"""Special methods: what operators, indexing, loops and built-in functions call of classes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from lipstick.systems.scripts.reading.arguments import Arguments
from lipstick.systems.scripts.reading.classes import class_member
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.invoke import black_box, invoke
from lipstick.systems.scripts.reading.opaque import advance, is_used_up, run_over
from lipstick.systems.scripts.reading.special_names import (
    COMPARISONS,
    HASHING,
    OPERATORS,
    ORDER,
    TEXTS,
    UNARY,
    called_names,
)
from lipstick.systems.scripts.reading.values import Class, PyFunction, PyValue


def binary_method(
    context: Context, op: ast.operator, left: PyValue, right: PyValue
) -> PyValue | None:
    """Call what an operator calls of its operands; None: their classes are not plain."""
    name = OPERATORS[type(op)]
    result = call_method(context, left, f"__{name}__", [right])
    return result or call_method(context, right, f"__r{name}__", [left])


def augmented_method(
    context: Context, op: ast.operator, left: PyValue, right: PyValue
) -> PyValue | None:
    """Call what an augmented assignment calls; None: the classes are not plain."""
    result = call_method(context, left, f"__i{OPERATORS[type(op)]}__", [right])
    return result or binary_method(context, op, left, right)


def compared(context: Context, op: ast.cmpop, left: PyValue, right: PyValue) -> list[PyValue]:
    """Return the result of the special method that a comparison calls of a side, if any."""
    containment = isinstance(op, ast.In | ast.NotIn)
    sides = [(right, left)] if containment else [(left, right), (right, left)]
    for receiver, other in sides:
        for name in COMPARISONS.get(type(op), ()):
            if name in ("__iter__", "__getitem__"):
                found = gone_over(context, receiver, "in")
                result = None if found is receiver else found
            else:
                result = call_method(context, receiver, name, [other])
            if result is not None:
                return [result]
    # Containers compare their elements.
    names = HASHING if containment else COMPARISONS.get(type(op), ())
    if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        names = (*names, *ORDER)  # of elements, and by what a decorator adds
    names = tuple(name for name in names if name in context.methods)
    callee, functions = _methods(context, (left, right), names)
    if not functions:
        return []
    why = f"{names[0]} of what is compared may be called"
    return [black_box(context, functions, callee, Arguments([right]), left, why)]


def unary_method(op: ast.unaryop) -> str:
    """The name of the method that an operator of one operand calls."""
    return UNARY[type(op)]


def call_method(
    context: Context, receiver: PyValue, name: str, given: Sequence[PyValue] = ()
) -> PyValue | None:
    """Call a special method of an object; None: its class is not plain, or has no such method."""
    if receiver.cls is None:
        return _call_any(context, receiver, name, given)
    member = class_member(context, receiver.cls, name)
    if member is None or not isinstance(member.target, PyFunction):
        return None
    return invoke(context, member.target, member, Arguments(list(given)), context.filled(receiver))


def hashed(context: Context, values: Sequence[PyValue]) -> list[PyValue]:
    """Return the results of the methods that compare keys of dicts and elements of sets."""
    if not {"__hash__", "__eq__"} & context.methods.keys():
        return []
    found = []
    for value in values:
        for name, given in (("__hash__", []), ("__eq__", [value])):
            result = call_method(context, value, name, given)
            if result is not None:
                found.append(result)
    return found


def _call_any(
    context: Context, receiver: PyValue, name: str, given: Sequence[PyValue]
) -> PyValue | None:
    """Call a special method of one of the classes that an object may be of; None: of none."""
    if receiver.kind or name not in context.methods or not receiver.regions:
        return None
    classes = {id(cls): cls for r in receiver.regions if (cls := context.made.get(r)) is not None}
    members = [class_member(context, cls, name) for cls in classes.values()]
    functions = [m.target for m in members if m is not None and isinstance(m.target, PyFunction)]
    if not functions:
        return None
    why = f"{name} may be a method of several classes"
    return black_box(context, functions, PyValue(), Arguments(list(given)), receiver, why)


def called_by(
    context: Context, function: str, values: Iterable[PyValue]
) -> tuple[PyValue, list[PyFunction]]:
    """Return the special methods of its arguments that a function of Python or a library may call.

    First comes what makes them methods.
    """
    names = tuple(name for name in called_names(function) if name in context.methods)
    return _methods(context, values, names)


def _methods(
    context: Context, values: Iterable[PyValue], names: Sequence[str]
) -> tuple[PyValue, list[PyFunction]]:
    """Return the methods of some names of values and of all that they hold."""
    if not names:
        return PyValue(), []
    classes = {id(cls): cls for value in values for cls in _classes(context, value)}
    found = [class_member(context, cls, name) for cls in classes.values() for name in names]
    members = [m for m in found if m is not None and isinstance(m.target, PyFunction)]
    refs = dict.fromkeys(ref for member in members for ref in member.refs)
    return PyValue(tuple(refs)), [m.target for m in members if isinstance(m.target, PyFunction)]


def _classes(context: Context, value: PyValue) -> list[Class]:
    """The classes of the project of a value and of all that it holds."""
    own_class = [] if value.cls is None else [value.cls]
    classes = (context.made.get(region) for region in context.reach(value.regions))
    return [*own_class, *(cls for cls in classes if cls is not None)]


def iterated(context: Context, over: PyValue) -> PyValue:
    """Return the result of ``__iter__`` of an object of the project; other values as they are."""
    result = call_method(context, over, "__iter__")
    return over if result is None else result


def next_of(context: Context, items: PyValue) -> PyValue | None:
    """The next of some items, where a class of the project makes it."""
    for name, given in (("__next__", []), ("__getitem__", [PyValue()])):
        following = call_method(context, items, name, given)
        if following is not None:
            # What it raises ends the iteration, and so the whole of it matters.
            whole = converted(context, items, [name], "next")
            return following.at(tuple(dict.fromkeys((*following.refs, *whole.refs))))
    return None


def converted(context: Context, value: PyValue, names: Sequence[str], by: str) -> PyValue:
    """Return a value with what special methods give, of it and what it holds, to an operation."""
    names = [name for name in names if name in context.methods]
    members, functions = _methods(context, [value], names)
    refs = tuple(dict.fromkeys((*value.refs, *members.refs)))
    return run_over(context, value.at(refs), functions, by) if functions else value


def gone_over(context: Context, value: PyValue, name: str) -> PyValue:
    """Return a value with what its class gives to who takes all of it: ``*`` and assignments."""
    items = iterated(context, value)
    taken = items
    if is_used_up(context, items):
        taken = advance(context, items, name)
        taken = taken.at(context.operate(name, "advance", [context.filled(taken)]).refs)
        context.change(items.regions, taken)
    following = next_of(context, items)
    if following is not None:
        held = context.region(name)
        context.divide(held)
        context.keep([held], following.regions)
        refs = tuple(dict.fromkeys((*taken.refs, *following.refs)))
        taken = PyValue(refs, taken.regions | {held})
    return taken


def text_of(context: Context, value: PyValue) -> PyValue:
    """The text that formatting makes of an object of the project; others as they are."""
    for name in TEXTS:
        result = call_method(context, value, name)
        if result is not None:
            return result
    return converted(context, value, TEXTS, "text")


def truth_of(context: Context, value: PyValue) -> PyValue:
    """Return the result of ``__bool__`` or ``__len__`` of an object; other values as they are."""
    for name in ("__bool__", "__len__"):
        result = call_method(context, value, name)
        if result is not None:
            return result
    return value

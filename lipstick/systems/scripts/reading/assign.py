"""Assignment: names get versions, and objects that are changed in place do, too."""

from __future__ import annotations

import ast

from lipstick.systems.scripts.facts import PLAIN
from lipstick.systems.scripts.model import ScriptNode
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.names import key_for_reading, key_for_writing
from lipstick.systems.scripts.reading.opaque import effects, leave_effects
from lipstick.systems.scripts.reading.special import call_method, gone_over, hashed
from lipstick.systems.scripts.reading.values import (
    COPIED,
    IMMUTABLE,
    NO_REGIONS,
    PLAIN_KINDS,
    BoundMethod,
    Class,
    Library,
    ModuleFile,
    PyFunction,
    PyValue,
)

_INTERPRETER = frozenset({"sys", "builtins", "__builtins__", "__main__", "importlib", "gc", "io"})
"""Modules whose attributes are what Python itself uses."""

_OF_OBJECTS = frozenset(
    {"__class__", "__code__", "__dict__", "__globals__", "__bases__", "__defaults__"}
)
"""Attributes that decide what an object is."""


def assign(context: Context, target: ast.expr, value: PyValue, name: str = "=") -> None:
    """Assign a value to a target of any form."""
    match target:
        case ast.Name(id=variable):
            _assign_name(context, variable, value, name)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            part = element_of(context, gone_over(context, value, name))
            for each in parts:
                assign(context, each, part)
        case ast.Starred(value=inner):
            rest = context.region("*")
            context.divide(rest, value.regions)
            assign(context, inner, PyValue(value.refs, frozenset([rest]), "list"))
        case ast.Subscript() | ast.Attribute():
            store(context, target, value)
        case _:
            raise AssertionError(f"Python assigns to no {type(target).__name__}")


def _assign_name(context: Context, variable: str, value: PyValue, name: str) -> None:
    key = key_for_writing(context, variable)
    inputs = [value]
    if context.guards:
        # What is assigned under a condition inside of an expression may also not be.
        before = context.state.get(key)
        inputs += [*context.guards, *([] if before is None else [context.lookup(key) or before])]
    process = context.process(name, "assignment", inputs)
    bind(context, variable, value, process)


def bind(context: Context, variable: str, value: PyValue, process: ScriptNode) -> PyValue:
    """Let a variable hold a value that a PE makes a version of; return the version."""
    key = key_for_writing(context, variable)
    version = context.view(process, variable)
    bound = value.at(version.refs)
    context.write(key, bound)
    for region in value.regions:
        # Called after a variable rather than after what made it.
        context.graph.names[region] = variable
    return bound


def element_of(context: Context, value: PyValue) -> PyValue:
    """Return the element of a value that a loop goes over or an assignment takes apart."""
    kind = context.facts.elements.get(value.kind, "")
    if kind in ("text", "number"):
        return PyValue(value.refs, NO_REGIONS, kind)
    regions = context.inside(value.regions)
    kind = kind or kind_inside(context, value, regions)
    return PyValue(value.refs, regions, kind, cls=context.class_of(regions))


def kind_inside(context: Context, value: PyValue, regions: frozenset[int]) -> str:
    """The kind of the parts of a container of Python's: plain if all objects in it are."""
    plain = value.kind in (*PLAIN_KINDS, "iterator") and value.regions and regions <= context.plain
    return PLAIN if plain and context.alike(value.regions) <= context.plain else ""


def store(context: Context, target: ast.Subscript | ast.Attribute, value: PyValue) -> None:
    """Change an object in place by storing into it."""
    base = context.evaluate(context, target.value)
    inputs = [base, value]
    if isinstance(target, ast.Subscript):
        index = context.evaluate(context, target.slice)
        inputs.append(index)
        name = "[ ]="
    else:
        name = f".{target.attr}="
    if isinstance(base.target, Library) and base.target.name.split(".")[0] in _INTERPRETER:
        context.leave_all_open(f"{base.target.name} is changed, which any code may use")
    if isinstance(base.target, ModuleFile):
        context.leave_all_open("variables of another module are changed")
    if isinstance(target, ast.Attribute) and target.attr in _OF_OBJECTS:
        context.leave_all_open(f"{target.attr} of an object is changed")
    if isinstance(base.target, Library):
        # Settings of a library are hidden state of it.
        region = context.named_region(f"<{base.target.name.split('.')[0]}>")
        state = PyValue(base.refs, frozenset([region]))
        base, inputs = state, [context.filled(state), *inputs]
    context.escape(value)
    value = context.as_object(value)
    if isinstance(base.target, PyFunction | BoundMethod) and not base.cls:
        base = context.as_object(base)
    if not (base.regions or base.kind in IMMUTABLE or isinstance(base.target, Class)):
        context.leave_all_open("the object that is stored into is not plain from the text")
    if isinstance(target, ast.Subscript):
        inputs += hashed(context, [index])
        called = call_method(context, base, "__setitem__", [index, value])
        if called is not None:
            return
    if isinstance(base.target, Class) and isinstance(target, ast.Attribute):
        process = context.process(name, "store", [*inputs, *context.guards])
        version = context.view(process, target.attr)
        if isinstance(value.target, PyFunction):
            context.methods.setdefault(target.attr, []).append(value.target)
        key = (base.target.scope, target.attr)
        context.graph.names.setdefault(key, target.attr)
        context.write(
            key, PyValue(version.refs, value.regions, value.kind, value.target, value.cls)
        )
        own_region = context.own_region(base.target)
        if own_region is not None:
            context.change([own_region], version)
        return
    setters = context.setters.get(target.attr, []) if isinstance(target, ast.Attribute) else []
    ran = effects(context, setters)
    inputs += ran.inputs
    made_of = [*inputs, *context.guards]
    process = context.process(name, "store", made_of, ratio="1:1", lines=ran.lines)
    if base.kind not in COPIED:
        context.keep(context.alike(base.regions), value.regions)
    changed(context, target.value, base, process)
    leave_effects(context, ran, process)


def changed(context: Context, text: ast.expr, base: PyValue, process: ScriptNode) -> PyValue:
    """Add the version that a PE makes of an object, by the variable it is reached through."""
    variable = root(text)
    key = None if variable is None else key_for_reading(context, variable)
    name = variable or next((context.graph.names[r] for r in sorted(base.regions)), process.name)
    version = context.view(process, name)
    context.change(base.regions, version)
    held = None if key is None else context.state.get(key)
    if key is not None and held is not None and not isinstance(held.target, Class | Library):
        held = context.lookup(key) or held
        if not held.regions or base.regions <= set(context.reach(held.regions)):
            # The version is made of the one before: a reader need not depend on both.
            refs = version.refs if held.refs and _is_made_of(context, held, process) else ()
            refs = refs or tuple(dict.fromkeys((*version.refs, *held.refs)))
            context.write(key, PyValue(refs, held.regions, held.kind, held.target, held.cls))
    return version


def _is_made_of(context: Context, held: PyValue, process: ScriptNode) -> bool:
    """Return True if a PE reads all that a value depends on, for certain."""
    read = {
        (edge.source, edge.variable)
        for edge, why in context.graph.incoming[process.id].items()
        if why is None
    }
    return all(why is None and (node, key) in read for node, key, why in held.refs)


def root(text: ast.expr) -> str | None:
    """The variable that a chain of attributes, indexes and calls begins with."""
    while True:
        match text:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                text = inner
            case ast.Call(func=inner):
                text = inner
            case _:
                return None

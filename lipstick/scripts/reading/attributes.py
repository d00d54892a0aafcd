"""Attributes: of libraries, modules, classes and objects."""

from __future__ import annotations

import ast

from lipstick.scripts.model import Place
from lipstick.scripts.reading.context import Context
from lipstick.scripts.reading.opaque import effects
from lipstick.scripts.reading.values import (
    IMMUTABLE,
    NO_REGIONS,
    Bound,
    Class,
    Function,
    Library,
    ModuleFile,
    Value,
)


def attribute(context: Context, node: ast.Attribute) -> Value:
    """Add the reading of an attribute."""
    base = context.evaluate(context, node.value)
    return attribute_of(context, base, node.attr)


def attribute_of(context: Context, base: Value, name: str) -> Value:
    """What an attribute of a value is."""
    match base.target:
        case Library(name=library):
            return _of_library(context, base, library, name)
        case ModuleFile(scope=scope):
            held = context.lookup((scope, name))
            if held is not None:
                filled = context.filled(held)
                refs = (*base.refs, *filled.refs)
                return Value(
                    refs, filled.regions, filled.kind, filled.target, filled.cls, filled.const
                )
        case Class():
            member = class_member(context, base.target, name)
            if member is not None:
                refs = (*base.refs, *context.filled(member).refs)
                return Value(refs, member.regions, member.kind, member.target, member.cls)
        case _:
            pass
    if base.cls is not None:
        member = class_member(context, base.cls, name)
        if member is not None and isinstance(member.target, Function):
            if member.target.binding == "property":
                return _property(context, member, member.target, base)
            bound = Bound(name, base, member.target)
            return Value((*base.refs, *member.refs), base.regions, target=bound)
        if member is not None:
            base = Value((*base.refs, *member.refs), base.regions | member.regions)
    owner = context.facts.classes.get(base.kind, "")
    kind = context.facts.attributes.get((owner, name), "")
    method = context.facts.of_method(base.kind, name)
    if kind or method is None:
        if base.kind == "frame" and not kind:
            kind = "column"
        regions = NO_REGIONS
        if kind not in IMMUTABLE:
            regions = base.regions if kind else context.inside(base.regions) | base.regions
        inputs: list[Value] = [base]
        lines: tuple[Place, ...] = ()
        if base.cls is None:
            # It may be a property of any class that has one of the name.
            getters = [f for f in context.methods.get(name, ()) if f.binding == "property"]
            if getters:
                ran = effects(context, getters)
                inputs, lines = [base, *ran.inputs], ran.lines
                context.not_followed(f"{name} may be a property of that name")
        made = context.operate(
            f".{name}", "attribute", inputs, kind, regions, ratio="1:1", lines=lines
        )
        return Value(made.refs, made.regions, kind, Bound(name, base))
    return Value(base.refs, base.regions, "", Bound(name, base))


def _property(context: Context, member: Value, getter: Function, base: Value) -> Value:
    from lipstick.scripts.reading.calls import Arguments
    from lipstick.scripts.reading.invoke import invoke

    return invoke(context, getter, member, Arguments(), context.filled(base))


def class_member(context: Context, cls: Class, name: str) -> Value | None:
    """What a class of the project, or one that it is derived from, has by a name."""
    held = context.lookup((cls.scope, name)) if context.state.get((cls.scope, name)) else None
    if held is not None:
        return held
    for base in cls.bases:
        if isinstance(base, Class):
            found = class_member(context, base, name)
            if found is not None:
                return found
    return None


def _of_library(context: Context, base: Value, library: str, name: str) -> Value:
    full = f"{library}.{name}"
    kind = context.facts.attributes.get((library, name), "")
    state = context.named.get(f"<{library.split('.', maxsplit=1)[0]}>")
    regions = NO_REGIONS if state is None else frozenset([state])
    value = Value(base.refs, regions, kind, None if kind else Library(full))
    return context.filled(value) if regions else value

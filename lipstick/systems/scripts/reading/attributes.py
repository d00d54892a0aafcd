"""Attributes: of libraries, modules, classes and objects."""

from __future__ import annotations

import ast
from dataclasses import replace

from lipstick.systems.scripts.model import Place
from lipstick.systems.scripts.reading.arguments import Arguments
from lipstick.systems.scripts.reading.classes import class_member
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.invoke import invoke
from lipstick.systems.scripts.reading.opaque import effects, leave_effects
from lipstick.systems.scripts.reading.values import (
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
    """Return the value of an attribute of a value."""
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
                target = member.target
                if isinstance(target, Function) and target.binding == "classmethod":
                    return Value(refs, target=Bound(name, base, target))
                return Value(refs, member.regions, member.kind, target, member.cls)
        case _:
            pass
    if name == "__class__":
        return type_of(context, base)
    if isinstance(base.target, Function | Class):
        base = context.filled(context.as_object(base))
    if base.cls is not None:
        cls = base.cls
        base = _with_class(context, base, cls)
        member = class_member(context, cls, name)
        if member is not None and isinstance(member.target, Function):
            return _of_object(context, member, member.target, base, name)
        if member is not None:
            base = Value((*base.refs, *member.refs), base.regions | member.regions)
    if _is_method(context, base, name):
        return Value(base.refs, base.regions, "", Bound(name, base))
    return _operate(context, base, name)


def _with_class(context: Context, base: Value, cls: Class) -> Value:
    """An object with what was stored into its class by other names."""
    regions = NO_REGIONS
    if id(cls.node) in context.own_regions:
        regions = frozenset([context.own_regions[id(cls.node)]])
    stored = context.filled(Value(regions=regions)).refs
    base = replace(base, refs=tuple(dict.fromkeys((*base.refs, *stored))))
    for outer in cls.bases:
        if isinstance(outer, Class):
            base = _with_class(context, base, outer)
    return base


def type_of(context: Context, value: Value, callee: Value | None = None) -> Value:
    """Add the class of an object; if its class is not plain, it may be any of the project."""
    before = [value] if callee is None else [callee, value]
    if value.cls is not None and value.cls.view in context.graph.nodes:
        refs = tuple(ref for each in before for ref in each.refs)
        refs = (*refs, (value.cls.view, None, None))
        return context.filled(context.as_object(Value(refs, target=value.cls)))
    regions = NO_REGIONS
    if not value.kind:
        for cls in context.classes.values():
            context.own_region(cls)
        regions = frozenset(context.class_regions)
    taken = context.operate("type", "call", before, regions=regions)
    return context.filled(Value(taken.refs, regions))


def _of_object(
    context: Context, member: Value, function: Function, base: Value, name: str
) -> Value:
    """A property or method of an object whose class is plain."""
    if function.binding == "property":
        return invoke(context, function, member, Arguments(), context.filled(base))
    owner = base
    if function.binding == "classmethod":
        owner = Value(base.refs, target=base.cls)
    refs = (*base.refs, *member.refs)
    return Value(refs, base.regions, target=Bound(name, owner, function))


def _kind(context: Context, base: Value, name: str) -> str:
    owner = context.facts.classes.get(base.kind, "")
    return context.facts.attributes.get((owner, name), "")


def _is_method(context: Context, base: Value, name: str) -> bool:
    known = context.facts.of_method(base.kind, name)
    return known is not None and not _kind(context, base, name)


def _operate(context: Context, base: Value, name: str) -> Value:
    """Add a PE that takes an attribute of an object."""
    kind = _kind(context, base, name)
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
            leave_effects(context, ran, context.process(f".{name}", "getter", inputs))
            context.not_followed(f"{name} may be a property of that name")
    taken = context.operate(
        f".{name}", "attribute", inputs, kind, regions, ratio="1:1", lines=lines
    )
    return Value(taken.refs, taken.regions, kind, Bound(name, base))


def _of_library(context: Context, base: Value, library: str, name: str) -> Value:
    full = f"{library}.{name}"
    kind = context.facts.attributes.get((library, name), "")
    state = context.named.get(f"<{library.split('.', maxsplit=1)[0]}>")
    regions = NO_REGIONS if state is None else frozenset([state])
    if kind and kind not in IMMUTABLE:
        # An object of the library's that everyone shares.
        own_state = "<process>" if kind == "environment" else f"<{full}>"
        regions |= {context.named_region(own_state)}
        refs = (*base.refs, *(context.lookup(context.world) or base).refs)
        return context.filled(Value(tuple(dict.fromkeys(refs)), regions, kind))
    value = Value(base.refs, regions, kind, None if kind else Library(full))
    return context.filled(value) if regions else value

"""Calls of functions of the project: their bodies are read at the call (section IV-C.3, Fig. 9)."""

from __future__ import annotations

import ast
from dataclasses import replace

from lipstick.systems.scripts.graph import ScriptEdge
from lipstick.systems.scripts.model import Key, NodeKind, Role, ScriptNode
from lipstick.systems.scripts.reading.arguments import Arguments
from lipstick.systems.scripts.reading.classes import class_member, foreign_bases, methods_of
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.frames import Changes, Frame
from lipstick.systems.scripts.reading.joins import join, joined
from lipstick.systems.scripts.reading.names import assigned_names, declared_names
from lipstick.systems.scripts.reading.opaque import effects, parameters
from lipstick.systems.scripts.reading.special_names import HASHING
from lipstick.systems.scripts.reading.values import (
    NO_REGIONS,
    NOTHING,
    Class,
    Lazy,
    PyFunction,
    PyValue,
    regions_of,
)

_ABSENT = PyValue()

DEEPEST = 40
"""Calls inside of calls that are read at most."""


def invoke(
    context: Context,
    function: PyFunction,
    callee: PyValue,
    arguments: Arguments,
    receiver: PyValue | None,
) -> PyValue:
    """Add a call of a function of the project.

    Its body is read with the parameters bound, as the paper replicates it. A function that is
    running already (a recursion), one behind a decorator that may change it, and one that would
    make the graph too large are black boxes, which say so.
    """
    why = _not_read(context, function)
    if why is not None:
        functions = [function]
        if not function.plain:
            functions += [*function.decorators, *context.escaped.values()]
        if function.remembers:
            functions += [method for name in HASHING for method in context.methods.get(name, ())]
        return black_box(context, functions, callee, arguments, receiver, why)
    caller = context.process(function.name, "caller", [callee])
    connects = context.process(function.name, "connects")
    context.graph.link(ScriptEdge(caller.id, connects.id, Role.CALLS))
    if function.view in context.graph.nodes:
        context.graph.link(ScriptEdge(connects.id, function.view, Role.CALLS))
    place, before, dead = context.place, context.instance, context.dead
    context.enter(_qualified(context, function), "function")
    scope = context.fresh()
    body = function.node.body
    statements = body if isinstance(body, list) else [ast.Return(body, lineno=body.lineno)]
    names = frozenset(a.arg for a in parameters(function.node)) | assigned_names(statements)
    frame = Frame(
        (scope, *function.scopes),
        function.file,
        names - declared_names(statements),
        function,
        len(context.loops),
        len(context.path),
    )
    context.frames.append(frame)
    guards, context.guards = context.guards, []
    mark = context.state.mark()
    _bind(context, function, caller, arguments, receiver)
    frame.mark = context.state.mark()
    context.walk(context, list(statements))
    value = _leave(context, frame, scope, function)
    context.frames.pop()
    context.guards = guards
    context.place, context.instance, context.dead = place, before, dead
    if guards and (changes := context.state.changes(mark)):
        # What it changes is only changed if it is called.
        context.state.undo(mark)
        branches = [
            (context.branch(name, guards), each)
            for name, each in ((function.name, changes), ("none", {}))
        ]
        join(context, context.node(NodeKind.COMPUTING, function.name, "block"), branches)
    if function.remembers:
        value = _remember(context, function, value)
    return _returned(context, function, callee, value, frame.yields)


def _remember(context: Context, function: PyFunction, value: PyValue) -> PyValue:
    """Let a function that keeps its results depend on the calls before."""
    region = context.own_region(function)
    if region is not None:
        inputs = [value, context.filled(PyValue(regions=frozenset([region])))]
        version = context.operate(function.name, "cache", inputs)
        context.change([region], version)
        value = replace(value, refs=version.refs)
    return value


def _not_read(context: Context, function: PyFunction) -> str | None:
    if not function.plain:
        return f"{function.name} is behind a decorator that may change it"
    if function.remembers and any(name in context.methods for name in HASHING):
        return f"{function.name} compares its arguments with those of earlier calls"
    if any(f.function is not None and f.function.node is function.node for f in context.frames):
        return f"{function.name} calls itself"
    if len(context.frames) > DEEPEST or len(context.graph.nodes) > context.budget:
        return f"{function.name} is not read again: the graph would be too large"
    return None


def _qualified(context: Context, function: PyFunction) -> str:
    name = f"{function.owner}.{function.name}" if function.owner else function.name
    return name if function.file == 0 else f"{context.script.files[function.file].name}:{name}"


def _bind(
    context: Context,
    function: PyFunction,
    caller: ScriptNode,
    arguments: Arguments,
    receiver: PyValue | None,
) -> None:
    """Add a `paramIn` for every parameter, from the caller's argument to its first version."""
    args = function.node.args
    positional = [*args.posonlyargs, *args.args]
    given = [*([receiver] if receiver is not None else []), *arguments.positional]
    named = dict(arguments.named)
    bound: dict[str, PyValue] = {}
    for parameter, value in zip(positional, given, strict=False):
        bound[parameter.arg] = value
    for parameter in (*positional, *args.kwonlyargs):
        if parameter.arg in named:
            bound[parameter.arg] = named.pop(parameter.arg)
    inside = context.inside(r for item in arguments.spread for r in item.regions)
    spread = [*arguments.spread, *([PyValue(regions=inside)] if inside else [])]
    rest = [*given[len(positional) :], *spread]
    if args.vararg is not None:
        bound[args.vararg.arg] = _collected(context, rest, "tuple")
    if args.kwarg is not None:
        bound[args.kwarg.arg] = _collected(context, [*named.values(), *spread], "dict")
    defaults = PyValue(((function.view, None, None),))
    for parameter in parameters(function.node):
        value = bound.get(parameter.arg, _ABSENT)
        if value is _ABSENT:
            # Its default stands in the definition; with `*` and `**` it may be given, too.
            held = _collected(context, spread, "")
            value = PyValue((*defaults.refs, *held.refs), held.regions | function.regions)
            value = context.filled(value)
        key = (context.frame.scopes[0], parameter.arg)
        context.graph.names[key] = parameter.arg
        context.link(value, caller, Role.ACTIVITY, key)
        process = context.process("paramIn", "paramIn")
        context.graph.link(ScriptEdge(caller.id, process.id, variable=key))
        version = context.view(process, parameter.arg)
        context.write(
            key,
            value.at(version.refs),
        )


def _collected(context: Context, values: list[PyValue], kind: str) -> PyValue:
    refs = tuple(dict.fromkeys(ref for value in values for ref in value.refs))
    values = [context.as_object(value) for value in values]
    inside = regions_of(values)
    if not inside and kind != "dict":
        return PyValue(refs, kind=kind)
    region = context.region(kind or "argument")
    context.keep([region], inside)
    return PyValue(refs, frozenset([region]) | inside, kind)


def _returned(
    context: Context, function: PyFunction, callee: PyValue, value: PyValue, yields: list[PyValue]
) -> PyValue:
    """Add the `return` PE, which passes to the caller what the function returns."""
    ratio = "n:n" if yields else None
    process = context.process("return", "return", [callee, value, *yields], ratio=ratio)
    returned = context.view(process, function.name, intermediate=True)
    regions = regions_of([value, *yields])
    if yields or isinstance(function.node, ast.AsyncFunctionDef):
        region = context.region(function.name)
        context.generators[region] = function
        regions |= {region}
    if yields:
        return context.filled(PyValue(returned.refs, regions, target=Lazy(function)))
    return context.filled(
        PyValue(returned.refs, regions, value.kind, value.target, value.cls, value.const)
    )


def _leave(context: Context, frame: Frame, scope: int, function: PyFunction) -> PyValue:
    """Join what all `return`s leave."""
    conditions = list(context.path[frame.path_base :])
    mark = frame.mark
    if not context.dead:
        frame.exits.append((NOTHING, conditions, context.state.changes(mark)))
    del context.path[frame.path_base :]
    context.dead = False
    context.state.undo(mark)
    nested = _defines(context, function)
    if not nested:
        context.closed_scopes.add(scope)
    exits = [(value, path, _kept(context, changes)) for value, path, changes in frame.exits]
    if not exits:
        # It always raises, or is not read to an end.
        return PyValue()
    if len(exits) == 1:
        value, _, changes = exits[0]
        for key, held in changes.items():
            context.write(key, held)
    else:
        value = _joined(context, exits)
    return value


def _defines(context: Context, function: PyFunction) -> bool:
    """Return True if a function defines others, which may outlive its variables."""
    known = context.defining.get(id(function.node))
    if known is None:
        inner = (node for node in ast.walk(function.node) if node is not function.node)
        definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
        known = any(isinstance(node, definitions) for node in inner)
        context.defining[id(function.node)] = known
    return known


def _kept(context: Context, changes: Changes) -> Changes:
    """Return the changes without the variables that are gone."""
    return {
        key: value
        for key, value in changes.items()
        if not (isinstance(key, tuple) and key[0] in context.closed_scopes)
    }


def _joined(context: Context, exits: list[tuple[PyValue, list[PyValue], Changes]]) -> PyValue:
    branches: list[tuple[ScriptNode, Changes]] = []
    # What is returned later is returned since earlier `return`s were not reached.
    for _, path, changes in exits:
        branches.append((context.branch("return", path), changes))
    block = context.node(NodeKind.COMPUTING, "return", "block")
    join(context, block, branches)
    key: Key = ("return", block.id)
    context.graph.names[key] = "return"
    candidates = [(node, value) for (node, _), (value, _, _) in zip(branches, exits, strict=True)]
    return joined(context, block, key, list(candidates))


def black_box(
    context: Context,
    functions: list[PyFunction],
    callee: PyValue,
    arguments: Arguments,
    receiver: PyValue | None,
    why: str,
) -> PyValue:
    """Add a call whose functions are not read: it depends on all that they may read."""
    context.not_followed(why)
    ran = effects(context, functions)
    given = [value for value in (receiver, *arguments.all()) if value is not None]
    given = [context.filled(value) for value in given]
    inputs = [callee, *given, *context.guards, *ran.inputs]
    inputs = [context.assume(value, why) for value in inputs]
    process = context.process(functions[0].name, "call", inputs, unknown=why, lines=ran.lines)
    view = context.view(process, functions[0].name, intermediate=True)
    shared = regions_of([*given, *ran.inputs])
    reached = context.reach(r for value in given for r in value.regions)
    read = context.changed_by_reading(reached)
    changed = set(reached if ran.changes_arguments else read) | ran.changed
    if changed:
        version = context.view(process, functions[0].name, intermediate=True)
        context.change(changed, version)
        context.connect(changed)
    for key in ran.assigned:
        held = context.lookup(key)
        version = context.view(process, context.graph.names.get(key, functions[0].name))
        refs = (*version.refs, *(held.refs if held else ()))
        regions = (held.regions if held else NO_REGIONS) | shared
        context.write(key, PyValue(tuple(dict.fromkeys(refs)), regions))
    context.leave_open(why, (r for value in given for r in value.regions))
    region = context.region(functions[0].name)
    return PyValue(view.refs, frozenset([region]) | shared)


def instantiate(context: Context, cls: Class, callee: PyValue, arguments: Arguments) -> PyValue:
    """Add the making of an object of a class of the project."""
    given = arguments.all()
    if not cls.plain:
        why = f"{cls.name} is behind a decorator or metaclass that may change it"
        return (
            black_box(context, methods_of(context, cls) or [], callee, arguments, None, why)
            if (methods_of(context, cls))
            else _object(context, cls, callee, given)
        )
    instance = _object(context, cls, callee, given)
    if foreign_bases(cls):
        why = f"{cls.name} is derived from what nothing is known of"
        context.leave_open(why, instance.regions)
        instance = context.assume(context.filled(instance), why)
    for name in ("__init__", "__post_init__"):
        member = class_member(context, cls, name)
        if member is not None and isinstance(member.target, PyFunction):
            invoke(context, member.target, member, arguments, instance)
            return context.filled(instance)
    return instance


def _object(context: Context, cls: Class, callee: PyValue, given: list[PyValue]) -> PyValue:
    process = context.process(cls.name, "instance", [callee, *given])
    version = context.view(process, cls.name, intermediate=True)
    region = context.region(cls.name)
    context.made[region] = cls
    context.keep([region], regions_of(given))
    return PyValue(version.refs, frozenset([region]), cls=cls)

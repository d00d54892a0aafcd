"""Functions that are not read at a call: the most that their bodies may read and change."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from lipstick.scripts.facts import Fact
from lipstick.scripts.model import Key, Place
from lipstick.scripts.reading.context import Context
from lipstick.scripts.reading.names import assigned_names, declared_names
from lipstick.scripts.reading.values import Bound, Class, Function, Library, Value


@dataclass(frozen=True, slots=True)
class Body:
    """What the text of a function has, whatever the state it is called in.

    Attributes
    ----------
    free, stored
        Names that are not its own, and those of them that it assigns.
    stores
        Whether it stores into objects.
    calls
        All calls in it.
    """

    free: tuple[str, ...]
    stored: frozenset[str]
    stores: bool
    calls: tuple[ast.Call, ...]
    place: Place | None


@dataclass(slots=True)
class Effects:
    """What running some functions may do.

    Attributes
    ----------
    inputs
        What they may read: variables around them, and their objects, hidden state.
    changed
        Regions that they may change.
    assigned
        Variables around them that they may assign.
    changes_arguments
        Whether they may change what they are called with.
    lines
        Where their bodies stand.
    """

    inputs: list[Value] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)
    assigned: dict[Key, None] = field(default_factory=dict)
    changes_arguments: bool = False
    lines: tuple[Place, ...] = ()


def effects(context: Context, functions: Iterable[Function]) -> Effects:
    """What running some functions, and all that they may call, may do; nothing is missed."""
    found = Effects()
    waiting = list(functions)
    seen: set[int] = set()
    lines: dict[Place, None] = {}
    while waiting:
        function = waiting.pop()
        if id(function.node) in seen:
            continue
        seen.add(id(function.node))
        body = _body(context, function)
        if body.place is not None:
            lines[body.place] = None
        _variables(context, function, body, found, waiting)
        _calls(context, function, body, found, waiting)
    found.lines = tuple(lines)
    return found


def reads_of(context: Context, functions: list[Function]) -> list[Value]:
    """What running some functions may read."""
    return effects(context, functions).inputs


def _body(context: Context, function: Function) -> Body:
    known: Body | None = context.bodies.get(id(function.node))
    if known is not None:
        return known
    node = function.node
    place = None
    own = frozenset(argument.arg for argument in parameters(node))
    parts: list[ast.AST]
    if isinstance(node, ast.Lambda):
        parts = [node.body]
    else:
        parts = list(node.body)
        own = (own | assigned_names(parts)) - declared_names(parts)
        place = Place(function.file, node.lineno, node.end_lineno or node.lineno)
    free: dict[str, None] = {}
    stored: set[str] = set()
    stores = False
    calls = []
    for inner in (inner for part in parts for inner in ast.walk(part)):
        match inner:
            case ast.Name(id=name, ctx=use) if name not in own:
                free[name] = None
                if not isinstance(use, ast.Load):
                    stored.add(name)
            case ast.Subscript(ctx=use) | ast.Attribute(ctx=use):
                stores |= not isinstance(use, ast.Load)
            case ast.AugAssign():
                stores = True
            case ast.Call():
                calls.append(inner)
            case _:
                pass
    made = Body(tuple(free), frozenset(stored), stores, tuple(calls), place)
    context.bodies[id(node)] = made
    return made


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    """All parameters of a function, those that take the rest last."""
    args = node.args
    more = [argument for argument in (args.vararg, args.kwarg) if argument is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *more]


def _variables(
    context: Context,
    function: Function,
    body: Body,
    found: Effects,
    waiting: list[Function],
) -> None:
    changing = body.stores or _calls_that_change(context, function, body)
    found.changes_arguments |= changing
    for name in body.free:
        key = next(((s, name) for s in function.scopes if context.state.get((s, name))), None)
        if key is None:
            continue
        value = context.filled(context.lookup(key) or Value())
        found.inputs.append(value)
        match value.target:
            case Function() as inner:
                waiting.append(inner)
            case Bound(function=Function() as inner):
                waiting.append(inner)
            case Class() as cls:
                waiting.extend(methods_of(context, cls))
            case Library():
                continue
            case _:
                pass
        if changing:
            found.changed.update(context.reach(value.regions))
        if name in body.stored:
            found.assigned[key] = None


def methods_of(context: Context, cls: Class) -> list[Function]:
    """The methods of a class of the project."""
    found = []
    for item in cls.node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            found += [f for f in context.methods.get(item.name, []) if f.node is item]
    return found


def _calls_that_change(context: Context, function: Function, body: Body) -> bool:
    for node in body.calls:
        if not _is_own(context, function, node):
            fact = _fact(context, node)
            if fact is None or fact.mutates or fact.inplace:
                return True
    return False


def _is_own(context: Context, function: Function, node: ast.Call) -> bool:
    """Whether a call is of a function of the project, whose own body tells what it changes."""
    if not isinstance(node.func, ast.Name):
        return False
    for scope in function.scopes:
        held = context.state.get((scope, node.func.id))
        if held is not None:
            return isinstance(held.target, Function | Class)
    return False


def _fact(context: Context, node: ast.Call) -> Fact | None:
    match node.func:
        case ast.Name(id=name):
            return context.facts.facts.get(name)
        case ast.Attribute(attr=name):
            return context.facts.by_name(name) or _of_library(context, node.func)
        case _:
            return None


def _of_library(context: Context, node: ast.Attribute) -> Fact | None:
    """The fact about a function of a library by the names that its modules are imported by."""
    parts: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        parts.insert(0, inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        return None
    for scope in context.frame.scopes:
        held = context.state.get((scope, inner.id))
        if held is not None and isinstance(held.target, Library):
            return context.facts.facts.get(".".join([held.target.name, *parts]))
    return None


def _calls(
    context: Context, function: Function, body: Body, found: Effects, waiting: list[Function]
) -> None:
    for node in body.calls:
        if isinstance(node.func, ast.Attribute):
            waiting.extend(context.methods.get(node.func.attr, []))
        fact = _fact(context, node)
        if fact is None:
            if not _is_own(context, function, node):
                waiting.extend(context.escaped.values())
            continue
        names = [*fact.state, *fact.observes]
        if fact.reads is not None or fact.writes is not None or fact.opens is not None:
            names += [*(name for name in context.named if name[:1] != "<"), "?"]
        for name in names:
            region = context.named_region(name)
            found.inputs.append(context.filled(Value(regions=frozenset([region]))))
            if name in fact.state or fact.writes is not None or fact.opens is not None:
                found.changed.add(region)

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

_CHANGING = (ast.Subscript, ast.Attribute)


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
    if not waiting:
        return found
    seen: set[int] = set()
    lines: dict[Place, None] = {}
    while waiting:
        function = waiting.pop()
        if id(function.node) in seen:
            continue
        seen.add(id(function.node))
        node = function.node
        if isinstance(node, ast.Lambda):
            body: list[ast.AST] = [node.body]
            names = frozenset(argument.arg for argument in _parameters(node))
        else:
            body = list(node.body)
            lines[Place(function.file, node.lineno, node.end_lineno or node.lineno)] = None
            own = frozenset(argument.arg for argument in _parameters(node))
            names = (own | assigned_names(body)) - declared_names(body)
        _variables(context, function, body, names, found, waiting)
        _calls(context, function, body, found, waiting)
    found.lines = tuple(lines)
    return found


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    args = node.args
    more = [argument for argument in (args.vararg, args.kwarg) if argument is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *more]


def _variables(
    context: Context,
    function: Function,
    body: list[ast.AST],
    own: frozenset[str],
    found: Effects,
    waiting: list[Function],
) -> None:
    changing = _stores(body) or _calls_that_change(context, function, body)
    found.changes_arguments |= changing
    free, stored = _free(body, own)
    for name in free:
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
        if name in stored:
            found.assigned[key] = None


def _stores(body: list[ast.AST]) -> bool:
    """Whether a body changes some object in place by storing into it."""
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, _CHANGING) and isinstance(node.ctx, ast.Store | ast.Del):
                return True
            if isinstance(node, ast.AugAssign):
                return True
    return False


def _free(body: list[ast.AST], own: frozenset[str]) -> tuple[dict[str, None], set[str]]:
    """The names of a body that are not its own, and those of them that it assigns."""
    free: dict[str, None] = {}
    stored: set[str] = set()
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and node.id not in own:
                free[node.id] = None
                if not isinstance(node.ctx, ast.Load):
                    stored.add(node.id)
    return free, stored


def methods_of(context: Context, cls: Class) -> list[Function]:
    """The methods of a class of the project."""
    found = []
    for item in cls.node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            found += [f for f in context.methods.get(item.name, []) if f.node is item]
    return found


def _calls_that_change(context: Context, function: Function, body: list[ast.AST]) -> bool:
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Call) and not _is_own(context, function, node):
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
    context: Context,
    function: Function,
    body: list[ast.AST],
    found: Effects,
    waiting: list[Function],
) -> None:
    for part in body:
        for node in ast.walk(part):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Attribute):
                waiting.extend(context.methods.get(node.func.attr, []))
            fact = _fact(context, node)
            if fact is None and _is_own(context, function, node):
                continue
            if fact is None:
                waiting.extend(context.escaped.values())
                continue
            names = [*fact.state, *fact.observes]
            files = [n for n in context.named if n[:1] != "<"]
            if fact.reads is not None or fact.writes is not None or fact.opens is not None:
                names += [*files, "?"]
            for name in names:
                region = context.named_region(name)
                found.inputs.append(context.filled(Value(regions=frozenset([region]))))
                if name in fact.state or fact.writes is not None or fact.opens is not None:
                    found.changed.add(region)

"""Functions that are not read at a call: the most that their bodies may read and change."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from lipstick.systems.scripts.facts import Fact
from lipstick.systems.scripts.model import Key, Place, ScriptNode
from lipstick.systems.scripts.reading.classes import methods_of
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.names import assigned_names, declared_names
from lipstick.systems.scripts.reading.special_names import called_names, special_names
from lipstick.systems.scripts.reading.values import (
    ITERATORS,
    NO_REGIONS,
    BoundMethod,
    Class,
    Lazy,
    Library,
    PyFunction,
    PyValue,
)


@dataclass(frozen=True, slots=True)
class Body:
    """The contents of the text of a function, in whatever state it is called.

    Attributes
    ----------
    free, stored
        Names that are not its own, and the ones among them that it assigns.
    stores
        Whether it stores into objects.
    calls
        All calls in it.
    special
        The special methods that its operators and statements may call.
    """

    free: tuple[str, ...]
    stored: frozenset[str]
    stores: bool
    calls: tuple[ast.Call, ...]
    special: tuple[str, ...]
    place: Place | None


@dataclass(slots=True)
class Effects:
    """The possible effects of running some functions.

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

    inputs: list[PyValue] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)
    assigned: dict[Key, None] = field(default_factory=dict)
    changes_arguments: bool = False
    lines: tuple[Place, ...] = ()


@dataclass(slots=True)
class _Seen:
    """The functions, files and hidden state in bodies, gathered to be looked up once.

    Attributes
    ----------
    calls_any
        Whether something is called that nothing is known of, and so perhaps what has escaped.
    read, changed
        Files and hidden state by name.
    """

    functions: set[int] = field(default_factory=set)
    calls_any: bool = False
    read: dict[str, None] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)


def effects(context: Context, functions: Iterable[PyFunction]) -> Effects:
    """Return all possible effects of running some functions and all that they may call."""
    ran = Effects()
    waiting = list(functions)
    if not waiting:
        return ran
    seen = _Seen()
    lines: dict[Place, None] = {}
    while waiting:
        function = waiting.pop()
        if id(function.node) in seen.functions:
            continue
        seen.functions.add(id(function.node))
        body = _body(context, function)
        if body.place is not None:
            lines[body.place] = None
        _variables(context, function, body, ran, waiting)
        _calls(context, function, body, seen, waiting)
        if seen.calls_any and not waiting:
            waiting.extend(context.escaped.values())
            waiting = [each for each in waiting if id(each.node) not in seen.functions]
    ran.lines = tuple(lines)
    if seen.calls_any:
        add_owners(context, ran)
    if seen.read:
        regions = frozenset(context.named_region(name) for name in seen.read)
        ran.inputs.append(context.filled(PyValue(regions=regions)))
        ran.changed.update(context.named_region(name) for name in seen.changed)
    return ran


def advanced(context: Context, values: Iterable[PyValue]) -> list[PyFunction]:
    """The functions whose bodies run on where something takes the next of some values."""
    functions: dict[int, PyFunction] = {}
    for value in values:
        if isinstance(value.target, Lazy):
            functions[id(value.target.function.node)] = value.target.function
        if context.generators and value.regions:
            for region in context.reach(value.regions):
                function = context.generators.get(region)
                if function is not None:
                    functions[id(function.node)] = function
    return list(functions.values())


def is_used_up(context: Context, value: PyValue) -> bool:
    """Return True if going over a value changes it: a generator, an iterator, an open file."""
    if not value.regions:
        return False
    known = value.kind in ITERATORS or isinstance(value.target, Lazy)
    iterators = context.used_up | context.generators.keys()
    return known or not iterators.isdisjoint(context.alike(value.regions))


def advance(context: Context, value: PyValue, name: str) -> PyValue:
    """Let a generator or coroutine run on, with all that its body may read and change."""
    functions = advanced(context, [value])
    return run_over(context, value, functions, name, frozenset(value.regions))


def run_over(
    context: Context,
    value: PyValue,
    functions: list[PyFunction],
    name: str,
    changed: frozenset[int] = NO_REGIONS,
) -> PyValue:
    """Return a value with what functions give that are run to use it; some objects are changed."""
    if not functions:
        return value
    ran = effects(context, functions)
    inputs = [context.filled(value), *ran.inputs, *context.guards]
    process = context.process(name, "advance", inputs, lines=ran.lines)
    version = context.view(process, name, intermediate=True)
    read = context.changed_by_reading(value.regions) | changed
    context.change(context.reach(value.regions) if ran.changes_arguments else read, version)
    leave_effects(context, ran, process)
    refs = tuple(dict.fromkeys((*value.refs, *version.refs)))
    return replace(value, refs=refs)


def add_owners(context: Context, ran: Effects) -> None:
    """Add what calling any method may do that was used as a value."""
    regions = frozenset(context.escaped_owners)
    if regions:
        ran.inputs.append(context.filled(PyValue(regions=regions)))
        ran.changed.update(context.reach(regions))


def leave_effects(context: Context, ran: Effects, process: ScriptNode) -> None:
    """Add the versions that a PE makes of the objects and variables its functions may change."""
    if ran.changed:
        version = context.view(process, process.name, intermediate=True)
        context.change(ran.changed, version)
    for key in ran.assigned:
        held = context.lookup(key) or PyValue()
        version = context.view(process, context.graph.names.get(key, process.name))
        refs = tuple(dict.fromkeys((*version.refs, *held.refs)))
        context.write(key, PyValue(refs, held.regions))


def reads_of(context: Context, functions: list[PyFunction]) -> list[PyValue]:
    """Return the values that some functions may read when they run."""
    return effects(context, functions).inputs


def _body(context: Context, function: PyFunction) -> Body:
    known: Body | None = context.bodies.get(id(function.node))
    if known is not None:
        return known
    node = function.node
    place = None
    own_names = frozenset(argument.arg for argument in parameters(node))
    parts: list[ast.AST]
    if isinstance(node, ast.Lambda):
        parts = [node.body]
    else:
        parts = list(node.body)
        own_names = (own_names | assigned_names(parts)) - declared_names(parts)
        place = Place(function.file, node.lineno, node.end_lineno or node.lineno)
    free: dict[str, None] = {}
    stored: set[str] = set()
    stores = False
    calls = []
    special: dict[str, None] = {}
    for inner in (inner for part in parts for inner in ast.walk(part)):
        match inner:
            case ast.Name(id=name, ctx=use) if name not in own_names:
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
        special.update(dict.fromkeys(special_names(inner)))
    body = Body(tuple(free), frozenset(stored), stores, tuple(calls), tuple(special), place)
    context.bodies[id(node)] = body
    return body


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    """Return all parameters of a function; the ones that take the rest come last."""
    args = node.args
    more = [argument for argument in (args.vararg, args.kwarg) if argument is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *more]


def _variables(
    context: Context,
    function: PyFunction,
    body: Body,
    ran: Effects,
    waiting: list[PyFunction],
) -> None:
    changing = body.stores or _calls_that_change(context, function, body)
    ran.changes_arguments |= changing
    for name in body.free:
        key = next(((s, name) for s in function.scopes if context.state.get((s, name))), None)
        if key is None:
            continue
        value = context.lookup(key) or PyValue()
        # What a generator reads is added with its body, once, also if it goes over itself.
        ran.inputs.append(context.filled(PyValue(value.refs, value.regions)))
        match value.target:
            case Lazy(function=inner):
                waiting.append(inner)
            case PyFunction() as inner:
                waiting.append(inner)
            case BoundMethod(function=PyFunction() as inner):
                waiting.append(inner)
            case Class() as cls:
                waiting.extend(methods_of(context, cls))
                _class_variables(context, cls, ran, changing)
            case Library():
                continue
            case _:
                pass
        read = context.changed_by_reading(value.regions)
        ran.changed.update(context.reach(value.regions) if changing else read)
        if name in body.stored:
            ran.assigned[key] = None


def _class_variables(context: Context, cls: Class, ran: Effects, changing: bool) -> None:
    """Add the variables of a class, which who has the class reads, and may assign."""
    for name in assigned_names(cls.node.body):
        key = (cls.scope, name)
        held = context.lookup(key) if context.state.get(key) else None
        if held is None or isinstance(held.target, PyFunction | Class):
            continue
        ran.inputs.append(context.filled(held))
        if changing:
            ran.assigned[key] = None
            ran.changed.update(context.reach(held.regions))


def _calls_that_change(context: Context, function: PyFunction, body: Body) -> bool:
    for node in body.calls:
        if not _is_own(context, function, body, node):
            fact = _fact(context, node)
            if fact is None or fact.mutates or fact.changes_given(node):
                return True
    return False


def _is_own(context: Context, function: PyFunction, body: Body, node: ast.Call) -> bool:
    """Return True for a call of a function or class of the project: its body shows the effects."""
    if not isinstance(node.func, ast.Name) or node.func.id not in body.free:
        return False
    for scope in function.scopes:
        held = context.state.get((scope, node.func.id))
        if held is not None:
            return isinstance(held.target, PyFunction | Class)
    return False


def _fact(context: Context, node: ast.Call) -> Fact | None:
    match node.func:
        case ast.Name(id=name):
            return context.facts.facts.get(name)
        case ast.Attribute(attr=name):
            full = _library_name(context, node.func)
            return context.facts.by_name(name) if full is None else context.facts.facts.get(full)
        case _:
            return None


def _library_name(context: Context, node: ast.Attribute) -> str | None:
    """Return the whole name of a function of a library, by the names of imported modules."""
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
            return ".".join([held.target.name, *parts])
    return None


def _calls(
    context: Context, function: PyFunction, body: Body, seen: _Seen, waiting: list[PyFunction]
) -> None:
    for name in body.special:
        waiting.extend(context.methods.get(name, ()))
    for node in body.calls:
        if isinstance(node.func, ast.Attribute):
            waiting.extend(context.methods.get(node.func.attr, []))
        if _is_own(context, function, body, node):
            continue
        fact = _fact(context, node)
        for name in called_names("" if fact is None else fact.name):
            waiting.extend(context.methods.get(name, ()))
        if fact is None:
            seen.calls_any = True
            continue
        seen.read.update(dict.fromkeys((*fact.state, *fact.observes)))
        seen.changed.update(fact.state)
        if fact.reads is not None or fact.writes is not None or fact.opens is not None:
            names = [*context.file_names, "?"]
            seen.read.update(dict.fromkeys(names))
            if fact.writes is not None or fact.opens is not None:
                seen.changed.update(names)

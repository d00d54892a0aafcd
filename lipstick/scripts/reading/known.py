"""Calls by facts: files, hidden state, what is changed in place, and what the result may be."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lipstick.scripts.facts import Fact, Parameter
from lipstick.scripts.model import Node, NodeKind, Window
from lipstick.scripts.reading.assign import changed, root
from lipstick.scripts.reading.attributes import class_member
from lipstick.scripts.reading.context import Context
from lipstick.scripts.reading.opaque import Effects, effects
from lipstick.scripts.reading.values import (
    COPIED,
    IMMUTABLE,
    MISSING,
    NO_REGIONS,
    Bound,
    Function,
    Value,
)

if TYPE_CHECKING:
    from lipstick.scripts.reading.calls import Arguments

_CONTAINERS = ("list", "dict", "tuple", "set")

ANY_FILE = "?"
"""The file or table whose name is computed."""


def apply(
    context: Context,
    node: ast.Call,
    fact: Fact,
    callee: Value,
    arguments: Arguments,
    owner: Value | None,
    candidates: list[Function] | None = None,
    why: str | None = None,
) -> Value:
    """Add a call of which facts tell what it does.

    Parameters
    ----------
    owner
        What a method is called on.
    candidates
        Functions of the project that the call may run.
    why
        Why the fact is assumed to be about this call.
    """
    given = arguments.all()
    functions = [f for value in given if (f := _called(context, value)) is not None]
    called = [*functions, *(candidates or [])]
    if fact.unknown is not None:
        for value in given:
            context.escape(value)
    ran = effects(context, called)
    inputs = [callee, *given, *context.guards, *ran.inputs]
    if owner is not None:
        inputs.insert(0, owner)
    inputs = [context.filled(value) for value in inputs]
    states = [context.named_region(name) for name in (*fact.state, *fact.observes)]
    if fact.unknown is not None and "." in fact.name and owner is None:
        # What a library keeps to itself nobody has told.
        states.append(context.named_region(f"<{fact.name.split('.')[0]}>"))
    read = _read_files(context, fact, arguments, owner)
    inputs += [context.filled(Value(regions=frozenset([r]))) for r in (*states, *read.regions)]
    assumed = fact.unknown or why
    if assumed is not None:
        inputs = [context.assume(value, assumed) for value in inputs]
    process = context.process(
        fact.name.rpartition(".")[2],
        "call",
        inputs,
        NodeKind.SOURCE if fact.reads is not None or fact.opens is not None else NodeKind.COMPUTING,
        ratio=fact.ratio,
        window=Window(fact.window or 1),
        unknown=fact.unknown,
        lines=ran.lines,
        reads=read.names,
    )
    if fact.unknown is not None:
        context.not_followed(fact.unknown)
    return _result(context, node, fact, arguments, owner, process, ran, read)


def _called(context: Context, value: Value) -> Function | None:
    """The function that calling an argument runs, where that is plain."""
    match value.target:
        case Function() as function:
            return function
        case Bound(function=Function() as function):
            return function
        case _:
            pass
    member = None if value.cls is None else class_member(context, value.cls, "__call__")
    return member.target if member and isinstance(member.target, Function) else None


class _Files:
    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.regions: tuple[int, ...] = ()


def _read_files(context: Context, fact: Fact, arguments: Arguments, owner: Value | None) -> _Files:
    found = _Files()
    if fact.reads is not None:
        found.names, found.regions = files(context, fact.reads, arguments, owner)
    if fact.opens is not None and mode_of(fact, arguments)[0] in "ra+":
        found.names, found.regions = files(context, fact.opens, arguments, owner)
    if found.names and found.names[0] != ANY_FILE:
        written = context.lookup(found.regions[0])
        if written is not None and written.refs and all(key is None for _, key, _ in written.refs):
            # What the script itself has written, whatever way it came here, is no input of it.
            found.names = ()
    return found


def _result(
    context: Context,
    node: ast.Call,
    fact: Fact,
    arguments: Arguments,
    owner: Value | None,
    process: Node,
    ran: Effects,
    read: _Files,
) -> Value:
    given = arguments.all()
    everything = [value for value in (owner, *given) if value is not None]
    written: tuple[int, ...] = ()
    if fact.writes is not None:
        process.writes, written = files(context, fact.writes, arguments, owner)
    elif fact.opens is not None and mode_of(fact, arguments)[0] in "wax":
        process.writes, written = files(context, fact.opens, arguments, owner)
    reads_only = fact.opens is not None and not process.writes
    regions = NO_REGIONS
    if fact.opens is not None:
        regions = frozenset(read.regions or written)
        if reads_only:
            # Reading moves the place in the file that is open, and nothing in the file.
            handle = context.region("file")
            regions = frozenset([handle])
    _write(context, fact, process, written)
    _change_states(context, fact, process)
    _change_objects(context, node, fact, arguments, owner, process)
    if ran.changes_arguments or fact.unknown is not None:
        reached = context.reach(r for value in everything for r in value.regions)
        if reached:
            version = context.view(process, _name_of(context, node, process))
            context.change(reached, version)
            if fact.unknown is not None:
                context.keep(reached, reached)
    if ran.changed:
        version = context.view(process, process.name, intermediate=True)
        context.change(ran.changed, version)
    for key in ran.assigned:
        held = context.lookup(key)
        version = context.view(process, context.graph.names.get(key, process.name))
        refs = (*version.refs, *(held.refs if held else ()))
        context.write(key, Value(tuple(dict.fromkeys(refs)), held.regions if held else NO_REGIONS))
    if fact.returns == "none" and not fact.unknown:
        if not context.graph.outgoing[process.id]:
            context.view(process, process.name, intermediate=True)
        return Value(((process.id, None, None),), kind="none")
    made = context.view(
        process, process.name, intermediate=True, persistent=process.kind is NodeKind.SOURCE
    )
    kind = fact.returns
    if not regions and kind not in IMMUTABLE:
        regions = _regions(context, fact, everything, process)
    return Value(made.refs, regions, kind, const=_const(fact, arguments))


def _regions(
    context: Context, fact: Fact, everything: list[Value], process: Node
) -> frozenset[int]:
    shared = (
        frozenset().union(*(value.regions for value in everything)) if everything else NO_REGIONS
    )
    region = context.region(process.name)
    if fact.unknown is not None:
        return frozenset([region]) | shared
    if fact.shares:
        context.keep([region], shared | context.inside(shared))
        # What wraps its arguments, such as a writer of a file, changes them when it is changed.
        if fact.returns not in _CONTAINERS or fact.mutates:
            return frozenset([region]) | shared | context.inside(shared)
    return frozenset([region])


def _write(context: Context, fact: Fact, process: Node, written: tuple[int, ...]) -> None:
    known = [r for r in written if not context.graph.names[r].startswith("<")]
    if not known:
        return
    for region in known:
        name = context.graph.names[region]
        if (fact.appends or fact.opens is not None or name == ANY_FILE) and context.state.get(
            region
        ):
            before = context.filled(Value(regions=frozenset([region])))
            if (
                fact.appends
                or name == ANY_FILE
                or (process.kind is NodeKind.SOURCE and process.reads)
            ):
                context.link(before, process)
        version = context.view(process, name, persistent=True)
        context.change([region], version)


def _change_states(context: Context, fact: Fact, process: Node) -> None:
    names = list(fact.state)
    if fact.unknown is not None and "." in fact.name:
        names.append(f"<{fact.name.split('.')[0]}>")
    for name in names:
        version = context.view(process, name, persistent=name in ("<stdout>", "<stdin>"))
        context.change([context.named_region(name)], version)


def _change_objects(
    context: Context,
    node: ast.Call,
    fact: Fact,
    arguments: Arguments,
    owner: Value | None,
    process: Node,
) -> None:
    mutates = list(fact.mutates) if fact.unknown is None else []
    inplace = arguments.named.get("inplace")
    if fact.inplace and inplace is not None and inplace.const is not False:
        mutates.append(Parameter("self"))
    for parameter in mutates:
        value = argument(parameter, arguments, owner)
        text = _text(parameter, node, arguments)
        if value is None or not (value.regions or text is not None):
            continue
        if fact.stores and value.kind not in COPIED:
            others = [v for v in (*arguments.all(), *([owner] if owner else [])) if v is not value]
            kept = [region for other in others for region in other.regions]
            context.keep({s for r in value.regions for s in context.same(r)}, kept)
        if isinstance(text, ast.expr) and value.regions:
            changed(context, text, value, process)


def argument(parameter: Parameter, arguments: Arguments, owner: Value | None) -> Value | None:
    """The argument that a call gives for a parameter; None: it gives none that is plain."""
    if parameter.name == "self":
        return owner
    if parameter.name is not None and parameter.name in arguments.named:
        return arguments.named[parameter.name]
    position = parameter.position
    if position is not None and position < len(arguments.positional):
        return arguments.positional[position]
    return None


def _text(parameter: Parameter, node: ast.Call, arguments: Arguments) -> ast.expr | None:
    if parameter.name == "self":
        return node.func.value if isinstance(node.func, ast.Attribute) else node.func
    if parameter.name is not None and parameter.name in arguments.named_texts:
        return arguments.named_texts[parameter.name]
    position = parameter.position
    if position is not None and position < len(arguments.texts):
        return arguments.texts[position]
    return None


def files(
    context: Context, parameter: Parameter, arguments: Arguments, owner: Value | None
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The files or tables that a parameter names, and their regions."""
    if parameter.fixed is not None:
        name = parameter.fixed
    else:
        value = argument(parameter, arguments, owner)
        if value is None and not arguments.spread:
            return (), ()
        if value is not None and value.kind in ("file", "excelwriter", "connection", "none"):
            # It is open already: what is in it is its own object.
            return (), tuple(sorted(value.regions))
        name = value.const if value is not None and isinstance(value.const, str) else ANY_FILE
    region = context.named_region(name)
    others = [ANY_FILE] if name != ANY_FILE else [n for n in context.named if n[:1] != "<"]
    may_be = [context.named[other] for other in others if other in context.named]
    return (name,), tuple(dict.fromkeys([region, *may_be]))


def mode_of(fact: Fact, arguments: Arguments) -> str:
    """How a file is opened: ``r``, ``w``, ``a``, ``x``; ``a`` where the text does not say."""
    if isinstance(fact.mode, str):
        return fact.mode
    if fact.mode is None:
        return "r"
    value = argument(fact.mode, arguments, None)
    if value is None:
        return "a" if arguments.spread else "r"
    return value.const if isinstance(value.const, str) and value.const else "a"


def _const(fact: Fact, arguments: Arguments) -> object:
    """The path that a call makes of the texts it is given."""
    if fact.name in ("pathlib.Path", "os.path.join", "str", "pathlib.PurePath"):
        texts = [value.const for value in arguments.positional]
        if texts and not arguments.spread and all(isinstance(text, str) for text in texts):
            return "/".join(str(text).rstrip("/") for text in texts)
    return MISSING


def _name_of(context: Context, node: ast.Call, process: Node) -> str:
    return root(node.func) or process.name

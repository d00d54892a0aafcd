"""Calls by facts: files, hidden state, what is changed in place, and what the result may be."""

from __future__ import annotations

import ast

from lipstick.systems.scripts.facts import PLAIN, Fact, Parameter
from lipstick.systems.scripts.model import NodeKind, ScriptNode, Window
from lipstick.systems.scripts.reading.arguments import Arguments, argument, argument_text
from lipstick.systems.scripts.reading.assign import changed, root
from lipstick.systems.scripts.reading.classes import class_member, methods_of
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.named_files import (
    ANY_FILE,
    FilesRead,
    close_unnamed,
    files,
    files_read,
    leave_file_open,
    mode_of,
)
from lipstick.systems.scripts.reading.opaque import (
    Effects,
    add_owners,
    advanced,
    effects,
    is_used_up,
    leave_effects,
)
from lipstick.systems.scripts.reading.special import called_by
from lipstick.systems.scripts.reading.values import (
    COPIED,
    IMMUTABLE,
    ITERATORS,
    MISSING,
    NO_REGIONS,
    PLAIN_KINDS,
    BoundMethod,
    PyFunction,
    PyValue,
)

_CONTAINERS = ("list", "dict", "tuple", "set")


def apply(
    context: Context,
    node: ast.Call,
    fact: Fact,
    callee: PyValue,
    arguments: Arguments,
    owner: PyValue | None,
    candidates: list[PyFunction] | None = None,
    why: str | None = None,
) -> PyValue:
    """Add a call whose behaviour a fact describes.

    Parameters
    ----------
    owner
        What a method is called on.
    candidates
        Functions of the project that the call may run.
    why
        Why the fact is assumed to be about this call.
    """
    assumed = fact.unknown or why
    given = arguments.all()
    if fact.unknown is not None or fact.stores:
        for value in given:
            context.escape(value)
    if assumed is not None or fact.changes or fact.shares:
        arguments.replace(context.as_object)
        given = arguments.all()
    functions = [f for value in given if (f := _called(context, value)) is not None]
    held = given if owner is None else [*given, owner]
    special = called_by(context, fact.name, held, owner)
    called = [*functions, *(candidates or []), *special, *advanced(context, held)]
    ran = effects(context, called)
    if fact.unknown is not None:
        add_owners(context, ran)
    inputs = [callee, *given, *context.guards, *ran.inputs]
    if owner is not None:
        inputs.insert(0, owner)
    inputs = [context.filled(value) for value in inputs]
    states = [context.named_region(name) for name in (*fact.state, *fact.observes)]
    library = f"<{fact.name.split('.')[0]}>"
    if fact.unknown is not None and "." in fact.name and owner is None:
        # What a library keeps to itself nobody has told.
        states.append(context.named_region(library))
    elif library in context.named:
        states.append(context.named[library])
    read = files_read(context, fact, arguments, owner)
    if (states or read.regions) and fact.unknown is None:
        states.append(context.world)
    inputs += [context.filled(PyValue(regions=frozenset([r]))) for r in (*states, *read.regions)]
    inputs += read.opened
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
    result = _result(context, node, fact, arguments, owner, process, ran, read)
    if assumed is not None:
        _leave_open(context, fact, assumed, held)
    close_unnamed(context, node, arguments, owner)
    return result


def _leave_open(context: Context, fact: Fact, why: str, held: list[PyValue]) -> None:
    """Note what a call may change beside what its PE changes."""
    regions = [region for value in held for region in value.regions]
    reached = context.reach(regions)
    classes = {id(c): c for r in reached if (c := context.made.get(r)) is not None}
    methods = [m for cls in classes.values() for m in methods_of(context, cls)]
    later = effects(context, [*methods, *context.escaped.values()])
    names = [*later.assigned, *later.changed]
    if fact.unknown is not None:
        # What it is given has been changed, as far as an answer is concerned.
        regions = []
    context.leave_open(why, regions, names)


def _called(context: Context, value: PyValue) -> PyFunction | None:
    """The function that calling an argument runs, where that is plain."""
    match value.target:
        case PyFunction() as function:
            return function
        case BoundMethod(function=PyFunction() as function):
            return function
        case _:
            pass
    member = None if value.cls is None else class_member(context, value.cls, "__call__")
    return member.target if member and isinstance(member.target, PyFunction) else None


def _result(
    context: Context,
    node: ast.Call,
    fact: Fact,
    arguments: Arguments,
    owner: PyValue | None,
    process: ScriptNode,
    ran: Effects,
    read: FilesRead,
) -> PyValue:
    given = arguments.all()
    everything = [value for value in (owner, *given) if value is not None]
    written: tuple[int, ...] = ()
    if fact.writes is not None:
        process.writes, written = files(context, fact.writes, arguments, owner)
    elif fact.opens is not None and set(mode_of(fact, arguments)) & set("wax+"):
        process.writes, written = files(context, fact.opens, arguments, owner)
        leave_file_open(context, written)
    if fact.touches is not None:
        _, touched = files(context, fact.touches, arguments, owner)
        written = (*written, *touched)
    reads_only = fact.opens is not None and not process.writes
    regions = NO_REGIONS
    if fact.opens is not None:
        regions = frozenset(written or read.regions)
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
                context.connect(reached)
    used_up = [value for value in given if is_used_up(context, value)]
    if used_up and fact.returns not in ITERATORS:
        version = context.view(process, process.name, intermediate=True)
        context.change({region for value in used_up for region in value.regions}, version)
    leave_effects(context, ran, process)
    if fact.returns == "none" and not fact.unknown:
        if not context.graph.outgoing[process.id]:
            context.view(process, process.name, intermediate=True)
        return PyValue(((process.id, None, None),), kind="none")
    view = context.view(
        process, process.name, intermediate=True, persistent=process.kind is NodeKind.SOURCE
    )
    kind = fact.returns
    if not regions and kind not in IMMUTABLE:
        functions = [f for value in everything if (f := _called(context, value)) is not None]
        regions = _regions(context, fact, everything, process, functions)
    if kind == "defaultdict":
        context.inserting |= regions
    if kind == PLAIN or (kind in PLAIN_KINDS and not fact.shares and fact.unknown is None):
        context.plain |= regions
    regions |= _stored_regions(fact, arguments, owner)
    return PyValue(view.refs, regions, kind, const=_const(fact, arguments))


def _regions(
    context: Context,
    fact: Fact,
    everything: list[PyValue],
    process: ScriptNode,
    functions: list[PyFunction],
) -> frozenset[int]:
    shared = (
        frozenset().union(*(value.regions for value in everything)) if everything else NO_REGIONS
    )
    region = context.region(process.name)
    if fact.unknown is not None:
        context.holds[region] = functions
        return frozenset([region]) | shared
    if fact.shares:
        context.keep([region], shared | context.inside(shared))
        # What wraps its arguments, such as a writer of a file, changes them when it is changed.
        if fact.returns not in _CONTAINERS or fact.mutates:
            return frozenset([region]) | shared | context.inside(shared)
    return frozenset([region])


def _write(context: Context, fact: Fact, process: ScriptNode, written: tuple[int, ...]) -> None:
    known = [r for r in written if not context.graph.names[r].startswith("<")]
    # All are read before any is written: one may be another by another name.
    held = {region: context.filled(PyValue(regions=frozenset([region]))) for region in known}
    for region in known:
        name = context.graph.names[region]
        keeps = fact.appends or name == ANY_FILE
        keeps |= fact.opens is not None and bool(process.reads)
        if keeps and context.state.get(region):
            context.link(held[region], process)
    for region in known:
        version = context.view(process, context.graph.names[region], persistent=True)
        context.change([region], version)


def _change_states(context: Context, fact: Fact, process: ScriptNode) -> None:
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
    owner: PyValue | None,
    process: ScriptNode,
) -> None:
    mutates = list(fact.mutates) if fact.unknown is None else []
    inplace = arguments.named.get("inplace")
    spread = bool(arguments.spread)
    if fact.inplace and (spread or (inplace is not None and inplace.const is not False)):
        mutates.append(Parameter("self"))
    if _is_in_place(fact, arguments) and fact.copy is not None:
        mutates.append(fact.copy)
    if fact.out is not None:
        mutates.append(fact.out)
    for parameter in mutates:
        value = argument(parameter, arguments, owner)
        text = argument_text(parameter, node, arguments)
        if value is None and spread and parameter.fixed is None:
            # It is one of those that `*` and `**` give, which nobody names.
            reached = context.reach(r for v in arguments.spread for r in v.regions)
            context.change(reached, context.view(process, process.name, intermediate=True))
            continue
        if value is None or not (value.regions or text is not None):
            continue
        if fact.stores and value.kind not in COPIED:
            other_values = [
                v for v in (*arguments.all(), *([owner] if owner else [])) if v is not value
            ]
            kept = [region for other in other_values for region in other.regions]
            context.keep(context.alike(value.regions), kept)
        if isinstance(text, ast.expr) and value.regions:
            changed(context, text, value, process)


def _stored_regions(fact: Fact, arguments: Arguments, owner: PyValue | None) -> frozenset[int]:
    """Return the objects that are the result of a call whose arguments ask it to store results."""
    parameters = [fact.out] if fact.out is not None else []
    if fact.copy is not None and _is_in_place(fact, arguments):
        parameters.append(fact.copy)
    if not parameters:
        return NO_REGIONS
    targets = [argument(parameter, arguments, owner) for parameter in parameters]
    given = [*(target for target in targets if target is not None), *arguments.spread]
    return frozenset(region for value in given for region in value.regions)


def _is_in_place(fact: Fact, arguments: Arguments) -> bool:
    """Return True if a call that copies by default has, or may have, a ``copy`` other than True."""
    given = arguments.named.get("copy")
    told = given is not None and given.const is not True
    return fact.copy is not None and (told or bool(arguments.spread))


def _const(fact: Fact, arguments: Arguments) -> object:
    """The path that a call makes of the texts it is given."""
    if fact.name in ("pathlib.Path", "os.path.join", "str", "pathlib.PurePath"):
        texts = [value.const for value in arguments.positional]
        if texts and not arguments.spread and all(isinstance(text, str) for text in texts):
            return "/".join(str(text).rstrip("/") for text in texts)
    return MISSING


def _name_of(context: Context, node: ast.Call, process: ScriptNode) -> str:
    return root(node.func) or process.name

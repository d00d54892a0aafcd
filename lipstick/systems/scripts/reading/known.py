"""Calls by facts: files, hidden state, what is changed in place, and what the result may be."""

from __future__ import annotations

import ast
from dataclasses import dataclass

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
from lipstick.systems.scripts.reading.regions import Regions
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
    regions_of,
)

_CONTAINERS = ("list", "dict", "tuple", "set")


def apply(
    call: KnownCall,
    callee: PyValue,
    candidates: list[PyFunction] | None = None,
    why: str | None = None,
) -> PyValue:
    """Add a call whose behaviour a fact describes.

    Parameters
    ----------
    candidates
        Functions of the project that the call may run.
    why
        Why the fact is assumed to be about this call.
    """
    context, fact, arguments = call.context, call.fact, call.arguments
    assumed = fact.unknown or why
    if fact.unknown is not None or fact.stores:
        for value in arguments.all():
            context.escape(value)
    if assumed is not None or fact.changes or fact.shares:
        arguments.replace(context.as_object)
    ran = call.effects(candidates or [])
    inputs, read = call.inputs(callee, ran)
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
    result = call.result(process, ran, read)
    if assumed is not None:
        _leave_open(context, fact, assumed, call.held)
    close_unnamed(context, call.node, arguments, call.owner)
    return result


_OF_PLAIN = frozenset(
    {"max", "min", "sum", "list", "tuple", "set", "dict", "sorted", "frozenset", "enumerate", "zip",
     "reversed", "iter", "next", "collections.deque", "heapq.heappop"}
)  # fmt: skip
"""Functions of Python whose results are plain if what they are given is."""


@dataclass(frozen=True, slots=True)
class KnownCall:
    """A call, and the fact that describes it; the owner is what a method is called on."""

    context: Context
    node: ast.Call
    fact: Fact
    arguments: Arguments
    owner: PyValue | None

    @property
    def held(self) -> list[PyValue]:
        """The arguments, and the owner."""
        given = self.arguments.all()
        return given if self.owner is None else [*given, self.owner]

    def effects(self, candidates: list[PyFunction]) -> Effects:
        """Return the effects of the functions that the call may run."""
        context, held = self.context, self.held
        functions = [f for v in self.arguments.all() if (f := _called(context, v)) is not None]
        members, special = called_by(context, self.fact.name, held)
        called = [*functions, *candidates, *special, *advanced(context, held)]
        ran = effects(context, called)
        ran.inputs += [members] if special else []
        if self.fact.unknown is not None:
            add_owners(context, ran)
        return ran

    def inputs(self, callee: PyValue, ran: Effects) -> tuple[list[PyValue], FilesRead]:
        """Return what the result depends on, and the files that are read."""
        context, fact = self.context, self.fact
        inputs = [callee, *self.arguments.all(), *context.guards, *ran.inputs]
        if self.owner is not None:
            inputs.insert(0, self.owner)
        inputs = [context.filled(value) for value in inputs]
        states = [context.named_region(name) for name in (*fact.state, *fact.observes)]
        library = f"<{fact.name.split('.')[0]}>"
        if fact.unknown is not None and "." in fact.name and self.owner is None:
            # What a library keeps to itself nobody has told.
            states.append(context.named_region(library))
        elif library in context.named:
            states.append(context.named[library])
        read = files_read(context, fact, self.arguments, self.owner)
        if (states or read.regions) and fact.unknown is None:
            states.append(context.world)
        for region in (*states, *read.regions):
            inputs.append(context.filled(PyValue(regions=frozenset([region]))))
        return inputs + read.opened, read

    def result(self, process: ScriptNode, ran: Effects, read: FilesRead) -> PyValue:
        """Change what the call changes, and return its result."""
        context, fact = self.context, self.fact
        written = self._written(process)
        regions = NO_REGIONS
        if fact.opens is not None:
            regions = frozenset(written or read.regions)
            if not process.writes:
                # Reading moves the place in the file that is open, and nothing in the file.
                regions = frozenset([context.region("file")])
        _write(context, fact, process, written)
        _change_states(context, fact, process)
        self._change_objects(process)
        self._change_reached(process, ran)
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
            regions = self._regions(process)
        if kind == "defaultdict":
            context.inserting |= regions
        if kind in ITERATORS:
            context.used_up |= regions
        plain = fact.shares and kind in ("", "iterator", *PLAIN_KINDS) and self._is_plain()
        kind = PLAIN if plain and not kind else kind
        if (
            plain
            or kind == PLAIN
            or (kind in PLAIN_KINDS and not fact.shares and fact.unknown is None)
        ):
            context.plain |= regions
        regions |= _stored_regions(fact, self.arguments, self.owner)
        return PyValue(view.refs, regions, kind, const=_const(fact, self.arguments))

    def _is_plain(self) -> bool:
        """Return True for a method or copy of Python's containers with nothing but plain values."""
        owner = [] if self.fact.name in _OF_PLAIN else [self.owner]
        held = [*owner, *self.arguments.all()]
        regions = regions_of(value for value in held if value is not None)
        plain = all(value is not None and value.kind in PLAIN_KINDS for value in held)
        return plain and Regions.inside(self.context, regions) | regions <= self.context.plain

    def _written(self, process: ScriptNode) -> tuple[int, ...]:
        """Return the files that the call writes or touches, and note the former in its PE."""
        context, fact, arguments = self.context, self.fact, self.arguments
        written: tuple[int, ...] = ()
        if fact.writes is not None:
            process.writes, written = files(context, fact.writes, arguments, self.owner)
        elif fact.opens is not None and set(mode_of(fact, arguments)) & set("wax+"):
            process.writes, written = files(context, fact.opens, arguments, self.owner)
            leave_file_open(context, written)
        if fact.touches is not None:
            _, touched = files(context, fact.touches, arguments, self.owner)
            written = (*written, *touched)
        return written

    def _change_reached(self, process: ScriptNode, ran: Effects) -> None:
        """Change what functions reach from the arguments, and iterators that are used up."""
        context, fact = self.context, self.fact
        given = regions_of(self.held)
        reached = list(context.changed_by_reading(given)) if ran.lines else []
        if ran.changes_arguments or fact.unknown is not None:
            reached = context.reach(given)
        if reached:
            version = context.view(process, root(self.node.func) or process.name)
            context.change(reached, version)
            if fact.unknown is not None:
                context.connect(reached)
        used_up = [value for value in self.arguments.all() if is_used_up(context, value)]
        if used_up and fact.returns not in ITERATORS:
            version = context.view(process, process.name, intermediate=True)
            context.change({region for value in used_up for region in value.regions}, version)

    def _regions(self, process: ScriptNode) -> frozenset[int]:
        """Return the regions of a result that is an object of its own, or shares others."""
        context, fact = self.context, self.fact
        held = [v for v in (self.owner, *self.arguments.all()) if v is not None]
        shared = regions_of(held)
        region = context.region(process.name)
        functions = [f for value in held if (f := _called(context, value)) is not None]
        if fact.unknown is not None:
            context.holds[region] = functions
            return frozenset([region]) | shared
        if fact.returns in ITERATORS and functions:  # which run when something goes over it
            context.generators[region] = functions[0]
        if fact.shares:
            context.keep([region], shared | context.inside(shared))
            # What wraps its arguments, such as a writer of a file, changes them when it is changed.
            if fact.returns not in _CONTAINERS or fact.mutates:
                return frozenset([region]) | shared | context.inside(shared)
        return frozenset([region])

    def _change_objects(self, process: ScriptNode) -> None:
        """Change the arguments that the fact lists as changed in place."""
        context, node, fact = self.context, self.node, self.fact
        arguments, owner = self.arguments, self.owner
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

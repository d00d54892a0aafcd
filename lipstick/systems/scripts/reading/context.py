"""The context of reading a script: the graph, the state, and the place in the text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from lipstick.systems.scripts.facts import Catalogue
from lipstick.systems.scripts.graph import ScriptEdge, ScriptGraph
from lipstick.systems.scripts.model import DOUBT, Instance, Key, NodeKind, Place, Role, ScriptNode
from lipstick.systems.scripts.reading.frames import Frame, LoopFrame
from lipstick.systems.scripts.reading.regions import Regions
from lipstick.systems.scripts.reading.values import (
    NO_REGIONS,
    BoundMethod,
    Class,
    Lazy,
    PyFunction,
    PyValue,
    Reference,
)
from lipstick.systems.scripts.script_text import Script


@dataclass(slots=True)
class VariableState:
    """The current version of every variable, ``(scope, name)``, and region, a number.

    Branches are read one after the other from the same state: changes are logged, and taken back
    before the next branch. A branch costs what it changes, whatever else there is.
    """

    current: dict[Key, PyValue] = field(default_factory=dict)
    log: list[tuple[Key, PyValue | None]] = field(default_factory=list)

    def get(self, key: Key) -> PyValue | None:
        """Return the value of a key, if it has one."""
        return self.current.get(key)

    def write(self, key: Key, value: PyValue) -> None:
        """Let a key hold a value from here on."""
        self.log.append((key, self.current.get(key)))
        self.current[key] = value

    def mark(self) -> int:
        """This point, for `changes`, `versions` and `undo`."""
        return len(self.log)

    def changes(self, mark: int) -> dict[Key, PyValue]:
        """Return the values of the keys written since a point, in the order of writing."""
        keys = dict.fromkeys(key for key, _ in self.log[mark:])
        return {key: self.current[key] for key in keys if key in self.current}

    def versions(self, mark: int) -> dict[Key, list[PyValue]]:
        """All that the keys written since a point held then or since, each once."""
        versions: dict[Key, dict[int, PyValue]] = {}
        for key, before in self.log[mark:]:
            known = versions.setdefault(key, {})
            if before is not None:
                known[id(before)] = before
        for key, known in versions.items():
            if key in self.current:
                known[id(self.current[key])] = self.current[key]
        return {key: list(known.values()) for key, known in versions.items()}

    def undo(self, mark: int) -> None:
        """Go back to a point."""
        while len(self.log) > mark:
            key, before = self.log.pop()
            if before is None:
                self.current.pop(key, None)
            else:
                self.current[key] = before

    def forget(self, scope: int) -> None:
        """Drop the variables of a function that has returned and that nothing refers to."""
        for key in [key for key in self.current if isinstance(key, tuple) and key[0] == scope]:
            del self.current[key]


UNTOUCHED = object()

OPEN_FILE = "open"
"""The first part of the keys of files that are open."""


@dataclass(slots=True)
class Context(Regions):
    """The state of reading a script.

    Attributes
    ----------
    named, file_names
        Regions of files, tables and hidden state by name; the names of files and tables alone.
    path
        The conditions under which the text at hand is reached, within the function.
    guards
        Conditions inside of an expression: of ``and``, ``or``, ``if`` and comprehensions.
    escaped
        Functions that were used as values, which unknown calls may call.
    escaped_owners
        Objects whose methods were used as values.
    holds
        By region the functions that an object of a library was made with, and may call.
    dead
        Whether the text at hand is not reached: behind `return`, `break`, `continue`, `raise`.
    world
        The region of all that the text leaves open about files, the process and libraries.
    anything
        Places whose effects may be any: on every variable and every object.
    inserting, used_up
        The regions of mappings that reading a key may change, and of iterators.
    own_regions, class_regions
        By definition the region of the attributes of a function or class, and by region the class.
    generators
        By region the function that a generator or coroutine runs when it is advanced.
    jump
        The jump that made it so; None: an exception that ends the script, which no slice is about.
    tries
        How many `try`s the text at hand stands in, or is called from.
    """

    script: Script
    facts: Catalogue
    graph: ScriptGraph = field(default_factory=ScriptGraph)
    state: VariableState = field(default_factory=VariableState)
    named: dict[str, int] = field(default_factory=dict)
    file_names: list[str] = field(default_factory=list)
    loops: list[LoopFrame] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    path: list[PyValue] = field(default_factory=list)
    guards: list[PyValue] = field(default_factory=list)
    escaped: dict[int, PyFunction] = field(default_factory=dict)
    escaped_owners: set[int] = field(default_factory=set)
    holds: dict[int, list[PyFunction]] = field(default_factory=dict)
    methods: dict[str, list[PyFunction]] = field(default_factory=dict)
    setters: dict[str, list[PyFunction]] = field(default_factory=dict)
    globals_declared: set[str] = field(default_factory=set)
    modules: dict[Path, tuple[int, int]] = field(default_factory=dict)
    classes: dict[int, Class] = field(default_factory=dict)
    inserting: set[int] = field(default_factory=set)
    used_up: set[int] = field(default_factory=set)
    own_regions: dict[int, int] = field(default_factory=dict)
    class_regions: dict[int, Class] = field(default_factory=dict)
    closed_scopes: set[int] = field(default_factory=set)
    defining: dict[int, bool] = field(default_factory=dict)
    bodies: dict[int, Any] = field(default_factory=dict)
    invocations: dict[str, int] = field(default_factory=dict)
    opaque: dict[tuple[Place, str], None] = field(default_factory=dict)
    place: Place = field(default_factory=partial(Place, 0, 1, 1))
    instance: int = 0
    dead: bool = False
    jump: PyValue | None = None
    world: int = 0
    anything: dict[tuple[Place, str], None] = field(default_factory=dict)
    generators: dict[int, PyFunction] = field(default_factory=dict)
    tries: int = 0
    budget: int = 0
    counter: int = 0
    evaluate: Callable[[Context, ast.expr], PyValue] = field(default=lambda _c, _e: PyValue())
    runs: Callable[[Context, list[PyFunction]], list[PyValue]] = field(default=lambda _c, _f: [])
    walk: Callable[[Context, list[ast.stmt]], None] = field(default=lambda _c, _s: None)

    def __post_init__(self) -> None:
        self.world = self.fresh()
        self.graph.names[self.world] = "<world>"
        self.state.current[self.world] = PyValue()

    # -- numbers -------------------------------------------------------------------------------

    def fresh(self) -> int:
        """A number for a scope or region."""
        self.counter += 1
        return self.counter

    def region(self, name: str) -> int:
        """A region for an object that is made here; it holds what it was made with."""
        number = self.fresh()
        self.graph.names[number] = name
        self.write(number, PyValue())
        return number

    def named_region(self, name: str) -> int:
        """The region of a file, a table or hidden state."""
        if name not in self.named:
            number = self.fresh()
            self.named[name] = number
            if not name.startswith("<"):
                self.file_names.append(name)
            self.graph.names[number] = name
            # It was there before the script, in whatever branch it is first named.
            self.state.current[number] = PyValue()
        return self.named[name]

    def inside(self, regions: Iterable[int]) -> frozenset[int]:
        """Return the objects that parts of others may be, in a loop also what it puts there later.

        The later ones are one region until then.
        """
        holders = frozenset(regions)
        if self.loops:
            self._expect(holders)
        return Regions.inside(self, holders)

    def changed_by_reading(self, regions: Iterable[int]) -> set[int]:
        """Return what reading changes of all that some objects refer to."""
        if not (self.used_up or self.inserting or self.generators):
            return set()
        reached = set(self.reach(regions))
        return reached & (self.used_up | self.inserting | self.generators.keys())

    def _expect(self, regions: Iterable[int]) -> None:
        """Let the body of a loop put parts into objects after it has read their parts."""
        last = self.loops[-1].began
        for group in {self.group(region) for region in regions}:
            if group <= last and (group in self.divided or group in self.made):
                loop = next(loop for loop in self.loops if group <= loop.began)
                if group not in loop.later:
                    later, before = self.fresh(), self.contents.get(group, NO_REGIONS)
                    self.graph.names[later] = self.graph.names.get(group, "")
                    loop.later[group] = later, frozenset(before)
                    self.expected.add(later)
                    self.divide(later, [later])
                    if self.same(group) <= self.plain:
                        self.plain.add(later)
                    self.put(group, later)

    # -- nodes ---------------------------------------------------------------------------------

    def node(self, kind: NodeKind, name: str, operation: str, **properties: Any) -> ScriptNode:
        """Add a node at the place at hand."""
        return self.graph.add(
            kind, name, operation, self.place, instance=self.instance, **properties
        )

    def process(
        self,
        name: str,
        operation: str,
        inputs: Iterable[PyValue] = (),
        kind: NodeKind = NodeKind.COMPUTING,
        **properties: Any,
    ) -> ScriptNode:
        """Add a PE that computes from some values."""
        node = self.node(kind, name, operation, **properties)
        for value in inputs:
            self.link(value, node)
        return node

    def view(
        self,
        process: ScriptNode,
        name: str,
        *,
        intermediate: bool = False,
        persistent: bool = False,
    ) -> PyValue:
        """Add the view that a PE makes, and return what a reader of it depends on."""
        view = self.node(
            NodeKind.VIEW, name, "view", intermediate=intermediate, persistent=persistent
        )
        self.graph.link(ScriptEdge(process.id, view.id))
        return PyValue(((view.id, None, None),))

    def operate(
        self,
        name: str,
        operation: str,
        inputs: Iterable[PyValue],
        kind: str = "",
        regions: frozenset[int] = NO_REGIONS,
        **properties: Any,
    ) -> PyValue:
        """Add a PE and the view of its intermediate result."""
        process = self.process(name, operation, inputs, **properties)
        view = self.view(process, name, intermediate=True)
        return PyValue(view.refs, regions, kind)

    def link(
        self,
        value: PyValue,
        to: ScriptNode,
        role: Role = Role.DATA,
        key: Key | None = None,
        reason: str | None = None,
    ) -> None:
        """Let a node depend on a value."""
        for node, variable, why in value.refs:
            self.graph.link(ScriptEdge(node, to.id, role, variable, key), reason or why)

    # -- variables and regions -----------------------------------------------------------------

    def lookup(self, key: Key, depth: int | None = None) -> PyValue | None:
        """Return the value of a key here; inside loops, an unchanged key has the head's value."""
        value = self.state.get(key)
        for loop in self.loops if depth is None else self.loops[:depth]:
            entry = loop.touched.get(key, UNTOUCHED)
            if entry is UNTOUCHED:
                loop.touched[key] = value
                value = self.at_head(loop, key, value)
            elif entry is value:
                value = self.at_head(loop, key, value)
        return value

    def at_head(self, loop: LoopFrame, key: Key, entry: PyValue | None) -> PyValue:
        """Return the value of a key at an iteration's head: the entry's or the last iteration's."""
        if key in loop.heads:
            return loop.heads[key]
        if self.only_doubts(key):
            node = self.doubt(None)[0]
            self.graph.carried[node] = set()
            loop.heads[key] = PyValue((*(entry.refs if entry else ()), (node, None, None)))
            return loop.heads[key]
        refs: tuple[Reference, ...] = ((loop.head.id, key, None),)
        if isinstance(key, int):
            # Objects that may be the same have one head.
            first = loop.objects.setdefault(self.group(key), key)
            if entry is not None and entry.refs:
                # Objects of one version were changed together: they have one head, too.
                first = loop.versions.setdefault(entry.refs, first)
            refs = ((loop.head.id, first, None),)
            value = PyValue(refs)
        else:
            name = self.graph.names.get(key, "")
            changes = name in loop.assigned or name in self.globals_declared or entry is None
            if changes or entry is None:
                # What the previous iteration left here is aliased to this region in the end.
                number, inner = self.fresh(), self.fresh()
                self.graph.names[number] = self.graph.names[inner] = name
                self.divide(number, [inner])
                self.divide(inner, [inner])
                self.made[number] = self.made[inner] = None
                regions = frozenset([number]) | (entry.regions if entry else NO_REGIONS)
                kind = entry.kind if entry and entry.kind != "none" else ""
                value = PyValue(refs, regions, kind)
            else:
                value = entry.at(refs)
        loop.heads[key] = value
        return value

    def write(self, key: Key, value: PyValue) -> None:
        """Let a key hold a value from here on."""
        if self.loops and key not in self.loops[-1].touched:
            if self.state.get(key) is None:
                for loop in self.loops:
                    loop.touched.setdefault(key, None)
            else:
                self.loops[-1].touched[key] = self.lookup(key, len(self.loops) - 1)
        self.state.write(key, value)

    def filled(self, value: PyValue) -> PyValue:
        """A value with what was changed in its objects since they were made."""
        if not value.regions and not isinstance(value.target, Lazy):
            return value
        refs = dict.fromkeys(value.refs)
        if isinstance(value.target, Lazy):
            for read in self.runs(self, [value.target.function]):
                refs.update(dict.fromkeys(read.refs))
        lookup = self.lookup if self.loops else self.state.current.get
        if self.loops:
            self._expect(self.reach(value.regions))
        for region in self.reach(value.regions):
            held = lookup(region)
            if held is not None:
                for ref in held.refs:
                    refs[ref] = None
        if len(refs) == len(value.refs):
            return value
        return value.at(tuple(refs))

    def change(self, regions: Iterable[int], version: PyValue) -> None:
        """Let objects be in the state of a version from here on."""
        for region in self.alike(regions):
            self.write(region, PyValue(version.refs))

    def assume(self, value: PyValue, why: str) -> PyValue:
        """Return a value with the reason why its use is assumed."""
        refs = tuple((node, variable, reason or why) for node, variable, reason in value.refs)
        return value.at(refs)

    # -- what the text leaves open -------------------------------------------------------------

    def only_doubts(self, key: Key) -> bool:
        """Return True if a key holds nothing but doubts, which pass by all conditions."""
        return key == self.world or (isinstance(key, tuple) and key[0] == OPEN_FILE)

    def doubt(self, why: str | None) -> Reference:
        """Add a node for what the text leaves open here; what depends on it is not certain.

        It has neither inputs nor lines: an answer names it, and a slice is no larger for it.
        """
        node = self.graph.add(NodeKind.SOURCE, "?", DOUBT, self.place, value=why)
        self.graph.doubts.add(node.id)
        return node.id, None, why

    def leave_open(self, why: str, regions: Iterable[int] = (), names: Iterable[Key] = ()) -> None:
        """Note a call that may have any effect that it can reach.

        It may change files, the process and libraries, and some objects and variables. An object
        stays uncertain, so that what later calls do to it does not matter.
        """
        self._add_doubt(self.world, self.doubt(why), chained=True)
        keys = [*self.reach(regions), *names]
        doubt = self.doubt(why) if keys else None
        for key in keys:
            assert doubt is not None
            self._add_doubt(key, doubt)

    def _add_doubt(self, key: Key, doubt: Reference, *, chained: bool = False) -> None:
        held = self.lookup(key) or PyValue()
        refs = held.refs
        if chained:
            # A doubt leads to the one before, so that versions stay small.
            for before in refs:
                if before[0] in self.graph.doubts and before[0] not in self.graph.carried:
                    self.graph.link(ScriptEdge(before[0], doubt[0]), before[2])
            refs = ()
        self.write(
            key,
            held.at((*refs, doubt)),
        )

    def leave_all_open(self, why: str) -> None:
        """Note text that may read and change anything: no answer about the script is certain."""
        self.not_followed(why)
        self.anything[self.place, why] = None

    # -- branches ------------------------------------------------------------------------------

    def branch(self, name: str, conditions: Iterable[PyValue]) -> ScriptNode:
        """Add the PE of a branch."""
        node = self.node(NodeKind.COMPUTING, name, "branch")
        for condition in conditions:
            self.link(condition, node, Role.CONDITION)
        return node

    def own_region(self, target: Any) -> int | None:
        """The region of the attributes of a function or class of the project; None: neither."""
        match target:
            case (
                PyFunction(node=node)
                | Class(node=node)
                | BoundMethod(function=PyFunction(node=node))
            ):
                region = self.own_regions.get(id(node))
                if region is None:
                    region = self.own_regions[id(node)] = self.fresh()
                    self.graph.names[region] = getattr(node, "name", "lambda")
                    self.state.current[region] = PyValue()
                    self.divide(region)
                    if isinstance(target, Class):
                        self.class_regions[region] = target
                return region
            case _:
                return None

    def as_object(self, value: PyValue) -> PyValue:
        """A value whose regions have a function or class itself, as what holds it needs."""
        region = self.own_region(value.target)
        if region is None or region in value.regions:
            return value
        return replace(value, regions=value.regions | {region})

    def escape(self, value: PyValue) -> None:
        """Note that a function is used as a value: calls that are not known may call it."""
        match value.target:
            case PyFunction() as function:
                self.escaped[id(function.node)] = function
            case BoundMethod(function=PyFunction() as function):
                self.escaped[id(function.node)] = function
            case BoundMethod(name=name, owner=owner):
                fact = self.facts.by_name(name)
                if fact is not None and fact.changes:
                    self.escaped_owners |= owner.regions
            case _:
                pass

    def jumped(self, name: str, inputs: Iterable[PyValue] = ()) -> list[PyValue]:
        """Add a jump; return the conditions of being behind it: the jump itself."""
        path = self.path[self.frame.path_base :]
        process = self.process(name, "jump", [*path, *inputs])
        self.jump = self.view(process, name, intermediate=True)
        self.dead = True
        return [self.jump]

    # -- others --------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """The file or function that is being read."""
        return self.frames[-1]

    def at(self, node: ast.AST, last: int | None = None) -> None:
        """Go to a place of the file at hand."""
        line = getattr(node, "lineno", 1)
        end = last or getattr(node, "end_lineno", None) or line
        self.place = Place(self.frame.file, line, max(line, end))

    def not_followed(self, why: str) -> None:
        """Note that the text at hand is not followed."""
        self.opaque[self.place, why] = None

    def enter(self, module: str, kind: str) -> int:
        """Begin an invocation of a function, or a cell; return what was before."""
        before = self.instance
        number = self.invocations.get(module, 0) + 1
        self.invocations[module] = number
        call = self.place if kind == "function" else None
        self.graph.instances.append(Instance(module, number, before, kind, call))
        self.instance = len(self.graph.instances)
        return before

"""What reading a script carries along: the graph, the state, and where in the text it is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lipstick.scripts.facts import Catalogue
from lipstick.scripts.graph import Edge, ScriptGraph
from lipstick.scripts.model import Instance, Key, Node, NodeKind, Place, Role
from lipstick.scripts.reading.state import State
from lipstick.scripts.reading.values import (
    MISSING,
    NO_REGIONS,
    Bound,
    Class,
    Function,
    Lazy,
    Reference,
    Value,
    joined_kind,
)
from lipstick.scripts.text import Script

Changes = dict[Key, Value]

UNTOUCHED = object()


@dataclass(slots=True)
class Loop:
    """A loop whose body is being read.

    Attributes
    ----------
    touched
        By key what it held when the loop began, of keys that the body has read or written.
    heads
        By key its value at the head of an iteration: the first one's or the previous one's.
    versions
        By version of objects when the loop began, the first region that had it.
    assigned
        Names that the body assigns, as far as the text shows.
    ends, breaks
        Per end of an iteration, and per `break`: its conditions and what was changed until then.
    """

    head: Node
    assigned: frozenset[str]
    path_base: int
    mark: int
    touched: dict[Key, Value | None] = field(default_factory=dict)
    heads: dict[Key, Value] = field(default_factory=dict)
    versions: dict[tuple[Reference, ...], int] = field(default_factory=dict)
    ends: list[tuple[list[Value], Changes]] = field(default_factory=list)
    breaks: list[tuple[list[Value], Changes]] = field(default_factory=list)


@dataclass(slots=True)
class Frame:
    """A file, or an invocation of a function, that is being read.

    Attributes
    ----------
    scopes
        Where names are looked up: the function's own, those around it, the file's.
    locals
        The names that its own scope has; None: all that it assigns (a file).
    exits
        Per `return`: what it returns, its conditions, what was changed until then.
    around
        Of a comprehension the frame it stands in, whose variables `:=` assigns.
    """

    scopes: tuple[int, ...]
    file: int
    locals: frozenset[str] | None = None
    function: Function | None = None
    loop_base: int = 0
    path_base: int = 0
    mark: int = 0
    exits: list[tuple[Value, list[Value], Changes]] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    around: Frame | None = None


@dataclass(slots=True)
class Context:
    """The state of reading a script.

    Attributes
    ----------
    contents, aliases
        By region: the regions that its object may refer to, and those that may be the same.
    connected
        By region the sets of objects, it among them, that may all refer to one another.
    made
        By region the class of the project that its object is an instance of.
    reached, in_reached
        What `reach` has found, as long as nothing changes it, and all regions in that.
    named
        Regions of files, tables and hidden state by name.
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
    jump
        The jump that made it so; None: an exception that ends the script, which no slice is about.
    tries
        How many `try`s the text at hand stands in, or is called from.
    """

    script: Script
    facts: Catalogue
    graph: ScriptGraph = field(default_factory=ScriptGraph)
    state: State = field(default_factory=State)
    contents: dict[int, set[int]] = field(default_factory=dict)
    aliases: dict[int, set[int]] = field(default_factory=dict)
    connected: dict[int, list[frozenset[int]]] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)
    made: dict[int, Class | None] = field(default_factory=dict)
    reached: dict[frozenset[int], list[int]] = field(default_factory=dict)
    in_reached: set[int] = field(default_factory=set)
    loops: list[Loop] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    path: list[Value] = field(default_factory=list)
    guards: list[Value] = field(default_factory=list)
    escaped: dict[int, Function] = field(default_factory=dict)
    escaped_owners: set[int] = field(default_factory=set)
    holds: dict[int, list[Function]] = field(default_factory=dict)
    methods: dict[str, list[Function]] = field(default_factory=dict)
    setters: dict[str, list[Function]] = field(default_factory=dict)
    globals_declared: set[str] = field(default_factory=set)
    modules: dict[Path, tuple[int, int]] = field(default_factory=dict)
    classes: dict[int, Class] = field(default_factory=dict)
    closed_scopes: set[int] = field(default_factory=set)
    defining: dict[int, bool] = field(default_factory=dict)
    bodies: dict[int, Any] = field(default_factory=dict)
    invocations: dict[str, int] = field(default_factory=dict)
    opaque: dict[tuple[Place, str], None] = field(default_factory=dict)
    place: Place = field(default_factory=partial(Place, 0, 1, 1))
    instance: int = 0
    dead: bool = False
    jump: Value | None = None
    tries: int = 0
    budget: int = 0
    counter: int = 0
    evaluate: Callable[[Context, ast.expr], Value] = field(default=lambda _c, _e: Value())
    runs: Callable[[Context, list[Function]], list[Value]] = field(default=lambda _c, _f: [])
    walk: Callable[[Context, list[ast.stmt]], None] = field(default=lambda _c, _s: None)

    # -- numbers -------------------------------------------------------------------------------

    def fresh(self) -> int:
        """A number for a scope or region."""
        self.counter += 1
        return self.counter

    def region(self, name: str) -> int:
        """A region for an object that is made here; it holds what it was made with."""
        number = self.fresh()
        self.graph.names[number] = name
        self.write(number, Value())
        return number

    def named_region(self, name: str) -> int:
        """The region of a file, a table or hidden state."""
        if name not in self.named:
            number = self.fresh()
            self.named[name] = number
            self.graph.names[number] = name
            # It was there before the script, in whatever branch it is first named.
            self.state.current[number] = Value()
        return self.named[name]

    # -- nodes ---------------------------------------------------------------------------------

    def node(self, kind: NodeKind, name: str, operation: str, **properties: Any) -> Node:
        """Add a node at the place at hand."""
        return self.graph.add(
            kind, name, operation, self.place, instance=self.instance, **properties
        )

    def process(
        self,
        name: str,
        operation: str,
        inputs: Iterable[Value] = (),
        kind: NodeKind = NodeKind.COMPUTING,
        **properties: Any,
    ) -> Node:
        """Add a PE that computes from some values."""
        node = self.node(kind, name, operation, **properties)
        for value in inputs:
            self.link(value, node)
        return node

    def view(
        self, process: Node, name: str, *, intermediate: bool = False, persistent: bool = False
    ) -> Value:
        """Add the view that a PE makes, and return what a reader of it depends on."""
        view = self.node(
            NodeKind.VIEW, name, "view", intermediate=intermediate, persistent=persistent
        )
        self.graph.link(Edge(process.id, view.id))
        return Value(((view.id, None, None),))

    def operate(
        self,
        name: str,
        operation: str,
        inputs: Iterable[Value],
        kind: str = "",
        regions: frozenset[int] = NO_REGIONS,
        const: Any = MISSING,
        **properties: Any,
    ) -> Value:
        """Add a PE and the view of its intermediate result."""
        process = self.process(name, operation, inputs, **properties)
        made = self.view(process, name, intermediate=True)
        return Value(made.refs, regions, kind, const=const)

    def link(
        self,
        value: Value,
        to: Node,
        role: Role = Role.DATA,
        key: Key | None = None,
        reason: str | None = None,
    ) -> None:
        """Let a node depend on a value."""
        for node, variable, why in value.refs:
            self.graph.link(Edge(node, to.id, role, variable, key), reason or why)

    # -- variables and regions -----------------------------------------------------------------

    def lookup(self, key: Key, depth: int | None = None) -> Value | None:
        """What a key holds here; inside of loops that is what the head of an iteration has."""
        value = self.state.get(key)
        for loop in self.loops if depth is None else self.loops[:depth]:
            entry = loop.touched.get(key, UNTOUCHED)
            if entry is UNTOUCHED:
                loop.touched[key] = value
                value = self.at_head(loop, key, value)
            elif entry is value:
                value = self.at_head(loop, key, value)
        return value

    def at_head(self, loop: Loop, key: Key, entry: Value | None) -> Value:
        """What a key holds at the head of an iteration: the entry's value or the last one's."""
        if key in loop.heads:
            return loop.heads[key]
        refs: tuple[Reference, ...] = ((loop.head.id, key, None),)
        if isinstance(key, int):
            if entry is not None and entry.refs:
                # Objects of one version were changed together: they have one head.
                first = loop.versions.setdefault(entry.refs, key)
                refs = ((loop.head.id, first, None),)
            value = Value(refs)
        else:
            name = self.graph.names.get(key, "")
            changes = name in loop.assigned or name in self.globals_declared or entry is None
            if changes or entry is None:
                # What the previous iteration left here is aliased to this region in the end.
                number, inner = self.fresh(), self.fresh()
                self.graph.names[number] = self.graph.names[inner] = name
                self.contents[number], self.contents[inner] = {inner}, {inner}
                self.made[number] = self.made[inner] = None
                regions = frozenset([number]) | (entry.regions if entry else NO_REGIONS)
                kind = entry.kind if entry and entry.kind != "none" else ""
                value = Value(refs, regions, kind)
            else:
                value = Value(refs, entry.regions, entry.kind, entry.target, entry.cls, entry.const)
        loop.heads[key] = value
        return value

    def write(self, key: Key, value: Value) -> None:
        """Let a key hold a value from here on."""
        if self.loops and key not in self.loops[-1].touched:
            if self.state.get(key) is None:
                for loop in self.loops:
                    loop.touched.setdefault(key, None)
            else:
                self.loops[-1].touched[key] = self.lookup(key, len(self.loops) - 1)
        self.state.write(key, value)

    def same(self, region: int) -> set[int]:
        """A region and those that may be the same object."""
        return self.aliases.get(region) or {region}

    def reach(self, regions: Iterable[int]) -> list[int]:
        """Some regions, those that may be the same, and all that their objects refer to."""
        start = frozenset(regions)
        known = self.reached.get(start)
        if known is not None:
            return known
        found = set(start)
        order = list(start)
        joined: set[int] = set()
        for region in order:
            same = self.aliases.get(region)
            if same is not None and id(same) not in joined:
                joined.add(id(same))
                order.extend(same - found)
                found |= same
            for connected in self.connected.get(region, ()):
                if id(connected) not in joined:
                    joined.add(id(connected))
                    order.extend(connected - found)
                    found |= connected
            inner = self.contents.get(region)
            if inner and not inner <= found:
                order.extend(inner - found)
                found |= inner
        self.reached[start] = order
        self.in_reached |= found
        return order

    def _forget_reached(self, changed: Iterable[int]) -> None:
        """Drop what `reach` has found if some regions are in it; new ones never are."""
        if not self.in_reached.isdisjoint(changed):
            self.reached.clear()
            self.in_reached.clear()

    def alias(self, regions: Iterable[int]) -> None:
        """Let some regions be possibly the same object from here on."""
        joined: set[int] = set()
        for region in regions:
            joined |= self.same(region)
        if len(joined) < 2 or all(self.aliases.get(region) == joined for region in joined):
            return
        self._forget_reached(joined)
        for region in joined:
            self.aliases[region] = joined

    def keep(self, regions: Iterable[int], inside: Iterable[int]) -> None:
        """Let objects refer to others."""
        kept = set(inside)
        if kept:
            for region in regions:
                inner = self.contents.setdefault(region, set())
                if not kept <= inner:
                    refers_to_itself = region in inner
                    inner |= kept
                    if not refers_to_itself:
                        inner.discard(region)
                    self._forget_reached([region])

    def connect(self, regions: Iterable[int]) -> None:
        """Let each of some objects perhaps refer to all of them."""
        joined = frozenset(regions)
        first = next(iter(joined), None)
        if first is None or any(joined <= known for known in self.connected.get(first, ())):
            return
        self._forget_reached(joined)
        known = {id(each): each for region in joined for each in self.connected.get(region, ())}
        within = {number for number, each in known.items() if each <= joined}
        for region in joined:
            others = [e for e in self.connected.get(region, ()) if id(e) not in within]
            self.connected[region] = [*others, joined]

    def inside(self, regions: Iterable[int]) -> frozenset[int]:
        """The objects that parts of others may be; the others, where that is not known."""
        found: set[int] = set()
        for same in set().union(*(self.same(region) for region in regions)):
            inner = self.contents.get(same)
            connected = self.connected.get(same, ())
            for each in connected:
                found |= each
            if inner is not None:
                found |= inner
            elif not connected:
                found.add(same)
        return frozenset(found)

    def class_of(self, regions: Iterable[int]) -> Class | None:
        """The class of the project that some objects all are of; None: not known."""
        classes = {id(c): c for c in (self.made.get(region) for region in regions)}
        return classes.popitem()[1] if len(classes) == 1 else None

    def filled(self, value: Value) -> Value:
        """A value with what was changed in its objects since they were made."""
        if not value.regions and not isinstance(value.target, Lazy):
            return value
        refs = dict.fromkeys(value.refs)
        if isinstance(value.target, Lazy):
            for read in self.runs(self, [value.target.function]):
                refs.update(dict.fromkeys(read.refs))
        lookup = self.lookup if self.loops else self.state.current.get
        for region in self.reach(value.regions):
            held = lookup(region)
            if held is not None:
                for ref in held.refs:
                    refs[ref] = None
        if len(refs) == len(value.refs):
            return value
        return Value(tuple(refs), value.regions, value.kind, value.target, value.cls, value.const)

    def change(self, regions: Iterable[int], version: Value) -> None:
        """Let objects be as a version says from here on."""
        for region in {same for each in regions for same in self.same(each)}:
            self.write(region, Value(version.refs))

    def assume(self, value: Value, why: str) -> Value:
        """A value of which it is assumed that it is used."""
        refs = tuple((node, variable, reason or why) for node, variable, reason in value.refs)
        return Value(refs, value.regions, value.kind, value.target, value.cls, value.const)

    # -- branches ------------------------------------------------------------------------------

    def branch(self, name: str, conditions: Iterable[Value]) -> Node:
        """Add the PE of a branch."""
        node = self.node(NodeKind.COMPUTING, name, "branch")
        for condition in conditions:
            self.link(condition, node, Role.CONDITION)
        return node

    def join(self, block: Node, branches: list[tuple[Node, Changes]]) -> None:
        """Let all that some branches change be what the block of them makes of it."""
        for node, _ in branches:
            self.graph.link(Edge(node.id, block.id, Role.BRANCH))
        keys = dict.fromkeys(key for _, changes in branches for key in changes)
        alike: dict[tuple[tuple[Reference, ...] | None, ...], Value] = {}
        for key in keys:
            if isinstance(key, tuple) and key[0] in self.closed_scopes:
                continue
            prior = None
            if any(key not in changes for _, changes in branches):
                prior = self.lookup(key)
            candidates = [(node, changes.get(key, prior)) for node, changes in branches]
            if isinstance(key, int):
                # Objects that all branches leave in the same version are joined once.
                versions = tuple(None if v is None else v.refs for _, v in candidates)
                held = [value for _, value in candidates if value is not None]
                if len(held) == 1 or not any(value.refs for value in held):
                    # An object that one branch makes, or that none changes.
                    self.write(key, held[0])
                    continue
                if versions not in alike:
                    alike[versions] = self.joined(block, key, candidates)
                self.write(key, Value(alike[versions].refs))
            else:
                self.write(key, self.joined(block, key, candidates))

    def joined(self, block: Node, key: Key, candidates: list[tuple[Node, Value | None]]) -> Value:
        """The value that a block makes of one key, of what its branches have."""
        values = []
        for node, value in candidates:
            if value is not None:
                values.append(value)
                self.link(value, node, Role.ACTIVITY, key)
        regions = frozenset().union(*(value.regions for value in values))
        same = len({id(v.target) for v in values}) == 1 and len(values) == len(candidates)
        first = values[0] if values else Value()
        consts = [value.const for value in values]
        const = first.const if values and all(_equal(c, first.const) for c in consts) else MISSING
        if not same:
            for value in values:
                self.escape(value)
        return Value(
            ((block.id, key, None),),
            regions,
            joined_kind(values),
            first.target if same else None,
            first.cls if len({id(v.cls) for v in values}) == 1 else None,
            const,
        )

    def escape(self, value: Value) -> None:
        """Note that a function is used as a value: calls that are not known may call it."""
        match value.target:
            case Function() as function:
                self.escaped[id(function.node)] = function
            case Bound(function=Function() as function):
                self.escaped[id(function.node)] = function
            case Bound(name=name, owner=owner):
                fact = self.facts.by_name(name)
                if fact is not None and fact.changes:
                    self.escaped_owners |= owner.regions
            case _:
                pass

    def jumped(self, name: str, inputs: Iterable[Value] = ()) -> list[Value]:
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


def _equal(left: Any, right: Any) -> bool:
    return left is right or (type(left) is type(right) and bool(left == right))

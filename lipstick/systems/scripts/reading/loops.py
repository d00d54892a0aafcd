"""Loops: variables at the head of an iteration, and what is left behind the last one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from lipstick.systems.scripts.graph import ScriptEdge
from lipstick.systems.scripts.model import Key, NodeKind, Place, Role
from lipstick.systems.scripts.reading.assign import assign, element_of
from lipstick.systems.scripts.reading.branches import condition
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.frames import Changes, LoopFrame
from lipstick.systems.scripts.reading.joins import join
from lipstick.systems.scripts.reading.names import assigned_names, key_for_writing
from lipstick.systems.scripts.reading.opaque import advance, is_used_up
from lipstick.systems.scripts.reading.special import iterated, next_of
from lipstick.systems.scripts.reading.values import PyValue, Reference


def for_loop(context: Context, node: ast.For | ast.AsyncFor) -> None:
    """Add a `for`: a PE that makes versions of its variable from the value it goes over."""
    over = context.evaluate(context, node.iter)
    items = iterated(context, over)

    def begin() -> list[PyValue]:
        parts = range_of(node.iter)
        count = None if parts is None else len(range(*parts))
        following = next_of(context, items)
        # The body may change what it goes over.
        groups = {context.group(region): region for region in over.regions}
        states = [context.lookup(region) or PyValue() for region in groups.values()]
        inputs = [over, *states] if items is over else [over, items, *states]
        inputs.append(advance(context, items, "for"))
        inputs += [] if following is None else [following]
        process = context.process(
            "for", "loop", inputs, value=parts, iterations=count, span=_span(context, node)
        )
        view = context.view(process, ast.unparse(node.target), intermediate=True)
        element = element_of(context, items) if following is None else following
        item = PyValue(view.refs, element.regions, element.kind, cls=element.cls)
        if is_used_up(context, items):
            context.change(items.regions, context.view(process, ast.unparse(node.iter)[:40]))
        if isinstance(node.target, ast.Name):
            # The view of the loop is the version of its variable, as V2 in Fig. 7.
            version_view = context.graph.nodes[view.refs[0][0]]
            version_view.intermediate = False
            context.write(key_for_writing(context, node.target.id), item)
        else:
            assign(context, node.target, item)
        return [over]

    _loop(context, "for", begin, node, endless=False)


def while_loop(context: Context, node: ast.While) -> None:
    """Add a `while`: its test is the condition of each iteration."""
    constant = isinstance(node.test, ast.Constant) and bool(node.test.value)

    def begin() -> list[PyValue]:
        test = condition(context, node.test, "while")
        return [] if constant else [test]

    _loop(context, "while", begin, node, endless=constant)


def repeated(
    context: Context, name: str, body: Callable[[], None], assigned: frozenset[str]
) -> None:
    """Read something that may run any number of times, one after the other."""
    loop = _enter(context, name, assigned)
    body()
    _join_later(context, loop)
    loop.ends.append(([], context.state.changes(loop.mark)))
    _leave(context, loop, name, [], {}, endless=False)


def _loop(
    context: Context,
    name: str,
    begin: Callable[[], list[PyValue]],
    node: ast.For | ast.AsyncFor | ast.While,
    endless: bool,
) -> None:
    body, orelse = node.body, node.orelse
    targets = [node.test] if isinstance(node, ast.While) else [node.target]
    assigned = assigned_names([*targets, *body]) | frozenset(context.globals_declared)
    place = context.place
    loop = _enter(context, name, assigned)
    exits = len(context.frame.exits)
    conditions = begin()
    tested = context.state.changes(loop.mark) if name == "while" else {}
    context.path.extend(conditions)
    context.walk(context, body)
    context.place = place
    _join_later(context, loop)
    if not context.dead:
        end = list(context.path[loop.path_base :])
        loop.ends.append((end, context.state.changes(loop.mark)))
    if endless:
        left = [changes for _, changes in loop.breaks]
        _carry(context, loop, [*left, *(changes for _, _, changes in context.frame.exits[exits:])])
    returned = [c for _, path, _ in context.frame.exits[exits:] for c in path]
    del context.path[loop.path_base :]
    context.dead = False
    _leave(context, loop, name, conditions, tested, endless)
    if orelse:
        _otherwise(context, loop, orelse)
    elif loop.breaks:
        _broken(context, loop, name, endless)
    if endless and not loop.breaks:
        context.dead = True
    # What follows is reached only if no `return` was.
    context.path.extend(dict.fromkeys(returned))


def _enter(context: Context, name: str, assigned: frozenset[str]) -> LoopFrame:
    head = context.node(NodeKind.COMPUTING, name, "head")
    mark = context.state.mark()
    loop = LoopFrame(head, assigned, len(context.path), mark, context.counter)
    context.loops.append(loop)
    return loop


def _join_later(context: Context, loop: LoopFrame) -> None:
    """Let the parts that iterations find in objects be what the ones before have put there."""
    put: list[tuple[int, frozenset[int]]] = []
    for each in context.loops:
        for group, (later, before) in each.later.items():
            parts = context.contents[context.group(group)] - before - context.same(later)
            if parts:
                context.alias(parts | {later})
                put.append((later, before))
            elif each is loop and later not in context.aliases:
                context.drop(group, later)
    for later, before in put:
        parts = context.same(later) - context.expected
        one_class = not before or not parts or context.class_of(before) is context.class_of(parts)
        plain = later not in context.plain or parts <= context.plain
        if later in context.relied and not (one_class and plain):
            context.leave_open("iterations put objects of several classes there", parts)


def _carry(context: Context, loop: LoopFrame, jumps: list[Changes]) -> None:
    """Let a jump out of an endless loop leave what earlier iterations have made.

    What an iteration changes behind the jump was changed by the iterations before it.
    """
    for key in dict.fromkeys(key for _, changes in loop.ends for key in changes):
        entry = loop.touched.get(key)
        gone = isinstance(key, tuple) and key[0] in context.closed_scopes
        if gone or (isinstance(key, int) and entry is None):
            continue
        for changes in jumps:
            if key not in changes:
                changes[key] = context.at_head(loop, key, entry)


def _leave(
    context: Context,
    loop: LoopFrame,
    name: str,
    conditions: list[PyValue],
    tested: Changes,
    endless: bool,
) -> None:
    """Join iterations at the head, and let the state be what the loop leaves without `break`."""
    context.state.undo(loop.mark)
    _feed_head(context, loop, name)
    context.loops.pop()
    branches = []
    if not endless:
        branches.append((context.branch("none", conditions if tested else []), tested))
    for path, changes in loop.ends if not (endless and loop.breaks) else []:
        branches.append((context.branch(name, path), changes))
    if branches and any(changes for _, changes in branches):
        block = context.node(NodeKind.COMPUTING, name, "block")
        join(context, block, branches)


def _feed_head(context: Context, loop: LoopFrame, name: str) -> None:
    first = context.node(NodeKind.COMPUTING, "first", "branch")
    context.graph.link(ScriptEdge(first.id, loop.head.id, Role.BRANCH))
    again = []
    for path, changes in loop.ends:
        node = context.branch(name, path)
        context.graph.link(ScriptEdge(node.id, loop.head.id, Role.BACK))
        again.append((node, changes))
    _join_kept(context, loop, [changes for _, changes in again])
    ends = [(node, _by_group(context, changes)) for node, changes in again]
    fed: set[Key] = set()
    while len(fed) < len(loop.heads):
        for key in [key for key in loop.heads if key not in fed]:
            fed.add(key)
            entry = loop.touched.get(key)
            head = loop.heads[key]
            if context.only_doubts(key):
                _feed_doubts(context, head, [changes.get(key, head) for _, changes in again])
                continue
            held = head.refs[0][1]
            if entry is not None:
                context.link(entry, first, Role.ACTIVITY, held)
            group = context.group(key) if isinstance(key, int) else key
            for node, changed in ends:
                refs = changed.get(group, head.refs)
                doubts = tuple(ref for ref in refs if ref[0] in context.graph.doubts)
                # What is open is so whether there is another iteration or not.
                context.link(PyValue(doubts), first, Role.ACTIVITY, held)
                rest = tuple(ref for ref in refs if ref[0] not in context.graph.doubts)
                if refs is not head.refs and rest != head.refs:
                    context.link(PyValue(rest), node, Role.ACTIVITY, held)


def _join_kept(context: Context, loop: LoopFrame, ends: list[Changes]) -> None:
    """Let the objects of the head be the ones that variables have at the ends of iterations."""
    for key, head in list(loop.heads.items()):
        for end in (changes[key] for changes in ends if key in changes):
            if head.regions and end.regions and end is not head and end.refs != head.refs:
                context.alias(head.regions | end.regions)
                own_regions = context.alike(end.regions)
                context.alias(
                    region
                    for region in context.reach(head.regions | end.regions)
                    if region not in own_regions
                )


def _by_group(context: Context, changes: Changes) -> dict[Key, Sequence[Reference]]:
    """Return the versions at the end of an iteration, of objects that may be the same together."""
    refs: dict[Key, dict[Reference, None]] = {}
    for key, end in changes.items():
        group = context.group(key) if isinstance(key, int) else key
        refs.setdefault(group, {}).update(dict.fromkeys(end.refs))
    return {key: tuple(found) for key, found in refs.items()}


def _feed_doubts(context: Context, head: PyValue, ends: list[PyValue]) -> None:
    """Let what iterations leave open be open at the head of the loop."""
    graph = context.graph
    own_node = head.refs[-1][0]
    for node, _, _ in dict.fromkeys(ref for end in ends for ref in end.refs):
        found = graph.carried.get(node, {node})
        graph.carried[own_node] |= found
    for node in graph.carried[own_node]:
        graph.link(ScriptEdge(node, own_node))


def _broken(context: Context, loop: LoopFrame, name: str, endless: bool) -> None:
    """Join what `break` leaves with what the end of the loop leaves."""
    normal = context.state.changes(loop.mark)
    context.state.undo(loop.mark)
    branches = [(context.branch("break", path), changes) for path, changes in loop.breaks]
    if not endless:
        branches.insert(0, (context.branch("end", _broken_by(loop)), normal))
    block = context.node(NodeKind.COMPUTING, name, "block")
    join(context, block, branches)


def _broken_by(loop: LoopFrame) -> list[PyValue]:
    return [condition for path, _ in loop.breaks for condition in path]


def _otherwise(context: Context, loop: LoopFrame, orelse: list[ast.stmt]) -> None:
    mark, base = loop.mark, len(context.path)
    broken = _broken_by(loop)
    context.path.extend(broken)
    context.walk(context, orelse)
    extra = context.path[base:] if len(context.path) > base + len(broken) else []
    del context.path[base:]
    if not loop.breaks:
        context.path.extend(extra)
        return
    normal, dead = context.state.changes(mark), context.dead
    jump = [context.jump] if dead and context.jump is not None else []
    context.state.undo(mark)
    context.dead = False
    if jump or extra:
        # What follows is reached under conditions.
        context.path.extend(dict.fromkeys([*broken, *extra, *jump]))
    branches = [(context.branch("break", path), changes) for path, changes in loop.breaks]
    if not dead:
        branches.insert(0, (context.branch("else", broken), normal))
    block = context.node(NodeKind.COMPUTING, "for else", "block")
    join(context, block, branches)


def _span(context: Context, node: ast.For | ast.AsyncFor) -> Place:
    return Place(context.place.file, node.lineno, node.end_lineno or node.lineno)


def range_of(node: ast.expr) -> tuple[int, int, int] | None:
    """Start, end and increment of a `range` of constants."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if 1 <= len(args) <= 3:
            try:
                numbers = [ast.literal_eval(arg) for arg in args]
            except ValueError:
                return None
            if not all(type(item) is int for item in numbers) or (
                len(numbers) == 3 and not numbers[2]
            ):
                return None
            start, end = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
            return start, end, numbers[2] if len(numbers) == 3 else 1
        case _:
            return None

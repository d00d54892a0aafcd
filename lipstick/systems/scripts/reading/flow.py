"""Conditional statements: `if`, `try` and `with`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from lipstick.systems.scripts.graph import ScriptEdge
from lipstick.systems.scripts.model import Key, NodeKind, Role
from lipstick.systems.scripts.reading.arguments import Arguments
from lipstick.systems.scripts.reading.assign import assign
from lipstick.systems.scripts.reading.branches import Branches, condition
from lipstick.systems.scripts.reading.classes import class_member, is_exception
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.frames import Changes
from lipstick.systems.scripts.reading.invoke import invoke
from lipstick.systems.scripts.reading.joins import Objects, join_objects, joined
from lipstick.systems.scripts.reading.named_files import close_file
from lipstick.systems.scripts.reading.opaque import advance, advanced
from lipstick.systems.scripts.reading.values import NOTHING, PyFunction, PyValue


def if_statement(context: Context, node: ast.If) -> None:
    """Add an `if` with all of its `elif`s as parallel branches of one block (Fig. 5)."""
    place = context.place
    branches = Branches()
    conditions: list[PyValue] = []
    current = node
    name = "if"
    while True:
        context.at(current.test)
        test = condition(context, current.test, name)
        conditions.append(test)
        body = current.body
        branches.read(context, name, list(conditions), partial(context.walk, context, body))
        rest = current.orelse
        if len(rest) == 1 and isinstance(rest[0], ast.If) and _is_plain(rest[0].test):
            current, name = rest[0], "elif"
            continue
        break
    context.place = place
    branches.read(context, "else", conditions, partial(context.walk, context, rest))
    context.place = place
    branches.join(context, "if")


def _is_plain(test: ast.expr) -> bool:
    """Return True if evaluating a test changes nothing: it may be read before all branches."""
    return not any(
        isinstance(n, ast.Call | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)
        for n in ast.walk(test)
    )


def with_statement(context: Context, node: ast.With | ast.AsyncWith) -> None:
    """Add a `with`: what it enters, and its body; one that hides exceptions is a `try`."""
    suppressing: list[str] = []
    managers: list[PyValue] = []
    mark, exits = context.state.mark(), len(context.frame.exits)
    for item in node.items:
        value = context.evaluate(context, item.context_expr)
        why = _may_suppress(context, item.context_expr, value)
        if why is not None:
            suppressing.append(why)
        managers.append(value)
        entered = _enter(context, value)
        if item.optional_vars is not None:
            assign(context, item.optional_vars, entered)
    if suppressing:
        _try(context, node.body, [], [], [], silent=True)
    else:
        context.walk(context, node.body)

    def leave() -> None:
        for value in managers:
            _call_method(context, value, "__exit__")
            _close(context, value)

    _finally(context, leave, exits, mark, _Interrupted())


def _may_suppress(context: Context, text: ast.expr, value: PyValue) -> str | None:
    """Why a manager may hide exceptions; None: it does not."""
    if value.kind in ("file", "memoryfile", "tempdir", "zip", "connection", "excelwriter"):
        return None
    if isinstance(text, ast.Call) and ast.unparse(text.func).endswith("suppress"):
        return "suppress"
    functions = advanced(context, [value])
    if value.cls is not None:
        member = class_member(context, value.cls, "__exit__")
        functions = [member.target] if member and isinstance(member.target, PyFunction) else []
    if functions:
        parts = [part for function in functions for part in ast.walk(function.node)]
        given_back = (
            isinstance(part, ast.Return)
            and not (part.value is None or getattr(part.value, "value", True) in (None, False))
            for part in parts
        )
        hides = any(isinstance(part, ast.Try | ast.TryStar) for part in parts)
        return "suppress" if hides or any(given_back) else None
    name = ast.unparse(text)[:40]
    context.leave_open(f"{name} may hide what is raised")
    return "suppress"


def _close(context: Context, value: PyValue) -> None:
    """Add what leaving a `with` does to its manager."""
    if value.kind == "file" or not value.regions:
        close_file(context, value)
        return
    advance(context, value, "exit")
    close_file(context, value)


def _enter(context: Context, value: PyValue) -> PyValue:
    entered = _call_method(context, value, "__enter__")
    if entered is None or value.cls is None:
        return value
    # A `with` needs a method for its end, too.
    end = class_member(context, value.cls, "__exit__") or PyValue()
    return entered.at(context.operate("with", "enter", [entered, PyValue(end.refs)]).refs)


def _call_method(context: Context, value: PyValue, name: str) -> PyValue | None:
    if value.cls is None:
        return None
    member = class_member(context, value.cls, name)
    if member is None or not isinstance(member.target, PyFunction) or context.dead:
        return None
    receiver = context.filled(value)
    given = Arguments([PyValue()] * 3 if name == "__exit__" else [])
    return invoke(context, member.target, member, given, receiver)


def try_statement(context: Context, node: ast.Try) -> None:
    """Add a `try`: any part of its body may be the last that runs."""
    _try(context, node.body, node.handlers, node.orelse, node.finalbody)


def _try(
    context: Context,
    body: list[ast.stmt],
    handlers: list[ast.ExceptHandler],
    orelse: list[ast.stmt],
    final: list[ast.stmt],
    silent: bool = False,
) -> None:
    place = context.place
    mark = context.state.mark()
    first = context.graph.next_id
    exits = len(context.frame.exits)
    branches = Branches()
    interrupted = _Interrupted()

    def attempt() -> None:
        context.tries += 1
        context.walk(context, body)
        context.tries -= 1
        interrupted.versions = context.state.versions(mark)
        interrupted.raised = _raised(context, first, context.state.changes(mark))
        if not context.dead:
            context.walk(context, orelse)

    branches.read(context, "try", [], attempt)
    # Whether the body came to its end depends on what may raise in it.
    for branch, _ in branches.live:
        context.link(interrupted.raised, branch, Role.CONDITION)
    for handler in handlers:
        context.at(handler, handler.body[0].lineno - 1)

        def handle(handler: ast.ExceptHandler = handler) -> None:
            interrupted.leave(context)
            if handler.type is not None:
                context.evaluate(context, handler.type)
            if handler.name is not None:
                # It may be any exception of the project.
                made = (
                    r for r, cls in context.made.items() if cls is not None and is_exception(cls)
                )
                raised = replace(interrupted.raised, regions=frozenset(made))
                assign(context, ast.Name(handler.name, ast.Store()), raised, "except")
            context.walk(context, handler.body)

        branches.read(context, "except", [interrupted.raised], handle)
    if silent:

        def suppressed() -> None:
            interrupted.leave(context)

        branches.read(context, "suppress", [interrupted.raised], suppressed)
    context.place = place
    branches.join(context, "try")
    if final:
        _finally(context, lambda: context.walk(context, final), exits, mark, interrupted)


def _raised(context: Context, first: int, changes: Changes) -> PyValue:
    """Add a view of whether a body was interrupted: of all that it computes."""
    process = context.process("raised", "raised")
    outgoing, nodes = context.graph.outgoing, context.graph.nodes
    for number in range(first, process.id):
        node = nodes.get(number)
        if node is None or node.kind is not NodeKind.VIEW:
            continue
        if not any(edge.role is Role.DATA for edge in outgoing[number]):
            context.graph.link(ScriptEdge(number, process.id))
    for key, value in changes.items():
        if not (isinstance(key, tuple) and key[0] in context.closed_scopes):
            context.link(value, process)
    return context.view(process, "raised", intermediate=True)


@dataclass(slots=True)
class _Interrupted:
    """A body that was interrupted anywhere, and what it leaves.

    Attributes
    ----------
    raised
        Whether it was.
    versions
        All that what it writes held then and before.
    left
        What stands for these; made once, whatever handles the exception.
    """

    raised: PyValue = NOTHING
    versions: dict[Key, list[PyValue]] = field(default_factory=dict)
    left: Changes = field(default_factory=dict)

    def leave(self, context: Context) -> None:
        """Let everything that the body writes have any of the versions that it had."""
        if self.versions and not self.left:
            self._join(context)
        for key, value in self.left.items():
            context.write(key, value)

    def _join(self, context: Context) -> None:
        branch = context.branch("raised", [self.raised])
        block = context.node(NodeKind.COMPUTING, "raised", "block")
        context.graph.link(ScriptEdge(branch.id, block.id, Role.BRANCH))
        objects: Objects = {}
        for key, values in self.versions.items():
            if isinstance(key, tuple) and key[0] in context.closed_scopes:
                continue
            if context.only_doubts(key):
                self.left[key] = PyValue(tuple(dict.fromkeys(r for v in values for r in v.refs)))
            elif isinstance(key, int):
                held = PyValue(tuple(dict.fromkeys(ref for value in values for ref in value.refs)))
                objects.setdefault(context.group(key), {})[key] = [(branch, held)]
            else:
                self.left[key] = joined(context, block, key, [(branch, each) for each in values])
        for region, version in join_objects(context, block, objects).items():
            self.left[region] = version


def _finally(
    context: Context,
    run: Callable[[], None],
    exits: int,
    mark: int,
    interrupted: _Interrupted,
) -> None:
    dead, context.dead = context.dead, False
    if dead:
        interrupted.leave(context)
    before = context.state.mark()
    run()
    after = context.state.changes(before)
    context.dead = dead or context.dead
    # What leaves the body by a jump passes here, too.
    for _, _, changes in context.frame.exits[exits:]:
        _pass(changes, after)
    for loop in context.loops[context.frame.loop_base :]:
        if loop.mark > mark:
            continue
        for _, changes in (*loop.breaks, *loop.ends):
            _pass(changes, after)


def _pass(changes: Changes, after: Changes) -> None:
    """Let what a jump leaves be what it has changed, and what a `finally` changes after that."""
    for key, value in after.items():
        own = changes.get(key, value)
        refs = tuple(dict.fromkeys((*value.refs, *own.refs)))
        changes[key] = replace(value, refs=refs, regions=value.regions | own.regions)

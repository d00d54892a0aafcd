"""The initial graph of a script, statement by statement (Huq et al., section IV-B)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from lipstick.systems.scripts.facts import Catalogue
from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import Place
from lipstick.systems.scripts.reading.assign import (
    assign,
    bind,
    changed,
    element_of,
    store,
)
from lipstick.systems.scripts.reading.branches import Branches, condition
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.definitions import (
    define_class,
    define_function,
    import_from,
    import_modules,
)
from lipstick.systems.scripts.reading.expressions import binary, evaluate, sign
from lipstick.systems.scripts.reading.flow import if_statement, try_statement, with_statement
from lipstick.systems.scripts.reading.frames import Frame
from lipstick.systems.scripts.reading.loops import for_loop, while_loop
from lipstick.systems.scripts.reading.names import key_for_writing, read_name
from lipstick.systems.scripts.reading.opaque import reads_of
from lipstick.systems.scripts.reading.special import (
    augmented_method,
    call_method,
    compared,
    hashed,
    truth_of,
)
from lipstick.systems.scripts.reading.values import (
    COPIED,
    IMMUTABLE,
    NOTHING,
    Library,
    PyValue,
    Reference,
)
from lipstick.systems.scripts.script_text import Script


def match_statement(context: Context, node: ast.Match) -> None:
    """Add a `match`: a branch per case, which names parts of the subject."""
    subject = condition(context, node.subject, "match")
    place = context.place
    branches = Branches()
    conditions: list[PyValue] = []
    exhaustive = False
    for case in node.cases:
        context.at(case.pattern)
        if not _catches_all(case.pattern):
            literals = [
                context.evaluate(context, inner.value)
                for inner in ast.walk(case.pattern)
                if isinstance(inner, ast.MatchValue)
            ]
            values = [subject, *literals]
            for literal in literals:
                values += compared(context, ast.Eq(), subject, literal)
            conditions.append(context.operate("case", "comparison", values))

        def body(case: ast.match_case = case) -> None:
            _bind_pattern(context, case.pattern, subject)
            if case.guard is not None:
                guard = context.evaluate(context, case.guard)
                conditions.append(guard)
                context.path.append(guard)
            context.walk(context, case.body)

        branches.read(context, "case", list(conditions), body)
        exhaustive |= case.guard is None and _catches_all(case.pattern)
    context.place = place
    if not exhaustive:
        branches.read(context, "no case", list(conditions), lambda: None)
    branches.join(context, "match")


def _catches_all(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _bind_pattern(context: Context, pattern: ast.pattern, subject: PyValue) -> None:
    for inner in ast.walk(pattern):
        name = None
        if isinstance(inner, ast.MatchAs | ast.MatchStar):
            name = inner.name
        elif isinstance(inner, ast.MatchMapping):
            name = inner.rest
        if name is not None:
            part = element_of(context, subject)
            value = PyValue(part.refs, part.regions | subject.regions)
            assign(context, ast.Name(name, ast.Store()), value, "case")


_ENDING = frozenset({"sys.exit", "exit", "quit", "os._exit"})


def walk(context: Context, statements: list[ast.stmt]) -> None:
    """Add statements one after the other, up to one that jumps."""
    for statement in statements:
        if context.dead:
            break
        context.at(statement, _last_line(statement))
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorated = [item.lineno for item in statement.decorator_list]
            first = min([statement.lineno, *decorated])
            context.place = Place(context.place.file, first, context.place.end)
        _STATEMENTS[type(statement)](context, statement)


def _last_line(node: ast.stmt) -> int | None:
    """The last line of a statement, of a compound one that of its head."""
    body: list[ast.stmt] | None = getattr(node, "body", None)
    if body:
        return max(node.lineno, body[0].lineno - 1)
    if isinstance(node, ast.Match):
        return max(node.lineno, node.cases[0].pattern.lineno - 1)
    return None


def _expression(context: Context, node: ast.Expr) -> None:
    value = evaluate(context, node.value)
    if isinstance(node.value, ast.Name):
        # A notebook shows it.
        context.operate(node.value.id, "expression", [value])
    if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in _ENDING:
        _interrupt(context, "exit", [value])


def _assign(context: Context, node: ast.Assign) -> None:
    first = node.targets[0]
    parts = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else []
    if (
        len(node.targets) == 1
        and isinstance(first, ast.Tuple | ast.List)
        and parts
        and len(parts) == len(first.elts)
        and not any(isinstance(item, ast.Starred) for item in (*parts, *first.elts))
    ):
        # Each name gets its own value: `a, b = b, a` is two assignments at once.
        values = [evaluate(context, part) for part in parts]
        for target, value in zip(first.elts, values, strict=True):
            assign(context, target, value)
        return
    value = evaluate(context, node.value)
    for target in node.targets:
        assign(context, target, value)


def _annotated(context: Context, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(context, node.target, evaluate(context, node.value))


def _augmented(context: Context, node: ast.AugAssign) -> None:
    target = node.target
    load = ast.copy_location(_loaded(target), target)
    before = evaluate(context, load)
    value = evaluate(context, node.value)
    if not isinstance(target, ast.Name):
        assert isinstance(target, ast.Subscript | ast.Attribute)
        updated = augmented_method(context, node.op, before, value)
        updated = updated or binary(context, node.op, before, value, "augmented")
        store(context, target, updated)
        if before.regions and before.kind not in IMMUTABLE:
            held = context.filled(before)
            process = context.process(f"{sign(node.op)}=", "augmented", [updated, held])
            changed(context, target, before, process)
        return
    made_by_class = augmented_method(context, node.op, before, value)
    if made_by_class is not None:
        assign(context, target, made_by_class, f"{sign(node.op)}=")
        return
    process = context.process(f"{sign(node.op)}=", "augmented", [before, value, *context.guards])
    if before.regions and before.kind not in IMMUTABLE:
        # A mutable object is changed in place, and so for all of its names.
        if before.kind not in COPIED:
            context.keep(before.regions, context.inside(value.regions))
        version = context.view(process, target.id)
        context.change(before.regions, version)
        updated = PyValue(version.refs, before.regions | value.regions, before.kind)
        if before.kind in COPIED:
            updated = PyValue(version.refs, before.regions, before.kind)
        context.write(key_for_writing(context, target.id), updated)
        return
    kind = before.kind if before.kind == value.kind or before.kind == "text" else ""
    regions = frozenset() if kind in IMMUTABLE else before.regions | value.regions
    bind(context, target.id, PyValue(regions=regions, kind=kind), process)


def _loaded(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(value=value, attr=name):
            return ast.Attribute(value, name, ast.Load())
        case ast.Subscript(value=value, slice=index):
            return ast.Subscript(value, index, ast.Load())
        case _:
            raise AssertionError(f"Python augments no {type(target).__name__}")


def _delete(context: Context, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            value = read_name(context, target.id)
            process = context.process("del", "delete", [value])
            if not isinstance(value.target, Library):
                bind(context, target.id, PyValue(), process)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            base = evaluate(context, target.value)
            inputs = [base]
            if isinstance(target, ast.Subscript):
                inputs.append(evaluate(context, target.slice))
                if call_method(context, base, "__delitem__", inputs[1:]) is not None:
                    continue
                inputs += hashed(context, inputs[1:])
            made_of = [*inputs, *context.guards]
            process = context.process("del", "delete", made_of, ratio="1:1")
            changed(context, target.value, base, process)


def _return(context: Context, node: ast.Return) -> None:
    value = NOTHING if node.value is None else evaluate(context, node.value)
    frame = context.frame
    if isinstance(node.value, ast.Lambda):
        context.escape(value)
    changes = context.state.changes(frame.mark)
    returned = context.operate("returns", "returns", [value])
    value = value.at(returned.refs)
    path = context.path[frame.path_base :]
    jump = context.jumped("return")
    body = frame.function.node.body if frame.function is not None else []
    # Behind the last statement of a function nothing is skipped.
    last = isinstance(body, list) and bool(body) and body[-1] is node
    frame.exits.append((value, path if last else jump, changes))


def _raise(context: Context, node: ast.Raise) -> None:
    parts = [evaluate(context, part) for part in (node.exc, node.cause) if part is not None]
    _interrupt(context, "raise", parts)


def _interrupt(context: Context, name: str, parts: list[PyValue]) -> None:
    """End what is run: seen where a `try` is around, and nowhere else."""
    context.jumped(name, parts)
    if not context.tries:
        context.jump = None


def _assert(context: Context, node: ast.Assert) -> None:
    test = truth_of(context, evaluate(context, node.test))
    context.operate("assert", "assert", [test, *context.guards])
    if node.msg is not None:
        context.guards.append(test)
        evaluate(context, node.msg)
        context.guards.pop()


def _break(context: Context, node: ast.Break) -> None:
    loop = context.loops[-1]
    changes = context.state.changes(loop.mark)
    loop.breaks.append((context.jumped("break"), changes))


def _continue(context: Context, node: ast.Continue) -> None:
    loop = context.loops[-1]
    changes = context.state.changes(loop.mark)
    loop.ends.append((context.jumped("continue"), changes))


def _nothing(context: Context, node: ast.stmt) -> None:
    del context, node


_Handler: TypeAlias = Callable[[Context, Any], None]

_STATEMENTS: dict[type[ast.stmt], _Handler] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.If: if_statement,
    ast.Match: match_statement,
    ast.For: for_loop,
    ast.AsyncFor: for_loop,
    ast.While: while_loop,
    ast.With: with_statement,
    ast.AsyncWith: with_statement,
    ast.Try: try_statement,
    ast.TryStar: try_statement,
    ast.FunctionDef: define_function,
    ast.AsyncFunctionDef: define_function,
    ast.ClassDef: define_class,
    ast.Import: import_modules,
    ast.ImportFrom: import_from,
    ast.Pass: _nothing,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
}


_SMALLEST_BUDGET = 30_000
_NODES_PER_LINE = 30


@dataclass(slots=True)
class ScriptReading:
    """The initial graph of a script, and what it holds at its end.

    Attributes
    ----------
    variables
        By name of a global variable, what its last version is.
    files
        By name of a file, table or hidden state, such as ``<stdout>``, what its last version is.
    opaque
        The places that are not followed, and why.
    anything
        The places among them that may read and change whatever the script has.
    open_files
        What the text leaves open about all files and hidden state at the end.
    """

    graph: ScriptGraph
    variables: dict[str, tuple[Reference, ...]]
    files: dict[str, tuple[Reference, ...]]
    opaque: list[tuple[Place, str]]
    anything: list[tuple[Place, str]]
    open_files: tuple[Reference, ...]


def read(script: Script, facts: Catalogue) -> ScriptReading:
    """Read a script into its initial graph; nothing of it is run.

    O(nodes) but for functions, whose bodies are read at every call, up to a size from which on
    they are black boxes that say so.
    """
    context = Context(script, facts, evaluate=evaluate, walk=walk, runs=reads_of)
    main = script.main
    lines = main.text.count("\n") + 1
    context.budget = max(_SMALLEST_BUDGET, _NODES_PER_LINE * lines)
    if "global " in main.text or "nonlocal " in main.text:
        context.globals_declared = {
            name
            for node in ast.walk(main.tree)
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        }
    scope = context.fresh()
    context.frames.append(Frame((scope,), 0))
    if main.cells:
        _read_cells(context)
    else:
        walk(context, main.tree.body)
    context.dead = False
    variables = {}
    for key in list(context.state.current):
        if isinstance(key, tuple) and key[0] == scope:
            value = context.lookup(key)
            if value is not None and not isinstance(value.target, Library):
                variables[str(key[1])] = context.filled(value).refs
    files = {}
    for name, region in context.named.items():
        held = context.lookup(region)
        if held is not None and held.refs:
            files[name] = held.refs
    left = context.lookup(context.world) or PyValue()
    for refs in (*variables.values(), *files.values(), left.refs):
        context.graph.results += [(node, key) for node, key, _ in refs]
    context.graph.drop_unread_doubts()
    return ScriptReading(
        context.graph,
        variables,
        files,
        list(context.opaque),
        list(context.anything),
        left.refs,
    )


def _read_cells(context: Context) -> None:
    main = context.script.main
    statements = iter(main.tree.body)
    statement = next(statements, None)
    for cell in main.cells:
        context.instance = 0
        statements_of_cell = []
        while statement is not None and statement.lineno < cell.start + cell.count:
            statements_of_cell.append(statement)
            statement = next(statements, None)
        context.enter(f"cell {cell.name}", "cell")
        walk(context, statements_of_cell)
        context.dead = False
    context.instance = 0

"""Names: where each is looked up, and what it holds."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from lipstick.systems.scripts.model import Key, NodeKind
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.frames import Frame
from lipstick.systems.scripts.reading.values import Library, PyValue

_BUILTINS = frozenset(dir(builtins)) | {"raw_input", "__ipython__"}

_OF_MODULES = frozenset({"__name__", "__file__", "__doc__", "__package__"})
"""Names that every module has."""


def key_for_reading(context: Context, name: str, frame: Frame | None = None) -> Key | None:
    """The variable that a name reads here; None: a built-in name, or one that nothing defines."""
    frame = frame or context.frame
    for scope in frame.scopes:
        key = (scope, name)
        if context.state.get(key) is not None:
            return key
        own_scope = frame.locals is not None and scope == frame.scopes[0] and not frame.is_class
        if own_scope and frame.locals is not None and name in frame.locals:
            return key
    return None


def key_for_writing(context: Context, name: str) -> Key:
    """The variable that a name assigns here."""
    frame = context.frame
    while frame.around is not None and (frame.locals is None or name not in frame.locals):
        frame = frame.around
    scope = frame.scopes[0]
    if frame.locals is not None and name not in frame.locals:
        # Declared global or nonlocal: the nearest scope around that has it, else the file's.
        outer = frame.scopes[1:]
        known = (s for s in outer if context.state.get((s, name)) is not None)
        scope = next(known, outer[-1] if outer else scope)
    key = (scope, name)
    context.graph.names.setdefault(key, name)
    return key


def read_name(context: Context, name: str) -> PyValue:
    """Return the value that a name holds, with the changes of its objects."""
    key = key_for_reading(context, name)
    value = None
    if key is not None:
        context.graph.names.setdefault(key, name)
        value = context.lookup(key)
    if value is not None:
        return context.filled(value)
    if name in _OF_MODULES:
        return PyValue(kind="text")
    if name in _BUILTINS:
        return PyValue(target=Library(name))
    why = f"{name} is defined by nothing that is read"
    context.not_followed(why)
    process = context.process(name, "undefined", kind=NodeKind.SOURCE, unknown=why)
    view = context.view(process, name)
    return PyValue(view.refs, frozenset([context.named_region(f"<{name}>")]))


def assigned_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names that some text assigns in its own scope, whatever the way."""
    names_assigned: set[str] = set()
    for node in own_scope(nodes):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names_assigned.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names_assigned.add(name)
            case ast.ClassDef(name=name):
                names_assigned.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                names_assigned.update((item.asname or item.name).split(".")[0] for item in names)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                names_assigned.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names_assigned.add(name)
            case _:
                pass
    return frozenset(names_assigned)


def declared_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names that some text declares global or nonlocal."""
    return frozenset(
        name
        for node in own_scope(nodes)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    )


def own_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of some text but those inside of functions and classes that it defines."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.Name | ast.Constant):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            # Targets of comprehensions are theirs; what `:=` assigns in them is not.
            waiting.extend(n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            continue
        waiting.extend(ast.iter_child_nodes(node))

"""Definitions: functions, classes, and what is imported."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from pathlib import Path

from lipstick.systems.scripts.model import ScriptNode
from lipstick.systems.scripts.reading.arguments import Arguments
from lipstick.systems.scripts.reading.assign import assign, bind
from lipstick.systems.scripts.reading.classes import foreign_bases, methods_of
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.frames import Frame
from lipstick.systems.scripts.reading.invoke import instantiate, invoke
from lipstick.systems.scripts.reading.names import assigned_names
from lipstick.systems.scripts.reading.special_names import OPERATORS
from lipstick.systems.scripts.reading.values import (
    Class,
    Library,
    ModuleFile,
    PyFunction,
    PyValue,
    regions_of,
)
from lipstick.systems.scripts.script_text import SourceFile, read_module

_PLAIN_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "property", "cache", "lru_cache", "wraps", "abstractmethod",
     "contextmanager", "cached_property", "overload", "override", "setter"}
)  # fmt: skip
_PLAIN_CLASS_DECORATORS = frozenset({"dataclass", "total_ordering", "unique", "final"})


def define_function(
    context: Context, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str | None = None
) -> None:
    """Add the definition of a function; its body is read where it is called."""
    args = node.args
    texts = [*args.defaults, *(item for item in args.kw_defaults if item is not None)]
    inputs = [context.evaluate(context, text) for text in (*node.decorator_list, *texts)]
    decorators = inputs[: len(node.decorator_list)]
    process = context.process("def", "definition", inputs)
    names = [_decorator(item) for item in node.decorator_list]
    binding = "function"
    if owner is not None:
        binding = "method"
        if "staticmethod" in names:
            binding = "static"
        elif "classmethod" in names:
            binding = "classmethod"
        elif "property" in names or "cached_property" in names:
            binding = "property"
        elif "setter" in names:
            binding = "setter"
    frame = context.frame
    scopes = frame.scopes
    if owner is not None:
        # Names of a class are not looked up from its methods.
        scopes = scopes[1:]
    regions = regions_of(inputs)
    function = PyFunction(
        node,
        node.name,
        frame.file,
        scopes,
        context.graph.next_id,
        all(name in _PLAIN_DECORATORS for name in names),
        binding,
        owner,
        tuple(v.target for v in inputs if isinstance(v.target, PyFunction)),
        bool({"cache", "lru_cache", "cached_property"} & set(names)),
        regions,
    )
    applied = [d for d in decorators if isinstance(d.target, PyFunction | Class)]
    if applied and len(applied) == len(names) and owner is None:
        _define_decorated(context, replace(function, plain=True), decorators, process)
        return
    value = PyValue(regions=regions, target=function)
    if binding == "setter":
        context.setters.setdefault(node.name, []).append(function)
        return
    bind(context, node.name, value, process)
    if owner is not None:
        context.methods.setdefault(node.name, []).append(function)
    if not function.plain or "property" in names or "cached_property" in names:
        context.escaped[id(node)] = function


def _define_decorated(
    context: Context, function: PyFunction, decorators: list[PyValue], process: ScriptNode
) -> None:
    """Add the calls of decorators of the project, the last one first."""
    version = context.view(process, function.name, intermediate=True)
    function = replace(function, view=version.refs[0][0])
    value = PyValue(version.refs, function.regions, target=function)
    for decorator in reversed(decorators):
        context.escape(value)
        match decorator.target:
            case PyFunction() as target:
                value = invoke(context, target, decorator, Arguments([value]), None)
            case Class() as cls:
                value = instantiate(context, cls, decorator, Arguments([value]))
            case _:
                raise AssertionError("only decorators of the project are called")
    assign(context, ast.Name(function.name, ast.Store()), value, "decorated")


def _decorator(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)


def define_class(context: Context, node: ast.ClassDef) -> None:
    """Add the definition of a class: its body is read here, its methods where they are called."""
    bases = [context.evaluate(context, base) for base in node.bases]
    more = [context.evaluate(context, item.value) for item in node.keywords]
    decorators = [context.evaluate(context, item) for item in node.decorator_list]
    process = context.process("class", "definition", [*bases, *more, *decorators])
    scope = context.fresh()
    frame = context.frame
    known = {id(method.node) for methods in context.methods.values() for method in methods}
    inner = Frame(
        (scope, *frame.scopes), frame.file, assigned_names(node.body), frame.function,
        frame.loop_base, frame.path_base, frame.mark,
    )  # fmt: skip
    inner.is_class = True
    context.frames.append(inner)
    place = context.place
    before = context.state.mark()
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if id(statement) in known:
                methods = context.methods[statement.name]
                context.methods[statement.name] = [m for m in methods if m.node is not statement]
            last = statement.body[0].lineno - 1
            first = min([statement.lineno, *(item.lineno for item in statement.decorator_list)])
            context.at(statement, max(last, statement.lineno))
            context.place = type(context.place)(frame.file, first, context.place.end)
            define_function(context, statement, node.name)
        else:
            if isinstance(statement, ast.AnnAssign) and statement.value is None:
                # Decorators such as `dataclass` read it.
                context.at(statement)
                context.link(context.operate("annotation", "annotation", []), process)
            context.walk(context, [statement])
    context.place = place
    context.frames.pop()
    for key, value in context.state.changes(before).items():
        if not isinstance(key, tuple) or key[0] != scope:
            continue
        if not isinstance(value.target, PyFunction):
            context.link(value, process)
        elif value.target.name.rpartition(".")[2] != key[1]:  # a method by another name
            context.link(value, process)
            context.methods.setdefault(key[1], []).append(value.target)
    names = [_decorator(item) for item in node.decorator_list]
    cls = Class(
        node,
        node.name,
        frame.file,
        scope,
        tuple(base.target for base in bases),
        context.graph.next_id,
        all(name in _PLAIN_CLASS_DECORATORS for name in names) and not more,
    )
    context.classes[id(node)] = cls
    _open_class(context, cls, more)
    bind(context, node.name, PyValue(target=cls), process)


_FOLLOWED = frozenset(
    {"init", "post_init", "call", "enter", "exit", "iter", "next", "getitem", "setitem", "delitem",
     "contains", "len", "bool", "str", "repr", "format", "hash", "eq", "ne", "lt", "le", "gt", "ge",
     "int", "index", "float", "complex", "divmod", "rdivmod", "abs", "round", "reversed", "neg",
     "pos", "invert", "all", "doc", "slots", "name", "version", "author", "match_args"}
    | {f"{prefix}{name}" for name in OPERATORS.values() for prefix in ("", "r", "i")}
)  # fmt: skip
"""Special methods whose calls are found in the text."""


def _open_class(context: Context, cls: Class, keywords: list[PyValue]) -> None:
    """Note what a class computes that no statement shows."""
    node = cls.node
    defined = assigned_names(node.body)
    hidden = [n for n in defined if n.startswith("__") and n.endswith("__")]
    hidden = sorted(name for name in hidden if name.strip("_") not in _FOLLOWED)
    if hidden:
        context.leave_all_open(f"{cls.name} has {', '.join(hidden)}, whose calls are not followed")
    if keywords or not cls.plain:
        context.leave_all_open(f"{cls.name} is behind a decorator or metaclass that may change it")
    if foreign_bases(cls):
        for method in methods_of(context, cls):
            context.escaped[id(method.node)] = method
        context.leave_open(f"{cls.name} is derived from what nothing is known of")


def import_modules(context: Context, node: ast.Import) -> None:
    """Add an `import`: of a library by its name, of a module of the project by reading it."""
    for item in node.names:
        process = context.process("import", "import")
        first = item.name.split(".")[0]
        own_module = _module(context, item.name if item.asname else first, 0)
        if own_module is None:
            _open_import(context, item.name)
        target = own_module or Library(item.name if item.asname else first)
        bind(context, item.asname or first, PyValue(target=target), process)
        if own_module is not None:
            _read_all(context, item.name)


def _read_all(context: Context, name: str) -> None:
    parts = name.split(".")
    for count in range(2, len(parts) + 1):
        inner = _module(context, ".".join(parts[:count]), 0)
        outer = _module(context, ".".join(parts[: count - 1]), 0)
        if inner is not None and outer is not None:
            key = (outer.scope, parts[count - 1])
            context.graph.names[key] = parts[count - 1]
            context.write(key, PyValue(target=inner))


def import_from(context: Context, node: ast.ImportFrom) -> None:
    """Add a `from ... import`."""
    own_module = _module(context, node.module or "", node.level)
    name = "." * node.level + (node.module or "")
    if own_module is None:
        _open_import(context, name)
    for item in node.names:
        process = context.process("import", "import")
        if item.name == "*":
            _import_all(context, own_module, name)
            continue
        bound = PyValue(target=Library(f"{name}.{item.name}"))
        if own_module is not None:
            inner = _module(context, f"{node.module or ''}.{item.name}".strip("."), node.level)
            held = context.lookup((own_module.scope, item.name))
            if held is not None:
                context.link(held, process)
                filled = context.filled(held)
                bound = PyValue((), held.regions, held.kind, held.target, held.cls, filled.const)
            elif inner is not None:
                bound = PyValue(target=inner)
        bind(context, item.asname or item.name, bound, process)


def _open_import(context: Context, name: str) -> None:
    """Note that importing a module may run anything, unless it is known to define names only."""
    first = name.split(".", maxsplit=1)[0]
    if first not in context.facts.modules and first not in sys.stdlib_module_names:
        context.leave_open(f"what importing {first or name} does is not known")


def _import_all(context: Context, own_module: ModuleFile | None, name: str) -> None:
    if own_module is None:
        why = f"from {name} import *: the names are not in the text"
        if (
            name.split(".", maxsplit=1)[0] in context.facts.modules
            or name in sys.stdlib_module_names
        ):
            context.not_followed(why)
        else:
            context.leave_all_open(why)
        for fact in context.facts.facts:
            owner, _, short = fact.rpartition(".")
            if owner == name and not short.startswith("_"):
                process = context.process("import", "import")
                bind(context, short, PyValue(target=Library(fact)), process)
        return
    for key in [
        k for k in context.state.current if isinstance(k, tuple) and k[0] == own_module.scope
    ]:
        held = context.lookup(key)
        if held is not None and not str(key[1]).startswith("_"):
            process = context.process("import", "import", [held])
            bound = held.at(())
            bind(context, str(key[1]), bound, process)


def _module(context: Context, name: str, level: int) -> ModuleFile | None:
    """A module of the project, read when it is first imported; None: there is no such file."""
    here = context.script.files[context.frame.file].path
    if here is None:
        return None
    roots = [here.parent]
    if level:
        roots = [list(here.parents)[level - 1]] if level <= len(here.parents) else []
    elif context.script.main.path is not None:
        roots.append(context.script.main.path.parent)
    for root in roots:
        stem = root.joinpath(*name.split(".")) if name else root
        for path in (
            stem.with_suffix(".py") if name else stem / "__init__.py",
            stem / "__init__.py",
        ):
            if path.is_file():
                return _read(context, path.resolve())
    return None


def _read(context: Context, path: Path) -> ModuleFile | None:
    if path in context.modules:
        return ModuleFile(*context.modules[path])
    main = context.script.main.path
    assert main is not None
    folder = main.resolve().parent
    name = str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name
    text, tree = read_module(path, name)
    if tree is None:
        return None
    number, scope = len(context.script.files), context.fresh()
    context.script.files.append(SourceFile(name, text, tree, path))
    context.modules[path] = number, scope
    place, instance, context.instance = context.place, context.instance, 0
    path_before, context.path = context.path, []
    guards, context.guards = context.guards, []
    context.frames.append(Frame((scope,), number, loop_base=len(context.loops)))
    context.walk(context, context.script.files[number].tree.body)
    context.frames.pop()
    context.path, context.guards = path_before, guards
    context.place, context.instance, context.dead = place, instance, False
    return ModuleFile(number, scope)

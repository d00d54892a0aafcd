"""Attributes, and calls of functions: of the project, in the catalogue, and unknown ones."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from lipstick.systems.scripts.facts import Fact, Parameter, unknown_fact
from lipstick.systems.scripts.model import Place
from lipstick.systems.scripts.reading.arguments import Arguments
from lipstick.systems.scripts.reading.assign import store
from lipstick.systems.scripts.reading.classes import class_member, order_of, own_member
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.invoke import instantiate, invoke
from lipstick.systems.scripts.reading.known import KnownCall, apply
from lipstick.systems.scripts.reading.named_files import MOVED
from lipstick.systems.scripts.reading.names import read_name
from lipstick.systems.scripts.reading.opaque import advanced, effects, leave_effects
from lipstick.systems.scripts.reading.special import converted
from lipstick.systems.scripts.reading.special_names import MAPPING
from lipstick.systems.scripts.reading.values import (
    IMMUTABLE,
    NO_REGIONS,
    NOTHING,
    BoundMethod,
    Class,
    Lazy,
    Library,
    ModuleFile,
    PyFunction,
    PyValue,
    Super,
)


def attribute(context: Context, node: ast.Attribute) -> PyValue:
    """Add the reading of an attribute."""
    base = context.evaluate(context, node.value)
    return attribute_of(context, base, node.attr)


def attribute_of(context: Context, base: PyValue, name: str) -> PyValue:
    """Return the value of an attribute of a value."""
    match base.target:
        case Library(name=library):
            return _of_library(context, base, library, name)
        case ModuleFile(scope=scope):
            held = context.lookup((scope, name))
            if held is not None:
                filled = context.filled(held)
                refs = (*base.refs, *filled.refs)
                return filled.at(refs)
        case Class():
            member = class_member(context, base.target, name)
            if member is not None:
                refs = (*base.refs, *context.filled(member).refs)
                target = member.target
                if isinstance(target, PyFunction) and target.binding == "classmethod":
                    return PyValue(refs, target=BoundMethod(name, base, target))
                return PyValue(refs, member.regions, member.kind, target, member.cls)
        case Super(owner=owner, classes=classes):
            members = (own_member(context, each, name) for each in classes)
            found = next((member for member in members if member is not None), None)
            if found is not None and isinstance(found.target, PyFunction):
                return _of_object(context, found, found.target, owner, name)
            base = replace(base, target=None)
        case _:
            pass
    if name == "__class__":
        return type_of(context, base)
    if isinstance(base.target, PyFunction | Class):
        base = context.filled(context.as_object(base))
    if base.cls is not None:
        cls = base.cls
        base = _with_class(context, base, cls)
        member = class_member(context, cls, name)
        if member is not None and isinstance(member.target, PyFunction):
            return _of_object(context, member, member.target, base, name)
        if member is not None:
            base = PyValue((*base.refs, *member.refs), base.regions | member.regions)
    if _is_method(context, base, name):
        return PyValue(base.refs, base.regions, "", BoundMethod(name, base))
    return _operate(context, base, name)


def _with_class(context: Context, base: PyValue, cls: Class) -> PyValue:
    """An object with what was stored into its class by other names."""
    regions = NO_REGIONS
    if id(cls.node) in context.own_regions:
        regions = frozenset([context.own_regions[id(cls.node)]])
    stored = context.filled(PyValue(regions=regions)).refs
    base = replace(base, refs=tuple(dict.fromkeys((*base.refs, *stored))))
    for outer in cls.bases:
        if isinstance(outer, Class):
            base = _with_class(context, base, outer)
    return base


def type_of(context: Context, value: PyValue, callee: PyValue | None = None) -> PyValue:
    """Add the class of an object; if its class is not plain, it may be any of the project."""
    before = [value] if callee is None else [callee, value]
    if value.cls is not None and value.cls.view in context.graph.nodes:
        refs = tuple(ref for each in before for ref in each.refs)
        refs = (*refs, (value.cls.view, None, None))
        return context.filled(context.as_object(PyValue(refs, target=value.cls)))
    regions = NO_REGIONS
    if not value.kind:
        for cls in context.classes.values():
            context.own_region(cls)
        regions = frozenset(context.class_regions)
    taken = context.operate("type", "call", before, regions=regions)
    return context.filled(PyValue(taken.refs, regions))


def _of_object(
    context: Context, member: PyValue, function: PyFunction, base: PyValue, name: str
) -> PyValue:
    """A property or method of an object whose class is plain."""
    if function.binding == "property":
        return invoke(context, function, member, Arguments(), context.filled(base))
    owner = base
    if function.binding == "classmethod":
        owner = base if isinstance(base.target, Class) else PyValue(base.refs, target=base.cls)
    refs = (*base.refs, *member.refs)
    return PyValue(refs, base.regions, target=BoundMethod(name, owner, function))


def _kind(context: Context, base: PyValue, name: str) -> str:
    owner = context.facts.classes.get(base.kind, "")
    return context.facts.attributes.get((owner, name), "")


def _is_method(context: Context, base: PyValue, name: str) -> bool:
    known = context.facts.of_method(base.kind, name)
    return known is not None and not _kind(context, base, name)


def _operate(context: Context, base: PyValue, name: str) -> PyValue:
    """Add a PE that takes an attribute of an object."""
    kind = _kind(context, base, name)
    if base.kind == "frame" and not kind:
        kind = "column"
    regions = NO_REGIONS
    if kind not in IMMUTABLE:
        regions = base.regions if kind else context.inside(base.regions) | base.regions
    inputs: list[PyValue] = [base]
    lines: tuple[Place, ...] = ()
    if base.cls is None:
        # It may be a property of any class that has one of the name.
        getters = [f for f in context.methods.get(name, ()) if f.binding == "property"]
        if getters:
            ran = effects(context, getters)
            inputs, lines = [base, *ran.inputs], ran.lines
            leave_effects(context, ran, context.process(f".{name}", "getter", inputs))
            context.not_followed(f"{name} may be a property of that name")
    taken = context.operate(
        f".{name}", "attribute", inputs, kind, regions, ratio="1:1", lines=lines
    )
    return PyValue(taken.refs, taken.regions, kind, BoundMethod(name, base))


def _of_library(context: Context, base: PyValue, library: str, name: str) -> PyValue:
    full = f"{library}.{name}"
    kind = context.facts.attributes.get((library, name), "")
    state = context.named.get(f"<{library.split('.', maxsplit=1)[0]}>")
    regions = NO_REGIONS if state is None else frozenset([state])
    if kind and kind not in IMMUTABLE:
        # An object of the library's that everyone shares.
        own_state = "<process>" if kind == "environment" else f"<{full}>"
        regions |= {context.named_region(own_state)}
        refs = (*base.refs, *(context.lookup(context.world) or base).refs)
        return context.filled(PyValue(tuple(dict.fromkeys(refs)), regions, kind))
    value = PyValue(base.refs, regions, kind, None if kind else Library(full))
    return context.filled(value) if regions else value


_BY_NAME = 1000
"""The position of a parameter that has none."""

_PRINT_TO_FILE = Fact("print", mutates=(Parameter("file", _BY_NAME),), stores=True, returns="none")

_ADVANCE = Fact("advance", mutates=(Parameter("self"),), stores=True, shares=True)
"""The effect of `send`, `throw`, `close` and the like on a generator, beside that of its body."""

_TEXT_WITH_NAMES = frozenset({"query", "eval"})
"""Methods of frames that are given a text in which variables are called ``@name``."""

_TEXT_RUN = frozenset({"exec", "eval", "compile", "globals", "locals", "__import__"})

_OF_CLASSES = frozenset({"fromkeys", "maketrans", "from_bytes", "fromhex", "fromtimestamp"})
"""Methods that are called of a class, and not of an object of it."""

_ANYTHING = frozenset(
    {"exec", "eval", "globals", "locals", "__import__", "sys._getframe", "inspect.currentframe",
     "inspect.stack", "gc.get_objects", "gc.get_referrers", "sys.settrace", "sys.setprofile",
     "importlib.reload", "types.FunctionType", "ctypes.memmove", "breakpoint",
     "threading.Thread", "threading.Timer", "atexit.register", "signal.signal",
     "weakref.finalize", "vars", "dir"}
)  # fmt: skip
"""Calls that reach every variable and object, or run at a time that the text does not show."""


def call(context: Context, node: ast.Call) -> PyValue:
    """Add a call."""
    callee = context.evaluate(context, node.func)
    arguments = _arguments(context, node)
    match callee.target:
        case PyFunction() as function:
            return invoke(context, function, callee, arguments, None)
        case BoundMethod(function=PyFunction() as function, owner=owner):
            receiver = None if function.binding == "static" else owner
            return invoke(context, function, callee, arguments, receiver)
        case Class() as cls:
            return instantiate(context, cls, callee, arguments)
        case Library(name=name):
            return _library(context, node, callee, arguments, name)
        case BoundMethod(name=name, owner=owner):
            return _method(context, node, callee, arguments, name, owner)
        case _:
            if callee.cls is not None:
                member = class_member(context, callee.cls, "__call__")
                if member is not None and isinstance(member.target, PyFunction):
                    return invoke(context, member.target, callee, arguments, callee)
            return _unresolved(context, node, callee, arguments)


def _arguments(context: Context, node: ast.Call) -> Arguments:
    given = Arguments()
    for argument in node.args:
        value = context.evaluate(context, argument)
        if isinstance(argument, ast.Starred) or given.spread:
            given.spread.append(value)
        else:
            given.positional.append(value)
            given.texts.append(argument)
    for keyword in node.keywords:
        value = context.evaluate(context, keyword.value)
        if keyword.arg is None:
            given.spread.append(converted(context, value, MAPPING, "**"))
        else:
            given.named[keyword.arg] = value
            given.named_texts[keyword.arg] = keyword.value
    return given


def _library(
    context: Context, node: ast.Call, callee: PyValue, arguments: Arguments, name: str
) -> PyValue:
    if name == "super":
        return _super(context, callee)
    if name == "__ipython__":
        context.leave_all_open("a magic or command is not followed")
    elif name in _ANYTHING and not (name in ("vars", "dir") and arguments.all()):
        context.leave_all_open(f"{name} may read and change any variable")
    classes = [each.target for each in arguments.positional[:1]]
    if name == "setattr" and len(arguments.positional) == 3 and isinstance(classes[0], Class):
        first, attribute = node.args[0], arguments.positional[1].const
        if isinstance(first, ast.Name) and isinstance(attribute, str):
            store(context, ast.Attribute(first, attribute, ast.Store()), arguments.positional[2])
            return NOTHING
        context.leave_all_open("which attribute of a class is stored is not plain")
    if name == "type" and len(arguments.positional) == 1 and not arguments.spread:
        return type_of(context, arguments.positional[0], callee)
    fact = context.facts.facts.get(name)
    if name == "print" and "file" in arguments.named:
        target = arguments.named["file"].target
        if not isinstance(target, Library) or target.name == "sys.stderr":
            fact = _PRINT_TO_FILE
    if name in ("os.chdir", "os.fchdir", "contextlib.chdir"):
        context.named_region(MOVED)
    if name in _TEXT_RUN or name == "__ipython__":
        what = "a magic or command" if name == "__ipython__" else f"what {name} runs"
        fact = unknown_fact(name, f"{what} is not followed")
    if name in _TEXT_RUN and name != "__import__":
        return _text_run(context, node, callee, arguments, name)
    owner_class, _, short = name.rpartition(".")
    method = owner_class in context.facts.classes.values() and short not in _OF_CLASSES
    if fact is not None and method and arguments.positional:
        # A method that is called by its class: `list.append(x, 1)`.
        owner = arguments.positional.pop(0)
        text = arguments.texts.pop(0) if arguments.texts else node.func
        call = ast.copy_location(ast.Call(ast.Attribute(text, "", ast.Load()), [], []), node)
        return apply(KnownCall(context, call, fact, arguments, owner), callee)
    if fact is None:
        # A constructor or function that nobody has told of.
        fact = unknown_fact(name, f"nothing is known of {name}")
    return apply(KnownCall(context, node, fact, arguments, None), callee)


def _text_run(
    context: Context, node: ast.Call, callee: PyValue, arguments: Arguments, name: str
) -> PyValue:
    """Add a call that may read all variables at hand and, but for `eval`, assign them."""
    scope = context.frame.scopes[0]
    keys = [k for k in context.state.current if isinstance(k, tuple) and k[0] == scope]
    held = {key: context.lookup(key) for key in keys}
    known = {k: v for k, v in held.items() if v is not None and not isinstance(v.target, Library)}
    arguments.spread += [context.filled(value) for value in known.values()]
    fact = unknown_fact(name, f"what {name} runs is not followed")
    called = apply(KnownCall(context, node, fact, arguments, None), callee)
    if name != "eval":
        for key, value in known.items():
            refs = tuple(dict.fromkeys((*called.refs, *value.refs)))
            context.write(key, PyValue(refs, value.regions | called.regions))
    return called


def _method(
    context: Context,
    node: ast.Call,
    callee: PyValue,
    arguments: Arguments,
    name: str,
    owner: PyValue,
) -> PyValue:
    fact = context.facts.of_method(owner.kind, name)
    why = None
    if fact is None and not (owner.kind and name not in context.methods):
        fact = context.facts.by_name(name)
        why = f"{name} is taken by its name: the class of what it is called on is not plain"
    if owner.cls is not None and fact is None:
        fact = context.facts.by_name(name)
    if isinstance(owner.target, Lazy) or advanced(context, [owner]):
        fact, why = _ADVANCE, None
    if name in _TEXT_WITH_NAMES:
        texts = [v.const for v in arguments.positional if isinstance(v.const, str)]
        names = [name for text in texts for name in re.findall(r"@(\w+)", text)]
        arguments.spread += [read_name(context, name) for name in names]
    candidates = list(context.methods.get(name, []))
    held = [f for region in owner.regions for f in context.holds.get(region, ())]
    if fact is None:
        what = f"{owner.kind}.{name}" if owner.kind else f".{name}"
        fact = unknown_fact(name, f"nothing is known of {what}")
        candidates = [*candidates, *context.escaped.values()]
    if candidates:
        context.not_followed(f"{name} may be any method of that name")
    known = KnownCall(context, node, fact, arguments, owner)
    return apply(known, callee, [*candidates, *held], why)


def _unresolved(context: Context, node: ast.Call, callee: PyValue, arguments: Arguments) -> PyValue:
    name = ast.unparse(node.func)[:40]
    fact = unknown_fact(name, f"what {name} calls is not plain from the text")
    known = KnownCall(context, node, fact, arguments, callee)
    return apply(known, callee, list(context.escaped.values()))


def _super(context: Context, callee: PyValue) -> PyValue:
    frame = context.frame
    if frame.function is None or frame.function.owner is None or frame.locals is None:
        return callee
    first = next(iter(frame.function.node.args.args), None)
    node = frame.function.node
    owner = next((c for c in context.classes.values() if node in c.node.body), None)
    held = None if first is None else context.lookup((frame.scopes[0], first.arg))
    if owner is None or held is None:
        return callee
    filled = context.filled(held)
    filled = filled.at((*callee.refs, *filled.refs))
    cls = held.target if isinstance(held.target, Class) else held.cls
    order = order_of(owner if cls is None else cls)
    nodes = [each.node for each in order]
    behind = order[nodes.index(owner.node) + 1 :] if owner.node in nodes else []
    return replace(filled, target=Super(filled, tuple(behind)), cls=None)

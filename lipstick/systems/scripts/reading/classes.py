"""Classes of the project: their members and methods."""

from __future__ import annotations

import ast
from dataclasses import replace

from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.values import Class, Library, PyFunction, PyValue


def order_of(cls: Class) -> list[Class]:
    """Return a class and its bases in the project, in the order in which Python looks at them."""
    made: dict[int, tuple[type, Class]] = {}

    def build(each: Class) -> type:
        if id(each.node) not in made:
            bases = tuple(build(base) for base in each.bases if isinstance(base, Class))
            made[id(each.node)] = type(each.name, bases, {}), each
        return made[id(each.node)][0]

    try:
        order = build(cls).__mro__
    except TypeError:  # it has none, and the script stops there
        return [cls]
    classes = dict(made.values())
    return [classes[each] for each in order if each in classes]


def class_member(context: Context, cls: Class, name: str) -> PyValue | None:
    """Return the member of a name in a class of the project or in its bases, or None."""
    members = (own_member(context, each, name) for each in order_of(cls))
    return next((member for member in members if member is not None), None)


def own_member(context: Context, cls: Class, name: str) -> PyValue | None:
    """Return the member of a name in a class of the project itself, or None."""
    held = context.lookup((cls.scope, name)) if context.state.get((cls.scope, name)) else None
    region = context.own_regions.get(id(cls.node))
    if held is None or region is None:
        return held
    # What was stored into the class by another name.
    stored = context.filled(PyValue(regions=frozenset([region]))).refs
    return replace(held, refs=tuple(dict.fromkeys((*held.refs, *stored))))


_PLAIN_BASES = frozenset(
    {"object", "dict", "list", "set", "tuple", "str", "int", "float", "type", "ABC", "Protocol",
     "Generic", "NamedTuple", "TypedDict", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag",
     "UserDict", "UserList", "defaultdict", "OrderedDict", "Counter"}
)  # fmt: skip
"""Classes of Python whose own methods do what the statements say that use them."""


def foreign_bases(cls: Class) -> bool:
    """Return True if a class is derived from one outside of the project that may do anything."""
    for base in cls.bases:
        if isinstance(base, Class):
            if foreign_bases(base):
                return True
        elif isinstance(base, Library):
            short = base.name.rpartition(".")[2]
            if short not in _PLAIN_BASES and not short.endswith(("Error", "Exception", "Warning")):
                return True
        else:
            return True
    return False


def is_exception(cls: Class) -> bool:
    """Return True for a class of exceptions."""
    return any(
        is_exception(base)
        if isinstance(base, Class)
        else isinstance(base, Library) and base.name.endswith(("Error", "Exception", "Warning"))
        for base in cls.bases
    )


def methods_of(context: Context, cls: Class) -> list[PyFunction]:
    """The methods of a class of the project."""
    methods = []
    for item in cls.node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            methods += [f for f in context.methods.get(item.name, []) if f.node is item]
    return methods

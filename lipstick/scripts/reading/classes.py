"""Classes of the project: their members and methods."""

from __future__ import annotations

import ast

from lipstick.scripts.reading.context import Context
from lipstick.scripts.reading.values import Class, Function, Value


def class_member(context: Context, cls: Class, name: str) -> Value | None:
    """What a class of the project, or one that it is derived from, has by a name."""
    held = context.lookup((cls.scope, name)) if context.state.get((cls.scope, name)) else None
    if held is not None:
        return held
    for base in cls.bases:
        if isinstance(base, Class):
            member = class_member(context, base, name)
            if member is not None:
                return member
    return None


def methods_of(context: Context, cls: Class) -> list[Function]:
    """The methods of a class of the project."""
    methods = []
    for item in cls.node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            methods += [f for f in context.methods.get(item.name, []) if f.node is item]
    return methods

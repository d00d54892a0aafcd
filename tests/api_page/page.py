"""The public names of packages, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter, cleandoc, getdoc, isclass, isfunction, ismodule, signature
from types import ModuleType
from typing import Any

_SYSTEMS = ("lipstick.systems.streams", "lipstick.systems.events")

PACKAGES = (
    "lipstick",
    # A system can be taken out of an installation.
    *(name for name in _SYSTEMS if find_spec(name) is not None),
    "semiring",
    "semiring.semirings",
    "graphquery",
    "rewriter",
)

_OURS = tuple({package.partition(".")[0] for package in PACKAGES})
_HEAD = """# API

The public names of each package with the first paragraph of their documentation; `help(name)` has \
the rest: parameters, what is raised, complexity, sources.

These pages are written by `python -m tests.api_page`.

"""
_SHORTENED = re.compile(r":(?:\w+:)+`~[\w.]*?(\w+)`")
_ROLE = re.compile(r":(?:\w+:)+`")
_SHOWN = (bool, int, float, str, bytes, type(None))


def pages() -> dict[str, str]:
    """Return the pages by their paths in ``docs/``: one a package, and the list of them."""
    listed = "".join(
        f"- [`{name}`](api/{name}.md): {paragraph(getdoc(import_module(name)))}\n"
        for name in PACKAGES
    )
    return {"api.md": _HEAD + listed} | {
        f"api/{name}.md": "\n".join(package(name)) for name in PACKAGES
    }


def package(name: str) -> Iterator[str]:
    """Yield the lines of a package: its names in alphabetical order, classes with their methods."""
    module = import_module(name)
    yield f"# {name}\n"
    yield f"{paragraph(getdoc(module))}\n"
    for public in sorted(module.__all__, key=str.lower):
        yield from _name(module, public)


def paragraph(text: str | None) -> str:
    """Return the first paragraph of a docstring as one line of Markdown."""
    first = cleandoc(text or "").partition("\n\n")[0]
    joined = _ROLE.sub("`", _SHORTENED.sub(r"`\1`", " ".join(first.split())))
    return re.sub("::$", ":", joined.replace("``", "`")).replace("<", "&lt;")


def call(name: str, function: Any, *, bound: bool = False) -> str:
    """Return how a function is called: its parameters, with defaults that are plain values."""
    parameters = list(signature(function).parameters.values())[bound:]
    written: list[str] = []
    keyword_only = False
    for parameter in parameters:
        if parameter.kind is Parameter.VAR_POSITIONAL:
            keyword_only = True
        elif parameter.kind is Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            written.append("*")
        written.append(_parameter(parameter))
    return f"{name}({', '.join(written)})"


def _parameter(parameter: Parameter) -> str:
    stars = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = parameter.default
    if default is Parameter.empty:
        return f"{stars}{parameter.name}"
    plain = isinstance(default, _SHOWN) and not isinstance(default, Enum)
    return f"{parameter.name}={default!r}" if plain else f"{parameter.name}=..."


def _name(module: ModuleType, name: str) -> Iterator[str]:
    value = getattr(module, name)
    if ismodule(value):
        yield f"## `{name}`\n"
        yield f"The module `{value.__name__}`.\n"
    elif isclass(value) and value.__module__.startswith(_OURS):
        yield from _class(name, value)
    elif isfunction(value):
        yield f"## `{call(name, value)}`\n"
        yield f"{paragraph(getdoc(value))}\n"
    elif isclass(value):
        yield f"## `{name}`\n"
        yield f"The class `{value.__module__}.{value.__qualname__}`.\n"
    else:
        yield f"## `{name}`\n"
        yield f"{_constant(value)}\n"


def _constant(value: Any) -> str:
    kind = type(value)
    if kind.__module__.startswith(_OURS):
        return f"Of the class `{kind.__name__}`: {paragraph(kind.__doc__)}"
    if isinstance(value, str):
        return f"The text `{value}`."
    if isinstance(value, tuple):
        return f"A tuple: {', '.join(f'`{each!r}`' for each in value)}."
    return f"A type: `{value}`."


def _class(name: str, kind: type[Any]) -> Iterator[str]:
    yield f"## `{_constructor(name, kind)}`\n"
    yield f"{paragraph(getdoc(kind))}\n"
    members = [] if issubclass(kind, Exception) else [*_members(kind)]
    if members:
        yield "| | |\n|---|---|"
        for called, text in members:
            yield f"| `{called}` | {text} |"
        yield ""


def _constructor(name: str, kind: type[Any]) -> str:
    has_constructor = any("__init__" in vars(base) for base in _bases(kind))
    if (
        issubclass(kind, Exception | Enum)
        or not has_constructor
        or getattr(kind, "_is_protocol", False)
    ):
        return f"class {name}"
    return f"class {call(name, kind)}"


def _bases(kind: type[Any]) -> Iterator[type[Any]]:
    return (base for base in kind.__mro__ if base.__module__.startswith(_OURS))


def _members(kind: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield the public methods and properties of a class that have a docstring of their own.

    Those that it inherits are among them, unless the class that has them is on the page itself.
    """
    seen: set[str] = set()
    for base in _bases(kind):
        if base is not kind and base in _public_classes():
            continue
        for name, member in vars(base).items():
            text = _documentation(member)
            if text and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield _called(name, member), paragraph(text).replace("|", "\\|")


@cache
def _public_classes() -> frozenset[Any]:
    modules = [import_module(name) for name in PACKAGES]
    values = (getattr(module, name) for module in modules for name in module.__all__)
    return frozenset(value for value in values if isclass(value))


def _documentation(member: object) -> str | None:
    function = getattr(member, "__func__", member)
    described = isfunction(function) or isinstance(member, property | cached_property)
    return function.__doc__ if described else None


def _called(name: str, member: object) -> str:
    function = getattr(member, "__func__", member)
    if not isfunction(function):
        return name
    return call(name, function, bound=not isinstance(member, staticmethod))

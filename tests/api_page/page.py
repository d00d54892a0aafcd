"""The public names of packages, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter, cleandoc, getdoc, isclass, isfunction, ismodule, signature
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

_BY_NAME = (
    *("lipstick.histories", "lipstick.erasure", "lipstick.watching", "lipstick.workflow"),
    *("lipstick.systems", "graphquery", "rewriter", "semiring"),
)
"""Modules beside those of queries, members of whose classes are listed by name alone."""

_OURS = tuple({package.partition(".")[0] for package in PACKAGES})
_HEAD = """# API

The public names of each package with the first paragraph of their documentation, written by \
`python -m tests.api_page`. Outside of queries and captures, members of classes are listed by \
name. `help(name)` has the rest: parameters, what is raised, complexity, sources.

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
    """Yield the lines of a package: its names in alphabetical order, classes with their methods.

    What several of the classes inherit from one that has no name in public comes at the end, once.
    """
    module = import_module(name)
    yield f"# {name}\n"
    yield f"{paragraph(getdoc(module))}\n"
    public = _public(name)
    shared = _shared(public)
    for each, value in public.items():
        yield from _elsewhere(name, each, value) or _name(each, value, shared)
    for base, heirs in shared.items():
        yield f"## Common to {', '.join(f'`{heir}`' for heir in heirs)}\n"
        yield f"{paragraph(getdoc(base))}\n"
        yield from _listed([base])


def _public(package: str) -> dict[str, Any]:
    """Return what a package makes public, in alphabetical order."""
    module = import_module(package)
    return {each: getattr(module, each) for each in sorted(module.__all__, key=str.lower)}


def _elsewhere(package: str, name: str, value: Any) -> list[str]:
    """Return the lines of a class that an earlier page, or an earlier name, has in full."""
    if not isclass(value):
        return []
    for other in PACKAGES[: PACKAGES.index(package) + 1]:
        for each, known in _public(other).items():
            if known is value and (other, each) != (package, name):
                link = f"[`{other}.{each}`]({other}.md)"
                return [f"## `{name}`\n", f"See {f'`{each}`' if other == package else link}.\n"]
            if (other, each) == (package, name):
                break
    return []


def _shared(public: Mapping[str, Any]) -> dict[type[Any], list[str]]:
    """Return the bases without a public name that have documented members, and their heirs, of
    which there are several.
    """
    heirs: dict[type[Any], list[str]] = {}
    for name, value in public.items():
        if isclass(value) and value.__module__.startswith(_OURS):
            for base in _bases(value):
                heirs.setdefault(base, []).append(name)
    return {
        base: names
        for base, names in heirs.items()
        if len(names) > 1 and base not in _public_classes() and any(_members_of([base]))
    }


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


def _name(name: str, value: Any, shared: Mapping[type[Any], Sequence[str]]) -> Iterator[str]:
    if ismodule(value):
        yield f"## `{name}`\n"
        yield f"The module `{value.__name__}`.\n"
    elif isclass(value) and value.__module__.startswith(_OURS):
        yield from _class(name, value, shared)
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
    if kind in _public_classes():
        return f"Of the class `{kind.__name__}`."
    if kind.__module__.startswith(_OURS):
        return f"Of the class `{kind.__name__}`: {paragraph(kind.__doc__)}"
    if isinstance(value, str):
        return f"The text `{value}`."
    if isinstance(value, tuple):
        return f"A tuple: {', '.join(f'`{each!r}`' for each in value)}."
    return f"A type: `{value}`."


def _class(name: str, kind: type[Any], shared: Mapping[type[Any], Sequence[str]]) -> Iterator[str]:
    yield f"## `{_constructor(name, kind)}`\n"
    yield f"{paragraph(getdoc(kind))}\n"
    if not issubclass(kind, Exception):
        elsewhere = _public_classes() | shared.keys()
        bases = [base for base in _bases(kind) if base is kind or base not in elsewhere]
        yield from _listed(bases)


def _listed(bases: Sequence[type[Any]]) -> Iterator[str]:
    members = _members_of(bases)
    if not all(base.__module__.startswith(_BY_NAME) for base in bases):
        lines = [f"- `{called}`: {text}" for called, text in members]
        yield from (*lines, "") if lines else ()
    else:
        names = ", ".join(f"`{called}`" for called, _ in members)
        yield from [f"{names}\n"] if names else ()


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


def _members_of(bases: Iterable[type[Any]]) -> Iterator[tuple[str, str]]:
    """Yield the public methods and properties of classes that have a docstring of their own."""
    seen: set[str] = set()
    for base in bases:
        for name, member in vars(base).items():
            text = _documentation(member)
            if text and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield _called(name, member), paragraph(text)


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

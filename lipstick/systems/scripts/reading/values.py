"""Values as known while a script is read, none of them by running anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from lipstick.systems.scripts.model import Key


class Missing:
    """The type of :data:`MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()
"""The constant of a value that is not known to be one."""

Reference: TypeAlias = tuple[int, Key | None, str | None]
"""A node that a reader depends on, which variable of it (of a block), and why it is assumed."""

NO_REGIONS: frozenset[int] = frozenset()

IMMUTABLE = frozenset({"number", "text", "none", "bytes", "range"})
"""Kinds of values that nothing changes in place."""

PLAIN_KINDS = frozenset(
    {"number", "text", "none", "bytes", "range", "list", "dict", "tuple", "set", "data", "deque",
     "counter"}
)  # fmt: skip
"""Kinds of values whose methods belong to Python's own types."""

COPIED = frozenset({"frame", "column", "array", "sparkframe"})
"""Kinds of values that copy what is stored into them, and whose operators make new ones."""


ITERATORS = frozenset({"iterator", "file", "memoryfile", "rows"})
"""Kinds of values that going over uses up."""


@dataclass(frozen=True, slots=True)
class PyFunction:
    """A function or lambda of the project.

    Parameters
    ----------
    scopes
        The scopes around it, innermost first; the last is its file's.
    view
        The node of its definition.
    plain
        Whether a call runs its body and nothing else: no decorator but known ones.
    decorators
        Functions of the project that decorate it.
    remembers
        Whether it keeps what it has returned.
    regions
        The objects that its defaults are, which all calls share.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    name: str
    file: int
    scopes: tuple[int, ...]
    view: int
    plain: bool = True
    binding: str = "function"
    owner: str | None = None
    decorators: tuple[PyFunction, ...] = ()
    remembers: bool = False
    regions: frozenset[int] = NO_REGIONS


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the project."""

    node: ast.ClassDef
    name: str
    file: int
    scope: int
    bases: tuple[Any, ...]
    view: int
    plain: bool = True


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """A module of the same project, read as part of the script."""

    file: int
    scope: int


@dataclass(frozen=True, slots=True)
class Super:
    """The result of `super()`: an object, and the classes in which its attributes are looked up."""

    owner: PyValue
    classes: tuple[Class, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """A module, class or function of a library, by its full name."""

    name: str


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A method of a value whose class is known, or is to be found by the name alone."""

    name: str
    owner: PyValue
    function: PyFunction | None = None


@dataclass(frozen=True, slots=True)
class Lazy:
    """A generator: what it reads is read when something goes over it."""

    function: PyFunction


Target: TypeAlias = Lazy | PyFunction | Class | ModuleFile | Library | Super | BoundMethod | None


@dataclass(frozen=True, slots=True, eq=False)
class PyValue:
    """The knowledge about a value; two are the same only if they are one object.

    Parameters
    ----------
    refs
        What a reader depends on.
    regions
        The objects in memory or storage that it may be, by the place that made them.
    kind
        ``frame``, ``list``, ``number``...; empty: not known.
    target
        What a call of it calls, where that is plain.
    cls
        The class of the project that it is an instance of, where that is plain.
    const
        Its value, where the text has it.
    """

    refs: tuple[Reference, ...] = ()
    regions: frozenset[int] = NO_REGIONS
    kind: str = ""
    target: Target = None
    cls: Class | None = None
    const: Any = MISSING

    def at(self, refs: tuple[Reference, ...]) -> PyValue:
        """Return the same value where a reader depends on other nodes."""
        return replace(self, refs=refs)


NOTHING = PyValue(kind="none", const=None)
"""None, where no text makes it."""


def regions_of(values: Iterable[PyValue]) -> frozenset[int]:
    """Return all objects that some values may be."""
    return NO_REGIONS.union(*(value.regions for value in values))


def joined_kind(values: list[PyValue]) -> str:
    """The kind that all of some values have, or the empty one."""
    kinds = {value.kind for value in values}
    if len(kinds) > 1:
        # A method of None only raises.
        kinds.discard("none")
    if len(kinds) == 1:
        return kinds.pop()
    return "data" if kinds and kinds <= PLAIN_KINDS else ""

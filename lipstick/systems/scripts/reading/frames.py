"""The loops, functions and files whose text is being read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from lipstick.systems.scripts.model import Key, ScriptNode
from lipstick.systems.scripts.reading.values import PyFunction, PyValue, Reference

Changes: TypeAlias = dict[Key, PyValue]


@dataclass(slots=True)
class LoopFrame:
    """A loop whose body is being read.

    Attributes
    ----------
    touched
        By key what it held when the loop began, of keys that the body has read or written.
    heads
        By key its value at the head of an iteration: the first one's or the previous one's.
    versions, objects
        By version of objects when the loop began, and by group of objects that may be the same,
        the region whose head they have.
    assigned
        Names that the body assigns, as far as the text shows.
    began
        The last region before the loop.
    later
        By object before the loop whose parts the body has read: the region of the parts that it may
        put there after that, and the parts that were there.
    ends, breaks
        Per end of an iteration, and per `break`: its conditions and what was changed until then.
    """

    head: ScriptNode
    assigned: frozenset[str]
    path_base: int
    mark: int
    began: int
    touched: dict[Key, PyValue | None] = field(default_factory=dict)
    heads: dict[Key, PyValue] = field(default_factory=dict)
    versions: dict[tuple[Reference, ...], int] = field(default_factory=dict)
    objects: dict[int, int] = field(default_factory=dict)
    later: dict[int, tuple[int, frozenset[int]]] = field(default_factory=dict)
    ends: list[tuple[list[PyValue], Changes]] = field(default_factory=list)
    breaks: list[tuple[list[PyValue], Changes]] = field(default_factory=list)


@dataclass(slots=True)
class Frame:
    """A file, or an invocation of a function, that is being read.

    Attributes
    ----------
    scopes
        Where names are looked up: the function's own, those around it, the file's.
    locals
        The names that its own scope has; None: all that it assigns (a file).
    exits
        Per `return`: what it returns, its conditions, what was changed until then.
    around
        Of a comprehension the frame it stands in, whose variables `:=` assigns.
    """

    scopes: tuple[int, ...]
    file: int
    locals: frozenset[str] | None = None
    function: PyFunction | None = None
    loop_base: int = 0
    path_base: int = 0
    mark: int = 0
    exits: list[tuple[PyValue, list[PyValue], Changes]] = field(default_factory=list)
    yields: list[PyValue] = field(default_factory=list)
    around: Frame | None = None
    is_class: bool = False

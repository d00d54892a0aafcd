"""Parts of the provenance graph of a script (Huq et al., section III-A; Fig. 3).

A node is a constant, a source or computing processing element (PE), or a view. Rules change nodes
in place while a graph is rewritten; answers to questions are made of frozen values.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple, TypeAlias

Key: TypeAlias = Hashable
"""A variable of a scope, ``(scope, name)``, or a region of memory or storage, an integer."""


DOUBT = "doubt"
"""The operation of a node without inputs and lines: something that the text leaves open."""


class NodeKind(StrEnum):
    """Kinds of nodes, by the prefix of their identifiers."""

    CONSTANT = "C"
    """A literal that an operation uses."""
    SOURCE = "SP"
    """A PE that reads from storage."""
    COMPUTING = "P"
    """Any other PE; assignment of a constant is one, as in Fig. 4."""
    VIEW = "V"
    """A version of a variable, or an intermediate result."""


class Role(IntEnum):
    """The meaning of an edge of the initial graph; the final graph has DATA alone."""

    DATA = 0
    """The target computes from the source."""
    CONDITION = 1
    """The source is the condition under which a branch is taken."""
    ACTIVITY = 2
    """The source is what a variable holds at the end of a branch."""
    BRANCH = 3
    """The source is a branch of a block."""
    BACK = 4
    """The source is what the previous iteration of a loop left in a variable."""
    CALLS = 5
    """The caller and what connects it to the body of a function (P5, P6, P4 of Fig. 9)."""


class Place(NamedTuple):
    """Lines of a file of the script, from 1, both included."""

    file: int
    line: int
    end: int


@dataclass(frozen=True, slots=True)
class Window:
    """The number of products of an input that one execution of a PE uses.

    Parameters
    ----------
    size
        Tuples, or time units.
    by
        ``tuples`` or ``time``.
    """

    size: int
    by: str = "tuples"


@dataclass(slots=True)
class ScriptNode:
    """A node of a script's graph.

    Parameters
    ----------
    number
        Among the nodes of its kind, from 1.
    name
        Of a PE its operation (``=``, ``+``, ``read_csv``), of a view its variable.
    operation
        The type of a PE's operation: ``assignment``, ``binary``, ``call``, ``branch``, ``union``...
    lines
        Further lines that a node stands for: bodies of functions that are not followed, and what
        earlier iterations of a loop do.
    value, type
        Of a constant.
    persistent
        Of a view: read from storage or written to it.
    intermediate
        Of a view: a result without a variable of its own.
    has_output
        Of a computing PE: what it produces is written to storage.
    ratio
        Input-output ratio, such as ``1:1`` and ``n:1``; None where it is not known.
    window, trigger
        In tuples unless the window is by time; both 1 unless a fact or a loop sets them.
    iterations
        How often a loop of known range runs the PE.
    unknown
        Why what the node does is not known; None where it is.
    constants, views
        What the model modification rules have folded into a PE: values of constants, and the
        variables whose versions it makes.
    reads, writes
        Files and tables by name; ``?`` where the name is computed.
    instance
        The invocation of a function, or the cell, that the node belongs to; 0: none.
    initial
        Of a view: what a branch would leave in a variable if it is taken (Fig. 5).
    span
        Of a loop's PE: the lines of the loop.
    """

    id: int
    number: int
    kind: NodeKind
    name: str
    operation: str
    place: Place
    lines: tuple[Place, ...] = ()
    value: Any = None
    type: str | None = None
    persistent: bool = False
    intermediate: bool = False
    has_output: bool = False
    ratio: str | None = None
    window: Window = Window(1)
    trigger: int = 1
    iterations: int | None = None
    unknown: str | None = None
    constants: list[Any] = field(default_factory=list)
    views: list[str] = field(default_factory=list)
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    instance: int = 0
    initial: bool = False
    span: Place | None = None

    @property
    def hidden(self) -> bool:
        """Return True for a version of a state that no variable holds, such as ``<stdout>``."""
        return self.kind is NodeKind.VIEW and self.name.startswith("<")

    @property
    def label(self) -> str:
        """The identifier as the paper writes it, ``SP1``, ``V4``; ``H1`` of hidden state."""
        prefix = "D" if self.operation == DOUBT else "H" if self.hidden else self.kind.value
        return f"{prefix}{self.number}"


@dataclass(frozen=True, slots=True)
class Instance:
    """An invocation of a user function, or a cell of a notebook.

    Parameters
    ----------
    module
        The function's or cell's name.
    number
        Which invocation of the module, from 1.
    outer
        The instance that the call stands in; 0: none.
    call
        Where the call stands; None of a cell.
    """

    module: str
    number: int
    outer: int
    kind: str = "function"
    call: Place | None = None

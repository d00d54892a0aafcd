"""The arguments of a call, and which of them a parameter of a fact is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lipstick.systems.scripts.facts import Parameter
from lipstick.systems.scripts.reading.values import PyValue

T = TypeVar("T")


@dataclass(slots=True)
class Arguments:
    """The arguments of a call.

    Attributes
    ----------
    spread
        What `*` and `**` give, whose number is not known.
    """

    positional: list[PyValue] = field(default_factory=list)
    named: dict[str, PyValue] = field(default_factory=dict)
    spread: list[PyValue] = field(default_factory=list)
    texts: list[ast.expr] = field(default_factory=list)
    named_texts: dict[str, ast.expr] = field(default_factory=dict)

    def replace(self, change: Callable[[PyValue], PyValue]) -> None:
        """Let every argument be what a function makes of it."""
        self.positional = [change(value) for value in self.positional]
        self.named = {name: change(value) for name, value in self.named.items()}
        self.spread = [change(value) for value in self.spread]

    def all(self) -> list[PyValue]:
        """All values, whatever the way they are given."""
        return [*self.positional, *self.named.values(), *self.spread]


def argument(parameter: Parameter, arguments: Arguments, owner: PyValue | None) -> PyValue | None:
    """The argument that a call gives for a parameter; None: it gives none that is plain."""
    if parameter.name == "self":
        return owner
    return _given(parameter, arguments.positional, arguments.named)


def argument_text(parameter: Parameter, node: ast.Call, arguments: Arguments) -> ast.expr | None:
    """The text of the argument that a call gives for a parameter; None: it is not plain."""
    if parameter.name == "self":
        return node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return _given(parameter, arguments.texts, arguments.named_texts)


def _given(parameter: Parameter, placed: Sequence[T], named: Mapping[str, T]) -> T | None:
    if parameter.name is not None and parameter.name in named:
        return named[parameter.name]
    position = parameter.position
    return placed[position] if position is not None and position < len(placed) else None

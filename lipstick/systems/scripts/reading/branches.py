"""Branches of conditional statements, and their conditions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from lipstick.systems.scripts.model import NodeKind, ScriptNode
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.frames import Changes
from lipstick.systems.scripts.reading.joins import join
from lipstick.systems.scripts.reading.special import truth_of
from lipstick.systems.scripts.reading.values import PyValue


@dataclass(slots=True)
class Branches:
    """Branches that were read from the same state.

    Attributes
    ----------
    live
        Those whose end is reached: the branch PE and what was changed.
    jumped
        The conditions of all, where the end of one is not reached or only sometimes.
    """

    live: list[tuple[ScriptNode, Changes]] = field(default_factory=list)
    jumped: list[PyValue] = field(default_factory=list)
    some_jump: bool = False

    def read(
        self, context: Context, name: str, conditions: list[PyValue], body: Callable[[], None]
    ) -> None:
        """Read a branch, and take its changes back."""
        mark, base, place = context.state.mark(), len(context.path), context.place
        context.path.extend(conditions)
        body()
        context.place = place
        extra = context.path[base + len(conditions) :]
        del context.path[base:]
        jump = [context.jump] if context.dead and context.jump is not None else []
        self.jumped.extend([*conditions, *extra, *jump])
        self.some_jump |= bool(jump) or bool(extra)
        if not context.dead:
            self.live.append((context.branch(name, conditions), context.state.changes(mark)))
        context.state.undo(mark)
        context.dead = False

    def join(self, context: Context, name: str) -> None:
        """Go on with what the branches leave."""
        if not self.live:
            context.dead = True
        elif len(self.live) == 1:
            for key, value in self.live[0][1].items():
                context.write(key, value)
        else:
            block = context.node(NodeKind.COMPUTING, name, "block")
            join(context, block, self.live)
        if self.some_jump:
            # What follows is reached under conditions.
            context.path.extend(dict.fromkeys(self.jumped))


def condition(context: Context, test: ast.expr, name: str) -> PyValue:
    """Add a condition; a name alone gets a PE, so that its line computes something."""
    value = truth_of(context, context.evaluate(context, test))
    if not isinstance(test, ast.Name):
        return value
    tested = context.operate(name, "test", [value])
    return value.at(tested.refs)

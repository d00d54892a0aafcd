"""The record of the passes: a step for each pass that changed the query or plan."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

LOGGER = logging.getLogger("lipstick.rewriter")
"""Logs a record at level DEBUG for each pass that changed its argument."""

Rewritten = TypeVar("Rewritten")


@dataclass(frozen=True, slots=True)
class PassStep:
    """A pass that changed its argument.

    Parameters
    ----------
    name
        The pass.
    before, after
        Yield the lines of the value before the pass, and after it.
    """

    name: str
    before: Callable[[], Iterable[str]]
    after: Callable[[], Iterable[str]]

    def __str__(self) -> str:
        """Return all lines; removed ones are marked by ``-``, added ones by ``+``."""
        return "\n".join((f"{self.name}:", *_marked([*self.before()], [*self.after()])))


Observer = Callable[[PassStep], None]
"""Receives each step."""


def log(step: PassStep) -> None:
    """Write a step to the log, if logging is enabled."""
    if LOGGER.isEnabledFor(logging.DEBUG):
        LOGGER.debug("%s", step)


def run(
    passes: Iterable[Callable[[Rewritten], Rewritten]],
    value: Rewritten,
    lines: Callable[[Rewritten], Iterable[str]],
    observe: Observer = log,
) -> Rewritten:
    """Apply passes to a value, one after the other.

    Parameters
    ----------
    passes
        Pure functions, which return the value itself if they do not apply.
    lines
        Renders the value as lines of text, for the steps.
    observe
        Receives each pass that changed something.
    """
    for rewrite in passes:
        after = rewrite(value)
        if after is not value:
            observe(_step(rewrite.__name__, value, after, lines))
        value = after
    return value


def _step(
    name: str, before: Rewritten, after: Rewritten, lines: Callable[[Rewritten], Iterable[str]]
) -> PassStep:
    return PassStep(name, lambda: lines(before), lambda: lines(after))


def _marked(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for change, start, end, new_start, new_end in matcher.get_opcodes():
        if change == "equal":
            yield from (f"    {line}" for line in before[start:end])
        else:
            yield from (f"  - {line}" for line in before[start:end])
            yield from (f"  + {line}" for line in after[new_start:new_end])

"""Untrusted YAML: parsed within bounds of size and depth, checked before anything is built.

An alias stands for the whole node that it names, so a kilobyte of text can describe more nodes than
memory holds, and a recursive loader fails on deeply nested text. The parser yields events one at a
time with neither problem; they are counted first.
"""

from __future__ import annotations

from typing import Any

import yaml

DEPTH = 100
"""The maximum nesting of lists and mappings."""
NODES = 2_000_000
"""The maximum number of values of a document; values repeated by aliases count each time."""
CHARACTERS = 64 * 2**20
"""The maximum length of a document, in characters."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class OutOfBoundsError(yaml.MarkedYAMLError):
    """A document that is too long, too deep, or too large once its aliases are expanded."""


def compose(text: str, *, nodes: int = NODES) -> yaml.Node | None:
    """Return the node of a document, None if it is empty.

    Raises
    ------
    yaml.YAMLError
        For text that is not YAML, and as :func:`check_bounds`.
    """
    check_bounds(text, nodes=nodes)
    return yaml.compose(text, Loader=_LOADER)


def load(text: str, *, nodes: int = NODES) -> Any:
    """Return the value of a document: mappings, lists and scalars.

    Raises
    ------
    yaml.YAMLError
        For text that is not YAML, scalars that Python has no value for (a date in month 13), and as
        :func:`check_bounds`.
    """
    check_bounds(text, nodes=nodes)
    try:
        return yaml.load(text, Loader=_LOADER)
    except ValueError as error:
        raise yaml.YAMLError(str(error)) from error


def check_bounds(text: str, *, nodes: int = NODES) -> None:
    """Refuse a document that is out of bounds, in time linear in the text.

    Raises
    ------
    OutOfBoundsError
        For more than `CHARACTERS` characters, nesting deeper than `DEPTH`, more than `nodes`
        values once aliases are expanded, and an alias within the node that it names.
    yaml.YAMLError
        For text that is not YAML.
    """
    if len(text) > CHARACTERS:
        raise _refusal(f"the text has {len(text):,} characters; at most {CHARACTERS:,} are read")
    sizes: dict[str | None, int | None] = {}  # of anchored nodes; None: not complete yet
    opened: list[tuple[str | None, int]] = []  # anchors and where their counts began
    count = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor is not None:
                sizes[anchor] = count - before
        elif isinstance(event, yaml.AliasEvent):
            size = sizes.get(event.anchor, 1)  # an unknown one is the composer's to refuse
            if size is None:
                raise _refusal(f"*{event.anchor} stands within what it names", event.start_mark)
            count += size
        elif isinstance(event, yaml.NodeEvent):
            count += 1
            if isinstance(event, yaml.CollectionStartEvent):
                opened.append((event.anchor, count - 1))
                if len(opened) > DEPTH:
                    problem = f"lists and mappings are nested deeper than {DEPTH}"
                    raise _refusal(problem, event.start_mark)
            if event.anchor is not None:
                sizes[event.anchor] = None if isinstance(event, yaml.CollectionStartEvent) else 1
        if count > nodes:
            problem = f"there are more than {nodes:,} values, those that aliases repeat included"
            raise _refusal(problem, event.start_mark)


def _refusal(problem: str, mark: Any = None) -> OutOfBoundsError:
    return OutOfBoundsError(problem=problem, problem_mark=mark)

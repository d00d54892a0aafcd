"""A stream of a graph, and its origin."""

from __future__ import annotations

from dataclasses import dataclass

from lipstick.systems.streams.operators import Operator
from lipstick.systems.streams.source import EventSource


@dataclass(frozen=True, slots=True)
class StreamNode:
    """A stream, and the operator or source behind it.

    Parameters
    ----------
    sid
        The name of the stream.
    source
        The settings of the source, for a source.
    operator, inputs
        The operator and its input streams, for all others.
    keyed
        Whether the stream has a key.
    module
        The composed operator that it is inside of, or its own name.
    twin
        The stream with the same events under another name; nothing is recorded for this one.
    """

    sid: str
    source: EventSource | None = None
    operator: Operator | None = None
    inputs: tuple[str, ...] = ()
    keyed: bool = False
    module: str = ""
    twin: str | None = None

"""Systems beside annotated queries: each has a folder here, and an entry in `SYSTEMS`.

The core imports no system. Where a system may take part, as with a command, the core looks in this
registry, which names what a system adds as ``module:name``; it is imported when it is used first.
Without a system's folder and its entry everything else works as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class SystemCommand:
    """A command of ``lipstick`` that a system adds.

    Parameters
    ----------
    name
        The word after ``lipstick``.
    summary
        What it does, in one line of help.
    reference
        The click command.
    """

    name: str
    summary: str
    reference: str


@dataclass(frozen=True, slots=True)
class System:
    """A system, and what it adds to the core."""

    name: str
    commands: tuple[SystemCommand, ...] = ()


SYSTEMS = (
    System("streaming"),
    System(
        "streams",
        commands=(
            SystemCommand(
                "stream",
                "Ask recorded streams where events came from, and replay them.",
                "lipstick.systems.streams.commands.command:stream",
            ),
        ),
    ),
    System(
        "events",
        commands=(
            SystemCommand(
                "events",
                "Reduce streams of provenance events to who came from whom.",
                "lipstick.systems.events.commands.command:events",
            ),
        ),
    ),
    System(
        "scripts",
        commands=(
            SystemCommand(
                "script",
                "Tell what a Python script or notebook does, from its text; only 'run' runs it.",
                "lipstick.systems.scripts.commands.command:script",
            ),
        ),
    ),
    System(
        "record",
        commands=(
            SystemCommand(
                "record",
                "Run COMMAND, and record which files and connections it and its children use.",
                "lipstick.systems.record.commands:record",
            ),
            SystemCommand(
                "stitch",
                "Store recordings of several hosts, each in the store of its host.",
                "lipstick.systems.record.commands:stitch",
            ),
        ),
    ),
    System(
        "federation",
        commands=(
            SystemCommand(
                "federation",
                "Ask many stores as one.",
                "lipstick.systems.federation.commands.command:federation",
            ),
        ),
    ),
)


def commands() -> Iterator[SystemCommand]:
    """Yield the commands of all systems."""
    for system in SYSTEMS:
        yield from system.commands


def resolve(reference: str) -> Any:
    """Import what a reference ``module:name`` names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)

"""Systems beside annotated queries: each has a folder here, and an entry in `SYSTEMS`.

The core imports no system. Where a system may take part, the core asks this registry, whose entries
name what a system adds as ``module:name``; the module is imported when it is first needed. The
types of these hooks are Protocols of the core (`lipstick.systems.hooks`). Without the folder of a
system, everything else works as before. So it does without the folders of other outer rings, of
which the core names single functions (`lipstick.outer`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lipstick.outer import resolve
from semiring.errors import LipstickError


@dataclass(frozen=True, slots=True)
class SystemCommand:
    """A command of ``lipstick`` that a system adds.

    Parameters
    ----------
    name
        The word after ``lipstick``.
    summary
        Its line in the list of commands.
    reference
        The click command.
    """

    name: str
    summary: str
    reference: str


@dataclass(frozen=True, slots=True)
class SystemPage:
    """A page of the explorer that a system adds.

    Parameters
    ----------
    noun
        The things that the page shows, as an error message lists them.
    opens
        The `lipstick.explorer.explorer.PageOpener` of a path.
    suffixes
        Files that it opens.
    record
        Stores that it opens: the record, or the folder of records, that only these have.
    shows
        The `PageOpener` of an object at hand.
    subject
        The class of such objects.
    """

    noun: str
    opens: str
    suffixes: tuple[str, ...] = ()
    record: str = ""
    shows: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class System:
    """A system, and the hooks that it adds to the core.

    Parameters
    ----------
    commands, page
        Commands of ``lipstick``, and a page of the explorer.
    tracker
        The `hooks.StreamTracker` that sessions track streaming frames with.
    exporter
        The `hooks.TableExporter` class of sessions with ``exports=``, which takes a folder.
    """

    name: str
    commands: tuple[SystemCommand, ...] = ()
    page: SystemPage | None = None
    tracker: str = ""
    exporter: str = ""


SYSTEMS = (
    System("streaming", tracker="lipstick.systems.streaming.definition:TRACKER"),
    System(
        "streams",
        commands=(
            SystemCommand(
                "stream",
                "Ask recorded streams where events came from, and replay them.",
                "lipstick.systems.streams.commands:stream",
            ),
        ),
        page=SystemPage(
            "recorded streams",
            "lipstick.systems.streams.page.source:RecordingSource",
            record="stream",
        ),
    ),
    System(
        "events",
        commands=(
            SystemCommand(
                "events",
                "Reduce streams of provenance events to who came from whom.",
                "lipstick.systems.events.commands:events",
            ),
        ),
        page=SystemPage(
            "reduced events", "lipstick.systems.events.page:ReductionSource", record="events"
        ),
    ),
    System(
        "scripts",
        commands=(
            SystemCommand(
                "script",
                "Tell what a Python script or notebook does, from its text; only 'run' runs it.",
                "lipstick.systems.scripts.commands:script",
            ),
        ),
        page=SystemPage(
            "scripts", "lipstick.systems.scripts.page:ScriptSource", suffixes=(".py", ".ipynb")
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
        "dbt",
        commands=(
            SystemCommand(
                "dbt",
                "Ask a dbt project where rows come from, and what rests on them.",
                "lipstick.systems.dbt.commands:dbt",
            ),
        ),
    ),
    System(
        "declarative",
        commands=(
            SystemCommand(
                "pipeline",
                "Ask a declarative pipeline of Spark where rows come from, and what rests on them.",
                "lipstick.systems.declarative.commands:pipeline",
            ),
        ),
    ),
    System(
        "federation",
        commands=(
            SystemCommand(
                "federation",
                "Ask many stores as one.",
                "lipstick.systems.federation.commands:federation",
            ),
        ),
        page=SystemPage(
            "files of federations",
            "lipstick.systems.federation.page:FederationSource.open",
            suffixes=(".toml",),
            shows="lipstick.systems.federation.page:FederationSource.at_hand",
            subject="graphquery.federation:Federation",
        ),
        exporter="lipstick.systems.federation.exports:TableExports",
    ),
)


def installed() -> tuple[System, ...]:
    """Return the systems whose folders are there."""
    return tuple(system for system in SYSTEMS if (Path(__file__).parent / system.name).is_dir())


def commands() -> Iterator[SystemCommand]:
    """Yield the commands of all systems."""
    for system in installed():
        yield from system.commands


def pages() -> Iterator[SystemPage]:
    """Yield the pages of all systems."""
    for system in installed():
        if system.page is not None:
            yield system.page


def page_of(subject: object) -> SystemPage | None:
    """Return the page that shows an object; None if no system has one."""
    # An object's class was imported by whoever made the object.
    known = (page for page in pages() if page.subject.partition(":")[0] in sys.modules)
    return next((page for page in known if isinstance(subject, resolve(page.subject))), None)


def only_hook(hook: str, action: str) -> Any:
    """Return what the installed system with a hook has by it.

    Raises
    ------
    LipstickError
        No system has one.
    """
    references = [reference for system in installed() if (reference := getattr(system, hook))]
    if not references:
        names = ", ".join(system.name for system in installed()) or "none"
        raise LipstickError(
            f"No installed system {action}; there are: {names}.\n"
            "Install lipstick-spark whole: its folder lipstick/systems lacks one."
        )
    return resolve(references[0])

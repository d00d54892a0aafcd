"""Settings for reducing files of events, and the test whether a run continues another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphquery.reduction.reducer import BATCH
from lipstick.systems.events.attempts import OVERLAP
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.formats import FORMATS, MESSAGES
from semiring.base import Semiring
from semiring.support.door import checked

BLOCK = 8 << 20
"""Number of bytes of lines that are read at a time."""


@checked
@dataclass(frozen=True, slots=True)
class Settings:
    """Settings for reducing files.

    Parameters
    ----------
    format
        ``messages`` (JSONL of the format of this package), ``prov`` or ``openlineage``.
    topic
        Of PROV documents and OpenLineage events; messages say theirs.
    semiring, hubs, batch
        As for `graphquery.reduction.Reducer`.
    lateness
        In microseconds: how much earlier than the latest of its worker a message may be. What is
        older closes, and is forgotten; what comes of it later is repaired from the files. None:
        only declared numbers and seals close, and every execution is remembered.
    overlap
        In microseconds: how much later than the attempt of an execution that counts another ends.
    workers
        The number of workers; until all have sent messages, no time closes anything.
    block
        Bytes of lines that are read, and committed, at a time.
    """

    format: str = MESSAGES
    topic: str = "events"
    semiring: Semiring[Any] | None = None
    hubs: bool = True
    batch: int = BATCH
    lateness: int | None = None
    overlap: int = OVERLAP
    workers: int = 1
    block: int = BLOCK

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise EventsError(
                f"{self.format!r} is not a format of events: they are {', '.join(FORMATS)}."
            )

    def document(self) -> dict[str, Any]:
        """Return the settings as JSON, to check that a continued run has the same."""
        names = ("format", "hubs", "batch", "lateness", "overlap", "workers", "block")
        labels = None if self.semiring is None else self.semiring.name
        return {name: getattr(self, name) for name in names} | {"labels": labels}


def goes_on(before: Any, now: dict[str, Any]) -> bool:
    """Return True if a run continues another: the same settings, and the same files first."""
    if not isinstance(before, dict) or before.get("settings") != now["settings"]:
        return False
    files: list[Any] = before["files"]
    if now.get("follows"):  # it may have read more of them, or be reading them again
        both = min(len(files), len(now["files"]))
        return bool(files[:both] == now["files"][:both])
    return bool(files == now["files"])


def described(files: Sequence[Path], settings: Settings) -> dict[str, Any]:
    """Return the names and sizes of a run's files, and its settings, as JSON; see `goes_on`."""
    named = [[file.name, file.stat().st_size] for file in files]
    return {"files": named, "settings": settings.document()}

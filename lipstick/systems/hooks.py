"""The hooks of systems in the core, as Protocols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lipstick.frame import AnnotatedFrame
    from lipstick.pipeline import PreparedQuery
    from lipstick.sessions import Session
    from lipstick.tables.derivation import Derivation
    from lipstick.tables.target import Target
    from lipstick.tracking.source import Source
    from lipstick.tracking.tracker import Naming, TrackedStream


@dataclass(frozen=True, slots=True)
class StreamTracking:
    """A streaming frame as a session tracks it.

    Parameters
    ----------
    source
        The stream as a source of the session.
    frame
        The columns of its rows and of their tokens, without any row.
    naming, token
        How its rows are named, and the columns of their tokens.
    stream
        The stream as the system follows it.
    """

    source: Source
    frame: DataFrame
    naming: Naming
    token: tuple[str, ...]
    stream: TrackedStream


class StreamTracker(Protocol):
    """Tracks streaming frames, and follows queries over them."""

    def track(self, name: str, frame: DataFrame, key: str | Sequence[str] | None) -> StreamTracking:
        """Return how a session tracks a streaming frame.

        Raises
        ------
        SourceError, TrackingError
            For a stream that cannot be read again, or whose rows nothing names stably.
        """

    def follow(self, session: Session, prepared: PreparedQuery) -> AnnotatedFrame:
        """Return the annotated frame of a query over tracked streams.

        Raises
        ------
        UnsupportedError
            For a query whose results do not follow from what its streams read.
        """


class TableExporter(Protocol):
    """Exports the tables that a session writes into a graph store."""

    def check(self, frame: AnnotatedFrame, target: Target) -> None:
        """Refuse a table that cannot be exported, before anything is written."""

    def export(self, derivation: Derivation, source: Source) -> str:
        """Export a version of a written table, and return the identity of its channel."""

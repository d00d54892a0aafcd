"""The hooks of outer rings in the core, as Protocols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lipstick.systems import only_hook

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lipstick.frame import AnnotatedFrame
    from lipstick.pipeline import PreparedQuery
    from lipstick.questions.keys import Cascade
    from lipstick.questions.what_if import WhatIf
    from lipstick.sessions import Session
    from lipstick.tables.derivation import Derivation
    from lipstick.tables.target import Target
    from lipstick.tracking.source import Source
    from lipstick.tracking.tracker import NamedRows, TrackedStream


@dataclass(frozen=True, slots=True)
class StreamTracking:
    """A streaming frame as a session tracks it.

    Parameters
    ----------
    source
        The stream as a source of the session.
    rows
        The columns of its rows and of their tokens, without any row.
    stream
        The stream as the system follows it.
    """

    source: Source
    rows: NamedRows
    stream: TrackedStream


class StatementHistory(Protocol):
    """The statements by which tables were made."""

    def _concerns(self, names: Iterable[str]) -> bool:
        """Return True if deletions of some relations may change the tables."""

    def _what_if_of(
        self,
        frame: AnnotatedFrame,
        delete: Mapping[str, Any],
        cascade: Cascade | None,
        undo: Sequence[str],
        replace: Mapping[str, str],
        *,
        strict: bool,
    ) -> WhatIf[DataFrame]:
        """Return the answer of a query without rows, and without or with other statements."""


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


def stream_tracker() -> StreamTracker:
    """Return the hook by which sessions track streaming frames.

    Raises
    ------
    LipstickError
        No system has one.
    """
    tracker: StreamTracker = only_hook("tracker", "tracks streaming data frames")
    return tracker


def table_exporter(folder: Any) -> TableExporter:
    """Return the exporter of written tables into a graph store.

    Raises
    ------
    LipstickError
        No system has one.
    """
    exporter: TableExporter = only_hook("exporter", "exports written tables")(folder)
    return exporter

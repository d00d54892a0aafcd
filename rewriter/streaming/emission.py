"""What of a streaming query is asked for: its output mode, and up to which batch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rewriter.algebra import Relation, Scalar


class OutputMode(Enum):
    """What a streaming query hands to its sink of a micro-batch."""

    APPEND = "append"
    """Rows that no later batch changes."""
    UPDATE = "update"
    """Groups that the batch changed."""
    COMPLETE = "complete"
    """All groups."""


@dataclass(frozen=True, slots=True)
class Emission:
    """Up to which watermark state was emitted, and of which batch the rows are asked for.

    Parameters
    ----------
    watermark
        In milliseconds since 1970.
    before
        The watermark of the batch before; only what was emitted after it is asked for.
    batch
        The batch whose rows are asked for.

    With neither ``before`` nor ``batch``, all rows so far are.
    """

    watermark: int
    before: int | None = None
    batch: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A streaming query over recorded rows.

    Parameters
    ----------
    root
        The query, with the attributes it had.
    stateless
        Each row is made of rows of one batch: those of a batch are the query over its rows alone.
    by_time
        Late rows are dropped: the answer depends on the watermarks.
    sessions
        It is the streaming query only where none of these has a row, the time of one that came
        after a watermark had passed it: a session that was emitted is not merged with one that such
        a row begins.
    undecided
        It is the streaming query only where none of these has a row: each is a group of rows of one
        batch of which the first stays, and only Spark knows which came first.
    ties
        The same, of groups in which rows tie that an aggregate chooses from, with the aggregate.
    """

    root: Relation
    stateless: bool
    by_time: bool
    sessions: tuple[Relation, ...]
    undecided: tuple[Relation, ...] = ()
    ties: tuple[tuple[Relation, Scalar], ...] = ()

"""Answers of a federation: the result, the stores' versions, the cost and the missing parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from graphquery.errors import FederationError
from graphquery.federation.questions.node_sets import StoredNodes
from semiring.base import Array

UNREACHABLE = "unreachable"
TIMEOUT = "timeout"
INTERRUPTED = "interrupted"
REFUSED = "refused"
BEHIND = "behind"
DAMAGED = "damaged"
OUTSIDE = "outside"
UNTRUSTED = "untrusted"
UNABLE = "unable"
"""Why something is missing: the store cannot be reached, did not answer in time, was stopped within
its reply, does not disclose it, is older than what was imported from it, cannot be read, is no
member of the federation, is not the store that it claims to be or contradicts others, or has no
answer to such a question, as a reduced graph has none to a deletion."""


class Verdict(Enum):
    """Yes, no, or unknown: never a guess."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("A verdict may be unknown: compare it with Verdict.YES or Verdict.NO.")


@dataclass(frozen=True, slots=True)
class MissingPart:
    """A part that an answer lacks.

    Parameters
    ----------
    store
        The alias of the store that was not asked or did not answer; of one that is not a member,
        its identity.
    reason
        A constant of this module.
    channel
        The channel whose rows were to be followed; None: all answers of the store.
    rows
        The rows of the channel, if known.
    message
        The reason as text.
    """

    store: str
    reason: str
    channel: str | None = None
    rows: Array = field(default_factory=lambda: np.empty(0, np.int64), compare=False)
    message: str = field(default="", compare=False)

    def __str__(self) -> str:
        what = "" if self.channel is None else f", {len(self.rows):,} rows of {self.channel}"
        return f"{self.store}: {self.reason}{what}"


class IncompleteError(FederationError):
    """An incomplete answer where a complete one was required.

    Attributes
    ----------
    missing
        The missing parts, with reasons.
    """

    def __init__(self, message: str, missing: tuple[MissingPart, ...]) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class FederatedCost:
    """The requests, rounds and bytes of a question.

    Parameters
    ----------
    requests
        The number of requests to stores.
    rounds
        The number of rounds of simultaneous requests; each round waits for the one before.
    sent, received
        Bytes sent and received.
    """

    requests: int = 0
    rounds: int = 0
    sent: int = 0
    received: int = 0

    @property
    def bytes(self) -> int:
        """The bytes sent and received."""
        return self.sent + self.received

    def __add__(self, other: FederatedCost) -> FederatedCost:
        return FederatedCost(
            self.requests + other.requests,
            self.rounds + other.rounds,
            self.sent + other.sent,
            self.received + other.received,
        )

    def __sub__(self, other: FederatedCost) -> FederatedCost:
        return FederatedCost(
            self.requests - other.requests,
            self.rounds - other.rounds,
            self.sent - other.sent,
            self.received - other.received,
        )


@dataclass(frozen=True, slots=True)
class FederationAnswer:
    """Base class of all answers.

    Parameters
    ----------
    versions
        The version of each store that the answer is about, by alias.
    missing
        The missing parts; empty if the answer is complete.
    cost
        The cost of this question.
    """

    versions: Mapping[str, int]
    missing: tuple[MissingPart, ...]
    cost: FederatedCost

    @property
    def complete(self) -> bool:
        """True if the merged graph would give the same answer."""
        return not self.missing

    def checked(self, strict: bool) -> None:
        """Raise if the answer must be complete and is not.

        Raises
        ------
        IncompleteError
            With the missing parts.
        """
        if strict and self.missing:
            raise IncompleteError(
                f"The answer is not complete: {'; '.join(map(str, self.missing))}.\nAsk again when "
                "these stores answer, or without strict for what there is.",
                self.missing,
            )


@dataclass(frozen=True, slots=True)
class NodesAnswer(FederationAnswer):
    """Nodes of several stores; a subset of them if the answer is incomplete.

    Parameters
    ----------
    nodes
        By alias.
    """

    nodes: Mapping[str, StoredNodes]

    def __len__(self) -> int:
        return sum(len(each) for each in self.nodes.values())


@dataclass(frozen=True, slots=True)
class VerdictAnswer(FederationAnswer):
    """Yes, no or unknown; unknown only if parts are missing."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class PathsAnswer(VerdictAnswer):
    """Paths, the shortest first, each as the names of its nodes.

    Parameters
    ----------
    verdict
        Whether there is a path; YES does not imply that any path is listed.
    """

    paths: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ValuesAnswer(FederationAnswer):
    """Annotations by the name of the node; empty if they depend on missing parts."""

    values: Mapping[str, Any]

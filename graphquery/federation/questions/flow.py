"""The question of whether data could have flowed from some nodes to others.

The walk goes backwards from the targets, from crossing row to crossing row. A row that the sources
reach inside their own store settles the question; a row whose sketch has no such row is dropped;
rows of channels whose boundary graph is loaded are followed without a request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from graphquery.errors import FederationError
from graphquery.federation.crossings import rows as crossing
from graphquery.federation.crossings.hashing import Hashes, row_hashes
from graphquery.federation.crossings.rows import Rows
from graphquery.federation.crossings.sketches import Sketches
from graphquery.federation.questions.answer import OUTSIDE, MissingPart, Verdict
from graphquery.federation.questions.question import Question
from graphquery.federation.wire import requests
from graphquery.federation.wire.messages import WireMessage
from semiring.base import Array


@dataclass(slots=True)
class FlowWalk:
    """The progress of a walk from targets back to sources.

    Attributes
    ----------
    sources, targets
        The names of nodes, by alias.
    exported
        The exported rows that sources reach inside their stores.
    known
        Whether `exported` is complete: a source's store may not have answered.
    visited
        The rows that may be on a path, as far as they were followed.
    found
        Whether a path is certain.
    """

    sources: dict[str, list[str]]
    targets: dict[str, list[str]]
    exported: dict[str, Array] = field(default_factory=dict)
    known: bool = True
    visited: dict[str, Array] = field(default_factory=dict)
    found: bool = False


def flow(
    question: Question, sources: Collection[str], targets: Collection[str], every: bool = False
) -> tuple[Verdict, FlowWalk]:
    """Return whether any of `sources` is an ancestor of any of `targets`, and the walk.

    Parameters
    ----------
    every
        Whether to continue after the first hit, for all rows on paths.

    Returns
    -------
    verdict
        YES if a path is known, whichever members are down; NO if there is none and nothing relevant
        is missing.
    flow
        The state of the walk at its end.
    """
    state = FlowWalk(question.by_alias(sources), question.by_alias(targets))
    lost = bool(question.missing)
    state.known = not lost and not _behind(question, state)
    if not lost and not _chained(question, state):
        shared = state.sources.keys() & state.targets.keys()
        if not shared:
            return Verdict.NO, state
        state.sources = {alias: state.sources[alias] for alias in state.sources if alias in shared}
        state.targets = {alias: state.targets[alias] for alias in state.targets if alias in shared}
    frontier = _ends(question, state)
    while frontier and (every or not state.found):
        frontier = _step(question, state, frontier)
    if state.found:
        return Verdict.YES, state
    return (Verdict.UNKNOWN if question.missing else Verdict.NO), state


def _chained(question: Question, state: FlowWalk) -> bool:
    """Return True if, by the heads alone, channels may lead from a source's store to a target's."""
    if any(question.zoomed.values()):
        return True
    return any(
        question.directory.may_export(alias, channel)
        for channel in _behind_targets(question, state)
        for alias in state.sources
    )


def _behind(question: Question, state: FlowWalk) -> bool:
    """Return True if a source's store may have relevant exports that its head does not list."""
    directory = question.directory
    return any(
        channel not in directory.exporters and directory.may_export(alias, channel)
        for channel in _behind_targets(question, state)
        for alias in state.sources
    )


def _behind_targets(question: Question, state: FlowWalk) -> set[str]:
    """Return the channels that the targets' stores import, and the channels behind those."""
    channels = set()
    for alias in state.targets:
        for channel, taken in question.directory.heads[alias].imports.items():
            channels.update([channel, *taken.channels])
    return channels


def _ends(question: Question, state: FlowWalk) -> Frontier:
    """Ask the stores of both ends at once, and return the first frontier."""
    batch = {
        alias: requests.ends(
            question.store(alias),
            state.sources.get(alias, ()),
            state.targets.get(alias, ()),
            sketched=_sketched(question, alias),
        )
        for alias in {**state.sources, **state.targets}
    }
    replies = question.ask(batch)
    state.known &= all(alias in replies for alias in state.sources)
    arriving: list[Arriving] = []
    for alias, reply in replies.items():
        state.found |= bool(reply.header.get("joined"))
        out = _rows(question, alias, reply, "exported", "exports")
        state.exported = crossing.union([state.exported, out])
        into = _rows(question, alias, reply, "imported", "imports")
        arriving.append((alias, into, _sketches(question, reply, into)))
    return _arrived(question, state, arriving)


@dataclass(slots=True)
class Frontier:
    """The rows to follow, by loaded boundary graphs or by requests to their exporters."""

    local: list[Rows] = field(default_factory=list)
    asked: dict[str, list[Rows]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.local or self.asked)


Arriving = tuple[str, Rows, Sketches | None]
"""Rows that a member imports, and their sketches in that order."""


def _arrived(question: Question, state: FlowWalk, arriving: list[Arriving]) -> Frontier:
    """Record arriving rows of imports, and return the frontier to follow next."""
    frontier = Frontier()
    for alias, rows, column in arriving:
        hits = crossing.intersection(rows, state.exported)
        state.found |= bool(hits)
        following = _promising(question, state, alias, rows, column)
        fresh = crossing.difference(following, state.visited)
        state.visited = crossing.union([state.visited, hits, fresh])
        _follow(question, frontier, alias, fresh)
    return frontier


def _follow(question: Question, frontier: Frontier, alias: str, rows: Rows) -> None:
    """Add a member's imported rows to the frontier; rows without a known exporter are missing."""
    known = at_hand(question)
    local = {channel: numbers for channel, numbers in rows.items() if channel in known}
    if local:
        frontier.local.append(local)
    rest = {channel: numbers for channel, numbers in rows.items() if channel not in known}
    for other, part in question.to_exporters(alias, rest).items():
        frontier.asked.setdefault(other, []).append(part)


def _promising(
    question: Question, state: FlowWalk, alias: str, rows: Rows, column: Sketches | None
) -> Rows:
    """Return the rows that may derive from the sources' exported rows."""
    if not state.known or any(question.zoomed.values()):
        return rows
    taken = question.directory.heads[alias].imports
    hashes = None if column is None else _hashes(state.exported)
    kept = {}
    start = 0
    for channel, numbers in rows.items():
        index = np.arange(start, start + len(numbers))
        start += len(numbers)
        if state.exported.keys().isdisjoint(taken[channel].channels):
            continue
        if column is not None and hashes is not None:
            numbers = numbers[column.take(index).may_contain(hashes)]  # noqa: PLW2901
        if len(numbers):
            kept[channel] = numbers
    return kept


def _step(question: Question, state: FlowWalk, frontier: Frontier) -> Frontier:
    """Follow rows one step: through all loaded boundary graphs, and by a round of requests."""
    further = Frontier()
    for rows in frontier.local:
        _by_boundary(question, state, rows, further)
    batch = {
        alias: requests.reach(
            question.store(alias),
            (),
            crossing.union(parts),
            forwards=False,
            want=requests.ROWS,
            sketched=question.options.sketches,
        )
        for alias, parts in frontier.asked.items()
    }
    arriving: list[Arriving] = []
    for alias, reply in question.ask(batch).items():
        rows = question.crossed(alias, reply, imported=True)
        arriving.append((alias, rows, _sketches(question, reply, rows)))
    arrived = _arrived(question, state, arriving)
    for alias, parts in arrived.asked.items():
        further.asked.setdefault(alias, []).extend(parts)
    further.local += arrived.local
    return further


def _by_boundary(question: Question, state: FlowWalk, rows: Rows, further: Frontier) -> None:
    """Visit all rows behind some rows in the loaded boundary graphs; queue rows beyond them."""
    behind = question.boundary.reached(rows, forwards=False)
    state.found |= bool(crossing.intersection(behind, state.exported))
    fresh = crossing.difference(behind, state.visited)
    state.visited = crossing.union([state.visited, fresh])
    for channel, numbers in fresh.items():
        if channel in question.boundary.known:
            continue
        importers = question.directory.importers.get(channel, ())
        exporter = question.directory.exporters.get(channel)
        if importers:
            _follow(question, further, importers[0], {channel: numbers})
        elif exporter is not None:
            further.asked.setdefault(exporter, []).append({channel: numbers})
        else:
            question.add([MissingPart("?", OUTSIDE, channel, numbers, "no member exports it")])


def _sketched(question: Question, alias: str) -> bool:
    """Return True if a member imports channels without a loaded boundary graph and sketches are
    used.
    """
    imports = question.directory.heads[alias].imports
    return question.options.sketches and not imports.keys() <= at_hand(question)


def at_hand(question: Question) -> frozenset[str]:
    """Return the channels whose boundary graphs may be used."""
    if not question.options.boundary or any(question.zoomed.values()):
        return frozenset()
    return question.boundary.known


def _rows(
    question: Question, alias: str, reply: WireMessage, channels: str, table: str
) -> dict[str, Array]:
    """Return the crossing rows in one table of a reply."""
    header = {"channels": reply.header.get(channels)}
    tables = {"rows": reply.tables[table]} if table in reply.tables else {}
    return question.crossed(alias, WireMessage(header, tables), imported=table == "imports")


def _sketches(question: Question, reply: WireMessage, rows: Rows) -> Sketches | None:
    """Return the sketches of a reply's rows, in their order, or None."""
    if not question.options.sketches or "sketches" not in reply.tables:
        return None
    try:
        column = Sketches.from_arrow(reply.tables["sketches"], int(reply.header["blocks"]))
    except (FederationError, KeyError, OverflowError, TypeError, ValueError):
        return None  # anything may be behind an unreadable sketch
    return column if len(column) == crossing.count(rows) else None


def _hashes(rows: Mapping[str, Array]) -> Hashes:
    parts = [row_hashes(channel, numbers) for channel, numbers in rows.items()]
    return np.concatenate([*parts, np.empty(0, np.uint64)])

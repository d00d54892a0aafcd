"""Ancestors, descendants and deletions across stores: a request per store and round."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from graphquery.errors import WireError
from graphquery.federation.crossings import rows as crossing
from graphquery.federation.crossings.rows import Rows
from graphquery.federation.questions import node_sets as stored
from graphquery.federation.questions.answer import DAMAGED
from graphquery.federation.questions.node_sets import StoredNodes
from graphquery.federation.questions.question import Question
from graphquery.federation.wire import requests
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.transport import RequestFailure
from semiring.arrays.segments import union
from semiring.base import Array


@dataclass(slots=True)
class ReachedNodes:
    """The nodes and rows reached by a walk through stores.

    Attributes
    ----------
    nodes
        The nodes by alias.
    asked
        By alias, the rows followed into the store.
    crossed
        By alias, the rows that leave the store: imported rows backwards, exported rows forwards.
    """

    nodes: dict[str, StoredNodes] = field(default_factory=dict)
    asked: dict[str, dict[str, Array]] = field(default_factory=dict)
    crossed: dict[str, dict[str, Array]] = field(default_factory=dict)


def walk(
    question: Question, names: Iterable[str], *, forwards: bool, want: str = requests.NODES
) -> ReachedNodes:
    """Return the ancestors or descendants of some nodes, across stores.

    Each store walks its own graph to the end; a round asks for the rows that no earlier round has
    asked for. O(stores) requests a round, and a round per crossing on the longest path.
    """
    reached = ReachedNodes()
    named = question.by_alias(names)
    frontier: dict[str, dict[str, Array]] = {alias: {} for alias in named}
    while frontier:
        batch = {
            alias: requests.reach(
                question.store(alias),
                named.pop(alias, ()),
                rows,
                forwards=forwards,
                want=want,
            )
            for alias, rows in frontier.items()
        }
        reached.asked |= {
            alias: crossing.union([reached.asked.get(alias, {}), rows])
            for alias, rows in frontier.items()
        }
        arriving: dict[str, list[Rows]] = {}
        for alias, reply in question.ask(batch).items():
            if want == requests.NODES:
                take_nodes(question, reached.nodes, alias, reply)
            rows = question.crossed(alias, reply, imported=not forwards)
            reached.crossed[alias] = crossing.union([reached.crossed.get(alias, {}), rows])
            for other, part in _next(question, alias, rows, forwards).items():
                arriving.setdefault(other, []).append(part)
        frontier = {}
        for alias, parts in arriving.items():
            fresh = crossing.difference(crossing.union(parts), reached.asked.get(alias, {}))
            if fresh:
                frontier[alias] = fresh
    return reached


def walk_within(
    question: Question, names: Iterable[str], distance: int, *, forwards: bool
) -> dict[str, StoredNodes]:
    """Return nodes as `walk` does, up to a distance; each row carries the edges left.

    A row is asked for again when it is reached with more edges left than before.
    """
    nodes_by_alias: dict[str, StoredNodes] = {}
    named = question.by_alias(names)
    best: dict[str, Budgets] = {}
    frontier: dict[str, Budgets] = {alias: {} for alias in named}
    while frontier:
        batch = {}
        for alias, budgets in frontier.items():
            rows = {channel: each[0] for channel, each in budgets.items()}
            left = [each[1] for each in budgets.values()]
            batch[alias] = requests.reach_within(
                question.store(alias),
                named.pop(alias, ()),
                distance,
                rows,
                left,
                forwards=forwards,
            )
        arriving: dict[str, list[Budgets]] = {}
        for alias, reply in question.ask(batch).items():
            take_nodes(question, nodes_by_alias, alias, reply)
            rows = question.crossed(alias, reply, imported=not forwards)
            if not rows:
                continue
            _, places = crossing.from_table(reply.header["channels"], reply.tables["rows"])
            # A path through a store cannot increase the number of edges left.
            left_of = np.minimum(reply.tables["rows"].column("left").to_numpy(), distance - 1)
            for other, part in _next(question, alias, rows, forwards).items():
                # The edges into and out of a crossing row count as one edge.
                one_more = {
                    c: (numbers, left_of[places[c][: len(numbers)]] + 1)
                    for c, numbers in part.items()
                }
                arriving.setdefault(other, []).append(one_more)
        frontier = {}
        for alias, parts in arriving.items():
            fresh = _improved(best.setdefault(alias, {}), parts)
            if fresh:
                frontier[alias] = fresh
    return nodes_by_alias


@dataclass(slots=True)
class Removed:
    """The nodes that a deletion removes.

    Attributes
    ----------
    nodes
        The nodes by alias.
    gone
        By name, whether a requested node is removed.
    """

    nodes: dict[str, StoredNodes] = field(default_factory=dict)
    gone: dict[str, bool] = field(default_factory=dict)


def removal(
    question: Question,
    names: Collection[str],
    judged: Collection[str] = (),
    want: str = requests.NODES,
) -> Removed:
    """Return the nodes that a deletion removes: the least fixpoint over all stores.

    An exported row that is removed is removed where it was imported as well; a store is asked again
    whenever it loses more rows.
    """
    removal_so_far = Removed()
    named = question.by_alias(names)
    of_asked = question.by_alias(judged)
    dead: dict[str, dict[str, Array]] = {}
    frontier = {alias: dict[str, Array]() for alias in {**named, **of_asked}}
    while frontier:
        batch = {
            alias: requests.remove(
                question.store(alias),
                named.get(alias, ()),
                dead.get(alias, {}),
                want=want,
                asked=of_asked.get(alias, ()),
            )
            for alias in frontier
        }
        arriving: dict[str, list[Rows]] = {}
        for alias, reply in question.ask(batch).items():
            if want == requests.NODES:
                take_nodes(question, removal_so_far.nodes, alias, reply)
            for name, gone in zip(of_asked.get(alias, ()), reply.header["gone"], strict=True):
                removal_so_far.gone[f"{alias}::{name}"] = bool(gone)
            rows = question.crossed(alias, reply, imported=False)
            for other, part in question.to_importers(rows).items():
                arriving.setdefault(other, []).append(part)
        frontier = {}
        for alias, parts in arriving.items():
            fresh = crossing.difference(crossing.union(parts), dead.get(alias, {}))
            if fresh:
                dead[alias] = crossing.union([dead.get(alias, {}), fresh])
                frontier[alias] = fresh
    return removal_so_far


def take_nodes(
    question: Question, nodes_by_alias: dict[str, StoredNodes], alias: str, reply: WireMessage
) -> None:
    """Add the nodes of a reply; a damaged reply is recorded as missing."""
    try:
        nodes = stored.from_message(reply.header.get("segments"), reply.tables.get("nodes"))
    except WireError as error:
        question.lose(alias, RequestFailure(DAMAGED, str(error)))
        return
    nodes_by_alias[alias] = (
        nodes_by_alias[alias].joined(nodes) if alias in nodes_by_alias else nodes
    )


Budgets = dict[str, tuple[Array, Array]]
"""By channel: rows, ascending, and the edges that are left at each."""


def _next(question: Question, alias: str, rows: Rows, forwards: bool) -> Mapping[str, Rows]:
    if forwards:
        return question.to_importers(rows)
    return question.to_exporters(alias, rows)


def _improved(best: Budgets, parts: Iterable[Budgets]) -> Budgets:
    """Return the rows with more edges left than the best so far, and update the best."""
    fresh: Budgets = {}
    for part in parts:
        for channel, (rows, left) in part.items():
            known_rows, known_left = best.get(channel, (rows[:0], left[:0]))
            every = union(known_rows, rows)
            before = np.full(len(every), -1, dtype=np.int64)
            before[np.searchsorted(every, known_rows)] = known_left
            now = before.copy()
            indices = np.searchsorted(every, rows)
            now[indices] = np.maximum(now[indices], left)
            best[channel] = (every, now)
            better = now > before
            if bool(better.any()):
                sooner = fresh.get(channel, (rows[:0], left[:0]))[0]
                chosen = better | np.isin(every, sooner)
                fresh[channel] = (every[chosen], now[chosen])
    return fresh

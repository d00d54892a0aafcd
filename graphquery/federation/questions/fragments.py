"""Fragments of stores' graphs, joined along crossing rows into one graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.errors import WireError
from graphquery.federation.crossings import rows as crossing
from graphquery.federation.questions import node_sets as stored
from graphquery.federation.questions.answer import DAMAGED, UNTRUSTED, Verdict
from graphquery.federation.questions.flow import FlowWalk, at_hand, flow
from graphquery.federation.questions.question import SEPARATOR, Question
from graphquery.federation.wire import requests
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.transport import RequestFailure, printable
from graphquery.graph import ProvenanceGraph
from graphquery.model import EdgeSet, Kind, Segment
from graphquery.naming import ZOOMED_SUFFIX
from semiring.arrays.segments import ascending
from semiring.base import Array

ORDINAL = "ordinal"
"""The key of nodes without a key: their ordinal in their store."""


_NONSENSE = (
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,
    TypeError,
    ValueError,
    pa.ArrowException,
)
"""Errors raised when a malformed reply is read."""


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Fragments joined into one graph.

    Attributes
    ----------
    graph
        Its nodes are in the order of the merged graph.
    names
        Node names, by id; empty unless requested.
    sources, targets
        By alias, the ids of the requested nodes, in their order; -1 for nodes outside.
    """

    graph: ProvenanceGraph
    names: list[str]
    sources: Mapping[str, Array]
    targets: Mapping[str, Array]


def ask_fragments(question: Question, batch: Mapping[str, WireMessage]) -> Joined:
    """Ask members for fragments (`requests.between`) and join them.

    A member whose reply is not a fragment, or has crossing rows that its head does not have, is
    missing as damaged, and the others are joined without it.
    """
    replies = {
        alias: reply
        for alias, reply in question.ask(batch).items()
        if _crosses_by_its_head(question, alias, reply)
    }
    try:
        return join(replies)
    except WireError:
        for alias in list(replies):
            try:
                join({alias: replies[alias]})
            except WireError as error:
                question.lose(alias, RequestFailure(DAMAGED, printable(str(error))))
                del replies[alias]
    try:
        return join(replies)
    except WireError as error:  # each reply is a graph, but their union is not
        for alias in replies:
            question.lose(alias, RequestFailure(UNTRUSTED, printable(str(error))))
        return join({})


def _crosses_by_its_head(question: Question, alias: str, reply: WireMessage) -> bool:
    """Return True if a member's head has all crossing rows of its fragment; else it is missing."""
    head, disputes = question.directory.heads[alias], question.directory.disputes
    imported = [channel for channel in head.imports if (alias, channel) not in disputes]
    for name, known in (("entries", imported), ("exits", head.exports)):
        channels = reply.header.get(name)
        if not isinstance(channels, list) or not all(
            isinstance(channel, str) and channel in known for channel in channels
        ):
            text = "Its reply names crossing rows that its head lacks, or that are disputed."
            question.lose(alias, RequestFailure(DAMAGED, text))
            return False
    return True


def join(replies: Mapping[str, WireMessage]) -> Joined:
    """Join the fragments in replies to `requests.between`, by alias in the order of members.

    Raises
    ------
    WireError
        A reply that is not a fragment.
    """
    join = _Join()
    try:
        for zoomed in (False, True):
            for alias, reply in replies.items():
                join.add_nodes(alias, reply, zoomed)
        for alias, reply in replies.items():
            join.add_edges(alias, reply)
        join.cross()
        return join.done(replies)
    except _NONSENSE as error:
        raise WireError(f"A fragment cannot be understood: {error!r}.") from error


class _Join:
    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.columns: dict[tuple[str, str], Any] = {}
        self.count = 0
        self.ids: dict[str, Array] = {}
        """By alias, the id of each node of the fragment, in its order."""
        self.names: dict[int, list[str]] = {}
        """By the id of the first node of a segment, the names of all its nodes."""
        self.taken: dict[str, int] = {}
        self.edges: list[tuple[Array, Array, Array]] = []
        self.entries: dict[str, list[tuple[Array, Array]]] = {}
        self.exits: dict[str, list[tuple[Array, Array]]] = {}

    def add_nodes(self, alias: str, reply: WireMessage, zoomed: bool) -> None:
        nodes = stored.from_message(reply.header["segments"], reply.tables["nodes"])
        ids = self.ids.setdefault(alias, np.full(len(nodes), -1, dtype=np.int64))
        start = 0
        for number, ordinals in nodes.ordinals.items():
            chosen = np.flatnonzero((ordinals < 0) == zoomed)
            ids[start + chosen] = self.count + np.arange(len(chosen))
            if len(chosen):
                name = f"{alias}{SEPARATOR}{nodes.names[number]}{ZOOMED_SUFFIX if zoomed else ''}"
                self._add_segment(name, number, ordinals[chosen], chosen, reply, alias)
            start += len(ordinals)

    def _add_segment(
        self,
        name: str,
        number: int,
        ordinals: Array,
        chosen: Array,
        reply: WireMessage,
        alias: str,
    ) -> None:
        attributes = reply.header["attributes"][str(number)]
        kind, label, module, invocation, execution, relation, key, count = attributes
        self._name(alias, name, ordinals, bool(key), int(count), reply)
        keys = reply.tables.get(f"keys {number}")
        file = f"nodes/{len(self.segments)}"
        if keys is None or list(keys.column_names) != key:
            key = [ORDINAL]
            self.columns[file, ORDINAL] = pa.array(np.where(ordinals < 0, -1 - ordinals, ordinals))
        else:
            for column in key:
                self.columns[file, column] = keys.column(column).take(pa.array(chosen))
        zoomed = name.endswith(ZOOMED_SUFFIX)
        self.segments.append(
            Segment(
                name,
                Kind.ZOOMED if zoomed else Kind(kind),
                str(label),
                len(chosen),
                None if module is None else f"{alias}{SEPARATOR}{module}",
                invocation,
                execution,
                relation,
                tuple(key),
                file,
            )
        )
        self.count += len(chosen)

    def _name(
        self, alias: str, name: str, ordinals: Array, keyed: bool, count: int, reply: WireMessage
    ) -> None:
        """Record the names of a segment's nodes, from their ordinals or from the reply."""
        if "names" not in reply.tables:
            return
        if keyed:
            start = self.taken.get(alias, 0)
            self.taken[alias] = start + len(ordinals)
            texts = reply.tables["names"].column("name").slice(start, len(ordinals)).to_pylist()
            names = [f"{alias}{SEPARATOR}{text}" for text in texts]
        elif count == 1:
            names = [name] * len(ordinals)
        else:
            numbers = np.where(ordinals < 0, -1 - ordinals, ordinals).tolist()
            plain, zoomed = name.removesuffix(ZOOMED_SUFFIX), name.endswith(ZOOMED_SUFFIX)
            names = [f"{plain}[{n}]{ZOOMED_SUFFIX if zoomed else ''}" for n in numbers]
        if len(names) != len(ordinals):
            raise WireError("A fragment has fewer names than nodes.")
        self.names[self.count] = names

    def add_edges(self, alias: str, reply: WireMessage) -> None:
        ids, edges = self.ids[alias], reply.tables["edges"]
        source, target = (edges.column(end).to_numpy() for end in ("source", "target"))
        ports = np.zeros(len(source), dtype=np.uint8)
        if "port" in edges.column_names:
            ports = edges.column("port").to_numpy()
        self.edges.append((ids[source], ids[target], ports))
        for name, kept in (("entries", self.entries), ("exits", self.exits)):
            channels, table = reply.header[name], reply.tables[name]
            number, row, node = (table.column(c).to_numpy() for c in ("channel", "row", "node"))
            for each in ascending(number).tolist():
                chosen = number == each
                kept.setdefault(channels[each], []).append((row[chosen], ids[node[chosen]]))

    def cross(self) -> None:
        """Add an edge from every exported node to the tokens imported from it."""
        for channel, exits in self.exits.items():
            rows = np.concatenate([row for row, _ in exits])
            makers = np.concatenate([node for _, node in exits])
            order = np.argsort(rows, kind="stable")
            rows, makers = rows[order], makers[order]
            for row, node in self.entries.get(channel, ()):
                index = np.searchsorted(rows, row)
                there = index < len(rows)
                there[there] = rows[index[there]] == row[there]
                nothing = np.zeros(int(there.sum()), dtype=np.uint8)
                self.edges.append((makers[index[there]], node[there], nothing))

    def done(self, replies: Mapping[str, WireMessage]) -> Joined:
        edge_sets = self._edge_sets()
        graph = ProvenanceGraph.build(
            self.segments, edge_sets, lambda file, column: self.columns[file, column]
        )
        ends = {
            end: {
                alias: _placed(self.ids[alias], np.array(reply.header[end], dtype=np.int64))
                for alias, reply in replies.items()
            }
            for end in ("sources", "targets")
        }
        listed = [name for start in sorted(self.names) for name in self.names[start]]
        return Joined(graph, listed, ends["sources"], ends["targets"])

    def _edge_sets(self) -> list[EdgeSet]:
        """Return the edges as one set per pair of segments and port."""
        sources, targets, ports = (
            np.concatenate([*(part[column] for part in self.edges), np.empty(0, np.int64)])
            for column in range(3)
        )
        bases = np.concatenate([[0], np.cumsum([s.count for s in self.segments])]).astype(np.int64)
        source, target = (np.searchsorted(bases, e, side="right") - 1 for e in (sources, targets))
        keys = (source * max(1, len(self.segments)) + target) * 4 + ports.astype(np.int64)
        order = np.argsort(keys, kind="stable")
        distinct_keys, starts = np.unique(keys[order], return_index=True)
        sets = []
        for number, part in enumerate(np.split(order, starts[1:]) if len(distinct_keys) else []):
            first, other = int(source[part[0]]), int(target[part[0]])
            file = f"edges/{number}"
            self.columns[file, "source"] = sources[part] - bases[first]
            self.columns[file, "target"] = targets[part] - bases[other]
            ends = (self.segments[first].name, self.segments[other].name)
            port = int(ports[part[0]])
            sets.append(EdgeSet(*ends, len(part), file=file, port=port))
        return sets


def _placed(ids: Array, places: Array) -> Array:
    result = np.full(len(places), -1, dtype=np.int64)
    inside = (places >= 0) & (places < len(ids))
    result[inside] = ids[places[inside]]
    return result


def search_paths(
    question: Question,
    sources: Collection[str],
    targets: Collection[str],
    limit: int,
    longest: int | None,
) -> tuple[Verdict, list[tuple[str, ...]]]:
    """Return paths from some nodes to others, the shortest first, each as names.

    After `flow`, the stores on the way are asked at once for what lies between the rows on which
    a path enters them and those on which it leaves.
    """
    verdict, state = flow(question, sources, targets, every=True)
    if verdict is Verdict.NO:
        return verdict, []
    rows = _on_the_way(question, state)
    batch = {}
    for alias, head in question.directory.heads.items():
        entries = {channel: each for channel, each in rows.items() if channel in head.imports}
        exits = {channel: each for channel, each in rows.items() if channel in head.exports}
        starts, ends = state.sources.get(alias, ()), state.targets.get(alias, ())
        if (starts or entries) and (ends or exits):
            batch[alias] = requests.between(
                question.store(alias),
                starts,
                entries,
                ends,
                exits,
            )
    joined = ask_fragments(question, batch)
    from_ids = np.concatenate([*joined.sources.values(), np.empty(0, np.int64)])
    to_ids = np.concatenate([*joined.targets.values(), np.empty(0, np.int64)])
    ends_known = (from_ids[from_ids >= 0], to_ids[to_ids >= 0])
    node_paths = joined.graph.paths(*ends_known, limit, longest)
    if node_paths or (limit and joined.graph.paths(*ends_known, 1)):
        verdict = Verdict.YES
    elif verdict is not Verdict.YES:
        verdict = Verdict.UNKNOWN if question.missing else Verdict.NO
    return verdict, [tuple(joined.names[node] for node in path) for path in node_paths]


def _on_the_way(question: Question, state: FlowWalk) -> dict[str, Array]:
    """Return the visited rows that may be on a path from the sources."""
    if not state.visited.keys() <= at_hand(question):
        return state.visited
    ahead = question.boundary.reached(state.exported, forwards=True)
    return crossing.intersection(state.visited, crossing.union([ahead, state.exported]))

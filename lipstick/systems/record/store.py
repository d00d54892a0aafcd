"""Recordings in stores: vertices as nodes, and both ends of connections stitched.

Recordings that are stored together, each in the store of its host, are joined where bytes sent by
one arrived at another. Sent flows cross, as rows that one store exports and another imports. An
export is sealed, so nodes are stored in *layers*, by the number of crossings on the longest path to
them. For each layer, rows of the previous one are imported, and then its flows exported.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.federation import Offer, export, import_rows, offer_of
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Snapshot, Store, Transaction
from graphquery.store.format import FORMAT_FILE
from graphquery.store.writer import Writer
from lipstick.systems.record.recording import CommandRecording, storable
from semiring.base import Array
from semiring.errors import LipstickError

SKEW = 60.0
"""Limit on the clock difference of two hosts, in seconds."""

Crossing = tuple[int, int, int, int]
"""A recording and a vertex that was sent, and a recording and a vertex that arrived."""


def crossing_bytes(recordings: Sequence[CommandRecording], skew: float = SKEW) -> list[Crossing]:
    """Return the flows sent by one recording and received by another: they share bytes."""
    sent: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, recording in enumerate(recordings):
        for number_of_vertex, vertex in enumerate(recording.vertices):
            if vertex.kind == "flow" and not vertex.received:
                sent[vertex.name].append((number, number_of_vertex))
    crossings = []
    for number, recording in enumerate(recordings):
        for number_of_vertex, vertex in enumerate(recording.vertices):
            if vertex.kind != "flow" or not vertex.received or vertex.name.startswith("UNIX"):
                continue
            for other, source in sent[vertex.name]:
                flow = recordings[other].vertices[source]
                inside = flow.first < vertex.last and vertex.first < flow.last
                if other != number and inside and _together(recordings[other], recording, skew):
                    crossings.append((other, source, number, number_of_vertex))
    return crossings


def _together(recording: CommandRecording, other: CommandRecording, skew: float) -> bool:
    """Return True if two recordings overlap in time; otherwise ports may have been reused."""
    ends = recording.started + recording.seconds + skew, other.started + other.seconds + skew
    return recording.started <= ends[1] and other.started <= ends[0]


def layers_of(recordings: Sequence[CommandRecording], crossings: Sequence[Crossing]) -> list[Array]:
    """Return, by recording, the largest number of crossings on a path to each vertex, as int64."""
    bases = np.cumsum([0, *(len(recording.vertices) for recording in recordings)])
    edges = [
        (int(bases[number]) + source, int(bases[number]) + target, 0)
        for number, recording in enumerate(recordings)
        for source, target in recording.edges
    ]
    edges += [(int(bases[a]) + b, int(bases[c]) + d, 1) for a, b, c, d in crossings]
    following: dict[int, list[tuple[int, int]]] = defaultdict(list)
    waiting = np.zeros(int(bases[-1]), dtype=np.int64)
    for source, target, step in edges:
        following[source].append((target, step))
        waiting[target] += 1
    layers = np.zeros(len(waiting), dtype=np.int64)
    ready = np.flatnonzero(waiting == 0).tolist()
    done = 0
    while ready:
        source = ready.pop()
        done += 1
        for target, step in following[source]:
            layers[target] = max(layers[target], layers[source] + step)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    if done < len(waiting):
        raise LipstickError(
            "The recordings contradict each other: something arrived before it was sent.\n"
            "They are not of the same time: store them one by one."
        )
    return [layers[start:end] for start, end in pairwise(bases.tolist())]


RUN = "recording/"
_NAMES = {"file": "files", "process": "processes", "pipe": "pipes", "flow": "flows"}
_KEYS = {"file": ("path", "version"), "process": ("name", "pid", "version")}


def store_recordings(
    recordings: Mapping[Path, CommandRecording], skew: float = SKEW
) -> dict[str, int]:
    """Store recordings, each in a store, which is created if missing.

    Parameters
    ----------
    recordings
        By the folder of the store. Recordings of several hosts are stitched.
    skew
        Seconds that clocks of hosts may differ by.

    Returns
    -------
    dict
        By folder, the number of the recording in its store, from 1: its segments begin with
        ``run1/``.

    Raises
    ------
    LipstickError
        When the recordings contradict each other: something arrived before it was sent.
    """
    each = list(recordings.values())
    crossings = crossing_bytes(each, skew)
    layers = layers_of(each, crossings)
    opened = [_store(path) for path in recordings]
    runs = [
        _Run.of(store.snapshot(), own_layers)
        for store, own_layers in zip(opened, each, strict=True)
    ]
    offers: dict[int, Offer] = {}
    for layer in range(
        1 + max((int(own_layers.max(initial=0)) for own_layers in layers), default=0)
    ):
        exported: dict[int, Offer] = {}
        for number, run in enumerate(runs):
            arriving = [
                crossing
                for crossing in crossings
                if crossing[2] == number and layers[number][crossing[3]] == layer
            ]
            with opened[number].writer() as writer:
                offer = run.add(writer, layers[number], layer, arriving, runs, offers)
                if offer is not None:
                    exported[number] = offer
        offers = {**offers, **{_slot(number, layer): offer for number, offer in exported.items()}}
    return {str(path): run.number for path, run in zip(recordings, runs, strict=True)}


def _store(path: str | os.PathLike[str]) -> Store:
    there = (Path(path) / FORMAT_FILE).is_file()
    return Store.open(path) if there else Store.create(path)


def _slot(number: int, layer: int) -> int:
    """Return one number for a recording and a layer."""
    return layer << 20 | number


@dataclass(slots=True)
class _Run:
    """A recording being stored.

    Parameters
    ----------
    recording, number
        The recording, and its number in its store.
    given
        By vertex index, the segment and node of an earlier recording for a file that existed
        before the command.
    nodes
        By vertex index, its segment and ordinal, as far as stored.
    """

    recording: CommandRecording
    number: int
    given: dict[int, tuple[str, int]]
    nodes: dict[int, tuple[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot, recording: CommandRecording) -> _Run:
        """Return the run of a recording in a store, with its number and the nodes stored
        already.
        """
        number = 1 + sum(name.startswith(RUN) for name in snapshot.records)
        return cls(recording, number, _left_before(snapshot, recording))

    def add(
        self,
        writer: Writer,
        layers: Array,
        layer: int,
        arriving: Sequence[Crossing],
        runs: Sequence[_Run],
        offers: Mapping[int, Offer],
    ) -> Offer | None:
        """Store the vertices of a layer, and export its flows if they may arrive elsewhere."""
        suffix = f"~{layer}" if layer else ""
        sources: dict[int, list[tuple[str, int]]] = defaultdict(list)
        chosen = np.flatnonzero(layers == layer).tolist()
        inside = set(chosen)
        with writer.transaction() as transaction:
            imported = self._import(transaction, arriving, runs, offers, suffix)
            for target, arrived in imported.items():
                sources[target] = arrived
            for source, target in self.recording.edges:
                if target in inside:
                    sources[target].append((_OWN, source))
            for target, node in self.given.items():
                if target in inside:
                    sources[target].append(node)
            self._add_segments(transaction, chosen, sources, suffix)
            self._add_edges(transaction, chosen, sources)
            if layer == 0:
                transaction.put(f"{RUN}{self.number}", self._record())
            transaction.commit()
        flows = f"run{self.number}/flows{suffix}"
        if len(runs) == 1 or flows not in writer.snapshot().segments:
            return None
        channel = export(writer, flows, flows)
        return offer_of(writer.snapshot(), channel)

    def _import(
        self,
        transaction: Transaction,
        arriving: Sequence[Crossing],
        runs: Sequence[_Run],
        offers: Mapping[int, Offer],
        suffix: str,
    ) -> dict[int, list[tuple[str, int]]]:
        """Import arrived flows; return the nodes, by the index of the vertex that they arrived
        as.
        """
        arrived: dict[int, list[tuple[str, int]]] = defaultdict(list)
        rows: dict[tuple[int, str], dict[int, int]] = defaultdict(dict)
        for other, source, _, target in arriving:
            segment, ordinal = runs[other].nodes[source]
            known = rows[other, segment]
            known.setdefault(ordinal, len(known))
            name = f"run{self.number}/arrived{suffix} {other} {segment}"
            arrived[target].append((name, known[ordinal]))
        for (other, segment), known in rows.items():
            layer = int(segment.partition("~")[2] or 0)
            name = f"run{self.number}/arrived{suffix} {other} {segment}"
            token = Segment(name, Kind.TOKEN, "", len(known), file="")
            table = pa.table({"row": list(known)})
            import_rows(transaction, offers[_slot(other, layer)], token, table, "row")
        return arrived

    def _add_segments(
        self,
        transaction: Transaction,
        chosen: Sequence[int],
        sources: Mapping[int, Sequence[tuple[str, int]]],
        suffix: str,
    ) -> None:
        groups: dict[tuple[str, bool, bool], list[int]] = defaultdict(list)
        for index in chosen:
            vertex = self.recording.vertices[index]
            groups[vertex.kind, not sources.get(index), vertex.received].append(index)
        for (kind, given, received), places in groups.items():
            ending = ".arrived" if received else ""
            ending += ".given" if given else ""
            name = f"run{self.number}/{_NAMES[kind]}{ending}{suffix}"
            segment = Segment(
                name,
                Kind.TOKEN if given else Kind.DERIVED,
                "" if given else "·",
                len(places),
                relation=_NAMES[kind],
                key=_KEYS.get(kind, ("name", "version")),
                file="",
            )
            transaction.add_segment(segment, self._values(kind, places))
            for ordinal, index in enumerate(places):
                self.nodes[index] = name, ordinal

    def _add_edges(
        self,
        transaction: Transaction,
        chosen: Sequence[int],
        sources: Mapping[int, Sequence[tuple[str, int]]],
    ) -> None:
        groups: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for target in chosen:
            segment, ordinal = self.nodes[target]
            for name, number in sources.get(target, ()):
                source = self.nodes[number] if name == _OWN else (name, number)
                groups[source[0], segment].append((source[1], ordinal))
        for (source_name, target_name), pairs in groups.items():
            ends = np.array(pairs, dtype=np.int64)
            column = Ordinals.COLUMN
            edges = EdgeSet(source_name, target_name, len(ends), column, column, file="")
            transaction.add_edges(edges, ends[:, 0], ends[:, 1])

    def _values(self, kind: str, places: Sequence[int]) -> pa.Table:
        vertices = [self.recording.vertices[index] for index in places]
        columns: dict[str, list[object]] = {
            "path" if kind == "file" else "name": [storable(each.name) for each in vertices],
            "version": [each.version for each in vertices],
            "time": [each.time for each in vertices],
        }
        if kind == "file":
            states = [self.recording.states.get(index) for index in places]
            columns["size"] = [None if each is None else each.size for each in states]
            columns["modified"] = [None if each is None else each.modified for each in states]
            columns["sha256"] = [None if each is None else each.sha256 for each in states]
            columns["names"] = [None if e is None else list(map(storable, e.names)) for e in states]
        elif kind == "process":
            columns["pid"] = [each.pid for each in vertices]
            columns["parent"] = [each.parent for each in vertices]
            columns["command"] = [storable(each.command) for each in vertices]
        elif kind == "flow":
            columns["first"] = [each.first for each in vertices]
            columns["last"] = [each.last for each in vertices]
        schema = pa.schema([(name, _TYPES[name]) for name in columns])
        return pa.table(columns, schema=schema)

    def _record(self) -> dict[str, object]:
        recording = self.recording
        return {
            "format": 1,
            "host": recording.host,
            "user": recording.user,
            "command": [storable(each) for each in recording.command],
            "code": recording.code,
            "started": recording.started,
            "seconds": recording.seconds,
        }


_OWN = "\0own"
_TYPES = {
    **dict.fromkeys(("path", "name", "sha256", "command"), pa.string()),
    **dict.fromkeys(("version", "size", "modified", "pid", "parent", "first", "last"), pa.int64()),
    "names": pa.list_(pa.string()),
    "time": pa.float64(),
}


def _left_before(snapshot: Snapshot, recording: CommandRecording) -> dict[int, tuple[str, int]]:
    """Return the nodes of files that an earlier recording left unchanged, by checksum."""
    written = {target for _, target in recording.edges}
    wanted = {
        (storable(recording.vertices[index].name), state.sha256): index
        for index, state in recording.states.items()
        if index not in written and state.sha256 is not None
    }
    if not wanted:
        return {}
    given: dict[int, tuple[str, int]] = {}
    for segment in snapshot.segments.values():
        if segment.relation == "files" and segment.name.startswith("run"):
            table = snapshot.values(segment, ["names", "sha256"])
            hashes = pa.array([checksum for _, checksum in wanted])
            column = table.column("sha256")
            matches = np.flatnonzero(
                pc.is_in(column, value_set=hashes).to_numpy(zero_copy_only=False)
            )
            taken = table.take(pa.array(matches)).to_pylist()
            for ordinal, row in zip(matches.tolist(), taken, strict=True):
                for name in row["names"]:
                    vertex = wanted.get((name, row["sha256"]))
                    if vertex is not None:
                        given[vertex] = segment.name, ordinal
    return given

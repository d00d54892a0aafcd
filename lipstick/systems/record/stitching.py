"""What crossed between hosts that were recorded: bytes of connections, and the order they give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lipstick.systems.record.errors import RecordError
from lipstick.systems.record.recording import CommandRecording
from semiring.base import Array

SKEW = 60.0
"""Seconds that the clocks of two hosts may differ by."""

Crossing = tuple[int, int, int, int]
"""A recording and a vertex that was sent, and a recording and a vertex that arrived."""


def crossing_bytes(recordings: Sequence[CommandRecording], skew: float = SKEW) -> list[Crossing]:
    """Which flows that arrived in one recording were sent in another: those with the same bytes."""
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
    """Whether two recordings were made at the same time; ports are used again at others."""
    ends = recording.started + recording.seconds + skew, other.started + other.seconds + skew
    return recording.started <= ends[1] and other.started <= ends[0]


def layers_of(recordings: Sequence[CommandRecording], crossings: Sequence[Crossing]) -> list[Array]:
    """How many crossings the longest way to each vertex has."""
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
        raise RecordError(
            "The recordings contradict each other: something arrived before it was sent.\n"
            "They are not of the same time: store them one by one."
        )
    return [layers[start:end] for start, end in pairwise(bases.tolist())]

"""The order of boxes in layers, and the places of layers' boxes: the steps of Sugiyama's method.

See :mod:`lipstick.explorer.graphs.layout`.
"""

from __future__ import annotations

import numpy as np

from semiring.base import Array

SWEEPS = 6
"""How often layers are gone through, forth and back."""


def acyclic(count: int, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges, those turned around that close a cycle for who walks along them depth first."""
    following: list[list[int]] = [[] for _ in range(count)]
    arriving = [0] * count
    for source, target in pairs:
        following[source].append(target)
        arriving[target] += 1
    state = [0] * count
    back: set[tuple[int, int]] = set()
    for start in sorted(range(count), key=lambda node: arriving[node] > 0):
        if state[start]:
            continue
        state[start] = 1
        stack = [(start, iter(following[start]))]
        while stack:
            node, rest = stack[-1]
            for other in rest:
                if state[other] == 1:
                    back.add((node, other))
                elif not state[other]:
                    state[other] = 1
                    stack.append((other, iter(following[other])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return [(b, a) if (a, b) in back else (a, b) for a, b in pairs]


def layers_of(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """The layer of every box: as far left as possible, boxes without sources next to a target."""
    following: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for source, target in edges:
        following[source].append(target)
        waiting[target] += 1
    first = [node for node in range(count) if not waiting[node]]
    layer = [0] * count
    queue = list(first)
    for node in queue:
        for target in following[node]:
            layer[target] = max(layer[target], layer[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                queue.append(target)
    for node in first:
        if following[node]:
            layer[node] = min(layer[target] for target in following[node]) - 1
    return layer


def ordered(layers: Array, links: list[tuple[int, int]]) -> list[list[int]]:
    """The boxes and bends of each layer from top to bottom, by barycentres of their neighbours."""
    depth = int(layers.max(initial=-1)) + 1
    order = [np.flatnonzero(layers == at) for at in range(depth)]
    rank = np.zeros(len(layers))
    for members in order:
        rank[members] = np.arange(len(members))
    if not links:
        return [members.tolist() for members in order]
    ends = np.array(links)
    into = [ends[layers[ends[:, 1]] == at] for at in range(depth)]
    out = [ends[layers[ends[:, 0]] == at] for at in range(depth)]
    for sweep in range(SWEEPS):
        forwards = sweep % 2 == 0
        for at in range(depth) if forwards else range(depth - 1, -1, -1):
            pairs = into[at] if forwards else out[at][:, ::-1]
            if not len(pairs):
                continue
            total = np.bincount(pairs[:, 1], rank[pairs[:, 0]], minlength=len(layers))
            degree = np.bincount(pairs[:, 1], minlength=len(layers))
            members = order[at]
            mean = np.where(
                degree[members] > 0, total[members] / np.maximum(degree[members], 1), rank[members]
            )
            order[at] = members[np.argsort(mean, kind="stable")]
            rank[order[at]] = np.arange(len(members))
    return [members.tolist() for members in order]


def levels(
    order: list[list[int]], heights: Array, links: list[tuple[int, int]], count: int, apart: float
) -> Array:
    """The upper edge of every box and bend: near its neighbours, none over another."""
    y = np.zeros(count)
    for members in order:
        sizes = heights[members] + apart
        y[members] = np.cumsum(sizes) - sizes - sizes.sum() / 2
    if not links:
        return y
    ends = np.array(links)
    rank = np.empty(count, dtype=np.int64)
    layer = np.empty(count, dtype=np.int64)
    for at, members in enumerate(order):
        rank[members], layer[members] = np.arange(len(members)), at
    sides = [(pairs, layer[pairs[:, 1]]) for pairs in (ends, ends[:, ::-1])]
    near = [[pairs[at == level] for level in range(len(order))] for pairs, at in sides]
    for sweep in range(SWEEPS):
        backwards = sweep % 2
        for at in range(len(order))[:: -1 if backwards else 1]:
            members, links_there = order[at], near[backwards][at]
            if not len(links_there):
                continue
            tall = heights[members]
            middle = y[links_there[:, 0]] + heights[links_there[:, 0]] / 2
            total = np.bincount(rank[links_there[:, 1]], middle, minlength=len(members))
            degree = np.bincount(rank[links_there[:, 1]], minlength=len(members))
            middles = y[members] + tall / 2
            wanted = np.where(degree > 0, total / np.maximum(degree, 1), middles)
            offset = np.cumsum(tall + apart) - tall - apart
            y[members] = _apart(wanted - tall / 2 - offset) + offset
    return y


def _apart(wanted: Array) -> Array:
    """The ascending sequence nearest to a given one: pooling of adjacent violators."""
    means: list[float] = []
    sizes: list[int] = []
    for value in wanted.tolist():
        mean, size = value, 1
        while means and means[-1] > mean:
            before, many = means.pop(), sizes.pop()
            mean = (mean * size + before * many) / (size + many)
            size += many
        means.append(mean)
        sizes.append(size)
    return np.repeat(np.array(means), np.array(sizes, dtype=np.int64))

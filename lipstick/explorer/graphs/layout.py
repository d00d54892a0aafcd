"""The layout of a picture: layered from left to right, boxes within boxes.

The method is that of Sugiyama, Tagawa, Toda, *Methods for Visual Understanding of Hierarchical
System Structures* (IEEE TSMC 1981): layers by longest paths, edges over several layers cut by
bends, an order within layers by barycentres, and places near the neighbours. The places of a
layer are the exact least-squares solution that keeps boxes apart, by pooling adjacent violators.
A box with boxes inside is laid out first and then is one box of its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from semiring.arrays.segments import ascending
from semiring.base import Array

SWEEPS = 6
"""The number of times that layers are gone through, forth and back."""


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


ACROSS, DOWN, PADDING, TITLE = 40.0, 16.0, 14.0, 28.0
"""Pixels between layers, between boxes of a layer, around boxes in a box, and above them."""

COLUMNS = 6
"""Boxes of a grid beside one another at most."""

WIDEST, SHAPE, BAND, BANDS, CROSSING = 700.0, 1.25, 18.0, 8, 2
"""Pixels from which on a picture is cut into bands, their shape, room around each band, bands at
most, and the edges that may cross from one to the next, however few there are."""

_BENDS = 3_000
"""Bends at most; where more would be needed, edges are drawn straight."""

Points: TypeAlias = list[tuple[float, float]]

Way: TypeAlias = tuple[Points, float | None]
"""The bends of an edge, and the height at which it goes to the next band, if it does."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box to be placed.

    Attributes
    ----------
    width, height
        Pixels; of a box with boxes inside, what it takes at least.
    parent
        The position of the box that it is in; None: of none.
    grid
        The boxes inside stand in rows, in their order, whatever edges there are.
    """

    width: float
    height: float
    parent: int | None = None
    grid: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes in their places.

    Attributes
    ----------
    x, y, width, height
        float64, of every box; x and y are of its upper left corner.
    paths
        Per edge the points it passes, from box to box.
    """

    x: Array
    y: Array
    width: Array
    height: Array
    paths: list[Points]

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the picture."""
        if not len(self.x):
            return 0.0, 0.0
        return float((self.x + self.width).max()), float((self.y + self.height).max())


def layout(boxes: Sequence[Box], edges: Sequence[tuple[int, int]]) -> Layout:
    """Place boxes, and draw edges between them.

    Parameters
    ----------
    boxes
        A box that others are in comes before these.
    edges
        Pairs of positions of boxes, from left to right where that is possible.

    Notes
    -----
    O(boxes and bends) per sweep; some milliseconds for 300 boxes.
    """
    count = len(boxes)
    inside: dict[int | None, list[int]] = {}
    depth = [0] * count
    for number, box in enumerate(boxes):
        inside.setdefault(box.parent, []).append(number)
        depth[number] = 0 if box.parent is None else depth[box.parent] + 1
    width = np.array([box.width for box in boxes], dtype=np.float64)
    height = np.array([box.height for box in boxes], dtype=np.float64)
    x, y = np.zeros(count), np.zeros(count)
    lifted: dict[int | None, dict[tuple[int, int], list[int]]] = {}
    for edge, ends in enumerate(edges):
        source, target = _siblings(boxes, depth, *ends)
        if source != target:
            parent = boxes[source].parent
            lifted.setdefault(parent, {}).setdefault((source, target), []).append(edge)
    bends: dict[int, tuple[int | None, Way]] = {}
    for parent in sorted(inside, key=lambda p: -1 if p is None else p, reverse=True):
        members = inside[parent]
        local = {number: index for index, number in enumerate(members)}
        edges_inside = lifted.get(parent, {})
        pairs = [(local[a], local[b]) for a, b in edges_inside]
        if parent is not None and boxes[parent].grid:
            px, py, via = _grid(width[members], height[members], len(pairs))
        else:
            px, py, via = _layered(width[members], height[members], pairs)
        x[members], y[members] = px, py
        for way, (ends, numbers) in zip(via, edges_inside.items(), strict=True):
            for edge in numbers:
                # An edge that ends deeper inside than the bands are has a way of its own.
                bends[edge] = parent, way if edges[edge] == ends else (way[0], None)
        if parent is not None:
            x[members] += PADDING
            y[members] += PADDING + TITLE
            right = float((x[members] + width[members]).max()) + PADDING
            bottom = float((y[members] + height[members]).max()) + PADDING
            width[parent] = max(width[parent], right)
            height[parent] = max(height[parent], bottom)
    for number, box in enumerate(boxes):
        if box.parent is not None:
            x[number] += x[box.parent]
            y[number] += y[box.parent]
    placed = Layout(x, y, width, height, [])
    paths = _paths(placed, boxes, edges, bends)
    return Layout(x, y, width, height, paths)


def _siblings(boxes: Sequence[Box], depth: list[int], a: int, b: int) -> tuple[int, int]:
    """The boxes around the ends of an edge that are in one and the same box."""
    while a != b and boxes[a].parent != boxes[b].parent:
        if depth[a] >= depth[b]:
            upper = boxes[a].parent
            assert upper is not None
            a = upper
        else:
            upper = boxes[b].parent
            assert upper is not None
            b = upper
    return a, b


def _grid(width: Array, height: Array, edges: int) -> tuple[Array, Array, list[Way]]:
    """Boxes in rows, from left to right and from top to bottom."""
    index = np.arange(len(width))
    columns = min(COLUMNS, max(1, len(width)))
    x = (index % columns) * (float(width.max()) + DOWN)
    y = (index // columns) * (float(height.max()) + DOWN)
    return x, y, [([], None) for _ in range(edges)]


def _layered(
    width: Array, height: Array, pairs: list[tuple[int, int]]
) -> tuple[Array, Array, list[Way]]:
    """Return the places of boxes that are not in one another, and the way of each edge.

    A picture much wider than high is cut into bands below one another where few edges cross from
    a band to the next, and none goes further: of the numbers of bands the one is taken whose
    picture is nearest to `SHAPE` and smallest.
    """
    count = len(width)
    forward = acyclic(count, pairs)
    layers, chains = _bent(count, forward)
    links = [list(pairwise([a, *c, b])) for (a, b), c in zip(forward, chains, strict=True)]
    order = ordered(np.array(layers), [link for each in links for link in each])
    bends = len(layers) - count
    wide, tall = np.append(width, np.zeros(bends)), np.append(height, np.full(bends, 2.0))
    picture = _Layers(count, np.array(layers, dtype=np.int64), order, chains, links, wide, tall)
    banded = picture.in_bands()
    center = banded.y + tall / 2
    via: list[Points] = []
    for edge, (given, used, chain) in enumerate(zip(pairs, forward, chains, strict=True)):
        points = [(float(banded.x[node]), float(center[node])) for node in chain]
        # An edge that was turned around to have no cycles is drawn as it was.
        via.append([] if banded.over[edge] else points if given == used else points[::-1])
    # Between the bands each edge has a height of its own.
    bottoms = banded.bottoms[picture.ends[:, 0]]
    heights_of_turns = bottoms + BAND * (0.5 + np.arange(len(forward)) % 5 / 4)
    turns = [float(at) if o else None for at, o in zip(heights_of_turns, banded.over, strict=True)]
    return banded.x[:count], banded.y[:count], list(zip(via, turns, strict=True))


def _bent(count: int, forward: list[tuple[int, int]]) -> tuple[list[int], list[list[int]]]:
    """Return the layers of boxes and of bends behind them, and the bends of each edge."""
    layers = layers_of(count, forward)
    chains: list[list[int]] = [[] for _ in forward]
    spans = [range(layers[source] + 1, layers[target]) for source, target in forward]
    if sum(map(len, spans)) <= _BENDS:
        for chain, span in zip(chains, spans, strict=True):
            chain.extend(range(len(layers), len(layers) + len(span)))
            layers += span
    return layers, chains


@dataclass(frozen=True, slots=True)
class _Bands:
    """A picture in bands.

    Attributes
    ----------
    size
        Its height, or what that would be in its shape, if that is more.
    over
        Boolean array: the edges that cross to the next band.
    bottoms
        By box or bend, the lower end of its band.
    """

    size: float
    x: Array
    y: Array
    over: Array
    bottoms: Array


@dataclass(frozen=True, slots=True)
class _Layers:
    """Boxes, and behind them the bends of edges, in layers.

    Attributes
    ----------
    count
        The number of boxes.
    order
        By layer its boxes and bends, from top to bottom.
    chains, links
        By edge its bends, and the pairs of boxes and bends next to each other on its way.
    """

    count: int
    layers: Array
    order: list[list[int]]
    chains: list[list[int]]
    links: list[list[tuple[int, int]]]
    wide: Array
    tall: Array

    @property
    def ends(self) -> Array:
        """The boxes of each edge."""
        ends = [(link[0][0], link[-1][1]) for link in self.links]
        return np.array(ends, dtype=np.int64).reshape(-1, 2)

    def in_bands(self) -> _Bands:
        """Return the picture in as many bands as suit its shape."""
        x, left = self._columns()
        across = float((x + self.wide).max(initial=0.0))
        cut = []
        for number in range(1, BANDS + 1 if across > WIDEST else 2):
            middles = across * np.arange(1, number) / number
            cuts = ascending(np.abs(np.array(left) - middles[:, None]).argmin(axis=1))
            cut.append(self._cut(x, cuts))
        return min((bands for bands in cut if bands is not None), key=lambda bands: bands.size)

    def _columns(self) -> tuple[Array, list[float]]:
        """Return the left side of every box and bend, and of every layer."""
        x, starts, left = np.zeros(len(self.layers)), 0.0, []
        leaving = [int(self.layers[a]) for each in self.links for a, _ in each]
        for at, members in enumerate(self.order):
            real = [node for node in members if node < self.count]
            breadth = float(self.wide[real].max()) if real else 0.0
            left.append(starts)
            x[members] = starts + breadth / 2
            x[real] -= self.wide[real] / 2
            starts += breadth + ACROSS + min(60.0, 1.5 * leaving.count(at))
        return x, left

    def _cut(self, x: Array, cuts: Array) -> _Bands | None:
        """Return the picture cut before some layers; None: too many edges would cross, or far."""
        ends, band = self.ends, np.searchsorted(cuts, self.layers, side="right")
        apart = band[ends[:, 1]] - band[ends[:, 0]]
        over = apart > 0
        if (apart > 1).any() or over.sum() > len(cuts) * max(CROSSING, len(ends) // 4):
            return None
        # What crosses to the next band turns around its end, and needs no room within the bands.
        bent = {node for edge in np.flatnonzero(over).tolist() for node in self.chains[edge]}
        inside = [link for edge, each in enumerate(self.links) if not over[edge] for link in each]
        kept = [[node for node in members if node not in bent] for members in self.order]
        y = levels(kept, self.tall, inside, len(self.layers), DOWN)
        placed, top, bottoms = x.copy(), 0.0, np.zeros(len(self.layers))
        for at in range(len(cuts) + 1):
            here = np.array([node for row in kept for node in row if band[node] == at], np.int64)
            placed[here] -= placed[here].min(initial=np.inf)
            y[here] += top - y[here].min(initial=np.inf)
            bottoms[here] = float((y + self.tall)[here].max(initial=top))
            top = float(bottoms[here].max(initial=top)) + 2 * BAND
        size = max(float((placed + self.wide).max(initial=0.0)) / SHAPE, top)
        return _Bands(size, placed, y, over, bottoms)


def _paths(
    placed: Layout,
    boxes: Sequence[Box],
    edges: Sequence[tuple[int, int]],
    bends: dict[int, tuple[int | None, Way]],
) -> list[Points]:
    """The points of every edge: from a right side to a left one, at a height of its own."""
    if not edges:
        return []
    ends = np.array(edges)
    center = placed.y + placed.height / 2
    leaves = _heights(placed, ends[:, 0], center[ends[:, 1]])
    arrives = _heights(placed, ends[:, 1], center[ends[:, 0]])
    paths: list[Points] = []
    for number, (source, target) in enumerate(edges):
        parent, (between, height) = bends.get(number, (None, ([], None)))
        dx = 0.0 if parent is None else float(placed.x[parent]) + PADDING
        dy = 0.0 if parent is None else float(placed.y[parent]) + PADDING + TITLE
        start = float(placed.x[source] + placed.width[source]), float(leaves[number])
        stop = float(placed.x[target]), float(arrives[number])
        if height is not None or (stop[0] < start[0] and not between):
            turn = _turn(placed, source, target) if height is None else height + dy
            paths.append([start, (start[0], turn), (stop[0], turn), stop])
            continue
        paths.append([start, *((px + dx, py + dy) for px, py in between), stop])
    return paths


def _turn(placed: Layout, source: int, target: int) -> float:
    """The height at which an edge goes back to the left: between two boxes, or below both."""
    bottom = float(placed.y[source] + placed.height[source])
    top = float(placed.y[target])
    if top > bottom:
        return (bottom + top) / 2
    return max(bottom, top + float(placed.height[target])) + BAND / 2


def _heights(placed: Layout, boxes: Array, towards: Array) -> Array:
    """Return the heights where edges meet their boxes, in the order of their other ends."""
    order = np.lexsort([towards, boxes])
    count = np.bincount(boxes, minlength=len(placed.x))
    first = np.cumsum(count) - count
    rank = np.empty(len(boxes))
    rank[order] = np.arange(len(boxes)) - first[boxes[order]]
    share = (rank + 1) / (count[boxes] + 1)
    # Of a box with boxes inside, edges keep to the middle.
    span = np.minimum(placed.height[boxes], 80.0)
    return placed.y[boxes] + (placed.height[boxes] - span) / 2 + span * share

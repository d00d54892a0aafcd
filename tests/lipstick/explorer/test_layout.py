"""Layouts of random pictures keep boxes apart, and edges at their boxes."""

from itertools import combinations

import numpy as np
import pytest

from lipstick.explorer.graphs.layout import Box, layout

CASES = 120


def drawn(seed: int) -> tuple[list[Box], list[tuple[int, int]]]:
    """A random picture: boxes in boxes up to three deep, edges in any direction."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 60))
    boxes: list[Box] = []
    depth: list[int] = []
    for number in range(count):
        inside = number > 0 and random.random() < 0.5
        parent = int(random.integers(number)) if inside else None
        if parent is not None and depth[parent] >= 3:
            parent = None
        boxes.append(
            Box(
                float(random.integers(20, 200)),
                float(random.integers(20, 80)),
                parent,
                bool(random.random() < 0.3),
            )
        )
        depth.append(0 if parent is None else depth[parent] + 1)
    pairs = random.integers(0, count, (int(random.integers(0, 2 * count)), 2)).tolist()
    edges = list(dict.fromkeys((a, b) for a, b in pairs if a != b))
    return boxes, edges


@pytest.mark.parametrize("start", range(0, CASES, 30))
def test_boxes_are_apart_and_inside_their_boxes(start: int) -> None:
    for seed in range(start, start + 30):
        boxes, edges = drawn(seed)
        placed = layout(boxes, edges)
        right, bottom = placed.x + placed.width, placed.y + placed.height
        for a, b in combinations(range(len(boxes)), 2):
            if boxes[a].parent == boxes[b].parent:
                beside = right[a] <= placed.x[b] + 1e-6 or right[b] <= placed.x[a] + 1e-6
                above = bottom[a] <= placed.y[b] + 1e-6 or bottom[b] <= placed.y[a] + 1e-6
                assert beside or above, (seed, a, b)
        for number, box in enumerate(boxes):
            assert placed.width[number] >= box.width, seed
            assert placed.height[number] >= box.height, seed
            if box.parent is not None:
                assert placed.x[number] > placed.x[box.parent], seed
                assert placed.y[number] > placed.y[box.parent], seed
                assert right[number] < right[box.parent], seed
                assert bottom[number] < bottom[box.parent], seed
        for (source, target), points in zip(edges, placed.paths, strict=True):
            assert points[0][0] == pytest.approx(right[source]), seed
            assert points[-1][0] == pytest.approx(placed.x[target]), seed
            assert placed.y[source] <= points[0][1] <= bottom[source], seed
            assert placed.y[target] <= points[-1][1] <= bottom[target], seed


def test_edges_lead_to_the_right_where_there_are_no_cycles() -> None:
    for seed in range(40):
        random = np.random.default_rng(seed)
        count = int(random.integers(2, 40))
        pairs = np.sort(random.integers(0, count, (count, 2)), axis=1).tolist()
        edges = list(dict.fromkeys((a, b) for a, b in pairs if a != b))
        placed = layout([Box(80, 30)] * count, edges)
        if placed.size[0] < 1_500:  # a wider picture is cut into bands
            for source, target in edges:
                assert placed.x[source] + placed.width[source] < placed.x[target], seed


def test_a_long_chain_is_cut_into_bands() -> None:
    chain = [(number, number + 1) for number in range(39)]
    width, height = layout([Box(100, 50)] * 40, chain).size
    assert width < 4 * height

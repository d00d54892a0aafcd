"""Compressed sparse rows against plain sorting."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphquery import csr
from graphquery.csr import Csr, EdgeBlock, compress, positions


@st.composite
def blocks(draw: st.DrawFn) -> tuple[int, list[EdgeBlock]]:
    """Sets of edges among ranges of nodes, stored and implied."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    bases = [sum(sizes[:i]) for i in range(len(sizes))]
    blocks_drawn = []
    for _ in range(draw(st.integers(0, 6))):
        a, b = (draw(st.integers(0, len(sizes) - 1)) for _ in range(2))
        aligned = draw(st.booleans())
        count = sizes[a] if aligned else draw(st.integers(0, 6))
        own_ordinals = (
            None if aligned else np.array(draw(_ordinals(count, sizes[a])), dtype=np.int32)
        )
        other = np.array(draw(_ordinals(count, sizes[b])), dtype=np.int64)
        single = draw(st.booleans())
        port = draw(st.sampled_from([0, 0, 2]))
        blocks_drawn.append(
            EdgeBlock(count, bases[a], own_ordinals, bases[b], 0 if single else other, port)
        )
    return sum(sizes), blocks_drawn


def _ordinals(count: int, size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, size - 1), min_size=count, max_size=count)


def edges_of(block: EdgeBlock) -> list[tuple[int, int, int]]:
    """The edges of a block, one by one."""
    own_ordinals = range(block.count) if block.own_ordinals is None else block.own_ordinals
    other = [0] * block.count if isinstance(block.other_ordinals, int) else block.other_ordinals
    return [
        (block.own + int(a), block.other + int(b), block.port)
        for a, b in zip(own_ordinals, other, strict=True)
    ]


def rows(adjacency: Csr) -> Counter[tuple[int, int, int]]:
    """The edges, one by one."""
    ports = (
        np.zeros(len(adjacency.nodes), dtype=np.uint8)
        if adjacency.ports is None
        else adjacency.ports
    )
    return Counter(
        (node, int(adjacency.nodes[i]), int(ports[i]))
        for node in range(len(adjacency.offsets) - 1)
        for i in range(adjacency.offsets[node], adjacency.offsets[node + 1])
    )


@pytest.mark.parametrize("chunk", [1, 1 << 18])
@given(drawn=blocks())
def test_compress(chunk: int, drawn: tuple[int, list[EdgeBlock]]) -> None:
    """All edges are there, those of a node in the order of its neighbours, however they are cut."""
    size, parts = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csr, "_CHUNK", chunk)
        adjacency = compress(size, parts)
    assert rows(adjacency) == Counter(edge for block in parts for edge in edges_of(block))
    for node in range(size):
        neighbours = adjacency.nodes[adjacency.offsets[node] : adjacency.offsets[node + 1]]
        assert neighbours.tolist() == sorted(neighbours.tolist())


def test_compress_nothing() -> None:
    """No edges, and no nodes."""
    assert compress(3, []).offsets.tolist() == [0, 0, 0, 0]
    assert compress(0, []).offsets.tolist() == [0]
    assert compress(2, [EdgeBlock(0, 0, None, 1, None, 2)]).ports is None


@pytest.mark.parametrize("ports", [False, True])
def test_sort_of_large_ids(ports: bool) -> None:
    """Ids too large to be packed into one integer are sorted all the same."""
    owners = np.array([1, 0, 1, 0], dtype=np.int64)
    nodes = np.array([1 << 40, 3, 1 << 33, 2], dtype=np.int64)
    kinds = np.array([2, 1, 0, 0], dtype=np.uint8) if ports else None
    csr._sort(owners, nodes, kinds)
    assert nodes.tolist() == [2, 3, 1 << 33, 1 << 40]
    assert kinds is None or kinds.tolist() == [0, 1, 0, 2]


def test_index_type() -> None:
    """Four bytes as long as they do."""
    assert csr.index_type(2**31 - 1) == np.int32
    assert csr.index_type(2**31) == np.int64


@given(blocks(), st.data())
def test_positions(drawn: tuple[int, list[EdgeBlock]], data: st.DataObject) -> None:
    """The neighbours of nodes in any order, twice if asked for twice."""
    size, parts = drawn
    adjacency = compress(size, parts)
    ids = np.array(data.draw(st.lists(st.integers(0, size - 1))), dtype=np.int64)
    index, degrees = positions(adjacency, ids)
    expected = [
        adjacency.nodes[adjacency.offsets[i] : adjacency.offsets[i + 1]].tolist() for i in ids
    ]
    assert adjacency.nodes[index].tolist() == [node for part in expected for node in part]
    assert degrees.tolist() == [len(part) for part in expected]

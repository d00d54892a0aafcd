"""The golden vectors of the definitions' section 9, by the published algorithm and by ours."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from benchmark_workflowgen.events.accuracy import DependencyMatrix, accuracy
from benchmark_workflowgen.events.published_reducer import (
    Flush,
    Published,
    Remembered,
    WindowedReducer,
)
from graphquery.reduction import EdgeType, Partial, Reducer, VertexRole
from graphquery.reduction.partial import VertexDeclarations
from graphquery.reduction.reducer import pairs

Edge = tuple[str, str]


def stream(text: str) -> list[list[Edge]]:
    """Messages of edges: ``a b, c d | e f``."""
    return [
        [(edge.split()[0], edge.split()[1]) for edge in message.split(",")]
        for message in text.split("|")
    ]


def published(text: str, *, fixed: bool = False) -> set[Edge]:
    state = Published(fixed=fixed)
    for group in stream(text):
        state.add(group)
    return state.edges  # type: ignore[return-value]


def exact(messages: list[list[Edge]], activities: str = "", kept: str = "") -> set[Edge]:
    """The reduced graph; vertices whose names start with a letter of `activities` are such."""
    return sealed([part(message, activities) for message in messages], kept)


def part(message: list[Edge], activities: str) -> Partial:
    types = []
    for source, dest in message:
        is_use, is_generation = source[0] in activities, dest[0] in activities
        assert not (is_use and is_generation)
        one_sided = EdgeType.GENERATED if is_generation else EdgeType.DERIVED
        types.append(EdgeType.USED if is_use else one_sided)
    sources, dests = zip(*message, strict=True)
    return Partial.of_edges(pa.array(sources), pa.array(dests), np.array(types))


def sealed(parts: list[Partial], kept: str = "") -> set[Edge]:
    reducer = Reducer(hubs=False)
    for each in parts:
        reducer.add(each)
    if kept:
        reducer.add(
            Partial.declaring(pa.array(kept.split()), VertexDeclarations(roles=VertexRole.KEPT))
        )
    reducer.seal()
    return pairs(reducer.take_final())


def edges(text: str) -> set[Edge]:
    return {edge for group in stream(text) for edge in group}


@pytest.mark.parametrize(
    ("given", "literal", "fixed"),
    [
        pytest.param("v1 v2 | v2 v3 | v5 v6", "v1 v3, v5 v6", "v1 v3, v5 v6", id="G1"),
        pytest.param("v1 v3 | v2 v3 | v3 v4", "v1 v4, v2 v4", "v1 v4, v2 v4", id="G2"),
        pytest.param("f i1 | o1 f | o2 f", "o1 i1, o2 f", "o1 i1, o2 f", id="G3-loses"),
        pytest.param("f i1 | o1 f, o2 f", "o1 i1, o2 i1", "o1 i1, o2 i1", id="G3-grouped"),
        pytest.param("b c | a b, c d", "a c, b d", "a d", id="G5"),
        pytest.param("f i1, o f, f i2", "o i1, f i2", "o i1, o i2", id="G6"),
        pytest.param(
            "f i | k f | g1 k | o1 g1 | g2 k | o2 g2", "o1 i, o2 k", "o1 i, o2 k", id="G7"
        ),
        pytest.param("f i | o f | g o | p g", "p i", "p i", id="G8"),
        pytest.param("c e | e x", "c x", "c x", id="G11"),
        pytest.param("f c | c e1, c e2 | o f", "o e1, o e2", "o e1, o e2", id="G11-collection"),
    ],
)
def test_published_algorithm(given: str, literal: str, fixed: str) -> None:
    """What the print gives, losses included, and with the repair of groups."""
    assert published(given) == edges(literal)
    assert published(given, fixed=True) == edges(fixed)


@pytest.mark.parametrize(
    ("given", "activities", "expected"),
    [
        pytest.param("v1 v2 | v2 v3 | v5 v6", "", "v1 v3, v5 v6", id="G1"),
        pytest.param("v1 v3 | v2 v3 | v3 v4", "", "v1 v4, v2 v4", id="G2"),
        pytest.param("f i1 | o1 f | o2 f", "f", "o1 i1, o2 i1", id="G3"),
        pytest.param("b c | a b, c d", "", "a d", id="G5"),
        pytest.param("f i1, o f, f i2", "f", "o i1, o i2", id="G6"),
        pytest.param("f i | k f | g1 k | o1 g1 | g2 k | o2 g2", "fg", "o1 i, o2 i", id="G7"),
        pytest.param("f i | o f | g o | p g", "fg", "p i", id="G8"),
        pytest.param("c e | e x", "", "c x", id="G11"),
        pytest.param("f c | c e1, c e2 | o f", "f", "o e1, o e2", id="G11-collection"),
    ],
)
def test_exact_reducer(given: str, activities: str, expected: str) -> None:
    """Ours loses nothing in any of them."""
    assert exact(stream(given), activities) == edges(expected)


def test_g8_declared_terminal() -> None:
    """An output that is read again in its computation stays if it is declared."""
    kept = exact(stream("f i | o f | g o | p g"), "fg", kept="o")
    assert kept == {("o", "i"), ("p", "o")}


def test_g4_split_execution() -> None:
    """Two parts of one execution: the published algorithm has three of six pairs, ours all."""
    first, second = stream("f i1, f i2 | o1 f"), stream("f i3 | o2 f")
    whole = Published()
    for part in (first, second):
        local = Published()
        for group in part:
            local.add(group)
        for group in local.flush():
            whole.add(group)
    assert whole.edges == edges("o1 i1, o1 i2, o2 i3")
    expected = {(o, i) for o in ("o1", "o2") for i in ("i1", "i2", "i3")}
    assert exact(first + second, "f") == expected


def test_g7_every_order() -> None:
    """Of 720 orders the published algorithm keeps both pairs in 240, the exact reducer in all."""
    messages = stream("f i | k f | g1 k | o1 g1 | g2 k | o2 g2")
    full, outputs = edges("f i, k f, g1 k, o1 g1, g2 k, o2 g2"), ["o1", "o2"]
    kept = []
    for order in permutations(messages):
        state = Published()
        for group in order:
            state.add(group)
        kept.append(accuracy(full, state.edges, outputs, ["i"]).recall)
    assert (kept.count(1.0), kept.count(0.5)) == (240, 480)
    for order in permutations([part(message, "fg") for message in messages]):
        assert sealed(list(order)) == edges("o1 i, o2 i")


def test_g9_hashtags() -> None:
    """Two hashtags of three tweets, step by step; the third tweet is a dead end."""
    text = "m1 t1 | k1 m1, k2 m1 | m2 t2 | k3 m2 | m3 t3 | ra k1 | oa ra | rb k2, rb k3 | ob rb"
    state = Published()
    seen = []
    for group in stream(text):
        state.add(group)
        seen.append(state.edges)
    assert seen[3] == edges("k1 t1, k2 t1, k3 t2")
    assert seen[5] == edges("k2 t1, k3 t2, m3 t3, ra t1")
    assert seen[-1] == edges("oa t1, ob t1, ob t2, m3 t3")
    assert exact(stream(text), "mr") == edges("oa t1, ob t1, ob t2")


def test_g10_window() -> None:
    """A window of two raw elements finds what one of one element has forgotten."""
    for size, expected in ((1, "o1 i1, o2 f"), (2, "o1 i1, o2 f, o2 i1")):
        state = WindowedReducer(size)
        for group in stream("f i1 | o1 f | o2 f"):
            state.add(group)
        assert state.edges == edges(expected)


def test_transitive_window_is_exact_for_a_whole_stream() -> None:
    """The one reading of the window that loses nothing where it retains everything."""
    rng = np.random.default_rng(3)
    messages = stream("f i | k f | g1 k | o1 g1 | g2 k | o2 g2 | h k | o3 h")
    full = {edge for group in messages for edge in group}
    for _ in range(50):
        state = WindowedReducer(len(full), Remembered.TRANSITIVE)
        for index in rng.permutation(len(messages)):
            state.add(messages[index])
        measured = accuracy(full, state.edges, ["o1", "o2", "o3"], ["i"])
        assert (measured.recall, measured.precision) == (1.0, 1.0)


@pytest.mark.parametrize("unit", list(Flush))
def test_flushed_groups(unit: Flush) -> None:
    """However a state is cut, a flush has every edge once, and leaves nothing."""
    state = Published()
    state.add(edges("a b, a c, d b"))
    groups = state.flush(unit)
    assert sorted(edge for group in groups for edge in group) == sorted(edges("a b, a c, d b"))
    sizes = {Flush.EDGE: 3, Flush.SOURCE: 2, Flush.DEST: 2, Flush.WHOLE: 1}
    assert len(groups) == sizes[unit]
    assert len(state) == 0


def test_dependency_matrix_needs_the_order() -> None:
    """In order the matrix has all dependencies; a cause that comes late is lost to effects."""
    in_order, disordered = DependencyMatrix(), DependencyMatrix()
    for edge in (("f", "i"), ("o", "f")):
        in_order.add([edge])
    for edge in (("o", "f"), ("f", "i")):
        disordered.add([edge])
    assert ("o", "i") in in_order.edges
    assert ("o", "i") not in disordered.edges

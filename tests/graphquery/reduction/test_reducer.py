"""What a reducer holds, closes, gives out and refuses."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from graphquery.errors import GraphError
from graphquery.reduction import (
    EdgeType,
    FunctionCounts,
    Partial,
    Reducer,
    ReductionCycleError,
    VertexRole,
    final_table,
    merge,
)
from graphquery.reduction.partial import NOTHING, VertexDeclarations
from graphquery.reduction.reducer import pairs
from semiring.semirings import Counting

USED, GENERATED = EdgeType.USED, EdgeType.GENERATED
declared = VertexDeclarations


def edge(
    source: str,
    dest: str,
    kind: EdgeType,
    effect: VertexDeclarations = NOTHING,
    cause: VertexDeclarations = NOTHING,
) -> Partial:
    return Partial.of_edges(pa.array([source]), pa.array([dest]), kind, declared=(effect, cause))


def test_declared_degrees_close_without_a_seal() -> None:
    """A pair comes out as soon as all its vertices are closed, and the state is empty then."""
    reducer = Reducer(batch=1)
    reducer.add(edge("f", "i", USED, declared(1, 1), declared(leaving=0)))
    assert reducer.take_final() == []
    reducer.add(edge("o", "f", GENERATED, declared(0, 1)))
    assert pairs(reducer.take_final()) == {("o", "i")}
    assert len(reducer.state.keys) == 0


def test_a_row_comes_out_once_and_whole() -> None:
    """An output waits for the last of its paths, so that no pair comes out twice."""
    reducer = Reducer(batch=1)
    reducer.add(edge("f", "a", USED, declared(1, 2), declared(leaving=0)))
    reducer.add(edge("o", "f", GENERATED, declared(0, 1)))
    assert reducer.take_final() == []
    reducer.add(edge("f", "b", USED, cause=declared(leaving=0)))
    (final,) = reducer.take_final()
    assert pairs([final]) == {("o", "a"), ("o", "b")}
    assert len(final.edges) == 2


def test_sealed_functions_close_what_they_read() -> None:
    """An entity is closed when all functions that read it have used what they said they would."""
    reducer = Reducer(batch=1)
    generated = edge("k", "f", GENERATED, declared(leaving=1), declared(1, 0))
    reads = {"F": FunctionCounts(read_by=frozenset({"G"}))}
    reducer.add(merge([generated, Partial.about(reads, pa.string())]))
    reducer.add(Partial.declaring(pa.array(["k"]), function="F"))
    for name in ("g1", "g2"):
        used = edge(name, "k", USED, declared(0, 1))
        reducer.add(merge([used, Partial.about({"G": FunctionCounts(used=1)}, pa.string())]))
    assert "k" in reducer.state.keys.to_pylist()
    reducer.add(Partial.about({"G": FunctionCounts(due_used=2)}, pa.string()))
    assert "k" not in reducer.state.keys.to_pylist()


def test_a_watermark_closes_what_ended_strictly_before() -> None:
    reducer = Reducer(batch=1)
    reducer.add(edge("f", "i", USED, cause=declared(leaving=0)))
    reducer.add(edge("o", "f", GENERATED, declared(0, 1)))
    reducer.add(Partial.declaring(pa.array(["f"]), ended=100))
    reducer.advance(100)
    assert reducer.take_final() == []
    reducer.advance(101)
    assert pairs(reducer.take_final()) == {("o", "i")}


def test_a_watermark_never_goes_back() -> None:
    reducer = Reducer(batch=1)
    reducer.advance(101)
    reducer.advance(50)
    reducer.add(edge("f", "i", USED, cause=declared(leaving=0)))
    reducer.add(edge("o", "f", GENERATED, declared(0, 1)))
    reducer.add(Partial.declaring(pa.array(["f"]), ended=100))
    assert pairs(reducer.take_final()) == {("o", "i")}


def test_local_reducers_do_not_judge_by_what_they_have_not_seen() -> None:
    """Watermarks and totals say nothing of what one of several reducers has counted."""
    reducer = Reducer(batch=1, partial=True)
    reducer.add(edge("f", "i", USED, cause=declared(leaving=0)))
    reducer.add(edge("o", "f", GENERATED, declared(0, 1)))
    reducer.add(Partial.declaring(pa.array(["f"]), ended=100))
    reducer.advance(200)
    assert reducer.take_final() == []
    flushed = reducer.flush()
    assert len(flushed.edges) == 2
    assert len(reducer.state.edges) == 0
    last = Reducer(batch=1)
    last.add(flushed)
    last.advance(200)
    assert pairs(last.take_final()) == {("o", "i")}


def test_dead_ends_are_dropped_and_counted() -> None:
    """A record that yields nothing, and one that comes from nothing, are not pairs."""
    reducer = Reducer()
    reducer.add(edge("m", "t", USED))
    reducer.add(edge("o", "g", GENERATED))
    reducer.seal()
    assert reducer.take_final() == []
    assert reducer.report.dead == 2


def test_dead_ends_reach_back() -> None:
    """What only a dead end read is dead as well, although it was read."""
    reducer = Reducer()
    for source, dest, kind in (
        ("f", "i", USED),
        ("k", "f", GENERATED),
        ("m", "k", USED),
        ("o", "f", GENERATED),
    ):
        reducer.add(edge(source, dest, kind))
    reducer.seal()
    assert pairs(reducer.take_final()) == {("o", "i")}


def star(width: int, *, hubs: bool) -> Reducer:
    """One execution that uses and generates `width` entities each."""
    reducer = Reducer(hubs=hubs)
    names = [str(number) for number in range(width)]
    ones = pa.array(["f"] * width)
    reducer.add(Partial.of_edges(ones, pa.array(["i" + n for n in names]), USED))
    reducer.add(Partial.of_edges(pa.array(["o" + n for n in names]), ones, GENERATED))
    reducer.seal()
    return reducer


def test_hubs_bound_growth() -> None:
    """100 uses and 100 generations are 10,000 pairs, and 200 edges with a hub."""
    with_hub, without = star(100, hubs=True), star(100, hubs=False)
    (final,) = with_hub.take_final()
    assert len(final.edges) == 200
    roles = dict(zip(final.keys.to_pylist(), final.roles.tolist(), strict=True))
    assert roles["f"] & VertexRole.HUB
    assert not roles["i0"] & VertexRole.HUB
    (final,) = without.take_final()
    assert len(final.edges) == 10_000


def test_a_component_takes_the_smaller_form() -> None:
    """Two executions with the same three inputs and outputs: nine pairs are fewer than 12 edges."""
    reducer = Reducer()
    for name in ("f", "g"):
        ones = pa.array([name] * 3)
        reducer.add(Partial.of_edges(ones, pa.array(["a", "b", "c"]), USED))
        reducer.add(Partial.of_edges(pa.array(["x", "y", "z"]), ones, GENERATED))
    reducer.seal()
    assert pairs(reducer.take_final()) == {(o, i) for o in "xyz" for i in "abc"}


def test_long_chains_take_few_passes() -> None:
    """A chain of 100,000 entities is one edge."""
    reducer = Reducer()
    places = np.arange(100_000)
    chain = Partial.of_edges(pa.array(places), pa.array(places + 1))
    reducer = Reducer(key_type=pa.int64())
    reducer.add(chain)
    reducer.seal()
    assert pairs(reducer.take_final()) == {(0, 100_000)}


@pytest.mark.parametrize(
    "ends", [[("a", "a")], [("a", "b"), ("b", "a")], [("a", "b"), ("b", "c"), ("c", "a")]]
)
@pytest.mark.parametrize("hubs", [True, False])
def test_a_cycle_is_a_named_error(ends: list[tuple[str, str]], hubs: bool) -> None:
    reducer = Reducer(hubs=hubs)
    reducer.add(edge("o", "a", EdgeType.DERIVED))
    for source, dest in ends:
        reducer.add(edge(source, dest, EdgeType.DERIVED))
    with pytest.raises(
        ReductionCycleError, match=r"have a cycle through a[\s\S]*identifiers of their own"
    ):
        reducer.seal()


def test_a_cycle_of_vertices_with_many_edges() -> None:
    """Found also where hubs would be kept."""
    reducer = Reducer()
    for vertex in ("a", "b"):
        for number in range(3):
            reducer.add(edge(vertex, f"i{vertex}{number}", EdgeType.DERIVED))
            reducer.add(edge(f"o{vertex}{number}", vertex, EdgeType.DERIVED))
    reducer.add(edge("a", "b", EdgeType.DERIVED))
    reducer.add(edge("b", "a", EdgeType.DERIVED))
    with pytest.raises(ReductionCycleError, match="cycle through a, b"):
        reducer.seal()


def test_degrees_that_are_not_as_declared_are_reported() -> None:
    reducer = Reducer()
    reducer.add(edge("f", "i", USED, declared(leaving=2)))
    reducer.add(edge("o", "f", GENERATED))
    reducer.seal()
    assert not reducer.report.exact
    assert (reducer.report.missing, reducer.report.named) == (1, ("f",))
    reducer = Reducer()
    reducer.add(edge("f", "i", USED, cause=declared(entering=1)))
    reducer.add(edge("g", "i", USED))
    reducer.seal()
    assert (reducer.report.excess, reducer.report.named) == (1, ("i",))


def test_nothing_is_added_to_a_sealed_stream() -> None:
    reducer = Reducer()
    reducer.seal()
    with pytest.raises(GraphError, match=r"is sealed, and more edges came[\s\S]*`repair`"):
        reducer.add(edge("o", "i", EdgeType.DERIVED))


def test_labels_of_different_semirings_do_not_meet() -> None:
    reducer = Reducer(Counting())
    reducer.add(edge("o", "i", EdgeType.DERIVED))
    with pytest.raises(GraphError, match="labelled in None meet edges labelled in Counting"):
        reducer.reduce()


def test_counts_beyond_64_bits_stay_exact() -> None:
    """70 diamonds in a row have 2^70 paths."""
    reducer = Reducer(Counting(), hubs=False, key_type=pa.int64())
    steps = np.arange(70) * 3
    source = np.concatenate([steps, steps, steps + 1, steps + 2])
    dest = np.concatenate([steps + 1, steps + 2, steps + 3, steps + 3])
    part = Partial.of_edges(pa.array(source), pa.array(dest), semiring=Counting())
    reducer.add(part)
    reducer.seal()
    (final,) = reducer.take_final()
    assert final.edges.label is not None
    assert final.edges.label.tolist() == [2**70]


def test_state_does_not_grow_with_the_stream() -> None:
    """The peak of ten times as many records is the same."""

    def peak(records: int) -> int:
        reducer = Reducer(batch=100, key_type=pa.int64())
        for start in range(0, records, 50):
            keys = np.arange(start, start + 50) * 3
            reducer.add(
                Partial.of_edges(
                    pa.array(keys + 1),
                    pa.array(keys),
                    USED,
                    declared=(declared(1, 1), declared(leaving=0)),
                )
            )
            reducer.add(
                Partial.of_edges(
                    pa.array(keys + 2),
                    pa.array(keys + 1),
                    GENERATED,
                    declared=(declared(0, 1), NOTHING),
                )
            )
        assert sum(len(final.edges) for final in reducer.take_final()) == records
        return reducer.report.peak_edges

    assert peak(1_000) == peak(10_000)


def test_final_edges_as_a_table() -> None:
    reducer = Reducer(Counting())
    for middle in ("f", "g"):
        for source, dest, kind in (("o", middle, GENERATED), (middle, "i", USED)):
            reducer.add(
                Partial.of_edges(pa.array([source]), pa.array([dest]), kind, semiring=Counting())
            )
    reducer.seal()
    table = final_table(reducer.take_final())
    assert table.to_pylist() == [{"source": "o", "dest": "i", "label": 2}]
    assert final_table([]).to_pylist() == []

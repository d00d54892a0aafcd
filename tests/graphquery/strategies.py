"""Random graphs: of any shape, and shaped like the executions of a workflow."""

from __future__ import annotations

from hypothesis import strategies as st

from graphquery.model import Kind, Port
from tests.graphquery.builder import Builder

LABELS = ("+", "·", "δ", "⊖", "f")


@st.composite
def any_graphs(draw: st.DrawFn) -> Builder:
    """Graphs without meaning: any labels, several edges between nodes, edges within segments.

    Nodes of earlier segments, and in a segment of smaller ordinals, come first.
    """
    b = Builder()
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=6))
    labels = [draw(st.sampled_from(LABELS)) for _ in sizes]
    for number, size in enumerate(sizes):
        b.add(f"s{number}", Kind.DERIVED, labels[number], size)
    places = [(s, i) for s, size in enumerate(sizes) for i in range(size)]
    if len(places) < 2:
        return b
    drawn = draw(
        st.lists(
            st.tuples(
                st.integers(0, len(places) - 1),
                st.integers(0, len(places) - 1),
                st.sampled_from([Port.OPERAND, Port.OPERAND, Port.SUBTRAHEND]),
            ),
            max_size=30,
        )
    )
    grouped: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for source, other, port in drawn:
        if source != other:
            (s, i), (t, j) = places[min(source, other)], places[max(source, other)]
            used = port if labels[t] == "⊖" else Port.OPERAND
            grouped.setdefault((s, t, used), []).append((i, j))
    implied = draw(st.booleans())
    for (s, t, port), pairs in grouped.items():
        b.edges(f"s{s}", f"s{t}", pairs, port, implied)
    return b


@st.composite
def workflows(draw: st.DrawFn) -> Builder:
    """Executions of a chain of modules with state, aggregates, black boxes and constants.

    State tuples written in one invocation are read in later ones; some tuples are never used.
    """
    b = Builder()
    modules = [f"M{n}" for n in range(draw(st.integers(1, 3)))]
    for module in modules:
        rows = {"k": list(range(draw(st.integers(1, 3))))}
        b.add(f"{module}/S", Kind.TOKEN, "", rows, ("k",), module=module, relation="S")
    shared = draw(st.booleans())
    if shared:
        b.add("constants", Kind.VALUE, "7", {"value": [7]})
    stored = {module: [(f"{module}/S", n)] for module in modules for n in [0]}
    for execution in range(draw(st.integers(1, 3))):
        width = draw(st.integers(1, 3))
        source = b.add(f"in{execution}", Kind.TOKEN, "", width, execution=execution, relation="R")
        for module in modules:
            name = f"{module}#{execution + 1}"
            at = {"module": module, "invocation": execution + 1, "execution": execution}
            b.add(name, Kind.INVOCATION, module, **at)
            b.add(f"{name}/R", Kind.INPUT, "·", width, **at)
            b.edges(source, f"{name}/R", [(i, i) for i in range(width)])
            b.edges(name, f"{name}/R", [(0, i) for i in range(width)])
            used = draw(st.lists(st.sampled_from(stored[module]), unique=True, max_size=3))
            if used:
                b.add(f"{name}/S", Kind.STATE, "·", len(used), **at)
                b.edges(name, f"{name}/S", [(0, i) for i in range(len(used))])
                for target, (segment, ordinal) in enumerate(used):
                    b.edges(segment, f"{name}/S", [(ordinal, target)])
            width = _computation(draw, b, name, at, width, len(used), shared)
            written = draw(st.integers(0, 1))
            if written:
                stored[module].append((f"{name}/T", 0))
            source = f"{name}/O"
    return b


def _computation(
    draw: st.DrawFn,
    b: Builder,
    name: str,
    at: dict[str, object],
    width: int,
    state: int,
    shared: bool,
) -> int:
    """What an invocation does: a join or projection, an aggregate of it, a black box, outputs."""
    rows = draw(st.integers(1, 3))
    ordinals = st.integers(0, width - 1)
    label = draw(st.sampled_from(["·", "+", "δ", "⊖"]))
    b.add(f"{name}/T", Kind.DERIVED, label, rows, **at)
    b.edges(f"{name}/R", f"{name}/T", [(draw(ordinals), i) for i in range(rows)])
    if state:
        port = Port.SUBTRAHEND if label == "⊖" else Port.OPERAND
        chosen = draw(st.lists(st.integers(0, rows - 1), max_size=3))
        pairs = [(draw(st.integers(0, state - 1)), i) for i in chosen]
        if pairs:
            b.edges(f"{name}/S", f"{name}/T", pairs, port)
    constant = draw(st.integers(-5, 5))
    b.add(f"{name}/c", Kind.VALUE, str(constant), {"value": [constant]}, **at)
    b.add(f"{name}/t", Kind.VALUE, "⊗", rows, **at)
    b.edges(f"{name}/T", f"{name}/t", [(i, i) for i in range(rows)])
    b.edges(f"{name}/c", f"{name}/t", [(0, i) for i in range(rows)], Port.VALUE)
    aggregate = draw(st.sampled_from(["COUNT", "SUM", "MIN", "MAX"]))
    value = {"COUNT": rows, "SUM": rows * constant}.get(aggregate, constant)
    b.add(f"{name}/a", Kind.VALUE, aggregate, {"value": [value]}, **at)
    b.edges(f"{name}/t", f"{name}/a", [(i, 0) for i in range(rows)])
    b.add(f"{name}/f", Kind.VALUE, "f", {"value": [0]}, **at)
    b.edges(f"{name}/a", f"{name}/f")
    if shared:
        b.edges("constants", f"{name}/f")
    lone = draw(st.booleans())
    if lone:
        b.add(f"{name}/one", Kind.DERIVED, "", 1, **at)
        b.edges(f"{name}/one", f"{name}/T", [(0, rows - 1)])
    outputs = draw(st.integers(1, 3))
    b.add(f"{name}/O", Kind.OUTPUT, "·", outputs, **at)
    b.edges(name, f"{name}/O", [(0, i) for i in range(outputs)])
    b.edges(f"{name}/T", f"{name}/O", [(i % rows, i) for i in range(outputs)])
    if draw(st.booleans()):
        b.add(f"{name}/O.v", Kind.VALUE, "o", {"value": [0]}, **at)
        b.edges(f"{name}/f", f"{name}/O.v")
    if lone and draw(st.booleans()):
        b.add(f"{name}/P", Kind.OUTPUT, "·", 1, **at)
        b.edges(name, f"{name}/P")
        b.edges(f"{name}/one", f"{name}/P")
    return outputs

"""The exact reduction of a partial graph, as far as its vertices are closed.

Source: the definitions' section 8, which replaces Algorithm 1 of Suriarachchi, Withana and Plale,
*Big Provenance Stream Processing for Data Intensive Computations*: a vertex is eliminated when all
of its raw edges have been counted, never before, so that no later edge can miss it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from graphquery.errors import ReductionCycleError
from graphquery.reduction.closure import Closed, Evidence, closed
from graphquery.reduction.contract import contract
from graphquery.reduction.cycles import condensed
from graphquery.reduction.edges import Edges
from graphquery.reduction.hubs import decide, eliminate
from graphquery.reduction.partial import Partial
from graphquery.reduction.vertices import VertexRole, Vertices, has
from semiring.arrays.segments import mask_of
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Final:
    """Edges of the reduced graph: from outputs and hubs to inputs and hubs.

    Parameters
    ----------
    keys
        Identifiers of vertices, each once.
    edges
        Between indices into `keys`. All edges that leave a vertex come at once, each pair once.
    roles
        uint8, of :class:`VertexRole`, for every key.
    """

    keys: pa.Array
    edges: Edges
    roles: Array


@dataclass(frozen=True, slots=True)
class ReducedParts:
    """The result of a reduction.

    Parameters
    ----------
    state
        The open part of the graph.
    final
        The final part of the graph.
    dead
        The number of edges dropped since they lead to no output or come from no input.
    excess, missing
        Keys of vertices with more edges than declared, and of vertices sealed with fewer.
    cyclic
        Keys of vertices on cycles.
    """

    state: Partial
    final: Final
    dead: int
    excess: pa.Array
    missing: pa.Array
    cyclic: pa.Array


def reduce(
    partial: Partial,
    evidence: Evidence | None = None,
    *,
    hubs: bool = True,
    break_cycles: bool = False,
) -> ReducedParts:
    """Eliminate closed vertices, and take out the final edges.

    Parameters
    ----------
    hubs
        Whether vertices stay whose elimination would add edges; then a reduced graph is never
        larger than the full one. Without hubs it has pairs of outputs and inputs alone, and can
        be as large as their product.
    break_cycles
        Whether vertices that came from each other are taken for one, and reported: what came
        from one of them came from all that any of them came from.

    Raises
    ------
    ReductionCycleError
        When a cycle leads through closed vertices, and cycles are not broken; it names some of
        them.

    Notes
    -----
    O(edges) time without hubs to decide on, in numpy passes.
    """
    sides = closed(partial, evidence or Evidence())
    cyclic = np.zeros(len(partial.keys), dtype=np.bool_)
    try:
        edges, dead, fixed = _eliminated(partial.edges, sides, hubs)
    except ReductionCycleError as error:
        if not break_cycles:
            raise _named(error, partial.keys) from None
        edges, cyclic = condensed(partial.edges, sides.eliminable)
        edges, dead, fixed = _eliminated(edges, sides, hubs, strict=False)
    vertices = partial.vertices
    stays = sides.final | fixed
    excess = sides.excess & ~has(vertices.roles, VertexRole.EXCESS)
    if fixed.any() or excess.any():
        roles = vertices.roles.copy()
        roles[fixed] |= np.uint8(VertexRole.HUB)
        roles[excess] |= np.uint8(VertexRole.EXCESS)
        vertices = replace(vertices, roles=roles)
    whole = _whole(edges, stays, sides.leaving)
    done = whole[edges.source]
    final = edges.take(done)
    left = edges.take(~done)
    return ReducedParts(
        _compact(partial, left, vertices, sides),
        _final(partial.keys, final, vertices.roles),
        dead,
        partial.keys.filter(pa.array(excess)),
        partial.keys.filter(pa.array(sides.missing)),
        partial.keys.filter(pa.array(cyclic)),
    )


def _eliminated(
    edges: Edges, sides: Closed, hubs: bool, *, strict: bool = True
) -> tuple[Edges, int, Array]:
    """Return the remaining edges, the number of dead ones, and the vertices that became hubs."""
    contracted = contract(edges, sides.eliminable, strict=strict)
    edges, dead = contracted.edges, contracted.dead
    fixed = np.zeros(len(sides.final), dtype=np.bool_)
    if contracted.blocked.any():
        if hubs:
            decided = decide(edges, contracted.blocked, sides.final, strict=strict)
            edges, fixed = decided.edges, decided.hubs
        else:
            edges = eliminate(edges, contracted.blocked, strict=strict)
    return edges.merged(), dead, fixed


def _whole(edges: Edges, stays: Array, leaving: Array) -> Array:
    """Return a mask of the staying vertices whose leaving edges are complete and lead to staying
    ones.

    All paths of a vertex are emitted at once and only then, so that no pair is emitted twice.
    """
    unsettled = edges.source[~stays[edges.dest]]
    whole: Array = stays & leaving
    whole[unsettled] = False
    return whole


def _compact(partial: Partial, edges: Edges, vertices: Vertices, sides: Closed) -> Partial:
    """Return a partial graph without the vertices that later edges or evidence cannot affect."""
    needed = ~(sides.entering & sides.leaving)
    # Whoever reads an input says again that it is one: it may be forgotten in between.
    is_input = sides.leaving & (vertices.leaving == 0) & ~has(vertices.roles, VertexRole.KEPT)
    needed &= ~(is_input & sides.final)
    needed[edges.source] = True
    needed[edges.dest] = True
    numbers = np.cumsum(needed) - 1
    keys = partial.keys.filter(pa.array(needed))
    return Partial(keys, edges.renumbered(numbers), vertices.take(needed), partial.functions)


def _final(keys: pa.Array, edges: Edges, roles: Array) -> Final:
    present = mask_of(edges.source, len(keys))
    present[edges.dest] = True
    numbers = np.cumsum(present) - 1
    return Final(keys.filter(pa.array(present)), edges.renumbered(numbers), roles[present])


def _named(error: ReductionCycleError, keys: pa.Array) -> ReductionCycleError:
    numbers = error.args[1]
    names = ", ".join(str(keys[int(number)].as_py()) for number in numbers)
    return ReductionCycleError(
        f"The edges have a cycle through {names}: nothing can be the cause of itself.\n"
        "Give versions of an entity that is written again identifiers of their own."
    )

"""Random data-intensive computations: functions with executions, and streams of their edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from graphquery.reduction import UNKNOWN, EdgeType, FunctionCounts, Partial, VertexRole
from graphquery.reduction.partial import VertexDeclarations
from semiring.base import Semiring

Edge = tuple[str, str, EdgeType]

READ_TYPES = (EdgeType.USED, EdgeType.DERIVED, EdgeType.MEMBER)


@dataclass(frozen=True)
class Job:
    """A computation of which everything is known.

    Parameters
    ----------
    edges
        Raw edges, parallel ones among them.
    functions
        The function of every activity.
    makers
        The function that generated an entity, of those that one did.
    kept
        VertexDeclarations terminals.
    """

    edges: tuple[Edge, ...]
    functions: dict[str, str]
    makers: dict[str, str]
    kept: frozenset[str] = frozenset()
    labels: tuple[int, ...] = field(default=())

    @property
    def activities(self) -> frozenset[str]:
        return frozenset(self.functions)

    @property
    def vertices(self) -> list[str]:
        return list(dict.fromkeys(end for edge in self.edges for end in edge[:2]))

    @property
    def effects(self) -> frozenset[str]:
        """Outputs and declared terminals: what pairs start from."""
        entered = {dest for _, dest, _ in self.edges}
        return frozenset(v for v in self.vertices if self._is_end(v, entered))

    @property
    def causes(self) -> frozenset[str]:
        """Inputs and declared terminals: what pairs end in."""
        left = {source for source, _, _ in self.edges}
        return frozenset(v for v in self.vertices if self._is_end(v, left))

    def _is_end(self, vertex: str, other_makers: set[str]) -> bool:
        return vertex in self.kept or (vertex not in other_makers and vertex not in self.activities)


def random_job(rng: np.random.Generator) -> Job:
    """A computation of one to six functions.

    Entities have any number of readers, in any later function; executions join, are without
    inputs or without outputs; some entities are derived from others or members of collections.
    """
    functions = [f"F{n}" for n in range(int(rng.integers(1, 7)))]
    inputs = [f"in{n}" for n in range(int(rng.integers(1, 8)))]
    available = list(inputs)
    edges: list[Edge] = []
    of: dict[str, str] = {}
    makers: dict[str, str] = {}
    widest = int(rng.choice([2, 4, 9]))
    readers = int(rng.choice([1, 2, 6]))
    for function in functions:
        made_here = []
        for number in range(int(rng.integers(1, 1 + widest))):
            activity = f"{function}.{number}"
            of[activity] = function
            uses = rng.integers(0 if rng.random() < 0.1 else 1, readers + 2)
            taken = rng.choice(available, min(int(uses), len(available)), replace=False)
            edges += [(activity, str(entity), EdgeType.USED) for entity in taken]
            for ordinal in range(int(rng.choice([0, 1, 1, 2, 5]))):
                entity = f"{activity}/{ordinal}"
                makers[entity] = function
                made_here.append(entity)
                edges.append((entity, activity, EdgeType.GENERATED))
                if rng.random() < 0.1:
                    cause = str(rng.choice(available))
                    edges.append((entity, cause, rng.choice([EdgeType.DERIVED, EdgeType.MEMBER])))
        available = made_here + (available if rng.random() < 0.5 else available[-3:])
        if not made_here:
            available += inputs
    if not edges:
        edges.append(("F0.0", "in0", EdgeType.USED))
    if rng.random() < 0.3:
        repeated = rng.integers(0, len(edges), int(rng.integers(1, 4)))
        edges += [edges[int(index)] for index in repeated]
    kept: frozenset[str] = frozenset()
    if rng.random() < 0.3 and makers:
        kept = frozenset(map(str, rng.choice(list(makers), int(rng.integers(1, 4)))))
    labels = tuple(int(label) for label in rng.integers(1, 4, len(edges)))
    return Job(tuple(edges), of, makers, kept, labels)


def full(
    job: Job, places: list[int] | None = None, semiring: Semiring[object] | None = None
) -> Partial:
    """Some of a job's edges as a partial graph; all of them by default."""
    chosen = range(len(job.edges)) if places is None else places
    sources, dests, types = [], [], []
    for index in chosen:
        source, dest, kind = job.edges[index]
        sources.append(source)
        dests.append(dest)
        types.append(kind)
    label = None
    if semiring is not None:
        label = semiring.array([valued(semiring, job, index) for index in chosen])
    return Partial.of_edges(
        pa.array(sources, pa.string()),
        pa.array(dests, pa.string()),
        np.array(types, dtype=np.int64),
        label,
        semiring,
        (VertexDeclarations(roles=_kept_roles(job, sources)), VertexDeclarations()),
    )


def _kept_roles(job: Job, vertices: list[str]) -> np.ndarray:
    return np.array([VertexRole.KEPT if v in job.kept else 0 for v in vertices], dtype=np.uint8)


def valued(semiring: Semiring[object], job: Job, index: int) -> object:
    """The label of an edge: a token named after its kind, or its number."""
    from semiring.token import Token

    number = job.labels[index]
    if semiring.name in {"Why", "Polynomials", "Which", "PosBool", "Trio"}:
        return semiring.default(Token("edge", (f"{number}{job.edges[index][0][:2]}",)))
    if semiring.name == "Viterbi":
        return semiring.check(1 / number)
    if semiring.name == "Boolean":
        return True
    return semiring.check(number)


EVIDENCE = ("sealed", "degrees", "some", "functions")
"""What a stream may tell of itself, beside that it is over."""


def declared(
    job: Job, evidence: str, rng: np.random.Generator, semiring: Semiring[object] | None
) -> list[Partial]:
    """What is declared of a job's vertices: roles always, and degrees as `evidence` says."""
    entering = Counter(dest for _, dest, _ in job.edges)
    leaving = Counter(source for source, _, _ in job.edges)
    vertices = job.vertices
    parts = []
    if job.kept:
        known = pa.array(sorted(job.kept), pa.string())
        parts.append(
            Partial.declaring(known, VertexDeclarations(roles=VertexRole.KEPT), semiring=semiring)
        )
    if evidence in {"degrees", "some"}:
        share = 1.0 if evidence == "degrees" else 0.6
        for side, counts in (("entering", entering), ("leaving", leaving)):
            told = [v for v in vertices if rng.random() < share]
            numbers = np.array([counts[v] for v in told], dtype=np.int64)
            keys = pa.array(told, pa.string())
            stated = VertexDeclarations(roles=_kept_roles(job, told), **{side: numbers})
            parts.append(Partial.declaring(keys, stated, semiring=semiring))
    if evidence == "functions":
        parts += list(_functions(job, semiring))
    return parts


def _functions(job: Job, semiring: Semiring[object] | None) -> Iterator[Partial]:
    """Scopes of vertices, who reads what they generate, and totals of the functions."""
    readers: dict[str, set[str]] = {}
    for source, dest, kind in job.edges:
        if dest in job.makers:
            reader = job.functions.get(source, "derived")
            readers.setdefault(job.makers[dest], set()).add(
                reader if kind is EdgeType.USED else "derived"
            )
    for name in sorted(set(job.functions.values())):
        own_vertices = [v for v, f in (job.functions | job.makers).items() if f == name]
        present = [v for v in own_vertices if v in set(job.vertices)]
        keys = pa.array(present, pa.string())
        yield Partial.declaring(keys, function=name, semiring=semiring)
        used = sum(job.functions.get(s) == name for s, _, k in job.edges if k is EdgeType.USED)
        generated = sum(job.makers.get(s) == name for s, _, _ in job.edges)
        read_by = frozenset(readers.get(name, set()))
        sealed = FunctionCounts(0, 0, used, generated, UNKNOWN, read_by)
        yield Partial.about({name: sealed}, pa.string(), semiring)


def counted(job: Job, places: list[int]) -> dict[str, FunctionCounts]:
    """How many of some edges each function used and generated."""
    used: Counter[str] = Counter()
    generated: Counter[str] = Counter()
    for source, _, kind in (job.edges[index] for index in places):
        if kind is EdgeType.USED:
            used[job.functions[source]] += 1
        else:
            generated[job.makers[source]] += 1
    return {name: FunctionCounts(used[name], generated[name]) for name in used | generated}

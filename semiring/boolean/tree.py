"""Analyses of a tree of independent parts, level by level, all nodes of a level at once.

If all tuples have one weight, as for Shapley values, nodes that look alike are evaluated once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import ascending, owners_of
from semiring.base import Array
from semiring.boolean.chances import chance_column
from semiring.boolean.circuit import Circuit, at_every
from semiring.boolean.decomposition import (
    ALL,
    ANY,
    NOT,
    PART,
    TRUTH,
    TUPLE,
    Decomposition,
    TreeLevel,
)
from semiring.boolean.deletions import NEVER, Deleted, Deletions, unions
from semiring.circuit.gates import SEEDS, mixed
from semiring.support.budget import check_budget
from semiring.token import Token

_HELD: Final = 1 << 24
"""Number of values held at a time: the slopes of contexts at points of an integral."""

_LEAST: Final = 1e-300
"""Lower bound on numbers whose logarithm is taken."""


class Tree:
    """A decomposed function, with a circuit for every class of its parts.

    Attributes
    ----------
    tokens
        The tuples that the function depends on.
    decisions
        The number of decisions about single tuples in the circuits.
    classes, circuits
        The parts, and a circuit for each class of them.
    """

    def __init__(self, decomposition: Decomposition, circuits: Sequence[Circuit]) -> None:
        self._levels = decomposition.levels
        self.classes = decomposition.classes
        self.circuits = circuits
        self.tokens = decomposition.tokens
        self.decisions = sum(circuit.decisions for circuit in circuits)
        self._class_of = np.zeros(sum(len(c.parts) for c in self.classes), dtype=np.int64)
        self._row_of = np.zeros(len(self._class_of), dtype=np.int64)
        for number, of_class in enumerate(self.classes):
            self._class_of[of_class.parts] = number
            self._row_of[of_class.parts] = np.arange(len(of_class.parts))

    # -- probability -------------------------------------------------------------------------

    def probability(self, weights: Mapping[Token, Any]) -> Any:
        """Return the probability of the function, of independent tokens.

        Parameters
        ----------
        weights
            By token, its probability: a number, or an array to evaluate many at once.
        """
        return self.probabilities(chance_column(self.tokens, weights))[0]

    def probabilities(self, chances: Array) -> Array:
        """Return the probabilities of all functions of the first level.

        Parameters
        ----------
        chances
            Per token, by number, its probability, or a row of several.
        """
        of_parts = np.zeros((len(self._class_of), *chances.shape[1:]))
        for of_class, circuit in zip(self.classes, self.circuits, strict=True):
            columns = dict(
                zip(of_class.tokens, np.moveaxis(chances[of_class.rows], 1, 0), strict=True)
            )
            of_parts[of_class.parts] = circuit.probability(columns)
        values = chances[:0]
        for level in reversed(self._levels):
            kind, payload = level.kind, level.payload
            made = np.zeros((len(kind), *chances.shape[1:]))
            made[payload > 0] = 1.0
            made[kind == TUPLE] = chances[payload[kind == TUPLE]]
            made[kind == PART] = of_parts[payload[kind == PART]]
            every = reduce_segments(np.multiply, values, level.offsets, 1.0)
            none = reduce_segments(np.multiply, 1 - values, level.offsets, 1.0)
            made[kind == ALL] = every[kind == ALL]
            made[kind == ANY] = 1 - none[kind == ANY]
            made[kind == NOT] = none[kind == NOT]
            values = made
        return values

    def deletions(self) -> TreeDeletions:
        """Return the least deletions that make the function false."""
        return TreeDeletions(self)

    def contexts(self) -> Iterator[tuple[int | None, Array, Array, bool]]:
        """Yield tokens and parts with the least deletions that make them decide the function.

        Yields
        ------
        tuple
            The class of parts, or None for tokens; their tokens by number, a row each; the least
            deletions of others by which the function follows each of them; and False where it then
            is the opposite of it.
        """
        least = self.deletions()
        cost, same = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.bool_)
        for depth, level in enumerate(self._levels):
            for holds in (True, False):
                tuples = np.flatnonzero((level.kind == TUPLE) & (same == holds))
                if len(tuples):
                    yield None, level.payload[tuples][:, None], cost[tuples], holds
                parts = np.flatnonzero((level.kind == PART) & (same == holds))
                numbers = level.payload[parts]
                of_class = self._class_of[numbers]
                for number in ascending(of_class).tolist():
                    chosen = of_class == number
                    rows = self.classes[number].rows[self._row_of[numbers[chosen]]]
                    yield number, rows, cost[parts[chosen]], holds
            if depth + 1 == len(self._levels):
                break
            owner = owners_of(level.offsets)
            kind = level.kind[owner]
            sizes = np.where(kind == ALL, least.true[depth + 1], least.false[depth + 1])
            sizes[kind == NOT] = 0
            never = sizes >= NEVER
            finite = np.where(never, 0, sizes)
            totals = reduce_segments(np.add, finite, level.offsets, 0)[owner] - finite
            others = reduce_segments(np.add, never.astype(np.int64), level.offsets, 0)[owner]
            impossible = others - never > 0
            cost = np.where(impossible, NEVER, np.minimum(cost[owner] + totals, NEVER))
            same = same[owner] ^ (kind == NOT)

    # -- influences under one weight ---------------------------------------------------------

    @cached_property
    def _alike(self) -> _Alike:
        """The classes of nodes that look alike."""
        return _Alike(self._levels, self._class_of)

    def influences(self, points: Array, shares: Array) -> dict[Token, float]:
        """Return, for each token, an integral of the probability with it less that without it.

        Parameters
        ----------
        points, shares
            The weights that all tokens have, and the shares of these in the integral.

        Cost: a pass over the classes of nodes that look alike, with arrays of points.
        """
        alike, totals = self._alike, np.zeros(len(self.tokens))
        of_places = [np.zeros(0)] * len(alike.leaves)
        together = max(1024, _HELD // (len(alike.contexts) + len(alike.shapes)))
        for start in range(0, len(points), together):
            at, share = points[start : start + together], shares[start : start + together]
            slopes = self._slopes(at)
            for number, (node_class, context, _, _) in enumerate(alike.leaves):
                slope = slopes[context]
                part = alike.part[node_class]
                if part < 0:
                    found = np.array([(share * slope).sum()])
                else:
                    found = self._of_part(part, at, share * slope)
                of_places[number] = found if start == 0 else of_places[number] + found
        for (_, _, tuples, parts), found in zip(alike.leaves, of_places, strict=True):
            totals[tuples] = found[0] if len(found) else 0.0
            if len(parts):
                of_class = self.classes[int(self._class_of[parts[0]])]
                totals[of_class.rows[self._row_of[parts]]] = found
        return dict(zip(self.tokens, totals.tolist(), strict=True))

    def _of_part(self, part: int, points: Array, slope: Array) -> Array:
        """Return the integrals for the tokens of a class of parts, in their order."""
        tokens, circuit = self.classes[part].tokens, self.circuits[part]
        used = np.flatnonzero(slope)
        if not len(used):
            return np.zeros(len(tokens))
        points, slope = points[used], slope[used]
        found = circuit.influences(
            at_every(circuit.tokens, points), lambda own: float(np.sum(slope * own))
        )
        return np.array([found.get(token, 0.0) for token in tokens])

    def _slopes(self, points: Array) -> list[Array]:
        """Return the slope of every context, children after parents."""
        alike, values, totals = self._alike, list[Array](), dict[int, Array]()
        logarithms: dict[tuple[int, int], Array] = {}

        def logarithm(kind: int, child: int) -> Array:
            """Return the logarithm of a class's value in a conjunction, or of its complement."""
            key = (kind, child)
            if key not in logarithms:
                factor = values[child] if kind == ALL else 1 - values[child]
                logarithms[key] = np.log(np.maximum(factor, _LEAST))
            return logarithms[key]

        for number, (kind, part, payload, children) in enumerate(alike.shapes):
            check_budget()
            if kind == TUPLE:
                values.append(points)
            elif kind == TRUTH:
                values.append(np.full(len(points), float(payload)))
            elif kind == PART:
                circuit = self.circuits[part]
                chance = circuit.probability(at_every(circuit.tokens, points))
                values.append(np.broadcast_to(chance, len(points)))
            elif kind == NOT:
                values.append(1 - values[children[0][0]])
            else:
                totals[number] = total = np.zeros(len(points))
                for child, n in children:
                    total += n * logarithm(kind, child)
                values.append(np.exp(total) if kind == ALL else -np.expm1(total))
        slopes = [np.ones(len(points))]
        for above, own, child in alike.contexts[1:]:
            check_budget()
            kind = alike.shapes[own][0]
            if kind == NOT:
                slopes.append(-slopes[above])
            else:
                others = np.exp(totals[own] - logarithm(kind, child))
                slopes.append(slopes[above] * others)
        return slopes


class _Alike:
    """The classes of a tree's nodes that look alike, and the contexts in which they occur.

    Attributes
    ----------
    shapes
        Per class, children first: the kind, the class of parts or -1, the payload, and the classes
        of the children with their multiplicities.
    part
        Per class the class of parts; -1: of other nodes.
    contexts
        The context above, the class of the node above, and the own class, parents first.
    leaves
        Per class and context of tokens and parts: the numbers of the tokens, and of the parts.
    """

    def __init__(self, levels: Sequence[TreeLevel], class_of: Array) -> None:
        digests = [np.zeros((0, 2), dtype=np.uint64)]
        for level in reversed(levels):
            own = np.where(level.kind == TRUTH, level.payload, 0)
            parts = level.kind == PART
            own[parts] = class_of[level.payload[parts]]
            head = own.astype(np.uint64) * np.uint64(8) + level.kind.astype(np.uint64)
            below = digests[-1]
            made = []
            for column, seed in enumerate(SEEDS):
                inner = reduce_segments(
                    np.add, mixed(below[:, column]), level.offsets, np.uint64(0)
                )
                made.append(mixed(inner + mixed(head ^ seed)))
            digests.append(np.stack(made, axis=1))
        digests = digests[:0:-1]
        # The deepest nodes come first, so that children have smaller numbers.
        stacked = np.concatenate(digests[::-1])
        _, first, which = np.unique(stacked, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        by_node = rank[which.reshape(-1)]
        sizes = [len(part) for part in digests[::-1]]
        of_levels = np.split(by_node, np.cumsum(sizes)[:-1])[::-1]
        self.shapes: list[tuple[int, int, int, list[tuple[int, int]]]] = []
        level_of = np.repeat(np.arange(len(levels))[::-1], sizes)
        starts = np.cumsum([0, *sizes])[:-1][::-1]
        for node in first[order].tolist():
            depth = int(level_of[node])
            level, place = levels[depth], node - int(starts[depth])
            kind, payload = int(level.kind[place]), int(level.payload[place])
            children: list[tuple[int, int]] = []
            if level.offsets[place + 1] > level.offsets[place]:
                inside = of_levels[depth + 1][level.offsets[place] : level.offsets[place + 1]]
                classes, times = np.unique(inside, return_counts=True)
                children = list(zip(classes.tolist(), times.tolist(), strict=True))
            part = int(class_of[payload]) if kind == PART else -1
            self.shapes.append((kind, part, payload, children))
        self.part = [part for _, part, _, _ in self.shapes]
        self.contexts: list[tuple[int, int, int]] = [(-1, -1, int(of_levels[0][0]))]
        self.leaves: list[tuple[int, int, Array, Array]] = []
        context = np.zeros(1, dtype=np.int64)
        for depth, level in enumerate(levels):
            own = of_levels[depth]
            leaf = np.flatnonzero((level.kind == TUPLE) | (level.kind == PART))
            if len(leaf):
                self._add_leaves(level, leaf, own, context)
            if depth + 1 == len(levels):
                break
            owner = owners_of(level.offsets)
            keys = np.stack([context[owner], own[owner], of_levels[depth + 1]], axis=1)
            distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
            context = len(self.contexts) + inverse.reshape(-1)
            self.contexts += [(int(a), int(b), int(c)) for a, b, c in distinct.tolist()]

    def _add_leaves(self, level: TreeLevel, leaf: Array, own: Array, context: Array) -> None:
        order = leaf[np.argsort(context[leaf], kind="stable")]
        cuts = np.flatnonzero(np.diff(context[order])) + 1
        for nodes in np.split(order, cuts):
            kind, payload = int(level.kind[nodes[0]]), level.payload[nodes]
            none = payload[:0]
            tuples, parts = (payload, none) if kind == TUPLE else (none, payload)
            self.leaves.append((int(own[nodes[0]]), int(context[nodes[0]]), tuples, parts))


class TreeDeletions:
    """The least deletions that make a decomposed function false; see :class:`Deletions`."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._of_classes = [Deletions(circuit) for circuit in tree.circuits]
        self._limit = 1
        self.false: list[Array] = []
        self.true: list[Array] = []
        part_false = np.array([d.false[-1] for d in self._of_classes], dtype=np.int64)
        part_true = np.array([d.true[-1] for d in self._of_classes], dtype=np.int64)
        below_false = below_true = np.zeros(0, dtype=np.int64)
        for level in reversed(tree._levels):
            kind, payload = level.kind, level.payload
            false = np.where(payload > 0, NEVER, 0)
            true = np.where(payload > 0, 0, NEVER)
            false[kind == TUPLE], true[kind == TUPLE] = 1, 0
            parts = np.flatnonzero(kind == PART)
            if len(parts):
                of_class = tree._class_of[payload[parts]]
                false[parts], true[parts] = part_false[of_class], part_true[of_class]
            sums = [reduce_segments(np.add, b, level.offsets, 0) for b in (below_false, below_true)]
            least = [
                reduce_segments(np.minimum, b, level.offsets, NEVER)
                for b in (below_false, below_true)
            ]
            for node, (of_false, of_true) in {
                ALL: (least[0], sums[1]),
                ANY: (sums[0], least[1]),
                NOT: (sums[1], sums[0]),
            }.items():
                false = np.where(kind == node, of_false, false)
                true = np.where(kind == node, of_true, true)
            below_false, below_true = np.minimum(false, NEVER), np.minimum(true, NEVER)
            self.false.append(below_false)
            self.true.append(below_true)
        self.false.reverse()
        self.true.reverse()

    @property
    def least(self) -> int | None:
        """The least number of deletions that make the function false; None if there are none."""
        least = int(self.false[0][0])
        return None if least >= NEVER else least

    def smallest(self, limit: int) -> list[Deleted]:
        """Return the smallest sets of deletions, up to one more than the limit."""
        if self.least is None:
            return []
        self._limit = limit
        return self._some(0, 0, holds=False)

    def _some(self, depth: int, node: int, *, holds: bool) -> list[Deleted]:
        """Return smallest sets that give a node a value, up to the limit."""
        check_budget()
        tree = self._tree
        level = tree._levels[depth]
        kind, payload = int(level.kind[node]), int(level.payload[node])
        if kind == TUPLE:
            return [frozenset() if holds else frozenset((tree.tokens[payload],))]
        if kind == TRUTH:
            return [frozenset()]
        if kind == PART:
            return self._of_part(payload, holds=holds)
        children = np.arange(level.offsets[node], level.offsets[node + 1])
        if kind == NOT:
            return self._some(depth + 1, int(children[0]), holds=not holds)
        if holds == (kind == ALL):
            return list(self._all(depth + 1, children, holds=holds))
        sizes = (self.true if holds else self.false)[depth + 1][children]
        found: dict[Deleted, None] = {}
        for child in children[sizes == sizes.min()].tolist():
            found.update(dict.fromkeys(self._some(depth + 1, child, holds=holds)))
            if len(found) > self._limit:
                break
        return list(found)[: self._limit + 1]

    def _all(self, depth: int, children: Array, *, holds: bool) -> Iterator[Deleted]:
        """Yield smallest sets that give all of some nodes a value."""
        tree = self._tree
        level = tree._levels[depth]
        tuples = level.kind[children] == TUPLE
        numbers = level.payload[children[tuples]]
        fixed = frozenset[Token]() if holds else frozenset(tree.tokens.at(numbers))
        lists = [self._some(depth, child, holds=holds) for child in children[~tuples].tolist()]
        for number, sets in enumerate(unions([[fixed], *lists])):
            yield sets
            if number >= self._limit:
                break

    def _of_part(self, part: int, *, holds: bool) -> list[Deleted]:
        tree = self._tree
        number = int(tree._class_of[part])
        of_class = tree.classes[number]
        row = of_class.rows[int(tree._row_of[part])]
        names = dict(zip(of_class.tokens, tree.tokens.at(row), strict=True))
        sets = self._of_classes[number].sets(self._limit, holds=holds)
        return [frozenset(names[token] for token in deleted) for deleted in sets]

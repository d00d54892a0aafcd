"""Classes of parts of annotations that are equal up to the names of their tuples.

Tuples of a part are numbered by a digest of the gates above and below them; parts whose gates have
equal digests under this numbering are the same function, by the 128-bit digests that define
equality of gates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import ascending, bounds, index_of, owners_of
from semiring.base import Array
from semiring.boolean.columns import GateColumns
from semiring.circuit.gates import COMPARE, CONDITION, PLAIN, SEEDS, TOKEN, mixed
from semiring.errors import ExactnessError
from semiring.expression import Expression, product_of, sum_of
from semiring.support.budget import check_budget
from semiring.token import Token

_DECIDED = 400
"""Number of tuples up to which comparisons of formal values are decided tuple by tuple."""


@dataclass(frozen=True, slots=True)
class PartClass:
    """A class of parts that are equal up to the names of their tuples.

    Attributes
    ----------
    annotation
        One of the parts.
    tokens
        Its tokens.
    rows
        Per part, the numbers of its tokens that correspond to `tokens`, in the same columns.
    parts
        The numbers of the parts.
    """

    annotation: Expression
    tokens: list[Token]
    rows: Array
    parts: Array


@dataclass(slots=True)
class Conjunctions:
    """Disjunctions of conjunctions of literals that are still to be split.

    Attributes
    ----------
    count
        The number of disjunctions.
    group
        By conjunction, ascending, its disjunction.
    item, literal
        The conjunctions' literals: a conjunction, ascending, and twice a gate, one more if negated.
    """

    count: int
    group: Array
    item: Array
    literal: Array


def part_classes(columns: GateColumns, parts: list[Conjunctions], count: int) -> list[PartClass]:
    """Return the classes of parts that share no token.

    Parameters
    ----------
    parts
        `count` disjunctions, in several pieces.
    """
    return _Looks(columns).classes(parts, count) if count else []


@dataclass(frozen=True, eq=False)
class _Looks:
    columns: GateColumns

    def classes(self, opened: list[Conjunctions], count: int) -> list[PartClass]:
        """Return the classes of parts."""
        columns = self.columns
        starts, groups, items, literals = 0, [], [], []
        item_start = 0
        for part in opened:
            groups.append(part.group + starts)
            items.append(part.item + item_start)
            literals.append(part.literal)
            starts, item_start = starts + part.count, item_start + len(part.group)
        group, item = np.concatenate(groups), np.concatenate(items)
        literal = np.concatenate(literals)
        # Gates below literals, each in one part: parts share no token.
        owner = np.full(len(columns.kind), -1, dtype=np.int64)
        frontier, of_part = literal // 2, group[item]
        while len(frontier):
            owner[frontier] = of_part
            edges, own = columns.edges_of(frontier)
            keys = ascending(np.repeat(of_part, np.diff(own)) << 32 | columns.child[edges])
            frontier, of_part = keys & 0xFFFFFFFF, keys >> 32
        gates = np.flatnonzero(owner >= 0)
        self._check(owner[gates], gates)
        colors = self._colors(gates, np.zeros(len(columns.kind), dtype=np.uint64))
        contexts = self._contexts(gates, colors, group, item, literal)
        tokens = gates[(columns.kind[gates] == TOKEN)]
        order = np.lexsort((tokens, contexts[tokens], owner[tokens]))
        tokens = tokens[order]
        of_part = owner[tokens]
        offsets = bounds(np.bincount(of_part, minlength=count))
        local = np.zeros(len(columns.kind), dtype=np.uint64)
        local[tokens] = (np.arange(len(tokens)) - offsets[of_part] + 1).astype(np.uint64)
        digests = []
        for seed in SEEDS:
            named = self._colors(gates, local, seed)
            of_literal = mixed(named[literal // 2] * seed + (literal % 2).astype(np.uint64))
            item_bounds = bounds(np.bincount(item, minlength=len(group)))
            of_item = mixed(reduce_segments(np.add, of_literal, item_bounds, np.uint64(0)) ^ seed)
            group_bounds = bounds(np.bincount(group, minlength=count))
            digests.append(reduce_segments(np.add, of_item, group_bounds, np.uint64(0)))
        sizes = np.diff(offsets).astype(np.uint64)
        looks = np.stack([*digests, sizes], axis=1)
        _, first, which = np.unique(looks, axis=0, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        classes = []
        by_class = np.argsort(which, kind="stable")
        class_bounds = bounds(np.bincount(which))
        payload = columns.payload
        for number, part in enumerate(first.tolist()):
            check_budget()
            members = by_class[class_bounds[number] : class_bounds[number + 1]]
            size = int(sizes[part])
            rows = payload[tokens[offsets[members][:, None] + np.arange(size)]]
            names = columns.tokens.at(payload[tokens[offsets[part] : offsets[part + 1]]])
            chosen = chosen_groups(Conjunctions(count, group, item, literal), np.array([part]))
            classes.append(PartClass(self._formal(chosen), names, rows, members))
        return classes

    def _check(self, owner: Array, gates: Array) -> None:
        """Refuse parts that can only be decided tuple by tuple and are too large for that.

        Raises
        ------
        ExactnessError
            For a comparison of formal values within a part of too many tuples: one decision after
            the other would have to be made, and the whole part be read for each.
        """
        columns = self.columns
        kind = columns.kind[gates]
        open_sides = columns.offsets[gates + 1] - columns.offsets[gates] == 2
        second = columns.child[columns.offsets[gates] + np.minimum(1, open_sides)]
        compared = (kind == COMPARE) & open_sides & (columns.kind[second] != PLAIN)
        sizes = np.bincount(owner[kind == TOKEN], minlength=int(owner.max(initial=-1)) + 1)
        hard = sizes[owner[compared | (kind == CONDITION) | (kind > PLAIN)]]
        if (hard > _DECIDED).any():
            raise ExactnessError(
                f"A condition over {int(hard.max()):,} tuples together is not decomposed.\n"
                "Ask for samples, which state their error."
            )

    def _colors(self, gates: Array, of_tokens: Array, seed: np.uint64 = SEEDS[0]) -> Array:
        """Return, by gate, a digest of all gates below it; tokens start from their own digests."""
        columns = self.columns
        colors = mixed(of_tokens + seed)
        for layer in _layers(gates[columns.kind[gates] != TOKEN], columns.depth):
            edges, own = columns.edges_of(layer)
            labels = columns.label[edges].astype(np.uint64)
            ends = mixed(colors[columns.child[edges]] ^ (labels * seed + np.uint64(1)))
            head = columns.payload[layer].astype(np.uint64) * np.uint64(16)
            head += columns.kind[layer].astype(np.uint64)
            total = reduce_segments(np.add, ends, own, np.uint64(0))
            colors[layer] = mixed(total + mixed(head ^ seed))
        return colors

    def _contexts(
        self, gates: Array, colors: Array, group: Array, item: Array, literal: Array
    ) -> Array:
        """Return a digest by gate of the gates above it in its part."""
        columns, seed = self.columns, SEEDS[1]
        contexts = colors.copy()
        item_bounds = bounds(np.bincount(item, minlength=len(group)))
        of_literal = mixed(colors[literal // 2] + (literal % 2).astype(np.uint64))
        beside = reduce_segments(np.add, of_literal, item_bounds, np.uint64(0))
        np.add.at(contexts, literal // 2, mixed(beside[item] ^ seed))
        for layer in reversed(_layers(gates, columns.depth)):
            edges, own = columns.edges_of(layer)
            above = contexts[layer][owners_of(own)] ^ (
                columns.label[edges].astype(np.uint64) * seed
            )
            np.add.at(contexts, columns.child[edges], mixed(above))
        return contexts

    def _formal(self, part: Conjunctions) -> Expression:
        """Return a part as an expression."""
        conjunctions: list[list[tuple[Expression, int]]] = [[] for _ in part.group]
        for item, literal in zip(part.item.tolist(), part.literal.tolist(), strict=True):
            factor = Expression.of(self.columns.annotation(literal // 2))
            if literal % 2:
                factor = Expression.one().monus(factor.delta())
            conjunctions[item].append((factor, 1))
        return sum_of((product_of(factors), 1) for factors in conjunctions)


def _layers(gates: Array, depth: Array) -> list[Array]:
    """Return gates by depth, lowest first."""
    order = np.argsort(depth[gates], kind="stable")
    gates = gates[order]
    cuts = np.flatnonzero(np.diff(depth[gates])) + 1
    return np.split(gates, cuts)


def compacted(group: Array, item: Array, literal: Array, kept: Array) -> tuple[Array, Array, Array]:
    """Return the conjunctions that a mask selects, renumbered."""
    number = np.cumsum(kept) - 1
    inside = kept[item]
    return group[kept], number[item[inside]], literal[inside]


def chosen_groups(groups: Conjunctions, chosen: Array) -> Conjunctions:
    """Return the chosen groups, in ascending order, renumbered."""
    number = index_of(chosen, groups.count)
    of_items = number[groups.group]
    group, item, literal = compacted(of_items, groups.item, groups.literal, of_items >= 0)
    return Conjunctions(len(chosen), group, item, literal)

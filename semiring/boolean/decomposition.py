"""Decomposition of large annotations into trees of independent parts, by whole columns.

A sum of products is split where its summands share no tuple, and common factors are taken out, in
turn; a part that neither step splits is compiled by itself. Parts that are equal up to the names of
their tuples are compiled once. Source: Olteanu, Huang, Koch, *Approximate Confidence Computation in
Probabilistic Databases*, ICDE 2010 (trees of decompositions); Dalvi, Suciu, *The Dichotomy of
Probabilistic Inference for Unions of Conjunctive Queries*, JACM 2012 (hierarchical queries, whose
annotations split completely).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semiring.arrays.segments import (
    ascending,
    bounds,
    common,
    index_of,
    mask_of,
    others,
    renumbered,
    stable_order,
)
from semiring.base import Array
from semiring.boolean.columns import GateColumns, gate_columns
from semiring.boolean.events import Annotation
from semiring.boolean.parts import (
    Conjunctions,
    PartClass,
    chosen_groups,
    compacted,
    part_classes,
)
from semiring.circuit.gates import CONSTANT, DELTA, MONUS, PRODUCT, SUM, TOKEN
from semiring.circuit.reading import NamedGates
from semiring.support.budget import check_budget

ALL, ANY, NOT, TUPLE, TRUTH, PART = range(6)
"""The kinds of nodes: and, or, not, a token, a constant, and a part that is compiled by itself."""


@dataclass(frozen=True, slots=True)
class TreeLevel:
    """The nodes of a tree at one distance from its root.

    Attributes
    ----------
    kind
        Per node.
    payload
        Of a token its number; of a constant 0 or 1; of a part its number.
    offsets
        The CSR offsets of the children, which are the nodes of the next level.
    """

    kind: Array
    payload: Array
    offsets: Array


@dataclass(frozen=True, slots=True)
class Decomposition:
    """An annotation as a tree of independent parts.

    Attributes
    ----------
    tokens
        By number.
    levels
        The roots first.
    classes
        The parts.
    """

    tokens: NamedGates
    levels: list[TreeLevel]
    classes: list[PartClass]


def decompose(annotation: Annotation) -> Decomposition:
    """Return the tree of the parts of an annotation's presence.

    Cost: O(n log n) in the number of edges, for each level of the tree.
    """
    columns = gate_columns(annotation)
    one = np.zeros(1, dtype=np.int64)
    return decompose_groups(columns, Conjunctions(1, one, one, np.array([2 * columns.root])))


def decompose_groups(columns: GateColumns, groups: Conjunctions) -> Decomposition:
    """Return the trees of disjunctions that share no token, with a first-level node for each."""
    return _Splitting(columns).run(groups)


class _Splitting:
    def __init__(self, columns: GateColumns) -> None:
        self._columns = columns
        self._levels: list[TreeLevel] = []
        self._parts: list[Conjunctions] = []
        self._part_count = 0

    def run(self, groups: Conjunctions) -> Decomposition:
        """Decompose groups level by level, and return the tree."""
        while groups.count:
            check_budget()
            groups = self._level(groups)
        return Decomposition(
            self._columns.tokens,
            self._levels,
            part_classes(self._columns, self._parts, self._part_count),
        )

    # -- one level ---------------------------------------------------------------------------

    def _level(self, groups: Conjunctions) -> Conjunctions:
        """Add the nodes of groups, and return the groups of their children."""
        groups, true = self._normal(groups)
        count = groups.count
        kind = np.full(count, PART, dtype=np.uint8)
        payload = np.zeros(count, dtype=np.int64)
        sizes = np.bincount(groups.group, minlength=count)
        kind[true | (sizes == 0)] = TRUTH
        payload[true] = 1
        item_sizes = np.bincount(groups.item, minlength=len(groups.group))
        # The first literal of every group, where it has one conjunction of one.
        single = (sizes == 1) & ~true
        alone = mask_of(groups.group[item_sizes == 1], count)
        alone &= single
        literal_group = groups.group[groups.item]
        only = np.zeros(count, dtype=np.int64)
        only[literal_group] = groups.literal
        negated = alone & (only % 2 == 1)
        kinds = self._columns.kind[only // 2]
        is_token = alone & ~negated & (kinds == TOKEN)
        kind[is_token], payload[is_token] = TUPLE, self._columns.payload[only[is_token] // 2]
        # Negated gates are split on their own, if they can be split.
        opened = negated & np.isin(kinds, (TOKEN, SUM, PRODUCT, MONUS, DELTA))
        kind[opened] = NOT
        rest = np.flatnonzero(kind == PART)
        several = rest[(sizes[rest] > 1)]
        conjunctions = rest[(sizes[rest] == 1) & ~alone[rest]]
        children: list[tuple[Array, Conjunctions]] = []
        if opened.any():
            chosen = np.flatnonzero(opened)
            numbers = np.arange(len(chosen))
            children.append((chosen, Conjunctions(len(chosen), numbers, numbers, only[chosen] - 1)))
        if len(several):
            children += self._disjunctions(groups, several, sizes, kind)
        if len(conjunctions):
            children += self._conjunctions(groups, conjunctions, kind)
        parts = np.flatnonzero(kind == PART)
        if len(parts):
            payload[parts] = self._part_count + np.arange(len(parts))
            self._part_count += len(parts)
            self._parts.append(chosen_groups(groups, parts))
        owners, below = _joined(children)
        self._levels.append(TreeLevel(kind, payload, bounds(np.bincount(owners, minlength=count))))
        return below

    def _normal(self, groups: Conjunctions) -> tuple[Conjunctions, Array]:
        """Expand literals that are δ, products or sums; return the groups, and a mask of true
        ones.
        """
        columns = self._columns
        count, group, item, literal = groups.count, groups.group, groups.item, groups.literal
        true = np.zeros(count, dtype=np.bool_)
        while True:
            gate, negative = literal // 2, literal % 2
            kind = columns.kind[gate]
            first = columns.offsets[gate]
            is_delta = kind == DELTA
            if is_delta.any():
                literal = literal.copy()
                literal[is_delta] = 2 * columns.child[first[is_delta]] + negative[is_delta]
                continue
            positive = negative == 0
            constant = kind == CONSTANT
            holds = constant & ((columns.payload[gate] > 0) == positive)
            left_truth = columns.truth.copy()
            left_truth |= (columns.kind == CONSTANT) & (columns.payload <= 1)
            monus = np.flatnonzero(positive & (kind == MONUS))
            monus = monus[left_truth[columns.child[first[monus]]]]
            products = positive & (kind == PRODUCT)
            item_sizes = np.bincount(item, minlength=len(group))
            sums = positive & (kind == SUM) & (item_sizes[item] == 1)
            if not (constant.any() or len(monus) or products.any() or sums.any()):
                break
            # Conjunctions with a false literal are gone; true literals, too.
            dropped = mask_of(item[constant & ~holds], len(group))
            dropped[item[sums]] = True
            kept = ~(constant | products | sums)
            kept[monus] = False
            parts_item, parts_literal = [item[kept]], [literal[kept]]
            edges, own = columns.edges_of(gate[products])
            parts_item.append(np.repeat(item[products], np.diff(own)))
            parts_literal.append(2 * columns.child[edges])
            parts_item += [item[monus], item[monus]]
            parts_literal += [
                2 * columns.child[first[monus]],
                2 * columns.child[first[monus] + 1] + 1,
            ]
            edges, own = columns.edges_of(gate[sums])
            new = len(group) + np.arange(len(edges))
            parts_item.append(new)
            parts_literal.append(2 * columns.child[edges])
            group = np.concatenate([group, np.repeat(group[item[sums]], np.diff(own))])
            dropped = np.append(dropped, np.zeros(len(edges), dtype=np.bool_))
            item, literal = np.concatenate(parts_item), np.concatenate(parts_literal)
            empty = np.bincount(item, minlength=len(group)) == 0
            true[group[empty & ~dropped]] = True
            group, item, literal = compacted(group, item, literal, ~dropped & ~empty)
        kept_groups = ~true[group]
        group, item, literal = compacted(group, item, literal, kept_groups)
        order = stable_order(group)
        place = index_of(order, len(order))
        keys = ascending(place[item] << 32 | literal)
        return Conjunctions(count, group[order], keys >> 32, keys & 0xFFFFFFFF), true

    def _disjunctions(
        self, groups: Conjunctions, chosen: Array, sizes: Array, kind: Array
    ) -> list[tuple[Array, Conjunctions]]:
        """Split groups of several conjunctions by common literals, or into independent parts."""
        some = chosen_groups(groups, chosen)
        own_sizes = sizes[chosen]
        owner = some.group[some.item]
        # Literals that all conjunctions of a group have.
        if len(chosen) == 1:
            keys, places = renumbered(some.literal, 2 * len(self._columns.kind))
        else:
            keys, places = np.unique(owner << 32 | some.literal, return_inverse=True)
        times = np.bincount(places, minlength=len(keys))
        in_all = times == own_sizes[keys >> 32]
        is_common = in_all[places]
        factored = mask_of(owner[is_common], len(chosen))
        children: list[tuple[Array, Conjunctions]] = []
        if factored.any():
            apart = self._share_nothing(owner, some.literal, is_common, len(chosen))
            factored &= apart
        if factored.any():
            at = np.flatnonzero(factored)
            kind[chosen[at]] = ALL
            of_common = keys[in_all & factored[keys >> 32]]
            group_of = (np.cumsum(factored) - 1)[of_common >> 32]
            factors = Conjunctions(len(at), np.arange(len(at)), group_of, of_common & 0xFFFFFFFF)
            kept, rest = _without(some, factored, is_common)
            children += [(chosen[at[kept]], rest), (chosen[at], factors)]
        unfactored = np.flatnonzero(~factored)
        if len(unfactored):
            left = chosen_groups(some, unfactored)
            component = self._columns.components(left.item, left.literal, len(left.group))
            of_item, numbers = renumbered(component, len(left.group))
            owner_of = np.empty(len(of_item), dtype=np.int64)
            owner_of[numbers] = left.group
            split = np.bincount(owner_of, minlength=len(unfactored)) > 1
            kind[chosen[unfactored[split]]] = ANY
            kept = split[owner_of]
            if kept.any():
                below = chosen_groups(_sorted(len(of_item), numbers, left), np.flatnonzero(kept))
                children.append((chosen[unfactored[owner_of[kept]]], below))
        return children

    def _conjunctions(
        self, groups: Conjunctions, chosen: Array, kind: Array
    ) -> list[tuple[Array, Conjunctions]]:
        """Split groups of a single conjunction into literals that share no token."""
        some = chosen_groups(groups, chosen)
        entries = np.arange(len(some.literal))
        component = self._columns.components(entries, some.literal, len(entries))
        distinct, numbers = renumbered(component, len(entries))
        owner_of = np.empty(len(distinct), dtype=np.int64)
        owner_of[numbers] = some.group[some.item]
        split = np.bincount(owner_of, minlength=len(chosen)) > 1
        kind[chosen[split]] = ALL
        kept = split[owner_of]
        if not kept.any():
            return []
        order = stable_order(numbers)
        parts = Conjunctions(
            len(distinct), np.arange(len(distinct)), numbers[order], some.literal[order]
        )
        return [(chosen[owner_of[kept]], chosen_groups(parts, np.flatnonzero(kept)))]

    def _share_nothing(self, owner: Array, literal: Array, is_common: Array, count: int) -> Array:
        """Return the groups, as a mask, whose common and other literals share no token."""
        found, beside = (
            self._columns.token_pairs(owner[side], literal[side])
            for side in (is_common, ~is_common)
        )
        keys = [owners << 32 | tokens for owners, tokens in (found, beside)]
        shared = common(*map(ascending, keys))
        return ~mask_of(shared >> 32, count)


def _without(groups: Conjunctions, factored: Array, is_common: Array) -> tuple[Array, Conjunctions]:
    """Return factored groups without their common literals; those left with some, as a mask.

    A conjunction of nothing else is true, which the next level finds by a constant.
    """
    number, inside = np.cumsum(factored) - 1, factored[groups.group]
    left = factored[groups.group[groups.item]] & ~is_common
    group = number[groups.group[inside]]
    item, literal = (np.cumsum(inside) - 1)[groups.item[left]], groups.literal[left]
    kept = ~mask_of(group[others(len(group), item)], int(factored.sum()))
    group, item, literal = compacted(group, item, literal, kept[group])
    return kept, Conjunctions(int(kept.sum()), (np.cumsum(kept) - 1)[group], item, literal)


def _sorted(count: int, group: Array, groups: Conjunctions) -> Conjunctions:
    """Return conjunctions assigned to new groups, in the order of the groups."""
    order = stable_order(group)
    place = index_of(order, len(order))
    item = place[groups.item]
    by_item = stable_order(item)
    return Conjunctions(count, group[order], item[by_item], groups.literal[by_item])


def _joined(children: list[tuple[Array, Conjunctions]]) -> tuple[Array, Conjunctions]:
    """Return the owners of groups, ascending, and the groups in this order."""
    none = np.zeros(0, dtype=np.int64)
    if not children:
        return none, Conjunctions(0, none, none, none)
    owners = np.concatenate([owner for owner, _ in children])
    counts = [part.count for _, part in children]
    items = [len(part.group) for _, part in children]
    starts, item_starts = np.cumsum([0, *counts]), np.cumsum([0, *items])
    group = np.concatenate([p.group + s for (_, p), s in zip(children, starts[:-1], strict=True)])
    item = np.concatenate(
        [p.item + s for (_, p), s in zip(children, item_starts[:-1], strict=True)]
    )
    literal = np.concatenate([part.literal for _, part in children])
    order = stable_order(owners)
    number = index_of(order, len(order))
    return owners[order], _sorted(
        len(owners), number[group], Conjunctions(len(owners), group, item, literal)
    )

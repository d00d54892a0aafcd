"""Mean and variance of sums of many products of events, by whole columns.

With aᵢ = vᵢ·P(i) for a product i of events that share no tuple, and S and T over the sets of events
that occur together in a product,

    Var = Σ (Π of cov(s, t) / (P(s)·P(t))) · (Σ of the aᵢ that have S) · (Σ of the aᵢ that have T)

over S and T, not empty, whose events depend on the same tuples, pair by pair: an indicator is
P(s)·(1 + Z) with E[Z] = 0, and products of such are multiplied out. Source: Jayram, Kale, Vee,
*Efficient Aggregation Algorithms for Probabilistic Data*, SODA 2007 (linearity of expectation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import ascending, bounds, owners_of, places_in, places_of, renumbered
from semiring.base import Array
from semiring.boolean.chances import chance_column
from semiring.boolean.columns import GateColumns, gate_columns
from semiring.boolean.compilation import compile_parts
from semiring.boolean.decomposition import decompose_groups
from semiring.boolean.parts import Conjunctions
from semiring.circuit.gates import CONSTANT, DELTA, MONUS, PRODUCT, SUM, TOKEN
from semiring.circuit.order import list_ranks
from semiring.support.budget import check_budget
from semiring.tensor import Tensor
from semiring.token import Token

_FACTORS: Final = 7
"""Products of more events are left to pairwise covariances."""

_DEPENDENT: Final = 12
"""The number of events that depend on the same tuples, at most."""

_PAIRS: Final = 1 << 22
"""The number of pairs of dependent sets of events, at most."""


def sum_moments(
    tensor: Tensor, chances: Mapping[Token, float], decisions: int
) -> tuple[float, float] | None:
    """Return mean and variance of a SUM or COUNT, or None if its terms are not such products.

    Raises
    ------
    ExactnessError
        When compiling an event, or two that depend on the same tuples, needs more decisions.

    Cost: O(n log n) for n products, times the number of sets of events of a product. Events that
    look alike are compiled once.
    """
    columns = gate_columns(tensor)
    terms, _ = columns.edges_of(np.array([columns.root]))
    products = products_of(columns, columns.child[terms])
    events = None
    if _are_events(columns, products.factor).all():
        events = _events(columns, products)
    if events is None:
        return None
    of_tokens = chance_column(columns.tokens, chances)
    chance_of, covariances = _chances(columns, events, of_tokens, decisions)
    weights = np.ones(len(columns.child))
    if tensor.monoid.name == "SUM":
        weights = columns.doubles(columns.root)
    chance = reduce_segments(np.multiply, chance_of[events.event], events.offsets, 1.0)
    amounts = weights[products.term] * products.times * chance
    variance = _variance(events, amounts, chance, chance_of, covariances)
    return None if variance is None else (float(amounts.sum()), variance)


# -- products of events ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Products:
    """The products in some terms: terms, multiplicities, and distinct factors as CSR."""

    term: Array
    times: Array
    offsets: Array
    factor: Array


def products_of(columns: GateColumns, gate: Array) -> Products:
    """Return the products that some gates are sums of; a factor may be a sum itself."""
    term, times = np.arange(len(gate)), np.ones(len(gate))
    while (sums := columns.kind[gate] == SUM).any():
        edges, own = columns.edges_of(gate[sums])
        inner = np.repeat(np.flatnonzero(sums), np.diff(own))
        term = np.concatenate([term[~sums], term[inner]])
        times = np.concatenate([times[~sums], times[inner] * columns.label[edges]])
        gate = np.concatenate([gate[~sums], columns.child[edges]])
    constant = columns.kind[gate] == CONSTANT
    times[constant] *= columns.payload[gate[constant]]
    product = columns.kind[gate] == PRODUCT
    edges, own = columns.edges_of(gate[product])
    alone = np.flatnonzero(~product & ~constant)
    row = np.concatenate([np.repeat(np.flatnonzero(product), np.diff(own)), alone])
    factor = np.concatenate([columns.child[edges], gate[alone]])
    keys = ascending(row << 32 | factor)
    row, factor = keys >> 32, keys & 0xFFFFFFFF
    return Products(term, times, bounds(np.bincount(row, minlength=len(gate))), factor)


def _are_events(columns: GateColumns, gates: Array) -> Array:
    """Return a mask of the gates that are 0 or 1 in every world."""
    simple = columns.truth | np.isin(columns.kind, (TOKEN, DELTA))
    certain = simple | ((columns.kind == CONSTANT) & (columns.payload == 1))
    monus = columns.kind == MONUS
    simple[monus] |= certain[columns.child[columns.offsets[:-1][monus]]]
    events: Array = simple[gates]
    return events


@dataclass(frozen=True, slots=True)
class _Events:
    """Products of independent events; factors that share tuples are merged into one event.

    Attributes
    ----------
    offsets, event
        The events of every product as CSR, by component.
    component, place
        Per event: a number, the same where events depend on the same tuples, and its number among
        these.
    literals, literal
        The factors of every event as CSR, twice their gates.
    pair
        The pairs of events of one component, by component: the number of the first one times 2³²
        plus that of the second one.
    """

    offsets: Array
    event: Array
    component: Array
    place: Array
    literals: Array
    literal: Array
    pair: Array


def _events(columns: GateColumns, products: Products) -> _Events | None:
    """Return products as products of independent events, or None if they have too many."""
    gates, place = renumbered(products.factor, len(columns.kind))
    numbers = np.arange(len(gates))
    if (columns.kind[gates] == TOKEN).all():
        if int(np.diff(products.offsets).max(initial=0)) > _FACTORS:
            return None
        none, every = np.zeros(0, dtype=np.int64), np.arange(len(gates) + 1)
        alone = np.zeros_like(numbers)
        return _Events(products.offsets, place, numbers, alone, every, 2 * gates, none)
    numbers = columns.components(numbers, 2 * gates, len(gates))
    _, component = renumbered(numbers, len(gates))
    row = owners_of(products.offsets)
    order = np.lexsort((place, component[place], row))
    row, place = row[order], place[order]
    starts = np.ones(len(row), dtype=np.bool_)
    starts[1:] = (row[1:] != row[:-1]) | (component[place][1:] != component[place][:-1])
    heads = np.flatnonzero(starts)
    lists = np.append(heads, len(row))
    ranks = list_ranks(lists, lambda at, _: [place[at]])
    _, first, event = np.unique(ranks, return_index=True, return_inverse=True)
    of_event = component[place[heads[first]]]
    offsets = bounds(np.bincount(row[heads], minlength=len(products.offsets) - 1))
    sizes = np.bincount(of_event)
    most = int(sizes.max(initial=0))
    if most > _DEPENDENT or int(np.diff(offsets).max(initial=0)) > _FACTORS:
        return None
    by_component = np.argsort(of_event, kind="stable")
    within = np.empty(len(first), dtype=np.int64)
    within[by_component] = places_of(bounds(sizes))
    earlier, later = _pairs_within(of_event[by_component], most)
    pair = by_component[earlier] << 32 | by_component[later]
    entries, literals = places_in(lists, first)
    return _Events(offsets, event, of_event, within, literals, 2 * gates[place[entries]], pair)


def _pairs_within(groups: Array, most: int) -> tuple[Array, Array]:
    """Return all pairs of positions within ascending groups of at most `most` members, by group."""
    earlier = [np.flatnonzero(groups[:-step] == groups[step:]) for step in range(1, most)]
    steps = np.repeat(np.arange(1, most), [len(part) for part in earlier])
    first = np.concatenate([np.zeros(0, dtype=np.int64), *earlier])
    order = np.argsort(groups[first], kind="stable")
    return first[order], (first + steps)[order]


# -- chances -----------------------------------------------------------------------------------


class _Covariances:
    """Covariances of events of one component, divided by both of their probabilities."""

    def __init__(self, pair: Array, ratio: Array, chance: Array) -> None:
        order = np.argsort(pair)
        self._pair, self._ratio, self._chance = pair[order], ratio[order], chance

    def of(self, first: Array, second: Array) -> Array:
        """Return the covariance of each pair of events."""
        own = 1 / self._chance[first] - 1
        if not len(self._pair):
            return own
        keys = np.minimum(first, second) << 32 | np.maximum(first, second)
        found = np.minimum(np.searchsorted(self._pair, keys), len(self._pair) - 1)
        return np.where(first == second, own, self._ratio[found])


def _chances(
    columns: GateColumns, events: _Events, of_tokens: Array, decisions: int
) -> tuple[Array, _Covariances]:
    """Return the probability of each event, and the covariances of dependent events."""

    def together(chosen: Array) -> Array:
        """Return the probabilities of conjunctions of events, a row each."""
        rows = np.arange(len(chosen))
        entries, own = places_in(events.literals, chosen.reshape(-1))
        item = np.repeat(rows, chosen.shape[1])[owners_of(own)]
        groups = Conjunctions(len(rows), rows, item, events.literal[entries])
        return compile_parts(decompose_groups(columns, groups), decisions).probabilities(of_tokens)

    chance = np.zeros(len(events.place))
    for place in range(int(events.place.max(initial=-1)) + 1):
        chosen = np.flatnonzero(events.place == place)
        chance[chosen] = together(chosen[:, None])
    first, second = events.pair >> 32, events.pair & 0xFFFFFFFF
    run = places_of(bounds(np.bincount(events.component[first])))
    both = np.zeros(len(first))
    for number in range(int(run.max(initial=-1)) + 1):
        chosen = np.flatnonzero(run == number)
        both[chosen] = together(np.stack([first[chosen], second[chosen]], axis=1))
    product = chance[first] * chance[second]
    ratio = np.divide(both - product, product, out=np.zeros(len(both)), where=product > 0)
    return chance, _Covariances(events.pair, ratio, chance)


# -- variance ----------------------------------------------------------------------------------


def _variance(
    events: _Events, amounts: Array, chance: Array, chance_of: Array, covariances: _Covariances
) -> float | None:
    """Return the variance of a sum, or None if too many sets of events are dependent."""
    several = np.bincount(events.component)[events.component] > 1
    variance, sizes = 0.0, np.diff(events.offsets)
    row = np.flatnonzero((chance > 0) & (sizes > 0))
    # Sets of events by size: each extends a smaller set, known by its number, by a last event.
    numbers, place = np.zeros(len(row), dtype=np.int64), np.full(len(row), -1)
    members: list[Array] = []
    while len(row):
        check_budget()
        more = sizes[row] - place - 1
        own = bounds(more)
        owner = owners_of(own)
        place = np.arange(own[-1]) - np.repeat(own[:-1] - place - 1, more)
        row, numbers = row[owner], numbers[owner]
        event = events.event[events.offsets[row] + place]
        members = [*(column[owner] for column in members), event]
        _, first, numbers = np.unique(numbers << 32 | event, return_index=True, return_inverse=True)
        totals = np.bincount(numbers, amounts[row])
        sets = [column[first] for column in members]
        variance += float((_ratios(covariances, sets, sets) * totals * totals).sum())
        some = np.flatnonzero(np.any([several[column] for column in sets], axis=0))
        shared = _shared(events, covariances, [column[some] for column in sets], totals[some])
        if shared is None:
            return None
        variance += shared
    return variance


def _ratios(covariances: _Covariances, sets: list[Array], others: list[Array]) -> Array:
    ratio = np.ones(len(sets[0]))
    for column, other in zip(sets, others, strict=True):
        ratio *= covariances.of(column, other)
    return ratio


def _shared(
    events: _Events, covariances: _Covariances, sets: list[Array], totals: Array
) -> float | None:
    """Return the contribution to the variance of pairs of different sets of the same components."""
    if not len(totals):
        return 0.0
    components = np.stack([events.component[column] for column in sets], axis=1)
    _, group = np.unique(components, axis=0, return_inverse=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    sizes = np.bincount(group.reshape(-1))
    if int((sizes * (sizes - 1) // 2).sum()) > _PAIRS:
        return None
    earlier, later = _pairs_within(group.reshape(-1)[order], int(sizes.max()))
    left, right = order[earlier], order[later]
    ratio = _ratios(
        covariances, [column[left] for column in sets], [column[right] for column in sets]
    )
    return float(2 * (ratio * totals[left] * totals[right]).sum())

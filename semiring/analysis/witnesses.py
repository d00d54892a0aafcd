"""Minimal witnesses, minimal repairs and responsibility of a result.

Sources: Buneman, Khanna, Tan, *Why and Where*, ICDT 2001 (minimal witnesses); Meliou, Gatterbauer,
Moore, Suciu, *The Complexity of Causality and Responsibility for Query Answers*, PVLDB 4(1), 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, islice, pairwise, product
from math import comb, prod

import numpy as np

from semiring.analysis.presence import WORD, Presence
from semiring.base import Array, Semiring
from semiring.boolean.compilation import compile_annotation
from semiring.boolean.deletions import Deletions
from semiring.boolean.events import Annotation, connected_components
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.errors import CapabilityError, ExactnessError
from semiring.expression import Compare, Condition, Delta, Expression, Monus, Product, Sum
from semiring.polynomial import Polynomial
from semiring.semirings.expressions import replaced
from semiring.semirings.posbool import PosBool
from semiring.semirings.why import Witnesses
from semiring.support.budget import check_budget, spent
from semiring.support.chance import random_numbers
from semiring.token import Token

Witness = frozenset[Token]

STEPS = 100_000
"""The number of sets that a search may try by default."""
_LISTED = 1000
"""Limit on the listed repairs of a row."""

_LISTED_TUPLES = 20_000
"""Limit on the tuples of all listed repairs, if there are several."""

_ENUMERATED = 12
"""Number of tuples up to which all worlds are enumerated."""

_CHUNK = 4096
"""Number of worlds evaluated together."""

_POSBOOL: Semiring[Witnesses] = PosBool()


def witnesses(annotation: Annotation) -> MinimalWitnesses:
    """Return the minimal sets of input tuples that suffice for a result, smaller ones first.

    A set suffices if the result is present in every world that contains it. Tuples that matter only
    by their absence, on the right of ⊖, are in no set.

    Raises
    ------
    CapabilityError
        For more than twelve tuples that a comparison or ⊖ is about, where more of them may both
        bring the result and take it away.
    ExactnessError
        For other comparisons over more than twelve tuples, see `found_witnesses`.
    """
    annotation = _at_worst(annotation)
    if _monotone(annotation):
        return MinimalWitnesses(_minimal(annotation))
    tokens = sorted(annotation.tokens)
    if len(tokens) > _ENUMERATED:
        _monotone_presence(annotation)
        raise ExactnessError(
            f"A comparison over {len(tokens):,} tuples has too many minimal witnesses to list all."
        )
    held = PossibleWorlds.every(tokens).holds(annotation)
    worlds = np.arange(len(held))
    for bit in range(len(tokens)):
        held &= held[worlds | 1 << bit]
    minimal = held.copy()
    for bit in range(len(tokens)):
        minimal &= (worlds >> bit & 1 == 0) | ~held[worlds & ~(1 << bit)]
    return MinimalWitnesses(
        frozenset(token for bit, token in enumerate(tokens) if world >> bit & 1)
        for world in np.flatnonzero(minimal).tolist()
    )


def _monotone_presence(annotation: Annotation) -> Presence:
    """Return the presence of a result, checked to be monotone: no tuple removes it."""
    presence = Presence(annotation)
    if not presence.monotone:
        raise CapabilityError(
            f"{annotation.truncated(3)} depends on {len(presence.tokens):,} tuples that may both "
            "add and remove the row: sets that suffice regardless of other tuples are not found "
            "for so many.\nAsk for repairs, which hold for such annotations too."
        )
    return presence


def wsms(
    annotation: Annotation, weight: Callable[[int], float] = lambda size: 1 / size
) -> dict[Token, float]:
    """Return for each input tuple the weighted sum of the minimal witnesses that it is part of.

    Unlike Shapley values they take polynomial time for unions of conjunctive queries, whose
    witnesses are polynomially many.

    Parameters
    ----------
    weight
        Of a witness by its size. By one over the size, the tuples of a witness share one.

    Raises
    ------
    CapabilityError
        As `witnesses`.

    Source: Bienvenu, Figueira, Lafourcade, *Shapley Revisited: Tractable Responsibility Measures
    for Query Answers*, PODS 2025 (weighted sums of minimal supports).
    """
    sums = dict.fromkeys(sorted(annotation.tokens), 0.0)
    for witness in witnesses(annotation):
        for token in witness:
            sums[token] += weight(len(witness))
    return sums


def _minimal(annotation: Annotation) -> Witnesses:
    inner = annotation.operand if isinstance(annotation, Delta) else annotation
    if isinstance(inner, Polynomial):
        sets = {frozenset(token for token, _ in monomial) for monomial, _ in inner.terms}
    else:
        sets = _token_sets(inner)
    if sets and len({len(each) for each in sets}) == 1:
        return frozenset(sets)  # sets of one size do not absorb each other
    minimal: Witnesses = annotation.evaluate(_POSBOOL)
    return minimal


def _token_sets(annotation: Expression) -> set[Witness]:
    """Return the token sets of the products that an annotation is a sum of; none if it is no
    such sum.
    """
    from semiring.analysis.sums import products_of
    from semiring.boolean.columns import gate_columns
    from semiring.circuit.gates import TOKEN

    columns = gate_columns(annotation)
    products = products_of(columns, np.array([columns.root]))
    if not (columns.kind[products.factor] == TOKEN).all():
        return set()
    tokens = columns.tokens.at(columns.payload[products.factor])
    sets = (frozenset(tokens[start:stop]) for start, stop in pairwise(products.offsets.tolist()))
    return {each for each, times in zip(sets, products.times.tolist(), strict=True) if times}


def _at_worst(annotation: Annotation) -> Annotation:
    """Return an annotation with all tuples present that can only remove the result."""
    if _monotone(annotation):
        return annotation
    bringing, taking = set[Token](), set[Token]()
    seen: dict[tuple[int, bool], Annotation] = {}
    wanted: list[tuple[Annotation, bool]] = [(annotation, True)]
    while wanted:
        part, brings = wanted.pop()
        if (id(part), brings) in seen:
            continue
        seen[id(part), brings] = part
        if isinstance(part, Monus):
            wanted += [(part.left, brings), (part.right, not brings)]
        elif isinstance(part, Sum | Product | Delta) and not part.is_polynomial:
            wanted += [(child, brings) for child in part.children]
        else:
            of_both = isinstance(part, Compare | Condition)
            if of_both or brings:
                bringing |= part.tokens
            if of_both or not brings:
                taking |= part.tokens
    only = taking - bringing
    if not only:
        return annotation
    one = Polynomial.one()
    return replaced(annotation, lambda t: one if t in only else Polynomial.token(t))


def _monotone(annotation: Annotation) -> bool:
    if not isinstance(annotation, Expression) or annotation.is_polynomial:
        return True
    if isinstance(annotation, Delta) or annotation.children:
        inside = all(map(_monotone, annotation.children))
        return inside and not isinstance(annotation, Monus)
    return False


def _in_order(sets: Iterable[Witness]) -> list[Witness]:
    return sorted(sets, key=lambda witness: (len(witness), sorted(witness)))


class Repairs(list[Witness]):
    """The smallest sets of input tuples whose deletion removes a result.

    Attributes
    ----------
    complete
        True if all sets of least size are in the list. Otherwise there are more, as small.
    at_least
        Every set of tuples whose deletion removes the result has at least so many. Sets of the list
        that have more were found by a search that ended early: there may be smaller ones.
    """

    def __init__(
        self, sets: Iterable[Witness], *, complete: bool = True, at_least: int | None = None
    ) -> None:
        super().__init__(_in_order(sets))
        self.complete = complete
        self.at_least = min(map(len, self), default=0) if at_least is None else at_least


class MinimalWitnesses(list[Witness]):
    """The minimal sets of input tuples that suffice for a result, smaller ones first.

    Attributes
    ----------
    complete
        True if all are in the list. Otherwise a search for them ended early.
    """

    def __init__(self, sets: Iterable[Witness], *, complete: bool = True) -> None:
        super().__init__(_in_order(sets))
        self.complete = complete


def repairs(annotation: Annotation, steps: int = STEPS) -> Repairs:
    """Return the smallest sets of input tuples whose deletion removes a result.

    Parameters
    ----------
    steps
        How many sets are tried at most, where the annotation is too hard to compile.

    Raises
    ------
    ExactnessError
        When more sets would have to be tried. Finding the least size is NP-hard.

    Returns nothing where no deletion removes the result, and the empty set where it is not there.
    Of more than a thousand sets, or large ones, some are returned, and ``complete`` is False.
    """
    try:
        deletions = Deletions(compile_annotation(annotation).alike())
        listed = max(1, min(_LISTED, _LISTED_TUPLES // (deletions.least or 1)))
        smallest = deletions.smallest(listed)
        return Repairs(smallest[:listed], complete=len(smallest) <= listed)
    except ExactnessError:
        check_budget()
    if _monotone(annotation):
        return Repairs(hitting_sets(_minimal(annotation), steps))
    tokens = sorted(annotation.tokens)
    for size in range(len(tokens) + 1):
        smallest = [
            frozenset(gone)
            for gone, there in _without(annotation, tokens, size, steps)
            if not there
        ]
        if smallest:
            return Repairs(smallest)
    return Repairs([])


def found_repairs(annotation: Annotation) -> Repairs:
    """Return a set of input tuples whose deletion removes a result, from a heuristic search.

    It is minimal under inclusion unless a budget (:func:`semiring.support.budget.within`) runs out.
    """
    presence = Presence(annotation)
    order = np.argsort(presence.occurrences, kind="stable")

    def is_removed(kept: Array) -> Array:
        return ~_present(presence, order, kept)

    nothing, everything = np.zeros((1, len(order)), np.bool_), np.ones((1, len(order)), np.bool_)
    if is_removed(everything)[0]:
        return Repairs([frozenset()])
    if not is_removed(nothing)[0]:
        return Repairs([], complete=False, at_least=1)
    kept = extended_set(nothing[0], is_removed)
    gone = frozenset(presence.tokens[place] for place in order[~kept].tolist())
    return Repairs([gone], complete=False, at_least=1)


def found_witnesses(annotation: Annotation) -> MinimalWitnesses:
    """Return some minimal witnesses of a result, from a search that ends with the budget.

    Raises
    ------
    CapabilityError
        As `witnesses`.
    """
    presence = _monotone_presence(_at_worst(annotation))
    order = np.argsort(presence.occurrences, kind="stable")
    found: list[Witness] = []
    random = random_numbers(0)

    def suffices(gone: Array) -> Array:
        return _present(presence, order, ~gone)

    if not suffices(np.zeros((1, len(order)), np.bool_))[0]:
        return MinimalWitnesses([])
    while len(found) < _LISTED:
        gone = extended_set(np.zeros(len(order), np.bool_), suffices)
        if spent() and found:  # it may not be minimal
            break
        found.append(frozenset(presence.tokens[place] for place in order[~gone].tolist()))
        order = random.permutation(order)
        if spent():
            break
    return MinimalWitnesses(set(found), complete=False)


def _present(presence: Presence, order: Array, kept: Array) -> Array:
    """Return, as a mask, the worlds with the result; each world is a row of present tuples."""
    there = np.empty(kept.T.shape, dtype=np.bool_)
    there[order] = kept.T
    return presence.holds(there)


def extended_set(chosen: Array, holds: Callable[[Array], Array]) -> Array:
    """Return a set extended greedily, member by member, as long as a property holds.

    Members are tried in runs, 64 runs at once; the first member that breaks the property is left
    out.
    """
    chosen = chosen.copy()
    rest = np.flatnonzero(~chosen)
    while len(rest) and not spent():
        low, high = 0, len(rest)  # a prefix of `low` members may be added
        while low < high and not spent():
            lengths = np.unique(np.linspace(low + 1, high, min(WORD, high - low)).astype(np.int64))
            tried = np.repeat(chosen[None, :], len(lengths), axis=0)
            for row, length in enumerate(lengths.tolist()):
                tried[row, rest[:length]] = True
            held = holds(tried)
            failed = np.flatnonzero(~held)
            if not len(failed):
                low = high
                break
            if failed[0]:
                low = int(lengths[failed[0] - 1])
            high = int(lengths[failed[0]]) - 1
        chosen[rest[:low]] = True
        rest = rest[low + 1 :]
    return chosen


def _without(
    annotation: Annotation, tokens: Sequence[Token], size: int, steps: int
) -> Iterator[tuple[Witness, bool]]:
    """Yield sets of tuples of a size, and whether the result is present without them.

    Raises
    ------
    ExactnessError
        When there are more than `steps` sets.
    """
    if comb(len(tokens), size) > steps:
        raise _too_many(steps)
    sets = combinations(tokens, size)
    while chunk := list(islice(sets, _CHUNK)):
        check_budget()
        there = {token: np.ones(len(chunk), dtype=np.bool_) for token in tokens}
        for world, gone in enumerate(chunk):
            for token in gone:
                there[token][world] = False
        present = PossibleWorlds(there, len(chunk)).holds(annotation).tolist()
        yield from zip(map(frozenset, chunk), present, strict=True)


def _too_many(steps: int) -> ExactnessError:
    return ExactnessError(f"The search would try more than {steps:,} sets of tuples; allow more.")


def hitting_sets(sets: Collection[Witness], steps: int = STEPS) -> set[Witness]:
    """Return all smallest sets that intersect each of some sets.

    Members of singleton sets are in all of them. The other sets are split into parts without
    common members, and each part is searched by branching on a smallest set that is not hit, to
    growing depth. The result is empty if one of the sets is.

    Raises
    ------
    ExactnessError
        When more than `steps` branches would be tried, or there are more hitting sets.
    """
    if frozenset() in sets:
        return set()
    forced = frozenset[Token]().union(*(each for each in sets if len(each) == 1))
    search = _Search(steps)
    parts = [search.smallest(part) for part in _apart(each for each in sets if not each & forced)]
    size = len(forced) + sum(len(next(iter(part))) for part in parts)
    if prod(map(len, parts)) > steps:
        raise ExactnessError(
            f"The smallest sets have {size:,} tuples each, and there are more than {steps:,}."
        )
    return {forced.union(*chosen) for chosen in product(*parts)}


def _apart(sets: Iterable[Witness]) -> list[list[Witness]]:
    """Return sets in groups that have no member in common."""
    numbered = list(sets)
    owner: dict[Token, int] = {}
    shared = [(n, owner.setdefault(token, n)) for n, each in enumerate(numbered) for token in each]
    groups = connected_components(range(len(numbered)), shared)
    return [[numbered[number] for number in sorted(group)] for group in groups]


class _Search:
    """A search for hitting sets with a limit on its branches."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._branches = 0

    def smallest(self, sets: list[Witness]) -> set[Witness]:
        """Return all smallest hitting sets."""
        depth = _disjoint(sets)
        while not (hitting := set(self._branch(sets, frozenset(), depth))):
            depth += 1
        return hitting

    def _branch(self, left: list[Witness], chosen: Witness, depth: int) -> Iterator[Witness]:
        self._branches += 1
        if self._branches > self._steps:
            raise _too_many(self._steps)
        check_budget()
        if not left:
            yield chosen
        elif depth:
            smallest: Witness = min(left, key=len)
            for token in sorted(smallest):
                rest = [witness for witness in left if token not in witness]
                yield from self._branch(rest, chosen | {token}, depth - 1)


def _disjoint(sets: Iterable[Witness]) -> int:
    """Return the number of disjoint sets in a greedy choice: a lower bound on a hitting set."""
    taken: set[Token] = set()
    count = 0
    for each in sorted(sets, key=len):
        if taken.isdisjoint(each):
            taken |= each
            count += 1
    return count

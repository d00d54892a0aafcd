"""The tuples that a result needs: minimal witnesses, minimal repairs, responsibility.

Sources: Buneman, Khanna, Tan, *Why and Where*, ICDT 2001 (minimal witnesses); Meliou, Gatterbauer,
Moore, Suciu, *The Complexity of Causality and Responsibility for Query Answers*, PVLDB 4(1), 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, islice, product
from math import comb, prod

import numpy as np

from semiring.analysis.circuit import Circuit
from semiring.analysis.compilation import compile_annotation
from semiring.analysis.deletions import Deletions
from semiring.analysis.events import Annotation
from semiring.analysis.independence import connected_components
from semiring.base import Semiring
from semiring.budget import check_budget
from semiring.errors import CapabilityError, ExactnessError
from semiring.expression import Delta, Expression, Monus
from semiring.polynomial import Polynomial
from semiring.possible_worlds import PossibleWorlds
from semiring.semirings.posbool import PosBool
from semiring.semirings.why import Witnesses
from semiring.token import Token

Witness = frozenset[Token]

STEPS = 100_000
"""The number of sets that a search may try by default."""
_LISTED = 1000
"""So many repairs are listed at most, of a row."""

_LISTED_TUPLES = 20_000
"""So many tuples are in these at most, if there are several."""

_CHUNK = 4096
"""So many worlds are looked at together."""

_POSBOOL: Semiring[Witnesses] = PosBool()


def witnesses(annotation: Annotation) -> list[Witness]:
    """The minimal sets of input tuples that suffice for a result, smaller ones first.

    Raises
    ------
    CapabilityError
        When a tuple's absence takes part (⊖), or a comparison of aggregates: what suffices then
        depends on what else is there.
    """
    if not _monotone(annotation):
        raise CapabilityError(
            f"{annotation.truncated(3)} has ⊖ or a comparison: no set of tuples suffices whatever "
            "else is there.\nAsk for repairs, which hold for such annotations too."
        )
    return _in_order(_minimal(annotation))


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
        if len({len(each) for each in sets}) <= 1:
            return frozenset(sets)  # sets of one size do not absorb each other
    minimal: Witnesses = annotation.evaluate(_POSBOOL)
    return minimal


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
    """

    def __init__(self, sets: Iterable[Witness], *, complete: bool = True) -> None:
        super().__init__(_in_order(sets))
        self.complete = complete


def repairs(annotation: Annotation, steps: int = STEPS) -> Repairs:
    """The smallest sets of input tuples whose deletion removes a result: all of least size.

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
        compiled = compile_annotation(annotation)
        deletions = Deletions(compiled) if isinstance(compiled, Circuit) else compiled.deletions()
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


def _without(
    annotation: Annotation, tokens: Sequence[Token], size: int, steps: int
) -> Iterator[tuple[Witness, bool]]:
    """Sets of tuples of a size, and whether a result is there without them.

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


def responsibility(annotation: Annotation, steps: int = STEPS) -> dict[Token, float]:
    """Return the responsibility of each input tuple for a result.

    It is 1 / (1 + k) where k is the least number of other tuples without which the result is still
    there but depends on this one; 0 where there are no such tuples.

    Raises
    ------
    ExactnessError
        When more than `steps` sets would have to be tried.
    """
    if not _monotone(annotation):
        return _searched(annotation, steps)
    needed = witnesses(annotation)
    shares = {}
    for token in sorted(annotation.tokens):
        with_it = [witness for witness in needed if token in witness]
        without = [witness for witness in needed if token not in witness]
        sizes = []
        for kept in with_it:
            rest = [witness - kept for witness in without]
            smallest = next(iter(hitting_sets(rest, steps)), None)
            if smallest is not None:
                sizes.append(len(smallest))
        shares[token] = 1 / (1 + min(sizes)) if sizes else 0.0
    return shares


def _searched(annotation: Annotation, steps: int) -> dict[Token, float]:
    """Responsibility by its definition: sets of other tuples are tried, smaller ones first."""
    tokens = sorted(annotation.tokens)
    shares = dict.fromkeys(tokens, 0.0)
    before = dict(_without(annotation, tokens, 0, steps))
    for size in range(len(tokens)):
        after = dict(_without(annotation, tokens, size + 1, steps))
        for gone, there in after.items():
            if not there:
                for token in gone:
                    if before[gone - {token}]:
                        shares[token] = max(shares[token], 1 / (1 + size))
        if all(shares.values()):
            break
        before = after
    return shares


def _size(witness: Witness) -> int:
    return len(witness)


def hitting_sets(sets: Collection[Witness], steps: int = STEPS) -> set[Witness]:
    """All sets of least size that have a member of each of some sets.

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
    """Sets in groups that have no member in common."""
    numbered = list(sets)
    owner: dict[Token, int] = {}
    shared = [(n, owner.setdefault(token, n)) for n, each in enumerate(numbered) for token in each]
    groups = connected_components(range(len(numbered)), shared)
    return [[numbered[number] for number in sorted(group)] for group in groups]


class _Search:
    """A search for hitting sets that tries a number of branches at most."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._branches = 0

    def smallest(self, sets: list[Witness]) -> set[Witness]:
        """All hitting sets of least size."""
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
            smallest: Witness = min(left, key=_size)
            for token in sorted(smallest):
                rest = [witness for witness in left if token not in witness]
                yield from self._branch(rest, chosen | {token}, depth - 1)


def _disjoint(sets: Iterable[Witness]) -> int:
    """Return the number of disjoint sets in a greedy choice: a lower bound on a hitting set."""
    taken: set[Token] = set()
    count = 0
    for each in sorted(sets, key=_size):
        if taken.isdisjoint(each):
            taken |= each
            count += 1
    return count

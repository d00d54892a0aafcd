"""What a result needs: minimal witnesses, minimal repairs, responsibility.

Sources: Buneman, Khanna, Tan, *Why and Where*, ICDT 2001 (minimal witnesses); Meliou, Gatterbauer,
Moore, Suciu, *The Complexity of Causality and Responsibility for Query Answers*, PVLDB 4(1), 2010.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, islice
from math import comb

import numpy as np

from semiring.analysis.events import Annotation
from semiring.base import Semiring
from semiring.errors import CapabilityError, ExactnessError
from semiring.expression import Delta, Expression, Monus
from semiring.possible_worlds import PossibleWorlds
from semiring.semirings.posbool import PosBool
from semiring.semirings.why import Witnesses
from semiring.token import Token

Witness = frozenset[Token]

STEPS = 100_000
"""How many sets a search may try, unless told."""
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


def _minimal(annotation: Annotation) -> Witnesses:
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


def repairs(annotation: Annotation, steps: int = STEPS) -> list[Witness]:
    """The smallest sets of input tuples whose deletion removes a result: all of least size.

    Parameters
    ----------
    steps
        How many sets are tried at most.

    Raises
    ------
    ExactnessError
        When more sets would have to be tried. Finding the least size is NP-hard.

    Returns nothing where no deletion removes the result, and the empty set where it is not there.
    """
    if _monotone(annotation):
        return _in_order(hitting_sets(_minimal(annotation), steps))
    tokens = sorted(annotation.tokens)
    for size in range(len(tokens) + 1):
        smallest = [
            frozenset(gone)
            for gone, there in _without(annotation, tokens, size, steps)
            if not there
        ]
        if smallest:
            return _in_order(smallest)
    return []


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
        there = {token: np.ones(len(chunk), dtype=np.bool_) for token in tokens}
        for world, gone in enumerate(chunk):
            for token in gone:
                there[token][world] = False
        present = PossibleWorlds(there, len(chunk)).holds(annotation).tolist()
        yield from zip(map(frozenset, chunk), present, strict=True)


def _too_many(steps: int) -> ExactnessError:
    return ExactnessError(f"The search would try more than {steps:,} sets of tuples; allow more.")


def responsibility(annotation: Annotation, steps: int = STEPS) -> dict[Token, float]:
    """How responsible each input tuple is for a result.

    1 / (1 + k) where k is the least number of other tuples without which the result is still there
    but depends on this one; 0 where there are none such.

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

    By branching on a smallest set that is not hit, to growing depth; none if one of the sets is
    empty.

    Raises
    ------
    ExactnessError
        When more than `steps` branches would be tried.
    """
    if frozenset() in sets:
        return set()
    branches = 0

    def branch(left: list[Witness], chosen: Witness, depth: int) -> Iterator[Witness]:
        nonlocal branches
        branches += 1
        if branches > steps:
            raise _too_many(steps)
        if not left:
            yield chosen
        elif depth:
            smallest: Witness = min(left, key=_size)
            for token in sorted(smallest):
                rest = [witness for witness in left if token not in witness]
                yield from branch(rest, chosen | {token}, depth - 1)

    for depth in range(len(frozenset().union(*sets)) + 1):
        hitting = set(branch(list(sets), frozenset(), depth))
        if hitting:
            return hitting
    return set()

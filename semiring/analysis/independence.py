"""Independent parts of an event: parts that share no tuple."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from semiring.token import Token


def independent(part: Iterable[int], tokens: Sequence[frozenset[Token]]) -> list[list[int]]:
    """Return members in groups that share no token."""
    owner: dict[Token, int] = {}
    shared = []
    for member in part:
        for token in tokens[member]:
            shared.append((member, owner.setdefault(token, member)))
    return [sorted(group) for group in connected_components(part, shared)]


def disjoint(groups: Iterable[frozenset[int]], tokens: Sequence[frozenset[Token]]) -> bool:
    """Return True if groups of members share no token."""
    sets = [frozenset().union(*(tokens[member] for member in group)) for group in groups]
    return sum(map(len, sets)) == len(frozenset().union(*sets))


def connected_components(
    items: Iterable[int], pairs: Iterable[tuple[int, int]]
) -> list[frozenset[int]]:
    """Return the connected components of a graph."""
    parent = {item: item for item in items}

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for a, b in pairs:
        parent[root(a)] = root(b)
    classes: dict[int, set[int]] = {}
    for item in parent:
        classes.setdefault(root(item), set()).add(item)
    return [frozenset(group) for group in classes.values()]

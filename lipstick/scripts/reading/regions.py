"""Objects in memory and storage: which may be the same, and which refer to which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lipstick.scripts.reading.values import Class


@dataclass(slots=True, kw_only=True)
class Regions:
    """What is known of objects; a region is all objects that one place of the text makes.

    Attributes
    ----------
    contents, aliases
        By region: the regions that its object may refer to, and those that may be the same.
    connected
        By region the sets of objects, it among them, that may all refer to one another.
    made
        By region the class of the project that its object is an instance of.
    reached, in_reached
        What `reach` has found, as long as nothing changes it, and all regions in that.
    """

    contents: dict[int, set[int]] = field(default_factory=dict)
    aliases: dict[int, set[int]] = field(default_factory=dict)
    connected: dict[int, list[frozenset[int]]] = field(default_factory=dict)
    made: dict[int, Class | None] = field(default_factory=dict)
    reached: dict[frozenset[int], list[int]] = field(default_factory=dict)
    in_reached: set[int] = field(default_factory=set)

    def same(self, region: int) -> set[int]:
        """A region and those that may be the same object."""
        return self.aliases.get(region) or {region}

    def reach(self, regions: Iterable[int]) -> list[int]:
        """Some regions, those that may be the same, and all that their objects refer to."""
        start = frozenset(regions)
        known = self.reached.get(start)
        if known is not None:
            return known
        found = set(start)
        order = list(start)
        joined: set[int] = set()
        for region in order:
            same = self.aliases.get(region)
            if same is not None and id(same) not in joined:
                joined.add(id(same))
                order.extend(same - found)
                found |= same
            for connected in self.connected.get(region, ()):
                if id(connected) not in joined:
                    joined.add(id(connected))
                    order.extend(connected - found)
                    found |= connected
            inner = self.contents.get(region)
            if inner and not inner <= found:
                order.extend(inner - found)
                found |= inner
        self.reached[start] = order
        self.in_reached |= found
        return order

    def _forget_reached(self, changed: Iterable[int]) -> None:
        """Drop what `reach` has found if some regions are in it; new ones never are."""
        if not self.in_reached.isdisjoint(changed):
            self.reached.clear()
            self.in_reached.clear()

    def alias(self, regions: Iterable[int]) -> None:
        """Let some regions be possibly the same object from here on."""
        joined: set[int] = set()
        for region in regions:
            joined |= self.same(region)
        if len(joined) < 2 or all(self.aliases.get(region) == joined for region in joined):
            return
        self._forget_reached(joined)
        for region in joined:
            self.aliases[region] = joined

    def keep(self, regions: Iterable[int], inside: Iterable[int]) -> None:
        """Let objects refer to others."""
        kept = set(inside)
        if kept:
            for region in regions:
                inner = self.contents.setdefault(region, set())
                if not kept <= inner:
                    refers_to_itself = region in inner
                    inner |= kept
                    if not refers_to_itself:
                        inner.discard(region)
                    self._forget_reached([region])

    def connect(self, regions: Iterable[int]) -> None:
        """Let each of some objects perhaps refer to all of them."""
        joined = frozenset(regions)
        first = next(iter(joined), None)
        if first is None or any(joined <= known for known in self.connected.get(first, ())):
            return
        self._forget_reached(joined)
        known = {id(each): each for region in joined for each in self.connected.get(region, ())}
        within = {number for number, each in known.items() if each <= joined}
        for region in joined:
            others = [e for e in self.connected.get(region, ()) if id(e) not in within]
            self.connected[region] = [*others, joined]

    def inside(self, regions: Iterable[int]) -> frozenset[int]:
        """The objects that parts of others may be; the others, where that is not known."""
        found: set[int] = set()
        for same in set().union(*(self.same(region) for region in regions)):
            inner = self.contents.get(same)
            connected = self.connected.get(same, ())
            for each in connected:
                found |= each
            if inner is not None:
                found |= inner
            elif not connected:
                found.add(same)
        return frozenset(found)

    def class_of(self, regions: Iterable[int]) -> Class | None:
        """The class of the project that some objects all are of; None: not known."""
        classes = {id(c): c for c in (self.made.get(region) for region in regions)}
        return classes.popitem()[1] if len(classes) == 1 else None

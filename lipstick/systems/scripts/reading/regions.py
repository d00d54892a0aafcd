"""Objects in memory and storage: which may be the same, and which refer to which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lipstick.systems.scripts.reading.values import NO_REGIONS, Class


@dataclass(slots=True, kw_only=True)
class Regions:
    """The knowledge about objects; a region is all objects that one place of the text makes.

    Attributes
    ----------
    contents
        By group the regions that its objects may refer to.
    divided
        The regions whose objects have known parts, by `contents`.
    aliases, groups
        By region the regions that may be the same, and the smallest of them.
    connected
        By region the sets of objects, it among them, that may all refer to one another.
    made
        By region the class of the project that its object is an instance of.
    plain
        The regions of containers made of numbers and texts, by calls that are known.
    expected
        The regions of parts that the text at hand may only put into an object later.
    relied
        The ones among them that were taken to be of the class of the other parts.
    reached, in_reached
        What `reach` has found, as long as nothing changes it, and all regions in that.
    """

    contents: dict[int, set[int]] = field(default_factory=dict)
    aliases: dict[int, set[int]] = field(default_factory=dict)
    groups: dict[int, int] = field(default_factory=dict)
    divided: set[int] = field(default_factory=set)
    connected: dict[int, list[frozenset[int]]] = field(default_factory=dict)
    made: dict[int, Class | None] = field(default_factory=dict)
    plain: set[int] = field(default_factory=set)
    expected: set[int] = field(default_factory=set)
    relied: set[int] = field(default_factory=set)
    reached: dict[frozenset[int], list[int]] = field(default_factory=dict)
    in_reached: set[int] = field(default_factory=set)

    def same(self, region: int) -> set[int]:
        """Return a region and the regions that may be the same object."""
        return self.aliases.get(region) or {region}

    def group(self, region: int) -> int:
        """A number that all regions have that may be the same object as one."""
        return self.groups.get(region, region)

    def alike(self, regions: Iterable[int]) -> set[int]:
        """Return regions and all that may be the same. O(result), since groups are disjoint."""
        regions_reached: set[int] = set()
        for region in regions:
            if region not in regions_reached:
                regions_reached |= self.same(region)
        return regions_reached

    def reach(self, regions: Iterable[int]) -> list[int]:
        """Return regions, all that may be the same, and all that their objects refer to."""
        start = frozenset(regions)
        known = self.reached.get(start)
        if known is not None:
            return known
        reached = set(start)
        order = list(start)
        joined: set[int] = set()
        for region in order:
            same = self.aliases.get(region)
            if same is not None and id(same) not in joined:
                joined.add(id(same))
                order.extend(same - reached)
                reached |= same
            for connected in self.connected.get(region, ()):
                if id(connected) not in joined:
                    joined.add(id(connected))
                    order.extend(connected - reached)
                    reached |= connected
            inner = self.contents.get(self.groups.get(region, region))
            if inner and id(inner) not in joined:
                joined.add(id(inner))
                order.extend(inner - reached)
                reached |= inner
        self.reached[start] = order
        self.in_reached |= reached
        return order

    def _forget_reached(self, changed: Iterable[int]) -> None:
        """Drop what `reach` has found if some regions are in it; new ones never are."""
        if not self.in_reached.isdisjoint(changed):
            self.reached.clear()
            self.in_reached.clear()

    def alias(self, regions: Iterable[int]) -> None:
        """Let some regions be possibly the same object from here on."""
        joined = self.alike(regions)
        if len(joined) < 2 or len(joined) == len(self.same(min(joined))):
            return
        self._forget_reached(joined)
        number = min(joined)
        within = {self.group(region) for region in joined}
        known = [self.contents.pop(each) for each in sorted(within) if each in self.contents]
        if known:
            self.contents[number] = set().union(*known)
        for region in joined:
            self.aliases[region] = joined
            self.groups[region] = number

    def divide(self, region: int, inside: Iterable[int] = ()) -> None:
        """Let the parts of a new object be some others, and nothing else."""
        self.divided.add(region)
        self.contents[region] = set(inside)

    def keep(self, regions: Iterable[int], inside: Iterable[int]) -> None:
        """Let objects refer to others."""
        kept = set(inside)
        if not kept:
            return
        holders = list(regions)
        self.divided.update(holders)
        for region in {self.group(holder): holder for holder in holders}.values():
            inner = self.contents.setdefault(self.group(region), set())
            if not kept <= inner:
                is_alone = region not in self.aliases and region not in inner
                inner |= kept
                if is_alone:
                    inner.discard(region)
                self._forget_reached([region])

    def put(self, region: int, part: int) -> None:
        """Let an object perhaps have a part, besides its others, known or not."""
        self.contents.setdefault(self.group(region), set()).add(part)
        self._forget_reached([region])

    def drop(self, region: int, part: int) -> None:
        """Let an object not have a part."""
        self.contents[self.group(region)].discard(part)
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
            unrelated = [e for e in self.connected.get(region, ()) if id(e) not in within]
            self.connected[region] = [*unrelated, joined]

    def inside(self, regions: Iterable[int]) -> frozenset[int]:
        """The objects that parts of others may be; the others, where that is not known."""
        inner_regions: set[int] = set()
        alike = self.alike(regions)
        for group in {self.group(region) for region in alike}:
            inner_regions |= self.contents.get(group, NO_REGIONS)
        for same in alike:
            connected = self.connected.get(same, ())
            for each in connected:
                inner_regions |= each
            if same not in self.divided and not connected:
                inner_regions.add(same)
        return frozenset(inner_regions)

    def class_of(self, regions: Iterable[int]) -> Class | None:
        """The class of the project that some objects all are of; None: not known."""
        known = set(regions) - self.expected
        self.relied.update(self.expected.intersection(regions))
        classes = {id(c): c for c in (self.made.get(region) for region in known)}
        return classes.popitem()[1] if len(classes) == 1 else None

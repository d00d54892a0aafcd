"""Placement of copies on hosts ahead of their use: passes of Kernighan-Lin and Fiduccia-Mattheyses.

Hosts own units, and may hold copies of others'. A *net* is the set of units that a question at a
host needs: it counts its weight if the host has all of them. A pass takes the best change of one
copy after the other, even at a loss, each unit at each host once, and returns the best placement on
its way; passes are repeated as long as they gain (Gehani, Kim, Malik, CLADE 2010, section 4.2;
Fiduccia and Mattheyses, DAC 1982). A host never evicts its own units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from graphquery.federation.errors import FederationError

Copies = frozenset[tuple[str, str]]
"""Pairs of a host and a unit that it holds a copy of."""


@dataclass(frozen=True, slots=True)
class Net:
    """The units that a question at a host needs.

    Parameters
    ----------
    host
        The host that asks the question.
    units
        All units that the question needs.
    weight
        How often the question was asked, discounted by age.
    """

    host: str
    units: frozenset[str]
    weight: float


@dataclass(frozen=True, slots=True)
class Placement:
    """Hosts, what they own, and what they need.

    Parameters
    ----------
    owners, sizes
        By unit, its host, and its bytes.
    capacity
        By host, bytes of copies at most.
    nets
        What is needed.
    price
        λ: what a byte of a copy costs.
    """

    owners: Mapping[str, str]
    sizes: Mapping[str, int]
    capacity: Mapping[str, int]
    nets: Sequence[Net]
    price: float = 0.0
    _nets: dict[str, list[Net]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        known = {unit for net in self.nets for unit in net.units}
        unknown = sorted(known - self.owners.keys())
        if unknown or self.owners.keys() - self.sizes.keys():
            raise FederationError(f"Unit {unknown[0] if unknown else ''} has no owner or no size.")
        nets: dict[str, list[Net]] = {}
        for net in self.nets:
            nets.setdefault(net.host, []).append(net)
        object.__setattr__(self, "_nets", nets)

    def gain(self, copies: Copies) -> float:
        """Return the worth of a placement: the weights of its complete nets, less the price of its
        bytes.
        """
        paid = sum(self.sizes[unit] for _, unit in copies)
        whole = sum(net.weight for net in self.nets if self._whole(net, copies))
        return whole - self.price * paid

    def fits(self, copies: Copies) -> bool:
        """Return True if each host has room for its copies, and none is of a unit that it owns."""
        used: dict[str, int] = {}
        for host, unit in copies:
            if self.owners[unit] == host:
                return False
            used[host] = used.get(host, 0) + self.sizes[unit]
        return all(bytes_ <= self.capacity.get(host, 0) for host, bytes_ in used.items())

    def improved(self, copies: Copies, hosts: Iterable[str]) -> Copies:
        """Passes over the copies of some hosts, which talk to each other, until none gains."""
        taking = sorted(set(hosts))
        while True:
            better = self._pass(copies, taking)
            if self.gain(better) <= self.gain(copies):
                return copies
            copies = better

    def settled(self, copies: Copies = frozenset()) -> Copies:
        """Return the placement when all pairs of hosts have talked until no pair gains."""
        hosts = sorted(self.capacity)
        pairs: list[tuple[str, ...]] = list(combinations(hosts, 2)) or [tuple(hosts)]
        while True:
            before = copies
            for pair in pairs:
                copies = self.improved(copies, pair)
            if copies == before:
                return copies

    def _pass(self, copies: Copies, hosts: Sequence[str]) -> Copies:
        """Change every copy once, the best first; the best placement on the way."""
        free = {host: self.capacity.get(host, 0) for host in hosts}
        for host, unit in copies:
            if host in free:
                free[host] -= self.sizes[unit]
        # Units that no net of a host needs are of no use there, unless they are there.
        needed = {(net.host, u) for h in hosts for net in self._nets.get(h, ()) for u in net.units}
        held = {(host, unit) for host, unit in copies if host in free}
        open_ = sorted(each for each in needed | held if self.owners[each[1]] != each[0])
        now, best, gained, most = set(copies), copies, 0.0, 0.0
        while open_:
            moves = [
                (self._change(now, host, unit), host, unit)
                for host, unit in open_
                if (host, unit) in now or self.sizes[unit] <= free[host]
            ]
            if not moves:
                break
            change, host, unit = max(moves, key=lambda move: move[0])
            open_.remove((host, unit))
            sign = -1 if (host, unit) in now else 1
            free[host] -= sign * self.sizes[unit]
            now ^= {(host, unit)}
            gained += change
            if gained > most + 1e-9:
                most, best = gained, frozenset(now)
        return best

    def _change(self, copies: set[tuple[str, str]], host: str, unit: str) -> float:
        """Return the gain of copying a unit to a host, or of evicting the copy that is there."""
        held = (host, unit) in copies
        other_copies = copies - {(host, unit)}
        worth = sum(
            net.weight
            for net in self._nets.get(host, ())
            if unit in net.units
            and all(
                each == unit or self.owners[each] == host or (host, each) in other_copies
                for each in net.units
            )
        )
        gain = worth - self.price * self.sizes[unit]
        return -gain if held else gain

    def _whole(self, net: Net, copies: Copies) -> bool:
        return all(
            self.owners[unit] == net.host or (net.host, unit) in copies for unit in net.units
        )


def nets_of(
    questions: Iterable[tuple[str, float, Iterable[str]]], now: float, half_life: float
) -> list[Net]:
    """Return the nets of past questions, with weights that halve with age.

    Parameters
    ----------
    questions
        The host, the time in seconds and the needed units of each question.
    now, half_life
        The time now and the half-life of a question's weight, in seconds.
    """
    weights: dict[tuple[str, frozenset[str]], float] = {}
    for host, time, units in questions:
        key = (host, frozenset(units))
        weights[key] = weights.get(key, 0.0) + 0.5 ** ((now - time) / half_life)
    return [Net(host, units, weight) for (host, units), weight in weights.items()]

"""Generated stores that exchange data over some epochs; seeded.

In every epoch each store imports from one to three of its four peers, and reads its own last
export. A row that it makes has 0, 1, 2 or 16 parents among these, and a chain of inner nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from graphquery.federation import Offer, export, import_rows, offer_of
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Store, Transaction
from semiring.base import Array

_PARENTS, _SHARES = (0, 1, 2, 16), (0.20, 0.45, 0.25, 0.10)
_PEERS = 4
_MADE = "made"
"""The file that marks the stores of a folder as complete."""


@dataclass(slots=True)
class GeneratedStores:
    """Makes the stores of a federation in a folder.

    Parameters
    ----------
    stores, epochs
        How many; every store exports once an epoch.
    nodes
        Of all stores together, about.
    inner
        Inner nodes of a row.
    """

    folder: Path
    stores: int
    nodes: int
    epochs: int = 8
    inner: int = 20
    seed: int = 0
    random: np.random.Generator = field(init=False)
    last: dict[int, tuple[Offer, str]] = field(default_factory=dict)
    """By store, its last export and the segment of it."""

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    @property
    def rows(self) -> int:
        """The number of rows that a store exports in an epoch."""
        return max(1, self.nodes // (self.stores * self.epochs * (self.inner + 1)))

    def path(self, store: int) -> Path:
        """Return the folder of a store."""
        return self.folder / f"S{store}"

    def paths(self) -> dict[str, Path]:
        """Return the folders of all stores by alias."""
        return {f"S{store}": self.path(store) for store in range(self.stores)}

    def is_there(self) -> bool:
        """Return True if the stores were generated before."""
        return (self.folder / _MADE).exists()

    def run(self) -> dict[str, Path]:
        """Make all stores; return their folders by alias."""
        for store in range(self.stores):
            Store.create(self.path(store))
        for epoch in range(self.epochs):
            before = dict(self.last)
            for store in range(self.stores):
                self._epoch(store, epoch, before)
        (self.folder / _MADE).touch()
        return self.paths()

    def _epoch(self, store: int, epoch: int, before: dict[int, tuple[Offer, str]]) -> None:
        rows = self.rows
        out, inner = f"e{epoch}/out", f"e{epoch}/inner"
        peers = [(store + step) % self.stores for step in range(1, 1 + _PEERS)]
        peers = sorted({peer for peer in peers if peer != store})
        with Store.open(self.path(store)).writer() as writer:
            with writer.transaction() as transaction:
                sources = [self.last[store][1]] if store in self.last else []
                if before and peers:
                    count = min(len(peers), int(self.random.integers(1, 4)))
                    for peer in self.random.choice(peers, count, replace=False).tolist():
                        token = Segment(f"e{epoch}/in{peer}", Kind.TOKEN, "", rows)
                        import_rows(transaction, before[peer][0], token)
                        sources.append(token.name)
                transaction.add_segment(Segment(inner, Kind.DERIVED, "+", rows * self.inner))
                transaction.add_segment(Segment(out, Kind.DERIVED, "+", rows))
                every = np.arange(rows * self.inner)
                starts = every[every % self.inner < self.inner - 1]
                self._add(transaction, inner, inner, starts, starts + 1)
                ends = np.arange(rows) * self.inner + self.inner - 1
                edges = EdgeSet(inner, out, rows, targets=Ordinals.ALL, file="")
                transaction.add_edges(edges, ends)
                self._parents(transaction, sources, inner)
                transaction.commit()
            channel = export(writer, out, "rows", str(epoch))
            self.last[store] = (offer_of(writer.snapshot(), channel), out)

    def _parents(self, transaction: Transaction, sources: list[str], inner: str) -> None:
        """Add edges from random rows of the sources to the first inner nodes of rows."""
        if not sources:
            return
        counts = self.random.choice(_PARENTS, self.rows, p=_SHARES)
        targets = np.repeat(np.arange(self.rows) * self.inner, counts)
        among = self.random.integers(0, len(sources), len(targets))
        drawn = self.random.integers(0, self.rows, len(targets))
        for number, source in enumerate(sources):
            chosen = among == number
            self._add(transaction, source, inner, drawn[chosen], targets[chosen])

    @staticmethod
    def _add(
        transaction: Transaction, source: str, target: str, sources: Array, targets: Array
    ) -> None:
        if len(sources):
            edges = EdgeSet(source, target, len(sources), file="")
            transaction.add_edges(edges, sources, targets)

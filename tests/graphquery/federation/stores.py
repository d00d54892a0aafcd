"""Stores for tests of federations: random ones that give data back and forth, and the example's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from graphquery.federation.crossings.crossing import Summaries, export, import_rows
from graphquery.federation.crossings.offer import Offer, offer_of
from graphquery.model import EdgeSet, Kind, Port, Segment
from graphquery.store import Store, Writer
from tests.graphquery.store.workload import Unsynced

LABELS = ("+", "·", "δ", "⊖", "f")


def store_of(path: Path, identity: str | None = None) -> Store:
    """An empty store that does not wait for the disk, of an identity if one is given."""
    store = Store.create(path, files=Unsynced())
    if identity is not None:
        file = path / "format.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"store": identity}))
        store = Store.open(path, files=Unsynced())
    return store


@dataclass(slots=True)
class Maker:
    """Makes the stores of a federation, commit by commit, all drawn from one generator."""

    root: Path
    random: np.random.Generator
    summaries: Summaries = field(default_factory=Summaries)
    key: bytes = b""
    paths: dict[str, Path] = field(default_factory=dict)
    offers: list[tuple[str, Offer]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    imported: dict[tuple[str, str], int] = field(default_factory=dict)

    def run(self, stores: int, commits: int) -> dict[str, Path]:
        """Make stores S0, S1 ... of so many commits in all; return their folders by alias."""
        for number in range(stores):
            alias = f"S{number}"
            self.paths[alias] = self.root / alias
            store_of(self.paths[alias], self.random.bytes(16).hex())
            self.numbers[alias] = 0
        for number in range(commits):
            alias = f"S{number % stores if number < stores else self.random.integers(stores)}"
            with Store.open(self.paths[alias], files=Unsynced()).writer() as writer:
                self.commit(alias, writer)
                while self.random.random() < 0.7:
                    self.export(alias, writer)
        return self.paths

    def commit(self, alias: str, writer: Writer) -> None:
        """An invocation of a module: tokens, imports, and nodes made of these and older ones."""
        self.numbers[alias] += 1
        number = self.numbers[alias]
        module = f"m{self.random.integers(2)}"
        at = {"module": module, "invocation": number, "execution": number}
        with writer.transaction() as transaction:
            stored = writer.snapshot().segments.values()
            old = [s for s in stored if s.count and s.kind is not Kind.INVOCATION]
            transaction.add_segment(Segment(f"{module}#{number}", Kind.INVOCATION, module, 1, **at))
            count = int(self.random.integers(1, 5))
            tokens = Segment(f"t{number}", Kind.TOKEN, "", count, key=("k",), file="")
            old.append(transaction.add_segment(tokens, pa.table({"k": list(range(count))})))
            for offered in self.drawn(self.offers, 2):
                segment = self.take(alias, transaction, offered[1])
                if segment is not None:
                    old.append(segment)
            added: list[Segment] = []
            kinds = [Kind.INPUT, Kind.STATE, *[Kind.DERIVED] * 4, Kind.OUTPUT, Kind.OUTPUT]
            for index in np.flatnonzero(self.random.random(len(kinds)) < 0.6).tolist():
                kind = kinds[index]
                label = "·" if kind is not Kind.DERIVED else str(self.random.choice(LABELS))
                count = int(self.random.integers(0, 6))
                segment = Segment(f"{module}#{number}/r{index}", kind, label, count, **at)
                transaction.add_segment(segment)
                among = [*old, *added] if kind is Kind.DERIVED else added or old
                # Nothing enters an invocation that has left it, or zooming would make cycles.
                for source in self.drawn(old if index < 2 else among, 3):
                    if source not in added or source.kind is not Kind.OUTPUT:
                        self.connect(transaction, source, segment)
                if kind is not Kind.DERIVED and count:
                    every = np.arange(count)
                    edges = EdgeSet(f"{module}#{number}", segment.name, count, file="")
                    transaction.add_edges(edges, every * 0, every)
                if count > 1 and kind is Kind.DERIVED and self.random.random() < 0.2:
                    edges = EdgeSet(segment.name, segment.name, 1, file="")
                    transaction.add_edges(edges, np.array([0]), np.array([count - 1]))
                added.append(segment)
            transaction.commit()

    def take(self, alias: str, transaction: object, offer: Offer) -> Segment | None:
        """Import an offer: whole, or some of its rows, some of them twice."""
        number = self.imported.get((alias, offer.channel), 0)
        self.imported[alias, offer.channel] = number + 1
        name = f"in-{offer.channel[:6]}-{number}"
        how = self.random.random()
        if how < 0.3:
            offer = offer.without(sketches=True, boundary=True)
        if self.random.random() < 0.5:
            segment = Segment(name, Kind.TOKEN, "", offer.count, relation=offer.name)
            import_rows(transaction, offer, segment, key=self.key)  # type: ignore[arg-type]
            return segment if offer.count else None
        count = int(self.random.integers(0, 5)) if offer.count else 0
        rows = self.random.integers(0, max(1, offer.count), count)
        segment = Segment(name, Kind.TOKEN, "", count, file="", relation=offer.name)
        table = pa.table({"row": pa.array(rows, pa.int64())})
        import_rows(transaction, offer, segment, table, "row", key=self.key)  # type: ignore[arg-type]
        return segment if count else None

    def connect(self, transaction: object, source: Segment, target: Segment) -> None:
        """Some random edges between two segments."""
        if not source.count or not target.count:
            return
        count = int(self.random.integers(1, 6))
        port = Port.OPERAND
        if target.label == "⊖" and self.random.random() < 0.5:
            port = Port.SUBTRAHEND
        edges = EdgeSet(source.name, target.name, count, file="", port=port)
        ends = (self.random.integers(0, each.count, count) for each in (source, target))
        transaction.add_edges(edges, *ends)  # type: ignore[attr-defined]

    def export(self, alias: str, writer: Writer) -> None:
        """Export a random segment, maybe one that was exported or imported before."""
        segments = list(writer.snapshot().segments)
        name = segments[self.random.integers(len(segments))]
        version = str(len(self.offers))
        channel = export(writer, name, name, version, key=self.key, summaries=self.summaries)
        self.offers.append((alias, offer_of(writer.snapshot(), channel)))

    def drawn(self, among: Sequence[object], most: int) -> list[object]:
        """Up to so many of some things, each once; the last ones more often."""
        if not among:
            return []
        places = len(among) - 1 - self.random.geometric(0.3, most + 1) % len(among)
        return [
            among[index] for index in dict.fromkeys(places[: self.random.integers(1, most + 1)])
        ]


def random_stores(root: Path, seed: int, stores: int | None = None) -> dict[str, Path]:
    """The folders of a random federation by alias."""
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 9)) if stores is None else stores
    blocks = int(random.choice([1, 2, 64]))
    return Maker(root, random, Summaries(blocks=blocks)).run(count, 3 * count)


def example(root: Path) -> dict[str, Path]:
    """The four stores of the definitions' golden vectors, A to D."""
    paths = {alias: root / alias for alias in "ABCD"}
    for alias, path in paths.items():
        store_of(path, f"0{alias.lower()}" * 16)
    offers: dict[str, Offer] = {}

    def commit(
        alias: str,
        nodes: Mapping[str, Segment],
        edges: str,
        taken: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        with Store.open(paths[alias], files=Unsynced()).writer() as writer:
            with writer.transaction() as transaction:
                for segment in nodes.values():
                    transaction.add_segment(segment)
                for exporter, rows in (taken or {}).items():
                    name = f"in.{exporter.lower()}"
                    segment = Segment(name, Kind.TOKEN, "", len(rows), file="")
                    table = pa.table({"row": pa.array(rows, pa.int64())})
                    import_rows(transaction, offers[exporter], segment, table, "row")
                for edge in edges.split():
                    source, target = (end.split("/") for end in edge.split(">"))
                    ends = (np.array([int(source[1])]), np.array([int(target[1])]))
                    transaction.add_edges(EdgeSet(source[0], target[0], 1, file=""), *ends)
                transaction.commit()
            if alias != "D":
                name = f"{alias.lower()}.Out"
                channel = export(writer, name, name, summaries=Summaries(blocks=1))
                offers[alias] = offer_of(writer.snapshot(), channel)

    def tokens(*names: str) -> dict[str, Segment]:
        return {name: Segment(name, Kind.TOKEN, "", 1) for name in names}

    def derived(label: str = "+", **counts: int) -> dict[str, Segment]:
        names = {name: name.replace("_", ".") for name in counts}
        return {
            names[name]: Segment(names[name], Kind.DERIVED, label, count)
            for name, count in counts.items()
        }

    edges = "a1/0>a2/0 a2/0>a.Out/0 a0/0>a3/0 a3/0>a.Out/1"
    commit("A", tokens("a0", "a1") | derived(a2=1, a3=1, a_Out=2), edges)
    commit("B", derived(b1=1, b_Out=1), "in.a/0>b1/0 b1/0>b.Out/0", {"A": [0]})
    edges = "in.a/0>c1/0 c1/0>c.Out/0 c0/0>c2/0 c2/0>c.Out/1"
    commit("C", tokens("c0") | derived(c1=1, c2=1, c_Out=2), edges, {"A": [1]})
    edges = "in.b/0>d1/0 in.c/0>d1/0 in.c/1>d2/0 d1/0>d3/0 d2/0>d3/0"
    nodes = derived("·", d1=1) | derived(d2=1, d3=1)
    commit("D", nodes, edges, {"B": [0], "C": [0, 1]})
    return paths

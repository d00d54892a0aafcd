"""Random histories of a store against a model in memory."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Snapshot, Store, Writer, checkpoint, fsck
from tests.graphquery.store.workload import NOW, Content, Unsynced, content

ENDS = st.sampled_from(list(Ordinals))
TEXTS = st.lists(st.sampled_from(["", "a", "é", None]), max_size=4)


class History(RuleBasedStateMachine):
    """Transactions, compactions, vacuums and reopenings; at each step, the store is the model."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.every, checkpoint.EVERY = checkpoint.EVERY, 2
        self.model = Content({}, [], {})
        self.kept: dict[str, list[int]] = {}
        self.past: list[tuple[Snapshot, Content]] = []

    @initialize()
    def create(self) -> None:
        self.store = Store.create(self.folder / "store", files=Unsynced())
        self.writer: Writer = self.store.writer().__enter__()

    def teardown(self) -> None:
        checkpoint.EVERY = self.every
        if hasattr(self, "writer"):
            self.writer.close()
            assert fsck(self.store.path) == []
        shutil.rmtree(self.folder)

    @rule(data=st.data(), values=st.lists(TEXTS, max_size=3), outcome=st.integers(0, 3))
    def transact(self, data: st.DataObject, values: list[list[Any]], outcome: int) -> None:
        """Segments, edges between any, records and files; one time in four rolled back."""
        model = Content(dict(self.model.segments), list(self.model.edges), dict(self.model.records))
        kept = dict(self.kept)
        with self.writer.transaction() as transaction:
            for texts in values:
                name = f"s{len(model.segments)}"
                column = data.draw(st.sampled_from(["x", "y"]))
                segment = Segment(name, Kind.TOKEN, "", len(texts), key=(column,), file="")
                transaction.add_segment(segment, pa.table({column: pa.array(texts, pa.string())}))
                model.segments[name] = (Kind.TOKEN, len(texts), (column,), {column: texts})
            for _ in range(data.draw(st.integers(0, 2)) if model.segments else 0):
                edges = self._draw_edges(data, model)
                transaction.add_edges(*edges)
                model.edges.append(_plain(*edges))
            record = data.draw(st.sampled_from(["r", "q"]))
            if data.draw(st.booleans()):
                transaction.put(record, {"n": len(model.segments)})
                model.records[record] = {"n": len(model.segments)}
            else:
                transaction.delete(record)
                model.records.pop(record, None)
            if data.draw(st.booleans()):
                number = len(model.segments)
                kept[transaction.add_table(pa.table({"k": [number]}))] = [number]
            if self.kept and data.draw(st.booleans()):
                name = data.draw(st.sampled_from(sorted(self.kept)))
                transaction.remove_file(name)
                del kept[name]
            if outcome:
                transaction.commit()
                self.model, self.kept = model, kept
            else:
                transaction.rollback()

    def _draw_edges(self, data: st.DataObject, model: Content) -> tuple[Any, ...]:
        names = st.sampled_from(sorted(model.segments))
        ends = [(data.draw(names), data.draw(ENDS)) for _ in range(2)]
        sizes = [model.segments[name][1] for name, _ in ends]
        count = data.draw(st.integers(0, 3)) if min(sizes) else 0
        for (_, given), size in zip(ends, sizes, strict=True):
            if given is Ordinals.ALL:
                count = min(count, size)
        ordinals = [
            data.draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count))
            if given is Ordinals.COLUMN and count
            else ([] if given is Ordinals.COLUMN else None)
            for (_, given), size in zip(ends, sizes, strict=True)
        ]
        file = "" if any(each is not None for each in ordinals) else None
        (source, sources), (target, targets) = ends
        return (EdgeSet(source, target, count, sources, targets, file), *ordinals)

    @rule(size=st.sampled_from([1, 3_000, 1 << 20]))
    def compact(self, size: int) -> None:
        self.writer.compact(small=size, target=size)

    @rule()
    def vacuum(self) -> None:
        self.writer.vacuum(older_than=NOW)
        self.past.clear()

    @rule()
    def reopen(self) -> None:
        self.writer.close()
        self.store = Store.open(self.store.path, files=Unsynced())
        self.writer = self.store.writer().__enter__()

    @precondition(lambda self: hasattr(self, "store"))
    @rule()
    def hold(self) -> None:
        self.past.append((self.store.snapshot(), self.model))

    @invariant()
    def is_the_model(self) -> None:
        if not hasattr(self, "store"):
            return
        for store in (self.store, Store.open(self.store.path)):
            snapshot = store.snapshot()
            assert content(snapshot) == self.model
            kept = {name for name, entry in snapshot.files.items() if entry.kept}
            assert kept == set(self.kept)
        for name, values in self.kept.items():
            assert snapshot.read(name)["k"].to_pylist() == values
        for held, model in self.past:
            assert content(held) == model


def _plain(edges: EdgeSet, *given: list[int] | None) -> tuple[Any, ...]:
    ends = [
        list(range(edges.count)) if kind is Ordinals.ALL else [0] * edges.count
        for kind in (edges.sources, edges.targets)
    ]
    return (
        edges.source,
        edges.target,
        *(end if values is None else values for end, values in zip(ends, given, strict=True)),
    )


TestHistory = History.TestCase
TestHistory.settings = settings(
    max_examples=settings.default.max_examples // 2, stateful_step_count=12
)

"""Exports and imports: what is taken in, what is refused, and that sealing holds."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from graphquery.errors import FederationError
from graphquery.federation.crossings.crossing import Summaries, export, import_rows
from graphquery.federation.crossings.offer import MANIFEST, Offer, offer_of
from graphquery.federation.federation import Federation
from graphquery.federation.questions.answer import UNTRUSTED
from graphquery.model import EdgeSet, Kind, Segment
from graphquery.store import Store, StoreError, fsck
from graphquery.store.crossing import EXPORT, IMPORT, channel_id, exports, imports
from tests.graphquery.federation.oracle import federation_of, ids_of
from tests.graphquery.federation.stores import Maker, random_stores, store_of


@pytest.fixture
def exporting(tmp_path: Path) -> Store:
    """A store that exports two of its rows as `out`, which are made of `base`."""
    store = store_of(tmp_path / "exporting", "0a" * 16)
    with store.writer() as writer:
        with writer.transaction() as transaction:
            transaction.add_segment(Segment("base", Kind.TOKEN, "", 2))
            transaction.add_segment(Segment("middle", Kind.DERIVED, "+", 2))
            transaction.add_segment(Segment("out", Kind.DERIVED, "+", 2))
            every = np.arange(2)
            transaction.add_edges(EdgeSet("base", "middle", 2, file=""), every, every)
            transaction.add_edges(EdgeSet("middle", "out", 2, file=""), every, every)
            transaction.commit()
        export(writer, "out", "data", checksums={"part.parquet": "00"})
    return store


@pytest.fixture
def offer(exporting: Store) -> Offer:
    """What that store hands over."""
    return offer_of(exporting.snapshot(), channel_id("0a" * 16, "data", "1"))


@pytest.mark.parametrize("target", ["out", "middle"])
def test_nothing_is_added_to_what_exported_rows_are_made_from(
    exporting: Store, target: str
) -> None:
    with exporting.writer() as writer, writer.transaction() as transaction:
        transaction.add_segment(Segment("late", Kind.TOKEN, "", 1))
        transaction.add_edges(EdgeSet("late", target, 1, file=""), np.array([0]), np.array([0]))
        with pytest.raises(StoreError, match=f"late to {target}: {target} is sealed"):
            transaction.commit()
    assert exporting.snapshot().version == 2


def test_what_exported_rows_are_made_from_may_be_used_further(exporting: Store) -> None:
    with exporting.writer() as writer, writer.transaction() as transaction:
        transaction.add_segment(Segment("late", Kind.DERIVED, "+", 1))
        for source in ("out", "middle"):
            edges = EdgeSet(source, "late", 1, file="")
            transaction.add_edges(edges, np.array([0]), np.array([0]))
        transaction.commit()
    assert exporting.snapshot().version == 3


def test_exporting_again_changes_nothing_and_another_segment_needs_a_version(
    exporting: Store,
) -> None:
    with exporting.writer() as writer:
        assert export(writer, "out", "data") == channel_id("0a" * 16, "data", "1")
        assert writer.version == 2
        with pytest.raises(FederationError, match="data 1 was exported as out"):
            export(writer, "middle", "data")
        with pytest.raises(FederationError, match="no segment 'other' to export"):
            export(writer, "other", "data", "2")
        export(writer, "middle", "data", "2")
    exported = exports(exporting.snapshot().records)
    assert [(each.segment, each.version, each.commit) for each in exported.values()] == [
        ("out", "1", 2),
        ("middle", "2", 3),
    ]


def test_records_of_exports_are_not_changed_or_deleted(exporting: Store) -> None:
    snapshot = exporting.snapshot()
    [(name, document)] = [(n, d) for n, d in snapshot.records.items() if n.startswith(EXPORT)]
    with exporting.writer() as writer:
        for change, message in (
            (lambda t: t.delete(name), "cannot be deleted"),
            (lambda t: t.put(name, document | {"channels": ["00" * 16]}), "cannot be changed"),
            (lambda t: t.put(name, document | {"count": 3}), "It has 3 rows"),
            (lambda t: t.put(EXPORT + "00" * 16, document), "is not the identity of data 1"),
            (lambda t: t.put(name, document | {"format": 9}), "has version 9"),
        ):
            with writer.transaction() as transaction:
                change(transaction)
                with pytest.raises(StoreError, match=message):
                    transaction.commit()


def test_rows_are_imported_whole_or_by_a_column(
    exporting: Store, offer: Offer, tmp_path: Path
) -> None:
    store = store_of(tmp_path / "importing")
    with store.writer() as writer:
        for name, rows in (("whole", None), ("some", [1, 1, 0])):
            with writer.transaction() as transaction:
                if rows is None:
                    import_rows(transaction, offer, Segment(name, Kind.TOKEN, "", 2))
                else:
                    segment = Segment(name, Kind.TOKEN, "", len(rows), file="")
                    import_rows(transaction, offer, segment, pa.table({"r": rows}), "r")
                transaction.commit()
    [(channel, imported)] = imports(store.snapshot().records).items()
    assert channel == offer.channel
    assert [(part.segment, part.rows) for part in imported.parts] == [
        ("whole", None),
        ("some", "r"),
    ]
    federation = federation_of({"A": exporting.path, "B": store.path})
    graph = federation.merged()
    assert len(graph.ancestors("B::some[0]")) == 3
    assert ids_of(graph, federation.ancestors("B::some[0]").nodes) == sorted(
        graph.resolve(["A::base[1]", "A::middle[1]", "A::out[1]"]).tolist()
    )


@pytest.mark.parametrize(
    ("rows", "segment", "message"),
    [
        (None, Segment("s", Kind.TOKEN, "", 3), "has 3 nodes for the 2 rows of data"),
        ([0, 2], Segment("s", Kind.TOKEN, "", 2, file=""), "imports row 2 of data, which has 2"),
        ([0, -1], Segment("s", Kind.TOKEN, "", 2, file=""), "imports row -1 of data"),
        (["a"], Segment("s", Kind.TOKEN, "", 1, file=""), "is not of row numbers"),
        (None, Segment("s", Kind.DERIVED, "+", 2), "is of kind p.\nImport rows as tokens"),
    ],
)
def test_imports_that_do_not_fit_are_refused(
    offer: Offer, tmp_path: Path, rows: list[object] | None, segment: Segment, message: str
) -> None:
    store = store_of(tmp_path / "importing")
    with store.writer() as writer, writer.transaction() as transaction:
        table = None if rows is None else pa.table({"r": rows})
        with pytest.raises(FederationError, match=message):
            import_rows(transaction, offer, segment, table, None if rows is None else "r")


def test_an_offer_that_was_altered_is_refused(offer: Offer, tmp_path: Path) -> None:
    offer.write(tmp_path)
    assert Offer.read(tmp_path).check() is None
    path = tmp_path / MANIFEST
    path.write_text(path.read_text().replace('"data"', '"other"'))
    with pytest.raises(FederationError, match="names a channel that its exporter does not have"):
        Offer.read(tmp_path).check()
    sketches = tmp_path / "_lipstick_sketches.parquet"
    sketches.write_bytes(sketches.read_bytes()[:-1] + b"x")
    with pytest.raises(FederationError, match="is not what was written with the data"):
        Offer.read(tmp_path)
    path.unlink()
    with pytest.raises(FederationError, match="does not say where its rows come from"):
        Offer.read(tmp_path)


def test_offers_come_back_as_they_were_written(offer: Offer, tmp_path: Path) -> None:
    offer.write(tmp_path)
    back = Offer.read(tmp_path)
    for name in ("channel", "store", "name", "version", "commit", "count", "channels"):
        assert getattr(back, name) == getattr(offer, name)
    assert back.sketches is not None
    assert offer.sketches is not None
    assert back.sketches.to_arrow().equals(offer.sketches.to_arrow())
    assert back.relation is not None
    assert back.relation.channels == offer.relation.channels  # type: ignore[union-attr]
    bare = offer.without(sketches=True, boundary=True)
    (tmp_path / "bare").mkdir()
    bare.write(tmp_path / "bare")
    assert Offer.read(tmp_path / "bare").sketches is None


def test_channels_of_a_federation_with_a_key_need_the_key(exporting: Store, tmp_path: Path) -> None:
    with exporting.writer() as writer:
        channel = export(writer, "out", "data", key=b"secret")
    keyed = offer_of(exporting.snapshot(), channel)
    store = store_of(tmp_path / "importing")
    segment = Segment("s", Kind.TOKEN, "", 2)
    with store.writer() as writer, writer.transaction() as transaction:
        with pytest.raises(FederationError, match="exported within a federation that has a key"):
            import_rows(transaction, keyed, segment)
        with pytest.raises(FederationError, match="or the key differs"):
            import_rows(transaction, keyed, segment, key=b"other")
        import_rows(transaction, keyed, segment, key=b"secret")
        transaction.commit()
    assert fsck(exporting.path) == fsck(store.path) == []


def test_imported_tokens_are_new_and_have_no_edges_into_them(offer: Offer, tmp_path: Path) -> None:
    store = store_of(tmp_path / "importing")
    with store.writer() as writer:
        with writer.transaction() as transaction:
            transaction.add_segment(Segment("x", Kind.TOKEN, "", 1))
            import_rows(transaction, offer, Segment("s", Kind.TOKEN, "", 2))
            transaction.add_edges(EdgeSet("x", "s", 1, file=""), np.array([0]), np.array([0]))
            with pytest.raises(StoreError, match="have no edges into them here"):
                transaction.commit()
        with writer.transaction() as transaction:
            transaction.add_segment(Segment("old", Kind.TOKEN, "", 2))
            import_rows(transaction, offer, Segment("s", Kind.TOKEN, "", 2))
            transaction.commit()
        with writer.transaction() as transaction:
            document = transaction.get(IMPORT + offer.channel)
            document["parts"].append({"segment": "old", "rows": None})
            transaction.put(IMPORT + offer.channel, document)
            with pytest.raises(StoreError, match="a segment that was there before"):
                transaction.commit()
        with writer.transaction() as transaction:
            document["parts"] = document["parts"][1:]
            transaction.put(IMPORT + offer.channel, document)
            with pytest.raises(StoreError, match="cannot be changed: rows were imported before"):
                transaction.commit()


def test_stitching_does_not_depend_on_the_order_of_imports(
    exporting: Store, tmp_path: Path
) -> None:
    with exporting.writer() as writer:
        export(writer, "middle", "other")
        offers = [offer_of(writer.snapshot(), c) for c in exports(writer.snapshot().records)]
    answers = []
    for number, order in enumerate((offers, offers[::-1])):
        store = store_of(tmp_path / f"importing{number}")
        with store.writer() as writer:
            for each in order:
                with writer.transaction() as transaction:
                    import_rows(transaction, each, Segment(each.name, Kind.TOKEN, "", 2))
                    transaction.commit()
        federation = federation_of({"A": exporting.path, "B": store.path})
        for name in ("B::data[0]", "B::other[1]"):
            answers.append(sorted(federation.names(federation.ancestors(name))))
    assert answers[:2] == answers[2:]


def test_a_channel_described_otherwise_than_before_is_refused(offer: Offer, tmp_path: Path) -> None:
    store = store_of(tmp_path / "importing")
    with store.writer() as writer:
        with writer.transaction() as transaction:
            import_rows(transaction, offer, Segment("s", Kind.TOKEN, "", 2))
            transaction.commit()
        other = Offer(offer.channel, offer.store, offer.name, offer.version, 7, 2)
        message = "was imported before with a different description"
        with writer.transaction() as transaction, pytest.raises(FederationError, match=message):
            import_rows(transaction, other, Segment("t", Kind.TOKEN, "", 2))


def test_members_that_contradict_each_other_are_named(
    exporting: Store, offer: Offer, tmp_path: Path
) -> None:
    store = store_of(tmp_path / "importing")
    with store.writer() as writer, writer.transaction() as transaction:
        false = Offer(offer.channel, offer.store, offer.name, offer.version, offer.commit, 5)
        import_rows(transaction, false, Segment("s", Kind.TOKEN, "", 5))
        transaction.commit()
    federation = federation_of({"A": exporting.path, "B": store.path})
    [missing] = federation.ancestors("B::s[0]").missing
    assert (missing.store, missing.reason, len(missing.rows)) == ("A", UNTRUSTED, 1)
    assert "B imports 5 rows of data, which has 2" in missing.message
    [missing] = federation.descendants("A::out[0]").missing
    assert (missing.store, missing.reason) == ("B", UNTRUSTED)
    with pytest.raises(FederationError, match="no merged graph: B imports 5 rows"):
        federation.merged()
    twice = federation_of({"A": exporting.path, "C": exporting.path}).directory.absent
    assert [each.reason for each in twice.values()] == [UNTRUSTED] * 2
    assert "A and C claim to be one store" in twice["A"].message
    transports = federation_of({"A": exporting.path})._transports
    other = Federation(transports, {"A": "0b" * 16}).directory.absent["A"]
    assert "A should be the store 0b0b" in other.message


def test_compaction_and_vacuum_leave_what_crosses_as_it_is(tmp_path: Path) -> None:
    paths = random_stores(tmp_path, 7, 3)
    before = federation_of(paths)
    names = before.merged().names(before.merged().ids)[::5]
    expected = [sorted(before.names(before.ancestors(name))) for name in names]
    for path in paths.values():
        with Store.open(path).writer() as writer:
            writer.compact()
            writer.vacuum(older_than=timedelta(0))
        assert fsck(path) == []
    after = federation_of(paths)
    assert [sorted(after.names(after.ancestors(name))) for name in names] == expected


def test_fsck_names_records_that_do_not_fit(exporting: Store, tmp_path: Path) -> None:
    export_file = next(iter(exports(exporting.snapshot().records).values())).sketches
    assert export_file is not None
    (exporting.path / export_file).unlink()
    assert [damage.where for damage in fsck(exporting.path)] == [export_file]


def test_stores_without_summaries_answer_too(tmp_path: Path) -> None:
    maker = Maker(tmp_path, np.random.default_rng(3), Summaries(sketches=False, boundary=False))
    federation = federation_of(maker.run(3, 9))
    assert not federation.boundary.known
    graph = federation.merged()
    for name in graph.names(graph.ids)[::7]:
        answer = federation.ancestors(name)
        assert ids_of(graph, answer.nodes) == graph.ancestors(name).ids.tolist()

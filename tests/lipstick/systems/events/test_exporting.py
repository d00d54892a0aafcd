"""Outputs of reduced graphs cross into other stores, and what was dropped is refused there too."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from graphquery.errors import FederationError, GraphError
from graphquery.federation import Offer, Verdict, import_rows
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Store, fsck
from lipstick.cli import main
from lipstick.systems.events import Emitter, EventsError, ReducedGraph, reduce_files
from lipstick.systems.events.exports import export_outputs
from semiring.semirings import Counting
from tests.graphquery.federation.oracle import federation_of


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A job, and another that goes on with its outputs."""
    with Emitter(tmp_path / "in", "job") as emitter:
        emitter.record("F", "f", ["i", "j"], ["m"], inputs=True)
        emitter.record("G", "g", ["m"], ["o"])
        emitter.record("G", "h", ["k"], ["p"], inputs=True)
    reduce_files([tmp_path / "in"], tmp_path / "store")
    return tmp_path / "store"


def test_outputs_are_followed_to_the_inputs_they_came_from(store: Path, tmp_path: Path) -> None:
    data = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"name": ["p", "o", "o"], "v": [1, 2, 3]}), data)
    command = ["events", "export", store, "job", "results", tmp_path / "data", "--rows", data]
    result = CliRunner().invoke(main, [*map(str, command), "--id", "name"])
    assert result.exit_code == 0, result.output
    with Store.create(tmp_path / "other").writer() as writer, writer.transaction() as transaction:
        offer = Offer.read(tmp_path / "data")
        import_rows(transaction, offer, Segment("results", Kind.TOKEN, "", 3))
        transaction.add_segment(Segment("sum", Kind.DERIVED, "+", 1))
        transaction.add_edges(EdgeSet("results", "sum", 3, Ordinals.ALL, Ordinals.ONE))
        transaction.commit()
    assert [fsck(store), fsck(tmp_path / "other")] == [[], []]
    with federation_of({"job": store, "other": tmp_path / "other"}) as federation:
        of_o = federation.names(federation.ancestors("other::results[2]"))
        assert {name for name in of_o if "/inputs." in name} == {
            "job::job/inputs.1:i",
            "job::job/inputs.1:j",
        }
        first = federation.flow("job::job/inputs.1:i", "other::results[0]")
        assert first.verdict is Verdict.NO
        with pytest.raises(FederationError, match="is in a reduced graph"):
            federation.delete("job::job/inputs.1:i")
        with pytest.raises(FederationError, match="is in a reduced graph"):
            federation.depends("other::sum", "job::job/inputs.1:i")
        [missing] = federation.evaluate(Counting(), "other::sum").missing
        assert (missing.store, missing.reason) == ("job", "unable")
        assert "is in a reduced graph" in missing.message
        gone = federation.names(federation.delete("other::results[0]"))
        assert gone == ["other::results[0]"]
        with pytest.raises(GraphError, match="Ask for ancestors"):
            federation.merged().delete("job::job/inputs.1:i")

    # The rows that crossed are not entities of the reduced graph, which answers as before.
    graph = ReducedGraph.open(store)
    assert (graph.lineage("o"), graph.descendants("k"), graph.effects) == (
        ["i", "j"],
        ["p"],
        ["o", "p"],
    )
    again = CliRunner().invoke(main, ["events", "trace", str(store), "p"])
    assert again.output == "k\n"


def test_what_cannot_be_exported_is_said(store: Path, tmp_path: Path) -> None:
    with pytest.raises(EventsError, match=r"has no topic 'x'.\nIt has job"):
        export_outputs(store, "x", "x", "1", tmp_path / "data")
    rows = pa.table({"id": ["m"]})
    with pytest.raises(EventsError, match="m is not an output of job"):
        export_outputs(store, "job", "x", "1", tmp_path / "data", rows=rows)
    with pytest.raises(EventsError, match="have no column 'key'"):
        export_outputs(store, "job", "x", "1", tmp_path / "data", rows=rows, column="key")
    export_outputs(store, "job", "x", "1", tmp_path / "data")
    assert pq.read_table(tmp_path / "data").column("id").to_pylist() == ["o", "p"]
    with pytest.raises(FederationError, match="is not empty"):
        export_outputs(store, "job", "x", "1", tmp_path / "data")
    with Store.open(store).writer() as writer, writer.transaction() as transaction:
        record = transaction.get("events")
        record["topics"]["job"]["complete"] = False
        transaction.put("events", record)
        transaction.commit()
    with pytest.raises(EventsError, match="job is still being reduced"):
        export_outputs(store, "job", "x", "2", tmp_path / "more")

"""``lipstick graph export`` in every format."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import networkx
import networkx as nx
import pytest
from click.testing import CliRunner
from prov.model import ProvDocument

from graphquery.exchange import read_parquet
from graphquery.store import Store
from graphquery.store.log import read_entry
from lipstick.cli import main
from tests.graphquery.dealership import FINE, FINE_EDGES, dealership
from tests.lipstick.stored import store_graph


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bid phase: a request, a bid of dealer1, and the aggregator."""
    return store_graph(dealership(), tmp_path_factory.mktemp("stored") / "run")


def _export(store: Path, *arguments: str) -> str:
    result = CliRunner().invoke(main, ["graph", "export", str(store), *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def _events(store: Path, *arguments: str) -> list[dict[str, Any]]:
    text = _export(store, "--to", "openlineage", *arguments)
    return [json.loads(line) for line in text.splitlines()]


def test_prov_json_is_a_prov_document(store: Path, tmp_path: Path) -> None:
    _export(store, "--to", "prov-json", "--output", str(tmp_path / "graph.json"))
    document = ProvDocument.deserialize(tmp_path / "graph.json", format="json")
    labels = {str(record.label) for record in document.get_records() if record.identifier}
    assert set(FINE) <= labels


def test_prov_n_is_text(store: Path) -> None:
    text = _export(store, "--to", "prov-n", "--zoom-out-all")
    assert text.startswith("document\n")
    assert text.endswith("endDocument\n")
    assert text.count("activity(") == 3


def test_networkx_reads_what_is_written_for_it(store: Path) -> None:
    """Node by node and edge by edge; a graph of more nodes than are allowed is refused."""
    document = json.loads(_export(store, "--to", "networkx"))
    graph = networkx.node_link_graph(document, edges="edges")
    assert graph.number_of_edges() == len(FINE_EDGES)
    assert graph.is_multigraph()
    arguments = ["graph", "export", str(store), "--to", "networkx", "--max-nodes", "1"]
    assert "too large for networkx" in CliRunner().invoke(main, arguments).stderr


def test_dot_has_every_edge(store: Path) -> None:
    assert _export(store, "--to", "dot").count(" -> ") == len(FINE_EDGES)


def test_a_deletion_comes_before_the_export(store: Path) -> None:
    text = _export(store, "--to", "dot", "--delete", "dealer1/Cars:C2")
    assert "dealer1/Cars:C1" in text
    assert "dealer1/Cars:C2" not in text


def test_graphml_is_read_by_networkx(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "graph.graphml"
    assert _export(store, "--to", "graphml", "--output", str(path)) == ""
    graph = nx.read_graphml(path)
    assert {name for _, name in graph.nodes(data="name")} == set(FINE)
    assert graph.number_of_edges() == len(FINE_EDGES)


def test_parquet_is_a_graph_again(store: Path, tmp_path: Path) -> None:
    _export(store, "--to", "parquet", "--output", str(tmp_path / "graph"))
    graph = read_parquet(tmp_path / "graph")
    assert set(graph.names(graph.ids)) == set(FINE)


def test_parquet_is_not_written_over_something(store: Path) -> None:
    result = CliRunner().invoke(
        main, ["graph", "export", str(store), "--to", "parquet", "--output", str(store)]
    )
    assert result.exit_code == 2
    assert "is not empty.\nGive a new folder." in result.stderr


def test_openlineage_events_have_the_times_of_the_log(store: Path) -> None:
    events = _events(store, "--namespace", "cars")
    assert [(e["job"]["name"], e["eventType"]) for e in events] == [
        (module, kind) for module in ("and", "dealer1", "agg") for kind in ("START", "COMPLETE")
    ]
    assert {e["job"]["namespace"] for e in events} == {"cars"}
    assert {e["run"]["facets"]["parent"]["job"]["name"] for e in events} == {"workflow"}
    times = [datetime.fromisoformat(e["eventTime"]) for e in events]
    added = {}
    for version in range(1, Store.open(store).snapshot().version + 1):
        commit, _ = read_entry(store, version)
        added.update({s.name: datetime.fromisoformat(commit.time) for s in commit.segments})
    assert times[1::2] == [added["and#1"], added["dealer1#1"], added["agg#1"]]
    assert times[2] == added["dealer1/Cars"]


def test_openlineage_events_have_the_times_of_the_run(store: Path) -> None:
    started, ended = "2026-01-02T03:04:05+00:00", "2026-01-02T03:04:06+00:00"
    with Store.open(store).writer() as writer, writer.transaction() as transaction:
        transaction.put("dealer1#1", {"started": started, "ended": ended})
        transaction.commit()
    events = [e for e in _events(store) if e["job"]["name"] == "dealer1"]
    assert [e["eventTime"] for e in events] == [started, ended]


def test_openlineage_names_the_workflow(tmp_path: Path) -> None:
    store = store_graph(dealership(), tmp_path / "run")
    with Store.open(store).writer() as writer, writer.transaction() as transaction:
        transaction.put("workflow", {"text": "workflow: cars\n", "tracked": True})
        transaction.commit()
    parents = {e["run"]["facets"]["parent"]["job"]["name"] for e in _events(store)}
    assert parents == {"cars"}

"""Reduced stores opened as graphs, and jobs that join by entity and by collection."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lipstick.cli import main
from lipstick.systems.events import Emitter, ReducedGraph, reduce_files
from lipstick.systems.events.message import EDGES, Message
from tests.lipstick.systems.events.reduced import edges_in


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Emitter(tmp_path / "in", "job") as emitter:
        emitter.record("F", "f", ["i", "j"], ["m"])
        emitter.record("G", "g", ["m"], ["o"])
    reduce_files([tmp_path / "in"], tmp_path / "store")
    return tmp_path / "store"


def graph(*arguments: str | Path) -> str:
    result = CliRunner().invoke(main, ["graph", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_reduced_store_is_a_graph_like_any_other(store: Path) -> None:
    stats = json.loads(graph("stats", store, "--format", "json"))
    assert (stats["node_count"], stats["edge_count"]) == (3, 2)
    shown = json.loads(graph("show", store, "--format", "json"))
    assert "job/inputs.1:i" in str(shown)
    path = graph("path", store, "job/inputs.1:i", "job/outputs.1:o")
    assert "job/inputs.1:i" in path
    assert "job/outputs.1:o" in path
    below = json.loads(graph("subgraph", store, "job/outputs.1:o", "--format", "json"))
    assert below["node_count"] == 3
    document = json.loads(graph("export", store, "--to", "prov-json"))
    assert len(document["wasDerivedFrom"]) == 2


@pytest.mark.parametrize(
    "asked",
    [
        ("delete", "job/inputs.1:i"),
        ("depends", "job/outputs.1:o", "job/inputs.1:i"),
        ("stats", "--delete", "job/inputs.1:i"),
    ],
)
def test_what_the_reduction_dropped_is_refused(store: Path, asked: tuple[str, ...]) -> None:
    command, *rest = asked
    result = CliRunner().invoke(main, ["graph", command, str(store), *rest])
    assert result.exit_code != 0
    assert "is in a reduced graph" in result.output
    assert "Ask for ancestors, descendants or paths" in result.output


def test_jobs_join_by_entity_and_by_collections_of_records(tmp_path: Path) -> None:
    """A job writes a file, whose records another reads, and a third reads the whole again."""
    for topic, uses, generates in (("a", ["in"], ["file"]), ("b", ["file#1"], ["row"])):
        with Emitter(tmp_path / "in", topic) as emitter:
            emitter.record(topic, f"{topic}/0", uses, generates)
    members = [("rows", "row", "hadMember"), ("file#1", "file", "wasDerivedFrom")]
    lines = Message("links", EDGES, "link", None, "link", "w", 0, 1, members).line()
    with Emitter(tmp_path / "in", "c") as emitter:
        emitter.record("c", "c/0", ["rows"], ["report"], readers=0)
    (tmp_path / "in" / "links.jsonl").write_text(lines)
    reduce_files([tmp_path / "in"], tmp_path / "store")
    reduced = ReducedGraph.open(tmp_path / "store")
    assert reduced.lineage("report") == ["in"]
    assert reduced.descendants("in") == ["report"]
    assert len(edges_in(tmp_path / "store")) == 5


def test_graphs_and_annotated_rows_are_emitted(store: Path, tmp_path: Path) -> None:
    """A store's graph comes out of its own events; rows come from the tokens they name."""
    from lipstick.systems.events.exports import emit_capture
    from semiring import Polynomial, Token

    events = tmp_path / "again"
    result = CliRunner().invoke(main, ["events", "emit", str(store), "--into", str(events)])
    assert result.exit_code == 0, result.output
    assert "2 edges emitted" in result.output
    reduce_files([events], tmp_path / "second")
    again = ReducedGraph.open(tmp_path / "second")
    assert again.lineage("job/outputs.1:o") == ["job/inputs.1:i", "job/inputs.1:j"]

    class Answer:
        def polynomials(self, limit: int | None) -> list[tuple[dict[str, str], Polynomial]]:
            assert limit is None
            first, second = (Polynomial.token(Token("cars", (key,))) for key in ("C1", "C2"))
            return [({"model": "a"}, first + second), ({"model": "b"}, second * second)]

    with Emitter(tmp_path / "rows", "models") as emitter:
        assert emit_capture(Answer(), emitter, "models", ["model"]) == 2
    reduce_files([tmp_path / "rows"], tmp_path / "third")
    rows = ReducedGraph.open(tmp_path / "third")
    assert rows.lineage("models:a") == ["cars:C1", "cars:C2"]
    assert rows.descendants("cars:C2") == ["models:a", "models:b"]
    empty = CliRunner().invoke(main, ["events", "emit", str(tmp_path), "--into", str(events)])
    assert "neither a capture nor a store" in empty.output

"""Search: what is found is what has the text, in every source, and a row is followed anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphquery import ProvenanceGraph
from graphquery.store import Store
from lipstick.explorer import Explorer
from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cell
from lipstick.explorer.explorer import open_source
from lipstick.explorer.graphs import search
from lipstick.explorer.graphs.source import graph_source
from tests.graphquery.dealership import dealership
from tests.lipstick.explorer.conftest import ask
from tests.lipstick.stored import store_graph


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dealership in a store."""
    path = tmp_path_factory.mktemp("search") / "dealership"
    store_graph(dealership(), path)
    return path


@pytest.mark.parametrize("text", ["C2", "civ", "B1", "1", "zzz"])
def test_nodes_are_found_by_their_values(store: Path, text: str) -> None:
    snapshot = Store.open(store).snapshot()
    wanted = set()
    for segment in snapshot.segments.values():
        rows = snapshot.values(segment).to_pylist() if segment.file else []
        for ordinal, row in enumerate(rows):
            if any(text.lower() in str(cell(value)).lower() for value in row.values()):
                wanted.add((segment.name, ordinal))
    source = open_source(store)
    answer = ask(source, "search", text=text)
    graph = ProvenanceGraph.build(snapshot.segments.values(), snapshot.edges, snapshot.column)
    first = dict(zip(graph.storage.position, graph.storage.bases.tolist(), strict=False))
    nodes = {each["place"]["node"] for each in answer["found"] if each["sort"] == "node"}
    assert nodes == {first[name] + ordinal for name, ordinal in wanted}
    assert "searched" not in answer


def test_groups_keys_and_numbers_of_nodes_are_found(store: Path) -> None:
    source = open_source(store)

    def named(text: str) -> list[str]:
        return [each["name"] for each in ask(source, "search", text=text)["found"]]

    assert named("Cars:C2") == ["dealer1/Cars:C2", "dealer1#1/Cars:C2"]
    assert named("dealer1/Cars:C2")[0] == "dealer1/Cars:C2"
    assert named("DEALER1")[:2] == ["dealer1", "dealer1/Cars"]
    assert "dealer1#1/NumCarsByModel.tensors[1]" in named("NumCarsByModel.tensors[1]")
    in_memory = graph_source("memory", source.graph(Budget()))  # type: ignore[attr-defined]
    found = ask(in_memory, "search", text="Cars:C2")["found"]
    assert {each["name"] for each in found} >= {"dealer1/Cars:C2", "dealer1#1/Cars:C2"}


def test_a_search_that_ends_early_says_so(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SECONDS", -1.0)
    answer = ask(open_source(store), "search", text="civ")
    assert 0 < answer["searched"] < answer["nodes"]
    graph = open_source(store).graph(Budget())  # type: ignore[attr-defined]
    monkeypatch.setattr(search, "_BATCH", 5)
    answer = ask(graph_source("memory", graph), "search", text="civ")
    assert (answer["searched"], answer["nodes"]) == (5, len(graph.ids))


def test_all_sources_are_asked_at_once(store: Path, tmp_path: Path) -> None:
    (tmp_path / "cars.py").write_text("civic = 1\nprint(civic)\n")
    explorer = Explorer([open_source(store), open_source(tmp_path / "cars.py")])
    question = {"everywhere": True, "view": "search", "params": {"text": "civic", "first": 1}}
    answers = explorer.ask(question)["answer"]["answers"]
    assert [each["source"] for each in answers] == [1, 0]
    assert answers[0]["found"][0] == {
        "sort": "variable",
        "name": "civic",
        "place": {"ask": "civic"},
        "note": "",
    }
    question = {"everywhere": True, "view": "follow", "params": {"relation": "Cars", "key": ["C2"]}}
    followed = explorer.ask(question)["answer"]["answers"][0]
    (node,) = followed["nodes"]
    graph = explorer.sources[0].graph(Budget())  # type: ignore[attr-defined]
    assert node["name"] == "dealer1/Cars:C2"
    assert node["makes"] == len(graph.descendants(["dealer1/Cars:C2"]).ids)
    facts = ask(explorer.sources[0], "node", node="dealer1/Cars:C2")
    assert facts["row"] == ["Cars", "C2"]

"""Search: what is found is what has the text, in every source, and a row is followed anywhere."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from graphquery import ProvenanceGraph
from graphquery.store import Store
from lipstick.capture.capture import Capture
from lipstick.explorer import Explorer
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.cells import cell
from lipstick.explorer.explorer import open_source
from lipstick.explorer.graphs import search
from lipstick.explorer.graphs.source import graph_source
from tests.graphquery.dealership import dealership
from tests.lipstick.explorer.conftest import ask
from tests.lipstick.stored import store_graph
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture


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


def keyed(folder: Path) -> Capture:
    """A capture whose relations have keys of several parts and types."""
    lines = Relation(
        "lineitem",
        ("l_orderkey", "l_linenumber"),
        "l_orderkey int, l_linenumber int, price int",
        pa.table({"l_orderkey": [7, 7, 71], "l_linenumber": [1, 2, 1], "price": [5, 6, 7]}),
    )
    named = Relation(
        "notes",
        ("author", "day"),
        "author string, day date, l int",
        pa.table(
            {
                "author": ["O'Neil", "a|b", "1"],
                "day": [date(2026, 1, 5)] * 3,
                "l": [7, 7, 71],
            }
        ),
    )
    database = Database({"lineitem": lines, "notes": named})
    query = "SELECT sum(price) AS total FROM lineitem JOIN notes ON l = l_orderkey GROUP BY author"
    return write_capture(query, database, folder / "keyed")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("lineitem:7|2", ["7|2"]),
        ("LINEITEM:7|2", ["7|2"]),
        ("lineitem:7", ["7|1", "7|2"]),
        ("lineitem:71|1", ["71|1"]),
        ("lineitem:8|1", []),
        ("lineitem:7|2|3", []),
        ("notes:'O''Neil'|2026-01-05", ["O'Neil|2026-01-05"]),
        ("notes:'a|b'", ["a|b|2026-01-05"]),
        ("notes:'1'|2026-01-05", ["1|2026-01-05"]),
        ("notes:Neil", ["O'Neil|2026-01-05"]),
        ("orders:7", []),
    ],
)
def test_input_rows_are_found_as_annotations_print_them(
    tmp_path: Path, text: str, names: list[str]
) -> None:
    capture = keyed(tmp_path)
    found = ask(CaptureSource("keyed", capture), "search", text=text)["found"]
    assert sorted(each["name"] for each in found) == names
    relation = text.partition(":")[0].lower()
    assert all(each["place"]["token"][0] == relation for each in found)


def test_every_token_that_an_annotation_has_is_found(tmp_path: Path) -> None:
    capture = keyed(tmp_path)
    source = CaptureSource("keyed", capture)
    tokens = {str(t) for _, annotation in capture.polynomials() for t in annotation.tokens}
    assert len(tokens) == 6
    for token in tokens:
        [found] = ask(source, "search", text=token)["found"]
        relation, *key = found["place"]["token"]
        assert ask(source, "follow", relation=relation, key=key)["total"] > 0


def test_a_source_that_is_busy_is_unknown(store: Path) -> None:
    explorer = Explorer([open_source(store)])
    with explorer._locks[0]:
        question = {"everywhere": True, "view": "search", "params": {"text": "civic"}}
        [unanswered] = explorer.ask(question)["answer"]["unanswered"]
    assert unanswered["slow"]

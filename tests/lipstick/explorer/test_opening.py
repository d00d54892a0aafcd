"""explore(): a server, a page, a widget of a notebook; and what a command line opens."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

import lipstick
from benchmark_workflowgen.generated_graphs import generate
from graphquery import ProvenanceGraph
from graphquery.federation import open_federation
from graphquery.store import Store
from lipstick.cli import main
from lipstick.explorer import ExploreError, Explorer, Served, explore
from lipstick.explorer import opening as opening_module
from lipstick.explorer.budget import Budget
from lipstick.explorer.explorer import SourceEntry, View, open_source, open_sources
from lipstick.explorer.params import Params
from lipstick.explorer.widget import widget
from tests.graphquery.federation.stores import example
from tests.lipstick.explorer.conftest import ask
from tests.oracle.conditions import DATABASE
from tests.oracle.written import write_capture


@pytest.fixture
def graph() -> ProvenanceGraph:
    """A small graph."""
    generated = generate(3_000, 3, 4)
    return ProvenanceGraph.build(generated.segments, generated.edge_sets, generated.columns())


def test_a_graph_is_served_or_saved(graph: ProvenanceGraph, tmp_path: Path) -> None:
    with lipstick.explore(graph, browser=False) as served:
        assert isinstance(served, Served)
        assert served.url.startswith("http://127.0.0.1:")
    assert lipstick.explore(graph, to=tmp_path / "g.html") == tmp_path / "g.html"
    assert "module0" in (tmp_path / "g.html").read_text()


def test_a_widget_answers_as_the_explorer_does(graph: ProvenanceGraph) -> None:
    explorer = Explorer(opening_module.sources_of(graph))
    shown = widget(explorer)
    sent: list[dict[str, Any]] = []
    shown.send = sent.append
    question = {"source": 0, "view": "picture", "params": {"focus": {"module": "module1"}}}
    shown._handle_custom_msg({"id": 7, "question": question}, [])
    shown._handle_custom_msg({"id": "no"}, [])
    (message,) = sent
    assert message["id"] == 7
    told = json.loads(message["text"])["answer"]
    assert told == explorer.ask(question)["answer"]
    assert "renderWidget" in shown._esm
    shown.close()


def test_a_notebook_gets_a_widget(graph: ProvenanceGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(
        __import__("sys").modules, "IPython", SimpleNamespace(get_ipython=lambda: shell)
    )
    shown = explore(graph)
    assert "render" in shown._esm
    bundle = opening_module.bundle(graph)
    assert bundle is not None
    assert "application/vnd.jupyter.widget-view+json" in bundle
    # Where there is no kernel, such as on GitHub, the drawing stands for it.
    assert bundle["text/html"] == graph._repr_html_()
    assert "<svg" in bundle["text/html"]
    assert bundle["text/plain"] == "<Explorer of graph>"
    shell.kernel = None
    assert opening_module.bundle(graph) is None
    shown.close()


def test_marimo_gets_a_widget(graph: ProvenanceGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    marimo = SimpleNamespace(running_in_notebook=lambda: True)
    monkeypatch.setitem(__import__("sys").modules, "marimo", marimo)
    shown = explore(graph)
    assert "render" in shown._esm
    shown.close()


def test_a_capture_is_shown_in_marimo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = write_capture("SELECT id, x FROM r", DATABASE, tmp_path / "rows")
    assert capture._display_()._repr_html_() == capture._repr_html_()
    marimo = SimpleNamespace(running_in_notebook=lambda: True)
    monkeypatch.setitem(__import__("sys").modules, "marimo", marimo)
    shown = capture._display_()
    assert "render" in shown._esm
    shown.close()
    # A path of a capture leaves its first rows, too.
    kept = [explore(each)._repr_mimebundle_() for each in (capture, tmp_path / "rows")]
    stills = [(data[0] if isinstance(data, tuple) else data)["text/html"] for data in kept]
    assert stills[0] == stills[1]
    assert stills[0].count("<tr") > 5


def test_what_is_something_else_is_refused() -> None:
    with pytest.raises(ExploreError, match="A int cannot be explored"):
        explore(3)


def test_the_command_line_writes_a_page(stores: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    paths = [str(stores / "dealership"), str(stores / "generated")]
    done = CliRunner().invoke(main, ["explore", *paths, "--output", str(page)])
    assert done.exit_code == 0, done.output
    assert "to be opened in any browser" in done.output
    assert page.stat().st_size < 2_000_000
    wrong = CliRunner().invoke(main, ["explore", str(tmp_path / "none")])
    assert wrong.exit_code == 2
    assert "There is nothing at" in wrong.output


def test_a_folder_is_opened_with_what_it_has(stores: Path, tmp_path: Path) -> None:
    for name in ("dealership", "generated"):
        (tmp_path / name).symlink_to(stores / name)
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "manifest.json").write_text("{")
    entries = open_sources(tmp_path)
    listed = Explorer(entries).listing()["sources"]
    assert [each["name"] for each in listed] == ["dealership", "generated", "torn"]
    assert {each["group"] for each in listed} == {tmp_path.name}
    assert listed[0]["bytes"] > 1_000
    assert listed[0]["changed"] > 1_600_000_000_000
    twice = [*entries, SourceEntry(entries[0].source, stores / "dealership")]
    names = [each["name"] for each in Explorer(twice).listing()["sources"]]
    assert names[::3] == [f"{folder.name}/dealership" for folder in (tmp_path, stores)]
    refused = Explorer(entries).ask({"source": 2, "view": "about"})
    assert "manifest" in refused["error"]["message"]
    search = {"everywhere": True, "view": "search", "params": {"text": "Civic"}}
    (unanswered,) = Explorer(entries).ask(search)["answer"]["unanswered"]
    assert unanswered["source"] == 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(ExploreError, match="neither a capture nor a store, and has none in it"):
        open_sources(tmp_path / "empty")


SCRIPT = """
import pandas as pd
rows = pd.read_csv("in.csv")
half = rows["a"] / 2
other = rows["b"]
half.to_csv("out.csv")
"""


def test_a_script_is_explored_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "half.py").write_text(SCRIPT)
    source = open_source(tmp_path / "half.py")
    text = ask(source, "script")
    assert text["files"][0]["lines"] == SCRIPT.splitlines()
    assert text["inputs"] == ["in.csv"]
    dependence = ask(source, "depends", criterion="out.csv")
    assert [number for _, number in dependence["lines"]] == [2, 3, 4, 6]
    picture = ask(source, "picture", marks={"mode": "ancestors", "nodes": dependence["seeds"]})
    assert picture["marked"]["lit"] > 3
    forwards = ask(source, "depends", criterion="3", forwards=True)
    assert "out.csv" in forwards["files"]
    refused = Explorer([source]).ask({"view": "depends", "params": {"criterion": "nothing"}})
    assert refused["error"]["kind"] == "refused"


def test_a_federation_answers_as_it_does_itself(tmp_path: Path) -> None:
    members = example(tmp_path)
    lines = ["format = 1", *(f'[members.{a}]\nlocation = "{p}"' for a, p in members.items())]
    (tmp_path / "federation.toml").write_text("\n".join(lines))
    source = open_source(tmp_path / "federation.toml")
    about = ask(source, "about")
    assert [each["alias"] for each in about["members"]] == list(members)
    assert about["channels"]
    federation = open_federation(tmp_path / "federation.toml")
    last = list(members)[-1]
    nodes = [f"{last}::{name}" for name in _names(members[last])]
    reached = 0
    for node in nodes[-6:]:
        answer = ask(source, "crossing", ask="ancestors", nodes=[node])
        wanted = federation.ancestors(node)
        assert answer["names"] == federation.names(wanted)
        assert answer["complete"] == wanted.complete
        assert answer["members"] == {a: len(those) for a, those in wanted.nodes.items()}
        reached += len(wanted)
    assert reached


def _names(path: Path) -> list[str]:
    """The names of all nodes of a store."""
    snapshot = Store.open(path).snapshot()
    graph = ProvenanceGraph.build(snapshot.segments.values(), snapshot.edges, snapshot.column)
    return graph.names(graph.ids)


def test_what_is_clicked_first_is_asked_after_the_first_rows(captures: Path) -> None:
    explorer = Explorer([open_source(captures / "suppliers")])
    rows = {"source": 0, "view": "rows", "params": {"offset": 0, "limit": 10}}
    asked: list[str] = []
    views = explorer.sources[0].views

    class Recording:
        kind = name = "capture"

        @property
        def views(self) -> dict[str, View]:
            return {name: partial(self.record, name) for name in views}

        def record(self, view: str, params: Params, budget: Budget) -> dict[str, Any]:
            asked.append(view)
            return views[view](params, budget)

    warm = Explorer([Recording()])
    for question in ({**rows, "view": "query"}, rows, rows):
        warm.warm(question)
    assert asked == ["about", "why", "value", "listed"]
    one = {"source": 0, "view": "value", "params": {"row": 0, "column": "n", "only": []}}
    assert warm.ask(one)["answer"] == explorer.ask(one)["answer"]


def test_what_comes_into_a_folder_is_listed_when_it_can_be_opened(tmp_path: Path) -> None:
    write_capture("SELECT * FROM r", DATABASE, tmp_path / "first")
    explorer = Explorer(open_sources(tmp_path), folders=[tmp_path, tmp_path / "first"])

    def names() -> list[str]:
        return [each["name"] for each in explorer.listing()["sources"]]

    assert names() == ["first"]
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "unfinished" / "manifest.json").write_text("{")
    assert names() == ["first"]
    write_capture("SELECT * FROM r", DATABASE, tmp_path / "second")
    assert names() == ["first", "second"]
    assert explorer.ask({"source": 1, "view": "about"})["answer"]["query"] == "SELECT * FROM r"

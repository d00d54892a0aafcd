"""``lipstick graph`` over the example's graph, in a store that no Spark has written."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from graphquery import Kind
from graphquery.store import Store
from lipstick.cli import main
from tests.graphquery.builder import Builder
from tests.graphquery.dealership import FINE, FINE_EDGES, dealership
from tests.lipstick.stored import store_graph

ROOT = Path(__file__).parents[3]
COUNT = "dealer1#1/NumCarsByModel.NumAvail"
INSIDE = {name for name in FINE if name.startswith("dealer1")} - {
    "dealer1#1",
    "dealer1#1/Requests",
    "dealer1#1/Bids",
    "dealer1#1/Bids.Price",
}
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bid phase: a request, a bid of dealer1, and the aggregator."""
    return store_graph(dealership(), tmp_path_factory.mktemp("stored") / "run")


@pytest.fixture(scope="module")
def call(store: Path) -> Callable[..., Result]:
    """Call ``lipstick graph`` about the store."""

    def call(command: str, *arguments: str) -> Result:
        return CliRunner().invoke(main, ["graph", command, str(store), *arguments])

    return call


@pytest.fixture(scope="module")
def ask(call: Callable[..., Result]) -> Ask:
    """Call ``lipstick graph`` about the store, and read its answer as JSON."""

    def ask(command: str, *arguments: str) -> Any:
        result = call(command, *arguments, "--format", "json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return ask


def _names(document: dict[str, Any]) -> set[str]:
    return {node["name"] for node in document["nodes"]}


# -- degenerate stores, wrong input --------------------------------------------------------------


def test_an_empty_store_has_an_empty_graph(tmp_path: Path) -> None:
    Store.create(tmp_path / "empty")
    result = CliRunner().invoke(main, ["graph", "show", str(tmp_path / "empty")])
    assert (result.exit_code, result.output) == (0, "0 nodes, 0 edges\n")
    stats = ["graph", "stats", str(tmp_path / "empty"), "--format", "json"]
    assert json.loads(CliRunner().invoke(main, stats).stdout)["modules"] == []


@pytest.mark.parametrize("form", ["svg", "html"])
def test_an_empty_graph_has_a_picture(tmp_path: Path, form: str) -> None:
    Store.create(tmp_path / "empty")
    command = ["graph", "show", str(tmp_path / "empty"), "--format", form]
    assert "<svg" in CliRunner().invoke(main, command).stdout


def test_a_folder_that_is_no_store_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["graph", "stats", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {tmp_path} is not a store: it has no format.json.\n")
    assert "Traceback" not in result.output


def test_a_run_without_provenance_has_no_graph(tmp_path: Path) -> None:
    with Store.create(tmp_path / "plain").writer() as writer, writer.transaction() as transaction:
        transaction.put("workflow", {"text": "", "tracked": False})
        transaction.commit()
    result = CliRunner().invoke(main, ["graph", "stats", str(tmp_path / "plain")])
    assert result.exit_code == 2
    assert "has no provenance: it ran with --plain.\nRun the workflow without" in result.stderr


def test_damage_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    store = store_graph(dealership(), tmp_path / "run")
    for path in (store / "data").rglob("*.parquet"):
        path.write_bytes(b"")
    result = CliRunner().invoke(main, ["graph", "stats", str(store)])
    assert result.exit_code == 1
    assert "Run fsck on the store." in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["delete", "dealer1/Cars:C9"], "There is no node dealer1/Cars:C9.\nDid you mean"),
        (["zoom-out", "dealer9"], "The graph has no module 'dealer9'.\nDid you mean dealer1?"),
        (["zoom-out"], "Give the modules to zoom out of, or --all for all of them."),
        (["zoom-out", "agg", "--all"], "Give the modules to zoom out of, or --all"),
        (["stats", "--around", "7"], "The graph has no execution 7"),
        (["show", "--kind", "tuple"], "There is no kind of node 'tuple'."),
        (["show", "--where", "Colour=red"], "has a column 'Colour'."),
        (["show", "--where", "Model"], "'Model' is not a condition.\nWrite a column, one of"),
        (["show", "--where", "n>1", "--where", "n<3"], "There are two conditions on n.\nGive one"),
        (["show", "--kind", "m", "--format", "svg"], "A picture is of a graph, not of some"),
        (["difference", "0", "1"], "The graph has no execution 1.\n"),
        (["export", "--to", "graphml"], "graphml is written to a file: give --output."),
        (["export", "--to", "dot", "--max-nodes", "3"], "A graph of 34 nodes is too large for DOT"),
        (["show", "--output", "/nowhere/x.json"], "/nowhere/x.json: No such file or directory"),
    ],
)
def test_wrong_input_is_told(
    call: Callable[..., Result], arguments: list[str], message: str
) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


# -- looking -------------------------------------------------------------------------------------


def test_stats_count_nodes(ask: Ask) -> None:
    stats = ask("stats")
    assert (stats["node_count"], stats["edge_count"]) == (len(FINE), len(FINE_EDGES))
    assert stats["modules"] == [
        {"module": "agg", "invocations": 1, "nodes": 9},
        {"module": "and", "invocations": 1, "nodes": 3},
        {"module": "dealer1", "invocations": 1, "nodes": 21},
    ]
    assert stats["outside_modules"] == 1
    kinds = [kind for kind, _ in FINE.values()]
    assert stats["kinds"] == {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def test_stats_of_a_zoomed_graph_count_zoomed_nodes(ask: Ask) -> None:
    stats = ask("stats", "--zoom-out-all")
    assert stats["kinds"]["zoomed"] == 3
    assert stats["node_count"] == sum(stats["kinds"].values())
    assert stats["zoomed"] == ["agg", "and", "dealer1"]


def test_the_whole_graph_is_every_node_and_edge(ask: Ask) -> None:
    shown = ask("show")
    assert {n["name"]: (n["kind"], n["label"]) for n in shown["nodes"]} == FINE
    assert sorted((e["source"], e["target"]) for e in shown["edges"]) == sorted(FINE_EDGES)


def test_a_table_is_bounded_and_says_so(call: Callable[..., Result]) -> None:
    result = call("show", "--limit", "2")
    assert result.stdout.startswith("34 nodes, 43 edges\n")
    assert "and#1 " in result.stdout
    assert "dealer1" not in result.stdout
    assert "32 more; --limit shows as many as it says." in result.stdout


def test_limited_json_has_the_edges_among_its_nodes(ask: Ask) -> None:
    shown = ask("show", "--limit", "3")
    assert [n["name"] for n in shown["nodes"]] == list(FINE)[:3]
    pairs = {(e["source"], e["target"]) for e in shown["edges"]}
    assert pairs == {
        ("input0/Requests:B1", "and#1/Requests"),
        ("and#1", "and#1/Requests"),
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--kind", "m"], ["and#1", "dealer1#1", "agg#1"]),
        (["--kind", "m", "--module", "agg"], ["agg#1"]),
        (["--label", "COUNT"], [COUNT]),
        (["--relation", "Cars", "--execution", "0"], ["dealer1#1/Cars:C2", "dealer1#1/Cars:C3"]),
        (["--where", "CarId=C1"], ["dealer1/Cars:C1"]),
        (["--label", "COUNT", "--where", "value>=2"], [COUNT]),
        (["--label", "COUNT", "--where", "value > 2"], []),
        (["dealer1/Cars:C1", "agg#1", "--kind", "token"], ["dealer1/Cars:C1"]),
    ],
)
def test_nodes_are_found_by_conditions(ask: Ask, arguments: list[str], expected: list[str]) -> None:
    assert [node["name"] for node in ask("show", *arguments)] == expected


def test_a_quoted_value_is_text(tmp_path: Path) -> None:
    builder = Builder()
    builder.add("input0/Parts", Kind.TOKEN, "", {"Id": ["7", "8"]}, ("Id",))
    store = str(store_graph(builder, tmp_path / "run"))
    command = ["graph", "show", store, "--format", "json", "--where", 'Id="7"']
    assert len(json.loads(CliRunner().invoke(main, command).stdout)) == 1


def test_a_node_is_shown_with_what_is_around_it(ask: Ask, call: Callable[..., Result]) -> None:
    [node] = ask("show", "dealer1#1/Inventory:C2")
    assert node["made_of"] == ["dealer1#1/Cars:C2", "dealer1#1/ReqModel"]
    assert node["makes"] == ["dealer1#1/CarsByModel", "dealer1#1/NumCarsByModel.tensors[0]"]
    assert node["tuple"] == {"CarId": "C2", "Model": "Civic"}
    lines = [line.split() for line in call("show", "dealer1#1/Inventory:C2").stdout.splitlines()]
    assert ["tuple.Model", "Civic"] in lines
    assert ["made", "of", "dealer1#1/ReqModel"] in lines


def test_what_is_around_a_node_is_bounded(ask: Ask, call: Callable[..., Result]) -> None:
    [node] = ask("show", "dealer1#1", "--limit", "2")
    assert (len(node["makes"]), node["makes_count"], node["made_of"]) == (2, 4, [])
    lines = [line.split() for line in call("show", "dealer1#1", "--limit", "2").stdout.splitlines()]
    assert ["2", "more"] in lines


def test_values_are_shown(ask: Ask) -> None:
    [node] = ask("show", COUNT)
    assert node["value"] == 2
    assert node["stale"] is None


# -- zoom, delete, ask ---------------------------------------------------------------------------


def test_zooming_out_hides_what_is_inside(ask: Ask) -> None:
    coarse = ask("zoom-out", "dealer1")
    assert _names(coarse) == set(FINE) - INSIDE | {"dealer1#1[zoomed]"}
    assert coarse["zoomed"] == ["dealer1"]
    pairs = {(e["source"], e["target"]) for e in coarse["edges"]}
    assert ("dealer1#1/Requests", "dealer1#1[zoomed]") in pairs
    assert ("dealer1#1[zoomed]", "dealer1#1/Bids") in pairs


def test_zooming_out_of_all_is_the_coarse_graph(ask: Ask) -> None:
    assert ask("zoom-out", "--all") == ask("zoom-out", "agg", "and", "dealer1")


def test_zooming_in_undoes_zooming_out(ask: Ask) -> None:
    assert ask("zoom-in", "dealer1", "--zoom-out", "dealer1") == ask("show")


def test_zooming_in_starts_from_the_coarse_graph(ask: Ask) -> None:
    fine = ask("zoom-in", "dealer1")
    assert fine["zoomed"] == ["agg", "and"]
    assert INSIDE - {"dealer1/Cars:C1"} <= _names(fine)


def test_deleting_a_car_leaves_the_bid(ask: Ask) -> None:
    deletion = ask("delete", "dealer1/Cars:C2")
    assert [node["name"] for node in deletion["removed"]] == [
        "dealer1/Cars:C2",
        "dealer1#1/Cars:C2",
        "dealer1#1/Inventory:C2",
        "dealer1#1/NumCarsByModel.tensors[0]",
    ]
    assert deletion["left"]["node_count"] == len(FINE) - 4
    changes = {row.pop("name"): row for row in deletion["values"]}
    assert changes[COUNT] == {"old": 2, "new": 1, "stale": False}
    assert changes["dealer1#1/CalcBid"] == {"old": 20_000, "new": None, "stale": True}


def test_unknown_values_are_marked_in_tables(call: Callable[..., Result]) -> None:
    lines = [line.split() for line in call("delete", "dealer1/Cars:C2").stdout.splitlines()]
    assert [COUNT, "2", "1"] in lines
    assert ["dealer1#1/CalcBid", "20000", "?"] in lines


def test_a_value_that_its_tensors_do_not_tell_is_unknown(tmp_path: Path) -> None:
    builder = Builder()
    builder.add("input0/Cars", Kind.TOKEN, "", {"Id": ["C1", "C2"]}, ("Id",))
    builder.add("sum.tensors", Kind.VALUE, "⊗", 2)
    builder.add("sum", Kind.VALUE, "SUM", {"value": [3]})
    builder.edges("input0/Cars", "sum.tensors", [(0, 0), (1, 1)])
    builder.edges("sum.tensors", "sum", [(0, 0), (1, 0)])
    command = ["graph", "delete", str(store_graph(builder, tmp_path / "run")), "input0/Cars:C1"]
    result = CliRunner().invoke(main, [*command, "--format", "json"])
    [change] = json.loads(result.stdout)["values"]
    assert change == {"name": "sum", "old": 3, "new": None, "stale": True}


def test_a_deletion_that_changes_no_value_lists_none(call: Callable[..., Result]) -> None:
    result = call("delete", "dealer1/Cars:C1")
    assert result.stdout.startswith("Gone: 1 node\n")
    assert "Values" not in result.stdout
    assert result.stdout.endswith("Left: 33 nodes, 43 edges (of 34 and 43)\n")


def test_changed_values_are_bounded(call: Callable[..., Result]) -> None:
    result = call("delete", "dealer1/Cars:C2", "--limit", "1")
    assert COUNT in result.stdout
    assert "dealer1#1/CalcBid" not in result.stdout
    assert result.stdout.count("more; --limit shows as many as it says.") == 2


def test_values_after_a_deletion_are_shown(ask: Ask) -> None:
    [count] = ask("show", COUNT, "--delete", "dealer1/Cars:C2")
    assert count["value"] == 1
    [bid] = ask("show", "dealer1#1/CalcBid", "--delete", "dealer1/Cars:C2")
    assert (bid["value"], bid["stale"]) == (None, True)


def test_deleting_the_request_leaves_state_and_invocations(ask: Ask) -> None:
    shown = ask("show", "--delete", "input0/Requests:B1")
    assert {node["kind"] for node in shown["nodes"]} == {"m", "token", "s", "v"}


@pytest.mark.parametrize(
    ("other", "expected", "told"),
    [
        ("dealer1/Cars:C2", False, "no: dealer1#1/Bids is there without dealer1/Cars:C2\n"),
        ("input0/Requests:B1", True, "yes: without input0/Requests:B1, dealer1#1/Bids is gone\n"),
    ],
)
def test_dependency(
    ask: Ask, call: Callable[..., Result], other: str, expected: bool, told: str
) -> None:
    question = ("depends", "dealer1#1/Bids", other)
    assert ask(*question) == {"node": "dealer1#1/Bids", "on": [other], "depends": expected}
    assert call(*question).stdout == told


def test_dependency_on_nodes_together(ask: Ask) -> None:
    cars = ("dealer1/Cars:C2", "dealer1/Cars:C3")
    assert ask("depends", "dealer1#1/CarsByModel", *cars)["depends"]
    assert not ask("depends", "dealer1#1/CarsByModel", cars[0])["depends"]


def test_zoom_then_delete_then_ask(ask: Ask, call: Callable[..., Result]) -> None:
    first = ("--zoom-out", "dealer1", "--delete", "dealer1#1/Requests")
    shown = ask("show", *first)
    assert shown["zoomed"] == ["dealer1"]
    assert "dealer1#1[zoomed]" not in _names(shown)
    result = call("path", "input0/Requests:B1", "agg#1/Best", *first)
    assert result.exit_code == 2
    assert "agg#1/Best was deleted." in result.stderr


def test_a_deletion_is_of_the_zoomed_graph(call: Callable[..., Result]) -> None:
    result = call("stats", "--delete", "dealer1/Cars:C2", "--zoom-out", "dealer1")
    assert result.exit_code == 2
    assert "dealer1/Cars:C2 is inside dealer1, which is zoomed out." in result.stderr


def test_subgraph_is_what_is_around_a_node(ask: Ask) -> None:
    around = _names(ask("subgraph", "dealer1#1/Inventory:C2"))
    assert {"input0/Requests:B1", "dealer1/Cars:C2", "agg#1/Best", "dealer1#1/Bids"} <= around
    assert "dealer1/Cars:C1" not in around


def test_paths_are_nodes_on_the_way(ask: Ask) -> None:
    assert ask("path", "dealer1/Cars:C2", "dealer1#1/CarsByModel") == [
        [
            "dealer1/Cars:C2",
            "dealer1#1/Cars:C2",
            "dealer1#1/Inventory:C2",
            "dealer1#1/CarsByModel",
        ]
    ]
    assert len(ask("path", "dealer1/Cars:C2", "dealer1#1/CalcBid")) == 2
    assert len(ask("path", "dealer1/Cars:C2", "dealer1#1/CalcBid", "--limit", "1")) == 1
    assert ask("path", "dealer1/Cars:C2", "dealer1#1/CalcBid", "--longest", "2") == []


def test_no_path_is_told(call: Callable[..., Result]) -> None:
    result = call("path", "agg#1/Best", "dealer1/Cars:C2")
    assert result.stdout == "There is no path from agg#1/Best to dealer1/Cars:C2.\n"


def test_inputs_behind_a_node(ask: Ask) -> None:
    assert ask("inputs", "dealer1#1/Bids") == [
        {
            "node": "input0/Requests:B1",
            "execution": 0,
            "module": None,
            "relation": "Requests",
        },
        {"node": "dealer1/Cars:C2", "execution": None, "module": "dealer1", "relation": "Cars"},
        {"node": "dealer1/Cars:C3", "execution": None, "module": "dealer1", "relation": "Cars"},
    ]


def test_an_execution_differs_not_from_itself(ask: Ask) -> None:
    assert ask("difference", "0", "0") == {"summary": [], "only_left": [], "only_right": []}


def test_executions_differ_in_what_they_have(tmp_path: Path) -> None:
    builder = Builder()
    for execution, keys in enumerate((["B1", "B2"], ["B2", "B3", "B4"])):
        name = f"input{execution}/Requests"
        of = {"execution": execution, "relation": "Requests"}
        builder.add(name, Kind.TOKEN, "", {"Id": keys}, ("Id",), **of)
    store = str(store_graph(builder, tmp_path / "run"))
    command = ["graph", "difference", store, "0", "1"]
    differences = json.loads(CliRunner().invoke(main, [*command, "--format", "json"]).stdout)
    assert differences["only_left"] == ["input0/Requests:B1"]
    assert differences["only_right"] == ["input1/Requests:B3", "input1/Requests:B4"]
    assert CliRunner().invoke(main, command).stdout.endswith("\n1 row\n")


# -- files and pictures --------------------------------------------------------------------------


def test_the_name_of_a_file_says_the_format(
    call: Callable[..., Result], ask: Ask, tmp_path: Path
) -> None:
    result = call("show", "--output", str(tmp_path / "graph.json"))
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads((tmp_path / "graph.json").read_text()) == ask("show")
    call("show", "--output", str(tmp_path / "graph.txt"))
    assert (tmp_path / "graph.txt").read_text() == call("show").stdout


def test_a_picture_is_svg_that_says_what_it_shows(
    call: Callable[..., Result], tmp_path: Path
) -> None:
    result = call("zoom-out", "dealer1", "--output", str(tmp_path / "graph.svg"))
    caption = "Provenance graph: 18 nodes; zoomed out: dealer1"
    assert result.stderr == caption + "\n"
    root = ElementTree.parse(tmp_path / "graph.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = {each.text for each in root.iter("{http://www.w3.org/2000/svg}title")}
    assert {caption, "dealer1#1", "agg#1"} <= texts


def test_a_page_has_the_same_picture(call: Callable[..., Result]) -> None:
    result = call("delete", "dealer1/Cars:C2", "--format", "html")
    assert result.stdout.startswith("<!DOCTYPE html>")
    assert "<title>Provenance graph: 30 nodes</title>" in result.stdout
    assert result.stdout.count("<svg") == 1


# -- start-up ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["--help"], ["graph", "--help"], ["graph", "stats"]])
def test_graphs_need_no_spark(store: Path, command: list[str]) -> None:
    """In a process of its own, where neither Spark nor sqlglot can be imported."""
    arguments = [*command, str(store)] if command[-1] == "stats" else command
    code = (
        "import sys\n"
        "sys.modules['pyspark'] = sys.modules['sqlglot'] = None\n"
        "from lipstick.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

"""``lipstick workflow``: checking, running, and looking at what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from graphquery.store import Store
from lipstick.cli import main
from lipstick.workflow import Run, Workflow

ROOT = Path(__file__).parents[3]

REMEMBER = """\
workflow: remember
specifications:
  remember:
    input:
      Seen: {columns: {Name: string, Many: int}, key: Name}
    state:
      Known: {columns: {Name: string, Many: int}, key: Name}
    output:
      All: {columns: {Name: string, Many: int}, key: Name}
    query_state:
      insert:
        Known: SELECT Name, Many FROM Seen
    query_output:
      All: SELECT Name, Many FROM Known
nodes: [remember]
inputs: [remember]
outputs: [remember]
"""
TOTAL = """\
  total:
    input:
      All: {columns: {Name: string, Many: int}, key: Name}
    output:
      Total: {columns: {Names: bigint, Many: bigint}}
    query_output:
      Total: SELECT count(*) AS Names, sum(Many) AS Many FROM All
nodes: [remember, total]
edges:
  - {from: remember, to: total}
inputs: [remember]
outputs: [total]
"""
COUNTER = REMEMBER.partition("nodes:")[0].replace(": remember\n", ": counter\n") + TOTAL


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workflow of two modules: one remembers what it was given, the other adds it up."""
    path = tmp_path_factory.mktemp("counter") / "counter.yaml"
    path.write_text(COUNTER)
    return path


def _call(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["workflow", *map(str, arguments)])


# -- validate ------------------------------------------------------------------------------------


def test_a_valid_workflow_is_valid(file: Path) -> None:
    result = _call("validate", file)
    assert (result.exit_code, result.output) == (
        0,
        "counter: 2 nodes, 2 modules, 1 edge: valid\n",
    )
    document = json.loads(_call("validate", file, "--json").output)
    assert document == {"name": "counter", "valid": True, "nodes": 2, "modules": 2, "edges": 1}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("to: total}", "to: sum}", "line 24: "),
        ("FROM Known", "FROM Unknown", "line 14: remember: the relation All reads Unknown"),
        ("FROM Known", "FROM Known WHERE", "This text is not understood"),
        ("nodes:", "nods:", "line 22: the document has no 'nods'"),
        (COUNTER, "", "the file is empty"),
        (COUNTER, "[", "this is not YAML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(COUNTER.replace(old, new))
    result = _call("validate", path)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_an_absent_workflow_is_told(tmp_path: Path) -> None:
    result = _call("validate", tmp_path / "absent.yaml")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: The workflow {tmp_path / 'absent.yaml'} cannot be")


# -- run, before Spark starts --------------------------------------------------------------------


class StartedError(Exception):
    """Raised in the place of a run."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Collects the arguments of runs, which do not take place."""
    calls: list[dict[str, Any]] = []

    def run(
        workflow: Workflow, session: None, inputs: Sequence[Mapping[str, Any]], **options: Any
    ) -> Run:
        calls.append({"session": session, "inputs": list(inputs), **options})
        raise StartedError

    monkeypatch.setattr(Workflow, "run", run)
    return calls


def test_options_reach_the_run(file: Path, tmp_path: Path, started: list[dict[str, Any]]) -> None:
    (tmp_path / "inputs.json").write_text('[{"Seen": [["a", 1]]}, {"Seen": []}]')
    (tmp_path / "state.json").write_text('{"remember": {"Known": [["b", 2]]}}')
    options = ["--inputs", tmp_path / "inputs.json", "--state", tmp_path / "state.json"]
    options += ["--store", tmp_path / "run", "--first", 3, "--plain", "--parallelism", 2]
    result = _call("run", file, *options)
    assert isinstance(result.exception, StartedError)
    assert started == [
        {
            "session": None,
            "inputs": [{"Seen": [["a", 1]]}, {"Seen": []}],
            "store": tmp_path / "run",
            "state": {"remember": {"Known": [["b", 2]]}},
            "first": 3,
            "tracked": False,
            "parallelism": 2,
            "exports": {},
        }
    ]


def test_by_default_runs_are_tracked_and_go_on_with_their_state(
    file: Path, tmp_path: Path, started: list[dict[str, Any]]
) -> None:
    (tmp_path / "inputs" / "5").mkdir(parents=True)
    _call("run", file, "--inputs", tmp_path / "inputs", "--store", tmp_path / "run")
    [call] = started
    assert (call["tracked"], call["parallelism"], call["state"]) == (True, 1, None)
    assert (call["first"], call["inputs"]) == (5, [{}])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--store", "run"], "Missing option '--inputs'"),
        (["--inputs", "absent.yaml", "--store", "run"], "absent.yaml cannot be read"),
        (["--inputs", "counter.yaml"], "Missing option '--store'"),
        (["--inputs", "x", "--store", "run", "--parallelism", "0"], "'--parallelism'"),
    ],
)
def test_wrong_options_start_nothing(
    file: Path, started: list[dict[str, Any]], arguments: list[str], message: str
) -> None:
    result = _call("run", file, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not started


def test_without_java_nothing_starts(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    (tmp_path / "inputs.json").write_text("[]")
    result = _call("run", file, "--inputs", tmp_path / "inputs.json", "--store", tmp_path / "run")
    assert result.exit_code == 2
    assert f"There is no Java in JAVA_HOME ({tmp_path})." in result.stderr
    assert not (tmp_path / "run").exists()


# -- what came of it -----------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["output"], ["state"]])
def test_a_store_without_a_run_is_told(tmp_path: Path, command: list[str]) -> None:
    Store.create(tmp_path / "empty")
    more = ["remember", "Known"] if command == ["state"] else []
    result = _call(*command, tmp_path / "empty", *more)
    assert result.exit_code == 2
    assert "holds no run of a workflow." in result.stderr


@pytest.fixture(scope="module")
def store(file: Path) -> Path:
    """Two executions, of a folder of inputs, run in a process of their own."""
    folder = file.parent
    (folder / "remember.yaml").write_text(REMEMBER)
    (folder / "inputs" / "0").mkdir(parents=True)
    (folder / "inputs" / "1" / "remember").mkdir(parents=True)
    (folder / "inputs" / "0" / "Seen.csv").write_text("Name,Many\n007,1\nb,2\n")
    (folder / "inputs" / "1" / "remember" / "Seen.json").write_text('[{"Name": "c", "Many": 3}]')
    (folder / "state.yaml").write_text("remember: {Known: [[z, 10]]}\n")
    command = [sys.executable, "-m", "lipstick", "workflow", "run"]
    command += [str(folder / "remember.yaml")]
    command += ["--inputs", str(folder / "inputs"), "--state", str(folder / "state.yaml")]
    command += ["--store", str(folder / "run"), "--parallelism", "2", "--format", "json"]
    environment = {
        name: value
        for name, value in os.environ.items()
        if name == "SPARK_SUBMIT_OPTS" or not name.startswith(("SPARK", "PYSPARK"))
    }
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outputs = json.loads(done.stdout)["outputs"]
    assert outputs == [
        {"execution": execution, "node": "remember", "relation": "All", "tuples": tuples}
        for execution, tuples in ((0, 3), (1, 4))
    ]
    return folder / "run"


def _json(*arguments: object) -> Any:
    result = _call(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_outputs_are_shown(store: Path) -> None:
    first = {"z": 10, "007": 1, "b": 2}
    assert {row["Name"]: row["Many"] for row in _json("output", store)} == first | {"c": 3}
    shown = _json("output", store, "--execution", 0)
    assert {row["Name"]: row["Many"] for row in shown} == first
    result = _call("output", store, "--node", "remember", "--limit", 1)
    assert "3 more; --limit shows as many as it says.\n4 tuples\n" in result.stdout


def test_states_are_shown(store: Path) -> None:
    initial = [{"Name": "z", "Many": 10}]
    assert _json("state", store, "remember", "Known", "--after", -1) == initial
    names = {row["Name"] for row in _json("state", store, "remember", "Known")}
    assert names == {"z", "007", "b", "c"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--execution", 2], "has not run."),
        (["--node", "sum"], "has no node 'sum'."),
        (["--relation", "Sum"], "has no output 'Sum'."),
    ],
)
def test_outputs_that_there_are_not(store: Path, arguments: list[object], message: str) -> None:
    result = _call("output", store, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_graph_of_a_run(store: Path) -> None:
    result = CliRunner().invoke(
        main, ["graph", "inputs", str(store), "remember#2/All:c", "--format", "json"]
    )
    assert [row["node"] for row in json.loads(result.stdout)] == ["input#1/remember/Seen:c"]
    assert CliRunner().invoke(main, ["fsck", str(store)]).output == "sound\n"


def test_conditions_on_values_of_a_run(store: Path) -> None:
    command = ["graph", "show", str(store), "--format", "json", "--where", "Many>=3"]
    shown = json.loads(CliRunner().invoke(main, [*command, "--kind", "token"]).stdout)
    assert [node["name"] for node in shown] == ["remember/Known:z", "input#1/remember/Seen:c"]

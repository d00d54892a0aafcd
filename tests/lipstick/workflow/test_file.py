"""Workflows as YAML files: round trips, and errors with file and line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lipstick.workflow import Edge, Loop, Module, Relation, Specification, StateQuery, Workflow
from lipstick.workflow.errors import DefinitionError, WorkflowError
from lipstick.workflow.examples import dealership

TEXT = """\
specifications:
  first:
    input:
      A: {columns: {a: int}, key: a}
    output:
      B: {columns: a int}
    query_output:
      B: SELECT a FROM A
  second:
    input:
      B: {columns: {a: int}}
    output:
      C: {columns: {a: int}}
    query_output:
      C: SELECT a FROM B
nodes: [first, second]
edges:
  - {from: first, to: second}
inputs: first
outputs: [second]
"""


def _write(path: Path, text: str) -> Path:
    file = path / "w.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_is_read(tmp_path: Path) -> None:
    workflow = Workflow.read(_write(tmp_path, TEXT))
    assert workflow.name == "w"
    assert list(workflow.nodes) == ["first", "second"]
    assert workflow.nodes["first"].specification.inputs["A"].key == ("a",)
    assert workflow.nodes["first"].specification.outputs["B"] == Relation("a int")
    assert workflow.inputs == ("first",)
    workflow.validate()


def test_what_is_written_is_read_again(tmp_path: Path, market: Workflow) -> None:
    for workflow in (market, dealership()):
        file = tmp_path / f"{workflow.name}.yaml"
        workflow.write(file)
        assert Workflow.read(file) == workflow


def test_everything_is_written(tmp_path: Path) -> None:
    relation = Relation("a int", key="a", union=True, optional=True)
    state = Relation("a int, `b c` decimal(10,2)", key=["a"])
    specification = Specification(
        "s",
        {"A": relation},
        {"O": relation},
        {"T": "SELECT 1\nFROM A", "O": "SELECT a -- 'é'\nFROM A"},
        state={"S": state, "R": state},
        query_state=StateQuery(
            {"Q": "SELECT * FROM A"},
            delete={"S": "a = 1"},
            insert={"S": "SELECT * FROM S"},
            replace={"R": "SELECT * FROM R"},
        ),
    )
    module = Module("m", specification)
    workflow = Workflow(
        "every thing",
        {"x": module, "y": module, "z": module},
        [Edge("x", "y", {"O": "A"}), Edge("y", "z", {"O": "A"})],
        ["x"],
        ["z"],
        [Loop(["y"], [Edge("y", "y", {"O": "A"})], 2)],
    )
    file = tmp_path / "w.yaml"
    workflow.write(file)
    assert Workflow.read(file) == workflow
    assert "T: |-" in file.read_text(encoding="utf-8"), "SQL of several lines is a block"


def test_changes_of_the_state_may_be_statements(tmp_path: Path) -> None:
    """They are the same specification, in Python and in a file."""
    statements = StateQuery(
        delete="DELETE FROM S WHERE a = 1",
        insert=["insert into `R`\n  SELECT a FROM A;", "INSERT INTO TABLE S SELECT * FROM A"],
    )
    named = StateQuery(
        delete={"S": "a = 1"}, insert={"R": "SELECT a FROM A", "S": "SELECT * FROM A"}
    )
    assert statements == named
    changes = """\
    state: {S: {columns: {a: int}}}
    query_state:
      delete: DELETE FROM S WHERE a = 1
      insert:
        - INSERT INTO S SELECT * FROM A
    query_output:
"""
    text = TEXT.replace("    query_output:\n", changes, 1)
    workflow = Workflow.read(_write(tmp_path, text))
    change = workflow.nodes["first"].specification.query_state
    assert change == StateQuery(delete={"S": "a = 1"}, insert={"S": "SELECT * FROM A"})
    workflow.validate()


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            "SELECT 1",
            r"^'SELECT 1' is not a statement of the form: INSERT INTO name SELECT \.\.\.\.$",
        ),
        ("INSERT INTO S (a) SELECT 1", "is not a statement of the form"),
        (
            ["INSERT INTO S SELECT 1", "INSERT INTO S SELECT 2"],
            r"^There are two statements about S\.\nCombine them, with UNION ALL or OR\.$",
        ),
    ],
)
def test_other_statements_are_refused(statements: str | list[str], message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        StateQuery(insert=statements)


def test_indentation_of_queries_is_not_kept() -> None:
    """But between quotes every space counts."""
    plain = StateQuery({"Q": "\n    SELECT a,  \n      b\n    FROM A\n  "})
    quoted = StateQuery({"Q": "\n    SELECT 'a\n    ' FROM A\n  "})
    assert plain.relations["Q"].sql == "SELECT a,\n  b\nFROM A"
    assert quoted.relations["Q"].sql == "SELECT 'a\n    ' FROM A"


def test_the_dealership_is_valid() -> None:
    workflow = dealership()
    workflow.validate()
    assert len(workflow.nodes) == 14
    assert workflow.nodes["bid1"] is workflow.nodes["sell1"]


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("", "", DefinitionError, "w.yaml: the file is empty."),
        ("nodes: [first, second]\n", "", DefinitionError, "line 1: the document lacks 'nodes'."),
        ("edges:", "edge:", DefinitionError, "line 17: the document has no 'edge'."),
        ("key: a}", "keys: a}", DefinitionError, "line 4: specifications.first.input.A has no"),
        (
            "inputs: first",
            "inputs: 3",
            DefinitionError,
            "line 19: inputs is 3 and should be a list.",
        ),
        (
            "B: SELECT a FROM A",
            "B:",
            DefinitionError,
            "line 8: specifications.first.query_output.B",
        ),
        ("[first, second]", "[first, third]", DefinitionError, "line 16: Node third is of module"),
        ("{from: first,", "{of: first,", DefinitionError, "line 18: edges.0 has no 'of'."),
        ("outputs:", "inputs:", DefinitionError, "line 20: 'inputs' is given twice, first in line"),
        ("inputs: first", "inputs: [", DefinitionError, "this is not YAML"),
        ("key: a}", "key: b}", DefinitionError, "line 4: The key (b) has no column 'b'"),
        (
            "B: SELECT a FROM A",
            "D: SELECT a FROM A",
            DefinitionError,
            "line 7: first: Q_out does not",
        ),
        (
            "C: {columns: {a: int}}",
            "b: {columns: a int}",
            DefinitionError,
            "line 13: second: b is in",
        ),
        (
            "      B: {columns: {a:",
            "      B: {columns: {b:",
            DefinitionError,
            "line 18: The edge",
        ),
        ("  - {from: first, to: second}", "  []", WorkflowError, "line 16: No path joins"),
    ],
)
def test_errors_say_where(
    tmp_path: Path, old: str, new: str, error: type[WorkflowError], message: str
) -> None:
    text = TEXT.replace(old, new, 1) if old else ""
    file = _write(tmp_path, text)
    with pytest.raises(error, match=re.escape(message)) as caught:
        Workflow.read(file)
    assert str(caught.value).startswith(str(file))
    assert str(caught.value).count(str(file)) == 1


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="cannot be read"):
        Workflow.read(tmp_path / "none.yaml")


def test_an_uncovered_input_has_the_line_of_its_node(tmp_path: Path) -> None:
    text = TEXT.replace(
        "B: {columns: {a: int}}", "B: {columns: {a: int}}\n      D: {columns: a int}"
    )
    with pytest.raises(DefinitionError, match="line 17: No edge brings D"):
        Workflow.read(_write(tmp_path, text))


def test_a_loop_is_read(tmp_path: Path) -> None:
    back = "back: [{from: second, to: second, relations: {C: B}}]"
    text = TEXT.replace("inputs:", f"loops:\n  - {{nodes: [second], {back}, times: 2}}\ninputs:")
    workflow = Workflow.read(_write(tmp_path, text))
    assert list(workflow.shape.nodes) == ["first", "second.1", "second.2"]
    with pytest.raises(DefinitionError, match="line 20: A loop runs at least once"):
        Workflow.read(_write(tmp_path, text.replace("times: 2", "times: 0")))
    with pytest.raises(DefinitionError, match=r"loops\.0\.times is 'two' and should be"):
        Workflow.read(_write(tmp_path, text.replace("times: 2", "times: two")))


def test_reading_and_checking_need_no_spark(tmp_path: Path) -> None:
    """The packages that take seconds to import are not."""
    path = tmp_path / "w.yaml"
    path.write_text(TEXT)
    program = (
        "import sys\nfrom lipstick.workflow import Workflow\n"
        f"Workflow.read({str(path)!r}).validate()\n"
        "print([name for name in ('pyspark', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr

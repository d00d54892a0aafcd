"""``lipstick federation`` on the example's stores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import lipstick
from graphquery.store import Store
from lipstick.cli import main
from tests.graphquery.federation.stores import example


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a federation of the example's stores."""
    root = tmp_path_factory.mktemp("example")
    members = [f'[members.{alias}]\nlocation = "{alias}"\n' for alias in example(root)]
    path = root / "federation.toml"
    path.write_text("format = 1\n" + "".join(members))
    return path


def run(*arguments: str | Path) -> Result:
    """Run a command that is to go well."""
    result = CliRunner().invoke(main, ["federation", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result


def told(*arguments: str | Path) -> dict[str, object]:
    """What a command says as JSON."""
    document = json.loads(run(*arguments, "--format", "json").output)
    assert isinstance(document, dict)
    return document


def test_members_are_listed_with_what_they_export(file: Path) -> None:
    listed = json.loads(run("members", file, "--format", "json").output)
    assert [(each["member"], each["exports"]) for each in listed] == [
        ("A", 1),
        ("B", 1),
        ("C", 1),
        ("D", 0),
    ]
    assert "0d" * 16 in run("members", file).output


def test_ancestors_are_counted_and_named(file: Path) -> None:
    found = told("ancestors", file, "D::d3")
    assert (found["count"], found["complete"]) == (20, True)
    assert "A::a1" in found["nodes"]  # type: ignore[operator]
    text = run("ancestors", file, "D::d3", "--limit", "3").output
    assert "20 nodes" in text
    assert "17 more" in text
    assert told("ancestors", file, "D::d3", "--distance", "1")["count"] == 2
    assert told("descendants", file, "A::a1")["count"] == 8


def test_paths_flow_and_dependence(file: Path) -> None:
    [path] = told("path", file, "A::a1", "D::d3")["paths"]  # type: ignore[misc]
    assert (path[0], path[-1], len(path)) == ("A::a1", "D::d3", 9)
    assert "A::a1 → A::a2 → A::a.Out[0] → B::in.a" in run("path", file, "A::a1", "D::d3").output
    assert told("flow", file, "A::a1", "D::d3")["flow"] == "yes"
    assert told("flow", file, "D::d3", "A::a1")["flow"] == "no"
    assert told("depends", file, "D::d3", "A::a1", "C::c0")["depends"] == "yes"
    assert told("delete", file, "A::a1")["count"] == 8


def test_annotations_in_a_semiring(file: Path) -> None:
    values = told("evaluate", file, "D::d3", "--value", "A::a0=3", "--value", "C::c0=4")["values"]
    assert values == {"D::d3": "7"}
    why = told("evaluate", file, "D::d1", "--semiring", "Polynomials")["values"]
    assert why == {"D::d1": "`A::a0`:0·`A::a1`:0"}


def test_what_is_missing_is_told_and_strict_commands_fail(file: Path) -> None:
    partial = file.with_name("partial.toml")
    partial.write_text(file.read_text().replace('location = "B"', 'location = "gone"'))
    found = told("ancestors", partial, "D::d3")
    assert (found["count"], found["complete"]) == (14, False)
    assert [each["store"] for each in found["missing"]] == ["B"]  # type: ignore[attr-defined]
    assert "unreachable" in run("ancestors", partial, "D::d3").output
    assert told("flow", partial, "A::a1", "D::d3")["flow"] == "unknown"
    result = CliRunner().invoke(
        main, ["federation", "ancestors", str(partial), "D::d3", "--strict"]
    )
    assert result.exit_code == 2
    assert "The answer is not complete: B: unreachable" in result.output


def test_a_segment_is_exported_with_its_description(file: Path, tmp_path: Path) -> None:
    store = file.parent / "D"
    before = Store.open(store).snapshot().version
    channel = run("export", store, "d3", "d.Out", "--beside", tmp_path).output.strip()
    assert json.loads((tmp_path / "_lipstick_export.json").read_text())["channel"] == channel
    assert Store.open(store).snapshot().version == before + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ancestors", "FILE", "d3"], "names no member"),
        (["evaluate", "FILE", "D::d3", "--semiring", "No"], "There is no semiring 'No'"),
        (["evaluate", "FILE", "D::d3", "--value", "x"], "is no value of a node"),
        (["ancestors", "none.toml", "D::d3"], "There is no file"),
    ],
)
def test_wrong_input_is_told(file: Path, arguments: list[str], message: str) -> None:
    arguments = [str(file) if each == "FILE" else each for each in arguments]
    result = CliRunner().invoke(main, ["federation", *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_federations_are_opened_from_python(file: Path) -> None:
    assert len(lipstick.federation(file).ancestors("D::d3")) == 20

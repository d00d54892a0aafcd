"""``lipstick federation`` on the example's stores."""

from __future__ import annotations

import json
import subprocess
import sys
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


def run(*arguments: str | Path, code: int = 0) -> Result:
    """Run a command that is to end with a code."""
    result = CliRunner().invoke(main, ["federation", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def told(*arguments: str | Path, code: int = 0) -> dict[str, object]:
    """What a command says as JSON."""
    document = json.loads(run(*arguments, "--format", "json", code=code).output)
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
    answer = told("ancestors", file, "D::d3")
    assert (answer["count"], answer["complete"]) == (20, True)
    assert "A::a1" in answer["nodes"]  # type: ignore[operator]
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
    answer = told("ancestors", partial, "D::d3")
    assert (answer["count"], answer["complete"]) == (14, False)
    assert [each["store"] for each in answer["missing"]] == ["B"]  # type: ignore[attr-defined]
    text = run("ancestors", partial, "D::d3").output
    assert "B cannot be reached: " in text
    assert told("flow", partial, "A::a1", "D::d3", code=2)["flow"] == "unknown"
    assert "unknown" in run("path", partial, "A::a1", "D::d3", code=2).output
    assert "no\n" in run("path", partial, "D::d3", "A::a1").output
    result = CliRunner().invoke(
        main, ["federation", "ancestors", str(partial), "D::d3", "--strict"]
    )
    assert result.exit_code == 2
    assert "The answer is not complete: B: unreachable" in result.output


def test_members_whose_replies_are_too_large_are_missing(file: Path) -> None:
    answer = told("ancestors", file, "D::d3", "--reply-size", "0.0001")
    assert not answer["complete"]
    assert [each["store"] for each in answer["missing"]] == ["D"]  # type: ignore[attr-defined]
    assert told("ancestors", file, "D::d3", "--reply-size", "1")["complete"]


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
        (["evaluate", "FILE", "D::d3", "--value", "x"], "is not a value of a node"),
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


def test_a_store_is_served_to_who_has_a_token(file: Path, tmp_path: Path) -> None:
    line = run("token", tmp_path / "token").output.strip()
    peers = tmp_path / "peers.toml"
    peers.write_text(f'format = 1\n[peers.d]\n{line}\ndisclosure = "nodes"\n')
    command = [sys.executable, "-m", "lipstick", "federation", "serve", str(file.parent / "B")]
    command += ["--peers", str(peers)]
    served = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert served.stdout is not None
        address = served.stdout.readline().split()[-1]
        member = f'location = "{address}"\ntoken_file = "{tmp_path / "token"}"'
        remote = file.with_name("remote.toml")
        remote.write_text(file.read_text().replace('location = "B"', member))
        assert told("ancestors", remote, "D::d3", "--timeout", "60")["count"] == 20
        remote.write_text(remote.read_text().replace(f'token_file = "{tmp_path / "token"}"', ""))
        answer = told("ancestors", remote, "D::d3")
        assert (answer["count"], answer["missing"][0]["reason"]) == (14, "refused")  # type: ignore[index]
    finally:
        served.terminate()
        served.wait()
        assert served.stdout is not None
        served.stdout.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "0.0.0.0"], "is not this machine alone"),
        (["--disclosure", "all"], "There is no disclosure 'all'"),
        (["--peers", "none.toml"], "cannot be read"),
    ],
)
def test_servers_that_would_tell_too_much_do_not_start(
    file: Path, arguments: list[str], message: str
) -> None:
    command = ["federation", "serve", str(file.parent / "B"), *arguments]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert message in result.output


def test_the_demonstration_names_the_server_that_was_killed() -> None:
    lines = run("demo").output.splitlines()
    assert "What is reports::page:total made of? 6 nodes, complete:" in lines
    assert "What is reports::page:total made of? 1 nodes, not complete:" in lines
    missing = [line for line in lines if "missing: warehouse: " in line]
    assert len(missing) == 1
    flows = [line.rsplit(" ", 1)[1] for line in lines if line.startswith("Could")]
    assert flows == ["yes", "no", "yes", "no"]


def test_members_are_copied_from_whoever_holds_what_they_have(file: Path, tmp_path: Path) -> None:
    assert "B at version" in run("copy", file, "B", tmp_path / "copy").output
    assert run("copy", file, "B", tmp_path / "other", "--from", tmp_path / "copy").exit_code == 0
    text = file.read_text().replace('location = "B"', f'location = "B"\ncopy = "{tmp_path}/copy"')
    copied = file.with_name("copied.toml")
    copied.write_text(text)
    away = (file.parent / "B").rename(file.parent / "away")
    try:
        assert told("ancestors", copied, "D::d3")["complete"] is True
        assert told("ancestors", file, "D::d3")["complete"] is False
    finally:
        away.rename(file.parent / "B")
    result = CliRunner().invoke(
        main,
        ["federation", "copy", str(file), "A", str(tmp_path / "a"), "--from", f"{tmp_path}/copy"],
    )
    assert result.exit_code == 2
    assert "is the store 0b0b" in result.output

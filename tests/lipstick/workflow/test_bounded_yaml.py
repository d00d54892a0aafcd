"""YAML of strangers, read within bounds of size and depth."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from lipstick.cli import main
from lipstick.cli.given import read_inputs
from lipstick.errors import LipstickError
from lipstick.workflow import Workflow
from lipstick.workflow.definition import bounded_yaml
from lipstick.workflow.definition.bounded_yaml import DEPTH, OutOfBoundsError

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in pairwise("abcdefghi")
)
"""Nine lists of nine aliases: 9⁹ values in half a kilobyte."""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (BOMB, "more than 2,000,000 values"),
        ("[" * 5000, f"nested deeper than {DEPTH}"),
        ("- " * 5000 + "x", f"nested deeper than {DEPTH}"),
        ("&a [*a]", "*a stands within what it names"),
        ("x" * (bounded_yaml.CHARACTERS + 1), "characters; at most"),
    ],
    ids=["aliases", "brackets", "dashes", "itself", "long"],
)
def test_out_of_bounds(text: str, problem: str) -> None:
    for read in (bounded_yaml.load, bounded_yaml.compose, bounded_yaml.check_bounds):
        with pytest.raises(OutOfBoundsError, match=re.escape(problem)):
            read(text)


def test_within_bounds() -> None:
    """Depth at the limit, aliases, and values repeated up to the number allowed."""
    deep = bounded_yaml.load("[" * DEPTH + "]" * DEPTH)
    for _ in range(DEPTH - 1):
        (deep,) = deep
    assert deep == []
    assert bounded_yaml.load("{a: &x [1, 2], b: *x}") == {"a": [1, 2], "b": [1, 2]}
    assert bounded_yaml.load("") is None
    bounded_yaml.check_bounds("[1, 2, 3]", nodes=4)
    with pytest.raises(OutOfBoundsError, match="more than 3 values"):
        bounded_yaml.check_bounds("[1, 2, 3]", nodes=3)
    with pytest.raises(OutOfBoundsError, match="more than 9 values"):
        bounded_yaml.check_bounds("[&x [1, 2], *x, *x]", nodes=9)
    bounded_yaml.check_bounds("[&x [1, 2], *x, *x]", nodes=10)


@pytest.mark.parametrize("text", ["a: 2020-13-45", f"a: {'9' * 6000}", "a: !!python/object:x y"])
def test_values_that_python_has_not(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        bounded_yaml.load(text)


HOSTILE_FILES = {
    "aliases": BOMB,
    "brackets": "[" * 5000,
    "date": "nodes: 2020-13-45",
    "digits": f"nodes: {'9' * 6000}",
    "tag": "nodes: !!python/object:x y",
}


@pytest.mark.parametrize("text", HOSTILE_FILES.values(), ids=HOSTILE_FILES)
def test_files_of_strangers(tmp_path: Path, text: str) -> None:
    """Workflows and inputs: an error that names the file, and on the command line too."""
    path = tmp_path / "given.yaml"
    path.write_text(text)
    for read in (Workflow.read, read_inputs):
        with pytest.raises(LipstickError, match=r"given\.yaml"):
            read(path)
    result = CliRunner().invoke(main, ["workflow", "validate", str(path)])
    assert result.exit_code == 2
    assert "given.yaml" in result.stderr


def test_deep_json_of_inputs(tmp_path: Path) -> None:
    path = tmp_path / "given.json"
    path.write_text("[" * 100_000)
    with pytest.raises(LipstickError, match=r"given\.json cannot be read"):
        read_inputs(path)

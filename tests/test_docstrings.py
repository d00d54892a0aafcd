"""The examples in docstrings run, and give what they say."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("graphquery", "lipstick", "rewriter", "semiring")
OF_A_SESSION = {
    "lipstick",
    "lipstick.display.progress_line",
    "lipstick.questions.scenarios",
    "lipstick.questions.valuation",
}
"""Modules whose examples are about a session of Spark, which other tests have."""
EXAMPLE = re.compile(r"^ *>>> ", re.MULTILINE)


def _modules() -> list[str]:
    """Return the modules that have an example."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    names = (
        path.relative_to(ROOT).with_suffix("") for path in paths if EXAMPLE.search(texts[path])
    )
    return [".".join(name.parts).removesuffix(".__init__") for name in names]


MODULES = _modules()


@pytest.mark.parametrize("name", [name for name in MODULES if name not in OF_A_SESSION])
def test_examples_run(name: str) -> None:
    """An example of a docstring gives what it says."""
    result = doctest.testmod(import_module(name))
    assert result.attempted
    assert result.failed == 0


def test_modules_that_need_a_session_have_examples() -> None:
    assert set(MODULES) >= OF_A_SESSION

"""The measures of imports, and their limits; `./dev check` takes the measures themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports import LARGEST_CIRCLE, SESSION_MODULES, largest_circle, problems
from tests.sizes import ROOT


def test_the_largest_circle(tmp_path: Path) -> None:
    """Imports of types and those inside of functions count; a module that imports none is none."""
    texts = {
        "__init__": "",
        "a": "from lipstick import b\n",
        "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lipstick.c import X\n",
        "c": "def late():\n    import lipstick.a\n",
        "d": "from lipstick.a import Y\nfrom lipstick.e import Z\n",
        "e": "import lipstick.d\n",
    }
    (tmp_path / "lipstick").mkdir()
    for name, text in texts.items():
        (tmp_path / "lipstick" / f"{name}.py").write_text(text)
    assert largest_circle(tmp_path) == ["lipstick.a", "lipstick.b", "lipstick.c"]
    (tmp_path / "lipstick" / "c.py").write_text("")
    assert largest_circle(tmp_path) == ["lipstick.d", "lipstick.e"]


def test_a_measure_that_grows_is_a_problem() -> None:
    circle = [f"m{number}" for number in range(LARGEST_CIRCLE + 1)]
    longer, more = problems(circle, SESSION_MODULES + 1)
    assert f"has {LARGEST_CIRCLE + 1} modules" in longer
    assert "\n  m0" in longer
    assert f"loads {SESSION_MODULES + 1} modules" in more
    assert list(problems(circle[1:], SESSION_MODULES)) == []


def test_packages_below_name_no_package_above() -> None:
    """Not even by a text, which the contracts of imports do not see."""
    above = {"graphquery": ("lipstick", "rewriter"), "rewriter": ("lipstick", "graphquery")}
    above["semiring"] = ("lipstick", "rewriter", "graphquery")
    wrong = [
        f"{path}: {line}"
        for package, names in above.items()
        for path in (ROOT / package).rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if "import_module(" in line and any(f'"{name}' in line for name in names)
    ]
    assert wrong == []


@pytest.mark.parametrize("library", ["pandas", "sympy", "networkx", "pyarrow.dataset"])
def test_a_session_is_imported_without(library: str) -> None:
    """They take longer than all else, and few questions need them."""
    code = f"import sys; from lipstick import session; print({library!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_captures_are_opened_without_pyspark() -> None:
    """Whoever only asks saved captures has neither Spark nor Java."""
    code = (
        "import sys; sys.modules['pyspark'] = sys.modules['py4j'] = None\n"
        "import lipstick.capture.capture, lipstick.explorer.explorer, lipstick.cli.explore"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

"""The rings of the code: the contract of imports, and which tests prove a ring alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from grimp import ImportGraph

from tests import rings as r
from tests.imports import session_modules
from tests.ring_contract import RingsContract
from tests.rings import NAMES, PROVEN, ROOT, copy, names_in, ring_of_module, rings

LEAST = {"core": 150, "graphs": 60, "tools": 20, "systems": 60}
"""Files of tests that a ring has, at least."""


def contract(**places: list[str]) -> RingsContract:
    options = {name: places.get(name, []) for name in NAMES}
    return RingsContract("rings", {}, options)


def test_a_ring_imports_only_inwards() -> None:
    graph = ImportGraph()
    for module in ("lipstick", "lipstick.a", "lipstick.cli", "graphquery"):
        graph.add_module(module)
    rules = contract(core=["lipstick"], graphs=["graphquery"], tools=["lipstick.cli"])
    graph.add_import(importer="lipstick.cli", imported="lipstick.a")
    graph.add_import(importer="lipstick", imported="lipstick.cli")
    assert rules.check(graph, verbose=False).kept
    graph.add_import(importer="lipstick.a", imported="lipstick.cli")
    graph.add_import(importer="graphquery", imported="lipstick.cli")
    broken = rules.check(graph, verbose=False)
    assert broken.metadata["outwards"] == [
        ("graphquery", "lipstick.cli"),
        ("lipstick.a", "lipstick.cli"),
    ]


def test_a_session_loads_modules_of_the_core_alone() -> None:
    """They are the kernel."""
    loaded = session_modules()
    assert len(loaded) > 200
    assert [each for each in loaded if ring_of_module(each, rings()) != "core"] == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from lipstick.cli import main\n", {"lipstick.cli", "lipstick.cli.main"}),
        ("lipstick.explore(q)", {"lipstick.explorer.opening"}),
        ("from lipstick import Session\n", {"lipstick", "lipstick.sessions"}),
        ('patch("graphquery.store.log._x")', {"graphquery.store.log._x"}),
        ('ROOT / "lipstick/demo"', {"lipstick.demo"}),
    ],
)
def test_tests_name_what_they_use(text: str, names: set[str]) -> None:
    assert names_in(text) == names


@pytest.mark.parametrize("ring", PROVEN)
def test_a_ring_has_tests_of_its_own(ring: str) -> None:
    assert len(r.tests_of(ring)) >= LEAST[ring]


def test_a_copy_has_the_ring_and_those_within_it(tmp_path: Path) -> None:
    tests = copy("core", tmp_path)
    assert (tmp_path / "lipstick/systems/__init__.py").is_file()
    assert (tmp_path / "rewriter/dialect/__init__.py").is_file()
    gone = ("graphquery", "lipstick/cli", "lipstick/systems/dbt", "benchmark_workflowgen")
    assert [each for each in gone if (tmp_path / each).exists()] == []
    assert tmp_path / "tests/lipstick/engines/memory/test_what_if.py" in tests
    assert tmp_path / "tests/oracle/test_aggregates.py" not in tests
    assert (tmp_path / "tests/oracle/test_aggregates.py").is_file()  # test_anew.py imports it
    assert (ROOT / "graphquery").is_dir()

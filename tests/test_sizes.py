"""The budgets of the rings."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from tests.rings import NAMES, ROOT, ring_of, rings
from tests.sizes import (
    LISTED,
    Size,
    budgets,
    lowered,
    problems,
    size_of,
    sizes,
)

TEXT = '''"""A docstring."""

# A comment.
def f(
    a: int,
) -> int:
    """Another."""
    if a:
        return g(
            a,
        )
    return 1
'''


def test_layout_comments_and_docstrings_have_no_size() -> None:
    """Four statements; the call stands on three lines, and heads on one each."""
    assert size_of(TEXT) == Size(4, 6)
    assert size_of('x: int = 1\n"""What x is."""\n') == Size(1, 1)


@pytest.mark.parametrize(
    ("path", "ring"),
    [
        ("lipstick/sessions.py", "core"),
        ("lipstick/watching/session.py", "tools"),
        ("lipstick/explorer/saved.py", "tools"),
        ("lipstick/systems/dbt/models.py", "systems"),
        ("lipstick/systems/__init__.py", "core"),
        ("rewriter/emit/core.py", "core"),
        ("rewriter/streaming/late.py", "systems"),
        ("graphquery/graph.py", "graphs"),
    ],
)
def test_the_longest_place_decides_the_ring(path: str, ring: str) -> None:
    assert ring_of(path) == ring


def test_places_of_rings_are_there() -> None:
    places = [ROOT.joinpath(*each.split(".")) for each in chain(*rings().values())]
    assert [p for p in places if not (p.is_dir() or p.with_suffix(".py").is_file())] == []


def test_sizes_are_summed_by_ring(tmp_path: Path) -> None:
    for name in ("lipstick/memory/rows.py", "lipstick/sessions.py", "lipstick/cli/main.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a = 1\nb = (\n    2\n)\n")
    (tmp_path / "other.py").write_text("a = 1\n")
    found = sizes(tmp_path)
    assert (found["core"], found["tools"], found["graphs"]) == (Size(4, 8), Size(2, 4), Size(0, 0))


def test_a_fragment_asks_for_what_a_ring_may_grow_by() -> None:
    listed = "# title\ncore 100 300\ntools 10 20\n"
    asked = "Frames are asked.\n\nSize: core +5 statements, +9 lines for questions about frames.\n"
    most = budgets(listed, asked)
    assert most == {"core": Size(105, 309), "tools": Size(10, 20)}
    assert list(problems({"core": Size(105, 309), "tools": Size(9, 20)}, most)) == []
    (line,) = problems({"core": Size(104, 310), "tools": Size(10, 20)}, most)
    assert line.startswith("The ring core has 104 statements on 310 lines, and may have 105 on 309")
    unexplained = "Size: core +5 statements, +9 lines for \n"
    assert budgets(listed, unexplained)["core"] == Size(100, 300)


def test_budgets_only_fall_when_they_are_written() -> None:
    listed = {ring: Size(10, 20) for ring in NAMES}
    found = {**listed, "core": Size(9, 30), "tools": Size(12, 15)}
    written = budgets(lowered(found, listed), "")
    assert written == {**listed, "core": Size(9, 20), "tools": Size(10, 15)}


def test_every_ring_has_a_budget() -> None:
    assert budgets(LISTED.read_text("utf-8"), "").keys() == set(NAMES)

"""Mutants of a small module, and which lines tests run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.mutation import reached
from tests.mutation.__main__ import outcomes, survivors
from tests.mutation.mutants import all_mutants, mutants
from tests.mutation.plugin import SURVIVED

SOURCE = """
def smaller(x, y):
    if x < y and list(zip(x, y, strict=True)):
        return x
    print(x)
    return None
"""


def test_changes_of_a_module(tmp_path: Path) -> None:
    path = tmp_path / "small.py"
    path.write_text(SOURCE)
    changes = {(mutant.line, mutant.change) for mutant in all_mutants(path)}
    assert changes == {
        (3, "condition negated"),
        (3, "And to Or"),
        (3, "Lt to LtE"),
        (4, "None returned"),
        (5, "call left out"),
    }
    assert [mutant.line for mutant in mutants(path, 10)] == [3, 4, 5]


def test_survivors_are_the_mutants_that_were_written(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    mutant, killed = mutants(Path(reached.__file__), 2)
    lines = [
        {**mutant.described(root), "outcome": SURVIVED},
        {**killed.described(root), "outcome": "killed"},
    ]
    output = tmp_path / "outcomes"
    output.write_text("\n".join(map(json.dumps, lines)))
    assert survivors(output, []) == survivors(output, [mutant.path]) == [mutant]
    assert survivors(output, [tmp_path]) == []
    assert list(outcomes(output).values()) == [SURVIVED, "killed"]


def test_lines_that_run_for_a_test_and_for_what_it_waits_for() -> None:
    lines = reached.Lines({__file__: set(range(1, 100))})
    with lines.collected("test"):
        first = helper()
        with lines.collected("fixture"):
            helper()
    helper()
    assert lines.of("test") == lines.of("fixture") == lines.of("test", "fixture") == {first}
    assert reached.Lines({}).of("test") == set()


def helper() -> tuple[str, int]:
    return __file__, helper.__code__.co_firstlineno + 1

"""Every rule has a fixture: a script, the graph that the rule finds, and the one it makes of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lipstick.systems.scripts.facts import catalogue
from lipstick.systems.scripts.reading.read import read
from lipstick.systems.scripts.rules import RULES, Rule, rewrite
from lipstick.systems.scripts.script_text import script_of
from tests.lipstick.systems.scripts.graphs import drawn

FIXTURES = Path(__file__).parent / "rules"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_makes_its_right_hand_side(rule: Rule) -> None:
    script = (FIXTURES / f"{rule.__name__}.script").read_text()
    graph = read(script_of(script), catalogue()).graph
    rewrite(graph, RULES[: RULES.index(rule)])
    before = drawn(graph)
    applied = rule(graph)
    assert applied > 0
    assert rule(graph) in (0, applied), "a second application finds nothing new"
    text = f"{before}\n=>\n\n{drawn(graph)}"
    fixture = FIXTURES / f"{rule.__name__}.graph"
    if os.environ.get("LIPSTICK_WRITE_FIXTURES"):
        fixture.write_text(text)
    assert text == fixture.read_text()


def test_every_fixture_has_a_rule() -> None:
    assert {path.stem for path in FIXTURES.iterdir()} == {rule.__name__ for rule in RULES}

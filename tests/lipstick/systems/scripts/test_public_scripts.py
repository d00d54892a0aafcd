"""Scripts and notebooks in the manner of public ones: graphs, slices, opaque parts, execution."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from semiring.semirings import Boolean
from tests.lipstick.systems.scripts.public_checks import check
from tests.lipstick.systems.scripts.public_scripts import PUBLIC, PublicScript

SAMPLE = [script for script in PUBLIC if script.is_runnable][::11]
"""Those that are also run; ``python -m tests.lipstick.systems.scripts.public_checks`` runs all."""


def test_all_have_graphs_and_slices_that_are_programs(tmp_path: Path) -> None:
    assert len(PUBLIC) >= 190
    for script in PUBLIC:
        provenance = script.provenance(tmp_path)
        assert provenance.graph().evaluate(Boolean()) is not None, script.name
        opaque = {item.why for item in provenance.opaque}
        for node in provenance.final.nodes.values():
            assert node.unknown is None or node.unknown in opaque, script.name
        criteria = (*provenance.variables, *provenance.outputs)
        assert criteria, script.name
        for criterion in criteria[::4]:
            answer = provenance.depends(criterion)
            assert answer.lines, (script.name, criterion)
            ast.parse(provenance.slice(criterion))


def test_what_is_not_followed_is_listed_with_its_line(tmp_path: Path) -> None:
    opaque = {
        script.title: {item.why for item in script.provenance(tmp_path).opaque}
        for script in PUBLIC
        if script.title in ("house prices", "shell and magics", "plugin registry", "orders cleaned")
    }
    assert "a magic or command is not followed" in opaque["shell and magics"]
    assert opaque["house prices"] == set()
    assert "what REGISTRY[name] calls is not plain from the text" in opaque["plugin registry"]
    assert opaque["orders cleaned"] == set()


@pytest.mark.parametrize("script", SAMPLE, ids=lambda script: script.name)
def test_graphs_hold_what_a_run_shows(
    script: PublicScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    checked = check(script, tmp_path / "run", mutations=4)
    assert checked.ran
    assert checked.wrong == []

"""An object is changed by whatever name and means: slices that are certain have the change."""

from __future__ import annotations

import ast

import pytest

from lipstick.systems.scripts import text_provenance
from tests.lipstick.systems.scripts.change_programs import OBJECTS, PATHS, programs
from tests.lipstick.systems.scripts.execution import NotEndedError, run, shown


@pytest.mark.many(62)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("made", OBJECTS)
def test_slices_have_the_changes_of_objects(made: str, path: str) -> None:
    for change, text in programs(made, path):
        try:
            whole = run(ast.parse(text))
        except NotEndedError:
            continue  # this object cannot be changed so
        provenance = text_provenance(text)
        if provenance.depends("z").certain:
            alone = run(ast.parse(provenance.slice("z")))
            assert shown(alone["z"]) == shown(whole["z"]), change

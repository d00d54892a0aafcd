"""Cells and columns that are named against changed cells; the command has sixty queries."""

from __future__ import annotations

import pytest

from tests.oracle.perturbed import PerturbedQuery, generate, hold


@pytest.mark.parametrize("seed", [2, 19, 40])
def test_cells_that_change_a_value_are_named_and_others_are_not(seed: int) -> None:
    held = hold(generate(seed))
    assert (held.missed, held.silent, held.refused) == ((), (), 0)
    assert held.named > 0
    assert held.changed > 0


def test_a_cell_that_no_one_names_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    query = PerturbedQuery("SELECT o.id AS n, o.pieces + o.price AS v FROM o", generate(0).rows)
    monkeypatch.setattr("tests.oracle.perturbed._cited", lambda found: {})
    assert any(each.startswith("where c1 of 10: ('o', 10, 'price')") for each in hold(query).missed)

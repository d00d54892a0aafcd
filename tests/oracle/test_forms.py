"""The generator makes every form of query, and often enough for a run of a few hundred."""

from __future__ import annotations

from tests.oracle.forms import census


def test_every_form_is_made() -> None:
    rare = {name: count for name, count in census(range(400)).items() if count < 3}
    assert not rare

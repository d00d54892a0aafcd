"""The names of frames and captures, and where those are that they had before."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from lipstick import Algebra, AnnotatedFrame, Capture, QueryPlan
from lipstick.questions.methods import _MOVED
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

CARS = Relation("cars", ("car",), "car string", pa.table({"car": ["C1", "C2"]}))


@pytest.fixture
def capture(tmp_path: Path) -> Capture:
    return write_capture("SELECT car FROM cars", Database({"cars": CARS}), tmp_path)


@pytest.mark.parametrize("name", sorted(_MOVED))
def test_names_that_moved_say_where_they_are(capture: Capture, name: str) -> None:
    """They are at this place, and no longer names of frames."""
    assert not hasattr(AnnotatedFrame, name)
    place, _, attribute = _MOVED[name].removeprefix("q.").partition(".")
    if kind := {"algebra": Algebra, "plan": QueryPlan}.get(place):
        assert attribute == name
        assert hasattr(kind, name)
    if name not in ("ancestry", "annotated", "dropped"):  # captures say of these what they have
        told = re.escape(f"Capture.{name} is now {_MOVED[name]}.")
        with pytest.raises(AttributeError, match=f"^{told}$"):
            getattr(capture, name)


def test_what_failed_inside_of_a_property_is_shown(capture: Capture) -> None:
    with pytest.raises(AttributeError, match="'Capture' object has no attribute 'polynomial'"):
        capture.polynomial  # type: ignore[attr-defined]  # noqa: B018


def test_frames_have_few_names() -> None:
    names = [name for name in dir(AnnotatedFrame) if not name.startswith("_")]
    assert len(names) <= 30

"""The binder by cases: a text, and the plan or the refusal that it becomes.

``cases/<name>.input.sql`` goes with ``<name>.expected.txt``, the rendered plan, or with
``<name>.error.txt``, the kind of error and its message.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rewriter.bind import bind
from rewriter.catalog import MemoryCatalog
from rewriter.errors import QueryError
from rewriter.render import render

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name.removesuffix(".input.sql") for path in CASES.glob("*.input.sql"))


def outcome(sql: str, catalog: MemoryCatalog) -> tuple[str, str]:
    """Return the suffix of the file that holds the outcome, and its text."""
    try:
        return "expected", render(bind(sql, catalog).root) + "\n"
    except QueryError as error:
        return "error", f"{type(error).__name__}: {error}\n"


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str, catalog: MemoryCatalog) -> None:
    """The text becomes the plan, or the error, that its fixture holds."""
    sql = (CASES / f"{name}.input.sql").read_text().rstrip("\n")
    kind, text = outcome(sql, catalog)
    path = CASES / f"{name}.{kind}.txt"
    assert path.exists(), f"there is no {path.name} for:\n{text}"
    assert text == path.read_text()


def test_no_orphans() -> None:
    """Every file is a text with one outcome, or the one outcome of a text."""
    assert len(NAMES) >= 70
    files = {path.name for path in CASES.iterdir()}
    wanted = {f"{name}.input.sql" for name in NAMES}
    for name in NAMES:
        outcomes = {f"{name}.expected.txt", f"{name}.error.txt"} & files
        assert len(outcomes) == 1, f"{name} has {len(outcomes)} outcomes"
        wanted |= outcomes
    assert files == wanted

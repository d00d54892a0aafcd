"""The binder by cases: a text, and the plan or the refusal that it becomes.

``cases/<name>.input.sql`` goes with ``<name>.expected.txt``, the rendered plan, or with
``<name>.error.txt``, the kind of error and its message.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rewriter.algebra.rendering import render
from rewriter.bind import Query, bind
from rewriter.bind.catalog import MemoryCatalog, TableFunction
from rewriter.errors import QueryError
from tests.rewriter.cases import ADVISED, check, names, orphans

CASES = Path(__file__).parent / "cases"
KINDS = ("expected.txt", "error.txt")
FUNCTIONS = {"words", "parts", "middle"}
"""Registered functions: `middle` is an aggregate, the others make tables."""


def outcome(sql: str, catalog: MemoryCatalog) -> dict[str, str]:
    """Return the outcome by the suffix of the file that holds it."""
    try:
        return {"expected.txt": render(bound(sql, catalog).root) + "\n"}
    except QueryError as error:
        return {"error.txt": f"{type(error).__name__}: {error}\n"}


def bound(sql: str, catalog: MemoryCatalog) -> Query:
    """Return a query bound to a catalog, with what the cases register."""
    tables = {"words": TableFunction("words_carrier", ("word", "size"))}
    return bind(sql, catalog, functions=FUNCTIONS, aggregates={"middle"}, tables=tables, levels={})


@pytest.mark.parametrize("name", names(CASES))
def test_case(name: str, catalog: MemoryCatalog) -> None:
    """The text becomes the plan, or the error, that its fixture holds."""
    sql = (CASES / f"{name}.input.sql").read_text().rstrip("\n")
    check(CASES, name, outcome(sql, catalog), KINDS)


def test_no_orphans() -> None:
    """Every file belongs to a case."""
    assert len(names(CASES)) >= 70
    assert not orphans(CASES, (*KINDS, ADVISED))

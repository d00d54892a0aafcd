"""The binder by cases: a text, and the plan or the refusal that it becomes.

Of the files of ``cases/``, ``expected`` is the rendered plan, ``error`` the kind of error and its
message.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rewriter.algebra.rendering import render
from rewriter.bind import BoundQuery, Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TableFunction
from rewriter.errors import QueryError
from tests.rewriter.cases import ADVISED, ERROR, EXPECTED, Case, cases, check, strays

CASES = Path(__file__).parent / "cases"
KINDS = (EXPECTED, ERROR)
FUNCTIONS = {"words", "parts", "middle"}
"""Registered functions: `middle` is an aggregate, the others make tables."""


def outcome(sql: str, catalog: MemoryCatalog) -> dict[str, str]:
    """Return the outcome by the section that holds it."""
    try:
        return {EXPECTED: render(bound(sql, catalog).root)}
    except QueryError as error:
        return {ERROR: f"{type(error).__name__}: {error}"}


def bound(sql: str, catalog: MemoryCatalog) -> BoundQuery:
    """Return a query bound to a catalog, with what the cases register."""
    tables = {"words": TableFunction("words_carrier", ("word", "size"))}
    return bind_query(
        sql,
        Environment(catalog, functions=FUNCTIONS, aggregates={"middle"}, tables=tables, levels={}),
    )


@pytest.mark.parametrize("case", cases(CASES).values(), ids=str)
def test_case(case: Case, catalog: MemoryCatalog) -> None:
    """The text becomes the plan, or the error, that its fixture holds."""
    check(case, outcome(case.given, catalog), KINDS)


def test_no_strays() -> None:
    """Every file has cases, and every section is compared."""
    assert len(cases(CASES)) > 400
    assert not strays(CASES, (*KINDS, ADVISED))

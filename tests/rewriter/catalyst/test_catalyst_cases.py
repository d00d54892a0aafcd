"""Plans as Spark 4.3 writes them, and the texts that they become."""

import json
from pathlib import Path

import pytest

from rewriter.errors import QueryError
from rewriter.frames.catalyst import query_text
from tests.rewriter.cases import ERROR, EXPECTED, Case, cases, check, strays

FOLDER = Path(__file__).parent / "cases"
KINDS = (EXPECTED, ERROR)


@pytest.mark.parametrize("case", cases(FOLDER).values(), ids=str)
def test_case(case: Case) -> None:
    plan = json.loads(case.given)
    try:
        outcome = {EXPECTED: query_text(plan)}
    except QueryError as error:
        outcome = {ERROR: f"{type(error).__name__}: {error}"}
    check(case, outcome, KINDS)


def test_no_strays() -> None:
    assert len(cases(FOLDER)) > 60
    assert not strays(FOLDER, KINDS)

"""Plans as Spark 4.3 writes them, and the texts that they become."""

import json
from pathlib import Path

import pytest

from rewriter.errors import QueryError
from rewriter.frames.catalyst import query_text
from tests.rewriter.cases import check, names, orphans

FOLDER = Path(__file__).parent / "cases"
KINDS = ("expected.sql", "error.txt")


@pytest.mark.parametrize("name", names(FOLDER, "plan.json"))
def test_case(name: str) -> None:
    plan = json.loads((FOLDER / f"{name}.plan.json").read_text())
    try:
        found = {"expected.sql": query_text(plan) + "\n"}
    except QueryError as error:
        found = {"error.txt": f"{type(error).__name__}: {error}\n"}
    check(FOLDER, name, found, KINDS)


def test_no_orphans() -> None:
    assert orphans(FOLDER, KINDS, "plan.json") == set()

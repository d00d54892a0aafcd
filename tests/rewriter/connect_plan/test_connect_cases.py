"""Plans of the Connect protocol, as its client makes them, and the texts that they become."""

import json
from pathlib import Path

import pytest

from rewriter.connect_plan import query_text
from rewriter.errors import QueryError
from tests.rewriter.cases import check, names, orphans

FOLDER = Path(__file__).parent / "cases"
KINDS = ("expected.sql", "error.txt")
CALLED = {
    "pivot": ["k", "a"],
    "pivot_of_expression": ["k", "a"],
    "text": ["k", "n"],
    "text_of_equal_names": ["k", "K"],
}
"""The names that Spark gives to a relation's columns, where not all are written."""

NAMES = [f"name {number}" for number in range(9)]


@pytest.mark.parametrize("name", names(FOLDER, "plan.json"))
def test_case(name: str) -> None:
    relation = json.loads((FOLDER / f"{name}.plan.json").read_text())
    try:
        text = query_text(relation, ["l", "r"], lambda relation: CALLED.get(name, NAMES))
        found = {"expected.sql": text + "\n"}
    except QueryError as error:
        found = {"error.txt": f"{type(error).__name__}: {error}\n"}
    check(FOLDER, name, found, KINDS)


def test_no_orphans() -> None:
    assert orphans(FOLDER, KINDS, "plan.json") == set()

"""Plans of the Connect protocol, as its client makes them, and the texts that they become."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rewriter.errors import QueryError
from rewriter.frames.connect_plan import query_text
from tests.rewriter.cases import ERROR, EXPECTED, Case, cases, check, strays

FOLDER = Path(__file__).parent / "cases"
KINDS = (EXPECTED, ERROR)
JOINED = [(name, "integer") for name in ("id", "k", "v", "rid", "k", "w")]
CALLED = {
    "drop na same names": JOINED,
    "fill na same names": JOINED,
    "pivot": [("k", "integer"), ("a", "integer")],
    "pivot of expression": [("k", "integer"), ("a", "integer")],
    "star of struct": [("id", "integer"), ("k", "integer")],
    "text": [("k", "integer"), ("n", "integer")],
    "text of equal names": [("k", "integer"), ("K", "integer")],
    "text over frame": [("k", "integer"), ("n", "integer")],
    "text with parameters": [("k", "integer"), ("n", "integer")],
    "text with named values": [(column, "integer") for column in ("id", *"abcde")],
    "text with placed values": [("id", "integer"), ("v", "string")],
    "union missing columns": [("k", "integer")],
}
"""The columns that Spark says a relation has, where not all names are written."""

COLUMNS = [(f"name {number}", "integer") for number in range(9)]
TYPES = {"b": "boolean", "f": "float", "s": "string", "v": "string", "x": "double"}
"""The types of the columns of tracked relations that are not integers."""


def schema_of(name: str) -> Callable[[Mapping[str, Any]], Sequence[tuple[str, str]]]:
    """Return what tells the columns of the relations of a case."""

    def schema(relation: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
        if "tracked" in relation:
            return [
                (column, TYPES.get(column, "integer")) for column in relation["tracked"]["columns"]
            ]
        return CALLED.get(name, COLUMNS)

    return schema


@pytest.mark.parametrize("case", cases(FOLDER).values(), ids=str)
def test_case(case: Case) -> None:
    relation = json.loads(case.given)
    try:
        outcome = {EXPECTED: query_text(relation, ["l", "r"], schema_of(case.title))}
    except QueryError as error:
        outcome = {ERROR: f"{type(error).__name__}: {error}"}
    check(case, outcome, KINDS)


def test_no_strays() -> None:
    assert len(cases(FOLDER)) > 60
    assert not strays(FOLDER, KINDS)

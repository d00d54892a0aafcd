"""Plans of the Connect protocol, as its client makes them, and the texts that they become."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rewriter.errors import QueryError
from rewriter.frames.connect_plan import query_text
from tests.rewriter.cases import check, names, orphans

FOLDER = Path(__file__).parent / "cases"
KINDS = ("expected.sql", "error.txt")
JOINED = [(name, "integer") for name in ("id", "k", "v", "rid", "k", "w")]
CALLED = {
    "drop_na_same_names": JOINED,
    "fill_na_same_names": JOINED,
    "pivot": [("k", "integer"), ("a", "integer")],
    "pivot_of_expression": [("k", "integer"), ("a", "integer")],
    "star_of_struct": [("id", "integer"), ("k", "integer")],
    "text": [("k", "integer"), ("n", "integer")],
    "text_of_equal_names": [("k", "integer"), ("K", "integer")],
    "text_over_frame": [("k", "integer"), ("n", "integer")],
    "text_with_parameters": [("k", "integer"), ("n", "integer")],
    "text_with_named_values": [(one, "integer") for one in ("id", *"abcde")],
    "text_with_placed_values": [("id", "integer"), ("v", "string")],
    "union_missing_columns": [("k", "integer")],
}
"""The columns that Spark says a relation has, where not all names are written."""

COLUMNS = [(f"name {number}", "integer") for number in range(9)]
TYPES = {"b": "boolean", "f": "float", "s": "string", "v": "string", "x": "double"}
"""The types of the columns of tracked relations that are no integers."""


def schema_of(name: str) -> Callable[[Mapping[str, Any]], Sequence[tuple[str, str]]]:
    """Return what tells the columns of the relations of a case."""

    def schema(relation: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
        if "tracked" in relation:
            return [(one, TYPES.get(one, "integer")) for one in relation["tracked"]["columns"]]
        return CALLED.get(name, COLUMNS)

    return schema


@pytest.mark.parametrize("name", names(FOLDER, "plan.json"))
def test_case(name: str) -> None:
    relation = json.loads((FOLDER / f"{name}.plan.json").read_text())
    try:
        text = query_text(relation, ["l", "r"], schema_of(name))
        found = {"expected.sql": text + "\n"}
    except QueryError as error:
        found = {"error.txt": f"{type(error).__name__}: {error}\n"}
    check(FOLDER, name, found, KINDS)


def test_no_orphans() -> None:
    assert orphans(FOLDER, KINDS, "plan.json") == set()

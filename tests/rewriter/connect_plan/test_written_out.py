"""Expressions that mean what the columns below them are: by Spark's answer about these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rewriter.frames.connect_plan import query_text, written_out

TRACKED = {"common": {"plan_id": "1"}, "tracked": {"name": "t", "columns": ["id", "p", "q_1"]}}
INNER = {"type": "struct", "fields": [{"name": "c", "type": "integer"}]}
STRUCT = {
    "type": "struct",
    "fields": [{"name": "a", "type": "integer"}, {"name": "B", "type": INNER}],
}
P = {"unresolved_attribute": {"unparsed_identifier": "p"}}
ONE = {"literal": {"integer": 1}}


def schema_of(relation: Mapping[str, Any]) -> list[tuple[str, Any]]:
    if "project" in relation:
        assert relation["project"]["expressions"] == [P]
        return [("p", STRUCT)]
    return [("id", "integer"), ("p", STRUCT), ("q_1", "integer")]


def update(struct: Any, name: str, value: Any = None) -> dict[str, Any]:
    change = {"struct_expression": struct, "field_name": name}
    return {"update_fields": change | ({} if value is None else {"value_expression": value})}


def text(*expressions: Any) -> str:
    plan = {
        "common": {"plan_id": "2"},
        "project": {"input": TRACKED, "expressions": list(expressions)},
    }
    written = written_out(plan, schema_of)
    words = " ".join(query_text(written, ["t"], schema_of).split())
    return words.replace("( ", "(").replace(" )", ")")


@pytest.mark.parametrize(
    ("expression", "fields"),
    [
        (update(P, "c", ONE), "'a', t.p.`a`, 'B', t.p.`B`, 'c', 1"),
        (update(P, "A", ONE), "'A', 1, 'B', t.p.`B`"),
        (update(P, "a"), "'B', t.p.`B`"),
        (update(P, "unknown"), "'a', t.p.`a`, 'B', t.p.`B`"),
        (update(update(P, "a"), "d", ONE), "'B', t.p.`B`, 'd', 1"),
        (
            update(P, "B.d", ONE),
            "'a', t.p.`a`, 'B', if(t.p.`B` IS NULL, NULL, named_struct('c', t.p.`B`.`c`, 'd', 1))",
        ),
    ],
)
def test_changes_of_fields_are_the_struct_that_they_make(expression: Any, fields: str) -> None:
    named = {"alias": {"expr": expression, "name": ["p"]}}
    assert text(named) == (f"SELECT if(t.p IS NULL, NULL, named_struct({fields})) AS p FROM t")


@pytest.mark.parametrize(
    ("pattern", "columns"),
    [("`q_.*`", "t.q_1"), ("`(ID|p)`", "t.id, t.p"), ("`(id)?+.+`", "t.p, t.q_1")],
)
def test_regular_expressions_choose_columns(pattern: str, columns: str) -> None:
    assert text({"unresolved_regex": {"col_name": pattern}}) == f"SELECT {columns} FROM t"

"""Views of captures hold what the same questions to the capture itself answer."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lipstick.capture.capture import Capture
from lipstick.capture.manifest import RelationRecord
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures import what_if
from lipstick.explorer.captures.input_rows import looked_up
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.captures.why import annotation as annotation_but_for_limit
from lipstick.explorer.cells import cell, cells
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.explorer import Explorer
from lipstick.explorer.params import Params
from lipstick.questions.what_if import WhatIf
from semiring import semirings
from semiring.analysis import shapley
from tests.lipstick.explorer.conftest import ask

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]

NAMES = ["q3", "orders", "suppliers", "hostile"]
Open = Callable[[str], Capture]


def tokens(tree: dict[str, Any]) -> set[tuple[str, str]]:
    """The tokens of a formula."""
    if tree["op"] == "token":
        return {(tree["relation"], tree["text"])}
    return set().union(*(tokens(part) for part in tree.get("parts", ())))


@pytest.mark.parametrize("name", NAMES)
def test_why_has_the_tokens_of_the_annotation(capture: Open, name: str) -> None:
    opened = capture(name)
    source = CaptureSource(name, opened)
    for row_number, (row, _) in enumerate(opened.polynomials(limit=8)):
        answer = ask(source, "why", row=row_number, terms=600)
        assert answer["cells"] == [cell(value) for value in row.values()]
        at = opened.memory.engine.base(opened.manifest.root.name).ordered[
            row_number : row_number + 1
        ]
        annotation = annotation_but_for_limit(opened.memory, at)
        # Conditions are cut short: their tokens are those of the row's inputs all the same.
        listed = {
            (each["relation"], label) for each in answer["inputs"] for label in each["labels"]
        }
        shown = {(t.relation, cell("|".join(map(str, t.key))) or "·") for t in annotation.tokens}
        assert {relation for relation, _ in listed} == {relation for relation, _ in shown}
        assert len(listed) == len(shown)
        assert tokens(answer["annotation"]) <= listed
        mask = pa.array([number == row_number for number in range(len(opened.memory.answer()))])
        lineage = opened.memory.lineage(mask)
        assert {each["relation"]: each["count"] for each in answer["inputs"]} == {
            relation: table.num_rows for relation, table in lineage.items()
        }
        assert ask(source, "members", row=row_number)["total"] == answer["members"]


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_rest_on_an_input_are_those_with_it_in_their_lineage(
    capture: Open, name: str
) -> None:
    opened = capture(name)
    source = CaptureSource(name, opened)
    count = min(12, len(opened.memory.answer()))
    made: dict[tuple[str, tuple[str | None, ...]], set[int]] = {}
    for row in range(count):
        mask = pa.array([number == row for number in range(len(opened.memory.answer()))])
        for relation, keys in opened.memory.lineage(mask).items():
            for key in cells(keys, None):
                made.setdefault((relation, tuple(key)), set()).add(row)
    for (relation, key), rows in list(made.items())[:40]:
        followed = ask(source, "follow", relation=relation, key=list(key))
        assert {place for place in followed["places"] if place < count} >= rows
        if followed["total"] == len(followed["places"]):
            assert {place for place in followed["places"] if place < count} == rows
    assert ask(source, "search", text="")["found"] == []


def _changes(found: WhatIf[pa.Table]) -> list[dict[str, Any]]:
    """The changes of an answer; rows that LIMIT leaves out as they would be, with their place."""
    changes: list[dict[str, Any]] = found.changes.to_pylist()
    assert found.cut is not None
    for row in found.cut.to_pylist():
        change = changes[row.pop("_row")]
        assert (change["_change"], change["new"]) == ("deleted", None)
        change |= {"place": row.pop("_place"), "new": row}
    return changes


def _differing(found: WhatIf[pa.Table]) -> list[dict[str, Any]]:
    return [row for row in _changes(found) if row["_change"] != "unchanged"]


@pytest.mark.parametrize("name", NAMES)
def test_what_if_is_the_captures_own(capture: Open, name: str) -> None:
    opened = capture(name)
    source = CaptureSource(name, opened)
    changed = 0
    for row_number in range(min(3, len(opened.memory.answer()))):
        for each in ask(source, "why", row=row_number)["inputs"]:
            for some in (each["keys"][:1], each["keys"][:3], each["keys"]):
                scenario = {"delete": {each["relation"]: some}}
                (scenario_answer,) = ask(source, "what_if", scenarios=[scenario])["scenarios"]
                keys = _keys(opened, each["relation"], some)
                wanted = _differing(opened.what_if(delete={each["relation"]: keys}))
                assert scenario_answer["differing"] == len(wanted)
                assert [row["change"] for row in scenario_answer["rows"]] == [
                    r["_change"] for r in wanted
                ]
                for side in ("old", "new"):
                    told = [row[side] for row in scenario_answer["rows"]]
                    assert told == [
                        None if r[side] is None else [cell(v) for v in r[side].values()]
                        for r in wanted
                    ]
                changed += len(wanted)
    assert changed


def test_rows_of_a_scenario_stand_beside_the_answers_own(capture: Open) -> None:
    opened = capture("q3")
    source = CaptureSource("q3", opened)
    first = opened.memory.answer().column("l_orderkey")[0].as_py()
    scenario = {"delete": {"orders": [[str(first)]]}, "where": {"lineitem": "l_linenumber = 1"}}
    lines = what_if.deletion(opened, Params(scenario))["lineitem"]
    changes = _changes(opened.what_if(delete={"orders": [first], "lineitem": lines}))
    for params in ({}, {"differing": True}, {"differing": True, "sort": 1, "descending": True}):
        window = ask(source, "rows", scenario=scenario, **params)
        assert window["total"] == sum(
            row["_change"] != "unchanged" or not params for row in changes
        )
        for place, row, after in zip(
            window["places"], window["rows"], window["after"], strict=True
        ):
            change = changes[place]
            before = change["old"] or change["new"]
            assert (after or {}).get("place") == change.get("place")
            assert row == [cell(value) for value in before.values()]
            if after is None:
                assert change["_change"] == "unchanged"
                continue
            assert after["change"] == change["_change"]
            new = change["new"] and [cell(value) for value in change["new"].values()]
            assert after["cells"] == new
    assert {row["_change"] for row in changes} >= {"deleted", "added"}


def test_values_are_changed_as_the_capture_changes_them(
    capture: Open, tpch: Callable[[float], Path]
) -> None:
    opened = capture("suppliers")
    source = CaptureSource("suppliers", opened)
    rows = pq.read_table(tpch(0.01) / "supplier.parquet").to_pylist()
    for text, chosen, new in [
        ("s_acctbal = s_acctbal + 10 % where s_suppkey <= 40", 41, lambda v: v * Decimal("1.1")),
        ("s_acctbal = -1,000.5 where s_suppkey <= 7", 8, lambda _: Decimal("-1000.50")),
        ("S_ACCTBAL = null", 10**9, lambda _: None),
    ]:
        keys = [row["s_suppkey"] for row in rows if row["s_suppkey"] < chosen]
        values = [new(row["s_acctbal"]) for row in rows if row["s_suppkey"] < chosen]
        cents = [v and v.quantize(Decimal("0.01"), ROUND_HALF_UP) for v in values]
        table = pa.table({"s_suppkey": keys, "s_acctbal": pa.array(cents, pa.decimal128(15, 2))})
        changes = opened.what_if_updated({"supplier": table}).changes.to_pylist()
        (told,) = ask(source, "what_if", scenarios=[{"update": {"supplier": text}}])["scenarios"]
        assert told["updated"] == {"supplier": len(keys)}
        wanted = [row for row in changes if row["_change"] != "unchanged"]
        assert told["differing"] == len(wanted) > 0
        assert [row["new"] for row in told["rows"]] == [
            [cell(value) for value in row["new"].values()] for row in wanted
        ]


def _keys(opened: Capture, relation: str, keys: list[list[str]]) -> list[Any]:
    """Keys as values: through Arrow's own reading of text."""
    schema = opened._token_types()[relation]
    columns = [
        pa.array([key[number] for key in keys], pa.string()).cast(field.type).to_pylist()
        for number, field in enumerate(schema)
    ]
    rows = list(zip(*columns, strict=True))
    return [row[0] if len(row) == 1 else row for row in rows]


def test_values_add_up_from_their_contributions(capture: Open) -> None:
    opened = capture("q3")
    source = CaptureSource("q3", opened)
    for row_number, (row, tensor) in enumerate(opened.algebra.tensors("revenue", 10)):
        answer = ask(source, "value", row=row_number, column="revenue")
        told = sorted(bar["text"] for bar in answer["bars"])
        assert told == sorted(cell(value) for _, value in tensor.simple_tensors)
        assert sum(bar["value"] for bar in answer["bars"]) == pytest.approx(float(row["revenue"]))
        assert sum(bar["share"] for bar in answer["bars"]) == pytest.approx(1)
        assert answer["total"] == cell(row["revenue"])


def test_a_value_is_grouped_by_columns_of_the_sources(
    capture: Open, tpch: Callable[[float], Path]
) -> None:
    """The groups are those of the source's rows, listed with their columns, and kept in turn."""
    source = CaptureSource("suppliers", capture("suppliers"))
    rows = pq.read_table(tpch(0.01) / "supplier.parquet").to_pylist()
    nations = {
        row["n_name"]: row["n_nationkey"]
        for row in pq.read_table(tpch(0.01) / "nation.parquet").to_pylist()
    }
    for row_number, row in enumerate(capture("suppliers").memory.answer().to_pylist()[:5]):
        mine = {r["s_suppkey"]: r for r in rows if r["s_nationkey"] == nations[row["n_name"]]}
        question = {"row": row_number, "column": "total"}
        answer = ask(source, "value", **question)
        supplier = next(n for n, axis in enumerate(answer["axes"]) if axis["name"] == "supplier")
        keys = [int(bar["key"][0]) for bar in answer["bars"]]
        balances = [mine[key]["s_acctbal"] for key in keys]
        assert balances == sorted(balances, key=abs, reverse=True)
        assert len(keys) == len(mine) == answer["groups"]
        listed = ask(source, "listed", **question)
        names = [column["name"] for column in listed["columns"]]
        for key, shown in zip(keys, listed["rows"], strict=True):
            assert dict(zip(names, shown, strict=True)) == {n: cell(mine[key][n]) for n in names}
        by = {"axis": supplier, "column": "s_acctbal", "unit": "range"}
        ranges = ask(source, "value", by=by, **question)
        assert ranges["ordered"]
        assert sum(bar["value"] for bar in ranges["bars"]) == pytest.approx(float(row["total"]))
        kept = {"axis": supplier, "column": "s_acctbal", "unit": "range"}
        label = ranges["bars"][0]["label"]
        low, high = (float(end) for end in label.split(" to "))
        only = ask(source, "value", only=[{**kept, "labels": [label]}], **question)
        assert {int(bar["key"][0]) for bar in only["bars"]} == {
            key for key, r in mine.items() if low <= r["s_acctbal"] < high
        }


@pytest.mark.parametrize("column", ["total", "n", "best", "least"])
def test_a_value_without_a_group_is_what_if_of_it(capture: Open, column: str) -> None:
    opened = capture("suppliers")
    source = CaptureSource("suppliers", opened)
    for row_number, row in enumerate(opened.memory.answer().to_pylist()[:4]):
        answer = ask(source, "value", row=row_number, column=column)
        assert any(bar["decides"] for bar in answer["bars"]) <= (column in ("best", "least"))
        for bar in answer["bars"]:
            changes = opened.what_if(delete={"supplier": [int(bar["key"][0])]}).changes
            change = next(
                each
                for each in changes.to_pylist()
                if each["old"] is not None and each["old"]["n_name"] == row["n_name"]
            )
            assert bar["state"] == ("gone" if change["new"] is None else "there")
            assert bar["without"] == (change["new"] and cell(change["new"][column]))


def test_the_fewest_rows_bring_a_value_to_a_number(capture: Open) -> None:
    opened = capture("suppliers")
    source, answer = CaptureSource("suppliers", opened), opened.memory.answer()
    # The nation with the most suppliers, so that HAVING does not take its row away.
    row = int(np.argmax(answer["n"].to_numpy()))
    question = {"row": row, "column": "total", "by": {"axis": 0}, "only": []}
    before, wanted = answer["total"][row].as_py(), answer["total"][row].as_py() * Decimal("0.8")
    least = ask(source, "least", **question, than=str(wanted))
    assert least["side"] == "at most"
    assert least["size"] == len(least["keys"]) > 0

    def without(keys: list[list[str]]) -> Decimal:
        scenario = {"delete": {least["relation"]: keys}, "where": {}}
        (changed,) = ask(source, "what_if", scenarios=[scenario])["scenarios"][0]["rows"]
        return Decimal(changed["new"][answer.column_names.index("total")])

    assert without(least["keys"]) <= wanted
    for place in range(least["size"]):
        fewer = least["keys"][:place] + least["keys"][place + 1 :]
        assert not fewer or without(fewer) > wanted
    for than, told in (("x", "is not a number"), ("inf", "not a number"), (str(before), "already")):
        with pytest.raises(ExploreError, match=told):
            source.views["least"](Params({**question, "than": than}), Budget())


def test_shares_are_shapley_values_and_evaluations_those_of_the_semiring(capture: Open) -> None:
    opened = capture("orders")
    source = CaptureSource("orders", opened)
    for row_number, (_, annotation) in enumerate(opened.polynomials(limit=5)):
        values = sorted(estimate.value for estimate in shapley(annotation).values())
        shares = ask(source, "shares", row=row_number)
        assert sorted(share["value"] for share in shares["shares"]) == pytest.approx(values)
    told = ask(source, "evaluate", semiring="tropical", values={"orders": "2.5"}, limit=50)
    valuation = {
        "orders": lambda token: 2.5,
        "customer": semirings.Tropical().default,
    }
    wanted = (
        opened.algebra.evaluate(semirings.Tropical(), valuation).column("_value").to_pylist()[:50]
    )
    assert [float(each["text"]) for each in told["values"]] == wanted


def ran(python: str) -> Any:
    """What copied Python yields: its last line is an expression."""
    *before, last = ast.parse(python).body
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(ast.Module(before, []), "copied", "exec"), names)
    return eval(compile(ast.Expression(last.value), "copied", "eval"), names)


@pytest.mark.parametrize(
    ("semiring", "values"),
    [
        ("tropical", {"orders": {"column": "o_totalprice"}, "customer": "0.5"}),
        ("max_plus", {"customer": {"column": "c_acctbal"}, "orders": {"column": "o_custkey"}}),
        ("counting", {"orders": {"column": "o_custkey"}}),
        ("viterbi", {"orders": "0.25"}),
    ],
)
def test_tokens_are_valued_by_columns(capture: Open, semiring: str, values: Any) -> None:
    source = CaptureSource("orders", capture("orders"))
    told = ask(source, "evaluate", semiring=semiring, values=values, limit=60)
    wanted = ran(told["python"]).column("_value").to_pylist()[:60]
    assert [float(each["text"]) for each in told["values"]] == pytest.approx(wanted)
    assert len(set(wanted)) > 1 or "column" not in str(values)
    assert "o_totalprice" in ask(source, "numbers")["columns"]["orders"]


@pytest.mark.parametrize(
    ("semiring", "values", "told"),
    [
        ("tropical", {"orders": {"column": "o_clerk"}}, "has no column 'o_clerk' of numbers"),
        ("tropical", {"nobody": {"column": "n"}}, "reads no relation 'nobody'"),
        ("which", {"orders": {"column": "o_custkey"}}, "no other values"),
        ("access", {"orders": {"column": "o_custkey"}}, "not values that are a level"),
        ("validity", {"orders": "3"}, "is not an interval"),
    ],
)
def test_what_values_no_token_is_told(capture: Open, semiring: str, values: Any, told: str) -> None:
    explorer = Explorer([CaptureSource("orders", capture("orders"))])
    reply = explorer.ask({"view": "evaluate", "params": {"semiring": semiring, "values": values}})
    assert told in reply["error"]["message"]


@pytest.mark.parametrize(
    ("semiring", "value", "shown"),
    [
        ("access", "secret", "SECRET"),
        ("validity", "3..7", "[3, 7)"),
        ("integers", "-2", "-2"),
        ("boolean", "false", "false"),
    ],
)
def test_tokens_have_levels_and_times(capture: Open, semiring: str, value: str, shown: str) -> None:
    source = CaptureSource("orders", capture("orders"))
    told = ask(source, "evaluate", semiring=semiring, values={"orders": value}, at=3)
    assert told["values"] == [{"text": shown}]
    ran(told["python"])


def test_values_outside_of_the_semiring_are_told(capture: Open) -> None:
    source = CaptureSource("orders", capture("orders"))
    values = {"orders": {"column": "o_totalprice"}}
    (told,) = ask(source, "evaluate", semiring="viterbi", values=values, at=0)["values"]
    assert told["refused"]


@pytest.mark.parametrize(
    "scenario",
    [
        {"delete": {"nation": [["1"], ["2"], ["3"], ["4"], ["5"]]}},
        {"where": {"supplier": "s_suppkey > 20"}},
        {"where": {"supplier": "s_acctbal < 4000.5 and s_suppkey <> 7"}},
        {"where": {"supplier": "s_acctbal between 1,000 and 4,000 or s_name like '%7'"}},
    ],
)
def test_what_is_copied_asks_the_same(
    capture: Open, scenario: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(what_if, "LISTED", 10)
    source = CaptureSource("suppliers", capture("suppliers"))
    (told,) = ask(source, "what_if", scenarios=[scenario])["scenarios"]
    changes = ran(told["python"]).to_pylist()
    assert sum(row["_change"] != "unchanged" for row in changes) == told["differing"] > 0


def test_input_rows_are_those_of_the_source(capture: Open, tpch: Callable[[float], Path]) -> None:
    source = CaptureSource("q3", capture("q3"))
    table = pq.read_table(tpch(0.01) / "lineitem.parquet")
    by_key = {
        (row["l_orderkey"], row["l_linenumber"]): [cell(value) for value in row.values()]
        for row in table.select(table.column_names).to_pylist()
    }
    for row_number in range(3):
        (lines,) = [
            each
            for each in ask(source, "why", row=row_number)["inputs"]
            if each["relation"] == "lineitem"
        ]
        rows = ask(source, "inputs", row=row_number, relation="lineitem")
        assert [column["name"] for column in rows["columns"]] == table.column_names
        wanted = [by_key[int(order), int(line)] for order, line in lines["keys"]]
        assert rows["rows"] == wanted
        for shown, place in zip(rows["rows"], rows["places"], strict=True):
            file = pq.ParquetFile(place["file"])
            first = sum(file.metadata.row_group(n).num_rows for n in range(place["row_group"]))
            (held,) = (
                file.read_row_group(place["row_group"], columns=table.column_names)
                .slice(place["row"] - first, 1)
                .to_pylist()
            )
            assert [cell(value) for value in held.values()] == shown
    hostile = Explorer([CaptureSource("hostile", capture("hostile"))])
    question = {"view": "inputs", "params": {"row": 0, "relation": "hostile"}}
    assert "are not looked up here" in hostile.ask(question)["error"]["message"]


def test_a_source_that_changed_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"k": [1, 2, 3], "v": ["a", "b", "c"], "n": [[1], [], None]}), path)
    state = path.stat()
    record = RelationRecord(
        "t",
        "view",
        "key",
        ("k",),
        ("k", "v", "n"),
        True,
        "parquet t",
        fingerprint=((path.as_uri(), state.st_size, state.st_mtime_ns),),
    )
    keys = pa.table({"k": [3, 1]})
    found = [{"k": 3, "v": "c", "n": None}, {"k": 1, "v": "a", "n": [1]}]
    assert looked_up(record, keys).to_pylist() == found
    os.utime(path, ns=(1, 1))
    with pytest.raises(ExploreError, match="not as it was"):
        looked_up(record, keys)
    path.unlink()
    with pytest.raises(ExploreError, match="is not there"):
        looked_up(record, keys)


def test_predicates_on_keys_strike_out_the_rows_that_meet_them(capture: Open) -> None:
    opened = capture("suppliers")
    source = CaptureSource("suppliers", opened)
    where = {"supplier": "s_suppkey >= 10 and s_suppkey < 20"}
    (answer,) = ask(source, "what_if", scenarios=[{"where": where}])["scenarios"]
    known = opened.memory.tokens("supplier").column("s_suppkey").to_pylist()
    keys = [key for key in known if 10 <= key < 20]
    assert answer["removed"] == {"supplier": len(keys)}
    changes = opened.what_if(delete={"supplier": keys}).changes
    assert answer["counts"]["unchanged"] == changes.column("_change").to_pylist().count("unchanged")


def test_predicates_on_other_columns_are_asked_of_the_source(
    capture: Open, tpch: Callable[[float], Path]
) -> None:
    opened = capture("q3")
    source = CaptureSource("q3", opened)
    where = {"lineitem": "l_shipmode = 'TRUCK' and l_quantity > 20.5"}
    (answer,) = ask(source, "what_if", scenarios=[{"where": where}])["scenarios"]
    rows = pq.read_table(tpch(0.01) / "lineitem.parquet").to_pylist()
    keys = [
        (row["l_orderkey"], row["l_linenumber"])
        for row in rows
        if row["l_shipmode"] == "TRUCK" and row["l_quantity"] > 20.5
    ]
    assert answer["removed"] == {"lineitem": len(keys)}
    wanted = _differing(opened.what_if(delete={"lineitem": keys}))
    assert answer["differing"] == len(wanted) > 0
    told = [row["new"] for row in answer["rows"]]
    assert told == [r["new"] and [cell(v) for v in r["new"].values()] for r in wanted]


@pytest.mark.parametrize(
    ("view", "params", "message"),
    [
        ("why", {"row": 10}, "The answer has 10 rows, none 10"),
        ("why", {"row": "0"}, "'row' is an integer"),
        ("value", {"row": 0, "column": "l_orderkey"}, "is not a number that inputs"),
        ("value", {"row": 0, "column": "x"}, "has no column 'x'"),
        ("value", {"row": 0, "column": "revenue", "by": {"axis": 9}}, "3 axes, none 9"),
        ("value", {"row": 0, "column": "revenue", "by": {"column": "x"}}, "no column 'x' to group"),
        ("what_if", {"scenarios": []}, "Give 1 to 6 scenarios"),
        ("what_if", {"scenarios": [{"delete": {"x": []}}]}, "no relation 'x' with rows to remove"),
        ("what_if", {"scenarios": [{"delete": {"orders": [["a"]]}}]}, "not values of the type"),
        ("what_if", {"scenarios": [{"delete": {"orders": [[1]]}}]}, "lists of 1 texts"),
        (
            "what_if",
            {"scenarios": [{"where": {"orders": "o_x = 1"}}]},
            "'o_x' is none of its columns",
        ),
        ("what_if", {"scenarios": [{"update": {"orders": "o_x = 1"}}]}, "changes no column of"),
        ("what_if", {"scenarios": [{"update": {"orders": "o_orderkey = 1"}}]}, "of the key of"),
        (
            "what_if",
            {"scenarios": [{"update": {"orders": "o_clerk = o_clerk * 2"}}]},
            "o_clerk is STRING: no number to calculate with",
        ),
        (
            "what_if",
            {
                "scenarios": [
                    {"update": {"orders": "o_totalprice = 0"}, "delete": {"orders": [["1"]]}}
                ]
            },
            "removes rows or changes values",
        ),
        ("evaluate", {"semiring": "x"}, "Choose a semiring"),
        ("rows", {"sort": 9}, "no column 9"),
        ("rows", {"filters": {"0": "> x"}}, "l_orderkey is BIGINT: 'x' is no such value"),
        ("nothing", {}, "no view 'nothing'"),
    ],
)
def test_wrong_questions_are_refused_by_name(
    capture: Open, view: str, params: dict[str, Any], message: str
) -> None:
    explorer = Explorer([CaptureSource("q3", capture("q3"))])
    reply = explorer.ask({"source": 0, "view": view, "params": params})
    assert message in reply["error"]["message"]


def test_rows_of_a_table_are_those_of_the_answer(capture: Open) -> None:
    opened = capture("hostile")
    table = ask(CaptureSource("hostile", opened), "rows")
    assert table["rows"] == cells(opened.memory.answer())
    assert [column["name"] for column in table["columns"]] == list(opened.manifest.names)

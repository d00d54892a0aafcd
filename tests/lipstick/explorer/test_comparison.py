"""Several numbers beside each other are what what-if has, without each input and each group."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture.capture import Capture
from lipstick.explorer.captures import comparison
from lipstick.explorer.captures.missing import QuerySource
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.cells import cell
from lipstick.explorer.explorer import Explorer
from lipstick.explorer.params import Params
from lipstick.explorer.saved import Holding
from lipstick.explorer.server import export
from lipstick.questions.why.sources import SourceRows
from semiring.errors import ExactnessError
from tests.lipstick.explorer.conftest import Limit, ask, endless
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

COUNT = 30
SALES = pa.table(
    {
        "k": range(COUNT),
        "area": [("north", "south", "west")[n % 3] for n in range(COUNT)],
        "item": [n % 7 for n in range(COUNT)],
        "pieces": pa.array([None if n % 11 == 5 else n + 1 for n in range(COUNT)], pa.int32()),
        "paid": pa.array(
            [Decimal(100 * n + n % 13) / 100 for n in range(COUNT)], pa.decimal128(12, 2)
        ),
        "weight": [n / 3 for n in range(COUNT)],
    }
)
ITEMS = pa.table(
    {"id": range(7), "kind": ["a", "b", "a", "b", "c", "c", "a"], "price": range(2, 9)}
)
DATABASE = Database(
    {
        "sales": Relation(
            "sales",
            ("k",),
            "k bigint, area string, item bigint, pieces int, paid decimal(12,2), weight double",
            SALES,
        ),
        "items": Relation("items", ("id",), "id bigint, kind string, price bigint", ITEMS),
    }
)

QUERIES: Mapping[str, str] = {
    "sums and counts": "SELECT area, sum(pieces) AS v, count(*) AS n, sum(paid) AS p FROM sales"
    " GROUP BY area ORDER BY area",
    "averages and extremes": "SELECT area, avg(weight) AS a, max(paid) AS m, min(pieces) AS l"
    " FROM sales GROUP BY area ORDER BY area",
    "joined rows": "SELECT area, sum(pieces * price) AS v, count(DISTINCT kind) AS d FROM sales"
    " JOIN items ON item = id GROUP BY area ORDER BY area",
    "each joined row": "SELECT k, pieces * price AS v, price - (SELECT avg(price) FROM items) AS d"
    " FROM sales JOIN items ON item = id WHERE k < 8 ORDER BY k",
    "shares": "SELECT area, sum(weight) / sum(sum(weight)) OVER () AS share, rank() OVER (ORDER BY"
    " sum(weight) DESC) AS r FROM sales GROUP BY area ORDER BY area",
    "windows": "SELECT k, sum(pieces) OVER (ORDER BY k) AS run, weight - lag(weight) OVER (ORDER BY"
    " k) AS d FROM sales WHERE k < 10 ORDER BY k",
    "having and limit": "SELECT area, sum(pieces) AS v, count(*) AS n FROM sales GROUP BY area"
    " HAVING sum(pieces) > 100 ORDER BY v DESC LIMIT 2",
    "differences of queries": "WITH a AS (SELECT area, sum(pieces) AS x FROM sales WHERE item < 3"
    " GROUP BY area), b AS (SELECT area, sum(pieces) AS y FROM sales WHERE item > 1 GROUP BY area)"
    " SELECT a.area, x, y, x - y AS gap FROM a JOIN b ON a.area = b.area ORDER BY a.area",
}
"""Queries whose values have inputs in common, or in the same groups."""

COLUMNS = {"sales": ("area", "item"), "items": ("kind",)}
"""By relation columns to group by."""


def source_of(query: str, folder: Path) -> CaptureSource:
    """A capture as the explorer asks it, with all columns of its relations at hand."""
    source = CaptureSource("sales", write_capture(query, DATABASE, folder / "capture"))
    records = source.capture.manifest.relations
    source.contributions.axes.sources = {
        name: SourceRows.of_table(record, DATABASE.relations[name].data, whole=True)
        for name, record in records.items()
    }
    return source


def numbers_of(source: CaptureSource) -> list[dict[str, Any]]:
    """Every number of the first and the last row of an answer."""
    about = ask(source, "about")
    names = [about["columns"][place]["name"] for place in about["explained"]]
    return [{"row": row, "column": name} for row in (0, about["rows"] - 1) for name in names]


class Truth:
    """What-if of a capture, for numbers of its answer."""

    def __init__(self, capture: Capture, numbers: list[dict[str, Any]]) -> None:
        self.capture, self.numbers = capture, numbers
        answer = capture.memory.answer()
        self.now = [answer.column(n["column"])[n["row"]].as_py() for n in numbers]

    def without(self, relation: str, keys: list[int]) -> list[tuple[str, Any]]:
        """Each number without some rows, and whether its row is there."""
        name = DATABASE.relations[relation].key[0]
        gone = pa.table({name: pa.array(keys, pa.int64())})
        new = self.capture.what_if({relation: gone}).changes.column("new").to_pylist()
        rows = [new[number["row"]] for number in self.numbers]
        return [
            ("gone", None) if row is None else ("there", row[number["column"]])
            for row, number in zip(rows, self.numbers, strict=True)
        ]


def held(answer: dict[str, Any], truth: Truth, keys_of: Any) -> int:
    """Hold the groups of an answer against what-if; the number of numbers that were compared."""
    relation = answer["axes"][answer["by"]["axis"]]["relation"]
    compared = 0
    for bar in answer["bars"]:
        after = truth.without(relation, keys_of(bar))
        for own, (state, value), now in zip(bar["numbers"], after, truth.now, strict=True):
            assert (own["state"], own["without"]) == (state, cell(value)), bar
            if None not in (value, now):
                assert own["text"] == cell(now - value), bar
            compared += 1
        first, *others = after
        for own, (state, value) in zip(bar["differences"], others, strict=True):
            states = {state, first[0]}
            assert own["state"] == ("gone" if "gone" in states else "there"), bar
            if states == {"there"} and None not in (value, first[1]):
                assert own["text"] == cell(_difference(value, first[1])), bar
            else:
                assert own["text"] is None
            compared += 1
    return compared


def _difference(left: Any, right: Any) -> Any:
    """A difference as SQL has it: of a double and a decimal it is a double."""
    if isinstance(left, float) or isinstance(right, float):
        return float(left) - float(right)
    return left - right


@pytest.mark.parametrize("kind", QUERIES)
def test_numbers_without_each_row_are_those_of_what_if(kind: str, tmp_path: Path) -> None:
    source = source_of(QUERIES[kind], tmp_path)
    numbers = numbers_of(source)
    truth = Truth(source.capture, numbers)
    compared = 0
    axes = ask(source, "comparison", numbers=numbers)["axes"]
    for place in range(len(axes)):
        answer = ask(source, "comparison", numbers=numbers, by={"axis": place})
        assert "rest" not in answer or answer["rest"]["count"] == 0
        compared += held(answer, truth, lambda bar: [int(bar["key"][0])])
    assert compared > 20


@pytest.mark.parametrize("kind", QUERIES)
def test_numbers_without_each_group_are_those_of_what_if(kind: str, tmp_path: Path) -> None:
    source = source_of(QUERIES[kind], tmp_path)
    numbers = numbers_of(source)
    truth = Truth(source.capture, numbers)
    for place, axis in enumerate(ask(source, "comparison", numbers=numbers)["axes"]):
        relation = DATABASE.relations[axis["relation"]]
        rows = ask(source, "comparison", numbers=numbers, by={"axis": place})["bars"]
        inputs = {int(bar["key"][0]) for bar in rows}
        for column in COLUMNS[axis["relation"]]:
            by = {"axis": place, "column": column}
            answer = ask(source, "comparison", numbers=numbers, by=by)
            values = dict(zip(relation.row_keys(), relation.data.column(column), strict=True))
            groups: dict[str, list[int]] = {}
            for (key,), value in values.items():
                if key in inputs:
                    groups.setdefault(str(value.as_py()), []).append(key)
            assert {bar["label"] for bar in answer["bars"]} == {*groups}
            assert held(answer, truth, lambda bar, of=groups: of[bar["label"]])


def test_numbers_of_a_live_query_are_those_of_its_what_if(spark: SparkSession) -> None:
    with lipstick.session(spark) as ls:
        frames = {
            name: spark.createDataFrame(
                [tuple(row.values()) for row in relation.data.to_pylist()], relation.schema
            )
            for name, relation in DATABASE.relations.items()
        }
        for name, frame in frames.items():
            ls.track(name, frame, key=list(DATABASE.relations[name].key))
        query = ls.sql(
            "SELECT kind, sum(paid) AS p, avg(price) AS a FROM sales JOIN items"
            " ON item = id GROUP BY kind ORDER BY kind"
        )
        source = QuerySource("sales", query.capture, query)
        numbers = [{"row": 0, "column": "p"}, {"row": 1, "column": "a"}]
        answer = ask(source, "comparison", numbers=numbers, by={"axis": 1})
        truth = Truth(lipstick.open(query.capture.directory), numbers)
        assert held(answer, truth, lambda bar: [int(bar["key"][0])]) == 3 * len(answer["bars"])


def test_inputs_in_common_are_those_of_every_number(tmp_path: Path) -> None:
    source = source_of(QUERIES["joined rows"], tmp_path)
    numbers = [{"row": row, "column": "v"} for row in range(3)]
    answer = ask(source, "comparison", numbers=numbers)
    assert [(a["name"], a["rows"], a["common"]) for a in answer["axes"]] == [
        ("sales", 27, 0),  # NULL is not summed
        ("items", 7, 6),
    ]
    assert answer["by"]["axis"] == 1  # rows in common come first
    shares = {bar["key"][0]: bar for bar in answer["bars"]}
    sold: dict[str, set[str]] = {}
    for row in SALES.to_pylist():
        if row["pieces"] is not None:
            sold.setdefault(str(row["item"]), set()).add(row["area"])
    assert {key for key, bar in shares.items() if bar["common"]} == {
        key for key, areas in sold.items() if len(areas) == 3
    }
    assert [bar["common"] for bar in answer["bars"]] == [1] * 6 + [0]
    # Groups with inputs of every number come first, too, though none of these is in common.
    by = {"axis": 0, "column": "item"}
    groups = ask(source, "comparison", numbers=numbers, by=by)["bars"]
    assert [min(each["count"] for each in bar["numbers"]) > 0 for bar in groups] == [
        *[True] * 6,
        False,
    ]
    assert {bar["common"] for bar in groups} == {0}
    by = {"axis": 1, "column": "kind"}
    for bar in ask(source, "comparison", numbers=numbers, by=by)["bars"]:
        own = [
            key
            for key, kind in zip(range(7), ITEMS["kind"].to_pylist(), strict=True)
            if kind == bar["label"]
        ]
        assert bar["common"] == sum(shares[str(key)]["common"] for key in own)
        assert [each["count"] for each in bar["numbers"]] == [
            sum(shares[str(key)]["numbers"][at]["count"] for key in own) for at in range(3)
        ]


def test_a_sentence_says_the_difference_what_is_shared_and_what_moves_both(tmp_path: Path) -> None:
    source = source_of(QUERIES["sums and counts"], tmp_path)
    two = [{"row": 0, "column": "v"}, {"row": 1, "column": "v"}]
    assert ask(source, "comparison", numbers=two)["sentence"] == (
        "v is 117 for north and 138 for south, 21 more. In both: no input row."
        " Group them by a column to see what moves both."
    )
    same_row = [{"row": 0, "column": "n"}, {"row": 0, "column": "v"}]
    answer = ask(source, "comparison", numbers=same_row)
    assert answer["sentence"] == (
        "n is 10 and v is 117, 107 more. In both: 9 rows of sales. Without sales 24: n 9 and v 92."
    )
    assert [each["label"] for each in answer["numbers"]] == ["n", "v"]
    assert [each["difference"] for each in answer["numbers"]] == ["0", "107"]


def test_kept_groups_and_files_have_the_same_numbers(tmp_path: Path) -> None:
    source = source_of(QUERIES["joined rows"], tmp_path)
    numbers = [{"row": 0, "column": "v"}, {"row": 1, "column": "d"}]
    only = [{"axis": 1, "column": "kind", "labels": ["a"]}]
    params = {"numbers": numbers, "only": only, "by": {"axis": 1}}
    answer = ask(source, "comparison", **params)
    assert {bar["key"][0] for bar in answer["bars"]} == {"0", "2", "6"}
    assert answer["only"][0]["text"] == "kind a"
    held(answer, Truth(source.capture, numbers), lambda bar: [int(bar["key"][0])])
    question = {"source": 0, "view": "comparison", "params": params, "format": "csv"}
    head, *lines = csv.reader(io.StringIO(export(Explorer([source]), question).decode()))
    assert head == [
        "in common",
        "brings to v of north",
        "brings to d of south",
        "v of north without it",
        "d of south without it",
        "d of south − v of north without it",
        "kind",
        "price",
        "id",
    ]
    first = answer["bars"][0]
    assert lines[0][0] == str(first["common"])
    assert lines[0][3:6] == [
        *(each["without"] for each in first["numbers"]),
        first["differences"][0]["text"],
    ]


def test_what_there_was_no_time_for_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "_SHARE", 0)
    source = source_of(QUERIES["sums and counts"], tmp_path)
    numbers = [{"row": 0, "column": "v"}, {"row": 0, "column": "n"}]
    answer = ask(source, "comparison", numbers=numbers)
    assert (answer["known"], answer["reason"]) == (0, "There was no time for all of them.")
    for bar, row in zip(answer["bars"], answer["rows"], strict=True):
        assert {each["state"] for each in (*bar["numbers"], *bar["differences"])} == {"unknown"}
        assert {each["text"] for each in (*bar["numbers"], *bar["differences"])} == {None}
        assert row[: answer["lead"]] == [str(bar["common"]), *["unknown"] * 5]
    assert answer["sentence"].endswith("10 of 10 are unknown.")


def test_a_comparison_ends_with_its_seconds_or_when_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: Limit
) -> None:
    monkeypatch.setattr(comparison, "joint_inputs", endless)
    source = source_of(QUERIES["sums and counts"], tmp_path)
    numbers = [{"row": 0, "column": "v"}, {"row": 0, "column": "n"}]
    with pytest.raises(ExactnessError, match=limit.told):
        source.views["comparison"](
            Params({"numbers": numbers, "seconds": limit.seconds}), limit.budget()
        )


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ([], "Two to 6 numbers are compared, not 0"),
        ([{"row": 0, "column": "v"}] * 2, "Two to 6 numbers are compared, not 1"),
        ([{"row": 0, "column": "v"}, {"row": 9, "column": "v"}], "The answer has 3 rows, none 9"),
        ([{"row": 0, "column": "v"}, {"row": 0, "column": "area"}], "not a number"),
        ([{"row": 0, "column": "v"}, {"row": 0, "column": "x"}], "no column 'x'"),
        ([{"row": 0, "column": "v"}, {"row": 1}], "lacks 'column'|'column' is a text"),
    ],
)
def test_what_cannot_be_compared_is_said(
    tmp_path: Path, numbers: list[dict[str, Any]], message: str
) -> None:
    explorer = Explorer([source_of(QUERIES["sums and counts"], tmp_path)])
    reply = explorer.ask({"source": 0, "view": "comparison", "params": {"numbers": numbers}})
    assert re.search(message, reply["error"]["message"])


def test_a_saved_page_has_the_comparisons_that_were_looked_at(tmp_path: Path) -> None:
    source = source_of(QUERIES["sums and counts"], tmp_path)
    held_answers = Holding(Explorer([source]), 1_000_000)
    held_answers.hold_circuit(0, source)
    assert "and no comparisons of numbers" in held_answers.says(0, source)
    numbers = [{"row": 0, "column": "v"}, {"row": 0, "column": "n"}]
    assert held_answers.hold(0, "comparison", {"numbers": numbers, "only": []}, asked=True)
    assert "and 1 comparison of numbers" in held_answers.says(0, source)

"""Two runs beside each other: rows that differ are the engine's, and numbers open their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture.capture import Capture
from lipstick.explorer.captures import difference
from lipstick.explorer.captures.missing import QuerySource
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.cells import cell
from lipstick.explorer.explorer import Explorer
from lipstick.explorer.params import Params
from semiring.errors import ExactnessError
from tests.lipstick.explorer.conftest import Limit, endless
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

MONDAY = [(n, ("north", "south")[n % 2], n + 1) for n in range(8)]
TUESDAY = [(n, area, 40 if n == 3 else pieces) for n, area, pieces in MONDAY if n != 6]
TOTALS = "SELECT area, sum(pieces) AS v, count(*) AS n FROM sales GROUP BY area ORDER BY area"


def run(query: str, rows: Sequence[tuple[int, str, int]], folder: Path) -> CaptureSource:
    """A run of a query over the sales of a day, each day's in a table of its own."""
    columns = zip(*rows, strict=True)
    data = pa.table(dict(zip(("k", "area", "pieces"), map(list, columns), strict=True)))
    sales = Relation("sales", ("k",), "k bigint, area string, pieces bigint", data)
    capture = write_capture(query, Database({"sales": sales}), folder)
    record = capture.manifest.relations["sales"]
    day = {"sales": replace(record, view=f"sales_{len(rows)}")}
    return CaptureSource(folder.name, Capture(folder, replace(capture.manifest, relations=day)))


def days(query: str, folder: Path) -> Explorer:
    """A query on Monday and on Tuesday."""
    return Explorer([run(query, MONDAY, folder / "a"), run(query, TUESDAY, folder / "b")])


def compared(explorer: Explorer, **params: Any) -> dict[str, Any]:
    """How the second source differs from the first."""
    question = {"source": 1, "view": "difference", "params": {"before": 0, **params}}
    reply = explorer.ask(question)
    assert "error" not in reply, reply
    answer: dict[str, Any] = reply["answer"]
    return answer


QUERIES = {
    "groups": (TOTALS, ["area"], {"v": "+36", "n": "-1"}),
    "shares": (
        "SELECT area, sum(pieces) / sum(sum(pieces)) OVER () AS share FROM sales GROUP BY area"
        " ORDER BY area",
        ["area"],
        {},
    ),
    "rows by their key": ("SELECT k, pieces * 2 AS v FROM sales ORDER BY k", ["k"], {"v": "+72"}),
    "windows": (
        "SELECT k, sum(pieces) OVER (ORDER BY k) AS run FROM sales ORDER BY k",
        ["k"],
        {"run": "+36"},
    ),
}


@pytest.mark.parametrize("kind", QUERIES)
def test_rows_that_differ_open_the_parts_of_their_numbers(kind: str, tmp_path: Path) -> None:
    query, key, some = QUERIES[kind]
    explorer = days(query, tmp_path)
    answer = compared(explorer)
    old, new = (source.windows.table for source in explorer.sources)  # type: ignore[attr-defined]
    found = explorer.sources[0].capture.diff(explorer.sources[1].capture, key)  # type: ignore[attr-defined]
    assert [column["name"] for column in answer["columns"]] == key
    assert (answer["sentence"], answer["total"]) == (
        str(found),
        found.added + found.removed + found.changed,
    )
    names = [column["name"] for column in answer["values"]]
    assert names == [name for name in new.column_names if name not in key]
    gaps: dict[str, set[str]] = {}
    for row, wanted in zip(answer["rows"], found.rows().to_pylist(), strict=True):
        assert row["change"] == wanted["_change"]
        assert row["key"] == [cell(wanted[name]) for name in key]
        for name, value in zip(names, row["values"], strict=True):
            assert value["before"] == cell(wanted[f"{name} before"])
            assert value["after"] == cell(wanted[f"{name} after"])
            if value["difference"]:
                gaps.setdefault(name, set()).add(value["difference"])
                parts = compared(explorer, row=row["row"], column=name)
                assert f"({value['difference']})" in parts["sentence"]
                assert parts["parts"]
        assert (row["row"] is None) == (row["change"] == "removed")
    for name, gap in some.items():
        assert gap in gaps[name]
    assert old.num_rows + found.added - found.removed == new.num_rows


def test_no_part_is_that_of_no_row(tmp_path: Path) -> None:
    query = "SELECT area, sum(pieces / 7) / sum(sum(pieces / 7)) OVER () AS share FROM sales"
    texts = [
        run(f"{query} GROUP BY area ORDER BY area", rows, tmp_path / str(len(rows)))
        for rows in (MONDAY, MONDAY[:-2])
    ]
    explorer = Explorer(texts)
    for row in compared(explorer)["rows"]:
        parts = compared(explorer, row=row["row"], column="share")["parts"]
        assert [part.split(" removed")[0] for part in parts] == ["2 rows"]


def test_rows_without_a_key_come_and_go_as_they_are(tmp_path: Path) -> None:
    answer = compared(days("SELECT area, pieces FROM sales ORDER BY area, pieces", tmp_path))
    assert answer["values"] == []
    assert [(row["change"], row["key"], row["row"]) for row in answer["rows"]] == [
        ("removed", ["north", "7"], None),
        ("removed", ["south", "4"], None),
        ("added", ["south", "40"], None),
    ]


def test_input_rows_that_differ_are_in_words(tmp_path: Path) -> None:
    inputs = compared(days(TOTALS, tmp_path))["inputs"]
    assert any("sales with k = 3: pieces from 4 to 40" in line for line in inputs)
    assert any("k = 6" in line for line in inputs)


def test_an_edited_text_over_the_same_rows_is_a_part_of_code(tmp_path: Path) -> None:
    edited = TOTALS.replace("FROM sales", "FROM sales WHERE pieces > 2")
    texts = [run(TOTALS, MONDAY, tmp_path / "a"), run(edited, MONDAY, tmp_path / "b")]
    explorer = Explorer(texts)
    first, _ = compared(explorer)["rows"]
    assert [value["difference"] for value in first["values"]] == ["-1", "-1"]
    parts = compared(explorer, row=first["row"], column="v")
    assert parts["parts"] == ["code: -1"]


def test_texts_and_rows_that_both_differ_are_divided_by_the_session(
    spark: SparkSession, tmp_path: Path
) -> None:
    edited = TOTALS.replace("FROM sales", "FROM sales WHERE pieces > 2")
    with lipstick.session(spark) as monday, lipstick.session(spark) as tuesday:
        sources = []
        for name, session, rows, query in (
            ("monday", monday, MONDAY, TOTALS),
            ("tuesday", tuesday, TUESDAY, edited),
        ):
            frame = spark.createDataFrame(rows, "k bigint, area string, pieces bigint")
            session.track("sales", frame, key=["k"])
            asked = session.sql(query)
            sources.append(QuerySource(name, asked.capture, asked))
        explorer = Explorer(sources)
        south = compared(explorer)["rows"][1]
        assert [value["difference"] for value in south["values"]] == ["+34", "-1"]
        parts = compared(explorer, row=south["row"], column="v")["parts"]
        assert any(line.startswith("code") and line.endswith("-2") for line in parts), parts
        assert any(line.endswith("+36") for line in parts), parts
        # Saved, they have no session that runs the text before.
        saved = Explorer([CaptureSource(each.name, each.capture) for each in sources])
        question = {"source": 1, "view": "difference", "params": {"before": 0}}
        assert "The texts differ" in saved.ask(question)["error"]["message"]


def test_a_difference_ends_with_its_seconds_or_when_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: Limit
) -> None:
    monkeypatch.setattr(difference, "paired", endless)
    source = run(TOTALS, MONDAY, tmp_path / "a")
    with pytest.raises(ExactnessError, match=limit.told):
        difference.difference(source, source, Params({"seconds": limit.seconds}), limit.budget())

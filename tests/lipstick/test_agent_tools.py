"""Tools of agents over saved captures: replies held against the queries run by DuckDB."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import lipstick
from lipstick import agent_tools
from lipstick.agent_tools import CaptureTools
from lipstick.cli import main
from lipstick.cli.errors import Failure
from lipstick.cli.mcp import server_of
from lipstick.demo.example import example
from lipstick.errors import CaptureError

SEGMENTS = """
    SELECT c_mktsegment, count(*) AS orders, sum(o_totalprice) AS revenue
    FROM '{folder}/{day}.parquet' JOIN '{folder}/customer.parquet' ON o_custkey = c_custkey
    WHERE o_orderdate >= DATE '1996-01-01' AND NOT ({gone}) GROUP BY c_mktsegment
"""


@pytest.fixture(scope="module")
def tools() -> CaptureTools:
    """Return the tools over the captures that come with lipstick."""
    return CaptureTools([example()])


def _segments(gone: str, day: str = "monday") -> dict[str, tuple[int, str]]:
    """Return orders and revenue by segment, without some rows."""
    text = SEGMENTS.format(folder=example().parent / "tables", gone=gone, day=day)
    return {name: (n, str(revenue)) for name, n, revenue in duckdb.sql(text).fetchall()}


def test_captures_and_rows_are_listed(tools: CaptureTools) -> None:
    listed = {each["capture"]: each for each in tools.captures()["captures"]}
    assert {"monday", "tuesday", "prices-add-up"} <= set(listed)
    assert listed["monday"]["relations"]["orders"]["key"] == ["o_orderkey"]
    found = tools.rows("monday", "orders > 150 and c_mktsegment <> 'FURNITURE'")
    assert (found["of"], found["rows"][0]["c_mktsegment"]) == (1, "BUILDING")
    assert len(tools.rows("monday", limit=2, offset=4)["rows"]) == 1


def test_causes_have_the_value_without_their_rows(tools: CaptureTools) -> None:
    found = tools.why("tuesday", "revenue", {"c_mktsegment": "FURNITURE"}, too="high", limit=2)
    (cause, *_) = found["causes"]
    evidence = cause["evidence"]
    expected = _segments(cause["sql"].replace("`", ""), "tuesday")["FURNITURE"][1]
    assert evidence["value_without"] == expected
    assert float(expected) == pytest.approx(cause["after"])
    check = tools.why("prices-add-up", limit=1)["causes"][0]["evidence"]
    assert check["counts"]["changed"] == 1


def test_answers_without_rows_are_those_of_the_query(tools: CaptureTools) -> None:
    condition = "o_totalprice > 200000"
    found = tools.what_if("monday", {"orders": condition})
    expected = _segments(condition)
    assert found["counts"]["changed"] == 5
    for row in found["rows"]:
        new = row["new"]
        assert (new["orders"], new["revenue"]) == expected[new["c_mktsegment"]]


def test_differences_and_cells(tools: CaptureTools) -> None:
    assert tools.diff("monday", "tuesday")["counts"] == {"added": 0, "removed": 0, "changed": 5}
    parts = tools.diff("monday", "tuesday", "orders", {"c_mktsegment": "BUILDING"})
    assert sum(row["value"] for row in parts["rows"]) == 19
    cells = tools.where("monday", "orders", {"c_mktsegment": "HOUSEHOLD"})
    assert cells["value"] == 75
    assert {"relation", "source"} <= set(tools.where("monday")["columns"][0])


def test_replies_are_bounded(tools: CaptureTools, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = tools.where("monday", "revenue", {"c_mktsegment": "BUILDING"})
    assert len(json.dumps(cells)) <= agent_tools.MOST_CHARACTERS + 40
    monkeypatch.setattr(agent_tools, "MOST_CHARACTERS", 600)
    few = tools.rows("top-orders", limit=1_000)
    assert len(few["rows"]) + few["left_out"] == 10
    assert few["left_out"]


def test_mistakes_say_what_there_is(tools: CaptureTools, tmp_path: Path) -> None:
    mistakes: dict[str, Callable[[], Any]] = {
        "Did you mean monday": lambda: tools.rows("mondy"),
        "too is 'high', 'low'": lambda: tools.why("monday", "orders", too="up"),
        "names no relation": lambda: tools.what_if("monday", {}),
    }
    for text, ask in mistakes.items():
        with pytest.raises(CaptureError, match=text):
            ask()
    with pytest.raises(lipstick.LipstickError):
        CaptureTools([tmp_path])
    shutil.copytree(example() / "monday", tmp_path / "monday")
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "manifest.json").write_text("{")
    assert list(CaptureTools([tmp_path]).captures()["cannot_be_read"]) == ["torn"]


@pytest.mark.classic
@pytest.mark.spark
@pytest.mark.engines("memory")
def test_missing_rows_are_followed_in_the_sources(spark: SparkSession) -> None:
    tools = CaptureTools([example()], partial(lipstick.session, spark))
    found = tools.why_not("monday", {"c_mktsegment": "TOYS"})
    assert not found["present"]
    assert "c_mktsegment = 'TOYS'" in found["sentence"]


def test_the_command_lists_the_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = CliRunner().invoke(main, ["mcp", str(example()), "--tools"])
    assert listed.exit_code == 0, listed.output
    assert "why_not(capture, row)" in listed.output
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(Failure, match=r"pip install 'lipstick-spark\[mcp\]'"):
        server_of(CaptureTools([example()]))


def test_a_client_of_the_sdk_asks(tools: CaptureTools) -> None:
    pytest.importorskip("mcp", reason="needs the extra mcp")
    from mcp.client.client import Client

    async def ask() -> tuple[Any, Any, Any]:
        async with Client(server_of(tools)) as client:
            listed = await client.list_tools()
            found = await client.call_tool("rows", {"capture": "monday", "limit": 1})
            return listed, found, await client.call_tool("rows", {"capture": "mondy"})

    listed, found, wrong = asyncio.run(ask())
    assert {tool.name for tool in listed.tools} == set(tools.tools)
    assert all(tool.annotations.read_only_hint for tool in listed.tools)
    assert found.structured_content == tools.rows("monday", limit=1)
    assert wrong.is_error
    assert "Did you mean monday" in wrong.content[0].text

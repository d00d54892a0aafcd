"""The example that is shipped: it opens without Spark and Java, and has in it what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import lipstick
from lipstick.cli import main
from lipstick.demo.example import SHIPPED, example
from lipstick.explorer.explorer import Explorer, open_sources
from tests.example import QUERIES, WRONG, write


@pytest.fixture
def captures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return example()


def test_it_is_small_and_made_once(captures: Path) -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*")) < 1_000_000
    assert sorted(path.name for path in captures.iterdir()) == sorted(QUERIES)
    before = captures.stat()
    assert example() == captures
    assert captures.stat() == before


def test_it_is_whole_with_its_tables(captures: Path) -> None:
    """Its files are as they were written, and rows are looked up in its tables."""
    for path in captures.iterdir():
        capture = lipstick.open(path)
        assert not list(capture.contents.faults(checksums=True))
        assert capture.query == QUERIES[path.name][1]
    found = lipstick.open(captures / "top-orders").contributions(
        "revenue", 0, by="lineitem.l_shipmode"
    )
    assert found.num_rows > 1


def test_the_red_check_is_green_without_the_wrong_price(captures: Path) -> None:
    capture = lipstick.open(captures / "prices-add-up")
    assert capture.memory.answer().to_pylist() == [{"prices_add_up": False}]
    found = capture.what_if(delete={"orders": [WRONG]})
    assert found.df.to_pylist() == [{"prices_add_up": True}]


def test_a_row_is_missing_for_an_order_of_last_year(captures: Path) -> None:
    capture = lipstick.open(captures / "to-remind")
    orders = pq.read_table(captures.parent / "tables" / "tuesday.parquet")
    late = orders.filter(pc.field("o_orderdate") >= date(1998, 1, 1))
    found = capture.what_if(delete={"orders": late.select(["o_orderkey"])})
    kinds = found.changes.column("_change").to_pylist()
    assert kinds.count("added") > 0
    assert kinds.count("unchanged") == capture.memory.answer().num_rows > 0


def test_two_days_differ_by_new_orders_and_one_price(captures: Path) -> None:
    days = [str(captures / day) for day in ("monday", "tuesday")]
    told = CliRunner().invoke(
        main, ["diff", *days, "revenue", "--where", "c_mktsegment=FURNITURE"], "", None, False
    )
    assert told.exit_code == 0
    assert "8,271,040.14" in told.output, told.output
    wrong = "orders with o_orderkey = 3718: o_totalprice from 83,545.86 to 8,354,586"
    assert f"{wrong} (+8,271,040.14)\n" in told.output


@pytest.mark.parametrize("pair", [("monday", "tuesday"), ("monday", "top-orders")])
def test_advice_is_of_the_command(captures: Path, pair: tuple[str, str]) -> None:
    days = [str(captures / day) for day in pair]
    told = CliRunner().invoke(main, ["diff", *days, "revenue"], "", None, False)
    assert told.exit_code == 2
    advice = "--where COLUMN=VALUE" if pair[1] == "tuesday" else "Compare runs of one text"
    assert advice in told.output


def test_the_changed_row_of_two_days_is_named(captures: Path) -> None:
    """Among the rows of the answer, on the command line and as JSON."""
    days = [str(captures / day) for day in ("monday", "tuesday")]
    told = CliRunner().invoke(main, ["diff", *days], "", None, False).output
    assert "orders with o_orderkey = 3718: o_totalprice from 83,545.86 to 8,354,586\n" in told
    assert "148 more rows of orders differ\n" in told
    asked = ["diff", *days, "revenue", "--where", "c_mktsegment=FURNITURE", "--json"]
    inputs = json.loads(CliRunner().invoke(main, asked, "", None, False).output)["inputs"]
    assert len(inputs) == 10
    assert inputs[0] == {
        "relation": "orders",
        "key": {"o_orderkey": 3718},
        "change": "changed",
        "values": {"o_totalprice": {"before": "83545.86", "after": "8354586.00"}},
        "part": 8271040.14,
    }


def test_a_number_that_no_condition_explains_lists_its_rows(captures: Path) -> None:
    capture = lipstick.open(captures / "monday")
    first, second, *rows = str(capture.why("orders", {"c_mktsegment": "HOUSEHOLD"})).split("\n")[1:]
    assert first.endswith("Without single rows it would be:")
    for line in (second, *rows):
        told = re.fullmatch(r"- customer with c_custkey = (\d+): (\d+)", line)
        assert told is not None
        after = capture.what_if(delete={"customer": [int(told[1])]}).df.to_pylist()
        (row,) = (row for row in after if row["c_mktsegment"] == "HOUSEHOLD")
        assert row["orders"] == int(told[2])
    assert len(rows) == 4


def test_the_page_names_the_changed_row(captures: Path) -> None:
    explorer = Explorer(open_sources(captures))
    monday, tuesday = (
        number for number, each in enumerate(explorer.sources) if each.name in ("monday", "tuesday")
    )

    def asked(source: int, **params: Any) -> dict[str, Any]:
        return explorer.ask({"source": source, "view": "difference", "params": params})

    answer = asked(tuesday, before=monday, row=2, column="revenue")["answer"]
    assert answer["inputs"][0] == {
        "text": "orders with o_orderkey = 3718: o_totalprice from 83,545.86 to 8,354,586",
        "part": "+8,271,040.14",
    }
    assert asked(tuesday, before=99, row=0, column="revenue")["error"]["kind"] == "refused"
    assert asked(tuesday, before=monday, row=0, column="no")["error"]["kind"] == "refused"


def test_it_opens_without_java(captures: Path, tmp_path: Path) -> None:
    """As a page, in a process of its own."""
    page = tmp_path / "page.html"
    done = subprocess.run(
        [sys.executable, "-m", "lipstick", "explore", "--example", "--output", str(page)],
        env={"XDG_CACHE_HOME": str(captures.parent.parent), "PATH": "", "JAVA_HOME": ""},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size > 100_000


_WITHOUT_PYSPARK = """
import sys
sys.modules["pyspark"] = sys.modules["py4j"] = None
from pathlib import Path
import lipstick
from lipstick.explorer.explorer import Explorer, open_sources
explorer = Explorer(open_sources(Path(sys.argv[1])))
for number, source in enumerate(explorer.sources):
    for view in source.views:
        answer = explorer.ask({"source": number, "view": view, "params": {"row": 0}})
        assert answer.get("error", {}).get("kind") != "failed", (view, answer)
capture = lipstick.open(Path(sys.argv[1]) / "monday")
print(capture.what_if(delete={"orders": [4]}).df.num_rows, capture.polynomials(1)[0][0])
"""


def test_captures_are_asked_without_pyspark(captures: Path) -> None:
    """By the explorer, with all of its questions, and in Python."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _WITHOUT_PYSPARK, str(captures)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "AUTOMOBILE" in done.stdout


@pytest.mark.slow
@pytest.mark.classic
@pytest.mark.engines("spark")
def test_its_script_writes_the_same_answers(
    spark: SparkSession, tpch: Callable[[float], Path], tmp_path: Path, captures: Path
) -> None:
    write(tpch(0.01), tmp_path / "anew")
    for name in QUERIES:
        anew = lipstick.open(tmp_path / "anew" / "captures" / name, spark).df.toArrow()
        assert anew.to_pylist() == lipstick.open(captures / name).memory.answer().to_pylist()

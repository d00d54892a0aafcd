"""Rows that are not in the answer of a query, asked for in the explorer while its session runs."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow.compute as pc
import pytest
from playwright.sync_api import expect
from pyspark.sql import SparkSession

import lipstick
from lipstick.explorer import Explorer, Served
from lipstick.explorer.captures.missing import QuerySource
from lipstick.explorer.conditions import read_condition
from lipstick.explorer.explorer import ExplorerSource
from lipstick.explorer.opening import sources_of
from lipstick.explorer.params import Params
from semiring.errors import LipstickError
from tests.lipstick.explorer.conftest import Limit, accessible, ask, endless, opened, shot
from tests.selection import takes

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]

QUERY = """SELECT id, name, amount
FROM orders JOIN customers USING (customer)
WHERE amount > 10"""


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> Iterator[lipstick.AnnotatedFrame]:
    """A report without order 3, which is too small, and without O'Neill, who ordered nothing."""
    with lipstick.session(spark) as ls:
        orders = [(1, 1, 20.0), (2, 2, 30.0), (3, 2, 5.0)]
        columns = "id int, customer int, amount double"
        ls.track("orders", spark.createDataFrame(orders, columns), "id")
        customers = [(1, "Meier"), (2, "Kunz"), (3, "O'Neill")]
        ls.track(
            "customers", spark.createDataFrame(customers, "customer int, name string"), "customer"
        )
        yield ls.sql(QUERY)


@pytest.fixture(scope="module")
def source(frame: lipstick.AnnotatedFrame) -> ExplorerSource:
    """The report as the explorer asks it."""
    (entry,) = sources_of(frame)
    return entry.source


def test_a_row_is_lost_at_an_operator_of_the_text(source: ExplorerSource) -> None:
    """The card has the relation, the operator with its line, and the row itself."""
    answer = ask(source, "missing", where="id = 3")
    assert answer["question"] == "Why is there no row with id = 3?"
    (reason,) = answer["reasons"]
    assert (reason["operator"], reason["relation"], reason["rows"]) == ("WHERE", "orders", 1)
    assert reason["excerpt"] == ["", "WHERE", " amount > 10"]
    assert ["amount", "5.0"] in reason["example"]
    assert "amount is 5" in reason["sentence"]


def test_a_join_tells_of_its_partners(source: ExplorerSource) -> None:
    """A quote within a value is read as SQL reads it."""
    (reason,) = ask(source, "missing", where="name = 'O''Neill'")["reasons"]
    assert reason["operator"] == "JOIN"
    assert ask(source, "missing", where="name = Meier and amount >= 20")["present"]


def test_changes_bring_the_row(source: ExplorerSource) -> None:
    """Each change was run over the changed data."""
    changes = ask(source, "changes", where="id = 3")["changes"]
    assert "set amount = 10.01" in changes[0]
    changed = ask(source, "changed", where="id = 3", number=0)
    assert changed["columns"] == ["id", "name", "amount"]
    assert changed["rows"] == [["appears", "3", "Kunz", "10.01"]]
    assert not changed["more"]


def test_what_a_change_takes_away_is_shown_too(spark: SparkSession) -> None:
    with lipstick.session(spark) as ls:
        ls.track("t", spark.sql("SELECT id, id % 2 AS k, id AS v FROM range(6)"), "id")
        q = ls.sql("SELECT k, sum(v) AS v FROM t GROUP BY k HAVING sum(v) < 9")
        (change, *_) = q.why_not(k=1).changes()
        rows = change.changes()
        assert rows.column_names == ["_change", "k", "v"]
        (edit,) = change.edits
        column = "v" if "v" in edit.values else "k"
        edited = spark.sql(
            f"SELECT id, IF(id = {edit.key['id']}, {edit.values[column]}, {column}) AS {column}, "
            f"{'k' if column == 'v' else 'v'} FROM (SELECT id, id % 2 AS k, id AS v FROM range(6))"
        )
        edited.createOrReplaceTempView("edited")
        new = {tuple(r) for r in spark.sql(q.query.replace("FROM t", "FROM edited")).collect()}
        old = {(0, 6)}
        expected = {("appears", *r) for r in new - old} | {("disappears", *r) for r in old - new}
        assert {tuple(row.values()) for row in rows.to_pylist()} == expected
        spark.catalog.dropTempView("edited")
        maps = ls.sql("SELECT id, map(k, v) AS m FROM t WHERE v < 5").why_not(id=5).changes()
        with pytest.raises(LipstickError, match="rows with maps"):
            maps[0].changes()


def test_losses_are_counted(source: ExplorerSource) -> None:
    """Rows and lost rows, of each operator and input."""
    operators = ask(source, "dropped")["operators"]
    lost = {(each["operator"], each["input"]): (each["lost"], each["rows"]) for each in operators}
    assert lost["WHERE", "orders"] == (1, 3)
    assert lost["JOIN", "customers"] == (1, 3)


def test_a_question_ends_with_its_seconds_or_when_nobody_waits(
    source: QuerySource, monkeypatch: pytest.MonkeyPatch, limit: Limit
) -> None:
    monkeypatch.setattr(source, "_missing", endless)
    params = Params({"where": "id = 3", "seconds": limit.seconds})
    for view in ("missing", "changes"):
        with pytest.raises(LipstickError, match=limit.told):
            source.views[view](params, limit.budget())


def test_what_cannot_be_read_is_told(source: ExplorerSource) -> None:
    """The message has the columns of the answer."""
    reply = Explorer([source]).ask({"view": "missing", "params": {"where": "nome = Kunz"}})
    assert "id, name, amount" in reply["error"]["message"]


def test_a_capture_alone_offers_no_missing_rows(frame: lipstick.AnnotatedFrame) -> None:
    """It has not the rows that took no part."""
    (entry,) = sources_of(frame.capture)
    assert "missing" not in ask(entry.source, "about")
    assert "missing" not in entry.source.views


OPERATORS = ("=", "<>", "<", "<=", ">", ">=")
CONDITIONS = [
    "t = 'it''s \\ here'",
    "t like 'it%'",
    "not t = plain or d is null",
    "n in (1, 3) and t is not null",
    "n > 1.5",
    "d between 0.10 and 2",
    "day >= 2024-02-01",
    "moment < '2024-01-02 03:04:06'",
    "ok = true",
    "x <> 0.1",
    *(f"{name} {op} {value}" for name in "xf" for op in OPERATORS for value in ("0.1", "NaN")),
    *(f"not {name} {op} 0.1" for name in "xf" for op in OPERATORS),
    "x in (NaN, 0.1)",
    "x = -inf",
    "f < Infinity",
]


def test_conditions_mean_the_same_as_spark_sql(spark: SparkSession) -> None:
    """Typed conditions keep the rows that their SQL keeps in Spark."""
    time = datetime.datetime(2024, 1, 2, 3, 4, 5)
    rows: list[tuple[Any, ...]] = [
        (1, "it's \\ here", Decimal("0.10"), time.date(), time, True, 0.1, 0.1),
        (2, "plain", None, datetime.date(2024, 2, 1), None, None, float("nan"), float("nan")),
        (3, None, Decimal("2.00"), None, datetime.datetime(2024, 5, 1), False, None, None),
        (4, "", Decimal("3.00"), datetime.date(2023, 1, 1), None, None, -math.inf, math.inf),
        (5, "", Decimal("3.00"), datetime.date(2023, 1, 1), None, None, 0.2, 0.05),
    ]
    schema = "n int, t string, d decimal(9,2), day date, moment timestamp_ntz, ok boolean"
    schema += ", x double, f float"
    table = spark.createDataFrame(rows, schema)
    arrow = table.toArrow()
    typed = [read_condition(text, "the answer", arrow.schema.names) for text in CONDITIONS]
    kept = [condition.mask(arrow.column).to_pylist() for condition in typed]
    found = table.selectExpr(*[condition.sql(arrow.schema) for condition in typed]).toArrow()
    assert [column.to_pylist() for column in found.columns] == kept
    names = {"pc": pc, "datetime": datetime, "Decimal": Decimal}
    for condition, each in zip(typed, kept, strict=True):
        filtered = arrow.filter(eval(condition.python(arrow.schema), names))
        assert filtered.column("n").to_pylist() == [n for n, keep in enumerate(each, 1) if keep]
    for text, each in zip(CONDITIONS, kept, strict=True):
        assert {True} < {keep is True for keep in each} or "NaN" in text, text


def test_a_filter_that_leaves_nothing_asks_why(
    browser: Any, frame: lipstick.AnnotatedFrame, request: pytest.FixtureRequest
) -> None:
    """From the filter to the operator are two clicks, and a third to what would bring the row."""
    with Served(Explorer(sources_of(frame))) as served:
        for fresh in opened(browser, served.url):
            fresh.thorough = takes(request, 8)
            page = fresh.open()
            page.fill("[aria-label='Filter id']", "3")
            page.get_by_role("button", name="Why not?").click()
            expect(page.locator(".reason")).to_contain_text("WHERE")
            expect(page.locator(".reason mark")).to_have_text("WHERE")
            page.get_by_role("button", name="What would bring it?").click()
            expect(page.locator(".changes li").first).to_contain_text("set amount")
            page.get_by_role("button", name="The answer with it").first.click()
            expect(page.locator(".changes li").first).to_contain_text("1 row more, 0 rows less")
            expect(page.locator(".changes tr.appears").first).to_contain_text("Kunz")
            shot(fresh, "missing")
            accessible(fresh)
            page.get_by_role("button", name="Where are rows lost?").click()
            expect(page.locator(".missing tbody tr").first).to_contain_text("1 of 3")
            accessible(fresh)
            page.fill("[aria-label='A condition that the missing row meets']", "name = Meier")
            page.keyboard.press("Enter")
            expect(page.locator(".missing")).to_contain_text("It is there.")
            fresh.check()

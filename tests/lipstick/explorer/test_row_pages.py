"""Rows and numbers of captures in a real Chromium, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from playwright.sync_api import expect

from lipstick.explorer import Explorer, Served
from lipstick.explorer.explorer import open_source
from tests.lipstick.explorer.conftest import Page, accessible, opened, shot
from tests.lipstick.explorer.test_row_measures import TOTALS
from tests.lipstick.explorer.test_sentences import captured
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

DAYS = "SELECT day, sum(price) AS revenue FROM sales GROUP BY day ORDER BY day"


def day(prices: list[float], folder: Path) -> None:
    """A capture of twenty days, with two sales each."""
    data = pa.table(
        {"k": range(40), "day": [f"day {n // 2:02}" for n in range(40)], "price": prices}
    )
    sales = Relation("sales", ("k",), "k int, day string, price double", data)
    write_capture(DAYS, Database({"sales": sales}), folder)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an explorer of a list with totals, and of two runs of one query."""
    folder = tmp_path_factory.mktemp("pages")
    captured(TOTALS, folder)
    prices = [0.1 + n for n in range(40)]
    day(prices, folder / "monday")
    day([*prices[:34], 1_034.2, *prices[35:]], folder / "tuesday")
    paths = [folder / name for name in ("captured", "monday", "tuesday")]
    with Served(Explorer([open_source(path) for path in paths])) as serving:
        yield serving.url


@pytest.fixture
def page(browser: Any, sources: str) -> Iterator[Page]:
    """A fresh page."""
    yield from opened(browser, sources)


def unfold(screen: Any, title: str) -> None:
    screen.locator(f"summary:has-text('{title}')").first.click()


def test_the_probability_of_a_row_is_asked_with_its_seconds(page: Page) -> None:
    screen = page.open("#s=0&row=0")
    unfold(screen, "Probability")
    expect(screen.locator(".panel")).to_contain_text("The row is there with probability 1.")
    screen.get_by_label("What values tokens of orders").select_option(label="a number")
    screen.get_by_label("Probability of the rows of orders").fill("0.5")
    expect(screen.locator(".panel")).to_contain_text("The row is there with probability 0.25.")
    screen.locator("details[open]").get_by_label("Seconds that").select_option(label="2 s")
    expect(screen.locator(".panel")).to_contain_text("The row is there with probability 0.25.")
    screen.get_by_label("Probability of the rows of orders").fill("half")
    expect(screen.locator(".trouble")).to_contain_text("'half' is not a number")
    accessible(page, always=True)
    page.check()


def test_an_answer_that_takes_long_shows_its_seconds_and_is_cancelled(page: Page) -> None:
    screen = page.open("#s=0&row=0")
    screen.route(
        "**/ask",
        lambda route: None if "shares" in (route.request.post_data or "") else route.continue_(),
    )
    unfold(screen, "Shares")
    cancel = screen.get_by_role("button", name="Cancel")
    expect(cancel).to_be_visible()
    expect(screen.locator(".controls .note", has_text=" s").first).to_be_visible()
    cancel.click()
    expect(cancel).to_be_hidden()
    expect(screen.locator(".controls .note", has_text="cancelled")).to_be_visible()
    assert screen.locator("[aria-busy]").count() == 0
    page.check()


def test_shares_are_of_a_measure_that_is_chosen(page: Page) -> None:
    screen = page.open("#s=0&row=0")
    unfold(screen, "Shares")
    expect(screen.locator(".chart")).to_contain_text("users:1")
    screen.get_by_label("Measure").select_option(label="responsibility")
    expect(screen.get_by_role("img", name="responsibility of the inputs")).to_be_visible()
    expect(screen.locator(".panel")).to_contain_text("the row depends on the input alone")
    page.check()


def test_inputs_are_removed_in_the_picture_of_a_circuit(page: Page) -> None:
    screen = page.open("#s=0&row=0")
    unfold(screen, "Circuit")
    box = screen.locator(".circuit .box.node", has_text="orders 1")
    expect(box).to_be_visible()
    shot(page, "circuit")
    accessible(page, always=True)
    box.click()
    expect(screen.locator(".dock .summary")).to_contain_text("Without orders 1")
    expect(screen.locator(".circuit .box.is-gone")).to_have_count(1)
    # A gate opens its part, and the crumbs lead back.
    gate = screen.locator(".circuit .box.segment").nth(1)
    gate.focus()
    screen.keyboard.press("Enter")
    expect(screen.locator(".panel .crumbs li")).not_to_have_count(1)
    screen.locator(".panel .crumbs button").first.click()
    expect(screen.locator(".panel .crumbs li")).to_have_count(1)
    page.check()


def test_doubles_are_rounded_and_exact_where_one_points(page: Page) -> None:
    screen = page.open("#s=2")
    cell = screen.locator(".row .cell.linked").nth(17)
    expect(cell).to_have_text("1,069.30")
    assert cell.get_attribute("title") in (None, "1069.3")
    first = screen.locator(".row .cell.linked").first
    expect(first).to_have_text("1.2")
    first.click()
    expect(screen.locator(".parts .bar-text").first).to_have_text("1.1")
    page.check()


def test_rows_that_differ_between_runs_come_first(page: Page) -> None:
    screen = page.open("")
    table = screen.get_by_label("Numbers over monday, tuesday")
    expect(table.locator("tbody tr").first).to_contain_text("day 17")
    expect(screen.locator(".start")).to_contain_text("12 of 20 rows; 1 of them differs.")
    table.get_by_role("button").click()
    expect(screen.locator(".sentence")).to_contain_text("revenue of day = 'day 17' went from")
    expect(screen.locator(".sentence")).to_be_in_viewport()
    accessible(page, always=True)
    page.check()

"""The start page of the explorer, in a browser."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from lipstick.demo.example import example
from lipstick.explorer import Explorer, Served
from lipstick.explorer.budget import Budget
from lipstick.explorer.explorer import SourceEntry, View, open_source, open_sources
from lipstick.explorer.params import Params
from lipstick.explorer.saved import save
from tests.lipstick.explorer.conftest import accessible, ask, opened, shows

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]


class Answered:
    """A capture of which only the first rows are asked."""

    kind = "capture"

    def __init__(self, name: str, rows: list[list[str]], total: int) -> None:
        self.name = name
        self._rows = {"rows": rows, "total": total}

    @property
    def views(self) -> dict[str, View]:
        """One question."""
        return {"glance": self.glance}

    def glance(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the first rows."""
        del params, budget
        kinds = {"area": "text", "total": "number", "ok": "truth"}
        columns = [{"name": name, "type": kind, "kind": kind} for name, kind in kinds.items()]
        return {"query": "SELECT 1", "columns": columns, "explained": [1], **self._rows}


def entries(folder: Path, answers: dict[str, tuple[list[list[str]], int]]) -> list[SourceEntry]:
    """Return captures of the same query, the last one first, each a day after the one before."""
    made = []
    for day, (name, answer) in enumerate(answers.items(), 1):
        path = folder / name
        path.touch()
        os.utime(path, (86_400 * day, 86_400 * day))
        made.insert(0, SourceEntry(Answered(name, *answer), path))
    return made


def test_the_start_page_has_red_checks_and_numbers_over_captures(
    browser: Any, tmp_path: Path
) -> None:
    south = ["south", "5", "true"]
    monday = [["north", "1000", "true"], south]
    tuesday = [["north", "75.5", "false"], south]
    answers = {"monday": (monday, 2), "tuesday": (tuesday, 2)}
    with Served(Explorer(entries(tmp_path, answers))) as served:
        for page in opened(browser, served.url):
            screen = page.open()
            screen.wait_for_selector(".plain-table")
            lines = screen.locator(".plain-table tr").all_inner_texts()
            assert [line.split("\t") for line in lines[:3]] == [
                ["area", "number", "monday", "tuesday"],
                ["north", "total", "1,000", "75.5 −924.5 (−92.5 %)"],
                ["north", "ok", "true", "false"],
            ]
            shows(screen, ".card .bad", ["ok is false"])
            page.check()


def test_captures_that_come_into_an_open_folder_appear(browser: Any, tmp_path: Path) -> None:
    """With their query, rows and relations; what is on the page stays."""
    folder = tmp_path / "runs"
    shutil.copytree(example() / "monday", folder / "monday")
    explorer = Explorer([*open_sources(folder), *open_sources(example())], folders=[folder])
    with Served(explorer) as served:
        for page in opened(browser, served.url):
            screen = page.open()
            first = screen.locator(".card").first
            expect(first).to_contain_text("SELECT c_mktsegment, count(*) AS orders")
            expect(first).to_contain_text("5 rows from customer, orders")
            known = len(explorer.sources)
            shutil.copytree(example() / "to-remind", folder / f"later {known}")
            expect(screen.locator(".card")).to_have_count(known + 1)
            expect(screen.locator(".card").last).to_contain_text("rows from customer, orders")
            page.check()


def test_a_difference_leads_to_the_rows_that_make_it(browser: Any) -> None:
    with Served(Explorer(open_sources(example()))) as served:
        for page in opened(browser, served.url):
            screen = page.open()
            screen.get_by_role("button", name="+9,947,824").press("Enter")
            first = screen.locator(".panel-section ul:not(.note) li").first
            expect(first).to_contain_text("o_orderkey = 3718: o_totalprice from 83,545.86 to")
            # Any two captures are compared, and each number that differs opens its parts.
            screen.get_by_label("Capture before").select_option(label="monday")
            screen.get_by_label("Capture after").select_option(label="tuesday")
            screen.get_by_role("button", name="Compare", exact=True).press("Enter")
            found = screen.get_by_label("Rows that differ")
            expect(found.locator("tbody tr")).to_have_count(5)
            found.get_by_role("button", name="+9,947,824").press("Enter")
            parts = screen.locator("form + .panel-section ul:not(.note) li").first
            expect(parts).to_contain_text("o_orderkey = 3718: o_totalprice from 83,545.86 to")
            accessible(page, always=True)
            page.check()


def test_a_saved_page_says_how_the_runs_that_it_holds_differ(browser: Any, tmp_path: Path) -> None:
    page_saved = save(Explorer(open_sources(example())), tmp_path / "page.html")
    assert page_saved.says[-1].endswith("how it differs from monday.")
    for page in opened(browser, (tmp_path / "page.html").as_uri()):
        screen = page.open()
        screen.get_by_role("button", name="What differs from monday to tuesday").press("Enter")
        found = screen.get_by_label("Rows that differ")
        expect(found.locator("tbody tr")).to_have_count(5)
        for place in (".plain-table", "[aria-label='Rows that differ']"):
            told = screen.locator(f"{place} button", has_text="+9,947,824")
            told.first.press("Enter")
            parts = screen.locator(".panel-section ul:not(.note) li").first
            expect(parts).to_contain_text("o_orderkey = 3718: o_totalprice from 83,545.86 to")
        # What it does not hold is not offered.
        assert screen.get_by_label("Seconds that the answer may take").count() == 0
        screen.goto(f"{page.page.url}#s=4&row=0&col=1")
        screen.wait_for_selector(".parts tbody tr")
        assert screen.get_by_label("Group by").is_hidden()
        assert screen.get_by_role("button", name="Compare with another number").count() == 0
        page.check()


def test_rows_that_limit_cuts_stay_with_their_new_place(browser: Any) -> None:
    with Served(Explorer(open_sources(example() / "top-orders"))) as served:
        for page in opened(browser, served.url):
            cut = urlencode({"cut": json.dumps([{"delete": {"lineitem": [["56295", "2"]]}}])})
            screen = page.open(f"#{cut}")
            row = screen.locator(".row.is-cut")
            expect(row).to_contain_text("↓ 12.")
            expect(row).to_contain_text("115,110.7584 50,962.9120")
            expect(screen.locator(".row.is-deleted")).to_have_count(0)
            page.check()


def test_only_what_is_known_to_be_missing_is_said_to_be(browser: Any, tmp_path: Path) -> None:
    north, south = (["north", "7", "true"], ["south", "5", "true"])
    answers = {"monday": ([north], 2), "tuesday": ([south], 1)}
    with Served(Explorer(entries(tmp_path, answers))) as served:
        for page in opened(browser, served.url):
            screen = page.open()
            screen.wait_for_selector(".plain-table")
            lines = screen.locator(".plain-table tr").all_inner_texts()
            assert [line.split("\t") for line in lines[1::2]] == [
                ["north", "total", "7", "no row"],
                ["south", "total", "not among the first 1", "5"],
            ]
            page.check()


def test_rows_that_are_not_told_apart_are_not_followed(browser: Any, tmp_path: Path) -> None:
    twice = [["north", "7", "true"], ["north", "8", "false"]]
    answers = {"monday": (twice, 2), "tuesday": (twice, 2)}
    with Served(Explorer(entries(tmp_path, answers))) as served:
        for page in opened(browser, served.url):
            screen = page.open()
            screen.wait_for_selector(".card .bad")
            assert not screen.locator(".plain-table").count()
            page.check()


def test_a_folder_of_many_captures_is_looked_at_in_parts(browser: Any, tmp_path: Path) -> None:
    """The newest first, as long as they are small; what was not looked at is counted."""
    sizes = (150, 40, 40, 40, 40, 40)
    red = ([["north", "7", "false"]], 1)
    captures = entries(tmp_path, {f"day {day}": red for day in range(len(sizes))})
    for megabytes, entry in zip(reversed(sizes), captures, strict=True):
        assert entry.path is not None
        changed = entry.path.stat().st_mtime
        os.truncate(entry.path, 1_000_000 * megabytes)
        os.utime(entry.path, (changed, changed))
    told = []
    with Served(Explorer(captures)) as served:
        for page in opened(browser, served.url):
            screen = page.open()
            for seen in (2, 4, 5):
                screen.locator(".card .bad").nth(seen - 1).wait_for()
                marked = screen.locator(".card:has(.bad) strong").all_inner_texts()
                assert marked == [f"day {day}" for day in range(5, 5 - seen, -1)]
                told.append(screen.locator(".start > .note").inner_text().split(" not ")[0])
                screen.get_by_role("button", name="Look at more").press("Enter")
            screen.wait_for_selector(".start > .note:empty", state="attached")
            expect(screen.locator(".card .bad")).to_have_count(6)
            expect(screen.locator(".panel-section h3")).to_contain_text("6 captures")
            page.check()
    assert told == ["4 captures of 270 MB", "2 captures of 190 MB", "1 capture of 150 MB"]


def test_a_capture_shows_its_first_rows_at_a_glance(captures: Path) -> None:
    source = open_source(captures / "suppliers")
    glance, rows = ask(source, "glance"), ask(source, "rows")
    shown = ("columns", "rows", "total")
    assert {name: glance[name] for name in shown} == {name: rows[name] for name in shown}
    about = ask(source, "about")
    assert (glance["query"], glance["explained"]) == (about["query"], about["explained"])

"""The start page of the explorer, in a browser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lipstick.explorer import Explorer, Served
from lipstick.explorer.budget import Budget
from lipstick.explorer.explorer import SourceEntry, View, open_source
from lipstick.explorer.params import Params
from tests.lipstick.explorer.conftest import ask, opened, texts

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]


class Answered:
    """A capture of which only the first rows are asked."""

    kind = "capture"

    def __init__(self, name: str, total: str, ok: str) -> None:
        self.name = name
        self._rows = [["north", total, ok], ["south", "5", "true"]]

    @property
    def views(self) -> dict[str, View]:
        """One question."""
        return {"glance": self.glance}

    def glance(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the first rows."""
        del params, budget
        kinds = {"area": "text", "total": "number", "ok": "truth"}
        columns = [{"name": name, "type": kind, "kind": kind} for name, kind in kinds.items()]
        return {"query": "SELECT 1", "columns": columns, "explained": [1], "rows": self._rows}


def test_the_start_page_has_red_checks_and_numbers_over_captures(
    browser: Any, tmp_path: Path
) -> None:
    entries = []
    for day, answer in enumerate((("monday", "1000", "true"), ("tuesday", "75.5", "false"))):
        path = tmp_path / answer[0]
        path.touch()
        os.utime(path, (86_400 * (1 + day), 86_400 * (1 + day)))
        entries.insert(0, SourceEntry(Answered(*answer), path))
    with Served(Explorer(entries)) as served:
        for page in opened(browser, served.url):
            screen = page.open()
            screen.wait_for_selector(".plain-table")
            lines = screen.locator(".plain-table tr").all_inner_texts()
            assert [line.split("\t") for line in lines[:3]] == [
                ["area", "number", "monday", "tuesday"],
                ["north", "total", "1,000", "75.5 −924.5 (−92.5 %)"],
                ["north", "ok", "true", "false"],
            ]
            assert texts(screen, ".card .bad") == ["ok is false"]
            page.check()


def test_a_capture_shows_its_first_rows_at_a_glance(captures: Path) -> None:
    source = open_source(captures / "suppliers")
    glance, rows = ask(source, "glance"), ask(source, "rows")
    assert {name: glance[name] for name in ("columns", "rows")} == {
        name: rows[name] for name in ("columns", "rows")
    }
    about = ask(source, "about")
    assert (glance["query"], glance["explained"]) == (about["query"], about["explained"])

"""The front of the site has a live page, which computes its answers without a server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import lipstick
from lipstick.demo.example import example
from lipstick.explorer.cells import cell
from tests import live_page
from tests.lipstick.explorer.conftest import PATIENCE, opened

FRONT = Path(live_page.__file__).parent.parent / "docs" / "index.md"


@pytest.fixture
def front(tmp_path: Path) -> Path:
    """A page that embeds what the front of the site embeds, with the live page beside it."""
    (frame,) = re.findall(r"<iframe[^>]*></iframe>", FRONT.read_text("utf-8"))
    source = re.search(r'src="(live/[\w-]+\.html)#', frame)
    assert source is not None
    assert source[1] == f"live/{live_page.FILE.name}"
    live_page.write(tmp_path / source[1])
    (tmp_path / "index.html").write_text(f"<!doctype html><title>x</title>{frame}", "utf-8")
    return tmp_path / "index.html"


def test_the_front_answers_a_removal_as_the_capture_does(browser: Any, front: Path) -> None:
    capture = lipstick.open(example() / live_page.CAPTURE)
    first = capture.memory.answer().to_pylist()[0]
    for page in opened(browser, front.as_uri()):
        page.page.goto(front.as_uri())
        frame = page.page.frame_locator("iframe")
        frame.locator(".parts tbody tr").first.wait_for(timeout=PATIENCE)
        expect(frame.locator(".sentence")).to_contain_text(f"revenue {first['revenue']:,} of")
        frame.get_by_role("button", name="what if?").first.click()
        (key,) = frame.locator(".part.struck .part-name").all_text_contents()
        lines = [tuple(map(int, key.split("|")))]
        (changed,) = [
            row
            for row in capture.what_if(delete={"lineitem": lines}).changes.to_pylist()
            if row["_change"] != "unchanged"
        ]
        shown = f"{changed['new']['revenue']:,}"
        assert shown.replace(",", "") == cell(changed["new"]["revenue"])
        expect(frame.locator(".row.is-changed ins")).to_have_text(shown)
        # A condition that was not asked before is computed as well.
        frame.locator(".tab", has_text="What if").click()
        frame.get_by_label("Remove rows of customer where").fill("c_custkey > 0")
        expect(frame.locator(".summary").last).to_contain_text("10 gone")
        assert page.elsewhere == []
        assert page.told == []

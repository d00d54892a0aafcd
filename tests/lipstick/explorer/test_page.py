"""The page is one file of its own, small, and takes nothing that it shows for markup."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lipstick.explorer import Explorer
from lipstick.explorer.explorer import open_source
from lipstick.explorer.page import MODULES, assembled, policy, script
from lipstick.explorer.saved import LARGEST, canonical, save
from tests.lipstick.explorer.conftest import HOSTILE

FOLDER = Path(__file__).parents[3] / "lipstick" / "explorer" / "page"


def test_every_module_is_in_the_page_once() -> None:
    assert {path.name for path in FOLDER.glob("*.js")} == set(MODULES)
    assert not re.search(r"^(import|export)\b", script(MODULES), re.M)


def test_names_at_the_top_are_defined_once() -> None:
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script(MODULES), re.M)
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize(
    "sink",
    ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"],
)
def test_nothing_is_parsed_as_markup_or_script(sink: str) -> None:
    assert sink not in script(MODULES)


def test_the_page_is_small_and_asks_nobody_else() -> None:
    page = assembled({"mode": "server"})
    assert len(page.encode()) < 300_000
    outside = re.findall(r"https?://[^\s\"'`]+", page)
    assert set(outside) == {"http://www.w3.org/2000/svg"}


def test_its_policy_allows_its_own_script_and_style_alone() -> None:
    page = assembled({"mode": "server"})
    rules = dict(rule.split(" ", 1) for rule in policy(page, served=True).split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].count("sha256-") == 1
    assert rules["style-src"].count("sha256-") == 1
    assert rules["connect-src"] == "'self'"
    assert "unsafe" not in policy(page, served=True)
    assert "connect-src 'none'" in policy(page, served=False)


def test_data_cannot_leave_its_element() -> None:
    answers = {text: {"answer": text} for text in HOSTILE}
    page = assembled({"mode": "saved", "answers": answers})
    data = re.search(r'<script type="application/json" id="given">(.*?)</script>', page, re.S)
    assert data is not None
    assert json.loads(data[1])["answers"] == answers
    assert page.count("</script>") == 2


def test_a_saved_page_holds_what_is_clicked_first(stores: Path, tmp_path: Path) -> None:
    sources = [open_source(path) for path in sorted(stores.iterdir())]
    size = save(Explorer(sources), tmp_path / "page.html")
    assert size == (tmp_path / "page.html").stat().st_size < LARGEST
    page = (tmp_path / "page.html").read_text()
    assert '<meta http-equiv="Content-Security-Policy"' in page
    data = re.search(r'<script type="application/json" id="given">(.*?)</script>', page, re.S)
    assert data is not None
    answers: dict[str, Any] = json.loads(data[1])["answers"]
    for number in range(len(sources)):
        question = {"source": number, "view": "picture", "params": {"focus": {}}}
        assert answers[canonical(question)]["answer"]["boxes"]

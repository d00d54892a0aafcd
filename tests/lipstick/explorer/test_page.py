"""The page is one file of its own, small, and takes nothing that it shows for markup."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lipstick.demo.example import example
from lipstick.explorer import Explorer, saved
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.explorer import open_source
from lipstick.explorer.page import MODULES, assembled, policy, script
from lipstick.explorer.saved import LARGEST, canonical, save, saved_page
from tests.lipstick.cli.test_cli_captures import SQL, cars
from tests.lipstick.explorer.conftest import HOSTILE
from tests.oracle.written import write_capture

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
    page_saved = save(Explorer(sources), tmp_path / "page.html")
    assert len(page_saved.data) == (tmp_path / "page.html").stat().st_size < LARGEST
    assert [line.partition(":")[0] for line in page_saved.says] == [each.name for each in sources]
    page = (tmp_path / "page.html").read_text()
    assert '<meta http-equiv="Content-Security-Policy"' in page
    data = re.search(r'<script type="application/json" id="given">(.*?)</script>', page, re.S)
    assert data is not None
    answers: dict[str, Any] = json.loads(data[1])["answers"]
    for number in range(len(sources)):
        question = {"source": number, "view": "picture", "params": {"focus": {}}}
        assert answers[canonical(question)]["answer"]["boxes"]


def test_a_saved_page_has_the_same_answers_on_a_busy_machine() -> None:
    """They are counted in work, and in bytes: no clock has a say."""

    def given(seconds: float) -> dict[str, Any]:
        days = (example() / day for day in ("monday", "tuesday"))
        explorer = Explorer([open_source(day) for day in days])
        ask = explorer.ask

        def busy(question: Any) -> dict[str, Any]:
            until = time.thread_time() + seconds
            while time.thread_time() < until:
                pass
            return {**ask(question), "milliseconds": 0}

        explorer.ask = busy  # type: ignore[method-assign, assignment]
        document = re.search(r'id="given">(.*?)</script>', saved_page(explorer).data.decode(), re.S)
        assert document is not None
        found: dict[str, Any] = json.loads(document[1])
        return found

    assert given(0.0) == given(0.02)


def test_the_view_that_is_saved_is_whole_whatever_work_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its circuit and what was looked at; of the other captures a page says what it lacks."""
    sources = []
    for name in ("a", "b", "c"):
        capture = write_capture(SQL, cars([10, 20, 30, 40]), tmp_path / name)
        sources.append(CaptureSource(name, capture))
    explorer = Explorer(sources)
    monkeypatch.setattr(saved, "WORK", -1)
    monkeypatch.setattr(saved, "MEMBERS", -1)
    value = {"row": 0, "column": "total", "only": []}
    looked = [{"source": 2, "view": "value", "params": value}]
    for place, whole in (("#s=2&row=0", [2]), ("#row=0", [0]), ("", [])):
        page = saved_page(explorer, questions=looked, place=place)
        document = re.search(r'id="given">(.*?)</script>', page.data.decode(), re.S)
        assert document is not None
        given = json.loads(document[1])
        assert [int(n) for n, c in given["circuits"].items() if "data" in c] == whole
        assert given["says"] == page.says
        for number, line in enumerate(page.says):
            assert ("without any input rows" in line) == (number in whole)
            assert ("not what if, for" in line) == (number not in whole)
        assert canonical(looked[0]) in given["answers"]

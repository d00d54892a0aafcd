"""The explorer in a real Chromium: what is on the screen is what the API answers.

With `LIPSTICK_SCREENSHOTS` set to a folder, pictures of the views are written there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from lipstick.capture.capture import Capture
from lipstick.explorer import Explorer
from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cell
from lipstick.explorer.explorer import open_source
from lipstick.explorer.saved import save
from lipstick.explorer.widget import widget
from tests.lipstick.explorer.conftest import HOSTILE, Page, accessible, opened, shot, shows, texts

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]

Open = Callable[[str], Capture]
Numbers = dict[str, int]


def separated(value: Any) -> str:
    """A number as the page shows it."""
    whole, point, rest = str(cell(value)).partition(".")
    return f"{int(whole):,}{point}{rest}"


def test_from_a_value_to_the_rows_it_is_made_of(
    page: Page, capture: Open, numbers: Numbers
) -> None:
    screen = page.open(f"#s={numbers['q3']}")
    answer = capture("q3").memory.answer()
    screen.wait_for_selector(".row .cell.linked")
    revenue = [separated(value) for value in answer.column("revenue").to_pylist()]
    shows(screen, ".row .cell:nth-child(2)", revenue)
    # One key leads from the table to the value, and its inputs have the columns of their source.
    screen.locator(".table-scroll").first.focus()
    for key in ("ArrowRight", "Enter"):
        screen.keyboard.press(key)
    screen.wait_for_selector(".parts tbody td.text")
    ((_, tensor),) = capture("q3").algebra.tensors("revenue", 1)
    bars = texts(screen, ".parts tbody .bar-text")
    assert bars == [
        separated(value) for _, value in sorted(tensor.simple_tensors, key=lambda term: -term[1])
    ]
    assert {"l_shipmode", "l_quantity", "share", "without it"} <= set(texts(screen, ".parts th"))
    expect(screen.locator(".sentence")).to_contain_text("rows of lineitem; the largest")
    opened_one = capture("q3")
    at = opened_one.memory.engine.base("b0").ordered[:1]
    (annotation,) = opened_one.memory.formally(lambda formal: formal.uncut("b0", at))
    tokens = {str(token) for token in annotation.tokens}
    chips = screen.locator(".formula .token")
    assert {
        chips.nth(i).get_attribute("title").replace(": ", ":") for i in range(chips.count())
    } == (tokens)
    screen.locator(".inputs-head button", has_text="rows").first.click()
    expect(screen.locator(".source-rows th").first).to_have_text("c_custkey")
    shot(page, "why")
    # The address is the view: it leads back here.
    again = page.open(screen.url[screen.url.index("#") :])
    again.wait_for_selector(".parts tbody tr")
    shows(again, ".parts tbody .bar-text", bars)
    # By time: a bar keeps its month, and a button removes what is in it.
    again.get_by_label("Group by").select_option(label="l_shipdate")
    again.locator(".spans .bar").first.focus()
    again.keyboard.press("Enter")
    again.wait_for_selector(".kept")
    expect(again.locator(".sentence")).to_contain_text("with l_shipdate 1995-")
    shot(page, "kept")
    accessible(page, always=True)
    page.check()


def test_two_numbers_stand_beside_each_other(
    page: Page, capture: Open, numbers: Numbers, browser: Any, tmp_path: Path
) -> None:
    screen = page.open(f"#s={numbers['suppliers']}")
    cells = screen.locator(".row .cell.linked")
    cells.first.click()
    screen.wait_for_selector(".parts tbody tr")
    cells.nth(3).click(modifiers=["Shift"])
    screen.wait_for_selector(".comparison .parts tbody tr")
    expect(screen.locator(".cell.picked")).to_have_count(2)
    source = open_source(capture("suppliers").directory)
    names = [{"row": 0, "column": "n"}, {"row": 0, "column": "total"}]
    question = {"source": 0, "view": "comparison", "params": {"numbers": names}}
    answer = Explorer([source]).ask(question)["answer"]
    expect(screen.locator(".sentence")).to_have_text(answer["sentence"])
    shown = texts(screen, ".comparison .parts .bar-text")
    assert shown == [
        separated(n["text"]).replace("-", "−") for bar in answer["bars"] for n in bar["numbers"]
    ]
    shot(page, "numbers")
    accessible(page, always=True)
    # By a column, kept, and all again.
    screen.get_by_label("Group by").select_option(label="n_name")
    screen.get_by_label(re.compile("^Only ")).first.click()
    screen.wait_for_selector(".comparison .kept")
    screen.wait_for_selector(".comparison .parts tbody tr")
    # A third is added with the keys, and one is left out; Escape leads back to the first.
    screen.locator(".table-scroll").first.focus()
    for key in ("ArrowDown", "Shift+Enter"):
        screen.keyboard.press(key)
    expect(screen.locator(".cell.picked")).to_have_count(3)
    expect(screen.locator(".numbers li")).to_have_count(3)
    screen.get_by_label(re.compile("^Leave out ")).last.click()
    expect(screen.locator(".cell.picked")).to_have_count(2)
    with screen.expect_download() as download:
        screen.get_by_label("Save this view as a page").click()
        expect(screen.get_by_role("dialog")).to_contain_text("comparisons of numbers")
        screen.get_by_role("button", name="Save", exact=True).click()
    download.value.save_as(tmp_path / "view.html")
    screen.locator(".table-scroll").first.focus()
    screen.keyboard.press("Escape")
    expect(screen.locator(".value:not(.comparison) .sentence")).to_contain_text("n ")
    page.check()
    for still in opened(browser, (tmp_path / "view.html").as_uri(), color_scheme="dark"):
        still.page.set_viewport_size({"width": 420, "height": 800})
        alone = still.open()
        expect(alone.locator(".comparison .sentence")).to_have_text(answer["sentence"])
        assert alone.evaluate("document.documentElement.scrollWidth") <= 420
        accessible(still, always=True)
        alone.locator(".row .cell.linked").nth(9).click(modifiers=["Shift"])
        expect(alone.locator(".comparison .trouble.unsaved")).to_contain_text("Not in this page")
        still.check()


def test_what_if_by_clicking_is_the_captures_own(
    page: Page, capture: Open, numbers: Numbers
) -> None:
    screen = page.open(f"#s={numbers['q3']}&row=0")
    screen.locator('.formula .token[title^="orders"]').first.click()
    screen.wait_for_selector(".dock .summary .count")
    order = capture("q3").memory.answer().column("l_orderkey")[0].as_py()
    changes = capture("q3").what_if(delete={"orders": [order]}).changes.to_pylist()
    wanted = [row for row in changes if row["_change"] != "unchanged"]
    expect(screen.locator(".dock .summary")).to_contain_text(f"Without orders {order}")
    screen.get_by_role("button", name="Only what differs").click()
    expect(screen.locator(".answer-main .table-note")).to_have_text(f"{len(wanted)} rows")
    for number, row in enumerate(wanted):
        kept = row["old"] or row["new"]
        shown = screen.locator(".row").nth(number)
        expect(shown).to_have_class(re.compile(f"is-{row['_change']}"))
        expect(shown).to_contain_text(separated(kept["revenue"]))
    assert texts(screen, ".formula .token.struck")
    shot(page, "what-if")
    accessible(page)
    # Side by side with another one, a row that both bring is one, whatever its numbers are.
    both = [{"delete": {"orders": [[str(order)]]}}, {"where": {"lineitem": "l_linenumber = 2"}}]
    page.open(f"#s={numbers['q3']}&v=whatif&cut={quote(json.dumps(both))}")
    screen.wait_for_selector(".matrix-cell")
    keys = texts(screen, ".differences tbody td:first-child")
    assert len(keys) == len(set(keys))
    page.check()


def test_scenarios_that_begin_by_typing_stand_side_by_side(
    page: Page, capture: Open, numbers: Numbers, browser: Any, tmp_path: Path
) -> None:
    screen = page.open(f"#s={numbers['suppliers']}&v=whatif")
    where = screen.get_by_label("Remove rows of supplier where")
    where.press_sequentially("s_suppkey in (999999)")
    expect(screen.locator(".summary")).to_contain_text("no row of this query is meant")
    where.fill("s_suppkey between 1 and 30")
    screen.wait_for_selector(".differences .row .cell ins")
    assert texts(screen, ".differences .row .delta")
    screen.get_by_role("button", name="Add beside").click()
    assert where.input_value() == ""
    where.fill("s_acctbal < 0 or s_acctbal > 9,000")
    screen.get_by_label("Name of the scenario").fill("Outliers")
    screen.wait_for_selector(".matrix-cell")
    expect(screen.locator(".differences th").last).to_have_text("Outliers")
    keys = list(range(1, 31))
    changes = capture("suppliers").what_if(delete={"supplier": keys}).changes.to_pylist()
    first = next(row for row in changes if row["_change"] == "changed")
    line = screen.locator(".differences tbody tr", has_text=first["old"]["n_name"])
    expect(line).to_contain_text(separated(first["new"]["n"]))
    # A third one changes values.
    screen.get_by_role("button", name="Add beside").click()
    screen.get_by_label("Change values of supplier").fill("s_acctbal = 0 where s_suppkey <= 20")
    expect(screen.locator(".summary").last).to_contain_text(
        "With s_acctbal = 0 where s_suppkey <= 20 in supplier"
    )
    shot(page, "scenarios")
    # The saved view has the same scenarios, without the server.
    told = texts(screen, ".differences td")
    with screen.expect_download() as download:
        screen.get_by_label("Save this view as a page").click()
        expect(screen.get_by_role("dialog")).to_contain_text("all its rows, sorted and filtered")
        screen.get_by_role("button", name="Save", exact=True).click()
    download.value.save_as(tmp_path / "view.html")
    for still in opened(browser, (tmp_path / "view.html").as_uri()):
        alone = still.open()
        alone.wait_for_selector(".matrix-cell")
        shows(alone, ".differences td", told)
        still.check()
    screen.get_by_role("button", name="Clear").click()
    expect(screen.locator(".invitation")).to_contain_text("Nothing is removed")
    accessible(page)
    page.check()


def test_tables_are_sorted_filtered_and_walked_through(
    page: Page, capture: Open, numbers: Numbers
) -> None:
    screen = page.open(f"#s={numbers['orders']}")
    answer = capture("orders").memory.answer().to_pandas()
    screen.wait_for_selector(".row .cell")
    assert screen.locator(".row").count() < 60
    screen.get_by_role("button", name="o_totalprice").click()
    first = str(answer["o_totalprice"].min())
    expect(screen.locator(".row .cell:nth-child(3)").first).to_have_text(first)
    screen.get_by_label("Filter o_totalprice").fill("> 200000")
    count = int((answer["o_totalprice"].astype(float) > 200_000).sum())
    note = screen.locator(".answer-main .table-note")
    expect(note).to_have_text(f"{count:,} rows of {len(answer):,}")
    # By keys alone.
    screen.locator(".table-scroll").first.focus()
    for key in ("End", "Home", "ArrowDown", "PageDown", "ArrowUp", "Enter"):
        screen.keyboard.press(key)
    screen.wait_for_selector(".panel .formula .token")
    expect(screen.locator(".row.chosen")).to_have_count(1)
    with screen.expect_download() as download:
        screen.get_by_label("Save as CSV").first.click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert len(lines) == count + 1
    page.check()


def test_keys_open_close_and_undo(page: Page, numbers: Numbers) -> None:
    screen = page.open(f"#s={numbers['suppliers']}")
    screen.wait_for_selector(".row .cell")
    screen.keyboard.press("/")
    expect(screen.get_by_label("Search in all sources")).to_be_focused()
    for key in ("Escape", "?"):
        screen.keyboard.press(key)
    expect(screen.locator("dialog dt").first).to_be_visible()
    screen.keyboard.press("Escape")
    expect(screen.locator("dialog")).to_have_count(0)
    screen.locator(".table-scroll").first.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
        screen.keyboard.press(key)
    screen.wait_for_selector(".parts tbody tr")
    screen.locator(".part-actions button").first.press("Enter")
    screen.wait_for_selector(".dock .count")
    assert "Put" in screen.evaluate("document.activeElement.getAttribute('aria-label')")
    screen.keyboard.press("u")
    expect(screen.locator(".dock")).to_be_hidden()
    for _ in range(2):
        screen.keyboard.press("Escape")
    screen.wait_for_selector(".invitation")
    page.check()


def test_conditions_shares_and_semirings(page: Page, numbers: Numbers) -> None:
    screen = page.open(f"#s={numbers['suppliers']}&row=1&col=4")
    screen.wait_for_selector(".formula .token")
    screen.wait_for_selector(".parts tbody tr")
    screen.get_by_text("how much each input has to do with it").click()
    screen.wait_for_selector("details .chart .bar-value")
    screen.get_by_text("in a semiring").click()
    screen.wait_for_selector(".evaluated")
    shows(screen, ".evaluated", ["1"])
    screen.get_by_label("Semiring").select_option("boolean")
    expect(screen.locator(".evaluated")).to_have_text("true")
    screen.get_by_text("one line each").click()
    screen.wait_for_selector(".table.short .row .cell")
    shot(page, "row")
    accessible(page)
    page.check()


BY_DATE = '{"axis":1,"column":"o_orderdate"}'
CUT = '[{"where":{"supplier":"s_suppkey < 31"}},{"where":{"supplier":"s_acctbal < 0"}}]'
DELETED = '{"mode":"delete","nodes":["dealer1/Cars:C2"]}'


IDLE = "() => !document.querySelector('[aria-busy], .working')"


def test_a_control_stays_where_what_it_chooses_is_drawn(page: Page, numbers: Numbers) -> None:
    # Another element would not know the letters that were typed, and a slider would be let go.
    for name, place, label, key, drawn in (
        ("q3", "row=0&col=1", "Group by", "l", ".parts th:text-is('inputs')"),
        ("q3", f"row=0&col=1&by={BY_DATE}", "in", "b", ".value .chart"),
        ("suppliers", f"v=whatif&cut={CUT}", "Column to compare", "b", ".matrix-cell"),
        ("dealership", f"marks={DELETED}", "Step of the deletion", "ArrowLeft", ".tools .note"),
    ):
        screen = page.open(f"#s={numbers[name]}&{place}")
        control = screen.get_by_label(label, exact=True)
        screen.wait_for_selector(".parts tbody tr, .matrix-cell, .box")
        screen.wait_for_function(IDLE)
        control.focus()
        element, chosen, before = control.element_handle(), control.input_value(), screen.url
        screen.keyboard.press(key)
        expect(control).not_to_have_value(chosen)
        expect(screen).not_to_have_url(before)
        screen.wait_for_selector(drawn)
        screen.wait_for_function(IDLE)
        screen.wait_for_timeout(100)
        assert element.evaluate("(element) => element === document.activeElement"), label
    page.check()


def test_a_query_is_shown_with_its_blocks(page: Page, capture: Open, numbers: Numbers) -> None:
    screen = page.open(f"#s={numbers['q3']}&v=query")
    screen.wait_for_selector(".sql")
    expect(screen.locator(".sql")).to_have_text(capture("q3").query)
    shows(screen, ".sql .mention", ["customer", "orders", "lineitem"])
    screen.get_by_role("button", name="SUM(l_extendedprice").first.click()
    screen.wait_for_selector(".sql .lit-name")
    shows(screen, ".sql .lit-name", ["l_extendedprice", "l_discount"])
    expect(screen.locator(".sql")).to_have_text(capture("q3").query)
    shot(page, "query")
    accessible(page)
    page.check()


def test_into_a_graph_and_back_out(page: Page, stores: Path, numbers: Numbers) -> None:
    screen = page.open(f"#s={numbers['dealership']}")
    screen.wait_for_selector(".box.module")
    source = open_source(stores / "dealership")
    picture = Explorer([source]).ask({"view": "picture"})["answer"]
    labels = [box["label"] for box in picture["boxes"]]
    expect(screen.locator(".box .label")).to_have_count(len(labels))
    assert sorted(texts(screen, ".box .label")) == sorted(labels)
    # With keys alone: to dealer1, into it, into its invocation, and back.
    screen.locator('.box[tabindex="0"]').focus()
    for _ in range(6):
        if "dealer1" in (screen.evaluate("document.activeElement.ariaLabel") or ""):
            break
        screen.keyboard.press("ArrowRight")
    screen.keyboard.press("Enter")
    screen.wait_for_selector(".box.whole.module")
    screen.locator(".box.invocation:not(.whole)").first.click()
    screen.wait_for_selector(".box.whole.invocation")
    screen.wait_for_selector('.box .label:text-is("Inventory")')
    shot(page, "invocation")
    screen.locator('.box[tabindex="0"]').focus()
    screen.keyboard.press("Backspace")
    screen.wait_for_selector('.crumbs [aria-current]:has-text("dealer1")')
    accessible(page, always=True)
    page.check()


def test_a_deletion_is_what_the_graph_says(page: Page, stores: Path, numbers: Numbers) -> None:
    number = numbers["dealership"]
    screen = page.open(f'#s={number}&focus={{"segment":"dealer1/Cars"}}&node="dealer1/Cars:C2"')
    screen.get_by_role("button", name="Without it").click()
    screen.wait_for_selector(".tools .count.gone")
    shows(screen, ".tools .count", ["4 gone", "1 changed", "6 stale"])
    pressed = screen.get_by_role("button", name="Without it")
    expect(pressed).to_have_attribute("aria-pressed", "true")
    # Every count leads to its list, with old and new values, and its file.
    screen.locator(".tools button", has_text="changed").click()
    changed = ["dealer1#1/NumCarsByModel.NumAvail", "2", "1", "COUNT", "dealer1", "1"]
    shows(screen, ".panel .row .cell", changed)
    screen.locator(".tools button", has_text="gone").click()
    expect(screen.locator(".panel .table-note")).to_have_text("4 rows")
    with screen.expect_download() as download:
        screen.get_by_label("Save as CSV").click()
    lines = Path(download.value.path()).read_text().splitlines()
    graph = open_source(stores / "dealership").graph(Budget())
    gone = set(graph.names(graph.ids)) - set(graph.names(graph.delete(["dealer1/Cars:C2"]).ids))
    assert {line.partition(",")[0].strip('"') for line in lines[1:]} == gone
    screen.locator(".panel .row", has_text="dealer1/Cars:C2").click()
    screen.get_by_role("button", name="Around it").click()
    screen.wait_for_selector(".box.node.is-gone")
    for _ in range(3):
        screen.get_by_label("More steps forth").click()
    screen.wait_for_selector(".box.node.is-stale")
    screen.wait_for_selector('.box .line:text-is("COUNT: 2 → 1")')
    shot(page, "deletion")
    accessible(page)
    page.check()


def test_a_source_is_chosen_searched_and_a_row_followed(page: Page, numbers: Numbers) -> None:
    screen = page.open()
    expect(screen.locator(".card")).to_have_count(len(numbers))
    screen.get_by_label("Filter the sources").fill("deal")
    screen.locator(".card").click()
    screen.wait_for_selector(".box.module")
    # By keys alone: search, and open the first finding.
    screen.keyboard.press("/")
    screen.keyboard.type("Cars:C2")
    expect(screen.locator(".findings .more").first).to_contain_text("dealer1/Cars:C2")
    screen.keyboard.press("Enter")
    screen.get_by_role("button", name="Follow this row").click()
    expect(screen.locator(".row-card .links li").first).to_contain_text("makes")
    shot(page, "row-card")
    accessible(page, always=True)
    screen.keyboard.press("Escape")
    expect(screen.locator(".row-card")).to_be_hidden()
    page.check()


def test_a_large_graph_is_shown_in_parts(page: Page, numbers: Numbers) -> None:
    screen = page.open(f'#s={numbers["generated"]}&focus={{"module":"module3"}}')
    screen.wait_for_selector(".box.bundle")
    expect(screen.locator(".shown")).to_contain_text("36 of 60 invocations shown")
    screen.locator(".box.bundle").last.click()
    screen.wait_for_selector('.box .label:has-text("#60")')
    screen.get_by_label("Search in all sources").fill("module5#7")
    screen.locator('.findings button:has-text("group")').first.click()
    screen.wait_for_selector(".box.whole.invocation")
    screen.locator(".tick").nth(3).click()
    screen.wait_for_selector(".time-line .plain")
    accessible(page)
    page.check()


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.slow)])
def test_contrast_in_both_schemes(browser: Any, served: Any, numbers: Numbers, scheme: str) -> None:
    for page in opened(browser, served.url, color_scheme=scheme):
        cut = '[{"delete":{"nation":[["24"]]}}]'
        screen = page.open(f"#s={numbers['suppliers']}&row=2&col=1&cut={cut}")
        screen.wait_for_selector(".parts tbody tr")
        screen.wait_for_selector(".dock .summary")
        shot(page, f"answer-{scheme}")
        accessible(page, always=True)
        screen = page.open(f"#s={numbers['generated']}")
        screen.wait_for_selector(".box.module")
        shot(page, f"modules-{scheme}")
        accessible(page, always=True)
        page.check()


def test_hostile_names_and_values_are_text(page: Page, numbers: Numbers) -> None:
    number = numbers["hostile"]
    screen = page.open(f"#s={number}")
    screen.wait_for_selector(".row .cell")
    expect(screen.locator(".row")).to_have_count(len(HOSTILE))
    seen = set(texts(screen, ".row .cell:first-child"))
    # What is not seen, or turns a text round, is written out.
    assert {*HOSTILE[:2], "\\u202etxet\\u202c \\u0000\\u2028 ﷽ 🏳️‍🌈"} <= seen
    for row in range(0, len(HOSTILE), 3):
        screen = page.open(f"#s={number}&row={row}&col=1")
        screen.wait_for_selector(".panel .formula .token")
        screen.locator(".formula .token").first.click()
        screen.wait_for_selector(".dock .summary .count")
    screen.get_by_role("tab", name="Query").click()
    screen.wait_for_selector(".sql")
    expect(screen.locator("script")).to_have_count(2)
    expect(screen.locator("img")).to_have_count(0)
    # Addresses that somebody else has written.
    for fragment in (
        "#s=<script>",
        '#s={"a":1}',
        "#row=<b>",
        f"#s={number}&cut=<img>",
        "#v=__proto__",
        f'#s={number}&row=0&col=1&also=[[1],{{}},"x",[0,"1"],[0,1],[-1,2],[99999,1],[0,0]]',
    ):
        page.page.goto(page.url + fragment)
        page.page.wait_for_timeout(150)
    page.check()


def test_what_goes_wrong_is_told(page: Page, numbers: Numbers) -> None:
    screen = page.open(f'#s={numbers["dealership"]}&focus={{"module":"nobody"}}')
    screen.wait_for_selector(".trouble")
    expect(screen.locator(".trouble")).to_contain_text("There is no module 'nobody'")
    screen.get_by_role("button", name="Back to all modules").click()
    screen.wait_for_selector(".box.module")
    screen = page.open(f"#s={numbers['orders']}")
    screen.wait_for_selector(".row .cell")
    screen.get_by_label("Filter o_orderkey").fill("> many")
    screen.wait_for_selector(".table-note .bad")
    # Also where the address has it, the filter is there to be mended.
    screen.reload()
    screen.wait_for_selector(".table-note .bad")
    screen.get_by_label("Filter o_orderkey").fill("< 0")
    expect(screen.locator(".answer-main .table-note")).to_contain_text("meets these conditions")
    page.check()


@pytest.fixture
def saved_page(browser: Any, captures: Path, stores: Path, tmp_path: Path) -> Iterator[Page]:
    """A saved page, opened as a file."""
    sources = [open_source(captures / "q3"), open_source(stores / "dealership")]
    save(Explorer(sources), tmp_path / "page.html")
    yield from opened(browser, (tmp_path / "page.html").as_uri())


def test_a_saved_page_answers_without_a_server(saved_page: Page) -> None:
    screen = saved_page.open("#row=0&col=1")
    screen.wait_for_selector(".parts tbody tr")
    screen.locator(".formula .token").first.click()
    screen.wait_for_selector(".dock .summary .count")
    screen.wait_for_selector(".row.is-deleted")
    screen.wait_for_selector(".row.is-added")
    gone = texts(screen, ".dock .summary strong")
    screen.locator(".formula .token").nth(1).click()
    expect(screen.locator(".dock .summary strong")).not_to_have_text(gone[0])
    screen.get_by_role("tab", name="What if").click()
    typed = screen.get_by_label("Remove rows of customer where")
    typed.fill("c_acctbal < 0 or c_mktsegment in ('AUTOMOBILE')")
    summary = screen.locator(".whole .summary")
    expect(summary).to_contain_text("c_acctbal < 0")
    typed.fill("c_name = 1 = 2")
    expect(screen.locator(".whole .trouble")).to_contain_text("is not a condition on customer")
    screen.get_by_label("Change values of customer").fill("c_acctbal = 0")
    screen = saved_page.open("#s=1")
    screen.locator('.box.module:has-text("dealer1")').click()
    screen.wait_for_selector(".box.whole.module")
    accessible(saved_page)
    saved_page.check()


def test_a_narrow_window_has_everything(browser: Any, served: Any, numbers: Numbers) -> None:
    for page in opened(browser, served.url, reduced_motion="reduce"):
        page.page.set_viewport_size({"width": 420, "height": 800})
        screen = page.open(f"#s={numbers['q3']}&row=0")
        screen.wait_for_selector(".panel .formula .token")
        assert screen.evaluate("document.documentElement.scrollWidth") <= 420
        page.check()


def test_a_widget_shows_the_same_views(browser: Any, stores: Path) -> None:
    explorer = Explorer([open_source(stores / "dealership")])
    shown = widget(explorer)
    for page in opened(browser, "about:blank"):
        screen = page.page
        screen.expose_function("asked", lambda text: explorer.ask_json(json.loads(text)))
        screen.add_style_tag(content=shown._css)
        screen.add_script_tag(
            type="module",
            content=shown._esm.replace("export default", "window.widget =")
            + """
            const listeners = [];
            const model = {
                on: (name, listener) => listeners.push(listener),
                send: async ({ id, question }) => {
                    const text = await window.asked(JSON.stringify(question));
                    for (const listener of listeners) listener({ id, text });
                },
            };
            window.widget.render({ model, el: document.body });
            """,
        )
        screen.locator('.box.module:has-text("dealer1")').click()
        screen.wait_for_selector(".box.whole.module")
        screen.locator(".box.invocation:not(.whole)").first.click()
        screen.wait_for_selector(".box.whole.invocation")
        assert screen.url == "about:blank"
        accessible(page)
        page.check()
    shown.close()

"""What people come for takes few clicks, and is done by keys alone as well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from lipstick.explorer import Explorer, Served
from lipstick.explorer.explorer import open_source
from tests.lipstick.explorer.conftest import Page, opened
from tests.lipstick.explorer.systems import recorded

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]

SOURCES = ("q3", "orders", "suppliers", "dealership", "sensors", "federation")

STOPS = 60
"""Presses of a key that lead to one thing, at most."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something on the page that is clicked, with what is typed or chosen there.

    Attributes
    ----------
    added
        It is added to what is chosen already, with Shift.
    """

    target: str
    typed: str = ""
    chosen: str = ""
    added: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """What somebody wants of a source.

    Attributes
    ----------
    limit
        Clicks at most; typing into what has the focus is none.
    """

    name: str
    source: str
    limit: int
    steps: tuple[Step, ...]
    shown: str


SEARCH = "[aria-label='Search in all sources']"
PRICE = "[role=columnheader] button:has-text('o_totalprice')"
COUNT = "[role=columnheader]:nth-child(2) button"
SUPPLIERS = "[aria-label='Remove rows of supplier where']"

TASKS = (
    Task("why is a row there", "q3", 1, (Step(".row .cell"),), ".formula .token"),
    Task(
        "the largest inputs of a number with their source rows",
        "q3",
        2,
        (Step(".row .cell.linked"),),
        ".parts tbody td.text",
    ),
    Task(
        "a number by a column of what was joined",
        "q3",
        2,
        (Step(".row .cell.linked"), Step("[aria-label='Group by']", chosen="l_shipmode")),
        ".parts tbody th:has-text('TRUCK'), .parts tbody th:has-text('MAIL')",
    ),
    Task(
        "the answer without one input",
        "q3",
        2,
        (Step(".row .cell"), Step(".formula .token")),
        ".row.is-deleted, .row.is-changed",
    ),
    Task(
        "the answer without the rows that meet a condition",
        "suppliers",
        2,
        (Step(".tab:has-text('What if')"), Step(SUPPLIERS, "s_suppkey between 1 and 30")),
        ".differences .row .delta",
    ),
    Task(
        "two scenarios side by side",
        "suppliers",
        3,
        (
            Step(".tab:has-text('What if')"),
            Step(SUPPLIERS, "s_suppkey between 1 and 30"),
            Step("button:has-text('Add beside')", "s_acctbal < 0"),
        ),
        ".matrix-cell >> nth=1",
    ),
    Task(
        "a row of a capture, followed forward",
        "q3",
        2,
        (Step(".row .cell.linked"), Step("[aria-label^='Follow ']")),
        ".row-card .panel-section:has-text('orders'), .row-card .panel-section:has-text('q3')",
    ),
    Task(
        "an input row that is searched for as annotations print it",
        "q3",
        2,
        (Step(SEARCH, "orders:60000"), Step(".findings button:has-text('orders')")),
        ".row-card .panel-section:has-text('row of the answer')",
    ),
    Task(
        "a row that is searched for, followed forward",
        "dealership",
        2,
        (Step(SEARCH, "60000"), Step(".findings button:has-text('orders')")),
        ".row-card .panel-section:has-text('row of the answer')",
    ),
    Task(
        "what is left without a car, as a list",
        "dealership",
        4,
        (
            Step(SEARCH, "Cars:C2"),
            Step(".findings .more:has-text('dealer1/Cars:C2')"),
            Step("button:has-text('Without it')"),
            Step(".tools button:has-text('changed')"),
        ),
        ".panel .row:has-text('NumAvail')",
    ),
    Task(
        "into a module and out again",
        "dealership",
        2,
        (Step(".box.module[aria-label*='dealer1']"), Step(".crumbs button")),
        ".box.module:not(.whole) >> nth=1",
    ),
    Task(
        "what an alarm of a stream was computed from",
        "sensors",
        2,
        (Step(".box[aria-label*='alarms']"), Step(".table-scroll .row .cell")),
        ".panel .panel-section .plain-table, .panel .values",
    ),
    Task(
        "where a total of three teams' stores comes from",
        "federation",
        2,
        (Step("[aria-label='Nodes']", "reports::page:total"), Step("button:text-is('Ask')")),
        ".panel .links li",
    ),
    Task(
        "the largest of thousands of rows",
        "orders",
        2,
        (Step(PRICE), Step(PRICE)),
        "[role=columnheader][aria-sort=descending]",
    ),
    Task(
        "the rows that meet a condition",
        "orders",
        1,
        (Step("[aria-label='Filter o_totalprice']", "> 300,000"),),
        ".answer-main .table-note:has-text('rows of')",
    ),
    Task(
        "how probable a row is",
        "q3",
        4,
        (
            Step(".row .cell"),
            Step("summary:has-text('Probability')"),
            Step("details[open] [aria-label='What values tokens of customer']", chosen="a number"),
            Step("[aria-label='Probability of the rows of customer']", "0.25"),
        ),
        ".panel .sentence:has-text('probability 0.25')",
    ),
    Task(
        "what each input is responsible for",
        "q3",
        3,
        (
            Step(".row .cell"),
            Step("summary:has-text('Shares')"),
            Step("[aria-label='Measure']", chosen="responsibility"),
        ),
        "[aria-label='responsibility of the inputs']",
    ),
    Task(
        "the annotation as a picture",
        "q3",
        2,
        (Step(".row .cell"), Step("summary:has-text('Circuit')")),
        ".circuit .box.node",
    ),
    Task(
        "the annotation in a semiring",
        "q3",
        3,
        (
            Step(".row .cell"),
            Step("summary:has-text('Evaluate')"),
            Step("[aria-label='Semiring']", chosen="Tropical: least cost"),
        ),
        "output.evaluated",
    ),
    Task(
        "the derivations one by one",
        "q3",
        2,
        (Step(".row .cell"), Step("summary:has-text('Derivations')")),
        ".panel .table .row .cell",
    ),
    Task(
        "the input rows as they are in their source",
        "q3",
        2,
        (Step(".row .cell"), Step(".inputs-head button:has-text('rows')")),
        ".source-rows td",
    ),
    Task(
        "a number over time",
        "q3",
        2,
        (Step(".row .cell.linked"), Step("[aria-label='Group by']", chosen="l_shipdate")),
        ".spans .bar",
    ),
    Task(
        "an input of a number taken out",
        "q3",
        2,
        (Step(".row .cell.linked"), Step(".part-actions button >> nth=0")),
        ".part.struck",
    ),
    Task(
        "what two numbers of a row have in common",
        "suppliers",
        2,
        (Step(".row .cell.linked"), Step(".row .cell.linked >> nth=1", added=True)),
        ".comparison .sentence:has-text('In both: ')",
    ),
    Task(
        "what moves two numbers, by a column",
        "q3",
        4,
        (
            Step(".row .cell.linked"),
            Step("button:has-text('Compare with another number')"),
            Step(".row .cell.linked >> nth=2"),
            Step("[aria-label='Group by']", chosen="l_shipmode"),
        ),
        ".comparison tbody th:has-text('TRUCK'), .comparison tbody th:has-text('MAIL')",
    ),
    Task(
        "the fewest rows that bring a number down",
        "suppliers",
        5,
        (
            Step(COUNT),
            Step(COUNT),
            Step(".row .cell.linked >> nth=3"),
            Step("[aria-label^='Number that']", "20,000"),
            Step("button:text-is('Find')"),
        ),
        "[role=status]:has-text('not without fewer')",
    ),
    Task(
        "the answer with other values of its inputs",
        "q3",
        2,
        (
            Step(".tab:has-text('What if')"),
            Step(
                "[aria-label='Change values of lineitem']", "l_discount = 0 where l_linenumber = 1"
            ),
        ),
        ".differences .row .delta",
    ),
    Task("how a query was captured", "q3", 1, (Step(".tab:has-text('Query')"),), ".block"),
    Task("all that is explored", "q3", 1, (Step(".wordmark"),), ".card >> nth=4"),
    Task(
        "the answer with its types", "q3", 1, (Step("[aria-label='Save as Parquet']"),), "download"
    ),
    Task(
        "the inputs of a number as a file",
        "q3",
        2,
        (Step(".row .cell.linked"), Step(".panel [aria-label='Save as CSV']")),
        "download",
    ),
    Task("the answer as a file", "q3", 1, (Step("[aria-label='Save as CSV']"),), "download"),
    Task(
        "a file that a colleague can open",
        "q3",
        2,
        (Step("[aria-label='Save this view as a page']"), Step("dialog button:text-is('Save')")),
        "download",
    ),
)


@pytest.fixture(scope="module")
def tasks(captures: Path, stores: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an explorer of all sources."""
    from lipstick.systems.federation.demo import make_stores

    home = tmp_path_factory.mktemp("tasks")
    lines = ["format = 1"]
    for alias, store in make_stores(home / "stores").items():
        lines += [f"[members.{alias}]", f'location = "{store}"']
    (home / "federation.toml").write_text("\n".join(lines) + "\n")
    recorded.sensors(home / "sensors")
    folders = [captures, captures, captures, stores, home]
    paths = [folder / name for folder, name in zip(folders, SOURCES[:-1], strict=True)]
    sources = [open_source(path) for path in (*paths, home / "federation.toml")]
    with Served(Explorer(sources)) as serving:
        yield serving.url


def click(screen: Any, target: Locator, step: Step) -> None:
    """Do a step with the mouse, and type."""
    if step.chosen:
        target.select_option(label=step.chosen)
    else:
        target.click(modifiers=["Shift"] if step.added else [])


def press(screen: Any, target: Locator, step: Step) -> None:
    """Do a step with keys alone, and type."""
    target.wait_for()
    for _ in range(STOPS):
        key = target.evaluate(TOWARDS)  # what is shown anew is another element
        if not key:
            break
        screen.keyboard.press(key)
    else:
        raise AssertionError(f"{STOPS} keys do not lead to {step.target}")
    if step.chosen:
        screen.keyboard.type(step.chosen)
    elif not screen.evaluate("() => document.activeElement.matches('input')"):
        screen.keyboard.press("Shift+Enter" if step.added else "Enter")


TOWARDS = """(target) => {
    const at = document.activeElement;
    if (at === target) return "";
    const grid = at.matches(".table-scroll") && target.matches(".cell") && at.contains(target);
    if (grid) {
        const placeOf = (id) => id.split("-").slice(-2).map(Number);
        const [row, column] = placeOf(target.id);
        const [on, across] = placeOf(at.getAttribute("aria-activedescendant"));
        if (row !== on) return row > on ? "ArrowDown" : "ArrowUp";
        return column === across ? "" : column > across ? "ArrowRight" : "ArrowLeft";
    }
    if (at.matches(".tab") && target.matches(".tab")) return "ArrowRight";
    if (at.matches(".box") && target.matches(".box")) {
        const [a, b] = [at, target].map((box) => box.getBoundingClientRect());
        const [dx, dy] = [b.x - a.x, b.y - a.y];
        if (Math.abs(dx) > Math.abs(dy)) return dx > 0 ? "ArrowRight" : "ArrowLeft";
        return dy > 0 ? "ArrowDown" : "ArrowUp";
    }
    return "Tab";
}"""
"""The key that leads from what has the focus towards a target, or none where it is reached."""


@pytest.fixture(scope="module")
def screen(browser: Any, tasks: str) -> Iterator[Page]:
    """One page, for all tasks."""
    yield from opened(browser, tasks)


@pytest.mark.parametrize("do", [click, press], ids=["mouse", "keys"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_tasks_take_few_clicks(screen: Page, task: Task, do: Any) -> None:
    page = screen.open(f"#s={SOURCES.index(task.source)}")
    page.wait_for_selector(".row .cell, .box")
    clicks = 0
    download = None

    def step(each: Step) -> None:
        nonlocal clicks
        do(page, page.locator(each.target).first, each)
        clicks += 1
        if each.typed:
            page.keyboard.type(each.typed)

    for number, each in enumerate(task.steps, 1):
        if task.shown == "download" and number == len(task.steps):
            with page.expect_download() as download:
                step(each)
        else:
            step(each)
    assert clicks <= task.limit
    if download is None:
        expect(page.locator(task.shown).first).to_be_visible()
    else:
        assert Path(download.value.path()).stat().st_size > 0
    screen.check()

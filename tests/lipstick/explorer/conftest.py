"""Captures and stores to explore, an explorer that is served, and a browser."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lipstick
from benchmark_workflowgen.generated_graphs import generate
from lipstick.capture.capture import Capture
from lipstick.demo.scenes import KEYS, Q3
from lipstick.explorer import Explorer, Served
from lipstick.explorer.budget import Budget
from lipstick.explorer.explorer import ExplorerSource, open_source
from tests.graphquery.dealership import dealership
from tests.lipstick.explorer.stores import store_generated
from tests.lipstick.stored import store_graph
from tests.selection import takes

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

PATIENCE = 120_000
"""How long a browser is waited for, in ms: other tests run beside it."""

HOSTILE = (
    "<script>window.stolen=1</script>",
    '"><img src=x onerror="window.stolen=1">',
    "</script><script>window.stolen=1</script>",
    "'; DROP TABLE t; --",
    "javascript:window.stolen=1",
    "${window.stolen=1}{{window.stolen=1}}",
    "\u202etxet\u202c \u0000\u2028 ﷽ 🏳️‍🌈",
    "a" * 3_000,
    "",
)
"""Names and values that somebody may have put there to be taken for something else."""


@pytest.fixture(scope="session")
def captures(
    spark: SparkSession,
    tpch: Callable[[float], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A folder of captures: TPC-H 3, orders, one with conditions, and one that is hostile."""
    folder = tmp_path_factory.mktemp("captures")
    tables = tpch(0.01)
    with lipstick.session(spark) as ls:
        for name in ("customer", "orders", "lineitem", "nation", "supplier"):
            path = str(tables / f"{name}.parquet")
            ls.track(name, path, key=KEYS[name], verify=False, format="parquet")
        ls.sql(Q3.sql).save(folder / "q3")
        ls.sql(
            "SELECT o_orderkey, c_name, o_totalprice, o_orderdate FROM orders"
            " JOIN customer ON o_custkey = c_custkey"
        ).save(folder / "orders")
        ls.sql(
            "SELECT n_name, count(*) AS n, max(s_acctbal) AS best, min(s_acctbal) AS least,"
            " sum(s_acctbal) AS total FROM supplier JOIN nation ON s_nationkey = n_nationkey"
            " GROUP BY n_name HAVING count(*) > 3"
        ).save(folder / "suppliers")
        rows = [(f"{number}{text}", text, number) for number, text in enumerate(HOSTILE)]
        hostile = spark.createDataFrame(
            rows, '`<b>key</b>` string, `"><img src=x onerror=1>` string, `n\'"` int'
        )
        ls.track("hostile", hostile, key=["<b>key</b>"])
        ls.sql(
            'SELECT `"><img src=x onerror=1>` AS `<script>window.stolen=1</script>`,'
            " sum(`n'\"`) AS `</title>&amp;`, count(*) AS n FROM hostile GROUP BY 1"
        ).save(folder / "hostile")
    return folder


@pytest.fixture
def capture(captures: Path) -> Callable[[str], Capture]:
    """`capture(name)`: one of the captures, opened without Spark."""
    return lambda name: lipstick.open(captures / name)


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of stores: the dealership, and a generated one of 200,000 nodes."""
    folder = tmp_path_factory.mktemp("stores")
    store_graph(dealership(), folder / "dealership")
    store_generated(generate(200_000, 12, 60), folder / "generated")
    return folder


@dataclass(slots=True)
class Page:
    """A page in a browser, and what happened on it.

    Attributes
    ----------
    told
        Errors and warnings of its console.
    elsewhere
        Requests that left the loopback interface.
    thorough
        Whether everything is looked at, whatever time it takes.
    """

    page: Any
    url: str
    thorough: bool = False
    told: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def open(self, fragment: str = "") -> Any:
        """Go to a place, such as ``#s=1``, and wait for it."""
        self.page.goto("about:blank")
        self.page.goto(self.url + fragment)
        self.page.wait_for_selector(".main > *:not(.skeleton)")
        return self.page

    def check(self) -> None:
        """Nothing was said on the console, nothing asked elsewhere, nothing taken for a script."""
        assert self.told == []
        assert self.elsewhere == []
        assert self.page.evaluate("window.stolen") is None


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium, without a window.

    While it is there, its event loop is the thread's, so that no other loop can run.
    """
    chromium = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if chromium is None:
        pytest.skip("needs a Chromium on the PATH; ./dev browser installs Debian's")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def served(captures: Path, stores: Path) -> Iterator[Served]:
    """Everything to explore, served."""
    paths = [*sorted(captures.iterdir()), *sorted(stores.iterdir())]
    with Served(Explorer([open_source(path) for path in paths])) as serving:
        yield serving


@pytest.fixture(scope="session")
def numbers(captures: Path, stores: Path) -> dict[str, int]:
    """The place of each source among those that are served."""
    names = [path.name for path in (*sorted(captures.iterdir()), *sorted(stores.iterdir()))]
    return {name: number for number, name in enumerate(names)}


@pytest.fixture
def page(browser: Any, served: Served, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A fresh page of the explorer."""
    for fresh in opened(browser, served.url):
        fresh.thorough = takes(request, 8)
        yield fresh


def opened(browser: Any, url: str, **options: Any) -> Iterator[Page]:
    """A fresh page at an address, whose console and requests are kept."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
    context.set_default_timeout(PATIENCE)
    fresh = Page(context.new_page(), url)

    def said(message: Any) -> None:
        if message.type in ("error", "warning"):
            fresh.told.append(message.text)

    def asked(request: Any) -> None:
        local_schemes = ("http://127.0.0.1:", "data:", "blob:", "about:", "file:")
        if not request.url.startswith(local_schemes):
            fresh.elsewhere.append(request.url)

    fresh.page.on("console", said)
    fresh.page.on("pageerror", lambda error: fresh.told.append(str(error)))
    fresh.page.on("request", asked)
    yield fresh
    context.close()


def endless(*_: object) -> Any:
    """Answer never."""
    while True:
        time.sleep(0.01)


@dataclass(frozen=True)
class Limit:
    """What ends a question that is `endless`: its seconds, or that nobody waits any more.

    Attributes
    ----------
    seconds
        The seconds that are asked for.
    told
        What the error says.
    """

    seconds: int
    told: str

    def budget(self) -> Budget:
        """Return a budget that begins now."""
        budget = Budget(60)
        if self.told == "withdrawn":
            threading.Timer(0.3, budget.cancel).start()
        return budget


@pytest.fixture(params=["spent", "withdrawn"])
def limit(request: pytest.FixtureRequest) -> Limit:
    """Both limits."""
    if request.param == "withdrawn":
        return Limit(30, "withdrawn")
    return Limit(1, "within its budget of 1 seconds")


def ask(source: ExplorerSource, view: str, **params: Any) -> Any:
    """The answer of a source, which must be one."""
    reply = Explorer([source]).ask({"source": 0, "view": view, "params": params})
    assert "error" not in reply, reply
    return reply["answer"]


def shot(page: Page, name: str) -> None:
    """Keep a picture of the page, if that is asked for."""
    folder = os.environ.get("LIPSTICK_SCREENSHOTS")
    if folder is not None:
        page.page.wait_for_timeout(250)
        page.page.screenshot(path=str(Path(folder) / f"{name}.png"))


def texts(page: Any, selector: str) -> list[str]:
    """The texts of elements, as soon as there is one."""
    page.locator(selector).first.wait_for(state="attached")
    shown: list[str] = page.locator(selector).all_text_contents()
    return shown


def shows(page: Any, selector: str, wanted: Iterable[str]) -> None:
    """Wait until the texts of elements are these."""
    from playwright.sync_api import expect

    expect(page.locator(selector)).to_have_text(list(wanted))


def accessible(page: Page, *, always: bool = False) -> None:
    """Axe finds no obstacle on the page; it takes seconds, so most pages wait for their turn."""
    if not (always or page.thorough):
        return
    from axe_playwright_python.sync_playwright import Axe

    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
    violations = Axe().run(page.page, options=options).response["violations"]
    assert [(each["id"], [n["html"][:160] for n in each["nodes"][:3]]) for each in violations] == []

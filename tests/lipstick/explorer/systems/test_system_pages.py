"""Streams, reductions, scripts and federations in a real Chromium, without Spark.

With `LIPSTICK_SCREENSHOTS` set to a folder, pictures of the views are written there.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import TimeoutError as NotSeenError
from playwright.sync_api import expect

from benchmark_workflowgen.generated_graphs import generate
from graphquery import ProvenanceGraph
from graphquery.federation import open_federation
from graphquery.store import Store
from lipstick.display.number_text import spelled
from lipstick.explorer import Explorer, Served
from lipstick.explorer.budget import Budget
from lipstick.explorer.explorer import open_source, open_sources
from lipstick.explorer.saved import save
from lipstick.systems.events import ReducedGraph
from lipstick.systems.federation.demo import QUESTION, make_stores
from lipstick.systems.scripts import script_provenance
from lipstick.systems.streams import Events, Stored, ancestors
from tests.lipstick.explorer.conftest import HOSTILE, Page, accessible, opened, shot, shows, texts
from tests.lipstick.explorer.stores import store_generated
from tests.lipstick.explorer.systems import recorded
from tests.selection import takes

SOURCE = "sales::orders:o1"

SCRIPT = '''\
import sys

import pandas as pd

LIMIT = 100

orders = pd.read_csv("orders.csv")
rates = pd.read_csv("rates.csv")
orders["euro"] = orders["price"] * rates["rate"].iloc[0]


def large(rows, limit):
    """Rows above a limit."""
    return rows[rows["euro"] > limit]


chosen = large(orders, LIMIT)
summary = chosen.groupby("customer")["euro"].sum()
print(len(orders), file=sys.stderr)
summary.to_csv("summary.csv")
'''

KINDS = (
    "sensors",
    "live",
    "reduced",
    "script",
    "federation",
    "hostile",
    "hostile events",
    "hostile script",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of everything."""
    return tmp_path_factory.mktemp("kinds")


@pytest.fixture(scope="module")
def live(home: Path) -> Iterator[recorded.Recording]:
    """A stream that is still recorded."""
    recording = recorded.Recording(home / "live")
    recording.push(40)
    yield recording
    recording.stop()


@pytest.fixture(scope="module")
def paths(home: Path, live: recorded.Recording) -> dict[str, Path]:
    """What is explored, by what it is."""
    assert live
    script = home / "summary.py"
    script.write_text(SCRIPT)
    hostile = home / '"><img src=x onerror=window.stolen=1>.py'
    hostile.write_text(f"x = {HOSTILE[0]!r}\ny = open({HOSTILE[1]!r}).read() + x  # {HOSTILE[2]}\n")
    stores = make_stores(home / "federation")
    lines = ["format = 1"]
    for alias, store in stores.items():
        lines += [f"[members.{alias}]", f'location = "{store}"']
        if alias == "sales":
            lines += ['disclosure = "boundary"']
    lines += ["[members.archive]", f'location = "{home / "nowhere"}"']
    (home / "federation.toml").write_text("\n".join(lines) + "\n")
    return dict(
        zip(
            KINDS,
            (
                recorded.sensors(home / "sensors"),
                home / "live",
                recorded.reduced(home / "events"),
                script,
                home / "federation.toml",
                recorded.hostile(home / "hostile", HOSTILE_NAMES),
                recorded.reduced(home / "hostile events", HOSTILE_NAMES),
                hostile,
            ),
            strict=True,
        )
    )


HOSTILE_NAMES = tuple(f"{number}{text}" for number, text in enumerate(HOSTILE))


@pytest.fixture(scope="module")
def kinds(paths: dict[str, Path]) -> Iterator[Served]:
    """Everything served."""
    entries = [open_sources(path) for path in paths.values()]
    members = [member for entry in entries for member in entry[1:]]
    with Served(Explorer([*(entry[0] for entry in entries), *members])) as serving:
        yield serving


@pytest.fixture
def page(browser: Any, kinds: Served, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A fresh page."""
    for fresh_page in opened(browser, kinds.url):
        fresh_page.thorough = takes(request, 8)
        yield fresh_page


def at(kind: str, **values: Any) -> str:
    """The address of a view of something."""
    from urllib.parse import quote

    given = {"s": KINDS.index(kind), **values}
    return "#" + "&".join(f"{name}={quote(json.dumps(value))}" for name, value in given.items())


def test_an_alarm_is_followed_to_its_readings(page: Page, paths: dict[str, Path]) -> None:
    screen = page.open(at("sensors"))
    screen.wait_for_selector(".box.input")
    recording = Stored(paths["sensors"])
    shows(screen, ".box .label", list(recording.graph.nodes))
    shot(page, "streams")
    screen.locator('.box:has-text("alarms")').click()
    screen.locator(".table-scroll .row:has-text('kitchen')").last.click()
    screen.wait_for_selector(".box.node.center")
    behind = ancestors(recording, Events("alarms", 1, "kitchen"))
    numbers = [number for _, number in behind.numbers("readings")]
    of_readings = '.box.node .label:text("readings")'
    expect(screen.locator(of_readings)).to_have_count(len(numbers))
    assert sorted(texts(screen, of_readings)) == sorted(f"readings {number}" for number in numbers)
    celsius = [spelled(value) for value in behind.content("readings").column("celsius").to_pylist()]
    expect(screen.locator(".panel tbody td:nth-child(3)")).to_have_text(celsius)
    shot(page, "event")
    accessible(page, always=True)
    # By keys: to a reading, and to the alarms that it is in.
    screen.locator('.box[tabindex="0"]').focus()
    screen.keyboard.press("ArrowLeft")
    screen.keyboard.press("Enter")
    expect(screen.locator(".crumbs [aria-current]")).to_have_text("kitchen #23")
    screen.get_by_role("button", name="Is in").click()
    expect(screen.locator(".box.node.center .label")).to_have_text("means 23")
    again = page.open(screen.url[screen.url.index("#") :])
    expect(again.locator(".box.node.center .label")).to_have_text("means 23")
    again.locator('.box[tabindex="0"]').focus()
    for _ in range(2):
        again.keyboard.press("Backspace")
    expect(again.locator(".crumbs [aria-current]")).to_have_text("all streams")
    accessible(page)
    page.check()


def test_a_stream_that_is_recorded_is_seen_to_grow(page: Page, live: recorded.Recording) -> None:
    screen = page.open(at("live", stream="ticks"))
    expect(screen.locator(".live")).to_contain_text("batch 1")
    expect(screen.locator(".table-note")).to_have_text("40 rows")
    live.push(25)
    expect(screen.locator(".live")).to_contain_text("batch 2")
    expect(screen.locator(".table-note")).to_have_text("65 rows")
    expect(screen.locator(".box.input .line").last).to_have_text("65 events")
    first = screen.locator(".table-scroll .row .cell").first
    expect(first).to_have_text("65")
    expect(screen.locator(".tick")).to_have_count(2)
    shot(page, "streams-live")
    accessible(page)
    page.check()


def test_an_output_is_traced_through_a_reduction(page: Page, paths: dict[str, Path]) -> None:
    screen = page.open(at("reduced"))
    screen.wait_for_selector(".tile strong")
    graph = ReducedGraph.open(paths["reduced"])
    expect(screen.locator(".tile strong").nth(1)).to_have_text(str(graph.graph.edge_count))
    screen.get_by_role("button", name="m!").click()
    screen.wait_for_selector(".lazy .links")
    shows(screen, ".lazy .links li", graph.lineage("m!"))
    shot(page, "reduction")
    accessible(page, always=True)
    screen.get_by_role("button", name="In the graph").click()
    screen.wait_for_selector(".box.node.center.is-lit")
    lit = len(graph.graph.ancestors([graph.node("m!")])) + 1
    expect(screen.locator(".box.node.is-lit")).to_have_count(lit)
    # What a deletion does cannot be told of a reduced graph, and is not offered.
    shows(
        screen,
        "#lx-pane-graph .actions .toggle:not([hidden])",
        [
            "Made of",
            "Makes",
            "Around it",
        ],
    )
    accessible(page)
    page.check()


def test_a_reduction_is_seen_to_go_on(browser: Any, tmp_path: Path) -> None:
    with recorded.followed(tmp_path, 5) as follower:
        source = open_source(tmp_path / "store")
        with Served(Explorer([source])) as serving:
            for page in opened(browser, serving.url):
                screen = page.open()
                expect(screen.locator(".tile strong").first).to_have_text("224")
                recorded.emit(tmp_path, 5)
                follower.step()
                expect(screen.locator(".tile strong").first).to_have_text("295")
                screen.get_by_role("button", name="total 3").click()
                screen.wait_for_selector(".lazy .links")
                expect(screen.locator(".series path")).to_have_count(3)
                shot(page, "reduction-live")
                follower.close()
                expect(screen.locator(".live")).to_contain_text("complete")
                page.check()


def test_a_script_is_lit_with_its_graph(page: Page, paths: dict[str, Path]) -> None:
    screen = page.open(at("script"))
    screen.wait_for_selector(".line-of-code")
    shows(screen, ".line-of-code code", SCRIPT.splitlines())
    screen.get_by_role("button", name="summary.csv").click()
    screen.wait_for_selector(".line-of-code.lit")
    dependence = script_provenance(paths["script"]).depends("summary.csv")
    numbers = [str(line.number) for line in dependence.lines]
    shows(screen, ".line-of-code.lit .line-number", numbers)
    screen.wait_for_selector(".box.is-lit")
    shot(page, "script")
    screen.get_by_role("button", name="Line 8", exact=True).click()
    screen.get_by_role("button", name="affects").click()
    expect(screen.locator(".told .summary")).to_contain_text("summary.csv")
    accessible(page, always=True)
    page.check()


def test_a_federation_says_what_is_out_of_reach(page: Page, paths: dict[str, Path]) -> None:
    screen = page.open(at("federation"))
    screen.wait_for_selector(".map .box")
    with open_federation(paths["federation"]) as federation:
        shows(screen, ".map .label", list(federation.members))
        wanted = federation.ancestors([QUESTION])
        names = federation.names(wanted)
    screen.get_by_label("Nodes").fill(QUESTION)
    screen.get_by_role("button", name="Ask", exact=True).click()
    screen.wait_for_selector(".panel .links li")
    shows(screen, ".panel .links li", list(names))
    shows(screen, ".map .box.is-gone .line", ["refused", "out of reach"])
    shows(screen, ".panel tbody td:nth-child(3)", ["boundary", "nodes", "nodes", "nodes"])
    assert not wanted.complete
    expect(screen.locator(".summary .count.added")).to_have_count(0)
    shot(page, "federation")
    # No path is found through a store that refuses: nobody knows whether there is one.
    screen = page.open(at("federation", ask="paths", nodes=[SOURCE], targets=[QUESTION]))
    expect(screen.locator(".verdict")).to_contain_text("Unknown")
    expect(screen.locator(".lazy .bad")).to_have_text("sales does not disclose this.")
    # A box of the map leads to its member, and on to the member's graph.
    screen.locator('.map .box:has-text("warehouse")').click()
    accessible(page, always=True)
    screen.get_by_role("button", name="Open its graph").click()
    expect(screen.locator(".shown")).to_contain_text("nodes in all")
    page.check()


def test_hostile_streams_and_events_are_text(page: Page) -> None:
    names = HOSTILE_NAMES
    screen = page.open(at("hostile"))
    screen.wait_for_selector(".box.input")
    for text in (names[0], names[1], names[6], names[8]):
        place = at("hostile", stream=names[5], event={"n": 1, "key": text})
        page.open(place).wait_for_selector(".panel .values")
        expect(screen.locator(".panel .values dd").first).to_contain_text(text[0])
        page.open(at("hostile events", entity=text)).wait_for_selector(".lazy .actions, .trouble")
    page.open(at("hostile", stream=names[0])).wait_for_selector(".table-scroll .row .cell")
    page.open(at("hostile events", pane="graph")).wait_for_selector(".box")
    page.open(at("hostile script", ask=HOSTILE[1])).wait_for_selector(".line-of-code")
    page.open(at("hostile script", ask="y")).wait_for_selector(".line-of-code.lit")
    page.open(at("federation", nodes=[HOSTILE[0]])).wait_for_selector(".lazy .trouble")
    page.open(at("hostile", stream={"a": 1}, event=[1])).wait_for_selector(".box")
    page.open(at("hostile", stream="nowhere", event={"n": 1})).wait_for_selector(".trouble")
    expect(screen.locator("script")).to_have_count(2)
    expect(screen.locator("img")).to_have_count(0)
    page.check()


def test_when_the_server_is_gone_that_is_told(browser: Any, tmp_path: Path) -> None:
    recording = recorded.Recording(tmp_path / "store")
    recording.push(3)
    with Served(Explorer([open_source(tmp_path / "store")])) as serving:
        for page in opened(browser, serving.url):
            screen = page.open()
            expect(screen.locator(".live")).to_contain_text("live")
            screen.context.set_offline(True)
            expect(screen.locator(".live")).to_contain_text("not connected")
            screen.locator('.box:has-text("sums")').click()
            expect(screen.locator(".table-note .bad")).to_contain_text("does not answer")
            screen.context.set_offline(False)
            expect(screen.locator(".live")).to_contain_text("live")
    recording.stop()


def test_a_saved_page_has_streams_and_scripts(
    browser: Any, paths: dict[str, Path], tmp_path: Path
) -> None:
    sources = [open_source(paths[kind]) for kind in ("sensors", "script", "reduced")]
    save(Explorer(sources), tmp_path / "page.html")
    for page in opened(browser, (tmp_path / "page.html").as_uri()):
        screen = page.open('#stream="alarms"')
        screen.locator(".table-scroll .row").first.click()
        screen.wait_for_selector(".box.node.center")
        screen = page.open("#s=1")
        screen.get_by_role("button", name="summary.csv").click()
        screen.wait_for_selector(".line-of-code.lit")
        screen.wait_for_selector(".box.is-lit")
        screen = page.open('#s=2&entity="m!"')
        screen.wait_for_selector(".lazy .links")
        page.check()


def test_pictures_and_tables_are_saved(page: Page, paths: dict[str, Path]) -> None:
    def saved(label: str) -> bytes:
        with screen.expect_download() as download:
            screen.get_by_label(label).first.click()
        return Path(download.value.path()).read_bytes()

    screen = page.open(at("sensors", stream="alarms"))
    screen.wait_for_selector(".table-scroll .row .cell")
    drawn = ElementTree.fromstring(saved("Save as SVG"))
    words = {element.text for element in drawn.iter() if element.tag.endswith("text")}
    assert words >= set(Stored(paths["sensors"]).graph.nodes)
    assert saved("Save as PNG").startswith(b"\x89PNG")
    table = pq.read_table(io.BytesIO(saved("Save as Parquet")))
    assert table.column_names == ["key", "n", "t", "d"]
    assert table.num_rows == len(Stored(paths["sensors"]).whole("alarms"))
    assert saved("Save as CSV").count(b"\n") == table.num_rows + 1
    page.check()


def test_what_takes_a_while_is_told(page: Page) -> None:
    """Each answer is held back until the next sign is there, or for a second: not all have one."""
    waiting: list[Any] = []
    told = [".skeleton", ".working"]
    page.page.route("**/ask", lambda route: waiting.append(route) if told else route.continue_())
    page.page.goto("about:blank")
    page.page.goto(page.url + at("sensors"))
    for _ in range(25):
        with contextlib.suppress(NotSeenError):
            page.page.wait_for_selector(told[0], state="attached", timeout=1_000)
            told.pop(0)
        while waiting:
            waiting.pop().continue_()
        if not told:
            break
    page.page.unroute("**/ask")
    assert not told
    page.page.wait_for_selector(".box.input")
    page.check()


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.slow)])
def test_contrast_of_streams_in_both_schemes(browser: Any, kinds: Served, scheme: str) -> None:
    for page in opened(browser, kinds.url, color_scheme=scheme):
        for name, place in (
            ("event", at("sensors", stream="alarms", event={"n": 1, "key": "kitchen"})),
            ("reduction", at("reduced", entity="m!")),
        ):
            page.open(place).wait_for_selector(".panel .values, .lazy .links")
            shot(page, f"{name}-{scheme}")
            accessible(page, always=True)
        page.check()


@pytest.mark.slow
def test_ten_million_nodes_are_looked_at(browser: Any, tmp_path: Path) -> None:
    store = store_generated(generate(10_000_000, 20, 1_000), tmp_path / "ten")
    source = open_source(store)
    snapshot = Store.open(store).snapshot()
    with Served(Explorer([source])) as serving:
        for page in opened(browser, serving.url):
            screen = page.open()
            screen.wait_for_selector(".box.module")
            expect(screen.locator(".box.module .label")).to_have_count(20)
            labels = texts(screen, ".box.module .label")
            assert sorted(labels) == sorted(f"module{number}" for number in range(20))
            count = sum(segment.count for segment in snapshot.segments.values())
            expect(screen.locator(".shown")).to_contain_text(f"{count:,} nodes in all")
            shot(page, "ten-million")
            screen.locator(".tick").nth(20).click()
            expect(screen.locator(".box.module .line").first).to_have_text("7 invocations")
            screen.locator('.box:has-text("module3")').first.click()
            screen.wait_for_selector(".box.whole.module")
            screen.get_by_role("button", name="All", exact=True).click()
            expect(screen.locator(".shown")).to_contain_text("36 of 1,000 invocations shown")
            source.graph(Budget(600))  # is being read beside the page, however long that takes
            screen.get_by_label("Search in all sources").fill("module3#700")
            screen.locator('.findings button:has-text("group")').first.click()
            screen.wait_for_selector(".box.whole.invocation")
            shot(page, "ten-million-invocation")
            graph = ProvenanceGraph.build(
                snapshot.segments.values(), snapshot.edges, snapshot.column
            )
            node = graph.node("module3#700/R.out[0]")
            page.page.goto(page.url + f'#focus={{"node":{node}}}&node={node}')
            screen.get_by_role("button", name="Made of", exact=True).click()
            lit = len(graph.ancestors([node])) + 1
            expect(screen.locator(".tools .count.lit")).to_have_text(f"{lit:,} lit")
            page.thorough = True
            accessible(page)
            page.check()

"""What frames, captures and what-if answers look like, and that no representation raises."""

import datetime
import io
import re
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

import lipstick
from lipstick import Session, display
from lipstick.display.markup import cell
from lipstick.frame import AnnotatedFrame
from lipstick.questions.what_if import (
    WhatIf,
    summary,
    whatif_html,
    whatif_table,
    whatif_text,
)

pytestmark = pytest.mark.slow_over_connect

CARS = [("C1", "Accord", 20), ("C2", "Civic", 10), ("C3", "Civic", 12), ("C4", "<b>Z</b>", 1)]
COUNTED = "SELECT model, count(*) AS n FROM cars GROUP BY model"


@pytest.fixture(scope="module")
def ls(spark: SparkSession) -> Iterator[Session]:
    """A session that tracks cars."""
    with lipstick.session(spark) as session:
        cars = spark.createDataFrame(CARS, "car_id string, model string, price int")
        session.track("cars", cars, key="car_id", verify=False)
        yield session


@pytest.fixture(scope="module")
def counted(ls: Session) -> AnnotatedFrame:
    """The number of cars per model."""
    return ls.sql(COUNTED)


class _Balance(HTMLParser):
    """Fails where an element is closed that is not open, or left open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_html(html: str) -> str:
    """The HTML without its style, checked to be balanced and to load nothing."""
    balance = _Balance()
    balance.feed(html)
    assert balance.open == []
    assert not re.search(r"<script|<link|https?:|@import|\burl\(", html)
    return re.sub(r"<style>.*?</style>", "", html)


# -- annotated frames --------------------------------------------------------------------------


def test_frame_repr_names_query_columns_blocks_and_annotation(ls: Session) -> None:
    frame = ls.sql(COUNTED)
    assert repr(frame) == (
        "AnnotatedFrame over cars\n"
        "  SELECT model, count(*) AS n FROM cars GROUP BY model\n"
        "  columns     model string, n bigint\n"
        "  annotation  δ(Σ(cars))\n"
        "  blocks      b0 groups by 1 key, 1 aggregate"
    )


def test_frame_repr_says_where_spark_may_have_other_rows(ls: Session) -> None:
    line = "  ties        Spark leaves open which rows come first; here their keys decide"
    for query, may in (
        ("SELECT model, first(price) AS p FROM cars GROUP BY model", True),
        ("SELECT model FROM cars LIMIT 1", True),
        ("SELECT model, max(price) AS p FROM cars GROUP BY model", False),
    ):
        assert (line in repr(ls.sql(query))) is may


def test_frame_repr_runs_nothing(ls: Session) -> None:
    frame = ls.sql(COUNTED)
    repr(frame)
    assert frame._capture is None


def test_frame_repr_cuts_a_long_query_to_one_line(ls: Session) -> None:
    many = " UNION ALL\n".join(["SELECT model FROM cars"] * 20)
    lines = repr(ls.sql(many)).splitlines()
    assert len(lines[1]) <= 90
    assert lines[1].endswith("…")


def test_frame_html_shows_rows_and_annotations(counted: AnnotatedFrame) -> None:
    html = check_html(counted._repr_html_())
    assert "<td>Civic</td><td>2</td><td><code>δ(cars:C2 + cars:C3)</code></td>" in html


def test_a_notebook_shows_rows_before_annotations(
    ls: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rows are displayed at once, and replaced when the query is captured; then at once."""
    import IPython.display

    shown: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            shown.append(data["text/html"])

    def show(data: dict[str, str], raw: bool, display_id: bool = False) -> Handle:
        shown.append(data["text/html"])
        return Handle()

    frame = ls.sql(COUNTED)
    frame._ipython_display_()
    assert capsys.readouterr().out.startswith("AnnotatedFrame over cars")
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=True))
    monkeypatch.setattr(IPython.display, "display", show)
    with frame._capturing:  # the other thread waits to capture
        frame._ipython_display_()
        assert "<td>Civic</td><td>2</td></tr>" in check_html(shown[0])
    for thread in threading.enumerate():
        if thread.name == "lipstick-display":
            thread.join(60.0)
    assert "<code>δ(cars:C2 + cars:C3)</code>" in check_html(shown[1])
    frame._ipython_display_()
    assert shown[2] == shown[1]


def test_frame_html_escapes_values(counted: AnnotatedFrame) -> None:
    assert "&lt;b&gt;Z&lt;/b&gt;" in check_html(counted._repr_html_())


def test_frame_html_is_bounded(ls: Session) -> None:
    pairs = " UNION ALL ".join(["SELECT car_id FROM cars"] * 6)
    html = check_html(ls.sql(pairs)._repr_html_())
    assert html.count("<tr>") == 1 + display.objects.ROWS
    assert "only the first 20 rows" in html


def test_frame_html_shortens_annotations(ls: Session) -> None:
    frame = ls.sql("SELECT DISTINCT 1 AS one FROM cars a CROSS JOIN cars b")
    assert "more terms)" in check_html(frame._repr_html_())


def test_frame_html_tells_an_error_of_the_query(ls: Session) -> None:
    frame = ls.sql("SELECT price DIV (price - 10) AS x FROM cars")
    html = check_html(frame._repr_html_())
    assert "AnnotatedFrame over cars" in html
    assert "Division by zero" in html


# -- captures, sessions, relations -------------------------------------------------------------


def test_capture_repr_says_what_it_holds(counted: AnnotatedFrame, tmp_path: Path) -> None:
    text = repr(counted.save(tmp_path / "models"))
    assert re.fullmatch(
        r"Capture\n"
        r"  SELECT model, count\(\*\) AS n FROM cars GROUP BY model\n"
        r"  path       .*/models\n"
        r"  blocks     b0: 4 members, 3 rows\n"
        r"  size       [\d.]+ kB in \d+ files\n"
        r"  values     copied\n"
        r"  relations  cars \(key car_id, not verified\)",
        text,
    )


def test_capture_html_needs_no_spark(counted: AnnotatedFrame, tmp_path: Path) -> None:
    counted.save(tmp_path / "models")
    html = check_html(lipstick.open(tmp_path / "models")._repr_html_())
    assert "<dd>b0: 4 members, 3 rows</dd>" in html


def test_session_html_lists_relations(ls: Session) -> None:
    html = check_html(ls._repr_html_())
    assert "Session tracking 1 relation<" in html
    assert "<td>cars</td><td>key car_id, not verified</td><td>data frame</td>" in html


def test_tracked_repr(ls: Session) -> None:
    tracked = ls.tracked["cars"]
    assert repr(tracked) == (
        "Tracked cars\n"
        "  rows named by  key car_id, not verified\n"
        "  source         data frame\n"
        "  columns        car_id string, model string, price int"
    )
    assert "key car_id" in check_html(tracked._repr_html_())


# -- hypothetical answers ----------------------------------------------------------------------


def test_whatif_repr_counts_and_shows_changes(counted: AnnotatedFrame) -> None:
    what_if = counted.what_if(delete={"cars": ["C1", "C2"]})
    assert repr(what_if) == (
        "WhatIf: 1 changed, 1 deleted, 1 unchanged (method: annotations)\n"
        "           model | n\n"
        "  changed  Civic | 2 → 1\n"
        "  deleted  Accord | 1"
    )


def test_whatif_html_has_a_class_per_kind_of_change(counted: AnnotatedFrame) -> None:
    html = check_html(counted.what_if(delete={"cars": ["C1", "C2"]})._repr_html_())
    assert '<tr class="changed">' in html
    assert "<td><s>2</s> → <b>1</b></td>" in html
    assert '<tr class="deleted">' in html


def test_whatif_without_changes(counted: AnnotatedFrame) -> None:
    what_if = counted.what_if(delete={"cars": []})
    assert repr(what_if) == "WhatIf: 3 unchanged (method: annotations)"
    check_html(what_if._repr_html_())


def _arrow_what_if(rows: int) -> WhatIf[pa.Table]:
    """A what-if whose changes are an Arrow table: one row of each kind, and added ones."""
    kinds = ["added"] * rows + ["changed", "deleted", "unchanged"]
    struct = pa.struct([("model", pa.string()), ("n", pa.int64())])
    old = [None] * rows + [{"model": "a", "n": 2}, {"model": "b", "n": 1}, {"model": "c", "n": 1}]
    new: list[dict[str, Any] | None] = [{"model": None, "n": i} for i in range(rows)]
    new += [{"model": "a", "n": None}, None, {"model": "c", "n": 1}]
    columns = [pa.array(kinds), pa.array(old, struct), pa.array(new, struct)]
    table = pa.Table.from_arrays(columns, names=["_change", "old", "new"])
    return WhatIf("annotations", lambda: table, lambda: table)


def test_summary_of_arrow_changes() -> None:
    told = _arrow_what_if(1).summary
    assert told.names == ("model", "n")
    assert told.sentence == "1 changed, 1 deleted, 1 added, 1 unchanged"
    assert told.rows == (
        ("changed", ("a", 2), ("a", None)),
        ("deleted", ("b", 1), None),
        ("added", None, (None, 0)),
    )


def test_summary_is_bounded() -> None:
    told = summary(_arrow_what_if(30), limit=4)
    assert len(told.rows) == 4
    assert told.hidden == 28


def test_changed_value_to_and_from_null_is_shown() -> None:
    text = repr(_arrow_what_if(1))
    assert "  changed  a | 2 → NULL" in text
    assert "  added    NULL | 0" in text


def test_whatif_table_is_drawn_by_rich() -> None:
    out = io.StringIO()
    Console(file=out, width=80).print(whatif_table(_arrow_what_if(1).summary))
    assert "2 → NULL" in out.getvalue()


# -- nothing raises ----------------------------------------------------------------------------


class _Broken:
    """Raises whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("<the session> is closed\nand more")


@pytest.mark.parametrize(
    "show",
    [
        display.capture_html,
        display.capture_text,
        display.frame_html,
        display.frame_text,
        display.session_html,
        display.tracked_html,
        display.tracked_text,
        whatif_html,
        whatif_text,
    ],
)
def test_no_representation_raises(show: Any) -> None:
    text = show(_Broken())
    assert "cannot be shown" in text
    if show.__name__.endswith("_html"):
        assert "&lt;the session&gt; is closed" in text
        assert "<" not in text
    else:
        assert text == "<_Broken, cannot be shown: <the session> is closed>"


# -- cells -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "NULL"),
        (True, "true"),
        (1.5, "1.5"),
        (138142.81999999992, "138,142.82"),
        (float("nan"), "nan"),
        (Decimal("1E+3"), "1000"),
        (datetime.date(1995, 3, 15), "1995-03-15"),
        (datetime.datetime(1995, 3, 15, 12, 30), "1995-03-15 12:30:00"),
        ("a\nb", "a b"),
        ("x" * 50, "x" * 39 + "…"),
    ],
)
def test_cell(value: Any, shown: str) -> None:
    assert cell(value) == shown


def test_bytes_text() -> None:
    assert [display.bytes_text(n) for n in (7, 1500, 2_000_000)] == ["7 B", "1.5 kB", "2.0 MB"]


# -- progress ----------------------------------------------------------------------------------


def _terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def _written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_progress_shows_messages_on_a_terminal() -> None:
    console = _terminal()
    with display.progress(console=console) as line:
        line("capturing block b0")
        time.sleep(0.2)
    assert "capturing block b0 …" in _written(console)


def test_progress_is_silent_without_a_terminal() -> None:
    console = Console(file=io.StringIO())
    with display.progress(console=console) as line:
        line("capturing block b0")
    display.progress(console=console)("capturing block b0")
    assert _written(console) == ""


def test_progress_of_short_work_stays_silent() -> None:
    console = _terminal()
    with display.progress(after=60, console=console) as line:
        line("capturing block b0")
    assert _written(console) == ""


def test_progress_appears_after_a_while() -> None:
    console = _terminal()
    with display.progress(after=0.05, console=console) as line:
        line("capturing block b0")
        time.sleep(0.5)
    assert "capturing block b0 …" in _written(console)


def test_progress_inside_another_speaks_through_it() -> None:
    outer, inner = _terminal(), _terminal()
    with display.progress(console=outer) as line:
        line("query 3")
        with display.progress(console=inner) as below:
            below("capturing block b0")
            time.sleep(0.2)
    assert "query 3: capturing block b0 …" in _written(outer)
    assert _written(inner) == ""


def test_progress_called_without_being_entered_writes_lines() -> None:
    console = _terminal()
    callback = display.progress(console=console)
    callback("capturing block b0")
    callback("capturing block b1")
    assert _written(console).count("…") == 2


def _fail() -> None:
    with display.progress(console=_terminal()) as line:
        line("capturing block b0")
        raise KeyError


def test_progress_ends_after_an_error() -> None:
    with pytest.raises(KeyError):
        _fail()
    console = _terminal()
    with display.progress(console=console) as line:
        line("again")
        time.sleep(0.2)
    assert "again …" in _written(console)


def test_progress_in_a_notebook_is_replaced_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            assert raw
            shown.append(data["text/plain"])

    def show(data: dict[str, str], raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        shown.append(data["text/plain"])
        return Handle()

    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=show))
    console: Any = SimpleNamespace(is_jupyter=True, is_interactive=False)
    with display.progress(console=console) as line:
        line("block b0")
        line("block b1")
    assert shown == ["block b0 …", "block b1 …", ""]


def test_save_tells_its_progress(ls: Session, tmp_path: Path) -> None:
    messages: list[str] = []
    ls.sql(COUNTED).save(tmp_path / "models", progress=messages.append)
    assert any("b0" in message for message in messages)

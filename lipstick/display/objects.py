"""Views of frames, captures, sessions and tracked relations, as text and as HTML."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from lipstick.display.markup import (
    Card,
    bytes_text,
    card_html,
    card_text,
    cell_html,
    code_html,
    counted,
    never_raises,
    page,
    table_html,
)
from rewriter.blocks import Block, Kind, topological

if TYPE_CHECKING:
    from enum import Enum
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lipstick.capture.manifest import Manifest, RelationRecord


ROWS = 20
"""Rows of an answer that a notebook shows."""

SECONDS = 5.0
"""Seconds for their annotations, which follow them in a notebook."""


class ShownSource(Protocol):
    """The source of a relation, as far as it is shown."""

    @property
    def description(self) -> str: ...


class ShownRelation(Protocol):
    """The attributes of a tracked relation that are shown."""

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> ShownSource: ...
    @property
    def naming(self) -> Enum: ...
    @property
    def token(self) -> tuple[str, ...]: ...
    @property
    def verified(self) -> bool: ...
    @property
    def schema(self) -> StructType: ...
    @property
    def derived(self) -> Path | None: ...


class ShownSession(Protocol):
    """The attributes of a session that are shown."""

    @property
    def spark(self) -> SparkSession: ...
    @property
    def store(self) -> Path: ...
    @property
    def tracked(self) -> Mapping[str, ShownRelation]: ...


class ShownCapture(Protocol):
    """The attributes of a capture that are shown."""

    @property
    def directory(self) -> Path: ...
    @property
    def manifest(self) -> Manifest: ...


class ShownPlan(Protocol):
    """The attributes of a query's plan that are shown."""

    @property
    def root(self) -> Block: ...
    @property
    def relations(self) -> Mapping[str, ShownRelation]: ...
    @property
    def annotation_type(self) -> str: ...
    @property
    def is_captured(self) -> bool: ...


class ShownFrame(Protocol):
    """The attributes of an annotated frame that are shown, and its answer."""

    @property
    def query(self) -> str: ...
    @property
    def schema(self) -> StructType: ...
    @property
    def plan(self) -> ShownPlan: ...
    @property
    def algebra(self) -> Any: ...
    @property
    def df(self) -> DataFrame: ...


@never_raises
def frame_text(frame: ShownFrame) -> str:
    """Return a block of a few lines about an annotated frame; runs nothing."""
    return card_text(_frame_card(frame))


@never_raises
def frame_html(frame: ShownFrame) -> str:
    """Return the first rows of the answer with their annotations, cut short.

    Runs the query: its annotations are captured, once, as any question about them does.
    """
    body = card_html(_frame_card(frame))
    try:
        pairs = frame.algebra.annotations_within(ROWS + 1, SECONDS)
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        return page(body + _plain_rows(frame) + f'<div class="m">{escape(reason[0])}</div>')
    names = list(frame.schema.names)
    head = [*map(escape, names), '<span class="m">annotation</span>']
    rows = [
        [*(cell_html(value) for value in _values(row, names)), _annotation(annotation)]
        for row, annotation in pairs[:ROWS]
    ]
    more = f'<div class="m">only the first {ROWS} rows</div>' if len(pairs) > ROWS else ""
    return page(body + table_html(head, rows) + more)


@never_raises
def answer_html(answer: pa.Table) -> str:
    """Return the first rows of an answer that is in memory."""
    head = [*map(escape, answer.column_names)]
    rows = zip(*(column.to_pylist() for column in answer.slice(0, ROWS).columns), strict=True)
    shown = [[cell_html(value) for value in row] for row in rows]
    more = answer.num_rows - ROWS
    note = f'<div class="m">{counted(more, "more row")}</div>' if more > 0 else ""
    return page(table_html(head, shown) + note)


def _annotation(annotation: Any) -> str:
    return (
        '<span class="m">polynomials() makes it</span>'
        if annotation is None
        else (code_html(annotation))
    )


def show_frame(frame: ShownFrame) -> None:
    """Display the first rows of an answer at once, and their annotations once they are captured.

    A terminal shows a few lines about the frame.

    The query is captured in another thread, which replaces what is displayed.
    """
    text = frame_text(frame)
    if getattr(import_module("IPython").get_ipython(), "kernel", None) is None:
        sys.stdout.write(f"{text}\n")
        return
    display = import_module("IPython.display").display
    if frame.plan.is_captured:
        display({"text/plain": text, "text/html": frame_html(frame)}, raw=True)
        return
    body = card_html(_frame_card(frame)) + _plain_rows(frame)
    waiting = page(f'{body}<div class="m">capturing annotations …</div>')
    handle = display({"text/plain": text, "text/html": waiting}, raw=True, display_id=True)

    def annotate() -> None:
        with suppress(Exception):  # the rows stay
            handle.update({"text/plain": text, "text/html": frame_html(frame)}, raw=True)

    threading.Thread(target=annotate, name="lipstick-display", daemon=True).start()


def _plain_rows(frame: ShownFrame) -> str:
    """Return the first rows of an answer whose annotations are refused; nothing if it fails too."""
    try:
        rows = frame.df.limit(ROWS + 1).collect()
    except Exception:
        return ""
    head = [*map(escape, frame.schema.names)]
    shown = [[cell_html(value) for value in row] for row in rows[:ROWS]]
    more = f'<div class="m">only the first {ROWS} rows</div>' if len(rows) > ROWS else ""
    return table_html(head, shown) + more


def _frame_card(frame: ShownFrame) -> Card:
    blocks = topological(frame.plan.root)
    facts = [
        ("columns", _columns(frame.schema)),
        ("annotation", frame.plan.annotation_type),
        ("blocks", "; ".join(_block(block) for block in blocks)),
    ]
    if any(block.breaks_ties for block in blocks):
        facts.append(("ties", "Spark leaves open which rows come first; here their keys decide"))
    return Card(f"AnnotatedFrame over {_names(frame.plan.relations)}", tuple(facts), frame.query)


def _block(block: Block) -> str:
    if block.kind is Kind.UNION:
        return f"{block.name} unites {_names(branch.name for branch in block.branches)}"
    if block.kind is Kind.ROWS:
        return f"{block.name} selects rows"
    by = f"by {counted(len(block.keys), 'key')}" if block.keys else "everything"
    aggregates = f", {counted(len(block.aggregates), 'aggregate')}" if block.aggregates else ""
    return f"{block.name} groups {by}{aggregates}"


@never_raises
def capture_text(capture: ShownCapture) -> str:
    """Return a block of a few lines about a capture."""
    return card_text(_capture_card(capture))


@never_raises
def capture_html(capture: ShownCapture) -> str:
    """Return a capture's facts; reads its manifest and the sizes of its files."""
    return page(card_html(_capture_card(capture)))


def _capture_card(capture: ShownCapture) -> Card:
    manifest = capture.manifest
    blocks = [
        f"{name}: {', '.join(counted(n, what.removesuffix('s')) for what, n in counts.items())}"
        for name, counts in manifest.counts.items()
    ]
    values = "by reference" if manifest.values == "reference" else "copied"
    facts = [
        ("path", str(capture.directory)),
        ("blocks", "; ".join(blocks)),
        ("size", _size(capture.directory)),
        ("values", values),
        ("relations", "; ".join(_relation(record) for record in manifest.relations.values())),
    ]
    return Card("Capture", tuple(facts), manifest.query)


def _relation(record: RelationRecord) -> str:
    return f"{record.name} ({named_by(record.naming, record.token, record.verified)})"


def _size(directory: Path) -> str:
    sizes = [path.stat().st_size for path in directory.rglob("*") if path.is_file()]
    return f"{bytes_text(sum(sizes))} in {counted(len(sizes), 'file')}" if sizes else "removed"


@never_raises
def session_html(session: ShownSession) -> str:
    """Return the relations that a session tracks."""
    tracked = list(session.tracked.values())
    facts = (("Spark", str(session.spark.version)), ("store", str(session.store)))
    body = card_html(Card(f"Session tracking {counted(len(tracked), 'relation')}", facts))
    if not tracked:
        return page(body)
    rows = [
        [
            escape(relation.name),
            escape(_naming(relation)),
            escape(relation.source.description),
            escape(_columns(relation.schema)),
        ]
        for relation in tracked
    ]
    return page(body + table_html(["relation", "rows named by", "source", "columns"], rows))


@never_raises
def tracked_text(tracked: ShownRelation) -> str:
    """Return a block of a few lines about a tracked relation."""
    return card_text(_tracked_card(tracked))


@never_raises
def tracked_html(tracked: ShownRelation) -> str:
    """Return a tracked relation's facts; runs nothing."""
    return page(card_html(_tracked_card(tracked)))


def _tracked_card(tracked: ShownRelation) -> Card:
    facts = [
        ("rows named by", _naming(tracked)),
        ("source", tracked.source.description),
        ("columns", _columns(tracked.schema)),
    ]
    if tracked.derived is not None:
        facts.append(("provenance", str(tracked.derived.parent)))
    return Card(f"Tracked {tracked.name}", tuple(facts))


def _naming(tracked: ShownRelation) -> str:
    return named_by(tracked.naming.value, tracked.token, tracked.verified)


def named_by(naming: str, token: Sequence[str], verified: bool) -> str:
    """Return what names the tuples of a relation, in words."""
    if naming == "key":
        key = f"key {', '.join(token)}"
        return key if verified else f"{key}, not verified"
    names = {"rows": "position in the files", "row ids": "the format's row ids"}
    return {**names, "values": "values", "none": "nothing"}[naming]


def _values(row: Any, names: Sequence[str]) -> list[Any]:
    return [row[name] for name in names] if isinstance(row, Mapping) else list(row)[: len(names)]


def _columns(schema: StructType, limit: int = 12) -> str:
    shown = [f"{field.name} {field.dataType.simpleString()}" for field in schema.fields[:limit]]
    hidden = len(schema.fields) - len(shown)
    return ", ".join([*shown, f"… ({hidden} more)"] if hidden else shown)


def _names(names: Iterable[str]) -> str:
    return ", ".join(names) or "no tracked relation"

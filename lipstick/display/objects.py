"""HTML views of frames, captures, sessions, tracked relations, and of the changes of a what-if."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from lipstick.display.markup import (
    Card,
    bytes_text,
    card_html,
    card_text,
    cell,
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

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType
    from rich.table import Table

    from lipstick.capture.manifest import Manifest, RelationRecord
    from semiring.annotation import AnnotationType


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


class ShownFrame(Protocol):
    """The attributes of an annotated frame that are shown, and its answer."""

    @property
    def query(self) -> str: ...
    @property
    def schema(self) -> StructType: ...
    @property
    def root(self) -> Block: ...
    @property
    def relations(self) -> Mapping[str, ShownRelation]: ...
    @property
    def annotation_type(self) -> AnnotationType: ...
    @property
    def df(self) -> DataFrame: ...
    @property
    def is_captured(self) -> bool: ...
    def annotations_within(self, limit: int, seconds: float, /) -> Sequence[tuple[Any, Any]]: ...


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
        pairs = frame.annotations_within(ROWS + 1, SECONDS)
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
    if frame.is_captured:
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
    blocks = topological(frame.root)
    facts = [
        ("columns", _columns(frame.schema)),
        ("annotation", str(frame.annotation_type)),
        ("blocks", "; ".join(_block(block) for block in blocks)),
    ]
    return Card(f"AnnotatedFrame over {_names(frame.relations)}", tuple(facts), frame.query)


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


CHANGED_ROWS = 10
"""Changed rows that a what-if answer shows."""
CHANGES = ("changed", "deleted", "added", "unchanged")
_RICH_COLOURS = {"changed": "yellow", "deleted": "red", "added": "green"}


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of an answer's changes.

    Attributes
    ----------
    counts
        Rows per kind of change.
    rows
        The first rows that are not unchanged: kind, old row or None, new row or None.
    """

    method: str
    names: tuple[str, ...]
    counts: Mapping[str, int]
    rows: tuple[tuple[str, tuple[Any, ...] | None, tuple[Any, ...] | None], ...]

    @property
    def sentence(self) -> str:
        """The counts in words."""
        parts = [f"{self.counts[kind]:,} {kind}" for kind in CHANGES if self.counts.get(kind)]
        return ", ".join(parts) or "no rows"

    @property
    def hidden(self) -> int:
        """The number of changed rows that ``rows`` leaves out."""
        total = sum(n for kind, n in self.counts.items() if kind != "unchanged")
        return total - len(self.rows)


def summary(what_if: Any, limit: int = CHANGED_ROWS) -> Summary:
    """Return the counts of a what-if's changes and its first changed rows.

    With Spark this runs two jobs over the captured annotations, the first time it is asked.

    Parameters
    ----------
    what_if
        A what-if answer; its ``changes`` are a data frame or an Arrow table.
    """
    changes = what_if.changes
    if isinstance(changes, pa.Table):
        kinds = changes.column("_change")
        pairs = pc.value_counts(kinds).to_pylist()
        counts = {pair["values"]: pair["counts"] for pair in pairs}
        changed = changes.filter(pc.not_equal(kinds, "unchanged")).slice(0, limit)
        schema = changes.schema.field("old").type
        names = tuple(schema.field(i).name for i in range(schema.num_fields))
        changed_rows = [
            (kind.as_py(), _struct(old), _struct(new))
            for kind, old, new in zip(
                changed.column("_change"), changed.column("old"), changed.column("new"), strict=True
            )
        ]
    else:
        counts = {
            row["_change"]: row["count"] for row in changes.groupBy("_change").count().collect()
        }
        names = tuple(changes.schema["old"].dataType.names)
        rows = changes.where("_change <> 'unchanged'").limit(limit).collect()
        changed_rows = [(row[0], _tuple(row[1]), _tuple(row[2])) for row in rows]
    changed_rows.sort(key=lambda row: CHANGES.index(row[0]))
    return Summary(what_if.method, names, counts, tuple(changed_rows))


def _told(what_if: Any) -> Summary:
    """Return the summary, made once: a notebook asks for text and HTML of every object."""
    told = getattr(what_if, "_told", None)
    if not isinstance(told, Summary):
        told = summary(what_if)
        with suppress(AttributeError):
            what_if._told = told
    return told


def _tuple(row: Any) -> tuple[Any, ...] | None:
    return None if row is None else tuple(row)


def _struct(scalar: Any) -> tuple[Any, ...] | None:
    if not scalar.is_valid:
        return None
    return tuple(scalar[i].as_py() for i in range(len(scalar.type)))


@never_raises
def whatif_text(what_if: Any) -> str:
    """Return the counts of a what-if's changes and its first changed rows."""
    told = _told(what_if)
    lines = [f"WhatIf: {told.sentence} (method: {told.method})"]
    if told.rows:
        lines.append(f"  {'':8} {' | '.join(told.names)}")
    for kind, old, new in told.rows:
        cells = [
            cell(b) if a is None or a == b else f"{cell(a)} → {cell(b)}" if new else cell(a)
            for a, b in _sides(old, new)
        ]
        lines.append(f"  {kind:8} {' | '.join(cells)}")
    if told.hidden > 0:
        lines.append(f"  and {told.hidden:,} more")
    return "\n".join(lines)


@never_raises
def whatif_html(what_if: Any) -> str:
    """Return the same with a colour per kind of change."""
    told = _told(what_if)
    body = card_html(Card(f"WhatIf: {told.sentence}", (("method", told.method),)))
    if not told.rows:
        return page(body)
    rows = []
    for kind, old, new in told.rows:
        cells = [f'<span class="m">{kind}</span>']
        for a, b in _sides(old, new):
            before, after = cell_html(a), cell_html(b)
            if kind == "changed" and a != b:
                cells.append(f"<s>{before}</s> → <b>{after}</b>")
            else:
                cells.append(after if kind == "added" else before)
        rows.append(cells)
    table = table_html(["", *map(escape, told.names)], rows, [row[0] for row in told.rows])
    more = f'<div class="m">and {told.hidden:,} more</div>' if told.hidden > 0 else ""
    return page(body + table + more)


def whatif_table(told: Summary) -> Table:
    """Return the changed rows as a coloured table for a terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=_rule_box(), pad_edge=False)
    table.add_column("")
    for name in told.names:
        table.add_column(Text(name))
    for kind, old, new in told.rows:
        colour = _RICH_COLOURS[kind]
        cells = [Text(kind, style=colour)]
        for a, b in _sides(old, new):
            if kind == "changed" and a != b:
                cells.append(Text.assemble((cell(a), "dim"), " → ", (cell(b), f"bold {colour}")))
            elif kind == "changed":
                cells.append(Text(cell(a)))
            else:
                cells.append(Text(cell(b if kind == "added" else a), style=colour))
        table.add_row(*cells)
    return table


def _rule_box() -> Any:
    from rich import box

    return box.SIMPLE_HEAD


def _sides(old: tuple[Any, ...] | None, new: tuple[Any, ...] | None) -> Iterable[tuple[Any, Any]]:
    width = len(old or new or ())
    return zip(old or (None,) * width, new or (None,) * width, strict=True)

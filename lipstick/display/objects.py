"""What is shown of frames, captures, sessions and tracked relations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

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
    from pathlib import Path

    from pyspark.sql.types import StructType

    from lipstick.capture.capture import Capture
    from lipstick.capture.manifest import RelationRecord
    from lipstick.frame import AnnotatedFrame
    from lipstick.sessions import Session
    from lipstick.tracking.tracker import Tracked

ROWS = 20
"""Rows of an answer that a notebook shows."""


@never_raises
def frame_text(frame: AnnotatedFrame) -> str:
    """Return a block of a few lines about an annotated frame; runs nothing."""
    return card_text(_frame_card(frame))


@never_raises
def frame_html(frame: AnnotatedFrame) -> str:
    """Return the first rows of the answer with their annotations, cut short.

    Runs the query: its annotations are captured, once, as any question about them does.
    """
    body = card_html(_frame_card(frame))
    try:
        pairs = frame.polynomials(ROWS + 1)
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        return page(body + _plain_rows(frame) + f'<div class="m">{escape(reason[0])}</div>')
    names = list(frame.schema.names)
    head = [*map(escape, names), '<span class="m">annotation</span>']
    rows = [
        [*(cell_html(value) for value in _values(row, names)), code_html(annotation)]
        for row, annotation in pairs[:ROWS]
    ]
    more = f'<div class="m">only the first {ROWS} rows</div>' if len(pairs) > ROWS else ""
    return page(body + table_html(head, rows) + more)


def _plain_rows(frame: AnnotatedFrame) -> str:
    """Return the first rows of an answer whose annotations are refused; nothing if it fails too."""
    try:
        rows = frame.df.limit(ROWS + 1).collect()
    except Exception:
        return ""
    head = [*map(escape, frame.schema.names)]
    shown = [[cell_html(value) for value in row] for row in rows[:ROWS]]
    more = f'<div class="m">only the first {ROWS} rows</div>' if len(rows) > ROWS else ""
    return table_html(head, shown) + more


def _frame_card(frame: AnnotatedFrame) -> Card:
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
def capture_text(capture: Capture) -> str:
    """Return a block of a few lines about a capture."""
    return card_text(_capture_card(capture))


@never_raises
def capture_html(capture: Capture) -> str:
    """Return a capture's facts; reads its manifest and the sizes of its files."""
    return page(card_html(_capture_card(capture)))


def _capture_card(capture: Capture) -> Card:
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
def session_html(session: Session) -> str:
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
def tracked_text(tracked: Tracked) -> str:
    """Return a block of a few lines about a tracked relation."""
    return card_text(_tracked_card(tracked))


@never_raises
def tracked_html(tracked: Tracked) -> str:
    """Return a tracked relation's facts; runs nothing."""
    return page(card_html(_tracked_card(tracked)))


def _tracked_card(tracked: Tracked) -> Card:
    facts = [
        ("rows named by", _naming(tracked)),
        ("source", tracked.source.description),
        ("columns", _columns(tracked.schema)),
    ]
    if tracked.derived is not None:
        facts.append(("provenance", str(tracked.derived.parent)))
    return Card(f"Tracked {tracked.name}", tuple(facts))


def _naming(tracked: Tracked) -> str:
    return named_by(tracked.naming.value, tracked.token, tracked.verified)


def named_by(naming: str, token: Sequence[str], verified: bool) -> str:
    """Return what names the tuples of a relation, in words."""
    if naming == "key":
        key = f"key {', '.join(token)}"
        return key if verified else f"{key}, not verified"
    return {"rows": "position in the files", "values": "values", "none": "nothing"}[naming]


def _values(row: Any, names: Sequence[str]) -> list[Any]:
    return [row[name] for name in names] if isinstance(row, Mapping) else list(row)[: len(names)]


def _columns(schema: StructType, limit: int = 12) -> str:
    shown = [f"{field.name} {field.dataType.simpleString()}" for field in schema.fields[:limit]]
    hidden = len(schema.fields) - len(shown)
    return ", ".join([*shown, f"… ({hidden} more)"] if hidden else shown)


def _names(names: Iterable[str]) -> str:
    return ", ".join(names) or "no tracked relation"

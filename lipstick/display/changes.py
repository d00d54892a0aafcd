"""What is shown of a hypothetical answer: what became of each row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from lipstick.display.markup import Card, card_html, cell, cell_html, never_raises, page, table_html

if TYPE_CHECKING:
    from rich.table import Table

CHANGED_ROWS = 10
"""Changed rows that a what-if answer shows."""
CHANGES = ("changed", "deleted", "added", "unchanged")
_RICH_COLOURS = {"changed": "yellow", "deleted": "red", "added": "green"}


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of an answer.

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
        """How many changed rows are not among ``rows``."""
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

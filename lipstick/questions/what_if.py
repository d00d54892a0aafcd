"""Hypothetical answers, in one scenario or in many, whoever computed them, and how they look.

The engine in memory gives them as Arrow tables (:mod:`lipstick.engines.memory.what_if`), Spark as
data frames (:mod:`lipstick.tables.comparison`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from lipstick.display.markup import (
    Card,
    card_html,
    cell,
    cell_html,
    never_raises,
    page,
    table_html,
)
from semiring.support.door import checked

if TYPE_CHECKING:
    from rich.table import Table

T_co = TypeVar("T_co", covariant=True)

CHANGE = "_change"
"""The column of changes that has their kind."""
CHANGES = ("changed", "deleted", "added", "unchanged")
CHANGED_ROWS = 10
"""The number of changed rows that an answer shows."""
SCENARIO = "scenario"
"""The column of tables that has the label of the scenario."""
_RICH_COLOURS = {"changed": "yellow", "deleted": "red", "added": "green"}

Route: TypeAlias = Literal["annotations", "blocks", "rerun", "repeated"]
"""The route of a hypothetical answer; see :class:`WhatIf` and :class:`WhatIfMany`."""


@checked
class WhatIf(Generic[T_co]):
    """The hypothetical answer without some inputs.

    Its rows are data frames with Spark, Arrow tables without, computed when first read.

    Attributes
    ----------
    method
        The route of the answer: ``annotations`` (the captured ones), ``blocks`` (an outer block
        was run over evaluated inner rows) or ``rerun`` (the query ran on the reduced sources).
    """

    def __init__(
        self,
        method: Route,
        df: Callable[[], T_co],
        changes: Callable[[], T_co],
        cut: Callable[[], pa.Table] | None = None,
    ) -> None:
        self.method: Route = method
        self._df = df
        self._changes = changes
        self._cut = cut

    def __repr__(self) -> str:
        return whatif_text(self)

    def _repr_html_(self) -> str:
        return whatif_html(self)

    @cached_property
    def df(self) -> T_co:
        """The hypothetical answer, with the schema of the answer."""
        return self._df()

    @cached_property
    def changes(self) -> T_co:
        """The change of each row: ``_change``, ``old``, ``new``.

        ``_change`` is unchanged, changed, deleted or added; ``old`` and ``new`` are structs of
        the answer's columns, NULL where there is no such row. Rows are matched by the grouping
        key or the tokens they are made of, else by their values with multiplicity.
        """
        return self._changes()

    @cached_property
    def cut(self) -> pa.Table | None:
        """The rows of the answer that are left out by LIMIT alone; None: not computed in memory.

        ``_row`` is the place in the answer from 0, ``_place`` the place from 1 that the row would
        have without LIMIT; then its columns as they would be.
        """
        return None if self._cut is None else self._cut()

    @cached_property
    def summary(self) -> Summary:
        """The number of rows per kind of change, and the first rows that changed."""
        return summary(self)


@checked
class WhatIfMany:
    """The hypothetical answer in each of many scenarios.

    Attributes
    ----------
    scenarios
        The labels of the scenarios in the tables.
    method
        ``annotations``: from the captured annotations, all scenarios together; ``repeated``: one
        scenario after the other.
    """

    def __init__(
        self,
        scenarios: pa.Array,
        method: Route,
        df: Callable[[], pa.Table],
        changes: Callable[[], pa.Table],
        touched: int | None = None,
    ) -> None:
        self.scenarios = scenarios
        self.method: Route = method
        self._df = df
        self._changes = changes
        self._touched = touched

    def __len__(self) -> int:
        return len(self.scenarios)

    def __repr__(self) -> str:
        touched = "" if self._touched is None else f", {self._touched} of them touch the answer"
        return f"WhatIfMany({len(self)} scenarios{touched})"

    @cached_property
    def df(self) -> pa.Table:
        """The hypothetical answers: ``scenario``, then the answer's columns.

        By scenario, each in the answer's order. It has as many rows as all these answers together;
        `changes` has the differing ones.
        """
        return self._df()

    @cached_property
    def changes(self) -> pa.Table:
        """The rows that differ from the answer: ``scenario``, the answer's columns, ``_change``.

        ``_change`` is changed, deleted or added; a row that is deleted shows what it was. By
        scenario, then in the order of the answer, rows added last.
        """
        return self._changes()


# -- how it looks ------------------------------------------------------------------------------


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


def summary(what_if: WhatIf[Any], limit: int = CHANGED_ROWS) -> Summary:
    """Count the changes of an answer and return its first changed rows; with Spark, two jobs."""
    changes = what_if.changes
    if isinstance(changes, pa.Table):
        kinds = changes.column(CHANGE)
        pairs = pc.value_counts(kinds).to_pylist()
        counts = {pair["values"]: pair["counts"] for pair in pairs}
        changed = changes.filter(pc.not_equal(kinds, "unchanged")).slice(0, limit)
        schema = changes.schema.field("old").type
        names = tuple(schema.field(i).name for i in range(schema.num_fields))
        changed_rows = [
            (kind.as_py(), _struct(old), _struct(new))
            for kind, old, new in zip(
                changed.column(CHANGE), changed.column("old"), changed.column("new"), strict=True
            )
        ]
    else:
        counts = {row[CHANGE]: row["count"] for row in changes.groupBy(CHANGE).count().collect()}
        names = tuple(changes.schema["old"].dataType.names)
        rows = changes.where(f"{CHANGE} <> 'unchanged'").limit(limit).collect()
        changed_rows = [(row[0], _tuple(row[1]), _tuple(row[2])) for row in rows]
    changed_rows.sort(key=lambda row: CHANGES.index(row[0]))
    return Summary(what_if.method, names, counts, tuple(changed_rows))


def _tuple(row: Any) -> tuple[Any, ...] | None:
    return None if row is None else tuple(row)


def _struct(scalar: Any) -> tuple[Any, ...] | None:
    if not scalar.is_valid:
        return None
    return tuple(scalar[i].as_py() for i in range(len(scalar.type)))


@never_raises
def whatif_text(what_if: WhatIf[Any]) -> str:
    """Return the counts of an answer's changes and its first changed rows."""
    changes = what_if.summary
    lines = [f"WhatIf: {changes.sentence} (method: {changes.method})"]
    if changes.rows:
        lines.append(f"  {'':8} {' | '.join(changes.names)}")
    for kind, old, new in changes.rows:
        cells = [
            cell(b) if a is None or a == b else f"{cell(a)} → {cell(b)}" if new else cell(a)
            for a, b in _sides(old, new)
        ]
        lines.append(f"  {kind:8} {' | '.join(cells)}")
    if changes.hidden > 0:
        lines.append(f"  and {changes.hidden:,} more")
    return "\n".join(lines)


@never_raises
def whatif_html(what_if: WhatIf[Any]) -> str:
    """Return the text of an answer as HTML, with a colour per kind of change."""
    changes = what_if.summary
    body = card_html(Card(f"WhatIf: {changes.sentence}", (("method", changes.method),)))
    if not changes.rows:
        return page(body)
    rows = []
    for kind, old, new in changes.rows:
        cells = [f'<span class="m">{kind}</span>']
        for a, b in _sides(old, new):
            before, after = cell_html(a), cell_html(b)
            if kind == "changed" and a != b:
                cells.append(f"<s>{before}</s> → <b>{after}</b>")
            else:
                cells.append(after if kind == "added" else before)
        rows.append(cells)
    table = table_html(["", *map(escape, changes.names)], rows, [row[0] for row in changes.rows])
    more = f'<div class="m">and {changes.hidden:,} more</div>' if changes.hidden > 0 else ""
    return page(body + table + more)


def whatif_table(changes: Summary) -> Table:
    """Return the changed rows as a coloured table for a terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for name in changes.names:
        table.add_column(Text(name))
    for kind, old, new in changes.rows:
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


def _sides(old: tuple[Any, ...] | None, new: tuple[Any, ...] | None) -> Iterable[tuple[Any, Any]]:
    width = len(old or new or ())
    return zip(old or (None,) * width, new or (None,) * width, strict=True)

"""Cards, tables and cells, as text and as HTML.

The HTML is self-contained, escaped, and has no colours of its own for text and background, so that
it reads on light and dark themes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import wraps
from html import escape
from typing import Any

from lipstick.display.number_text import spelled

QUERY_WIDTH = 88
CELL_WIDTH = 40
TERMS = 4
"""Summands of an annotation that a table shows."""
_TINTS = {"changed": "214,158,46", "deleted": "220,70,70", "added": "60,170,90"}

_CSS = (
    ".lipstick{font-size:13px;line-height:1.45;margin:.3em 0}"
    ".lipstick .t{font-weight:600}"
    ".lipstick pre{margin:.3em 0;padding:0;background:none;color:inherit;font-size:12px;"
    "white-space:pre-wrap}"
    ".lipstick dl{display:grid;grid-template-columns:max-content 1fr;gap:0 1em;margin:.3em 0}"
    ".lipstick dt{opacity:.65;font-weight:normal}.lipstick dd{margin:0}"
    ".lipstick table{border-collapse:collapse;margin:.4em 0;font-size:12px;color:inherit}"
    ".lipstick th,.lipstick td{padding:.15em .7em;text-align:left;vertical-align:top;"
    "border-bottom:1px solid rgba(128,128,128,.35);background:none;color:inherit}"
    ".lipstick code{background:none;color:inherit}"
    ".lipstick s{opacity:.7}.lipstick .m{opacity:.65}"
    + "".join(
        f".lipstick tr.{name} td{{background:rgba({tint},.16)}}" for name, tint in _TINTS.items()
    )
)


@dataclass(frozen=True, slots=True)
class Card:
    """The parts of an object's view."""

    title: str
    facts: tuple[tuple[str, str], ...]
    query: str = ""


def never_raises(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a function that shows an object whatever state it is in."""

    @wraps(show)
    def shown(value: Any) -> str:
        try:
            return show(value)
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            text = f"<{type(value).__name__}, cannot be shown: {reason}>"
            return escape(text) if show.__name__.endswith("_html") else text

    return shown


def cell(value: Any, width: int = CELL_WIDTH) -> str:
    """Return a value as a table shows it: one line, cut to a width."""
    if value is None:
        text = "NULL"
    elif isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, Decimal):
        text = format(value, "f")
    elif isinstance(value, float):
        text = spelled(value)
    elif isinstance(value, datetime):
        text = value.isoformat(sep=" ")
    elif isinstance(value, date | time):
        text = value.isoformat()
    else:
        text = " ".join(str(value).split())
    return text if len(text) <= width else text[: width - 1] + "…"


def bytes_text(size: int) -> str:
    """Return a number of bytes with a unit of thousands."""
    number = float(size)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def shortened(annotation: Any) -> str:
    """Return the text of an annotation with its first few summands."""
    return str(annotation.truncated(TERMS))


def counted(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def card_text(card: Card) -> str:
    """Return a card as a few lines."""
    lines = [card.title]
    if card.query:
        lines.append(f"  {cell(card.query, QUERY_WIDTH)}")
    width = max((len(label) for label, _ in card.facts), default=0)
    lines += [f"  {label:{width}}  {fact}" for label, fact in card.facts]
    return "\n".join(lines)


def page(body: str) -> str:
    """Return HTML with the style it needs."""
    return f'<div class="lipstick"><style>{_CSS}</style>{body}</div>'


def card_html(card: Card) -> str:
    """Return a card as HTML."""
    query = f"<pre>{escape(card.query.strip())}</pre>" if card.query else ""
    facts = "".join(
        f"<dt>{escape(label)}</dt><dd>{escape(fact)}</dd>" for label, fact in card.facts
    )
    return f'<div class="t">{escape(card.title)}</div>{query}<dl>{facts}</dl>'


def table_html(
    head: Sequence[str], rows: Sequence[Sequence[str]], kinds: Sequence[str] | None = None
) -> str:
    """Return a table of cells that are HTML already."""
    top = "".join(f"<th>{name}</th>" for name in head)
    lines = []
    for number, row in enumerate(rows):
        mark = f' class="{kinds[number]}"' if kinds else ""
        lines.append(f"<tr{mark}>{''.join(f'<td>{content}</td>' for content in row)}</tr>")
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def cell_html(value: Any) -> str:
    """Return a value as HTML."""
    return '<span class="m">NULL</span>' if value is None else escape(cell(value))


def code_html(annotation: Any) -> str:
    """Return an annotation, shortened, as HTML."""
    return f"<code>{escape(shortened(annotation))}</code>"

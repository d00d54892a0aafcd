"""The page: sections of text, pictures and tables, with nothing outside the file."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from benchmark_workflowgen.results import Result

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-size: 13px; margin: 1rem 0 }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: right }
th:first-child, td:first-child { text-align: left }
img { max-width: 100% }
figcaption, .note { color: #555 }
"""


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Parameters
    ----------
    columns
        Their names.
    rows
        Of texts and numbers; None is empty.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture.

    Parameters
    ----------
    svg
        The picture.
    caption
        What it shows.
    """

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Parameters
    ----------
    title
        Of the part.
    content
        Texts, pictures and tables.
    """

    title: str
    content: Sequence[str | PagePicture | Table]


def page(results: Sequence[Result], page_sections: Iterable[Section]) -> str:
    """Return the page as HTML."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8"><title>WorkflowGen</title>',
        f"<style>{_STYLE}</style><h1>WorkflowGen</h1>",
        f"<p>{len(results)} cases, {sum(result.seconds for result in results):,.0f} seconds.</p>",
    ]
    for section in page_sections:
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += [_shown(item) for item in section.content]
    parts.append("<h2>Where this was measured</h2>")
    parts += [f"<pre>{escape(text)}</pre>" for text in environments(results)]
    return "\n".join(parts) + "\n"


def environments(results: Sequence[Result]) -> list[str]:
    """Return the environments that results have, each once, and the range of the machine's load."""
    loads_by_environment: dict[str, list[float]] = {}
    for result in results:
        same = {k: v for k, v in result.environment.items() if k != "load_average"}
        text = json.dumps(same, indent=1)
        loads_by_environment.setdefault(text, []).append(
            result.environment.get("load_average", [0.0])[0]
        )
    return [
        f"{text}\nload average {min(loads):.1f} to {max(loads):.1f}"
        for text, loads in loads_by_environment.items()
    ]


def _shown(item: str | PagePicture | Table) -> str:
    if isinstance(item, str):
        return f'<p class="note">{escape(item)}</p>'
    if isinstance(item, PagePicture):
        data = base64.b64encode(item.svg.encode()).decode()
        caption = escape(item.caption)
        return (
            f'<figure><img alt="{caption}" src="data:image/svg+xml;base64,{data}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )
    head = "".join(f"<th>{escape(name)}</th>" for name in item.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_text(cell))}</td>" for cell in row) + "</tr>"
        for row in item.rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _text(cell: str | float | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return f"{cell:,.0f}" if cell == int(cell) and abs(cell) >= 10 else f"{cell:,.3g}"

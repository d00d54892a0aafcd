"""``explore()`` of captures, frames and graphs: a widget, a page, or a server."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lipstick.explorer.errors import ExploreError
from lipstick.explorer.explorer import (
    Explorer,
    ExplorerSource,
    PageOpener,
    SourceEntry,
    is_capture,
    open_sources,
)
from lipstick.explorer.server import Serving
from lipstick.outer import resolve
from lipstick.systems import page_of
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture
    from lipstick.frame import AnnotatedFrame


class Served:
    """An explorer that is served, until it is closed or the process ends.

    Attributes
    ----------
    url
        Where a browser opens it.
    """

    def __init__(self, explorer: Explorer, host: str = "127.0.0.1", port: int = 0) -> None:
        self._serving = Serving(explorer, host, port)
        self.url = self._serving.url
        self._thread = threading.Thread(target=self._serving.run, daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"<Explorer at {self.url}>"

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving."""
        self._serving.stop()
        self._thread.join(10)

    def wait(self) -> None:
        """Serve until it is interrupted."""
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self.close()


def sources_of(subject: Any, name: str | None = None) -> list[SourceEntry]:
    """Return the sources that explore a query, a capture, a graph, a federation or a path.

    Raises
    ------
    ExploreError
        For anything else.
    """
    from graphquery import ProvenanceGraph
    from lipstick.capture.capture import Capture

    if isinstance(subject, str | os.PathLike):
        return open_sources(Path(subject))
    if isinstance(subject, Capture):
        return [SourceEntry(_of_capture(subject, name), subject.directory)]
    if _is_query(subject):
        return [SourceEntry(_of_query(subject, name), subject.capture.directory)]
    if isinstance(subject, ProvenanceGraph):
        from lipstick.explorer.graphs.source import graph_source

        return [SourceEntry(graph_source(name or "graph", subject))]
    page = page_of(subject)
    kind = type(subject).__name__
    if page is not None:
        opener: PageOpener = resolve(page.shows)
        return [SourceEntry(opener(name or kind.lower(), subject))]
    raise ExploreError(
        f"A {kind} cannot be explored: give queries, captures, graphs, federations or paths."
    )


def _is_query(subject: Any) -> bool:
    # Whoever has a frame has imported its module, which imports pyspark.
    frames = sys.modules.get("lipstick.frame")
    return frames is not None and isinstance(subject, frames.AnnotatedFrame)


def _of_capture(capture: Capture, name: str | None) -> ExplorerSource:
    from lipstick.explorer.captures.source import CaptureSource

    return CaptureSource(name or capture.directory.name, _in_memory(capture))


def _of_query(frame: AnnotatedFrame, name: str | None) -> ExplorerSource:
    from lipstick.explorer.captures.missing import QuerySource

    return QuerySource(name or "query", _in_memory(frame.capture), frame)


def _in_memory(capture: Capture) -> Capture:
    """Return a capture that is asked in memory, whoever opened it: a click starts no Spark job."""
    from lipstick.capture.capture import Capture

    if capture.manifest.values != "copy":
        return capture
    return Capture(capture.directory, capture.manifest)


@checked
def explore(
    *subjects: Any,
    to: str | os.PathLike[str] | None = None,
    name: str | None = None,
    browser: bool = True,
) -> Any:
    """Explore queries, captures, graphs, federations and paths.

    Parameters
    ----------
    subjects
        What is explored.
    to
        Write a page of its own to this file, which answers what it holds without a server.
    name
        What it is called; by default after its folder.
    browser
        Open a browser where a server is started.

    Returns
    -------
    The path that was written; a widget in a notebook; elsewhere a :class:`Served`.

    Raises
    ------
    ExploreError
        For what cannot be explored, and without the libraries of ``lipstick-spark[explore]``.
    """
    from lipstick.explorer.widget import in_notebook, widget

    entries = [entry for subject in subjects for entry in sources_of(subject, name)]
    paths = [Path(each) for each in subjects if isinstance(each, str | os.PathLike)]
    explorer = Explorer(entries, folders=paths)
    if to is not None:
        from lipstick.explorer.saved import save

        path = Path(to)
        save(explorer, path)
        return path
    if in_notebook():
        return widget(explorer, _still(subjects))
    served = Served(explorer)
    if browser:
        webbrowser.open(served.url)
    return served


def _still(subjects: Sequence[Any]) -> str:
    """Return what is explored as HTML: answers with their first rows, and graphs as drawings."""
    from lipstick.capture.capture import Capture, open_capture
    from lipstick.display.objects import answer_html

    parts = []
    for given in subjects:
        is_path = isinstance(given, str | os.PathLike)
        stored = is_path and is_capture(Path(given))
        subject = open_capture(given) if stored else given.capture if _is_query(given) else given
        if isinstance(subject, Capture):
            parts.append(answer_html(subject.memory.answer()))
        shown = getattr(subject, "_repr_html_", None)
        parts.append(f"<p>{escape(str(subject))}</p>" if shown is None else shown() or "")
    return "".join(parts)


def notebook_widget(subject: Any) -> Any:
    """Return the widget of a notebook; None elsewhere, and where its kernel has no anywidget."""
    from lipstick.explorer.widget import in_notebook, widget

    if not in_notebook():
        return None
    try:
        return widget(Explorer(sources_of(subject)), _still((subject,)))
    except ExploreError:
        return None


def bundle(subject: Any) -> dict[str, Any] | None:
    """Return the MIME bundle of a widget for a notebook; None where there is none."""
    shown = notebook_widget(subject)
    if shown is None:
        return None
    mime = shown._repr_mimebundle_()
    data: dict[str, Any] | None = mime[0] if isinstance(mime, tuple) else mime
    return data

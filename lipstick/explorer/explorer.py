"""Sources and answers to questions about them: one way for server, widget and saved page."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from lipstick.explorer.budget import SECONDS, Budget
from lipstick.explorer.cells import cell
from lipstick.explorer.errors import ExploreError, TooLongError
from lipstick.explorer.params import Params
from lipstick.systems import pages, resolve
from semiring.errors import LipstickError

LARGEST = 2_000_000
"""Bytes of an answer at most."""

View = Callable[[Params, Budget], dict[str, Any]]


class ExplorerSource(Protocol):
    """Something that is explored.

    Attributes
    ----------
    kind
        ``capture``, ``graph``, ``stream``, ``reduction``, ``federation`` or ``script``: which views
        a page has of it.
    name
        What people call it.
    """

    kind: str
    name: str

    @property
    def views(self) -> dict[str, View]:
        """The questions that it answers, by name."""


class PageOpener(Protocol):
    """Opens a path or an object of a system for the explorer."""

    def __call__(self, name: str, subject: Any, /) -> ExplorerSource:
        """Return the source that people know by this name."""


class Explorer:
    """Sources, and the answers to questions about them.

    Nothing is changed by a question: views are pure functions of a source and JSON. Questions to
    one source are answered one after the other, those to several at once.

    Parameters
    ----------
    sources
        What is explored, in the order shown.
    seconds
        How long an answer may take.
    """

    def __init__(self, sources: Sequence[ExplorerSource], seconds: float = SECONDS) -> None:
        if not sources:
            raise ExploreError("There is nothing to explore: give a capture or a store.")
        self.sources = tuple(sources)
        self.seconds = seconds
        self._locks = [threading.Lock() for _ in self.sources]

    def listing(self) -> dict[str, Any]:
        """Return the list of sources."""
        return {
            "sources": [{"kind": source.kind, "name": cell(source.name)} for source in self.sources]
        }

    def ask(self, question: Any, budget: Budget | None = None) -> dict[str, Any]:
        """Answer a question.

        Parameters
        ----------
        question
            ``source``, the place of a source; ``view``; ``params``. Without a source: what there
            is.

        Returns
        -------
        dict
            ``answer`` and ``milliseconds``; or ``error``, with a message for people.
        """
        started = time.perf_counter()
        try:
            answer = self._answer(Params(question), budget or Budget(self.seconds))
        except TooLongError as error:
            return {"error": {"kind": "slow", "message": str(error)}}
        except LipstickError as error:
            return {"error": {"kind": "refused", "message": cell(str(error), 2_000)}}
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            told = cell(f"{type(error).__name__}: {error}", 600)
            return {"error": {"kind": "failed", "message": told}}
        return {"answer": answer, "milliseconds": round(1000 * (time.perf_counter() - started), 1)}

    def _answer(self, question: Params, budget: Budget) -> dict[str, Any]:
        view = question.text("view", "sources")
        if view == "sources":
            return self.listing()
        number = question.integer("source", 0)
        if not 0 <= number < len(self.sources):
            raise ExploreError(f"There is no source {number}.")
        views = self.sources[number].views
        if view not in views:
            raise ExploreError(f"{self.sources[number].kind} has no view {view!r}.")
        lock = self._locks[number]
        while not lock.acquire(timeout=0.05):
            budget.check()
        try:
            budget.check()
            return views[view](Params(question.mapping("params")), budget)
        finally:
            lock.release()

    def ask_json(self, question: Any, budget: Budget | None = None) -> str:
        """The answer to a question as JSON text of at most `LARGEST` bytes."""
        text = json.dumps(self.ask(question, budget), ensure_ascii=False, allow_nan=False)
        if len(text) <= LARGEST:
            return text
        told = f"The answer has {len(text):,} characters, which is too much.\nAsk for less."
        return json.dumps({"error": {"kind": "refused", "message": told}})


def open_source(path: Path) -> ExplorerSource:
    """Open what is at a path: a capture, a store, a federation's members, or a script.

    Raises
    ------
    ExploreError
        Where there is nothing that can be explored.
    LipstickError
        Where it is damaged, or of a later version.
    """
    if not path.exists():
        raise ExploreError(f"There is nothing at {path}.\nGive a capture, a store or a script.")
    name = path.resolve().name
    if path.is_file():
        of_files = [page for page in pages() if page.suffixes]
        for page in of_files:
            if path.suffix in page.suffixes:
                opener: PageOpener = resolve(page.opens)
                return opener(name, path)
        known = "".join(f", {page.noun} ({', '.join(page.suffixes)})" for page in of_files)
        raise ExploreError(
            f"{path} is neither a capture nor a store.\nGive captures, stores{known}."
        )
    if (path / "manifest.json").is_file():
        from lipstick.capture.capture import open_capture
        from lipstick.explorer.captures.source import CaptureSource

        return CaptureSource(name, open_capture(path))
    from lipstick.explorer.graphs.source import open_graph

    return open_graph(name, path)

"""Sources and answers to questions about them: one way for server, widget and saved page."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from lipstick.explorer.budget import SECONDS, Budget
from lipstick.explorer.cells import cell
from lipstick.explorer.errors import ExploreError, TooLongError
from lipstick.explorer.params import Params
from lipstick.outer import resolve
from lipstick.systems import pages
from semiring.errors import LipstickError

LARGEST = 2_000_000
"""Bytes of an answer at most."""

EVERYWHERE = ("search", "follow")
"""Views that are asked of all sources at once, by ``everywhere`` in place of a source."""

OF_SPARK = ("missing", "changes", "dropped")
"""Views that Spark answers: these may take longer, and no other question waits for them."""

SPARK_SECONDS = 180.0
"""Seconds that Spark may take for an answer."""

EACH = 5.0
"""Seconds that one source may take for a question to all of them."""

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


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A source, and where it is from.

    Attributes
    ----------
    path
        Its file or folder, where it is stored.
    group
        The folder or federation that it was opened with; empty for a source given by itself.
    """

    source: ExplorerSource
    path: Path | None = None
    group: str = ""

    def listed(self) -> dict[str, Any]:
        """Return what a page lists: kind, name, group, bytes and time of the last change."""
        listed: dict[str, Any] = {"kind": self.source.kind, "name": cell(self.source.name)}
        if self.group:
            listed["group"] = cell(self.group)
        if self.path is not None:
            files = [self.path] if self.path.is_file() else list(_files(self.path))
            states = []
            for file in files:
                with suppress(FileNotFoundError):  # stores are compacted while they are read
                    states.append(file.stat())
            listed["bytes"] = sum(state.st_size for state in states)
            listed["changed"] = round(1000 * max((s.st_mtime for s in states), default=0))
        return listed


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and of its folders, the first 20,000 of them."""
    found = (Path(at) / name for at, _, names in os.walk(folder) for name in names)
    yield from islice(found, 20_000)


class PageOpener(Protocol):
    """Opens a path or an object of a system for the explorer."""

    def __call__(self, name: str, subject: Any, /) -> ExplorerSource:
        """Return the source that people know by this name."""


class Explorer:
    """Sources, and the answers to questions about them.

    Nothing is changed by a question: views are pure functions of a source and JSON. Questions to
    one source are answered one after the other, those to several at once, and those to Spark beside
    the others.

    Parameters
    ----------
    sources
        What is explored, in the order shown.
    seconds
        How long an answer may take that Spark does not give.
    folders
        Folders of captures and stores: what comes into them is explored, too.
    """

    def __init__(
        self,
        sources: Sequence[ExplorerSource | SourceEntry],
        seconds: float = SECONDS,
        folders: Sequence[Path] = (),
    ) -> None:
        if not sources:
            raise ExploreError("There is nothing to explore: give a capture or a store.")
        self._entries = [s if isinstance(s, SourceEntry) else SourceEntry(s) for s in sources]
        self.sources = tuple(entry.source for entry in self._entries)
        self.seconds = seconds
        self._folders = [folder for folder in folders if folder.is_dir() and not _is_source(folder)]
        self._locks = [threading.Lock() for _ in self.sources]
        self._spark_lock = threading.Lock()
        self._listing_lock = threading.Lock()
        self._warm: set[int] = set()

    def _find_new(self) -> None:
        """Add what has come into the folders since they were opened."""
        known = {entry.path for entry in self._entries}
        found = (entry for folder in self._folders for entry in _entries(folder, known))
        # A store that is only being made cannot be opened yet.
        new = [entry for entry in found if not isinstance(entry.source, FaultySource)]
        if new:
            self._entries += new
            self._locks += [threading.Lock() for _ in new]
            self.sources = tuple(entry.source for entry in self._entries)
            vars(self).pop("_listing", None)

    @cached_property
    def _listing(self) -> list[dict[str, Any]]:
        listed = [entry.listed() for entry in self._entries]
        names = Counter(each["name"] for each in listed)
        for each, entry in zip(listed, self._entries, strict=True):
            if names[each["name"]] > 1 and entry.path is not None:
                each["name"] = cell(f"{entry.path.absolute().parent.name}/{each['name']}")
        return listed

    def listing(self) -> dict[str, Any]:
        """Return the list of sources, with all that folders have now."""
        with self._listing_lock:
            self._find_new()
        return {"sources": self._listing}

    def budget(self, question: Any) -> Budget:
        """Return the time that the answer to a question may take."""
        view = question.get("view") if isinstance(question, dict) else None
        return Budget(SPARK_SECONDS if view in OF_SPARK else self.seconds)

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
            answer = self._answer(Params(question), budget or self.budget(question))
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
        if view in EVERYWHERE and question.flag("everywhere"):
            return self._everywhere(view, Params(question.mapping("params")), budget)
        number = self._number(question, "source")
        params = Params(question.mapping("params"))
        if view == "difference":
            return self._difference(self._number(params, "before"), number, params, budget)
        views = self.sources[number].views
        if view not in views:
            raise ExploreError(f"{self.sources[number].kind} has no view {view!r}.")
        with _held(self._spark_lock if view in OF_SPARK else self._locks[number], budget):
            return views[view](params, budget)

    def _number(self, params: Params, name: str) -> int:
        """Return the number of a source that a question names."""
        number = params.integer(name, 0)
        if not 0 <= number < len(self.sources):
            raise ExploreError(f"There is no source {number}.")
        return number

    def _difference(
        self, before: int, after: int, params: Params, budget: Budget
    ) -> dict[str, Any]:
        """Return why a number of a capture is another than in the capture before."""
        from lipstick.explorer.captures.difference import difference
        from lipstick.explorer.captures.source import CaptureSource

        old, new = self.sources[before], self.sources[after]
        if not (isinstance(old, CaptureSource) and isinstance(new, CaptureSource)):
            raise ExploreError("Differences are those of captures.")
        with ExitStack() as stack:
            for number in sorted({before, after}):
                stack.enter_context(_held(self._locks[number], budget))
            return difference(old, new, params, budget)

    def warm(self, question: Any) -> None:
        """Ask what is clicked first after a question, once, so that its indexes are in memory.

        After the first rows of a capture these are the questions about a value of the first.
        """
        params = Params(question)
        number = params.integer("source", 0)
        if params.text("view", "") != "rows" or number in self._warm:
            return
        self._warm.add(number)
        about = self.ask({"source": number, "view": "about"})["answer"]
        first = [about["columns"][place]["name"] for place in about["explained"][:1]]
        asked = [("why", {"row": 0})] if about["rows"] else []
        for column in first if asked else ():
            value = {"row": 0, "column": column, "only": []}
            asked += [(view, value) for view in ("value", "listed")]
        for view, given in asked:
            self.ask({"source": number, "view": view, "params": given}, Budget(EACH))

    def _everywhere(self, view: str, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the answers of all sources that have a view, ``first`` before the others.

        A source that is busy, damaged, or has no answer in time is among ``unanswered``.
        """
        first = params.integer("first", 0, 0, len(self.sources) - 1)
        answers, unanswered = [], []
        for number in sorted(range(len(self.sources)), key=lambda number: number != first):
            asked = self.sources[number].views.get(view)
            if asked is None:
                continue
            lock = self._locks[number]
            try:
                if not lock.acquire(timeout=1.0):
                    raise TooLongError("The source answers another question.")
                try:
                    budget.check()
                    answers.append({"source": number, **asked(params, Budget(EACH))})
                finally:
                    lock.release()
            except ExploreError as error:
                budget.check()
                # A source that does not read a relation has nothing made of its rows.
                slow = isinstance(error, TooLongError)
                if view == "search" or slow:
                    unanswered.append({"source": number, "why": cell(str(error)), "slow": slow})
            except (LipstickError, ArithmeticError, LookupError, TypeError, ValueError) as error:
                unanswered.append({"source": number, "why": cell(f"{error}")})
        return {"answers": answers, "unanswered": unanswered}

    def ask_json(self, question: Any, budget: Budget | None = None) -> str:
        """The answer to a question as JSON text of at most `LARGEST` bytes."""
        text = json.dumps(self.ask(question, budget), ensure_ascii=False, allow_nan=False)
        if len(text) <= LARGEST:
            return text
        told = f"The answer has {len(text):,} characters, which is too much.\nAsk for less."
        return json.dumps({"error": {"kind": "refused", "message": told}})


@contextmanager
def _held(lock: threading.Lock, budget: Budget) -> Iterator[None]:
    """Wait for a lock as long as somebody waits for the answer, and hold it."""
    while not lock.acquire(timeout=0.05):
        budget.check()
    try:
        budget.check()
        yield
    finally:
        lock.release()


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
    if is_capture(path):
        from lipstick.capture.capture import open_capture
        from lipstick.explorer.captures.source import CaptureSource

        return CaptureSource(name, open_capture(path))
    from lipstick.explorer.graphs.source import open_graph

    return open_graph(name, path)


def is_capture(folder: Path) -> bool:
    """Return True for the folder of a capture."""
    return (folder / "manifest.json").is_file()


def _is_source(path: Path) -> bool:
    """Return True for the folder of a capture or of a store."""
    return path.is_dir() and (is_capture(path) or (path / "format.json").is_file())


def open_sources(path: Path) -> list[SourceEntry]:
    """Open a path with what belongs to it.

    That is the captures and stores in a folder that is neither, and the members of a federation
    that disclose their nodes and are stored on this machine. What cannot be opened within a
    folder is listed with the reason.

    Raises
    ------
    ExploreError, LipstickError
        As :func:`open_source`, and for a folder without captures and stores.
    """
    if not path.is_dir() or _is_source(path):
        source = open_source(path)
        entries = [SourceEntry(source, path)]
        if isinstance(source, HasMembers):
            inner = source.member_sources.items()
            entries += [SourceEntry(member, at, source.name) for at, member in inner]
        return entries
    inside = _entries(path)
    if not inside:
        raise ExploreError(
            f"{path} is neither a capture nor a store, and has none in it.\nGive a folder that "
            "save() wrote, the store of a run, or a folder of these."
        )
    return inside


def _entries(folder: Path, known: Collection[Path | None] = ()) -> list[SourceEntry]:
    """Return the captures and stores in a folder that are not known yet."""
    children = [child for child in sorted(folder.iterdir()) if child not in known]
    name = folder.resolve().name
    return [SourceEntry(_tried(child), child, name) for child in children if _is_source(child)]


@runtime_checkable
class HasMembers(Protocol):
    """A source whose parts are sources too.

    Attributes
    ----------
    name
        What people call it.
    """

    name: str

    @property
    def member_sources(self) -> dict[Path, ExplorerSource]:
        """Its parts by their folders."""


class FaultySource:
    """A source that cannot be opened: its views raise the reason."""

    kind = "fault"

    def __init__(self, name: str, error: LipstickError) -> None:
        self.name = name
        self.error = error

    @property
    def views(self) -> dict[str, View]:
        """The questions, by name."""
        return {"about": self.about, "search": self.about}

    def about(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Raise the reason."""
        raise self.error


def _tried(path: Path) -> ExplorerSource:
    try:
        return open_source(path)
    except LipstickError as error:
        return FaultySource(path.name, error)

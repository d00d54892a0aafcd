"""Collects the events of a run while it goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from lipstick.systems.scripts.provenance import ScriptProvenance
from lipstick.systems.scripts.running.between import Between, calls_between
from lipstick.systems.scripts.running.lines import asked, is_beside
from lipstick.systems.scripts.running.record import Event, Link, Rule

_TO_PYTHON = {("read", "pandas"), ("read", "python"), ("collect", "spark")}


class Recorder:
    """The events of a run so far.

    Parameters
    ----------
    directory
        The record.
    names
        By the name of a code object's file that of the script's.
    """

    def __init__(
        self, directory: Path, provenance: ScriptProvenance, names: dict[str, str]
    ) -> None:
        self.directory = directory
        self.provenance = provenance
        self.events: list[Event] = []
        self._names = names
        self._busy = 0
        self._lines: dict[
            tuple[str, tuple[tuple[str, int], ...]], frozenset[tuple[str, int]] | None
        ] = {}
        self._undo: list[Callable[[], None]] = []

    # -- events --------------------------------------------------------------------------------

    def add(self, kind: str, library: str, name: str, **more: Any) -> Event:
        """Add an event at the lines that are running."""
        event = Event(len(self.events) + 1, kind, library, name, self.places(), **more)
        self.events.append(event)
        return event

    def change(self, event: Event, **more: Any) -> Event:
        """Put what is known by now into an event."""
        changed = replace(self.events[event.number - 1], **more)
        self.events[event.number - 1] = changed
        return changed

    def places(self) -> tuple[tuple[str, int], ...]:
        """The script's lines that are running, the innermost first."""
        lines = []
        frame = sys._getframe(1)
        while frame is not None:
            name = self._names.get(frame.f_code.co_filename)
            if name is not None:
                lines.append((name, frame.f_lineno))
            frame = frame.f_back  # type: ignore[assignment]
        return tuple(lines)

    def finish(self) -> None:
        """Link what is not followed to all that its lines depend on.

        Rows of Spark come to Python by ``collect`` alone, and go back by ``create``.
        """
        for event in self.events:
            if event.capture:
                self._link_deciding(event)
            if event.kind == "read" or event.capture:
                continue
            to_spark = event.library == "spark" and event.kind != "create"
            kinds = {("read", "spark"), ("create", "spark")} if to_spark else _TO_PYTHON
            linked = {link.source for link in event.links}
            why = event.inferred or "what is between is not followed"
            more = [
                Link(source.number, Rule.ALL, why)
                for source in self.events[: event.number - 1]
                if (source.kind, source.library) in kinds
                and source.number not in linked
                and self.may_feed(source, event)
            ]
            if more:
                self.change(event, links=(*event.links, *more))

    def _link_deciding(self, event: Event) -> None:
        """Link a frame of Spark to the rows whose values Python code put into it."""
        deciding = [
            Link(source.number, Rule.DECIDES, f"a value of these rows decides at {event.where}")
            for source in self.events[: event.number - 1]
            if (source.kind, source.library) in _TO_PYTHON
            and source.number not in event.relations.values()
            and self.may_feed(source, event)
            and not is_beside(self.provenance, source, event)
        ]
        if deciding:
            self.change(event, links=tuple(deciding))

    # -- what the text says ----------------------------------------------------------------------

    def may_feed(self, source: Event, output: Event) -> bool:
        """Return True unless, by the text, an output does not depend on an earlier event."""
        if not output.places or not source.places:
            return True
        lines = self._slice(output)
        return lines is None or lines.issuperset(source.places)

    def between(self, source: Event, output: Event) -> Between:
        """The calls between two events, as far as the text shows; without it, any."""
        back = self._slice(output)
        ahead = asked(self.provenance, source, forwards=True) if source.places else None
        if back is None or ahead is None:
            return Between(mixing=("what is between",))
        lines = back & {(line.file, line.number) for line in ahead.lines}
        return calls_between(self.provenance.script, lines)

    def _slice(self, event: Event) -> frozenset[tuple[str, int]] | None:
        key = (event.name, event.places)
        if key not in self._lines:
            slice_of_event = asked(self.provenance, event)
            self._lines[key] = (
                None
                if slice_of_event is None
                else frozenset((line.file, line.number) for line in slice_of_event.lines)
            )
        return self._lines[key]

    # -- doors -----------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Return True if a door is at work, so that what it calls is not the script's doing."""
        return self._busy > 0

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """While a door is at work."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Put another attribute in the place of one until :meth:`restore`.

        Parameters
        ----------
        make
            Of the attribute before, the one instead.
        """
        is_own = name in vars(owner)
        before = vars(owner)[name] if is_own else getattr(owner, name)
        setattr(owner, name, make(before))

        def undo() -> None:
            if is_own:
                setattr(owner, name, before)
            else:
                delattr(owner, name)

        self._undo.append(undo)

    def restore(self) -> None:
        """Take all doors away."""
        while self._undo:
            self._undo.pop()()

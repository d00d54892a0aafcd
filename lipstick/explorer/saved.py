"""A page that answers what it holds, without a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from lipstick.errors import first_line
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.portable import member_count, portable
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.explorer import Explorer, ExplorerSource
from lipstick.explorer.page import assembled
from lipstick.explorer.params import Params
from rewriter.interpret import in_time_zone
from semiring.errors import LipstickError

LARGEST = 2_000_000
"""Bytes of a saved page at most."""

WORK = 20_000_000
"""Work for the answers that a page may be without: members of the captures that are asked.

It is no time, so that pages have the same answers on a busy machine.
"""

QUESTION = 100_000
"""The work of a question, whatever it is about."""

MEMBERS = 400_000
"""Members of the captures with circuits in a page at most, but for the one that is saved."""

_BOXES = 60


def canonical(value: Any) -> str:
    """JSON with its names in order, as the page writes it to find an answer."""
    if isinstance(value, list):
        return f"[{','.join(map(canonical, value))}]"
    if isinstance(value, dict):
        items = [(k, v) for k, v in sorted(value.items()) if v is not None]
        return "{" + ",".join(f"{json.dumps(k)}:{canonical(v)}" for k, v in items) + "}"
    return json.dumps(value, ensure_ascii=False)


class Holding:
    """Answers that are held, up to a size and for a time."""

    def __init__(self, explorer: Explorer, room: int) -> None:
        self.explorer = explorer
        self.answers: dict[str, Any] = {}
        self.circuits: dict[int, dict[str, str]] = {}
        self._room = self._space = room
        self._left = self._share = WORK
        self._members = MEMBERS
        self._room_of_circuits = room // 2
        self._weight = cache(partial(_weight, explorer))

    def share(self, parts: int) -> None:
        """Leave a part of the work, and of the room, for what is asked next."""
        self._share, self._space = self._left // parts, self._room // parts

    def again(self) -> None:
        """Begin the work anew."""
        self._left = WORK

    def hold(
        self, source: int | None, view: str, params: dict[str, Any], *, asked: bool = False
    ) -> Any:
        """Hold the answer to a question, and return it.

        None where there is no room for it, or too much work, unless the page must have it:
        ``asked``.
        """
        asked_of = {"everywhere": True} if source is None else {"source": source}
        question = {**asked_of, "view": view, "params": params}
        key = canonical(question)
        if key in self.answers:
            return self.answers[key].get("answer")
        if not asked:
            if self._share <= 0:
                return None
            work = QUESTION + self._weight(source)
            self._share, self._left = self._share - work, self._left - work
        reply = self.explorer.ask(question)
        if not asked and reply.get("error", {}).get("kind") == "slow":
            return None
        text = json.dumps({key: reply}, ensure_ascii=True)
        size = len(text) + 5 * text.count("<")
        if size > (self._room if asked else self._space):
            return None
        self._room, self._space = self._room - size, self._space - size
        self.answers[key] = reply
        return reply.get("answer")

    def hold_circuit(self, number: int, source: ExplorerSource, *, viewed: bool = False) -> None:
        """Hold the circuit of a capture, or why the page is without it; of others nothing.

        Parameters
        ----------
        viewed
            Its view is what is saved: it is there whatever the others have.
        """
        if not isinstance(source, CaptureSource):
            return
        try:
            members, room = member_count(source.capture), min(self._room, self._room_of_circuits)
            if not viewed and members > self._members:
                raise ExploreError("the other captures of this page took the room that there is")
            with in_time_zone(source.capture.manifest.time_zone):
                text = portable(source.capture, room)
            if len(text) > room:
                raise ExploreError(f"its annotations take {len(text):,} bytes")
        except LipstickError as error:
            self.circuits[number] = {"refused": first_line(error)}
            return
        self._members -= 0 if viewed else members
        self._room_of_circuits -= len(text)
        self._room -= len(text)
        self.circuits[number] = {"data": text}

    def says(self, number: int, source: ExplorerSource) -> str:
        """Return what the page answers about a source, and what it does not, in a line."""
        asked = [json.loads(key) for key in self.answers]
        own = [each["view"] for each in asked if each.get("source") == number]
        if not isinstance(source, CaptureSource):
            return f"{source.name}: {len(own):,} views; nothing else."
        explained = f"why {own.count('why'):,} of {source.windows.table.num_rows:,} rows are there"
        compared = own.count("comparison")
        explained += f" and {compared or 'no'} comparison{'' if compared == 1 else 's'} of numbers"
        for each in asked:
            if (
                each["view"] == "difference"
                and each["source"] == number
                and len(each["params"]) == 1
            ):
                before = self.explorer.sources[each["params"]["before"]]
                explained += f", how it differs from {before.name}"
        if "data" in self.circuits[number]:
            return (
                f"{source.name}: all its rows, sorted and filtered, without any input rows and "
                f"with other values; {explained}."
            )
        why = self.circuits[number]["refused"].rstrip(".")
        return f"{source.name}: its first rows, and {explained}; not what if, for {why}."


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page, and what it answers and does not: a line for each source."""

    data: bytes
    says: list[str]


def save(explorer: Explorer, path: Path, rows: int = 20) -> SavedPage:
    """Write a page that answers without a server.

    See :func:`saved_page`.

    Raises
    ------
    OSError
        Where the file cannot be written.
    """
    page = saved_page(explorer, rows)
    path.write_bytes(page.data)
    return page


def saved_page(
    explorer: Explorer, rows: int = 20, questions: Sequence[Any] = (), place: str = ""
) -> SavedPage:
    """Return the page with the answers that are clicked first.

    What was looked at comes first, with the circuit of the source of the view, whatever these take.
    Of the others, answers that take more than `WORK` in all are left out, but the rows and the
    query. Of a capture it holds the first rows of the answer, and why the first of these
    are there; where its annotations have no more than `portable.EDGES` edges, and there is room for
    them, also these, so that the page removes any input rows and sorts and filters the answer. Of a
    graph the modules, and what is one click away from them; of a script what its variables and
    files depend on; of streams the newest events of each, and what those at the end were made of;
    of a reduction where its first outputs came from.

    Parameters
    ----------
    rows
        Of how many rows of a capture it holds why they are there; of events and outputs as many.
    questions
        What else it answers, as far as there is room; the latest first.
    place
        The end of its address where it is opened without one.

    Raises
    ------
    ExploreError
        Where the answers that a page cannot be without are larger than `LARGEST`.
    """
    room = LARGEST - len(assembled({"mode": "saved", "answers": {}}).encode()) - 10_000
    held = Holding(explorer, room)
    if held.hold(0, "sources", {}, asked=True) is None:
        raise ExploreError("There are too many things to hold in one page.")
    for number, source in enumerate(explorer.sources):
        if held.hold(number, "about", {}, asked=True) is None and source.kind != "fault":
            raise ExploreError(f"{source.name} is too much for one page: serve it instead.")
    latest: list[int | None] = []
    for question in map(Params, questions):
        latest.append(None if question.flag("everywhere") else question.integer("source", 0))
        held.hold(latest[-1], question.text("view"), question.mapping("params"), asked=True)
    # Circuits come after what was looked at, those of the sources looked at last first.
    viewed = _viewed(explorer, place)
    places = (viewed, *latest, *range(len(explorer.sources)))
    order = list(dict.fromkeys(each for each in places if each is not None))
    for number in order:
        held.hold_circuit(number, explorer.sources[number], viewed=number == viewed)
    held.share(2)
    _runs(held, explorer)
    for number in order:
        held.share(1 if number == viewed else len(order) - order.index(number))
        _hold(held, number, explorer.sources[number], rows)
        if number == viewed:
            held.again()
    says = [held.says(number, each) for number, each in enumerate(explorer.sources)]
    given_page = {"answers": held.answers, "circuits": held.circuits, "place": place, "says": says}
    page = assembled({"mode": "saved", **given_page})
    data = page.encode()
    if len(data) > LARGEST:
        raise ExploreError(f"The page would have {len(data):,} bytes, more than {LARGEST:,}.")
    return SavedPage(data, says)


def _weight(explorer: Explorer, number: int | None) -> int:
    """Return the work of a question about a source beyond `QUESTION`; None: about all."""
    if number is None:
        return 0
    source = explorer.sources[number]
    if isinstance(source, CaptureSource):
        with suppress(LipstickError):  # its files are damaged: every question says so
            return member_count(source.capture)
        return 0
    return int(explorer.listing()["sources"][number].get("bytes") or 0) // 2


def _viewed(explorer: Explorer, place: str) -> int | None:
    """Return the source of the view at a place; None: the list of all."""
    chosen = dict(parse_qsl(place.lstrip("#"))).get("s", "")
    if chosen.isdecimal() and int(chosen) < len(explorer.sources):
        return int(chosen)
    return 0 if len(explorer.sources) == 1 or place.strip("#") else None


def _hold(held: Holding, number: int, source: ExplorerSource, rows: int) -> None:
    match source:
        case CaptureSource():
            _capture(held, number, source, rows)
        case _ if source.kind == "graph":
            _graph(held, number)
        case _ if source.kind == "script":
            _script(held, number)
        case _ if source.kind == "stream":
            _streams(held, number, rows)
        case _ if source.kind == "reduction":
            _reduction(held, number, rows)


def _capture(held: Holding, number: int, source: CaptureSource, rows: int) -> None:
    rows_held = held.hold(number, "rows", {"offset": 0, "limit": 100}, asked=True)
    is_evaluated = "data" in held.circuits[number]
    if not is_evaluated:
        held.hold(number, "rows", {"offset": 0, "limit": 200}, asked=True)
    held.hold(number, "query", {}, asked=True)
    about = source.about(Params({}), Budget())
    names = [about["columns"][number]["name"] for number in about["explained"]]
    for row in [] if rows_held is None else rows_held["places"][:rows]:
        answer = held.hold(number, "why", {"row": row})
        if answer is None:
            return
        for name in names:
            for view in ("value", "listed"):
                held.hold(number, view, {"row": row, "column": name, "only": []})
        held.hold(number, "members", {"row": row, "offset": 0, "limit": 100})
        if answer["members"] <= 40:
            for view in ("shares", "circuit"):
                held.hold(number, view, {"row": row})


def _runs(held: Holding, explorer: Explorer) -> None:
    """Hold how each run of a query differs from the one before, and the parts of its numbers."""
    runs: dict[str, list[int]] = {}
    listed = explorer.listing()["sources"]
    captures = [n for n, each in enumerate(explorer.sources) if isinstance(each, CaptureSource)]
    for number in sorted(captures, key=lambda n: listed[n].get("changed") or 0):
        glance = held.hold(number, "glance", {}) if len(captures) > 1 else None
        if glance is not None:
            runs.setdefault(glance["query"], []).append(number)
    for before, after in chain.from_iterable(map(pairwise, runs.values())):
        found = held.hold(after, "difference", {"before": before})
        for row in [] if found is None else found["rows"]:
            for column, value in zip(found["values"], row["values"], strict=True):
                if value["difference"] and row["row"] is not None:
                    place = {"before": before, "row": row["row"], "column": column["name"]}
                    held.hold(after, "difference", place)


def _graph(held: Holding, number: int) -> None:
    seen: set[str] = set()
    waiting: list[dict[str, Any]] = [{}]
    for depth in range(3):
        following: list[dict[str, Any]] = []
        for focus in waiting:
            if canonical(focus) in seen:
                continue
            seen.add(canonical(focus))
            picture = held.hold(number, "picture", {"focus": focus})
            if picture is None:
                return
            if depth < 2:
                inner = [box["focus"] for box in picture["boxes"][:_BOXES] if box["focus"]]
                following += [f for f in inner if "search" not in f and "segment" not in f]
        waiting = following


def _script(held: Holding, number: int) -> None:
    script = held.hold(number, "script", {})
    if script is None:
        return
    _graph(held, number)
    for criterion in [*script["outputs"], *script["inputs"], *script["variables"]]:
        for forwards in ({}, {"forwards": True}):
            answer = held.hold(number, "depends", {"criterion": criterion, **forwards})
            if answer is not None and answer["seeds"]:
                mode = "descendants" if forwards else "ancestors"
                marks = {"mode": mode, "nodes": answer["seeds"]}
                held.hold(number, "picture", {"focus": {}, "marks": marks})


def _streams(held: Holding, number: int, rows: int) -> None:
    about = held.hold(number, "about", {}, asked=True)
    version = {"version": about["version"]}
    held.hold(number, "picture", version)
    # What nothing is made of is asked about first: where there is little room, that is held.
    for stream in reversed(about["streams"]):
        question = {"stream": stream["name"], "offset": 0, "limit": 100, **version}
        events = held.hold(number, "events", question)
        for row in [] if events is None else events["rows"][:rows]:
            keyed = events["keyed"]
            event = {"stream": stream["name"], "n": int(row[1 if keyed else 0])}
            if keyed:
                event["key"] = row[0]
            for way in ({}, {"forwards": True}):
                held.hold(number, "path", {**event, **way, **version})


def _reduction(held: Holding, number: int, rows: int) -> None:
    progress = held.hold(number, "progress", {})
    _graph(held, number)
    if progress is None:
        return
    version = {"version": progress["version"]}
    outputs = held.hold(number, "outputs", {"text": "", **version})
    for name in [] if outputs is None else outputs["names"][:rows]:
        held.hold(number, "trace", {"entity": name, **version})

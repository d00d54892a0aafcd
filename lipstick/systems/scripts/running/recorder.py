"""Collects the events of a run while it goes on."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lipstick.systems.scripts.answers import Dependence
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.provenance import ScriptProvenance
from lipstick.systems.scripts.running.record import Event, EventLink, Rule
from lipstick.systems.scripts.script_text import Script


def asked(
    provenance: ScriptProvenance, event: Event, *, forwards: bool = False
) -> Dependence | None:
    """Return the dependence of an event, back or ``forwards``; None where the text shows none.

    For an event in a function, the answer has the lines that its own line and its calls share:
    the line alone stands for all calls of the function, the call for all that the function does.
    """
    questions = [f"{file}:{number}" for file, number in event.places]
    if event.places and event.library == "python" and event.kind == "write":
        # It is written by other lines than the one that opens it.
        questions = [event.name, *questions[1:]]
    answers = []
    for question in questions:
        try:
            answers.append((provenance.concerns if forwards else provenance.depends)(question))
        except ScriptError:
            continue
    if not answers:
        return None
    common = set.intersection(*(set(answer.lines) for answer in answers))
    first = answers[0]
    return replace(first, lines=tuple(line for line in first.lines if line in common))


def is_beside(provenance: ScriptProvenance, source: Event, event: Event) -> bool:
    """Return True if a read of the same line as a collect is of another part of its expression."""
    if event.kind != "collect" or source.places[:1] != event.places[:1] or not event.places:
        return False
    file, line = event.places[0]
    try:
        nodes = provenance.nodes(f"{file}:{line}")
    except ScriptError:
        return False
    calls = {node.id for node in nodes if node.operation == "call" and node.name == event.name}
    reads = {
        node.id
        for node in nodes
        if node.operation == "call" and (node.reads or node.name == source.name)
    }
    if not calls or not reads or event.name == source.name:
        return False
    return reads.isdisjoint(provenance.reached(calls))


_ONE_TO_ONE = frozenset(
    [
        "abs",
        "add",
        "array",
        "asarray",
        "assign",
        "astype",
        "bool",
        "ceil",
        "clip",
        "copy",
        "cos",
        "date",
        "datetime",
        "dict",
        "div",
        "divide",
        "drop",
        "endswith",
        "eq",
        "exp",
        "float",
        "floor",
        "floordiv",
        "format",
        "ge",
        "get",
        "gt",
        "insert",
        "int",
        "isalpha",
        "isdigit",
        "isin",
        "isna",
        "isnull",
        "items",
        "join",
        "le",
        "len",
        "list",
        "log",
        "log10",
        "log1p",
        "log2",
        "lower",
        "lstrip",
        "lt",
        "map",
        "mod",
        "mul",
        "multiply",
        "ne",
        "notna",
        "notnull",
        "pad",
        "pow",
        "print",
        "radd",
        "range",
        "rdiv",
        "rename",
        "replace",
        "rmul",
        "round",
        "rsub",
        "rstrip",
        "set",
        "set_axis",
        "sin",
        "sqrt",
        "square",
        "startswith",
        "str",
        "strftime",
        "strip",
        "sub",
        "subtract",
        "tan",
        "title",
        "to_datetime",
        "to_frame",
        "to_numeric",
        "to_numpy",
        "to_timedelta",
        "tolist",
        "truediv",
        "tuple",
        "upper",
        "where",
        "mask",
        "zfill",
        "zip",
        "DataFrame",
        "Series",
        "Path",
        "open",
        "add_prefix",
        "add_suffix",
        "set_option",
        "exit",
        "extract",
        "contains",
        "fillna",
        "between",
        "flush",
        "close",
        "getOrCreate",
        "appName",
        "master",
        "toPandas",
        "collect",
        "head",
        "first",
    ]
)
"""Calls that make one row of each row they are given, in the same order, each by itself."""

_REORDERING = frozenset(
    [
        "sort_values",
        "sort_index",
        "sample",
        "reset_index",
        "set_index",
        "take",
        "iloc",
        "reindex",
        "argsort",
        "nlargest",
        "nsmallest",
        "shuffle",
        "permutation",
        "sorted",
        "reversed",
        "sort",
        "flip",
        "drop_duplicates",
        "dropna",
        "query",
        "concat",
        "loc",
        "filter",
        "explode",
        "nonzero",
    ]
)
"""Calls that only choose and move rows."""

_KEYED = frozenset(
    [
        "groupby",
        "agg",
        "aggregate",
        "sum",
        "mean",
        "min",
        "max",
        "count",
        "size",
        "median",
        "std",
        "var",
        "nunique",
        "merge",
        "join",
        "value_counts",
        "pivot_table",
        "pivot",
        "unstack",
        "first",
        "last",
        "prod",
    ]
)
"""Calls by groups and keys, whose values identify the rows."""

_FILES = re.compile(r"(read|to)_\w+")


@dataclass(frozen=True, slots=True)
class Between:
    """The calls between two events that are not one to one.

    Attributes
    ----------
    moving
        Calls that choose or move rows.
    mixing
        Calls that make a row of further rows.
    """

    moving: tuple[str, ...] = ()
    mixing: tuple[str, ...] = ()

    @property
    def in_order(self) -> bool:
        """Return True if the later event has the rows of the earlier one, in the same order."""
        return not self.moving and not self.mixing


def calls_between(script: Script, lines: Collection[tuple[str, int]]) -> Between:
    """Sort the calls that stand in some lines. O(text)."""
    defined: set[str] = set()
    names: dict[str, None] = {}
    for file in script.files:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                defined.add(node.name)
            if isinstance(node, ast.expr) and (file.name, node.lineno) in lines:
                names.update(dict.fromkeys(_names(node)))
    called = [name for name in names if name not in defined and not _FILES.fullmatch(name)]
    keyed = any(name in names for name in ("groupby", "merge", "join", "pivot_table", "pivot"))
    moving = [name for name in called if name in _REORDERING or (keyed and name in _KEYED)]
    known = _ONE_TO_ONE | _REORDERING | (_KEYED if keyed else frozenset())
    return Between(tuple(moving), tuple(name for name in called if name not in known))


def _names(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            yield name
        case ast.Call(func=ast.Name(id=name)):
            yield name
        case ast.Call():
            yield ast.unparse(node.func)[:20]
        case ast.Attribute(attr="iloc" | "loc" as name, ctx=ast.Load()):
            yield name
        case ast.Subscript(slice=ast.Slice(step=ast.expr())):
            yield "iloc"
        case _:
            pass


_TO_PYTHON = {("read", "pandas"), ("read", "python"), ("collect", "spark")}


class RunRecorder:
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
                EventLink(source.number, Rule.ALL, why)
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
            EventLink(
                source.number, Rule.DECIDES, f"a value of these rows decides at {event.where}"
            )
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

"""Calls that show rows of a Spark session, noticed where its client sends them to Spark.

Nothing of PySpark is replaced: the client (py4j's, or that of a session over Spark Connect) gets
an attribute of its own while somebody watches, and loses it afterwards.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from logging import getLogger
from pathlib import Path
from threading import local
from types import FrameType
from typing import Any, Final, TypeAlias

from py4j.protocol import get_return_value, is_error  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession

from semiring.support.depth import is_inside

ALL_ROWS: Final = ("collect", "toArrow", "toPandas")
"""The calls that return all rows."""
ONE_VALUE: Final = ("count", "isEmpty")
"""The calls that return one value."""

_log = getLogger(__name__)
_NUMBERS: Final = {"head": "n", "show": "n", "tail": "num", "take": "num"}
"""The parameters that say how many rows are shown."""
_TITLES: Final = {"__repr__": "display", "_repr_html_": "display"}
_CALLS: Final = {*_NUMBERS, *_TITLES, *ALL_ROWS, *ONE_VALUE, "first"}
_READ_IN_JVM: Final = ("count", "htmlString", "isEmpty", "showString")
_BEGINS: Final = "collectAsArrowToPython"
_ENDS: Final = "getResult"
"""A method that serves rows while it computes them, and the one that is called when it has."""
_IN_JVM: Final = (*_READ_IN_JVM, _BEGINS, _ENDS, "collectToPython", "tailToPython")
"""The methods of the JVM that these calls come to; answers of the first ones are read here."""
_OVER_CONNECT: Final = ("to_pandas", "to_table")
_COMMANDS: Final = ("config", "execute_command", *_OVER_CONNECT)
"""The methods that settings, views and catalogs are changed by, the last as rows of a relation."""
_OURS: Final = ("lipstick", "py4j", "pyspark")
_LIBRARIES: Final = tuple(
    {sysconfig.get_path(name) + os.sep for name in ("platlib", "purelib", "stdlib")}
)


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call that has shown rows of a frame.

    Attributes
    ----------
    name, text
        The name of the method, and how it was called.
    since, until
        When it began and ended, in seconds since 1970.
    rows, value
        The number of rows shown, and the one value returned; None: not known.
    most
        The number of rows asked for; None: all.
    where
        The file and line of the user's code; None: not known.
    """

    frame: DataFrame
    name: str
    text: str
    since: float
    until: float
    rows: int | None
    value: Any
    most: int | None
    where: str | None


Taker: TypeAlias = Callable[[ShownCall], Callable[[Any], None] | None]
"""Takes a call; returns what takes its result, where that is wanted."""


def notice(spark: SparkSession, take: Taker) -> Callable[[], None]:
    """Hand over each call that shows rows of a session; return the function that ends this."""
    if hasattr(spark, "_jsparkSession"):
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        doors = [_Door.of(gateway._gateway_client, "send_command")]
    else:
        doors = [_Door.of(spark.client, name) for name in _OVER_CONNECT]
    return _listened(doors, spark, take)


def notice_commands(spark: SparkSession, take: Callable[[Any, float], None]) -> Callable[[], None]:
    """Hand over each command of a session over Spark Connect, and when it began.

    Commands are messages of their own, operations on settings, and plans that change a catalog.
    """
    doors = [_Door.of(spark.client, name) for name in _COMMANDS]
    return _listened(doors, spark, take, of_commands=True)


def _listened(
    doors: Sequence[_Door], spark: SparkSession, take: Any, *, of_commands: bool = False
) -> Callable[[], None]:
    known = (spark, take, of_commands)
    for door in doors:
        door.takers = (*door.takers, known)

    def end() -> None:
        for door in doors:
            door.takers = tuple(each for each in door.takers if each is not known)
            if not door.takers and vars(door.client).get(door.name) is door:
                del vars(door.client)[door.name]

    return end


class _Door:
    """A method of a client, from which the calls that show rows are handed over."""

    def __init__(self, client: Any, name: str) -> None:
        self.client = client
        self.name = name
        self.method: Callable[..., Any] = getattr(client, name)
        self.takers: tuple[tuple[SparkSession, Any, bool], ...] = ()
        self._begun = local()

    @classmethod
    def of(cls, client: Any, name: str) -> _Door:
        """Return the door at a method, made if there is none."""
        known = vars(client).get(name)
        if isinstance(known, cls):
            return known
        door = cls(client, name)
        setattr(client, name, door)
        return door

    def __call__(self, first: Any, *others: Any, **options: Any) -> Any:
        in_jvm = None
        if self.name == "send_command":
            in_jvm = first.split("\n", 3)[2] if first[0] == "c" else ""
            if in_jvm not in _IN_JVM:
                return self.method(first, *others, **options)
        since = time.time()
        answer = self.method(first, *others, **options)
        for _, take, of_commands in self.takers:
            if of_commands:
                take(first, since)
        if in_jvm == _BEGINS:
            self._begun.since = since
        elif (in_jvm or self.name in _OVER_CONNECT) and not is_inside():
            try:
                since = getattr(self._begun, "since", since) if in_jvm == _ENDS else since
                self._hand_over(in_jvm, answer, since)
            except Exception:  # the user's call has succeeded
                _log.exception("A call that shows rows was not understood.")
        return answer

    def _hand_over(self, in_jvm: str | None, answer: Any, since: float) -> None:
        until = time.time()
        called, where = _called(sys._getframe(2))
        if called is None or (in_jvm and is_error(answer)[0]):
            return
        frame, name = called.f_locals["self"], called.f_code.co_name
        known = ((spark, take) for spark, take, of_commands in self.takers if not of_commands)
        takers = [take for spark, take in known if _is_same(frame.sparkSession, spark)]
        if not takers:
            return
        title = _TITLES.get(name, name)
        rows: int | None = None
        value: Any = None
        if in_jvm is None:
            rows = len(answer[0])
            if title == "isEmpty":
                value = rows == 0
            elif title in ("count", "display", "show"):
                value = answer[0][0][0].as_py()
        elif in_jvm == _ENDS:
            batches = next(f for f in _stack(sys._getframe(2)) if "batches" in f.f_locals)
            rows = sum(batch.num_rows for batch in batches.f_locals["batches"])
        elif in_jvm in _READ_IN_JVM:
            value = get_return_value(answer, self.client)
        if title in ("display", "show"):
            rows, value = _rows_in(value), None
        elif title in ONE_VALUE:
            rows = 1
        number = called.f_locals.get(_NUMBERS.get(name, ""))
        given = "" if number is None or (name == "show" and number == 20) else str(number)
        most = 1 if name in ("first", "head") and number is None else number
        text = f"{title}({given})"
        shown = ShownCall(frame, title, text, since, until, rows, value, most, where)
        wanted = [each for take in takers if (each := take(shown)) is not None]
        if wanted and sys.getprofile() is None:
            _on_return(called, wanted)


def _on_return(called: FrameType, wanted: Sequence[Callable[[Any], None]]) -> None:
    """Hand over what a running call returns, by a profiler that lives no longer than it."""

    def noticed(frame: FrameType, event: str, value: Any) -> None:
        if frame is called and event == "return":
            sys.setprofile(None)
            for each in wanted:
                each(value)

    sys.setprofile(noticed)


def _is_same(one: Any, other: Any) -> bool:
    """Return True if two sessions of Python are one of Spark's."""
    if one is other or not hasattr(one, "_jsparkSession"):
        return one is other
    return bool(one._jsparkSession.equals(other._jsparkSession))


def _called(frame: FrameType | None) -> tuple[FrameType | None, str | None]:
    """Return the call of a frame's method that the user made, and the place of it."""
    called, others = None, _stack(frame)
    for each in others:
        if str(each.f_globals.get("__name__", "")).partition(".")[0] not in _OURS:
            break
        if each.f_code.co_name in _CALLS and isinstance(each.f_locals.get("self"), DataFrame):
            called = each
    else:
        return called, None
    for own in chain([each], others):
        if not own.f_code.co_filename.startswith((*_LIBRARIES, "<frozen")):
            return called, f"{_title(own)}:{own.f_lineno}"
    return called, None


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _title(frame: FrameType) -> str:
    """Return the file of a frame, below the current folder by its short name; or its cell."""
    file = frame.f_code.co_filename
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    of_shell = getattr(getattr(shell, "compile", None), "format_code_name", None)
    cell = None if of_shell is None else of_shell(file)
    if cell is not None:
        return " ".join(cell)
    return file.removeprefix(f"{Path.cwd()}{os.sep}")


def _rows_in(text: str) -> int:
    """Return the number of rows in a table of ``show``, upright or not, or of HTML."""
    if text.startswith("<table"):
        return text.count("<tr>") - 1
    lines = text.split("\n")
    return sum(x.startswith("-RECORD") for x in lines) or max(
        sum(x.startswith("|") for x in lines) - 1, 0
    )

"""The tracer's lines as calls: those that were interrupted by others are put together again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINE = re.compile(r"(\d+) +(\d+\.\d+) (.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?)(.*)", re.DOTALL)
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)", re.DOTALL)
_SUPERSEDED = re.compile(r"\+\+\+ superseded by execve in pid (\d+) \+\+\+")
_UNFINISHED = " <unfinished ...>"
EXIT = "+exit"
"""The name of what is no call: the end of a process or thread."""


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that has ended, or the end of a process.

    Parameters
    ----------
    pid
        Of the thread, as the system numbers it.
    start, end
        The lines that it begins and ends in, from 0.
    time
        Seconds since 1970 when it began.
    name
        Of the call.
    arguments
        As the tracer writes them.
    result
        The number that it returned; negative: it failed, or what it returned is not known.
    returned
        What the tracer writes behind the number.
    """

    pid: int
    start: int
    end: int
    time: float
    name: str
    arguments: str = ""
    result: int = 0
    returned: str = ""


def calls(lines: Iterable[str]) -> Iterator[Call]:
    """Yield the calls of a trace in the order in which they end; lines of other kinds are none."""
    begun: dict[int, tuple[int, float, str]] = {}
    for number, line in enumerate(lines):
        match = _LINE.match(line.rstrip("\n"))
        if match is None:
            continue
        pid, time, text = int(match[1]), float(match[2]), match[3]
        start = number
        if text.startswith("+++"):
            superseded = _SUPERSEDED.match(text)
            if superseded is None:
                begun.pop(pid, None)
                yield Call(pid, number, number, time, EXIT)
            elif int(superseded[1]) in begun:
                begun[pid] = begun.pop(int(superseded[1]))
            continue
        if text.endswith(_UNFINISHED):
            begun[pid] = number, time, text.removesuffix(_UNFINISHED)
            continue
        resumed = _RESUMED.match(text)
        if resumed is not None:
            if pid not in begun:
                continue
            start, time, before = begun.pop(pid)
            text = before + resumed[2]
        call = _CALL.match(text)
        if call is not None:
            result = -1 if call[3] == "?" else int(call[3])
            yield Call(pid, start, number, time, call[1], call[2], result, call[4])


_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b"}


def unescaped(text: str) -> str:
    """A path as it is, from how the tracer writes it: bytes that are no text are escaped."""
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "x":
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8))
        return _NAMED.get(code, code)

    data = _ESCAPE.sub(character, text).encode("latin-1", "replace")
    return data.decode("utf-8", "surrogateescape")

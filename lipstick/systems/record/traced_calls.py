"""System calls of a command: traced by strace, and read from its lines.

A call that others interrupted is put together again.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lipstick.systems.record.errors import RecordError

CALLS = (
    *("open", "openat", "openat2", "creat", "truncate", "ftruncate"),
    *("rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat"),
    *("read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg"),
    *("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg"),
    *("sendfile", "copy_file_range", "splice", "tee", "mmap"),
    *("clone", "clone3", "fork", "vfork", "execve", "execveat", "chdir", "fchdir"),
    *("connect", "accept", "accept4"),
)
"""The system calls that data, or names of files, move by."""

_TEXT = 160
"""Bytes of a text that are traced: of arguments of a command."""


def tracer() -> str:
    """The path of strace.

    Raises
    ------
    RecordError
        When this is no Linux, or has no strace.
    """
    if not sys.platform.startswith("linux"):
        raise RecordError("Commands are recorded on Linux, whose tracer tells what they do.")
    path = shutil.which("strace")
    if path is None:
        raise RecordError(
            "There is no strace, which records what a command does.\n"
            "Install it: apt install strace (Debian, Ubuntu), dnf install strace (Fedora)."
        )
    return path


@cache
def _filters(path: str) -> bool:
    """Return True if the tracer can leave untraced calls alone (strace 5.3 and later)."""
    probe = [path, "--seccomp-bpf", "-f", "-e", "trace=none", "-o", "/dev/null", "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def traced(command: Sequence[str], raw: Path) -> int:
    """Run a command under the tracer; what it writes goes to a file.

    Returns
    -------
    int
        The exit code of the command.

    Raises
    ------
    RecordError
        When the command is none, or processes may not be traced here.
    """
    if not command or shutil.which(command[0]) is None:
        raise RecordError(f"There is no command {' '.join(command[:1])!r} to record.")
    path = tracer()
    # Signals are of no interest; descriptors are told with their paths and connections.
    options = ["-f", "-yy", "-ttt", "-s", str(_TEXT), "-e", "signal=none"]
    options += ["--seccomp-bpf"] if _filters(path) else []
    options += ["-e", f"trace={','.join(CALLS)}", "-o", str(raw)]
    done = subprocess.run([path, *options, "--", *command], check=False)
    if not raw.is_file() or not raw.stat().st_size:
        raise RecordError(
            "The tracer wrote nothing: it may not trace processes here.\n"
            "Containers need the capability SYS_PTRACE, systems kernel.yama.ptrace_scope below 3."
        )
    return done.returncode


_LINE = re.compile(r"(\d+) +(\d+\.\d+) (.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?)(.*)", re.DOTALL)
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)", re.DOTALL)
_SUPERSEDED = re.compile(r"\+\+\+ superseded by execve in pid (\d+) \+\+\+")
_UNFINISHED = " <unfinished ...>"
EXIT = "+exit"
"""The name for the end of a process or thread, which is no call."""


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

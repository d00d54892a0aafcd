"""Events in system calls: processes that begin, read, write and end, and renamed files.

A write counts from its begin and a read to its end: if they overlap, the read may have seen the
write. Other calls move no data: directory listings, file metadata, signals, and exit codes.
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
from posixpath import join, normpath

from semiring.errors import LipstickError

CALLS = (
    *("open", "openat", "openat2", "creat", "truncate", "ftruncate"),
    *("rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat"),
    *("read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg"),
    *("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg"),
    *("sendfile", "copy_file_range", "splice", "tee", "mmap"),
    *("clone", "clone3", "fork", "vfork", "execve", "execveat", "chdir", "fchdir"),
    *("connect", "accept", "accept4"),
)
"""The traced system calls, by which data or file names move."""

_TEXT = 160
"""Number of bytes of a text that are traced, such as arguments of a command."""


def tracer() -> str:
    """The path of strace.

    Raises
    ------
    LipstickError
        When this is not Linux, or has no strace.
    """
    if not sys.platform.startswith("linux"):
        raise LipstickError("Commands are recorded only on Linux, with its tracer strace.")
    path = shutil.which("strace")
    if path is None:
        raise LipstickError(
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
    """Run a command under the tracer, whose output goes to a file.

    Returns
    -------
    int
        The exit code of the command.

    Raises
    ------
    LipstickError
        When the command is none, or processes may not be traced here.
    """
    if not command or shutil.which(command[0]) is None:
        raise LipstickError(f"There is no command {' '.join(command[:1])!r} to record.")
    path = tracer()
    # Signals are left out; descriptors are printed with their paths and connections.
    options = ["-f", "-yy", "-ttt", "-s", str(_TEXT), "-e", "signal=none"]
    options += ["--seccomp-bpf"] if _filters(path) else []
    options += ["-e", f"trace={','.join(CALLS)}", "-o", str(raw)]
    done = subprocess.run([path, *options, "--", *command], check=False)
    if not raw.is_file() or not raw.stat().st_size:
        raise LipstickError(
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
    """Yield the calls of a trace in the order in which they end; other lines are ignored."""
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
    """Return a path from the tracer's form, in which bytes that are not text are escaped."""
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


_DESCRIPTOR = re.compile(
    r"(?:AT_FDCWD|-?\d+)<(/(?:[^<>]|<(?:char|block) [^<>]*>)*|[^/<>][^<>]*?(?:->[^<>]*)?)>"
    r"(\(deleted\))?"
)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NAME = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^<>]*)>(?:\(deleted\))?, )?"((?:[^"\\]|\\.)*)"')
_ADDRESS = re.compile(
    r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")'
)
_PATH = re.compile(r'sun_path=@?"((?:[^"\\]|\\.)*)"')
_PROTOCOL = re.compile(r"\d+<(TCP|UDP|UNIX)")
_STREAM = re.compile(r"(TCP|TCPv6|UDP|UDPv6|UNIX[-A-Z]*):\[(.*)->(.*?)(?:,.*)?\]$")
_SOCKET = re.compile(r"(UDP|UDPv6):\[(?!\d+\])(.*)\]$")

_READS = frozenset({"read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg"})
_WRITES = frozenset({"write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg"})
_COPIES = {"sendfile": (1, 0), "copy_file_range": (0, 1), "splice": (0, 1), "tee": (0, 1)}
"""By call, the positions of the descriptors that are read and written."""
_FORKS = frozenset({"clone", "clone3", "fork", "vfork"})
_OPENS = frozenset({"open", "openat", "openat2", "creat"})
_IGNORED = ("/dev/", "/proc/", "/sys/", "anon_inode:", "socket:", "NETLINK", "/memfd:")


@dataclass(frozen=True, slots=True)
class Artifact:
    """A place that data is read from or written to: an artifact of the Open Provenance Model.

    Parameters
    ----------
    kind
        ``file``, ``pipe`` or ``flow``: one direction of a connection.
    name
        The path; the number of the pipe; ``TCP 10.0.0.1:5000->10.0.0.2:80``.
    deleted
        Whether the file has been unlinked.
    """

    kind: str
    name: str
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class CallEvent:
    """An event of a thread.

    Parameters
    ----------
    at
        Its index among all events.
    time
        Seconds since 1970.
    pid
        The thread.
    what
        ``read``, ``write``, ``map`` (a write that may go on until the process ends), ``fork``,
        ``thread``, ``exec``, ``exit``, ``rename``, ``exchange``, ``link``, ``unlink``,
        ``connect`` or ``accept``.
    artifact, other
        The artifact of the event, and the new name of a renamed file.
    fresh
        Whether a write starts from an empty file, so that nothing of its old content remains.
    count
        Bytes read or written.
    child
        The thread that begins.
    command
        The arguments of a program that begins.
    """

    at: int
    time: float
    pid: int
    what: str
    artifact: Artifact | None = None
    other: Artifact | None = None
    fresh: bool = False
    count: int = 0
    child: int = 0
    command: str = ""


def events(calls: Iterable[Call], folder: str) -> list[CallEvent]:
    """Return the events of calls, in their order.

    Parameters
    ----------
    folder
        The working directory of the first process.
    """
    reader = _Reader(folder)
    events_made = [event for call in calls for event in reader.events(call)]
    events_made.sort(key=lambda event: event.at)
    return events_made


class _Reader:
    """A reader of calls that tracks the working directory of every thread."""

    def __init__(self, folder: str) -> None:
        self._first = folder
        self._folders: dict[int, str] = {}

    def events(self, call: Call) -> Iterator[CallEvent]:
        """Yield the events of a call; a failed call has none."""
        name = call.name
        if name == EXIT:
            yield CallEvent(call.end, call.time, call.pid, "exit")
        elif call.result < 0:
            return
        elif name in _READS:
            yield from self._read(call)
        elif name in _WRITES:
            yield from self._written(call)
        elif name in _OPENS:
            yield from self._opened(call)
        elif name in _COPIES:
            yield from self._copied(call)
        elif name == "mmap":
            yield from self._mapped(call)
        elif name in _FORKS:
            yield from self._forked(call)
        elif name in ("execve", "execveat"):
            yield from self._executed(call)
        elif name in ("chdir", "fchdir"):
            self._changed_folder(call)
        elif name in ("truncate", "ftruncate"):
            yield from self._truncated(call)
        elif name in ("connect", "accept", "accept4"):
            yield from self._connected(call)
        else:
            yield from self._renamed(call)

    # -- data ------------------------------------------------------------------------------

    def _read(self, call: Call) -> Iterator[CallEvent]:
        artifact = _artifact(call, incoming=True)
        if artifact is not None and (call.result or artifact.kind == "file"):
            yield CallEvent(call.end, call.time, call.pid, "read", artifact, count=call.result)

    def _written(self, call: Call) -> Iterator[CallEvent]:
        artifact = _artifact(call, incoming=False)
        if artifact is not None and call.result:
            yield CallEvent(call.start, call.time, call.pid, "write", artifact, count=call.result)

    def _copied(self, call: Call) -> Iterator[CallEvent]:
        descriptors = _DESCRIPTOR.findall(call.arguments)
        if len(descriptors) < 2 or not call.result:
            return
        source, target = _COPIES[call.name]
        read = _named(*descriptors[source], incoming=True)
        written = _named(*descriptors[target], incoming=False)
        # At one place, the read first: what is read goes into what is written.
        if read is not None:
            yield CallEvent(call.start, call.time, call.pid, "read", read, count=call.result)
        if written is not None:
            yield CallEvent(call.start, call.time, call.pid, "write", written, count=call.result)

    def _mapped(self, call: Call) -> Iterator[CallEvent]:
        match = _DESCRIPTOR.search(call.arguments)
        artifact = None if match is None else _named(match[1], match[2] or "", incoming=True)
        if artifact is None or artifact.kind != "file":
            return
        if "PROT_WRITE" in call.arguments and "MAP_SHARED" in call.arguments:
            yield CallEvent(call.start, call.time, call.pid, "map", artifact)
        if "PROT_READ" in call.arguments or "PROT_EXEC" in call.arguments:
            yield CallEvent(call.end, call.time, call.pid, "read", artifact)

    def _opened(self, call: Call) -> Iterator[CallEvent]:
        flags = call.arguments
        truncates = call.name == "creat" or "O_TRUNC" in flags
        truncates |= "O_CREAT" in flags and "O_EXCL" in flags
        match = _DESCRIPTOR.search(f"{call.result}{call.returned}")
        artifact = None if match is None else _named(match[1], match[2] or "", incoming=False)
        if truncates and artifact is not None and artifact.kind == "file":
            yield CallEvent(call.start, call.time, call.pid, "write", artifact, fresh=True)

    def _truncated(self, call: Call) -> Iterator[CallEvent]:
        artifact = _artifact(call, incoming=False) if call.name == "ftruncate" else None
        if call.name == "truncate":
            artifact = next(iter(self._names(call)), None)
        if artifact is not None and artifact.kind == "file":
            fresh = call.arguments.rstrip().endswith(", 0")
            yield CallEvent(call.start, call.time, call.pid, "write", artifact, fresh=fresh)

    def _connected(self, call: Call) -> Iterator[CallEvent]:
        if call.name == "connect":
            protocol, address = _PROTOCOL.search(call.arguments), _address(call.arguments)
            if protocol is not None and address is not None:
                artifact = Artifact("flow", f"{protocol[1]} {address}")
                yield CallEvent(call.end, call.time, call.pid, "connect", artifact)
            return
        match = _DESCRIPTOR.search(f"{call.result}{call.returned}")
        accepted = None if match is None else _named(match[1], match[2] or "", incoming=False)
        if accepted is not None and accepted.kind == "flow":
            yield CallEvent(call.end, call.time, call.pid, "accept", accepted)

    # -- processes -------------------------------------------------------------------------

    def _forked(self, call: Call) -> Iterator[CallEvent]:
        if call.result == 0:
            return
        self._folders[call.result] = self._folder(call.pid)
        what = "thread" if "CLONE_THREAD" in call.arguments else "fork"
        yield CallEvent(call.start, call.time, call.pid, what, child=call.result)

    def _executed(self, call: Call) -> Iterator[CallEvent]:
        start = call.arguments.find("[")
        names = list(self._names(call))
        if not names:
            return
        texts = _QUOTED.findall(call.arguments[start:]) if start >= 0 else []
        command = " ".join(unescaped(text) for text in texts)
        yield CallEvent(call.end, call.time, call.pid, "exec", names[0], command=command)

    def _folder(self, pid: int) -> str:
        return self._folders.setdefault(pid, self._first)

    def _changed_folder(self, call: Call) -> None:
        if call.name == "fchdir":
            match = _DESCRIPTOR.search(call.arguments)
            self._folders[call.pid] = unescaped(match[1]) if match else self._first
        else:
            name = next(iter(self._names(call)), None)
            self._folders[call.pid] = self._first if name is None else name.name

    # -- names -----------------------------------------------------------------------------

    def _renamed(self, call: Call) -> Iterator[CallEvent]:
        names = list(self._names(call))
        what = "link" if call.name.startswith("link") else call.name[:6]
        if what == "unlink" and names and "AT_REMOVEDIR" not in call.arguments:
            yield CallEvent(call.start, call.time, call.pid, "unlink", names[0])
        elif what in ("rename", "link") and len(names) == 2:
            if "RENAME_EXCHANGE" in call.arguments:
                what = "exchange"
            yield CallEvent(call.start, call.time, call.pid, what, names[0], names[1])

    def _names(self, call: Call) -> Iterator[Artifact]:
        """Yield the files that a call names, as absolute paths."""
        end = call.arguments.find("[") if call.name.startswith("execve") else None
        for folder, text in _NAME.findall(call.arguments[:end]):
            base = unescaped(folder) if folder else self._folder(call.pid)
            yield Artifact("file", normpath(join(base, unescaped(text))))


def _artifact(call: Call, *, incoming: bool) -> Artifact | None:
    """Return the artifact of the first descriptor; an unconnected socket's peer is in the call."""
    match = _DESCRIPTOR.match(call.arguments)
    if match is None:
        return None
    socket = _SOCKET.match(match[1])
    if socket is not None and "->" not in socket[2]:
        peer = _address(call.arguments)
        return None if peer is None else _flow(socket[1], socket[2], peer, incoming=incoming)
    return _named(match[1], match[2] or "", incoming=incoming)


def _named(text: str, deleted: str, *, incoming: bool) -> Artifact | None:
    """Return the artifact in a descriptor's text, or None for devices and memory-only files."""
    stream = _STREAM.match(text)
    if stream is not None:
        return _flow(stream[1], stream[2], stream[3], incoming=incoming)
    if text.startswith("pipe:"):
        return Artifact("pipe", text)
    if not text.startswith("/") or text.startswith(_IGNORED) or text.endswith(">"):
        return None
    return Artifact("file", unescaped(text), bool(deleted))


def _address(text: str) -> str | None:
    """Return the address of a peer from a call's argument or result."""
    match = _ADDRESS.search(text)
    if match is not None:
        return f"{match[2] or '[' + match[3] + ']'}:{match[1]}"
    path = _PATH.search(text)
    return None if path is None else unescaped(path[1])


def _flow(protocol: str, local: str, remote: str, *, incoming: bool) -> Artifact:
    ends = (remote, local) if incoming else (local, remote)
    return Artifact("flow", f"{protocol.removesuffix('v6')} {ends[0]}->{ends[1]}")

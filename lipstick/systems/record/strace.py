"""The tracer: strace, found when a command is recorded."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
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
    """Whether the tracer can leave calls alone that are not traced (strace 5.3 and later)."""
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

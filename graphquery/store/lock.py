"""The lock of the one writer of a store.

The lock is a file that names its holder, created exclusively. A process that died leaves its file
behind; another one on the same machine detects this and takes over. Takeovers exclude each other by
a lock of the operating system on a second file, held for that moment only: of two processes that
see the same stale file, the slower one would otherwise remove the lock of the faster one.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from graphquery.errors import StoreError
from graphquery.store.file_system import StoreFiles

if sys.platform != "win32":
    import fcntl

LOCK = "lock"
GUARD = "lock.guard"


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lock.

    Parameters
    ----------
    host, boot
        The machine, and its boot (and process namespace), if known.
    pid, started
        The process, and its start time in ticks of the machine, if known: process numbers are
        reused.
    since
        The time at which it took the lock, in ISO 8601, UTC.
    """

    host: str
    boot: str | None
    pid: int
    started: int | None
    since: str

    @classmethod
    def myself(cls) -> Holder:
        """Return this process as the holder, as of now."""
        pid = os.getpid()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(socket.gethostname(), _boot(), pid, _started(pid), now)


class WriterLock:
    """The writer's lock, held within the context.

    Raises
    ------
    StoreError
        On entering, when a living process holds it, or one on another machine.
    """

    def __init__(self, root: Path, files: StoreFiles) -> None:
        self._path = root / LOCK
        self._guard = root / GUARD
        self._files = files
        self._holder: Holder | None = None

    def __enter__(self) -> WriterLock:
        holder = Holder.myself()
        content = json.dumps(asdict(holder)).encode()
        with _guarded(self._guard):
            try:
                self._files.publish(self._path, content)
            except FileExistsError:
                self._check_stale()
                self._files.remove(self._path)
                self._files.publish(self._path, content)
            except OSError:
                if read_holder(self._path) == holder:  # the file exists, but may not be durable
                    self._files.remove(self._path)
                raise
        self._holder = holder
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the lock; do nothing if it is released, or in a forked child."""
        if self._holder is not None and self._holder.pid == os.getpid():
            self._files.remove(self._path)
            self._holder = None

    @property
    def held(self) -> bool:
        """True if this process holds the lock."""
        return self._holder is not None and self._holder.pid == os.getpid()

    def _check_stale(self) -> None:
        if not self._path.exists():  # given back in the meantime
            return
        holder = read_holder(self._path)
        if holder is not None and is_dead(holder):
            return
        who = (
            "somebody"
            if holder is None
            else f"process {holder.pid} on {holder.host}, since {holder.since}"
        )
        raise StoreError(
            f"The store {self._path.parent} is being written by {who}.\n"
            f"Wait until that is done; if that process is gone, delete {self._path}."
        )


def read_holder(path: Path) -> Holder | None:
    """Return the holder that a lock file names, or None if the file is missing or unreadable."""
    try:
        return Holder(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def is_dead(holder: Holder) -> bool:
    """Return True if a process has certainly ended; False if that cannot be decided from here."""
    myself = Holder.myself()
    if holder.host != myself.host:
        return False
    if holder.boot is None or myself.boot is None:
        return holder.boot is myself.boot and not _exists(holder.pid)
    if holder.boot != myself.boot:
        # No process survives a restart of the machine; processes of another namespace are unknown.
        return holder.boot.split("/")[0] != myself.boot.split("/")[0]
    return _started(holder.pid) != holder.started


def _boot() -> str | None:
    """Return an id of this machine's boot and process namespace (Linux)."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return None


def _exists(pid: int) -> bool:
    """Return True if there is, or may be, a process with a number."""
    if sys.platform == "win32":  # where asking would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _started(pid: int) -> int | None:
    """Return a process's start in ticks since boot, or None if there is no such process (Linux)."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = status.rpartition(")")[2].split()
    state, started = fields[0], fields[19]
    return None if state in ("Z", "X") else int(started)


@contextlib.contextmanager
def _guarded(path: Path) -> Iterator[None]:
    if sys.platform == "win32":  # where no lock is found stale
        yield
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

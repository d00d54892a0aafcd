"""A PostgreSQL of the machine, in a folder of its own, for as long as a test takes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDERS = "/usr/lib/postgresql/*/bin"
_USER = "postgres"
"""The user of Debian's package, which runs the server where tests run as root: it refuses root."""


def server_folder() -> Path | None:
    """Return the folder with the programs of the server, None where there is none."""
    found = shutil.which("initdb")
    folders = sorted(Path("/").glob(_FOLDERS[1:]), key=lambda path: path.parent.name)
    return Path(found).parent if found else (folders or [None])[-1]


@contextmanager
def running_postgres(programs: Path, home: Path, settings: str = "") -> Iterator[str]:
    """Start a server on a free port of this machine; yield the URL of its database for JDBC."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    as_user: list[str] = []
    if os.geteuid() == 0:
        as_user = ["setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups"]
        shutil.chown(home, _USER, _USER)
    data = home / "data"

    def run(program: str, *arguments: str) -> None:
        command = [*as_user, str(programs / program), "-D", str(data), *arguments]
        subprocess.run(command, cwd=home, check=True, stdout=subprocess.DEVNULL, timeout=60)

    run("initdb", "-U", "test", "-A", "trust", "--no-sync", "-E", "UTF8")
    options = f"-F -h 127.0.0.1 -p {port} -k {home} {settings}"
    run("pg_ctl", "-w", "-l", str(home / "log"), "-o", options, "start")
    try:
        yield f"jdbc:postgresql://127.0.0.1:{port}/postgres?user=test"
    finally:
        run("pg_ctl", "-m", "immediate", "stop")

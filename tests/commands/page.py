"""Do what a page says: its Python and its commands, from top to bottom, as a reader would.

``python -P page.py PAGE --commands JSON`` runs in the environment of the reader, in the current
folder. A command is run by bash and must succeed; one that serves is asked to end when it is ready.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=indent)```$", re.M | re.S
)
_SHELLS = ("sh", "bash", "shell", "console")
SERVING = re.compile(r"^lipstick (explore(?!.*--output)|events serve)")
_READY = re.compile(r"http://|, lag ")
_LONGEST_START = 60.0
"""A server that has nothing to say by then is asked to end all the same."""
_SECONDS = 900.0
"""A command that takes longer hangs."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page, with its first line's number."""

    line: int
    language: str
    code: str

    @property
    def commands(self) -> list[str]:
        """The commands of a block of a shell, each with all its lines."""
        if self.language not in _SHELLS:
            return []
        lines = self.code.splitlines()
        if self.language == "console":
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        found: list[str] = []
        pending = ""
        for line in lines:
            pending = f"{pending}\n{line}" if pending else line
            if not line.endswith("\\") and _complete(pending):
                found.append(pending)
                pending = ""
        return [each for each in found if each.strip()]


def _complete(text: str) -> bool:
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page; one may name no language."""
    text = page.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("code")) + 1
        yield Block(line, found["language"], textwrap.dedent(found["code"]))


def run(command: str) -> None:
    """Run a command; one that serves until it is ready, then it is interrupted."""
    print(f"$ {command}", flush=True)
    serving = bool(SERVING.match(command))
    bash = ["bash", "-euo", "pipefail", "-c", f"exec {command}" if serving else command]
    if not serving:
        subprocess.run(bash, check=True, timeout=_SECONDS, stdin=subprocess.DEVNULL)
        return
    pipe = subprocess.PIPE
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell left it so
    with subprocess.Popen(bash, stdout=pipe, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        end = threading.Timer(_LONGEST_START, process.send_signal, [signal.SIGINT])
        end.start()
        for line in process.stdout:
            print(line, end="", flush=True)
            if _READY.search(line) and not end.finished.is_set():
                end.cancel()
                process.send_signal(signal.SIGINT)
    if process.returncode:
        raise SystemExit(f"{command}: {process.returncode}")


def main() -> None:
    """Do what the page says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--before", type=Path, help="A script that makes what the page has not.")
    parser.add_argument("--commands", type=json.loads, required=True, help="What to run for each.")
    given = parser.parse_args()
    if given.before is not None:
        exec(compile(given.before.read_text("utf-8"), str(given.before), "exec"), {})
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(given.page):
        if block.language == "python":
            code = "\n" * (block.line - 1) + block.code
            exec(compile(code, str(given.page), "exec"), namespace)
        for command in block.commands:
            if chosen := given.commands.get(command, command):
                run(chosen)


if __name__ == "__main__":
    sys.path.insert(0, "")
    main()

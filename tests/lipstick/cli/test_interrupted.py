"""Control-C ends a command, whatever its threads wait for."""

from __future__ import annotations

import signal
import subprocess
import sys

_EXPLORE = """
import signal, sys, threading
import lipstick.cli.explore as command
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell left it so
command._opened = lambda paths: threading.Event().wait()
sys.argv = ["lipstick", "explore", "--example", "--no-browser"]
from lipstick.cli import main
main()
"""


def test_an_explorer_that_never_opens_ends_by_control_c() -> None:
    command = [sys.executable, "-c", _EXPLORE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any("http://" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0

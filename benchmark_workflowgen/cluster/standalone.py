"""Spark's standalone master and workers, and a Connect server, as processes of this machine.

They run the classes of the installed PySpark, which has no `sbin` scripts for them. Each logs to a
file of its own, and is stopped at the end.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pyspark

from benchmark_workflowgen.errors import BenchmarkError

_HOME = Path(pyspark.__file__).resolve().parent
_CLASSES = "org.apache.spark.deploy"
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
HOST = "127.0.0.1"
_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with master")
_SERVING = re.compile(r"Spark Connect server started at")
_SECONDS = 90.0


class Standalone:
    """A master and some workers, to be used as a context.

    Parameters
    ----------
    folder
        For logs, and what executors work on.
    workers, cores, memory
        How many workers, and what each of them offers.
    hidden
        A folder that workers must not see, as if they were on another machine: each has an empty
        one in its place. Needs root and `unshare`. None: they see all.
    """

    def __init__(
        self,
        folder: Path,
        *,
        workers: int = 2,
        cores: int = 1,
        memory: str = "1g",
        hidden: Path | None = None,
    ) -> None:
        self.folder = folder
        self.url = ""
        self._workers = workers
        self._offer = ["--cores", str(cores), "--memory", memory]
        self._hidden = hidden
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Standalone:
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    def log(self, name: str) -> Path:
        """Return the log of `master`, `worker1`... or `connect`."""
        return self.folder / f"{name}.log"

    def serve(self) -> str:
        """Start a Connect server on the cluster and return its address, ``sc://...``."""
        port = _free_port()
        command = [*_spark("spark-submit"), "--class", _CONNECT, "--master", self.url]
        for setting in (
            f"spark.connect.grpc.binding.address={HOST}",
            f"spark.connect.grpc.binding.port={port}",
            "spark.ui.enabled=false",
        ):
            command += ["--conf", setting]
        self._launch("connect", command, _SERVING)
        return f"sc://{HOST}:{port}"

    def _start(self) -> None:
        where = ["--host", HOST, "--port", "0", "--webui-port", "0"]
        spark_class = _spark("spark-class")
        master = [*spark_class, f"{_CLASSES}.master.Master", *where]
        self.url = self._launch("master", master, _MASTER)[1]
        for number in range(1, self._workers + 1):
            name = f"worker{number}"
            command = [*spark_class, f"{_CLASSES}.worker.Worker", *where, *self._offer]
            command += ["--work-dir", str(self.folder / name), self.url]
            self._launch(name, [*self._apart(), *command], _REGISTERED)

    def _apart(self) -> Sequence[str]:
        """Return the command prefix that runs a command with the hidden folder empty."""
        if self._hidden is None:
            return ()
        script = 'mount -t tmpfs tmpfs "$0" && exec "$@"'
        return ("unshare", "--mount", "sh", "-c", script, str(self._hidden))

    def _launch(self, name: str, command: Sequence[str], ready: re.Pattern[str]) -> re.Match[str]:
        """Start a process and wait until its log matches `ready`."""
        path = self.log(name)
        with path.open("wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=_environment(self.folder)
            )
        self._processes.append(process)
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            text = path.read_text(encoding="utf-8", errors="replace")
            if match := ready.search(text):
                return match
            if process.poll() is not None:
                break
            time.sleep(0.2)
        end = "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-10:])
        raise BenchmarkError(f"{name} did not come up. The end of {path}:\n{end}")

    def _stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()


def _spark(script: str) -> list[str]:
    """Return the command of a script of the installed PySpark."""
    return [str(_HOME / "bin" / script)]


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
        "SPARK_HOME": str(_HOME),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_LOCAL_DIRS": str(folder / "local"),
    }


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
        return port


def can_hide() -> bool:
    """Return True if this process may give workers a file system view of their own."""
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return tried.returncode == 0

"""Spark's event log, as a source of the resources that its stages used."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

SETTINGS = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}
"""Settings of a session beside `spark.eventLog.dir`."""

_SHUFFLED = "internal.metrics.shuffle.write.bytesWritten"
_MEMORY = "internal.metrics.peakExecutionMemory"
_LAG_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources that the stages of a period used.

    Parameters
    ----------
    shuffle_bytes
        Bytes written by shuffles.
    execution_memory
        The peak execution memory of a stage, summed over its tasks, in bytes.
    """

    shuffle_bytes: int
    execution_memory: int


class EventLog:
    """The event log of the application that runs, in a folder of this machine.

    Parameters
    ----------
    folder
        ``spark.eventLog.dir``, empty before the application started.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._offsets: dict[Path, int] = {}
        self._stages: list[tuple[float, Usage]] = []

    def usage(self, began: float, ended: float) -> Usage:
        """Return what was used by stages submitted between two moments (seconds since 1970)."""
        time.sleep(_LAG_SECONDS)  # events are written after what they tell of
        self._read()
        in_period = [usage for at, usage in self._stages if began <= at <= ended]
        return Usage(
            sum(usage.shuffle_bytes for usage in in_period),
            max((usage.execution_memory for usage in in_period), default=0),
        )

    def _read(self) -> None:
        for path in self._folder.iterdir():
            with path.open("rb") as file:
                file.seek(self._offsets.get(path, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._offsets[path] = self._offsets.get(path, 0) + len(line)
                    if line.startswith(b'{"Event":"SparkListenerStageCompleted"'):
                        self._stages.append(_stage(line))


def _stage(line: bytes) -> tuple[float, Usage]:
    stage = json.loads(line)["Stage Info"]
    used = {entry["Name"]: entry["Value"] for entry in stage["Accumulables"]}
    submitted = stage.get("Submission Time", 0) / 1000
    return submitted, Usage(int(used.get(_SHUFFLED, 0)), int(used.get(_MEMORY, 0)))

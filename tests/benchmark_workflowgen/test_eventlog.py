"""What stages used, from Spark's event log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmark_workflowgen.measure import eventlog
from benchmark_workflowgen.measure.eventlog import EventLog, Usage


def _stage(at: float, shuffled: int, memory: int) -> str:
    used = [
        {"Name": "internal.metrics.shuffle.write.bytesWritten", "Value": shuffled},
        {"Name": "internal.metrics.peakExecutionMemory", "Value": memory},
    ]
    info = {"Submission Time": int(at * 1000), "Accumulables": used}
    event = {"Event": "SparkListenerStageCompleted", "Stage Info": info}
    return json.dumps(event, separators=(",", ":")) + "\n"


def test_stages_are_those_submitted_in_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eventlog, "_LAG_SECONDS", 0)
    path = tmp_path / "app.inprogress"
    path.write_text('{"Event":"SparkListenerLogStart"}\n' + _stage(10, 100, 7) + _stage(11, 20, 9))
    log = EventLog(tmp_path)
    assert log.usage(9, 12) == Usage(120, 9)
    assert log.usage(10.5, 12) == Usage(20, 9)
    whole = _stage(13, 5, 1)
    with path.open("a") as file:
        file.write(whole[:40])
    assert log.usage(12, 14) == Usage(0, 0)
    with path.open("a") as file:
        file.write(whole[40:])
    assert log.usage(12, 14) == Usage(5, 1)

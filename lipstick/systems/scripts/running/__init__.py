"""Scripts that run unchanged, with provenance of the rows they read, collect and write.

Rows of Spark are followed exactly, by the annotations of data frames; the steps between them
are inferred, and marked as such. Lines come from the text
(:mod:`lipstick.systems.scripts.provenance`).
"""

from __future__ import annotations

from lipstick.systems.scripts.running.record import (
    Event,
    EventLink,
    FileVersion,
    RecordedRun,
    Rule,
    open_run,
)
from lipstick.systems.scripts.running.script_runner import run_script
from lipstick.systems.scripts.running.trace import Trace, TracedRows, trace

__all__ = [
    "Event",
    "EventLink",
    "FileVersion",
    "RecordedRun",
    "Rule",
    "Trace",
    "TracedRows",
    "open_run",
    "run_script",
    "trace",
]

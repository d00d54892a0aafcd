"""Graphs of operators on Structured Streaming: the operators' own code, batch by batch."""

from __future__ import annotations

from lipstick.systems.streams.structured.ancestor_job import ancestors_frame
from lipstick.systems.streams.structured.job import RunningGraph, start

__all__ = ["RunningGraph", "ancestors_frame", "start"]

"""Graphs of operators on Structured Streaming: the operators' own code, batch by batch."""

from __future__ import annotations

from lipstick.streams.structured.ancestor_job import ancestors_frame
from lipstick.streams.structured.running import RunningGraph, start

__all__ = ["RunningGraph", "ancestors_frame", "start"]

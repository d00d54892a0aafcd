"""Graphs of operators on Structured Streaming: the operators' own code, batch by batch."""

from __future__ import annotations

from lipstick.streams.structured.running import RunningGraph, start

__all__ = ["RunningGraph", "start"]

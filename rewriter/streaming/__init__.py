"""Streaming queries as queries over what their stream was so far."""

from __future__ import annotations

from rewriter.streaming.flow import Streamed
from rewriter.streaming.recorded import Emission, OutputMode, Reading, as_recorded

__all__ = ["Emission", "OutputMode", "Reading", "Streamed", "as_recorded"]

"""Streaming queries as queries over what their stream was so far."""

from __future__ import annotations

from rewriter.streaming.context import Emission, OutputMode, Reading
from rewriter.streaming.flow import Streamed
from rewriter.streaming.recorded import as_recorded

__all__ = ["Emission", "OutputMode", "Reading", "Streamed", "as_recorded"]

"""Errors of recording commands."""

from __future__ import annotations

from semiring.errors import LipstickError


class RecordError(LipstickError):
    """A command that cannot be recorded, or a recording that cannot be read."""

"""Errors of sessions that export what they write."""

from __future__ import annotations

from semiring.errors import LipstickError


class ExportError(LipstickError):
    """A table whose rows cannot be exported, or whose imported rows are unknown."""

"""Errors of dbt projects."""

from __future__ import annotations

from semiring.errors import LipstickError


class DbtError(LipstickError):
    """A dbt project that cannot be read, or a question about a node that it does not have."""

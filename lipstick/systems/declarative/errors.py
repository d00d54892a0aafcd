"""Errors about Spark's declarative pipelines."""

from __future__ import annotations

from lipstick.errors import LipstickError


class PipelineError(LipstickError):
    """A pipeline's project, dataset or question that cannot be read."""

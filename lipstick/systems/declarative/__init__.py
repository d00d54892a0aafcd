"""Projects of Spark's declarative pipelines, asked after they ran.

A project is read as its runs read it. Every flow is a query, and a table that has the rows of its
flows stands for them, so that questions go back to what the pipeline does not write.
"""

from __future__ import annotations

from lipstick.systems.declarative.errors import PipelineError
from lipstick.systems.declarative.pipeline import (
    DatasetImpact,
    DatasetReport,
    DeclarativePipeline,
    PipelineDataset,
    PipelineFlow,
)

__all__ = [
    "DatasetImpact",
    "DatasetReport",
    "DeclarativePipeline",
    "PipelineDataset",
    "PipelineError",
    "PipelineFlow",
]

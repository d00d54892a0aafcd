"""Provenance for projects of Spark's declarative pipelines, after they ran.

A project is read as its runs read it. Every flow is a query; a table that holds exactly the rows of
its flows is replaced by them, so that questions reach back to inputs that the pipeline does not
write.
"""

from __future__ import annotations

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
    "PipelineFlow",
]

"""Ordinary streaming queries of Spark, whose results have provenance."""

from lipstick.streams.queries.checkpoint import (
    CheckpointError,
    FileRead,
    MicroBatch,
    read_checkpoint,
)

__all__ = ["CheckpointError", "FileRead", "MicroBatch", "read_checkpoint"]

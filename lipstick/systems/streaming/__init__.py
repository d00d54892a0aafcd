"""Ordinary streaming queries of Spark, whose results have provenance."""

from lipstick.systems.streaming.checkpoint import (
    CheckpointError,
    FileRead,
    MicroBatch,
    read_checkpoint,
)

__all__ = ["CheckpointError", "FileRead", "MicroBatch", "read_checkpoint"]

"""Provenance for the results of ordinary streaming queries of Spark."""

from lipstick.systems.streaming.checkpoint import (
    CheckpointError,
    FileRead,
    MicroBatch,
    read_checkpoint,
)

__all__ = ["CheckpointError", "FileRead", "MicroBatch", "read_checkpoint"]

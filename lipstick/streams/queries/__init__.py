"""Ordinary streaming queries of Spark: what their checkpoints say of their micro-batches."""

from lipstick.streams.queries.checkpoint import CheckpointError, MicroBatch, read_checkpoint

__all__ = ["CheckpointError", "MicroBatch", "read_checkpoint"]

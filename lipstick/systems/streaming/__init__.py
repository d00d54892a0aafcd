"""Provenance for the results of ordinary streaming queries of Spark."""

from lipstick.systems.streaming.checkpoint import FileRead, MicroBatch, read_checkpoint

__all__ = ["FileRead", "MicroBatch", "read_checkpoint"]

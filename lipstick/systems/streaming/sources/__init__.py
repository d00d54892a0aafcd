"""Sources that are no files, whose rows are read again by the offsets that Spark recorded."""

from lipstick.systems.streaming.sources.replayed import Batched, Replayed, Span, replayed_source

__all__ = ["Batched", "Replayed", "Span", "replayed_source"]

"""Sources that are not files, whose rows are read again by the offsets that Spark recorded."""

from lipstick.systems.streaming.sources.replayed import (
    Batched,
    OffsetSpan,
    Replayed,
    replayed_source,
)

__all__ = ["Batched", "OffsetSpan", "Replayed", "replayed_source"]

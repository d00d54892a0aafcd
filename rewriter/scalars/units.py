"""Units of time of a fixed length, in microseconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MICROSECONDS: Final[Mapping[str, int]] = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
"""By name, in the singular. A day is one of 24 hours."""

"""Operators of stream graphs, a file for each kind."""

from lipstick.systems.streams.operators.aggregate import AggregateBy, AggregateWindow
from lipstick.systems.streams.operators.base import Operator
from lipstick.systems.streams.operators.joins import LengthJoin, TimeJoin
from lipstick.systems.streams.operators.mapping import FilterEvents, KeyBy, Map
from lipstick.systems.streams.operators.merge import Merge
from lipstick.systems.streams.operators.sliding_windows import LengthWindow, TimeWindow

__all__ = [
    "AggregateBy",
    "AggregateWindow",
    "FilterEvents",
    "KeyBy",
    "LengthJoin",
    "LengthWindow",
    "Map",
    "Merge",
    "Operator",
    "TimeJoin",
    "TimeWindow",
]

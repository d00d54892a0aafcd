"""Operators of stream graphs, a file for each kind."""

from lipstick.systems.streams.operators.aggregate import Aggregate, AggregateBy
from lipstick.systems.streams.operators.base import Operator
from lipstick.systems.streams.operators.joins import LengthJoin, TimeJoin
from lipstick.systems.streams.operators.mapping import Filter, KeyBy, Map
from lipstick.systems.streams.operators.merge import Merge
from lipstick.systems.streams.operators.sliding_windows import LengthWindow, TimeWindow

__all__ = [
    "Aggregate",
    "AggregateBy",
    "Filter",
    "KeyBy",
    "LengthJoin",
    "LengthWindow",
    "Map",
    "Merge",
    "Operator",
    "TimeJoin",
    "TimeWindow",
]

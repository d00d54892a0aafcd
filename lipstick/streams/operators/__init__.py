"""Operators of stream graphs, a file for each kind."""

from lipstick.streams.operators.aggregate import Aggregate, AggregateBy
from lipstick.streams.operators.base import Operator
from lipstick.streams.operators.joins import LengthJoin, TimeJoin
from lipstick.streams.operators.mapping import Filter, KeyBy, Map
from lipstick.streams.operators.merge import Merge
from lipstick.streams.operators.sliding_windows import LengthWindow, TimeWindow

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

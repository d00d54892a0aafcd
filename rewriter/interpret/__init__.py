"""Scalars of blocks evaluated over numpy and Arrow columns, without Spark, exactly as Spark does.

The rules cover columns, literals, comparisons, three-valued logic, CASE and COALESCE, arithmetic
and casts of numbers, dates and instants in the session's time zone, arrays and maps with the
functions of their elements, time windows, and a few functions. Everything else is
uninterpretable, which is an error of its own.
"""

from rewriter.interpret.arithmetic import divide_half_up, rescale
from rewriter.interpret.calls import (
    WINDOW,
    AggregateCall,
    AllOf,
    Anew,
    AnyOf,
    Bounds,
    Compared,
    Comparison,
    Condition,
    OrderKey,
    WindowCall,
    Windowed,
    aggregate_call,
    branches,
    comparison,
    split_windows,
    taken_apart,
    windowed,
)
from rewriter.interpret.casts import cast
from rewriter.interpret.compile import Interpreted, Resolve, Template, interpret
from rewriter.interpret.dates import is_time, moment, on_clock, on_clocks, time_zone
from rewriter.interpret.steps import kind, steps
from rewriter.interpret.vector import (
    FailedError,
    UninterpretableError,
    Vector,
    from_arrow,
    in_time_zone,
    is_exact,
    unify,
)

__all__ = [
    "WINDOW",
    "AggregateCall",
    "AllOf",
    "Anew",
    "AnyOf",
    "Bounds",
    "Compared",
    "Comparison",
    "Condition",
    "FailedError",
    "Interpreted",
    "OrderKey",
    "Resolve",
    "Template",
    "UninterpretableError",
    "Vector",
    "WindowCall",
    "Windowed",
    "aggregate_call",
    "branches",
    "cast",
    "comparison",
    "divide_half_up",
    "from_arrow",
    "in_time_zone",
    "interpret",
    "is_exact",
    "is_time",
    "kind",
    "moment",
    "on_clock",
    "on_clocks",
    "rescale",
    "split_windows",
    "steps",
    "taken_apart",
    "time_zone",
    "unify",
    "windowed",
]

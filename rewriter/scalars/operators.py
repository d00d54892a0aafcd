"""Operators and aggregates of SQL by the classes of their trees."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

COMPARISONS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
"""Comparisons that are NULL where a side is."""

AGGREGATES: Mapping[type[exp.Expr], str] = {
    exp.Sum: "SUM",
    exp.Count: "COUNT",
    exp.Min: "MIN",
    exp.Max: "MAX",
    exp.Avg: "AVG",
}
"""Aggregates that have classes of their own."""

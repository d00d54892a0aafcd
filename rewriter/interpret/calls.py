"""Aggregate calls taken apart."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.emit import aggregate_arguments
from rewriter.interpret.compile import Interpreted, interpret
from rewriter.interpret.once import once
from rewriter.serialize import text

_NAMES: dict[type[exp.Expr], str] = {
    exp.Sum: "SUM",
    exp.Count: "COUNT",
    exp.Min: "MIN",
    exp.Max: "MAX",
    exp.Avg: "AVG",
}


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate function applied to scalars.

    Attributes
    ----------
    function
        SUM, COUNT, MIN, MAX or AVG; None for the others, which only Spark computes.
    arguments
        The arguments; none for ``count(*)``, several only for COUNT.
    """

    text: str
    function: str | None
    distinct: bool
    arguments: tuple[Interpreted, ...]


@once
def aggregate_call(call: Scalar) -> AggregateCall:
    """Take an aggregate call apart."""
    arguments = [
        part
        for part in aggregate_arguments(call)
        if isinstance(part, exp.Expr) and not isinstance(part, exp.Star)
    ]
    function = _NAMES.get(type(call))
    if function != "COUNT" and len(arguments) != 1:
        function = None
    distinct = isinstance(call.this, exp.Distinct)
    return AggregateCall(text(call), function, distinct, tuple(map(interpret, arguments)))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition that compares two scalars."""

    op: str
    left: Interpreted
    right: Interpreted


_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
}


@once
def comparison(condition: Scalar) -> Comparison | None:
    """The sides of a comparison; None for other conditions."""
    condition = condition.unnest()
    op = _OPERATORS.get(type(condition))
    if op is None:
        return None
    left, right = condition.args["this"], condition.args["expression"]
    return Comparison(op, interpret(left), interpret(right))

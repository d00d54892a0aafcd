"""Aggregate calls and conditions taken apart.

A condition is taken apart into the comparisons that must be true for it to be true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import qualified
from rewriter.interpret.compile import Interpreted, interpret, once
from rewriter.scalars import aggregates
from rewriter.scalars.comparable import AGGREGATES, COMPARISONS
from rewriter.scalars.text import text
from rewriter.scalars.windows import (
    CURRENT_ROW,
    UNBOUNDED,
    WindowFrame,
    aggregate_of,
    called,
    condition_of,
    extent_of,
    frame_of,
    function_name,
    ignores_nulls,
)

_BOOLEAN = {
    "any": "bool_or",
    "bool_and": "bool_and",
    "bool_or": "bool_or",
    "count_if": "count_if",
    "every": "bool_and",
    "some": "bool_or",
}
_BITS = {"bit_and", "bit_or", "bit_xor"}
_PERCENTILES = {"median", "percentile", "percentile_cont"}
_SPREADS = {
    "std": "stddev_samp",
    "stddev": "stddev_samp",
    "stddev_pop": "stddev_pop",
    "stddev_samp": "stddev_samp",
    "stddevpop": "stddev_pop",
    "stddevsamp": "stddev_samp",
    "var_pop": "var_pop",
    "var_samp": "var_samp",
    "variance": "var_samp",
    "variancepop": "var_pop",
}


@dataclass(frozen=True, slots=True)
class Anew:
    """The parts of an aggregate without a tensor, computed from the values of a group.

    Attributes
    ----------
    name
        ``max_by`` or ``min_by``, of the first argument by the others; ``mode``, ``percentile``,
        ``bool_and``, ``bool_or``, ``count_if``, ``bit_and``, ``bit_or`` or ``bit_xor``;
        ``stddev_samp``, ``stddev_pop``, ``var_samp`` or ``var_pop``; ``collect_list`` of the first
        argument in the order of the others, or ``collect_set``.
    of_all
        Whether ``max_by`` and ``min_by`` count rows whose compared value is NULL.
    descending
        Whether ``mode`` and ``percentile`` see the greatest value first.
    share
        The percentage, from 0 to 1.
    order
        For every argument that the collected values are sorted by, whether it is descending, and
        whether NULLs are first.
    """

    name: str
    of_all: bool = False
    descending: bool = False
    share: float = 0.5
    order: tuple[tuple[bool, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate function applied to scalars.

    Attributes
    ----------
    function
        SUM, COUNT, MIN, MAX or AVG; None for the others, which have no tensor.
    arguments
        The arguments; none for ``count(*)``, several only for COUNT, and where computed ``anew``.
    anew
        How one of the others is computed; None where only Spark can.
    """

    text: str
    function: str | None
    distinct: bool
    arguments: tuple[Interpreted, ...]
    anew: Anew | None = None


@once
def aggregate_call(call: Scalar) -> AggregateCall:
    """Take an aggregate call apart."""
    arguments = [part for part in aggregates.arguments(call) if not isinstance(part, exp.Star)]
    function = AGGREGATES.get(type(call))
    if function != "COUNT" and len(arguments) != 1:
        function = None
    distinct = aggregates.is_distinct(call)
    anew = None
    if function is None and (not distinct or aggregates.name_of(call) in aggregates.SETS):
        anew, arguments = _anew(call, arguments)
    return AggregateCall(text(call), function, distinct, tuple(map(interpret, arguments)), anew)


def _anew(call: Scalar, arguments: list[Scalar]) -> tuple[Anew | None, list[Scalar]]:
    """Return the parts of a call that needs no tensor; None if only Spark computes it."""
    name, keys = aggregates.name_of(call), aggregates.sort_keys(call)
    descending = any(bool(key.args.get("desc")) for key in keys)
    if name in aggregates.ARRAYS and len(arguments) == 1 + len(keys):
        flags = ((bool(k.args.get("desc")), bool(k.args.get("nulls_first"))) for k in keys)
        called = "collect_set" if name in aggregates.SETS else "collect_list"
        return Anew(called, order=tuple(flags)), arguments
    if name in aggregates.EXTREMES and len(arguments) == 2:
        parts, of_all = aggregates.compared_parts(arguments[1])
        return Anew(name, of_all), [arguments[0], *parts]
    if name in _BOOLEAN and len(arguments) == 1:
        return Anew(_BOOLEAN[name]), arguments
    if name in _SPREADS and len(arguments) == 1:
        return Anew(_SPREADS[name]), arguments
    if name in _BITS and len(arguments) == 1:
        return Anew(name), arguments
    if name == "mode" and (keys or arguments[1:] == [exp.true()]):
        return Anew("mode", descending=descending), arguments[:1]
    if name in _PERCENTILES:
        values = [argument for argument in arguments if not isinstance(argument, exp.Literal)]
        shares = [
            argument
            for argument in arguments
            if isinstance(argument, exp.Literal) and argument.is_number
        ]
        if len(values) == 1 and len(shares) == (name != "median") == len(arguments) - 1:
            share = float(shares[0].this) if shares else 0.5
            return Anew("percentile", descending=descending, share=share), values
    return None, arguments


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition that compares two scalars."""

    op: str
    left: Interpreted
    right: Interpreted


OPERATORS: Mapping[type[exp.Expr], str] = {**COMPARISONS, exp.NullSafeEQ: "<=>"}


@once
def comparison(condition: Scalar) -> Comparison | None:
    """Return the sides of a comparison; None for other conditions."""
    condition = condition.unnest()
    op = OPERATORS.get(type(condition))
    if op is None:
        return None
    left, right = condition.args["this"], condition.args["expression"]
    return Comparison(op, interpret(left), interpret(right))


@dataclass(frozen=True, slots=True)
class AllOf:
    """A conjunction; of nothing it is true."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A disjunction."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison that is true or, ``negated``, one that is not; ``whole`` is all of it."""

    comparison: Comparison
    whole: Interpreted
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Test:
    """Any other scalar that is true."""

    scalar: Interpreted


Condition: TypeAlias = AllOf | AnyOf | Compared | Test

_NEGATED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}


@once
def taken_apart(condition: Scalar) -> Condition:
    """Take a condition apart, by three-valued logic: what makes it true, not false or NULL."""
    return _parts(condition, negated=False)


def _parts(node: Scalar, *, negated: bool) -> Condition:
    """Return the comparisons that make a condition true, or negated false."""
    node = node.unnest()
    both, either = (AnyOf, AllOf) if negated else (AllOf, AnyOf)
    if isinstance(node, exp.Not):
        return _parts(node.this, negated=not negated)
    if isinstance(node, exp.And):
        return both(tuple(_parts(side, negated=negated) for side in (node.left, node.right)))
    if isinstance(node, exp.Or):
        return either(tuple(_parts(side, negated=negated) for side in (node.left, node.right)))
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        return both(tuple(_parts(bound, negated=negated) for bound in _between(node)))
    if _is_list(node):
        return either(tuple(_parts(equal, negated=negated) for equal in _equalities(node)))
    if negated and type(node) in _NEGATED:
        opposite = _NEGATED[type(node)]
        node = opposite(this=node.this.copy(), expression=node.expression.copy())
        return _parts(node, negated=False)
    test = exp.Not(this=exp.paren(node.copy())) if negated else node
    return _compared(node, negated=negated) or Test(interpret(test))


def _compared(node: Scalar, *, negated: bool) -> Compared | None:
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        sides, op = (node.this, node.expression), "<=>"
    elif type(node) in OPERATORS:
        sides, op = (node.args["this"], node.args["expression"]), OPERATORS[type(node)]
    else:
        return None
    left, right = map(interpret, sides)
    whole = interpret(exp.Not(this=exp.paren(node.copy())) if negated else node)
    return Compared(Comparison(op, left, right), whole, negated)


def _between(node: exp.Between) -> tuple[Scalar, Scalar]:
    value, low, high = (node.args[part].copy() for part in ("this", "low", "high"))
    return exp.GTE(this=value, expression=low), exp.LTE(this=value.copy(), expression=high)


def _is_list(node: Scalar) -> bool:
    return isinstance(node, exp.In) and bool(node.expressions) and not node.args.get("query")


def _equalities(node: Scalar) -> list[Scalar]:
    return [exp.EQ(this=node.this.copy(), expression=item.copy()) for item in node.expressions]


@once
def branches(scalar: Scalar) -> tuple[Interpreted, ...]:
    """Return the branches of CASE or IF; an empty list for other scalars."""
    node = scalar.unnest()
    if isinstance(node, exp.If):
        chosen = [node.args["true"], node.args.get("false")]
    elif isinstance(node, exp.Case):
        chosen = [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")]
    else:
        return ()
    return tuple(interpret(branch if branch is not None else exp.Null()) for branch in chosen)


WINDOW = "w"
"""The alias of the columns that stand for window functions: by their numbers."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A frame: offsets from the current row or its value; None where it is not bounded."""

    rows: bool
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of a window's ORDER BY."""

    scalar: Interpreted
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function.

    Attributes
    ----------
    function
        Its name in lower case.
    aggregate
        The call that it evaluates over its rows, if it is an aggregate.
    frame, extent
        The rows that it sees, and the rows that its value depends on; None: only Spark knows.
    """

    text: str
    function: str
    arguments: tuple[Interpreted, ...]
    aggregate: AggregateCall | None
    ignores_nulls: bool
    partition: tuple[Interpreted, ...]
    order: tuple[OrderKey, ...]
    frame: Bounds | None
    extent: Bounds | None


@dataclass(frozen=True, slots=True)
class Windowed:
    """A scalar over window functions: ``scalar`` reads them under the alias ``w``."""

    scalar: Interpreted
    calls: tuple[WindowCall, ...]


@once
def windowed(scalar: Scalar) -> Windowed:
    """Take the window functions out of a scalar; there may be none."""
    outer, windows = split_windows(scalar)
    return Windowed(interpret(outer), tuple(map(_window_call, windows)))


def split_windows(scalar: Scalar) -> tuple[Scalar, list[exp.Window]]:
    """Return a scalar that reads its window functions as columns of ``w``, and the functions."""
    windows: list[exp.Window] = []

    def replaced(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Window):
            return node
        windows.append(node)
        return qualified(WINDOW, str(len(windows) - 1))

    return scalar.copy().transform(replaced, copy=False), windows


def _window_call(window: exp.Window) -> WindowCall:
    call, aggregate = called(window), aggregate_call(aggregate_of(window))
    known = condition_of(window) is None or aggregate.function is not None
    order = window.args.get("order")
    return WindowCall(
        text(window),
        function_name(window),
        tuple(interpret(argument) for argument in call.expressions),
        aggregate if aggregate.function is not None else None,
        ignores_nulls(window),
        tuple(interpret(part) for part in window.args.get("partition_by") or []),
        tuple(
            OrderKey(interpret(key.this), bool(key.args.get("desc")), bool(key.args["nulls_first"]))
            for key in (order.expressions if order else [])
        ),
        _bounds(frame_of(window)) if known else None,
        _bounds(extent_of(window)),
    )


def _bounds(frame: WindowFrame) -> Bounds | None:
    numbers: list[int | None] = []
    for bound in (frame.start, frame.end):
        if bound in (UNBOUNDED, CURRENT_ROW):
            numbers.append(None if bound == UNBOUNDED else 0)
            continue
        value = bound.unnest() if isinstance(bound, exp.Expr) else bound
        number = value.this.unnest() if isinstance(value, exp.Neg) else value
        if not isinstance(number, exp.Literal) or number.is_string or not number.this.isdigit():
            return None
        numbers.append(-int(number.this) if isinstance(value, exp.Neg) else int(number.this))
    return Bounds(frame.rows, *numbers)

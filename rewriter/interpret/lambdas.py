"""Higher-order functions: of an array and a function of its elements.

A function's variables are columns under an alias of their own; the other columns that it reads
belong to the row that the array is in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.interpret.arrays import ListVectors, list_type, taken
from rewriter.interpret.casts import cast
from rewriter.interpret.logic import truth
from rewriter.interpret.vector import UninterpretableError, Vector, from_arrow
from rewriter.scalars.text import text
from semiring.arrays.segments import lists_of
from semiring.base import Array

Resolve: TypeAlias = Callable[[str, str], Vector]
Run: TypeAlias = Callable[[Resolve], Vector]

Compile: TypeAlias = Callable[[Scalar], Run]

VARIABLE = " variable"
"""The alias of the variables of functions."""


class Lambda:
    """A function that a query gives: its variables, and what it is of them."""

    def __init__(self, variables: Sequence[str], body: Run) -> None:
        self.variables = tuple(variables)
        self._body = body

    def __call__(self, resolve: Resolve, values: Sequence[Vector], rows: Array) -> Vector:
        """The values where the variables have some values, each in the row of its number."""
        known = dict(zip(self.variables, values, strict=False))

        def column(alias: str, name: str) -> Vector:
            if alias == VARIABLE and name in known:
                return known[name]
            return taken(resolve(alias, name), rows)

        result = self._body(column).broadcast(len(rows))
        if result.failed is not None and result.failed.any():
            raise UninterpretableError("a function that fails")
        return result


def called(name: str, arguments: Sequence[Scalar], node: Scalar, compiled: Compile) -> Run:
    """Compile the call of a higher-order function.

    Raises
    ------
    UninterpretableError
        For functions that only Spark knows.
    """
    first, *rest = arguments

    def function(part: Scalar) -> Lambda:
        variables = [variable.name for variable in part.expressions]
        return Lambda(variables, compiled(part.this))

    match name, [isinstance(part, exp.Lambda) for part in rest]:
        case "transform", [True]:
            return transform(compiled(first), function(rest[0]))
        case "filter", [True]:
            return keep(compiled(first), function(rest[0]))
        case "array_sort", [True]:
            return sort(compiled(first), Lambda(*_compared(rest[0], compiled)))
        case (("aggregate" | "reduce"), [False, True]):
            return aggregate(compiled(first), compiled(rest[0]), function(rest[1]), None)
        case (("aggregate" | "reduce"), [False, True, True]):
            start, merge, finish = rest
            return aggregate(compiled(first), compiled(start), function(merge), function(finish))
    raise UninterpretableError(text(node))


def _compared(node: Scalar, compiled: Compile) -> tuple[list[str], Run]:
    """Return by what elements are sorted: of a comparator that is the difference of one scalar."""
    first, second = (variable.name for variable in node.expressions)
    body = node.this.unnest()

    def renamed(part: exp.Expr) -> exp.Expr:
        own = isinstance(part, exp.Identifier) and part.name == first
        return exp.to_identifier(second) if own else part

    if not isinstance(body, exp.Sub) or body.this.copy().transform(renamed) != body.expression:
        raise UninterpretableError(text(node))
    return [first], compiled(body.this)


def transform(array: Run, function: Lambda) -> Run:
    """``transform``: what a function is of every element, and of its place."""

    def run(resolve: Resolve) -> Vector:
        lists, values = _applied(array, function, resolve)
        members = values.to_arrow(len(lists.members))
        kind = list_type(members.type)
        return from_arrow(lists_of(lists.offsets, members, lists.null).cast(kind))

    return run


def keep(array: Run, function: Lambda) -> Run:
    """``filter``: the elements for which a function is true."""

    def run(resolve: Resolve) -> Vector:
        lists, values = _applied(array, function, resolve)
        return lists.kept(truth(values)[0])

    return run


def sort(array: Run, function: Lambda) -> Run:
    """``array_sort`` by the integers that a function is of elements."""

    def run(resolve: Resolve) -> Vector:
        lists, values = _applied(array, function, resolve)
        if not pa.types.is_signed_integer(values.type) or values.nulls.any():
            raise UninterpretableError(f"an order by {values.type}")
        order = np.lexsort([values.values, lists.owners])
        return lists.of(lists.offsets, lists.members.take(pa.array(order)))

    return run


def _applied(array: Run, function: Lambda, resolve: Resolve) -> tuple[ListVectors, Vector]:
    lists = ListVectors(array(resolve))
    places = Vector(pa.int32(), lists.places.astype(np.int64))
    values = function(resolve, [from_arrow(lists.members), places], lists.owners)
    return lists, values


def aggregate(array: Run, start: Run, merge: Lambda, finish: Lambda | None) -> Run:
    """``aggregate``: what is left when all elements, in their order, have been merged into one."""

    def run(resolve: Resolve) -> Vector:
        lists = ListVectors(array(resolve))
        count = len(lists)
        rows = np.arange(count)
        state = start(resolve).broadcast(count).to_arrow(count)
        for place in range(int(lists.sizes.max(initial=0))):
            merged = np.flatnonzero(lists.sizes > place)
            members = lists.members.take(pa.array(lists.offsets[:-1][merged] + place))
            operands = [from_arrow(state.take(pa.array(merged))), from_arrow(members)]
            new = cast(merge(resolve, operands, merged), state.type).to_arrow(len(merged))
            index = rows.copy()
            index[merged] = count + np.arange(len(merged))
            state = pa.concat_arrays([state, new]).take(pa.array(index))
        result = from_arrow(state)
        if finish is not None:
            result = finish(resolve, [result], rows)
        values = result.to_arrow(count)
        return from_arrow(values.take(pa.array(rows, mask=lists.null)))

    return run

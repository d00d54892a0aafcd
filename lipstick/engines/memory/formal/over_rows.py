"""Window functions as functions of the plain rows of a block, for formal values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.functions import Case, identity, only_spark, typed
from lipstick.engines.memory.windows import computed
from lipstick.errors import NeedsSparkError
from rewriter.interpret import (
    Interpreted,
    OrderKey,
    Template,
    WindowCall,
    from_arrow,
    interpret,
    windowed,
)
from rewriter.scalars.text import scalar as parsed

_NUMBERED = "x"
"""The alias of the columns, which are named by number."""
_WORLD = "world"
_TAKING = frozenset({"first", "first_value", "any_value", "last", "last_value", "nth_value"})


class OverRows:
    """A window function as a function of the rows of a block.

    The operands of a row are the arguments, then the partition and sort keys.

    Parameters
    ----------
    call
        The window function.
    types
        The types of the operands.

    Attributes
    ----------
    call
        The window function over columns that are numbered as the operands.
    """

    def __init__(self, call: WindowCall, types: Sequence[pa.DataType]) -> None:
        self._text = call.text
        self._types = tuple(types)
        self.call = _over_columns(call)
        # Names of columns are not part of the identity of a function.
        self.name = identity(Template(interpret(parsed(call.text))), types)
        self.label = call.text.replace("m.", "").replace("`", "")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_over_rows, (self._text, self._types))

    @property
    def taken(self) -> tuple[int, ...]:
        """The positions of the operands from which every non-NULL value is taken, each from some
        row.
        """
        if self.call.function in ("lag", "lead"):
            return (0, 2) if len(self.call.arguments) > 2 else (0,)
        return (0,) if self.call.function in _TAKING else ()

    @cached_property
    def type(self) -> pa.DataType:
        """The type of its values."""
        return self._computed([[]]).type

    def __call__(self, relations: Sequence[Sequence[Case]]) -> list[list[Any]]:
        """See :class:`semiring.circuit.operands.WindowFunction`."""
        values = self._computed(relations).to_pylist()
        bounds = np.cumsum([0, *map(len, relations)]).tolist()
        return [values[a:b] for a, b in pairwise(bounds)]

    def _computed(self, relations: Sequence[Sequence[Case]]) -> pa.Array:
        sizes = [len(rows) for rows in relations]
        rows = [row for relation in relations for row in relation]
        columns = {
            str(number): typed([row[number] for row in rows], kind)
            for number, kind in enumerate(self._types)
        }
        columns[_WORLD] = pa.array(np.repeat(np.arange(len(sizes)), sizes), pa.int64())
        try:
            return computed(self.call, lambda _, name: from_arrow(columns[name]), len(rows))
        except NeedsSparkError as error:
            raise only_spark(self._text) from error


def _over_rows(text: str, types: tuple[pa.DataType, ...]) -> OverRows:
    (call,) = windowed(parsed(text)).calls
    return OverRows(call, types)


def operands_of(call: WindowCall) -> list[Interpreted]:
    """Return the operands of a window function, in the order of :class:`OverRows`."""
    aggregated = call.aggregate.arguments if call.aggregate is not None else ()
    keys = (key.scalar for key in call.order)
    return [*call.arguments, *aggregated, *call.partition, *keys]


def _over_columns(call: WindowCall) -> WindowCall:
    """Return the same function over numbered columns, partitioned by world."""
    numbers = iter(range(len(operands_of(call))))

    def column(scalar: Interpreted) -> Interpreted:
        number = next(numbers)
        # Constants stay what they are: distances and numbers of buckets are read as such.
        return scalar if not scalar.columns else _column(str(number))

    arguments = tuple(map(column, call.arguments))
    aggregate = call.aggregate
    if aggregate is not None:
        aggregate = replace(aggregate, arguments=tuple(map(column, aggregate.arguments)))
    partition = tuple(map(column, call.partition))
    keys = tuple(OrderKey(column(k.scalar), k.descending, k.nulls_first) for k in call.order)
    return replace(
        call,
        arguments=arguments,
        aggregate=aggregate,
        partition=(_column(_WORLD), *partition),
        order=keys,
    )


def _column(name: str) -> Interpreted:
    return Interpreted(
        name, ((_NUMBERED, name),), (_NUMBERED, name), lambda resolve: resolve(_NUMBERED, name)
    )

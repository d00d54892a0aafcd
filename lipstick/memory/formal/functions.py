"""Scalars, aggregates and window functions as functions of plain values, for formal values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.errors import CapabilityError, CaptureError, NeedsSparkError
from lipstick.memory.aggregates import reaggregate
from lipstick.memory.state import needs_spark
from lipstick.memory.windows import computed
from rewriter.interpret import (
    AggregateCall,
    FailedError,
    Interpreted,
    OrderKey,
    Template,
    UninterpretableError,
    Vector,
    WindowCall,
    aggregate_call,
    cast,
    from_arrow,
    interpret,
    windowed,
)
from rewriter.scalars.text import scalar as parsed
from semiring.errors import ExactnessError

Case: TypeAlias = tuple[Any, ...]

_OWN = "x"
"""The alias of the columns that functions here are over: by their numbers."""
_WORLD = "world"
_NO_LONGER = frozenset({"array_compact", "array_distinct", "array_sort", "filter", "sort_array"})


class ScalarFunction:
    """A scalar of a block as a function of the columns that it reads.

    Parameters
    ----------
    scalar
        The scalar.
    types
        The types of ``scalar.columns``.
    """

    def __init__(self, scalar: Interpreted, types: Sequence[pa.DataType]) -> None:
        self._scalar = scalar
        self._types = tuple(types)
        self.name = f"{scalar.text} of {', '.join(map(str, types))}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_scalar_function, (self._scalar.text, self._types))

    @cached_property
    def type(self) -> pa.DataType:
        """The type of its values."""
        return self._vector([]).type

    @property
    def computable(self) -> bool:
        """Whether its values are known without Spark."""
        try:
            return self._scalar.run is not None and self.type is not None
        except UninterpretableError:
            return False

    @property
    def lengthens_nothing(self) -> bool:
        """Whether it is a list with no more elements than the one that it is of."""
        return self._scalar.text.partition("(")[0].lower() in _NO_LONGER

    def text(self, operands: Sequence[str]) -> str:
        """See :class:`semiring.values.Function`."""
        return self._template.filled(operands)

    @cached_property
    def _template(self) -> Template:
        return Template(self._scalar)

    def __call__(self, cases: Sequence[Case]) -> list[Any]:
        """See :class:`semiring.values.Function`."""
        try:
            vector = self._vector(cases).broadcast(len(cases))
            failed = vector.failed
            values: list[Any] = vector.to_arrow(
                len(cases), None if failed is None else ~failed
            ).to_pylist()
        except UninterpretableError as error:
            raise _only_spark(self._scalar.text) from error
        return values

    def _vector(self, cases: Sequence[Case]) -> Vector:
        places = {column: number for number, column in enumerate(self._scalar.columns)}
        columns: dict[int, Vector] = {}

        def resolve(alias: str, name: str) -> Vector:
            number = places[alias, name]
            if number not in columns:
                columns[number] = from_arrow(typed([c[number] for c in cases], self._types[number]))
            return columns[number]

        return self._scalar.evaluate(resolve)


def _scalar_function(text: str, types: tuple[pa.DataType, ...]) -> ScalarFunction:
    return ScalarFunction(interpret(parsed(text)), types)


class Aggregation:
    """An aggregate as a function of bags of its arguments.

    Parameters
    ----------
    call
        The aggregate.
    types
        The types of its arguments.
    kind
        The type of its values.
    """

    def __init__(
        self, call: AggregateCall, types: Sequence[pa.DataType], kind: pa.DataType
    ) -> None:
        self._call = call
        self._types = tuple(types)
        self._kind = kind
        self.name = call.function or call.text.split("(")[0]
        if call.distinct:
            self.name += " DISTINCT"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_aggregation, (self._call.text, self._types, self._kind))

    @property
    def collects(self) -> bool:
        """Whether its values are lists of at most as many elements as there are rows."""
        return self._call.anew is not None and self._call.anew.name.startswith("collect")

    def __call__(self, bags: Sequence[Sequence[Case]]) -> list[Any]:
        """See :class:`semiring.values.AggregateFunction`."""
        call = self._call
        if call.function is None and call.anew is None:
            raise _only_spark(call.text)
        offsets = np.zeros(len(bags) + 1, dtype=np.int64)
        np.cumsum([len(bag) for bag in bags], out=offsets[1:])
        if not call.arguments:
            return [len(bag) for bag in bags]
        rows = [row for bag in bags for row in bag]
        columns = [
            typed([row[number] for row in rows], kind) for number, kind in enumerate(self._types)
        ]
        try:
            aggregated = reaggregate(call, columns, offsets)
            if aggregated.type != self._kind:
                aggregated = cast(from_arrow(aggregated), self._kind).to_arrow(len(aggregated))
        except UninterpretableError as error:
            raise _only_spark(call.text) from error
        except (FailedError, ExactnessError) as error:
            raise CaptureError(f"{call.text} fails without the deleted rows: {error}") from error
        values: list[Any] = aggregated.to_pylist()
        return values


def _aggregation(text: str, types: tuple[pa.DataType, ...], kind: pa.DataType) -> Aggregation:
    return Aggregation(aggregate_call(parsed(text)), types, kind)


class OverRows:
    """A window function as a function of the rows of a block.

    The operands of a row are the arguments, then what rows are partitioned and sorted by.

    Parameters
    ----------
    call
        The window function.
    types
        The types of the operands.
    """

    def __init__(self, call: WindowCall, types: Sequence[pa.DataType]) -> None:
        self._text = call.text
        self._types = tuple(types)
        self._call = _over_columns(call)
        self.name = f"{call.text} of {', '.join(map(str, types))}"
        self.label = call.text.replace("m.", "").replace("`", "")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_over_rows, (self._text, self._types))

    @cached_property
    def type(self) -> pa.DataType:
        """The type of its values."""
        return self._computed([[]]).type

    def __call__(self, relations: Sequence[Sequence[Case]]) -> list[list[Any]]:
        """See :class:`semiring.values.WindowFunction`."""
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
            return computed(self._call, lambda _, name: from_arrow(columns[name]), len(rows))
        except NeedsSparkError as error:
            raise _only_spark(self._text) from error


def _over_rows(text: str, types: tuple[pa.DataType, ...]) -> OverRows:
    (call,) = windowed(parsed(text)).calls
    return OverRows(call, types)


def operands_of(call: WindowCall) -> list[Interpreted]:
    """What a window function reads of a row, in the order of :class:`OverRows`."""
    aggregated = call.aggregate.arguments if call.aggregate is not None else ()
    keys = (key.scalar for key in call.order)
    return [*call.arguments, *aggregated, *call.partition, *keys]


def _over_columns(call: WindowCall) -> WindowCall:
    """The same function over numbered columns, worlds apart."""
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
    return Interpreted(name, ((_OWN, name),), (_OWN, name), lambda resolve: resolve(_OWN, name))


def typed(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Python values as an Arrow array of a type.

    Raises
    ------
    NeedsSparkError
        For values of another type, which Spark converts.
    """
    if pa.types.is_null(kind):
        return pa.nulls(len(values))
    if pa.types.is_floating(kind):
        values = [None if value is None else float(value) for value in values]
    try:
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise needs_spark(f"values as {kind}") from error


def typed_values(values: Sequence[Any], kind: pa.DataType) -> list[Any]:
    """Python values as those of a type are read: an integer as a decimal, say."""
    values_of_type: list[Any] = typed(values, kind).to_pylist()
    return values_of_type


def _only_spark(text: str) -> CapabilityError:
    return CapabilityError(
        f"Whether and how a row depends on {text} is only known to Spark, which computes it.\n"
        "Ask what_if() for what a deletion does, with Spark; polynomials() has the expression."
    )

"""Scalars and aggregates as functions of plain values, for formal values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.aggregates import reaggregate
from lipstick.engines.memory.state import needs_spark, spark_scalar
from lipstick.errors import CapabilityError, CaptureError, NeedsSparkError
from rewriter.interpret import (
    AggregateCall,
    FailedError,
    Interpreted,
    Template,
    UninterpretableError,
    Vector,
    aggregate_call,
    branches,
    cast,
    from_arrow,
    interpret,
    steps,
)
from rewriter.scalars.text import scalar as parsed
from semiring.arrays.segments import bounds
from semiring.errors import ExactnessError

Case: TypeAlias = tuple[Any, ...]

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

    def __reduce__(self) -> tuple[Any, ...]:
        return (_scalar_function, (self._scalar.text, self._types))

    @cached_property
    def name(self) -> str:
        """See :class:`semiring.circuit.operands.Function`: it contains no names of columns."""
        return identity(self._template, self._types)

    @cached_property
    def type(self) -> pa.DataType:
        """The type of its values."""
        try:
            return self._vector(lambda number: pa.array([], self._types[number])).type
        except UninterpretableError:
            if spark_scalar.get() is None:
                raise
        return self._by_spark([pa.array([], kind) for kind in self._types], 0).type

    @property
    def sql(self) -> str:
        """The Spark SQL of the scalar, with the names of columns."""
        return self._scalar.text

    def steps(self, plain: Callable[[Any], Any]) -> Any | None:
        """The scalar as :func:`rewriter.interpret.steps` over its operands, or None."""
        return steps(self._scalar.text, self._scalar.columns, self._types, plain)

    @property
    def computable(self) -> bool:
        """True if its values are known without Spark."""
        try:
            return self._scalar.run is not None and self.type is not None
        except UninterpretableError:
            return False

    @cached_property
    def outcomes(self) -> tuple[Any, ...] | None:
        """All possible values, if they are constants of a CASE, else None."""
        constants = branches(parsed(self._scalar.text))
        if not constants or any(c.columns or c.run is None for c in constants):
            return None
        if not self.computable:
            return None
        found = [cast(c.evaluate(_no_column), self.type).to_arrow(1)[0].as_py() for c in constants]
        return tuple(dict.fromkeys(found))

    @property
    def lengthens_nothing(self) -> bool:
        """True if it is a list with no more elements than its first argument."""
        return self._scalar.text.partition("(")[0].lower() in _NO_LONGER

    def text(self, operands: Sequence[str]) -> str:
        """See :class:`semiring.circuit.operands.Function`."""
        return self._template.filled(operands)

    @cached_property
    def _template(self) -> Template:
        return Template(self._scalar)

    def __call__(self, cases: Sequence[Case]) -> list[Any]:
        """See :class:`semiring.circuit.operands.Function`."""
        columns = [
            typed([case[number] for case in cases], kind) for number, kind in enumerate(self._types)
        ]
        values: list[Any] = self.of_columns(columns, len(cases)).to_pylist()
        return values

    def of_columns(self, columns: Sequence[pa.Array], length: int) -> pa.Array:
        """Return its values for the rows of plain columns; NULL where Spark would fail.

        Raises
        ------
        CapabilityError
            When only Spark can compute it.
        """
        try:
            vector = self._vector(columns.__getitem__).broadcast(length)
            failed = vector.failed
            return vector.to_arrow(length, None if failed is None else ~failed)
        except UninterpretableError:
            return self._by_spark(columns, length)

    def _by_spark(self, columns: Sequence[pa.Array], length: int) -> pa.Array:
        compute = spark_scalar.get()
        if compute is None:
            raise only_spark(self._scalar.text)
        named: dict[tuple[str, str], pa.Array] = dict(
            zip(self._scalar.columns, columns, strict=True)
        )
        return compute(self._scalar.text, named, length, None)

    def _vector(self, column: Callable[[int], pa.Array]) -> Vector:
        places = {name: number for number, name in enumerate(self._scalar.columns)}
        columns: dict[int, Vector] = {}

        def resolve(alias: str, name: str) -> Vector:
            number = places[alias, name]
            if number not in columns:
                columns[number] = from_arrow(column(number))
            return columns[number]

        return self._scalar.evaluate(resolve)


def _no_column(alias: str, name: str) -> Vector:
    raise KeyError((alias, name))


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
        self.label = call.function or call.text.split("(")[0]
        if call.distinct:
            self.label += " DISTINCT"
        # Names of columns are not part of the identity of a function.
        shown = self.label if call.function or call.anew else call.text
        self.name = f"{shown} {call.anew or ''} of {', '.join(map(str, types))} as {kind}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_aggregation, (self._call.text, self._types, self._kind))

    @property
    def collects(self) -> bool:
        """True if its values are lists with at most one element per row."""
        return self._call.anew is not None and self._call.anew.name.startswith("collect")

    def __call__(self, bags: Sequence[Sequence[Case]]) -> list[Any]:
        """See :class:`semiring.circuit.operands.AggregateFunction`."""
        call = self._call
        if call.function is None and call.anew is None:
            raise only_spark(call.text)
        offsets = bounds(np.array([*map(len, bags)], dtype=np.int64))
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
        except (UninterpretableError, NeedsSparkError) as error:
            raise only_spark(call.text) from error
        except (FailedError, ExactnessError) as error:
            raise CaptureError(f"{call.text} fails on these rows: {error}") from error
        values: list[Any] = aggregated.to_pylist()
        return values


def _aggregation(text: str, types: tuple[pa.DataType, ...], kind: pa.DataType) -> Aggregation:
    return Aggregation(aggregate_call(parsed(text)), types, kind)


def typed(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return Python values as an Arrow array of a type.

    Raises
    ------
    NeedsSparkError
        For values of a different type, which Spark converts.
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
    """Return Python values as Arrow reads values of a type: an integer as a decimal, say."""
    values_of_type: list[Any] = typed(values, kind).to_pylist()
    return values_of_type


def identity(template: Template, types: Sequence[pa.DataType]) -> str:
    """Return the identity of a function: its text without the names of columns, and the types."""
    return f"{template.numbered} of {', '.join(map(str, types))}"


def only_spark(text: str) -> CapabilityError:
    """Return the error for a function that only Spark computes and whose values must be known."""
    return CapabilityError(
        f"Only Spark, which computes {text}, knows whether and how a row depends on it.\n"
        "Ask what_if() for the effect of a deletion, with Spark; polynomials() has the expression."
    )

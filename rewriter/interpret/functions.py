"""The few functions that are evaluated without Spark, each exactly as Spark does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rewriter.interpret import arrays, structs, times
from rewriter.interpret.arithmetic import absolute, divide_half_up
from rewriter.interpret.logic import coalesce, extreme
from rewriter.interpret.vector import UninterpretableError, Vector, common_length, from_arrow

Function: TypeAlias = Callable[[Sequence[Vector]], Vector]


def _array(vector: Vector, length: int | None = None) -> pa.Array:
    return vector.to_arrow(len(vector) if length is None else length)


def _strings(vectors: Sequence[Vector]) -> None:
    for vector in vectors:
        if not pa.types.is_string(vector.type):
            raise UninterpretableError(f"a function of {vector.type}")


def _date_part(kernel: Callable[[Any], Any]) -> Function:
    def run(arguments: Sequence[Vector]) -> Vector:
        (date,) = arguments
        if not pa.types.is_date32(date.type):
            raise UninterpretableError(f"a part of {date.type}")
        return from_arrow(kernel(_array(date)).cast(pa.int32()))

    return run


def _instant(microseconds: int) -> Function:
    """Whole numbers of so many microseconds since 1970, as instants."""

    def run(arguments: Sequence[Vector]) -> Vector:
        (count,) = arguments
        if not pa.types.is_signed_integer(count.type) or count.failed is not None:
            raise UninterpretableError(f"an instant of {count.type}")
        try:
            since = pc.multiply_checked(_array(count).cast(pa.int64()), microseconds)
        except pa.ArrowInvalid as error:
            raise UninterpretableError("an instant beyond 64 bits") from error
        return from_arrow(since.cast(pa.timestamp("us", "UTC")))

    return run


def _case(kernel: Callable[[Any], Any]) -> Function:
    def run(arguments: Sequence[Vector]) -> Vector:
        (value,) = arguments
        _strings(arguments)
        array = _array(value)
        # Beyond ASCII, Java and Arrow do not agree on every letter.
        if not pc.all(pc.string_is_ascii(array), min_count=0).as_py():
            raise UninterpretableError("letters beyond ASCII")
        return from_arrow(kernel(array))

    return run


def _length(arguments: Sequence[Vector]) -> Vector:
    _strings(arguments)
    return from_arrow(pc.utf8_length(_array(arguments[0])).cast(pa.int32()))


def _concat(arguments: Sequence[Vector]) -> Vector:
    _strings(arguments)
    length = common_length(*arguments)
    arrays = [_array(argument, length) for argument in arguments]
    return from_arrow(pc.binary_join_element_wise(*arrays, ""))


def _substring(arguments: Sequence[Vector]) -> Vector:
    value, start, size = arguments
    _strings([value])
    if not all(len(part) == 1 and isinstance(part.values, np.ndarray) for part in (start, size)):
        raise UninterpretableError("a substring at places that vary")
    first, count = int(start.values[0]), int(size.values[0])
    if first < 0 or count < 0 or start.null is not None or size.null is not None:
        raise UninterpretableError("a substring from the end")
    # Position 0 is read as 1.
    first = max(first - 1, 0)
    return from_arrow(pc.utf8_slice_codeunits(_array(value), first, first + count))


def _round(arguments: Sequence[Vector]) -> Vector:
    """ROUND of exact numbers, half away from zero, to a type as Spark has it."""
    value, digits = arguments[0], 0
    if len(arguments) == 2:
        places = arguments[1]
        if len(places) != 1 or places.null is not None or not isinstance(places.values, np.ndarray):
            raise UninterpretableError("a rounding to digits that vary")
        digits = int(places.values[0])
    if pa.types.is_signed_integer(value.type) and digits >= 0:
        return value
    if not pa.types.is_decimal128(value.type) or digits < 0:
        raise UninterpretableError(f"a rounding of {value.type}")
    scale = min(digits, value.type.scale)
    precision = min(value.type.precision - value.type.scale + 1 + scale, 38)
    if scale == value.type.scale:
        rounded = value.values
    else:
        unit = np.full(len(value), 10 ** (value.type.scale - scale), dtype=object)
        rounded = divide_half_up(value.values.astype(object), unit)
    return Vector(pa.decimal128(precision, scale), rounded, value.null, value.failed)


def _raise_error(arguments: Sequence[Vector]) -> Vector:
    """A value that fails wherever it is asked for: CASE asks for it in some rows alone."""
    length = common_length(*arguments)
    failed = np.ones(length, dtype=np.bool_)
    return Vector(pa.null(), np.zeros(length, dtype=np.bool_), ~failed, failed)


FUNCTIONS: dict[tuple[str, int | None], Function] = {
    ("abs", 1): lambda arguments: absolute(arguments[0]),
    ("year", 1): _date_part(pc.year),
    ("month", 1): _date_part(pc.month),
    ("day", 1): _date_part(pc.day),
    ("dayofmonth", 1): _date_part(pc.day),
    ("ifnull", 2): coalesce,
    ("nvl", 2): coalesce,
    ("upper", 1): _case(pc.ascii_upper),
    ("ucase", 1): _case(pc.ascii_upper),
    ("lower", 1): _case(pc.ascii_lower),
    ("lcase", 1): _case(pc.ascii_lower),
    ("length", 1): _length,
    ("char_length", 1): _length,
    ("array", 0): arrays.of_values,
    ("array", None): arrays.of_values,
    ("array_compact", 1): arrays.array_compact,
    ("array_contains", 2): arrays.array_contains,
    ("array_distinct", 1): arrays.array_distinct,
    ("array_max", 1): arrays.extreme(largest=True),
    ("array_min", 1): arrays.extreme(largest=False),
    ("array_sort", 1): arrays.array_sort,
    ("cardinality", 1): arrays.size,
    ("concat", None): _concat,
    ("get", 2): arrays.get,
    ("greatest", None): lambda arguments: extreme(">", arguments),
    ("least", None): lambda arguments: extreme("<", arguments),
    ("map", None): arrays.of_entries,
    ("map_from_entries", 1): arrays.map_from_entries,
    ("map_keys", 1): arrays.map_part(0),
    ("map_values", 1): arrays.map_part(1),
    ("sequence", 2): arrays.sequence,
    ("size", 1): arrays.size,
    ("slice", 3): arrays.slice_of,
    ("sort_array", 1): arrays.sort_array,
    ("sort_array", 2): arrays.sort_array,
    ("unix_micros", 1): times.unix_micros,
    ("window", 4): times.window,
    ("named_struct", None): structs.named,
    ("raise_error", 1): _raise_error,
    ("timestamp_micros", 1): _instant(1),
    ("timestamp_millis", 1): _instant(1_000),
    ("round", 1): _round,
    ("round", 2): _round,
    ("substring", 3): _substring,
    ("substr", 3): _substring,
}
"""By name and number of arguments; None: any number, at least one."""


def function(name: str, arguments: int) -> Function | None:
    """The function of that name, or None if only Spark has it."""
    rule = FUNCTIONS.get((name, arguments))
    return rule or (FUNCTIONS.get((name, None)) if arguments else None)

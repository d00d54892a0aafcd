"""The few functions that are evaluated without Spark, each exactly as Spark does."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from math import isfinite

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rewriter.interpret import arrays, dates, texts, times
from rewriter.interpret.arithmetic import absolute, divide_half_up, to_floats
from rewriter.interpret.logic import choose, coalesce, extreme, is_null, negation
from rewriter.interpret.texts import Function
from rewriter.interpret.vector import (
    UninterpretableError,
    Vector,
    common_length,
    from_arrow,
    is_number,
)
from semiring.arrays.exact import shrink

_WHOLE = 2.0**53
"""Doubles are whole numbers of their own below."""
_DIGITS = 30
"""Doubles are rounded to so many digits at most."""
_WIDE = Context(prec=400)


def _instant(microseconds: int) -> Function:
    """Whole numbers of so many microseconds since 1970, as instants."""

    def run(arguments: Sequence[Vector]) -> Vector:
        (count,) = arguments
        if not pa.types.is_signed_integer(count.type) or count.failed is not None:
            raise UninterpretableError(f"an instant of {count.type}")
        try:
            since = pc.multiply_checked(texts.array_of(count).cast(pa.int64()), microseconds)
        except pa.ArrowInvalid as error:
            raise UninterpretableError("an instant beyond 64 bits") from error
        return from_arrow(since.cast(pa.timestamp("us", "UTC")))

    return run


def _sqrt(arguments: Sequence[Vector]) -> Vector:
    """SQRT, which IEEE rounds correctly: NaN of negative numbers."""
    (value,) = arguments
    if not is_number(value.type):
        raise UninterpretableError(f"a square root of {value.type}")
    with np.errstate(all="ignore"):
        roots = np.sqrt(to_floats(value))
    return Vector(pa.float64(), roots, value.null, value.failed)


def _whole(up: bool) -> Function:
    """FLOOR or CEIL, as a BIGINT; of a decimal as a decimal."""

    def run(arguments: Sequence[Vector]) -> Vector:
        (value,) = arguments
        if pa.types.is_signed_integer(value.type):
            return Vector(pa.int64(), value.values, value.null, value.failed)
        if pa.types.is_decimal128(value.type):
            precision, scale = value.type.precision, value.type.scale
            kind = pa.decimal128(min(precision - scale + 1, 38), 0) if scale else value.type
            values = value.values.astype(object)
            whole = -((-values) // 10**scale) if up else values // 10**scale
            return Vector(kind, shrink(whole), value.null, value.failed)
        if not pa.types.is_float64(value.type):
            raise UninterpretableError(f"a whole number of {value.type}")
        floats = np.where(value.nulls, 0.0, value.values)
        if not (np.abs(floats) < _WHOLE).all():
            raise UninterpretableError("a whole number beyond doubles")
        whole = (np.ceil if up else np.floor)(floats).astype(np.int64)
        return Vector(pa.int64(), whole, value.null, value.failed)

    return run


def _rounded_doubles(value: Vector, digits: int) -> Vector:
    """ROUND of doubles: of their shortest decimal texts, half away from zero."""
    unit = Decimal(1).scaleb(-digits)
    numbers, which = np.unique(np.where(value.nulls, 0.0, value.values), return_inverse=True)

    def rounded(number: float) -> float:
        if not isfinite(number):
            return number
        # Decimals of Java have no negative zero.
        return float(Decimal(repr(number)).quantize(unit, ROUND_HALF_UP, _WIDE)) + 0.0

    values = np.array([rounded(number) for number in numbers.tolist()], dtype=np.float64)
    return Vector(value.type, values[which.reshape(-1)], value.null, value.failed)


def _round(arguments: Sequence[Vector]) -> Vector:
    """ROUND, half away from zero, to a type as Spark has it."""
    value, digits = arguments[0], 0
    if len(arguments) == 2:
        places = arguments[1]
        if len(places) != 1 or places.null is not None or not isinstance(places.values, np.ndarray):
            raise UninterpretableError("a rounding to digits that vary")
        digits = int(places.values[0])
    if pa.types.is_signed_integer(value.type) and digits >= 0:
        return value
    if pa.types.is_float64(value.type) and abs(digits) <= _DIGITS:
        return _rounded_doubles(value, digits)
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


def _nvl2(arguments: Sequence[Vector]) -> Vector:
    """NVL2: the second argument where the first is not NULL, else the third."""
    value, known, unknown = arguments
    return choose([negation(is_null(value))], [known], unknown)


def _raise_error(arguments: Sequence[Vector]) -> Vector:
    """A value that fails wherever it is asked for: CASE asks for it in some rows alone."""
    length = common_length(*arguments)
    failed = np.ones(length, dtype=np.bool_)
    return Vector(pa.null(), np.zeros(length, dtype=np.bool_), ~failed, failed)


FUNCTIONS: dict[tuple[str, int | None], Function] = {
    ("sqrt", 1): _sqrt,
    ("floor", 1): _whole(up=False),
    ("ceil", 1): _whole(up=True),
    ("ceiling", 1): _whole(up=True),
    ("date", 1): lambda arguments: dates.to_date(arguments[0]),
    ("to_date", 1): lambda arguments: dates.to_date(arguments[0]),
    ("add_months", 2): dates.add_months,
    ("date_add", 2): dates.shifted(1),
    ("date_sub", 2): dates.shifted(-1),
    ("datediff", 2): dates.datediff,
    ("date_diff", 2): dates.datediff,
    ("date_format", 2): dates.date_format,
    ("date_trunc", 2): dates.date_trunc,
    ("trunc", 2): dates.trunc,
    ("last_day", 1): dates.last_day,
    ("unix_timestamp", 1): dates.seconds,
    ("unix_timestamp", 2): dates.seconds,
    ("unix_seconds", 1): dates.whole_units(1_000_000),
    ("unix_millis", 1): dates.whole_units(1_000),
    ("unix_micros", 1): dates.whole_units(1),
    ("nvl2", 3): _nvl2,
    ("abs", 1): lambda arguments: absolute(arguments[0]),
    ("year", 1): dates.part(pc.year),
    ("quarter", 1): dates.part(pc.quarter),
    ("month", 1): dates.part(pc.month),
    ("week", 1): dates.part(pc.iso_week),
    ("weekofyear", 1): dates.part(pc.iso_week),
    ("day", 1): dates.part(pc.day),
    ("dayofmonth", 1): dates.part(pc.day),
    ("dayofweek", 1): dates.part(pc.day_of_week, count_from_zero=False, week_start=7),
    ("weekday", 1): dates.part(pc.day_of_week),
    ("dayofyear", 1): dates.part(pc.day_of_year),
    ("hour", 1): dates.clock_part(pc.hour),
    ("minute", 1): dates.clock_part(pc.minute),
    ("second", 1): dates.clock_part(pc.second),
    ("ifnull", 2): coalesce,
    ("nvl", 2): coalesce,
    ("upper", 1): texts.case(pc.ascii_upper, str.upper),
    ("ucase", 1): texts.case(pc.ascii_upper, str.upper),
    ("lower", 1): texts.case(pc.ascii_lower, str.lower),
    ("lcase", 1): texts.case(pc.ascii_lower, str.lower),
    ("length", 1): texts.length,
    ("char_length", 1): texts.length,
    ("array", 0): arrays.of_values,
    ("array", None): arrays.of_values,
    ("array_compact", 1): arrays.array_compact,
    ("array_contains", 2): arrays.array_contains,
    ("array_distinct", 1): arrays.array_distinct,
    ("array_max", 1): arrays.extreme(largest=True),
    ("array_min", 1): arrays.extreme(largest=False),
    ("array_sort", 1): arrays.array_sort,
    ("cardinality", 1): arrays.size,
    ("concat", None): texts.concat,
    ("concat_ws", None): texts.concat_ws,
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
    ("window", 4): times.window,
    ("named_struct", None): arrays.named,
    ("raise_error", 1): _raise_error,
    ("timestamp_micros", 1): _instant(1),
    ("timestamp_millis", 1): _instant(1_000),
    ("round", 1): _round,
    ("round", 2): _round,
    ("trim", 1): texts.trimmed(pc.utf8_trim),
    ("btrim", 1): texts.trimmed(pc.utf8_trim),
    ("ltrim", 1): texts.trimmed(pc.utf8_ltrim),
    ("rtrim", 1): texts.trimmed(pc.utf8_rtrim),
    ("replace", 3): texts.replace,
    ("startswith", 2): texts.found(pc.starts_with),
    ("endswith", 2): texts.found(pc.ends_with),
    ("contains", 2): texts.found(pc.match_substring),
    ("md5", 1): texts.hashed("md5"),
    ("sha", 1): texts.hashed("sha1"),
    ("sha1", 1): texts.hashed("sha1"),
    ("sha2", 2): texts.sha2,
    ("substring", 2): texts.substring,
    ("substr", 2): texts.substring,
    ("substring", 3): texts.substring,
    ("substr", 3): texts.substring,
}
"""By name and number of arguments; None: any number, at least one."""


def function(name: str, arguments: int) -> Function | None:
    """The function of that name, or None if only Spark has it."""
    rule = FUNCTIONS.get((name, arguments))
    return rule or (FUNCTIONS.get((name, None)) if arguments else None)

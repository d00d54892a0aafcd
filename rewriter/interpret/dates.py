"""Dates, and instants as the clocks of the session's time zone show them, exactly as in Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, tzinfo
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rewriter.algebra import Scalar
from rewriter.interpret.texts import Function, array_of, constant_text
from rewriter.interpret.times import literal_interval
from rewriter.interpret.vector import (
    UninterpretableError,
    Vector,
    common_length,
    from_arrow,
    session_zone,
)
from semiring.base import Array

_UTC: Final = {"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z"}
_NAMED: Final = re.compile(r"[+-]\d\d:\d\d|[A-Z]\w+(/[\w+-]+)+")
"""Time zones that are called the same by Java and by Arrow."""

_NAIVE, _INSTANT = pa.timestamp("us"), pa.timestamp("us", "UTC")
_DAY: Final = 86_400_000_000
_KNOWN: Final = (10_592 * _DAY, 24_472 * _DAY)
"""Instants, from 1999 to 2036, for which Java's and Arrow's tables of time zones agree."""

_WRITTEN: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?"
)
_PATTERN: Final = re.compile(r"yyyy|MM|dd|HH|mm|ss|[^A-Za-z'\[\]#{}]")
_DIRECTIVES: Final = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_YEARS: Final = (1000, 9999)
"""Years that all formats write with four digits."""

_UNITS: Final = {
    **dict.fromkeys(("year", "yyyy", "yy"), "Y"),
    "quarter": "quarter",
    **dict.fromkeys(("month", "mm", "mon"), "M"),
    "week": "week",
    **dict.fromkeys(("day", "dd"), "D"),
    "hour": "h",
    "minute": "m",
    "second": "s",
}
"""Units of TRUNC and DATE_TRUNC, as numpy calls them."""
_CLOCKS: Final = {"h", "m", "s"}

_STEPS: Final = {
    "day": (1, "D"),
    "week": (7, "D"),
    "month": (1, "M"),
    "quarter": (3, "M"),
    "year": (12, "M"),
}
"""Units of intervals that calendars count, as whole days or whole months."""


def time_zone() -> str:
    """Return the time zone in which instants are seen, as Arrow calls it.

    Raises
    ------
    UninterpretableError
        It is not known, or Arrow may call another one so.
    """
    name = session_zone.get()
    if name in _UTC:
        return "UTC"
    if name is None or not _NAMED.fullmatch(name):
        raise UninterpretableError(f"instants in the time zone {name}")
    return name


def on_clock(value: datetime) -> datetime:
    """Return an instant as the session's clock shows it, without an offset.

    The offset stays where the clock shows a time twice, and where the session's zone is not known.
    """
    try:
        local = value.astimezone(_tzinfo(time_zone()))
    except UninterpretableError:
        return value
    twice = local.utcoffset() != local.replace(fold=1 - local.fold).utcoffset()
    return local if twice else local.replace(tzinfo=None)


def on_clocks(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column of instants as `on_clock` does, without an offset; others as they are."""
    if not pa.types.is_timestamp(column.type) or column.type.tz is None:
        return column
    try:
        return pc.local_timestamp(column.cast(pa.timestamp("us", time_zone())))
    except UninterpretableError:
        return column


@lru_cache(maxsize=16)
def _tzinfo(zone: str) -> tzinfo | None:
    shown: datetime = pa.scalar(0, pa.timestamp("us", zone)).as_py()
    return shown.tzinfo


def clocks(time: Vector, length: int | None = None) -> pa.Array:
    """Return what clocks show at instants, as timestamps without a zone; at dates midnight.

    Raises
    ------
    UninterpretableError
        For values of other types, and instants whose local time may be another in Spark.
    """
    array = _times(time, length)
    if pa.types.is_date32(array.type):
        return array.cast(_NAIVE)
    if not pa.types.is_timestamp(array.type):
        raise UninterpretableError(f"a time of {array.type}")
    if array.type.tz is None:
        return array.cast(_NAIVE)
    zone = time_zone()
    if zone == "UTC":
        return array.cast(_INSTANT).cast(pa.int64()).cast(_NAIVE)
    _check_known(array)
    try:
        return pc.local_timestamp(array.cast(pa.timestamp("us", zone)))
    except pa.ArrowInvalid as error:
        raise UninterpretableError(f"instants in the time zone {zone}") from error


def _times(time: Vector, length: int | None = None) -> pa.Array:
    if time.failed is not None:
        raise UninterpretableError("times of values that fail")
    return array_of(time, length)


def instants(local: pa.Array) -> pa.Array:
    """Return the instants at which clocks show some times.

    Raises
    ------
    UninterpretableError
        Where clocks show a time never, or twice.
    """
    zone = time_zone()
    if zone == "UTC":
        return local.cast(pa.int64()).cast(_INSTANT)
    try:
        found = pc.assume_timezone(local, zone).cast(_INSTANT)
    except pa.ArrowInvalid as error:
        raise UninterpretableError(f"times that {zone} may not have") from error
    _check_known(found)
    return found


def _check_known(array: pa.Array) -> None:
    ends = pc.min_max(array.cast(_INSTANT).cast(pa.int64())).as_py()
    if ends["min"] is not None and not _KNOWN[0] <= ends["min"] <= ends["max"] <= _KNOWN[1]:
        raise UninterpretableError("the rules of a time zone before 1999 or after 2036")


def moment(value: str | date | datetime, kind: pa.DataType) -> pa.Scalar:
    """Return a date or a timestamp of a type, written as people and Spark write it.

    A time without a zone is one that clocks show.

    Raises
    ------
    UninterpretableError
        For other texts.
    """
    if isinstance(value, str):
        value = _written(value)
    if pa.types.is_date(kind):
        if isinstance(value, datetime):
            raise UninterpretableError(f"a date at {value}")
        return pa.scalar(value, kind)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return pa.scalar(value, kind)
    local = pa.array([value]).cast(_NAIVE)
    return (local if kind.tz is None else instants(local)).cast(kind)[0]


def _written(text: str) -> date | datetime:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise UninterpretableError(f"a time written {text!r}")
    *parts, fraction = match.groups()
    year, month, day, hour, minute, second = (int(part or 0) for part in parts)
    try:
        if parts[3] is None:
            return date(year, month, day)
        micros = int((fraction or "0").ljust(6, "0"))
        return datetime(year, month, day, hour, minute, second, micros)
    except ValueError as error:
        raise UninterpretableError(f"a time written {text!r}") from error


def comparable(left: pa.Array, right: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return two columns, of dates, timestamps or one text, cast as Spark casts to compare them.

    Raises
    ------
    UninterpretableError
        For timestamps with a zone beside ones without, and texts that are no times.
    """
    if pa.types.is_string(left.type):
        return _read(left, right.type), right
    if pa.types.is_string(right.type):
        return left, _read(right, left.type)
    if pa.types.is_date32(left.type):
        return cast_time(from_arrow(left), right.type).values, right
    if pa.types.is_date32(right.type):
        return left, cast_time(from_arrow(right), left.type).values
    if (left.type.tz is None) != (right.type.tz is None):
        raise UninterpretableError(f"a comparison of {left.type} and {right.type}")
    kind = pa.timestamp("us", left.type.tz)
    return left.cast(kind), right.cast(kind)


def is_time(kind: pa.DataType) -> bool:
    """Return True if a type's values are dates or timestamps."""
    return bool(pa.types.is_date32(kind) or pa.types.is_timestamp(kind))


def _read(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    text = texts[0].as_py() if len(texts) == 1 else None
    if text is None:
        raise UninterpretableError("a comparison of times and texts")
    return pa.array([moment(text, kind)], kind)


def cast_time(time: Vector, kind: pa.DataType) -> Vector:
    """CAST of a date or a timestamp to another of these types."""
    if pa.types.is_date32(kind):
        return to_date(time)
    if pa.types.is_timestamp(time.type) and (time.type.tz is None) == (kind.tz is None):
        return Vector(kind, time.values.cast(kind), time.null, time.failed)
    local = clocks(time)
    return from_arrow((local if kind.tz is None else instants(local)).cast(kind))


def to_date(time: Vector) -> Vector:
    """CAST to DATE: the day that a calendar shows."""
    return _days(_numpy(clocks(time)).astype("M8[D]"))


def part(kernel: Callable[..., Any], **options: Any) -> Function:
    """Return a function of a part of a date or an instant, such as YEAR."""

    def run(arguments: Sequence[Vector]) -> Vector:
        return from_arrow(kernel(clocks(arguments[0]), **options).cast(pa.int32()))

    return run


def clock_part(kernel: Callable[..., Any]) -> Function:
    """Return HOUR, MINUTE or SECOND of an instant; a date counts as its first instant."""

    def run(arguments: Sequence[Vector]) -> Vector:
        (time,) = arguments
        began = cast_time(time, _INSTANT) if pa.types.is_date32(time.type) else time
        return from_arrow(kernel(clocks(began)).cast(pa.int32()))

    return run


def shifted(sign: int) -> Function:
    """DATE_ADD or DATE_SUB: dates moved by whole days."""

    def run(arguments: Sequence[Vector]) -> Vector:
        date, days = arguments
        narrow = pa.types.is_signed_integer(days.type) and days.type.bit_width <= 32
        if not pa.types.is_date32(date.type) or not narrow or days.failed is not None:
            raise UninterpretableError(f"{days.type} days after {date.type}")
        rows = common_length(date, days)
        since = _times(date, rows).cast(pa.int32()).cast(pa.int64())
        moved = pc.add(since, pc.multiply(array_of(days, rows).cast(pa.int64()), sign))
        try:
            return from_arrow(moved.cast(pa.int32()).cast(pa.date32()))
        except pa.ArrowInvalid as error:
            raise UninterpretableError("a date beyond 32 bits") from error

    return run


def step_of(node: Scalar) -> tuple[int, str] | None:
    """Return an interval as whole days (``D``) or whole months (``M``); None for other scalars."""
    number, name = literal_interval(node) or (0, "")
    if name not in _STEPS:
        return None
    length, unit = _STEPS[name]
    return number * length, unit


def later(time: Vector, number: int, unit: str) -> Vector:
    """Move dates, or what clocks show at instants, by whole days (``D``) or months (``M``)."""
    local = _numpy(clocks(time))
    days = local.astype("M8[D]")
    moved = days_later(days, number, unit)
    if pa.types.is_date32(time.type):
        return _days(moved)
    shown = pa.array(moved + (local - days), _NAIVE)
    return from_arrow((shown if time.type.tz is None else instants(shown)).cast(time.type))


def days_later(days: Array, number: Array | int, unit: str) -> Array:
    """Return days moved by whole days (``D``) or months (``M``), at most to a month's last day."""
    if unit == "D":
        return days + number
    months = days.astype("M8[M]")
    target = months + number
    same_day = target.astype("M8[D]") + (days - months.astype("M8[D]"))
    moved: Array = np.minimum(same_day, _last_days(target))
    return moved


def _last_days(months: Array) -> Array:
    last: Array = (months + 1).astype("M8[D]") - 1
    return last


def add_months(arguments: Sequence[Vector]) -> Vector:
    """ADD_MONTHS: dates moved by a constant number of months."""
    date, months = arguments
    if len(months) != 1 or not pa.types.is_signed_integer(months.type) or months.null is not None:
        raise UninterpretableError("a number of months that varies")
    return later(to_date(date), int(months.values[0]), "M")


def datediff(arguments: Sequence[Vector]) -> Vector:
    """DATEDIFF: whole days from the second date to the first."""
    if not all(is_time(date.type) for date in arguments):
        raise UninterpretableError("days between other values than dates")
    rows = common_length(*arguments)
    end, start = (array_of(to_date(date), rows).cast(pa.int32()) for date in arguments)
    return from_arrow(pc.subtract(end, start))


def last_day(arguments: Sequence[Vector]) -> Vector:
    """LAST_DAY of the month of a date."""
    return _days(_last_days(_numpy(clocks(arguments[0])).astype("M8[M]")))


def trunc(arguments: Sequence[Vector]) -> Vector:
    """TRUNC: the first day of the year, quarter, month or week of a date."""
    time, unit = arguments[0], _unit(arguments[1])
    if unit in _CLOCKS or unit == "D":
        raise UninterpretableError("a date truncated to a day or less")
    return _days(_truncated(_numpy(clocks(time)).astype("M8[D]"), unit))


def date_trunc(arguments: Sequence[Vector]) -> Vector:
    """DATE_TRUNC: the instant at which the unit of time of an instant began."""
    unit, time = _unit(arguments[0]), arguments[1]
    local = _numpy(clocks(time))
    began = _truncated(local, unit).astype("M8[us]")
    if unit not in _CLOCKS or not pa.types.is_timestamp(time.type) or time.type.tz is None:
        return from_arrow(instants(pa.array(began, _NAIVE)))
    # Within an hour, clocks run as time does.
    since = _numpy(_times(time).cast(_INSTANT).cast(pa.int64()).cast(_NAIVE))
    return from_arrow(pa.array(since - (local - began), _NAIVE).cast(pa.int64()).cast(_INSTANT))


def _unit(unit: Vector) -> str:
    name = constant_text(unit).lower()
    if name not in _UNITS:
        raise UninterpretableError(f"a unit {name!r}")
    return _UNITS[name]


def _truncated(local: Array, unit: str) -> Array:
    if unit == "week":
        days = local.astype("M8[D]")
        return days - (days.astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    if unit == "quarter":
        months = local.astype("M8[M]")
        return months - months.astype(np.int64) % 3
    return local.astype(f"M8[{unit}]")


def seconds(arguments: Sequence[Vector]) -> Vector:
    """UNIX_TIMESTAMP of a time, whatever its second argument, the format of texts, is."""
    time = arguments[0]
    instant = cast_time(time, _INSTANT) if pa.types.is_date32(time.type) else time
    since, null = _since(instant)
    return Vector(pa.int64(), np.sign(since) * (np.abs(since) // 1_000_000), null)


def whole_units(microseconds: int) -> Function:
    """Return UNIX_SECONDS, UNIX_MILLIS or UNIX_MICROS: whole units from 1970 to an instant."""

    def run(arguments: Sequence[Vector]) -> Vector:
        since, null = _since(arguments[0])
        return Vector(pa.int64(), since // microseconds, null)

    return run


def date_format(arguments: Sequence[Vector]) -> Vector:
    """DATE_FORMAT by a constant pattern of years, months, days, hours, minutes and seconds."""
    time, pattern = arguments[0], constant_text(arguments[1])
    tokens = _PATTERN.findall(pattern)
    if "".join(tokens) != pattern:
        raise UninterpretableError(f"a format {pattern!r}")
    local = clocks(cast_time(time, _INSTANT))
    ends = pc.min_max(pc.year(local)).as_py()
    if ends["min"] is not None and not _YEARS[0] <= ends["min"] <= ends["max"] <= _YEARS[1]:
        raise UninterpretableError("years of other than four digits")
    whole = pa.array(_numpy(local).astype("M8[s]"), pa.timestamp("s"))
    written = "".join(_DIRECTIVES.get(token, token.replace("%", "%%")) for token in tokens)
    return from_arrow(pc.strftime(whole, format=written))


def _since(time: Vector) -> tuple[Array, Array | None]:
    """Return the microseconds from 1970 to times, and where there is none."""
    if not pa.types.is_timestamp(time.type):
        raise UninterpretableError(f"the instants of {time.type}")
    since = from_arrow(_times(time).cast(pa.timestamp("us", time.type.tz)).cast(pa.int64()))
    return since.values, since.null


def _numpy(local: pa.Array) -> Array:
    array: Array = local.to_numpy(zero_copy_only=False)
    return array


def _days(days: Array) -> Vector:
    return from_arrow(pa.array(days.astype("M8[D]"), pa.date32()))

"""Instants: time windows, moments before and after, microseconds since 1970."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.interpret.vector import UninterpretableError, Vector, from_arrow
from rewriter.scalars.units import MICROSECONDS
from semiring.base import Array

_DAY = MICROSECONDS["day"]


def window(arguments: Sequence[Vector]) -> Vector:
    """``window``: among windows one after the other that in which an instant is.

    See ``TimeWindowing`` of Spark. Of no instant there is none: NULL.
    """
    time, width, slide, start = arguments
    length, every, first = (_microseconds(part) for part in (width, slide, start))
    if length != every:
        raise UninterpretableError("windows that overlap")
    micros, kind = _since(time), time.type
    since = micros - (micros - first) % every
    null = _unknown(time)
    bounds = [pa.array(bound, mask=null).cast(kind) for bound in (since, since + length)]
    struct = pa.StructArray.from_arrays(bounds, names=["start", "end"], mask=pa.array(null))
    return from_arrow(struct)


def shift_of(node: Scalar) -> int | None:
    """Return how many microseconds an interval has; None for other scalars.

    And for days, which are longer or shorter where clocks change.
    """
    node = node.unnest()
    if isinstance(node, exp.Interval):
        number, unit = literal_interval(node) or (0, "day")
        length = MICROSECONDS.get(unit, _DAY)
        return number * length if max(length, abs(number * length)) < _DAY else None
    if not isinstance(node, exp.Anonymous) or node.name.lower() != "make_interval":
        return None
    numbers = [part.this for part in node.expressions if isinstance(part, exp.Literal)]
    if len(numbers) != 7 or len(node.expressions) != 7 or any(map(float, numbers[:6])):
        return None
    return int(Decimal(numbers[6]) * 1_000_000)


def literal_interval(node: Scalar) -> tuple[int, str] | None:
    """Return the number and the unit, such as day, of an interval; None for other scalars."""
    node = node.unnest()
    number, unit = node.this, node.args.get("unit")
    if not isinstance(node, exp.Interval) or not isinstance(unit, exp.Var):
        return None
    if not isinstance(number, exp.Literal) or not str(number.this).strip().lstrip("-").isdigit():
        return None
    return int(number.this), unit.name.lower().removesuffix("s")


def moved(time: Vector, by: int) -> Vector:
    """An instant so many microseconds later."""
    if not pa.types.is_timestamp(time.type):
        raise UninterpretableError(f"a time after {time.type}")
    array = time.to_arrow(len(time))
    later = pc.add_checked(array.cast(pa.int64()), by)
    return from_arrow(later.cast(time.type))


def _since(time: Vector) -> Array:
    kind = time.type
    if not pa.types.is_timestamp(kind) or kind.unit != "us" or time.failed is not None:
        raise UninterpretableError(f"the instants of {kind}")
    micros = time.to_arrow(len(time)).cast(pa.int64()).fill_null(0)
    numbers: Array = micros.to_numpy(zero_copy_only=False)
    return numbers


def _unknown(time: Vector) -> Array:
    unknown: Array = time.to_arrow(len(time)).is_null().to_numpy(zero_copy_only=False)
    return unknown


def _microseconds(length: Vector) -> int:
    """A length that the binder has written, in microseconds."""
    text = length.to_arrow(1)[0].as_py() if len(length) == 1 else None
    number, _, unit = str(text).partition(" ")
    if unit != "microseconds" or not number.lstrip("-").isdigit():
        raise UninterpretableError("a window of another length")
    return int(number)

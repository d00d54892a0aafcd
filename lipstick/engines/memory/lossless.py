"""New values of columns, converted to the columns' types without loss."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.errors import CaptureError
from semiring.base import Array

DECLARED_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
"""The key of a column's metadata in which Spark keeps that a text is CHAR(n) or VARCHAR(n)."""


@dataclass(frozen=True, slots=True)
class Declared:
    """CHAR(n) or VARCHAR(n), from the metadata of a column.

    Attributes
    ----------
    length
        Texts have at most this many characters; None: any number.
    pads
        Shorter texts are filled up with spaces.
    """

    text: str
    length: int | None
    pads: bool

    @staticmethod
    def of(metadata: object) -> Declared:
        """Return the declared type in the metadata of a Spark field."""
        text = str(metadata.get(DECLARED_TYPE, "")) if isinstance(metadata, dict) else ""
        match = re.fullmatch(r"(char|varchar)\((\d+)\)", text)
        if match is None:
            return Declared("", None, pads=False)
        return Declared(text.upper(), int(match[2]), pads=match[1] == "char")


def misfit(relation: str, column: str, value: object, type_: str) -> CaptureError:
    """Return the error for a value that the type of its column cannot hold."""
    return CaptureError(
        f"The new value {value} of {column!r} of {relation!r} does not fit its type {type_}.\n"
        "Give a value that the type can hold unchanged; in expressions, round() or cast it."
    )


def lossless(
    relation: str,
    column: str,
    values: pa.Array,
    kind: pa.DataType,
    declared: Declared | None = None,
) -> pa.Array:
    """Return new values of a column in its type.

    A fraction may be rounded to the nearest number of a floating-point type; nothing else is
    rounded, truncated or wrapped, and times without a zone are not instants.

    Raises
    ------
    CaptureError
        For a value that is another one, or none, in the type of the column.
    """
    declared = declared or Declared.of(None)
    shown = declared.text or str(kind)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    both_times = pa.types.is_timestamp(values.type) and pa.types.is_timestamp(kind)
    if both_times and bool(values.type.tz) != bool(kind.tz):
        raise CaptureError(
            f"New values of {column!r} of {relation!r} are {_zone(values.type)}, and the column "
            f"has {_zone(kind)}.\nGive values of type {kind}: another zone would be another value."
        )
    try:
        new, changed = _cast(values, kind)
    except pa.ArrowException as error:
        for value in values:
            try:
                _cast(pa.array([value.as_py()], values.type), kind)
            except pa.ArrowException:
                raise misfit(relation, column, value, shown) from error
        raise CaptureError(
            f"New values of {column!r} of {relation!r} are of type {values.type}, which is not "
            f"converted to {shown}.\nGive values of type {shown}."
        ) from error
    bad = np.flatnonzero(changed)
    if bad.size == 0 and declared.length is not None:
        lengths = pc.fill_null(pc.utf8_length(new), 0)
        bad = np.flatnonzero(lengths.to_numpy(zero_copy_only=False) > declared.length)
    if bad.size:
        raise misfit(relation, column, values[int(bad[0])], shown)
    return pc.utf8_rpad(new, declared.length, " ") if declared.pads else new


def _zone(kind: pa.DataType) -> str:
    return "instants" if kind.tz else "times without a zone"


def _cast(values: pa.Array, kind: pa.DataType) -> tuple[pa.Array, Array]:
    """Return values in another type, and where they are then other values."""
    if pa.types.is_integer(values.type) and pa.types.is_decimal(kind):
        # Arrow casts integers only to decimals that could hold any integer of their type.
        values = values.cast(pa.decimal256(20 + kind.scale, kind.scale))
    new, types = values.cast(kind), pa.types
    if types.is_floating(kind) and types.is_floating(values.type):
        overflow = pc.and_(pc.is_inf(new), pc.invert(pc.is_inf(values)))
        return new, np.asarray(pc.fill_null(overflow, False))
    parsed = any(
        is_text(type_)
        for is_text in (types.is_string, types.is_large_string)
        for type_ in (values.type, kind)
    )
    back = (
        values
        if parsed or types.is_floating(kind) or types.is_null(values.type)
        else new.cast(values.type, safe=False)
    )
    if back.equals(values):
        return new, np.zeros(len(new), dtype=np.bool_)
    return new, np.asarray([a.as_py() != b.as_py() for a, b in zip(values, back, strict=True)])

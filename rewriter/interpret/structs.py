"""Structs: their fields, and those that are made of values."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from rewriter.interpret.vector import UninterpretableError, Vector, common_length, from_arrow


def field(struct: Vector, name: str) -> Vector:
    """A field of each struct, whose name Spark takes in any case; NULL of a NULL struct."""
    kind = struct.type
    if not pa.types.is_struct(kind) or struct.failed is not None:
        raise UninterpretableError(f"a field of {kind}")
    names = [kind.field(number).name.lower() for number in range(kind.num_fields)]
    if names.count(name.lower()) != 1:
        raise UninterpretableError(f"the field {name} of {kind}")
    return from_arrow(pc.struct_field(struct.to_arrow(len(struct)), [names.index(name.lower())]))


def named(arguments: Sequence[Vector]) -> Vector:
    """``named_struct``: names and values in turn."""
    parts = arguments[1::2]
    if any(part.failed is not None for part in parts):
        raise UninterpretableError("a struct of values that fail")
    names = [name.to_arrow(1)[0].as_py() for name in arguments[::2]]
    length = common_length(*parts)
    return from_arrow(pa.StructArray.from_arrays([p.to_arrow(length) for p in parts], names=names))

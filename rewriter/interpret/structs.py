"""Structs: their fields, and those that are made of values."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from rewriter.algebra import Scalar
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


def named_fields(parts: Sequence[Scalar]) -> list[Scalar]:
    """Return the names and values of ``struct`` in turn, as ``named_struct`` has them."""
    fields: list[Scalar] = []
    for number, part in enumerate(parts, 1):
        value = part.this if isinstance(part, exp.Alias) else part
        column = isinstance(value, exp.Column | exp.Dot)
        name = part.alias_or_name if column or isinstance(part, exp.Alias) else f"col{number}"
        fields += [exp.Literal.string(name), value]
    return fields

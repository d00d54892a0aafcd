"""How many elements an array has that a generator takes apart, where the query says so."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.dependence import dependent
from rewriter.blocks import Block, Kind
from rewriter.scalars import special_functions as functions

_WINDOWS = frozenset({"window", "session_window"})


def varies(block: Block) -> bool:
    """Tell whether a deletion may change how many rows the generators of a block make of one.

    The rows of a registered function are not told apart: it is a black box, whose every row needs
    what the function was given, and no more is known of it.
    """
    known: set[str] = set()
    for generator in block.generators:
        if not dependent(generator.argument, block, known):
            known |= generator.aliases
        elif not _is_black_box(generator.argument, block) and (
            fixed_length(generator.argument, block) is None
        ):
            return True
    return False


def fixed_length(scalar: Scalar, block: Block) -> int | None:
    """Return the number of elements that a tail scalar has in every row; None: it may vary."""
    scalar = scalar.unnest()
    if isinstance(scalar, exp.Column):
        return _of_column(scalar, block)
    if not isinstance(scalar, exp.Anonymous):
        return None
    if any(call.name.lower() in _WINDOWS for call in scalar.find_all(exp.Anonymous)):
        return None
    parts = scalar.expressions
    if scalar.name.lower() == "array":
        return len(parts)
    keys = parts[::2]
    distinct = len({(key.is_string, key.this) for key in keys if isinstance(key, exp.Literal)})
    return len(keys) if scalar.name.lower() == "map" and distinct == len(keys) else None


def _is_black_box(scalar: Scalar, block: Block) -> bool:
    """Tell whether a registered function made an array."""
    scalar = scalar.unnest()
    if isinstance(scalar, exp.Column):
        origin = _origin(scalar, block)
        return origin is not None and _is_black_box(*origin)
    return isinstance(scalar, exp.Anonymous) and scalar.name.lower() not in functions.OF_SPARK


def _of_column(column: exp.Column, block: Block) -> int | None:
    origin = _origin(column, block)
    return None if origin is None else fixed_length(*origin)


def _origin(column: exp.Column, block: Block) -> tuple[Scalar, Block] | None:
    """Return what a column of another block is there, and that block; None where it varies."""
    lookups = {lookup.alias: lookup.block for lookup in block.lookups if not lookup.scalar}
    inner = lookups.get(column.table)
    if inner is None or inner.kind is Kind.UNION:
        return None
    scalars = {output.name: output.scalar for output in inner.outputs}
    scalar = scalars.get(column.name)
    return None if scalar is None else (scalar, inner)

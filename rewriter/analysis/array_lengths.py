"""How many elements an array has that a generator takes apart, where the query says so."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.dependence import dependent
from rewriter.blocks import Block, Kind

_WINDOWS = frozenset({"window", "session_window"})


def varies(block: Block) -> bool:
    """Tell whether a deletion may change how many rows the generators of a block make of one."""
    known: set[str] = set()
    for generator in block.generators:
        if not dependent(generator.argument, block, known):
            known |= generator.aliases
        elif fixed_length(generator.argument, block) is None:
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


def _of_column(column: exp.Column, block: Block) -> int | None:
    lookups = {lookup.alias: lookup.block for lookup in block.lookups if not lookup.scalar}
    inner = lookups.get(column.table)
    if inner is None or inner.kind is Kind.UNION:
        return None
    scalars = {output.name: output.scalar for output in inner.outputs}
    scalar = scalars.get(column.name)
    return None if scalar is None else fixed_length(scalar, inner)

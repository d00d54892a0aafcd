"""Conditions and differences in annotations, and the array lengths that decide them.

Both follow from the plan, before a row is read. Annotations with conditions have a value if tokens
are 0 or 1; annotations with differences, in semirings with a monus. The length of an unnested array
may follow from the query.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.data_flow import dependent, uncertain_having
from rewriter.blocks import GROUP, UNION, Block, Kind, topological
from rewriter.scalars import functions
from rewriter.scalars.aggregates import ARRAYS, lists, name_of

_WINDOWS = frozenset({"window", "session_window"})


def varies(block: Block) -> bool:
    """Return True if a deletion may change the number of rows generated from one row.

    Registered functions do not count: such a function is a black box, and each of its rows depends
    on all of its arguments.
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
    """Return the number of elements that a tail scalar has in every row, or None if it may vary."""
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
    """Return True if a registered function produced an array."""
    scalar = scalar.unnest()
    if isinstance(scalar, exp.Column):
        origin = _origin(scalar, block)
        return origin is not None and _is_black_box(*origin)
    return isinstance(scalar, exp.Anonymous) and scalar.name.lower() not in functions.OF_SPARK


def _of_column(column: exp.Column, block: Block) -> int | None:
    origin = _origin(column, block)
    return None if origin is None else fixed_length(*origin)


def _origin(column: exp.Column, block: Block) -> tuple[Scalar, Block] | None:
    """Return the definition of a column in the block that it is read from, and that block, or
    None.
    """
    lookups = {lookup.alias: lookup.block for lookup in block.joined}
    inner = lookups.get(column.table)
    if inner is None or inner.kind is Kind.UNION:
        return None
    scalars = {output.name: output.scalar for output in inner.outputs}
    scalar = scalars.get(column.name)
    return None if scalar is None else (scalar, inner)


def conditional(root: Block) -> bool:
    """Return True if a condition that a deletion may decide is a factor of some annotation.

    Such conditions are on aggregated values, values of window functions and subqueries, rows cut by
    LIMIT, lengths of arrays, and group keys that a deletion may change.
    """
    return _cuts(root) or any(
        _has_conditions(block) or (block.limited and block is not root)
        for block in topological(root)
    )


def _has_conditions(block: Block) -> bool:
    if uncertain_having(block):
        return True
    if varies(block) or (block.grouped and not block.stable_identity):
        return True
    if any(dependent(condition, block) for condition in block.conditions):
        return True
    return any(dependent(scalar, block) for scalar in _compared(block))


def _compared(block: Block) -> Iterator[Scalar]:
    """Yield the scalars by which members look up other blocks."""
    for probe in block.factors:
        yield from probe.scalars()


def _cuts(root: Block) -> bool:
    """Return True if LIMIT may cut, in some world, a row that the answer shows.

    Not for the first rows in an order that no deletion changes, before which none can come.
    """
    if not root.limited:
        return False
    if root.offset or root.kind is Kind.UNION or has_difference(root):
        return True
    if any(block is not root and block.limited for block in topological(root)):
        return True
    keys = [key.scalar for key in root.order]
    if any(key.find(exp.Window) for key in keys):
        return True
    if root.kind is Kind.ROWS:
        return any(dependent(key, root) for key in keys)
    names = {name for name, _ in root.keys}
    read = [column for key in keys for column in key.find_all(exp.Column)]
    return not all(column.name in names for column in read)


def has_difference(root: Block) -> bool:
    """Return True if some annotation has a monus, so that a deletion may add tuples."""
    shown = shown_joins(root)
    for block in topological(root):
        if block.difference is not None or any(semi.negated for semi in block.memberships):
            return True
        joins = {outer.alias for outer in block.lookups if outer.factor}
        if joins - (shown if block is root else frozenset()):
            return True
    return False


def shown_joins(root: Block) -> frozenset[str]:
    """Return the LEFT JOINs that find partners in the tail and whose columns the answer shows.

    A row of the answer is then either one with a partner or one without; for other LEFT JOINs it
    may be both.
    """
    if root.kind is not Kind.ROWS or root.limited or root.windowed:
        return frozenset()
    scalars = (output.scalar for output in root.outputs)
    read = {column.table for scalar in scalars for column in scalar.find_all(exp.Column)}
    return frozenset(o.alias for o in root.lookups if o.factor and o.alias in read)


def limits_inside(root: Block) -> bool:
    """Return True if LIMIT or OFFSET cuts a block that another block reads."""
    return any(block.limited for block in topological(root) if block is not root)


Aggregate = tuple[str, str]
"""A block and the name of one of its aggregates."""


def shown_lists(root: Block) -> frozenset[Aggregate]:
    """Return the aggregates whose lists, in undefined order, are columns of the answer."""
    return frozenset(
        aggregate for output in root.outputs for aggregate in _collected(root, output.name)
    )


def _collected(block: Block, name: str) -> Iterator[Aggregate]:
    """Yield the collecting aggregates that an output shows unchanged."""
    scalar = {output.name: output.scalar for output in block.outputs}[name].unnest()
    if not isinstance(scalar, exp.Column):
        return
    if scalar.table == GROUP:
        call = dict(block.aggregates).get(scalar.name)
        if call is not None and name_of(call) in ARRAYS and not lists(call):
            yield block.name, scalar.name
    elif scalar.table == UNION:
        place = [output.name for output in block.branches[0].outputs].index(scalar.name)
        for branch in block.branches:
            yield from _collected(branch, branch.outputs[place].name)
    elif scalar.table in block.rows_read:
        inner = block.rows_read[scalar.table]
        if any(output.name == scalar.name for output in inner.outputs):
            yield from _collected(inner, scalar.name)

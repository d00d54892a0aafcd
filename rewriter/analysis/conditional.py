"""What annotations of a query consist of beside sums and products: conditions and differences.

Known from the plan, before a row is read. Where there are conditions, annotations have a value
where tokens are 0 or 1; where there are differences, in semirings with a monus.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.array_lengths import varies
from rewriter.analysis.dependence import dependent, uncertain_having
from rewriter.blocks import Block, Kind, topological


def conditional(root: Block) -> bool:
    """Whether conditions that a deletion may decide are factors of some annotation.

    They are on aggregated values, on values of window functions and of subqueries, on what LIMIT
    cuts, on how many elements an array has, and on keys of groups that a deletion may change.
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
    """Yield what members ask other blocks for."""
    for probe in block.factors:
        yield from probe.scalars()


def _cuts(root: Block) -> bool:
    """Whether LIMIT of the answer may cut, in some world, a row that is shown.

    Not so of the first rows in an order that no deletion changes, before which none can come.
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
    """Whether some annotation has a monus in it: tuples may appear by a deletion."""
    shown = shown_joins(root)
    for block in topological(root):
        if block.difference is not None or any(semi.negated for semi in block.semis):
            return True
        joins = {outer.alias for outer in block.outer_lookups if outer.factor}
        if joins - (shown if block is root else frozenset()):
            return True
    return False


def shown_joins(root: Block) -> frozenset[str]:
    """The LEFT JOINs that find partners in the tail and whose columns the answer shows.

    A row of the answer is then one with its partner, or one without; of other LEFT JOINs a row is
    either.
    """
    if root.kind is not Kind.ROWS or root.limited or root.windowed:
        return frozenset()
    scalars = (output.scalar for output in root.outputs)
    read = {column.table for scalar in scalars for column in scalar.find_all(exp.Column)}
    return frozenset(o.alias for o in root.outer_lookups if o.factor and o.alias in read)


def limits_inside(root: Block) -> bool:
    """Whether a block that another one reads is cut by LIMIT or OFFSET."""
    return any(block.limited for block in topological(root) if block is not root)

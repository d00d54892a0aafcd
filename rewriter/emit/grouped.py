"""Groups of rows with their aggregates, of which Spark does not compute all kinds at once."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.blocks import Named, qualified
from rewriter.emit.collected import sorted_arrays
from rewriter.emit.trees import named, no_ordinal, where
from rewriter.scalars.opaque import is_opaque

_OWN = "own"
_OPAQUE = "opaque"


def grouped(rows: exp.Select, keys: Sequence[Named], aggregates: Sequence[Named]) -> exp.Select:
    """Return the groups of rows: their keys, then their aggregates.

    Spark computes registered aggregates beside none of its own: where there are both, it groups
    the rows twice, and the groups are joined by their keys.
    """
    opaque = [column for column in aggregates if is_opaque(column[1])]
    plain = [column for column in aggregates if not is_opaque(column[1])]
    if not (plain and opaque):
        return _groups(rows, keys, aggregates)
    columns = [(name, qualified(_OWN, name)) for name, _ in (*keys, *plain)]
    columns += [(name, qualified(_OPAQUE, name)) for name, _ in opaque]
    both = exp.select(*named(columns)).from_(_groups(rows, keys, plain).subquery(_OWN))
    both.append("joins", exp.Join(this=_groups(rows, keys, opaque).subquery(_OPAQUE)))
    return where(
        both,
        [
            exp.NullSafeEQ(this=qualified(_OWN, name), expression=qualified(_OPAQUE, name))
            for name, _ in keys
        ],
    )


def _groups(rows: exp.Select, keys: Sequence[Named], aggregates: Sequence[Named]) -> exp.Select:
    calls = [(name, sorted_arrays(call)) for name, call in aggregates]
    select = rows.select(*named([*keys, *calls]))
    return select.group_by(*(no_ordinal(key) for _, key in keys)) if keys else select

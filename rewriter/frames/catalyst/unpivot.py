"""UNPIVOT, which a plan has as copies of its rows: one for each column, or tuple of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewriter.frames.catalyst.scalars import attribute_id
from rewriter.frames.catalyst.tree import Node, tree
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.selects import Rows
from rewriter.frames.writing.unpivot import Unpivot, of_expression, unpivoted

if TYPE_CHECKING:
    from rewriter.frames.catalyst.plans import CatalystPlans


def expand(plans: CatalystPlans, node: Node) -> Rows:
    """Return the copies of rows that an operator makes, as the UNPIVOT that they are."""
    unpivot = unpivot_of(node)
    return unpivoted(plans.close, unpivot, plans.rows(node.children[0]))


def unpivot_of(expand: Node) -> Unpivot:
    """Return the UNPIVOT that an ``Expand`` is.

    Raises
    ------
    UnsupportedError
        When it is made of something else, or of expressions.
    """
    outputs = expand.many("output")
    rows = [[tree(value) for value in row] for row in expand.fields.get("projections") or ()]
    split = (
        next((n for n, value in enumerate(rows[0]) if value.kind == "Literal"), None)
        if rows
        else None
    )
    if split is None:
        raise unsupported("copies of rows that are no grouping sets have no rule")
    kept = tuple(map(_attribute, rows[0][:split]))
    values = tuple(tuple(map(_attribute, row[split + 1 :])) for row in rows)
    names = tuple(str(row[split].fields["value"]) for row in rows)
    added = tuple((attribute_id(output), output.name) for output in outputs[split:])
    return Unpivot(kept, names, values, added)


def _attribute(value: Node) -> int:
    """Return the attribute that a value is; UNPIVOT itself casts values to one type."""
    inner = value.child if value.kind in ("Alias", "Cast") else value
    if inner.kind != "AttributeReference":
        raise of_expression()
    return attribute_id(inner)

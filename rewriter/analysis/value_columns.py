"""Which member columns hold a column of a relation, where nothing but aggregates reads it."""

from __future__ import annotations

from sqlglot import exp

from rewriter.blocks import Block, Kind, ScanSource
from rewriter.emit.statements import value_columns


def updated_columns(block: Block, relation: str, column: str) -> dict[str, str] | None:
    """Per scan of a relation the member column that holds a column of it.

    Parameters
    ----------
    column
        Its name, in any case.

    Returns
    -------
    dict
        From aliases of scans to member columns; scans that do not read the column are left out.
    None
        When something else than an aggregate reads the column, or other values than the column's
        own are stored: other members, keys or conditions would follow from other values.
    """
    core = block.core
    if core is None or block.kind is not Kind.GROUP:
        return None
    if not all(isinstance(source, ScanSource) for source in core.sources):
        return None
    aliases = {
        source.alias
        for source in core.sources
        if isinstance(source, ScanSource) and source.relation == relation
    }

    def reads(scalar: exp.Expr) -> set[str]:
        return {
            node.table
            for node in scalar.find_all(exp.Column)
            if node.table in aliases and node.name.lower() == column.lower()
        }

    if core.semis or core.generators or any(reads(scalar) for scalar in core.predicates):
        return None
    found: dict[str, str] = {}
    for name, scalar in core.select:
        for alias in reads(scalar):
            if not isinstance(scalar, exp.Column) or name not in value_columns(block):
                return None
            found[alias] = name
    return found

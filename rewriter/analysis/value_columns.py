"""Member columns that only aggregates read, and member columns that copy columns of a relation."""

from __future__ import annotations

from sqlglot import exp

from rewriter.blocks import (
    MEMBER,
    Block,
    BlockSource,
    ConstantSource,
    Core,
    IterationSource,
    Kind,
    ScanSource,
    UnionSource,
    ValuesSource,
    core_relations,
    has_values,
    topological,
)
from rewriter.scalars.aggregates import arguments


def value_columns(block: Block) -> tuple[str, ...]:
    """Return the member columns that only aggregates read, which are captured by reference.

    There are none if tokens alone do not identify members, so that values could not be looked up:
    members over tuples of other blocks, or of relations without provenance.
    """
    if block.core is None or block.kind is not Kind.GROUP or block.core.once:
        return ()
    untracked = BlockSource | ConstantSource | IterationSource
    derived = any(isinstance(source, untracked) for source in block.core.sources)
    derived = derived or has_values(block.core) or bool(block.core.generators)
    if derived or len(list(core_relations(block.core))) != len(block.tokens):
        return ()
    used: set[str] = {column for token in block.tokens for column in token.columns}
    used |= {left.name for lookup in block.joined for left, _ in lookup.pairs}
    for scalar in (*(key for _, key in block.keys), *block.deciding_scalars()):
        used |= {node.name for node in scalar.find_all(exp.Column) if node.table == MEMBER}
    in_aggregates = {
        node.name
        for _, call in block.aggregates
        for argument in arguments(call)
        for node in argument.find_all(exp.Column)
        if node.table == MEMBER
    }
    return tuple(name for name, _ in block.core.select if name in in_aggregates - used)


def updated_columns(block: Block, relation: str, column: str) -> dict[str, str] | None:
    """Return, per scan of a relation, the member column that copies one of its columns.

    Parameters
    ----------
    column
        The name of the relation's column, in any case.

    Returns
    -------
    dict
        From aliases of scans to member columns; scans that do not read the column are left out.
    None
        If the column is read outside aggregates, or derived values are stored: new values of the
        column would then change members, keys or conditions.
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
    holders: dict[str, str] = {}
    for name, scalar in core.select:
        for alias in reads(scalar):
            if not isinstance(scalar, exp.Column) or name not in value_columns(block):
                return None
            holders[alias] = name
    return holders


def read_columns(root: Block) -> dict[str, set[str]]:
    """Return the columns, in lower case, that the cores of a query read of each relation."""
    read: dict[str, set[str]] = {}

    def visit(core: Core, places: set[int] | None) -> None:
        """Add the columns that a core reads for the items at some positions of its select list;
        None: all.
        """
        chosen = [
            s for place, (_, s) in enumerate(core.select) if places is None or place in places
        ]
        used: dict[str, set[str]] = {}
        for scalar in (*core.deciding_scalars(), *chosen, *(key.scalar for key in core.order)):
            for node in scalar.find_all(exp.Column):
                used.setdefault(node.table, set()).add(node.name)
        for source in core.sources:
            names = used.get(source.alias, set())
            if isinstance(source, ScanSource):
                read.setdefault(source.relation, set()).update(name.lower() for name in names)
            elif isinstance(source, UnionSource):
                # The first branch names the columns of all.
                first = enumerate(name for name, _ in source.branches[0].select)
                of_branches = {place for place, name in first if name in names}
                for branch in source.branches:
                    visit(branch, of_branches)
            elif isinstance(source, ValuesSource):
                visit(source.core, None)  # Distinct rows.

    for block in topological(root):
        if block.core is not None:
            visit(block.core, None)
    return read

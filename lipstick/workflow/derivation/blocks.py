"""Blocks of queries in provenance graphs: origins of columns, and unsupported blocks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from lipstick.capture.manifest import RelationRecord
from lipstick.workflow.definition.functions import called
from rewriter.algebra import Scalar
from rewriter.blocks import (
    GROUP,
    MEMBER,
    Block,
    BlockSource,
    Core,
    IterationSource,
    Kind,
    MatchKind,
    ScanSource,
    Source,
    UnionSource,
    topological,
)
from rewriter.interpret import Interpreted, WindowCall, aggregate_call, interpret, windowed

_QUALIFIER = re.compile(r"`?\w+`?\.(?=[`A-Za-z_])")

Column = tuple[str, str]
"""The alias of a source or lookup, and a column name."""


def plain_column(block: Block, name: str) -> Column | None:
    """Return the source column that an output of a block without grouping copies, or None."""
    scalar = next(output.scalar for output in block.outputs if output.name == name)
    return plain_source(block, interpret(scalar))


def plain_source(block: Block, scalar: Interpreted) -> Column | None:
    """Return the source column that a scalar over a block's members copies, or None."""
    column = scalar.column
    if column is None or column[0] != MEMBER or block.core is None:
        return column
    selected = dict(block.core.select)
    return interpret(selected[column[1]]).column if column[1] in selected else None


def table_function(block: Block, functions: Collection[str]) -> str | None:
    """Return the table function that generates the rows of a block, or None."""
    generators = () if block.core is None else block.core.generators
    calls = (interpret(g.argument).text for g in generators if g.function)
    return next((called(call, functions) for call in calls), None)


def computed_from(block: Block, scalar: Interpreted) -> tuple[Column, ...]:
    """Return the distinct source columns from which a scalar over members is computed."""
    selected = dict(block.core.select) if block.core is not None else {}
    columns: dict[Column, None] = {}
    for alias, name in scalar.columns:
        inner = selected.get(name) if alias == MEMBER else None
        read = ((alias, name),) if inner is None else interpret(inner).columns
        for column in read:
            columns.update(dict.fromkeys(_leaves(block, column)))
    return tuple(columns)


def _leaves(block: Block, column: Column) -> Iterator[Column]:
    """Yield the columns from which a column of a block's sources is computed, in all union
    branches.

    A column of a union is included, since a branch may copy it.
    """
    waiting: list[tuple[Core | None, Column]] = [(block.core, column)]
    while waiting:
        core, (alias, name) = waiting.pop()
        yield alias, name
        union = None if core is None else _union(core, alias)
        for branch in () if union is None else union.branches:
            inner = dict(branch.select).get(name)
            waiting += [] if inner is None else [(branch, c) for c in interpret(inner).columns]


def computes(block: Block, column: Column) -> bool:
    """Return True if a column of a union is an expression in some branch."""
    return any(
        _plain(scalar) is None and interpret(scalar).columns
        for branch, name in _branches(block.core, column)
        if (scalar := dict(branch.select).get(name)) is not None
    )


def _branches(core: Core | None, column: Column) -> Iterator[tuple[Core, str]]:
    """Yield the branches of unions that have a column, and the column's name in each."""
    union = None if core is None else _union(core, column[0])
    for branch in () if union is None else union.branches:
        yield branch, column[1]
        inner = _plain(dict(branch.select).get(column[1]))
        if inner is not None:
            yield from _branches(branch, inner)


def predicates(core: Core | None) -> Iterator[Scalar]:
    """Yield the conditions of a core, and of the branches of its unions."""
    if core is None:
        return
    yield from core.predicates
    for source in core.sources:
        for branch in source.branches if isinstance(source, UnionSource) else ():
            yield from predicates(branch)


def branch_outputs(block: Block, branch: Block) -> Iterator[tuple[str, str]]:
    """Yield the columns of a union of blocks, with the corresponding outputs of a branch."""
    for first, output in zip(block.branches[0].outputs, branch.outputs, strict=True):
        yield first.name, output.name


def branch_columns(block: Block, column: Column) -> tuple[Column, ...]:
    """Return the relation columns that a column of a block's sources copies, in any union
    branch.
    """
    columns: dict[Column, None] = {}
    waiting = [(block.core, column)]
    while waiting:
        core, (alias, name) = waiting.pop()
        union = None if core is None else _union(core, alias)
        if union is None:
            columns[alias, name] = None
            continue
        for branch in union.branches:
            inner = _plain(dict(branch.select).get(name))
            if inner is not None:
                waiting.append((branch, inner))
    return tuple(columns)


def _union(core: Core, alias: str) -> UnionSource | None:
    unions = (source for source in core.sources if isinstance(source, UnionSource))
    return next((union for union in unions if union.alias == alias), None)


def expression_text(block: Block, scalar: Interpreted) -> str:
    """Return a scalar over a block's members as readable text, without quotes and qualifiers."""
    if scalar.column is not None and scalar.column[0] == MEMBER and block.core is not None:
        selected = dict(block.core.select)
        if scalar.column[1] in selected:
            scalar = interpret(selected[scalar.column[1]])
    return plain_text(scalar.text)


def plain_text(sql: str) -> str:
    """Return SQL without quotes of names and without qualifiers."""
    return _QUALIFIER.sub("", sql).replace("`", "")


def keeps_all_columns(block: Block, relations: Mapping[str, RelationRecord]) -> bool:
    """Return True if a block without grouping neither drops nor computes a column.

    A column is not dropped if one of the same name is kept, as in a natural join.
    """
    if block.kind is not Kind.ROWS or _generates(block):
        return False
    columns = [plain_column(block, output.name) for output in block.outputs]
    if any(column is None for column in columns):
        return False
    taken = [column for column in columns if column is not None]
    names = frozenset(name.lower() for _, name in taken)
    for alias, lookup in block.by_alias.items():
        if lookup.kind is MatchKind.ONE:
            continue
        outputs = {output.name for output in lookup.block.outputs}
        if not _covered(outputs, alias, taken, names):
            return False
    return block.core is None or _keeps(block.core, taken, names, relations)


def _generates(block: Block) -> bool:
    """Return True if one input tuple may yield several rows."""
    return bool(block.generators) or (block.core is not None and bool(block.core.generators))


def _keeps(
    core: Core,
    taken: Sequence[Column],
    names: frozenset[str],
    relations: Mapping[str, RelationRecord],
) -> bool:
    return all(_source_kept(source, taken, names, relations) for source in core.sources)


def _source_kept(
    source: Source,
    taken: Sequence[Column],
    names: frozenset[str],
    relations: Mapping[str, RelationRecord],
) -> bool:
    if isinstance(source, ScanSource):
        return _covered(relations[source.relation].columns, source.alias, taken, names)
    if isinstance(source, IterationSource):
        return False
    if isinstance(source, BlockSource):
        inner = {output.name for output in source.block.outputs}
        return _covered(inner, source.alias, taken, names)
    if isinstance(source, UnionSource):
        wanted = [name for alias, name in taken if alias == source.alias]
        return all(_branch_kept(branch, wanted, names, relations) for branch in source.branches)
    return True


def _branch_kept(
    branch: Core,
    wanted: Sequence[str],
    names: frozenset[str],
    relations: Mapping[str, RelationRecord],
) -> bool:
    selected = dict(branch.select)
    columns = [_plain(selected.get(name)) for name in wanted]
    inner = [column for column in columns if column is not None]
    return len(inner) == len(columns) and _keeps(branch, inner, names, relations)


def _plain(scalar: Scalar | None) -> Column | None:
    return None if scalar is None else interpret(scalar).column


def _covered(
    columns: Sequence[str] | set[str],
    alias: str,
    taken: Sequence[Column],
    names: frozenset[str],
) -> bool:
    used = {name.lower() for source, name in taken if source == alias}
    return all(column.lower() in used | names for column in columns)


def problem(root: Block) -> str | None:
    """Return the reason why a query's provenance graph cannot be derived, with a remedy, or None.

    Invocations are derived in this process, which computes group keys, sort keys and aggregates as
    Spark does, but not for all functions.
    """
    for block in topological(root):
        for refusal in (_joins(block), _copies(block, root), _generators(block)):
            if refusal is not None:
                return refusal
        for text in (*_windows(block), *_aggregates(block)):
            return (
                f"{text} reads values that only Spark computes, and its nodes derive from them.\n"
                "Compute the values as a column of a relation of the chain, and use that."
            )
    return None


def _joins(block: Block) -> str | None:
    free = [lookup for lookup in block.joined if not lookup.pairs]
    if len(free) <= (1 if block.core is None else 0):
        return None
    return (
        "it joins rows of a grouping, or another inner query, by conditions on their values.\n"
        "Make the inner query a relation of the chain, and join that."
    )


def _copies(block: Block, root: Block) -> str | None:
    if not block.copies or (block.name == root.name and block.kind is Kind.ROWS):
        return None
    return (
        "it groups or combines rows of EXCEPT ALL or INTERSECT ALL.\n"
        "Make these a relation of the chain, and read that."
    )


def _generators(block: Block) -> str | None:
    if not block.generators:
        return None
    return (
        "it takes apart arrays that it has computed from an inner query.\n"
        "Make the inner query a relation of the chain, and take its arrays apart."
    )


def _windows(block: Block) -> Iterator[str]:
    """Yield the window functions whose frames only Spark can compute."""
    scalars = [*(output.scalar for output in block.outputs), *(key.scalar for key in block.order)]
    for scalar in scalars:
        for call in windowed(scalar).calls:
            if not _known(call):
                yield plain_text(call.text)


def _known(call: WindowCall) -> bool:
    read = (*call.partition, *(key.scalar for key in call.order))
    return call.extent is not None and all(scalar.run is not None for scalar in read)


def _aggregates(block: Block) -> Iterator[str]:
    """Yield the aggregates of values that only Spark can compute."""
    shown = [*(output.scalar for output in block.outputs), *block.having]
    used = {name for scalar in shown for alias, name in interpret(scalar).columns if alias == GROUP}
    for name, scalar in block.aggregates:
        call = aggregate_call(scalar)
        computed = all(argument.run is not None for argument in call.arguments)
        if name in used and call.function is not None and not computed:
            yield plain_text(call.text)

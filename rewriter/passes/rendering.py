"""A stable text of the blocks of a query: the sources, conditions and outputs of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rewriter.algebra import Scalar, SortKey
from rewriter.blocks import (
    Block,
    BlockSource,
    ConstantSource,
    Core,
    Generator,
    IterationSource,
    Match,
    MatchKind,
    Named,
    OneRowSource,
    ScanSource,
    Source,
    ValuesSource,
    topological,
)
from rewriter.passes.capture_plan import monotone_having
from rewriter.scalars.text import text


def render_blocks(root: Block) -> str:
    """Return the blocks of a query, inner ones first, one item per line."""
    return "\n".join(line for block in topological(root) for line in _block(block)) + "\n"


def _block(block: Block) -> Iterator[str]:
    identity = ", ".join(block.identity) or "nothing"
    facts = [
        "stable" if block.stable_identity else "not stable",
        *(() if block.unique_identity else ("not unique",)),
        *((f"{block.sets} grouping sets",) if block.sets else ()),
    ]
    yield f"{block.name}: {block.kind.value}, identity {identity} ({', '.join(facts)})"
    if block.core is not None:
        yield from (f"  {line}" for line in _core(block.core, "core"))
    for branch in block.branches:
        yield f"  branch: {branch.name}"
    for token in block.tokens:
        yield f"  token: {token.relation} as {token.alias} in {', '.join(token.columns)}"
    for lookup in (*block.joined, *block.subqueries):
        on = ", ".join(f"{left.name} <=> {its}" for left, its in lookup.pairs)
        how = "scalar" if lookup.kind is MatchKind.ONE else on or "free"
        yield f"  lookup: {lookup.block.name} as {lookup.alias}, {how}"
    for outer in block.lookups:
        how = "factor" if outer.factor else "values"
        yield f"  outer lookup of {how}: {outer.alias}, {_matching(outer)}"
    yield from _generators(block.generators)
    yield from (f"  semi: {_semi(semi)}" for semi in block.memberships)
    yield from _scalars("condition", block.conditions)
    yield from _scalars("copies", block.copies)
    yield from _named("key", block.keys)
    yield from _named("aggregate", block.aggregates)
    yield from _scalars("having", block.having)
    if block.difference is not None:
        name = "intersection" if block.difference.common else "difference"
        yield f"  {name} by side: {text(block.difference.side)}"
    if block.having:
        yield f"  having is {'monotone' if monotone_having(block) else 'not monotone'}"
    for output in block.outputs:
        yield f"  output: {output.name} := {text(output.scalar)}{' (stable)' * output.stable}"
    yield from (f"  order: {_sort_key(key)}" for key in block.order)
    if block.limited:
        yield f"  limit: {block.limit} offset {block.offset}"


def _core(core: Core, title: str) -> Iterator[str]:
    yield f"{title}:"
    for source in core.sources:
        yield from (f"  {line}" for line in _source(source))
    yield from _generators(core.generators)
    yield from _scalars("where", core.predicates)
    yield from (f"  semi: {_semi(semi)}" for semi in core.semis)
    yield from _named("store", core.select)


def _source(source: Source) -> Iterator[str]:
    if isinstance(source, ScanSource):
        yield f"scan: {source.view} as {source.alias}"
    elif isinstance(source, IterationSource):
        yield f"recursion: {source.view} as {source.alias}"
    elif isinstance(source, BlockSource):
        yield f"potential: {source.block.name} as {source.alias}"
    elif isinstance(source, ValuesSource):
        yield from _core(source.core, f"values: {source.alias}")
    elif isinstance(source, ConstantSource):
        columns = ", ".join(source.columns)
        yield f"constant: {text(source.table)} as {source.alias}({columns})"
    elif isinstance(source, OneRowSource):
        yield f"one row: {source.alias}"
    else:
        yield f"union: {source.alias}"
        for branch in source.branches:
            yield from (f"  {line}" for line in _core(branch, "branch"))


def _generators(generators: Iterable[Generator]) -> Iterator[str]:
    for generator in generators:
        words = " outer" * generator.outer + " inline" * generator.inline
        words += " placed" * generator.placed
        position = () if generator.position is None else (generator.position,)
        columns = ", ".join((*position, *generator.columns))
        yield f"  generate{words}: {text(generator.argument)} as {generator.alias}({columns})"


def _semi(semi: Match) -> str:
    return f"{'not ' * semi.negated}{_matching(semi)}"


def _matching(semi: Match) -> str:
    equal = "<=>" if semi.null_safe else "="
    pairs = ", ".join(f"{text(left)} {equal} {right}" for left, right in semi.pairs)
    guard = f" if {text(semi.guard)}" if semi.guard is not None else ""
    return f"{semi.block.name} on {pairs or 'nothing'}{guard}"


def _scalars(title: str, scalars: Iterable[Scalar]) -> Iterator[str]:
    yield from (f"  {title}: {text(scalar)}" for scalar in scalars)


def _named(title: str, columns: Iterable[Named]) -> Iterator[str]:
    yield from (f"  {title}: {name} := {text(scalar)}" for name, scalar in columns)


def _sort_key(key: SortKey) -> str:
    nulls = "FIRST" if key.nulls_first else "LAST"
    return f"{text(key.scalar)} {'DESC' if key.descending else 'ASC'} NULLS {nulls}"

"""Set operations; a union of cores without groupings is a source like any other."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import (
    BagDifference,
    UnionAll,
)
from rewriter.blocks import (
    Core,
    Named,
    UnionSource,
    qualified,
)
from rewriter.lower.bag_differences import lower_bag_difference, union_of_copies
from rewriter.lower.certainty import is_stable
from rewriter.lower.context import LoweringContext, Open
from rewriter.lower.fresh_names import apart
from rewriter.lower.inputs import block_of, lowered, union_of_blocks
from rewriter.lower.scope import OpenCore, TokenLeaves


def lower_set_operation(context: LoweringContext, relation: UnionAll | BagDifference) -> Open:
    if isinstance(relation, BagDifference):
        return lower_bag_difference(context, relation)
    return lower_union_all(context, relation)


def lower_union_all(context: LoweringContext, relation: UnionAll) -> Open:
    branches = [lowered(context, branch) for branch in relation.branches]
    if any(isinstance(branch, OpenCore) and branch.copies for branch in branches):
        return union_of_copies(context, relation, branches)
    cores = [branch for branch in branches if isinstance(branch, OpenCore) and is_plain(branch)]
    if len(cores) == len(branches):
        return union_of_cores(relation, cores, context.names.alias("union_"))
    for branch, open_ in zip(relation.branches, branches, strict=True):
        if branch not in context.blocks:
            context.pending[branch] = open_
    blocks = tuple(block_of(context, branch) for branch in relation.branches)
    return union_of_blocks(context, relation.output, blocks, relation.span)


def is_plain(open_: OpenCore) -> bool:
    """Tell whether a union may take this branch in as a part of one core."""
    return (
        not open_.post.final
        and not open_.semis
        and not open_.scalars
        and not open_.generators
        and not open_.outer_lookups
        and bool(open_.sources)
        and not open_.reads_blocks
        and all(is_stable(predicate, open_) for predicate in open_.predicates)
    )


def union_of_cores(relation: UnionAll, branches: Sequence[OpenCore], alias: str) -> OpenCore:
    """Return the union as one source of a core; it has a token for every scan of every branch."""
    columns: list[tuple[TokenLeaves, tuple[str, ...]]] = []
    taken = {attribute.id for attribute in relation.output}
    for branch in branches:
        for token in branch.tokens:
            leaf_names = []
            for leaf in token.leaves:
                leaf_names.append(apart(f"{token.alias}_{leaf.name}".lower(), taken))
                taken.add(leaf_names[-1])
            columns.append((token, tuple(leaf_names)))
    positions: dict[exp.Column, str] = {}
    for branch in branches:
        for position in branch.positions:
            positions[position] = apart(position.name, taken)
            taken.add(positions[position])
    cores = []
    for branch, source in zip(branches, relation.branches, strict=True):
        select: list[Named] = [
            (attribute.id, branch.env[inner.id])
            for attribute, inner in zip(relation.output, source.attributes, strict=True)
        ]
        scanned = {token.alias for token in branch.tokens}
        for token, names in columns:
            is_scanned = token.alias in scanned
            for name, leaf in zip(names, token.leaves, strict=True):
                select.append((name, leaf if is_scanned else exp.null()))
        for position, own_name in positions.items():
            select.append((own_name, position if position in branch.positions else exp.null()))
        cores.append(Core(branch.sources, branch.predicates, (), tuple(select)))
    return OpenCore(
        env={a.id: qualified(alias, a.id) for a in relation.output},
        sources=(UnionSource(alias, tuple(cores)),),
        tokens=tuple(
            TokenLeaves(token.relation, token.alias, tuple(qualified(alias, n) for n in names))
            for token, names in columns
        ),
        positions=tuple(qualified(alias, own_name) for own_name in positions.values()),
        stable={alias: None},
        untokened=any(
            branch.untokened or not (branch.tokens or branch.positions) for branch in branches
        ),
    )

"""Random values and samples, each in a block whose members are written once and for all.

All operators above read the drawn values and the sampled rows from the written members: a deletion
of other rows leaves them unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import Draw, LocalSort, Project, Relation, Sample, Scalar, SortKey
from rewriter.blocks import DRAWN, Block, BlockSource, Core, Named, qualified
from rewriter.lower.context import LoweringContext, OpenCore, Post, is_stable
from rewriter.lower.finish_block import close_core
from rewriter.lower.inputs import core_of, reader_of
from rewriter.lower.set_operations import refuse_copies
from rewriter.position import Span

_ADVICE = "Store the rows in a relation and track it."


def lower_random(context: LoweringContext, relation: Draw | Sample) -> OpenCore:
    if relation not in context.drawn:
        context.drawn[relation] = _written_once(context, relation)
    return reader_of(context, context.drawn[relation], relation.span)


def _written_once(context: LoweringContext, relation: Draw | Sample) -> Block:
    core = core_of(context, relation.input)
    _check_input(context, core, relation.span)
    order = _local_order(context, relation, core)
    calls: dict[str, Scalar] = {}
    if isinstance(relation, Draw):
        pairs = zip(relation.output, relation.calls, strict=True)
        calls = {attribute.id: core.resolve(call) for attribute, call in pairs}
    if not all(is_stable(call, core) for call in calls.values()):
        problem = "a random function of aggregated values is not supported"
        context.refuse(problem, _ADVICE, relation.span)
    drawn = {identity: qualified(DRAWN, identity) for identity in calls}
    core = replace(
        core, env={**core.env, **drawn}, stable={**core.stable, DRAWN: None}, post=Post()
    )
    block = close_core(core, relation.attributes, context.names.block(), written=True)
    if block.core is None or block.generators or not block.unique_identity:
        problem = "a random choice over rows that cannot be distinguished is not supported"
        context.refuse(problem, _ADVICE, relation.span)
    assert block.core is not None
    if order:
        order = (*order, *_identity(block, order))
    return replace(block, core=_decided(block.core, calls, order, relation))


def _local_order(
    context: LoweringContext, relation: Draw | Sample, core: OpenCore
) -> tuple[SortKey, ...]:
    """Return the order of the rows within tasks, if the query sorts them."""
    keys = tuple(replace(k, scalar=core.resolve(k.scalar)) for k in _sorted_by(relation.input))
    keys = keys[: _decisive(keys, core)]
    if not all(is_stable(key.scalar, core) for key in keys):
        problem = "a random choice in an order by aggregated values is not supported"
        context.refuse(problem, _ADVICE, relation.span)
    return keys


def _check_input(context: LoweringContext, core: OpenCore, span: Span | None) -> None:
    if not core.sources:
        problem = "a random value without FROM is not supported"
        context.refuse(problem, _ADVICE, span)
    if core.copies:
        refuse_copies(context, "a random choice", span)
    for source in core.sources:
        if isinstance(source, BlockSource) and not source.block.stable_identity:
            context.refuse(
                "a random choice over an aggregate without GROUP BY, or over groups by "
                "aggregated values, is not supported",
                _ADVICE,
                span,
            )


def _sorted_by(relation: Relation) -> tuple[SortKey, ...]:
    """Return the keys by which tasks sort a relation, over its attributes; () if they do not.

    The order ends at the first attribute that a projection leaves out.
    """
    if isinstance(relation, LocalSort):
        return relation.keys
    if not isinstance(relation, Project):
        return ()
    names = {
        scalar.name: attribute
        for attribute, scalar in zip(relation.output, relation.scalars, strict=True)
        if isinstance(scalar, exp.Column)
    }
    keys: list[SortKey] = []
    for key in _sorted_by(relation.input):
        if not isinstance(key.scalar, exp.Column) or key.scalar.name not in names:
            break
        keys.append(replace(key, scalar=names[key.scalar.name].column()))
    return tuple(keys)


def _decisive(keys: Sequence[SortKey], core: OpenCore) -> int:
    """Return the number of leading keys that identify the groups a core reads, or of all keys."""
    source, *further = core.sources
    if further or not isinstance(source, BlockSource) or source.block.key_outputs is None:
        return len(keys)
    groups = {source.block.outputs[index].name for index in source.block.key_outputs}
    for number, key in enumerate(keys, start=1):
        if isinstance(key.scalar, exp.Column) and key.scalar.table == source.alias:
            groups.discard(key.scalar.name)
        if not groups:
            return number
    return len(keys)


def _identity(block: Block, order: Sequence[SortKey]) -> Iterator[SortKey]:
    """Yield further sort keys, from the identity, that leave no ties: draws are then repeatable."""
    assert block.core is not None
    known = [key.scalar for key in order]
    for name, scalar in block.core.select:
        if name in block.identity and scalar not in known:
            yield SortKey(scalar, descending=False, nulls_first=True)


def _decided(
    core: Core, calls: dict[str, Scalar], order: tuple[SortKey, ...], relation: Draw | Sample
) -> Core:
    """Return a core that draws random columns, or a sample of its rows."""

    def called(scalar: Scalar) -> Scalar:
        drawn = isinstance(scalar, exp.Column) and scalar.table == DRAWN
        return calls[scalar.name] if drawn else scalar

    select: tuple[Named, ...] = tuple((name, called(scalar)) for name, scalar in core.select)
    sample = relation.sample if isinstance(relation, Sample) else None
    return replace(core, select=select, once=True, sample=sample, order=order)

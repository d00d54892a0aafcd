"""Generators: rows made from arrays, maps and calls of table functions."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Attribute,
    Generate,
    Scalar,
    bracketed,
    conjuncts,
    is_known,
)
from rewriter.blocks import (
    Generator,
    qualified,
)
from rewriter.lower.context import LoweringContext, OpenCore, cross, is_stable
from rewriter.lower.inputs import core_of
from rewriter.lower.observed import Collected, collected_by


def lower_generate(context: LoweringContext, relation: Generate) -> OpenCore:
    collected = collected_by(relation)
    if collected is not None:
        return _unnest(context, relation, collected)
    core = core_of(context, relation.input)
    alias = context.names.alias("generated")
    argument = core.resolve(relation.argument)
    if relation.function and not relation.placed:
        _check_function(context, argument, core, relation)
    generator = Generator(
        alias,
        argument,
        None if relation.position is None else relation.position.id,
        tuple(attribute.id for attribute in relation.output),
        relation.outer,
        relation.inline,
        relation.function,
        relation.placed,
    )
    stable = dict(core.stable)
    if is_stable(argument, core):
        stable |= dict.fromkeys(generator.aliases)
    generated: dict[str, Scalar] = {a.id: qualified(alias, a.id) for a in relation.output}
    if generator.place is not None:
        generated[generator.place.name] = generator.place
    return replace(
        core,
        env={**core.env, **generated},
        generators=(*core.generators, generator),
        stable=stable,
        post=replace(core.post, opaque=relation.placed),
    )


def _check_function(
    context: LoweringContext, call: Scalar, core: OpenCore, relation: Generate
) -> None:
    """Refuse a table function over evaluated or generated columns.

    It is called once, when members are captured, before LATERAL VIEW.
    """
    aliases = {alias for generator in core.generators for alias in generator.aliases}
    if not is_stable(call, core):
        problem = "a table function of aggregated values is not supported"
    elif any(column.table in aliases for column in call.find_all(exp.Column)):
        problem = "a table function of generated columns is not supported"
    else:
        return
    advice = "Store its arguments in a relation and track it."
    context.refuse(problem, advice, relation.span)


def _unnest(context: LoweringContext, relation: Generate, collected: Collected) -> OpenCore:
    """Undo a grouping whose collected arrays are unnested: join groups with their members.

    Every element keeps the annotation of the tuple that it was collected from.
    """
    below = collected.below
    context.share(below)
    groups = core_of(context, relation.input)
    (source,) = groups.sources
    if collected.distinct:
        attribute = relation.output[0]
        below = Aggregate(
            below,
            (*(Attribute(f"{a.id}__key", a.name) for a in collected.keys), attribute),
            (*collected.scalars, collected.value),
            (),
            (),
        )
    members = core_of(context, below)
    if collected.distinct:
        keys = [members.env[attribute.id] for attribute in below.attributes]
        *scalars, value = keys
    else:
        scalars = [members.resolve(scalar) for scalar in collected.scalars]
        value = members.resolve(collected.value)
    joined = cross(groups, members)
    conditions: list[Scalar] = [
        exp.NullSafeEQ(this=qualified(source.alias, attribute.id), expression=bracketed(scalar))
        for attribute, scalar in zip(collected.keys, scalars, strict=True)
    ]
    conditions.append(is_known(value))
    if collected.condition is not None:
        conditions += conjuncts(members.resolve(collected.condition))
    fields = collected.fields(value) if relation.inline else (value,)
    return replace(
        joined,
        env={**groups.env, **dict(zip((a.id for a in relation.output), fields, strict=True))},
        predicates=(*joined.predicates, *conditions),
    )

"""Conditions between the outer and the inner rows of a semi or anti join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Relation, Scalar, conjuncts
from rewriter.blocks import BlockSource, Core, Source, ValuesSource, qualified
from rewriter.lower.certainty import is_prefilter, is_premature, is_stable
from rewriter.lower.scope import OpenCore
from rewriter.scalars.comparable import cast_to


@dataclass(frozen=True, slots=True)
class Correlation:
    """A condition of a semi or anti join, taken apart by which rows its conjuncts mention.

    ``pairs`` are the outer and inner sides of equalities, ``others`` any other condition on both.
    """

    outer: tuple[Scalar, ...]
    inner: tuple[Scalar, ...]
    pairs: tuple[tuple[Scalar, Scalar], ...]
    others: tuple[Scalar, ...]
    null_safe: bool

    def converted(self, types: Mapping[int, str]) -> Correlation:
        """Return the same with both sides of some pairs converted to a type, by their numbers."""
        pairs = tuple(
            pair
            if (name := types.get(number)) is None
            else (cast_to(pair[0], name), cast_to(pair[1], name))
            for number, pair in enumerate(self.pairs)
        )
        return replace(self, pairs=pairs)


def correlation(condition: Scalar | None, left: Relation, right: Relation) -> Correlation:
    """Take the condition of a semi or anti join apart.

    Equalities of one kind, ``=`` or ``<=>``, become pairs; where both occur, the latter do not.
    """
    outer_ids = {attribute.id for attribute in left.attributes}
    inner_ids = {attribute.id for attribute in right.attributes}
    outer, inner, both = [], [], []
    for part in conjuncts(condition):
        used = {node.name for node in part.find_all(exp.Column)}
        if not used & inner_ids:
            outer.append(part)
        elif not used & outer_ids:
            inner.append(part)
        else:
            both.append(part)
    plain = any(isinstance(part, exp.EQ) for part in both)
    kind = exp.EQ if plain else exp.NullSafeEQ
    pairs: list[tuple[Scalar, Scalar]] = []
    others_left = []
    for part in both:
        pair = _sides(part, outer_ids, inner_ids) if isinstance(part, kind) else None
        if pair is None:
            others_left.append(part)
        else:
            pairs.append(pair)
    null_safe = bool(pairs) and not plain
    return Correlation(tuple(outer), tuple(inner), tuple(pairs), tuple(others_left), null_safe)


def outer_columns(condition: Scalar | None, left: Relation) -> list[Scalar]:
    """Return the columns of the outer rows that a condition mentions."""
    outer = {attribute.id for attribute in left.attributes}
    columns = () if condition is None else condition.find_all(exp.Column)
    return [node for node in columns if node.name in outer]


def _sides(equality: exp.Binary, outer: set[str], inner: set[str]) -> tuple[Scalar, Scalar] | None:
    for first, second in ((equality.left, equality.right), (equality.right, equality.left)):
        left_names, its = ({n.name for n in side.find_all(exp.Column)} for side in (first, second))
        if left_names and its and left_names <= outer and its <= inner:
            return first.unnest(), second.unnest()
    return None


def distinct_values(core: OpenCore, ids: Sequence[str], alias: str) -> OpenCore | None:
    """Return a core whose rows are at least the distinct values of some attributes of another.

    None where these values depend on evaluated rows of other blocks.
    """
    scalars = [core.env[identity] for identity in ids]
    if not all(is_stable(generator.argument, core) for generator in core.generators):
        return None
    known = [s for s in core.sources if not isinstance(s, BlockSource) or s.block.stable_identity]
    if len(known) != len(core.sources) or not all(is_stable(s, core) for s in scalars):
        return None
    select = tuple((identity, core.env[identity]) for identity in ids)
    predicates = tuple(
        p for p in core.predicates if is_stable(p, core) and not is_premature(p, core)
    )
    semis = tuple(semi for semi in core.semis if is_prefilter(semi, core))
    values: Source = ValuesSource(
        alias, Core(core.sources, predicates, semis, select, core.generators)
    )
    return OpenCore(
        env={identity: qualified(alias, identity) for identity in ids},
        sources=(values,),
        stable={alias: None},
    )

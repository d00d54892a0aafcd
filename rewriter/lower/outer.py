"""Pairs of outer and inner rows: conditions of memberships, and outer joins as sources of a core.

An outer join is one source: its matched rows, and every outer row that may be left unmatched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Attribute, Relation, Scalar, conjuncts
from rewriter.blocks import (
    Block,
    BlockSource,
    Core,
    Match,
    Source,
    UnionSource,
    ValuesSource,
    qualified,
)
from rewriter.dialect import SparkSQL
from rewriter.lower.context import (
    OpenCore,
    TokenLeaves,
    apart,
    is_prefilter,
    is_premature,
    is_stable,
)
from rewriter.scalars.comparable import cast_to


@dataclass(frozen=True, slots=True)
class Correlation:
    """The condition of a semi or anti join, split by the rows that its conjuncts mention.

    ``pairs`` are the outer and inner sides of equalities, ``others`` are further conditions on
    both.
    """

    outer: tuple[Scalar, ...]
    inner: tuple[Scalar, ...]
    pairs: tuple[tuple[Scalar, Scalar], ...]
    others: tuple[Scalar, ...]
    null_safe: bool

    def converted(self, types: Mapping[int, str]) -> Correlation:
        """Return the same with both sides of some pairs, by number, converted to a type."""
        pairs = tuple(
            pair
            if (name := types.get(number)) is None
            else (cast_to(pair[0], name), cast_to(pair[1], name))
            for number, pair in enumerate(self.pairs)
        )
        return replace(self, pairs=pairs)


def correlation(condition: Scalar | None, left: Relation, right: Relation) -> Correlation:
    """Split the condition of a semi or anti join.

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
    """Return a core whose rows include all distinct values of some attributes of a core.

    None if these values depend on evaluated rows of other blocks.
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
    semis = tuple(semi for semi in core.memberships if is_prefilter(semi, core))
    values: Source = ValuesSource(
        alias, Core(core.sources, predicates, semis, select, core.generators)
    )
    return OpenCore(
        env={identity: qualified(alias, identity) for identity in ids},
        sources=(values,),
        stable={alias: None},
    )


@dataclass(frozen=True, slots=True)
class Padded:
    """The rows of one input that an outer join keeps without a partner.

    ``absent`` is the negated membership; its guard, over the input, is None if it applies to all
    rows.
    """

    core: OpenCore
    absent: Match


@dataclass(frozen=True, slots=True)
class Keyed:
    """A block with at most one tuple for each combination of values of some columns.

    ``names`` are these columns in the block's rows, ``outputs`` the column of every attribute.
    """

    block: Block
    names: Sequence[str]
    outputs: Mapping[str, str]

    def columns(self, alias: str) -> dict[str, Scalar]:
        """Return the attributes as columns of the block under an alias."""
        return {identity: qualified(alias, name) for identity, name in self.outputs.items()}


def may_be_joined(core: OpenCore) -> bool:
    """Return True if an outer join may merge this input into one core."""
    sides = (scalar for semi in core.memberships for scalar in semi.scalars())
    return (
        not core.post.final
        and not core.subqueries
        and not core.generators
        and not core.lookups
        and bool(core.sources)
        and not core.reads_blocks
        and all(is_stable(scalar, core) for scalar in (*core.predicates, *sides))
    )


def outer_join_of_cores(
    attributes: Sequence[Attribute],
    matched: tuple[OpenCore, OpenCore],
    predicates: Sequence[Scalar],
    padded_left: Padded | None,
    padded_right: Padded | None,
    alias: str,
) -> OpenCore:
    """Return an outer join as a union of its matched and its padded rows.

    Parameters
    ----------
    matched
        The inputs, as the matched rows read them.
    predicates
        The join's condition, over both.
    padded_left, padded_right
        The inputs whose rows are kept, lowered anew: their sources have other aliases.
    """
    union = _Union(alias, {attribute.id for attribute in attributes})
    kept = [(side, p) for side, p in enumerate((padded_left, padded_right)) if p is not None]
    branches: list[tuple[OpenCore | None, OpenCore | None]] = [matched]
    branches += [(p.core, None) if side == 0 else (None, p.core) for side, p in kept]
    for attribute in attributes:
        union.column(attribute.id, [_first(branch, attribute.id) for branch in branches])
    inputs = [(core, [branch[side] for branch in branches]) for side, core in enumerate(matched)]
    tokens = []
    for core, read in inputs:
        for number, token in enumerate(core.tokens):
            parts = []
            for index, leaf in enumerate(token.leaves):
                name = union.name(f"{token.alias}_{leaf.name}".lower())
                scalars = [each.tokens[number].leaves[index] if each else None for each in read]
                parts.append(union.column(name, scalars))
            tokens.append(TokenLeaves(token.relation, token.alias, tuple(parts)))
    positions = [
        union.column(
            union.name(position.name), [each.positions[number] if each else None for each in read]
        )
        for core, read in inputs
        for number, position in enumerate(core.positions)
    ]
    semis = [
        union.semi([each.memberships[number] if each else None for each in read])
        for core, read in inputs
        for number in range(len(core.memberships))
    ]
    for index, (_, padded) in enumerate(kept, start=1):
        absences: list[Match | None] = [None] * len(branches)
        absences[index] = padded.absent
        semis.append(union.semi(absences))
    return OpenCore(
        env={a.id: qualified(alias, a.id) for a in attributes},
        sources=(UnionSource(alias, union.cores(branches, predicates)),),
        matches=tuple(semis),
        tokens=tuple(tokens),
        positions=tuple(positions),
        stable={alias: None},
        untokened=any(core.untokened for core in matched),
    )


def _first(branch: tuple[OpenCore | None, OpenCore | None], identity: str) -> Scalar | None:
    for core in branch:
        if core is not None and identity in core.env:
            return core.env[identity]
    return None


class _Union:
    """The columns of a union, each with its scalar in every branch, or NULL in branches without
    it.
    """

    def __init__(self, alias: str, taken: set[str]) -> None:
        self._alias = alias
        self._taken = taken
        self.columns: dict[str, list[Scalar]] = {}

    def name(self, wanted: str) -> str:
        name = apart(wanted, self._taken)
        self._taken.add(name)
        return name

    def column(self, name: str, scalars: Sequence[Scalar | None]) -> exp.Column:
        self.columns[name] = [exp.null() if s is None else s.copy() for s in scalars]
        return qualified(self._alias, name)

    def cores(
        self, branches: Sequence[tuple[OpenCore | None, OpenCore | None]], matched: Sequence[Scalar]
    ) -> tuple[Core, ...]:
        """Return the cores of branches, the first one with the condition of matched rows."""
        cores = []
        for number, branch in enumerate(branches):
            read = [core for core in branch if core is not None]
            own = tuple(predicate for core in read for predicate in core.predicates)
            cores.append(
                Core(
                    sources=tuple(source for core in read for source in core.sources),
                    predicates=own if number else (*own, *matched),
                    semis=(),
                    select=tuple((name, scalars[number]) for name, scalars in self.columns.items()),
                )
            )
        return tuple(cores)

    def semi(self, memberships: Sequence[Match | None]) -> Match:
        """Return the branches' membership over the columns of the union."""
        first = next(semi for semi in memberships if semi is not None)
        pairs = []
        for index, (left, column) in enumerate(first.pairs):
            scalars = [None if semi is None else semi.pairs[index][0] for semi in memberships]
            pairs.append((self._shared(scalars, left.name or "outer"), column))
        guards = [exp.false() if semi is None else semi.guard or exp.true() for semi in memberships]
        guard = None
        if any(not _is_true(scalar) for scalar in guards):
            guard = self._shared(guards, "asked")
        return replace(first, pairs=tuple(pairs), guard=guard)

    def _shared(self, scalars: Sequence[Scalar | None], hint: str) -> exp.Column:
        """Return a column with these scalars, reusing a compatible existing one."""
        texts = [None if s is None else s.sql(dialect=SparkSQL) for s in scalars]
        for name, known in self.columns.items():
            pairs = zip(texts, known, strict=True)
            if all(text is None or text == scalar.sql(dialect=SparkSQL) for text, scalar in pairs):
                return qualified(self._alias, name)
        return self.column(self.name(hint.lower()), scalars)


def _is_true(scalar: Scalar) -> bool:
    return isinstance(scalar, exp.Boolean) and bool(scalar.this)


def where_true(conditions: Sequence[Scalar]) -> Scalar | None:
    """Return whether all conditions are true, as a boolean that is never NULL; None without
    conditions.
    """
    if not conditions:
        return None
    return exp.func("coalesce", exp.paren(exp.and_(*(c.copy() for c in conditions))), exp.false())

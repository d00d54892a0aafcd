"""Closing an open block: the columns that its members store, and its tail.

The rule that keeps hypothetical answers exact: a scalar over stable columns may be computed once
and stored; a scalar that depends on another block's evaluated rows is computed by the tail, from
stored columns, every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from rewriter.algebra import Attribute, Scalar
from rewriter.analysis.may_throw import may_raise
from rewriter.blocks import (
    EXPANDED,
    GROUP,
    MEMBER,
    NOTHING,
    SET_NUMBER,
    UNION,
    Block,
    Core,
    Generator,
    GroupBlock,
    HasMatches,
    IterationSource,
    Kind,
    Match,
    MatchKind,
    Named,
    Output,
    RowsBlock,
    TokenColumns,
    UnionBlock,
    ValuesSource,
    aliases,
    qualified,
)
from rewriter.dialect import SparkSQL
from rewriter.lower.context import OpenCore, OpenPost, apart, is_prefilter, is_premature, is_stable
from rewriter.lower.split_components import Split, divided
from rewriter.lower.ties import decided, over_values, read_by, settled, ties_of
from rewriter.scalars.aggregates import chooses
from rewriter.scalars.text import rewrite_columns

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Paren, exp.Neg, exp.Column, exp.Identifier)


class StoredColumns:
    """The columns that members store, each scalar once, and references to them."""

    def __init__(self, split: Split, leaves_only: bool) -> None:
        self._core = split.core
        self._captured = split.captured
        self._leaves_only = leaves_only
        self._by_text: dict[str, str] = {}
        self.select: list[Named] = []

    def put(self, scalar: Scalar, hint: str | None = None) -> exp.Column:
        text = scalar.sql(dialect=SparkSQL)
        if text not in self._by_text:
            name = self._fresh(hint or scalar.name or "v")
            self._by_text[text] = name
            self.select.append((name, scalar))
        return qualified(MEMBER, self._by_text[text])

    def _fresh(self, hint: str) -> str:
        # Names with an underscore in front are those of columns that emission adds.
        base = "".join(c if c.isalnum() or c == "_" else "_" for c in hint.lower()).lstrip("_")
        return apart(base or "v", {name for name, _ in self.select})

    def reference(
        self, scalar: Scalar, hint: str | None = None, *, arithmetic: bool = False
    ) -> Scalar:
        """Return the tail's form of a scalar, over member columns and lookups.

        With ``arithmetic``, sums and products are left to the tail and their columns stored:
        several scalars share them, and they are narrower than decimal products.
        """
        if not self._captured or not any(True for _ in scalar.find_all(exp.Column)):
            return scalar
        if self._whole(scalar) and not (arithmetic and _is_arithmetic(scalar)):
            return self.put(scalar, hint)
        return rewrite_columns(
            scalar, lambda leaf: self.put(leaf) if is_stable(leaf, self._core) else leaf
        )

    def _whole(self, scalar: Scalar) -> bool:
        if isinstance(scalar, exp.Column):
            return is_stable(scalar, self._core)
        if self._leaves_only or is_premature(scalar, self._core, overflows=True):
            return False
        return is_stable(scalar, self._core)


def _is_arithmetic(scalar: Scalar) -> bool:
    return all(
        isinstance(node, _ARITHMETIC) or (isinstance(node, exp.Literal) and not node.is_string)
        for node in scalar.walk()
    )


@dataclass(frozen=True, slots=True)
class StoredMembers(HasMatches):
    """The captured side of a block, common to both kinds of closing."""

    store: StoredColumns
    split: Split
    tokens: tuple[TokenColumns, ...]
    matches: tuple[Match, ...]
    conditions: tuple[Scalar, ...]
    generators: tuple[Generator, ...]
    """Generators of the tail, over the stored columns of members."""

    def core(self) -> Core | None:
        if not self.split.captured:
            return None
        open_core = self.split.core
        free = {source.alias for source in self.split.free}
        prefilters = tuple(semi for semi in open_core.memberships if is_prefilter(semi, open_core))
        return Core(
            sources=tuple(s for s in open_core.sources if s.alias not in free),
            predicates=self.split.predicates,
            semis=(*prefilters, *_of_values(self.split)),
            select=tuple(self.store.select) or NOTHING,
            generators=self.split.generators,
        )


def _of_values(split: Split) -> Iterator[Match]:
    """Yield memberships that conditions on subquery values imply under any deletion.

    A value is that of one of the subquery's potential tuples, or NULL.
    """
    values = {lookup.alias: lookup.block for lookup in split.core.subqueries}
    for condition in split.conditions:
        if not isinstance(condition, exp.EQ):
            continue
        side, other = condition.left.unnest(), condition.right.unnest()
        for left, value in ((side, other), (other, side)):
            if not isinstance(value, exp.Column) or value.table not in values:
                continue
            pairs = ((left, value.name),)
            semi = Match("", values[value.table], pairs, MatchKind.EXISTS)
            known = any(o.name == value.name and o.stable for o in semi.block.outputs)
            safe = bool(aliases(left)) and not may_raise(left)
            if known and safe and is_prefilter(semi, split.core):
                yield semi


def members_of(core: OpenCore, *, written: bool = False) -> StoredMembers:
    split = divided(core, written)
    store = StoredColumns(split, leaves_only=bool(split.conditions or core.memberships))
    tokens = []
    for token in core.tokens:
        names = tuple(store.put(leaf).name for leaf in token.leaves)
        tokens.append(TokenColumns(token.relation, token.alias, names))
    matches = []
    for source in split.inside:
        on = tuple(
            (store.put(qualified(source.alias, c), hint=f"{source.alias}_{c}"), c)
            for c in source.block.identity
        )
        matches.append(Match(source.alias, source.block, on, null_safe=True))
    matches += [Match(source.alias, source.block) for source in split.free]
    for found in (core.subqueries, core.memberships, split.core.lookups):
        matches += [match.replace_scalars(store.reference) for match in found]
    generators = tuple(generator.replace_scalars(store.reference) for generator in split.later)
    conditions = tuple(store.reference(condition) for condition in split.conditions)
    return StoredMembers(store, split, tuple(tokens), tuple(matches), conditions, generators)


def identity_of_rows(members: StoredMembers, taken: set[str]) -> tuple[tuple[Named, ...], bool]:
    """Return the columns that identify members, under free names, and whether they are stable.

    They are member columns if members have them.
    """
    sources = members.split.core.sources
    numbered = {s.alias for s in sources if isinstance(s, IterationSource)}
    scanned = zip(members.split.core.tokens, members.tokens, strict=True)
    stored = [
        name
        for leaves, token in scanned
        if leaves.leaves[0].table not in numbered
        for name in token.columns
    ]
    free: list[tuple[str, Scalar]] = []
    for lookup in members.joined:
        if lookup.pairs:
            stored += [left.name for left, _ in lookup.pairs]
        else:
            free += [
                (f"{lookup.alias}_{c}", qualified(lookup.alias, c)) for c in lookup.block.identity
            ]
    for source in members.split.core.sources:
        if isinstance(source, ValuesSource):
            values = [qualified(source.alias, column) for column, _ in source.core.select]
            stored += [members.store.put(value).name for value in values]
    stored += [members.store.put(position).name for position in members.split.core.positions]
    for generator in members.split.generators:
        if generator.place is not None:
            stored.append(members.store.put(generator.place).name)
    later = [g.place for g in members.split.later if g.place is not None]
    free += [(position.name, position) for position in later]
    columns = [(name, qualified(MEMBER, name)) for name in dict.fromkeys(stored)] + free
    named: list[Named] = []
    for name, scalar in columns:
        named.append((apart(name, taken | {known for known, _ in named}, "id"), scalar))
    if members.split.captured:
        return tuple(named), not members.split.free and not later
    return tuple(named), not later and all(
        source.block.stable_identity for source in members.split.free
    )


def unique_identity(members: StoredMembers) -> bool:
    return all(match.block.unique_identity for match in members.joined)


def close_core(
    core: OpenCore, attributes: Iterable[Attribute], name: str, *, written: bool = False
) -> Block:
    """Close a core without grouping: its tuples are its members.

    ``written``: it has members of its own even if it only reads tuples of other blocks.
    """
    members = members_of(core, written=written)
    outputs = [
        Output(
            a.id, members.store.reference(core.env[a.id], a.id), _stable_output(core, a, members)
        )
        for a in attributes
    ]
    order, arrival = (
        tuple(replace(key, scalar=members.store.reference(key.scalar)) for key in keys)
        for keys in (core.post.order, core.post.arrival)
    )
    identity, stable = identity_of_rows(members, {output.name for output in outputs})
    unique = not core.untokened and not core.copies and unique_identity(members)
    if core.post.windowed:
        scalars = [*(output.scalar for output in outputs), *(key.scalar for key in order)]
        ties = ties_of([scalar for _, scalar in identity], scalars, unique=unique)
        outputs = [replace(o, scalar=settled(o.scalar, ties, arrival)) for o in outputs]
        order = tuple(replace(k, scalar=settled(k.scalar, ties, arrival)) for k in order)
    return RowsBlock(
        name=name,
        core=members.core(),
        tokens=members.tokens,
        matches=members.matches,
        conditions=members.conditions,
        keys=identity,
        outputs=tuple(outputs),
        order=order,
        limit=core.post.limit,
        offset=core.post.offset,
        identity=tuple(name for name, _ in identity),
        stable_identity=stable and not core.untokened,
        unique_identity=unique,
        generators=members.generators,
        copies=_copies(core, members),
    )


def _stable_output(core: OpenCore, attribute: Attribute, members: StoredMembers) -> bool:
    return is_stable(core.env[attribute.id], members.split.core)


def close_post(post: OpenPost, attributes: Iterable[Attribute], name: str) -> Block:
    """Close a grouping or a union of blocks."""
    if post.kind is Kind.UNION:
        return _close_union(post, tuple(attributes), name)
    assert post.core is not None
    core = replace(post.core, post=type(post.core.post)())
    members = members_of(core)
    store = members.store
    keys_stable = all(
        is_stable(scalar, members.split.core)
        for _, scalar in post.keys
        if not _is_set_number(scalar)
    )
    keys = tuple(
        (key, _in_sets(store.reference(scalar, key), key, post.sets)) for key, scalar in post.keys
    )
    aggregates = _aggregates(post, members)
    difference = post.difference
    if difference is not None:
        difference = replace(difference, side=store.reference(difference.side, "side"))
    key_names = frozenset(key for key, _ in keys)
    outputs = tuple(
        Output(a.id, post.env[a.id], keys_stable and _only(post.env[a.id], GROUP, key_names))
        for a in attributes
    )
    return GroupBlock(
        name=name,
        core=members.core(),
        tokens=members.tokens,
        matches=(*members.matches, *post.matches),
        conditions=members.conditions,
        keys=keys,
        aggregates=aggregates,
        having=post.having,
        outputs=outputs,
        order=post.post.order,
        limit=post.post.limit,
        offset=post.post.offset,
        identity=tuple(key for key, _ in keys),
        stable_identity=keys_stable and bool(keys),
        unique_identity=True,
        generators=members.generators,
        sets=len(post.sets),
        difference=difference,
        copies=_copies(core, members),
    )


def _copies(core: OpenCore, members: StoredMembers) -> tuple[Scalar, ...]:
    return tuple(members.store.reference(count) for count in core.copies)


def _is_set_number(scalar: Scalar) -> bool:
    return isinstance(scalar, exp.Column) and scalar.table == EXPANDED


def _in_sets(scalar: Scalar, key: str, sets: Sequence[frozenset[str]]) -> Scalar:
    """Return a key in the rows of each grouping set: NULL in sets that it is not part of."""
    own_sets = [number for number, keys in enumerate(sets) if key in keys]
    if len(own_sets) == len(sets):
        return scalar
    numbers = [exp.Literal.number(number) for number in own_sets]
    there = exp.In(this=qualified(EXPANDED, SET_NUMBER), expressions=numbers)
    return exp.Case().when(there if own_sets else exp.false(), scalar)


def _aggregates(post: OpenPost, members: StoredMembers) -> tuple[Named, ...]:
    """Return the aggregates of a grouping over the stored columns of their arguments."""
    calls = [
        (name, over_values(call, partial(members.store.reference, hint=name, arithmetic=True)))
        for name, call in post.aggregates
    ]
    if not any(chooses(call) for _, call in calls):
        return tuple(calls)
    identity, _ = identity_of_rows(members, set())
    rows = [scalar for _, scalar in identity]
    unique = not members.split.core.untokened and unique_identity(members)
    return tuple(
        (name, decided(call, ties_of(rows, read_by(call), unique=unique))) for name, call in calls
    )


def _only(scalar: Scalar, alias: str, names: frozenset[str]) -> bool:
    return all(n.table == alias and n.name in names for n in scalar.find_all(exp.Column))


def _close_union(post: OpenPost, attributes: tuple[Attribute, ...], name: str) -> Block:
    identity = ["_branch"]
    for number, branch in enumerate(post.branches):
        identity += [f"_{number}_{column}" for column in branch.identity]
    outputs = tuple(
        Output(a.id, post.env[a.id], _only(post.env[a.id], UNION, post.stable_columns))
        for a in attributes
    )
    return UnionBlock(
        name=name,
        matches=post.matches,
        branches=post.branches,
        having=post.having,
        outputs=outputs,
        order=post.post.order,
        limit=post.post.limit,
        offset=post.post.offset,
        identity=tuple(identity),
        stable_identity=all(branch.potential_known for branch in post.branches),
        unique_identity=all(branch.unique_identity for branch in post.branches),
    )

"""The columns that members store, and the tail's scalars over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.may_throw import may_raise
from rewriter.blocks import (
    MEMBER,
    NOTHING,
    Core,
    Generator,
    IterationSource,
    Lookup,
    Named,
    OuterLookup,
    Semi,
    TokenColumns,
    ValuesSource,
    aliases,
    qualified,
)
from rewriter.dialect import SparkSQL
from rewriter.lower.captured import Split, divided
from rewriter.lower.certainty import is_prefilter, is_premature, is_stable
from rewriter.lower.fresh_names import apart
from rewriter.lower.scope import OpenCore
from rewriter.scalars.columns import rewrite_columns

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
        """Return the scalar over member columns and lookups that computes this one in the tail.

        With ``arithmetic``, sums and products are left to the tail and their columns stored: they
        are shared by several scalars, and narrower than decimal products.
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
class StoredMembers:
    """The captured side of a block, common to both kinds of closing."""

    store: StoredColumns
    split: Split
    tokens: tuple[TokenColumns, ...]
    lookups: tuple[Lookup, ...]
    semis: tuple[Semi, ...]
    conditions: tuple[Scalar, ...]
    generators: tuple[Generator, ...]
    """Those of the tail, over what members store."""
    outer_lookups: tuple[OuterLookup, ...]

    def core(self) -> Core | None:
        if not self.split.captured:
            return None
        open_core = self.split.core
        free = {source.alias for source in self.split.free}
        prefilters = tuple(semi for semi in open_core.semis if is_prefilter(semi, open_core))
        return Core(
            sources=tuple(s for s in open_core.sources if s.alias not in free),
            predicates=self.split.predicates,
            semis=(*prefilters, *_of_values(self.split)),
            select=tuple(self.store.select) or NOTHING,
            generators=self.split.generators,
        )


def _of_values(split: Split) -> Iterator[Semi]:
    """Yield what conditions on values of subqueries ask of members, whatever is deleted.

    The value is that of one of the subquery's potential tuples, or NULL.
    """
    values = {lookup.alias: lookup.block for lookup in split.core.scalars}
    for condition in split.conditions:
        if not isinstance(condition, exp.EQ):
            continue
        side, other = condition.left.unnest(), condition.right.unnest()
        for left, value in ((side, other), (other, side)):
            if not isinstance(value, exp.Column) or value.table not in values:
                continue
            semi = Semi(values[value.table], ((left, value.name),))
            known = any(o.name == value.name and o.stable for o in semi.block.outputs)
            safe = bool(aliases(left)) and not may_raise(left)
            if known and safe and is_prefilter(semi, split.core):
                yield semi


def members_of(core: OpenCore, *, written: bool = False) -> StoredMembers:
    split = divided(core, written)
    store = StoredColumns(split, leaves_only=bool(split.conditions or core.semis))
    tokens = []
    for token in core.tokens:
        names = tuple(store.put(leaf).name for leaf in token.leaves)
        tokens.append(TokenColumns(token.relation, token.alias, names))
    lookups = []
    for source in split.inside:
        on = tuple(
            (store.put(qualified(source.alias, c), hint=f"{source.alias}_{c}").name, c)
            for c in source.block.identity
        )
        lookups.append(Lookup(source.alias, source.block, on))
    lookups += [Lookup(source.alias, source.block) for source in split.free]
    lookups += core.scalars
    semis = tuple(semi.replace_scalars(store.reference) for semi in core.semis)
    outer_lookups = tuple(
        outer.replace_scalars(store.reference) for outer in split.core.outer_lookups
    )
    generators = tuple(generator.replace_scalars(store.reference) for generator in split.later)
    conditions = tuple(store.reference(condition) for condition in split.conditions)
    return StoredMembers(
        store, split, tuple(tokens), tuple(lookups), semis, conditions, generators, outer_lookups
    )


def identity_of_rows(members: StoredMembers, taken: set[str]) -> tuple[tuple[Named, ...], bool]:
    """Return the columns that tell members apart, by names not taken, and whether they are stable.

    They are columns of the members where members have them.
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
    for lookup in members.lookups:
        if lookup.on:
            stored += [name for name, _ in lookup.on]
        elif not lookup.scalar:
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


def unique_identity(lookups: Iterable[Lookup]) -> bool:
    return all(lookup.block.unique_identity for lookup in lookups if not lookup.scalar)

"""Query blocks while they are open, before they are closed.

An :class:`OpenCore` is select-project-join-union so far; an :class:`OpenPost` has a grouping (or a
union of blocks) below it and collects the operators above its tuples. Both map the ids of the
algebra to scalars over the sources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from rewriter.algebra import Scalar, SortKey
from rewriter.blocks import (
    Block,
    BlockSource,
    Difference,
    Generator,
    Kind,
    Lookup,
    Named,
    OuterLookup,
    Semi,
    Source,
)
from rewriter.scalars.text import rewrite_columns, substitute


@dataclass(frozen=True, slots=True)
class Post:
    """ORDER BY, LIMIT and OFFSET at the end of a block; also whether it has window functions.

    ``arrival``: the sort keys of the derived table whose rows the window functions read.
    ``opaque``: its rows are made by a function of groups, which is called once for each group.
    """

    order: tuple[SortKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    windowed: bool = False
    arrival: tuple[SortKey, ...] = ()
    opaque: bool = False

    @property
    def limited(self) -> bool:
        return self.limit is not None or self.offset > 0

    @property
    def final(self) -> bool:
        """True if the rows are complete: no source, condition or grouping may be added."""
        return self.limited or self.windowed or self.opaque


@dataclass(frozen=True, slots=True)
class TokenLeaves:
    """The token of one scan, as scalars over the sources of an open core."""

    relation: str
    alias: str
    leaves: tuple[exp.Column, ...]


@dataclass(frozen=True, slots=True)
class OpenCore:
    """A core that may still grow.

    ``positions`` tell rows of VALUES and range() apart, which have no tokens. ``stable`` gives, for
    each alias, the columns whose values a deletion cannot change; None for all of them. An alias
    that is not in it has none.
    """

    env: Mapping[str, Scalar]
    sources: tuple[Source, ...] = ()
    predicates: tuple[Scalar, ...] = ()
    semis: tuple[Semi, ...] = ()
    scalars: tuple[Lookup, ...] = ()
    tokens: tuple[TokenLeaves, ...] = ()
    positions: tuple[exp.Column, ...] = ()
    generators: tuple[Generator, ...] = ()
    outer_lookups: tuple[OuterLookup, ...] = ()
    stable: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    copies: tuple[Scalar, ...] = ()
    untokened: bool = False
    post: Post = Post()

    @property
    def reads_blocks(self) -> bool:
        """True if tuples of other blocks are among the sources."""
        return any(isinstance(source, BlockSource) for source in self.sources)

    def resolve(self, scalar: Scalar) -> Scalar:
        return substitute(scalar, self.env)


@dataclass(frozen=True, slots=True)
class OpenPost:
    """A grouping or a union of blocks, and what is done to its tuples so far."""

    kind: Kind
    env: Mapping[str, Scalar]
    core: OpenCore | None = None
    keys: tuple[Named, ...] = ()
    aggregates: tuple[Named, ...] = ()
    sets: tuple[frozenset[str], ...] = ()
    """The names of the keys of each grouping set; none: a plain grouping."""
    difference: Difference | None = None
    branches: tuple[Block, ...] = ()
    stable_columns: frozenset[str] = frozenset()
    having: tuple[Scalar, ...] = ()
    scalars: tuple[Lookup, ...] = ()
    post: Post = Post()

    def resolve(self, scalar: Scalar) -> Scalar:
        return substitute(scalar, self.env)


def over_columns(core: OpenCore, change: Callable[[exp.Column], Scalar]) -> OpenCore:
    """Return a core with every column that its scalars read replaced by ``change(column)``.

    Those by which sources tell rows apart, and of generators, are as they were.
    """

    def over(scalar: Scalar) -> Scalar:
        return rewrite_columns(scalar, change)

    def sorted_by(keys: tuple[SortKey, ...]) -> tuple[SortKey, ...]:
        return tuple(replace(key, scalar=over(key.scalar)) for key in keys)

    post = core.post
    return replace(
        core,
        env={name: over(scalar) for name, scalar in core.env.items()},
        predicates=tuple(map(over, core.predicates)),
        semis=tuple(semi.replace_scalars(over) for semi in core.semis),
        outer_lookups=tuple(outer.replace_scalars(over) for outer in core.outer_lookups),
        post=replace(post, order=sorted_by(post.order), arrival=sorted_by(post.arrival)),
    )


def cross(left: OpenCore, right: OpenCore) -> OpenCore:
    return OpenCore(
        env={**left.env, **right.env},
        sources=left.sources + right.sources,
        predicates=left.predicates + right.predicates,
        semis=left.semis + right.semis,
        scalars=left.scalars + right.scalars,
        tokens=left.tokens + right.tokens,
        positions=left.positions + right.positions,
        generators=left.generators + right.generators,
        outer_lookups=left.outer_lookups + right.outer_lookups,
        stable={**left.stable, **right.stable},
        copies=left.copies + right.copies,
        untokened=left.untokened or right.untokened,
    )


def without_post(core: OpenCore) -> OpenCore:
    """Drop an ORDER BY that nothing above can see."""
    return replace(core, post=Post())


def apart(name: str, taken: set[str], suffix: str = "") -> str:
    """Return a name that is not taken: this one, else with the suffix, else with a number."""
    if suffix and name in taken:
        name = f"{name}__{suffix}"
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate

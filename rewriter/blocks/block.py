"""Blocks: the units of capture and evaluation.

There are three kinds, each checked on construction: :class:`RowsBlock`, :class:`GroupBlock` and
:class:`UnionBlock`. A field that a kind does not use is empty, so that readers may ask any block
for any field. A query is its root block; :func:`topological` yields all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

from sqlglot import exp

from rewriter.algebra import Scalar, SortKey
from rewriter.blocks.core import GROUP, UNION, Core, Generator, Named, TokenColumns
from rewriter.blocks.matches import Match, MatchKind
from rewriter.scalars.aggregates import chooses
from rewriter.scalars.windows import depends_on_ties


@dataclass(frozen=True, slots=True)
class Difference:
    """EXCEPT ALL or INTERSECT ALL: the annotation of a group from its members on two sides.

    It is Σ1 ⊖ Σ2, with ``common`` Σ1 ⊖ (Σ1 ⊖ Σ2), where Σ1 is over the members whose ``side`` is 0
    and Σ2 over those whose side is 1. HAVING keeps the groups that are there at all.
    """

    side: Scalar
    common: bool


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a block's rows; stable ones do not change while their tuple exists."""

    name: str
    scalar: Scalar
    stable: bool

    @property
    def windowed(self) -> bool:
        """True if the output contains a window function."""
        return self.scalar.find(exp.Window) is not None

    @property
    def always_null(self) -> bool:
        """True for the literal NULL, which has no type of its own."""
        return isinstance(self.scalar, exp.Null)

    @property
    def known_absent(self) -> bool:
        """True if a capture stores it for tuples that HAVING drops, for later look-ups."""
        return self.stable and isinstance(self.scalar, exp.Column)


class Kind(Enum):
    """The kinds of blocks, by their tuples."""

    ROWS = "rows"
    """Its members, one for one."""
    GROUP = "group"
    """Groups of members."""
    UNION = "union"
    """The tuples of its branches, which are blocks."""


_OF_MEMBERS = frozenset(("core", "tokens", "generators", "conditions", "keys", "copies"))
_OF_SOME_KINDS = _OF_MEMBERS | {"aggregates", "sets", "difference", "branches", "having"}
"""Fields that blocks of some kinds leave empty."""


class HasMatches:
    """The matches of a block, by kind."""

    __slots__ = ()
    matches: tuple[Match, ...]

    @property
    def joined(self) -> tuple[Match, ...]:
        """The blocks whose tuples are joined."""
        return self._of_kind(MatchKind.EACH)

    @property
    def subqueries(self) -> tuple[Match, ...]:
        """The scalar subqueries."""
        return self._of_kind(MatchKind.ONE)

    @property
    def lookups(self) -> tuple[Match, ...]:
        """The lookups of at most one tuple."""
        return self._of_kind(MatchKind.AT_MOST_ONE)

    @property
    def memberships(self) -> tuple[Match, ...]:
        """The semi joins and anti joins."""
        return self._of_kind(MatchKind.EXISTS, MatchKind.ABSENT)

    def _of_kind(self, *kinds: MatchKind) -> tuple[Match, ...]:
        return tuple(match for match in self.matches if match.kind in kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(HasMatches):
    """One unit of capture and evaluation. Compared by identity of its name within a query.

    Raises
    ------
    ValueError
        It has fields that its kind cannot have, or lacks required ones.
    """

    kind: ClassVar[Kind]
    only: ClassVar[frozenset[str]]
    """The fields that a block of the kind may have, among the ones that some kinds leave empty."""

    name: str
    outputs: tuple[Output, ...]
    identity: tuple[str, ...]
    """Columns of the block's rows that identify its tuples."""
    stable_identity: bool
    """True if the identity follows from the members alone."""
    unique_identity: bool
    """True if no two tuples have the same identity; False over relations without provenance."""
    core: Core | None = None
    """None: the block has no members of its own, its tail joins tuples of others."""
    tokens: tuple[TokenColumns, ...] = ()
    matches: tuple[Match, ...] = ()
    generators: tuple[Generator, ...] = ()
    """Generators of the tail: over columns that a deletion may change."""
    conditions: tuple[Scalar, ...] = ()
    keys: tuple[Named, ...] = ()
    """The keys of a grouping, or the columns that identify rows."""
    aggregates: tuple[Named, ...] = ()
    sets: int = 0
    """The number of grouping sets; a member takes part in each. 0: a plain grouping.

    Members are captured once. The tail repeats them, numbered from 0 by ``expanded.number``, which
    is one of the keys.
    """
    difference: Difference | None = None
    """The annotation of the groups, where it is not δ of the sum of their members."""
    branches: tuple[Block, ...] = ()
    having: tuple[Scalar, ...] = ()
    copies: tuple[Scalar, ...] = ()
    """Counts over evaluated rows of other blocks: the tail repeats a row as often as their product.

    The annotations of those rows carry the multiplicity. That of this row does with them, and is
    one for all of its copies.
    """
    order: tuple[SortKey, ...] = ()
    limit: int | None = None
    offset: int = 0

    def __post_init__(self) -> None:
        by_kind = (*self.joined, *self.subqueries, *self.lookups, *self.memberships)
        object.__setattr__(self, "matches", by_kind)
        problem = self._problem()
        if problem is not None:
            raise ValueError(f"{self.name}, a block of {self.kind.value}: {problem}")

    def _problem(self) -> str | None:
        """Return the fault of the block as text, or None."""
        foreign = [name for name in _OF_SOME_KINDS - self.only if getattr(self, name)]
        if self.kind is Kind.UNION and len(self.subqueries) < len(self.matches):
            foreign.append("matches")
        if foreign:
            return f"it has {', '.join(sorted(foreign))}"
        if self.core is None and self.tokens:
            return "it has tokens without members"
        aliases = [match.alias for match in self.matches if match.alias]
        aliases += [generator.alias for generator in self.generators]
        if len(set(aliases)) < len(aliases):
            return "two of its lookups have one alias"
        names = [output.name for output in self.outputs]
        return "two of its outputs have one name" if len(set(names)) < len(names) else None

    @property
    def grouped(self) -> bool:
        """True if the tuples are groups with keys (an aggregate without GROUP BY has none)."""
        return self.kind is Kind.GROUP and bool(self.keys)

    @property
    def has_one_row(self) -> bool:
        """True if there is one row whatever the relations have, as of an aggregate over them."""
        if self.having or self.sets or self.limited:
            return False
        if self.core is None and self.kind is Kind.ROWS:
            crossed = not (self.conditions or self.generators or self.probes)
            return crossed and all(each.block.has_one_row for each in self.joined)
        return self.kind is Kind.GROUP and not self.keys and self.difference is None

    @property
    def key_outputs(self) -> tuple[int, ...] | None:
        """The positions of the outputs that are the grouping's keys; None if some key is not
        shown.
        """
        if not self.grouped:
            return None
        places: dict[str, int] = {}
        for index, output in enumerate(self.outputs):
            scalar = output.scalar
            if isinstance(scalar, exp.Column) and scalar.table == GROUP:
                places.setdefault(scalar.name, index)
        names = [name for name, _ in self.keys]
        return tuple(places[name] for name in names) if set(names) <= places.keys() else None

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns of its members and rows."""
        named = [*self.keys, *self.aggregates, *(self.core.select if self.core else ())]
        outputs = (output.name for output in self.outputs)
        return frozenset((*self.identity, *outputs, *(name for name, _ in named)))

    @property
    def limited(self) -> bool:
        """True if LIMIT or OFFSET cuts the rows."""
        return self.limit is not None or self.offset > 0

    @property
    def windowed(self) -> bool:
        """True if outputs or sort keys are window functions over the rows."""
        scalars = [output.scalar for output in self.outputs] + [key.scalar for key in self.order]
        return any(scalar.find(exp.Window) for scalar in scalars)

    @property
    def breaks_ties(self) -> bool:
        """True if the rows depend on the order of tied rows, which Spark does not define."""
        scalars = [output.scalar for output in self.outputs] + [key.scalar for key in self.order]
        windows = [window for scalar in scalars for window in scalar.find_all(exp.Window)]
        calls = [*(call for _, call in self.aggregates), *(window.this for window in windows)]
        return self.limited or any(map(depends_on_ties, windows)) or any(map(chooses, calls))

    @property
    def chooses(self) -> bool:
        """True if an aggregate depends on the order of tied rows."""
        return any(chooses(call) for _, call in self.aggregates)

    @property
    def tie_break(self) -> tuple[str, ...]:
        """Columns of the rows by which LIMIT sorts last: rows that agree on them are equal."""
        if self.unique_identity:
            return self.identity
        return (*self.identity, *(output.name for output in self.outputs))

    @property
    def potential_known(self) -> bool:
        """True if the potential tuples follow from the members alone.

        The tuple of an aggregate without GROUP BY is always known, though nothing identifies it.
        """
        return self.stable_identity or (self.kind is Kind.GROUP and not self.keys)

    @property
    def of_members_alone(self) -> bool:
        """True if the tail reads only the members, and drops or repeats none."""
        return not (self.matches or self.conditions or self.generators)

    @property
    def probes(self) -> tuple[Match, ...]:
        """The matches by which members search other blocks."""
        return (*self.memberships, *self.lookups)

    @property
    def factors(self) -> tuple[Match, ...]:
        """The probes whose outcome is a factor of a member's annotation."""
        return tuple(probe for probe in self.probes if probe.factor)

    @property
    def by_alias(self) -> Mapping[str, Match]:
        """The matches whose tuples are read, by the alias of the columns in scalars."""
        return {each.alias: each for each in self.matches if each.alias}

    @property
    def rows_read(self) -> Mapping[str, Block]:
        """The blocks whose columns scalars of the tail read, by the alias of the columns.

        For a union, this is the first branch, which names the columns.
        """
        read = {alias: each.block for alias, each in self.by_alias.items()}
        return {**read, UNION: self.branches[0]} if self.branches else read

    @property
    def derived(self) -> tuple[Block, ...]:
        """The distinct blocks that this one reads."""
        first: dict[str, Block] = {}
        for block in self.reads():
            first.setdefault(block.name, block)
        return tuple(first.values())

    def reads(self) -> Iterator[Block]:
        """Yield the blocks that this one reads, once per read."""
        if self.core is not None:
            yield from self.core.reads()
        for matches in (self.joined, self.subqueries, self.probes):
            yield from (match.block for match in matches)
        yield from self.branches

    def scalars(self) -> Iterator[Scalar]:
        """Yield the scalars of the tail."""
        yield from self.deciding_scalars()
        yield from (scalar for _, scalar in (*self.keys, *self.aggregates))
        yield from self.having
        yield from (output.scalar for output in self.outputs)
        yield from (key.scalar for key in self.order)

    def deciding_scalars(self) -> Iterator[Scalar]:
        """Yield the scalars that determine the rows below the grouping, and their
        multiplicities.
        """
        yield from self.conditions
        for probe in self.probes:
            yield from probe.scalars()
        yield from (generator.argument for generator in self.generators)
        yield from self.copies
        if self.difference is not None:
            yield self.difference.side

    def replace_scalars(self, change: Callable[[Scalar], Scalar]) -> Block:
        """Return a block with the scalars of its tail replaced by ``change(scalar)``."""
        side = self.difference
        return replace(
            self,
            matches=tuple(
                each.replace_scalars(change) if each.searches else each for each in self.matches
            ),
            generators=tuple(each.replace_scalars(change) for each in self.generators),
            conditions=tuple(map(change, self.conditions)),
            keys=tuple((name, change(scalar)) for name, scalar in self.keys),
            aggregates=tuple((name, change(scalar)) for name, scalar in self.aggregates),
            difference=None if side is None else replace(side, side=change(side.side)),
            having=tuple(map(change, self.having)),
            copies=tuple(map(change, self.copies)),
            outputs=tuple(replace(each, scalar=change(each.scalar)) for each in self.outputs),
            order=tuple(replace(key, scalar=change(key.scalar)) for key in self.order),
        )


class RowsBlock(Block):
    """The members, one for one."""

    __slots__ = ()
    kind = Kind.ROWS
    only = _OF_MEMBERS


class GroupBlock(Block):
    """Groups of members."""

    __slots__ = ()
    kind = Kind.GROUP
    only = _OF_MEMBERS | {"aggregates", "sets", "difference", "having"}


class UnionBlock(Block):
    """The tuples of the branches, which are blocks."""

    __slots__ = ()
    kind = Kind.UNION
    only = frozenset({"branches", "having"})

    def _problem(self) -> str | None:
        if not self.branches:
            return "it has no branches"
        if len({len(branch.outputs) for branch in self.branches}) > 1:
            return "its branches have different numbers of outputs"
        return Block._problem(self)


KINDS: Mapping[Kind, type[Block]] = {
    each.kind: each for each in (RowsBlock, GroupBlock, UnionBlock)
}
"""The class of each kind of block."""


def decided_once(root: Block) -> bool:
    """Return True if the answer depends on random draws, and so is no function of its inputs."""
    return any(block.core is not None and block.core.once for block in topological(root))


def topological(root: Block) -> tuple[Block, ...]:
    """Return the root and every block that it reads, directly or indirectly, inner ones first."""
    order: dict[str, Block] = {}

    def visit(block: Block) -> None:
        if block.name in order:
            return
        for inner in block.derived:
            visit(inner)
        order[block.name] = block

    visit(root)
    return tuple(order.values())


def made_of(block: Block) -> set[str]:
    """Return the names of the blocks with members that the rows of a block are made of."""
    return {inner.name for inner in topological(block) if inner.core is not None}

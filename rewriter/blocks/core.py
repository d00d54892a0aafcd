"""Cores: the select-project-join-union part of a block, which a capture runs once.

A core has sources in FROM, with the tokens of its tuples, and generators, which expand a row into
several: LATERAL VIEW and table functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from rewriter.algebra import Scalar, SortKey
from rewriter.blocks.matches import Match
from rewriter.scalars.text import qualified

if TYPE_CHECKING:
    from rewriter.blocks.block import Block


MEMBER = "m"
GROUP = "g"
UNION = "u"
KEYS = "k"
EXPANDED = "expanded"
SET_NUMBER = "number"
COPIES = "copies"
DRAWN = "drawn"

Named: TypeAlias = tuple[str, Scalar]

NOTHING: tuple[Named, ...] = (("_row", exp.Literal.number(1)),)
"""The select list of tuples whose mere existence matters."""


@dataclass(frozen=True, slots=True)
class Generator:
    """A row for each element of an array or entry of a map: LATERAL VIEW.

    Parameters
    ----------
    position
        The column of an element's place, from 0, which distinguishes the rows made of one row.
        None: the argument is the call of a function that makes one row of each.
    columns
        The element; key and value; with ``inline`` the fields of the struct that the element is.
    outer
        A row whose array is empty or NULL is there once, with NULLs.
    function
        The argument is the call of a table function. Its rows have no place: the position is a
        number that no other row has, another one each time the core runs; unless it is ``placed``,
        whose rows have it as their first column.
    """

    alias: str
    argument: Scalar
    position: str | None
    columns: tuple[str, ...]
    outer: bool
    inline: bool
    function: bool = False
    placed: bool = False

    @property
    def numbered(self) -> bool:
        """True if the rows have no ordinal of their own."""
        return self.function and not self.placed

    @property
    def place(self) -> exp.Column | None:
        """The column of an element's position, as scalars refer to it."""
        if self.position is None:
            return None
        return qualified(self.position_alias, self.position)

    @property
    def position_alias(self) -> str:
        """The alias with the position: inline takes two steps, and numbers are added outside."""
        return f"{self.alias}_at" if self.inline or self.numbered else self.alias

    @property
    def aliases(self) -> frozenset[str]:
        """The aliases of its columns."""
        return frozenset({self.alias, self.position_alias})

    def replace_scalars(self, change: Callable[[Scalar], Scalar]) -> Generator:
        """Return the generator with its argument replaced by ``change(argument)``."""
        return replace(self, argument=change(self.argument))


@dataclass(frozen=True, slots=True)
class TokenSource:
    """The view of a tracked relation, and the view's columns that form the token."""

    view: str
    columns: tuple[str, ...]
    """Empty: the relation is declared to carry no provenance, its tuples are annotated 1."""
    unique: tuple[tuple[str, ...], ...] = ()
    """Sets of columns that are known to have no values twice, not even NULLs."""


@dataclass(frozen=True, slots=True)
class TokenColumns:
    """The member columns with the token of one scan. All NULL: the scan took no part."""

    relation: str
    alias: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScanSource:
    """A tracked relation in FROM."""

    alias: str
    relation: str
    view: str


@dataclass(frozen=True, slots=True)
class UnionSource:
    """UNION ALL of cores in FROM: the tokens of the branches not taken are NULL."""

    alias: str
    branches: tuple[Core, ...]


@dataclass(frozen=True, slots=True)
class BlockSource:
    """The potential tuples of another block in FROM."""

    alias: str
    block: Block


@dataclass(frozen=True, slots=True)
class ValuesSource:
    """The distinct rows of a core in FROM, as values: without tuples, annotated 1."""

    alias: str
    core: Core


@dataclass(frozen=True, slots=True)
class IterationSource:
    """Rows of a recursion that were computed before, with all tokens of their derivations.

    ``relations`` are the relations of the tokens; none if the rows are of one level.
    """

    alias: str
    view: str
    relations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OneRowSource:
    """One row without columns."""

    alias: str


@dataclass(frozen=True, slots=True)
class ConstantSource:
    """VALUES or the call of range() in FROM: without tuples, annotated 1.

    ``position`` is the column that identifies its rows.
    """

    alias: str
    table: Scalar
    columns: tuple[str, ...]
    position: str


Source: TypeAlias = (
    ScanSource
    | UnionSource
    | BlockSource
    | ValuesSource
    | ConstantSource
    | IterationSource
    | OneRowSource
)


@dataclass(frozen=True, slots=True)
class Core:
    """SELECT select FROM sources WHERE predicates, filtered by semis with potential tuples.

    Generators apply to the product of the sources, one after the other.
    """

    sources: tuple[Source, ...]
    predicates: tuple[Scalar, ...]
    semis: tuple[Match, ...]
    select: tuple[Named, ...]
    generators: tuple[Generator, ...] = ()
    once: bool = False
    """The core is random: it is run once, and read from the written result."""
    sample: Scalar | None = None
    """The fraction of the rows that a sample keeps."""
    order: tuple[SortKey, ...] = ()
    """Sort keys by which each of Spark's tasks orders the rows before it draws."""

    def scalars(self) -> Iterator[Scalar]:
        """Yield the scalars of the core, without the cores among its sources."""
        yield from self.deciding_scalars()
        yield from (scalar for _, scalar in self.select)
        yield from (key.scalar for key in self.order)

    def deciding_scalars(self) -> Iterator[Scalar]:
        """Yield the scalars that determine the rows: all but the select list and the order."""
        yield from self.predicates
        for semi in self.semis:
            yield from semi.scalars()
        yield from (generator.argument for generator in self.generators)

    def reads(self) -> Iterator[Block]:
        """Yield the blocks whose potential tuples the core reads, once per read."""
        for source in self.sources:
            if isinstance(source, BlockSource):
                yield source.block
            for core in _cores(source):
                yield from core.reads()
        yield from (semi.block for semi in self.semis)

    def replace_scalars(self, change: Callable[[Scalar], Scalar]) -> Core:
        """Return a core with its scalars replaced by ``change(scalar)``."""
        return replace(
            self,
            predicates=tuple(map(change, self.predicates)),
            semis=tuple(semi.replace_scalars(change) for semi in self.semis),
            generators=tuple(each.replace_scalars(change) for each in self.generators),
            select=tuple((name, change(scalar)) for name, scalar in self.select),
            order=tuple(replace(key, scalar=change(key.scalar)) for key in self.order),
        )


def _cores(source: Source) -> tuple[Core, ...]:
    match source:
        case UnionSource():
            return source.branches
        case ValuesSource():
            return (source.core,)
    return ()


def core_relations(core: Core) -> Iterator[ScanSource]:
    """Yield the scans of a core whose tuples its members derive from, including those in unions."""
    for source in core.sources:
        if isinstance(source, ScanSource):
            yield source
        elif isinstance(source, IterationSource):
            for relation in source.relations:
                yield ScanSource(source.alias, relation, source.view)
        elif isinstance(source, UnionSource):
            for branch in source.branches:
                yield from core_relations(branch)


def iterates(core: Core) -> bool:
    """Return True if a core reads earlier rows of a recursion."""
    return any(
        isinstance(source, IterationSource) or any(map(iterates, _cores(source)))
        for source in core.sources
    )


def has_values(core: Core) -> bool:
    """Return True if rows of a core derive from values without tokens, also inside unions."""
    for source in core.sources:
        if isinstance(source, ValuesSource):
            return True
        if isinstance(source, UnionSource) and any(map(has_values, source.branches)):
            return True
    return False

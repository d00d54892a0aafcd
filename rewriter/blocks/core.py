"""Cores: the select-project-join-union part of a block, which a capture runs once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rewriter.algebra import Scalar, SortKey
from rewriter.blocks.core_sources import (
    BlockSource,
    IterationSource,
    ScanSource,
    Source,
    UnionSource,
    ValuesSource,
)
from rewriter.blocks.generators import Generator
from rewriter.blocks.names import Named
from rewriter.blocks.references import Semi

if TYPE_CHECKING:
    from rewriter.blocks.block import Block


@dataclass(frozen=True, slots=True)
class Core:
    """SELECT select FROM sources WHERE predicates, filtered by semis with potential tuples.

    Generators apply to the product of the sources, one after the other.
    """

    sources: tuple[Source, ...]
    predicates: tuple[Scalar, ...]
    semis: tuple[Semi, ...]
    select: tuple[Named, ...]
    generators: tuple[Generator, ...] = ()
    once: bool = False
    """Chance decides values or rows: it is run once, and read from what was written."""
    sample: Scalar | None = None
    """Which fraction of its rows there is."""
    order: tuple[SortKey, ...] = ()
    """How each of Spark's tasks sorts the rows before chance decides of them."""

    def scalars(self) -> Iterator[Scalar]:
        """Yield what the core computes, without the cores among its sources."""
        yield from self.deciding_scalars()
        yield from (scalar for _, scalar in self.select)
        yield from (key.scalar for key in self.order)

    def deciding_scalars(self) -> Iterator[Scalar]:
        """Yield what decides which rows there are: all but the select list and the order."""
        yield from self.predicates
        for semi in self.semis:
            yield from semi.scalars()
        yield from (generator.argument for generator in self.generators)

    def reads(self) -> Iterator[Block]:
        """Yield the blocks whose potential tuples the core reads, as often as it does."""
        for source in self.sources:
            if isinstance(source, BlockSource):
                yield source.block
            for core in _cores(source):
                yield from core.reads()
        yield from (semi.block for semi in self.semis)

    def replace_scalars(self, change: Callable[[Scalar], Scalar]) -> Core:
        """Return a core that computes what ``change`` makes of its scalars."""
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
    """Yield the scans of a core whose tuples its members are made of, also those inside unions."""
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
    """Tell whether a core reads rows of a recursion that were computed before."""
    return any(
        isinstance(source, IterationSource) or any(map(iterates, _cores(source)))
        for source in core.sources
    )


def has_values(core: Core) -> bool:
    """Tell whether rows of a core are made of values that no token names, also inside unions."""
    for source in core.sources:
        if isinstance(source, ValuesSource):
            return True
        if isinstance(source, UnionSource) and any(map(has_values, source.branches)):
            return True
    return False

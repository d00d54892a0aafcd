"""Division of a core whose parts are joined only by conditions that a deletion may change.

A member would be a row of the product of the components, and these conditions keep few of its rows:
two halves of a query joined by their ranks, say. Each component becomes a block of its own, and the
tail joins them. Sources, conditions and generators that no deletion changes are captured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import Attribute, Scalar
from rewriter.blocks import DRAWN, BlockSource, Generator, Match, OneRowSource, aliases
from rewriter.lower.context import (
    OpenCore,
    apart,
    cross,
    is_prefilter,
    is_premature,
    is_protected,
    is_stable,
    over_columns,
)
from rewriter.scalars.text import text


@dataclass(frozen=True, slots=True)
class Split:
    """An open core divided into its captured part and the part that the tail joins."""

    core: OpenCore
    inside: tuple[BlockSource, ...]
    free: tuple[BlockSource, ...]
    predicates: tuple[Scalar, ...]
    conditions: tuple[Scalar, ...]
    generators: tuple[Generator, ...]
    """Generators of the captured part."""

    @property
    def later(self) -> tuple[Generator, ...]:
        """The generators of the tail."""
        return tuple(g for g in self.core.generators if g not in self.generators)

    @property
    def captured(self) -> bool:
        return len(self.core.sources) > len(self.free)


def divided(core: OpenCore, written: bool) -> Split:
    blocks = [source for source in core.sources if isinstance(source, BlockSource)]
    scans = {s.alias for s in core.sources if written or not isinstance(s, BlockSource)}
    inside: list[BlockSource] = []
    if scans:
        reached, before = set(scans), -1
        links = [aliases(p) for p, kept in placed(core) if kept]
        while len(reached) != before:
            before = len(reached)
            for link in links:
                if link & reached:
                    reached |= link
        inside = [b for b in blocks if b.alias in reached and b.block.stable_identity]
        kept = scans.union({b.alias for b in inside}, *(g.aliases for g in core.generators))
        kept.add(DRAWN)
        core = replace(core, stable={a: c for a, c in core.stable.items() if a in kept})
    generators, core = _captured_generators(core) if scans else ((), core)
    chosen = {b.alias for b in inside}
    free = tuple(b for b in blocks if b.alias not in chosen)
    predicates = placed(core)
    return Split(
        core=core,
        inside=tuple(inside),
        free=free,
        predicates=tuple(p for p, kept in predicates if kept and scans),
        conditions=tuple(p for p, kept in predicates if not (kept and scans)),
        generators=generators,
    )


def placed(core: OpenCore) -> list[tuple[Scalar, bool]]:
    """Return the predicates of a core, each with whether it is captured."""
    left: list[Scalar] = []
    placed: list[tuple[Scalar, bool]] = []
    for predicate in core.predicates:
        early = is_premature(predicate, core) or is_protected(predicate, left, core)
        captured = is_stable(predicate, core) and not early
        placed.append((predicate, captured))
        if not captured:
            left.append(predicate)
    return placed


def _captured_generators(core: OpenCore) -> tuple[tuple[Generator, ...], OpenCore]:
    """Return the captured generators, and the core where columns of other generators are not
    stable.
    """
    captured: list[Generator] = []
    for generator in core.generators:
        known = generator.alias in core.stable and is_stable(generator.argument, core)
        if known and (generator.function or not is_premature(generator.argument, core)):
            captured.append(generator)
        else:
            stable = {a: c for a, c in core.stable.items() if a not in generator.aliases}
            core = replace(core, stable=stable)
    return tuple(captured), core


Reader: TypeAlias = Callable[[OpenCore, Iterable[Attribute]], OpenCore]
"""Returns a core that reads the tuples of a core as tuples of a block."""


def split_components(core: OpenCore, reader: Reader) -> OpenCore:
    """Return a core that reads its components as blocks, if it has several.

    Parameters
    ----------
    core
        A core with exactly the attributes that are read.
    reader
        Makes a block of each part; its attributes are the columns that are read.
    """
    parts = [_part(core, names) for names in _parts(core)]
    if not parts:
        return core
    env, post = core.env, core.post
    for part in parts:
        core = _without(core, part)
    read: dict[tuple[str, str], exp.Column] = {}
    over_columns(core, lambda column: read.setdefault(_place(column), column))
    moved = {lookup.alias for part in parts for lookup in part.subqueries} - {a for a, _ in read}
    core = replace(core, matches=tuple(match for match in core.matches if match.alias not in moved))
    columns: dict[tuple[str, str], Scalar] = {}
    for part in parts:
        names = {source.alias for source in part.sources}
        places: dict[str, tuple[str, str]] = {}
        for read_column in read:
            if read_column[0] in names:
                places[apart(read_column[1], set(places))] = read_column
        env_of_part: dict[str, Scalar] = {name: read[column] for name, column in places.items()}
        block = reader(
            replace(part, env=env_of_part), [Attribute(name, name) for name in env_of_part]
        )
        columns |= {column: block.env[name] for name, column in places.items()}
        core = replace(cross(core, block), env=env, post=post)
    return over_columns(core, lambda column: columns.get(_place(column), column))


def _place(column: exp.Column) -> tuple[str, str]:
    return column.table, column.name


def _parts(core: OpenCore) -> list[frozenset[str]]:
    """Return the aliases of the sources of each part; none if the core is captured as a whole.

    A product that no condition joins is captured as such: all of its rows are in the answer.
    """
    if core.generators or core.copies or core.untokened:
        return []
    if any(isinstance(source, OneRowSource) for source in core.sources):
        return []
    links: dict[bool, list[set[str]]] = {True: [], False: []}
    for predicate, captured in placed(core):
        links[captured].append(aliases(predicate))
    links[True] += [_read_by(semi) for semi in core.memberships if is_prefilter(semi, core)]
    connected = _connected((source.alias for source in core.sources), links[True])
    scans = {source.alias for source in core.sources if not isinstance(source, BlockSource)}
    parts = [part for part in connected if part & scans]
    joined = any(sum(not link.isdisjoint(part) for part in parts) > 1 for link in links[False])
    return parts if joined else []


def _connected(names: Iterable[str], links: Iterable[Set[str]]) -> list[frozenset[str]]:
    """Return the connected components of names, given links."""
    parts = [frozenset({name}) for name in names]
    for link in links:
        touched = [part for part in parts if not link.isdisjoint(part)]
        if len(touched) > 1:
            first = parts.index(touched[0])
            parts = [part for part in parts if part not in touched]
            parts.insert(first, frozenset().union(*touched))
    return parts


def _part(core: OpenCore, names: Set[str]) -> OpenCore:
    """Return the part of a core over some of its sources, without attributes."""
    values = {lookup.alias for lookup in core.subqueries}
    predicates = tuple(
        p
        for p in core.predicates
        if not names.isdisjoint(aliases(p)) and aliases(p) <= names | values
    )
    read = set[str]().union(*map(aliases, predicates))
    return OpenCore(
        env={},
        sources=tuple(source for source in core.sources if source.alias in names),
        predicates=predicates,
        matches=(
            *(s for s in core.memberships if _read_by(s) and _read_by(s) <= names),
            *(lookup for lookup in core.subqueries if lookup.alias in read),
        ),
        tokens=tuple(token for token in core.tokens if token.leaves[0].table in names),
        positions=tuple(position for position in core.positions if position.table in names),
        stable={alias: columns for alias, columns in core.stable.items() if alias in names},
    )


def _without(core: OpenCore, part: OpenCore) -> OpenCore:
    """Return a core without one of its parts, reading its columns from a block."""
    gone = {source.alias for source in part.sources}
    return replace(
        core,
        sources=tuple(source for source in core.sources if source not in part.sources),
        predicates=tuple(p for p in core.predicates if p not in part.predicates),
        matches=tuple(match for match in core.matches if match not in part.memberships),
        tokens=tuple(token for token in core.tokens if token not in part.tokens),
        positions=tuple(p for p in core.positions if p not in part.positions),
        stable={alias: columns for alias, columns in core.stable.items() if alias not in gone},
    )


def _read_by(semi: Match) -> set[str]:
    return set[str]().union(*map(aliases, semi.scalars()))


def lines(core: OpenCore) -> Iterator[str]:
    """Yield the sources and the conditions of a core."""
    for source in core.sources:
        if isinstance(source, BlockSource):
            yield f"tuples of {source.block.name} as {source.alias}"
        else:
            yield source.alias
    yield from (f"where {text(predicate)}" for predicate in core.predicates)

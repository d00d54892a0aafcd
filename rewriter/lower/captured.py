"""What of a core is captured: sources, conditions and generators that a deletion leaves alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rewriter.algebra import Scalar
from rewriter.blocks import (
    DRAWN,
    BlockSource,
    Generator,
    aliases,
)
from rewriter.lower.certainty import is_premature, is_protected, is_stable
from rewriter.lower.scope import OpenCore


@dataclass(frozen=True, slots=True)
class Split:
    """An open core divided into what is captured and what the tail joins."""

    core: OpenCore
    inside: tuple[BlockSource, ...]
    free: tuple[BlockSource, ...]
    predicates: tuple[Scalar, ...]
    conditions: tuple[Scalar, ...]
    generators: tuple[Generator, ...]
    """Those of the captured part."""

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
    """Return the predicates of a core, each with whether it is captured with it."""
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
    """Return the generators over stable columns, and the core in which the others' are not."""
    captured: list[Generator] = []
    for generator in core.generators:
        known = generator.alias in core.stable and is_stable(generator.argument, core)
        if known and (generator.function or not is_premature(generator.argument, core)):
            captured.append(generator)
        else:
            stable = {a: c for a, c in core.stable.items() if a not in generator.aliases}
            core = replace(core, stable=stable)
    return tuple(captured), core

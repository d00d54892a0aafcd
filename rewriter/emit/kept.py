"""Outer joins whose kept side is read once, for its matched rows and for its padded ones.

As a union of matched and padded rows the kept side stands in the text twice, and where it has outer
joins itself, they do four times. Here each of its rows is taken twice, for part 0 and part 1: for
part 0 it is joined with its partners, for part 1 it is padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import (
    ConstantSource,
    Core,
    Named,
    OneRowSource,
    ScanSource,
    Source,
    UnionSource,
    aliases,
    qualified,
)
from rewriter.dialect import emit
from rewriter.scalars.columns import rewrite_columns


class _Renamed:
    """What sources and their columns are called elsewhere, by what they are called here."""

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.columns: dict[tuple[str, str], str] = {}

    def over(self, scalar: Scalar) -> Scalar:
        """Return a scalar over the columns as they are called elsewhere."""

        def column(node: exp.Column) -> Scalar:
            alias = self.aliases.get(node.table, node.table)
            return qualified(alias, self.columns.get((node.table, node.name), node.name))

        return rewrite_columns(scalar, column)


@dataclass(frozen=True, slots=True)
class KeptOnce:
    """An outer join that keeps one side: what is read of either, and what the union has of it.

    Parameters
    ----------
    kept, partners
        The sources of either side with the conditions on it alone, and without columns.
    condition
        When a row has a partner, over both.
    columns
        Each with its scalar of matched rows and that of padded ones, which reads the kept side.
    """

    kept: Core
    partners: Core
    condition: tuple[Scalar, ...]
    columns: tuple[tuple[str, Scalar, Scalar], ...]


def kept_once(source: UnionSource) -> KeptOnce | None:
    """Return a union as an outer join with a kept side that is costly to read twice, if it is one.

    Two reads of one relation cost less than to sort twice as many rows.
    """
    if len(source.branches) != 2:
        return None
    matched, padded = source.branches
    if len(padded.sources) < 2 and not isinstance(padded.sources[0], UnionSource):
        return None
    count = len(padded.sources)
    for start in dict.fromkeys((0, len(matched.sources) - count)):
        join = _aligned(padded, matched, start)
        if join is not None:
            return join
    return None


def _aligned(padded: Core, matched: Core, start: int) -> KeptOnce | None:
    """Return the join if padded rows are made of the matched ones' sources from a place on."""
    kept = matched.sources[start : start + len(padded.sources)]
    if not (_is_plain(padded) and _is_plain(matched) and len(kept) < len(matched.sources)):
        return None
    renamed = _Renamed()
    if not all(
        _same(source, other, renamed) for source, other in zip(padded.sources, kept, strict=True)
    ):
        return None
    kept_aliases = {source.alias for source in kept}
    partner_aliases = {source.alias for source in matched.sources} - kept_aliases
    own_predicates = [p for p in matched.predicates if aliases(p) and aliases(p) <= kept_aliases]
    if list(map(_text, own_predicates)) != [_text(renamed.over(p)) for p in padded.predicates]:
        return None
    beside = [p for p in matched.predicates if aliases(p) and aliases(p) <= partner_aliases]
    both = [p for p in matched.predicates if p not in own_predicates and p not in beside]
    names = [name for name, _ in matched.select]
    if names != [name for name, _ in padded.select]:
        return None
    pairs = zip(matched.select, padded.select, strict=True)
    partners = tuple(source for source in matched.sources if source.alias in partner_aliases)
    return KeptOnce(
        Core(kept, tuple(own_predicates), (), ()),
        Core(partners, tuple(beside), (), ()),
        tuple(both),
        tuple((name, scalar, renamed.over(other)) for (name, scalar), (_, other) in pairs),
    )


def _is_plain(core: Core) -> bool:
    return not (core.semis or core.generators or core.once or core.sample or core.order)


def _same(source: Source, other: Source, renamed: _Renamed) -> bool:
    """Tell whether two sources have the same rows; note how the other names columns of one."""
    renamed.aliases[source.alias] = other.alias
    match source, other:
        case ScanSource(), ScanSource():
            return (source.relation, source.view) == (other.relation, other.view)
        case ConstantSource(), ConstantSource():
            return (_text(source.table), source.columns) == (_text(other.table), other.columns)
        case OneRowSource(), OneRowSource():
            return True
        case UnionSource(), UnionSource():
            return _same_union(source, other, renamed)
    return False


def _same_union(union: UnionSource, other: UnionSource, renamed: _Renamed) -> bool:
    if len(union.branches) != len(other.branches):
        return False
    pairs = zip(union.branches, other.branches, strict=True)
    if not all(_same_core(core, its) for core, its in pairs):
        return False
    for (name, _), (its, _) in zip(union.branches[0].select, other.branches[0].select, strict=True):
        renamed.columns[union.alias, name] = its
    return True


def _same_core(core: Core, other: Core) -> bool:
    """Tell whether two cores have the same rows, up to what their columns are called."""
    renamed = _Renamed()
    sizes = [(len(c.sources), len(c.predicates), len(c.select)) for c in (core, other)]
    if not (_is_plain(core) and _is_plain(other)) or sizes[0] != sizes[1]:
        return False
    if not all(_same(*pair, renamed) for pair in zip(core.sources, other.sources, strict=True)):
        return False
    scalars = [*core.predicates, *(scalar for _, scalar in core.select)]
    its = [*other.predicates, *(scalar for _, scalar in other.select)]
    return [_text(renamed.over(scalar)) for scalar in scalars] == list(map(_text, its))


def _text(scalar: Scalar) -> str:
    return emit(scalar, pretty=False)


class Columns:
    """The columns that are read of the sides of a join, each under one name."""

    def __init__(self, sides: Sequence[tuple[str, Core]]) -> None:
        self._side = {source.alias: side for side, core in sides for source in core.sources}
        self.read: dict[str, dict[tuple[str, str], Named]] = {side: {} for side, _ in sides}

    def over(self, scalar: Scalar) -> Scalar:
        """Return a scalar over the columns of the sides."""

        def column(node: exp.Column) -> Scalar:
            side = self._side[node.table]
            known = self.read[side]
            key = (node.table, node.name)
            if key not in known:
                known[key] = (f"{node.table} {node.name}", node)
            return qualified(side, known[key][0])

        return rewrite_columns(scalar, column)

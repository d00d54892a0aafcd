"""The rows that values of window functions come from, for questions about where a value is from."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import Block, Named, qualified
from rewriter.emit.tail import read
from rewriter.emit.trees import Tables, fill, named
from rewriter.scalars.windows import UNBOUNDED, WindowFrame, extent_of

_PLACED = "p"


@dataclass(frozen=True, slots=True)
class Extent:
    """Columns for the rows that one window function reads at a row.

    It reads the rows of the same ``partition`` whose ``at`` is from ``start`` to ``stop``; none
    where these are NULL.
    """

    partition: tuple[str, ...]
    at: str
    start: str
    stop: str


@dataclass(frozen=True, slots=True)
class Extents:
    """``query`` yields the identity of every row of a block, then the columns of every extent."""

    query: exp.Select
    extents: tuple[Extent, ...]


def extents(block: Block, tables: Tables) -> Extents:
    """Return what the window functions of a block read at each of its rows."""
    scalars = [output.scalar for output in block.outputs] + [key.scalar for key in block.order]
    windows = dict.fromkeys(window for scalar in scalars for window in scalar.find_all(exp.Window))
    below = [(name, fill(key, block, tables)) for name, key in block.keys]
    above: list[Named] = [(name, qualified(_PLACED, name)) for name, _ in block.keys]
    of_windows: list[Extent] = []
    for number, window in enumerate(windows):
        extent = _Extent(number, window)
        below += [(name, fill(scalar, block, tables)) for name, scalar in extent.below()]
        above += extent.above()
        of_windows.append(extent.extent)
    inner = read(block, tables).select(*named(below))
    return Extents(exp.select(*named(above)).from_(inner.subquery(_PLACED)), tuple(of_windows))


class _Extent:
    """One window function: its rows are placed first, then its frame is seen as places."""

    def __init__(self, number: int, window: exp.Window) -> None:
        partition: list[exp.Expr] = window.args.get("partition_by") or []
        order = window.args.get("order")
        self._window = window
        self._frame = extent_of(window)
        self._partition = [(f"_p{number}_{part}", key) for part, key in enumerate(partition)]
        keys: list[exp.Ordered] = list(order.expressions) if order else []
        self._keys = [(f"_k{number}_{part}", key) for part, key in enumerate(keys)]
        names = tuple(name for name, _ in self._partition)
        self.extent = Extent(names, f"_at{number}", f"_start{number}", f"_stop{number}")

    def below(self) -> list[Named]:
        """Return the partition, the sort keys, and the place of a row."""
        row_number = exp.Window(
            this=exp.Anonymous(this="row_number", expressions=[]),
            partition_by=[key.copy() for _, key in self._partition],
            order=exp.Order(expressions=[key.copy() for _, key in self._keys] or [_any_order()]),
            over="OVER",
        )
        keys = [(name, key.this) for name, key in self._keys]
        return [*self._partition, *keys, (self.extent.at, row_number)]

    def above(self) -> list[Named]:
        """Return the partition, the row's place, and the first and the last place that it reads."""
        names = [*self.extent.partition, self.extent.at]
        columns: list[Named] = [(name, qualified(_PLACED, name)) for name in names]
        for name, function in ((self.extent.start, exp.Min), (self.extent.stop, exp.Max)):
            columns.append((name, self._over_frame(function)))
        return columns

    def _over_frame(self, function: type[exp.Min] | type[exp.Max]) -> exp.Window:
        at = qualified(_PLACED, self.extent.at)
        if self._frame.rows or self._frame.whole:
            keys = [exp.Ordered(this=at.copy(), desc=False, nulls_first=True)]
        else:
            keys = [
                exp.Ordered(
                    this=qualified(_PLACED, name),
                    desc=key.args.get("desc"),
                    nulls_first=key.args.get("nulls_first"),
                )
                for name, key in self._keys
            ]
        return exp.Window(
            this=function(this=at),
            partition_by=[qualified(_PLACED, name) for name in self.extent.partition],
            order=exp.Order(expressions=keys),
            spec=_spec(self._frame),
            over="OVER",
        )


def _any_order() -> exp.Ordered:
    return exp.Ordered(this=exp.null(), desc=False, nulls_first=True)


def _spec(frame: WindowFrame) -> exp.WindowSpec:
    start, start_side = _bound(frame.start, "PRECEDING")
    end, end_side = _bound(frame.end, "FOLLOWING")
    kind = "ROWS" if frame.rows or frame.whole else "RANGE"
    return exp.WindowSpec(kind=kind, start=start, start_side=start_side, end=end, end_side=end_side)


def _bound(bound: str | Scalar, beyond: str) -> tuple[str | Scalar, str | None]:
    """Return a bound and its side, as they are written; ``beyond`` is that of no bound."""
    if isinstance(bound, str):
        return bound, beyond if bound == UNBOUNDED else None
    if isinstance(bound, exp.Neg):
        return bound.this.copy(), "PRECEDING"
    return bound.copy(), "FOLLOWING"

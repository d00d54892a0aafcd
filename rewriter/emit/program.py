"""Whole statements: a common table expression per block, for its rows or its potential tuples."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.cardinality import has_certain_members
from rewriter.analysis.may_throw import without_errors
from rewriter.analysis.potential import (
    certain_conditions,
    certain_having,
    potential_columns,
    potential_lookups,
    stable_generators,
)
from rewriter.blocks import (
    GROUP,
    MEMBER,
    UNION,
    Block,
    Kind,
    Named,
    qualified,
    topological,
)
from rewriter.emit.core import members_query, with_generators, with_sets
from rewriter.emit.tail import CapturedGroups, read, rows_query
from rewriter.emit.trees import (
    CTE_TABLES,
    PRESENT,
    PROVENANCE,
    fill,
    from_,
    named,
    no_ordinal,
    table,
    union_rows,
    visible,
    where,
)
from rewriter.passes.capture_plan import CapturePlan, reduce_semijoins
from rewriter.scalars.windows import UNBOUNDED, WindowFrame, extent_of

_PLACED = "p"


@dataclass(frozen=True, slots=True)
class Extent:
    """The columns with the range of rows that a window function reads at a row.

    It reads the rows of the same ``partition`` whose ``at`` is from ``start`` to ``stop``; none if
    these are NULL.
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


def extents(block: Block) -> Extents:
    """Return the ranges of rows that the window functions of a block read at each row."""
    scalars = [output.scalar for output in block.outputs] + [key.scalar for key in block.order]
    windows = dict.fromkeys(window for scalar in scalars for window in scalar.find_all(exp.Window))
    below = [(name, fill(key, block)) for name, key in block.keys]
    above: list[Named] = [(name, qualified(_PLACED, name)) for name, _ in block.keys]
    of_windows: list[Extent] = []
    for number, window in enumerate(windows):
        extent = _Extent(number, window)
        below += [(name, fill(scalar, block)) for name, scalar in extent.below()]
        above += extent.above()
        of_windows.append(extent.extent)
    inner = read(block).select(*named(below))
    return Extents(exp.select(*named(above)).from_(inner.subquery(_PLACED)), tuple(of_windows))


class _Extent:
    """A window function: rows are numbered first, then its frame is a range of numbers."""

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
        """Return the columns of the partition, the sort keys, and the row number."""
        row_number = exp.Window(
            this=exp.Anonymous(this="row_number", expressions=[]),
            partition_by=[key.copy() for _, key in self._partition],
            order=exp.Order(expressions=[key.copy() for _, key in self._keys] or [_any_order()]),
            over="OVER",
        )
        keys = [(name, key.this) for name, key in self._keys]
        return [*self._partition, *keys, (self.extent.at, row_number)]

    def above(self) -> list[Named]:
        """Return the columns of the partition, the row number, and the first and last number
        read.
        """
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
    """Return a frame bound and its side, as SQL writes them; ``beyond`` is the side if
    unbounded.
    """
    if isinstance(bound, str):
        return bound, beyond if bound == UNBOUNDED else None
    if isinstance(bound, exp.Neg):
        return bound.this.copy(), "PRECEDING"
    return bound.copy(), "FOLLOWING"


def potential_query(block: Block) -> exp.Select:
    """Return the query of every tuple that the block may have after some deletion.

    Its columns are the block's identity and stable outputs. Conditions that depend on evaluated
    rows of other blocks, HAVING on more than the keys, and LIMIT are left out.
    """
    if not block.potential_known:
        raise ValueError(f"the potential tuples of block {block.name} are not known")
    columns = potential_columns(block)
    if block.kind is Kind.UNION:
        tuples = union_rows(block, CTE_TABLES.potential, potential=True)
        return exp.select(*named(columns)).from_(tuples.subquery(UNION))
    if block.kind is Kind.ROWS:
        return _members(block).select(*named(columns))
    if not block.keys:
        return exp.select(*named(columns))
    computed = block.keys
    if not has_certain_members(block):
        computed = tuple((name, without_errors(key)) for name, key in block.keys)
    inner = _members(block).select(*named(computed))
    inner = inner.group_by(*(no_ordinal(key) for _, key in computed))
    rows = exp.select(*named(columns)).from_(inner.subquery(GROUP))
    return where(rows, certain_having(block))


def _members(block: Block) -> exp.Select:
    """Return FROM and WHERE of the potential members of a block."""
    if block.core is not None:
        return with_sets(exp.select().from_(table(CTE_TABLES.members(block), MEMBER)), block)
    select = exp.select()
    for lookup in potential_lookups(block):
        select = from_(select, table(CTE_TABLES.potential(lookup.block), lookup.alias))
    select = with_sets(with_generators(select, stable_generators(block)), block)
    return where(select, certain_conditions(block))


def program(
    root: Block,
    *,
    provenance: bool,
    identity: bool = False,
    members: Callable[[Block], exp.Query] | None = None,
    captured_rows: Mapping[str, str] = MappingProxyType({}),
) -> exp.Select:
    """Return the whole query as one statement, with a common table expression per block.

    With ``provenance`` this is the rewritten query: the answer's columns, then ``_prov``.
    ``members`` gives the query of each block's members; the default is its core. ``captured_rows``
    gives views of captured rows, by block.
    """
    rows = rows_query(root, provenance=provenance)
    shown = [*root.identity] if identity else []
    shown += [output.name for output in root.outputs if output.name not in shown]
    shown += [PROVENANCE] * provenance
    annotated = _annotated(root) if provenance else set()
    members = members or _present_members
    return statement(root, visible(rows, shown), members, annotated, captured_rows)


def _annotated(block: Block) -> set[str]:
    """Return the blocks whose rows carry ``_prov`` in the rewritten query, through unions."""
    return {block.name}.union(*(_annotated(branch) for branch in block.branches))


def _present_members(block: Block) -> exp.Select:
    """Return the members over present tuples of other blocks, with nothing deleted."""
    return members_query(block, replace(CTE_TABLES, potential=CTE_TABLES.rows), prefilter=False)


def unchanged(root: Block, views: Container[str]) -> frozenset[str]:
    """Return the blocks whose captured rows stay valid when some views have other rows.

    If a reader reduces a block's groups, a capture may have these groups only.
    """
    reduced = reduce_semijoins(CapturePlan(root, lambda _: True)).reductions
    changed: set[str] = set()
    for block in topological(root):
        members = None if block.core is None else _present_members(block)
        read = () if members is None else members.find_all(exp.Table)
        inner = any(inner.name in changed for inner in block.derived)
        if inner or any(each.name in views for each in read):
            changed.add(block.name)
    return frozenset(
        block.name
        for block in topological(root)
        if block.name not in changed and block.name not in reduced
    )


def statement(
    block: Block,
    query: exp.Select,
    members: Callable[[Block], exp.Query] | None = None,
    annotated: Set[str] = frozenset(),
    captured_rows: Mapping[str, str] = MappingProxyType({}),
    captured_groups: Mapping[str, CapturedGroups] = MappingProxyType({}),
) -> exp.Select:
    """Complete a query over ``CTE_TABLES`` with the common table expressions that it reads.

    ``members`` gives the query of each block's members; the default is its core. ``annotated``
    names the blocks whose rows carry their annotation. ``captured_rows`` gives views of captured
    rows, by block; the rows of other blocks are computed from members. ``captured_groups`` gives
    captured rows of groupings that lose nothing but members.
    """
    make = members or (lambda inner: members_query(inner, CTE_TABLES))
    makers: dict[str, Callable[[], exp.Query]] = {}
    for inner in topological(block):
        if inner.core is not None:
            makers[CTE_TABLES.members(inner)] = partial(make, inner)
        if inner.potential_known:
            makers[CTE_TABLES.potential(inner)] = partial(potential_query, inner)
        if inner.name in captured_rows and inner is not block and not inner.limited:
            view = captured_rows[inner.name]
            makers[CTE_TABLES.rows(inner)] = partial(_present_rows, view)
        elif inner is not block:
            makers[CTE_TABLES.rows(inner)] = partial(
                rows_query,
                inner,
                provenance=inner.name in annotated,
                captured_groups=captured_groups.get(inner.name),
            )
    steps = _needed(query, makers)
    for name in (name for name in makers if name in steps):
        query = query.with_(exp.to_identifier(name, quoted=True), as_=steps[name], copy=False)
    return query


def _present_rows(view: str) -> exp.Select:
    rows = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("r")))
    return rows.from_(table(view, "r")).where(qualified("r", PRESENT))


def _needed(
    query: exp.Query, makers: Mapping[str, Callable[[], exp.Query]]
) -> dict[str, exp.Query]:
    """Add the expressions that a query reads, directly or through others."""
    steps: dict[str, exp.Query] = {}
    stack: list[exp.Query] = [query]
    while stack:
        for each in stack.pop().find_all(exp.Table):
            if each.name in makers and each.name not in steps:
                steps[each.name] = makers[each.name]()
                stack.append(steps[each.name])
    return steps

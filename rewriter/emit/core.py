"""The members of a block: its core, where outer joins read their outer side once.

Scalars that may fail are wrapped, so that they fail only for rows that are present.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from rewriter.algebra import Scalar, bracketed
from rewriter.analysis.may_throw import may_raise, without_errors
from rewriter.blocks import (
    COPIES,
    EXPANDED,
    KEYS,
    MEMBER,
    SET_NUMBER,
    Block,
    BlockSource,
    ConstantSource,
    Core,
    Generator,
    IterationSource,
    Match,
    Named,
    OneRowSource,
    ScanSource,
    Source,
    UnionSource,
    ValuesSource,
    aliases,
    qualified,
)
from rewriter.dialect import DerivedValues, emit
from rewriter.emit.trees import (
    Tables,
    conjunction,
    equal_columns,
    exists_in,
    from_,
    left_join,
    named,
    table,
    union_all,
    where,
)
from rewriter.scalars.functions import SCALAR_FUNCTIONS, is_drawn
from rewriter.scalars.text import rewrite_columns, text


class _Renamed:
    """The corresponding names in another core, by names of sources and columns in this one."""

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.columns: dict[tuple[str, str], str] = {}

    def over(self, scalar: Scalar) -> Scalar:
        """Return a scalar with its columns renamed to the other core's."""

        def column(node: exp.Column) -> Scalar:
            alias = self.aliases.get(node.table, node.table)
            return qualified(alias, self.columns.get((node.table, node.name), node.name))

        return rewrite_columns(scalar, column)


@dataclass(frozen=True, slots=True)
class KeptOnce:
    """An outer join that keeps one side: the read columns of both sides, and the union's columns.

    Parameters
    ----------
    kept, partners
        The sources of either side, with the conditions on this side only, and without columns.
    condition
        The join condition, over both sides.
    columns
        Each with its scalars for matched and for padded rows; the latter reads the kept side.
    """

    kept: Core
    partners: Core
    condition: tuple[Scalar, ...]
    columns: tuple[tuple[str, Scalar, Scalar], ...]


def kept_once(source: UnionSource) -> KeptOnce | None:
    """Return a union as an outer join if its kept side is costly to read twice, else None.

    Reading one relation twice costs less than sorting twice as many rows.
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
    """Return the join if padded rows have the same sources as matched ones from a position on."""
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
    """Return True if two sources have the same rows, and record the corresponding column names."""
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
    """Return True if two cores have the same rows, up to column names."""
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


class SideColumns:
    """The columns read from the sides of a join, each under one name."""

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


_ELEMENT = "_element"

_KEPT = "_kept"
_PARTNERS = "_partners"
_PARTS = "_parts"
_PART = "_part"
_FOUND = "_found"


def members_query(block: Block, tables: Tables, *, prefilter: bool = True) -> exp.Select:
    """Return the query of a block's members: its core.

    ``prefilter`` keeps only members whose semi joins have a potential partner.
    """
    if block.core is None:
        raise ValueError(f"block {block.name} has no members of its own")
    return core_query(block.core if prefilter else replace(block.core, semis=()), tables)


def core_query(core: Core, tables: Tables) -> exp.Select:
    """Return the query of a core."""
    select = _in_order(core, tables) if core.order else _rows(core, tables)
    return select if core.sample is None else _sampled(select, core.sample)


def _rows(core: Core, tables: Tables) -> exp.Select:
    select = exp.select(*named(_numbered(core)))
    for source in core.sources:
        select = from_(select, _source(source, tables))
    select = with_generators(select, core.generators)
    conditions = [*core.predicates]
    conditions += [exists(semi, tables.potential(semi.block)) for semi in core.semis]
    return where(select, conditions)


def _in_order(core: Core, tables: Tables) -> exp.Select:
    """Return a core with random draws, evaluated after each task has sorted its rows."""
    inner: list[Named] = []

    def below(name: str, scalar: Scalar) -> exp.Column:
        inner.append((name, scalar))
        return qualified(MEMBER, name)

    def above(name: str, scalar: Scalar) -> Scalar:
        if not is_drawn(scalar):
            return below(name, scalar)
        columns = {text(node): node for node in scalar.find_all(exp.Column) if node.table}
        kept = {
            written: below(f"{name} {number}", column)
            for number, (written, column) in enumerate(columns.items())
        }
        return scalar.transform(
            lambda node: kept.get(text(node), node) if isinstance(node, exp.Column) else node
        )

    select = exp.select(*named([(name, above(name, scalar)) for name, scalar in core.select]))
    keys = []
    for number, key in enumerate(core.order):
        name = below(f"_order {number}", key.scalar).this
        column = exp.Column(this=name)
        keys.append(exp.Ordered(this=column, desc=key.descending, nulls_first=key.nulls_first))
    rows = _rows(replace(core, select=tuple(inner)), tables)
    rows.set("sort", exp.Sort(expressions=keys))
    return select.from_(rows.subquery(MEMBER))


def _sampled(select: exp.Select, sample: Scalar) -> exp.Select:
    """Return the sample of a query's rows."""
    rows = exp.Subquery(
        this=select,
        sample=sample.copy(),
        alias=exp.TableAlias(this=exp.to_identifier(MEMBER)),
    )
    return exp.select(*(qualified(MEMBER, name) for name in select.named_selects)).from_(rows)


def _numbered(core: Core) -> Sequence[Named]:
    """Return the columns of a core, with row numbers for the positions of a table function's rows.

    A number in the select list does not prevent Spark from moving conditions.
    """
    places = {g.position_alias for g in core.generators if g.numbered}
    number = exp.Anonymous(this="monotonically_increasing_id", expressions=[])
    return [
        (name, number if isinstance(scalar, exp.Column) and scalar.table in places else scalar)
        for name, scalar in core.select
    ]


def with_generators(select: exp.Select, generators: Sequence[Generator]) -> exp.Select:
    """Apply generators to the rows of FROM, each as a LATERAL VIEW, or two for inline.

    Table functions are joined.
    """
    for generator in generators:
        if generator.function:
            columns = generator.columns
            if generator.placed and generator.position is not None:
                columns = (generator.position, *columns)
            called = _lateral(generator.argument.copy(), generator.alias, columns)
            select.append("joins", exp.Join(this=called))
            continue
        if generator.position is None:
            call = generator.argument.copy()
            view = _lateral_view(call, False, generator.alias, generator.columns)
            select.append("laterals", view)
            continue
        columns = (generator.position, *generator.columns)
        if generator.inline:
            columns = (generator.position, _ELEMENT)
        first = exp.Anonymous(this="posexplode", expressions=[generator.argument.copy()])
        alias = generator.position_alias
        select.append("laterals", _lateral_view(first, generator.outer, alias, columns))
        if generator.inline:
            element = exp.Anonymous(this="array", expressions=[qualified(alias, _ELEMENT)])
            fields = exp.Anonymous(this="inline", expressions=[element])
            view = _lateral_view(fields, generator.outer, generator.alias, generator.columns)
            select.append("laterals", view)
    return select


def with_sets(select: exp.Select, block: Block) -> exp.Select:
    """Repeat the rows of FROM for each grouping set of a block, numbered, if it has any."""
    if block.sets:
        numbers = [exp.Literal.number(number) for number in range(block.sets)]
        each = exp.Anonymous(
            this="explode", expressions=[exp.Anonymous(this="array", expressions=numbers)]
        )
        select.append("laterals", _lateral_view(each, False, EXPANDED, (SET_NUMBER,)))
    return select


def with_copies(select: exp.Select, counts: Sequence[Scalar]) -> exp.Select:
    """Repeat each row of FROM as many times as the product of its counts."""
    if counts:
        product = reduce(lambda product, other: exp.Mul(this=product, expression=other), counts)
        numbers = exp.Anonymous(this="sequence", expressions=[exp.Literal.number(1), product])
        each = exp.Anonymous(this="explode", expressions=[numbers])
        select.append("laterals", _lateral_view(each, False, COPIES, ("copy",)))
    return select


def _lateral_view(call: exp.Expr, outer: bool, alias: str, columns: Sequence[str]) -> exp.Lateral:
    lateral = _lateral(call, alias, columns)
    lateral.set("view", True)
    lateral.set("outer", outer)
    return lateral


def _lateral(call: exp.Expr, alias: str, columns: Sequence[str]) -> exp.Lateral:
    names = [exp.to_identifier(name, quoted=True) for name in columns]
    return exp.Lateral(
        this=call, alias=exp.TableAlias(this=exp.to_identifier(alias), columns=names)
    )


def _source(source: Source, tables: Tables) -> exp.Expr:
    if isinstance(source, ScanSource | IterationSource):
        return table(source.view, source.alias)
    if isinstance(source, BlockSource):
        return table(tables.potential(source.block), source.alias)
    if isinstance(source, UnionSource):
        join = kept_once(source)
        if join is not None:
            return _kept_once(join, tables).subquery(source.alias)
        branches = [core_query(branch, tables) for branch in source.branches]
        return union_all(branches).subquery(source.alias)
    if isinstance(source, ValuesSource):
        return core_query(source.core, tables).distinct().subquery(source.alias)
    if isinstance(source, ConstantSource):
        return _constant(source)
    raise TypeError(f"no text for {type(source).__name__}")


def _kept_once(join: KeptOnce, tables: Tables) -> exp.Select:
    """Return an outer join that reads each row of its outer side once."""
    columns = SideColumns(((_KEPT, join.kept), (_PARTNERS, join.partners)))
    part = qualified(_KEPT, _PART)
    matched = exp.EQ(this=part, expression=exp.Literal.number(0))
    condition = [columns.over(scalar) for scalar in join.condition]
    select = exp.select()
    for name, matched_scalar, other in join.columns:
        partner, padded = columns.over(matched_scalar), columns.over(other)
        if partner != padded and not (isinstance(padded, exp.Null) and _is_of(partner, _PARTNERS)):
            partner = exp.Case().when(matched.copy(), partner).else_(padded)
        select = select.select(exp.alias_(partner, name, quoted=True))
    kept = core_query(replace(join.kept, select=tuple(columns.read[_KEPT].values())), tables)
    numbers = exp.Anonymous(this="array", expressions=[exp.Literal.number(n) for n in (0, 1)])
    each = exp.Anonymous(this="explode", expressions=[numbers])
    kept.append("laterals", _lateral_view(each, False, _PARTS, (_PART,)))
    kept = kept.select(exp.alias_(qualified(_PARTS, _PART), _PART, quoted=True))
    flag: Named = (_FOUND, exp.true())
    read = (*columns.read[_PARTNERS].values(), flag)
    partners = core_query(replace(join.partners, select=read), tables)
    on = conjunction([matched, *condition])
    assert on is not None
    select = left_join(select.from_(kept.subquery(_KEPT)), partners.subquery(_PARTNERS), on)
    padded = exp.EQ(this=part.copy(), expression=exp.Literal.number(1))
    return select.where(exp.or_(padded, qualified(_PARTNERS, _FOUND)))


def _is_of(scalar: Scalar, alias: str) -> bool:
    """Return True if a scalar is a column of an alias, so that it is NULL in padded rows."""
    return isinstance(scalar, exp.Column) and scalar.table == alias


def _constant(source: ConstantSource) -> exp.Expr:
    names = [exp.to_identifier(name, quoted=True) for name in source.columns]
    alias = exp.TableAlias(this=exp.to_identifier(source.alias), columns=names)
    if isinstance(source.table, exp.Values):
        rows = [row.copy() for row in source.table.expressions]
        return DerivedValues(expressions=rows, alias=alias)
    return exp.Table(this=source.table.copy(), alias=alias)


def exists(semi: Match, name: str) -> exp.Expr:
    """Return a membership as a condition over the named table of the block's tuples."""
    pairs = ((column, left) for left, column in semi.pairs)
    there: exp.Expr = exists_in(name, KEYS, semi.block.columns, pairs, null_safe=semi.null_safe)
    if semi.negated:
        there = exp.Not(this=there)
    if semi.guard is not None:
        there = exp.paren(exp.or_(exp.Not(this=bracketed(semi.guard.copy())), there, copy=False))
    return there


def equalities(match: Match, alias: str) -> list[exp.Expr]:
    """Return the equalities of a membership's or lookup's pairs with the columns of an alias."""
    pairs = ((column, left) for left, column in match.pairs)
    return equal_columns(alias, pairs, null_safe=match.null_safe)


_NUMBER = "_number"


def safe_for_padded_rows(
    scalar: Scalar, block: Block, tables: Tables, *, potential: bool = False
) -> Scalar:
    """Return a scalar that raises no error for a padded row that has a partner.

    Spark is free to evaluate a condition before it tests for the partner; only CASE fixes the
    order. ``potential``: the test also covers rows that only a deletion would pad; for them the
    scalar is NULL if it fails.
    """
    guarded = [semi for semi in block.memberships if semi.guard is not None]
    present = conjunction([exists(semi, tables.rows(semi.block)) for semi in guarded])
    if present is None or not may_raise(scalar):
        return scalar
    case = exp.Case().when(present, scalar.copy())
    return case.else_(without_errors(scalar)) if potential else case


def needs_present_members(block: Block) -> bool:
    """Return True if conditions call registered functions, which may fail for absent rows.

    Spark calls Python functions for every row that reaches them, even within CASE.
    """
    guarded = any(semi.guard is not None for semi in block.memberships)
    scalars = (scalar for semi in block.memberships for scalar in semi.scalars())
    of_members = all(aliases(scalar) <= {MEMBER} for scalar in scalars)
    called = any(_calls_registered(condition) for condition in block.conditions)
    return guarded and called and of_members and block.core is not None


def present_members(block: Block, tables: Tables) -> tuple[exp.Subquery, Scalar]:
    """Return the present members, and a condition that Spark evaluates only for these.

    It reads a number assigned to each member, before which Spark computes no condition on members.
    """
    number = exp.Anonymous(this="monotonically_increasing_id", expressions=[])
    everything = exp.Column(this=exp.Star(), table=exp.to_identifier(MEMBER))
    select = exp.select(everything, exp.alias_(number, _NUMBER, quoted=True))
    select = select.from_(table(tables.members(block), MEMBER))
    there = where(select, [exists(semi, tables.rows(semi.block)) for semi in block.memberships])
    first = exp.Literal.number(0)
    return there.subquery(MEMBER), exp.GTE(this=qualified(MEMBER, _NUMBER), expression=first)


def _calls_registered(scalar: Scalar) -> bool:
    calls = scalar.find_all(exp.Anonymous)
    return any(str(call.this).lower() not in SCALAR_FUNCTIONS for call in calls)

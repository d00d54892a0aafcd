"""The members of a block: its core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from rewriter.algebra import Scalar, bracketed
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
    Named,
    OuterLookup,
    ScanSource,
    Semi,
    Source,
    UnionSource,
    ValuesSource,
    qualified,
)
from rewriter.dialect import DerivedValues
from rewriter.emit.kept import Columns, KeptOnce, kept_once
from rewriter.emit.trees import (
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
from rewriter.scalars.special_functions import is_drawn

_ELEMENT = "_element"

_KEPT = "_kept"
_PARTNERS = "_partners"
_PARTS = "_parts"
_PART = "_part"
_FOUND = "_found"

TableOf = Callable[[Block], str]


@dataclass(frozen=True, slots=True)
class Tables:
    """Names of the tables to read a block's members, rows and potential rows from."""

    members: TableOf
    rows: TableOf
    potential: TableOf


CTE_TABLES = Tables(
    members=lambda block: f"{block.name}_members",
    rows=lambda block: block.name,
    potential=lambda block: f"{block.name}_potential",
)


def members_query(block: Block, tables: Tables, *, prefilter: bool = True) -> exp.Select:
    """Return the query of a block's members: its core.

    ``prefilter`` keeps only members whose semi joins have a potential partner.
    """
    if block.core is None:
        raise ValueError(f"block {block.name} has no members of its own")
    return _core(block.core if prefilter else replace(block.core, semis=()), tables)


def core_query(core: Core, tables: Tables) -> exp.Select:
    """Return the query of a core."""
    return _core(core, tables)


def _core(core: Core, tables: Tables) -> exp.Select:
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
    """Return a core of which chance decides when each task has sorted its rows."""
    inner: list[Named] = []

    def below(name: str, scalar: Scalar) -> exp.Column:
        inner.append((name, scalar))
        return qualified(MEMBER, name)

    def above(name: str, scalar: Scalar) -> Scalar:
        if not is_drawn(scalar):
            return below(name, scalar)
        columns = {node.sql(): node for node in scalar.find_all(exp.Column) if node.table}
        kept = {
            text: below(f"{name} {number}", column)
            for number, (text, column) in enumerate(columns.items())
        }
        return scalar.transform(
            lambda node: kept.get(node.sql(), node) if isinstance(node, exp.Column) else node
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
    """Return the columns of a core; where they are places of a table function's rows, numbers.

    A number in the select list leaves the conditions where Spark can move them.
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
    """Repeat the rows of FROM as often as the product of their counts says."""
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
        branches = [_core(branch, tables) for branch in source.branches]
        return union_all(branches).subquery(source.alias)
    if isinstance(source, ValuesSource):
        return _core(source.core, tables).distinct().subquery(source.alias)
    if isinstance(source, ConstantSource):
        return _constant(source)
    raise TypeError(f"no text for {type(source).__name__}")


def _kept_once(join: KeptOnce, tables: Tables) -> exp.Select:
    """Return an outer join of which each kept row is read once."""
    columns = Columns(((_KEPT, join.kept), (_PARTNERS, join.partners)))
    part = qualified(_KEPT, _PART)
    matched = exp.EQ(this=part, expression=exp.Literal.number(0))
    condition = [columns.over(scalar) for scalar in join.condition]
    select = exp.select()
    for name, matched_scalar, other in join.columns:
        partner, padded = columns.over(matched_scalar), columns.over(other)
        if partner != padded and not (isinstance(padded, exp.Null) and _is_of(partner, _PARTNERS)):
            partner = exp.Case().when(matched.copy(), partner).else_(padded)
        select = select.select(exp.alias_(partner, name, quoted=True))
    kept = _core(replace(join.kept, select=tuple(columns.read[_KEPT].values())), tables)
    numbers = exp.Anonymous(this="array", expressions=[exp.Literal.number(n) for n in (0, 1)])
    each = exp.Anonymous(this="explode", expressions=[numbers])
    kept.append("laterals", _lateral_view(each, False, _PARTS, (_PART,)))
    kept = kept.select(exp.alias_(qualified(_PARTS, _PART), _PART, quoted=True))
    flag: Named = (_FOUND, exp.true())
    read = (*columns.read[_PARTNERS].values(), flag)
    partners = _core(replace(join.partners, select=read), tables)
    on = conjunction([matched, *condition])
    assert on is not None
    select = left_join(select.from_(kept.subquery(_KEPT)), partners.subquery(_PARTNERS), on)
    padded = exp.EQ(this=part.copy(), expression=exp.Literal.number(1))
    return select.where(exp.or_(padded, qualified(_PARTNERS, _FOUND)))


def _is_of(scalar: Scalar, alias: str) -> bool:
    """Tell whether a scalar is a column of an alias, NULL where a join finds nothing there."""
    return isinstance(scalar, exp.Column) and scalar.table == alias


def _constant(source: ConstantSource) -> exp.Expr:
    names = [exp.to_identifier(name, quoted=True) for name in source.columns]
    alias = exp.TableAlias(this=exp.to_identifier(source.alias), columns=names)
    if isinstance(source.table, exp.Values):
        rows = [row.copy() for row in source.table.expressions]
        return DerivedValues(expressions=rows, alias=alias)
    return exp.Table(this=source.table.copy(), alias=alias)


def exists(semi: Semi, name: str) -> exp.Expr:
    """Return what a membership asks of the named table of the block's tuples."""
    pairs = ((column, left) for left, column in semi.pairs)
    there: exp.Expr = exists_in(name, KEYS, semi.block.columns, pairs, null_safe=semi.null_safe)
    if semi.negated:
        there = exp.Not(this=there)
    if semi.guard is not None:
        there = exp.paren(exp.or_(exp.Not(this=bracketed(semi.guard.copy())), there, copy=False))
    return there


def equalities(semi: Semi | OuterLookup, alias: str) -> list[exp.Expr]:
    """Return the pairs of a membership or a lookup, compared with the columns of an alias."""
    pairs = ((column, left) for left, column in semi.pairs)
    return equal_columns(alias, pairs, null_safe=semi.null_safe)

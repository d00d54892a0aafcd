"""The tail of a block: its rows from members and the evaluated rows of other blocks.

It groups, aggregates and annotates members, and sorts by the keys of the block and then by the
identity of its rows. Arrays whose order matters are sorted once complete.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Scalar, SortKey
from rewriter.blocks import GROUP, MEMBER, NOTHING, UNION, Block, Kind, Named, qualified
from rewriter.emit.core import (
    equalities,
    exists,
    needs_present_members,
    present_members,
    safe_for_padded_rows,
    with_copies,
    with_generators,
    with_sets,
)
from rewriter.emit.trees import (
    CTE_TABLES,
    PRESENT,
    PROVENANCE,
    SORT,
    Tables,
    conjunction,
    fill,
    from_,
    is_true,
    left_join,
    named,
    no_ordinal,
    table,
    union_rows,
    where,
)
from rewriter.scalars.aggregates import (
    SETS,
    arguments,
    called,
    collects_in_order,
    is_distinct,
    name_of,
    sort_keys,
)
from rewriter.scalars.functions import is_opaque
from rewriter.scalars.text import field, text

TIE_BREAK = "breaks ties"
"""Marks sort keys of rows that the query does not have."""


def monomial(block: Block) -> Scalar:
    """Return the struct of a member: its tokens and references, and the values of its tensors."""
    if block.kind is Kind.UNION:
        raise ValueError("a union takes the annotations of its branches")
    fields: list[Named] = [
        (token.alias, pack([qualified(MEMBER, c) for c in token.columns])) for token in block.tokens
    ]
    for lookup in block.joined:
        ids = [qualified(lookup.alias, c) for c in lookup.block.identity]
        fields.append((lookup.alias, pack(ids)))
    for number, semi in enumerate(block.memberships):
        name = semi.block.name if number == 0 else f"{semi.block.name}_{number + 1}"
        word = "absent" if semi.negated else "exists"
        left_side = pack([left for left, _ in semi.pairs])
        if semi.guard is not None:
            left_side = exp.Case().when(semi.guard.copy(), left_side.copy())
        fields.append((f"{name}_{word}", left_side))
    for outer in block.lookups:
        if outer.factor:
            ids = [qualified(outer.alias, column) for column in outer.block.identity]
            fields.append((outer.alias, pack(ids)))
    for name, call in block.aggregates:
        read = [argument for argument in arguments(call) if not isinstance(argument, exp.Star)]
        if read:
            fields.append((f"{name}_value", pack(read)))
    if not fields:
        fields.append(("one", exp.Literal.number(1)))
    parts: list[Scalar] = []
    for name, scalar in fields:
        parts += [exp.Literal.string(name), scalar.copy()]
    return exp.Anonymous(this="named_struct", expressions=parts)


def pack(scalars: Sequence[Scalar]) -> Scalar:
    if len(scalars) == 1:
        return scalars[0]
    if not scalars:
        return exp.true()
    names = [exp.Literal.string(f"_{number + 1}") for number in range(len(scalars))]
    pairs = [part for pair in zip(names, scalars, strict=True) for part in pair]
    return exp.Anonymous(this="named_struct", expressions=[p.copy() for p in pairs])


_VALUE = "value"
_BEFORE, _AFTER = exp.Literal.number(-1), exp.Literal.number(1)


def sorted_arrays(call: Scalar) -> Scalar:
    """Return the call of an aggregate in Spark's form: arrays are sorted once complete."""
    if not collects_in_order(call):
        return call
    if is_distinct(call):
        # Distinct values are sorted by value.
        return _call("array_sort", called(call).copy())
    keys = sort_keys(call)
    value = arguments(call)[0]
    fields = [(_VALUE, value), *((f"key{at}", key.this) for at, key in enumerate(keys))]
    parts = [part for name, scalar in fields for part in (exp.Literal.string(name), scalar.copy())]
    row = exp.Anonymous(this="named_struct", expressions=parts)
    collected = exp.AnonymousAggFunc(this=called(call).this, expressions=[row])
    in_order = _call("array_sort", collected, _function(_comparison(keys), "l", "r"))
    values = _call("transform", in_order, _function(field("e", _VALUE), "e"))
    return _call("array_compact", values)


def _comparison(keys: Sequence[exp.Ordered]) -> exp.Case:
    """Return the SQL that compares ``l`` with ``r``, to -1, 0 or 1."""
    case = exp.Case()
    for at, key in enumerate(keys):
        left, right = (field(of, f"key{at}") for of in ("l", "r"))
        first, last = (_BEFORE, _AFTER) if key.args.get("nulls_first") else (_AFTER, _BEFORE)
        less, more = (_AFTER, _BEFORE) if key.args.get("desc") else (_BEFORE, _AFTER)
        case = case.when(exp.and_(_is_null(left), exp.not_(_is_null(right))), first)
        case = case.when(exp.and_(exp.not_(_is_null(left)), _is_null(right)), last)
        case = case.when(exp.LT(this=left.copy(), expression=right.copy()), less)
        case = case.when(exp.GT(this=left.copy(), expression=right.copy()), more)
    return case.else_(exp.Literal.number(0))


def _is_null(scalar: exp.Expr) -> exp.Is:
    return exp.Is(this=scalar.copy(), expression=exp.null())


def _call(name: str, *given: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(given))


def _function(body: exp.Expr, *names: str) -> exp.Lambda:
    return exp.Lambda(this=body, expressions=[exp.to_identifier(name) for name in names])


_OWN = "own"
_OPAQUE = "opaque"
_LISTED = "listed"


def grouped(rows: exp.Select, keys: Sequence[Named], aggregates: Sequence[Named]) -> exp.Select:
    """Return the groups of rows: their keys, then their aggregates.

    Spark does not compute registered aggregates beside its own, nor DISTINCT in WITHIN GROUP beside
    DISTINCT of other values: the rows are grouped several times then, and the groups joined by
    their keys.
    """
    first, *others = _apart(aggregates).items()
    if not others:
        return _groups(rows, keys, aggregates)
    columns = [(name, qualified(first[0], name)) for name, _ in keys]
    columns += [(name, qualified(of, name)) for of, part in (first, *others) for name, _ in part]
    both = exp.select(*named(columns)).from_(_groups(rows, keys, first[1]).subquery(first[0]))
    for of, part in others:
        both.append("joins", exp.Join(this=_groups(rows, keys, part).subquery(of)))
    return where(
        both,
        [
            exp.NullSafeEQ(this=qualified(first[0], name), expression=qualified(of, name))
            for name, _ in keys
            for of, _ in others
        ],
    )


def _apart(aggregates: Sequence[Named]) -> dict[str, list[Named]]:
    """Return aggregates that Spark computes together, by names for their groups."""
    different = {
        name: frozenset(text(each) for each in arguments(call) if each.find(exp.Column))
        for name, call in aggregates
        if is_distinct(call) and name_of(call) not in SETS
    }
    values = list(dict.fromkeys(different.values()))
    parts: dict[str, list[Named]] = {_OWN: [], _OPAQUE: []}
    for name, call in aggregates:
        of = _OPAQUE if is_opaque(call) else _OWN
        if values[1:] and name in different and sort_keys(call):
            of = f"{_LISTED}{values.index(different[name])}"
        parts.setdefault(of, []).append((name, call))
    return {of: part for of, part in parts.items() if part} or {_OWN: []}


def _groups(rows: exp.Select, keys: Sequence[Named], aggregates: Sequence[Named]) -> exp.Select:
    calls = [(name, sorted_arrays(call)) for name, call in aggregates]
    select = rows.select(*named([*keys, *calls]))
    return select.group_by(*(no_ordinal(key) for _, key in keys)) if keys else select


def with_post(select: exp.Select, block: Block) -> exp.Select:
    if any(key.scalar.find(exp.Window) for key in block.order):
        return with_post_outside(select, block)
    keys = [ordered(key, block) for key in block.order]
    if block.limited:
        keys += [tie_break(block, name) for name in block.tie_break]
    return cut(select, block, keys)


def with_post_outside(select: exp.Select, block: Block) -> exp.Select:
    """Order by columns of a subquery: a window function cannot stand in ORDER BY."""
    shown = select.named_selects
    sorting = [
        (f"{SORT}{number}", fill(key.scalar, block)) for number, key in enumerate(block.order)
    ]
    inner = select.select(*named((n, scalar) for n, scalar in sorting if n not in shown))
    outer = exp.select(*(qualified("r", name) for name in shown)).from_(inner.subquery("r"))
    return cut(outer, block, written_keys(block))


def written_keys(block: Block) -> list[exp.Ordered]:
    """Return the sort keys of rows that are written with their sort keys as columns of ``r``."""
    keys = [
        exp.Ordered(
            this=qualified("r", f"{SORT}{number}"),
            desc=key.descending,
            nulls_first=key.nulls_first,
        )
        for number, key in enumerate(block.order)
    ]
    if block.limited:
        keys += [_last_key(qualified("r", name)) for name in block.tie_break]
    return keys


def cut(select: exp.Select, block: Block, keys: Sequence[exp.Ordered]) -> exp.Select:
    if keys:
        select = select.order_by(*keys)
    if block.limit is not None:
        select = select.limit(block.limit)
    if block.offset:
        select = select.offset(block.offset)
    return select


def ordered(key: SortKey, block: Block) -> exp.Ordered:
    return exp.Ordered(
        this=no_ordinal(fill(key.scalar, block)),
        desc=key.descending,
        nulls_first=key.nulls_first,
    )


def tie_break(block: Block, name: str) -> exp.Ordered:
    if block.kind is Kind.GROUP:
        scalar: Scalar = qualified(GROUP, name)
    elif block.kind is Kind.UNION:
        scalar = qualified(UNION, name)
    else:
        columns = dict([*block.keys, *((o.name, o.scalar) for o in block.outputs)])
        scalar = no_ordinal(fill(columns[name], block))
    return _last_key(scalar.copy())


def _last_key(scalar: Scalar) -> exp.Ordered:
    key = exp.Ordered(this=scalar, desc=False, nulls_first=True)
    key.meta[TIE_BREAK] = True
    return key


MEMBERS = "_n"
"""Rows of a grouping's dataset: the number of members."""

_NEW = "now"
_OLD = "then"


@dataclass(frozen=True, slots=True)
class CapturedGroups:
    """The captured rows of a grouping: a group that loses no member keeps its captured aggregates.

    Sums of floats depend on their order, which Spark does not define: recomputed, they may differ
    although nothing is lost.

    Parameters
    ----------
    view
        A view of the rows, with the number of members of each group.
    aggregates
        The captured columns.
    """

    view: str
    aggregates: frozenset[str]


def rows_query(
    block: Block,
    *,
    provenance: bool = False,
    captured_groups: CapturedGroups | None = None,
) -> exp.Select:
    """Return the query of a block's rows: identity, then outputs.

    Parameters
    ----------
    provenance
        Also yield the annotation, as ``_prov``.
    captured_groups
        The captured rows, for a grouping.
    """
    return with_post(_rows(block, None, provenance, captured_groups), block)


def stored_rows_query(block: Block, extra: Sequence[Named]) -> exp.Select:
    """Return the query of a block's rows as captures store them, before ORDER BY and LIMIT.

    It keeps the tuples that HAVING drops, with ``_present`` false and NULL outputs, and also yields
    the plain aggregates under their own names, and the sort keys, ``_o0`` and on.

    Parameters
    ----------
    extra
        More aggregates of a grouping to compute and yield.
    """
    return _rows(block, extra)


def _rows(
    block: Block,
    stored: Sequence[Named] | None,
    provenance: bool = False,
    captured_groups: CapturedGroups | None = None,
) -> exp.Select:
    """Return rows before ORDER BY and LIMIT; ``stored``: as `stored_rows_query` has them."""
    if block.kind is Kind.GROUP:
        return _group_rows(block, stored, provenance, captured_groups)
    rows = _member_rows if block.kind is Kind.ROWS else _union_post
    return rows(block, provenance, stored is not None)


def answer_query(block: Block, rows: str, extra: Sequence[str] = ()) -> exp.Select:
    """Return the answer from a table of the root's rows, written by `stored_rows_query`.

    ``extra`` names further columns of that table to append.
    """
    columns = [qualified("r", output.name) for output in block.outputs]
    columns += [qualified("r", name) for name in extra]
    select = exp.select(*columns).from_(table(rows, "r")).where(qualified("r", PRESENT))
    return cut(select, block, written_keys(block))


def read(block: Block, tables: Tables = CTE_TABLES, *, annotated: bool = False) -> exp.Select:
    """Return FROM and WHERE of a tail: surviving members joined with the tuples they refer to.

    ``annotated``: the members as annotated, each once, regardless of semi and anti joins.
    """
    select = exp.select()
    conditions: list[Scalar] = []
    apart = not annotated and needs_present_members(block)
    if apart:
        members, there = present_members(block, tables)
        select = select.from_(members)
        conditions.append(there)
    elif block.core is not None:
        select = select.from_(table(tables.members(block), MEMBER))
    for lookup in block.joined:
        select = from_(select, table(tables.rows(lookup.block), lookup.alias))
        conditions += [
            exp.NullSafeEQ(this=left.copy(), expression=qualified(lookup.alias, its))
            for left, its in lookup.pairs
        ]
    for outer in block.lookups:
        on = [] if outer.guard is None else [outer.guard]
        on += equalities(outer, outer.alias)
        condition = conjunction([fill(part, block, tables) for part in on]) or exp.true()
        select = left_join(select, table(tables.rows(outer.block), outer.alias), condition)
    select = with_generators(
        select, [replace(g, argument=fill(g.argument, block, tables)) for g in block.generators]
    )
    select = with_sets(select, block)
    if apart:
        conditions += block.conditions
    else:
        conditions += [
            safe_for_padded_rows(part, block, tables, potential=annotated)
            for part in block.conditions
        ]
    if not annotated:
        select = with_copies(select, [fill(count, block, tables) for count in block.copies])
    if not (annotated or apart):
        conditions += [exists(semi, tables.rows(semi.block)) for semi in block.memberships]
    return where(select, [fill(condition, block, tables) for condition in conditions])


def _annotation(block: Block) -> Scalar:
    return fill(monomial(block), block)


def _member_rows(block: Block, provenance: bool, keep_absent: bool) -> exp.Select:
    columns = [*block.keys, *((output.name, output.scalar) for output in block.outputs)]
    if keep_absent:
        columns += _bookkeeping(block, None)
    select = read(block).select(*named([(name, fill(scalar, block)) for name, scalar in columns]))
    if provenance:
        select = select.select(exp.alias_(_annotation(block), PROVENANCE, quoted=True))
    return select


def _group_rows(
    block: Block,
    stored: Sequence[Named] | None,
    provenance: bool,
    captured_groups: CapturedGroups | None,
) -> exp.Select:
    keys = [(name, fill(key, block)) for name, key in block.keys]
    computed = [(name, fill(call, block)) for name, call in block.aggregates]
    added = [(name, fill(call, block)) for name, call in stored or ()]
    calls = [*computed, *added]
    if provenance:
        prov = exp.Anonymous(this="collect_list", expressions=[_annotation(block)])
        if block.copies:
            prov = exp.Anonymous(this="array_distinct", expressions=[prov])
        calls.append((PROVENANCE, prov))
    if not keys and not calls:
        calls.append(("_n", exp.Count(this=exp.Star())))
    if captured_groups is None:
        inner = grouped(read(block), keys, calls)
    else:
        inner = _keeping_aggregates(block, keys, calls, captured_groups)
    present = conjunction([fill(condition, block) for condition in block.having])
    names = [name for name, _ in keys]
    if stored is not None:
        names += [name for name, _ in (*computed, *stored)]
    columns: list[Named] = [(name, qualified(GROUP, name)) for name in dict.fromkeys(names)]
    columns += _shown(block, present, dict(columns), stored is not None)
    select = exp.select(*named(columns)).from_(inner.subquery(GROUP))
    if provenance:
        select = select.select(qualified(GROUP, PROVENANCE))
    if present is not None and stored is None:
        select = select.where(present)
    return select


def _keeping_aggregates(
    block: Block,
    keys: Sequence[Named],
    calls: Sequence[Named],
    captured: CapturedGroups,
) -> exp.Select:
    """Return groups; a group with as many members as captured keeps its captured values."""
    counted = [*calls, (MEMBERS, exp.Count(this=exp.Star()))]
    same = exp.EQ(this=qualified(_NEW, MEMBERS), expression=qualified(_OLD, MEMBERS))

    def kept(name: str) -> Scalar:
        new, old = qualified(_NEW, name), qualified(_OLD, name)
        return exp.Case().when(same.copy(), old).else_(new) if name in captured.aggregates else new

    select = exp.select(*named([(name, qualified(_NEW, name)) for name, _ in keys]))
    select = select.select(*named([(name, kept(name)) for name, _ in calls]))
    select = select.from_(grouped(read(block), keys, counted).subquery(_NEW))
    pairs = [
        exp.NullSafeEQ(this=qualified(_NEW, name), expression=qualified(_OLD, name))
        for name, _ in keys
    ]
    return left_join(select, table(captured.view, _OLD), conjunction(pairs) or exp.true())


def _shown(
    block: Block,
    present: Scalar | None,
    known: Container[str],
    keep_absent: bool,
) -> Iterator[Named]:
    """Yield the outputs that are not known by name, with what rows that are absent have beside."""
    for output in block.outputs:
        scalar = fill(output.scalar, block)
        if output.name in known:
            continue
        if keep_absent and present is not None and not output.known_absent:
            scalar = exp.Case().when(present.copy(), scalar.copy())
        yield output.name, scalar
    if keep_absent:
        yield from _bookkeeping(block, present)


def _bookkeeping(block: Block, present: Scalar | None) -> list[Named]:
    """Return ``_present`` and the sort keys, for rows that are written before ORDER BY."""
    columns: list[Named] = [(PRESENT, exp.true() if present is None else is_true(present))]
    for number, key in enumerate(block.order):
        scalar = fill(key.scalar, block)
        if present is not None:
            scalar = exp.Case().when(present.copy(), scalar.copy())
        columns.append((f"{SORT}{number}", scalar))
    return columns


def _union_post(block: Block, provenance: bool, keep_absent: bool) -> exp.Select:
    union = union_rows(block, CTE_TABLES.rows, provenance=provenance)
    columns: list[Named] = [(name, qualified(UNION, name)) for name in block.identity]
    present = conjunction([fill(condition, block) for condition in block.having])
    columns += _shown(block, present, (), keep_absent)
    if provenance:
        columns.append((PROVENANCE, qualified(UNION, PROVENANCE)))
    select = exp.select(*named(columns)).from_(union.subquery(UNION))
    if present is not None and not keep_absent:
        select = select.where(present)
    return select


def comparisons(block: Block) -> exp.Select:
    """Return the compared values of memberships and outer lookups: each outer value, then the
    inner one.

    Only their types are of interest: the query has no rows.
    """
    select = read(block, annotated=True).where(exp.false())
    columns: list[Named] = []
    for number, probe in enumerate(block.probes):
        select = from_(select, table(CTE_TABLES.rows(probe.block), f"s{number}"))
        for left, column in probe.pairs:
            index = len(columns) // 2
            columns.append((f"_left{index}", fill(left, block)))
            columns.append((f"_right{index}", qualified(f"s{number}", column)))
    return select.select(*named(columns or NOTHING))

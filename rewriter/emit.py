"""Spark SQL text of blocks: built as trees, meant to be read.

Every function returns a ``SELECT`` over tables that the caller names: the members of a block, its
evaluated rows, its potential rows. The same tails therefore run over common table expressions (the
rewritten query), over a capture, and over what a deletion leaves of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from rewriter.algebra import Scalar, SortKey
from rewriter.blocks import (
    GROUP,
    MEMBER,
    UNION,
    Block,
    BlockSource,
    Core,
    Kind,
    Lookup,
    Named,
    ScanSource,
    Semi,
    Source,
    UnionSource,
    aliases,
    qualified,
    topological,
)
from rewriter.lower.scope import rewrite_columns

PROVENANCE = "_prov"
PRESENT = "_present"
SORT = "_o"
VALUE = "_value"
BRANCH = "_branch"

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


def potential_query(block: Block, tables: Tables) -> exp.Select | exp.Query:
    """Return the query of every tuple the block may have after some deletion.

    Its columns are the block's identity and stable outputs. Conditions that depend on evaluated
    rows of other blocks, HAVING and LIMIT are left out.
    """
    if not block.stable_identity:
        raise ValueError(f"the potential tuples of block {block.name} are not known")
    if block.kind is Kind.UNION:
        return _union_rows(block, tables.potential, potential=True)
    columns = [(output.name, output.scalar) for output in block.outputs if output.stable]
    select = exp.select()
    if block.core is not None:
        select = select.from_(table(tables.members(block), MEMBER))
    else:
        for lookup in block.lookups:
            if not lookup.scalar:
                select = _from(select, table(tables.potential(lookup.block), lookup.alias))
        select = _where(select, [c for c in block.conditions if not dependent(c, block)])
    if block.kind is Kind.ROWS:
        return select.select(*_named((*block.keys, *columns)))
    keys = [(name, key) for name, key in block.keys]
    inner = select.select(*_named(keys)).group_by(*(_group_key(key) for _, key in keys))
    named = [(name, qualified(GROUP, name)) for name, _ in keys]
    columns = [column for column in columns if column[0] not in dict(named)]
    return exp.select(*_named((*named, *columns))).from_(inner.subquery(GROUP))


def rows_query(
    block: Block,
    tables: Tables,
    *,
    aggregates: bool = False,
    extra: Sequence[Named] = (),
    provenance: bool = False,
    keep_absent: bool = False,
    post: bool = True,
) -> exp.Select:
    """Return the query of a block's rows: identity, then outputs.

    Parameters
    ----------
    aggregates
        Also yield the plain aggregates, under their own names.
    extra
        More aggregates of a grouping to compute and yield.
    provenance
        Also yield the annotation, as ``_prov``.
    keep_absent
        Keep the tuples that HAVING drops, with ``_present`` false and NULL outputs; also yield
        the sort keys, ``_o0`` and on.
    post
        Apply ORDER BY and LIMIT.
    """
    if block.kind is Kind.GROUP:
        select = _group_rows(block, tables, aggregates, extra, provenance, keep_absent)
    elif block.kind is Kind.ROWS:
        select = _member_rows(block, tables, provenance, keep_absent)
    else:
        select = _union_post(block, tables, provenance, keep_absent)
    return _post(select, block, tables) if post else select


@dataclass(frozen=True, slots=True)
class Contributions:
    """What each member contributes to its tuple.

    ``query`` yields the identity of the tuple, then the columns of every factor: ``tokens`` names
    those of each token, ``references`` those of each tuple of another block.
    """

    query: exp.Select
    tokens: tuple[tuple[str, tuple[str, ...]], ...]
    references: tuple[tuple[str, tuple[str, ...]], ...]


def contributions(block: Block, tables: Tables, values: TableOf | None = None) -> Contributions:
    """Return the members of a block with their factors.

    Parameters
    ----------
    values
        Tables of other blocks' annotations (identity, then ``_value``): a reference is then one
        column, the annotation. None: a reference is the identity of the tuple referred to.
    """
    select = _read(block, tables, semis_as_joins=True)
    if block.kind is Kind.ROWS:
        columns: list[Named] = list(block.keys)
    else:
        columns = [(name, _fill(key, block, tables)) for name, key in block.keys]
    tokens = []
    for number, token in enumerate(block.tokens):
        names = tuple(f"_t{number}_{part}" for part in range(len(token.columns)))
        mine = [qualified(MEMBER, column) for column in token.columns]
        columns += list(zip(names, mine, strict=True))
        tokens.append((token.relation, names))
    references = []
    read = [(lookup.alias, lookup.block) for lookup in block.lookups if not lookup.scalar]
    read += [(f"s{number}", semi.block) for number, semi in enumerate(block.semis)]
    for number, (alias, inner) in enumerate(read):
        identity = [qualified(alias, column) for column in inner.identity]
        names = tuple(f"_r{number}_{part}" for part in range(len(identity)))
        if values is not None:
            valued = f"{alias}_v"
            select = _from(select, table(values(inner), valued))
            conditions = [
                exp.NullSafeEQ(this=qualified(valued, column.name), expression=column)
                for column in identity
            ]
            select = _where(select, conditions)
            identity, names = [qualified(valued, VALUE)], (f"_r{number}",)
        columns += list(zip(names, identity, strict=True))
        references.append((inner.name, names))
    return Contributions(select.select(*_named(columns)), tuple(tokens), tuple(references))


def answer_query(block: Block, rows: str, extra: Sequence[str] = ()) -> exp.Select:
    """Return the answer from a table of the root's rows that was written with ``keep_absent``.

    ``extra`` names more columns of that table to append.
    """
    columns = [qualified("r", output.name) for output in block.outputs]
    columns += [qualified("r", name) for name in extra]
    select = exp.select(*columns).from_(table(rows, "r")).where(qualified("r", PRESENT))
    keys = [
        exp.Ordered(
            this=qualified("r", f"{SORT}{number}"),
            desc=key.descending,
            nulls_first=key.nulls_first,
        )
        for number, key in enumerate(block.order)
    ]
    if block.limited:
        keys += [
            exp.Ordered(this=qualified("r", name), desc=False, nulls_first=True)
            for name in block.identity
        ]
    return _cut(select, block, keys)


def program(root: Block, *, provenance: bool) -> exp.Select:
    """Return the whole query as one statement: a common table expression per members and block.

    With ``provenance`` this is the rewritten query: the answer's columns, then ``_prov``.
    """
    rows = rows_query(root, CTE_TABLES, provenance=provenance)
    shown = [output.name for output in root.outputs] + [PROVENANCE] * provenance
    annotated = _annotated(root) if provenance else set()
    return statement(root, visible(rows, shown), _present_members, annotated)


def _annotated(block: Block) -> set[str]:
    """Return the blocks whose rows carry ``_prov`` in the rewritten query: through unions."""
    return {block.name}.union(*(_annotated(branch) for branch in block.branches))


def _present_members(block: Block) -> exp.Select:
    """Return the members over present tuples of other blocks: nothing was deleted."""
    return members_query(block, replace(CTE_TABLES, potential=CTE_TABLES.rows), prefilter=False)


def statement(
    block: Block,
    query: exp.Select,
    members: Callable[[Block], exp.Query] | None = None,
    annotated: Set[str] = frozenset(),
) -> exp.Select:
    """Complete a query over ``CTE_TABLES`` by the expressions it reads.

    ``members`` gives the query of each block's members; the default is its core. ``annotated``
    names the blocks whose rows carry their annotation.
    """
    make = members or (lambda one: members_query(one, CTE_TABLES))
    makers: dict[str, Callable[[], exp.Query]] = {}
    for inner in topological(block):
        if inner.core is not None:
            makers[CTE_TABLES.members(inner)] = partial(make, inner)
        if inner.stable_identity:
            makers[CTE_TABLES.potential(inner)] = partial(potential_query, inner, CTE_TABLES)
        if inner is not block:
            makers[CTE_TABLES.rows(inner)] = partial(
                rows_query, inner, CTE_TABLES, provenance=inner.name in annotated
            )
    steps = _needed(query, makers)
    for name in (name for name in makers if name in steps):
        query = query.with_(exp.to_identifier(name, quoted=True), as_=steps[name], copy=False)
    return query


def _needed(
    query: exp.Query, makers: Mapping[str, Callable[[], exp.Query]]
) -> dict[str, exp.Query]:
    """Make the steps that a query reads, through other steps too."""
    steps: dict[str, exp.Query] = {}
    stack: list[exp.Query] = [query]
    while stack:
        for read in stack.pop().find_all(exp.Table):
            if read.name in makers and read.name not in steps:
                steps[read.name] = makers[read.name]()
                stack.append(steps[read.name])
    return steps


def visible(select: exp.Select, names: Sequence[str]) -> exp.Select:
    """Keep the named columns of a select list, in the order given."""
    by_name = {column.alias_or_name: column for column in select.expressions}
    return select.select(*(by_name[name] for name in names), append=False)


# -- the core ------------------------------------------------------------------------------


def _core(core: Core, tables: Tables) -> exp.Select:
    select = exp.select(*_named(core.select))
    for source in core.sources:
        select = _from(select, _source(source, tables))
    conditions = [*core.predicates]
    conditions += [_exists(semi, tables.potential(semi.block)) for semi in core.semis]
    return _where(select, conditions)


def _source(source: Source, tables: Tables) -> exp.Expr:
    if isinstance(source, ScanSource):
        return table(source.view, source.alias)
    if isinstance(source, BlockSource):
        return table(tables.potential(source.block), source.alias)
    if isinstance(source, UnionSource):
        branches = [_core(branch, tables) for branch in source.branches]
        return _union(branches).subquery(source.alias)
    raise TypeError(f"no text for {type(source).__name__}")


def _union(branches: Sequence[exp.Query]) -> exp.Query:
    union = branches[0]
    for branch in branches[1:]:
        union = exp.union(union, branch, distinct=False, copy=False)
    return union


def _exists(semi: Semi, name: str) -> exp.Expr:
    inner = exp.select(exp.Literal.number(1)).from_(table(name, "k"))
    for left, column in semi.pairs:
        inner = inner.where(exp.EQ(this=qualified("k", column), expression=left.copy()))
    return exp.Exists(this=inner)


# -- the tail ------------------------------------------------------------------------------


def _read(block: Block, tables: Tables, *, semis_as_joins: bool = False) -> exp.Select:
    """FROM and WHERE of a tail: surviving members joined with the tuples they refer to.

    With ``semis_as_joins`` the tuple that a semi join finds is joined as ``s0``, ``s1``...
    """
    select = exp.select()
    if block.core is not None:
        select = select.from_(table(tables.members(block), MEMBER))
    conditions: list[Scalar] = []
    for lookup in block.lookups:
        if lookup.scalar:
            continue
        select = _from(select, table(tables.rows(lookup.block), lookup.alias))
        conditions += [
            exp.NullSafeEQ(this=qualified(MEMBER, mine), expression=qualified(lookup.alias, its))
            for mine, its in lookup.on
        ]
    conditions += block.conditions
    for number, semi in enumerate(block.semis):
        if not semis_as_joins:
            conditions.append(_exists(semi, tables.rows(semi.block)))
            continue
        alias = f"s{number}"
        select = _from(select, table(tables.rows(semi.block), alias))
        conditions += [
            exp.EQ(this=qualified(alias, column), expression=left) for left, column in semi.pairs
        ]
    return _where(select, [_fill(condition, block, tables) for condition in conditions])


def _fill(scalar: Scalar, block: Block, tables: Tables) -> Scalar:
    """Put scalar subqueries in the place of the columns that stand for them."""
    scalars = {lookup.alias: lookup for lookup in block.lookups if lookup.scalar}
    if not scalars:
        return scalar

    def leaf(node: exp.Column) -> Scalar:
        if node.table not in scalars:
            return node
        lookup: Lookup = scalars[node.table]
        rows = table(tables.rows(lookup.block), lookup.alias)
        return exp.select(qualified(lookup.alias, node.name)).from_(rows).subquery()

    return rewrite_columns(scalar, leaf)


def _member_rows(
    block: Block, tables: Tables, provenance: bool, keep_absent: bool
) -> exp.Select:
    columns = [*block.keys, *((output.name, output.scalar) for output in block.outputs)]
    if keep_absent:
        columns += _bookkeeping(block, tables, None)
    select = _read(block, tables).select(
        *_named([(name, _fill(scalar, block, tables)) for name, scalar in columns])
    )
    if provenance:
        select = select.select(exp.alias_(_monomial(block), PROVENANCE, quoted=True))
    return select


def _group_rows(
    block: Block,
    tables: Tables,
    aggregates: bool,
    extra: Sequence[Named],
    provenance: bool,
    keep_absent: bool,
) -> exp.Select:
    keys = [(name, _fill(key, block, tables)) for name, key in block.keys]
    computed = [(name, _fill(call, block, tables)) for name, call in block.aggregates]
    inner = _read(block, tables).select(*_named([*keys, *computed, *extra]))
    if provenance:
        prov = exp.Anonymous(this="collect_list", expressions=[_monomial(block)])
        inner = inner.select(exp.alias_(prov, PROVENANCE, quoted=True))
    if keys:
        inner = inner.group_by(*(_group_key(key) for _, key in keys))
    if not inner.expressions:
        inner = inner.select(exp.alias_(exp.Count(this=exp.Star()), "_n", quoted=True))
    present = _conjunction([_fill(condition, block, tables) for condition in block.having])
    names = [name for name, _ in keys]
    if aggregates:
        names += [name for name, _ in computed] + [name for name, _ in extra]
    columns: list[Named] = [(name, qualified(GROUP, name)) for name in dict.fromkeys(names)]
    for output in block.outputs:
        scalar = _fill(output.scalar, block, tables)
        if output.name in dict(columns):
            continue
        if keep_absent and present is not None:
            scalar = exp.Case().when(present.copy(), scalar.copy())
        columns.append((output.name, scalar))
    if keep_absent:
        columns += _bookkeeping(block, tables, present)
    select = exp.select(*_named(columns)).from_(inner.subquery(GROUP))
    if provenance:
        select = select.select(qualified(GROUP, PROVENANCE))
    if present is not None and not keep_absent:
        select = select.where(present)
    return select


def _bookkeeping(block: Block, tables: Tables, present: Scalar | None) -> list[Named]:
    """Return ``_present`` and the sort keys, for rows that are written before ORDER BY."""
    columns: list[Named] = [(PRESENT, exp.true() if present is None else _is_true(present))]
    for number, key in enumerate(block.order):
        scalar = _fill(key.scalar, block, tables)
        if present is not None:
            scalar = exp.Case().when(present.copy(), scalar.copy())
        columns.append((f"{SORT}{number}", scalar))
    return columns


def _union_rows(
    block: Block, table_of: TableOf, *, potential: bool = False, provenance: bool = False
) -> exp.Query:
    """Return the tuples of all branches: branch number, their identities, their columns.

    The annotation is a struct of the branch's number and a field per branch, NULL but for its own.
    """
    selects: list[exp.Query] = []
    for number, branch in enumerate(block.branches):
        columns: list[Named] = [(BRANCH, exp.Literal.number(number))]
        for other, inner in enumerate(block.branches):
            for name in inner.identity:
                mine = other == number
                columns.append((f"_{other}_{name}", qualified("t", name) if mine else exp.null()))
        for position, name in enumerate(_union_columns(block)):
            output = branch.outputs[position]
            if potential and not all(b.outputs[position].stable for b in block.branches):
                continue
            columns.append((name, qualified("t", output.name)))
        if provenance:
            fields: list[exp.Expr] = [exp.Literal.string("branch"), exp.Literal.number(number)]
            for other in range(len(block.branches)):
                mine = other == number
                fields.append(exp.Literal.string(f"p{other}"))
                fields.append(qualified("t", PROVENANCE) if mine else exp.null())
            columns.append((PROVENANCE, exp.Anonymous(this="named_struct", expressions=fields)))
        selects.append(exp.select(*_named(columns)).from_(table(table_of(branch), "t")))
    return _union(selects)


def _union_columns(block: Block) -> list[str]:
    """Return the names of a union's own columns: the outputs of its first branch, by position."""
    return [output.name for output in block.branches[0].outputs]


def _union_post(
    block: Block, tables: Tables, provenance: bool, keep_absent: bool
) -> exp.Select:
    union = _union_rows(block, tables.rows, provenance=provenance)
    columns: list[Named] = [(name, qualified(UNION, name)) for name in block.identity]
    present = _conjunction([_fill(condition, block, tables) for condition in block.having])
    for output in block.outputs:
        scalar = _fill(output.scalar, block, tables)
        if keep_absent and present is not None:
            scalar = exp.Case().when(present.copy(), scalar.copy())
        columns.append((output.name, scalar))
    if keep_absent:
        columns += _bookkeeping(block, tables, present)
    if provenance:
        columns.append((PROVENANCE, qualified(UNION, PROVENANCE)))
    select = exp.select(*_named(columns)).from_(union.subquery(UNION))
    if present is not None and not keep_absent:
        select = select.where(present)
    return select


def _post(select: exp.Select, block: Block, tables: Tables) -> exp.Select:
    keys = [_ordered(key, block, tables) for key in block.order]
    if block.limited:
        keys += [_tie_break(block, name) for name in block.identity]
    return _cut(select, block, keys)


def _cut(select: exp.Select, block: Block, keys: Sequence[exp.Ordered]) -> exp.Select:
    if keys:
        select = select.order_by(*keys)
    if block.limit is not None:
        select = select.limit(block.limit)
    if block.offset:
        select = select.offset(block.offset)
    return select


def _ordered(key: SortKey, block: Block, tables: Tables) -> exp.Ordered:
    return exp.Ordered(
        this=_fill(key.scalar, block, tables).copy(),
        desc=key.descending,
        nulls_first=key.nulls_first,
    )


def _tie_break(block: Block, name: str) -> exp.Ordered:
    if block.kind is Kind.GROUP:
        scalar: Scalar = qualified(GROUP, name)
    elif block.kind is Kind.UNION:
        scalar = qualified(UNION, name)
    else:
        scalar = dict(block.keys)[name]
    return exp.Ordered(this=scalar.copy(), desc=False, nulls_first=True)


# -- annotations ---------------------------------------------------------------------------


def _monomial(block: Block) -> Scalar:
    """Return the struct of a member: its tokens and references, and the values of its tensors."""
    if block.kind is Kind.UNION:
        raise ValueError("a union takes the annotations of its branches")
    fields: list[Named] = []
    for token in block.tokens:
        fields.append((token.alias, _pack([qualified(MEMBER, c) for c in token.columns])))
    for lookup in block.lookups:
        if not lookup.scalar:
            ids = [qualified(lookup.alias, c) for c in lookup.block.identity]
            fields.append((lookup.alias, _pack(ids)))
    for number, semi in enumerate(block.semis):
        name = semi.block.name if number == 0 else f"{semi.block.name}_{number + 1}"
        fields.append((f"{name}_exists", _pack([left for left, _ in semi.pairs])))
    for name, call in block.aggregates:
        arguments = [n for n in aggregate_arguments(call) if not isinstance(n, exp.Star)]
        if arguments:
            fields.append((f"{name}_value", _pack(arguments)))
    if not fields:
        fields.append(("one", exp.Literal.number(1)))
    arguments = []
    for name, scalar in fields:
        arguments += [exp.Literal.string(name), scalar.copy()]
    return exp.Anonymous(this="named_struct", expressions=arguments)


def aggregate_arguments(call: Scalar) -> list[Scalar]:
    """Return the arguments of an aggregate call, without DISTINCT."""
    if isinstance(call.this, exp.Distinct):
        return list(call.this.expressions)
    return [argument for argument in (call.this, *call.expressions) if argument is not None]


def _pack(scalars: Sequence[Scalar]) -> Scalar:
    if len(scalars) == 1:
        return scalars[0]
    if not scalars:
        return exp.true()
    names = [exp.Literal.string(f"_{number + 1}") for number in range(len(scalars))]
    pairs = [part for pair in zip(names, scalars, strict=True) for part in pair]
    return exp.Anonymous(this="named_struct", expressions=[p.copy() for p in pairs])


# -- small trees ---------------------------------------------------------------------------


def table(name: str, alias: str) -> exp.Table:
    """Return a table or view in FROM."""
    return exp.Table(
        this=exp.to_identifier(name, quoted=True),
        alias=exp.TableAlias(this=exp.to_identifier(alias)),
    )


def _from(select: exp.Select, source: exp.Expr) -> exp.Select:
    if select.args.get("from_") is None:
        return select.from_(source)
    select.append("joins", exp.Join(this=source))
    return select


def _where(select: exp.Select, conditions: Sequence[Scalar]) -> exp.Select:
    for condition in conditions:
        select = select.where(condition.copy())
    return select


def _named(columns: Sequence[Named]) -> list[exp.Expr]:
    return [exp.alias_(scalar.copy(), name, quoted=True) for name, scalar in columns]


def _group_key(scalar: Scalar) -> Scalar:
    """Return a grouping expression that cannot be read as an ordinal."""
    if isinstance(scalar, exp.Literal) and not scalar.is_string:
        return exp.cast(scalar.copy(), "int")
    return scalar.copy()


def _conjunction(conditions: Sequence[Scalar]) -> Scalar | None:
    return exp.and_(*(c.copy() for c in conditions)) if conditions else None


def _is_true(condition: Scalar) -> Scalar:
    return exp.func("coalesce", exp.paren(condition.copy()), exp.false())


def dependent(condition: Scalar, block: Block) -> bool:
    """Whether a tail condition reads more than identities and stable columns of other blocks."""
    stable: dict[str, set[str]] = {}
    for lookup in block.lookups:
        if not lookup.scalar and lookup.block.stable_identity:
            names = {o.name for o in lookup.block.outputs if o.stable}
            stable[lookup.alias] = names | set(lookup.block.identity)
    return any(
        node.name not in stable.get(node.table, set()) for node in condition.find_all(exp.Column)
    ) or not aliases(condition) <= set(stable)

"""The SQL statements of a session, as text: what runs to capture and to answer.

Everything here is a composition of :mod:`rewriter.emit`; callers name the views that hold captured
members and deleted tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.monotone import Monotone
from rewriter.blocks import (
    KEYS,
    MEMBER,
    Block,
    Kind,
    Named,
    aliases,
    qualified,
    topological,
)
from rewriter.emit import (
    CTE_TABLES,
    MEMBERS,
    PRESENT,
    Contributions,
    Extent,
    Lasting,
    answer_query,
    comparisons,
    contributions,
    exists_in,
    extents,
    members_query,
    program,
    rows_query,
    statement,
    table,
    visible,
)
from rewriter.passes import SemijoinReduction
from rewriter.position import Span
from rewriter.scalars.text import text

ViewOf = Callable[[Block], str]


def rewritten_sql(root: Block, views: ViewOf | None = None) -> str:
    """Return the rewritten query: the answer's columns, then ``_prov``.

    ``views`` are where captured members are, to be read instead of the sources.
    """
    members = None if views is None else _captured(views)
    return pretty(program(root, provenance=True, members=members))


def plain_sql(
    root: Block, views: Mapping[str, str] | None = None, *, identity: bool = False
) -> str:
    """Return the query without annotations, with LIMIT made independent of ties.

    ``views`` gives other views to read in place of those that tracked relations are read from.
    With ``identity`` the rows also have the columns that tell them apart.
    """
    query = program(root, provenance=False, identity=identity)
    for read in list(query.find_all(exp.Table)):
        if views and read.name in views:
            read.set("this", exp.to_identifier(views[read.name], quoted=True))
    return pretty(query)


def pretty(query: exp.Query) -> str:
    """Return a statement as text that is meant to be read."""
    return text(query, pretty=True)


def members_from_sources_sql(block: Block) -> str:
    """Return the statement of a block's members that reads nothing captured."""
    return text(statement(block, members_query(block, CTE_TABLES)))


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of a block, by the values of some of their keys in a view.

    Parameters
    ----------
    view
        Its columns are called like the keys.
    null_safe
        NULL equals NULL.
    """

    view: str
    keys: tuple[str, ...]
    null_safe: bool = True


def members_sql(
    block: Block,
    views: ViewOf,
    columns: tuple[str, ...] | None = None,
    kept: Groups | None = None,
) -> str:
    """Return the statement that makes a block's members from the sources.

    Parameters
    ----------
    views
        Where the members of the blocks that this one reads are.
    columns
        The member columns to keep; None for all of them.
    kept
        Only the members of these groups.
    """
    query: exp.Select = members_query(block, CTE_TABLES)
    if columns is not None:
        query = visible(query, columns)
    if kept is not None:
        query = _of_groups(query, block, kept)
    return text(statement(block, query, _captured(views)))


def _of_groups(query: exp.Select, block: Block, kept: Groups) -> exp.Select:
    pairs = [(name, key) for name, key in block.keys if name in kept.keys]
    inside = exists_in(kept.view, KEYS, kept.keys, pairs, null_safe=kept.null_safe)
    members = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier(MEMBER)))
    return members.from_(query.subquery(MEMBER)).where(inside)


def asked_groups_sql(reduction: SemijoinReduction, views: ViewOf) -> str:
    """Return the statement of the keys of the groups that captured members ask for."""
    columns = [exp.alias_(left.copy(), key, quoted=True) for left, key in reduction.pairs]
    return text(exp.select(*columns).from_(table(views(reduction.reader), MEMBER)))


def kept_groups_sql(block: Block, views: ViewOf, monotone: Monotone) -> str:
    """Return the statement of the groups that HAVING keeps, and of those that forbid pruning.

    Columns: the keys, then ``_violation``: a value that should not be negative is.
    """
    extra: list[Named] = [
        (f"_least{number}", exp.Min(this=argument.copy()))
        for number, argument in enumerate(monotone.non_negative)
    ]
    rows = rows_query(block, CTE_TABLES, aggregates=True, extra=extra, keep_absent=True, post=False)
    zero = exp.Literal.number(0)
    violations = [exp.LT(this=qualified("r", name), expression=zero) for name, _ in extra]
    violation: Scalar = exp.false()
    if violations:
        violation = exp.func("coalesce", exp.paren(exp.or_(*violations)), exp.false())
    query = (
        exp.select(*(qualified("r", name) for name, _ in block.keys))
        .select(exp.alias_(violation.copy(), "_violation"))
        .from_(rows.subquery("r"))
        .where(exp.or_(qualified("r", PRESENT), violation))
    )

    def make(inner: Block) -> exp.Select:
        return members_query(inner, CTE_TABLES) if inner is block else _captured(views)(inner)

    return text(statement(block, query, make))


def rows_sql(
    block: Block,
    views: ViewOf,
    rows: Mapping[str, str] | None = None,
    *,
    from_sources: bool = False,
) -> str:
    """Return the statement of a block's rows over captured members, as a capture keeps them.

    ``rows`` gives views of the captured rows of other blocks, by name. ``from_sources``: the
    block's own members are not captured with their values; run its core.
    """
    query = rows_query(
        block,
        CTE_TABLES,
        aggregates=True,
        extra=supporting_aggregates(block),
        keep_absent=True,
        post=False,
    )

    def make(inner: Block) -> exp.Select:
        if inner is block and from_sources:
            return members_query(inner, CTE_TABLES)
        return _captured(views)(inner)

    return text(statement(block, query, make, captured_rows=rows or {}))


def lookup_sql(
    block: Block, columns: Sequence[str], wanted: str, narrowed: Mapping[str, str]
) -> str:
    """Return the statement that computes member columns anew for some members.

    Parameters
    ----------
    columns
        The member columns; the result has them after ``_position``.
    wanted
        A view of the members: ``_position`` and the token columns.
    narrowed
        By alias of a scan, the view to read in place of the whole relation.
    """
    tokens = [column for token in block.tokens for column in token.columns]
    whole = members_query(block, CTE_TABLES, prefilter=False)
    query: exp.Select = visible(whole, list(dict.fromkeys([*tokens, *columns])))
    for read in list(query.find_all(exp.Table)):
        if read.alias in narrowed:
            read.set("this", exp.to_identifier(narrowed[read.alias], quoted=True))
    select = exp.select(qualified("w", "_position"), *(qualified(MEMBER, c) for c in columns))
    select = select.from_(query.subquery(MEMBER))
    select.append("joins", exp.Join(this=table(wanted, "w")))
    for column in tokens:
        select = select.where(
            exp.NullSafeEQ(this=qualified(MEMBER, column), expression=qualified("w", column))
        )
    return text(select)


def potential_sql(block: Block) -> str | None:
    """Return the statement of one potential tuple of a block; None where they are not known.

    A block has no tuples, whatever is deleted, where this has no row.
    """
    if not block.potential_known:
        return None
    one = exp.select(exp.Literal.number(1)).from_(table(CTE_TABLES.potential(block), "p"))
    return text(statement(block, one.limit(1)))


def answer_sql(root: Block, rows_view: str, extra: tuple[str, ...] = ()) -> str:
    """Return the statement of the answer, and extra columns, over captured rows of the root."""
    return text(answer_query(root, rows_view, extra))


def hypothetical_sql(
    root: Block,
    views: ViewOf,
    deleted: Mapping[str, tuple[str, tuple[str, ...]]],
    rows: Mapping[str, str] = MappingProxyType({}),
    lasting: Mapping[str, Lasting] = MappingProxyType({}),
) -> str:
    """Return the statement of the answer, with its identity, over the members that survive.

    Parameters
    ----------
    deleted
        Per relation a view of deleted tokens and its columns.
    rows
        Views of captured rows, by block that the deletion does not concern.
    lasting
        Captured rows of groupings of whose groups a deletion only takes members.
    """
    query = rows_query(root, CTE_TABLES, lasting=lasting.get(root.name))

    def survivors(block: Block) -> exp.Select:
        return _surviving(block, views(block), deleted)

    return text(statement(root, query, survivors, captured_rows=rows, lasting=lasting))


def concerned(root: Block, relations: Container[str]) -> frozenset[str]:
    """Return the names of the blocks whose rows deletions from some relations may change."""
    found: set[str] = set()
    for block in topological(root):
        if any(token.relation in relations for token in block.tokens) or any(
            inner.name in found for inner in block.derived
        ):
            found.add(block.name)
    return frozenset(found)


def contributions_sql(
    block: Block,
    views: ViewOf,
    values: ViewOf | None = None,
    rows: Mapping[str, str] | None = None,
    *,
    potential: bool = False,
    shown: frozenset[str] = frozenset(),
) -> tuple[str, Contributions]:
    """Return the statement of :func:`rewriter.emit.contributions` over captured members.

    ``rows`` gives views of captured rows, by the name of their block.
    """
    found = contributions(block, CTE_TABLES, values, potential=potential, shown=shown)
    query = statement(block, found.query, _captured(views), captured_rows=rows or {})
    return text(query), found


def extents_sql(
    block: Block, views: ViewOf, rows: Mapping[str, str]
) -> tuple[str, tuple[Extent, ...]]:
    """Return the statement of :func:`rewriter.emit.extents` over captured members and rows."""
    found = extents(block, CTE_TABLES)
    query = statement(block, found.query, _captured(views), captured_rows=rows)
    return text(query), found.extents


@dataclass(frozen=True, slots=True)
class ComparedColumns:
    """A statement that shows what IN, EXISTS, semi joins and lookups compare.

    Its columns come in pairs, an outer value and an inner one; ``places`` has, for each, where the
    operator stands, and the number of the comparison there.
    """

    sql: str
    places: tuple[tuple[Span | None, int], ...]


def comparisons_sql(root: Block) -> tuple[ComparedColumns, ...]:
    """Return statements that show what is compared; its types matter.

    If the types of a pair are not :func:`rewriter.scalars.comparable.compared_exactly`, several
    tuples may be equal to one outer value, and neither a grouping subquery nor the annotation of
    the membership is right.
    """
    found = []
    for block in topological(root):
        places = tuple(
            (probe.span, number) for probe in block.probes for number in range(len(probe.pairs))
        )
        if places:
            sql = text(statement(block, comparisons(block, CTE_TABLES)))
            found.append(ComparedColumns(sql, places))
    return tuple(found)


def partitions_sql(root: Block) -> tuple[str, ...]:
    """Return statements that show what table functions of relations are partitioned by."""
    statements = []
    for block in topological(root):
        placed = [generator for generator in block.generators if generator.placed]
        read = {alias for generator in placed for alias in aliases(generator.argument)}
        for lookup in block.lookups:
            if lookup.alias in read:
                keys = (qualified(lookup.alias, name) for name in lookup.block.identity)
                rows = table(CTE_TABLES.rows(lookup.block), lookup.alias)
                query = exp.select(*keys).from_(rows).where(exp.false())
                statements.append(text(statement(block, query)))
    return tuple(statements)


def supporting_aggregates(block: Block) -> tuple[Named, ...]:
    """Return what a grouping keeps beside its aggregates, to re-evaluate them without Spark.

    The number of members, and per SUM and AVG the count of values; per AVG also their sum.
    """
    if block.kind is not Kind.GROUP:
        return ()
    extra: list[Named] = [(MEMBERS, exp.Count(this=exp.Star()))]
    for name, call in block.aggregates:
        if isinstance(call.this, exp.Distinct):
            continue
        if isinstance(call, exp.Sum | exp.Avg):
            extra.append((f"{name}__count", exp.Count(this=call.this.copy())))
        if isinstance(call, exp.Avg):
            extra.append((f"{name}__sum", exp.Sum(this=call.this.copy())))
    return tuple(extra)


def _captured(views: ViewOf) -> Callable[[Block], exp.Select]:
    return lambda block: exp.select("*").from_(
        exp.Table(this=exp.to_identifier(views(block), quoted=True))
    )


def _surviving(
    block: Block, view: str, deleted: Mapping[str, tuple[str, tuple[str, ...]]]
) -> exp.Select:
    members = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier(MEMBER)))
    members = members.from_(table(view, MEMBER))
    for token in block.tokens:
        if token.relation not in deleted:
            continue
        gone, columns = deleted[token.relation]
        mine = [qualified(MEMBER, name) for name in token.columns]
        found = exists_in(gone, "d", columns, zip(columns, mine, strict=True))
        members = members.where(exp.Not(this=found))
    return members

"""Statements that write a capture, members first and rows from them, and that query it."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.algebra.leaves import LEVEL_ROW
from rewriter.blocks import (
    KEYS,
    MEMBER,
    Block,
    Core,
    IterationSource,
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
    CapturedGroups,
    Contributions,
    Extent,
    answer_query,
    comparisons,
    contributions,
    exists_in,
    extents,
    members_query,
    program,
    rows_query,
    statement,
    stored_rows_query,
    table,
    visible,
)
from rewriter.emit.core import core_query
from rewriter.emit.tail import TIE_BREAK
from rewriter.emit.trees import from_, named
from rewriter.passes import SemijoinReduction
from rewriter.passes.capture_plan import Monotone
from rewriter.position import Span
from rewriter.scalars.text import rewrite_columns, text

ViewOf = Callable[[Block], str]


def captured(views: ViewOf) -> Callable[[Block], exp.Select]:
    return lambda block: exp.select("*").from_(
        exp.Table(this=exp.to_identifier(views(block), quoted=True))
    )


def surviving(
    block: Block, view: str, deleted: Mapping[str, tuple[str, tuple[str, ...]]]
) -> exp.Select:
    members = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier(MEMBER)))
    members = members.from_(table(view, MEMBER))
    for token in block.tokens:
        if token.relation not in deleted:
            continue
        gone, columns = deleted[token.relation]
        token_columns = [qualified(MEMBER, name) for name in token.columns]
        deleted_token = exists_in(gone, "d", columns, zip(columns, token_columns, strict=True))
        members = members.where(exp.Not(this=deleted_token))
    return members


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of a block, selected by the values of some keys in a view.

    Parameters
    ----------
    view
        A view with columns named as the keys.
    null_safe
        NULL equals NULL.
    """

    view: str
    keys: tuple[str, ...]
    null_safe: bool = True


def members_from_sources_sql(block: Block) -> str:
    """Return the statement of a block's members without reading captured tables."""
    return text(statement(block, members_query(block, CTE_TABLES)))


def dataset_types_sql(
    root: Block,
    members_of: Callable[[Block], Block],
    members: Sequence[Block],
    rows: Sequence[Block],
) -> str:
    """Return a statement over the sources that has a struct for each of some datasets.

    Callers only need its schema: that of the members of some blocks, then of the rows of others.

    Parameters
    ----------
    members_of
        Returns a block as its members are captured.
    """
    read = [table(CTE_TABLES.members(block), f"d{n}") for n, block in enumerate(members)]
    kept = enumerate(map(_rows_to_keep, rows), start=len(members))
    query = exp.select()
    for number, source in enumerate([*read, *(query.subquery(f"d{n}") for n, query in kept)]):
        columns = exp.Column(this=exp.Star(), table=exp.to_identifier(f"d{number}"))
        query = query.select(exp.Anonymous(this="struct", expressions=[columns]).as_(f"d{number}"))
        query = from_(query, source)
    return text(statement(root, query, lambda each: members_query(members_of(each), CTE_TABLES)))


def members_sql(
    block: Block,
    views: ViewOf,
    columns: tuple[str, ...] | None = None,
    kept: Groups | None = None,
) -> str:
    """Return the statement that computes a block's members from the sources.

    Parameters
    ----------
    views
        Views of the members of the blocks that this one reads.
    columns
        The member columns to select; None for all.
    kept
        Groups to which the members are restricted.
    """
    query: exp.Select = members_query(block, CTE_TABLES)
    if columns is not None:
        query = visible(query, columns)
    if kept is not None:
        query = _of_groups(query, block, kept)
    return text(statement(block, query, captured(views)))


def _of_groups(query: exp.Select, block: Block, kept: Groups) -> exp.Select:
    pairs = [(name, key) for name, key in block.keys if name in kept.keys]
    inside = exists_in(kept.view, KEYS, kept.keys, pairs, null_safe=kept.null_safe)
    members = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier(MEMBER)))
    return members.from_(query.subquery(MEMBER)).where(inside)


def asked_groups_sql(reduction: SemijoinReduction, views: ViewOf) -> str:
    """Return the statement of the keys of the groups that captured members need."""
    columns = [exp.alias_(left.copy(), key, quoted=True) for left, key in reduction.pairs]
    return text(exp.select(*columns).from_(table(views(reduction.reader), MEMBER)))


def kept_groups_sql(block: Block, views: ViewOf, monotone: Monotone) -> str:
    """Return the statement of the groups that HAVING keeps and the groups that forbid pruning.

    Columns: the keys, then ``_violation``: True if a value that must not be negative is.
    """
    extra: list[Named] = [
        (f"_least{number}", exp.Min(this=argument.copy()))
        for number, argument in enumerate(monotone.non_negative)
    ]
    rows = stored_rows_query(block, extra)
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
        return members_query(inner, CTE_TABLES) if inner is block else captured(views)(inner)

    return text(statement(block, query, make))


def rows_sql(
    block: Block,
    views: ViewOf,
    rows: Mapping[str, str] | None = None,
    *,
    from_sources: bool = False,
) -> str:
    """Return the statement of a block's rows, as captured, over captured members.

    ``rows`` gives views of the captured rows of other blocks, by name. ``from_sources``: the
    block's own members are not captured with their values; its core is run.
    """

    def make(inner: Block) -> exp.Select:
        if inner is block and from_sources:
            return members_query(inner, CTE_TABLES)
        return captured(views)(inner)

    return text(statement(block, _rows_to_keep(block), make, captured_rows=rows or {}))


def _rows_to_keep(block: Block) -> exp.Select:
    extra = [(name, _without_overflow(call)) for name, call in supporting_aggregates(block)]
    return stored_rows_query(block, extra)


def _without_overflow(call: Scalar) -> Scalar:
    """Return a sum that is NULL on overflow of its type; AVG has a value there."""
    if isinstance(call, exp.Sum):
        return exp.AnonymousAggFunc(this="try_sum", expressions=[call.this.copy()])
    return call


def lookup_sql(
    block: Block, columns: Sequence[str], wanted: str, narrowed: Mapping[str, str]
) -> str:
    """Return the statement that recomputes member columns for some members.

    Parameters
    ----------
    columns
        The member columns; the result has them after ``_position``.
    wanted
        A view of the members: ``_position`` and the token columns.
    narrowed
        By alias of a scan, a view to read instead of the whole relation.
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


def supporting_aggregates(block: Block) -> tuple[Named, ...]:
    """Return the extra aggregates of a captured grouping, for evaluation without Spark.

    They are the number of members, the count of values for each SUM and AVG, and the sum for each
    AVG.
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


BEFORE = "_before"
"""The number of the previous level's row from which a row derives."""


@dataclass(frozen=True, slots=True)
class LevelDerivations:
    """The computation of a level's rows, one row per derivation.

    Parameters
    ----------
    core
        Its columns are the recursion's, in order, then all tokens, and in a step :data:`BEFORE`.
        None if there are only constants.
    sql
        The statement of the same rows.
    tokens
        The relation of each token, and the number of its columns.
    """

    core: Core | None
    sql: str
    tokens: tuple[tuple[str, int], ...]


def derivations(block: Block, level: str) -> LevelDerivations | None:
    """Return the computation of a level; None for a block that is not a select-project-join.

    ``level`` is the view of the previous level.
    """
    if not _is_plain(block):
        return None
    core = block.core
    tokens = tuple((token.relation, len(token.columns)) for token in block.tokens)
    if core is None:
        columns = [(output.name, output.scalar) for output in block.outputs]
        return LevelDerivations(None, text(exp.select(*named(columns))), tokens)
    stored = dict(core.select)

    def of_core(scalar: Scalar) -> Scalar:
        return rewrite_columns(scalar, lambda column: stored[column.name])

    select: list[Named] = [
        (f"c{number}", of_core(output.scalar)) for number, output in enumerate(block.outputs)
    ]
    for number, token in enumerate(block.tokens):
        parts = enumerate(token.columns)
        select += [(f"_token {number} {part}", stored[name]) for part, name in parts]
    select += [
        (BEFORE, qualified(source.alias, LEVEL_ROW))
        for source in core.sources
        if isinstance(source, IterationSource) and source.view == level
    ]
    core = replace(core, select=tuple(select))
    return LevelDerivations(core, text(core_query(core, CTE_TABLES)), tokens)


def _is_plain(block: Block) -> bool:
    """Return True if a row is present exactly if all tuples that it derives from are."""
    if block.kind is not Kind.ROWS or block.limited or block.windowed or block.order:
        return False
    if not block.of_members_alone or block.copies:
        return False
    core = block.core
    if core is None:
        return True
    return not (core.semis or core.generators or core.once or core.sample or any(core.reads()))


@dataclass(frozen=True, slots=True)
class ComparedColumns:
    """A statement with the compared columns of IN, EXISTS, semi joins and lookups.

    Its columns come in pairs, an outer value and an inner one; ``places`` has, for each pair, the
    position of the operator in the query, and the number of the comparison in it.
    """

    sql: str
    places: tuple[tuple[Span | None, int], ...]


def comparisons_sql(root: Block) -> tuple[ComparedColumns, ...]:
    """Return statements with the compared columns, whose types matter.

    If the types of a pair are not :func:`rewriter.scalars.comparable.compared_exactly`, several
    tuples may be equal to one outer value, and neither a grouping subquery nor the annotation of
    the membership is right.
    """
    compared = []
    for block in topological(root):
        places = tuple(
            (probe.span, number) for probe in block.probes for number in range(len(probe.pairs))
        )
        if places:
            sql = text(statement(block, comparisons(block)))
            compared.append(ComparedColumns(sql, places))
    return tuple(compared)


def partitions_sql(root: Block) -> tuple[str, ...]:
    """Return statements with the partition columns of table functions over relations."""
    statements = []
    for block in topological(root):
        placed = [generator for generator in block.generators if generator.placed]
        read = {alias for generator in placed for alias in aliases(generator.argument)}
        for lookup in (*block.joined, *block.subqueries):
            if lookup.alias in read:
                keys = (qualified(lookup.alias, name) for name in lookup.block.identity)
                rows = table(CTE_TABLES.rows(lookup.block), lookup.alias)
                query = exp.select(*keys).from_(rows).where(exp.false())
                statements.append(text(statement(block, query)))
    return tuple(statements)


def rewritten_sql(root: Block, views: ViewOf | None = None) -> str:
    """Return the rewritten query: the answer's columns, then ``_prov``.

    ``views`` are the views of captured members, read instead of the sources.
    """
    members = None if views is None else captured(views)
    return pretty(program(root, provenance=True, members=members))


def plain_sql(
    root: Block,
    views: Mapping[str, str] | None = None,
    *,
    identity: bool = False,
    rows: Mapping[str, str] = MappingProxyType({}),
    reversed_ties: bool = False,
) -> str:
    """Return the query without annotations, with LIMIT made independent of ties.

    ``views`` gives views to read instead of the ones of tracked relations. With ``identity`` the
    rows also have the columns that identify them. ``rows`` gives views of captured rows, by block,
    which are not recomputed. With ``reversed_ties`` tied rows come in the opposite order.
    """
    query = program(root, provenance=False, identity=identity, captured_rows=rows)
    for key in query.find_all(exp.Ordered) if reversed_ties else ():
        # Keys that the query does not have: of windows in brackets (rewriter/lower/ties.py).
        if isinstance(key.this, exp.Paren) or key.meta.get(TIE_BREAK):
            key.set("desc", not key.args["desc"])
            key.set("nulls_first", not key.args["nulls_first"])
    for read in list(query.find_all(exp.Table)):
        if views and read.name in views:
            read.set("this", exp.to_identifier(views[read.name], quoted=True))
    return pretty(query)


def pretty(query: exp.Query) -> str:
    """Return a statement as formatted text."""
    return text(query, pretty=True)


def potential_sql(block: Block) -> str | None:
    """Return the statement of one potential tuple of a block, or None if they are unknown.

    If this has no row, the block is empty after any deletion.
    """
    if not block.potential_known:
        return None
    first = exp.select(exp.Literal.number(1)).from_(table(CTE_TABLES.potential(block), "p"))
    return text(statement(block, first.limit(1)))


def answer_sql(root: Block, rows_view: str, extra: tuple[str, ...] = ()) -> str:
    """Return the statement of the answer, and extra columns, over captured rows of the root."""
    return text(answer_query(root, rows_view, extra))


def hypothetical_sql(
    root: Block,
    views: ViewOf,
    deleted: Mapping[str, tuple[str, tuple[str, ...]]],
    rows: Mapping[str, str] = MappingProxyType({}),
    captured_groups: Mapping[str, CapturedGroups] = MappingProxyType({}),
) -> str:
    """Return the statement of the answer, with its identity, over the surviving members.

    Parameters
    ----------
    deleted
        Per relation a view of deleted tokens and its columns.
    rows
        Views of captured rows, by block, for blocks that the deletion does not affect.
    captured_groups
        Captured rows of groupings whose groups only lose members to a deletion.
    """
    query = rows_query(root, captured_groups=captured_groups.get(root.name))

    def survivors(block: Block) -> exp.Select:
        return surviving(block, views(block), deleted)

    return text(
        statement(root, query, survivors, captured_rows=rows, captured_groups=captured_groups)
    )


def concerned(root: Block, relations: Container[str]) -> frozenset[str]:
    """Return the names of the blocks whose rows may change when some relations lose rows."""
    changed: set[str] = set()
    for block in topological(root):
        if any(token.relation in relations for token in block.tokens) or any(
            inner.name in changed for inner in block.derived
        ):
            changed.add(block.name)
    return frozenset(changed)


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
    of_members = contributions(block, CTE_TABLES, values, potential=potential, shown=shown)
    query = statement(block, of_members.query, captured(views), captured_rows=rows or {})
    return text(query), of_members


def extents_sql(
    block: Block, views: ViewOf, rows: Mapping[str, str]
) -> tuple[str, tuple[Extent, ...]]:
    """Return the statement of :func:`rewriter.emit.program` over captured members and rows."""
    of_windows = extents(block)
    query = statement(block, of_windows.query, captured(views), captured_rows=rows)
    return text(query), of_windows.extents

"""Statements that make a capture: members first, then rows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.algebra.leaves import LEVEL_ROW
from rewriter.analysis.monotone import Monotone
from rewriter.blocks import KEYS, MEMBER, Block, Core, IterationSource, Kind, Named, qualified
from rewriter.emit import (
    CTE_TABLES,
    MEMBERS,
    PRESENT,
    exists_in,
    members_query,
    rows_query,
    statement,
    table,
    visible,
)
from rewriter.emit.core import core_query
from rewriter.emit.trees import named
from rewriter.passes import SemijoinReduction
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


def members_from_sources_sql(block: Block) -> str:
    """Return the statement of a block's members that reads nothing captured."""
    return text(statement(block, members_query(block, CTE_TABLES)))


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
    return text(statement(block, query, captured(views)))


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
    """Return the statement of the groups that HAVING keeps and the groups that forbid pruning.

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
        return members_query(inner, CTE_TABLES) if inner is block else captured(views)(inner)

    return text(statement(block, query, make))


def rows_from_sources_sql(block: Block) -> str:
    """Return the statement of a block's rows, as a capture keeps them, that reads nothing captured.

    Members of other blocks do not filter the members of this one: it has the rows that a capture
    has, and others. Callers only need its schema.
    """
    return text(statement(block, _rows_to_keep(block)))


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

    def make(inner: Block) -> exp.Select:
        if inner is block and from_sources:
            return members_query(inner, CTE_TABLES)
        return captured(views)(inner)

    return text(statement(block, _rows_to_keep(block), make, captured_rows=rows or {}))


def _rows_to_keep(block: Block) -> exp.Select:
    return rows_query(
        block,
        CTE_TABLES,
        aggregates=True,
        extra=[(name, _without_overflow(call)) for name, call in supporting_aggregates(block)],
        keep_absent=True,
        post=False,
    )


def _without_overflow(call: Scalar) -> Scalar:
    """Return a sum that is NULL where it does not fit its type; AVG has a value there."""
    if isinstance(call, exp.Sum):
        return exp.AnonymousAggFunc(this="try_sum", expressions=[call.this.copy()])
    return call


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


BEFORE = "_before"
"""The number of the row of the level before that a row is made from."""


@dataclass(frozen=True, slots=True)
class Derivations:
    """The computation of the rows of a level, one row per derivation.

    Parameters
    ----------
    core
        Its columns are the recursion's, in order, then the tokens one after the other, and in a
        step :data:`BEFORE`. None: there are constants alone.
    sql
        The statement of the same rows.
    tokens
        The relation of each token, and the number of its columns.
    """

    core: Core | None
    sql: str
    tokens: tuple[tuple[str, int], ...]


def derivations(block: Block, level: str) -> Derivations | None:
    """Return the computation of a level; None for a block that is no select-project-join.

    ``level`` is the view of the level before.
    """
    if not _is_plain(block):
        return None
    core = block.core
    tokens = tuple((token.relation, len(token.columns)) for token in block.tokens)
    if core is None:
        columns = [(output.name, output.scalar) for output in block.outputs]
        return Derivations(None, text(exp.select(*named(columns))), tokens)
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
    return Derivations(core, text(core_query(core, CTE_TABLES)), tokens)


def _is_plain(block: Block) -> bool:
    """Return True if a row is there exactly where all tuples that it is made of are there."""
    if block.kind is not Kind.ROWS or block.limited or block.windowed or block.order:
        return False
    if not block.of_members_alone or block.copies:
        return False
    core = block.core
    if core is None:
        return True
    return not (core.semis or core.generators or core.once or core.sample or any(core.reads()))

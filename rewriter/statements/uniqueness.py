"""Sources of MERGE that have one row for each key, whichever rows of their relations are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from sqlglot import exp

from rewriter.algebra import conjuncts
from rewriter.dialect import GENERATORS, emit, parse
from rewriter.scalars.functions import SCALAR_FUNCTIONS
from rewriter.scalars.text import text
from rewriter.statements.model import MergeInto
from rewriter.statements.scope import dotted

_CUTS = ("group", "having", "distinct", "limit", "offset", "qualify", "laterals", "pivots")

_OTHERS = (exp.AggFunc, exp.Exists, exp.SetOperation, exp.TableSample, exp.Window)
"""Parts by which a query may get rows, or other values in them, when relations lose rows."""


def duplicate_source_keys(
    statement: MergeInto, keys: Sequence[str], alias: str, fixed: frozenset[str]
) -> str | None:
    """Return a query for keys that several rows of the source of MERGE have.

    Where it has no row over the real relations, no row of the target is matched twice in any
    database with some of their rows alone.

    Parameters
    ----------
    keys
        Expressions over the source that the condition equates with expressions over the target.
    alias
        The name by which they know the source.
    fixed
        The relations, by dotted name in lower case, whose rows may be gone and never others.

    Returns
    -------
    The query; an empty text: there are no such keys. None: it is not known.
    """
    names = _column_names(keys, alias)
    if not names:
        return None
    source = _plain(statement.source)
    branches = list(_branches(source))
    places = _places(branches[0], names) if len(branches) > 1 else None
    monotone: list[exp.Select] = []
    unique = 0
    for branch in branches:
        outputs = _outputs(branch, names, places)
        if outputs is None or (branch is not source and branch.args.get("with_")):
            return None
        assert isinstance(branch, exp.Select)
        if any(map(_is_null, outputs)):
            continue  # NULL equals nothing
        if _has_one_row_for_each(branch, outputs):
            unique += 1
        elif is_monotone(branch, fixed):
            values = enumerate(value.unalias().copy() for value in outputs)
            named = [exp.alias_(value, f"k{number}") for number, value in values]
            monotone.append(branch.select(*named, append=False))
        else:
            return None
    if (len(branches) > 1 and places is None) or unique + bool(monotone) > 1:
        return None
    return _duplicates(monotone, len(names), source) if monotone else ""


def _duplicates(branches: Sequence[exp.Select], count: int, source: exp.Expr) -> str:
    rows = branches[0] if len(branches) == 1 else exp.union(*branches, distinct=False)
    columns = [exp.column(f"k{number}") for number in range(count)]
    known = exp.and_(*(exp.Not(this=exp.Is(this=c.copy(), expression=exp.null())) for c in columns))
    found = exp.select(*columns).from_(rows.subquery("_lipstick_rows")).where(known)
    found = found.group_by(*columns).having("count(*) > 1")
    if isinstance(source, exp.Union):  # else the branch has them
        found.set("with_", source.args.get("with_"))
    return emit(found)


def _places(branch: exp.Expr, names: Sequence[str]) -> list[int] | None:
    """Return the places of some outputs of a query; None: not known."""
    if not isinstance(branch, exp.Select) or any(value.is_star for value in branch.expressions):
        return None
    outputs = [value.alias_or_name.lower() for value in branch.expressions]
    return [outputs.index(name) for name in names] if set(names) <= set(outputs) else None


def _column_names(keys: Iterable[str], alias: str) -> list[str]:
    """Return the columns of the source among some expressions, in lower case."""
    names = []
    for written in keys:
        key = parse(f"SELECT {written}").expressions[0].unnest()
        if isinstance(key, exp.Column) and key.table.lower() in ("", alias.lower()):
            names.append(key.name.lower())
    return names


def _plain(query: exp.Expr) -> exp.Expr:
    """Return a query without the parentheses around it."""
    while isinstance(query, exp.Subquery) and not query.args.get("with_"):
        query = query.this
    return query


def _branches(query: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the queries whose rows a query has together."""
    query = _plain(query)
    plain = not any(query.args.get(key) for key in ("limit", "offset", "by_name"))
    if isinstance(query, exp.Union) and not query.args.get("distinct") and plain:
        yield from _branches(query.this)
        yield from _branches(query.expression)
    else:
        yield query


def _outputs(
    branch: exp.Expr, names: Sequence[str], places: Sequence[int] | None
) -> list[exp.Expr] | None:
    """Return the expressions of some outputs of a query, by place if given; None: not known.

    An output of a star is the column of its name.
    """
    if not isinstance(branch, exp.Select):
        return None
    has_star = any(value.is_star for value in branch.expressions)
    if places is not None:
        return None if has_star else [branch.expressions[place] for place in places]
    named = {value.alias_or_name.lower(): value for value in branch.expressions}
    found = []
    for name in names:
        if name in named:
            found.append(named[name])
        elif has_star:
            found.append(exp.column(exp.to_identifier(name, quoted=True)))
        else:
            return None
    return found


def _has_one_row_for_each(branch: exp.Select, outputs: Sequence[exp.Expr]) -> bool:
    """Return True if no two rows of a query have the same values of some outputs."""
    called = chain.from_iterable(value.find_all(exp.Anonymous) for value in branch.expressions)
    if not all(_calls(call, SCALAR_FUNCTIONS) for call in called):
        return False  # they may make several rows of one
    own = {text(value.unalias()) for value in outputs}
    columns = {v.unalias().name.lower() for v in outputs if isinstance(v.unalias(), exp.Column)}
    group = branch.args.get("group")
    if group is not None:
        plain = not any(group.args.get(k) for k in ("rollup", "cube", "grouping_sets", "all"))
        # A number or an alias is compared as it is written.
        return plain and {text(value) for value in group.expressions} <= own
    if branch.args.get("distinct") is not None:
        on = branch.args["distinct"].args.get("on")
        return on is None and {text(value.unalias()) for value in branch.expressions} <= own
    source = branch.args.get("from_")
    if source is None or branch.args.get("joins") or branch.args.get("laterals"):
        return False
    inner = _query_of(source.this)
    if _takes_first(branch, columns, inner):
        return True
    if not isinstance(inner, exp.Select) or len(columns) < len(outputs):
        return False
    below = _outputs(inner, [*columns], None)
    return below is not None and _has_one_row_for_each(inner, below)


def _query_of(source: exp.Expr) -> exp.Expr | None:
    """Return the query that a FROM clause reads; None: it reads a relation, or parts of rows."""
    if any(source.args.get(key) for key in ("joins", "laterals", "pivots", "sample")):
        return None
    if isinstance(source, exp.Subquery):
        return _plain(source.this)
    named = _named_query(source) if isinstance(source, exp.Table) else None
    return None if named is None or named.alias_column_names else _plain(named.this)


def _named_query(table: exp.Table) -> exp.CTE | None:
    """Return the named query that a table stands for; None: it is a relation."""
    around: exp.Expr | None = None if table.args.get("db") else table
    inside: exp.Expr | None = None
    while around is not None:
        if isinstance(around, exp.CTE):
            inside = around
        with_: Any = around.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            if cte is inside and not with_.args.get("recursive"):
                break  # it sees those before it
            if cte.alias.lower() == table.name.lower():
                return cte  # type: ignore[no-any-return]
        around = around.parent
    return None


def _takes_first(branch: exp.Select, columns: set[str], inner: exp.Expr | None) -> bool:
    """Return True if of the rows with the same values of some columns only the first is taken."""
    where = branch.args.get("where")
    qualify = branch.args.get("qualify")
    if qualify is not None:
        return any(
            _is_one(part) and _numbers(part.this, columns) for part in conjuncts(qualify.this)
        )
    if where is None or inner is None:
        return False
    numbered = {
        value.alias.lower()
        for value in inner.args.get("expressions") or ()
        if isinstance(value, exp.Alias) and _numbers(value.this, columns)
    }
    renamed = {
        value.alias.lower()
        for value in inner.args.get("expressions") or ()
        if isinstance(value, exp.Alias) and not _is_column(value.this, value.alias)
    }
    if columns & renamed:
        return False
    return any(
        _is_one(part) and isinstance(part.this, exp.Column) and part.this.name.lower() in numbered
        for part in conjuncts(where.this)
    )


def _is_null(value: exp.Expr) -> bool:
    value = value.unalias().unnest()
    while isinstance(value, exp.Cast):
        value = value.this.unnest()
    return isinstance(value, exp.Null)


def _is_column(value: exp.Expr, name: str) -> bool:
    return isinstance(value, exp.Column) and value.name.lower() == name.lower()


def _is_one(condition: exp.Expr) -> bool:
    one = isinstance(condition, exp.EQ) and condition.expression
    return isinstance(one, exp.Literal) and not one.is_string and one.this == "1"


def _numbers(value: exp.Expr, columns: set[str]) -> bool:
    """Return True if a value numbers the rows that have the same values of some columns."""
    if not isinstance(value, exp.Window) or text(value.this).upper() != "ROW_NUMBER()":
        return False
    parts = value.args.get("partition_by") or []
    return all(isinstance(part, exp.Column) and part.name.lower() in columns for part in parts)


def is_monotone(query: exp.Expr, fixed: frozenset[str]) -> bool:
    """Return True if a query can only lose rows when its relations do.

    Parameters
    ----------
    fixed
        The relations, by dotted name in lower case, that can only lose rows.
    """
    return all(_may_be_part(node, fixed) for node in query.walk())


def _calls(node: exp.Anonymous, functions: frozenset[str]) -> bool:
    return str(node.this).lower() in functions


def _may_be_part(node: exp.Expr, fixed: frozenset[str]) -> bool:
    """Return True if a node may be in a query that can only lose rows."""
    match node:
        case exp.Select() | exp.Union():
            return not any(node.args.get(key) for key in _CUTS)
        case exp.With():
            return not node.args.get("recursive")
        case exp.Subquery():
            return isinstance(node.parent, (exp.From, exp.Join))
        case exp.Join():
            return not node.side and node.kind.upper() in ("", "INNER", "CROSS", "SEMI")
        case exp.In():
            return not node.args.get("query")
        case exp.Anonymous():
            return _calls(node, SCALAR_FUNCTIONS | GENERATORS)
        case exp.Table():
            named = _named_query(node)
            if named is None:
                return dotted(tuple(part.name for part in node.parts)) in fixed
            around = named.parent
            recursive = around is None or around.args.get("recursive")
            return not recursive and is_monotone(named.this, fixed)
    return not isinstance(node, _OTHERS)

"""Sources of MERGE that have one row for each key, whichever rows of their relations are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from rewriter.algebra import conjuncts
from rewriter.dialect import emit, parse
from rewriter.statements.model import MergeInto
from rewriter.statements.scope import dotted

_CUTS = ("group", "having", "distinct", "limit", "offset", "qualify", "laterals", "pivots")


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
    branches = list(_branches(statement.source))
    places = _places(branches[0], names) if len(branches) > 1 else None
    monotone: list[exp.Select] = []
    unique = 0
    for branch in branches:
        outputs = _outputs(branch, names, places)
        if outputs is None:
            return None
        assert isinstance(branch, exp.Select)
        if any(map(_is_null, outputs)):
            continue  # NULL equals nothing
        if _has_one_row_for_each(branch, outputs):
            unique += 1
        elif _is_monotone(branch, fixed):
            named = [
                exp.alias_(value.unalias().copy(), f"k{number}")
                for number, value in enumerate(outputs)
            ]
            monotone.append(branch.select(*named, append=False))
        else:
            return None
    if (len(branches) > 1 and places is None) or unique + bool(monotone) > 1:
        return None
    return _duplicates(monotone, len(names)) if monotone else ""


def _duplicates(branches: Sequence[exp.Select], count: int) -> str:
    rows: exp.Query = branches[0]
    for other in branches[1:]:
        rows = exp.union(rows, other, distinct=False)
    columns = [exp.column(f"k{number}") for number in range(count)]
    known = exp.and_(*(exp.Not(this=exp.Is(this=c.copy(), expression=exp.null())) for c in columns))
    found = exp.select(*columns).from_(rows.subquery("_lipstick_rows")).where(known)
    return emit(found.group_by(*columns).having("count(*) > 1"))


def _places(branch: exp.Expr, names: Sequence[str]) -> list[int] | None:
    """Return the places of some outputs of a query; None: not known."""
    if not isinstance(branch, exp.Select) or any(value.is_star for value in branch.expressions):
        return None
    outputs = [value.alias_or_name.lower() for value in branch.expressions]
    return [outputs.index(name) for name in names] if set(names) <= set(outputs) else None


def _column_names(keys: Iterable[str], alias: str) -> list[str]:
    """Return the columns of the source among some expressions, in lower case."""
    names = []
    for text in keys:
        key = parse(f"SELECT {text}").expressions[0].unnest()
        if isinstance(key, exp.Column) and key.table.lower() in ("", alias.lower()):
            names.append(key.name.lower())
    return names


def _branches(query: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the queries whose rows a query has together."""
    while isinstance(query, exp.Subquery) and not query.args.get("with_"):
        query = query.this
    plain = not any(query.args.get(key) for key in ("with_", "limit", "offset", "by_name"))
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
    if not isinstance(branch, exp.Select) or branch.args.get("with_"):
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
    own = {value.unalias().sql() for value in outputs}
    columns = {v.unalias().name.lower() for v in outputs if isinstance(v.unalias(), exp.Column)}
    group = branch.args.get("group")
    if group is not None:
        plain = not any(group.args.get(k) for k in ("rollup", "cube", "grouping_sets", "all"))
        # A number or an alias is compared as it is written.
        return plain and {value.sql() for value in group.expressions} <= own
    if branch.args.get("distinct") is not None:
        on = branch.args["distinct"].args.get("on")
        return on is None and {value.unalias().sql() for value in branch.expressions} <= own
    return _takes_first(branch, columns)


def _takes_first(branch: exp.Select, columns: set[str]) -> bool:
    """Return True if of the rows with the same values of some columns only the first is taken."""
    where, source = branch.args.get("where"), branch.args.get("from_")
    if source is None or branch.args.get("joins") or branch.args.get("laterals"):
        return False
    qualify = branch.args.get("qualify")
    if qualify is not None:
        return any(
            _is_one(part) and _numbers(part.this, columns) for part in conjuncts(qualify.this)
        )
    inner = source.this
    if where is None or not isinstance(inner, exp.Subquery) or inner.this.args.get("with_"):
        return False
    numbered = {
        value.alias.lower()
        for value in inner.this.args.get("expressions") or ()
        if isinstance(value, exp.Alias) and _numbers(value.this, columns)
    }
    renamed = {
        value.alias.lower()
        for value in inner.this.args.get("expressions") or ()
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
    if not isinstance(value, exp.Window) or value.this.sql().upper() != "ROW_NUMBER()":
        return False
    parts = value.args.get("partition_by") or []
    return all(isinstance(part, exp.Column) and part.name.lower() in columns for part in parts)


def _is_monotone(query: exp.Expr, fixed: frozenset[str]) -> bool:
    """Return True if a query can only lose rows when its relations do."""
    for node in query.walk():
        if isinstance(node, exp.Select):
            if any(node.args.get(key) for key in _CUTS):
                return False
        elif isinstance(node, (exp.SetOperation, exp.With, exp.Window, exp.AggFunc, exp.Exists)):
            return False
        elif isinstance(node, exp.Subquery):
            if not isinstance(node.parent, (exp.From, exp.Join)):
                return False
        elif isinstance(node, exp.Join):
            if node.side or node.kind.upper() not in ("", "INNER", "CROSS", "SEMI"):
                return False
        elif isinstance(node, (exp.In, exp.TableSample)):
            if isinstance(node, exp.TableSample) or node.args.get("query"):
                return False
        elif isinstance(node, exp.Table):
            if dotted(tuple(part.name for part in node.parts)) not in fixed:
                return False
        elif isinstance(node, exp.Anonymous):
            return False
    return True

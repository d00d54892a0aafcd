"""Small trees that every statement is built from, and the names of the columns added to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from rewriter.algebra import Scalar, bracketed
from rewriter.blocks import Named, qualified

PROVENANCE = "_prov"
PRESENT = "_present"
SORT = "_o"
VALUE = "_value"
BRANCH = "_branch"
SIDE = "_side"


def table(name: str, alias: str) -> exp.Table:
    """Return a table or view in FROM."""
    return exp.Table(
        this=exp.to_identifier(name, quoted=True),
        alias=exp.TableAlias(this=exp.to_identifier(alias)),
    )


def visible(select: exp.Select, names: Sequence[str]) -> exp.Select:
    """Keep the named columns of a select list, in the order given."""
    by_name = {column.alias_or_name: column for column in select.expressions}
    return select.select(*(by_name[name] for name in names), append=False)


def from_(select: exp.Select, source: exp.Expr) -> exp.Select:
    """Put one more source in FROM, as a product."""
    if select.args.get("from_") is None:
        return select.from_(source)
    select.append("joins", exp.Join(this=source))
    return select


def left_join(select: exp.Select, source: exp.Expr, condition: Scalar) -> exp.Select:
    """Put one more source in FROM, with NULLs for the rows that it has none for.

    A comma binds less than LEFT JOIN, whose condition would not see what stands before it.
    """
    for join in select.args.get("joins") or []:
        if not join.side:
            join.set("kind", "CROSS")
    select.append("joins", exp.Join(this=source, side="LEFT", on=condition))
    return select


def where(select: exp.Select, conditions: Sequence[Scalar]) -> exp.Select:
    """Put more conditions in WHERE."""
    whole = conjunction(conditions)
    return select if whole is None else select.where(whole)


def exists_in(
    name: str,
    alias: str,
    columns: Iterable[str],
    pairs: Iterable[tuple[str, Scalar]],
    *,
    null_safe: bool = True,
) -> exp.Exists:
    """Return that a table has a row whose columns are equal to values of the row around.

    To Spark ``a.b`` is a field of the table's own column ``a`` before it is a column of what is
    called ``a`` outside. Where there is such a column, the compared ones alone are in scope, under
    names that no text has.

    Parameters
    ----------
    columns
        All that the table may have.
    """
    pairs = list(pairs)
    outside = {column.table.lower() for _, value in pairs for column in value.find_all(exp.Column)}
    source: exp.Expr = table(name, alias)
    if not outside.isdisjoint(map(str.lower, columns)):
        apart = [(f"{alias} {number}", name) for number, (name, _) in enumerate(pairs)]
        select = exp.select(*named((new, qualified(alias, name)) for new, name in apart))
        source = select.from_(source).subquery(alias)
        pairs = [(new, value) for (new, _), (_, value) in zip(apart, pairs, strict=True)]
    inner = exp.select(exp.Literal.number(1)).from_(source)
    return exp.Exists(this=where(inner, equal_columns(alias, pairs, null_safe=null_safe)))


def equal_columns(
    alias: str, pairs: Iterable[tuple[str, Scalar]], *, null_safe: bool
) -> list[exp.Expr]:
    """Return the comparisons of an alias's columns with the values they are equal to."""
    equal = exp.NullSafeEQ if null_safe else exp.EQ
    return [
        equal(this=qualified(alias, name), expression=bracketed(value.copy()))
        for name, value in pairs
    ]


def named(columns: Iterable[Named]) -> list[exp.Expr]:
    """Return the items of a select list."""
    return [exp.alias_(scalar.copy(), name, quoted=True) for name, scalar in columns]


def no_ordinal(scalar: Scalar) -> Scalar:
    """Return a key of GROUP BY or ORDER BY that cannot be read as the number of a select item."""
    bare = scalar.unnest()
    number = bare.this.unnest() if isinstance(bare, exp.Neg) else bare
    if isinstance(number, exp.Literal) and not number.is_string and number.this.isdigit():
        return exp.cast(scalar.copy(), "int" if int(number.this) < 2**31 else "bigint")
    return scalar.copy()


def conjunction(conditions: Sequence[Scalar]) -> Scalar | None:
    """Return what is true where all conditions are; None if there are none."""
    return exp.and_(*(_boolean(condition) for condition in conditions)) if conditions else None


def _boolean(condition: Scalar) -> Scalar:
    """Return a condition that may stand alone: NULL does so only under AND."""
    if isinstance(condition.unnest(), exp.Null):
        return exp.cast(exp.null(), "boolean")
    return condition.copy()


def is_true(condition: Scalar) -> Scalar:
    """Return whether a condition is true, which is false where it is NULL."""
    return exp.func("coalesce", exp.paren(condition.copy()), exp.false())


def union_all(branches: Sequence[exp.Query]) -> exp.Query:
    """Return the bag union of queries."""
    union = branches[0]
    for branch in branches[1:]:
        union = exp.union(union, branch, distinct=False, copy=False)
    return union

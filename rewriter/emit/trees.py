"""Small trees that every statement is built from, and names of added columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar, bracketed
from rewriter.blocks import Block, Named, qualified
from rewriter.scalars.text import rewrite_columns

PROVENANCE = "_prov"
PRESENT = "_present"
SORT = "_o"
VALUE = "_value"
BRANCH = "_branch"
SIDE = "_side"


TableOf = Callable[[Block], str]


@dataclass(frozen=True, slots=True)
class Tables:
    """Names of the tables with a block's members, rows and potential rows."""

    members: TableOf
    rows: TableOf
    potential: TableOf


CTE_TABLES = Tables(
    members=lambda block: f"{block.name}_members",
    rows=lambda block: block.name,
    potential=lambda block: f"{block.name}_potential",
)


def table(name: str, alias: str) -> exp.Table:
    """Return a table or view in FROM."""
    return exp.Table(
        this=exp.to_identifier(name, quoted=True),
        alias=exp.TableAlias(this=exp.to_identifier(alias)),
    )


def visible(select: exp.Select, names: Sequence[str]) -> exp.Select:
    """Restrict a select list to the named columns, in their order."""
    by_name = {column.alias_or_name: column for column in select.expressions}
    return select.select(*(by_name[name] for name in names), append=False)


_ONE_ROW = "_one"


def from_(select: exp.Select, source: exp.Expr) -> exp.Select:
    """Add a source to FROM, as a product."""
    if select.args.get("from_") is None:
        return select.from_(source)
    select.append("joins", exp.Join(this=source))
    return select


def left_join(select: exp.Select, source: exp.Expr, condition: Scalar) -> exp.Select:
    """Add a source to FROM, padded with NULLs where it has no match.

    A comma binds less tightly than LEFT JOIN, whose condition would not see the sources before it.
    A SELECT without FROM is over one row.
    """
    if select.args.get("from_") is None:
        select = select.from_(exp.select(exp.Literal.number(1)).subquery(_ONE_ROW))
    for join in select.args.get("joins") or []:
        if not join.side:
            join.set("kind", "CROSS")
    select.append("joins", exp.Join(this=source, side="LEFT", on=condition))
    return select


def where(select: exp.Select, conditions: Sequence[Scalar]) -> exp.Select:
    """Add conditions to WHERE."""
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
    """Return the condition that a table has a row whose columns equal values of the outer row.

    For Spark ``a.b`` is a field of the table's own column ``a`` before it is a column of an outer
    relation named ``a``. If the table has such a column, only the compared columns are in scope,
    under names that no query has.

    Parameters
    ----------
    columns
        All columns that the table may have.
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
    """Return the comparisons of an alias's columns with the values they must equal."""
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
    """Return the conjunction of all conditions; None if there are none."""
    return exp.and_(*(_boolean(condition) for condition in conditions)) if conditions else None


def _boolean(condition: Scalar) -> Scalar:
    """Return a condition that may stand alone: only under AND may it be NULL."""
    if isinstance(condition.unnest(), exp.Null):
        return exp.cast(exp.null(), "boolean")
    return condition.copy()


def is_true(condition: Scalar) -> Scalar:
    """Return a condition that is true if the given one is, and false if that is NULL."""
    return exp.func("coalesce", exp.paren(condition.copy()), exp.false())


def union_all(branches: Sequence[exp.Query]) -> exp.Query:
    """Return the bag union of queries."""
    union = branches[0]
    for branch in branches[1:]:
        union = exp.union(union, branch, distinct=False, copy=False)
    return union


def fill(scalar: Scalar, block: Block, tables: Tables = CTE_TABLES) -> Scalar:
    """Replace the placeholder columns of scalar subqueries by the subqueries."""
    scalars = {lookup.alias: lookup for lookup in block.subqueries}
    if not scalars:
        return scalar

    def leaf(node: exp.Column) -> Scalar:
        if node.table not in scalars:
            return node
        lookup = scalars[node.table]
        rows = table(tables.rows(lookup.block), lookup.alias)
        return exp.select(qualified(lookup.alias, node.name)).from_(rows).subquery()

    return rewrite_columns(scalar, leaf)


def union_rows(
    block: Block, table_of: TableOf, *, potential: bool = False, provenance: bool = False
) -> exp.Query:
    """Return the tuples of all branches: branch number, their identities, their columns.

    The annotation is a struct of the branch's number and a field per branch, NULL except for its
    own.
    """
    selects: list[exp.Query] = []
    for number, branch in enumerate(block.branches):
        columns = branch_columns(block, number, potential=potential)
        if provenance:
            fields: list[exp.Expr] = [exp.Literal.string("branch"), exp.Literal.number(number)]
            for other in range(len(block.branches)):
                own_branch = other == number
                fields.append(exp.Literal.string(f"p{other}"))
                fields.append(qualified("t", PROVENANCE) if own_branch else exp.null())
            columns.append((PROVENANCE, exp.Anonymous(this="named_struct", expressions=fields)))
        selects.append(exp.select(*named(columns)).from_(table(table_of(branch), "t")))
    return union_all(selects)


def branch_columns(block: Block, number: int, *, potential: bool) -> list[Named]:
    """Return a union's columns of the tuples ``t`` of one branch; ``potential``: stable ones."""
    columns: list[Named] = [(BRANCH, exp.Literal.number(number))]
    for other, inner in enumerate(block.branches):
        for name in inner.identity:
            own_branch = other == number
            columns.append((f"_{other}_{name}", qualified("t", name) if own_branch else exp.null()))
    for position, name in enumerate(_union_columns(block)):
        output = block.branches[number].outputs[position]
        if potential and not all(b.outputs[position].stable for b in block.branches):
            continue
        scalar = exp.null() if output.always_null else qualified("t", output.name)
        columns.append((name, scalar))
    return columns


def _union_columns(block: Block) -> list[str]:
    """Return the names of a union's own columns: the outputs of its first branch, by position."""
    return [output.name for output in block.branches[0].outputs]

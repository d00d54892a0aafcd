"""Generators of Spark SQL as DuckDB reads them: an array taken apart in FROM, its items named.

LATERAL VIEW [OUTER], LATERAL and a generator of the select list become a join with UNNEST of one
array of (place, value), and one with LATERAL that names the parts. Arrays of several columns in
one UNNEST, and UNNEST inside of LATERAL, go wrong in DuckDB after an outer join.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

_GENERATORS = (exp.Explode, exp.ExplodeOuter, exp.Posexplode, exp.PosexplodeOuter, exp.Inline)
_ENTRY = ("key", "value")
_ITEM = "_item"
_OUTER = (exp.ExplodeOuter, exp.PosexplodeOuter)


def unnested(node: exp.Select) -> exp.Select:
    """Write the generators of a SELECT as joins."""
    for join in list(node.args.get("joins") or []):
        lateral = join.this
        if isinstance(lateral, exp.Lateral) and isinstance(lateral.this, _GENERATORS):
            alias = lateral.args["alias"]
            names = [column.name for column in alias.columns]
            first, second = _joins(lateral.this, alias.name, names, outer=False)
            joins = node.args["joins"]
            at = next(number for number, other in enumerate(joins) if other is join)
            node.set("joins", [*joins[:at], first, second, *joins[at + 1 :]])
    unknown = []
    for lateral in node.args.get("laterals") or []:
        if not isinstance(lateral.this, _GENERATORS):
            unknown.append(lateral)
            continue
        alias = lateral.args["alias"]
        names = [column.name for column in alias.columns]
        for join in _joins(lateral.this, alias.name, names, outer=bool(lateral.args["outer"])):
            node.append("joins", join)
    node.set("laterals", unknown)
    node = _of_select_list(node)
    if any(isinstance(join.this, exp.Unnest) for join in node.args.get("joins") or []):
        for item in node.expressions:
            if isinstance(item, exp.Star):
                item.append("except_", exp.to_identifier(_ITEM))
    return node


def _of_select_list(select: exp.Select) -> exp.Select:
    items: list[exp.Expr] = []
    for item in select.expressions:
        call = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
        if not isinstance(call, _GENERATORS):
            items.append(item)
            continue
        named = [name.name for name in item.expressions] if isinstance(item, exp.Aliases) else []
        names = named or ([item.alias] if item.alias else ["col"])
        alias = f"_selected_{names[0]}"
        for join in _joins(call, alias, names, outer=False):
            select.append("joins", join)
        items += [exp.column(name, table=alias, quoted=True) for name in names]
    select.set("expressions", items)
    return select


def _joins(
    call: exp.Expr, alias: str, names: Sequence[str], *, outer: bool
) -> tuple[exp.Join, exp.Join]:
    """Return the joins for one call of a generator: its rows, and the names of their parts."""
    positioned = isinstance(call, exp.Posexplode)
    values = list(names[1:] if positioned else names)
    array = call.this.copy()
    if not isinstance(call, exp.Inline) and len(values) > 1:
        array = exp.func("MAP_ENTRIES", array)
    length = exp.func("LEN", array.copy())
    rows: exp.Expr = exp.func("LIST_ZIP", exp.func("RANGE", length), array)
    if outer or isinstance(call, _OUTER):
        some = exp.GT(this=length.copy(), expression=exp.Literal.number(0))
        rows = exp.case().when(some, rows).else_(exp.array(exp.null()))
    table = f"_{alias}"
    item = exp.column(_ITEM, table=table, quoted=True)
    first = exp.Unnest(expressions=[rows], alias=_alias(table, [_ITEM]))
    value = _part(item, 2)
    if isinstance(call, exp.Inline):
        parts: list[exp.Expr] = [exp.func("UNNEST", value)]
    elif len(values) > 1:
        parts = [exp.func("STRUCT_EXTRACT", value.copy(), exp.Literal.string(k)) for k in _ENTRY]
    else:
        parts = [value]
    if positioned:
        parts = [_part(item, 1), *parts]
    inner = exp.Subquery(this=exp.Select(expressions=parts))
    second = exp.Lateral(this=inner, alias=_alias(alias, names))
    return exp.Join(this=first, kind="CROSS"), exp.Join(this=second, kind="CROSS")


def _part(item: exp.Expr, number: int) -> exp.Expr:
    return exp.func("STRUCT_EXTRACT", item.copy(), exp.Literal.number(number))


def _alias(name: str, columns: Sequence[str]) -> exp.TableAlias:
    return exp.TableAlias(
        this=exp.to_identifier(name, quoted=True),
        columns=[exp.to_identifier(column, quoted=True) for column in columns],
    )

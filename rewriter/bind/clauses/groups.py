"""GROUP BY and HAVING: what their names, ordinals and ALL stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import Scalar, bracketed
from rewriter.bind.clauses.grouping import OTHERWISE, group_by
from rewriter.bind.clauses.ordering import ordinal
from rewriter.bind.columns.items import Item, named_items
from rewriter.bind.columns.scope import Lookup, Parts, item_name, with_fields
from rewriter.bind.columns.stars import is_star
from rewriter.bind.fingerprint import unwrap
from rewriter.bind.functions.calls import has_aggregate
from rewriter.bind.scalars import ScalarBinder


def is_grouped(select: exp.Select) -> bool:
    """Return True if a SELECT aggregates its rows."""
    if select.args.get("group") or select.args.get("having"):
        return True
    items = [item for item in select.expressions if not is_star(item)]
    return any(map(has_aggregate, [*items, *filter(None, [select.args.get("qualify")])]))


def without_keys(select: exp.Select) -> bool:
    """Return True if a SELECT has one group, which is there even if it has no rows."""
    group = select.args.get("group")
    if group is None or not group.args.get("all"):
        return group is None and is_grouped(select)
    return all(not is_star(item) and has_aggregate(item) for item in select.expressions)


def is_of_everything(select: exp.Select) -> bool:
    """Return True if a SELECT is grouped by GROUPING SETS (()) alone."""
    group = select.args.get("group")
    return group is not None and not group.args.get("all") and group_by(group).everything


def key_scalars(
    binder: ScalarBinder, select: exp.Select, items: Sequence[Item]
) -> tuple[list[tuple[str, Scalar]], list[tuple[int, ...]] | None]:
    """Return the names and expressions of the grouping keys, and the keys of each grouping set.

    A name is a column of FROM, else the alias of an item; an integer is the item at that place.
    """
    group = select.args.get("group")
    if group is None:
        return [], None
    if group.args.get("all"):
        if binder.scope.resolve(["all"]) is None:
            return [(i.name, i.scalar) for i in items if not has_aggregate(i.scalar)], None
        return [("all", binder.bind(exp.column("all")))], None

    def alias(parts: Parts, inside: bool) -> Scalar | None:
        aliased = named_items(items, parts[0].name)
        return with_fields(bracketed(aliased[0].scalar.copy()), parts[1:]) if aliased else None

    first, *further = binder.lookups
    binder = replace(binder, lookups=(first, alias, *further))
    written = group_by(group)
    return list(_keys(binder, written.expressions, items)), written.sets


def having_lookup(columns: Lookup, items: Sequence[Item]) -> Lookup:
    """Return how HAVING resolves a name: a column of FROM where it is grouped by, else an alias."""

    def find(parts: Parts, inside: bool) -> Scalar | None:
        column = columns(parts, inside)
        named = named_items(items, parts[0].name)
        alias = with_fields(bracketed(named[0].scalar.copy()), parts[1:]) if named else None
        if column is None:
            return alias
        if alias is not None and len(parts) == 1 and not inside:
            column.meta[OTHERWISE] = alias
        return column

    return find


def _keys(
    binder: ScalarBinder, written: Sequence[exp.Expr], items: Sequence[Item]
) -> Iterator[tuple[str, Scalar]]:
    source = binder.context.source
    for node in written:
        position = ordinal(node, len(items), "GROUP BY", source)
        if position is None:
            scalar, name = binder.bind(node), item_name(node)
        else:
            scalar, name = items[position].scalar, items[position].name
        if has_aggregate(scalar):
            advice = "Group by an expression without aggregates."
            raise source.error("GROUP BY refers to an aggregate", advice, node)
        yield name, unwrap(scalar)

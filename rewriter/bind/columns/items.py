"""The select list: its expressions, and the aliases that later ones may refer to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Relation, Scalar, bracketed
from rewriter.bind.clauses.generators import selected_generator
from rewriter.bind.columns.scope import Entry, Lookup, Parts, item_name, with_fields
from rewriter.bind.scalars import (
    ScalarBinder,
    expand_star,
    is_star,
    name_parts,
    outer_columns,
    star_fields,
)
from rewriter.bind.text import SourceText, unwrap


@dataclass(frozen=True, slots=True)
class Item:
    """One column of the answer, computed from the columns of FROM.

    ``entry`` is the column of FROM that it is, unless it is computed or has an alias.
    """

    name: str
    scalar: Scalar
    written: exp.Expr
    entry: Entry | None = None
    alias: bool = False


def bind_items(
    binder: ScalarBinder,
    select: exp.Select,
    rows: Relation,
    generated: Sequence[Entry] = (),
) -> tuple[Item, ...]:
    """Bind a select list; a name that is not a column of FROM may be the alias of an earlier item.

    Parameters
    ----------
    rows
        What it selects from.
    generated
        The columns of its generator, if it has one.
    """
    items: list[Item] = []
    first, *further = binder.lookups
    lateral = _lateral(items, binder.context.source)
    binder = replace(binder, lookups=(first, lateral, *further))
    for node in select.expressions:
        if is_star(node):
            fields = star_fields(node, binder.scope, rows, binder.context)
            items += [Item(name, scalar, node) for name, scalar in fields]
            around = outer_columns(node, binder.scope, binder.outer)
            items += [_item(column, binder) for column in around]
            if fields or around:
                continue
            for entry in expand_star(node, binder.scope, binder.context.source):
                items.append(Item(entry.name, entry.attribute.column(), node, entry))
        elif generated and selected_generator(node):
            for entry in generated:
                items.append(Item(entry.name, entry.attribute.column(), node, None, True))
        else:
            items.append(_item(node, binder))
    return tuple(items)


def named_items(items: Sequence[Item], name: str) -> list[Item]:
    """Return the items of this name."""
    return [item for item in items if item.name.lower() == name.lower()]


def alias_lookup(items: Sequence[Item]) -> Lookup:
    """Return how a clause resolves a name that is an alias of an item."""

    def find(parts: Parts, inside: bool) -> Scalar | None:
        aliased = named_items(items, parts[0].name)
        return with_fields(bracketed(aliased[0].scalar.copy()), parts[1:]) if aliased else None

    return find


def _item(node: exp.Expr, binder: ScalarBinder) -> Item:
    if isinstance(node, exp.Aliases):
        advice = "Give the expression one alias."
        raise binder.context.source.unsupported("several aliases are not supported", advice, node)
    alias = isinstance(node, exp.Alias)
    if isinstance(node, exp.Alias) and is_star(node.this):
        advice = "Give an alias to each column."
        raise binder.context.source.unsupported("an alias of * is not supported", advice, node)
    written = node.this if alias else node
    scalar = binder.bind(written)
    entry = None
    if not alias and isinstance(scalar, exp.Column) and name_parts(unwrap(written)) is not None:
        matching = (e for e in binder.scope.entries if e.attribute.id == scalar.name)
        entry = next(matching, None)
    return Item(item_name(node), scalar, node, entry, alias)


def _lateral(items: Sequence[Item], source: SourceText) -> Lookup:
    def find(parts: Parts, inside: bool) -> Scalar | None:
        name = parts[0].name
        earlier = [item for item in named_items(items, name) if item.alias]
        if not earlier:
            return None
        if inside:
            advice = "Write the expression that the alias stands for."
            problem = f"alias {name} inside an aggregate of the same select list is not supported"
            raise source.unsupported(problem, advice, parts[0])
        if len(earlier) > 1:
            raise source.error(f"alias {name} is ambiguous", "Use another name.", parts[0])
        return with_fields(bracketed(earlier[0].scalar.copy()), parts[1:])

    return find

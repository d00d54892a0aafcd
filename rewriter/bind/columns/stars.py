"""``*``: the columns it means."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Relation, Scalar
from rewriter.bind.columns.scope import Entry, Outer, Scope, with_fields
from rewriter.bind.columns.types import fields_of, type_of
from rewriter.bind.context import BindContext
from rewriter.bind.text import Source


def is_star(node: exp.Expr) -> bool:
    """Return True if a node is ``*`` or ``t.*``."""
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def star_fields(
    star: exp.Expr, scope: Scope, rows: Relation, context: BindContext
) -> tuple[tuple[str, Scalar], ...]:
    """Return the fields that the star of a struct means, by their names; () of other stars."""
    if not isinstance(star, exp.Column):
        return ()
    parts = tuple(exp.to_identifier(part.name) for part in star.parts[:-1])
    if scope.qualified([part.name for part in parts]):
        return ()
    struct = scope.lookup(context.source)(parts, False)
    if struct is None:
        return ()
    names = fields_of(type_of(struct, rows, context.environment.catalog))
    excepted = {excluded.name.lower() for excluded in star.this.args.get("except_") or []}
    fields = [exp.to_identifier(name) for name in names if name.lower() not in excepted]
    return tuple((field.name, with_fields(struct.copy(), [field])) for field in fields)


def outer_columns(star: exp.Expr, scope: Scope, outer: Outer | None) -> tuple[exp.Column, ...]:
    """Return the columns of an outer query that ``t.*`` means, as names; () of other stars."""
    if outer is None or not isinstance(star, exp.Column):
        return ()
    relation = star.parts[:-1]
    qualifier = [part.name for part in relation]
    if scope.qualified(qualifier) or scope.resolve(qualifier) is not None:
        return ()
    columns = next(filter(None, (each.qualified(qualifier) for each in outer.scopes)), ())
    excepted = {each.name.lower() for each in star.this.args.get("except_") or []}
    kept = [entry for entry in columns if entry.name.lower() not in excepted]
    return tuple(_named(entry.name, relation) for entry in kept)


def _named(name: str, relation: Sequence[exp.Expr]) -> exp.Column:
    *before, table = [part.copy() for part in relation]
    identifier = exp.to_identifier(name, quoted=True)
    identifier.meta.update(table.meta)
    db = before[-1] if before else None
    return exp.Column(this=identifier, table=table, db=db)


def expand_star(star: exp.Expr, scope: Scope, source: Source) -> tuple[Entry, ...]:
    """Return the columns that ``*``, ``t.*`` or ``* EXCEPT (...)`` means, in order."""
    mark = star if isinstance(star, exp.Star) else star.this
    for key, name in (("replace", "REPLACE"), ("rename", "RENAME"), ("ilike", "ILIKE")):
        if mark.args.get(key):
            advice = "List the columns instead."
            raise source.unsupported(f"* {name} is not supported", advice, mark)
    qualifier = [part.name for part in star.parts[:-1]] if isinstance(star, exp.Column) else []
    entries = scope.qualified(qualifier) if qualifier else scope.visible
    name = ".".join([*qualifier, "*"])
    if qualifier and not entries:
        if scope.resolve(qualifier) is not None:
            advice = "Name the fields, each as column.field."
            raise source.unsupported(f"{name} of a struct is not supported", advice, star)
        advice = "Name a relation of FROM."
        raise source.error(f"relation {'.'.join(qualifier)} is not known", advice, star)
    for excepted in mark.args.get("except_") or []:
        entries = _without(entries, excepted, source)
    return entries


def _without(entries: tuple[Entry, ...], excepted: exp.Expr, source: Source) -> tuple[Entry, ...]:
    if not isinstance(excepted, (exp.Column, exp.Identifier)):
        advice = "Name the fields to keep, each as column.field."
        raise source.unsupported("EXCEPT of a field is not supported", advice, excepted)
    *qualifier, name = (
        [part.name for part in excepted.parts]
        if isinstance(excepted, exp.Column)
        else [excepted.name]
    )
    dropped = [
        entry
        for entry in entries
        if entry.named(name) and (not qualifier or entry.qualified(qualifier))
    ]
    if dropped:
        return tuple(entry for entry in entries if entry not in dropped)
    written = ".".join([*qualifier, name])
    if qualifier and any(entry.named(qualifier[0]) for entry in entries):
        advice = "Name the fields to keep, each as column.field."
        raise source.unsupported("EXCEPT of a field is not supported", advice, excepted)
    advice = "Name a column that * means."
    raise source.error(f"column {written} is not known", advice, excepted)

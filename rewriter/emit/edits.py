"""Edited relations as queries: changed, added and deleted rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import Named, qualified
from rewriter.emit.conditions import literal
from rewriter.emit.trees import named, table
from rewriter.scalars.text import text


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one row of a relation.

    Parameters
    ----------
    kind
        ``set``: the row gets new values; ``add``: ``copies`` copies of the row are added, with new
        values; ``delete``: the row is deleted.
    key
        Values of the columns that identify the row.
    values
        New values by column.
    """

    relation: str
    kind: str
    key: Mapping[str, Any]
    values: Mapping[str, Any]
    copies: int = 1


def edited(view: str, columns: Sequence[str], edits: Sequence[Edit]) -> exp.Query:
    """Return the rows of a view after edits of its relation; ``columns`` are all of its columns."""
    items: list[Named] = []
    for column in columns:
        value: Scalar = qualified("t", column)
        for edit in edits:
            if edit.kind == "set" and column in edit.values:
                value = exp.Case().when(_is_row(edit), literal(edit.values[column])).else_(value)
        items.append((column, value))
    query: exp.Query = exp.select(*named(items)).from_(table(view, "t"))
    for edit in edits:
        if edit.kind == "delete":
            assert isinstance(query, exp.Select)
            query = query.where(exp.Not(this=exp.func("coalesce", _is_row(edit), exp.false())))
    number = 0
    for edit in edits:
        for _ in range(edit.copies if edit.kind == "add" else 0):
            number += 1
            query = exp.union(query, _added(view, columns, edit, number), distinct=False)
    return query


def _is_row(edit: Edit) -> Scalar:
    equal = [
        exp.EQ(this=qualified("t", name), expression=literal(value))
        for name, value in edit.key.items()
    ]
    return exp.and_(*equal)


def _added(view: str, columns: Sequence[str], edit: Edit, number: int) -> exp.Select:
    """Return a copy of the row with a key, under a new key."""
    items: list[Named] = []
    for column in columns:
        value: Scalar = qualified("t", column)
        if column in edit.values:
            value = literal(edit.values[column])
        elif column in edit.key:
            last = exp.select(exp.Max(this=qualified("l", column))).from_(table(view, "l"))
            if isinstance(edit.key[column], int):
                value = exp.Add(this=last.subquery(), expression=exp.Literal.number(number))
            else:
                new = exp.Literal.string(f" new {number}")
                value = exp.func("concat", last.subquery(), new)
        items.append((column, value))
    return exp.select(*named(items)).from_(table(view, "t")).where(_is_row(edit))


def edited_text(view: str, columns: Sequence[str], edits: Sequence[Edit]) -> str:
    """Return :func:`edited` as text."""
    return text(edited(view, columns, edits))


def matching_text(view: str, ids: Sequence[str], pattern: Sequence[Scalar]) -> str:
    """Return the text of a query for one row of an answer that matches a pattern.

    ``ids`` are the attributes of the answer's root, which name its columns.
    """
    names = [exp.to_identifier(name, quoted=True) for name in ids]
    source = exp.Table(
        this=exp.to_identifier(view, quoted=True),
        alias=exp.TableAlias(this=exp.to_identifier("a"), columns=names),
    )
    query = exp.select(*named([("there", exp.true())])).from_(source)
    for part in pattern:
        query = query.where(part.copy())
    return text(query.limit(1))

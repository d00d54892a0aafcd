"""What Spark knows of columns beyond their types, and passes on from operator to operator.

That a column is of time windows: their last moments are its times, and a grouping by a column of
session windows merges them. That it is CHAR(n): it is padded where it is compared with one of
another length, though not everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Attribute,
    BagDifference,
    Generate,
    Iteration,
    Project,
    Relation,
    Scalar,
    Scan,
    UnionAll,
    walk,
)
from rewriter.bind.catalog import SESSION

MARK = "mark"
"""Gives a scalar, or the elements of an array, a mark of their own."""
HOLDS_SESSIONS = "holds session windows"
"""The mark of what has, or may have, session windows as fields: Spark marks those too."""
_STRUCTS = ("named_struct", "struct")


def marks_of(rows: Relation) -> dict[str, str]:
    """Return the marks of the columns of a relation and all below it."""
    marks: dict[str, str] = {}

    def pass_on(output: Sequence[Attribute], scalars: Sequence[Scalar]) -> None:
        for attribute, scalar in zip(output, scalars, strict=True):
            mark = scalar.meta.get(MARK) or mark_of(scalar, marks)
            if mark is not None:
                marks[attribute.id] = mark

    for node in walk(rows):
        if isinstance(node, Scan):
            pairs = zip(node.columns, node.attributes, strict=True)
            marks |= {a.id: node.marks[column] for column, a in pairs if column in node.marks}
        elif isinstance(node, Iteration):
            marks |= marks_of(node.first)
            pass_on(node.output, [each.column() for each in node.first.attributes])
        elif isinstance(node, Project):
            pass_on(node.output, node.scalars)
        elif isinstance(node, Aggregate):
            pass_on(node.key_output, node.keys)
            pass_on(node.aggregate_output, node.aggregates)
        elif isinstance(node, UnionAll):
            pass_on(node.output, [each.column() for each in node.branches[0].attributes])
        elif isinstance(node, BagDifference):
            pass_on(node.output, [each.column() for each in node.left.attributes])
        elif isinstance(node, Generate):
            mark = node.argument.meta.get(MARK) or mark_of(node.argument, marks)
            if mark is not None:
                marks |= {attribute.id: mark for attribute in node.output}
    return marks


def mark_of(scalar: Scalar, marks: Mapping[str, str]) -> str | None:
    """Return the mark of a scalar over columns that have some; None if it has none."""
    if isinstance(scalar, exp.Column):
        return marks.get(scalar.name)
    if SESSION not in marks.values() and HOLDS_SESSIONS not in marks.values():
        return None
    columns = scalar.find_all(exp.Column)
    return HOLDS_SESSIONS if any(_holds(column, marks) for column in columns) else None


def _holds(column: exp.Column, marks: Mapping[str, str]) -> bool:
    """Tell whether a column, where it stands in a scalar, brings session windows into a value."""
    mark, around = marks.get(column.name), column.parent
    if isinstance(around, exp.Alias | exp.Paren | exp.PropertyEQ):
        around = around.parent
    in_struct = isinstance(around, exp.Struct) or (
        isinstance(around, exp.Anonymous) and around.name.lower() in _STRUCTS
    )
    return mark == HOLDS_SESSIONS or (mark == SESSION and in_struct)


def unmarked(scalar: Scalar) -> Scalar:
    """Return a scalar of the same values, which is no column and has no marks."""
    return exp.Anonymous(this="coalesce", expressions=[scalar])

"""What Spark knows of columns beyond their types, and passes on from operator to operator.

That a column is of time windows: their last moments are its times, and a grouping by a column of
session windows merges them. That it is CHAR(n): it is padded where it is compared with one of
another length, though not everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Attribute,
    BagDifference,
    Generate,
    Project,
    Relation,
    Scalar,
    Scan,
    UnionAll,
    walk,
)

MARK = "mark"
"""Gives a scalar, or the elements of an array, a mark of their own."""


def marks_of(rows: Relation) -> dict[str, str]:
    """Return the marks of the columns of a relation and all below it."""
    found: dict[str, str] = {}

    def pass_on(output: Sequence[Attribute], scalars: Sequence[Scalar]) -> None:
        for attribute, scalar in zip(output, scalars, strict=True):
            mark = scalar.meta.get(MARK)
            if mark is None and isinstance(scalar, exp.Column):
                mark = found.get(scalar.name)
            if mark is not None:
                found[attribute.id] = mark

    for one in walk(rows):
        if isinstance(one, Scan):
            pairs = zip(one.columns, one.attributes, strict=True)
            found |= {a.id: one.marks[column] for column, a in pairs if column in one.marks}
        elif isinstance(one, Project):
            pass_on(one.output, one.scalars)
        elif isinstance(one, Aggregate):
            pass_on(one.key_output, one.keys)
        elif isinstance(one, UnionAll):
            pass_on(one.output, [each.column() for each in one.branches[0].attributes])
        elif isinstance(one, BagDifference):
            pass_on(one.output, [each.column() for each in one.left.attributes])
        elif isinstance(one, Generate) and MARK in one.argument.meta:
            found |= {attribute.id: one.argument.meta[MARK] for attribute in one.output}
    return found

"""A stable textual form of a plan: one operator per line, its inputs indented below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from rewriter.algebra import (
    Aggregate,
    Attribute,
    BagDifference,
    Constant,
    CorrelatedScalar,
    Draw,
    ExistenceJoin,
    Filter,
    FirstRows,
    Generate,
    Iteration,
    Join,
    Limit,
    LocalSort,
    OuterJoin,
    OuterValues,
    Project,
    Relation,
    Sample,
    Scalar,
    ScalarSubquery,
    Scan,
    Sort,
    SortKey,
    UnionAll,
    Watermarked,
    Windows,
    walk,
)
from rewriter.dialect import SparkSQL


def render(relation: Relation) -> str:
    """Return the plan as an indented tree.

    An operator with several readers is written at the first and numbered (``[1]``); later readers
    show its number alone.
    """
    return "\n".join(_lines(relation, 0, _shared(relation), set()))


def _shared(root: Relation) -> dict[int, int]:
    readers: dict[int, int] = {}
    order = list(walk(root))
    for operator in order:
        for child in operator.inputs:
            readers[id(child)] = readers.get(id(child), 0) + 1
    number = count(1)
    return {id(op): next(number) for op in order if readers.get(id(op), 0) > 1}


def _lines(
    relation: Relation, depth: int, shared: dict[int, int], written: set[int]
) -> Iterator[str]:
    indent = "  " * depth
    mark = f"[{shared[id(relation)]}] " if id(relation) in shared else ""
    if id(relation) in written:
        yield f"{indent}{mark}as above"
        return
    written.add(id(relation))
    yield f"{indent}{mark}{_header(relation)}"
    for child in relation.inputs:
        yield from _lines(child, depth + 1, shared, written)


def _header(relation: Relation) -> str:
    match relation:
        case Scan():
            pairs = zip(relation.output, relation.columns, strict=True)
            columns = ", ".join(_defined(attribute, column) for attribute, column in pairs)
            return f"Scan {relation.relation}: {columns}"
        case Filter():
            return f"Filter: {_sql(relation.predicate)}"
        case Project():
            return f"Project: {_definitions(relation.output, relation.scalars)}"
        case ScalarSubquery() | CorrelatedScalar() | ExistenceJoin() | OuterValues():
            return _subquery(relation)
        case Join():
            name = _kind(relation)
            return f"{name}: {_sql(relation.condition)}" if relation.condition else name
        case Generate():
            columns = ", ".join(map(_attribute, relation.made))
            words = " outer" * relation.outer + " inline" * relation.inline
            words += " placed" * relation.placed + " function" * relation.function
            return f"Generate{words}: {_sql(relation.argument)} as {columns}"
        case Aggregate():
            keys = _definitions(relation.key_output, relation.keys)
            aggregates = _definitions(relation.aggregate_output, relation.aggregates)
            sets = "" if relation.sets is None else f" {_sets(relation)}"
            return f"Aggregate: by ({keys}){sets} compute ({aggregates})"
        case Constant():
            return f"Constant {_sql(relation.table)}: {', '.join(map(_attribute, relation.output))}"
        case Windows() | Draw():
            return f"{_kind(relation)}: {_definitions(relation.output, relation.calls)}"
        case FirstRows() | Watermarked():
            return _of_stream(relation)
        case Sample():
            return f"Sample: {_sql(relation.sample).strip()}"
        case UnionAll() | BagDifference() | Iteration():
            return f"{_kind(relation)}: {', '.join(map(_attribute, relation.output))}"
        case Sort() | LocalSort():
            return f"{_kind(relation)}: {', '.join(map(_sort_key, relation.keys))}"
        case Limit():
            number = "all" if relation.count is None else str(relation.count)
            return f"Limit: {number} offset {relation.offset}"
        case _:
            return type(relation).__name__


def _subquery(
    relation: ScalarSubquery | CorrelatedScalar | ExistenceJoin | OuterValues,
) -> str:
    match relation:
        case ScalarSubquery():
            return f"ScalarSubquery: {relation.output.id}"
        case CorrelatedScalar():
            equal = "<=>" if relation.null_safe else "="
            tied = ", ".join(f"{_sql(left)} {equal} {key.id}" for left, key in relation.pairs)
            empty = f", else {_sql(relation.empty)}" if relation.empty else ""
            return f"CorrelatedScalar {relation.output.id}: {relation.value.id} of {tied}{empty}"
        case ExistenceJoin():
            condition = f": {_sql(relation.condition)}" if relation.condition else ""
            return f"ExistenceJoin {relation.output.id}{condition}"
        case OuterValues():
            return f"OuterValues: {_definitions(relation.output, relation.scalars)}"


def _kind(relation: Relation) -> str:
    name = type(relation).__name__
    if isinstance(relation, OuterJoin):
        return f"{relation.side.value.title()}{name}"
    return "BagIntersection" if isinstance(relation, BagDifference) and relation.common else name


def _sets(relation: Aggregate) -> str:
    assert relation.sets is not None
    names = [attribute.id for attribute in relation.key_output]
    sets = ", ".join(f"({', '.join(names[k] for k in keys)})" for keys in relation.sets.sets)
    return f"in sets ({sets}) as {_attribute(relation.sets.number)}"


def _definitions(output: Iterable[Attribute], scalars: Iterable[Scalar]) -> str:
    pairs = zip(output, scalars, strict=True)
    return ", ".join(f"{_attribute(attribute)} := {_sql(scalar)}" for attribute, scalar in pairs)


def _of_stream(relation: FirstRows | Watermarked) -> str:
    if isinstance(relation, Watermarked):
        return f"Watermarked: {_attribute(relation.time)}, {relation.delay} ms"
    keys = ", ".join(map(_attribute, relation.keys))
    return f"FirstRows: by {keys}{' within the watermark' * relation.within}"


def _defined(attribute: Attribute, column: str) -> str:
    return column if attribute.id == column else f"{attribute.id} := {column}"


def _attribute(attribute: Attribute) -> str:
    return attribute.id if attribute.id == attribute.name else f"{attribute.id} '{attribute.name}'"


def _sort_key(key: SortKey) -> str:
    direction = "DESC" if key.descending else "ASC"
    return f"{_sql(key.scalar)} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


def _sql(scalar: Scalar) -> str:
    return scalar.sql(dialect=SparkSQL)

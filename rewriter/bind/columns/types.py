"""The types of values, where names follow from them: fields of a struct, columns of a generator.

Those of tracked columns are known, and Spark tells those of expressions over them. Nothing is asked
unless a query needs it: nearly all of them say no more of a column than its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Attribute,
    BagDifference,
    CorrelatedScalar,
    Generate,
    Iteration,
    OuterValues,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    Scan,
    UnionAll,
    Windows,
    references,
    walk,
)
from rewriter.bind.catalog import Catalog, Type
from rewriter.dialect import emit
from rewriter.errors import NotUnderstoodError

_POSITION = Type.build("INT")


def type_of(scalar: Scalar, rows: Relation, catalog: Catalog) -> Type | None:
    """Return the type of a scalar over the attributes of a relation; None where it is not known."""
    if isinstance(scalar, exp.Column):
        return _column(scalar.name, rows, catalog)
    types: dict[str, Type] = {}
    for name in references(scalar):
        known = _column(name, rows, catalog)
        if known is None:
            return None
        types[name] = known
    try:
        return catalog.type_of(emit(_over_nulls(scalar, types), pretty=False))
    except NotUnderstoodError:
        return None


def _over_nulls(scalar: Scalar, columns: Mapping[str, Type]) -> exp.Select:
    """Return the query of a scalar over one row of NULLs of some types."""
    select = exp.Select(expressions=[exp.alias_(scalar.copy(), "found")])
    if not columns:
        return select
    nulls = [
        exp.alias_(exp.cast(exp.null(), type_), name, quoted=True)
        for name, type_ in columns.items()
    ]
    return select.from_(exp.alias_(exp.Subquery(this=exp.Select(expressions=nulls)), "columns"))


def fields_of(type_: Type | None) -> tuple[str, ...]:
    """Return the names of the fields of a struct; () of other types."""
    if type_ is None or type_.this != Type.Type.STRUCT:
        return ()
    return tuple(field.name for field in type_.expressions)


def element_of(type_: Type | None) -> Type | None:
    """Return the type of the elements of an array; None of other types."""
    return _inner(type_, 0) if type_ is not None and type_.this == Type.Type.ARRAY else None


def is_map(type_: Type | None) -> bool:
    """Tell whether a type is that of maps."""
    return type_ is not None and type_.this == Type.Type.MAP


def _column(name: str, rows: Relation, catalog: Catalog) -> Type | None:
    """Return the type of an attribute, which is made somewhere in or below a relation."""
    for relation in walk(rows):
        if isinstance(relation, Scan):
            for column, attribute in zip(relation.columns, relation.output, strict=True):
                if attribute.id == name:
                    return catalog.column_type(relation.relation, column)
            continue
        if isinstance(relation, Generate):
            if any(attribute.id == name for attribute in relation.made):
                return _generated(name, relation, catalog)
            continue
        for output, scalars, below in _computed(relation):
            for attribute, scalar in zip(output, scalars, strict=True):
                if attribute.id == name:
                    return type_of(scalar, below, catalog)
    return None


def _computed(relation: Relation) -> list[tuple[Sequence[Attribute], Sequence[Scalar], Relation]]:
    """Return the attributes that an operator makes, from which scalars over which rows.

    The names of fields are those of the first branch of a union, and of the left of a difference.
    """
    match relation:
        case Project() | OuterValues():
            return [(relation.output, relation.scalars, relation.input)]
        case Aggregate():
            keys = (relation.key_output, relation.keys, relation.input)
            return [keys, (relation.aggregate_output, relation.aggregates, relation.input)]
        case Windows():
            return [(relation.output, relation.calls, relation.input)]
        case Iteration():
            columns = [each.column() for each in relation.first.attributes]
            return [(relation.output, columns, relation.first)]
        case UnionAll():
            first = relation.branches[0]
            return [(relation.output, [each.column() for each in first.attributes], first)]
        case BagDifference():
            return [
                (
                    relation.output,
                    [each.column() for each in relation.left.attributes],
                    relation.left,
                )
            ]
        case ScalarSubquery():
            [value] = relation.query.attributes
            return [((relation.output,), [value.column()], relation.query)]
        case CorrelatedScalar():
            return [((relation.output,), [relation.value.column()], relation.query)]
    return []


def _generated(name: str, generate: Generate, catalog: Catalog) -> Type | None:
    if generate.position is not None and generate.position.id == name:
        return _POSITION
    type_ = type_of(generate.argument, generate.input, catalog)
    number = [attribute.id for attribute in generate.output].index(name)
    if is_map(type_):
        return _inner(type_, number)
    element = element_of(type_)
    return _inner(element, number) if generate.inline else element


def _inner(type_: Type | None, number: int) -> Type | None:
    """Return one of the types that a type is made of."""
    inner = [] if type_ is None else type_.expressions
    if number >= len(inner):
        return None
    inner_type: Type = inner[number].args["kind"] if fields_of(type_) else inner[number]
    return inner_type

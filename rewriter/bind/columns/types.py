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
    found: dict[str, Type] = {}
    for name in references(scalar):
        known = _column(name, rows, catalog)
        if known is None:
            return None
        found[name] = known
    try:
        return catalog.type_of(emit(_over_nulls(scalar, found), pretty=False))
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
    for one in walk(rows):
        if isinstance(one, Scan):
            for column, attribute in zip(one.columns, one.output, strict=True):
                if attribute.id == name:
                    return catalog.column_type(one.relation, column)
            continue
        if isinstance(one, Generate):
            if any(attribute.id == name for attribute in one.made):
                return _generated(name, one, catalog)
            continue
        for output, scalars, below in _computed(one):
            for attribute, scalar in zip(output, scalars, strict=True):
                if attribute.id == name:
                    return type_of(scalar, below, catalog)
    return None


def _computed(one: Relation) -> list[tuple[Sequence[Attribute], Sequence[Scalar], Relation]]:
    """Return the attributes that an operator makes, from which scalars over which rows.

    The names of fields are those of the first branch of a union, and of the left of a difference.
    """
    match one:
        case Project() | OuterValues():
            return [(one.output, one.scalars, one.input)]
        case Aggregate():
            keys = (one.key_output, one.keys, one.input)
            return [keys, (one.aggregate_output, one.aggregates, one.input)]
        case Windows():
            return [(one.output, one.calls, one.input)]
        case UnionAll():
            first = one.branches[0]
            return [(one.output, [each.column() for each in first.attributes], first)]
        case BagDifference():
            return [(one.output, [each.column() for each in one.left.attributes], one.left)]
        case ScalarSubquery():
            [value] = one.query.attributes
            return [((one.output,), [value.column()], one.query)]
        case CorrelatedScalar():
            return [((one.output,), [one.value.column()], one.query)]
    return []


def _generated(name: str, made: Generate, catalog: Catalog) -> Type | None:
    if made.position is not None and made.position.id == name:
        return _POSITION
    type_ = type_of(made.argument, made.input, catalog)
    place = [attribute.id for attribute in made.output].index(name)
    if is_map(type_):
        return _inner(type_, place)
    element = element_of(type_)
    return _inner(element, place) if made.inline else element


def _inner(type_: Type | None, place: int) -> Type | None:
    """Return one of the types that a type is made of."""
    inner = [] if type_ is None else type_.expressions
    if place >= len(inner):
        return None
    found: Type = inner[place].args["kind"] if fields_of(type_) else inner[place]
    return found

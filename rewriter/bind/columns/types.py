"""Types of values, and the metadata of columns that Spark passes on from operator to operator.

Types are needed where names follow from them: fields of a struct, columns of a generator. The types
of tracked columns are known; Spark is asked for the types of expressions over them, and only if a
query needs one.

Metadata marks a column of time windows: the last moments of the windows are its times, and a
grouping by a column of session windows merges them. It also marks CHAR(n): a column that is padded
if it is compared with one of another length, though not everywhere.
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
from rewriter.bind.catalog import SESSION, Catalog, Type
from rewriter.dialect import emit
from rewriter.errors import NotUnderstoodError

MARK = "mark"
"""Gives a scalar, or the elements of an array, a mark of their own."""
HOLDS_SESSIONS = "holds session windows"
"""The mark of columns with fields that are, or may be, session windows: Spark marks those too."""
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
    """Return True if a column, at its place in a scalar, brings session windows into the value."""
    mark, around = marks.get(column.name), column.parent
    if isinstance(around, exp.Alias | exp.Paren | exp.PropertyEQ):
        around = around.parent
    in_struct = isinstance(around, exp.Struct) or (
        isinstance(around, exp.Anonymous) and around.name.lower() in _STRUCTS
    )
    return mark == HOLDS_SESSIONS or (mark == SESSION and in_struct)


def unmarked(scalar: Scalar) -> Scalar:
    """Return a scalar of the same values, which is not a column and has no marks."""
    return exp.Anonymous(this="coalesce", expressions=[scalar])


_POSITION = Type.build("INT")


def type_of(scalar: Scalar, rows: Relation, catalog: Catalog) -> Type | None:
    """Return the type of a scalar over the attributes of a relation; None where it is not known."""
    if isinstance(scalar, exp.Column):
        return _column(scalar.name, rows, catalog)
    if isinstance(scalar, exp.Dot):
        struct = type_of(scalar.this, rows, catalog)
        if fields_of(struct):
            assert struct is not None
            named = (f.kind for f in struct.expressions if f.name.lower() == scalar.name.lower())
            return next(named, None)
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


def lacks_field(type_: Type | None, name: str) -> bool:
    """Return True if values of a type are known to have no field of a name: a.name is none."""
    if type_ is None or type_.this == Type.Type.STRUCT:
        names = [field.lower() for field in fields_of(type_)]
        return type_ is not None and name.lower() not in names
    return not type_.is_type(*Type.NESTED_TYPES, Type.Type.VARIANT)


def element_of(type_: Type | None) -> Type | None:
    """Return the type of the elements of an array; None of other types."""
    return _inner(type_, 0) if type_ is not None and type_.this == Type.Type.ARRAY else None


def is_map(type_: Type | None) -> bool:
    """Return True if a type is a map type."""
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

    The first branch of a union, and the left side of a difference, give the names of fields.
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

"""Generators: explode and its kin, in LATERAL VIEW, in LATERAL and in the select list.

Registered table functions are generators too, in LATERAL; only the rows that they read are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Attribute, Generate, Relation, Scalar
from rewriter.bind.columns.scope import Bound, Entry, Scope
from rewriter.bind.columns.types import element_of, fields_of, is_map, type_of
from rewriter.bind.context import BindContext
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.text import SourceText, unwrap
from rewriter.dialect import TableArgument
from rewriter.position import Span, span_of

_ADVICE = "Store the generated rows in a relation and track it."
_DEFAULT_NAMES = {"explode": ("col",), "posexplode": ("pos", "col")}
_NAMES_OF_MAPS = {"explode": ("key", "value"), "posexplode": ("pos", "key", "value")}
_OF_VARIANTS = dict.fromkeys(("variant_explode", "variant_explode_outer"), ("pos", "key", "value"))
"""The columns of Spark's own table functions that a query calls as if they were registered."""
_MAPS = frozenset({"map", "map_concat", "map_filter", "map_from_arrays", "map_from_entries"})
_KNOWN = (*_DEFAULT_NAMES, "inline", "stack", "json_tuple")


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a generator: explode, posexplode or inline of one argument, or json_tuple.

    ``width`` is the number of columns, where the call decides it.
    """

    name: str
    argument: exp.Expr
    outer: bool
    width: int | None = None


def is_generator(node: exp.Expr) -> bool:
    """Return True if a node calls a generator that has a rule."""
    return isinstance(node, exp.Anonymous) and _bare_name(node) in _KNOWN


def place_of_generator(query: exp.Query, sql: str) -> Span | None:
    """Return where a query calls a generator that has a rule; None where it does not."""
    generator = next((node for node in query.walk() if is_generator(node)), None)
    return None if generator is None else span_of(generator, sql)


def bind_laterals(bound: Bound, select: exp.Select, binder: ScalarBinder) -> Bound:
    """Bind the LATERAL VIEW clauses of a SELECT, each over the columns of those before it."""
    for lateral in select.args.get("laterals") or []:
        span = binder.context.source.keyword_before(lateral, "LATERAL")
        bound = bind_lateral(bound, lateral, binder, span)
    return bound


def bind_lateral(
    bound: Bound,
    lateral: exp.Lateral,
    binder: ScalarBinder,
    span: Span | None,
    *,
    outer: bool = False,
) -> Bound:
    """Bind LATERAL VIEW or LATERAL over a relation: its rows, once for each generated one.

    ``outer`` keeps those for which none is generated, as the OUTER of a view does.
    """
    source = binder.context.source
    alias = lateral.args.get("alias")
    names = [column.name for column in alias.columns] if alias is not None else []
    qualifier = (alias.name,) if alias is not None and alias.name else ()
    over = _over(binder, bound.scope)
    if not is_generator(lateral.this):
        if _calls_function(lateral, over):
            generated, entries = _called(bound, lateral.this, names, qualifier, over, span)
            return Bound(generated, Scope((*bound.scope.entries, *entries)))
        kind = "LATERAL VIEW" if lateral.args.get("view") else "LATERAL"
        raise source.unsupported(f"this {kind} is not supported", _ADVICE, span or lateral)
    call = _call(lateral.this, source, outer=outer or bool(lateral.args.get("outer")))
    generated, entries = _generate(bound, call, names, qualifier, over, span)
    return Bound(generated, Scope((*bound.scope.entries, *entries)))


def bind_selected(
    bound: Bound, node: exp.Expr, binder: ScalarBinder
) -> tuple[Bound, tuple[Entry, ...]]:
    """Bind a generator of the select list; its columns are not in scope of the other clauses."""
    source = binder.context.source
    names: list[str] = []
    written = node
    if isinstance(node, exp.Aliases):
        names, written = [name.name for name in node.expressions], node.this
    elif isinstance(node, exp.Alias):
        names, written = [node.alias], node.this
    call = _call(written, source, outer=False)
    generated, entries = _generate(bound, call, names, (), binder, source.span(written))
    return Bound(generated, bound.scope), entries


def struct_array(rows: Sequence[Sequence[Scalar]]) -> Scalar:
    """Return an array of structs with a field for each value of a row."""
    structs: list[exp.Expr] = []
    for row in rows:
        fields: list[exp.Expr] = []
        for number, value in enumerate(row):
            fields += [exp.Literal.string(f"col{number}"), value.copy()]
        structs.append(exp.Anonymous(this="named_struct", expressions=fields))
    return exp.Anonymous(this="array", expressions=structs)


def selected_generator(node: exp.Expr) -> bool:
    """Return True if an item of the select list is a generator."""
    inner = called_in(node)
    return isinstance(inner, exp.Expr) and is_generator(inner)


def called_in(item: exp.Expr) -> exp.Expr:
    """Return an item of the select list without its names."""
    called: exp.Expr = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
    return called


def makes_map(node: exp.Expr) -> bool:
    """Return True if a node calls a function that makes a map."""
    bare = unwrap(node)
    return isinstance(bare, exp.Anonymous) and str(bare.this).lower() in _MAPS


def _call(node: exp.Expr, source: SourceText, *, outer: bool) -> _Call:
    name = str(node.this).lower()
    if name == "stack":
        return _stack(node, source, outer=outer)
    if name == "json_tuple":
        return _Call(name, node, outer, len(node.expressions) - 1)
    if len(node.expressions) != 1:
        problem = f"{name} of {len(node.expressions)} arguments is not supported"
        raise source.unsupported(problem, "Give it one array or map.", node)
    argument = node.expressions[0]
    if isinstance(argument, exp.Kwarg):  # collection => ..., the one that there is
        argument = argument.expression
    return _Call(_bare_name(node), argument, outer or name.endswith("_outer"))


def _stack(node: exp.Expr, source: SourceText, *, outer: bool) -> _Call:
    """Return stack(n, values...) as inline: n rows, the last filled up with NULLs."""
    count, *values = node.expressions or [exp.null()]
    if not isinstance(count, exp.Literal) or not str(count.this).isdigit() or not values:
        problem = "stack of a computed number of rows is not supported"
        raise source.unsupported(problem, "Give the number of rows as a literal.", node)
    rows = int(count.this)
    width = -(-len(values) // rows)
    values += [exp.null() for _ in range(rows * width - len(values))]
    rows_of_values = [values[start : start + width] for start in range(0, len(values), width)]
    return _Call("inline", struct_array(rows_of_values), outer, width)


def _bare_name(node: exp.Expr) -> str:
    return str(node.this).lower().removesuffix("_outer")


def _generate(
    bound: Bound,
    call: _Call,
    names: Sequence[str],
    qualifier: tuple[str, ...],
    binder: ScalarBinder,
    span: Span | None,
) -> tuple[Generate, tuple[Entry, ...]]:
    source = binder.context.source
    relation, (argument,) = binder.subqueries.attach(bound.relation, [_argument(call, binder)])
    shown = tuple(names) or _default_names(call, argument, relation, binder.context)
    with_position = call.name == "posexplode"
    columns = shown[1:] if with_position else shown
    if not columns or (call.width is None and call.name != "inline" and len(columns) > 2):
        problem = f"{call.name} into {len(shown)} named columns is not supported"
        advice = f"Name its columns: LATERAL VIEW {call.name}(...) t AS a, b."
        raise source.unsupported(problem, advice, span)
    attribute_of = binder.context.names.attribute
    position = None if _makes_one(call) else attribute_of(shown[0] if with_position else "pos")
    output = tuple(attribute_of(name) for name in columns)
    generated = Generate(
        relation,
        argument,
        position,
        output,
        call.outer,
        call.name == "inline",
        counted=with_position,
        span=span,
    )
    visible = generated.made if with_position else output
    return generated, _entries(visible, shown, qualifier)


def _argument(call: _Call, binder: ScalarBinder) -> Scalar:
    if not _makes_one(call):
        return binder.bind(call.argument)
    arguments = [binder.bind(argument) for argument in call.argument.expressions]
    return exp.Anonymous(this=call.name, expressions=arguments)


def _makes_one(call: _Call) -> bool:
    """Return True if a generator makes exactly one row of each."""
    return call.name == "json_tuple"


def _default_names(
    call: _Call, argument: Scalar, rows: Relation, context: BindContext
) -> tuple[str, ...]:
    """Return the names of a generator's columns where the query gives none."""
    if call.width is not None:
        prefix = "c" if _makes_one(call) else "col"
        return tuple(f"{prefix}{number}" for number in range(call.width))
    if makes_map(call.argument):
        return _NAMES_OF_MAPS.get(call.name, ())
    type_ = type_of(argument, rows, context.environment.catalog)
    if call.name == "inline":
        return fields_of(element_of(type_))
    return (_NAMES_OF_MAPS if is_map(type_) else _DEFAULT_NAMES)[call.name]


def _calls_function(lateral: exp.Lateral, binder: ScalarBinder) -> bool:
    """Return True if LATERAL calls a registered function; Spark has seen that it makes tables."""
    call = lateral.this
    return (
        not lateral.args.get("view")
        and isinstance(call, exp.Anonymous)
        and str(call.this).lower() in binder.context.environment.functions
    )


def _called(
    bound: Bound,
    call: exp.Anonymous,
    names: Sequence[str],
    qualifier: tuple[str, ...],
    binder: ScalarBinder,
    span: Span | None,
) -> tuple[Generate, tuple[Entry, ...]]:
    """Bind a table function of the columns of a row: a black box over the row."""
    source = binder.context.source
    if call.find(TableArgument) is not None:
        problem = f"LATERAL with the table function {call.this} of a relation is not supported"
        raise source.unsupported(problem, "Leave out LATERAL: it sees no columns.", span)
    made = binder.context.environment.catalog.made_columns(str(call.this)) or ()
    names = names or made or _OF_VARIANTS.get(str(call.this).lower(), ())
    if not names:
        problem = f"the table function {call.this} without names for its columns is not supported"
        raise source.unsupported(problem, f"Name them: LATERAL {call.this}(...) t(a, b).", span)
    bound_to = [binder.bind(argument) for argument in call.expressions]
    relation, arguments = binder.subqueries.attach(bound.relation, bound_to)
    scalar = exp.Anonymous(this=call.this, expressions=list(arguments))
    attribute_of = binder.context.names.attribute
    output = tuple(attribute_of(name) for name in names)
    generated = Generate(relation, scalar, attribute_of("row"), output, function=True, span=span)
    return generated, _entries(output, names, qualifier)


def _entries(
    attributes: Sequence[Attribute], names: Sequence[str], qualifier: tuple[str, ...]
) -> tuple[Entry, ...]:
    """Return the names that the columns of a generator have in scope."""
    return tuple(
        Entry(attribute, name, qualifier, origin=attribute.id)
        for attribute, name in zip(attributes, names, strict=True)
    )


def _over(binder: ScalarBinder, scope: Scope) -> ScalarBinder:
    """Return the binder of an argument that may refer to these columns."""
    lookups = (scope.lookup(binder.context.source), *binder.lookups[1:])
    return ScalarBinder(
        binder.context, lookups, binder.subqueries, scope, binder.refusal, binder.outer
    )

"""Expressions of a plan as scalars of a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from rewriter.algebra import bracketed
from rewriter.dialect import parse
from rewriter.dialect.nodes import IsNotNull, UnsignedRightShift
from rewriter.errors import UnsupportedError
from rewriter.frames.catalyst.calls import (
    aggregate,
    first_value,
    function_name,
    listed,
    mode,
    over,
    percentile,
)
from rewriter.frames.catalyst.tree import PlanNode, tree
from rewriter.frames.writing.literals import cast, has_required_parts, literal, sql_type, text
from rewriter.frames.writing.selects import (
    ADVICE,
    call,
    case_when,
    identifier,
    negated,
    unsupported,
)

Columns = Mapping[int, exp.Expr]
"""The column of an attribute, by its expression id."""

_BINARY: dict[str, type[exp.Binary]] = {
    "Add": exp.Add,
    "And": exp.And,
    "BitwiseAnd": exp.BitwiseAnd,
    "BitwiseOr": exp.BitwiseOr,
    "BitwiseXor": exp.BitwiseXor,
    "DateAddInterval": exp.Add,
    "DateAddYMInterval": exp.Add,
    "DatetimeSub": exp.Sub,
    "Divide": exp.Div,
    "DivideDTInterval": exp.Div,
    "DivideYMInterval": exp.Div,
    "EqualNullSafe": exp.NullSafeEQ,
    "EqualTo": exp.EQ,
    "GreaterThan": exp.GT,
    "GreaterThanOrEqual": exp.GTE,
    "IntegralDivide": exp.IntDiv,
    "LessThan": exp.LT,
    "LessThanOrEqual": exp.LTE,
    "Multiply": exp.Mul,
    "MultiplyDTInterval": exp.Mul,
    "MultiplyYMInterval": exp.Mul,
    "Or": exp.Or,
    "Remainder": exp.Mod,
    "ShiftLeft": exp.BitwiseLeftShift,
    "ShiftRight": exp.BitwiseRightShift,
    "ShiftRightUnsigned": UnsignedRightShift,
    "Subtract": exp.Sub,
    "SubtractDates": exp.Sub,
    "SubtractTimestamps": exp.Sub,
    "TimeAdd": exp.Add,
    "TimestampAddInterval": exp.Add,
    "TimestampAddYMInterval": exp.Add,
}

Subquery = Callable[[PlanNode, "CatalystScalars"], exp.Expr]
"""Writes a subquery expression, whose plan may refer to the columns around it."""


@dataclass(frozen=True)
class CatalystScalars:
    """Writes expressions over the columns of a FROM clause.

    ``functions`` are the names under which user-defined functions are registered, by the name
    that the plan has for them.
    """

    columns: Columns
    functions: Mapping[str, str] = field(default_factory=dict)
    subquery: Subquery | None = None

    def write(self, node: PlanNode) -> exp.Expr:
        """Return the text's tree of an expression.

        Raises
        ------
        UnsupportedError
            For an expression without a rule.
        """
        rule = _RULES.get(node.kind)
        if rule is not None:
            return rule(self, node)
        if node.kind in _BINARY:
            left, right = (bracketed(self.write(operand)) for operand in arguments(node))
            return _BINARY[node.kind](this=left, expression=right)
        name = function_name(node)
        if name is None:
            raise without_text(node)
        return call(name, *map(self.write, arguments(node)))

    def attribute(self, node: PlanNode) -> exp.Expr:
        """Return what stands for an attribute."""
        scalar = self.columns.get(attribute_id(node))
        if scalar is None:
            name = node.fields.get("name", node.kind)
            raise unsupported(f"column {name} is not one of its input's")
        return scalar.copy()


def arguments(node: PlanNode) -> tuple[PlanNode, ...]:
    """Return what a function was called with; its ``replacement`` is made of these."""
    return node.nested if "replacement" in node.fields else node.children


def attribute_id(node: PlanNode) -> int:
    """Return the expression id of a named expression."""
    return int(node.fields["exprId"]["id"])


def _named(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write what a name is given to; a call of it has not the marks of a column."""
    scalar = scalars.write(node.child)
    return call("coalesce", scalar) if node.fields.get("unmarked") else scalar


_NOT_IN_SQL = {
    "CollectFrequentItems": (
        "freqItems() is not a function of SQL",
        "Count the values: groupBy(column).count().",
    ),
    "Product": (
        "product() is not a function of SQL",
        "Write it as aggregate(collect_list(x), 1D, (a, b) -> a * b).",
    ),
}
"""Functions of data frames alone, and what to write instead."""


def has_rule(kind: str) -> bool:
    """Return True if expressions of a class are written otherwise than as calls by name."""
    return kind in _RULES or kind in _BINARY


def without_text(node: PlanNode) -> UnsupportedError:
    """Return the refusal of an expression that no text is known of."""
    shown = node.fields.get("shown")
    if node.kind in _NOT_IN_SQL:
        return unsupported(*_NOT_IN_SQL[node.kind])
    if node.kind == "UpdateFields":
        name = "withField() or dropFields() in this place"
    else:
        name = f"the function {shown}" if isinstance(shown, str) else f"the expression {node.kind}"
    return unsupported(f"{name} has no rule")


def _cast(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    if has_required_parts(node.fields["dataType"]):
        # An argument that Spark casts itself: no text says that the parts are never NULL.
        return scalars.write(node.child)
    tried = "TRY" in (node.fields.get("evalMode"), node.fields.get("shown"))
    return cast(scalars.write(node.child), sql_type(node.fields["dataType"]), tried=tried)


def _not(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    return negated(scalars.write(node.child))


def _date_add(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write a date moved by days: an interval, or a number."""
    date, days = node.children
    back = days.kind == "UnaryMinus"
    interval = days.child if back else days
    if interval.kind != "ExtractANSIIntervalDays":
        return call("date_add", *map(scalars.write, node.children))
    left, right = (bracketed(scalars.write(operand)) for operand in (date, interval.child))
    return (exp.Sub if back else exp.Add)(this=left, expression=right)


def _is_null(scalars: CatalystScalars, value: PlanNode) -> exp.Is:
    return exp.Is(this=bracketed(scalars.write(value)), expression=exp.Null())


def _in(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    value, *choices = (scalars.write(child) for child in node.children)
    return exp.In(this=bracketed(value), expressions=choices)


def _case(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    return case_when([scalars.write(child) for child in node.children])


def _if(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    condition, true, false = (scalars.write(child) for child in node.children)
    return exp.If(this=condition, true=true, false=false)


def _between(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    value, low, high = (bracketed(scalars.write(argument)) for argument in arguments(node))
    return exp.Between(this=value, low=low, high=high)


def _like(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    left, right = (bracketed(scalars.write(argument)) for argument in arguments(node))
    kind = exp.ILike if node.kind == "ILike" else exp.Like
    like = kind(this=left, expression=right)
    escape = node.fields.get("shown") or node.fields.get("escapeChar")
    if escape in (None, "\\"):
        return like
    return exp.Escape(this=like, expression=exp.Literal.string(escape))


def _window_time(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write the last moment of a time window: its end less one."""
    ends = [part for part in node.walk() if part.kind == "GetStructField"]
    if node.child.kind != "Subtract" or len(ends) != 1:
        raise unsupported(f"the expression {node.kind} has no rule")
    return call("window_time", scalars.write(ends[0].children[0]))


def _struct_field(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    child, name = node.children[0], node.fields.get("name")
    if isinstance(name, list):
        name = name[0] if name else None
    name = name or node.fields.get("shown") or struct_field_name(node)
    value = scalars.write(child)
    if not isinstance(value, exp.Column | exp.Dot | exp.Paren):
        value = exp.Paren(this=value)
    return exp.Dot(this=value, expression=exp.to_identifier(name, quoted=True))


def struct_field_name(node: PlanNode) -> str:
    """Return the name of the field that is taken of an array of structs."""
    named_field = node.fields.get("field")
    if isinstance(named_field, dict) and "name" in named_field:
        return str(named_field["name"])
    raise unsupported("a field without a name is taken of a struct")


def _item(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    value, index = (scalars.write(child) for child in node.children)
    if not isinstance(value, exp.Column | exp.Dot | exp.Paren):
        value = exp.Paren(this=value)
    return exp.Bracket(this=value, expressions=[index])


def _trim(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    text, *what = (scalars.write(child) for child in node.children)
    if not what:
        return exp.Trim(this=text)
    return exp.Trim(this=text, expression=what[0], position="BOTH")


def _trim_side(name: str) -> Callable[[CatalystScalars, PlanNode], exp.Expr]:
    def write(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
        text, *what = (scalars.write(child) for child in node.children)
        return call(name, *what, text)

    return write


def _lambda(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    body, *variables = node.children
    names = {attribute_id(var): f"{var.fields['name']}_{attribute_id(var)}" for var in variables}
    inner = {**scalars.columns}
    for number, name in names.items():
        inner[number] = exp.Column(this=identifier(name))
    written = replace(scalars, columns=inner).write(body)
    return exp.Lambda(this=written, expressions=[identifier(name) for name in names.values()])


def _python_function(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    name = node.fields.get("registered")
    if not name:
        raise unsupported(
            f"the function {node.fields.get('name')} is not registered",
            "Register it with spark.udf.register, and call it by its name.",
        )
    return call(name, *map(scalars.write, node.children))


def _java_function(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    name = node.fields.get("udfName")
    if any(part.kind == "Rand" for part in node.children):
        raise unsupported(
            "sampleBy() has no rule",
            "Sample each stratum, where(column == value).sample(fraction), and unite them.",
        )
    if not name or node.fields.get("registered") is False:
        raise unsupported(
            "a function of the JVM has no name, as those of pyspark.ml",
            "Register it with spark.udf.registerJavaFunction, and call it by its name; or transform"
            " the answer, model.transform(q.df), or track what the transformer made.",
        )
    return call(str(name), *map(scalars.write, node.children))


def _subquery(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    if scalars.subquery is None:
        raise unsupported("a subquery stands where none has a rule", ADVICE)
    return scalars.subquery(node, scalars)


def _not_missing(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write what ``dropna`` keeps: values that are neither NULL nor NaN, as many as it wants."""
    wanted, values = node.fields["n"], node.children
    kept: list[exp.Expr] = []
    for value in values:
        present: exp.Expr = IsNotNull(this=_is_null(scalars, value))
        if value.fields.get("dataType") in ("double", "float"):
            number = exp.Not(this=call("isnan", scalars.write(value)))
            present = exp.Paren(this=exp.And(this=present, expression=number))
        kept.append(present)
    if wanted not in (1, len(values)):
        left = call("array_remove", call("array", *kept), exp.false())
        return exp.GTE(this=call("array_size", left), expression=exp.Literal.number(wanted))
    combine = exp.and_ if wanted == len(values) else exp.or_
    return combine(*kept, copy=False)


def _distinct_about(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write APPROX_COUNT_DISTINCT with its relative error, which is no argument in the plan."""
    error = exp.Literal.number(f"{node.fields['relativeSD']}D")
    return call("approx_count_distinct", scalars.write(node.children[0]), error)


def _raised(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write an error by its message, the one value among its parameters."""
    return call("raise_error", scalars.write(node.children[1].children[1]))


def _random(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write a draw by its seed; Spark has given one to a text that has none."""
    if node.fields.get("hideSeed"):
        raise unsupported(
            "a random number without a seed, in a text, has another one in each reading of it",
            "Call F.rand() or F.randn(), or write the seed.",
        )
    return call(function_name(node) or node.kind, *map(scalars.write, node.children))


def _seeded(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write a function of chance whose seed is none of its arguments."""
    name = function_name(node) or node.kind
    seed = exp.Literal.number(f"{node.fields['randomSeed']}L")
    return call(name, *map(scalars.write, node.children), seed)


def _literal(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    shown = node.fields.get("shown")
    if shown is None:
        return literal(node.fields.get("value"), node.fields["dataType"])
    (item,) = parse(f"SELECT {shown}").expressions
    written: exp.Expr = item.unalias()
    type_ = node.fields["dataType"]
    if isinstance(type_, dict) and not has_required_parts(type_):
        # No call has parts that may be NULL and are not.
        return exp.Cast(this=written, to=sql_type(type_))
    return written


def _changed_fields(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write the struct that ``withField`` and ``dropFields`` make, field by field."""
    shown = node.fields.get("shown")
    if shown is None:
        raise without_text(node)
    return scalars.write(tree(shown))


def _collated(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    value, collation = node.children
    name = exp.Literal.string(str(collation.fields["collationName"]))
    return call("collate", scalars.write(value), name)


def _converted(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write a function of JSON, CSV or XML, with the type and the options that it was given."""
    given = [scalars.write(argument) for argument in arguments(node)]
    if "schema" in node.fields:
        given.append(exp.Literal.string(text(node.fields["schema"])))
    options = node.fields.get("shown") or {}
    if isinstance(options, dict) and options:
        pairs = [exp.Literal.string(part) for pair in options.items() for part in pair]
        given.append(call("map", *pairs))
    return call(function_name(node) or node.kind, *given)


def _of_moment(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write a function whose name depends on its type of timestamps, and on whether it may fail."""
    name = {"MakeTimestamp": "make_timestamp", "ParseToTimestamp": "to_timestamp"}[node.kind]
    if node.fields["dataType"] == "timestamp_ntz":
        name += "_ntz"
    fails = node.fields.get("failOnError", True)
    return call(name if fails else f"try_{name}", *map(scalars.write, arguments(node)))


def _tried(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write a function that is NULL where it fails, under its name of these."""
    written = scalars.write(node.child)
    return call(f"try_{written.name}", *written.expressions)


def _in_units(name: str) -> Callable[[CatalystScalars, PlanNode], exp.Expr]:
    def write(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
        return call(name, exp.var(node.fields["unit"]), *map(scalars.write, node.children))

    return write


def _variant_part(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    name = "variant_get" if node.fields.get("failOnError", True) else "try_variant_get"
    kind = exp.Literal.string(text(node.fields["targetType"]))
    return call(name, *map(scalars.write, node.children), kind)


_RULES: dict[str, Callable[[CatalystScalars, PlanNode], exp.Expr]] = {
    "AggregateExpression": aggregate,
    "Alias": _named,
    "AnyValue": first_value,
    "AtLeastNNonNulls": _not_missing,
    "AttributeReference": CatalystScalars.attribute,
    "Between": _between,
    "BitwiseNot": lambda scalars, node: exp.BitwiseNot(this=bracketed(scalars.write(node.child))),
    "CaseWhen": _case,
    "Cast": _cast,
    "Collate": _collated,
    "CsvToStructs": _converted,
    "DateAdd": _date_add,
    "Exists": _subquery,
    "First": first_value,
    "GetArrayItem": _item,
    "GetArrayStructFields": _struct_field,
    "GetMapValue": _item,
    "GetStructField": _struct_field,
    "HyperLogLogPlusPlus": _distinct_about,
    "If": _if,
    "ILike": _like,
    "In": _in,
    "InSubquery": _subquery,
    "IsNotNull": lambda scalars, node: IsNotNull(this=_is_null(scalars, node.child)),
    "IsNull": lambda scalars, node: _is_null(scalars, node.child),
    "JsonToStructs": _converted,
    "KnownNotNull": lambda scalars, node: scalars.write(node.child),
    "LambdaFunction": _lambda,
    "Last": first_value,
    "Like": _like,
    "ListAgg": listed,
    "Literal": _literal,
    "MakeTimestamp": _of_moment,
    "Mode": mode,
    "NamedArgumentExpression": lambda scalars, node: exp.Kwarg(
        this=exp.var(node.fields["key"]), expression=scalars.write(node.child)
    ),
    "NamedLambdaVariable": CatalystScalars.attribute,
    "Not": _not,
    "OuterReference": lambda scalars, node: scalars.write(node.nested[0]),
    "ParseToTimestamp": _of_moment,
    "PercentileCont": percentile,
    "PercentileDisc": percentile,
    "PythonUDAF": _python_function,
    "PreciseTimestampConversion": _window_time,
    "PythonUDF": _python_function,
    "RaiseError": _raised,
    "Rand": _random,
    "Randn": _random,
    "ScalaUDF": _java_function,
    "ScalarSubquery": _subquery,
    "SchemaOfCsv": _converted,
    "SchemaOfJson": _converted,
    "SchemaOfXml": _converted,
    "Shuffle": _seeded,
    "StringTrim": _trim,
    "StringTrimLeft": _trim_side("ltrim"),
    "StringTrimRight": _trim_side("rtrim"),
    "StructsToCsv": _converted,
    "StructsToJson": _converted,
    "StructsToXml": _converted,
    "TimestampAdd": _in_units("timestampadd"),
    "TimestampDiff": _in_units("timestampdiff"),
    "TryEval": _tried,
    "UnaryMinus": lambda scalars, node: exp.Neg(this=bracketed(scalars.write(node.child))),
    "UpdateFields": _changed_fields,
    "Uuid": _seeded,
    "VariantGet": _variant_part,
    "WindowExpression": lambda scalars, node: over(scalars.write, node),
    "XmlToStructs": _converted,
}
"""Class of an expression: how it is written, where not as an operator or a call."""

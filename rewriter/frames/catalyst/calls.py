"""Calls in Catalyst plans: functions, aggregates, and the parts of window functions.

Names of Spark's functions are found by the classes of their expressions (4.0 to 4.3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.dialect import AGGREGATES
from rewriter.frames.catalyst.tree import PlanNode
from rewriter.frames.writing.selects import call, unsupported
from rewriter.scalars.aggregates import called
from rewriter.scalars.functions import DRAWN, OF_FILES, SCALAR_FUNCTIONS, WINDOW_FUNCTIONS

if TYPE_CHECKING:
    from rewriter.frames.catalyst.scalars import CatalystScalars


_IRREGULAR = """
ApproximatePercentile percentile_approx ArrayAggregate aggregate ArrayExists exists
ArrayFilter filter ArrayForAll forall ArrayTransform transform Average avg Base32 to_base32
BitAndAgg bit_and BitOrAgg bit_or BitXorAgg bit_xor BitwiseCount bit_count BitwiseGet bit_get
CallMethodViaReflection reflect CountMinSketchAgg count_min_sketch CovPopulation covar_pop
CovSample covar_samp CreateArray array CreateMap map CreateNamedStruct named_struct
CsvToStructs from_csv DateFormatClass date_format DayOfMonth day
EulerNumber e Extract date_part HyperLogLogPlusPlus approx_count_distinct
JaroWinkler jaro_winkler_similarity JsonToStructs from_json LengthOfJsonArray json_array_length
Log ln Logarithm log MakeTimestampFromDateTime make_timestamp MicrosToTimestamp timestamp_micros
MillisToTimestamp timestamp_millis Murmur3Hash hash NanosToTimestamp timestamp_nanos
ParseToDate to_date ParseToTimestamp to_timestamp RoundCeil ceil RoundFloor floor
SecondsToTimestamp timestamp_seconds SparkVersion version StringInstr instr
StringInstrWithOccurrence instr StringLPad lpad StringLocate locate StringRPad rpad
StringRepeat repeat StringReplace replace StringSpace space StringSplit split
StringToMap str_to_map StringTranslate translate StringTrimBoth btrim StringTrimLeft ltrim
StringTrimRight rtrim StructsToCsv to_csv StructsToJson to_json StructsToXml to_xml
ToCharacter to_char ToDegrees degrees ToRadians radians TruncDate trunc TruncTimestamp date_trunc
TryMakeTimestampFromDateTime try_make_timestamp UnBase32 from_base32 UnaryPositive positive
VariancePop var_pop VarianceSamp variance XPathList xpath XmlToStructs from_xml
"""

_WORDS = _IRREGULAR.split()
_KNOWN = SCALAR_FUNCTIONS | AGGREGATES | WINDOW_FUNCTIONS | DRAWN | OF_FILES
_BY_CLASS = {
    **{name.replace("_", ""): name for name in sorted(_KNOWN, reverse=True)},
    **dict(zip((word.lower() for word in _WORDS[::2]), _WORDS[1::2], strict=True)),
}


def has_own_class(kind: str) -> bool:
    """Return True if a class is known as the class of one function."""
    return kind.lower() in _BY_CLASS


def draws(node: PlanNode) -> bool:
    """Return True if chance decides the value of an expression."""
    return any(function_name(part) in DRAWN for part in node.walk())


def function_name(node: PlanNode) -> str | None:
    """Return the function that an expression calls, by its name or its class; None if unknown."""
    shown = node.fields.get("shown")
    if isinstance(shown, str) and shown in _KNOWN:
        return shown
    name = _BY_CLASS.get(node.kind.lower())
    return name if name in _KNOWN else None


Write = Callable[[PlanNode], exp.Expr]

_FRAMED_BY_ITSELF = {
    "CumeDist",
    "DenseRank",
    "Lag",
    "Lead",
    "NTile",
    "PercentRank",
    "Rank",
    "RowNumber",
}
"""Functions whose frame is part of their meaning."""
_OVER_VALUES = {"Lag", "Lead", "NthValue"}
"""Functions whose window has a field that makes them ignore NULLs."""
_SIDES = {
    "UnboundedPreceding": ("UNBOUNDED", "PRECEDING"),
    "UnboundedFollowing": ("UNBOUNDED", "FOLLOWING"),
    "CurrentRow": ("CURRENT ROW", None),
}


def ordered(write: Write, node: PlanNode) -> exp.Ordered:
    """Return a sort order, with the place of its NULLs."""
    return exp.Ordered(
        this=write(node.children[0]),
        desc=node.option("direction") == "Descending" or None,
        nulls_first=node.option("nullOrdering") == "NullsFirst",
    )


def over(write: Write, node: PlanNode) -> exp.Window:
    """Return a function with its window."""
    function, specification = node.children
    keys = specification.many("orderSpec")
    name = function.one("aggregateFunction") or function
    frame = specification.one("frameSpecification")
    called = write(function)
    if name.kind in _OVER_VALUES and name.fields.get("ignoreNulls"):
        called = exp.IgnoreNulls(this=called)
    window = exp.Window(
        this=called,
        partition_by=[write(key) for key in specification.many("partitionSpec")],
        over="OVER",
    )
    if keys:
        window.set("order", exp.Order(expressions=[ordered(write, key) for key in keys]))
    if frame is not None and name.kind not in _FRAMED_BY_ITSELF and not _usual(frame, bool(keys)):
        window.set("spec", _frame(write, frame))
    return window


def _usual(frame: PlanNode, ordered: bool) -> bool:
    """Return True if a frame is the default frame of a window."""
    ends = tuple(child.kind for child in frame.children)
    if not ordered:
        return ends == ("UnboundedPreceding", "UnboundedFollowing")
    return (
        ends == ("UnboundedPreceding", "CurrentRow") and frame.option("frameType") == "RangeFrame"
    )


def _frame(write: Write, frame: PlanNode) -> exp.WindowSpec:
    if frame.kind != "SpecifiedWindowFrame":
        raise unsupported(f"the window frame {frame.kind} has no rule")
    lower, upper = frame.children
    start, start_side = _boundary(write, lower)
    end, end_side = _boundary(write, upper)
    return exp.WindowSpec(
        kind="ROWS" if frame.option("frameType") == "RowFrame" else "RANGE",
        start=start,
        start_side=start_side,
        end=end,
        end_side=end_side,
    )


def _boundary(write: Write, node: PlanNode) -> tuple[exp.Expr | str, str | None]:
    if node.kind in _SIDES:
        return _SIDES[node.kind]
    value = write(node)
    if isinstance(value, exp.Neg):
        return value.this, "PRECEDING"
    return value, "FOLLOWING"


def aggregate(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write an aggregate with its DISTINCT and FILTER."""
    aggregate = scalars.write(node.required("aggregateFunction"))
    if node.fields.get("isDistinct"):
        bare = called(aggregate)
        bare.set("expressions", [exp.Distinct(expressions=bare.expressions)])
    condition = node.one("filter")
    if condition is None:
        return aggregate
    return exp.Filter(this=aggregate, expression=exp.Where(this=scalars.write(condition)))


def first_value(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write FIRST or LAST, which may pass over NULLs."""
    name = function_name(node) or node.kind
    ignored = [exp.Boolean(this=True)] if node.fields.get("ignoreNulls") else []
    return call(name, scalars.write(node.children[0]), *ignored)


def listed(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write LISTAGG with its delimiter and order."""
    value, delimiter, *keys = node.children
    given = [] if delimiter.fields.get("value") is None else [scalars.write(delimiter)]
    listed = call("listagg", scalars.write(value), *given)
    return _within(listed, [ordered(scalars.write, key) for key in keys]) if keys else listed


def mode(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write MODE, of equally frequent values the least or the greatest."""
    value, least = scalars.write(node.children[0]), node.fields.get("reverseOpt")
    if least is None:
        return call("mode", value)
    return _within(call("mode"), [exp.Ordered(this=value, desc=not least, nulls_first=bool(least))])


def percentile(scalars: CatalystScalars, node: PlanNode) -> exp.Expr:
    """Write PERCENTILE_CONT or PERCENTILE_DISC."""
    value, share = (scalars.write(child) for child in node.children[:2])
    name = function_name(node) or node.kind
    descending = bool(node.fields.get("reverse"))
    key = exp.Ordered(this=value, desc=descending, nulls_first=not descending)
    return _within(call(name, share), [key])


def _within(aggregate: exp.Expr, keys: list[exp.Ordered]) -> exp.Expr:
    return exp.WithinGroup(this=aggregate, expression=exp.Order(expressions=keys))

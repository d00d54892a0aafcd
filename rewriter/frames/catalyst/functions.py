"""Names of Spark's functions by the classes of their expressions (4.0 to 4.3)."""

from __future__ import annotations

from rewriter.dialect import AGGREGATES
from rewriter.frames.catalyst.tree import Node
from rewriter.scalars.row_functions import SCALAR_FUNCTIONS
from rewriter.scalars.special_functions import DRAWN, OF_FILES, WINDOW_FUNCTIONS

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
    """Tell whether a class is known as that of one function."""
    return kind.lower() in _BY_CLASS


def draws(node: Node) -> bool:
    """Tell whether chance decides what an expression is."""
    return any(function_name(part) in DRAWN for part in node.walk())


def function_name(node: Node) -> str | None:
    """Return the function that an expression calls, as Spark or its class says; None if unknown."""
    shown = node.fields.get("shown")
    if isinstance(shown, str) and shown in _KNOWN:
        return shown
    name = _BY_CLASS.get(node.kind.lower())
    return name if name in _KNOWN else None

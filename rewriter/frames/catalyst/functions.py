"""Names of Spark's functions by the classes of their expressions (4.0 to 4.3)."""

from __future__ import annotations

import re

from rewriter.dialect import AGGREGATES
from rewriter.frames.catalyst.tree import Node
from rewriter.scalars.row_functions import SCALAR_FUNCTIONS
from rewriter.scalars.special_functions import DRAWN, WINDOW_FUNCTIONS

_IRREGULAR = """
ApproximatePercentile percentile_approx ArrayAggregate aggregate ArrayExists exists
ArrayFilter filter ArrayForAll forall ArrayTransform transform Average avg BRound bround
Base32 to_base32 BitAndAgg bit_and BitOrAgg bit_or BitXorAgg bit_xor BitwiseCount bit_count
BitwiseGet bit_get CovPopulation covar_pop CovSample covar_samp CreateArray array CreateMap map
CreateNamedStruct named_struct CurrentTimeZone current_timezone DateFormatClass date_format
DayName dayname DayOfMonth day DayOfWeek dayofweek DayOfYear dayofyear EulerNumber e
FromUTCTimestamp from_utc_timestamp FromUnixTime from_unixtime
HyperLogLogPlusPlus approx_count_distinct InitCap initcap IsNaN isnan
JaroWinkler jaro_winkler_similarity LengthOfJsonArray json_array_length ListAgg listagg Log ln
Logarithm log Luhncheck luhn_check MakeDTInterval make_dt_interval MakeYMInterval make_ym_interval
MicrosToTimestamp timestamp_micros MillisToTimestamp timestamp_millis MonthName monthname
Murmur3Hash hash NTile ntile NaNvl nanvl NanosToTimestamp timestamp_nanos NullIf nullif
NullIfZero nullifzero RandStr randstr ParseToDate to_date ParseToTimestamp to_timestamp RegExpCount
regexp_count RegExpExtract regexp_extract RegExpExtractAll regexp_extract_all RegExpInStr
regexp_instr RegExpReplace regexp_replace RegExpSubStr regexp_substr RegrAvgX regr_avgx RegrAvgY
regr_avgy
RoundCeil ceil RoundFloor floor SecondsToTimestamp timestamp_seconds ShiftLeft shiftleft
ShiftRight shiftright ShiftRightUnsigned shiftrightunsigned SoundEx soundex StringInstr instr
StringLPad lpad StringLocate locate StringRPad rpad StringRepeat repeat StringReplace replace
StringSpace space StringSplit split StringToMap str_to_map StringTranslate translate
SparkPartitionID spark_partition_id StringTrimLeft ltrim StringTrimRight rtrim ToDegrees degrees
ToRadians radians ToUTCTimestamp to_utc_timestamp TruncDate trunc TruncTimestamp date_trunc
TypeOf typeof
UnBase32 from_base32 UnBase64 unbase64 UnaryPositive positive VariancePop var_pop
VarianceSamp variance WeekDay weekday WeekOfYear weekofyear XPathList xpath XxHash64 xxhash64
ZeroIfNull zeroifnull
"""

_WORDS = _IRREGULAR.split()
_BY_CLASS = dict(zip(_WORDS[::2], _WORDS[1::2], strict=True))
_KNOWN = SCALAR_FUNCTIONS | AGGREGATES | WINDOW_FUNCTIONS | DRAWN
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WITH_OPTIONS = {"SchemaOfJson", "SchemaOfCsv", "SchemaOfXml"}
"""Classes with parameters that their arguments do not show."""


def draws(node: Node) -> bool:
    """Tell whether chance decides what an expression is."""
    return any(function_name(part.kind) in DRAWN for part in node.walk())


def function_name(kind: str) -> str | None:
    """Return the function that an expression's class calls; None if none is known."""
    name = _BY_CLASS.get(kind) or _HUMP.sub("_", kind).lower()
    return name if name in _KNOWN and kind not in _WITH_OPTIONS else None

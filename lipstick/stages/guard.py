"""The guard before rewriting: a text is understood when Spark reads it as its tree is written.

The tree is emitted with the grouping of every operator in parentheses, and Spark analyses both
texts. They are one query when three things agree:

- the *analysed plans*. The optimised plans that follow from them show less and differ more: over
  inline tables and empty relations the optimiser leaves a ``LocalRelation`` without expressions,
  and replaces ``now()`` by the time of each call. Analysis is where names, functions and types
  are resolved, and optimisation is a function of its result;
- the relations of the *parsed plans*: an analysed plan does not show the path of a file;
- the *literals* of the texts with their types: a plan prints ``1``, ``1L`` and ``'1'`` alike.

Over Spark Connect EXPLAIN gives the plans; a classic session is asked for them, and
optimises nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.errors import PySparkException

from lipstick.dataframes.jvm import active, analysed
from lipstick.errors import first_line
from lipstick.stages.reading import is_too_deep, too_deep
from lipstick.stages.settings import temporary_settings
from lipstick.stages.spark_errors import EXPLAIN
from rewriter import dialect
from rewriter.errors import NotUnderstoodError, UnsupportedError
from rewriter.position import Span, span_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Arguments: TypeAlias = Mapping[str, Any] | Sequence[Any] | None
"""Values of a query's parameters: by name for ``:name``, in order for ``?``."""

_EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
_EXPLAINED = "== Parsed Logical Plan =="

_SETTINGS = {
    # Plans in full: cut lists and strings would hide differences.
    "spark.sql.debug.maxToStringFields": "2147483000",
    "spark.sql.maxMetadataStringLength": "2147483000",
    # Inline tables keep their rows in the analysed plan.
    "spark.sql.legacy.eagerEvalInlineTable": "false",
    # EXPLAIN also optimises: it must not evaluate, or an error in the data would end it.
    _EXCLUDED_RULES: (
        "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation,"
        "org.apache.spark.sql.catalyst.optimizer.ConstantFolding"
    ),
}

_SECTION = re.compile(r"^== (?:Parsed|Analyzed|Optimized) Logical Plan ==\n", re.MULTILINE)
_RELATION = re.compile(r"'?UnresolvedRelation (\[.*?\])(?=[,\n])")
_EXPRESSION_ID = re.compile(r"#(\d+)")
_CTE = re.compile(r"(?:CTERelationDef|CTERelationRef|UnionLoop|UnionLoopRef) (\d+)")
_QUERY = re.compile(r"[\s(]*(?:select|with|values|from)\b", re.IGNORECASE)
_SEED = re.compile(r"\b((?:rand|randn|randstr|shuffle|uniform|uuid)\(.*?)-?\d{10,}")
_SAMPLE = re.compile(r"(\bSample [^,\n]+, [^,\n]+, (?:true|false), )-?\d+")
_WORD = re.compile(r"[A-Za-z_]\w*|\d+")
_PLAIN = re.compile(r"(?:[\w\s*,.]|`\w+`)+")
"""Texts in which only blanks separate words, so that the number of blanks does not matter."""

_NOTHING = "(nothing)"

_ADVICE = (
    "The emitted text has another meaning to Spark than this one. Reword the part that differs, "
    "or run the query with spark.sql."
)


@dataclass(frozen=True, slots=True)
class Understood:
    """A query that is understood: its tree, and the schema that Spark gives it."""

    expression: dialect.Query
    schema: StructType


@dataclass(frozen=True, slots=True)
class _Plans:
    analysed: str
    relations: tuple[str, ...]


def check_deterministic(
    spark: SparkSession, sql: str, args: Arguments, functions: Sequence[str], *, drawn: bool
) -> None:
    """Refuse registered functions that are declared nondeterministic.

    A Spark Connect client does not know: there it is the user's word. A classic session tells it of
    the whole query; where that has ``drawn`` values, ``rand()`` and its kin, of each function that
    is not Hive's.

    Raises
    ------
    UnsupportedError
        When Spark's plan of a classic session is not deterministic.
    """
    frame = getattr(_sql(spark, sql, args), "_jdf", None)
    plan = None if frame is None else frame.queryExecution().analyzed()
    if plan is not None and not plan.deterministic() and not (drawn and _has_steady(plan)):
        raise UnsupportedError(
            f"a registered function ({', '.join(functions)}) is not deterministic",
            "Store its values in a column of a tracked relation.",
            sql,
            _find(sql, list(functions)),
        )


def _has_steady(plan: Any) -> bool:
    """Return True if all functions of a plan that are not built in say they are deterministic."""
    text = plan.toJSON()
    signs = ('"udfDeterministic":false', '"isDeterministic":false', "org.apache.spark.sql.hive")
    return not any(sign in text for sign in signs)


def understand(spark: SparkSession, sql: str, args: Arguments = None) -> Understood:
    """Parse a query and check that it is understood; Spark's own errors come first.

    Nothing runs: Spark is asked for its analysis of two texts.

    Raises
    ------
    ParseException, AnalysisException
        Spark does not accept the text.
    UnsupportedError
        The text is not one query.
    NotUnderstoodError
        Spark accepts the text, and reads it otherwise than we do or than we can.
    """
    try:
        expression = dialect.parse(sql)
    except NotUnderstoodError:
        try:
            _explain(spark, sql, args)
        except PySparkException:
            if not _QUERY.match(sql):
                if parse_by_spark(spark, sql):  # which cannot explain what only Delta parses
                    raise dialect.not_a_query(sql, dialect.tokenize(sql)) from None
                raise
            _sql(spark, sql, args)  # fails too, with the places of the user's text
        raise
    return Understood(expression, check_understood(spark, sql, expression, args))


def check_understood(
    spark: SparkSession, sql: str, expression: dialect.Query, args: Arguments = None
) -> StructType:
    """Refuse a query whose emitted text Spark reads otherwise than the user's; return its schema.

    The text must be a query: a command would be executed.

    Raises
    ------
    ParseException, AnalysisException
        Spark does not accept the user's text. The positions are in that text.
    NotUnderstoodError
        The texts differ in meaning; the message has the first line of the plans that differs.
    """
    emitted = dialect.emit(expression, grouped=True)
    with temporary_settings(spark, _SETTINGS):
        frame = _sql(spark, sql, args)
        schema = frame.schema
        if sql.split() == emitted.split() and _PLAIN.fullmatch(sql):
            return schema  # Spark reads one text
        written_plans = _plans(spark, frame, sql, args)
        try:
            emitted_plans = _plans(spark, _sql(spark, emitted, args), emitted, args)
        except PySparkException as error:
            if is_too_deep(error):
                raise too_deep(sql) from error
            reason = first_line(error)
            raise _refusal(sql, "a query", f"an error: {reason}", None) from error
    if written_plans != emitted_plans:
        raise _difference(sql, written_plans, emitted_plans)
    written, read = dialect.literals(sql), dialect.literals(emitted)
    if written != read:
        theirs_only = [" ".join(part).strip() for part in (written - read)]
        ours_only = [" ".join(part).strip() for part in (read - written)]
        span = _find(sql, [part[1] for part in (written - read)])
        raise _refusal(
            sql, ", ".join(theirs_only) or _NOTHING, ", ".join(ours_only) or _NOTHING, span
        )
    return schema


def volatile_literals(spark: SparkSession, expression: dialect.Query) -> dialect.Query:
    """Return a copy in which ``now()`` and its kin are literals of their value at this call.

    ``now``, ``current_timestamp``, ``localtimestamp``, ``current_date``, ``curdate``,
    ``current_time``, ``localtime`` and ``unix_timestamp`` without arguments, all read by one
    query, in the session's time zone. So every job of a query sees one moment.
    """
    calls = dialect.volatile_calls(expression)
    if not calls:
        return expression
    row = spark.sql(f"SELECT {', '.join(calls.values())}").head()
    values = dict(zip(calls, row or (), strict=True))
    return dialect.with_literals(expression, values)


def constant_bounds(spark: SparkSession, expression: dialect.Query) -> dialect.Query:
    """Return a copy in which LIMIT and OFFSET of constant expressions are the numbers they are."""
    written = dialect.computed_bounds(expression)
    if not written:
        return expression
    row = spark.sql(f"SELECT {', '.join(f'CAST({bound} AS INT)' for bound in written)}").head()
    return dialect.with_bounds(expression, [int(value) for value in row or ()])


def parse_by_spark(spark: SparkSession, sql: str) -> bool:
    """Have Spark parse a text that may be a command, which running it would execute.

    Returns
    -------
    False: Spark was not asked.

    Raises
    ------
    ParseException
        With the places of the user's text; a Connect client cannot parse.
    """
    session = getattr(spark, "_jsparkSession", None)
    if session is not None:
        session.sessionState().sqlParser().parsePlan(sql)
    return session is not None


def _explanation(spark: SparkSession, sql: str, args: Arguments) -> str:
    row = _sql(spark, f"{EXPLAIN}{sql}", args).head()
    return str(row[0]) if row else ""


def _explain(spark: SparkSession, sql: str, args: Arguments) -> str:
    text = _explanation(spark, sql, args)
    if not text.startswith(_EXPLAINED):
        # Some plans need the rules that were excluded. An error in the data may then end EXPLAIN.
        spark.conf.set(_EXCLUDED_RULES, "")
        text = _explanation(spark, sql, args)
    if not text.startswith(_EXPLAINED):
        problem = f"Spark cannot plan this query: {text.strip()}"
        raise NotUnderstoodError(problem, "Change the query so that EXPLAIN shows its plan.", sql)
    return text


def _sql(spark: SparkSession, sql: str, args: Arguments) -> DataFrame:
    if not args:
        return spark.sql(sql)
    return spark.sql(sql, dict(args) if isinstance(args, Mapping) else list(args))


def _plans(spark: SparkSession, frame: DataFrame, sql: str, args: Arguments) -> _Plans:
    """Return the plans of a text that are compared, and what its frame is.

    Ids of expressions and CTEs are numbered anew in order of appearance: erasing them would make
    different columns of one name equal, and both texts print their plans in the same order.
    Seeds that Spark draws for ``rand()`` and samples are erased; the user's are literals.
    """
    columns = [f"{field.name}: {field.dataType.simpleString()}" for field in frame.schema]
    if hasattr(frame, "_jdf"):
        with active(spark):
            parsed = frame._jdf.queryExecution().logical().toString()
            plan = analysed(frame).toString()
    else:
        _, parsed, plan, *_ = _SECTION.split(_explain(spark, sql, args))
    plan = _SAMPLE.sub(r"\1seed", _SEED.sub(r"\1seed", plan))
    plan = _renumber(_CTE, _renumber(_EXPRESSION_ID, plan))
    shown = "\n".join([", ".join(columns), plan.rstrip()])
    return _Plans(shown, tuple(_RELATION.findall(parsed)))


def _renumber(pattern: re.Pattern[str], text: str) -> str:
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        digits = match[match.re.groups]
        return match[0][: -len(digits)] + str(numbers.setdefault(digits, len(numbers)))

    return pattern.sub(number, text)


def _difference(sql: str, written_plans: _Plans, emitted_plans: _Plans) -> NotUnderstoodError:
    left = [*written_plans.relations, *written_plans.analysed.splitlines()]
    right = [*emitted_plans.relations, *emitted_plans.analysed.splitlines()]
    size = max(len(left), len(right))
    left, right = (lines + [_NOTHING] * (size - len(lines)) for lines in (left, right))
    written_line, other = next(pair for pair in zip(left, right, strict=True) if pair[0] != pair[1])
    known = set(_WORD.findall(other))
    span = _find(sql, [word for word in _WORD.findall(written_line) if word not in known])
    return _refusal(sql, *_excerpts(written_line, other), span)


def _excerpts(line: str, other: str) -> tuple[str, str]:
    """Cut two lines to where they begin to differ."""
    same = next(
        (i for i, pair in enumerate(zip(line, other, strict=False)) if pair[0] != pair[1]),
        min(len(line), len(other)),
    )
    shown = slice(max(0, same - 40), max(0, same - 40) + 160)
    return line[shown].strip(), other[shown].strip()


def _find(sql: str, words: list[str]) -> Span | None:
    """Return the place of the first of the words that stands in the text."""
    for word in words:
        match = re.search(re.escape(word), sql, re.IGNORECASE) if word else None
        if match:
            return span_at(sql, match.start(), match.end())
    return None


def _refusal(sql: str, wanted: str, given: str, span: Span | None) -> NotUnderstoodError:
    problem = f"This query is not understood: Spark reads\n  {wanted}\nand we read\n  {given}\n"
    return NotUnderstoodError(problem + "The difference stands", _ADVICE, sql, span)

"""Settings of a session: the ones that change how Spark reads a text, and temporary ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from pyspark.errors import ParseException, PySparkException
from pyspark.sql import SparkSession

from lipstick.errors import QueryError, UnsupportedError
from rewriter import ViewText

COLLATION: Final = "collation"
"""Among the settings of a view: the collation that texts have in it, if they are not plain."""
PLAIN_COLLATION: Final = "UTF8_BINARY"

_READ_AS = {
    "spark.sql.groupByOrdinal": ("true", "integers in GROUP BY are places in the select list"),
    "spark.sql.orderByOrdinal": ("true", "integers in ORDER BY are places in the select list"),
    "spark.sql.crossJoin.enabled": ("true", "relations may be joined without a condition"),
    "spark.sql.optimizer.decorrelateExistsSubqueryLegacyIncorrectCountHandling.enabled": (
        "false",
        "EXISTS of an aggregate without GROUP BY is true",
    ),
    "spark.sql.optimizer.decorrelateSubqueryLegacyIncorrectCountHandling.enabled": (
        "false",
        "a subquery with GROUP BY is NULL where no row matches",
    ),
    "spark.sql.legacy.scalarSubqueryAllowGroupByNonEqualityCorrelatedPredicate": (
        "false",
        "a subquery of several rows is an error",
    ),
    "spark.sql.legacy.ctePrecedencePolicy": ("corrected", "an inner WITH hides names of an outer"),
    "spark.sql.legacy.integerGroupingId": ("false", "grouping_id() is a BIGINT"),
    "spark.sql.legacy.parser.havingWithoutGroupByAsWhere": ("false", "HAVING makes a grouping"),
}
"""By setting the value that texts are read by, and what it means."""

_PARSED_BY = {
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.ansi.relationPrecedence": "false",
    "spark.sql.groupByAliases": "true",
    "spark.sql.lateralColumnAlias.enableImplicitResolution": "true",
    "spark.sql.legacy.allowStarWithSingleTableIdentifierInCount": "false",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "false",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
    "spark.sql.legacy.literal.pickMinimumPrecision": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.stableDerivedColumnAlias.enabled": "false",
}
"""Settings that give some texts another meaning, with the values that texts are read by.

A text that means the same under both is annotated; the guard sees where one does not.
"""

_WHILE_PLANNING = (
    "spark.sql.optimizer.decorrelateExistsSubqueryLegacyIncorrectCountHandling.enabled",
    "spark.sql.optimizer.decorrelateSubqueryLegacyIncorrectCountHandling.enabled",
    "spark.sql.legacy.scalarSubqueryAllowGroupByNonEqualityCorrelatedPredicate",
)
"""The first settings that a query has after it was analysed, too."""

_CASE = "spark.sql.caseSensitive"

_OF_VIEWS = (
    *_READ_AS,
    *_PARSED_BY,
    _CASE,
    "spark.sql.ansi.enabled",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.session.timeZone",
    "spark.sql.timestampType",
)
"""Settings by which a view is read as they were when it was made."""

_SUBSTITUTES = "spark.sql.variable.substitute"
_VARIABLE = re.compile(r"\$\{(?:\w+:)?([^\s'\"\\]+?)\}")


def is_case_sensitive(spark: SparkSession) -> bool:
    """Return True if names that differ by case alone are different names."""
    return str(spark.conf.get(_CASE, "false")).lower() == "true"


def check_case(query: str, names: Iterable[str]) -> None:
    """Refuse a query where names that differ by case alone are names of different things.

    Names are compared without regard to case: where no two differ so, that is not a difference.

    Parameters
    ----------
    names
        All that the query may mean: of its text, of the views and of the relations that it reads.

    Raises
    ------
    UnsupportedError
        With two such names.
    """
    known: dict[str, str] = {}
    for name in sorted(names):
        other = known.setdefault(name.lower(), name)
        if other != name:
            raise UnsupportedError(
                f"names that differ by case alone ({other}, {name}) are not told apart where"
                f" {_CASE} is true",
                "Give one of them another name, in a view of the relation or by an alias.",
                query,
            )


def check_settings(spark: SparkSession, query: str) -> None:
    """Refuse a query where a setting gives it another meaning than it would be read to have.

    Raises
    ------
    UnsupportedError
        With the setting, and the value that it must have.
    """
    for name, (expected, meaning) in _READ_AS.items():
        if str(spark.conf.get(name, expected)).lower() != expected:
            raise UnsupportedError(
                f"queries are not understood where {name} is not {expected}",
                f"Set it to {expected}, by which {meaning}, and write the query accordingly.",
                query,
            )


def check_views(spark: SparkSession, query: str, views: Iterable[ViewText]) -> None:
    """Refuse views that Spark reads by other settings than the session has.

    Raises
    ------
    UnsupportedError
        With the view, the setting and its values.
    """
    for view in views:
        others = {
            name: value
            for name, value in view.settings.items()
            # Without a default of ours: it would be taken for the value where none was set.
            if name in _OF_VIEWS and value.lower() != str(spark.conf.get(name)).lower()
        }
        if others and not _means_the_same(spark, view.text, others):
            made = " and ".join(f"{name} is {value}" for name, value in others.items())
            raise UnsupportedError(
                f"view {view.name} was made where {made}, and means something else now",
                "Set them so, or make the view anew.",
                query,
            )
        collation = view.settings.get(COLLATION, PLAIN_COLLATION)
        if collation != PLAIN_COLLATION:
            raise UnsupportedError(
                f"view {view.name} has a default collation, {collation}, which is not supported",
                "Write COLLATE in the text of the view.",
                query,
            )


def _means_the_same(spark: SparkSession, text: str, others: Mapping[str, str]) -> bool:
    """Return True if Spark reads a text alike by other settings; False if that is not known."""
    try:
        with temporary_settings(spark, others):
            then = spark.sql(text)
        # Connect reads a text when it runs.
        return hasattr(then, "_jdf") and then.sameSemantics(spark.sql(text))
    except PySparkException:
        return False


def with_variables(spark: SparkSession, query: str) -> str:
    """Return a query with values for ``${name}``, as Spark puts them in before it reads a text."""
    if "${" not in query or str(spark.conf.get(_SUBSTITUTES, "true")).lower() == "false":
        return query

    def value(found: re.Match[str]) -> str:
        try:
            return str(spark.sql(f"SELECT r'{found[0]}'").collect()[0][0])
        except ParseException:  # of a value with quotes
            return str(spark.conf.get(found[1]))

    return _VARIABLE.sub(value, query)


@contextmanager
def naming_settings(spark: SparkSession) -> Iterator[None]:
    """Name the settings by which Spark reads a text otherwise, where that may be why it is refused.

    Raises
    ------
    QueryError
        What is raised inside, with those settings in its advice.
    """
    try:
        yield
    except QueryError as error:
        named = [
            f"{name} is not {value}"
            for name, value in _PARSED_BY.items()
            if str(spark.conf.get(name, value)).lower() != value
        ]
        if not named:
            raise
        advice = f"{error.advice} It may be refused since {', '.join(named)} where it is read."
        raise type(error)(error.problem, advice, error.sql, error.span) from error


def settings_now(spark: SparkSession) -> Mapping[str, str]:
    """Return the settings of a session as they are now, in a classic one by one call of the JVM."""
    in_jvm = getattr(spark.conf, "_jconf", None)
    settings: Mapping[str, str] = spark.conf.getAll if in_jvm is None else in_jvm.getAllAsJava()
    return settings


def settings_of_plans(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings with the usual values where they only decide how texts are read."""
    usual = {name: value for name, (value, _) in _READ_AS.items() if name not in _WHILE_PLANNING}
    usual |= _PARSED_BY
    return {name: usual.get(name, value) for name, value in settings.items()}


def put_back_settings(spark: SparkSession, settings: Mapping[str, str]) -> None:
    """Give a session the settings of another time, and no others."""
    now = spark.conf.getAll
    for name in now.keys() - settings.keys():
        spark.conf.unset(name)
    for name, value in settings.items():
        if now.get(name) != value:
            spark.conf.set(name, value)


@contextmanager
def temporary_settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Set some settings of a session, and restore them in the end."""
    before = {key: spark.conf.get(key, None) for key in values}
    try:
        for key, value in values.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)

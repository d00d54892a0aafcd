"""Every setting that a reading depends on, flipped: answers are Spark's, or refused by its name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lipstick.errors import UnsupportedError
from rewriter.errors import QueryError
from tests.lipstick.stages.test_settings import setting
from tests.oracle.bag import PROVENANCE
from tests.oracle.rows import assert_same_bag, assert_same_schema, from_spark
from tests.oracle.small import Oracles, oracles, small
from tests.selection import takes

CORPUS: Final = (
    "SELECT id, x FROM r ORDER BY 1 DESC LIMIT 2",
    "SELECT k, sum(x) AS s FROM r GROUP BY 1",
    "SELECT x AS y, count(*) AS n FROM r GROUP BY y",
    "SELECT 1 AS one FROM r HAVING true",
    "SELECT id AS a, a + 1 AS b FROM r",
    "SELECT id, name FROM r JOIN names ON R.id = NAMES.no",
    'SELECT id, "name" AS name FROM r',
    r"SELECT name RLIKE '\\d' AS a, '\n' AS b FROM names",
    "SELECT 'a' 'b' AS t, name FROM names",
    "SELECT `(no)?+.+` FROM names",
    "SELECT k FROM r UNION SELECT no FROM names INTERSECT SELECT id FROM r",
    "SELECT id FROM r, names JOIN names AS m ON names.no = m.no WHERE r.id = m.no",
    "WITH t AS (SELECT 1 AS a), u AS (WITH t AS (SELECT 2 AS a) SELECT * FROM t)"
    " SELECT a, id FROM u, r",
    "SELECT id, NOT x = 1 AS a, ! (x = 1) AS b FROM r",
    "SELECT id, 1E2 AS a, 1.50BD * x AS b FROM r",
    "SELECT id, 0.001 * 1.0 AS a, 3 / 7.0 * 1.000000 AS b FROM r",
    "SELECT size(CAST(NULL AS ARRAY<INT>)) AS n, id FROM r",
    "SELECT k, x, grouping_id() AS g, count(*) AS n FROM r GROUP BY CUBE (k, x)",
    "SELECT count(r.*) AS n FROM r",
    "SELECT stddev_samp(x) AS d, k FROM r GROUP BY k",
    "SELECT TIMESTAMP '2020-03-01 10:00:00' AS t, date_trunc('day', TIMESTAMP '2020-03-01') AS u,"
    " id FROM r",
    "SELECT CAST(TIMESTAMP_LTZ '2020-03-01 00:00:00+05:00' AS STRING) AS t, id FROM r",
    "SELECT map_from_arrays(array(1, 1), array(2, id)) AS m, id FROM r",
    "SELECT CAST(struct(id, x) AS STRING) AS s, CAST(map(1, x) AS STRING) AS m FROM r",
    "SELECT id, try_add(x, 2147483647) AS a, x + 2147483647 AS b FROM r",
    "SELECT id, CAST(name AS INT) AS i FROM r JOIN names ON id = no",
    "SELECT id, array(1, x)[5] AS e FROM r",
    "SELECT id, x IN (NULL) AS a, x IS NULL AS b FROM r",
    "SELECT id, (SELECT count(*) FROM names WHERE no = k) AS n FROM r",
    "SELECT id, k IN (SELECT no FROM names) AS b FROM r",
    "SELECT id + 1, upper(name), x + 0.5 FROM r JOIN names ON id = no",
    "SELECT r.id, names.no FROM r CROSS JOIN names",
    "SELECT id, array_insert(array(1, 2), -1, x) AS a FROM r",
    "SELECT id, DATE '2020-01-31' + INTERVAL 1 MONTH AS d FROM r",
    "SELECT * FROM (SELECT k, x FROM r) PIVOT (sum(x) FOR k IN (1, 2))",
    "SELECT id, left(name, 2) AS left, array() AS e FROM r JOIN names ON id = no",
)
"""Statements that are annotated by the values that all settings have at first."""

SETTINGS: Final[dict[str, tuple[str, ...]]] = {
    "spark.sql.groupByOrdinal": ("false",),
    "spark.sql.orderByOrdinal": ("false",),
    "spark.sql.legacy.parser.havingWithoutGroupByAsWhere": ("true",),
    "spark.sql.caseSensitive": ("true",),
    "spark.sql.ansi.enabled": ("false",),
    "spark.sql.ansi.doubleQuotedIdentifiers": ("true",),
    "spark.sql.ansi.enforceReservedKeywords": ("true",),
    "spark.sql.ansi.relationPrecedence": ("true",),
    "spark.sql.groupByAliases": ("false",),
    "spark.sql.lateralColumnAlias.enableImplicitResolution": ("false",),
    "spark.sql.parser.escapedStringLiterals": ("true",),
    "spark.sql.parser.quotedRegexColumnNames": ("true",),
    "spark.sql.legacy.allowStarWithSingleTableIdentifierInCount": ("true",),
    "spark.sql.legacy.consecutiveStringLiterals.enabled": ("true",),
    "spark.sql.legacy.ctePrecedencePolicy": ("LEGACY", "EXCEPTION"),
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": ("true",),
    "spark.sql.legacy.literal.pickMinimumPrecision": ("false",),
    "spark.sql.legacy.setopsPrecedence.enabled": ("true",),
    "spark.sql.legacy.bangEqualsNot": ("true",),
    "spark.sql.legacy.sizeOfNull": ("false",),
    "spark.sql.legacy.integerGroupingId": ("true",),
    "spark.sql.legacy.statisticalAggregate": ("true",),
    "spark.sql.legacy.castComplexTypesToString.enabled": ("true",),
    "spark.sql.legacy.nullInEmptyListBehavior": ("true",),
    "spark.sql.legacy.createEmptyCollectionUsingStringType": ("true",),
    "spark.sql.legacy.negativeIndexInArrayInsert": ("true",),
    "spark.sql.legacy.scalarSubqueryCountBugBehavior": ("true",),
    "spark.sql.legacy.inSubqueryNullability": ("true",),
    "spark.sql.legacy.interval.enabled": ("true",),
    "spark.sql.legacy.timeParserPolicy": ("LEGACY", "CORRECTED"),
    "spark.sql.crossJoin.enabled": ("false",),
    "spark.sql.decimalOperations.allowPrecisionLoss": ("false",),
    "spark.sql.mapKeyDedupPolicy": ("LAST_WIN",),
    "spark.sql.pivotMaxValues": ("1",),
    "spark.sql.session.timeZone": ("Asia/Kolkata",),
    "spark.sql.stableDerivedColumnAlias.enabled": ("true",),
    "spark.sql.timestampType": ("TIMESTAMP_NTZ",),
}
"""Settings by which Spark gives a text of a query another meaning, and their other values."""

FLIPS: Final = [(name, value) for name, values in SETTINGS.items() for value in values]
SHARE: Final = 6
"""A turn takes every so many of the statements, others for each setting."""


@pytest.fixture(scope="module")
def held(spark: SparkSession) -> Iterator[Oracles]:
    r = small("r", "id int, k int, x int", [(1, 1, 5), (2, 1, None), (3, 2, 2), (4, 3, 2)])
    names = small("names", "no int, name string", [(1, "12"), (2, "7"), (3, None)])
    with oracles(spark, r, names) as both:
        both.plain.answer("SELECT id, no FROM r, names")  # makes the views
        yield both


@pytest.mark.slow
def test_the_corpus_is_annotated_before_anything_is_flipped(held: Oracles) -> None:
    refused = []
    for sql in CORPUS:
        try:
            _hold(held, sql)
        except QueryError as error:
            refused.append(f"{sql}\n{error}")
    assert not refused, "\n\n".join(refused)


@pytest.mark.many
@pytest.mark.parametrize(("name", "value"), FLIPS)
def test_a_flipped_setting(
    held: Oracles, name: str, value: str, request: pytest.FixtureRequest
) -> None:
    """An error of Spark's, in reading or in running, is one of the annotated query too."""
    first = FLIPS.index((name, value))
    corpus = [sql for place, sql in enumerate(CORPUS) if takes(request, SHARE, place - first)]
    with ExitStack() as flipped:
        for session in (held.ls.spark, held.plain.spark):
            flipped.enter_context(setting(session, name, value))
            if name == "spark.sql.ansi.doubleQuotedIdentifiers":
                flipped.enter_context(setting(session, "spark.sql.ansi.enabled", "true"))
        wrong = []
        for sql in corpus:
            try:
                _hold(held, sql)
            except UnsupportedError as error:
                if name not in str(error):
                    wrong.append(f"{sql}\nis refused otherwise: {error}")
            except (AssertionError, QueryError) as error:
                if name not in str(error):
                    wrong.append(f"{sql}\n{error}")
        assert not wrong, "\n\n".join(wrong)


def _hold(held: Oracles, sql: str) -> None:
    """Hold a query against plain Spark under the settings of now."""
    try:
        expected = from_spark(held.plain.frame(sql))
    except PySparkException:
        with pytest.raises((PySparkException, QueryError)):
            held.ls.sql(sql).plan.annotated.collect()
        return
    actual = from_spark(held.ls.sql(sql).plan.annotated).without(PROVENANCE)
    assert_same_schema(expected, actual, sql)
    assert_same_bag(expected, actual, sql)

"""The guard: what Spark reads otherwise than we is refused, and nothing else."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from lipstick.stages.guard import (
    check_understood,
    understand,
    volatile_literals,
)
from rewriter.dialect import emit, parse
from rewriter.errors import NotUnderstoodError, UnsupportedError
from tests.versions import VERSION

pytestmark = pytest.mark.engines("memory")


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql("CREATE OR REPLACE TEMP VIEW g AS SELECT * FROM VALUES (1, 'x'), (2, 'y') AS v(a, s)")
    spark.sql("CREATE OR REPLACE TEMP VIEW h AS SELECT * FROM VALUES (1, 'x'), (2, 'y') AS v(a, s)")
    yield spark
    spark.catalog.dropTempView("g")
    spark.catalog.dropTempView("h")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, rand() AS r, uuid() AS u, now() AS n, current_date FROM g",
        "SELECT transform(array(a), x -> x + 1) FROM g",
        "WITH c AS (SELECT a FROM g) SELECT * FROM c x JOIN c y ON x.a = y.a",
        "SELECT a FROM g WHERE a = 1 AND a = 2 AND a = 3 AND a = 4 OR s = 'x'",
        "SELECT cast('abc' AS INT) FROM g",
        "SELECT 1 / 0",
        "SELECT not true = false, true IS NOT TRUE, null IS NOT NULL",
        pytest.param(
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n < 3) "
            "SELECT * FROM r",
            marks=pytest.mark.skipif(VERSION < (4, 1), reason="came with Spark 4.1"),
        ),
    ],
)
def test_equal(session: SparkSession, sql: str) -> None:
    check_understood(session, sql, parse(sql))


@pytest.mark.parametrize(
    ("sql", "other"),
    [
        ("SELECT hash(1) FROM g", "SELECT hash(1L) FROM g"),
        ("SELECT hash('1') AS v FROM g", "SELECT hash(1) AS v FROM g"),
        ("SELECT a FROM g", "SELECT a FROM h"),
        ("SELECT a AS x FROM g", "SELECT a AS y FROM g"),
        ("SELECT x.a FROM g x JOIN g y ON x.s = y.s", "SELECT y.a FROM g x JOIN g y ON x.s = y.s"),
        ("VALUES (1), (2)", "VALUES (1), (3)"),
        ("SELECT a FROM g WHERE false", "SELECT a + 1 AS a FROM g WHERE false"),
        ("SELECT rand(1) AS r FROM g", "SELECT rand(2) AS r FROM g"),
        ("SELECT a + 2 * 3 FROM g", "SELECT (a + 2) * 3 FROM g"),
        ("SELECT upper(s) FROM g", "SELECT no_such_function(s) FROM g"),
    ],
)
def test_different(session: SparkSession, sql: str, other: str) -> None:
    with pytest.raises(NotUnderstoodError):
        check_understood(session, sql, parse(other))


def test_difference_beyond_what_plans_show_by_default(session: SparkSession) -> None:
    columns = [f"a + {i} AS c{i}" for i in range(60)]
    other = [*columns[:50], "a + 1 AS c50", *columns[51:]]
    with pytest.raises(NotUnderstoodError):
        check_understood(
            session,
            f"SELECT {', '.join(columns)} FROM g",
            parse(f"SELECT {', '.join(other)} FROM g"),
        )


def test_message_shows_both_plans_and_the_place(session: SparkSession) -> None:
    with pytest.raises(NotUnderstoodError) as caught:
        check_understood(session, "SELECT upper(s)\nFROM g", parse("SELECT lower(s) FROM g"))
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (1, 8)
    assert "upper(s)" in str(caught.value)
    assert "lower(s)" in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "args"),
    [
        ("SELECT a FROM g WHERE a = :p AND s <> :q", {"p": 1, "q": "it's"}),
        ("SELECT a FROM g WHERE a = ? OR s = ?", [1, "x"]),
        ("SELECT * FROM IDENTIFIER(:t)", {"t": "g"}),
    ],
)
def test_parameters(
    session: SparkSession, sql: str, args: dict[str, object] | list[object]
) -> None:
    assert check_understood(session, sql, parse(sql), args).names[0] == "a"


def test_spark_errors_pass_through(session: SparkSession) -> None:
    with pytest.raises(AnalysisException, match=r"line 1,? pos 7"):
        check_understood(session, "SELECT b FROM g", parse("SELECT b FROM g"))
    with pytest.raises(ParseException, match=r"line 1, pos 2[23]"):
        understand(session, "SELECT a FROM g WHERE (")


def test_text_that_only_spark_reads(session: SparkSession) -> None:
    with pytest.raises(NotUnderstoodError):
        understand(session, "SELECT sum(a) OVER (CLUSTER BY s) FROM g")


def test_commands_are_not_run(session: SparkSession) -> None:
    with pytest.raises(UnsupportedError):
        understand(session, "DROP VIEW g")
    assert session.catalog.tableExists("g")


def test_settings_are_restored(session: SparkSession) -> None:
    def settings() -> list[object]:
        return [
            row
            for row in session.sql("SET -v").collect()
            if row[0].startswith(("spark.sql.debug", "spark.sql.optimizer.excluded"))
        ]

    before = settings()
    check_understood(session, "SELECT a FROM g", parse("SELECT a FROM g"))
    assert settings() == before
    assert session.sql("SET spark.sql.legacy.eagerEvalInlineTable").head()[1] == "<undefined>"


def test_volatile_literals_are_of_one_moment(session: SparkSession) -> None:
    sql = "SELECT now() AS n, current_timestamp AS m, current_date AS d, localtimestamp() FROM g"
    fixed = volatile_literals(session, parse(sql))
    rows = session.sql(emit(fixed)).collect()
    assert rows == session.sql(emit(fixed)).collect()
    assert rows[0].n == rows[0].m
    plain = session.sql(sql).schema
    assert session.sql(emit(fixed)).schema.simpleString() == plain.simpleString()


def test_query_without_volatile_calls_is_itself(session: SparkSession) -> None:
    query = parse("SELECT a FROM g")
    assert volatile_literals(session, query) is query


def test_spark_is_asked_for_two_analyses(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the text, and of what was read in it."""
    asked: list[str] = []
    ask = type(session).sql

    def sql(self: SparkSession, text: str, *arguments: object, **named: object) -> object:
        asked.append(text)
        return ask(self, text, *arguments, **named)

    monkeypatch.setattr(type(session), "sql", sql)
    read = understand(session, "SELECT a, s FROM g WHERE a > 1")
    assert read.schema.names == ["a", "s"]
    explained = [text for text in asked if text.startswith("EXPLAIN")]
    assert len(asked) - len(explained) == 2
    assert len(explained) == (0 if hasattr(session, "_jsparkSession") else 2)

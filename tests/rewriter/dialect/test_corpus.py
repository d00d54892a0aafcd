"""The corpus: Spark SQL of every kind, which must be read as Spark reads it.

A statement that is refused stands in `refused.txt` with its reason.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rewriter.dialect import emit, literals, parse
from rewriter.errors import QueryError
from tests.oracle.suites import TPCDS, TPCH
from tests.rewriter.cases import cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
TPC = {suite.name: suite for suite in (TPCDS, TPCH)}
FILES = {path.stem: path for path in sorted((HERE / "corpus").glob("*.sql"))}
CORPUS = [*FILES, *TPC]


def statements(path: Path) -> list[str]:
    return path.read_text().strip("\n").split("\n---\n")


@cache
def corpus(family: str) -> list[str]:
    """Return the statements of a file of the corpus, or the queries of a suite."""
    if family in FILES:
        return statements(FILES[family])
    return [TPC[family].query(number) for number in TPC[family].numbers]


REFUSED = dict(
    line.split("\t")
    for line in (HERE / "refused.txt").read_text().splitlines()
    if not line.startswith("#")
)
MENDS = {title: case.given for title, case in cases(HERE / "mends").items()}
OF_OTHER_TABLES = {
    "from query",
    "inline tables in queries",
    "pipe after union",
    "pipe operators",
    "pipe sources",
    "samples",
    "table arguments",
}
"""Mends whose texts Spark refuses over the corpus's tables."""
WORST = (
    "doubled quotes",
    "nested with",
    "percentile within group",
    "typed numbers",
    "variant path",
)


def test_the_corpus_is_large() -> None:
    assert sum(len(corpus(family)) for family in CORPUS) > 450
    assert {family: len(corpus(family)) for family in TPC} == {"tpcds": 99, "tpch": 22}


def test_refused_statements_are_in_the_corpus() -> None:
    known = {sql for family in CORPUS for sql in corpus(family)}
    assert set(REFUSED) <= known
    assert all(REFUSED.values())


@pytest.mark.parametrize("family", CORPUS)
def test_emission_is_a_fixed_point(family: str) -> None:
    for sql in corpus(family):
        if sql not in REFUSED:
            text = emit(parse(sql))
            assert emit(parse(text)) == text, sql


@pytest.mark.parametrize("family", CORPUS)
def test_emission_keeps_literals(family: str) -> None:
    for sql in corpus(family):
        if sql not in REFUSED:
            assert literals(emit(parse(sql), grouped=True)) == literals(sql), sql


@pytest.fixture
def tables(spark: "SparkSession") -> Iterator["SparkSession"]:
    """The session with the corpus's small tables as views, and the time type."""
    spark.sql("SET spark.sql.timeType.enabled=true")
    names = []
    for sql in statements(HERE / "setup.sql"):
        spark.sql(sql)
        names.append(sql.split("VIEW ")[1].split()[0])
    yield spark
    for name in names:
        spark.catalog.dropTempView(name)
    spark.sql("RESET spark.sql.timeType.enabled")


@pytest.fixture
def empty_tables(spark: "SparkSession", request: pytest.FixtureRequest) -> Iterator["SparkSession"]:
    """The session with the tables of TPC-H or TPC-DS, empty."""
    from pyspark.sql.types import StructType

    names = []
    for line in (HERE / "schemas.txt").read_text().splitlines():
        key, schema = line.split(": ", 1)
        suite, name = key.split()
        if suite == request.param:
            frame = spark.createDataFrame([], StructType.fromDDL(schema))
            frame.createOrReplaceTempView(name)
            names.append(name)
    yield spark
    for name in names:
        spark.catalog.dropTempView(name)


def check(spark: "SparkSession", texts: list[str]) -> None:
    from lipstick.stages.guard import check_understood

    refused, passed = {}, []
    for sql in texts:
        try:
            check_understood(spark, sql, parse(sql))
            passed.append(sql)
        except QueryError as error:
            refused[sql] = str(error)
    assert {sql: error for sql, error in refused.items() if sql not in REFUSED} == {}
    assert [sql for sql in passed if sql in REFUSED] == []


@pytest.mark.slow
@pytest.mark.parametrize("family", FILES)
def test_spark_reads_the_corpus_alike(tables: "SparkSession", family: str) -> None:
    check(tables, corpus(family))


@pytest.mark.slow
@pytest.mark.parametrize("empty_tables", TPC, indirect=True)
def test_spark_reads_tpc_alike(
    empty_tables: "SparkSession", request: pytest.FixtureRequest
) -> None:
    check(empty_tables, corpus(request.node.callspec.params["empty_tables"]))


@pytest.mark.slow
def test_spark_reads_the_mends_alike(tables: "SparkSession") -> None:
    from pyspark.errors import PySparkException

    check(tables, [given for title, given in MENDS.items() if title not in OF_OTHER_TABLES])
    for title in OF_OTHER_TABLES:
        with pytest.raises(PySparkException):
            tables.sql(MENDS[title])


@pytest.mark.parametrize("name", WORST)
def test_spark_reads_the_worst_alike(tables: "SparkSession", name: str) -> None:
    from tests.versions import VERSION, of_newer_spark

    if name == "doubled quotes" and VERSION < (4, 1):
        pytest.skip("In Spark 4.0 two quotes end a literal and begin another.")
    with of_newer_spark():
        tables.sql(MENDS[name])
    check(tables, [MENDS[name]])

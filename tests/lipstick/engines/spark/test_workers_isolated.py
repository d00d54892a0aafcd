"""Spark's workers have numpy and pyarrow and not our packages: evaluators travel by value."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.engines("memory")


NEEDED = ("numpy", "pyarrow")
OURS = (
    "benchmark_workflowgen",
    "graphquery",
    "lipstick",
    "rewriter",
    "semiring",
    "sqlglot",
    "sympy",
)


@pytest.fixture(scope="module")
def imported(spark: SparkSession) -> dict[str, str]:
    """By module `imported`, or the message of the error, where a worker imports it."""
    modules = [*NEEDED, *OURS]

    def attempt(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import importlib

        import pyarrow

        for _ in batches:
            answers = []
            for module in modules:
                try:
                    importlib.import_module(module)
                    answers.append("imported")
                except ImportError as error:
                    answers.append(str(error))
            yield pyarrow.RecordBatch.from_pydict({"module": modules, "answer": answers})

    schema = "module string, answer string"
    rows = spark.range(1, numPartitions=1).mapInArrow(attempt, schema).collect()
    return {row["module"]: row["answer"] for row in rows}


@pytest.mark.parametrize("module", NEEDED)
def test_worker_has_what_evaluators_need(imported: dict[str, str], module: str) -> None:
    assert imported[module] == "imported"


@pytest.mark.parametrize("module", OURS)
def test_worker_has_nothing_else_of_ours(imported: dict[str, str], module: str) -> None:
    assert imported[module] == f"{module} is not there on a Spark worker"


def test_class_of_a_hidden_package_does_not_reach_a_worker(spark: SparkSession) -> None:
    """What is pickled by reference needs its module, which is not there."""
    from sqlglot.errors import SqlglotError

    def use(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        assert issubclass(SqlglotError, Exception)
        yield from batches

    with pytest.raises(Exception, match=r"sqlglot\S* is not there on a Spark worker"):
        spark.range(1, numPartitions=1).mapInArrow(use, "id long").collect()

"""Spark's workers have numpy and pyarrow and not our packages: evaluators travel by value."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.engines("memory")


def import_in_worker(spark: SparkSession, module: str) -> str:
    """`imported`, or the message of the error, when a worker imports `module`."""

    def attempt(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import importlib

        import pyarrow

        for _ in batches:
            try:
                importlib.import_module(module)
                answer = "imported"
            except ImportError as error:
                answer = str(error)
            yield pyarrow.RecordBatch.from_pydict({"answer": [answer]})

    [row] = spark.range(1, numPartitions=1).mapInArrow(attempt, "answer string").collect()
    return str(row["answer"])


@pytest.mark.parametrize("module", ["numpy", "pyarrow"])
def test_worker_has_what_evaluators_need(spark: SparkSession, module: str) -> None:
    assert import_in_worker(spark, module) == "imported"


@pytest.mark.parametrize(
    "module",
    ["benchmark_workflowgen", "graphquery", "lipstick", "rewriter", "semiring", "sqlglot", "sympy"],
)
def test_worker_has_nothing_else_of_ours(spark: SparkSession, module: str) -> None:
    assert import_in_worker(spark, module) == f"{module} is not there on a Spark worker"


def test_class_of_a_hidden_package_does_not_reach_a_worker(spark: SparkSession) -> None:
    """What is pickled by reference needs its module, which is not there."""
    from sqlglot.errors import SqlglotError

    def use(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        assert issubclass(SqlglotError, Exception)
        yield from batches

    with pytest.raises(Exception, match=r"sqlglot\S* is not there on a Spark worker"):
        spark.range(1, numPartitions=1).mapInArrow(use, "id long").collect()

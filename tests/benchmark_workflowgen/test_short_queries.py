"""What is tracked from release to release: the cost of short queries, and of imports."""

import json
import math
from importlib.metadata import version

import pytest
from pyspark.sql import SparkSession

from benchmark_workflowgen.experiments import release, short_queries


def test_captures_and_questions_are_timed(spark: SparkSession) -> None:
    document = short_queries.measure(spark, ["SUM", "left join"], 200, 1)
    assert [times["query"] for times in document["capture"]] == ["SUM", "left join"]
    times = {"plain": 4.0, "sql": 1.0, "capture": 1.0}
    assert short_queries.ratio({"seconds": times}) == 0.5
    figures = short_queries.figures(document)
    ratios = [short_queries.ratio(times) for times in document["capture"]]
    assert figures["geometric_mean"] == pytest.approx(math.sqrt(ratios[0] * ratios[1]))
    assert figures["worst"] == max(ratios)
    assert figures["what_if_seconds"] > 0
    assert "geometric mean" in short_queries.summary(document)


def test_imports_are_timed() -> None:
    assert release.import_seconds("semiring", 1) > 0


def test_every_release_has_its_file() -> None:
    path = release.FOLDER / f"{version('lipstick-spark')}.json"
    figures = json.loads(path.read_text(encoding="utf-8"))
    assert set(figures["import_seconds"]) == set(release.IMPORTS)
    assert figures["short_queries"].keys() == {
        "geometric_mean",
        "worst",
        "processor_geometric_mean",
        "processor_worst",
        "df_seconds",
        "what_if_seconds",
    }

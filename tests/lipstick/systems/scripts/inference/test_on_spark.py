"""Inference as a Spark job gives what it gives in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession

from benchmark_workflowgen.inference.simulate import simulate
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.inference import (
    Distribution,
    Offset,
    ProcessingElement,
    View,
    posterior,
    probabilistic,
)
from lipstick.systems.scripts.inference.infer import expected_offset
from lipstick.systems.scripts.inference.on_spark import infer_ranges
from lipstick.systems.scripts.inference.ranges import Ranges


def frame(spark: SparkSession, view: View) -> DataFrame:
    rows = [(int(time), number) for number, time in enumerate(view.times)]
    return spark.createDataFrame(rows, "txn_time bigint, seq bigint")


def same(frame_of_ranges: DataFrame, expected: Ranges) -> None:
    rows = {row["output"]: row for row in frame_of_ranges.toLocalIterator()}
    assert len(rows) == len(expected)
    for output, row in rows.items():
        places, probability = expected.of(output)
        assert row["count"] == len(places)
        assert row["probability"] == pytest.approx(probability, abs=1e-6)
        if len(places):
            assert (row["first"], row["last"]) == (places[0], places[-1])
        else:
            assert row["first"] is None


def test_range_joins_are_inference_in_memory(spark: SparkSession) -> None:
    element = ProcessingElement(15, 10, Distribution.poisson(1))
    stream = simulate([element], Distribution.poisson(3), 1_500, 4)
    inputs, outputs = frame(spark, stream.inputs), frame(spark, stream.outputs)
    offset = expected_offset(element, stream.inputs)
    joined = infer_ranges(element, inputs, outputs, offset)
    same(joined, probabilistic(element, stream.inputs, stream.outputs))
    known = replace(element, origin=5)
    on_known_grid = posterior(known, stream.inputs, stream.outputs)
    on_grid = infer_ranges(known, inputs, outputs)
    rows = {row["output"]: row["count"] for row in on_grid.toLocalIterator()}
    assert rows == {k: len(on_known_grid.of(k)[0]) for k in range(len(on_known_grid))}
    assert on_known_grid.score(stream.truth).exact >= 0.99


def test_what_a_job_needs_is_asked_for(spark: SparkSession) -> None:
    element = ProcessingElement(5, 5)
    view = frame(spark, View(np.array([1, 2])))
    with pytest.raises(ScriptError, match="Neither an offset nor the grid"):
        infer_ranges(element, view, view)
    with pytest.raises(ScriptError, match="The output view has no column 'at'"):
        infer_ranges(element, view, view, Offset(0, 1.0), time="at")
    with pytest.raises(ScriptError, match="follow by counting"):
        infer_ranges(replace(element, window_by="tuples"), view, view, Offset(0, 1.0))

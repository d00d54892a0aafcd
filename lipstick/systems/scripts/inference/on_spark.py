"""Inference of all outputs at once as one Spark job: a range join of outputs with inputs.

An output's window is computed from its time alone, by a constant offset or by the grid of triggers.
Windows and inputs are cut into buckets as wide as the window, so that the join is one of equality
on at most two buckets per output; inputs are joined time by time, not tuple by tuple. Inputs go
through one shuffle, by bucket: they are grouped by time and joined where they are. The smaller side
of the join, the windows, is hashed, so that no side is sorted. A second shuffle has at most two
rows per output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.inference.element import ProcessingElement
from lipstick.systems.scripts.inference.timed_views import SEQUENCE, TIME

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from lipstick.systems.scripts.inference.offset import Offset


def _products(inputs: DataFrame, width: Column, time: str, sequence: str) -> DataFrame:
    """Return the first and the last input of each time, in buckets of times."""
    from pyspark.sql import functions as F

    at = F.col(time).cast("long")
    cut = inputs.select(
        at.alias("_time"), _bucket(at, width).alias("_bucket"), F.col(sequence).alias("_sequence")
    )
    of_each_time = cut.repartition("_bucket").groupBy("_bucket", "_time")
    return of_each_time.agg(
        F.min("_sequence").alias("_first"),
        F.max("_sequence").alias("_last"),
        F.count(F.lit(1)).alias("_count"),
    )


def infer_ranges(
    element: ProcessingElement,
    inputs: DataFrame,
    outputs: DataFrame,
    offset: Offset | None = None,
    *,
    time: str = TIME,
    sequence: str = SEQUENCE,
) -> DataFrame:
    """The inputs of every output, as the first and the last of their sequence.

    Parameters
    ----------
    inputs, outputs
        Views with a transaction time (whole numbers) and a sequence in the order of time.
    offset
        How far before an output its window ends, of basic or probabilistic inference. None: the
        element's grid of triggers decides, which needs its `origin`.

    Returns
    -------
    DataFrame
        Per output `output` (its sequence), `first` and `last` (of the sequence of the inputs, NULL
        where there are none), `count`, and `probability`.

    Raises
    ------
    ScriptError
        A window or trigger by tuples; neither offset nor origin; a column that there is not.
    """
    from pyspark.sql import functions as F

    windows = _windows(element, outputs, offset, time, sequence)
    for name in (time, sequence):
        if name not in inputs.columns:
            raise ScriptError(
                f"The input view has no column {name!r}; it has {', '.join(inputs.columns)}."
            )
    width = F.lit(element.window)
    products = _products(inputs, width, time, sequence)
    buckets = F.sequence(
        _bucket(F.col("_lower"), width), _bucket(F.col("_upper") - F.lit(1), width)
    )
    cut = windows.withColumn("_bucket", F.explode(buckets)).hint("shuffle_hash")
    inside = (F.col("_time") >= F.col("_lower")) & (F.col("_time") < F.col("_upper"))
    joined = cut.alias("w").join(
        products.alias("p"), (F.col("w._bucket") == F.col("p._bucket")) & inside, "left"
    )
    return joined.groupBy("output", "probability").agg(
        F.min("_first").alias("first"),
        F.max("_last").alias("last"),
        F.coalesce(F.sum("_count"), F.lit(0)).alias("count"),
    )


def _bucket(at: Column, width: Column) -> Column:
    from pyspark.sql import functions as F

    return F.floor(at / width)


def _windows(
    element: ProcessingElement,
    outputs: DataFrame,
    offset: Offset | None,
    time: str,
    sequence: str,
) -> DataFrame:
    """Per output the bounds of its window and the probability that they are right."""
    from pyspark.sql import functions as F

    if element.window_by != "time" or element.trigger_by != "time":
        raise ScriptError(
            "Windows and triggers by tuples follow by counting: number the tuples instead."
        )
    for name in (time, sequence):
        if name not in outputs.columns:
            raise ScriptError(
                f"The output view has no column {name!r}; it has {', '.join(outputs.columns)}."
            )
    at = F.col(time).cast("long")
    if offset is not None:
        delay, probability = F.lit(offset.value), F.lit(offset.accuracy)
    elif element.origin is not None:
        delay, probability = _by_grid(element, at)
    else:
        raise ScriptError(
            "Neither an offset nor the grid of triggers is known.\nGive optimal_offset(...), or an"
            " element with an origin: trigger_origin(...) learns it."
        )
    return outputs.select(
        F.col(sequence).alias("output"),
        probability.cast("double").alias("probability"),
        (at - delay - F.lit(element.window)).alias("_lower"),
        (at - delay).alias("_upper"),
    )


def _by_grid(element: ProcessingElement, at: Column) -> tuple[Column, Column]:
    """The most probable delay that leads to a trigger, and its probability, by remainder."""
    from pyspark.sql import functions as F

    step, delays = element.trigger, element.delay.probabilities
    best, sure = [], []
    for remainder in range(step):
        possible = np.arange(remainder, len(delays), step)
        whole = float(delays[possible].sum())
        if whole == 0:
            best.append(remainder)
            sure.append(0.0)
            continue
        chosen = int(possible[np.argmax(delays[possible])])
        best.append(chosen)
        sure.append(float(delays[chosen]) / whole)
    phase = F.pmod(at - F.lit(element.origin), F.lit(step)).cast("int")
    return (
        F.get(F.array(*map(F.lit, best)), phase),
        F.get(F.array(*map(F.lit, sure)), phase),
    )

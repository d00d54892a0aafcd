"""Random graphs fed to Structured Streaming by files, a file of each source a micro-batch."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from lipstick.systems.streams.delays import Given
from tests.lipstick.systems.streams import generated, oracle
from tests.lipstick.systems.streams.generated import SCHEMA, Rows, random_specs
from tests.lipstick.systems.streams.oracle import Spec, random_delay

for _module in (generated, oracle):  # workers have no tests
    cloudpickle.register_pickle_by_value(_module)


def delay_by_time(seed: int, most: int = 7) -> Any:
    """The oracle's delays, the same for all keys."""
    delay = random_delay(seed, most)
    return lambda sid, key, trigger: delay(sid, None, trigger)


def given_by_time(seed: int, most: int = 7) -> Given:
    """The same for the code under test."""
    delay = random_delay(seed, most)

    def function(sid: str, code: Any, trigger: Any) -> Any:
        if sid.endswith("_keys"):
            return np.zeros(len(trigger), dtype=np.int64)
        return np.array([delay(sid, None, t) for t in trigger.tolist()], dtype=np.int64)

    return Given(function)


def specs_of(rng: np.random.Generator, *, keyed: bool) -> list[Spec]:
    """A random graph; all of its streams have a key, if that is asked for."""
    while True:
        specs = random_specs(rng)
        if not keyed or all(spec.keyed for spec in specs):
            return specs


def write_batch(folder: Path, sid: str, number: int, rows: Rows) -> None:
    """Put a file where the stream of a source finds it, after those before."""
    (folder / sid).mkdir(parents=True, exist_ok=True)
    path = folder / sid / f"{number:04d}.parquet"
    hidden = path.with_name(f".{path.name}")
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), hidden)
    os.utime(hidden, (1_000_000 + number, 1_000_000 + number))
    hidden.rename(path)


def frames_of(spark: SparkSession, folder: Path, sources: list[str]) -> dict[str, DataFrame]:
    """The stream of every source: a file is a micro-batch."""
    reader = spark.readStream.schema("id bigint, ts bigint, k bigint, v bigint")
    reader = reader.option("maxFilesPerTrigger", 1)
    return {sid: reader.parquet(str(folder / sid)) for sid in sources}

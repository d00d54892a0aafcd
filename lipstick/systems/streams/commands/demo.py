"""``lipstick stream demo``: sensors, an alarm traced to its readings, and a reading corrected."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from lipstick.systems.streams import Stored

READINGS = 40


@click.command()
@click.option("--spark", is_flag=True, help="Run on Structured Streaming, in two partitions.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Make it here.")
def demo(spark: bool, keep: Path | None) -> None:
    """Run a graph over sensors, trace an alarm, and replay it with a reading corrected.

    Three sensors send readings, one reading is faulty, and there is a fire. An alarm is a mean of
    the last half second that is too high. The store has the readings, and the keys of all else.
    """
    from lipstick.cli.errors import reported
    from lipstick.systems.streams import Stored, example

    with contextlib.ExitStack() as stack, reported():
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = folder / "store"
        tables = example.readings(READINGS)
        if spark:
            run_on_spark(folder, tables)
        else:
            run_in_memory(store, tables)
        tell(Stored(store))
        if keep is not None:
            click.echo(f"\nThe store is {store}: lipstick stream show {store}")
            click.echo(f"Look at it in a browser: lipstick explore {store}")


def run_in_memory(store: Path, tables: Iterable[pa.Table]) -> None:
    """Run the graph batch by batch in this process."""
    from lipstick.systems.streams import Assertions, Runner, example

    with Assertions(store) as recorder:
        runner = Runner(example.graph(), recorders=[recorder])
        runner.subscribe("alarms", lambda batch: alarm(batch.table()))
        for table in tables:
            runner.push({"readings": table})
        runner.close()


def run_on_spark(folder: Path, tables: Iterable[pa.Table]) -> None:
    """Run the graph on Structured Streaming over files that the sensors write."""
    import pyarrow.parquet as pq

    from lipstick.engines.spark.local_session import local_builder
    from lipstick.systems.streams import example, start

    (folder / "in").mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(tables):
        path = folder / "in" / f"{number:04d}.parquet"
        pq.write_table(table, path)
        os.utime(path, (number, number))  # Spark reads files in the order of their times
    spark = local_builder("lipstick stream demo", "local[2]").getOrCreate()
    reader = spark.readStream.schema("ts bigint, sensor string, celsius double")
    frame = reader.option("maxFilesPerTrigger", 2).parquet(str(folder / "in"))
    running = start(
        example.graph(),
        {"readings": frame},
        folder / "store",
        checkpoint=folder / "checkpoint",
        partitions=2,
        results={"alarms": alarm},
        trigger={"availableNow": True},
    )
    with running:
        running.finish()


def alarm(table: pa.Table) -> None:
    """Say that there are alarms."""
    highest = max(table.column("celsius").to_pylist())
    click.echo(f"{table.num_rows} alarms, up to {highest:.1f} degrees")


def tell(recording: Stored) -> None:
    """Trace an alarm to its readings, correct the faulty one, and replay."""
    from lipstick.systems.streams import Changes, Events, ancestors, descendants, example, replay

    sensor, number = example.FAULT
    alarms = Events("alarms", 1, key=sensor)
    traced_events = ancestors(recording, alarms)
    click.echo(f"\nAlarm 1 of {sensor} was made of these readings:")
    for row in traced_events.content("readings").to_pylist():
        click.echo(f"  {row['ts']}  {row['celsius']:6.1f}")
    faulty = Events("readings", number, key=sensor)
    concerned = descendants(recording, faulty, within=["alarms"])
    click.echo(f"Reading {number} of {sensor} is in {len(concerned)} alarms.")
    same = replay(example.graph(), recording)
    click.echo(f"\nReplayed as it was, all is the same: {same.identical}")
    changes = Changes(corrected={"readings": {(sensor, number): {"celsius": 30.0}}})
    corrected = replay(example.graph(), recording, changes=changes)
    click.echo(
        f"With that reading corrected to 30.0: {len(corrected.gone)} alarms are gone, "
        f"{len(corrected.same)} stay."
    )

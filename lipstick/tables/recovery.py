"""Finishing what a process that died has written: a table whose version was only announced.

A table and its provenance are in two places, of which one is written after the other. The version
is announced first, with all that is to be known of the rows; then the table is written; then the
version. What is found after a process died is one of three: the table as it was, which has its last
version; the table as it was announced, which is given that version now; or another, which has none.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from lipstick.errors import CaptureDamagedError, CaptureError
from lipstick.tables.checks import check_kept
from lipstick.tables.derivation import (
    Derivation,
    latest_version,
    read_announced,
    read_latest,
)
from lipstick.tracking.source import Source


def finished(spark: SparkSession, directory: Path, table: Source) -> Derivation | None:
    """Return the last version of a table, finished if a process died before it wrote it.

    Cost: that of reading the last version; where one was announced, Spark also compares the rows
    of the table with those that were.

    Parameters
    ----------
    table
        As it is there.

    Returns
    -------
    Derivation
        Whose fingerprint is not that of the table where something else wrote it. None: there is no
        version.

    Raises
    ------
    CaptureDamagedError
        When the last version is not what was written.
    """
    announced = read_announced(directory)
    last = read_latest(directory) if latest_version(directory) else None
    if announced is None or (last is not None and last.fingerprint == table.fingerprint):
        return last
    try:
        announced.check()
        check_kept(spark, announced, table.frame)
    except CaptureDamagedError:
        raise
    except CaptureError:  # the table is neither
        return last
    done = replace(announced, schema=table.frame.schema.json(), fingerprint=table.fingerprint)
    done.write()
    return done

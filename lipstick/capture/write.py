"""Captures are written whole or not at all: beside their place, and moved there when complete."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from lipstick.capture.local_rows import Relations
from lipstick.capture.manifest import Manifest
from lipstick.capture.writer import CaptureWriter, Progress
from lipstick.errors import CaptureError

INCOMPLETE = ".incomplete"
"""How folders end in which captures are made; one that is left over is of a process that died."""


def write_capture(
    spark: SparkSession,
    manifest: Manifest,
    directory: Path,
    progress: Progress = lambda _: None,
    relations: Relations = lambda _: None,
    finish: Callable[[Manifest, Path], None] = lambda *_: None,
) -> Manifest:
    """Write a capture into a directory that does not exist yet, whole or not at all.

    Parameters
    ----------
    relations
        Those whose rows are in this process: what is made of them alone is computed here.
    finish
        Adds to the folder of a capture, with the manifest that was written, before it is whole.

    Returns
    -------
    Manifest
        The manifest with row counts, as written.

    Raises
    ------
    CaptureError
        When the directory exists already.
    """
    with _whole(directory) as building:
        writer = CaptureWriter(spark, manifest, building, progress, relations)
        writer.write()
        shutil.rmtree(building / "tmp", ignore_errors=True)
        done = replace(
            manifest,
            counts=writer.counts,
            schemas=writer.schemas,
            pruned=tuple(writer.pruned),
        )
        done = done.write(building)
        finish(done, building)
        return done


def copy_capture(
    source: Path, directory: Path, finish: Callable[[Path], None] = lambda _: None
) -> None:
    """Copy a capture to a directory that does not exist yet, whole or not at all.

    Raises
    ------
    CaptureError
        When the directory exists already.
    """
    with _whole(directory) as building:
        shutil.copytree(source, building, dirs_exist_ok=True)
        finish(building)


@contextmanager
def _whole(directory: Path) -> Iterator[Path]:
    """Yield the folder in which a directory is made; it gets its name when it is whole.

    Raises
    ------
    CaptureError
        When the directory exists already.
    """
    if directory.exists():
        raise CaptureError(
            f"{directory} exists already.\nA capture is never overwritten: choose another path, "
            "or remove it first."
        )
    directory.parent.mkdir(parents=True, exist_ok=True)
    building = directory.parent / f".{directory.name}.{uuid.uuid4().hex[:8]}{INCOMPLETE}"
    building.mkdir()
    try:
        yield building
        building.rename(directory)
    except BaseException:
        with suppress(OSError):
            shutil.rmtree(building)
        raise

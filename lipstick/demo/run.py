"""The demonstration from start to end: its data, its quiet Spark, and its run."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from lipstick.demo.example import cache
from lipstick.demo.scenes import KEYS
from lipstick.demo.screen import Screen, seconds
from lipstick.engines.spark.local_session import check_java, local_builder, start_quietly
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


GENERATOR = "tpcgen-cli"


def cache_folder(scale: float) -> Path:
    """Return where the tables of a scale are kept: in the user's cache (XDG)."""
    return cache() / "tpch" / f"scale-{scale:g}"


def find_tables(folder: Path) -> dict[str, Path] | None:
    """Return the path of every table, or None when the folder does not exist or is empty.

    Raises
    ------
    LipstickError
        When the folder has something in it and lacks a table.
    """
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    paths = {name: _table(folder, name) for name in KEYS}
    present = {name: path for name, path in paths.items() if path is not None}
    missing = [name for name in KEYS if name not in present]
    if missing:
        raise LipstickError(
            f"{folder} lacks {', '.join(f'{name}.parquet' for name in missing)}.\n"
            "Give --data a folder with all eight tables, or one that does not exist yet: they are "
            "generated there."
        )
    return present


def _table(folder: Path, name: str) -> Path | None:
    candidates = (folder / f"{name}.parquet", folder / name)
    return next((path for path in candidates if path.exists()), None)


def generate(folder: Path, scale: float) -> None:
    """Generate the eight tables into a folder that does not exist yet or is empty.

    They are written beside it and moved there when they are complete.

    Raises
    ------
    LipstickError
        When the generator is missing or fails.
    """
    command = _generator()
    if command is None:
        raise LipstickError(
            f"The TPC-H generator {GENERATOR} is not installed.\n"
            "Install it (pip install 'lipstick-spark[demo]'), or give the eight tables as Parquet "
            "files: lipstick demo --data DIR."
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise LipstickError(
            f"The tables cannot be written to {folder}: {error.strerror}.\n"
            "Choose another place: lipstick demo --data DIR."
        ) from error
    try:
        target = ["--scale-factor", f"{scale:g}", "--output-dir", str(unfinished)]
        done = subprocess.run(
            [str(command), "tpch", "parquet", "--quiet", *target],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise LipstickError(f"{GENERATOR} could not generate the tables: {reason}")
        _move(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _generator() -> Path | None:
    beside = Path(sysconfig.get_path("scripts")) / GENERATOR
    program = str(beside) if beside.is_file() else shutil.which(GENERATOR)
    return Path(program) if program else None


def _move(unfinished: Path, folder: Path) -> None:
    try:
        unfinished.rename(folder)
    except OSError:
        if find_tables(folder) is None:  # else another run was faster
            raise


@contextmanager
def quiet_spark() -> Iterator[SparkSession]:
    """Yield a local session of its own, stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="lipstick-demo-"))
    cores = os.cpu_count() or 2
    # A machine whose own name does not resolve is not an obstacle.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(max(2, cores)),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    try:
        spark = start_quietly(local_builder("lipstick demo").config(map=options))  # type: ignore[arg-type]
        try:
            yield spark
        finally:
            spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(scale: float = 0.1, data: Path | None = None, screen: Screen | None = None) -> bool:
    """Run it; return whether every what-if answer equalled its rerun.

    Parameters
    ----------
    scale
        TPC-H's scale factor, when the tables are generated; below 0.01 keys may repeat.
    data
        Folder of the eight tables; generated there if it does not exist. None: the user's cache.
    screen
        Where it is written; standard output if None.

    Raises
    ------
    LipstickError
        When the tables or their generator are missing.
        When there is no Java that Spark runs on, or Spark does not start.
    """
    started = time.perf_counter()
    screen = screen or Screen()
    import_module("pyspark")  # what is missing is reported before tables are generated
    java = check_java()
    folder = cache_folder(scale) if data is None else data
    tables = find_tables(folder)
    if tables is None:
        with screen.working(f"generating TPC-H at scale {scale:g} in {folder}"):
            generate(folder, scale)
        tables = find_tables(folder) or {}

    with warnings.catch_warnings(), screen.working("starting Spark"):
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")
        import lipstick
        from lipstick.demo import scenes
    with warnings.catch_warnings(), quiet_spark() as spark:
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")
        screen.say(f"lipstick on Spark {spark.version}, Java {java}; TPC-H in {folder}", "dim")
        with lipstick.session(spark) as ls:
            scenes.track(ls, tables, screen)
            frame, answer = scenes.overview(ls, screen)
            scenes.explained(ls, frame, answer, screen)
            checks = scenes.what_if(spark, frame, tables, screen)
            checks += scenes.dealer(spark, ls, screen)
            kept = Path(tempfile.mkdtemp(prefix="lipstick-demo-")) / "tpch-3"
            shutil.copytree(frame.capture.directory, kept)
    equal = all(check.equal for check in checks)
    screen.console.print()
    told = "every what-if answer equal to its rerun" if equal else "A WHAT-IF ANSWER DIFFERS"
    screen.say(f"Done in {seconds(time.perf_counter() - started)}: {told}.", "bold")
    screen.say(f"Look at query 3 in a browser: lipstick explore {shlex.quote(str(kept))}")
    return equal

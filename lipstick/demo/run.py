"""The demonstration from start to end."""

from __future__ import annotations

import shlex
import shutil
import tempfile
import time
import warnings
from pathlib import Path

from lipstick.demo.data import cache_folder, find_tables, generate
from lipstick.demo.screen import Screen, seconds
from lipstick.demo.spark import check_java, quiet_spark


def run(scale: float = 0.1, data: Path | None = None, screen: Screen | None = None) -> bool:
    """Run it; return whether every what-if answer equalled its rerun.

    Parameters
    ----------
    scale
        TPC-H's scale factor, when the tables are generated.
    data
        Folder of the eight tables; generated there if it does not exist. None: the user's cache.
    screen
        Where it is written; standard output if None.

    Raises
    ------
    DemoError
        When Java, the tables or their generator are missing, or Spark does not start.
    """
    started = time.perf_counter()
    screen = screen or Screen()
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
        from lipstick.demo import tpch
        from lipstick.demo.dealer import dealer
    with warnings.catch_warnings(), quiet_spark() as spark:
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")
        screen.say(f"lipstick on Spark {spark.version}, Java {java}; TPC-H in {folder}", "dim")
        with lipstick.session(spark) as ls:
            tpch.track(ls, tables, screen)
            frame, answer = tpch.overview(ls, screen)
            tpch.explained(ls, frame, answer, screen)
            checks = tpch.what_if(spark, frame, tables, screen)
            checks += dealer(spark, ls, screen)
            kept = Path(tempfile.mkdtemp(prefix="lipstick-demo-")) / "tpch-3"
            shutil.copytree(frame.capture.directory, kept)
    equal = all(check.equal for check in checks)
    screen.console.print()
    told = "every what-if answer equal to its rerun" if equal else "A WHAT-IF ANSWER DIFFERS"
    screen.say(f"Done in {seconds(time.perf_counter() - started)}: {told}.", "bold")
    screen.say(f"Look at query 3 in a browser: lipstick explore {shlex.quote(str(kept))}")
    return equal

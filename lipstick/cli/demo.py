"""``lipstick demo``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--scale",
    type=click.FloatRange(0.01, 100),
    default=0.1,
    show_default=True,
    help="Scale factor of TPC-H; 1 is about 1 GB of text.",
)
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of TPC-H's eight tables as Parquet; generated there if it does not exist. "
    "By default in the user's cache.",
)
def demo(scale: float, data: Path | None) -> None:
    """Track TPC-H, ask queries, and see what their answers are made of.

    Runs in local Spark, which needs Java 17 or later. What-if answers are compared with the same
    query run on reduced tables; the exit code is 1 if one differs.
    """
    from lipstick.demo.run import run

    equal = run(scale, data)
    if not equal:
        raise SystemExit(1)

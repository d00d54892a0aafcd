"""The command line: ``lipstick demo``."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click


def _version() -> str:
    try:
        return version("lipstick-spark")
    except PackageNotFoundError:
        return "unknown (not installed)"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_version(), "--version", prog_name="lipstick")
def main() -> None:
    """Semiring provenance for Spark SQL: every answer with how it came about."""


@main.command()
@click.option(
    "--scale",
    type=click.FloatRange(0.001, 100),
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
    from semiring.errors import LipstickError

    try:
        equal = run(scale, data)
    except LipstickError as error:
        raise click.ClickException(str(error)) from error
    if not equal:
        sys.exit(1)


if __name__ == "__main__":
    main(prog_name="lipstick")

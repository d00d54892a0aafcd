"""``python -m benchmark_workflowgen federation``: the cost of path queries as a table."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from benchmark_workflowgen.federation.path_questions import compared, measured
from benchmark_workflowgen.federation.stores import GeneratedStores
from benchmark_workflowgen.harness import preset_values, print_rows, write_results


@click.command()
@click.option("--preset", is_flag=True, help="The parameters of presets/federation.toml.")
@click.option("--stores", multiple=True, type=int, default=(2, 8), show_default=True)
@click.option(
    "--nodes", multiple=True, type=int, default=(100_000,), show_default=True, help="Of all stores."
)
@click.option(
    "--questions", type=int, default=10, show_default=True, help="With a path, and without."
)
@click.option(
    "--naive", type=int, default=5, show_default=True, help="Of these, with a request per row."
)
@click.option("--latency", multiple=True, type=float, default=(0.0,), help="Of an exchange, in s.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--caches", is_flag=True, help="Compare caches of replies instead.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="A file for the results, JSON; goes on there."
)
@click.option(
    "--keep", type=click.Path(path_type=Path), help="A folder to make stores in, and find them."
)
def main(
    preset: bool,
    caches: bool,
    output: Path | None,
    keep: Path | None,
    stores: Sequence[int],
    nodes: Sequence[int],
    **given: Any,
) -> None:
    """Measure path queries across stores, in every mode.

    Requests go through the counting transport, as if stores were servers; the store of the target
    asks. With --output, cases in the file are not measured again.
    """
    if preset:
        given |= preset_values("federation")
        stores, nodes = given.pop("stores"), given.pop("nodes")
    rows, seed = [], given.pop("seed")
    if output is not None and output.exists():
        rows = json.loads(output.read_text())
    done = {(row["stores"], row["nodes"]) for row in rows}
    for size in nodes:
        for count in stores:
            if (count, size) in done:
                continue
            with _folder(keep, count, size, seed) as folder:
                exchange = GeneratedStores(folder, count, size, seed=seed)
                if caches:
                    several = (given["questions"], 10 * given["questions"], seed)
                    paths = exchange.paths() if exchange.is_there() else exchange.run()
                    rows += compared(exchange, paths, *several)
                else:
                    rows += measured(exchange, **given)
            write_results(output, rows)
    print_rows("Bytes that stores sent, of bytes answered" if caches else "Path queries", rows)


@contextmanager
def _folder(keep: Path | None, stores: int, nodes: int, seed: int) -> Iterator[Path]:
    """A folder for stores, which is deleted unless it is kept."""
    if keep is not None:
        yield keep / f"{stores}-{nodes}-{seed}"
        return
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        shutil.rmtree(folder)

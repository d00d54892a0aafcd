"""``lipstick events export``: outputs of reduced event graphs for other stores."""

from __future__ import annotations

from pathlib import Path

import click

from lipstick.cli.errors import reported
from lipstick.cli.opened import store_argument


@click.command()
@store_argument
@click.argument("topic")
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--version", default="1", show_default=True, help="Of the dataset.")
@click.option(
    "--rows",
    type=click.Path(path_type=Path, exists=True),
    help="The data of the outputs, Parquet, in the place of their identifiers alone.",
)
@click.option("--id", "column", default="id", show_default=True, help="Its identifiers' column.")
def export(
    store: Path, topic: str, name: str, folder: Path, version: str, rows: Path | None, column: str
) -> None:
    """Let others import the outputs of a TOPIC of a STORE, as the dataset NAME in a new FOLDER."""
    import pyarrow.parquet as pq

    from lipstick.systems.events.exporting import export_outputs

    with reported():
        table = None if rows is None else pq.read_table(rows)
        click.echo(export_outputs(store, topic, name, version, folder, rows=table, column=column))

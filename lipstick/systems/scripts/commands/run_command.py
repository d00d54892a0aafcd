"""``lipstick script run`` and ``trace``: runs recorded, and rows traced through them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure, reported
from lipstick.cli.output import JSON, TABLE, Answer, answer, answer_options
from lipstick.systems.scripts.commands.options import line_row, script_options

if TYPE_CHECKING:
    from lipstick.systems.scripts.running import Trace


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("path", metavar="SCRIPT", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@script_options
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    help="The directory to make; SCRIPT.run unless told.",
)
@click.option("--overwrite", is_flag=True, help="Replace the record of a run before.")
@answer_options()
def run(
    path: Path,
    arguments: tuple[str, ...],
    facts: tuple[Path, ...],
    order: str,
    record: Path | None,
    overwrite: bool,
    format: str | None,
    output: Path | None,
    limit: int | None,
) -> None:
    """Run a PySpark or pandas script unchanged, and record where its rows come from.

    Options stand before SCRIPT; what follows it is the script's own.
    """
    from lipstick.systems.scripts.running import run_script

    with reported():
        sent = answer(format, output, limit, (TABLE, JSON))
        done = run_script(
            path,
            arguments,
            record=record,
            facts=facts,
            overwrite=overwrite,
            order="executed" if order == "executed" else "position",
        )
        rows: list[dict[str, Any]] = [
            {
                "number": event.number,
                "what": event.kind,
                "by": event.library,
                "name": event.name,
                "line": event.where,
                "rows": event.rows,
                "exact": event.capture and event.inferred is None,
                "why": event.inferred,
            }
            for event in done.events
        ]
        if sent.format == JSON:
            sent.send_json({"record": str(done.directory), "events": rows})
            return
        sent.say(f"record: {done.directory}")
        sent.table(rows[: sent.rows], len(rows))
        sent.send_table()


@click.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.argument("made", metavar="OUTPUT")
@click.option("--row", type=int, help="The row's number in the output, from 0.")
@click.option("--where", metavar="COLUMN=VALUE", multiple=True, help="Values of the row instead.")
@answer_options()
def trace(
    record: Path,
    made: str,
    row: int | None,
    where: tuple[str, ...],
    format: str | None,
    output: Path | None,
    limit: int | None,
) -> None:
    """Trace a row of a recorded run's output back to the input rows, and the lines that made it.

    OUTPUT is a path, a table, or the number that 'run' has given to a write or collect.
    """
    from lipstick.systems.scripts.running import open_run
    from lipstick.systems.scripts.running import trace as traced

    with reported():
        if any("=" not in item for item in where):
            raise Failure("--where takes COLUMN=VALUE.")
        values = dict(item.split("=", 1) for item in where) or None
        traced_row = traced(open_run(record), made, row, values)
        _send_trace(traced_row, answer(format, output, limit, (TABLE, JSON)))


def _send_trace(traced_row: Trace, sent: Answer) -> None:
    inputs: list[dict[str, Any]] = [
        {
            "file": item.file,
            "rows": "any" if item.rows is None else list(item.rows),
            "read_at": item.where,
            "by": ", ".join(item.rules),
            "certain": item.certain,
            "why": "; ".join(item.why) or None,
        }
        for item in traced_row.inputs
    ]
    document: dict[str, Any] = {
        "certain": traced_row.certain,
        "rows_alike": traced_row.alike,
        "inputs": inputs,
        "lines": [line_row(line) for line in traced_row.lines],
        "assumed": [line_row(item.line) | {"why": item.why} for item in traced_row.assumptions],
    }
    if sent.format == JSON:
        sent.send_json(document)
        return
    sent.table(inputs)
    sent.table(document["lines"])
    if document["assumed"]:
        sent.say("Assumed:")
        sent.table(document["assumed"])
    sent.send_table()

"""``lipstick record`` and ``lipstick stitch``: what commands read, write and send."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lipstick.cli.errors import Failure
from lipstick.systems.record import CommandRecording


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="The store to write; created if it does not exist.",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the recording to this file, to be stitched with those of other hosts.",
)
@click.option(
    "--raw",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the output of the tracer to this file; it contains pieces of data.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
def record(
    store: Path | None, save: Path | None, raw: Path | None, command: tuple[str, ...]
) -> None:
    """Run COMMAND, and record which files and connections it and its children use.

    On Linux, with strace. Write -- before the command. The exit code is the command's, or 2 where
    nothing could be recorded; messages go to standard error.
    """
    if store is None and save is None:
        raise Failure("Say where the recording goes: --store STORE, or --save FILE.")
    from lipstick.systems.record import record as recorded
    from lipstick.systems.record import store_recordings

    recording = recorded(command, raw)
    if save is not None:
        recording.save(save)
    stored_in = ""
    if store is not None:
        (number,) = store_recordings({store: recording}).values()
        stored_in = f"; {store}, segments run{number}/..."
    click.echo(f"{_summary(recording)}{stored_in}", err=True)
    sys.exit(recording.code)


def _summary(recording: CommandRecording) -> str:
    read = {path for paths in recording.read.values() for path in paths}
    written = {path for paths in recording.written.values() for path in paths}
    addresses = {each for peers in recording.connected.values() for each in peers}
    return (
        f"{recording.processes} processes, {len(read)} files read, {len(written)} written, "
        f"{len(addresses)} addresses connected to"
    )


@click.command()
@click.argument("recordings", nargs=-1, required=True, metavar="RECORDING=STORE...")
@click.option(
    "--skew",
    default=60.0,
    show_default=True,
    help="The greatest number of seconds by which the clocks of hosts differ.",
)
def stitch(recordings: tuple[str, ...], skew: float) -> None:
    """Store recordings of several hosts, each in the store of its host, with what crossed.

    RECORDING is a file that ``lipstick record --save`` wrote. What one host sent and another
    received crosses from store to store; a federation of the stores follows it.
    """
    from lipstick.systems.record import CommandRecording, store_recordings

    pairs = [each.rpartition("=") for each in recordings]
    if any(not name or not store for name, _, store in pairs):
        raise Failure("Give each recording with its store: FILE=STORE.")
    by_store = {Path(store): CommandRecording.load(name) for name, _, store in pairs}
    if len(by_store) < len(pairs):
        raise Failure("Two recordings have the same store: store them one after the other.")
    for store, number in store_recordings(by_store, skew).items():
        click.echo(f"{store}: segments run{number}/...")

"""``lipstick events emit``: what lipstick has recorded itself, as events."""

from __future__ import annotations

from pathlib import Path

import click

from lipstick.cli.errors import Failure, reported
from lipstick.cli.output import counted


@click.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--into", required=True, type=click.Path(path_type=Path, file_okay=False))
@click.option("--topic", help="Of the events.  [default: the name of PATH]")
@click.option("--key", multiple=True, help="A column that tells a capture's rows apart.")
def emit(path: Path, into: Path, topic: str | None, key: tuple[str, ...]) -> None:
    """Emit the capture, or the graph of the store, in PATH as events into a folder.

    Rows of a capture come from the tuples that their annotations name; nodes of a graph from those
    that edges lead from.
    """
    import lipstick
    from graphquery import ProvenanceGraph
    from graphquery.store import Store
    from lipstick.systems.events import Emitter
    from lipstick.systems.events.own import emit_capture, emit_graph

    name = topic or path.name
    with reported(), Emitter(into, name) as emitter:
        if (path / "manifest.json").exists():
            number = emit_capture(lipstick.open(path), emitter, name, key)
            click.echo(f"{counted(number, 'row')} emitted")
        elif (path / "format.json").exists():
            snapshot = Store.open(path).snapshot()
            parts = (snapshot.segments.values(), snapshot.edges, snapshot.column)
            number = emit_graph(ProvenanceGraph.build(*parts), emitter, name)
            click.echo(f"{counted(number, 'edge')} emitted")
        else:
            raise Failure(f"{path} is neither a capture nor a store.")
        emitter.seal()

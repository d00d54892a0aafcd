"""The common part of commands about a graph: opening it, zooming out and deleting first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure
from lipstick.cli.output import JSON, TABLE, Answer, answer_options

if TYPE_CHECKING:
    from graphquery import ProvenanceGraph
    from graphquery.store import Snapshot

Command = Callable[..., None]

store_argument = click.argument("store", type=click.Path(path_type=Path))
"""A store by its folder."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A graph as a command's options make it, and the stored content that it is built from."""

    snapshot: Snapshot
    graph: ProvenanceGraph


def graph_command(*more_formats: str) -> Callable[[Command], Command]:
    """Make a function of an `Opened`, an `Answer` and its own arguments a command about a graph.

    Parameters
    ----------
    more_formats
        What it can answer in beside tables and JSON.
    """
    formats = (TABLE, JSON, *more_formats)

    def decorate(function: Command) -> Command:
        @wraps(function)
        def command(
            store: Path,
            around: tuple[int, ...],
            zoom_out: tuple[str, ...],
            zoom_out_all: bool,
            delete: tuple[str, ...],
            answer: Answer,
            **arguments: Any,
        ) -> None:
            opened = open_graph(store, around, zoom_out, zoom_out_all, delete)
            function(opened, answer, **arguments)

        return store_argument(graph_options(answer_options(formats)(command)))

    return decorate


def graph_options(function: Command) -> Command:
    """Add the options that choose the graph of a command; see :func:`open_graph`."""
    for option in (
        click.option(
            "--delete",
            metavar="NODE",
            multiple=True,
            help="Delete this node first, after zooming out; may be repeated.",
        ),
        click.option("--zoom-out-all", is_flag=True, help="Zoom out of all modules first."),
        click.option(
            "--zoom-out",
            metavar="MODULE",
            multiple=True,
            help="Zoom out of this module first; may be repeated.",
        ),
        click.option(
            "--around",
            metavar="EXECUTION",
            type=click.IntRange(min=0),
            multiple=True,
            help="Build only what this execution was made from; may be repeated.",
        ),
    ):
        function = option(function)
    return function


def open_graph(
    store: Path,
    around: Sequence[int] = (),
    zoom_out: Sequence[str] = (),
    zoom_out_all: bool = False,
    delete: Sequence[str] = (),
) -> Opened:
    """Build the graph of a store, then zoom out, then delete.

    Raises
    ------
    Failure
        For a run without provenance.
    graphquery.store.StoreError, graphquery.GraphError
        For a folder that is not a store, and for modules and nodes that there are not.
    """
    from graphquery import Around, ProvenanceGraph
    from graphquery.store import Store

    snapshot = Store.open(store).snapshot()
    if not snapshot.records.get("workflow", {}).get("tracked", True):
        raise Failure(
            f"The run in {store} has no provenance: it ran with --plain.\n"
            "Run the workflow without --plain into another store."
        )

    graph = ProvenanceGraph.build(
        snapshot.segments.values(),
        snapshot.edges,
        snapshot.column,
        Around(executions=around) if around else None,
    )
    modules = graph.modules if zoom_out_all else zoom_out
    if modules:
        graph = graph.zoom_out(modules)
    opened = Opened(snapshot, graph)
    if delete:
        return Opened(snapshot, graph.delete(delete))
    return opened

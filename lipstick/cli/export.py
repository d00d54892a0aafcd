"""``lipstick graph export``: a graph in the formats of others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure
from lipstick.cli.opened import graph_options, open_graph, store_argument

if TYPE_CHECKING:
    from datetime import datetime

    from graphquery import ProvenanceGraph
    from graphquery.store import Snapshot

_TEXTS = ("prov-json", "prov-n", "dot", "openlineage", "networkx")
_FILES = ("graphml", "parquet")


@click.command()
@store_argument
@graph_options
@click.option("--to", "kind", type=click.Choice([*_TEXTS, *_FILES]), required=True)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="The file (for Parquet the folder) to write instead of standard output.",
)
@click.option(
    "--max-nodes",
    type=click.IntRange(min=1),
    help="For PROV, DOT, networkx: refuse a larger graph.  [default: 5,000 for DOT, or 100,000]",
)
@click.option(
    "--namespace",
    default="lipstick",
    show_default=True,
    help="The namespace of OpenLineage jobs and datasets.",
)
def export(
    store: Path,
    around: tuple[int, ...],
    zoom_out: tuple[str, ...],
    zoom_out_all: bool,
    delete: tuple[str, ...],
    kind: str,
    output: Path | None,
    max_nodes: int | None,
    namespace: str,
) -> None:
    """Write the graph as PROV-JSON, PROV-N, GraphML, DOT, Parquet, OpenLineage events or for
    networkx (the JSON of node_link_graph).

    OpenLineage is a line per event, with the times that the run has stored; in a store that has
    none, an invocation has started when what was stored before it was.
    """
    if kind in _FILES and output is None:
        raise Failure(f"{kind} is written to a file: give --output.")
    opened = open_graph(store, around, zoom_out, zoom_out_all, delete)
    if kind in _FILES:
        assert output is not None  # checked before anything was read
        _write(opened.graph, kind, output)
        return
    if kind == "openlineage":
        text = _openlineage(opened.graph, opened.snapshot, namespace)
    else:
        text = _text(opened.graph, kind, {} if max_nodes is None else {"limit": max_nodes})
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")


def _write(graph: ProvenanceGraph, kind: str, output: Path) -> None:
    from graphquery.exchange import write_graphml, write_parquet

    if kind == "graphml":
        write_graphml(graph, output)
    else:
        write_parquet(graph, output)


def _text(graph: ProvenanceGraph, kind: str, limits: dict[str, Any]) -> str:
    from graphquery.exchange import to_dot, to_prov

    if kind == "networkx":
        from networkx import node_link_data

        from graphquery.exchange.limits import check_size
        from lipstick.explorer.cells import json_text

        check_size(graph.node_count, limits.get("limit", 100_000), "networkx")
        graph_data = node_link_data(graph.to_networkx(), edges="edges")
        return f"{json_text(graph_data, default=str)}\n"
    if kind == "dot":
        return to_dot(graph, **limits)
    document = to_prov(graph, **limits)
    if kind == "prov-n":
        return f"{document.get_provn()}\n"
    return f"{document.serialize(format='json', indent=1)}\n"


def _openlineage(graph: ProvenanceGraph, snapshot: Snapshot, namespace: str) -> str:
    from graphquery.exchange import to_openlineage
    from lipstick.openlineage import emit

    events = to_openlineage(
        graph, _times(snapshot), namespace=namespace, workflow=_workflow_name(snapshot)
    )
    return emit(events, None, send=False)


def _workflow_name(snapshot: Snapshot) -> str:
    from lipstick.workflow.definition import bounded_yaml

    record = snapshot.records.get("workflow")
    return "workflow" if record is None else str(bounded_yaml.load(record["text"])["workflow"])


def _times(snapshot: Snapshot) -> Callable[[str], tuple[datetime, datetime]]:
    """Return a function from an invocation to its start and end, by its record or else the log."""
    from datetime import datetime

    logged: dict[str, tuple[datetime, datetime]] = {}

    def times(invocation: str) -> tuple[datetime, datetime]:
        record = snapshot.records.get(invocation, {})
        if "started" in record:
            started, ended = (datetime.fromisoformat(record[key]) for key in ("started", "ended"))
            return started, ended
        if not logged:
            logged.update(_logged(snapshot))
        return logged[invocation]

    return times


def _logged(snapshot: Snapshot) -> dict[str, tuple[datetime, datetime]]:
    """Return, for each segment, the times of the commit before its own and of its own."""
    from datetime import datetime

    from graphquery.store.log import read_entry

    times: dict[str, tuple[datetime, datetime]] = {}
    before: datetime | None = None
    for version in range(1, snapshot.version + 1):
        commit, _ = read_entry(snapshot.root, version)
        stored = datetime.fromisoformat(commit.time)
        times.update(dict.fromkeys((s.name for s in commit.segments), (before or stored, stored)))
        before = stored
    return times

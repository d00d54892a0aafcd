"""``lipstick graph``: the provenance graph in a store, looked at, zoomed and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure
from lipstick.cli.export import export
from lipstick.cli.graph_show import show, stats
from lipstick.cli.opened import Opened, graph_command
from lipstick.cli.output import HTML, JSON, SVG, TABLE, Answer, counted

if TYPE_CHECKING:
    from graphquery import ProvenanceGraph


@click.group()
def graph() -> None:
    """Look at the provenance graph in a store, zoom, delete and ask.

    STORE is the folder that a workflow ran into. Nodes are called by their names, such as
    'dealer1#1/Bids:B1'. What --zoom-out and --delete say is done first, in this order; the store
    is not changed.
    """


for each in (export, show, stats):
    graph.add_command(each)


@graph.command(name="zoom-out")
@graph_command(SVG, HTML)
@click.argument("modules", metavar="[MODULE]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="All modules.")
def zoom_out(opened: Opened, answer: Answer, modules: tuple[str, ...], every: bool) -> None:
    """The graph with every invocation of MODULEs as one node."""
    from lipstick.cli.nodes import send_graph

    if bool(modules) is every:
        raise Failure("Give the modules to zoom out of, or --all for all of them.")
    before = opened.graph
    send_graph(answer, before.zoom_out(before.modules if every else modules), before)


@graph.command(name="zoom-in")
@graph_command(SVG, HTML)
@click.argument("modules", metavar="MODULE...", nargs=-1, required=True)
def zoom_in(opened: Opened, answer: Answer, modules: tuple[str, ...]) -> None:
    """The coarse graph with what MODULEs do inside.

    If nothing is zoomed out by --zoom-out, all modules are.
    """
    from lipstick.cli.nodes import send_graph

    before = opened.graph if opened.graph.zoomed else opened.graph.zoom_out(opened.graph.modules)
    send_graph(answer, before.zoom_in(modules), before)


@graph.command()
@graph_command(SVG, HTML)
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
def delete(opened: Opened, answer: Answer, nodes: tuple[str, ...]) -> None:
    """List the nodes that are gone without NODEs, and the values that change then.

    A value that only running the module again would give is shown as '?'. A picture shows what is
    left.
    """
    import numpy as np

    from lipstick.cli.nodes import UNKNOWN, summary, told
    from lipstick.explorer.graphs.node_values import node_rows

    before = opened.graph
    after = before.delete(nodes)
    if answer.format in (SVG, HTML):
        answer.send_picture(after)
        return
    gone = np.setdiff1d(before.ids, after.ids, assume_unique=True)
    removed = node_rows(before, gone[: answer.rows])
    changes, count = _changes(before, after, answer.rows)
    if answer.format == JSON:
        left = {"node_count": after.node_count, "edge_count": after.edge_count}
        answer.send_json({"removed": removed, "values": changes, "left": left})
        return
    answer.say(f"Gone: {counted(len(gone), 'node')}")
    answer.table(told(removed), len(gone))
    if changes:
        answer.say(f"Values that are others ({UNKNOWN}: only running the module again would tell):")
        rows = [
            {"name": row["name"], "old": row["old"], "new": UNKNOWN if row["stale"] else row["new"]}
            for row in changes
        ]
        answer.table(rows, count)
    answer.say(f"Left: {summary(after, before)}")
    answer.send_table()


def _changes(
    before: ProvenanceGraph, after: ProvenanceGraph, limit: int | None
) -> tuple[list[dict[str, Any]], int]:
    """The first of the values that a deletion changed or left unknown, and how many there are."""
    from lipstick.explorer.graphs.node_values import changed, values

    ids = changed(before, after)
    shown = ids[:limit]
    old, _ = values(before, shown)
    new, unknown = values(after, shown)
    rows = [
        {"name": name, "old": old.get(node), "new": new.get(node), "stale": node in unknown}
        for node, name in zip(shown.tolist(), after.names(shown), strict=True)
    ]
    return rows, len(ids)


@graph.command()
@graph_command()
@click.argument("node")
@click.argument("others", metavar="OTHER...", nargs=-1, required=True)
def depends(opened: Opened, answer: Answer, node: str, others: tuple[str, ...]) -> None:
    """Check if NODE would be gone without the OTHERs, taken together."""
    verdict = opened.graph.depends(node, others)
    if answer.format == JSON:
        answer.send_json({"node": node, "on": list(others), "depends": verdict})
        return
    without = f"without {' and '.join(others)}"
    answer.say(f"yes: {without}, {node} is gone" if verdict else f"no: {node} is there {without}")
    answer.send_table()


@graph.command()
@graph_command(SVG, HTML)
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
def subgraph(opened: Opened, answer: Answer, nodes: tuple[str, ...]) -> None:
    """NODEs, their ancestors and descendants, and siblings of the descendants."""
    from lipstick.cli.nodes import send_graph

    send_graph(answer, opened.graph.subgraph(nodes), opened.graph)


@graph.command()
@graph_command()
@click.argument("source")
@click.argument("target")
@click.option("--longest", type=click.IntRange(min=0), help="Edges of a path at most.")
def path(opened: Opened, answer: Answer, source: str, target: str, longest: int | None) -> None:
    """List paths from SOURCE to TARGET, the shortest first; 10 without --limit."""
    limit = 10 if answer.limit is None else answer.limit
    paths = opened.graph.paths(source, target, limit, longest)
    names = [opened.graph.names(each) for each in paths]
    if answer.format == JSON:
        answer.send_json(names)
        return
    answer.table([{"edges": len(each) - 1, "path": " → ".join(each)} for each in names])
    if not names:
        answer.say(f"There is no path from {source} to {target}.")
    answer.send_table()


@graph.command()
@graph_command()
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
def inputs(opened: Opened, answer: Answer, nodes: tuple[str, ...]) -> None:
    """List the inputs, with their executions, and the initial state that NODEs are made of."""
    rows = opened.graph.inputs(nodes).drop_columns(["id"]).to_pylist()
    _send_rows(answer, rows)


@graph.command()
@graph_command()
@click.argument("left", type=int)
@click.argument("right", type=int)
def difference(opened: Opened, answer: Answer, left: int, right: int) -> None:
    """Compare two executions: what LEFT has and RIGHT has not, and the other way round."""
    sides = opened.graph.difference(left, right)
    rows = sides.summary.to_pylist()
    if answer.format == TABLE:
        _send_rows(answer, rows)
        return
    alone = {"only_left": sides.only_left.names(), "only_right": sides.only_right.names()}
    answer.send_json({"summary": rows} | alone)


def _send_rows(answer: Answer, rows: list[dict[str, Any]]) -> None:
    shown = rows[: answer.rows]
    if answer.format == JSON:
        answer.send_json(shown)
        return
    answer.table(shown, len(rows))
    answer.say(counted(len(rows), "row"))
    answer.send_table()

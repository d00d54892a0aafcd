"""``lipstick graph stats`` and ``show``: what nodes there are, and what is known of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.conditions import conditions
from lipstick.cli.errors import Failure
from lipstick.cli.opened import Opened, graph_command
from lipstick.cli.output import HTML, JSON, SVG, Answer, counted

if TYPE_CHECKING:
    from graphquery import ProvenanceGraph


@click.command()
@graph_command()
def stats(opened: Opened, answer: Answer) -> None:
    """Count the nodes, by module and by kind."""
    shown = opened.graph
    modules, kinds, invocations = _counted(shown)
    document: dict[str, Any] = {
        "node_count": shown.node_count,
        "edge_count": shown.edge_count,
        "executions": len(shown.executions),
        "zoomed": sorted(shown.zoomed),
        "modules": [
            {"module": name, "invocations": invocations[name], "nodes": modules[name]}
            for name in shown.modules
        ],
        "outside_modules": modules[None],
        "kinds": dict(sorted(kinds.items())),
    }
    if answer.format == JSON:
        answer.send_json(document)
        return
    from lipstick.cli.nodes import summary

    answer.say(f"{summary(shown)}; executions: {document['executions']:,}")
    answer.table(document["modules"])
    answer.table([{"kind": kind, "nodes": nodes} for kind, nodes in document["kinds"].items()])
    answer.send_table()


def _counted(
    graph: ProvenanceGraph,
) -> tuple[Counter[str | None], Counter[str], Counter[str | None]]:
    """Nodes by module and by kind, and invocations by module."""
    import numpy as np

    from graphquery import Kind

    modules: Counter[str | None] = Counter()
    kinds: Counter[str] = Counter()
    invocations: Counter[str | None] = Counter()
    storage = graph.storage
    stored = graph.ids[graph.ids < storage.count]
    sizes = np.bincount(storage.segment_of(stored), minlength=len(storage.segments))
    segments = list(zip(storage.segments, sizes.tolist(), strict=True))
    zoomed = graph.ids[graph.ids >= storage.count]
    segments += [(graph.segment(int(node)), 1) for node in zoomed]
    for segment, count in segments:
        modules[segment.module] += count
        if count:
            kinds[segment.kind.value] += count
        if segment.kind is Kind.INVOCATION:
            invocations[segment.module] += count
    return modules, kinds, invocations


@click.command()
@graph_command(SVG, HTML)
@click.argument("nodes", metavar="[NODE]...", nargs=-1)
@click.option("--kind", multiple=True, help="Of this kind: token, m, i, o, s, p, v, zoomed.")
@click.option("--label", multiple=True, help="With this label, such as COUNT.")
@click.option("--module", multiple=True, help="Of this module.")
@click.option("--invocation", multiple=True, type=int, help="Of this invocation, from 1.")
@click.option("--execution", multiple=True, type=int, help="Of this execution, from 0.")
@click.option("--relation", multiple=True, help="Tuples of this relation.")
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Whose values meet this: 'Model=Civic', 'value>=2'; may be repeated.",
)
def show(
    opened: Opened, answer: Answer, nodes: tuple[str, ...], where: tuple[str, ...], **options: Any
) -> None:
    """The nodes that meet all conditions; of NODEs also what they are made of.

    Without any, the whole graph, also as a picture.
    """
    given = {name: values for name, values in options.items() if values}
    if where:
        given["where"] = conditions(where)
    from lipstick.cli.nodes import send_graph, told
    from lipstick.explorer.graphs.node_values import node_rows

    if not given and not nodes:
        send_graph(answer, opened.graph, None)
        return
    if answer.format in (SVG, HTML):
        raise Failure("A picture is of a graph, not of some of its nodes: use graph subgraph.")
    selection = opened.graph.select(within=nodes or None, **given)
    shown = selection.ids[: answer.rows]
    rows = node_rows(opened.graph, shown)
    if nodes:
        for row, node in zip(rows, shown, strict=True):
            row.update(_neighbourhood(opened, int(node), answer.rows))
    if answer.format == JSON:
        answer.send_json(rows)
        return
    if nodes:
        for row in rows:
            answer.table(_details(row))
    else:
        answer.table(told(rows), len(selection))
        answer.say(counted(len(selection), "node"))
    answer.send_table()


def _neighbourhood(opened: Opened, node: int, limit: int | None) -> dict[str, Any]:
    """Return the causes and results of a node, so many of each at most, and the node's tuple."""
    from lipstick.explorer.graphs.node_values import columns_of_tuple

    before, after = opened.graph.ancestors([node], 1), opened.graph.descendants([node], 1)
    return {
        "made_of": opened.graph.names(before.ids[:limit]),
        "made_of_count": len(before),
        "makes": opened.graph.names(after.ids[:limit]),
        "makes_count": len(after),
        "tuple": columns_of_tuple(opened.snapshot, opened.graph, node),
    }


def _details(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A node's row as lines of a name and a value."""
    around = ("made_of", "makes")
    apart = {"tuple", *around, *(f"{name}_count" for name in around)}
    lines = [(n, v) for n, v in row.items() if v is not None and n not in apart]
    lines += [(f"tuple.{name}", value) for name, value in row["tuple"].items()]
    for name in around:
        lines += [(name.replace("_", " "), other) for other in row[name]]
        if row[f"{name}_count"] > len(row[name]):
            lines.append(("", f"{row[f'{name}_count'] - len(row[name]):,} more"))
    return [{"": name, "node": value} for name, value in lines]

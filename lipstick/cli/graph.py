"""``lipstick graph``: the provenance graph in a store, looked at, zoomed and asked."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import click
import numpy as np

from graphquery import GraphEngine, ProvenanceGraph
from lipstick.cli.errors import Failure
from lipstick.cli.export import export
from lipstick.cli.opened import Opened, graph_command
from lipstick.cli.output import HTML, JSON, SVG, TABLE, Answer, CommandGroup, counted
from lipstick.explorer.graphs.node_values import node_rows
from semiring.base import Array

_CONDITION = re.compile(r"\s*(?P<column>[^<>=\s]+)\s*(?P<op><=>|<=|>=|<>|=|<|>)\s*(?P<value>.*)")


def condition(text: str) -> tuple[str, tuple[str, Any]]:
    """A column, and a comparison of SQL with a value.

    The value is what it is as JSON, so that ``"123"`` is text; what is not JSON is text.

    Raises
    ------
    click.BadParameter
        For text of another form.
    """
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise click.BadParameter(
            f"{text!r} is not a condition.\nWrite a column, one of = <> < <= > >= <=>, and a "
            "value: 'Amount>=20000', 'Model=Civic'."
        )
    try:
        value = json.loads(match["value"])
    except ValueError:
        value = match["value"].strip()
    return match["column"], (match["op"], value)


def conditions(texts: Iterable[str]) -> dict[str, tuple[str, Any]]:
    """Conditions by column, as :meth:`graphquery.ProvenanceGraph.select` takes them.

    Raises
    ------
    click.BadParameter
        For text of another form, and for two conditions on one column.
    """
    comparisons: dict[str, tuple[str, Any]] = {}
    for text in texts:
        column, comparison = condition(text)
        if column in comparisons:
            raise click.BadParameter(
                f"There are two conditions on {column}.\nGive one, and choose among what it leaves."
            )
        comparisons[column] = comparison
    return comparisons


UNKNOWN = "?"
"""In tables, a value that only running the module again would give."""


def told(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of nodes as a table has them: what is not known is `UNKNOWN`."""
    return [
        {name: UNKNOWN if name == "value" and row["stale"] else row[name] for name in row}
        | {"stale": None}
        for row in rows
    ]


def send_graph(answer: Answer, graph: ProvenanceGraph, before: ProvenanceGraph | None) -> None:
    """Answer with a graph.

    Parameters
    ----------
    before
        The graph that it was made from, to show how the number of nodes changed.
    """
    if answer.format in (SVG, HTML):
        answer.send_picture(graph)
        return
    shown = graph.ids[: answer.rows]
    rows = node_rows(graph, shown)
    if answer.format == TABLE:
        answer.say(summary(graph, before))
        answer.table(told(rows), graph.node_count)
        answer.send_table()
        return
    answer.send_json(
        {
            "node_count": graph.node_count,
            "edge_count": graph.edge_count,
            "zoomed": sorted(graph.zoomed),
            "nodes": rows,
            "edges": edges(graph, shown),
        }
    )


def summary(graph: GraphEngine[Any], before: GraphEngine[Any] | None = None) -> str:
    """Return the size of a graph, and its zoomed-out modules."""
    text = f"{counted(graph.node_count, 'node')}, {counted(graph.edge_count, 'edge')}"
    if before is not None and before is not graph:
        text += f" (of {before.node_count:,} and {before.edge_count:,})"
    zoomed = ", ".join(sorted(graph.zoomed))
    return f"{text}; zoomed out: {zoomed}" if zoomed else text


def edges(graph: ProvenanceGraph, ids: Sequence[int] | Array) -> list[dict[str, Any]]:
    """Return the edges among some ascending nodes, by name; `port` is the target's operand."""
    among = np.asarray(ids, dtype=np.int64)
    names = dict(zip(among.tolist(), graph.names(among), strict=True))
    adjacency = graph.outgoing(among, ports=True)
    sources = np.repeat(among, adjacency.degrees)
    inside = np.isin(adjacency.nodes, among)
    ports = np.zeros(len(sources), np.uint8) if adjacency.ports is None else adjacency.ports
    return [
        {"source": names[source], "target": names[target], "port": port}
        for source, target, port in zip(
            sources[inside].tolist(),
            adjacency.nodes[inside].tolist(),
            ports[inside].tolist(),
            strict=True,
        )
    ]


@click.group(cls=CommandGroup)
def graph() -> None:
    """Look at the provenance graph in a store, zoom, delete and ask.

    STORE is the folder that a workflow ran into. Nodes are called by their names, such as
    'dealer1#1/Bids:B1'. What --zoom-out and --delete say is done first, in this order; the store
    is not changed.
    """


@graph.command(name="zoom-out")
@graph_command(SVG, HTML)
@click.argument("modules", metavar="[MODULE]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Zoom into all modules.")
def zoom_out(opened: Opened, answer: Answer, modules: tuple[str, ...], every: bool) -> None:
    """The graph with every invocation of MODULEs as one node."""

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
    without = f"without {' and '.join(others)}"
    answer.say(f"yes: {without}, {node} is gone" if verdict else f"no: {node} is there {without}")
    answer.finish({"node": node, "on": list(others), "depends": verdict})


@graph.command()
@graph_command(SVG, HTML)
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
def subgraph(opened: Opened, answer: Answer, nodes: tuple[str, ...]) -> None:
    """NODEs, their ancestors and descendants, and siblings of the descendants."""

    send_graph(answer, opened.graph.subgraph(nodes), opened.graph)


@graph.command()
@graph_command()
@click.argument("source")
@click.argument("target")
@click.option("--longest", type=click.IntRange(min=0), help="At most this many edges in a path.")
def path(opened: Opened, answer: Answer, source: str, target: str, longest: int | None) -> None:
    """List paths from SOURCE to TARGET, the shortest first; 10 without --limit."""
    limit = 10 if answer.limit is None else answer.limit
    paths = opened.graph.paths(source, target, limit, longest)
    names = [opened.graph.names(each) for each in paths]
    answer.table([{"edges": len(each) - 1, "path": " → ".join(each)} for each in names])
    if not names:
        answer.say(f"There is no path from {source} to {target}.")
    answer.finish(names)


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
    answer.table(shown, len(rows))
    answer.say(counted(len(rows), "row"))
    answer.finish(shown)


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

    answer.say(f"{summary(shown)}; executions: {document['executions']:,}")
    answer.table(document["modules"])
    answer.table([{"kind": kind, "nodes": nodes} for kind, nodes in document["kinds"].items()])
    answer.finish(document)


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
@click.option("--kind", multiple=True, help="Nodes of this kind: token, m, i, o, s, p, v, zoomed.")
@click.option("--label", multiple=True, help="Nodes with this label, such as COUNT.")
@click.option("--module", multiple=True, help="Nodes of this module.")
@click.option("--invocation", multiple=True, type=int, help="Nodes of this invocation, from 1.")
@click.option("--execution", multiple=True, type=int, help="Nodes of this execution, from 0.")
@click.option("--relation", multiple=True, help="Tuples of this relation.")
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Nodes whose values meet this condition: 'Model=Civic', 'value>=2'; may be repeated.",
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
    if nodes:
        for row in rows:
            answer.table(_details(row))
    else:
        answer.table(told(rows), len(selection))
        answer.say(counted(len(selection), "node"))
    answer.finish(rows)


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


for each in (export, show, stats):
    graph.add_command(each)

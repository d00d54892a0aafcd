"""``lipstick graph``: the provenance graph in a store, looked at, zoomed and asked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.conditions import conditions
from lipstick.cli.errors import Failure
from lipstick.cli.export import export
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


graph.add_command(export)


@graph.command()
@graph_command()
def stats(opened: Opened, answer: Answer) -> None:
    """How many nodes there are, by module and by kind."""
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


@graph.command()
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
    from lipstick.node_values import node_rows

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
    """What a node is made of and makes, of each so many at most, and the tuple it stands for."""
    from lipstick.node_values import columns_of_tuple

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
    """What is gone without NODEs, and which values are others then.

    A value that only running the module again would tell is shown as '?'. A picture is of what is
    left.
    """
    import numpy as np

    from lipstick.cli.nodes import UNKNOWN, summary, told
    from lipstick.node_values import node_rows

    opened.check_deletable()
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
    from lipstick.node_values import changed, values

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
    """Whether NODE would be gone without the OTHERs, taken together."""
    opened.check_deletable()
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
    """Paths from SOURCE to TARGET, the shortest first; 10 unless --limit says otherwise."""
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
    """Which inputs, of which execution, and which initial state NODEs are made of."""
    rows = opened.graph.inputs(nodes).drop_columns(["id"]).to_pylist()
    _send_rows(answer, rows)


@graph.command()
@graph_command()
@click.argument("left", type=int)
@click.argument("right", type=int)
def difference(opened: Opened, answer: Answer, left: int, right: int) -> None:
    """What execution LEFT has and execution RIGHT has not, and the other way round."""
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

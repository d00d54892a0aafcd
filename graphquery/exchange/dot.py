"""Graphs in DOT, the language of Graphviz: clustered by module and invocation, as in the paper."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from graphquery.exchange.graph_tables import edge_table, node_table, node_values
from graphquery.exchange.limits import check_size
from graphquery.graph import ProvenanceGraph
from graphquery.model import Kind, Port

_STYLES = {Port.SUBTRAHEND: ' [style=dashed, arrowhead="tee"]', Port.VALUE: " [style=dotted]"}


def to_dot(graph: ProvenanceGraph, limit: int = 5_000) -> str:
    """Return a graph in DOT.

    p-nodes are circles and v-nodes boxes (Amsterdamer et al., PVLDB 5(4), section 3), invocations
    and zoomed invocations are double circles. Edges to the right side of `⊖` are dashed, those to
    the value of `⊗` dotted. Nodes have their names as tooltips.

    Raises
    ------
    GraphError
        When the graph has more than `limit` nodes: no layout would be readable.
    """
    check_size(graph.node_count, limit, "DOT")
    values = node_values(graph)
    clusters: dict[tuple[str | None, int | None], list[str]] = defaultdict(list)
    for row in node_table(graph).to_pylist():
        clusters[row["module"], row["invocation"]].append(_node(row, values))
    lines = ["digraph provenance {", "  rankdir=BT;", "  node [fontsize=10];"]
    modules = dict.fromkeys(module for module, _ in clusters)
    for module in modules:
        inner = {key: nodes for key, nodes in clusters.items() if key[0] == module}
        lines += _module(module, inner)
    for edge in edge_table(graph).to_pylist():
        lines.append(f"  n{edge['source']} -> n{edge['target']}{_STYLES.get(edge['port'], '')};")
    return "\n".join([*lines, "}", ""])


def _module(
    module: str | None, invocations: dict[tuple[str | None, int | None], list[str]]
) -> list[str]:
    if module is None:
        return [f"  {node}" for nodes in invocations.values() for node in nodes]
    lines = [f"  subgraph {_quoted('cluster_' + module)} {{", f"    label={_quoted(module)};"]
    for (_, invocation), nodes in invocations.items():
        if invocation is None:
            lines += [f"    {node}" for node in nodes]
            continue
        name = f"{module}#{invocation}"
        lines += [
            f"    subgraph {_quoted('cluster_' + name)} {{",
            f"      label={_quoted(name)};",
            "      style=dotted;",
            *(f"      {node}" for node in nodes),
            "    }",
        ]
    return [*lines, "  }"]


def _node(row: dict[str, Any], values: dict[int, Any]) -> str:
    label = row["label"] or row["name"].rpartition("/")[2]
    value = values.get(row["id"])
    if value is not None and str(value) != label:
        label = f"{label}\n{value}"
    kind = Kind(row["kind"])
    shape = {Kind.VALUE: "box", Kind.INVOCATION: "doublecircle", Kind.ZOOMED: "doublecircle"}
    drawn = f"shape={shape.get(kind, 'circle')}"
    return f"n{row['id']} [label={_quoted(label)}, {drawn}, tooltip={_quoted(row['name'])}];"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped.replace(chr(0), chr(0xFFFD))}"'

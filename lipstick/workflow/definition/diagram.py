"""A workflow as a drawing for notebooks: nodes as boxes, and edges with their relations."""

from __future__ import annotations

from graphquery.boxes import DrawnBox, svg
from lipstick.workflow.definition.shape import Shape, execution_order, flows

_MOST = 60
"""Limit on the drawn nodes; the drawing counts the others."""


def workflow_svg(name: str, shape: Shape) -> str:
    """Return a workflow as SVG: inputs have a thick left side, outputs a thick right one.

    Below a node's module stand the relations of its state.
    """
    order = execution_order(shape)
    boxes = {node: _box(shape, node) for node in order[:_MOST]}
    links: dict[tuple[str, str], str] = {}
    for edge in shape.edges:
        if edge.source in boxes and edge.target in boxes:
            carried = ", ".join(
                output if output == other else f"{output} → {other}"
                for output, other in flows(shape, edge).items()
            )
            ends = edge.source, edge.target
            links[ends] = f"{links[ends]}, {carried}" if ends in links else carried
    left_out = len(order) - len(boxes)
    note = f"and {left_out} more nodes, not drawn" if left_out else ""
    return svg(boxes, links, f"Workflow {name}", note)


def _box(shape: Shape, node: str) -> DrawnBox:
    module = shape.nodes[node]
    return DrawnBox(
        node if node == module.name else f"{node}: {module.name}",
        ", ".join(module.state),
        rounded=True,
        begins=node in shape.inputs,
        ends=node in shape.outputs,
    )

"""Why a node that is stored is not in a graph, and how to see it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from graphquery.model import Kind, Segment
from graphquery.view import Operation


def reason(
    name: str,
    segment: Segment,
    *,
    hidden: bool,
    zoomed: Collection[str],
    operations: Iterable[Operation],
) -> str:
    """The reason as a message.

    Parameters
    ----------
    name, segment
        Of the node.
    hidden
        Whether zooming out has hidden it.
    zoomed
        The modules that are zoomed out.
    operations
        What made the graph of the one that was built.
    """
    module = segment.module
    if segment.kind is Kind.ZOOMED and module not in zoomed:
        return (
            f"{name} stands for an invocation of {module}, which is not zoomed out here.\n"
            f"zoom_out({module!r}) first."
        )
    if hidden and module is not None:
        return f"{name} is inside {module}, which is zoomed out.\nzoom_in({module!r}) first."
    if hidden:
        return (
            f"{name} is a constant of modules that are zoomed out.\nzoom_in first:"
            f" {', '.join(sorted(zoomed))}."
        )
    how = "was deleted" if Operation.DELETE in operations else "is outside this subgraph"
    return f"{name} {how}.\nAsk the graph that this one was made of."

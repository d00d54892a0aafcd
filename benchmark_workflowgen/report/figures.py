"""Pictures as SVG, drawn by matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = (7.2, 3.6)


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A line or a cloud of points.

    Parameters
    ----------
    label
        In the legend.
    x, y
        The points.
    colour
        Lines of one number have one colour.
    dashed
        Whether the line is.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: int
    dashed: bool = False


def lines(drawn: Sequence[FigureLine], x: str, y: str, *, logarithmic: bool = False) -> str:
    """Return lines as a picture.

    Parameters
    ----------
    x, y
        What the axes say.
    logarithmic
        Whether both axes are, with points marked: for sizes.
    """

    def draw(axes: Axes) -> None:
        for line in drawn:
            style = "--" if line.dashed else "-"
            colour = f"C{line.colour % 10}"
            axes.plot(line.x, line.y, style, color=colour, marker="o", ms=3, label=line.label)
        if logarithmic:
            axes.set_xscale("log")
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.legend(fontsize=7, frameon=False)

    return _svg(draw, x, y)


def bars(names: Sequence[str], groups: Mapping[str, Sequence[float]], y: str, unit: float) -> str:
    """Return groups of bars as a picture.

    Parameters
    ----------
    names
        What stands below each group.
    groups
        The heights, by what is in the legend.
    one
        Where a line goes across.
    """

    def draw(axes: Axes) -> None:
        width = 0.8 / max(len(groups), 1)
        for number, (name, heights) in enumerate(groups.items()):
            places = [at + (number + 0.5) * width - 0.4 for at in range(len(names))]
            axes.bar(places, heights, width, label=name)
        axes.axhline(unit, color="black", linewidth=0.8)
        axes.set_xticks(range(len(names)), names, fontsize=7, rotation=30, ha="right")
        axes.legend(fontsize=7, frameon=False)

    return _svg(draw, "", y)


def _svg(draw: Any, x: str, y: str) -> str:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "The report's pictures are drawn by matplotlib, which is not installed.\n"
            "Install it: pip install 'lipstick-spark[bench]'."
        ) from error
    # The same results give the same file, with text as text.
    with mpl.rc_context({"svg.hashsalt": "workflowgen", "svg.fonttype": "none"}):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.spines[["top", "right"]].set_visible(False)
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue()

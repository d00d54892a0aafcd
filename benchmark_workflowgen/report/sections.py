"""The sections of a report: one per experiment and kind of figure."""

from __future__ import annotations

import io
import json
import math
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark_workflowgen.measure.rows import Measurement
from benchmark_workflowgen.report.page import PagePicture, Section, Table
from benchmark_workflowgen.results import Result

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


_DEALERSHIPS = {10: (2.7, 7.0), 100: (3.8, 11.9)}
_ARCTIC = {"parallel": 16.5, "dense": 20.0, "serial": 35.0}

PARALLELISM = (
    "The paper (Figure 5c): about 50 % better with 2 to 4 reducers, with provenance and without."
)
GRAPHS = (
    "The paper's numbers for graphs (its sections 5.5 and 5.6) are not quoted: they were not at "
    "hand."
)


def quoted(kind: str, parameters: Mapping[str, Any]) -> str:
    """Return the paper's figures for a setting, or an empty text.

    Parameters
    ----------
    kind, parameters
        The kind and the parameters of the experiment.
    """
    if kind == "dealerships" and parameters.get("cars") == 5_000:
        figures = _DEALERSHIPS.get(int(parameters.get("executions", 0)))
        if figures is not None and not {"cores", "shuffle_partitions"} & set(parameters):
            plain, tracked = figures
            return f"{plain} s → {tracked} s, {tracked / plain:.1f}×"
    if kind == "arctic" and parameters.get("stations") == 24:
        month = parameters.get("selectivity", "month") == "month"
        overhead = _ARCTIC.get(str(parameters.get("topology", "parallel")))
        if month and overhead is not None:
            return f"{1 + overhead / 100:.3g}×"
    return ""


@dataclass(frozen=True, slots=True)
class Setting:
    """All repetitions of one setting of an experiment.

    Parameters
    ----------
    kind, parameters
        Of the setting.
    results
        Its repetitions.
    """

    kind: str
    parameters: Mapping[str, Any]
    results: tuple[Result, ...]

    def rows(self, measure: str, variant: str | None = None) -> list[Measurement]:
        """Return the measurements of a name, of all repetitions."""
        return [
            row
            for result in self.results
            for row in result.measurements
            if row.measure == measure and variant in (None, row.variant)
        ]

    def mean(self, measure: str, variant: str | None = None) -> float | None:
        """Return the mean of a measure over repetitions and positions; None: it was not
        measured.
        """
        values = [row.value for row in self.rows(measure, variant)]
        return statistics.fmean(values) if values else None

    def series(self, measure: str, variant: str) -> tuple[list[int], list[float]]:
        """Return the means of a measure by position."""
        values_by_position: dict[int, list[float]] = {}
        for row in self.rows(measure, variant):
            values_by_position.setdefault(row.position or 0, []).append(row.value)
        positions = sorted(values_by_position)
        return positions, [statistics.fmean(values_by_position[position]) for position in positions]

    def ratio(self, measure: str, variant: str, base: str) -> float | None:
        """Return the mean of `variant` as a multiple of the mean of `base`; None without either."""
        above, below = self.mean(measure, variant), self.mean(measure, base)
        return above / below if above is not None and below else None

    def measures(self) -> list[str]:
        """Return the names of all measures, in their order."""
        names = (row.measure for result in self.results for row in result.measurements)
        return list(dict.fromkeys(names))


def settings(results: Iterable[Result], *, joined: Collection[str] = ()) -> list[Setting]:
    """Return the settings of results, in their order.

    Parameters
    ----------
    joined
        Parameters that make no setting of their own: the queries of a suite.
    """
    by_parameters: dict[str, list[Result]] = {}
    for result in results:
        kept = {name: value for name, value in result.parameters.items() if name not in joined}
        by_parameters.setdefault(json.dumps(kept, sort_keys=True), []).append(result)
    return [
        Setting(same[0].kind, json.loads(parameters), tuple(same))
        for parameters, same in by_parameters.items()
    ]


def varied(compared: Sequence[Setting]) -> tuple[str, ...]:
    """Return the parameters in which some settings differ."""
    names = dict.fromkeys(name for setting in compared for name in setting.parameters)
    return tuple(
        name
        for name in names
        if len({str(setting.parameters.get(name)) for setting in compared}) > 1
    )


def label(setting: Setting, names: Sequence[str]) -> str:
    """Return the label of a setting: some of its parameters, or its kind."""
    shown = [f"{name} {setting.parameters[name]}" for name in names if name in setting.parameters]
    return ", ".join(shown) or setting.kind


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return math.exp(statistics.fmean(math.log(value) for value in values))


_PARALLEL = ("cores", "shuffle_partitions", "parallelism")
_SIZES = ("nodes", "edges")
_LINES = 12
"""That a picture can be read with."""
_SHORTEST = 0.1
"""Lower limit on the length of a bar or the height of a point, in milliseconds."""


def sections(results: Sequence[Result]) -> Iterator[Section]:
    """Yield the sections of results, experiments in the order in which they ran."""
    for experiment in dict.fromkeys(result.experiment for result in results):
        same = [result for result in results if result.experiment == experiment]
        of_experiment = settings(same, joined=("query",))
        if of_experiment[0].kind in ("tpch", "tpcds"):
            yield from (_queries(experiment, setting) for setting in of_experiment)
            continue
        if of_experiment[0].kind != "graph":
            yield _executions(experiment, of_experiment)
            if set(varied(of_experiment)) & set(_PARALLEL):
                yield _improvement(experiment, of_experiment)
        if any(setting.rows("load and build") for setting in of_experiment):
            yield _graphs(experiment, of_experiment)


def _executions(experiment: str, of_experiment: Sequence[Setting]) -> Section:
    """Seconds per execution by prior executions: figures 5a and 5b."""
    names = varied(of_experiment)
    drawn, rows = [], []
    for number, setting in enumerate(of_experiment):
        called = label(setting, names)
        for variant in ("plain", "tracked"):
            x, y = setting.series("execution", variant)
            if x:
                dashed = variant == "plain"
                drawn.append(FigureLine(f"{called}, {variant}", x, y, number, dashed))
        rows.append(
            (
                called,
                float(len(setting.results)),
                setting.mean("executions", "tracked"),
                *(setting.mean("preparation", variant) for variant in ("plain", "tracked")),
                setting.mean("execution", "plain"),
                setting.mean("execution", "tracked"),
                setting.ratio("execution", "tracked", "plain"),
                quoted(setting.kind, setting.parameters),
                setting.mean("store", "tracked"),
            )
        )
    columns = (
        *("setting", "runs", "executions", "plain before, s", "tracked before, s"),
        *("plain s", "tracked s", "ratio", "paper", "store B"),
    )
    content: list[str | PagePicture | Table] = []
    if len(drawn) <= _LINES:
        caption = "Seconds per execution, by the number of executions before it; means of all runs."
        picture = lines(drawn, "prior executions", "seconds per execution")
        content.append(PagePicture(picture, caption))
    note = "Before: what is done once, before the first execution."
    return Section(experiment, [*content, Table(columns, rows), note])


def _improvement(experiment: str, of_experiment: Sequence[Setting]) -> Section:
    """Return how much better an execution is than with the least parallelism: figure 5c."""
    names = [name for name in _PARALLEL if name in varied(of_experiment)]
    first = min(of_experiment, key=lambda s: [float(s.parameters.get(name, 0)) for name in names])
    base = {variant: first.mean("execution", variant) for variant in ("plain", "tracked")}
    heights: dict[str, list[float]] = {"plain": [], "tracked": []}
    called = [label(setting, names) for setting in of_experiment]
    for setting in of_experiment:
        for variant, gains in heights.items():
            seconds, least = setting.mean("execution", variant), base[variant]
            gains.append(100 * (1 - seconds / least) if seconds and least else 0.0)
    rows = list(zip(called, heights["plain"], heights["tracked"], strict=True))
    return Section(
        f"{experiment}: parallelism",
        [
            PagePicture(
                bars(called, heights, "% better", 0),
                f"Improvement of an execution over {label(first, names)}.",
            ),
            Table(("setting", "plain %", "tracked %"), rows),
            PARALLELISM,
        ],
    )


def _graphs(experiment: str, of_experiment: Sequence[Setting]) -> Section:
    """Milliseconds of questions by the size of the graph."""
    questions = of_experiment[0].measures()
    questions = questions[questions.index("load and build") :]
    names = varied(of_experiment)
    grouped: dict[str, list[Setting]] = {}
    shaped = [name for name in names if name in ("topology", "selectivity", "fan_out")]
    for setting in sorted(of_experiment, key=lambda setting: setting.mean("nodes") or 0):
        grouped.setdefault(label(setting, shaped), []).append(setting)
    content: list[str | PagePicture | Table] = []
    for question in questions:
        drawn = [
            FigureLine(
                called,
                [setting.mean("nodes") or 0 for setting in same],
                [max(1e3 * (setting.mean(question) or 0), _SHORTEST) for setting in same],
                number,
            )
            for number, (called, same) in enumerate(grouped.items())
        ]
        picture = lines(drawn, "nodes", "milliseconds", logarithmic=True)
        content.append(PagePicture(picture, f"{question}, by the size of the graph."))
    rows = [
        (
            label(setting, names),
            *(setting.mean(size) for size in _SIZES),
            *(_milliseconds(setting.mean(question)) for question in questions),
        )
        for setting in of_experiment
    ]
    columns = ("setting", *_SIZES, *(f"{question}, ms" for question in questions))
    return Section(f"{experiment}: graphs", [*content, Table(columns, rows), GRAPHS])


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds


def _queries(experiment: str, setting: Setting) -> Section:
    """Ratios of queries to the plain query, with what they shuffled, captured and needed."""
    every = setting.measures()
    queries = [name for name in every if " " not in name]
    refused = [name.removesuffix(" refused") for name in every if name.endswith(" refused")]
    timed = [row.variant for row in setting.rows(queries[0])] if queries else []
    variants = [name for name in dict.fromkeys(timed) if name not in ("plain", "asked")]
    ratios = {
        variant: [setting.ratio(query, variant, "plain") or 0.0 for query in queries]
        for variant in variants
    }
    title = f"{experiment}, scale {setting.parameters.get('scale', 0.1)}"
    content: list[str | PagePicture | Table] = []
    if queries and variants:
        caption = "Time of each query over that of the plain query."
        content.append(PagePicture(bars(queries, ratios, "× plain", 1), caption))
        means = [
            (
                variant,
                geometric_mean(ratios_of_variant),
                max(ratios_of_variant),
                queries[ratios_of_variant.index(max(ratios_of_variant))],
            )
            for variant, ratios_of_variant in ratios.items()
            if min(ratios_of_variant) > 0
        ]
        content.append(Table(("variant", "geometric mean", "worst", "of"), means))
    if refused:
        content.append(f"Refused, and not measured: {', '.join(refused)}.")
    columns = ("query", "variant", "s", "× plain", "written B", "shuffled B", "memory B", "members")
    rows = [
        (
            query,
            variant,
            setting.mean(query, variant),
            setting.ratio(query, variant, "plain"),
            *(setting.mean(f"{query} {of}", variant) for of in ("bytes", "shuffle", "memory")),
            setting.mean(f"{query} members", variant),
        )
        for query in queries
        for variant in dict.fromkeys(timed)
    ]
    return Section(title, [*content, Table(columns, rows)])

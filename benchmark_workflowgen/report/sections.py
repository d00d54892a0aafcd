"""The sections of a report: one per experiment and kind of figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmark_workflowgen.report import paper
from benchmark_workflowgen.report.figures import FigureLine, bars, lines
from benchmark_workflowgen.report.page import PagePicture, Section, Table
from benchmark_workflowgen.report.summary import Setting, geometric_mean, label, settings, varied
from benchmark_workflowgen.results import Result

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
                paper.quoted(setting.kind, setting.parameters),
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
            paper.PARALLELISM,
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
    return Section(f"{experiment}: graphs", [*content, Table(columns, rows), paper.GRAPHS])


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

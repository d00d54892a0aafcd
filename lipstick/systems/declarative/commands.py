"""``lipstick pipeline``: a declarative pipeline, asked about the tables that its runs left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from lipstick.cli.errors import INCOMPLETE, Failure
from lipstick.cli.output import (
    Answer,
    CommandGroup,
    answer_options,
    changed_rows,
    counted,
    working,
)
from lipstick.systems.declarative import DeclarativePipeline

_project = click.argument("project", type=click.Path(exists=True, path_type=Path))
_conf = click.option(
    "--conf",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting of the Spark session, as for spark-pipelines; may be repeated.",
)


@click.group(cls=CommandGroup)
def pipeline() -> None:
    """Ask a declarative pipeline of Spark where rows come from, and what rests on them.

    PROJECT is the folder with spark-pipeline.yml, of a pipeline that ran; its catalog is that of
    SPARK_CONF_DIR and --conf.
    """


@pipeline.command()
@_project
@_conf
@answer_options()
def check(project: Path, conf: tuple[str, ...], answer: Answer) -> None:
    """Show the datasets in order, and what their rows are annotated with.

    Exits with 2 if the rows of some are not followed to what the pipeline reads.
    """
    with _opened(project, conf) as opened:
        reports = opened.check()
        rows: list[dict[str, Any]] = [
            {
                "name": each.dataset.name,
                "kind": each.dataset.kind,
                "place": each.dataset.place,
                "sources": list(each.sources),
                "reason": each.reason,
            }
            for each in reports
        ]
        followed = sum(1 for each in reports if each.reason is None)
        answer.say(f"{followed} of {counted(len(rows), 'dataset')} followed to the sources.")
        answer.table([{**row, "sources": ", ".join(row["sources"])} for row in rows])
        answer.table([{"source": n, "reason": r} for n, r in opened.sources.items()])
        answer.finish({"datasets": rows, "sources": opened.sources})
    if followed < len(reports):
        raise SystemExit(INCOMPLETE)


@pipeline.command()
@_project
@click.argument("dataset")
@click.option("--where", metavar="SQL", help="A condition on the dataset's columns.")
@_conf
@answer_options()
def why(
    project: Path, dataset: str, where: str | None, conf: tuple[str, ...], answer: Answer
) -> None:
    """Show the rows behind rows of DATASET, through any number of datasets."""
    with _opened(project, conf) as opened:
        frame = opened.query(dataset, where)
        rows = frame.capture.memory.answer().to_pylist()
        if not rows:
            raise Failure(f"No row of {dataset} satisfies {where or 'true'}.")
        lineage = frame.lineage()
        sources = {name: lineage[name].toArrow().to_pylist() for name in sorted(lineage)}
        reasons = {name: opened.sources[name] for name in sources}
        total = sum(map(len, sources.values()))
        answer.say(f"{counted(len(rows), 'row')} of {dataset} from {counted(total, 'row')}:")
        for title, found in ((dataset, rows), *sources.items()):
            answer.say(f"\n{title}")
            answer.table(found[: answer.rows], len(found))
        answer.finish({"dataset": dataset, "rows": rows, "sources": sources, "ends": reasons})


@pipeline.command()
@_project
@click.argument("source")
@click.option("--where", required=True, metavar="SQL", help="A condition on the source's columns.")
@_conf
@answer_options()
def impact(project: Path, source: str, where: str, conf: tuple[str, ...], answer: Answer) -> None:
    """Show what datasets would be without rows of SOURCE, as check names the sources.

    Exits with 2 if the changes of some dataset are not known, or not all.
    """
    with _opened(project, conf) as opened:
        found = opened.impact(source, where)
        unknown = [each for each in found if each.reason is not None]
        rows = {each.dataset.name: changed_rows(each.changes) for each in found}
        number = sum(1 for each in rows.values() if each)
        answer.say(
            f"Without the rows of {source} where {where}, "
            f"{counted(number, 'dataset')} would change."
        )
        for name, changes in rows.items():
            if changes:
                answer.say(f"\n{name}")
                answer.table(changes[: answer.rows], len(changes))
        for each in unknown:
            answer.say(f"Not known of {each.dataset.name}: {each.reason}.")
        datasets = [
            {
                "name": each.dataset.name,
                "changes": None if each.changes is None else rows[each.dataset.name],
                "not_known": each.reason,
            }
            for each in found
        ]
        answer.finish({"source": source, "where": where, "datasets": datasets})
    if unknown:
        raise SystemExit(INCOMPLETE)


@contextmanager
def _opened(project: Path, conf: tuple[str, ...]) -> Iterator[DeclarativePipeline]:
    """Read a project in a session of Spark that has the settings of its specification."""
    from lipstick.engines.spark.local_session import own_spark
    from lipstick.systems.declarative import DeclarativePipeline

    settings = dict(setting.partition("=")[::2] for setting in conf)
    if "" in settings.values():
        raise Failure("A setting of --conf is written KEY=VALUE.")
    with working(f"reading {project}"):
        opened = DeclarativePipeline(project, own_spark(settings))
    with opened:
        yield opened

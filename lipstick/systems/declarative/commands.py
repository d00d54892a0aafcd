"""``lipstick pipeline``: a declarative pipeline, asked about the tables that its runs left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure
from lipstick.cli.output import (
    JSON,
    TABLE,
    CommandGroup,
    answer,
    answer_options,
    changed_rows,
    counted,
    working,
)

if TYPE_CHECKING:
    from lipstick.systems.declarative import DeclarativePipeline

_FORMATS = (TABLE, JSON)
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
def check(project: Path, conf: tuple[str, ...], **form: Any) -> None:
    """Show the datasets in order, and what their rows are annotated with.

    Exits with 1 if the rows of some are not followed to what the pipeline reads.
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
        shown = answer(**form, formats=_FORMATS)
        shown.say(f"{followed} of {counted(len(rows), 'dataset')} followed to the sources.")
        shown.table([{**row, "sources": ", ".join(row["sources"])} for row in rows])
        shown.table([{"source": n, "reason": r} for n, r in opened.sources.items()])
        shown.finish({"datasets": rows, "sources": opened.sources})
    if followed < len(reports):
        raise SystemExit(1)


@pipeline.command()
@_project
@click.argument("dataset")
@click.option("--where", metavar="SQL", help="A condition on the dataset's columns.")
@_conf
@answer_options()
def why(project: Path, dataset: str, where: str | None, conf: tuple[str, ...], **form: Any) -> None:
    """Show the rows behind rows of DATASET, through any number of datasets."""
    with _opened(project, conf) as opened:
        frame = opened.query(dataset, where)
        rows = frame.capture.memory.answer().to_pylist()
        if not rows:
            raise Failure(f"No row of {dataset} satisfies {where or 'true'}.")
        lineage = frame.lineage()
        sources = {name: lineage[name].toArrow().to_pylist() for name in sorted(lineage)}
        shown = answer(**form, formats=_FORMATS)
        if shown.format == JSON:
            reasons = {name: opened.sources[name] for name in sources}
            shown.send_json({"dataset": dataset, "rows": rows, "sources": sources, "ends": reasons})
            return
        total = sum(map(len, sources.values()))
        shown.say(f"{counted(len(rows), 'row')} of {dataset} from {counted(total, 'row')}:")
        for title, found in ((dataset, rows), *sources.items()):
            shown.say(f"\n{title}")
            shown.table(found[: shown.rows], len(found))
        shown.send_table()


@pipeline.command()
@_project
@click.argument("source")
@click.option("--where", required=True, metavar="SQL", help="A condition on the source's columns.")
@_conf
@answer_options()
def impact(project: Path, source: str, where: str, conf: tuple[str, ...], **form: Any) -> None:
    """Show what datasets would be without rows of SOURCE, as check names the sources.

    Exits with 1 if the changes of some dataset are not known, or not all.
    """
    with _opened(project, conf) as opened:
        found = opened.impact(source, where)
        unknown = [each for each in found if each.reason is not None]
        shown = answer(**form, formats=_FORMATS)
        rows = {each.dataset.name: changed_rows(each.changes) for each in found}
        if shown.format == JSON:
            datasets = [
                {
                    "name": each.dataset.name,
                    "changes": None if each.changes is None else rows[each.dataset.name],
                    "not_known": each.reason,
                }
                for each in found
            ]
            shown.send_json({"source": source, "where": where, "datasets": datasets})
        else:
            number = sum(1 for each in rows.values() if each)
            shown.say(
                f"Without the rows of {source} where {where}, "
                f"{counted(number, 'dataset')} would change."
            )
            for name, changes in rows.items():
                if changes:
                    shown.say(f"\n{name}")
                    shown.table(changes[: shown.rows], len(changes))
            for each in unknown:
                shown.say(f"Not known of {each.dataset.name}: {each.reason}.")
            shown.send_table()
    if unknown:
        raise SystemExit(1)


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

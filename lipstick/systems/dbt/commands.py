"""``lipstick dbt``: a compiled dbt project, asked where rows come from and what rests on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from lipstick.cli.errors import INCOMPLETE
from lipstick.cli.openlineage import event_options, send_events
from lipstick.cli.output import (
    JSON,
    TABLE,
    Answer,
    CommandGroup,
    answer_options,
    changed_rows,
    counted,
)
from lipstick.cli.why import table_option
from lipstick.systems.dbt.manifest import DbtNode
from lipstick.systems.dbt.project import Refusal
from lipstick.systems.dbt.questions import (
    BaseImpact,
    ModelDifference,
    NodeImpact,
    StateDifference,
    TrackedProject,
)

MARKDOWN = "md"
_FORMATS = (TABLE, JSON, MARKDOWN)

_AS_TABLES = ("seed", "source", "model", "snapshot")

Read = dict[str, Any]
"""The options by which a project is read."""
Rows = list[dict[str, Any]]
Command = Callable[..., None]


def _options(function: Command) -> Command:
    """Add the project, its sources, and the form of the answer."""
    return _project_options(answer_options(_FORMATS)(function))


def _project_options(function: Command) -> Command:
    """Add the project and its sources."""
    for option in (
        click.option(
            "--target", default="target", show_default=True, help="The folder of dbt's artifacts."
        ),
        click.option(
            "--source",
            "sources",
            metavar="NAME=PATH[:KEY]",
            multiple=True,
            help="A source: files or a table, and the columns of its key; may be repeated. "
            "A model or snapshot that is named is read as its table stands.",
        ),
        click.option(
            "--before",
            metavar="MODEL=PATH[:KEY]",
            multiple=True,
            help="The table of an incremental model before the run: the increment is merged "
            "into it; may be repeated.",
        ),
    ):
        function = option(function)

    @wraps(function)
    def command(
        sources: tuple[str, ...], before: tuple[str, ...], target: str, **arguments: Any
    ) -> None:
        function(read={"sources": sources, "before": before, "target": target}, **arguments)

    return click.argument("project", type=click.Path(path_type=Path))(command)


@click.group(cls=CommandGroup)
def dbt() -> None:
    """Ask a compiled dbt project where rows come from, and what rests on them.

    PROJECT is a folder in which dbt compile --full-refresh, or dbt build, ran. Seeds are read from
    their files, sources from --source.
    """


@dbt.command()
@click.argument("folder", type=click.Path(path_type=Path))
def example(folder: Path) -> None:
    """Write a small compiled project, of a shop, to FOLDER."""
    from lipstick.systems.dbt import write_example

    write_example(folder)
    click.echo(f"A project of 7 models in {folder}; lipstick dbt check {folder} reads it.")


@dbt.command()
@_options
def check(project: Path, read: Read, answer: Answer) -> None:
    """Report which models and tests are annotated, and why others are not.

    Exits with 2 if some are refused.
    """
    with _opened(project, **read) as opened:
        reports = opened.check()
        rows = [
            {
                "name": each.node.title,
                "kind": each.node.kind,
                "materialized": each.node.materialized,
                "annotated": each.refusal is None,
                "place": each.node.file if each.refusal is None else each.refusal.place,
                "reason": None if each.refusal is None else each.refusal.reason,
            }
            for each in reports
        ]
        sentences = []
        for kind in ("model", "snapshot", "test"):
            of_kind = [row for row in rows if row["kind"] == kind]
            followed = sum(1 for row in of_kind if row["annotated"])
            if of_kind:
                verb = "is" if len(of_kind) == 1 else "are"
                sentences.append(f"{followed} of {counted(len(of_kind), kind)} {verb} annotated.")
        dialect = opened.project.manifest.dialect
        if not opened.project.manifest.is_spark:
            sentences.append(f"The SQL is translated from {dialect}: values are those of Spark.")
        if answer.format == JSON:
            answer.send_json({"dialect": dialect, "nodes": rows})
        else:
            for row in rows:
                row["annotated"] = "yes" if row["annotated"] else "no"
            _send(answer, [*sentences, ("", rows)])
    if any(each.refusal is not None for each in reports):
        raise SystemExit(INCOMPLETE)


@dbt.command()
@_options
@click.argument("model")
@click.option("--where", metavar="SQL", help="A condition on the model's columns.")
def why(project: Path, model: str, where: str | None, read: Read, answer: Answer) -> None:
    """Show the rows of seeds and sources behind rows of MODEL, through any number of models.

    MODEL may be a test: its rows are the failures. Of versions in a snapshot, whose table is named
    by --source, the rows of the sources that made them are shown.
    """
    with _opened(project, model, "model", "test", "snapshot", **read) as opened:
        found = opened.why(model, where)
        bases = {name: table.to_pylist() for name, table in found.bases.items()}
        versions = {
            each.snapshot.title: {
                "versions": each.versions.to_pylist(),
                "sources": {name: table.to_pylist() for name, table in each.bases.items()},
            }
            for each in found.snapshots
        }
        if answer.format == JSON:
            document = {"model": found.model.title, "rows": found.rows.to_pylist()}
            document |= {"sources": bases} | ({"snapshots": versions} if versions else {})
            answer.send_json(document)
            return
        parts: list[Any] = [(found.model.title, found.rows.to_pylist()), *bases.items()]
        for name, each in versions.items():
            parts.append((f"{name}, versions", each["versions"]))
            parts += [(f"{base}, behind {name}", rows) for base, rows in each["sources"].items()]
            bases = {**bases, name: each["versions"]}
        total = sum(len(rows) for rows in bases.values())
        noun = counted(found.rows.num_rows, "row")
        _send(answer, [f"{noun} of {found.model.title} from {counted(total, 'row')}:", *parts])


@dbt.command()
@_options
@click.argument("source")
@click.option("--where", required=True, metavar="SQL", help="A condition on the source's columns.")
def impact(project: Path, source: str, where: str, read: Read, answer: Answer) -> None:
    """Show what models, tests and exposures would be without rows of SOURCE, a seed or source.

    Exits with 1 if a test that passes would fail.
    """
    with _opened(project, source, "seed", "source", **read) as opened:
        found = opened.impact(source, where)
        if answer.format == JSON:
            answer.send_json(_document(found, where))
        else:
            _send(answer, list(_impact_parts(found, where)))
    if found.failing:
        raise SystemExit(1)


@dbt.command()
@_options
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--model", "models", multiple=True, help="A model; by default all. May be repeated.")
def run(project: Path, store: Path, models: tuple[str, ...], read: Read, answer: Answer) -> None:
    """Run PROJECT as a workflow whose modules are models, and write its graph to STORE.

    lipstick explore and lipstick graph read the store.
    """
    from lipstick.systems.dbt.workflow import run_project

    with _opened(project, **read) as opened:
        workflow = run_project(opened, store, *models).workflow
        rows = [
            {"module": name, "reads": ", ".join(m.inputs)} for name, m in workflow.nodes.items()
        ]
        if answer.format == JSON:
            answer.send_json({"store": str(store), "modules": rows})
        else:
            noun = counted(len(rows), "module")
            _send(answer, [f"{noun} in {store}: lipstick explore {store} shows them.", ("", rows)])


@dbt.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.option("--target", default="target", show_default=True, help="The folder of artifacts.")
def erasure(project: Path, target: str) -> None:
    """Write PROJECT as the pipeline of lipstick erase, which erases rows from its tables.

    Exits with 2 if tables of models are not in it.
    """
    import yaml

    from lipstick.systems.dbt import DbtProject
    from lipstick.systems.dbt.workflow import erasure_pipeline

    sections, left_out = erasure_pipeline(DbtProject(project, target))
    click.echo(yaml.safe_dump(sections, sort_keys=False), nl=False)
    for each in left_out:
        click.echo(f"Not in it: {each.place}: {each.reason}", err=True)
    if left_out:
        raise SystemExit(INCOMPLETE)


@dbt.command()
@event_options
@_project_options
def openlineage(project: Path, read: Read, namespace: str, send: bool, output: Path | None) -> None:
    """Write the last run of PROJECT and of its models as events of OpenLineage, a line each.

    Of a project that was compiled and not run, its datasets with their lineage.
    """
    from lipstick.systems.dbt.openlineage import project_events

    with _opened(project, **read) as opened:
        send_events(project_events(opened, namespace), output, send=send)


@dbt.command()
@_options
@click.option(
    "--state",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder of artifacts of the other state.",
)
def diff(project: Path, state: Path, read: Read, answer: Answer) -> None:
    """Show what numbers of models differ from another state, and through which models.

    Both states are read over the same seeds and sources. Exits with 1 if some model differs.
    """
    from lipstick.systems.dbt import DbtProject

    other = DbtProject(project, state.absolute(), archived=True)
    with _opened(project, **read) as opened:
        found = opened.diff(other)
        if answer.format == JSON:
            models = [{**_differing(m), "rows": _rows_of(m)} for m in found.models]
            names = {"edited": found.edited, "added": found.added, "removed": found.removed}
            answer.send_json({**names, "models": models})
        else:
            _send(answer, list(_diff_parts(found)))
    if not found.is_empty:
        raise SystemExit(1)


@contextmanager
def _opened(
    project: Path,
    asked: str = "",
    *kinds: str,
    sources: tuple[str, ...],
    before: tuple[str, ...],
    target: str,
) -> Iterator[TrackedProject]:
    """Read a project that has the node that is asked, and track its seeds and sources."""
    from lipstick.systems.dbt import BaseTable, DbtProject, TrackedProject

    read = DbtProject(project, target)
    tables: list[dict[str, Any]] = []
    for given, allowed in ((sources, _AS_TABLES), (before, ("model",))):
        tables.append({})
        for name, location, key in map(table_option, given):
            tables[-1][name] = BaseTable(location, None if key is None else tuple(key))
            read.node(name, *allowed)
    if asked:
        read.node(asked, *kinds)
    import lipstick

    with lipstick.session() as session:
        yield TrackedProject(read, session, *tables)


# -- answers -------------------------------------------------------------------------------------


def _send(answer: Answer, parts: Sequence[str | tuple[str, Rows]]) -> None:
    """Send sentences and titled tables."""
    text = []
    for part in parts:
        if isinstance(part, str):
            answer.say(part)
            text.append(part)
            continue
        title, rows = part
        limited = rows[: answer.rows]
        if title:
            answer.say(f"\n{title}")
            text.append(f"### {title}")
        answer.table(limited, len(rows))
        text.append(_markdown(limited, len(rows)))
    if answer.format == MARKDOWN:
        answer.send("\n\n".join(each for each in text if each) + "\n")
    else:
        answer.send_table()


def _markdown(rows: Rows, total: int) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    names = [name for name in names if any(row.get(name) is not None for row in rows)]
    if not names:
        return ""
    lines = [names, ["---"] * len(names)]
    lines += [["" if row.get(name) is None else str(row[name]) for name in names] for row in rows]
    table = "\n".join(f"| {' | '.join(_cell(text) for text in line)} |" for line in lines)
    return table if total == len(rows) else f"{table}\n\n{total - len(rows):,} more."


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _impact_parts(found: BaseImpact, where: str) -> Iterator[str | tuple[str, Rows]]:
    changed = [each for each in found.models if each.is_changed]
    yield (
        f"Without {counted(found.rows, 'row')} of {found.base.title} ({where}), "
        f"{len(changed)} of {counted(len(found.models), 'model')} that rest on it would change."
    )
    yield "Models", [_summary(each) for each in found.models]
    if ties := sorted({title for each in found.models for title in each.ties}):
        yield (
            f"Rows that tie decide over rows of {', '.join(ties)}, and of models that rest on "
            "them: a build may choose others. Order by more columns, so that none tie."
        )
    for each in changed:
        yield each.node.title, changed_rows(each.changes)
    if found.tests:
        yield "Tests", [_summary(each, "failures") for each in found.tests]
    if found.exposures:
        yield (
            "Exposures",
            [
                {"name": name, "reads changed": ", ".join(read) or "nothing"}
                for name, read in found.exposures.items()
            ],
        )
    for each in found.failing:
        yield f"The test {each.node.title} passes, and would fail: {each.after:,} rows."


def _diff_parts(found: StateDifference) -> Iterator[str | tuple[str, Rows]]:
    differ = [m for m in found.models if m.difference is None or not m.difference.is_empty]
    yield (
        f"{counted(len(found.edited), 'model')} of another text; {len(differ)} of "
        f"{counted(len(found.models), 'model')} that rest on them differ or are not known."
    )
    for title, names in (("Added", found.added), ("Removed", found.removed)):
        if names:
            yield f"{title}: {', '.join(names)}."
    yield "Models", [_differing(each) for each in found.models]
    for each in differ:
        if each.difference is not None:
            yield each.node.title, _rows_of(each)


def _differing(each: ModelDifference) -> dict[str, Any]:
    if each.difference is None:
        return _unknown(each.node, each.refusal)
    numbers = (f"{name} ({'unknown' if n is None else n})" for name, n in each.through.items())
    counts = {kind: getattr(each.difference, kind) for kind in ("changed", "added", "removed")}
    return {"name": each.node.title, **counts, "rows through": ", ".join(numbers)}


def _rows_of(each: ModelDifference) -> Rows:
    return [] if each.difference is None else each.difference.rows().to_pylist()


def _unknown(node: DbtNode, refusal: Refusal | None) -> dict[str, Any]:
    reason = "" if refusal is None else f"{refusal.place}: {refusal.reason}"
    return {"name": node.title, "not known": reason}


def _summary(each: NodeImpact, noun: str = "rows") -> dict[str, Any]:
    if each.refusal is not None:
        return _unknown(each.node, each.refusal)
    assert each.changes is not None
    kinds = each.changes.column("_change").to_pylist()
    return {
        "name": each.node.title,
        noun: each.before,
        "without": each.after,
        **{kind: kinds.count(kind) for kind in ("changed", "deleted", "added")},
        **({"ties in": ", ".join(each.ties)} if each.ties else {}),
    }


def _document(found: BaseImpact, where: str) -> dict[str, Any]:
    def node(each: NodeImpact, noun: str) -> dict[str, Any]:
        changes = [] if each.changes is None else each.changes.to_pylist()
        return {**_summary(each, noun), "changes": changes}

    return {
        "source": found.base.title,
        "where": where,
        "rows": found.rows,
        "models": [node(each, "rows") for each in found.models],
        "tests": [node(each, "failures") for each in found.tests],
        "exposures": {name: list(read) for name, read in found.exposures.items()},
        "failing": [each.node.title for each in found.failing],
    }

"""``lipstick script``: what variables, files, lines and rows of a Python script depend on."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from lipstick.cli.errors import Failure
from lipstick.cli.output import JSON, TABLE, Answer, CommandGroup, answer_options, counted
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.facts.fact import read_fact
from lipstick.systems.scripts.provenance import ScriptProvenance
from lipstick.workflow.definition import bounded_yaml

if TYPE_CHECKING:
    from lipstick.systems.scripts import Dependence, Line, ScriptProvenance
    from lipstick.systems.scripts.running import Trace


Command = Callable[..., None]


def script_options(function: Command) -> Command:
    """Give a command the options that say how a script is read."""
    for option in (
        click.option(
            "--order",
            type=click.Choice(["position", "executed"]),
            default="position",
            show_default=True,
            help="The order of a notebook's cells.",
        ),
        click.option(
            "--facts",
            type=click.Path(dir_okay=False, path_type=Path),
            multiple=True,
            help="A YAML file with facts about calls; may be repeated.",
        ),
    ):
        function = option(function)
    return function


def script_command(*more_formats: str) -> Callable[[Command], Command]:
    """Make a function of a script's provenance, an `Answer` and its own arguments a command."""
    formats = (TABLE, JSON, *more_formats)

    def decorate(function: Command) -> Command:
        @wraps(function)
        def command(
            path: Path,
            facts: tuple[Path, ...],
            order: str,
            answer: Answer,
            **arguments: Any,
        ) -> None:
            provenance = opened_script(path, facts, order)
            function(provenance, answer, **arguments)

        argument = click.argument("path", metavar="SCRIPT", type=click.Path(path_type=Path))
        return argument(script_options(answer_options(formats)(command)))

    return decorate


def opened_script(path: Path, facts: tuple[Path, ...], order: str) -> ScriptProvenance:
    """The provenance of a script, read as the options say."""
    from lipstick.systems.scripts import script_provenance

    return script_provenance(
        path, facts=facts, order="executed" if order == "executed" else "position"
    )


def line_row(line: Line) -> dict[str, Any]:
    """A line of a script as a row of an answer."""
    return {"file": line.file, "line": line.where, "text": line.text}


_EXPORTS = ("dot", "graphml", "prov-json", "prov-n")


@click.group(cls=CommandGroup)
def script() -> None:
    """Analyse a Python script or notebook from its text; only 'run' runs it.

    A criterion is a variable ('total'), its version at a line ('total@12'), a file or stream that
    is read or written ('out.csv', '<stdout>'), or a line ('12', 'helpers.py:12').
    """


@script.command()
@script_command()
@click.option("--to", "kind", type=click.Choice(_EXPORTS), help="Write the graph in this format.")
@click.option("--zoom-out", metavar="MODULE", multiple=True, help="Hide a function or cell.")
@click.option("--ask", is_flag=True, help="Ask for the facts that the catalogue lacks.")
@click.option(
    "--answers",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("lipstick-facts.yaml"),
    show_default=True,
    help="The file in which --ask stores the answers.",
)
def graph(
    provenance: ScriptProvenance,
    answer: Answer,
    kind: str | None,
    zoom_out: tuple[str, ...],
    ask: bool,
    answers: Path,
) -> None:
    """Show the inputs, outputs, variables and nodes, and the places that are not followed."""

    missing = missing_facts(provenance)
    if ask:
        count = ask_for_facts(missing, lambda text: str(click.prompt(text, default="")), answers)
        click.echo(f"{answers} tells of {counted(count, 'call')}; give it with --facts.", err=True)
    shown = provenance.graph()
    if zoom_out:
        shown = shown.zoom_out(zoom_out)
    if kind is not None:
        _export(shown, kind, answer)
        return
    document: dict[str, Any] = {
        "script": provenance.script.main.name,
        "inputs": provenance.inputs,
        "outputs": provenance.outputs,
        "variables": provenance.variables,
        "initial_nodes": provenance.initial_size,
        "nodes": len(provenance.final.nodes),
        "graph_nodes": shown.node_count,
        "graph_edges": shown.edge_count,
        "modules": shown.modules,
        "rules": provenance.applied,
        "missing_facts": missing,
        "not_followed": [line_row(item.line) | {"why": item.why} for item in provenance.opaque],
    }
    for name in ("inputs", "outputs", "variables", "modules", "missing_facts"):
        if document[name]:
            answer.say(f"{name.replace('_', ' ')}: {', '.join(document[name])}")
    answer.say(
        f"{document['initial_nodes']:,} nodes in the initial graph, "
        f"{document['nodes']:,} in the final one"
    )
    answer.table([{"rule": rule, "applied": n} for rule, n in provenance.applied.items() if n])
    if document["not_followed"]:
        answer.say("Not followed:")
        answer.table(document["not_followed"])
    answer.finish(document)


def _export(shown: Any, kind: str, answer: Answer) -> None:
    from graphquery.exchange import to_dot, to_prov, write_graphml

    if kind == "graphml":
        if answer.file is None:
            raise Failure("graphml is written to a file: give --output.")
        write_graphml(shown, answer.file)
    elif kind == "dot":
        answer.send(to_dot(shown))
    else:
        document = to_prov(shown)
        text = document.get_provn() if kind == "prov-n" else document.serialize(format="json")
        answer.send(f"{text}\n")


@script.command()
@script_command()
@click.argument("criteria", metavar="CRITERION", nargs=-1, required=True)
@click.option("--forward", is_flag=True, help="Show what it affects instead of its inputs.")
def depends(
    provenance: ScriptProvenance, answer: Answer, criteria: tuple[str, ...], forward: bool
) -> None:
    """Lines and files that something depends on, or that a change of it concerns."""
    dependence = (provenance.concerns if forward else provenance.depends)(*criteria)
    _send(dependence, answer, "writes" if forward else "reads")


def _send(dependence: Dependence, answer: Answer, files: str) -> None:
    document = {
        "certain": dependence.certain,
        "files": dependence.files,
        "variables": dependence.variables,
        "lines": [line_row(line) for line in dependence.lines],
        "assumed": [line_row(item.line) | {"why": item.why} for item in dependence.assumptions],
        "not_followed": [line_row(item.line) | {"why": item.why} for item in dependence.opaque],
    }
    if dependence.files:
        answer.say(f"{files}: {', '.join(dependence.files)}")
    if dependence.variables:
        answer.say(f"variables: {', '.join(dependence.variables)}")
    rows = document["lines"]
    assert isinstance(rows, list)
    answer.table(rows[: answer.rows], len(rows))
    if not dependence.certain:
        answer.say("Assumed:")
        answer.table(document["assumed"])  # type: ignore[arg-type]
    if dependence.opaque:
        answer.say("Not followed:")
        answer.table(document["not_followed"])  # type: ignore[arg-type]
    answer.finish(document)


@script.command(name="slice")
@script_command()
@click.argument("criteria", metavar="CRITERION", nargs=-1, required=True)
def slice_command(provenance: ScriptProvenance, answer: Answer, criteria: tuple[str, ...]) -> None:
    """The text of a script without the lines that something does not depend on."""
    answer.send(provenance.slice(*criteria))


@script.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@script_options
@answer_options()
def diff(
    old: Path,
    new: Path,
    facts: tuple[Path, ...],
    order: str,
    answer: Answer,
) -> None:
    """Compare two versions of a script by what they compute.

    The exit code is 0 whether they differ or not.
    """
    from lipstick.systems.scripts.difference import script_difference

    difference = script_difference(
        opened_script(old, facts, order), opened_script(new, facts, order)
    )
    document: dict[str, Any] = {
        "changed": difference.changed,
        "unchanged": difference.unchanged,
        "left_open": difference.left_open,
        "gone": difference.gone,
        "new": difference.new,
        "removed": [line_row(line) for line in difference.removed],
        "added": [line_row(line) for line in difference.added],
    }
    for name in ("changed", "unchanged", "left_open", "gone", "new"):
        if document[name]:
            answer.say(f"{name}: {', '.join(document[name])}")
    for name in ("removed", "added"):
        if document[name]:
            answer.say(f"{name}:")
            answer.table(document[name])
    answer.finish(document)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("path", metavar="SCRIPT", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@script_options
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    help="The directory to create; by default SCRIPT.run.",
)
@click.option("--overwrite", is_flag=True, help="Replace the record of an earlier run.")
@answer_options()
def run(
    path: Path,
    arguments: tuple[str, ...],
    facts: tuple[Path, ...],
    order: str,
    record: Path | None,
    overwrite: bool,
    answer: Answer,
) -> None:
    """Run a PySpark or pandas script unchanged, and record where its rows come from.

    Options stand before SCRIPT; what follows it is the script's own.
    """
    from lipstick.systems.scripts.running import run_script

    done = run_script(
        path,
        arguments,
        record=record,
        facts=facts,
        overwrite=overwrite,
        order="executed" if order == "executed" else "position",
    )
    rows: list[dict[str, Any]] = [
        {
            "number": event.number,
            "what": event.kind,
            "by": event.library,
            "name": event.name,
            "line": event.where,
            "rows": event.rows,
            "exact": event.capture and event.inferred is None,
            "why": event.inferred,
        }
        for event in done.events
    ]
    answer.say(f"record: {done.directory}")
    answer.table(rows[: answer.rows], len(rows))
    answer.finish({"record": str(done.directory), "events": rows})


@click.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.argument("made", metavar="OUTPUT")
@click.option("--row", type=int, help="The row's number in the output, from 0.")
@click.option("--where", metavar="COLUMN=VALUE", multiple=True, help="Values of the row instead.")
@answer_options()
def trace(
    record: Path,
    made: str,
    row: int | None,
    where: tuple[str, ...],
    answer: Answer,
) -> None:
    """Trace a row of a recorded run's output back to the input rows, and the lines that made it.

    OUTPUT is a path, a table, or the number that 'run' has given to a write or collect.
    """
    from lipstick.systems.scripts.running import open_run
    from lipstick.systems.scripts.running import trace as traced

    if any("=" not in item for item in where):
        raise Failure("--where takes COLUMN=VALUE.")
    values = dict(item.split("=", 1) for item in where) or None
    traced_row = traced(open_run(record), made, row, values)
    _send_trace(traced_row, answer)


def _send_trace(traced_row: Trace, answer: Answer) -> None:
    inputs: list[dict[str, Any]] = [
        {
            "file": item.file,
            "rows": "any" if item.rows is None else list(item.rows),
            "read_at": item.where,
            "by": ", ".join(item.rules),
            "certain": item.certain,
            "why": "; ".join(item.why) or None,
        }
        for item in traced_row.inputs
    ]
    document: dict[str, Any] = {
        "certain": traced_row.certain,
        "rows_alike": traced_row.alike,
        "inputs": inputs,
        "lines": [line_row(line) for line in traced_row.lines],
        "assumed": [line_row(item.line) | {"why": item.why} for item in traced_row.assumptions],
    }
    answer.table([item | {"rows": _shown_rows(item["rows"])} for item in inputs])
    answer.table(document["lines"])
    if document["assumed"]:
        answer.say("Assumed:")
        answer.table(document["assumed"])
    answer.finish(document)


def _shown_rows(rows: str | list[int]) -> str:
    """Return the first numbers of rows and how many there are, for a cell of a table."""
    if isinstance(rows, str) or len(rows) <= SHOWN_ROWS:
        return str(rows)
    return f"{str(rows[:SHOWN_ROWS])[:-1]}, ...] ({len(rows):,} rows)"


for each in (run, trace):
    script.add_command(each)


SHOWN_ROWS = 10
"""As many numbers of rows stand in a cell of a table; JSON has all of them."""

Ask = Callable[[str], str]
"""Puts a question to somebody and returns the answer."""

QUESTIONS = {
    "reads": "{name}: which parameter names a file that it reads? [name@position, or empty]",
    "writes": "{name}: which parameter names a file that it writes? [name@position, or empty]",
    "ratio": "{name}: its input-output ratio? [such as 1:1, n:1, n:n, or empty]",
}
"""The questions that the paper asks about every method, once (section IV-B)."""


def missing_facts(script: ScriptProvenance) -> tuple[str, ...]:
    """The full names of the functions of libraries that nothing is known of, sorted."""
    prefix = "nothing is known of "
    names = {
        node.unknown.removeprefix(prefix)
        for node in script.final.nodes.values()
        if node.unknown is not None and node.unknown.startswith(prefix)
    }
    return tuple(sorted(name for name in names if not name.startswith(".")))


def ask_for_facts(names: tuple[str, ...], ask: Ask, file: Path) -> int:
    """Ask for the facts about some functions, and add them to a YAML file.

    Returns
    -------
    int
        The number of functions that the file has facts about now.

    Raises
    ------
    ScriptError
        An answer that is not a fact; what was answered before is kept.
    """
    document: dict[str, Any] = {}
    if file.exists():
        try:
            document = bounded_yaml.load(file.read_text(encoding="utf-8")) or {}
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ScriptError(f"{file} cannot be read as facts: {error}") from error
    calls: dict[str, Any] = document.setdefault("calls", {})
    for name in names:
        if name in calls:
            continue
        given: dict[str, Any] = {}
        for field, question in QUESTIONS.items():
            answer = ask(question.format(name=name)).strip()
            if answer:
                given[field] = int(answer) if answer.isdigit() else answer
        given.setdefault("shares", True)
        read_fact(name, given)
        calls[name] = given
        _write(file, document)
    return len(calls)


def _write(file: Path, document: dict[str, Any]) -> None:
    try:
        file.write_text(yaml.safe_dump(document, sort_keys=True), encoding="utf-8")
    except OSError as error:
        raise ScriptError(f"{file} cannot be written: {error.strerror}.") from error

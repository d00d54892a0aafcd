"""``lipstick script``: what variables, files, lines and rows of a Python script depend on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure, reported
from lipstick.cli.output import JSON, TABLE, Answer, answer, answer_options, counted
from lipstick.systems.scripts.commands.options import (
    line_row,
    opened_script,
    script_command,
    script_options,
)
from lipstick.systems.scripts.commands.run_command import run, trace

if TYPE_CHECKING:
    from lipstick.systems.scripts import Dependence, ScriptProvenance

_EXPORTS = ("dot", "graphml", "prov-json", "prov-n")


@click.group()
def script() -> None:
    """Tell what a Python script or notebook does, from its text; only 'run' runs it.

    A criterion is a variable ('total'), its version at a line ('total@12'), a file or stream that
    is read or written ('out.csv', '<stdout>'), or a line ('12', 'helpers.py:12').
    """


for each in (run, trace):
    script.add_command(each)


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
    help="Where --ask keeps the answers.",
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
    from lipstick.systems.scripts.missing import ask_for_facts, missing_facts

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
    if answer.format == JSON:
        answer.send_json(document)
        return
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
    answer.send_table()


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
@click.option("--forward", is_flag=True, help="What it concerns, instead of what it depends on.")
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
    if answer.format == JSON:
        answer.send_json(document)
        return
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
    answer.send_table()


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
    format: str | None,
    output: Path | None,
    limit: int | None,
) -> None:
    """Compare two versions of a script by what they compute.

    The exit code is 0 whether they differ or not.
    """
    with reported():
        from lipstick.systems.scripts.difference import script_difference

        difference = script_difference(
            opened_script(old, facts, order), opened_script(new, facts, order)
        )
        sent = answer(format, output, limit, (TABLE, JSON))
        document: dict[str, Any] = {
            "changed": difference.changed,
            "unchanged": difference.unchanged,
            "gone": difference.gone,
            "new": difference.new,
            "removed": [line_row(line) for line in difference.removed],
            "added": [line_row(line) for line in difference.added],
        }
        if sent.format == JSON:
            sent.send_json(document)
            return
        for name in ("changed", "unchanged", "gone", "new"):
            if document[name]:
                sent.say(f"{name}: {', '.join(document[name])}")
        for name in ("removed", "added"):
            if document[name]:
                sent.say(f"{name}:")
                sent.table(document[name])
        sent.send_table()

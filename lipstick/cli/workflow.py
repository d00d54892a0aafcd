"""``lipstick workflow``: workflows in files, checked, run, and what they gave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure
from lipstick.cli.opened import store_argument
from lipstick.cli.output import Answer, CommandGroup, answer_options, counted, json_option

if TYPE_CHECKING:
    import pyarrow as pa

    from lipstick.workflow import Run

_FILE = click.Path(path_type=Path)


_imports = click.option(
    "--import",
    "imports",
    metavar="MODULE",
    multiple=True,
    help="Allow functions of FILE to be imported from this module, and those below it, which runs "
    "it; may be repeated. Without it no code that FILE names is run.",
)


@click.group(cls=CommandGroup)
def workflow() -> None:
    """Check and run workflows that are written in YAML files."""


@workflow.command()
@click.argument("file", type=_FILE)
@_imports
@json_option
def validate(file: Path, imports: tuple[str, ...], answer: Answer) -> None:
    """Check the workflow in FILE: its structure and its queries.

    Nothing runs, but for modules of functions that are allowed to be imported.
    """
    from lipstick.workflow import Workflow
    from lipstick.workflow.definition.document import load

    definition = Workflow.read(file, imports=imports)
    with load(file).located():
        definition.validate()
    parts = {
        "node": definition.shape.nodes,
        "module": definition.modules,
        "edge": definition.shape.edges,
    }
    sizes = ", ".join(counted(len(part), noun) for noun, part in parts.items())
    answer.say(f"{definition.name}: {sizes}: valid")
    answer.finish(
        {"name": definition.name, "valid": True}
        | {f"{noun}s": len(part) for noun, part in parts.items()}
    )


@workflow.command()
@click.argument("file", type=_FILE)
@_imports
@click.option(
    "--inputs",
    type=_FILE,
    required=True,
    help="The inputs of the executions: a YAML or JSON file with a list of mappings from relations "
    "to rows, or a folder of folders 0, 1 ... of Parquet, CSV or JSON files called like relations.",
)
@click.option(
    "--store",
    type=_FILE,
    required=True,
    help="The folder of the run; one that was interrupted goes on.",
)
@click.option(
    "--state",
    type=_FILE,
    help="The initial state: a YAML or JSON file with a mapping from modules to relations to rows, "
    "or a folder of folders called like modules.",
)
@click.option(
    "--first",
    type=click.IntRange(min=0),
    help="The number of the first execution in a file of inputs.  [default: 0]",
)
@click.option("--plain", is_flag=True, help="Run in plain Spark, without provenance.")
@click.option(
    "--parallelism",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many invocations may run at a time.",
)
@click.option(
    "--export",
    "exported",
    metavar="NODE/RELATION=FOLDER",
    multiple=True,
    help="Let others import this output; what execution N gives is in FOLDER/N. May be repeated.",
)
@answer_options()
def run(
    file: Path,
    imports: tuple[str, ...],
    inputs: Path,
    store: Path,
    state: Path | None,
    first: int | None,
    plain: bool,
    parallelism: int,
    exported: tuple[str, ...],
    answer: Answer,
) -> None:
    """Run the workflow in FILE, an execution for each of the inputs.

    What the store has already is not run again. Answers with how many tuples the executions put
    out; 'workflow output' shows them.
    """
    from lipstick.workflow import Workflow

    read = Workflow.read(file, imports=imports)
    read.check_imports()
    from lipstick.cli.given import read_inputs, read_state

    given = read_inputs(inputs, first)
    given = given.telling(lambda number: click.echo(f"execution {number} …", err=True))
    initial = None if state is None else read_state(state)
    done = read.run(
        None,
        given,
        store=store,
        state=initial,
        first=given.first,
        tracked=not plain,
        parallelism=parallelism,
        exports=_exports(exported),
    )
    _send_outputs(answer, done, range(given.first, given.first + len(given)))


def _exports(texts: tuple[str, ...]) -> dict[str, str]:
    folders = {}
    for text in texts:
        output, separator, folder = text.partition("=")
        if not separator:
            raise Failure(f"{text!r} names no folder.\nWrite NODE/RELATION=FOLDER.")
        folders[output] = folder
    return folders


def _send_outputs(answer: Answer, done: Run, executions: range) -> None:
    shape = done.workflow.shape
    rows = [
        {
            "execution": execution,
            "node": node,
            "relation": relation,
            "tuples": done.output(execution, node, relation).num_rows,
        }
        for execution in executions
        for node in shape.outputs
        for relation in shape.nodes[node].outputs
    ]
    answer.table(rows[: answer.rows], len(rows))
    kind = "with provenance" if done.tracked else "plain"
    answer.say(
        f"{counted(done.executions, 'execution')} of {done.workflow.name} in {done.path}, {kind}"
    )
    answer.finish({"store": str(done.path), "tracked": done.tracked, "outputs": rows})


@workflow.command(name="output")
@store_argument
@click.option(
    "--execution",
    type=click.IntRange(min=0),
    help="The number of the execution.  [default: the last]",
)
@click.option("--node", help="A node.  [default: the output node]")
@click.option("--relation", help="An output of the node.  [default: its only one]")
@answer_options()
def show_output(
    store: Path,
    execution: int | None,
    node: str | None,
    relation: str | None,
    answer: Answer,
) -> None:
    """The tuples that an execution put out."""
    from lipstick.workflow import open_run

    finished = open_run(store)
    last = max(finished.executions - 1, 0)
    rows = finished.output(last if execution is None else execution, node, relation)
    _send_rows(answer, rows)


@workflow.command(name="state")
@store_argument
@click.argument("module")
@click.argument("relation")
@click.option(
    "--after",
    type=click.IntRange(min=-1),
    help="The state after this execution; -1 is the initial state.  [default: as it is now]",
)
@answer_options()
def show_state(
    store: Path,
    module: str,
    relation: str,
    after: int | None,
    answer: Answer,
) -> None:
    """The tuples of the state RELATION of MODULE."""
    from lipstick.workflow import open_run

    rows = open_run(store).state(module, relation, after)
    _send_rows(answer, rows)


def _send_rows(answer: Answer, table: pa.Table) -> None:
    rows: list[dict[str, Any]] = table.slice(0, answer.rows).to_pylist()
    answer.table(rows, table.num_rows)
    answer.say(counted(table.num_rows, "tuple"))
    answer.finish(rows)

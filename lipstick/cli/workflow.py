"""``lipstick workflow``: workflows in files, checked, run, and what they gave."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import click
import yaml

from lipstick.cli.errors import Failure, reported
from lipstick.cli.opened import store_argument
from lipstick.cli.output import JSON, TABLE, Answer, answer, answer_options, counted
from lipstick.workflow.definition import bounded_yaml
from lipstick.workflow.errors import InputError
from lipstick.workflow.execution.tables import SUFFIXES, read_table

if TYPE_CHECKING:
    import pyarrow as pa

    from lipstick.workflow import Run


_DOCUMENTS = (".json", ".yaml", ".yml")


class Executions(Sequence[Mapping[str, Any]]):
    """Inputs of executions, each read when its turn comes.

    Parameters
    ----------
    first
        The number of the first one.
    read
        Reads one each.
    begin
        Called with the number of an execution before its inputs are read one after the other.
    """

    def __init__(
        self,
        first: int,
        read: Sequence[Callable[[], Mapping[str, Any]]],
        begin: Callable[[int], None] | None = None,
    ) -> None:
        self.first = first
        self._read = read
        self._begin = begin

    def telling(self, begin: Callable[[int], None]) -> Executions:
        """The same executions, telling as each one's turn comes."""
        return Executions(self.first, self._read, begin)

    def __len__(self) -> int:
        return len(self._read)

    @overload
    def __getitem__(self, key: int) -> Mapping[str, Any]: ...

    @overload
    def __getitem__(self, key: slice) -> Executions: ...

    def __getitem__(self, key: int | slice) -> Mapping[str, Any] | Executions:
        if isinstance(key, slice):
            first = self.first + (key.indices(len(self))[0])
            return Executions(first, self._read[key], self._begin)
        return self._read[key]()

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for number, read in enumerate(self._read, start=self.first):
            if self._begin is not None:
                self._begin(number)
            yield read()


def read_inputs(path: Path, first: int | None = None) -> Executions:
    """Read the inputs of executions.

    Parameters
    ----------
    first
        The number of the first execution in a file, 0 by default; a folder has it in its names.

    Raises
    ------
    InputError
        For a file or folder of another form, and numbers with gaps.
    """
    if path.is_dir():
        if first is not None:
            raise InputError(
                f"{path} is a folder: its folders' names are the numbers of the executions.\n"
                "Leave out the number of the first one."
            )
        return _executions_of_folder(path)
    document = _document(path)
    if not isinstance(document, list):
        raise InputError(
            f"{path} has {_kind(document)}, and not a list of executions.\nGive a list, an "
            "execution each, of mappings from relations to rows."
        )
    for number, given in enumerate(document, start=first or 0):
        if not isinstance(given, dict):
            raise InputError(
                f"{path}: execution {number} is {_kind(given)}, and not a mapping from relations "
                "to rows."
            )
    return Executions(first or 0, [_reader(_resolved, given, path) for given in document])


def read_state(path: Path) -> dict[str, dict[str, Any]]:
    """Read an initial state: rows by module and relation.

    Raises
    ------
    InputError
        For a file or folder of another form.
    """
    if path.is_dir():
        return {folder.name: _relations(folder) for folder in _folders(path)}
    document = _document(path)
    if not isinstance(document, dict):
        raise InputError(
            f"{path} has {_kind(document)}, and not a mapping from modules to their relations."
        )
    for module, relations in document.items():
        if not isinstance(relations, dict):
            raise InputError(
                f"{path}: {module} has {_kind(relations)}, and not a mapping from relations to "
                "rows."
            )
    return _resolved(document, path)


# -- documents ---------------------------------------------------------------------------------


def _document(path: Path) -> Any:
    if path.suffix not in _DOCUMENTS:
        raise InputError(
            f"{path} is neither a folder nor a document.\nGive a folder, or a file whose name ends "
            f"in {', '.join(_DOCUMENTS)}."
        )
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text) if path.suffix == ".json" else bounded_yaml.load(text)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _resolved(given: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Rows by relation, or by node or module and relation, files in place of their paths."""
    rows_by_name: dict[str, Any] = {}
    for name, rows in given.items():
        if isinstance(rows, dict):
            rows_by_name[str(name)] = _resolved(rows, path)
        else:
            rows_by_name[str(name)] = (
                read_table(path.parent / rows) if isinstance(rows, str) else rows
            )
    return rows_by_name


# -- folders -----------------------------------------------------------------------------------


def _executions_of_folder(path: Path) -> Executions:
    folders: dict[int, Path] = {}
    for folder in _folders(path):
        if not folder.name.isdecimal():
            raise InputError(
                f"{folder} is no execution: its name is no number.\nName the folders 0, 1, 2 ..."
            )
        if int(folder.name) in folders:
            raise InputError(
                f"{folder} and {folders[int(folder.name)]} are of the same execution.\nLeave one."
            )
        folders[int(folder.name)] = folder
    numbers = sorted(folders)
    for before, number in pairwise(numbers):
        if number != before + 1:
            raise InputError(
                f"{path} has executions {before} and {number} and none between.\nGive folders "
                "without gaps."
            )
    read = [_reader(_execution, folders[number]) for number in numbers]
    return Executions(numbers[0] if numbers else 0, read)


def _execution(folder: Path) -> dict[str, Any]:
    """The inputs in a folder: relations, and folders of relations by node."""
    nodes = {inner.name: _relations(inner) for inner in _folders(folder)}
    return _relations(folder, among=nodes) | nodes


def _relations(folder: Path, among: Sequence[str] | Mapping[str, Any] = ()) -> dict[str, Any]:
    """The relations whose files are in a folder; `among` are folders that are no files."""
    relations: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        if path.name in among or path.name.startswith("."):
            continue
        if path.stem in relations:
            raise InputError(f"{folder} has two files of the relation {path.stem}.\nLeave one.")
        relations[path.stem] = read_table(path)
    return relations


def _folders(path: Path) -> list[Path]:
    """The folders in a folder that are not themselves Parquet."""
    return sorted(
        inner
        for inner in path.iterdir()
        if inner.is_dir() and inner.suffix not in SUFFIXES and not inner.name.startswith(".")
    )


def _reader(
    read: Callable[..., Mapping[str, Any]], *arguments: Any
) -> Callable[[], Mapping[str, Any]]:
    return lambda: read(*arguments)


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else f"{value!r}"


_FILE = click.Path(path_type=Path)
_FORMATS = (TABLE, JSON)


_imports = click.option(
    "--import",
    "imports",
    metavar="MODULE",
    multiple=True,
    help="Allow functions of FILE to be imported from this module, and those below it, which runs "
    "it; may be repeated. Without it no code that FILE names is run.",
)


@click.group()
def workflow() -> None:
    """Check and run workflows that are written in YAML files."""


@workflow.command()
@click.argument("file", type=_FILE)
@_imports
def validate(file: Path, imports: tuple[str, ...]) -> None:
    """Check the workflow in FILE: its structure and its queries.

    Nothing runs, but for modules of functions that are allowed to be imported.
    """
    from lipstick.workflow import Workflow
    from lipstick.workflow.definition.document import load

    with reported():
        definition = Workflow.read(file, imports=imports)
        with load(file).located():
            definition.validate()
    parts = {
        "node": definition.shape.nodes,
        "module": definition.modules,
        "edge": definition.shape.edges,
    }
    sizes = ", ".join(counted(len(part), noun) for noun, part in parts.items())
    click.echo(f"{definition.name}: {sizes}: valid")


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
@click.option("--plain", is_flag=True, help="Plain Spark, without provenance.")
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
    format: str | None,
    output: Path | None,
    limit: int | None,
) -> None:
    """Run the workflow in FILE, an execution for each of the inputs.

    What the store has already is not run again. Answers with how many tuples the executions put
    out; 'workflow output' shows them.
    """
    from lipstick.workflow import Workflow

    told = answer(format, output, limit, _FORMATS)
    with reported():
        read = Workflow.read(file, imports=imports)
        read.check_imports()

        given = read_inputs(inputs, first)
        given = given.telling(lambda number: click.echo(f"execution {number} …", err=True))
        initial = None if state is None else read_state(state)
        _check_java()
        from pyspark.errors import PySparkException

        try:
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
        except PySparkException as error:
            raise Failure(f"{read.name}: {error}") from error
        _send_outputs(told, done, range(given.first, given.first + len(given)))


def _exports(texts: tuple[str, ...]) -> dict[str, str]:
    folders = {}
    for text in texts:
        output, separator, folder = text.partition("=")
        if not separator:
            raise Failure(f"{text!r} names no folder.\nWrite NODE/RELATION=FOLDER.")
        folders[output] = folder
    return folders


def _check_java() -> None:
    """A plain word where Spark would fail to start; with Spark Connect it needs no Java here."""
    if "SPARK_REMOTE" not in os.environ:
        from lipstick.demo.run import check_java

        check_java()


def _send_outputs(told: Answer, done: Run, executions: range) -> None:
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
    if told.format == JSON:
        told.send_json({"store": str(done.path), "tracked": done.tracked, "outputs": rows})
        return
    told.table(rows[: told.rows], len(rows))
    kind = "with provenance" if done.tracked else "plain"
    told.say(
        f"{counted(done.executions, 'execution')} of {done.workflow.name} in {done.path}, {kind}"
    )
    told.send_table()


@workflow.command(name="output")
@store_argument
@click.option("--execution", type=click.IntRange(min=0), help="Its number.  [default: the last]")
@click.option("--node", help="A node.  [default: the output node]")
@click.option("--relation", help="An output of the node.  [default: its only one]")
@answer_options()
def show_output(
    store: Path,
    execution: int | None,
    node: str | None,
    relation: str | None,
    format: str | None,
    output: Path | None,
    limit: int | None,
) -> None:
    """The tuples that an execution put out."""
    from lipstick.workflow import open_run

    with reported():
        finished = open_run(store)
        last = max(finished.executions - 1, 0)
        rows = finished.output(last if execution is None else execution, node, relation)
        _send_rows(answer(format, output, limit, _FORMATS), rows)


@workflow.command(name="state")
@store_argument
@click.argument("module")
@click.argument("relation")
@click.option(
    "--after",
    type=click.IntRange(min=-1),
    help="After this execution; -1 is the initial state.  [default: as it is now]",
)
@answer_options()
def show_state(
    store: Path,
    module: str,
    relation: str,
    after: int | None,
    format: str | None,
    output: Path | None,
    limit: int | None,
) -> None:
    """The tuples of the state RELATION of MODULE."""
    from lipstick.workflow import open_run

    with reported():
        rows = open_run(store).state(module, relation, after)
        _send_rows(answer(format, output, limit, _FORMATS), rows)


def _send_rows(told: Answer, table: pa.Table) -> None:
    rows: list[dict[str, Any]] = table.slice(0, told.rows).to_pylist()
    if told.format == JSON:
        told.send_json(rows)
        return
    told.table(rows, table.num_rows)
    told.say(counted(table.num_rows, "tuple"))
    told.send_table()

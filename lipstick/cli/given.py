"""Inputs of executions and initial states, in a file or a folder.

A file is YAML or JSON. Inputs are a list of executions, each a mapping from relations, or from
nodes to relations, to rows; a state is a mapping from modules to relations to rows. Rows are a list
of mappings or lists, or the path of a file relative to the document::

    - Request: [{UserId: P1, BidId: B1, Model: Civic}]
      Choice: choices/first.csv

A folder has a folder per execution, called by its number, with the relations as files, which may
stand in a folder called like their node: ``0/Request.csv``, ``0/choice/Choice.parquet``. The folder
of a state has a folder per module: ``dealer1/Cars.csv``. Files are Parquet (also a folder of it),
CSV or JSON; in CSV, what is empty and not quoted is NULL.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, overload

import yaml

from lipstick.workflow.definition import bounded_yaml
from lipstick.workflow.errors import WorkflowError
from lipstick.workflow.execution.tables import SUFFIXES, read_table

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
    WorkflowError
        For a file or folder of another form, and numbers with gaps.
    """
    if path.is_dir():
        if first is not None:
            raise WorkflowError(
                f"{path} is a folder: its folders' names are the numbers of the executions.\n"
                "Leave out the number of the first one."
            )
        return _executions_of_folder(path)
    document = _document(path)
    if not isinstance(document, list):
        raise WorkflowError(
            f"{path} has {_kind(document)}, and not a list of executions.\nGive a list, an "
            "execution each, of mappings from relations to rows."
        )
    for number, given in enumerate(document, start=first or 0):
        if not isinstance(given, dict):
            raise WorkflowError(
                f"{path}: execution {number} is {_kind(given)}, and not a mapping from relations "
                "to rows."
            )
    return Executions(first or 0, [_reader(_resolved, given, path) for given in document])


def read_state(path: Path) -> dict[str, dict[str, Any]]:
    """Read an initial state: rows by module and relation.

    Raises
    ------
    WorkflowError
        For a file or folder of another form.
    """
    if path.is_dir():
        return {folder.name: _relations(folder) for folder in _folders(path)}
    document = _document(path)
    if not isinstance(document, dict):
        raise WorkflowError(
            f"{path} has {_kind(document)}, and not a mapping from modules to their relations."
        )
    for module, relations in document.items():
        if not isinstance(relations, dict):
            raise WorkflowError(
                f"{path}: {module} has {_kind(relations)}, and not a mapping from relations to "
                "rows."
            )
    return _resolved(document, path)


# -- documents ---------------------------------------------------------------------------------


def _document(path: Path) -> Any:
    if path.suffix not in _DOCUMENTS:
        raise WorkflowError(
            f"{path} is neither a folder nor a document.\nGive a folder, or a file whose name ends "
            f"in {', '.join(_DOCUMENTS)}."
        )
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text) if path.suffix == ".json" else bounded_yaml.load(text)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise WorkflowError(f"{path} cannot be read: {error}") from error


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
            raise WorkflowError(
                f"{folder} is not an execution: its name is not a number.\n"
                "Name the folders 0, 1, 2 ..."
            )
        if int(folder.name) in folders:
            raise WorkflowError(
                f"{folder} and {folders[int(folder.name)]} are of the same execution.\nLeave one."
            )
        folders[int(folder.name)] = folder
    numbers = sorted(folders)
    for before, number in pairwise(numbers):
        if number != before + 1:
            raise WorkflowError(
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
    """The relations whose files are in a folder; `among` are folders that are not files."""
    relations: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        if path.name in among or path.name.startswith("."):
            continue
        if path.stem in relations:
            raise WorkflowError(f"{folder} has two files of the relation {path.stem}.\nLeave one.")
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

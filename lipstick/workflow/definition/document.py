"""YAML documents whose values know their lines, and checks of their form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lipstick.workflow.definition import bounded_yaml
from lipstick.workflow.errors import DefinitionError, WorkflowError

Path_ = tuple[str | int, ...]

_NODES = 200_000
"""The maximum number of values of a workflow."""


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A value of a document, and its location.

    Parameters
    ----------
    value
        A scalar, a dict of entries, or a list of entries.
    """

    file: Path
    path: Path_
    line: int
    value: Any

    @property
    def name(self) -> str:
        """The path of the entry, for messages."""
        return ".".join(str(part) for part in self.path) or "the document"

    def error(self, problem: str) -> DefinitionError:
        """Return an error at this entry."""
        return DefinitionError(f"{self.file}, line {self.line}: {problem}", self.path, located=True)

    # -- forms -----------------------------------------------------------------------------

    def mapping(
        self, required: Sequence[str] = (), optional: Sequence[str] | None = None
    ) -> dict[str, DocumentEntry]:
        """Return the entry as a mapping with these keys; any keys if `optional` is None."""
        if self.value is None:
            return self._checked({}, required)
        if not isinstance(self.value, dict):
            raise self.error(f"{self.name} is {_kind(self.value)} and should be a mapping.")
        if optional is not None:
            known = (*required, *optional)
            for key, entry in self.value.items():
                if key not in known:
                    raise entry.error(
                        f"{self.name} has no {key!r}.\nWhat it may have: {', '.join(known)}."
                    )
        return self._checked(self.value, required)

    def _checked(
        self, entries: dict[str, DocumentEntry], required: Sequence[str]
    ) -> dict[str, DocumentEntry]:
        for key in required:
            if key not in entries:
                raise self.error(f"{self.name} lacks {key!r}.")
        return entries

    def sequence(self) -> list[DocumentEntry]:
        """Return the entry as a list."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise self.error(f"{self.name} is {_kind(self.value)} and should be a list.")
        return self.value

    def text(self) -> str:
        """Return the entry as text."""
        if not isinstance(self.value, str):
            raise self.error(
                f"{self.name} is {_kind(self.value)} and should be text. Quote names that YAML "
                "reads as other types (yes, no, null, numbers)."
            )
        return self.value

    def flag(self) -> bool:
        """Return the entry as true or false."""
        if not isinstance(self.value, bool):
            raise self.error(f"{self.name} is {_kind(self.value)} and should be true or false.")
        return self.value

    def number(self) -> int:
        """Return the entry as a whole number."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.error(f"{self.name} is {_kind(self.value)} and should be a whole number.")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """Return the entry as one text or a list of texts."""
        if isinstance(self.value, str):
            return (self.value,)
        return tuple(entry.text() for entry in self.sequence())

    def named(self) -> dict[str, str]:
        """Return the entry as texts by name."""
        return {name: entry.text() for name, entry in self.mapping().items()}

    @contextmanager
    def located(self) -> Iterator[None]:
        """Add the file and line of this entry to errors raised within."""
        try:
            yield
        except WorkflowError as error:
            if error.located:
                raise
            line = self.find(error.subject).line
            message = f"{self.file}, line {line}: {error.message}"
            raise type(error)(message, error.subject, located=True) from error

    def find(self, subject: Path_) -> DocumentEntry:
        """Return the entry at a path, or the last existing entry on the way to it."""
        entry = self
        for part in subject:
            inner = entry.value
            if isinstance(inner, list):
                inner = dict(enumerate(inner))
            if not isinstance(inner, dict) or part not in inner:
                break
            entry = inner[part]
        return entry


def load(path: Path) -> DocumentEntry:
    """Read a YAML file.

    Raises
    ------
    DefinitionError
        When it cannot be read, is not YAML, or a mapping has a key twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"The workflow {path} cannot be read: {error}") from error
    return parse(text, path)


def parse(text: str, path: Path) -> DocumentEntry:
    """Read YAML text; `path` is its name in messages.

    Raises
    ------
    DefinitionError
        When it is not YAML, a mapping has a key twice, or it is out of the bounds of
        :mod:`lipstick.workflow.definition.bounded_yaml`.
    """
    try:
        node = bounded_yaml.compose(text, nodes=_NODES)
        if node is None:
            raise DefinitionError(f"{path}: the file is empty.\nA workflow has at least nodes.")
        construct = yaml.SafeLoader("").construct_object
        return _entry(node, path, (), construct, node.start_mark.line + 1)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        problem = getattr(error, "problem", None) or str(error)
        what = "" if isinstance(error, bounded_yaml.OutOfBoundsError) else "this is not YAML: "
        raise DefinitionError(f"{path}{line}: {what}{problem}.") from error


def _entry(
    node: yaml.Node,
    file: Path,
    path: Path_,
    construct: Callable[[yaml.Node], Any],
    line: int,
) -> DocumentEntry:
    if isinstance(node, yaml.MappingNode):
        entries: dict[str, DocumentEntry] = {}
        for key, inner in node.value:
            name = str(key.value)
            if name in entries:
                message = f"{name!r} is given twice, first in line {entries[name].line}."
                raise DocumentEntry(file, path, key.start_mark.line + 1, None).error(message)
            entries[name] = _entry(inner, file, (*path, name), construct, key.start_mark.line + 1)
        return DocumentEntry(file, path, line, entries)
    if isinstance(node, yaml.SequenceNode):
        items = [
            _entry(inner, file, (*path, index), construct, inner.start_mark.line + 1)
            for index, inner in enumerate(node.value)
        ]
        return DocumentEntry(file, path, line, items)
    try:
        return DocumentEntry(file, path, line, construct(node))
    except ValueError as error:  # a date in month 13, a number of too many digits
        raise DefinitionError(f"{file}, line {line}: {error}", path, located=True) from error


def _kind(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return f"{value!r}"


class _Dumper(yaml.SafeDumper):
    """A dumper that writes texts of several lines as blocks."""


def _text(dumper: _Dumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def dump(document: Mapping[str, Any]) -> str:
    """Return a document as YAML, in its order."""
    text: str = yaml.dump(
        dict(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return text

"""Files and tables that calls name, and how they are opened."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from lipstick.systems.scripts.facts import Fact, Parameter
from lipstick.systems.scripts.reading.arguments import Arguments, argument
from lipstick.systems.scripts.reading.context import OPEN_FILE, Context
from lipstick.systems.scripts.reading.values import PyValue

ANY_FILE = "?"
"""The file or table whose name is computed."""


_OPEN_KINDS = frozenset({"file", "memoryfile", "excelwriter", "connection", "none"})

MOVED = "<folder>"
"""The state that is named once the folder of the process may have been changed."""


@dataclass(slots=True)
class FilesRead:
    """The files that a call reads, by name and by region, and what may not be in them yet."""

    names: tuple[str, ...] = ()
    regions: tuple[int, ...] = ()
    opened: list[PyValue] = field(default_factory=list)


def files_read(
    context: Context, fact: Fact, arguments: Arguments, owner: PyValue | None
) -> FilesRead:
    """The files that a call reads and the script has not written itself."""
    read = FilesRead()
    if fact.reads is not None:
        read.names, read.regions = files(context, fact.reads, arguments, owner)
    if fact.opens is not None and mode_of(fact, arguments)[0] in "ra+":
        read.names, read.regions = files(context, fact.opens, arguments, owner)
    for looks in (fact.looks, fact.touches):
        if looks is not None:
            _, looked = files(context, looks, arguments, owner)
            read.regions = (*read.regions, *looked)
    if fact.writes is not None or fact.touches is not None or fact.opens is not None:
        # A file can be written where its folder has been made.
        for parameter in (fact.writes, fact.touches, fact.opens):
            read.regions = (*read.regions, *_folders(context, parameter, arguments, owner))
    if MOVED in context.named and (read.regions or fact.opens or fact.writes):
        # Which file a name is of depends on the folder of the process.
        read.regions = (*read.regions, context.named_region("<process>"))
    read.regions = tuple(dict.fromkeys(read.regions))
    for region in read.regions:
        _read_open(context, region, read)
    if read.names and read.names[0] != ANY_FILE:
        written = context.lookup(read.regions[0])
        if written is not None and written.refs and all(key is None for _, key, _ in written.refs):
            # What the script itself has written, whatever way it came here, is not an input of it.
            read.names = ()
    return read


def files(
    context: Context, parameter: Parameter, arguments: Arguments, owner: PyValue | None
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The files or tables that a parameter names, and their regions."""
    if parameter.fixed is not None:
        name = parameter.fixed
    else:
        value = argument(parameter, arguments, owner)
        if value is None and not arguments.spread:
            return (), ()
        if value is not None and value.kind in _OPEN_KINDS:
            # It is open already: what is in it is its own object.
            return (), tuple(sorted(value.regions))
        name = value.const if value is not None and isinstance(value.const, str) else ANY_FILE
    region = context.named_region(name)
    moved = MOVED in context.named
    may_be = [context.named[o] for o in context.file_names if may_be_same(name, o, moved)]
    return (name,), tuple(dict.fromkeys([region, *may_be]))


def may_be_same(name: str, other: str, moved: bool) -> bool:
    """Return True if two names may be of one file, or of a folder and something in it.

    Parameters
    ----------
    moved
        Whether the folder of the process may have been another when one of them was named.
    """
    if ANY_FILE in (name, other):
        return True
    if "://" in name or "://" in other:
        return name == other
    left, right = _parts(name), _parts(other)
    if moved:
        return left[-1:] == right[-1:] or not left or not right
    shorter, longer = sorted((left, right), key=len)
    if longer[: len(shorter)] == shorter:
        return True
    if name.startswith(("/", "~")) != other.startswith(("/", "~")) or ".." in (*left, *right):
        # Where the script runs is not in its text.
        return bool(set(left) & set(right) - {".."}) or not left or not right
    return False


@lru_cache(maxsize=4096)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(posixpath.normpath(name.replace("\\", "/")).strip("/").casefold().split("/"))


def _folders(
    context: Context, parameter: Parameter | None, arguments: Arguments, owner: PyValue | None
) -> list[int]:
    """The regions of the folders around the file that a parameter names."""
    if parameter is None or parameter.fixed is not None:
        return []
    value = argument(parameter, arguments, owner)
    name = value.const if value is not None and isinstance(value.const, str) else None
    if name is None or value is None or value.kind == "file":
        return []
    parts = _parts(name)
    return [
        context.named[other]
        for other in context.file_names
        if other != name and (other == ANY_FILE or parts[: len(_parts(other))] == _parts(other))
    ]


def leave_file_open(context: Context, regions: Iterable[int]) -> None:
    """Note that files are open for writing: what was written may not be in them yet."""
    doubt = context.doubt("the file may still be open where it is read")
    for region in regions:
        context.graph.names[OPEN_FILE, region] = "<open>"
        context.write((OPEN_FILE, region), PyValue((doubt,)))


def close_file(context: Context, value: PyValue) -> None:
    """Note that a file is closed."""
    for region in value.regions:
        if context.state.get((OPEN_FILE, region)) is not None:
            context.write((OPEN_FILE, region), PyValue())


def close_unnamed(
    context: Context, node: ast.Call, arguments: Arguments, owner: PyValue | None
) -> None:
    """Close the files that a call has opened for itself, and that end with its expression."""
    if (
        owner is not None
        and isinstance(node.func, ast.Attribute)
        and (isinstance(node.func.value, ast.Call) or node.func.attr == "close")
    ):
        close_file(context, owner)
    for text, value in zip(arguments.texts, arguments.positional, strict=False):
        if isinstance(text, ast.Call) and value.kind == "file":
            close_file(context, value)


def _read_open(context: Context, region: int, read: FilesRead) -> None:
    held = context.lookup((OPEN_FILE, region))
    if held is not None and held.refs:
        read.opened.append(held)


def mode_of(fact: Fact, arguments: Arguments) -> str:
    """Return the mode of an opened file: ``r``, ``w``, ``a``, ``x``; ``a`` if it is not known."""
    if isinstance(fact.mode, str):
        return fact.mode
    if fact.mode is None:
        return "r"
    value = argument(fact.mode, arguments, None)
    if value is None:
        return "a" if arguments.spread else "r"
    return value.const if isinstance(value.const, str) and value.const else "a"

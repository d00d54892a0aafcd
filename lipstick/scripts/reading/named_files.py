"""Files and tables that calls name, and how they are opened."""

from __future__ import annotations

from dataclasses import dataclass

from lipstick.scripts.facts import Fact, Parameter
from lipstick.scripts.reading.arguments import Arguments, argument
from lipstick.scripts.reading.context import Context
from lipstick.scripts.reading.values import Value

ANY_FILE = "?"
"""The file or table whose name is computed."""


@dataclass(slots=True)
class FilesRead:
    """The files that a call reads, by name and by region."""

    names: tuple[str, ...] = ()
    regions: tuple[int, ...] = ()


def files_read(
    context: Context, fact: Fact, arguments: Arguments, owner: Value | None
) -> FilesRead:
    """The files that a call reads and the script has not written itself."""
    read = FilesRead()
    if fact.reads is not None:
        read.names, read.regions = files(context, fact.reads, arguments, owner)
    if fact.opens is not None and mode_of(fact, arguments)[0] in "ra+":
        read.names, read.regions = files(context, fact.opens, arguments, owner)
    if read.names and read.names[0] != ANY_FILE:
        written = context.lookup(read.regions[0])
        if written is not None and written.refs and all(key is None for _, key, _ in written.refs):
            # What the script itself has written, whatever way it came here, is no input of it.
            read.names = ()
    return read


def files(
    context: Context, parameter: Parameter, arguments: Arguments, owner: Value | None
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The files or tables that a parameter names, and their regions."""
    if parameter.fixed is not None:
        name = parameter.fixed
    else:
        value = argument(parameter, arguments, owner)
        if value is None and not arguments.spread:
            return (), ()
        if value is not None and value.kind in ("file", "excelwriter", "connection", "none"):
            # It is open already: what is in it is its own object.
            return (), tuple(sorted(value.regions))
        name = value.const if value is not None and isinstance(value.const, str) else ANY_FILE
    region = context.named_region(name)
    other_names = [ANY_FILE] if name != ANY_FILE else context.file_names
    may_be = [context.named[other] for other in other_names if other in context.named]
    return (name,), tuple(dict.fromkeys([region, *may_be]))


def mode_of(fact: Fact, arguments: Arguments) -> str:
    """How a file is opened: ``r``, ``w``, ``a``, ``x``; ``a`` where the text does not say."""
    if isinstance(fact.mode, str):
        return fact.mode
    if fact.mode is None:
        return "r"
    value = argument(fact.mode, arguments, None)
    if value is None:
        return "a" if arguments.spread else "r"
    return value.const if isinstance(value.const, str) and value.const else "a"

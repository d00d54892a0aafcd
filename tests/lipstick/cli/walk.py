"""Call commands in a process without Java, and print the exit code and output of each as JSON."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator

import click
from click.testing import CliRunner

if __name__ == "__main__":  # before anything of ours is imported
    for hidden in json.loads(sys.argv[1])["without"]:
        sys.modules[hidden] = None  # type: ignore[assignment]

from lipstick.cli import main

MISSING = "/dev/null/none"
"""A path at which nothing is, and nothing can be made."""


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command that is no group."""
    if not isinstance(command, click.Group):
        yield path
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from leaves(found, (*path, name))


def arguments(path: tuple[str, ...]) -> list[str]:
    """Return arguments that a command takes, which name nothing that there is."""
    command: click.Command = main
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    written = list(path)
    for parameter in command.params:
        if not parameter.required:
            continue
        value = _value(parameter)
        if isinstance(parameter, click.Option):
            written.append(parameter.opts[0])
        written += [value] * max(1, parameter.nargs)
    return written


def _value(parameter: click.Parameter) -> str:
    if isinstance(parameter.type, click.Choice):
        return str(parameter.type.choices[0])
    return (
        "1" if isinstance(parameter.type, (click.types.IntParamType, click.IntRange)) else MISSING
    )


def run(words: list[str]) -> dict[str, object]:
    """Call a command as a user would; a defect is an exit code of none."""
    result = CliRunner().invoke(main, words)
    code: int | None = result.exit_code
    output = result.output
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        code = None
        output += "".join(traceback.format_exception(result.exception))
    return {"words": words, "code": code, "output": output}


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    json.dump([run(words) for words in asked["commands"]], sys.stdout)

"""What a question is about: variables, their versions, files and lines, by name."""

from __future__ import annotations

import re
from typing import TypeAlias

from graphquery.errors import closest
from lipstick.systems.scripts.errors import ScriptNameError
from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import Node
from lipstick.systems.scripts.reading.read import Reading
from lipstick.systems.scripts.script_text import Script

Criterion: TypeAlias = str | int
"""``result``, ``result@8``, ``out.csv``, ``<stdout>``, ``8``, ``helpers.py:8``."""

_VERSION = re.compile(r"(?P<name>\w+)@(?:(?P<file>.+):)?(?P<line>\d+)")
_LINE = re.compile(r"(?:(?P<file>.+):)?(?P<line>\d+)")


def resolve(
    script: Script, reading: Reading, graph: ScriptGraph, criterion: Criterion
) -> list[Node]:
    """The nodes that a criterion means.

    Raises
    ------
    ScriptNameError
        With the names most like it.
    """
    text = str(criterion)
    if text in reading.variables:
        refs = [(node, key) for node, key, _ in reading.variables[text]]
        nodes = [graph.nodes[number] for number in graph.resolve(refs)]
        if nodes:
            return nodes
    if text in reading.files:
        refs = [(node, key) for node, key, _ in reading.files[text]]
        nodes = [graph.nodes[number] for number in graph.resolve(refs)]
        if any(text in node.writes or text.startswith("<") for node in graph.nodes.values()):
            return [*nodes, *_open(reading, graph)]
    named = [node for node in graph.nodes.values() if text in (*node.reads, *node.writes)]
    if named:
        return [*named, *_open(reading, graph)]
    if match := _VERSION.fullmatch(text):
        return _version(script, graph, text, match["name"], match["file"], int(match["line"]))
    if match := _LINE.fullmatch(text):
        return _line(script, graph, text, match["file"], int(match["line"]))
    inner = [node for node in graph.nodes.values() if text in node.views]
    if inner:
        return inner
    names = [*reading.variables, *reading.files]
    names += [name for node in graph.nodes.values() for name in (*node.reads, *node.views)]
    raise ScriptNameError(
        f"{script.main.name} has no variable or file {text!r}.\n{closest(text, set(names))}"
    )


def _open(reading: Reading, graph: ScriptGraph) -> list[Node]:
    """What the text leaves open about the files that a script leaves."""
    refs = [(node, key) for node, key, _ in reading.open_files]
    return [graph.nodes[number] for number in graph.resolve(refs) if number in graph.doubts]


def _file(script: Script, name: str | None, text: str) -> int:
    if name is None:
        return 0
    for number, file in enumerate(script.files):
        if file.name == name:
            return number
    known = closest(name, [file.name for file in script.files])
    raise ScriptNameError(f"{text}: {script.main.name} reads no file {name!r}.\n{known}")


def _version(
    script: Script, graph: ScriptGraph, text: str, variable: str, file: str | None, line: int
) -> list[Node]:
    number = _file(script, file, text)
    versions = [
        node
        for node in graph.nodes.values()
        if variable in node.views and node.place.file == number
    ]
    nodes = [node for node in versions if node.place.line <= line <= node.place.end]
    if nodes:
        return nodes
    lines = sorted({node.place.line for node in versions})
    if not lines:
        raise ScriptNameError(
            f"{text}: no line makes a version of {variable}.\n"
            f"{closest(variable, {view for node in graph.nodes.values() for view in node.views})}"
        )
    raise ScriptNameError(
        f"{text}: line {line} makes no version of {variable}.\nLines"
        f" {', '.join(map(str, lines))} do."
    )


def _line(script: Script, graph: ScriptGraph, text: str, file: str | None, line: int) -> list[Node]:
    number = _file(script, file, text)
    nodes = [
        node
        for node in graph.nodes.values()
        if any(
            place.file == number and place.line <= line <= place.end for place in graph.places(node)
        )
    ]
    if nodes:
        return nodes
    count = script.files[number].text.count("\n") + 1
    if not 0 < line <= count:
        raise ScriptNameError(f"{script.files[number].name} has {count} lines, and no line {line}.")
    raise ScriptNameError(
        f"Line {line} of {script.files[number].name} computes nothing that is reached:"
        f" {script.files[number].line(line).strip()!r}.\nAsk about a line of code that runs."
    )

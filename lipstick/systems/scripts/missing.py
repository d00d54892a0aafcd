"""Facts that a script needs and the catalogue lacks: listed, asked for once, and kept as YAML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from lipstick.systems.scripts.errors import FactsError
from lipstick.systems.scripts.facts.fact import read_fact
from lipstick.systems.scripts.provenance import ScriptProvenance
from lipstick.workflow.definition import bounded_yaml

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
    FactsError
        An answer that is no fact; what was answered before is kept.
    """
    document: dict[str, Any] = {}
    if file.exists():
        try:
            document = bounded_yaml.load(file.read_text(encoding="utf-8")) or {}
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise FactsError(f"{file} cannot be read as facts: {error}") from error
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
        raise FactsError(f"{file} cannot be written: {error.strerror}.") from error

"""Files of titled cases: what is given, and the texts that it must become.

A folder has a file per rule. A case begins with its title; what is given follows, a statement or
a plan as JSON, and then sections with what comes of it::

    -- title: column of a table
    SELECT a FROM t
    -- expected
    Project: a
      Scan t: a

    -- title: column of no table
    SELECT z FROM t
    -- error
    NameNotFoundError: there is no column z at 1:8
      SELECT z FROM t
             ^
    Columns here: a.
    -- advised
    SELECT a FROM t

``expected`` is the text that it becomes, ``blocks`` how a query is cut; ``error`` is the
refusal, and ``advised`` the query that its advice leads to.

``LIPSTICK_UPDATE_CASES=1`` writes what the code says now; read the difference before keeping it.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

ADVISED: Final = "advised"
BLOCKS: Final = "blocks"
ERROR: Final = "error"
EXPECTED: Final = "expected"

UPDATE: Final = bool(os.environ.get("LIPSTICK_UPDATE_CASES"))

_TITLE: Final = "-- title: "
_HEADINGS: Final = {f"-- {kind}": kind for kind in (EXPECTED, BLOCKS, ERROR, ADVISED)}


@dataclass(frozen=True, slots=True)
class Case:
    """A case of a rule.

    Attributes
    ----------
    file
        The file that has it.
    title
        What it is about; no other case of the folder has this title.
    given
        The statement, or the plan as JSON.
    outcomes
        The texts of its sections, by their kinds.
    """

    file: Path
    title: str
    given: str
    outcomes: Mapping[str, str]

    def __str__(self) -> str:
        return self.title


@cache
def cases(folder: Path) -> Mapping[str, Case]:
    """Return the cases of a folder by their titles.

    Raises
    ------
    ValueError
        A file has text before its first title, a title stands twice, or a case is given nothing.
    """
    titled: dict[str, Case] = {}
    for path in sorted(folder.glob("*.sql")):
        for case in read(path):
            if case.title in titled:
                raise ValueError(f"{path}: {case.title!r} is in {titled[case.title].file} too")
            titled[case.title] = case
    return titled


def read(path: Path) -> list[Case]:
    """Return the cases of a file, in order."""
    before, *texts = ("\n" + path.read_text(encoding="utf-8")).split(f"\n{_TITLE}")
    if before.strip():
        raise ValueError(f"{path}: text before the first title: a case begins with {_TITLE}...")
    return [_case(path, text) for text in texts]


def _case(path: Path, text: str) -> Case:
    title, *lines = text.split("\n")
    sections: dict[str, list[str]] = {"": []}
    kind = ""
    for line in lines:
        if line in _HEADINGS:
            kind = _HEADINGS[line]
            sections[kind] = []
        else:
            sections[kind].append(line)
    given, *outcomes = ("\n".join(section).strip("\n") for section in sections.values())
    if not given:
        raise ValueError(f"{path}: {title!r} is given nothing")
    return Case(path, title, given, dict(zip(list(sections)[1:], outcomes, strict=True)))


def check(case: Case, texts: Mapping[str, str], kinds: Container[str]) -> None:
    """Compare what became of a case, by kind, with its sections of these kinds."""
    texts = {kind: text.strip("\n") for kind, text in texts.items()}
    if UPDATE:
        _update(case, texts, kinds)
        return
    assert texts == {kind: text for kind, text in case.outcomes.items() if kind in kinds}


def _update(case: Case, texts: Mapping[str, str], kinds: Container[str]) -> None:
    kept = {kind: text for kind, text in case.outcomes.items() if kind not in kinds}
    updated = replace(case, outcomes={**texts, **kept})
    written = [updated if each.title == case.title else each for each in read(case.file)]
    case.file.write_text("\n".join(map(_written, written)), encoding="utf-8")


def _written(case: Case) -> str:
    sections = [
        f"{heading}\n{case.outcomes[kind]}\n"
        for heading, kind in _HEADINGS.items()
        if kind in case.outcomes
    ]
    return f"{_TITLE}{case.title}\n{case.given}\n{''.join(sections)}"


def strays(folder: Path, kinds: Iterable[str]) -> set[str]:
    """Return the files of a folder that have no cases, and sections that no test of it asks for."""
    allowed = set(kinds)
    sections = {
        f"{case.file.name}: {case.title}: {kind}"
        for case in cases(folder).values()
        for kind in case.outcomes.keys() - allowed
    }
    files = {case.file for case in cases(folder).values()}
    return {path.name for path in folder.iterdir() if path not in files} | sections

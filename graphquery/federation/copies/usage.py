"""A host's record of the members that its questions needed, and its copies of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from graphquery.errors import FederationError
from graphquery.federation.members.members import Member, Precaching
from graphquery.store.format import FORMAT_FILE

_QUESTIONS = "questions.jsonl"


def noting(given: Precaching) -> Callable[[Collection[str]], None]:
    """Return a function that records the members that a question needed."""
    path = given.folder / _QUESTIONS

    def note(needed: Collection[str]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"time": time.time(), "needed": sorted(needed)}) + "\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(line)

    return note


def questions(given: Precaching) -> Iterator[tuple[float, list[str]]]:
    """Yield the time of each recorded question, in seconds since 1970, and the members it needed.

    Raises
    ------
    FederationError
        A line that `noting` did not write; a last line that was cut off is skipped.
    """
    path = given.folder / _QUESTIONS
    if not path.exists():
        return
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines[:-1], start=1):
        try:
            noted = json.loads(line)
            yield float(noted["time"]), [str(each) for each in noted["needed"]]
        except (ValueError, KeyError, TypeError) as error:
            raise FederationError(f"{path}:{number} is not a question: {error!r}.") from error


def held(given: Precaching, members: Mapping[str, Member]) -> list[str]:
    """Return the members with a copy."""
    return [alias for alias in members if (given.folder / alias / FORMAT_FILE).is_file()]


def with_copies(members: Mapping[str, Member], given: Precaching) -> dict[str, Member]:
    """Return the members, with the folder of the copy set for every copied member."""
    copied = [alias for alias in held(given, members) if members[alias].copy is None]
    return dict(members) | {
        alias: replace(members[alias], copy=given.folder / alias) for alias in copied
    }

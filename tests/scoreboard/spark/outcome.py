"""What became of one statement, the file that keeps it, and the tables made of these."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


class Verdict(StrEnum):
    """What became of a statement."""

    ANNOTATED = "annotated"
    REFUSED = "refused"
    WRONG = "wrong"
    CRASHED = "crashed"
    REJECTED = "rejected"
    """Plain Spark does not answer, or Python has no value for what it answers."""
    READ = "read"
    """Understood, and not put to the oracles."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one statement.

    Attributes
    ----------
    file, number, key, sql
        The statement: its file, its place among the queries there from 1, its digest, its text.
    stage
        Where it came to its end: ``plain``, ``read``, ``df``, ``annotated``, ``capture``,
        ``deletion``, ``offline``; empty where it passed.
    message
        What was said there.
    ordered
        Of a query that orders: ``yes`` where the order was held against Spark's, ``ties`` where
        rows that tie, by what is not in the answer, were not.
    deletions, changed
        How many deletions were asked, and how many changed the answer.
    offline, needs_spark
        How many of them the capture answered without Spark, and how many it said it cannot.
    seconds
        Of everything that was asked.
    """

    file: str
    number: int
    key: str
    sql: str
    verdict: Verdict
    stage: str = ""
    message: str = ""
    rows: int = 0
    ordered: str = ""
    deletions: int = 0
    changed: int = 0
    offline: int = 0
    needs_spark: int = 0
    seconds: float = 0.0

    @property
    def cause(self) -> str:
        """The first line of the message without what is particular to the statement."""
        line = next(iter(self.message.splitlines()), "")
        line = re.sub(r"^line \d+, column \d+: ", "", line)
        line = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "…", line)
        return re.sub(r"\d+", "0", line)[:120]


def read(file: Path) -> dict[str, Outcome]:
    """Return the last outcome of every statement, by file and digest."""
    if not file.exists():
        return {}
    outcomes = {}
    for line in file.read_text().splitlines():
        values = json.loads(line)
        outcome = Outcome(**{**values, "verdict": Verdict(values["verdict"])})
        outcomes[f"{outcome.file}/{outcome.key}"] = outcome
    return outcomes


def append(file: Path, outcome: Outcome) -> None:
    """Add an outcome to a file of one JSON object a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as out:
        out.write(json.dumps(asdict(outcome)) + "\n")


_COLUMNS = ("file", "accepted", "annotated", "refused", "wrong", "crashed", "rejected")
_COUNTED = (Verdict.ANNOTATED, Verdict.REFUSED, Verdict.WRONG, Verdict.CRASHED, Verdict.READ)


def table(outcomes: Iterable[Outcome]) -> str:
    """Return a Markdown table with a line per file, and what they come to."""
    files: Mapping[str, list[Outcome]] = defaultdict(list)
    everything = sorted(outcomes, key=lambda outcome: (outcome.file, outcome.number))
    for each in everything:
        files[each.file].append(each)
    lines = [
        "| " + " | ".join(_COLUMNS) + " | changed it | offline |",
        "|---|" + "---:|" * (len(_COLUMNS) + 1),
    ]
    lines += [_line(name, of_file) for name, of_file in files.items()]
    lines += [_line("**all**", everything)]
    accepted = sum(outcome.verdict in _COUNTED for outcome in everything)
    annotated = sum(outcome.verdict is Verdict.ANNOTATED for outcome in everything)
    share = 100 * annotated / max(1, accepted)
    lines += ["", f"{annotated} of {accepted} statements annotated ({share:.1f} %)."]
    unread = sum(outcome.verdict is Verdict.READ for outcome in everything)
    if unread:
        lines += [f"{unread} more were read, and not put to the oracles."]
    return "\n".join(lines) + "\n"


def _line(name: str, of_file: Sequence[Outcome]) -> str:
    counts = Counter(outcome.verdict for outcome in of_file)
    deletions = sum(outcome.deletions for outcome in of_file)
    changed = sum(outcome.changed for outcome in of_file)
    offline = sum(outcome.offline for outcome in of_file)
    cells = [
        name,
        sum(counts[verdict] for verdict in _COUNTED),
        *(counts[Verdict(column)] for column in _COLUMNS[2:]),
        f"{changed} of {deletions}",
        f"{offline} of {sum(outcome.offline + outcome.needs_spark for outcome in of_file)}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def findings(outcomes: Iterable[Outcome]) -> str:
    """Return what was refused, wrong and crashed, by cause, each with its smallest example."""
    groups: Mapping[tuple[Verdict, str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.verdict in (Verdict.WRONG, Verdict.CRASHED, Verdict.REFUSED):
            groups[outcome.verdict, outcome.stage, outcome.cause].append(outcome)
    order = [Verdict.CRASHED, Verdict.WRONG, Verdict.REFUSED]
    ranked = sorted(groups.items(), key=lambda item: (order.index(item[0][0]), -len(item[1])))
    lines = []
    for (verdict, stage, cause), members in ranked:
        least = min(members, key=lambda outcome: len(outcome.sql))
        where = ", ".join(f"{outcome.file}:{outcome.number}" for outcome in members[:8])
        lines += [
            f"### {verdict} at {stage}, {len(members)}: {cause}",
            f"in {where}",
            "```sql",
            f"{least.sql};",
            "```",
            *(f"> {line}" for line in least.message.splitlines()[:14]),
            "",
        ]
    return "\n".join(lines)

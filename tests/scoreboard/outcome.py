"""What became of one query, and the file that keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of the scoreboard.

    Attributes
    ----------
    refused
        Why the query was not annotated: Spark's or the rewriter's message, in one line.
    bag, deletion
        ``ok``, or the first line of what the oracle found; None where it did not come to that.
    methods
        How many deletions were answered how.
    deletions, changed
        How many deletions that delete something were asked, and how many changed the answer.
    plain_s, annotated_s, whatif_s
        Seconds: the plain answer; the annotated answer, for which the query is captured; a
        hypothetical answer.
    """

    query: int
    rows: int = 0
    refused: str | None = None
    bag: str | None = None
    deletion: str | None = None
    methods: dict[str, int] = field(default_factory=dict)
    deletions: int = 0
    changed: int = 0
    plain_s: float = 0.0
    annotated_s: float = 0.0
    whatif_s: float = 0.0

    @property
    def verdict(self) -> str:
        """The outcome in a line."""
        if self.refused is not None:
            return f"refused: {self.refused}"
        by_oracle = (("bag", self.bag), ("deletion", self.deletion))
        failed = [f"{oracle}: {text}" for oracle, text in by_oracle if text not in (None, "ok")]
        return "; ".join(failed) or f"passed ({self.changed} of {self.deletions} changed it)"

    @property
    def passed(self) -> bool:
        """Whether the query is annotated and both oracles hold."""
        return self.refused is None and self.bag == "ok" and self.deletion == "ok"

    @property
    def by_annotations(self) -> bool:
        """Whether captured annotations alone answered every deletion."""
        return self.passed and "rerun" not in self.methods


def read(file: Path) -> dict[int, Outcome]:
    """Return the outcomes in a file of one JSON object a line: the last one of each query."""
    if not file.exists():
        return {}
    lines = (json.loads(line) for line in file.read_text().splitlines())
    return {line["query"]: Outcome(**line) for line in lines}


def append(file: Path, outcome: Outcome) -> None:
    """Add an outcome to the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as out:
        out.write(json.dumps(asdict(outcome)) + "\n")


def table(outcomes: Iterable[Outcome]) -> str:
    """Return the outcomes as a Markdown table, and what they come to."""
    names = "query | rows | annotated | bag | deletion | changed it | answered by | plain s"
    lines = [
        f"| {names} | annotated s | what-if s |",
        "|---:|---:|---|---|---|---:|---|---:|---:|---:|",
    ]
    listed = sorted(outcomes, key=lambda outcome: outcome.query)
    for o in listed:
        methods = ", ".join(f"{name} {count}" for name, count in sorted(o.methods.items()))
        cells = (
            o.query,
            o.rows,
            "yes" if o.refused is None else _cell(o.refused),
            _cell(o.bag),
            _cell(o.deletion),
            f"{o.changed} of {o.deletions}",
            methods or "-",
            f"{o.plain_s:.1f}",
            f"{o.annotated_s:.1f}",
            f"{o.whatif_s:.1f}",
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    annotated = sum(o.refused is None for o in listed)
    passed = sum(o.passed for o in listed)
    alone = sum(o.by_annotations for o in listed)
    lines += [
        "",
        f"{annotated} of {len(listed)} annotated, {passed} pass both oracles,"
        f" {alone} answered by captured annotations alone.",
    ]
    return "\n".join(lines) + "\n"


def _cell(text: str | None) -> str:
    return "-" if text is None else text.replace("|", "\\|")

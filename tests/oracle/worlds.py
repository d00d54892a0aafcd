"""The worlds oracle over corpora: annotations say what queries answer in every world.

``python -m tests.oracle.worlds conditions`` holds the queries of a corpus and says what became of
them; ``generated 0-500`` those of seeds. With ``--output FILE`` results are written as they come,
and a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb
import sqlglot

from lipstick.engines.memory.memory import Memory
from semiring.errors import LipstickError
from tests.oracle.world_answers import worlds_of
from tests.oracle.world_check import WRONG_ANSWER, Checked, Mode, check_worlds, reason
from tests.oracle.world_corpora import CORPORA, Case
from tests.oracle.written import written

__all__ = ["Checked", "Found", "Tally", "check_case", "check_worlds", "main", "worlds_of"]

_MODES: Final[dict[str, Mode]] = {"shown": "shown", "potential": "potential"}
HELD: Final = "held"
LATE: Final = "out of time"
REFUSED: Final = "refused"
UNKNOWN: Final = "not known to DuckDB"
_NAMES: Final = 60
"""So much of a reason a tally tells apart."""


@dataclass(frozen=True, slots=True)
class Found:
    """What became of a query.

    Attributes
    ----------
    outcome
        Held, wrong, not comparable, not known to DuckDB, refused, crashed, or out of time.
    detail
        Why it is refused or crashed.
    problems, counts
        Of one that was compared; see :class:`tests.oracle.world_check.Checked`.
    """

    name: str
    outcome: str
    detail: str = ""
    seconds: float = 0.0
    worlds: int = 0
    changed: int = 0
    failed: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Tally:
    """What became of many queries.

    Attributes
    ----------
    queries
        By outcome.
    problems
        Queries by what is wrong.
    reasons
        Why queries are refused, crash, or are not known to DuckDB.
    counts
        What was compared, over all queries.
    """

    queries: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    worlds: int = 0
    changed: int = 0

    def add(self, result: Found) -> None:
        """Count a query in."""
        self.queries[result.outcome] += 1
        self.problems.update(result.problems.keys())
        if result.detail:
            self.reasons[f"{result.outcome}: {result.detail[:_NAMES]}"] += 1
        self.counts.update(result.counts)
        self.worlds += result.worlds
        self.changed += result.changed

    def __str__(self) -> str:
        lines = [
            f"{sum(self.queries.values())} queries: {_counted(self.queries)};"
            f" {self.changed} of {self.worlds} worlds have another answer",
            f"wrong: {_counted(self.problems)}",
        ]
        for counts in (self.reasons, self.counts):
            lines += [f"{count:7} {name}" for name, count in counts.most_common()]
        return "\n".join(lines)


class OutOfTimeError(Exception):
    """A query took longer than it may."""


def check_case(
    case: Case, mode: Mode, *, most: int = 4096, analysed: int = 12, seconds: int = 0
) -> Found:
    """Hold one query, whatever becomes of it.

    Parameters
    ----------
    most, analysed
        See :func:`check_worlds`.
    seconds
        How long it may take; 0: for ever.
    """
    start = time.monotonic()

    def found(outcome: str, error: BaseException) -> Found:
        return Found(case.name, outcome, reason(error), round(time.monotonic() - start, 2))

    with tempfile.TemporaryDirectory(prefix="worlds-") as directory:
        try:
            with _limited(seconds):
                memory = written(case.sql, case.database, Path(directory))
                if mode == "potential" and not hasattr(Memory, "potential_rows"):
                    raise NotImplementedError("Memory has no potential_rows yet")
                checked = check_worlds(
                    memory,
                    case.sql,
                    case.database,
                    mode,
                    most=min(most, case.most),
                    analysed=min(analysed, case.analysed),
                )
        except LipstickError as error:
            return found(REFUSED, error)
        except (duckdb.Error, sqlglot.errors.SqlglotError) as error:
            return found(UNKNOWN, error)
        except OutOfTimeError as error:
            return found(LATE, error)
        except Exception as error:  # what it is is worth knowing, and the next query too
            late = 0 < seconds <= time.monotonic() - start
            return found(LATE if late else "crashed", error)
    outcome = HELD
    if WRONG_ANSWER in checked.problems:
        outcome = "another answer than DuckDB's"
    elif checked.problems:
        outcome = "wrong"
    elif checked.counts["not comparable"]:
        outcome = "not comparable"
    return Found(
        case.name,
        outcome,
        "",
        round(time.monotonic() - start, 2),
        checked.worlds,
        checked.changed,
        checked.failed,
        checked.problems,
        {name: count for name, count in checked.counts.items() if count},
    )


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise OutOfTimeError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "nothing"


def _cases(corpus: str, chosen: str) -> Iterator[Case]:
    """Yield the cases of a corpus: all, those in a range of places or seeds, or one by its name."""
    make = CORPORA[corpus]
    first, dash, last = chosen.partition("-")
    if first.isdigit() and (last.isdigit() or not dash):
        places = range(int(first), int(last or int(first) + 1))
        yield from make(places)
    else:
        yield from (case for case in make(None) if chosen in ("", case.name))


def main(arguments: Sequence[str] | None = None) -> None:
    """Hold the queries of a corpus; print those that fail, and what became of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.worlds", description=__doc__)
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("chosen", nargs="?", default="", help="places or seeds, or a name")
    parser.add_argument("--mode", choices=_MODES, default="shown")
    parser.add_argument("--output", type=Path, help="results, a line each; what is there is kept")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so many")
    parser.add_argument("--limit", type=int, default=60, help="seconds that one query may take")
    parser.add_argument("--most", type=int, default=4096, help="worlds of a query at most")
    options = parser.parse_args(arguments)
    output: Path | None = options.output
    stop = time.monotonic() + options.seconds if options.seconds else None
    tally, known = Tally(), set[str]()
    if output is not None and output.exists():
        for line in output.read_text(encoding="utf-8").splitlines():
            result = Found(**json.loads(line))
            known.add(result.name)
            tally.add(result)
    for case in _cases(options.corpus, options.chosen):
        if case.name in known:
            continue
        if stop is not None and time.monotonic() > stop:
            print("stopped before the end: no time is left")
            break
        result = check_case(case, _MODES[options.mode], most=options.most, seconds=options.limit)
        tally.add(result)
        if output is not None:
            output.parent.mkdir(parents=True, exist_ok=True)
            with output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
        if result.problems or result.outcome == "crashed":
            print(f"{result.name}: {result.outcome} {result.detail}\n{case.sql}")
            for what, detail in result.problems.items():
                print(f"  {what}: {detail}")
            print(flush=True)
    print(tally)


if __name__ == "__main__":
    main()

"""One query of a benchmark put to both oracles."""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pyspark.errors import PySparkException

import lipstick
from lipstick import AnnotatedFrame, Session
from lipstick.errors import LipstickError
from tests.oracle.bag import check_bag
from tests.oracle.database import Deletion
from tests.oracle.deletion import check_deletion, deletion_sets, lineage_keys
from tests.oracle.plain import PlainSpark
from tests.scoreboard.outcome import Outcome

T = TypeVar("T")


def check(
    ls: Session,
    plain: PlainSpark,
    number: int,
    sql: str,
    deletions: int,
    failures: Path,
) -> Outcome:
    """Return what becomes of a query; what goes wrong is part of it and is not raised.

    The whole of what went wrong is written to ``failures / "<number>.txt"``.
    """
    database = plain.database
    log = failures / f"{number}.txt"
    outcome = Outcome(number)
    try:
        plain_s, answer = _timed(lambda: plain.answer(sql))
        outcome = replace(outcome, rows=len(answer), plain_s=plain_s)
        q = ls.sql(sql)
        annotated_s, _ = _timed(q.plan.annotated.collect)
        outcome = replace(outcome, annotated_s=annotated_s)
    except LipstickError as error:
        return replace(outcome, refused=_logged(error, log))
    except Exception as error:
        return replace(outcome, refused=f"{type(error).__name__}: {_logged(error, log)}")
    try:
        check_bag(ls, q, sql, plain)
        outcome = replace(outcome, bag="ok")
    except Exception as error:
        return replace(outcome, bag=_logged(error, log))
    try:
        deletions_asked = deletion_sets(
            random.Random(number), database, lineage_keys(q, database), count=deletions
        )
        whatif_s, _ = _timed(lambda: _ask(q, deletions_asked[-1]))
        outcome = replace(outcome, whatif_s=whatif_s)
        offline = lipstick.open(q.capture.directory)
        tally = check_deletion(ls, q, sql, database, deletions_asked, plain=plain, offline=offline)
    except Exception as error:
        return replace(outcome, deletion=_logged(error, log))
    return replace(
        outcome,
        deletion="ok",
        methods=dict(tally.methods),
        deletions=tally.nonempty,
        changed=tally.changed,
    )


def _ask(q: AnnotatedFrame, deletion: Deletion) -> None:
    with suppress(PySparkException):  # the oracle holds it against the failure of the plain query
        q.what_if(delete=deletion.argument()).df.collect()


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _logged(error: Exception, log: Path) -> str:
    """Write an error down in full; return its first line."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(traceback.format_exception(error)))
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[0][:200]

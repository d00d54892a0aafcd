"""The time of questions that analysts ask, beside their plain queries, each within a bound.

Twenty queries over TPC-H, written as ordinary SQL, and the 22 of TPC-H itself. Every query is run
plainly, captured, and asked one question after the other, each within a bound of processor seconds
of this process and Spark, or ten times as many as the plain query takes. Results are written as
they arrive, and a table of them in Markdown at the end; what has been asked is not asked again.
Beside them stand the wall time, the plain query of the same run, and the longest time without a
sign of progress on the terminal.

    python -m benchmark_workflowgen questions --data DIR --output results.json --seconds 500
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click

import lipstick
from benchmark_workflowgen import suites
from benchmark_workflowgen.analyst_queries import QUERIES, VALUES
from benchmark_workflowgen.harness import OverLimitError, within, write_results
from benchmark_workflowgen.sessions import Sparks
from lipstick import semirings
from lipstick.questions.asking import forget_connection
from semiring.errors import LipstickError

_KEYS = {"orders": "o_orderkey", "lineitem": "l_orderkey", "partsupp": "ps_partkey"}
"""The relations that lose a row: the first that a query reads."""


def _large(q: Any) -> str:
    return next((name for name in _KEYS if name in q.plan.relations), next(iter(q.plan.relations)))


def _what_if(q: Any, column: str, budget: float) -> Any:
    del column
    relation = _large(q)
    key = _KEYS.get(relation, q.plan.relations[relation].token[0])
    return q.what_if({relation: f"{key} % 100 = 0"}, budget=budget).df


def _each_row(q: Any, column: str, budget: float) -> Any:
    """Leave out one order at a time, or the items or offers of one."""
    del column
    relation = _large(q)
    by_key = relation in ("lineitem", "partsupp")
    scenarios = lipstick.each(relation, by=_KEYS[relation]) if by_key else lipstick.each(relation)
    return q.what_if_many(scenarios, budget=budget).changes


def _each_nation(q: Any, column: str, budget: float) -> Any:
    """Leave out one nation at a time, or one of few groups where no nation is read."""
    del column
    few = {"customer": "c_nationkey", "orders": "o_orderpriority", "lineitem": "l_shipmode"}
    relations = q.plan.relations
    if "nation" in relations:
        scenarios = lipstick.each("nation")
    else:
        name = next((name for name in few if name in relations), None)
        scenarios = lipstick.each(_large(q)) if name is None else lipstick.each(name, few[name])
    return q.what_if_many(scenarios, budget=budget).changes


def _page(q: Any, column: str, budget: float) -> None:
    del column, budget
    with tempfile.TemporaryDirectory() as folder:
        q.explore(to=Path(folder) / "page.html", browser=False)


def _saved(q: Any, column: str, budget: float) -> None:
    del column, budget
    with tempfile.TemporaryDirectory() as folder:
        q.save(Path(folder) / "capture")


QUESTIONS: dict[str, Callable[[Any, str, float], Any]] = {
    "polynomials": lambda q, _, budget: q.polynomials(5, budget=budget),
    "tensors": lambda q, column, budget: q.algebra.tensors(column, 5, budget=budget),
    "lineage": lambda q, _, budget: q.lineage(budget=budget),
    "what_if": _what_if,
    "each_nation": _each_nation,
    "each_order": _each_row,
    "counting": lambda q, _, budget: q.algebra.evaluate(semirings.Counting(), budget=budget),
    "probability": lambda q, _, budget: q.probability(0.9, budget=budget),
    "expected": lambda q, column, budget: q.algebra.expected(column, 0.9, 5, budget=budget),
    "witnesses": lambda q, _, budget: q.algebra.witnesses(2, budget=budget),
    "wsms": lambda q, _, budget: q.algebra.wsms(2, budget=budget),
    "repairs": lambda q, _, budget: q.algebra.repairs(5, budget=budget),
    "responsibility": lambda q, _, budget: q.algebra.responsibility(2, budget=budget),
    "shapley": lambda q, _, budget: q.algebra.shapley(2, budget=budget),
    "banzhaf": lambda q, _, budget: q.algebra.banzhaf(2, budget=budget),
    "potential": lambda q, _, budget: q.polynomials(20, potential=True, budget=budget),
    "html": lambda q, _, __: q._repr_html_(),
    "save": _saved,
    "page": _page,
}
_TIMES = 10
"""Limit on a question's time, as a multiple of the plain query's."""

_BUDGET = 0.8
"""The share of its bound that a question has as a budget: it also makes its answer readable."""

_GRACE = 1.2
"""Factor of its bound after which a question is stopped; a budget ends it earlier."""

COLUMNS = ("plain", "capture", *QUESTIONS)

_QUIET = 3.0
"""Limit on silence during a question, in seconds: progress is shown after two."""

_REASON = 60
"""The number of characters of a reason in the table; its end is the same for many queries."""

_BEGIN, _END = "<!-- questions: begin -->", "<!-- questions: end -->"
"""The table stands between these lines of a page."""


def ask(question: Callable[[], Any], bound: float) -> dict[str, Any]:
    """Ask a question: return its seconds and processor seconds, or the reason of its failure."""
    began, processor = time.perf_counter(), time.process_time()
    try:
        with within(bound):
            answered = question()
            outcome: dict[str, Any] = {"what": "answered", "silent": time.perf_counter() - began}
            for frame in answered.values() if isinstance(answered, dict) else [answered]:
                if hasattr(frame, "toArrow"):
                    frame.toArrow()
            if not is_exact(answered):
                outcome["exact"] = False
    except OverLimitError:
        forget_connection()
        outcome = {"what": "over"}
    except LipstickError as error:
        outcome = {"what": "refused", "why": str(error)}
    except Exception as error:  # a table that is complete says which questions break
        outcome = {"what": "failed", "why": repr(error)}
    outcome["seconds"] = round(time.perf_counter() - began, 2)
    outcome["processor"] = round(time.process_time() - processor, 2)
    return outcome


def is_exact(answered: object) -> bool:
    """Return True unless a part of the answer is a bound, a sample or an incomplete list."""
    if hasattr(answered, "complete"):
        return bool(answered.complete)
    if isinstance(answered, tuple):
        return is_exact(answered[-1])
    if isinstance(answered, list | dict):
        parts = answered.values() if isinstance(answered, dict) else answered
        return all(is_exact(part) for part in parts)
    return not getattr(answered, "error", 0.0)


class _Terminal:
    """A substitute terminal for standard error that records the times of writes."""

    def __init__(self) -> None:
        self._read, written = os.openpty()
        os.dup2(written, 2)
        os.environ["TERM"] = "xterm"
        self._times: list[float] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while os.read(self._read, 65536):
            self._times.append(time.perf_counter())

    def silence(self, began: float, ended: float) -> float:
        """Return the longest time without output between two times, in seconds."""
        heard = [began, *(moment for moment in self._times if began < moment < ended), ended]
        self._times.clear()
        return max(after - before for before, after in pairwise(heard))


def _processor_of_spark() -> float:
    """Return the processor seconds of the processes that this one started."""
    used = 0
    for children in Path("/proc/self/task").glob("*/children"):
        for process in children.read_text(encoding="ascii").split():
            fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1]
            used += sum(map(int, fields.split()[11:13]))
    return used / os.sysconf("SC_CLK_TCK")


def _work(
    told: Connection, data: Path, asked: Mapping[str, Sequence[str]], bound: float, load: float
) -> None:
    """Ask questions in a process that may be killed, and send the outcome of each."""
    with Sparks(None, None, "4g") as sparks, lipstick.session(sparks.get(2, 4)) as ls:
        suites.track(ls, "tpch", data)
        # The first capture of a process warms Spark up.
        ls.sql("SELECT n_regionkey, count(*) FROM nation GROUP BY n_regionkey").lineage()
        terminal = _Terminal()

        def measured(question: Callable[[], Any], most: float) -> dict[str, Any]:
            spark, began = _processor_of_spark(), time.perf_counter()
            outcome = ask(question, load * most)
            ended = began + outcome.pop("silent", outcome["seconds"])
            outcome["silent"] = round(terminal.silence(began, ended), 1)
            outcome["processor"] = round(outcome["processor"] + _processor_of_spark() - spark, 2)
            return outcome

        for name, questions in asked.items():
            told.send((name, "plain", None))
            with tempfile.TemporaryDirectory() as folder:
                frame = ls.spark.sql(QUERIES[name])
                frame.write.parquet(f"{folder}/warm")
                plain = measured(partial(frame.write.parquet, f"{folder}/plain"), 10 * bound)
            told.send((name, "plain", plain))
            told.send((name, "capture", None))
            q = ls.sql(QUERIES[name])
            column = VALUES.get(name, q.schema.names[-1])
            told.send((name, "capture", measured(partial(getattr, q, "capture"), 10 * bound)))
            allowed = max(bound, _TIMES * float(plain["processor"]))
            for question in questions:
                told.send((name, question, None))
                # Answers that take their whole budget take most of the processor seconds allowed.
                crowd = os.getloadavg()[0] / (os.cpu_count() or 1)
                budget = _BUDGET * allowed * min(max(crowd, 1.0), load)
                asking = partial(QUESTIONS[question], q, column, budget)
                outcome = measured(asking, _GRACE * allowed)
                if outcome["processor"] > allowed:
                    outcome["what"] = "over"
                told.send((name, question, {**outcome, "plain": plain["processor"]}))
    told.close()


def measure(
    data: Path,
    asked: Mapping[str, Sequence[str]],
    bound: float,
    load: float,
    until: float,
    note: Callable[[str, str, Any], None],
) -> None:
    """Ask questions to queries; after one that cannot be stopped, the others in a new process.

    Parameters
    ----------
    bound, load
        Processor seconds of a question, and seconds for each of them.
    until
        No question begins after this time of the monotonic clock.
    note
        Called with a query, a question, and what became of it.
    """
    context = multiprocessing.get_context("spawn")
    left = {name: list(questions) for name, questions in asked.items() if questions}
    while left and time.monotonic() < until:
        mine, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(theirs, data, left, bound, load))
        worker.start()
        theirs.close()
        current, patience = None, 10 * load * bound
        try:
            while time.monotonic() < until and mine.poll(patience):
                name, question, outcome = mine.recv()
                if outcome is None:
                    current = name, question
                    continue
                current = None
                note(name, question, outcome)
                if question == "plain":
                    patience = 2 * load * max(bound, _TIMES * float(outcome["processor"]))
                _strike(left, name, question)
        except EOFError:
            pass
        worker.terminate()
        worker.join(10)
        if worker.is_alive():
            worker.kill()
            worker.join()
        if time.monotonic() > until:
            return
        if current is not None:
            note(*current, {"what": "over", "seconds": patience, "processor": patience})
            _strike(left, *current)
        elif left:
            raise RuntimeError(f"The process that asks about {next(iter(left))} ended early.")


def _strike(left: dict[str, list[str]], name: str, question: str) -> None:
    if question in left[name]:
        left[name].remove(question)
    if not left[name]:
        del left[name]


def table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of results in Markdown, their counts, and all that is not answered."""
    lines = ["| query | " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * len(COLUMNS)]
    for name, outcomes in results.items():
        cells = [_cell(outcomes.get(column)) for column in COLUMNS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    asked = {
        (name, question): outcome
        for name, outcomes in results.items()
        for question, outcome in outcomes.items()
        if question in QUESTIONS
    }
    counts = Counter(str(outcome["what"]) for outcome in asked.values())
    partial_count = sum(outcome.get("exact") is False for outcome in asked.values())
    lines += [
        "",
        f"{len(asked)} asked: {counts['answered']} answered, {partial_count} of them by bounds, "
        f"samples or an incomplete list (~), {counts['over']} not within the bound, "
        f"{counts['refused']} refused, {counts['failed']} failed.",
    ]
    unanswered: dict[str, dict[str, str]] = {}
    for (name, question), outcome in asked.items():
        if outcome["what"] != "answered":
            why = str(outcome.get("why", "")).splitlines()[:1]
            unanswered.setdefault(f"{question}, {outcome['what']}", {})[name] = "".join(why)
        if outcome.get("silent", 0.0) > _QUIET:
            unanswered.setdefault(f"{question}, silent for {_QUIET:g} s", {})[name] = ""
    lines.append("")
    for problem, names in unanswered.items():
        reasons = {why if len(why) < _REASON else f"… {why[-_REASON:]}" for why in names.values()}
        lines.append(f"- {problem}: {', '.join(names)}. {'; '.join(sorted(reasons))}".rstrip(" ."))
    return "\n".join(lines).rstrip() + "\n"


def _cell(outcome: Mapping[str, Any] | None) -> str:
    if outcome is None:
        return "–"
    if outcome["what"] != "answered":
        return "**over**" if outcome["what"] == "over" else str(outcome["what"])
    return f"{'~' if outcome.get('exact') is False else ''}{outcome['processor']:.1f}"


def with_table(page: str, written: str) -> str:
    """Return a page with a table between its two marks.

    Raises
    ------
    click.UsageError
        For a page without them.
    """
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise click.UsageError(f"The page has no lines {_BEGIN} and {_END}.")
    return f"{before}{begin}\n{written}{end}{after}"


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Tables; else they are generated.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Of generated tables.  [default: data beside OUTPUT]",
)
@click.option("--scale", default=0.1, show_default=True)
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Results as JSON.")
@click.option("--bound", default=30.0, show_default=True, help="Processor seconds of a question.")
@click.option("--load", default=1.0, show_default=True, help="Seconds for a processor second.")
@click.option("--queries", default=",".join(QUERIES), help="Only these.")
@click.option("--questions", default=",".join(QUESTIONS), help="Only these.")
@click.option("--seconds", default=math.inf, help="No question begins later; go on with OUTPUT.")
@click.option("--page", type=click.Path(exists=True, path_type=Path), help="Has the table.")
def main(
    data: Path | None,
    cache: Path | None,
    scale: float,
    output: Path,
    bound: float,
    load: float,
    queries: str,
    questions: str,
    seconds: float,
    page: Path | None,
) -> None:
    """Ask analysts' questions over TPC-H within a bound; what is in OUTPUT is not asked again."""
    folder = suites.tables("tpch", scale, data, cache or output.parent / "data")
    known: dict[str, dict[str, Any]] = {}
    if output.exists():
        known = json.loads(output.read_text(encoding="utf-8"))

    def note(name: str, question: str, outcome: Any) -> None:
        outcomes = known.setdefault(name, {})
        if question in QUESTIONS or question not in outcomes:
            outcomes[question] = outcome
            write_results(output, known)

    asked = {
        name: [question for question in questions.split(",") if question not in known.get(name, {})]
        for name in queries.split(",")
    }
    measure(folder, asked, bound, load, time.monotonic() + seconds, note)
    known = {name: known[name] for name in QUERIES if known.get(name)}
    click.echo(table(known))
    if page is not None:
        page.write_text(with_table(page.read_text("utf-8"), table(known)), encoding="utf-8")

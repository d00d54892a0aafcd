"""The time of questions that analysts ask, beside their plain queries, each within a bound.

Twenty queries over TPC-H, written as ordinary SQL, and the 22 of TPC-H itself. Every query is run
plainly, captured, and asked one question after the other; each question is stopped after as many
seconds as the bound, or ten times the plain query if that is more. Results are written as they
arrive, and a table of them in Markdown at the end; what has been asked is not asked again.
Processor seconds of this process stand beside the wall time, for a machine that others use too.

    python -m benchmark_workflowgen questions --data DIR --output results.json
"""

from __future__ import annotations

import json
import multiprocessing
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

import click

import lipstick
from benchmark_workflowgen import suites, tpch
from benchmark_workflowgen.harness import write_results
from benchmark_workflowgen.sessions import Sparks
from lipstick import semirings
from lipstick.questions.asking import forget_connection
from semiring.errors import LipstickError

QUERIES = {
    "latest_order": """
        SELECT o_custkey, o_orderkey, o_orderdate, o_totalprice
        FROM (SELECT *, row_number() OVER (PARTITION BY o_custkey
                                           ORDER BY o_orderdate DESC, o_orderkey DESC) AS place
              FROM orders)
        WHERE place = 1""",
    "dedup_then_sum": """
        WITH once AS (SELECT DISTINCT o_custkey, o_orderdate, o_totalprice FROM orders)
        SELECT c_mktsegment, sum(o_totalprice) AS revenue, count(*) AS orders
        FROM once JOIN customer ON o_custkey = c_custkey GROUP BY c_mktsegment""",
    "left_join_refunds": """
        SELECT date_trunc('MONTH', o_orderdate) AS month, sum(o_totalprice) AS sold,
               sum(coalesce(refunded, 0)) AS refunded
        FROM orders LEFT JOIN (SELECT l_orderkey, sum(l_extendedprice) AS refunded FROM lineitem
                               WHERE l_returnflag = 'R' GROUP BY l_orderkey)
             ON o_orderkey = l_orderkey
        GROUP BY date_trunc('MONTH', o_orderdate)""",
    "share_of_nation": """
        SELECT n_name, revenue, revenue / sum(revenue) OVER () AS share,
               rank() OVER (ORDER BY revenue DESC) AS place
        FROM (SELECT n_name, sum(o_totalprice) AS revenue
              FROM orders JOIN customer ON o_custkey = c_custkey
                   JOIN nation ON c_nationkey = n_nationkey GROUP BY n_name)""",
    "active_customers": """
        SELECT c_mktsegment, count(DISTINCT c_nationkey) AS nations, count(*) AS customers
        FROM customer
        WHERE EXISTS (SELECT 1 FROM orders WHERE o_custkey = c_custkey
                      AND o_orderdate >= DATE '1998-01-01')
        GROUP BY c_mktsegment HAVING count(*) > 100""",
    "never_ordered": """
        SELECT n_name, count(*) AS customers FROM customer JOIN nation ON c_nationkey = n_nationkey
        WHERE c_custkey NOT IN (SELECT o_custkey FROM orders) GROUP BY n_name""",
    "big_orders": """
        SELECT c_name, o_orderkey, o_totalprice, quantity
        FROM orders JOIN (SELECT l_orderkey, sum(l_quantity) AS quantity FROM lineitem
                          GROUP BY l_orderkey HAVING sum(l_quantity) > 250)
                    ON o_orderkey = l_orderkey
             JOIN customer ON o_custkey = c_custkey
        ORDER BY o_totalprice DESC, o_orderkey LIMIT 20""",
    "month_over_month": """
        WITH months AS (SELECT date_trunc('MONTH', o_orderdate) AS month,
                               sum(o_totalprice) AS revenue
                        FROM orders GROUP BY date_trunc('MONTH', o_orderdate))
        SELECT month, revenue, revenue - lag(revenue) OVER (ORDER BY month) AS difference
        FROM months""",
    "rollup": """
        SELECT n_name, c_mktsegment, sum(o_totalprice) AS revenue, count(*) AS orders
        FROM orders JOIN customer ON o_custkey = c_custkey
             JOIN nation ON c_nationkey = n_nationkey
        GROUP BY ROLLUP (n_name, c_mktsegment)""",
    "buckets": """
        SELECT orders, count(*) AS customers
        FROM (SELECT c_custkey, count(o_orderkey) AS orders
              FROM customer LEFT JOIN orders ON c_custkey = o_custkey GROUP BY c_custkey)
        GROUP BY orders""",
    "top_per_group": """
        SELECT * FROM (SELECT n_name, c_name, sum(o_totalprice) AS spent,
                              rank() OVER (PARTITION BY n_name
                                           ORDER BY sum(o_totalprice) DESC) AS place
                       FROM orders JOIN customer ON o_custkey = c_custkey
                            JOIN nation ON c_nationkey = n_nationkey GROUP BY n_name, c_name)
        WHERE place <= 3""",
    "running_total": """
        SELECT o_orderdate, revenue, sum(revenue) OVER (ORDER BY o_orderdate) AS so_far
        FROM (SELECT o_orderdate, sum(o_totalprice) AS revenue FROM orders
              WHERE o_orderdate >= DATE '1998-01-01' GROUP BY o_orderdate)""",
    "both_years": """
        SELECT o_custkey FROM orders WHERE year(o_orderdate) = 1996
        INTERSECT SELECT o_custkey FROM orders WHERE year(o_orderdate) = 1997""",
    "lost_customers": """
        SELECT o_custkey FROM orders WHERE year(o_orderdate) = 1996
        EXCEPT SELECT o_custkey FROM orders WHERE year(o_orderdate) = 1997""",
    "late_share": """
        SELECT l_shipmode,
               avg(CASE WHEN l_receiptdate > l_commitdate THEN 1.0 ELSE 0.0 END) AS late,
               count(*) AS items
        FROM lineitem GROUP BY l_shipmode""",
    "above_average": """
        SELECT c_custkey, c_acctbal FROM customer
        WHERE c_acctbal > (SELECT avg(c_acctbal) * 1.9 FROM customer)""",
    "priority_pivot": """
        SELECT n_name, count(CASE WHEN o_orderpriority = '1-URGENT' THEN 1 END) AS urgent,
               count(CASE WHEN o_orderpriority = '5-LOW' THEN 1 END) AS low
        FROM orders JOIN customer ON o_custkey = c_custkey
             JOIN nation ON c_nationkey = n_nationkey GROUP BY n_name""",
    "first_orders": """
        SELECT date_trunc('MONTH', first_day) AS month, count(*) AS customers
        FROM (SELECT o_custkey, min(o_orderdate) AS first_day FROM orders GROUP BY o_custkey)
        GROUP BY date_trunc('MONTH', first_day)""",
    "sole_suppliers": """
        SELECT s_name, count(*) AS parts FROM supplier JOIN partsupp ON s_suppkey = ps_suppkey
        WHERE ps_availqty > 9900 GROUP BY s_name HAVING count(*) > 2""",
    "all_parties": """
        SELECT n_name, sum(balance) AS balance
        FROM (SELECT c_nationkey AS nation, c_acctbal AS balance FROM customer
              UNION ALL SELECT s_nationkey, s_acctbal FROM supplier)
             JOIN nation ON nation = n_nationkey GROUP BY n_name""",
}
QUERIES |= {f"Q{number}": tpch.query(number) for number in tpch.NUMBERS}
VALUES = {
    "latest_order": "o_totalprice",
    "dedup_then_sum": "revenue",
    "left_join_refunds": "refunded",
    "share_of_nation": "share",
    "active_customers": "nations",
    "never_ordered": "customers",
    "big_orders": "quantity",
    "month_over_month": "difference",
    "rollup": "revenue",
    "buckets": "customers",
}
"""The column whose formal values are asked for; the last one of other queries."""

_KEYS = {"orders": "o_orderkey", "lineitem": "l_orderkey", "partsupp": "ps_partkey"}
"""The relations that lose a row: the first that a query reads."""


def _count(tables: Mapping[str, Any]) -> int:
    return sum(
        table.num_rows if hasattr(table, "num_rows") else table.count() for table in tables.values()
    )


def _large(q: Any) -> str:
    return next((name for name in _KEYS if name in q.relations), next(iter(q.relations)))


def _what_if(q: Any, column: str) -> Any:
    del column
    relation = _large(q)
    key = _KEYS.get(relation, q.relations[relation].token[0])
    return q.what_if({relation: f"{key} % 100 = 0"}).df


def _each_row(q: Any, column: str) -> int:
    """Leave out one order at a time, or the items or offers of one."""
    del column
    relation = _large(q)
    by_key = relation in ("lineitem", "partsupp")
    scenarios = lipstick.each(relation, by=_KEYS[relation]) if by_key else lipstick.each(relation)
    return int(q.what_if_many(scenarios).changes.num_rows)


def _each_nation(q: Any, column: str) -> int:
    """Leave out one nation at a time, or the customers of one where no nation is read."""
    del column
    relations = q.relations
    if "nation" in relations:
        return int(q.what_if_many(lipstick.each("nation")).changes.num_rows)
    if "customer" in relations:
        return int(q.what_if_many(lipstick.each("customer", by="c_nationkey")).changes.num_rows)
    relation = _large(q)
    few = {"orders": "o_orderpriority", "lineitem": "l_shipmode", "partsupp": "ps_suppkey"}
    if relation not in few:
        return int(q.what_if_many(lipstick.each(relation)).changes.num_rows)
    return int(q.what_if_many(lipstick.each(relation, by=few[relation])).changes.num_rows)


def _page(q: Any, column: str) -> int:
    del column
    with tempfile.TemporaryDirectory() as folder:
        q.explore(to=Path(folder) / "page.html", browser=False)
    return 0


def _saved(q: Any, column: str) -> int:
    del column
    with tempfile.TemporaryDirectory() as folder:
        q.save(Path(folder) / "capture")
    return 0


QUESTIONS: dict[str, Callable[[Any, str], Any]] = {
    "polynomials": lambda q, _: len(q.polynomials(5)),
    "tensors": lambda q, column: len(q.tensors(column, 5)),
    "lineage": lambda q, _: _count(q.lineage()),
    "what_if": _what_if,
    "each_nation": _each_nation,
    "each_order": _each_row,
    "counting": lambda q, _: q.evaluate(semirings.Counting()),
    "probability": lambda q, _: len(q.probability(0.9)),
    "expected": lambda q, column: len(q.expected(column, 0.9, 5)),
    "witnesses": lambda q, _: len(q.witnesses(2)),
    "repairs": lambda q, _: len(q.repairs(5)),
    "responsibility": lambda q, _: len(q.responsibility(2)),
    "shapley": lambda q, _: len(q.shapley(2)),
    "banzhaf": lambda q, _: len(q.banzhaf(2)),
    "potential": lambda q, _: len(q.polynomials(20, potential=True)),
    "html": lambda q, _: len(q._repr_html_()),
    "save": _saved,
    "page": _page,
}
_TIMES = 10
"""A question may take so many times as long as the plain query."""

COLUMNS = ("plain", "capture", *QUESTIONS)


class OverBound(BaseException):
    """A question took longer than it may; no `Exception`, so that nothing takes it for one."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise OverBound


def ask(question: Callable[[], Any], bound: float) -> dict[str, Any]:
    """Ask a question: its seconds and processor seconds, or what became of it."""
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, bound)
    began, processor = time.perf_counter(), time.process_time()
    try:
        answered = question()
        if hasattr(answered, "collect"):
            answered.collect()
        outcome: dict[str, Any] = {"what": "answered"}
    except OverBound:
        forget_connection()
        outcome = {"what": "over"}
    except LipstickError as error:
        outcome = {"what": "refused", "why": str(error)}
    except Exception as error:  # a table that is complete says which questions break
        outcome = {"what": "failed", "why": repr(error)}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    outcome["seconds"] = round(time.perf_counter() - began, 2)
    outcome["processor"] = round(time.process_time() - processor, 2)
    return outcome


def _work(told: Connection, data: Path, name: str, asked: list[str], bound: float) -> None:
    """Ask one query's questions in a process that may be killed, and send the outcome of each."""
    with Sparks(None, None, "4g") as sparks, lipstick.session(sparks.get(2, 4)) as ls:
        suites.track(ls, "tpch", data)
        with tempfile.TemporaryDirectory() as folder:
            frame = ls.spark.sql(QUERIES[name])
            frame.write.parquet(f"{folder}/warm")
            plain = ask(lambda: frame.write.parquet(f"{folder}/plain"), 10 * bound)
        told.send(("plain", plain))
        bound = max(bound, _TIMES * float(plain["seconds"]))
        q = ls.sql(QUERIES[name])
        column = VALUES.get(name, q.schema.names[-1])
        told.send(("capture", ask(lambda: q.capture, 10 * bound)))
        for question in asked:
            told.send((question, None))
            told.send((question, ask(partial(QUESTIONS[question], q, column), bound)))
    told.close()


def measure(
    data: Path, name: str, asked: list[str], bound: float, note: Callable[[str, Any], None]
) -> None:
    """Ask a query's questions; after one that cannot be stopped, the others in a new process."""
    context, left = multiprocessing.get_context("spawn"), list(asked)
    while left:
        mine, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(theirs, data, name, left, bound))
        worker.start()
        theirs.close()
        current, patience = None, 600.0
        try:
            while mine.poll(patience):
                current, outcome = mine.recv()
                if current == "plain" and outcome is not None:
                    bound = max(bound, _TIMES * float(outcome["seconds"]))
                patience = 2 * bound if outcome is None else 600.0
                if outcome is not None:
                    note(current, outcome)
                    left = [question for question in left if question != current]
                    current = None
            worker.terminate()
        except EOFError:
            pass
        worker.join(10)
        if worker.is_alive():
            worker.kill()
        if current is None:
            if left:
                raise RuntimeError(f"The process that asks about {name} ended early.")
            return
        note(current, {"what": "over", "seconds": 2 * bound, "processor": 2 * bound})
        left = [question for question in left if question != current]


def table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of results in Markdown, with a line that counts them."""
    lines = ["| query | " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * len(COLUMNS)]
    counts = {"answered": 0, "over": 0, "refused": 0, "failed": 0}
    for name, outcomes in results.items():
        cells = []
        for column in COLUMNS:
            outcome = outcomes.get(column)
            cells.append("–" if outcome is None else _cell(outcome))
            if outcome is not None and column in QUESTIONS:
                counts[outcome["what"]] += 1
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    asked = sum(counts.values())
    summary = (
        f"{asked} asked: {counts['answered']} answered, {counts['over']} not within the bound, "
        f"{counts['refused']} refused, {counts['failed']} failed."
    )
    return "\n".join([*lines, "", summary]) + "\n"


def _cell(outcome: Mapping[str, Any]) -> str:
    if outcome["what"] == "answered":
        return f"{outcome['seconds']:.1f}"
    return "**over**" if outcome["what"] == "over" else str(outcome["what"])


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Tables; else they are generated.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Of generated tables.  [default: data beside OUTPUT]",
)
@click.option("--scale", default=0.1, show_default=True)
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Results as JSON.")
@click.option("--bound", default=30.0, show_default=True, help="Seconds of a question.")
@click.option("--queries", default=",".join(QUERIES), help="Only these.")
@click.option("--questions", default=",".join(QUESTIONS), help="Only these.")
def main(
    data: Path | None,
    cache: Path | None,
    scale: float,
    output: Path,
    bound: float,
    queries: str,
    questions: str,
) -> None:
    """Ask analysts' questions over TPC-H within a bound; what is in OUTPUT is not asked again."""
    folder = suites.tables("tpch", scale, data, cache or output.parent / "data")
    known: dict[str, dict[str, Any]] = {}
    if output.exists():
        known = json.loads(output.read_text(encoding="utf-8"))
    for name in queries.split(","):
        outcomes = known.setdefault(name, {})

        def note(question: str, outcome: Any, outcomes: dict[str, Any] = outcomes) -> None:
            outcomes[question] = outcome
            write_results(output, known)

        left = [question for question in questions.split(",") if question not in outcomes]
        measure(folder, name, left, bound, note)
        click.echo(f"{name}: {json.dumps(outcomes)}")
    click.echo(table(known))

"""The scenes of the demonstration: six queries of TPC-H, one what-if, and the paper's dealer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from lipstick import display
from lipstick.capture.capture import open_capture
from lipstick.demo.screen import Check, Screen, check, seconds, timed
from lipstick.questions.what_if import summary, whatif_table
from semiring import semirings

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

    from lipstick.frame import AnnotatedFrame
    from lipstick.sessions import Session


KEYS: dict[str, tuple[str, ...]] = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "supplier": ("s_suppkey",),
    "customer": ("c_custkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}
"""TPC-H's tables and their primary keys."""


@dataclass(frozen=True, slots=True)
class DemoQuery:
    """A query, its name, and what it asks."""

    name: str
    asks: str
    sql: str


COUNTRIES = DemoQuery(
    "countries",
    "the countries of Europe",
    """\
SELECT n_name, r_name
FROM nation JOIN region ON n_regionkey = r_regionkey
WHERE r_name = 'EUROPE'
ORDER BY n_name""",
)

Q3 = DemoQuery(
    "TPC-H 3",
    "the unshipped orders of most value",
    """\
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING'
  AND c_custkey = o_custkey
  AND l_orderkey = o_orderkey
  AND o_orderdate < DATE '1995-03-15'
  AND l_shipdate > DATE '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate
LIMIT 10""",
)

Q5 = DemoQuery(
    "TPC-H 5",
    "revenue within a country, by country",
    """\
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey
  AND l_orderkey = o_orderkey
  AND l_suppkey = s_suppkey
  AND c_nationkey = s_nationkey
  AND s_nationkey = n_nationkey
  AND n_regionkey = r_regionkey
  AND r_name = 'ASIA'
  AND o_orderdate >= DATE '1994-01-01'
  AND o_orderdate < DATE '1995-01-01'
GROUP BY n_name
ORDER BY revenue DESC""",
)

Q6 = DemoQuery(
    "TPC-H 6",
    "what small discounts cost in a year",
    """\
SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01'
  AND l_shipdate < DATE '1995-01-01'
  AND l_discount BETWEEN 0.05 AND 0.07
  AND l_quantity < 24""",
)

Q10 = DemoQuery(
    "TPC-H 10",
    "the customers who returned most",
    """\
SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal, n_name,
  c_address, c_phone, c_comment
FROM customer, orders, lineitem, nation
WHERE c_custkey = o_custkey
  AND l_orderkey = o_orderkey
  AND o_orderdate >= DATE '1993-10-01'
  AND o_orderdate < DATE '1994-01-01'
  AND l_returnflag = 'R'
  AND c_nationkey = n_nationkey
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
ORDER BY revenue DESC
LIMIT 20""",
)

Q12 = DemoQuery(
    "TPC-H 12",
    "late lines by priority of their order",
    """\
SELECT l_shipmode,
  sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END)
    AS high_line_count,
  sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END)
    AS low_line_count
FROM orders, lineitem
WHERE o_orderkey = l_orderkey
  AND l_shipmode IN ('MAIL', 'SHIP')
  AND l_commitdate < l_receiptdate
  AND l_shipdate < l_commitdate
  AND l_receiptdate >= DATE '1994-01-01'
  AND l_receiptdate < DATE '1995-01-01'
GROUP BY l_shipmode
ORDER BY l_shipmode""",
)

QUERIES: tuple[DemoQuery, ...] = (COUNTRIES, Q3, Q5, Q6, Q10, Q12)

CHAIN: tuple[tuple[str, str], ...] = (
    ("ReqModel", "SELECT DISTINCT Model FROM Requests"),
    ("Inventory", "SELECT CarId, Model FROM Cars JOIN ReqModel USING (Model)"),
    ("SoldInventory", "SELECT CarId, Model, BidId FROM Inventory JOIN SoldCars USING (CarId)"),
    ("NumCarsByModel", "SELECT Model, count(*) AS NumAvail FROM Cars GROUP BY Model"),
    ("NumSoldByModel", "SELECT Model, count(*) AS NumSold FROM SoldInventory GROUP BY Model"),
    (
        "AllInfoByModel",
        "SELECT UserId, BidId, Model, NumAvail FROM Requests JOIN NumCarsByModel USING (Model)",
    ),
)
"""The dealer's relations up to the bid, each over those before it (Example 2.3 of the paper).

The paper counts the Inventory, whose tuples have the request in their annotations too, and cogroups
the last relation, so that a model without cars keeps its request. Here the Cars are counted, and
the count joined.
"""


def chain(name: str) -> str:
    """Return the text of a relation of the chain, after those before it."""
    names = [other for other, _ in CHAIN]
    number = names.index(name)
    before = ",\n".join(f"{other} AS ({text})" for other, text in CHAIN[:number])
    return f"WITH {before}\n{CHAIN[number][1]}" if before else CHAIN[number][1]


_TRUCK = "l_shipmode = 'TRUCK'"
_TERMS = 3
"""Terms of each sum that are shown of an annotation."""
_SHOWN = {
    "customer": ("c_custkey", "c_name", "c_mktsegment"),
    "orders": ("o_orderkey", "o_custkey", "o_orderdate"),
    "lineitem": (
        "l_orderkey",
        "l_linenumber",
        "l_extendedprice",
        "l_discount",
        "l_shipmode",
        "l_shipdate",
        "l_receiptdate",
    ),
}


def track(ls: Session, tables: Mapping[str, Path], screen: Screen) -> None:
    """Track the eight tables by their primary keys."""
    with screen.working("tracking") as _:
        for name, path in tables.items():
            with screen.working(f"tracking {name} by {', '.join(KEYS[name])}"):
                ls.track(name, str(path), key=KEYS[name], format="parquet")


def overview(ls: Session, screen: Screen) -> tuple[AnnotatedFrame, list[Row]]:
    """Ask all queries and capture their provenance; return query 3 and its answer."""
    screen.heading("Ordinary queries, with provenance")
    rows = []
    kept: list[tuple[AnnotatedFrame, list[Row]]] = []
    for query in QUERIES:
        with screen.working(f"{query.name}: the plain answer"):
            frame = ls.sql(query.sql)
            answer, plain = timed(frame.df.collect)
        with screen.working(f"{query.name}: capturing"):
            capture, captured = timed(partial(getattr, frame, "capture"))
        if query is Q3:
            kept.append((frame, answer))
        counts = capture.manifest.counts.values()
        what = Text.assemble(query.asks, "\n", (frame.plan.annotation_type, "dim"))
        members = sum(count.get("members", 0) for count in counts)
        size = sum(p.stat().st_size for p in capture.directory.rglob("*") if p.is_file())
        rows.append(
            (
                query.name,
                what,
                f"{len(answer):,}",
                f"{members:,}",
                display.bytes_text(size),
                seconds(plain),
                seconds(captured),
            )
        )
    head = (
        "query",
        "what it asks, annotation type",
        "rows",
        "members",
        "size",
        "plain",
        "captured",
    )
    screen.table(head, rows, "rows members size plain captured")
    screen.say(
        "A member is one way in which an answer row, or a group below it, came about. "
        "Captured once, every question below is answered without running the query again."
    )
    return kept[0]


def explained(ls: Session, frame: AnnotatedFrame, answer: list[Row], screen: Screen) -> None:
    """Show query 3: its answer, its rewriting, and one row's provenance."""
    screen.heading(f"One of them: {Q3.name}, {Q3.asks}")
    screen.label("the answer")
    screen.table(frame.schema.names, answer, "l_orderkey revenue o_shippriority")
    screen.label("the rewritten query: the same answer, and its provenance as the last column")
    screen.sql(frame.plan.rewritten_sql)

    with screen.working("the first rows' annotations"):
        pairs = frame.polynomials(len(answer))
        tensors = frame.algebra.tensors("revenue", len(answer))
    contributed = {row["l_orderkey"]: tensor for row, tensor in tensors}
    number = _readable([annotation for _, annotation in pairs])
    key = pairs[number][0]["l_orderkey"]
    relations = list(frame.plan.relations)
    screen.label(f"how order {key} came to be in the answer: its annotation, δ for the group")
    screen.formula(pairs[number][1].truncated(_TERMS), relations)
    screen.say("  The last factor is LIMIT: fewer than ten orders come before it.", "dim")
    screen.label("and its revenue: what each derivation contributes, a tensor of N[X] ⊗ SUM")
    screen.formula(str(contributed[key]), relations)
    _evaluated(ls, frame, key, screen)
    _lineage(frame, key, screen)


def _readable(annotations: list[Any]) -> int:
    """Return the place of the shortest annotation that has alternatives."""
    # The group itself, and not what LIMIT compares it with.
    groups = [annotation.children[0] for annotation in annotations]
    sizes = [len(group.tokens) for group in groups]
    rich = [index for index, size in enumerate(sizes) if size > len(_SHOWN)]
    return min(rich, key=lambda index: sizes[index], default=0)


def _evaluated(ls: Session, frame: AnnotatedFrame, key: Any, screen: Screen) -> None:
    # LIMIT asks which tuples are there, and costs say more: they are asked of all orders.
    whole = ls.sql(Q3.sql.partition("LIMIT")[0])
    evaluations = (
        (frame, semirings.Counting(), None, "how many rows it stands for"),
        (
            frame,
            semirings.Boolean(),
            {"lineitem": "l_shipmode <> 'TRUCK'"},
            "whether it is among the ten without lines sent by truck",
        ),
        (
            whole,
            semirings.Tropical(),
            {"lineitem": "datediff(l_receiptdate, l_shipdate)"},
            "without LIMIT: days in transit of its fastest line",
        ),
    )
    rows = []
    for of, semiring, valuation, question in evaluations:
        with screen.working(f"evaluating in {semiring.name}"):
            valued = of.algebra.evaluate(semiring, valuation)
            row = valued.where(f"l_orderkey = {key}").first()
        given = "; ".join(f"{name} ↦ {value}" for name, value in (valuation or {}).items())
        rows.append((semiring.name, question, given or "every tuple ↦ 1", row and row["_value"]))
    screen.label(f"the annotation of order {key}, evaluated in three semirings")
    screen.table(("semiring", "question", "valuation", "value"), rows, "value")


def _lineage(frame: AnnotatedFrame, key: Any, screen: Screen) -> None:
    with screen.working("looking up the lineage"):
        lineage = {
            name: rows.select(*_SHOWN[name]).orderBy(*KEYS[name]).collect()
            for name, rows in frame.lineage(where=f"l_orderkey = {key}").items()
        }
    screen.label(f"its lineage: the input rows that order {key} was made from")
    for name, columns in _SHOWN.items():
        screen.say(f"  {name}", "dim")
        screen.table(columns, lineage[name])


def what_if(
    spark: SparkSession, frame: AnnotatedFrame, tables: Mapping[str, Path], screen: Screen
) -> list[Check]:
    """Delete what was sent by truck, and hold the answer against a rerun."""
    screen.heading("What if nothing had been sent by truck?")
    screen.sql(f"""q.what_if(delete={{"lineitem": "{_TRUCK}"}})""")
    with screen.working("the answer without them, from the annotations"):
        hypothetical, started = timed(lambda: frame.what_if(delete={"lineitem": _TRUCK}))
        changes = summary(hypothetical, limit=20)
    screen.say(f"  {changes.sentence}")
    screen.put(whatif_table(changes))
    with screen.working("the same query on the reduced tables, to compare"):
        other = spark.newSession()
        reduced = {name: other.read.parquet(str(tables[name])) for name in frame.plan.relations}
        reduced["lineitem"] = reduced["lineitem"].where(f"NOT ({_TRUCK})")
        outcome = check(other, hypothetical, Q3.sql, reduced, started)
    outcome.show(screen, hypothetical.method)
    return [outcome, _in_memory(spark, frame, outcome, screen)]


def _in_memory(spark: SparkSession, frame: AnnotatedFrame, outcome: Check, screen: Screen) -> Check:
    """Ask the capture's files the same, without Spark, and hold it against the same rerun."""
    with screen.working("the same from the capture's files, without Spark"):
        keys = spark.table("lineitem").where(_TRUCK).select(*KEYS["lineitem"]).toArrow()
        saved = open_capture(frame.capture.directory)

        def hypothetical() -> pa.Table:
            return saved.what_if(delete={"lineitem": keys}).df

        answer, first = timed(hypothetical)
        _, again = timed(hypothetical)
        counted = Counter(tuple(row.values()) for row in answer.to_pylist())
    equal = counted == outcome.answer
    if equal:
        screen.say(
            f"  ✓ equal again without Spark, from the capture's files and the {keys.num_rows:,} "
            f"lines to leave out: in {seconds(first)}, asked again in {seconds(again)}",
            "green",
        )
    else:
        screen.say("  ✗ NOT equal when answered without Spark", "bold red")
    return Check(equal, counted, first, outcome.rerun)


_TABLES: dict[str, tuple[str, str, list[tuple[str, ...]]]] = {
    "Cars": (
        "CarId",
        "CarId string, Model string",
        [("C1", "Accord"), ("C2", "Civic"), ("C3", "Civic")],
    ),
    "Requests": (
        "BidId",
        "UserId string, BidId string, Model string",
        [("P1", "B1", "Civic")],
    ),
    "SoldCars": ("CarId", "CarId string, BidId string", []),
}
_BID = "AllInfoByModel"


def dealer(spark: SparkSession, ls: Session, screen: Screen) -> list[Check]:
    """Show the chain of relations, the count's tensor, and two deletions."""
    screen.heading("The paper's car dealer (Lipstick, Example 2.3)")
    screen.say("Cars: C1 Accord, C2 Civic, C3 Civic. Nothing sold. P1 asks for a Civic, bid B1.")
    for name, (key, schema, rows) in _TABLES.items():
        ls.track(name, spark.createDataFrame(rows, schema), key=key)
    frames: dict[str, AnnotatedFrame] = {}
    table = []
    for name, text in CHAIN:
        with screen.working(f"capturing {name}"):
            frames[name] = ls.sql(chain(name))
            annotated = frames[name].polynomials(None)
        shown = "\n".join(", ".join(map(display.cell, row.values())) for row, _ in annotated)
        annotations = "\n".join(str(annotation) for _, annotation in annotated)
        folded = text.replace(" FROM ", "\nFROM ").replace(" JOIN ", "\nJOIN ")
        table.append((name, Text(folded), Text(shown or "no rows"), Text(annotations)))
    screen.table(("relation", "over those before it", "rows", "annotations"), table)

    with screen.working("the tensor of the count"):
        counted = frames["NumCarsByModel"].algebra.tensors("NumAvail", None)
    screen.label("how the number of Civics is made up: C2 and C3 count one each, C1 nothing")
    civic = next(tensor for row, tensor in counted if row["Model"] == "Civic")
    screen.formula(str(civic), list(_TABLES))

    screen.label("without car C2 the count is 1, and the request is still answered")
    first = _deletion(spark, frames[_BID], {"Cars": ["C2"]}, screen)
    screen.label("without the request there is nothing to answer")
    second = _deletion(spark, frames[_BID], {"Requests": ["B1"]}, screen)
    return [first, second]


def _deletion(
    spark: SparkSession, frame: AnnotatedFrame, delete: Mapping[str, list[Any]], screen: Screen
) -> Check:
    with screen.working("deleting"):
        hypothetical, started = timed(lambda: frame.what_if(delete=delete))
        changes = hypothetical.summary
    screen.put(whatif_table(changes))
    with screen.working("running the query again, to compare"):
        other = spark.newSession()
        outcome = check(other, hypothetical, chain(_BID), _reduced(other, delete), started)
    outcome.show(screen, hypothetical.method)
    return outcome


def _reduced(spark: SparkSession, delete: Mapping[str, list[Any]]) -> dict[str, DataFrame]:
    frames = {}
    for name, (key, schema, rows) in _TABLES.items():
        frame = spark.createDataFrame(rows, schema)
        gone = delete.get(name)
        frames[name] = frame.where(~frame[key].isin(gone)) if gone else frame
    return frames

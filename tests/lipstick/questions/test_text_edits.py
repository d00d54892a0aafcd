"""Changed texts, taken apart into their edits: what each of them changes of a number."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.questions.diff.edits import edit_parts
from rewriter.analysis.text_edits import text_edits
from semiring.errors import ExactnessError, LipstickError
from semiring.support.budget import within
from tests.oracle.duck import connected_duck, create_table
from tests.oracle.duck_sql import to_duckdb

_TABLES = {
    "o": pa.table(
        {
            "oid": list(range(1, 13)),
            "cust": [1, 1, 2, 2, 3, 3, 4, 4, 9, None, 1, 2],
            "amount": [5, 15, 25, 8, 40, 3, 12, 30, 7, 11, 2, 60],
            "status": ["ok", "open"] * 6,
            "cur": ["e", "e", "d", "e", "d", "e", "x", "e", "d", "e", "e", "d"],
        }
    ),
    "c": pa.table(
        {"id": [1, 2, 3, 4, 5], "region": list("nnssn"), "active": [True, True, True, False, True]}
    ),
    "x": pa.table({"cur": ["e", "d"], "rate": [1, 3]}),
}
_PLAIN = "SELECT c.region, sum(o.amount) AS v FROM c JOIN o ON o.cust = c.id"
_BY = " GROUP BY c.region"
_PAIRS = [
    # conjuncts that come, go and change
    (f"{_PLAIN} WHERE o.amount > 4{_BY}", f"{_PLAIN} WHERE o.amount > 10{_BY}", 1),
    (f"{_PLAIN} WHERE c.active{_BY}", f"{_PLAIN} WHERE o.status = 'ok'{_BY}", 2),
    (
        f"{_PLAIN} WHERE o.amount > 4 AND c.active AND o.cur = 'e'{_BY}",
        f"{_PLAIN} WHERE o.amount > 9 AND o.status IN ('ok', 'open') AND o.cur <> 'x'{_BY}",
        4,
    ),
    # joins: kind, condition, a new one with the item that reads it
    (f"{_PLAIN}{_BY}", f"{_PLAIN.replace('JOIN', 'LEFT JOIN')}{_BY}", 1),
    (f"{_PLAIN}{_BY}", f"{_PLAIN} AND o.status = 'ok' WHERE o.amount > 6{_BY}", 2),
    (
        f"{_PLAIN}{_BY}",
        "SELECT c.region, sum(o.amount * x.rate) AS v FROM c JOIN o ON o.cust = c.id "
        f"JOIN x ON x.cur = o.cur WHERE o.amount > 6{_BY}",
        2,
    ),
    # items, groups, HAVING, DISTINCT
    (f"{_PLAIN}{_BY}", f"{_PLAIN.replace('sum', 'max')} WHERE o.cur = 'e'{_BY}", 2),
    (f"{_PLAIN}{_BY} HAVING count(*) > 9", f"{_PLAIN}{_BY} HAVING count(*) > 1", 1),
    (
        f"{_PLAIN.replace('sum(', 'count(')}{_BY}",
        f"{_PLAIN.replace('sum(', 'count(DISTINCT ')}{_BY} HAVING sum(o.amount) > 1",
        2,
    ),
    # WITH, subqueries in FROM, set operations
    (
        "WITH big AS (SELECT * FROM o WHERE amount > 4) SELECT cur AS region, sum(amount) AS v "
        "FROM big GROUP BY cur",
        "WITH big AS (SELECT * FROM o WHERE amount > 8) SELECT cur AS region, sum(amount) AS v "
        "FROM big WHERE status = 'ok' GROUP BY cur",
        2,
    ),
    (
        "SELECT t.region, t.v FROM (SELECT cur AS region, sum(amount) AS v FROM o GROUP BY cur) t",
        "SELECT t.region, t.v + 1 AS v FROM (SELECT cur AS region, sum(amount) AS v FROM o "
        "WHERE cust > 1 GROUP BY cur) t",
        2,
    ),
    (
        "SELECT region, sum(v) AS v FROM (SELECT cur AS region, amount AS v FROM o WHERE cust < 3 "
        "UNION ALL SELECT cur, rate FROM x WHERE rate < 2) t GROUP BY region",
        "SELECT region, sum(v) AS v FROM (SELECT cur AS region, amount AS v FROM o WHERE cust < 2 "
        "UNION ALL SELECT cur, rate FROM x) t GROUP BY region",
        2,
    ),
    # windows, and texts that have nothing in common
    (
        "SELECT oid AS region, sum(amount) OVER (PARTITION BY cust ORDER BY oid) AS v FROM o",
        "SELECT oid AS region, sum(amount) OVER (PARTITION BY status ORDER BY oid) AS v FROM o "
        "WHERE amount > 4",
        2,
    ),
    (f"{_PLAIN}{_BY}", "SELECT cur AS region, sum(amount) AS v FROM o GROUP BY cur", 1),
    # what is not valid without the other edit is one with it
    (
        "SELECT region, sum(amount) AS v FROM c JOIN o ON cust = id GROUP BY region",
        "SELECT region, sum(amount * rate) AS v FROM c JOIN o ON cust = id "
        "JOIN x ON x.cur = o.cur GROUP BY region",
        2,
    ),
]


@cache
def _number(sql: str, region: object) -> Fraction:
    with connected_duck() as connection:
        for name, table in _TABLES.items():
            create_table(connection, name, table)
        try:
            rows = connection.execute(to_duckdb(sql)).fetchall()
        except Exception as error:
            raise LipstickError(str(error)) from None
    return Fraction(next((row[1] or 0 for row in rows if row[0] == region), 0))


@pytest.mark.parametrize(("before", "after", "count"), _PAIRS)
def test_parts_of_edits_are_their_means_over_all_orders(
    before: str, after: str, count: int
) -> None:
    edits = text_edits(before, after)
    assert len(edits.sentences) == count, edits.sentences
    regions = {1, 5, 12} if "AS region, sum(amount) OVER" in before else {"n", "e", "d"}
    for region in regions:

        def value(sql: str, region: object = region) -> Fraction:
            return _number(sql, region)

        ends = value(before), value(after)
        every = range(count)
        assert (value(edits.text([])), value(edits.text(every))) == ends
        parts = edit_parts(edits, ends, value)
        assert sum(each.part for each in parts) == ends[1] - ends[0]
        if len(parts) < count:
            continue
        orders = list(permutations(every))
        for number, part in enumerate(parts):
            moved = Fraction(0)
            for order in orders:
                made = order[: order.index(number)]
                moved += value(edits.text((*made, number))) - value(edits.text(made))
            assert part.part == moved / len(orders), part.sentence


def test_sentences_name_what_was_edited() -> None:
    edits = text_edits(*_PAIRS[5][:2])
    assert edits.sentences == (
        "JOIN x ON x.cur = o.cur was added; "
        "SELECT: SUM(o.amount) AS v became SUM(o.amount * x.rate) AS v",
        "WHERE: o.amount > 6 was added",
    )


def test_more_than_six_edits_are_made_one_by_one() -> None:
    more = " AND ".join(f"o.oid <> {n}" for n in range(1, 9))
    before, after = f"{_PLAIN}{_BY}", f"{_PLAIN} WHERE {more}{_BY}"
    runs: list[str] = []

    def value(sql: str) -> Fraction:
        runs.append(sql)
        return _number(sql, "n")

    parts = edit_parts(text_edits(before, after), (value(before), value(after)), value)
    assert [int(each.part) for each in parts] == [-5, -15, -25, -8, 0, 0, 0, 0]
    assert len(runs) == 2 + 7


def test_a_spent_budget_ends_it() -> None:
    edits = text_edits(*_PAIRS[2][:2])
    with within(0), pytest.raises(ExactnessError, match="budget of 0 seconds"):
        edit_parts(edits, (Fraction(1), Fraction(2)), lambda _: Fraction(0))


@pytest.mark.engines("spark")
def test_frames_divide_the_code_among_its_edits(spark: SparkSession) -> None:
    with lipstick.session(spark) as session:
        for name, key in (("o", "oid"), ("c", "id"), ("x", "cur")):
            session.track(name, _TABLES[name], key=key)
        before, after = (session.sql(sql) for sql in _PAIRS[5][:2])
        parts = before.diff(after).parts("v", region="n")
        assert str(parts).splitlines() == [
            "v of region = 'n' went from 115 to 278 (+163):",
            "- code: JOIN x ON x.cur = o.cur was added; SELECT: SUM(o.amount) AS v became "
            "SUM(o.amount * x.rate) AS v: +170",
            "- code: WHERE: o.amount > 6 was added: -7",
        ]
        assert sum(each.part for each in parts.edits) == parts.code == 163

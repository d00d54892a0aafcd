"""Refactorings of queries, some subtly wrong: ``python -m tests.oracle.refactorings 0-40``.

Each is held over a database with NULLs and duplicates: of those that are equal no difference is
found, and of the others a small database, on which DuckDB yields different answers, too.
"""

from __future__ import annotations

import random
import sys
import tempfile
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path

import pyarrow as pa

from lipstick.questions.diff.counterexample import Counterexample, Tables
from lipstick.questions.diff.pipeline import Version, small_difference
from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck, create_table
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.written import written


@dataclass(frozen=True)
class Refactoring:
    """Two texts of a query, and whether they are equal over all data."""

    title: str
    before: str
    after: str
    equal: bool = False


@cache
def database() -> Database:
    """Return customers, their orders, the items of these, and returned items."""
    rng = random.Random(11)
    first = date(2024, 1, 1)
    customers = [
        (
            n,
            rng.choice(["FR", "DE", "US", None]),
            rng.choice(["auto", "home", "toys"]),
            rng.choice([-50, 0, 120, 990, None]),
        )
        for n in range(60)
    ]
    orders = [
        (
            n,
            rng.choice([None, *range(50)]),
            first + timedelta(weeks=rng.randrange(57)),
            rng.choice(["open", "done", None]),
            Decimal(rng.randrange(1, 50000)) / 100,
        )
        for n in range(400)
    ]
    items = [
        (
            n,
            rng.randrange(380),
            rng.choice(["pen", "cup", "mat", "lamp"]),
            rng.choice([1, 2, 3, 5, None]),
            Decimal(rng.randrange(1, 9000)) / 100,
            rng.choice([0, 5, 10, None]),
        )
        for n in range(1200)
    ]
    returns = [
        (n, rng.choice([*[None] * 20, *range(0, 1200, 7)]), rng.choice(["broken", "late", None]))
        for n in range(120)
    ]
    money = pa.decimal128(12, 2)
    return Database(
        {
            "customers": _relation(
                "customers",
                customers,
                id=pa.int64(),
                country=pa.string(),
                segment=pa.string(),
                balance=pa.int64(),
            ),
            "orders": _relation(
                "orders",
                orders,
                id=pa.int64(),
                customer=pa.int64(),
                day=pa.date32(),
                status=pa.string(),
                total=money,
            ),
            "items": _relation(
                "items",
                items,
                id=pa.int64(),
                order_id=pa.int64(),
                product=pa.string(),
                quantity=pa.int64(),
                price=money,
                discount=pa.int64(),
            ),
            "returned": _relation(
                "returned", returns, id=pa.int64(), item=pa.int64(), reason=pa.string()
            ),
        }
    )


def _relation(name: str, rows: list[tuple[object, ...]], **kinds: pa.DataType) -> Relation:
    columns = [
        pa.array(values, kind)
        for values, kind in zip(zip(*rows, strict=True), kinds.values(), strict=True)
    ]
    spark = {pa.int64(): "bigint", pa.string(): "string", pa.date32(): "date"}
    schema = ", ".join(f"{c} {spark.get(k, 'decimal(12,2)')}" for c, k in kinds.items())
    return Relation(name, ("id",), schema, pa.table(columns, list(kinds)))


def refactorings() -> list[Refactoring]:
    """Return the refactorings of the file: a comment with kind and title, then both texts."""
    text = Path(__file__).with_suffix(".sql").read_text("utf-8")
    found = []
    for part in text.split("\n\n"):
        head, before, after = part.strip().split("\n")
        kind, _, title = head.removeprefix("-- ").partition(": ")
        found.append(Refactoring(title, before.rstrip(";"), after.rstrip(";"), kind == "equal"))
    return found


def found(refactoring: Refactoring) -> Counterexample | None:
    """Return a small database on which both texts differ, and DuckDB's answers over it."""
    whole = database()
    sources = {name: relation.data for name, relation in whole.relations.items()}
    with tempfile.TemporaryDirectory(prefix="refactoring-") as folder:
        versions = []
        for side, sql in enumerate((refactoring.before, refactoring.after)):
            (Path(folder) / str(side)).mkdir()
            memory = written(sql, whole, Path(folder) / str(side))
            versions.append(Version(memory, None, sources))

        def runs(tables: Tables) -> list[pa.Table]:
            with connected_duck() as connection:
                for name, data in sources.items():
                    create_table(connection, name, tables.get(name, data.slice(0, 0)))
                texts = map(to_duckdb, (refactoring.before, refactoring.after))
                return [connection.execute(text).fetch_arrow_table() for text in texts]

        return small_difference(versions[0], versions[1], runs)


if __name__ == "__main__":
    start, stop = map(int, sys.argv[1].split("-"))
    sizes = []
    for each in refactorings()[start:stop]:
        example = found(each)
        assert (example is None) == each.equal, f"{each.title}\n{example}"
        if example is not None:
            sizes.append(example.size)
            print(f"{example.size:3} rows: {each.title}")
    few = sum(size <= 10 for size in sizes)
    print(
        f"{len(sizes)} differ, {few} of them on at most 10 rows; {stop - start - len(sizes)} do not"
    )

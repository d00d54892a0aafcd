"""The first files of the jobs: rows by a seed, written as the people who send them do."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

Row: TypeAlias = dict[str, Any]

REGIONS = ("north", "south", "east", "west")
KINDS = ("book", "game", "food", "tool", "toy")
WORDS = (
    "the",
    "data",
    "that",
    "came",
    "in",
    "last",
    "night",
    "were",
    "late",
    "so",
    "the",
    "report",
    "of",
    "this",
    "morning",
    "was",
    "empty",
)


@dataclass(frozen=True)
class Input:
    """A folder or table of first rows.

    Attributes
    ----------
    form
        ``csv``, ``json``, ``parquet``, ``text``, ``delta`` (a table) or ``iceberg`` (a table).
    rows
        Makes so many rows from a source of chance.
    """

    form: str
    rows: Callable[[random.Random, int], list[Row]]
    share: float = 1.0
    """The number of its rows as a share of that of the job."""

    def write(
        self,
        spark: SparkSession,
        folder: Path,
        name: str,
        count: int,
        gone: Callable[[Row], bool] | None,
    ) -> None:
        """Write the rows but for some, always the same ones for a number of rows."""
        rows = self.rows(random.Random(name), max(4, int(count * self.share)))
        rows = [row for row in rows if gone is None or not gone(row)]
        target = folder / name
        if self.form in ("delta", "iceberg"):
            table = f"ice.{folder.name}.{name}" if self.form == "iceberg" else name
            frame = spark.createDataFrame(pa.Table.from_pylist(rows))
            frame.coalesce(1).write.format(self.form).saveAsTable(table)
            return
        target.mkdir(parents=True)
        middle = (len(rows) + 1) // 2
        for number, part in enumerate((rows[:middle], rows[middle:])):
            file = target / f"part-{number}.{'txt' if self.form == 'text' else self.form}"
            _write_file(self.form, file, part, list(rows[0]))


def _write_file(form: str, file: Path, rows: Sequence[Row], columns: list[str]) -> None:
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), file)
    elif form == "json":
        file.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows))
    elif form == "text":
        file.write_text("".join(row["line"] + "\n" for row in rows))
    else:
        with file.open("w", newline="") as written:
            writer = csv.DictWriter(written, columns)
            writer.writeheader()
            writer.writerows(rows)


def _day(chance: random.Random) -> str:
    return f"2024-0{chance.randint(1, 6)}-{chance.randint(1, 28):02}"


def orders(chance: random.Random, count: int) -> list[Row]:
    """Orders, some of them sent twice, some without an amount."""
    return [
        {
            "order_id": number if number % 17 else max(number - 1, 0),
            "customer_id": chance.randrange(max(count // 20, 3)),
            "product_id": chance.randrange(30),
            "day": _day(chance),
            "region": chance.choice(REGIONS),
            "quantity": chance.randint(1, 9),
            "price": chance.randint(100, 9_999) / 100 if number % 13 else None,
            "status": chance.choice(("done", "done", "open", "cancelled")),
            "version": number,
        }
        for number in range(count)
    ]


def customers(chance: random.Random, count: int) -> list[Row]:
    """Customers, with names that somebody has typed."""
    return [
        {
            "customer_id": number,
            "name": chance.choice((" ada ", "BOB", "Cleo", "dan  ")) + str(number),
            "segment": chance.choice(("home", "office", None)),
            "city": chance.choice(("Rome", "Oslo", "Kyiv", "Lima")),
            "since": _day(chance),
        }
        for number in range(count)
    ]


def products(chance: random.Random, count: int) -> list[Row]:
    """Products by kind."""
    return [
        {"product_id": n, "kind": chance.choice(KINDS), "cost": chance.randint(50, 500) / 100}
        for n in range(30)
    ]


def events(chance: random.Random, count: int) -> list[Row]:
    """Events with lists and structures in them, and a text that is JSON itself."""
    return [
        {
            "id": number,
            "user": {
                "name": f"u{chance.randrange(max(count // 9, 2))}",
                "age": chance.randint(9, 80),
            },
            "at": f"{_day(chance)}T0{chance.randrange(9)}:00:00",
            "items": [
                {"sku": f"s{chance.randrange(20)}", "n": chance.randint(1, 3)}
                for _ in range(chance.randrange(4))
            ],
            "tags": chance.sample(KINDS, chance.randrange(3)),
            "payload": json.dumps({"score": chance.randint(0, 100), "ok": number % 3 > 0}),
        }
        for number in range(count)
    ]


def readings(chance: random.Random, count: int) -> list[Row]:
    """Readings of sensors, one an hour."""
    return [
        {
            "id": number,
            "sensor": f"s{number % 25}",
            "hour": number // 25,
            "value": chance.randint(-200, 400) / 10 if number % 29 else None,
        }
        for number in range(count)
    ]


def lines(chance: random.Random, count: int) -> list[Row]:
    """Lines of text."""
    return [{"line": " ".join(chance.choices(WORDS, k=6))} for _ in range(count)]


def people(chance: random.Random, count: int) -> list[Row]:
    """People of a survey."""
    return [
        {
            "id": number,
            "age": chance.randint(16, 90),
            "income": chance.randint(10, 200) * 500,
            "job": chance.choice(("none", "clerk", "smith", "cook")),
            "city": chance.choice(("Rome", "Oslo", "Kyiv", "Lima")),
            "bought": chance.random() < 0.3,
        }
        for number in range(count)
    ]

"""Erasures of real tables of Delta and Iceberg: applied, interrupted, verified."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lipstick

FORMATS = ("delta", "iceberg")
_KEYS = {"joined": "id", "totals": "city"}


class Pipeline:
    """Two sources, a join of them, and sums of the join."""

    def __init__(self, lake: SparkSession, fresh: Callable[[str], str], format: str) -> None:
        self.lake, self.format = lake, format
        self.names = {name: fresh(format) for name in ("customers", "orders", "joined", "totals")}
        names = self.names
        self.queries = {
            "joined": "SELECT o.id, o.customer, c.email, c.city, o.cents "
            f"FROM {names['orders']} o JOIN {names['customers']} c ON o.customer = c.id",
            "totals": "SELECT city, count(*) AS n, max(cents) AS most, sum(cents) AS cents "
            f"FROM {names['joined']} GROUP BY city",
        }
        people = "concat(if(id = 40, 'zz', 'u'), id, '@example.org')"
        lake.sql(
            f"CREATE TABLE {names['customers']} USING {format} AS SELECT CAST(id AS INT) AS id, "
            f"{people} AS email, concat('city', id % 7) AS city FROM range(1, 41)"
        )
        lake.sql(
            f"CREATE TABLE {names['orders']} USING {format} AS SELECT CAST(id AS INT) AS id, "
            "CAST(id * 7 % 40 + 1 AS INT) AS customer, id * 13 % 100 AS cents FROM range(200, 400)"
        )
        for name, query in self.queries.items():
            lake.sql(f"CREATE TABLE {names[name]} USING {format} AS {query}")

    def plan(self, ls: lipstick.Session, delete: dict[str, str], **options: object):  # type: ignore[no-untyped-def]
        for name in ("customers", "orders"):
            ls.track(self.names[name], self.names[name], key="id")
        return ls.erase(
            {self.names[name]: text for name, text in delete.items()},
            {self.names[name]: query for name, query in self.queries.items()},
            **{"key": {self.names[name]: key for name, key in _KEYS.items()}, **options},
        )

    def rows(self, name: str, delete: dict[str, str] | None = None) -> list[tuple[object, ...]]:
        """Return the rows of a table; with `delete`, as its query has them without some rows."""
        if delete is None:
            return sorted(map(tuple, self.lake.table(self.names[name]).collect()))
        text = self.queries.get(name, f"SELECT * FROM {self.names[name]}")
        for source, known in list(self.names.items())[::-1]:
            inner = self.queries.get(source, f"SELECT * FROM {known}")
            if source in delete:
                inner += f" WHERE NOT coalesce({delete[source]}, FALSE)"
            text = text.replace(f"FROM {known}", f"FROM ({inner})")
            text = text.replace(f"JOIN {known}", f"JOIN ({inner})")
        return sorted(map(tuple, self.lake.sql(text).collect()))

    def purge(self, receipt: lipstick.ErasureReceipt) -> None:
        """Do what the receipt says is still to be done, at once."""
        for statement in receipt.to_do:
            if statement.startswith("VACUUM"):
                self.lake.sql(f"{statement} RETAIN 0 HOURS")
            elif statement.startswith(("CALL", "REORG")):
                self.lake.sql(statement.replace("current_timestamp()", "TIMESTAMP '2100-01-01'"))


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_one_customer_is_erased_in_place_and_the_receipt_names_what_is_still_to_be_done(
    lake: SparkSession,
    ls: lipstick.Session,
    fresh: Callable[[str], str],
    format: str,
    tmp_path: Path,
) -> None:
    pipeline = Pipeline(lake, fresh, format)
    delete = {"customers": "email = 'zz40@example.org'", "orders": "customer = 40"}
    expected = {name: pipeline.rows(name, delete) for name in pipeline.names}
    plan = pipeline.plan(ls, delete, in_place=True)
    (changed,) = plan.changes(pipeline.names["totals"]).collect()
    assert (changed["_change"], changed.old.city, changed.new.n) == ("changed", "city5", 25)

    plan.apply()
    assert {name: pipeline.rows(name) for name in pipeline.names} == expected
    pending = plan.verify(tmp_path / "key")
    assert pending.verdict == "pending"
    assert {f["state"] for f in pending.findings} == {"old version", "log"}
    pipeline.purge(pending)
    done = plan.verify(tmp_path / "key")
    # Delta's log has the greatest address in the statistics of a removed file.
    assert {f["state"] for f in done.findings} == ({"log"} if format == "delta" else set())
    assert done.check(tmp_path / "key")
    assert done.concerns(tmp_path / "key", "zz40@example.org")
    assert "zz40" not in json.dumps(done.document) + done.page()

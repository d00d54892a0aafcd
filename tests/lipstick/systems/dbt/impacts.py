"""Impacts of random deletions on the example of dbt, held against rebuilds.

Run by ``python -m tests.lipstick.systems.dbt.impacts 0-200``.

``lipstick dbt impact`` is held against a rebuild of the project without the rows: Spark runs the
compiled SQL, model by model, over tables of the schema. The example is extended by windows, by an
increment that is merged into a table before, and by a model over a snapshot.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

import lipstick
from lipstick.systems.dbt import BaseTable, DbtProject, TrackedProject, write_example
from lipstick.systems.dbt.bases import read_seed, seed_frame
from lipstick.systems.dbt.increments import merged
from tests.local_spark import local_spark
from tests.oracle.rows import Bag, assert_same_bag, from_arrow

Tables = Mapping[str, pa.Table]

CONDITIONS = {
    "raw_customers": ("id = {0}", "id >= {0}", "name > 'B' AND id <> {0}", "country = 'NO'"),
    "raw_orders": (
        "id = {0}",
        "id IN ({0}, {1})",
        "customer_id = {0}",
        "ordered_on > DATE'2024-03-0{0}'",
        "status = 'completed' OR id = {0}",
        "id % 2 = {0} % 2",
    ),
    "raw_payments": (
        "id = {0}",
        "id IN ({0}, {1})",
        "order_id = {0}",
        "method = 'card' AND order_id > {0}",
        "cents > {0}000",
        "id > {0} AND id <= {1}",
    ),
    "orders before": ("order_id = {0}", "status = 'completed' AND order_id >= {0}"),
    "versions": ("customer_id = {0} % 4", "country = 'NO'", "dbt_valid_to IS NULL"),
}
"""Conditions on seeds and tables; the places are for numbers from 1 to 9."""

_INCREMENT = """
select o.order_id, o.customer_id, o.ordered_on, o.status, coalesce(a.amount, 0) as amount
from shop.stg_orders o left join shop.order_amounts a on o.order_id = a.order_id
where o.ordered_on >= (select max(ordered_on) from shop.orders where order_id < 5)
"""
_MERGES = (
    {"incremental_strategy": "append"},
    {"incremental_strategy": "merge", "unique_key": "order_id"},
    {"incremental_strategy": "delete+insert", "unique_key": ["order_id", "status"]},
    {"incremental_strategy": "insert_overwrite", "partition_by": "status"},
)
_RANKED = """
select order_id, row_number() over (partition by customer_id order by amount desc, order_id) as nth,
  sum(amount) over (partition by status order by ordered_on, order_id) as running,
  lag(amount) over (order by cast(ordered_on as timestamp), order_id) as before
from shop.orders
"""
_MOVED = """
select v.country, count(distinct v.customer_id) as customers, count(v.dbt_valid_to) as closed,
  sum(c.amount) as amount
from shop.versions v left join shop.customers c on c.customer_id = v.customer_id
group by v.country
"""
_VERSIONS = """
SELECT customer_id, country, concat(customer_id, country) AS dbt_scd_id,
  timestamp'2024-01-01' AS dbt_valid_from,
  IF(country = 'FI', timestamp'2024-02-01', NULL) AS dbt_valid_to
FROM VALUES (1, 'NO'), (1, 'FI'), (2, 'SE'), (3, 'NO'), (3, 'DK') AS v(customer_id, country)
"""
_NAMES = {"orders before": "orders_before"}
"""The names of tables in rebuilds that are other than the names of their nodes."""


def _extend(shop: Path, merge: Mapping[str, Any]) -> None:
    """Add models with windows and over a snapshot, and have orders compiled as an increment."""
    manifest = shop / "target" / "manifest.json"
    document = json.loads(manifest.read_text())
    nodes = document["nodes"]
    orders = nodes["model.shop.orders"]
    orders |= {"compiled_code": _INCREMENT, "config": {**orders["config"], **merge}}
    table = nodes["model.shop.stg_orders"]["config"]
    for kind, name, text, parents in (
        ("snapshot", "versions", "select 1", ["seed.shop.raw_customers"]),
        ("model", "ranked", _RANKED, ["model.shop.orders"]),
        ("model", "moved", _MOVED, ["snapshot.shop.versions", "model.shop.customers"]),
    ):
        node = {**orders, "name": name, "unique_id": f"{kind}.shop.{name}", "resource_type": kind}
        node |= {"compiled_code": text, "raw_code": text, "relation_name": f"shop.{name}"}
        node |= {"original_file_path": f"{name}.sql", "depends_on": {"nodes": parents}}
        node["config"] = {**table, "materialized": "snapshot"} if kind == "snapshot" else table
        nodes[node["unique_id"]] = node
    manifest.write_text(json.dumps(document))


class ProjectImpacts:
    """The example's impacts, and rebuilds of it.

    Parameters
    ----------
    folder
        A new folder for the project.
    """

    def __init__(
        self, spark: SparkSession, session: lipstick.Session, folder: Path, variant: int = 0
    ) -> None:
        self._spark = spark
        full = DbtProject(write_example(folder))
        seeds = {
            seed.name: seed_frame(spark, *read_seed(full.folder / seed.file, seed))
            for seed in full.bases
        }
        rows = {name: frame.toArrow() for name, frame in seeds.items()}
        self._bases = seeds
        self._merge: str | None = None
        orders = self._rebuilt(full, rows)["orders"]
        before = spark.createDataFrame(orders).selectExpr(
            "* EXCEPT (amount)", "CAST(amount + 1 AS DECIMAL(20, 2)) AS amount"
        )
        versions = spark.sql(_VERSIONS)
        _extend(full.folder, _MERGES[variant])
        self.project = DbtProject(full.folder)
        self.tracked = TrackedProject(
            self.project,
            session,
            {"versions": BaseTable(versions, "dbt_scd_id")},
            {"orders": BaseTable(before, "order_id")},
        )
        node = self.project.node("orders", "model")
        self._merge = merged(node, "rebuilt_orders_before", "rebuilt_increment", before.columns)
        self._bases = {**seeds, "orders before": before, "versions": versions}
        self._rows = {name: frame.toArrow() for name, frame in self._bases.items()}
        self._built = self._rebuilt(self.project, self._rows)

    def check(self, seed: int) -> int:
        """Hold the impact of a random deletion against a rebuild; return the changed answers."""
        choice = random.Random(seed)
        base = choice.choice(sorted(CONDITIONS))
        numbers = choice.sample(range(1, 10), 2)
        where = choice.choice(CONDITIONS[base]).format(*sorted(numbers))
        left = self._bases[base].where(f"NOT coalesce({where}, false)").toArrow()
        rows = self._rows[base].num_rows - left.num_rows
        if not rows:
            return 0
        rebuilt = self._rebuilt(self.project, {**self._rows, base: left})
        found = self.tracked.impact(base, where)
        assert found.rows == rows, (base, where)
        changed = 0
        for each in (*found.models, *found.tests):
            if base == "raw_customers" and each.node.name in ("versions", "moved"):
                assert each.refusal is not None
                assert each.refusal.reason.startswith("it rests on versions, which is read as")
                continue
            assert each.refusal is None, (base, where, each.refusal)
            assert each.changes is not None
            before, after = self._built[each.node.name], rebuilt[each.node.name]
            place = f"{each.node.name} without {base} where {where}"
            assert (each.before, each.after) == (before.num_rows, after.num_rows), place
            assert_same_bag(moved_rows(before, after), changes_of(each.changes, after), place)
            changed += each.is_changed
        reported = {each.node.id for each in (*found.models, *found.tests)}
        for node in (*self.project.models, *self.project.tests):
            if node.id not in reported and node.materialized not in ("ephemeral", "snapshot"):
                old, new = (from_arrow(built[node.name]) for built in (self._built, rebuilt))
                assert_same_bag(old, new, f"{node.name} without {base} where {where}")
        return changed

    def _rebuilt(self, project: DbtProject, bases: Tables) -> Tables:
        """Build a project as dbt does, a table for each model."""
        tables: dict[str, pa.Table] = {}
        for name, rows in bases.items():
            self._view(rows, self._bases[name].schema, _NAMES.get(name, name))
        for node in [*project.models, *project.tests]:
            assert node.compiled is not None
            if node.kind == "snapshot":
                continue
            own = f" rebuilt_{node.name}{'_before' if self._merge else ''}"
            code = node.compiled.replace(f" shop.{node.name}", own).replace(" shop.", " rebuilt_")
            answer = self._spark.sql(code)
            if node.name == "orders" and self._merge is not None:
                self._view(answer.toArrow(), answer.schema, "increment")
                answer = self._spark.sql(self._merge)
            tables[node.name] = answer.toArrow()
            self._view(tables[node.name], answer.schema, node.name)
        return tables

    def _view(self, rows: pa.Table, schema: StructType, name: str) -> None:
        frame = self._spark.createDataFrame(rows, schema)
        frame.createOrReplaceTempView(f"rebuilt_{name}")


def moved_rows(before: pa.Table, after: pa.Table) -> Bag:
    """Return the rows of one table alone, with the side that they are on."""
    rows = []
    for side, own, other in (("-", before, after), ("+", after, before)):
        theirs = [tuple(row.values()) for row in other.to_pylist()]
        for row in (tuple(row.values()) for row in own.to_pylist()):
            if row in theirs:
                theirs.remove(row)
            else:
                rows.append((side, *row))
    return Bag(("side", *after.column_names), (), tuple(rows))


def changes_of(changes: pa.Table, after: pa.Table) -> Bag:
    def sides() -> Iterator[tuple[Any, ...]]:
        for change in changes.to_pylist():
            for side, name in (("-", "old"), ("+", "new")):
                if change[name] is not None:
                    yield (side, *change[name].values())

    return Bag(("side", *after.column_names), (), tuple(sides()))


if __name__ == "__main__":
    first, last = map(int, sys.argv[1].split("-"))
    with tempfile.TemporaryDirectory() as home, local_spark(Path(home), interpreted=True) as spark:
        spark.sparkContext.setLogLevel("ERROR")
        changed: list[int] = []
        for variant in range(len(_MERGES)):
            seeds = [seed for seed in range(first, last) if seed % len(_MERGES) == variant]
            with lipstick.session(spark) as session:
                impacts = ProjectImpacts(spark, session, Path(home) / f"shop{variant}", variant)
                changed += map(impacts.check, seeds)
            print(f"{_MERGES[variant]}: {len(seeds)} held", flush=True)
    held = f"{len(changed)} deletions held; {sum(map(bool, changed))} of them changed"
    print(f"{held} {sum(changed)} answers")

"""Impacts of random deletions on the example of dbt, held against rebuilds.

Run by ``python -m tests.lipstick.systems.dbt.impacts 0-200``.

``lipstick dbt impact`` is held against a rebuild of the project without the rows: Spark runs the
compiled SQL, model by model, over tables of the schema.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

import lipstick
from lipstick.systems.dbt import DbtProject, TrackedProject, write_example
from lipstick.systems.dbt.bases import read_seed, seed_frame
from tests.local_spark import local_spark
from tests.oracle.rows import Bag, assert_same_bag, from_arrow

Tables = Mapping[str, pa.Table]

_CONDITIONS = {
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
}
"""Conditions on seeds; the places are for numbers from 1 to 9."""


class ProjectImpacts:
    """The example's impacts, and rebuilds of it.

    Parameters
    ----------
    folder
        A new folder for the project.
    """

    def __init__(self, spark: SparkSession, session: lipstick.Session, folder: Path) -> None:
        self._spark = spark
        self.project = DbtProject(write_example(folder))
        self.tracked = TrackedProject(self.project, session)
        self._seeds = {
            seed.name: seed_frame(spark, *read_seed(self.project.folder / seed.file, seed))
            for seed in self.project.bases
        }
        self._rows = {name: frame.toArrow() for name, frame in self._seeds.items()}
        self._built = self._rebuilt(self._rows)

    def check(self, seed: int) -> int:
        """Hold the impact of a random deletion against a rebuild; return the changed answers."""
        choice = random.Random(seed)
        base = choice.choice(sorted(_CONDITIONS))
        numbers = choice.sample(range(1, 10), 2)
        where = choice.choice(_CONDITIONS[base]).format(*sorted(numbers))
        left = self._seeds[base].where(f"NOT coalesce({where}, false)").toArrow()
        rows = self._rows[base].num_rows - left.num_rows
        if not rows:
            return 0
        rebuilt = self._rebuilt({**self._rows, base: left})
        found = self.tracked.impact(base, where)
        assert found.rows == rows, (base, where)
        changed = 0
        for each in (*found.models, *found.tests):
            assert each.refusal is None, (base, where, each.refusal)
            assert each.changes is not None
            before, after = self._built[each.node.name], rebuilt[each.node.name]
            place = f"{each.node.name} without {base} where {where}"
            assert (each.before, each.after) == (before.num_rows, after.num_rows), place
            assert_same_bag(_moved(before, after), _changes(each.changes, after), place)
            changed += each.is_changed
        reported = {each.node.id for each in (*found.models, *found.tests)}
        for node in (*self.project.models, *self.project.tests):
            if node.id not in reported and node.materialized != "ephemeral":
                old, new = (from_arrow(built[node.name]) for built in (self._built, rebuilt))
                assert_same_bag(old, new, f"{node.name} without {base} where {where}")
        return changed

    def _rebuilt(self, seeds: Tables) -> Tables:
        """Build the project as dbt does, a table for each model."""
        tables: dict[str, pa.Table] = {}
        for name, rows in seeds.items():
            self._spark.createDataFrame(rows, self._seeds[name].schema).createOrReplaceTempView(
                f"rebuilt_{name}"
            )
        for node in [*self.project.models, *self.project.tests]:
            assert node.compiled is not None
            answer = self._spark.sql(node.compiled.replace(" shop.", " rebuilt_"))
            tables[node.name] = answer.toArrow()
            rows = self._spark.createDataFrame(tables[node.name], answer.schema)
            rows.createOrReplaceTempView(f"rebuilt_{node.name}")
        return tables


def _moved(before: pa.Table, after: pa.Table) -> Bag:
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


def _changes(changes: pa.Table, after: pa.Table) -> Bag:
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
        with lipstick.session(spark) as session:
            impacts = ProjectImpacts(spark, session, Path(home) / "shop")
            changed = [impacts.check(seed) for seed in range(first, last)]
    held = f"{len(changed)} deletions held; {sum(map(bool, changed))} of them changed"
    print(f"{held} {sum(changed)} answers")

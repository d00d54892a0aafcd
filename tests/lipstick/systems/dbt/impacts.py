"""Impacts of random deletions on projects of dbt, held against rebuilds.

Run by ``python -m tests.lipstick.systems.dbt.impacts 0-200``.

``lipstick dbt impact`` is held against a rebuild of the project without the rows: Spark runs the
compiled SQL, model by model, over tables of the schema. The example is extended by windows, by an
increment that is merged into a table before, and by a model over a snapshot. ``--models 400`` draws
a project instead (``--project`` is its seed), over sources of ``--rows``. ``--output FILE`` goes on
where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick.systems.dbt import BaseTable, DbtProject, TrackedProject, write_example
from lipstick.systems.dbt.bases import read_seed, seed_frame
from lipstick.systems.dbt.increments import merged
from lipstick.systems.dbt.manifest import DbtNode
from tests.lipstick.systems.dbt import projects
from tests.local_spark import local_spark
from tests.oracle.rows import Bag, assert_same_bag

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


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """The rows of a table, and the frame over them that models read."""

    rows: pa.Table
    frame: DataFrame


class Rebuilds:
    """Builds of a project over any rows of its seeds and sources, a table for each model.

    Parameters
    ----------
    bases
        The seeds and sources by title.
    merge
        The query by which the increment of orders is merged into its table before.
    """

    def __init__(
        self, project: DbtProject, bases: Mapping[str, DataFrame], merge: str | None = None
    ) -> None:
        self._project, self._merge = project, merge
        self._spark = next(iter(bases.values())).sparkSession
        nodes = {each.title: each.id for each in project.bases}
        rows = {nodes[title]: self._built(frame) for title, frame in bases.items()}
        self.before = self.build(rows)
        """The project as it stands: seeds, sources, models and tests by id.

        Models in another language than SQL, and those that rest on them, are left out.
        """

    def without(self, base: DbtNode, where: str) -> dict[str, Built]:
        """Build the project without some rows of a seed or source.

        A model is not built again if all that it reads is as before.
        """
        left = self.before[base.id].frame.where(f"NOT coalesce({where}, false)")
        rows = {each.id: self.before[each.id] for each in self._project.bases}
        return self.build({**rows, base.id: self._built(left)}, self.before)

    def build(
        self, bases: Mapping[str, Built], known: Mapping[str, Built] | None = None
    ) -> dict[str, Built]:
        """Build the project as dbt does, where models are not known to be the same."""
        known, built = known or {}, dict(bases)
        nodes = self._project.manifest.nodes
        for each, table in bases.items():
            self._show(nodes[each], table)
        for node in [*self._project.models, *self._project.tests]:
            if node.materialized == "ephemeral" or node.id in built:
                continue
            read = [*self._read_by(node)]
            if node.language != "sql" or not built.keys() >= set(read):
                continue
            if node.id in known and all(built[each] is known[each] for each in read):
                built[node.id] = known[node.id]
            else:
                table = self._built(self._answer(node))
                old = known.get(node.id)
                same = old is not None and not moved_rows(old.rows, table.rows).rows
                built[node.id] = old if old is not None and same else table
            self._show(node, built[node.id])
        return built

    def _read_by(self, node: DbtNode) -> Iterator[str]:
        """Yield the ids of the tables that a node reads, those of ephemeral models included."""
        for parent in (self._project.manifest.nodes[each] for each in node.parents):
            if parent.materialized == "ephemeral":
                yield from self._read_by(parent)
            else:
                yield parent.id

    def _answer(self, node: DbtNode) -> DataFrame:
        own = f" rebuilt_{node.name}{'_before' if self._merge else ''}"
        code = (node.compiled or "").replace(f" shop.{node.name}", own)
        answer = self._spark.sql(code.replace(" shop.", " rebuilt_"))
        if node.name == "orders" and self._merge is not None:
            self._built(answer).frame.createOrReplaceTempView("rebuilt_increment")
            answer = self._spark.sql(self._merge)
        return answer

    def _built(self, frame: DataFrame) -> Built:
        rows = frame.toArrow()
        return Built(rows, self._spark.createDataFrame(rows, frame.schema))

    def _show(self, node: DbtNode, table: Built) -> None:
        table.frame.createOrReplaceTempView(f"rebuilt_{node.name.replace(' ', '_')}")


class ProjectImpacts:
    """Impacts on a project, held against rebuilds of it.

    Parameters
    ----------
    conditions
        Conditions by which rows are deleted, by title; the places are for two numbers up to
        `most`, and for a day of a month.
    """

    def __init__(
        self,
        tracked: TrackedProject,
        builds: Rebuilds,
        conditions: Mapping[str, Sequence[str]],
        most: int,
    ) -> None:
        self.project, self.tracked = tracked.project, tracked
        self._builds, self._conditions, self._most = builds, conditions, most
        self.compared = 0
        """The number of rows of models and tests that were compared."""
        self.tied = 0
        """The number of answers that are said to depend on the order of tied rows."""

    def check(self, seed: int) -> int:
        """Hold the impact of a random deletion against a rebuild; return the changed answers."""
        choice = random.Random(seed)
        title = choice.choice(sorted(self._conditions))
        numbers = sorted(choice.sample(range(1, self._most + 1), 2))
        where = choice.choice(self._conditions[title]).format(*numbers, choice.randint(10, 28))
        base, before = self.project.node(title, "seed", "source"), self._builds.before
        rows = before[base.id].frame.where(where).count()
        if not rows:
            return 0
        found = self.tracked.impact(title, where)
        rebuilt = self._builds.without(base, where)
        assert found.rows == rows, (title, where)
        changed = 0
        for each in (*found.models, *found.tests):
            node, place = each.node, f"{each.node.name} without {title} where {where}"
            if node.id not in rebuilt or self._is_unknown(node, base):
                assert each.refusal is not None, place
                continue
            assert each.refusal is None, (place, each.refusal)
            assert each.changes is not None
            old, new = before[node.id].rows, rebuilt[node.id].rows
            if each.ties:
                self.tied += 1
                continue
            assert (each.before, each.after) == (old.num_rows, new.num_rows), place
            assert_same_bag(moved_rows(old, new), changes_of(each.changes, new), place)
            self.compared += old.num_rows + new.num_rows
            changed += each.is_changed
        reported = {each.node.id for each in (*found.models, *found.tests)}
        for each in rebuilt.keys() - reported - {base.id}:
            assert rebuilt[each] is before[each], f"{each} without {title} where {where}"
        return changed

    def _is_unknown(self, node: DbtNode, base: DbtNode) -> bool:
        """Return True if a node is, or rests on, a snapshot of a base, whose table stands."""
        given = self.tracked._given
        return any(
            each.kind == "snapshot"
            and given.rests_on(each, base)
            and (node.id == each.id or given.rests_on(node, each))
            for each in given.models
        )


def shop_impacts(
    spark: SparkSession, session: lipstick.Session, folder: Path, variant: int = 0
) -> ProjectImpacts:
    """Return the impacts of the example, which is written to a new folder."""
    full = DbtProject(write_example(folder))
    seeds = {s.name: seed_frame(spark, *read_seed(folder / s.file, s)) for s in full.bases}
    orders = Rebuilds(full, seeds).before["model.shop.orders"].frame
    before = orders.selectExpr("* EXCEPT (amount)", "CAST(amount + 1 AS DECIMAL(20, 2)) AS amount")
    versions = spark.sql(_VERSIONS)
    _extend(folder, _MERGES[variant])
    project = DbtProject(folder)
    tracked = TrackedProject(
        project,
        session,
        {"versions": BaseTable(versions, "dbt_scd_id")},
        {"orders": BaseTable(before, "order_id")},
    )
    node = project.node("orders", "model")
    merge = merged(node, "rebuilt_orders_before", "rebuilt_increment", before.columns)
    bases = {**seeds, "orders before": before, "versions": versions}
    return ProjectImpacts(tracked, Rebuilds(tracked.project, bases, merge), CONDITIONS, 9)


def generated_impacts(
    spark: SparkSession, session: lipstick.Session, generated: projects.GeneratedProject
) -> ProjectImpacts:
    """Return the impacts of a random project."""
    project = DbtProject(generated.folder)
    bases = {name: spark.read.parquet(str(path)) for name, (path, _) in generated.sources.items()}
    seed = project.node("raw_countries", "seed")
    bases["raw_countries"] = seed_frame(spark, *read_seed(generated.folder / seed.file, seed))
    sources = {name: BaseTable(str(path), key) for name, (path, key) in generated.sources.items()}
    tracked = TrackedProject(project, session, sources)
    builds = Rebuilds(tracked.project, bases)
    return ProjectImpacts(tracked, builds, projects.CONDITIONS, generated.rows)


def moved_rows(before: pa.Table, after: pa.Table) -> Bag:
    """Return the rows of one table alone, with the side that they are on."""
    rows: list[tuple[Any, ...]] = []
    with duckdb.connect() as connection:
        for name, table in (("mine", before), ("theirs", after)):
            columns = [f"c{number}" for number in range(table.num_columns)]
            connection.register(name, table.rename_columns(columns))
        for side, own, other in (("-", "mine", "theirs"), ("+", "theirs", "mine")):
            found = connection.execute(f"FROM {own} EXCEPT ALL FROM {other}").fetch_arrow_table()
            rows += [(side, *row.values()) for row in found.to_pylist()]
    return Bag(("side", *after.column_names), (), tuple(rows))


def changes_of(changes: pa.Table, after: pa.Table) -> Bag:
    def sides() -> Iterator[tuple[Any, ...]]:
        for change in changes.to_pylist():
            for side, name in (("-", "old"), ("+", "new")):
                if change[name] is not None:
                    yield (side, *change[name].values())

    return Bag(("side", *after.column_names), (), tuple(sides()))


def _held(impacts: ProjectImpacts, seeds: Iterable[int], output: Path | None) -> list[int]:
    """Hold deletions that `output` has not, write a line for each, and return the changed."""
    lines = output.read_text().splitlines() if output is not None and output.exists() else []
    known = {int(line.split()[0]): int(line.split()[1]) for line in lines}
    for seed in seeds:
        if seed in known:
            continue
        compared, tied, started = impacts.compared, impacts.tied, time.monotonic()
        known[seed] = impacts.check(seed)
        seconds = time.monotonic() - started
        line = f"{seed} {known[seed]} changed {impacts.compared - compared} rows"
        line += f" {impacts.tied - tied} tied {seconds:.1f} s"
        print(line, flush=True)
        if output is not None:
            with output.open("a") as file:
                file.write(f"{line}\n")
    return [known[seed] for seed in seeds]


def _main() -> None:
    parser = argparse.ArgumentParser(description="Hold impacts of random deletions.")
    parser.add_argument("seeds", help="as 0-200")
    parser.add_argument("--models", type=int, help="of a random project instead of the example")
    parser.add_argument("--project", type=int, default=0, help="by which it is drawn")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--ties", type=float, default=0.0, help="the share of models with ties")
    parser.add_argument("--output", type=Path, help="goes on where it was stopped")
    given = parser.parse_args()
    seeds = range(*map(int, given.seeds.split("-")))
    changed: list[int] = []
    is_example = given.models is None
    with (
        tempfile.TemporaryDirectory() as folder,
        local_spark(Path(folder), interpreted=True) as spark,
    ):
        spark.sparkContext.setLogLevel("ERROR")
        for variant in range(len(_MERGES) if is_example else 1):
            place = Path(folder) / f"shop{variant}"
            with lipstick.session(spark) as session:
                if is_example:
                    impacts = shop_impacts(spark, session, place, variant)
                    chosen = [seed for seed in seeds if seed % len(_MERGES) == variant]
                else:
                    drawn = projects.GeneratedProject(
                        place, given.models, given.project, given.rows, given.ties
                    )
                    impacts, chosen = generated_impacts(spark, session, drawn), list(seeds)
                changed += _held(impacts, chosen, given.output)
    held = f"{len(changed)} deletions held; {sum(map(bool, changed))} of them changed"
    print(f"{held} {sum(changed)} answers")


if __name__ == "__main__":
    _main()

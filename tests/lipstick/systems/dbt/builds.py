"""Impacts of random deletions on the example of dbt, held against ``dbt build`` itself.

Run by ``python -m tests.lipstick.systems.dbt.builds 0-20`` where ``dbt-core`` and ``dbt-spark`` are
installed. The rows are taken from the files of seeds, and dbt builds the project in the session
that answers. A line is written for each deletion that held, so that a run that was stopped goes on
from the next one.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import random
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

import lipstick
from lipstick.systems.dbt import DbtProject, TrackedProject, write_example
from lipstick.systems.dbt.bases import read_seed, seed_frame
from tests.lipstick.systems.dbt.impacts import CONDITIONS, changes_of, moved_rows
from tests.local_spark import local_spark
from tests.oracle.rows import assert_same_bag, from_arrow

_KINDS = ("test", "unit_test", "exposure")


def _built(shop: Path, spark: SparkSession) -> dict[str, pa.Table]:
    """Return the tables and views that dbt builds, by the names of models."""
    from dbt.cli.main import dbtRunner

    folders = ("--project-dir", str(shop), "--profiles-dir", str(shop))
    kinds = [option for kind in _KINDS for option in ("--exclude-resource-type", kind)]
    result = dbtRunner().invoke(["--quiet", "build", "--full-refresh", *folders, *kinds])
    assert result.success, result
    nodes = json.loads((shop / "target" / "manifest.json").read_text())["nodes"].values()
    return {
        node["name"]: spark.table(node["relation_name"]).toArrow()
        for node in nodes
        if node["resource_type"] == "model" and node["config"]["materialized"] != "ephemeral"
    }


def _check(
    shop: Path, tracked: TrackedProject, before: Mapping[str, pa.Table], seed: int
) -> str | None:
    """Hold the impact of a random deletion against a build; return what was deleted."""
    choice, spark = random.Random(seed), tracked.session.spark
    base = choice.choice(["raw_customers", "raw_orders", "raw_payments"])
    numbers = choice.sample(range(1, 10), 2)
    where = choice.choice(CONDITIONS[base]).format(*sorted(numbers))
    node = tracked.project.node(base, "seed")
    file = shop / node.file
    frame = seed_frame(spark, *read_seed(file, node)).where(where)
    gone = {str(row["id"]) for row in frame.select("id").collect()}
    if not gone:
        return None
    text = file.read_text()
    header, *rows = csv.reader(text.splitlines())
    place = header.index("id")
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([header, *(row for row in rows if row[place] not in gone)])
    try:
        after = _built(shop, spark)
    finally:
        file.write_text(text)
    found = {each.node.name: each for each in tracked.impact(base, where).models}
    for name, table in before.items():
        at = f"{name} without {base} where {where}"
        if name not in found:
            assert_same_bag(from_arrow(table), from_arrow(after[name]), at)
            continue
        changes = found[name].changes
        assert changes is not None, found[name].refusal
        counts = found[name].before, found[name].after
        assert counts == (table.num_rows, after[name].num_rows), at
        assert_same_bag(moved_rows(table, after[name]), changes_of(changes, after[name]), at)
    return f"{base} where {where}: {sum(each.is_changed for each in found.values())} changed"


if __name__ == "__main__":
    first, last = map(int, sys.argv[1].split("-"))
    if not all(map(importlib.util.find_spec, ("dbt", "dbt.adapters", "dbt.adapters.spark"))):
        sys.exit(f"skipped: {sys.executable} has no dbt-core with dbt-spark")
    with tempfile.TemporaryDirectory() as home, local_spark(Path(home), interpreted=True) as spark:
        spark.sparkContext.setLogLevel("ERROR")
        shop = write_example(Path(home) / "shop")
        before = _built(shop, spark)
        with lipstick.session(spark) as session:
            tracked = TrackedProject(DbtProject(shop), session)
            for seed in range(first, last):
                print(seed, _check(shop, tracked, before, seed) or "no row", flush=True)

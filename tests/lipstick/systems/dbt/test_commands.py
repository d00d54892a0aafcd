"""``lipstick dbt``: check, why and impact of the example, with a refused model and a source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from pyspark.sql import SparkSession

import lipstick
from lipstick.cli import main
from lipstick.systems.dbt import BaseTable, DbtProject, TrackedProject, write_example
from lipstick.systems.dbt.snapshots import MADE_FROM, source_states
from lipstick.workflow import open_run
from semiring.errors import LipstickError
from tests.lipstick.systems.dbt.impacts import changes_of, generated_impacts, shop_impacts
from tests.lipstick.systems.dbt.projects import GeneratedProject
from tests.openlineage_schemas import validated
from tests.oracle.rows import assert_same_bag

_REFUSED = "select *\nfrom shop.stg_orders\nwhere order_id > 0 and input_file_name() <> ''"


def _run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["dbt", *arguments])
    assert result.exit_code == code, result.output
    return result.output if code == 2 else result.stdout


def test_a_project_with_a_source_and_a_refused_model(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lipstick, "session", partial(lipstick.session, spark))
    shop = write_example(tmp_path / "shop")
    manifest = shop / "target" / "manifest.json"
    document = json.loads(manifest.read_text())
    known = document["nodes"]
    kept = ("seed.shop.raw_orders", "model.shop.stg_orders", "model.shop.stg_customers")
    document["nodes"] = nodes = {key: known[key] for key in kept}
    customers = known["seed.shop.raw_customers"]
    customers |= {"unique_id": "source.shop.raw.raw_customers", "resource_type": "source"}
    document["sources"] = {customers["unique_id"]: {**customers, "source_name": "raw"}}
    nodes["model.shop.stg_customers"]["depends_on"]["nodes"] = [customers["unique_id"]]
    broken = {**nodes["model.shop.stg_orders"], "name": "broken", "relation_name": "shop.broken"}
    broken |= {"unique_id": "model.shop.broken", "original_file_path": "models/broken.sql"}
    broken |= {"compiled_code": _REFUSED, "depends_on": {"nodes": ["model.shop.stg_orders"]}}
    broken["raw_code"] = _REFUSED.replace("shop.stg_orders", "{{ ref('stg_orders') }}")
    nodes["model.shop.broken"] = broken
    manifest.write_text(json.dumps(document))
    source = ("--source", f"raw.raw_customers={shop / 'seeds' / 'raw_customers.csv'}:id")

    said = _run("check", str(shop), *source, "--format", "md", code=2)
    assert said.startswith("2 of 3 models are annotated.")
    assert "| broken | model | view | no | models/broken.sql:3 |" in said
    said = _run("why", str(shop), "stg_customers", "--where", "name = 'Bo'", *source, "--json")
    bo = {"id": 2, "name": "Bo", "country": "SE"}
    assert json.loads(said)["sources"] == {"raw.raw_customers": [bo]}
    customers["relation_name"] = "`customers_of_the_catalog`"
    document["sources"][customers["unique_id"]]["relation_name"] = customers["relation_name"]
    sql = "select * from customers_of_the_catalog"
    nodes["model.shop.stg_customers"] |= {"compiled_code": sql, "compiled_path": None}
    manifest.write_text(json.dumps(document))
    frame = spark.createDataFrame(
        [(2, "Bo", "SE"), (3, "Cy", "DK")], "id INT, name STRING, country STRING"
    )
    frame.createOrReplaceTempView("customers_of_the_catalog")
    said = _run("why", str(shop), "stg_customers", "--where", "name = 'Bo'", "--json")
    assert json.loads(said)["sources"] == {"raw.raw_customers": [bo]}
    spark.catalog.dropTempView("customers_of_the_catalog")
    said = _run("check", str(shop), code=2)
    assert "no table customers_of_the_catalog" in " ".join(said.split())
    said = _run("impact", str(shop), "raw_orders", "--where", "id >= 6")
    assert "Without 2 rows of raw_orders (id >= 6), 1 of 2 models that rest on it" in said
    assert "models/broken.sql:3" in said


@pytest.mark.slow
def test_impacts_are_rebuilds_without_the_rows(
    spark: SparkSession, ls: lipstick.Session, tmp_path: Path
) -> None:
    impacts = shop_impacts(spark, ls, tmp_path / "shop")
    assert sum(map(impacts.check, range(5))) > 5


@pytest.mark.slow
def test_impacts_on_a_random_project_are_rebuilds(
    spark: SparkSession, ls: lipstick.Session, tmp_path: Path
) -> None:
    project = GeneratedProject(tmp_path / "shop", models=16, rows=60, ties=0.2)
    impacts = generated_impacts(spark, ls, project)
    assert sum(map(impacts.check, range(6))) > 5
    assert impacts.compared > 400


def test_rows_made_from_other_rows_with_the_same_values_do_not_differ(
    spark: SparkSession, ls: lipstick.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = write_example(tmp_path / "shop")
    joined = "shop.stg_orders o left join shop.order_amounts a"
    on = "a.order_id = o.order_id and a.amount > 0"
    add_models(
        shop,
        {
            "asked": f"select o.order_id from {joined} on {on}",
            "paid": f"select o.order_id, a.order_id is not null as paid from {joined} on {on}",
        },
    )
    for most in (None, 0):
        if most is not None:
            monkeypatch.setattr("lipstick.systems.dbt.rows.MOST", most)
        tracked = TrackedProject(DbtProject(shop), ls)
        found = {each.node.name: each for each in tracked.impact("raw_payments", "id = 3").models}
        assert not found["asked"].is_changed
        changes = found["paid"].changes
        assert changes is not None
        assert sorted(changes["_change"].to_pylist()) == ["added", "deleted"]


def test_impacts_name_the_models_whose_rows_tie(
    spark: SparkSession, ls: lipstick.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = write_example(tmp_path / "shop")
    texts = {}
    for name, order in (("by_id", "order_id"), ("by_status", "status")):
        ranked = f"row_number() over (partition by customer_id order by {order}) as nth"
        texts[name] = f"select *, {ranked} from shop.stg_orders"
    texts["first"] = "select order_id, 0 * nth as zero from shop.by_status where nth = 1"
    texts["last"] = "select status from shop.stg_orders order by status desc limit 1"
    add_models(shop, texts)
    tracked = TrackedProject(DbtProject(shop), ls)
    found = {each.node.name: each for each in tracked.impact("raw_orders", "id = 3").models}
    ties = {name: found[name].ties for name in texts}
    assert ties == {"by_id": (), "by_status": ("by_status",), "first": ("by_status",), "last": ()}
    monkeypatch.setattr("lipstick.systems.dbt.rows.MOST", 0)
    captured = TrackedProject(DbtProject(shop), ls).impact("raw_orders", "id = 3")
    for each in captured.models:
        old, new = (every.changes for every in (found[each.node.name], each))
        assert old is not None
        assert new is not None
        assert_same_bag(changes_of(old, old), changes_of(new, new), each.node.name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("why", "shop", "order", "--where", "true"), "no node has the name 'order'"),
        (("check", "shop", "--source", "raw.x=x.csv"), "no node has the name 'raw.x'"),
        (("check", "nothing"), "is not a manifest of dbt"),
        (("example", "shop"), "is there already"),
    ],
)
def test_wrong_input_exits_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_example("shop")
    assert message in _run(*arguments, code=2)


def test_a_project_runs_as_a_workflow(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lipstick, "session", partial(lipstick.session, spark))
    shop, store = write_example(tmp_path / "shop"), tmp_path / "store"
    said = _run("run", str(shop), str(store), "--model", "orders", "--format", "md")
    assert f"5 modules in {store}: lipstick explore {store} shows them." in said
    assert "| orders | order_amounts, stg_orders |" in said
    graph = open_run(store).graph()
    amounts = open_run(store).output(0, "orders").to_pylist()
    assert {row["order_id"]: str(row["amount"]) for row in amounts}[7] == "72.50"
    gone = graph.select(kind="token", where={"order_id": 7}).names()
    assert gone == [f"input#0/raw_payments/raw_payments_rows:{number}" for number in (7, 8, 9)]
    left = graph.delete(gone)
    rows = graph.select(module="order_amounts", kind="o")
    assert (len(rows.names()), len(left.select(module="order_amounts", kind="o").names())) == (6, 5)
    coarse = graph.zoom_out("order_amounts", "stg_orders")
    assert coarse.node_count < graph.node_count


def test_a_run_has_events_of_openlineage(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lipstick, "session", partial(lipstick.session, spark))
    shop, run = write_example(tmp_path / "shop"), "f99310b4-3c3c-4a1a-8b2b-c1b95c24ff11"
    events = [validated(json.loads(e)) for e in _run("openlineage", str(shop)).splitlines()]
    (amounts,) = (e["dataset"] for e in events if e["dataset"]["name"] == "shop.order_amounts")
    (source,) = amounts["facets"]["lineage"]["fields"]["amount"]["inputs"]
    assert (source["name"], source["field"]) == ("shop.raw_payments", "cents")
    assert source["transformations"] == [{"type": "DIRECT", "subtype": "AGGREGATION"}]
    timing = [{"started_at": f"2026-01-02T03:04:0{n}Z", "completed_at": None} for n in (1, 2)]
    for each in timing:
        each["completed_at"] = each["started_at"]
    result = {"unique_id": "model.shop.order_amounts", "status": "success", "timing": timing}
    failed = {**result, "unique_id": "model.shop.orders", "status": "error", "message": "No total"}
    schema = "https://schemas.getdbt.com/dbt/run-results/v6.json"
    metadata = {"dbt_schema_version": schema, "invocation_id": run}
    metadata["generated_at"] = "2026-01-02T03:04:05Z"
    results = {"metadata": metadata, "results": [result, failed], "elapsed_time": 5.0}
    (shop / "target" / "run_results.json").write_text(json.dumps(results))
    events = [validated(json.loads(e)) for e in _run("openlineage", str(shop)).splitlines()]
    assert [(e["job"]["name"], e["eventType"], e["eventTime"][17:19]) for e in events] == [
        ("shop", "START", "00"),
        ("shop.order_amounts", "START", "01"),
        ("shop.order_amounts", "COMPLETE", "02"),
        ("shop.orders", "START", "01"),
        ("shop.orders", "FAIL", "02"),
        ("shop", "FAIL", "05"),
    ]
    errors = [e["run"]["facets"]["errorMessage"]["message"] for e in events[-2:]]
    assert errors == ["No total", "shop.orders: No total"]
    assert events[2]["run"]["facets"]["parent"]["run"]["runId"] == run
    assert [each["name"] for each in events[2]["inputs"]] == ["shop.raw_payments"]


def test_rows_are_erased_from_the_tables_of_a_project(spark: SparkSession, tmp_path: Path) -> None:
    shop = write_example(tmp_path / "shop")
    manifest = shop / "target" / "manifest.json"
    document = json.loads(manifest.read_text())
    kept = ("raw_payments", "stg_payments", "order_amounts", "unique_raw_payments_id")
    document["nodes"] = {k: n for k, n in document["nodes"].items() if n["name"] in kept}
    manifest.write_text(json.dumps(document))
    pipeline, plan = tmp_path / "pipeline.yaml", str(tmp_path / "plan.json")
    pipeline.write_text(_run("erasure", str(shop)))
    made = yaml.safe_load(pipeline.read_text())
    assert made["sources"] == {"raw_payments": {"table": "shop.raw_payments", "key": "id"}}
    query = made["derived"]["shop.order_amounts"]["query"]
    spark.read.csv(
        str(shop / "seeds" / "raw_payments.csv"), header=True, inferSchema=True
    ).createOrReplaceTempView("raw_payments")
    spark.sql("CREATE DATABASE shop")
    try:
        spark.sql("CREATE TABLE shop.raw_payments USING parquet AS SELECT * FROM raw_payments")
        spark.sql(f"CREATE TABLE shop.order_amounts USING parquet AS {query}")
        spark.catalog.dropTempView("raw_payments")
        where = ("--where", "raw_payments:order_id = 7", "--in-place", "-o", plan)
        receipt = ("--key", str(tmp_path / "key"), "--receipt", str(tmp_path / "receipt.json"))
        for command in (
            ["plan", str(pipeline), *where],
            ["apply", plan],
            ["verify", plan, *receipt],
        ):
            done = CliRunner().invoke(main, ["erase", *command])
            assert done.exit_code == 0, done.output
        assert done.stdout.startswith("erased")
        assert spark.table("shop.order_amounts").where("order_id = 7").isEmpty()
    finally:
        spark.sql("DROP DATABASE shop CASCADE")


def add_models(shop: Path, texts: Mapping[str, str]) -> None:
    """Add models by their compiled texts."""
    manifest = shop / "target" / "manifest.json"
    document = json.loads(manifest.read_text())
    for name, text in texts.items():
        node = {**document["nodes"]["model.shop.stg_orders"], "name": name, "raw_code": text}
        node |= {"unique_id": f"model.shop.{name}", "relation_name": f"shop.{name}"}
        read = re.findall(r"shop\.(\w+)", text)
        node |= {"compiled_code": text, "original_file_path": f"models/{name}.sql"}
        node["depends_on"] = {"nodes": [f"model.shop.{each}" for each in read]}
        document["nodes"][node["unique_id"]] = node
    manifest.write_text(json.dumps(document))


def add_snapshot(shop: Path, compiled: str, **config: Any) -> None:
    """Add a snapshot, ``versions``, and a model that counts its rows by country."""
    manifest = shop / "target" / "manifest.json"
    document = json.loads(manifest.read_text())
    nodes = document["nodes"]
    model = nodes["model.shop.stg_customers"]
    snapshot = {"materialized": "snapshot", "strategy": "check", "unique_key": "id", **config}
    for kind, name, text, parent in (
        ("snapshot", "versions", compiled, "seed.shop.raw_customers"),
        (
            "model",
            "moved",
            "select country, count(*) n from shop.versions group by country",
            "snapshot.shop.versions",
        ),
    ):
        node = {**model, "name": name, "unique_id": f"{kind}.shop.{name}", "resource_type": kind}
        node |= {"compiled_code": text, "raw_code": text, "relation_name": f"shop.{name}"}
        node |= {"original_file_path": f"{kind}s/{name}.sql", "depends_on": {"nodes": [parent]}}
        node["config"] = snapshot if kind == "snapshot" else model["config"]
        nodes[node["unique_id"]] = node
    manifest.write_text(json.dumps(document))


def test_versions_in_a_snapshot_are_made_from_rows_of_its_sources(
    spark: SparkSession, ls: lipstick.Session, tmp_path: Path
) -> None:
    shop = write_example(tmp_path / "shop")
    add_snapshot(shop, "select id, name, country from shop.raw_customers")
    project = DbtProject(shop)
    with pytest.raises(
        LipstickError, match=r"name its table, --source versions=TABLE\nSee snapshots"
    ):
        TrackedProject(project, ls).why("moved")
    rows = spark.sql(
        "SELECT id, name, country, CAST(NULL AS STRING) AS city,"
        " md5(concat(id, since)) AS dbt_scd_id, 'False' AS dbt_is_deleted,"
        " to_timestamp(since) AS dbt_updated_at, to_timestamp(since) AS dbt_valid_from,"
        " to_timestamp(until) AS dbt_valid_to FROM VALUES"
        " (1, 'Ada', 'FI', '2024-01-01', '2024-02-01'), (1, 'Ada', 'NO', '2024-02-01', NULL),"
        " (2, 'Bo', 'FI', '2024-01-01', NULL) AS v(id, name, country, since, until)"
    )
    tracked = TrackedProject(project, ls, {"versions": BaseTable(rows, "dbt_scd_id")})
    found = tracked.why("moved", "country IN ('NO', 'FI')")
    (versions,) = found.snapshots
    shown = versions.versions.select(["id", "country", MADE_FROM]).to_pylist()
    made_from = sorted(tuple(row.values()) for row in shown)
    gone = "not known: raw_customers as it stood then is not kept"
    assert made_from == [(1, "FI", gone), (1, "NO", "raw_customers"), (2, "FI", gone)]
    assert not found.bases
    assert versions.bases["raw_customers"].to_pylist() == [
        {"id": 1, "name": "Ada", "country": "NO"}
    ]
    only = tracked.why("versions", "id = 2 OR name = 'Ada' AND dbt_valid_to IS NULL")
    assert sorted(only.snapshots[0].versions[MADE_FROM].to_pylist()) == [gone, "raw_customers"]

    found_impact = tracked.impact("raw_customers", "id = 1")
    unknown = {m.node.name: m.refusal.reason for m in found_impact.models if m.refusal is not None}
    reason = "it rests on versions, which is read as its table stands"
    assert unknown == {"versions": reason, "moved": reason}


def test_states_of_sources_are_their_commits_in_order() -> None:
    def table(*seconds: int) -> SimpleNamespace:
        times = [datetime.fromtimestamp(each, UTC) for each in seconds]
        history = [SimpleNamespace(time=t, version=n) for n, t in enumerate(times)]
        return SimpleNamespace(history=lambda: history)

    states = source_states({"a": table(1, 4), "b": table(2, 4, 4)})
    assert [(s.versions, s.start, s.end) for s in states] == [
        ({"a": 0, "b": 0}, 2_000_000, 4_000_000),
        ({"a": 1, "b": 0}, 4_000_000, 4_000_000),
        ({"a": 1, "b": 1}, 4_000_000, 4_000_000),
        ({"a": 1, "b": 2}, 4_000_000, None),
    ]

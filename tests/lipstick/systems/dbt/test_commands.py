"""``lipstick dbt``: check, why and impact of the example, with a refused model and a source."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import lipstick
from lipstick.cli import main
from lipstick.systems.dbt import write_example
from tests.lipstick.systems.dbt.impacts import ProjectImpacts

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

    said = _run("check", str(shop), *source, "--format", "md", code=1)
    assert said.startswith("2 of 3 models are annotated.")
    assert "| broken | model | view | no | models/broken.sql:3 |" in said
    said = _run("why", str(shop), "stg_customers", "--where", "name = 'Bo'", *source, "--json")
    bo = {"id": 2, "name": "Bo", "country": "SE"}
    assert json.loads(said)["sources"] == {"raw.raw_customers": [bo]}
    said = _run("impact", str(shop), "raw_orders", "--where", "id >= 6")
    assert "Without 2 rows of raw_orders (id >= 6), 1 of 2 models that rest on it" in said
    assert "models/broken.sql:3" in said


@pytest.mark.slow
def test_impacts_are_rebuilds_without_the_rows(
    spark: SparkSession, ls: lipstick.Session, tmp_path: Path
) -> None:
    impacts = ProjectImpacts(spark, ls, tmp_path / "shop")
    assert sum(map(impacts.check, range(5))) > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("why", "shop", "order", "--where", "true"), "no node has the name 'order'"),
        (("check", "shop", "--source", "raw.x=x.csv"), "no node has the name 'raw.x'"),
        (("check", "nothing"), "is no manifest of dbt"),
        (("example", "shop"), "is there already"),
    ],
)
def test_wrong_input_exits_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_example("shop")
    assert message in _run(*arguments, code=2)

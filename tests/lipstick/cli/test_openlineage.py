"""``lipstick openlineage`` writes and sends the run behind a capture, as the schemas allow."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from lipstick.cli import main
from tests.openlineage_schemas import validated
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

SQL = """
SELECT region, sum(price) AS total FROM sales JOIN shops ON sales.shop = shops.shop
WHERE item IN (SELECT item FROM items WHERE sold) AND EXISTS (SELECT 1 FROM switch)
GROUP BY region HAVING sum(price) > (SELECT max(least) FROM bounds)
"""
TYPES = {
    "sales": "sale int, shop int, item int, price int",
    "shops": "shop int, region string",
    "items": "item int, sold boolean",
    "switch": "id int",
    "bounds": "id int, least int",
}
VALUES = {"int": 1, "string": "north", "boolean": True}
RUN = "f99310b4-3c3c-4a1a-8b2b-c1b95c24ff11"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    relations = {}
    for name, schema in TYPES.items():
        row = {c.split()[0]: VALUES[c.split()[1]] for c in schema.split(", ")}
        rows = pa.Table.from_pylist([row | ({"least": 0} if name == "bounds" else {})])
        for place, column in enumerate(schema.split(", ")):
            if column.endswith(" int"):
                rows = rows.set_column(place, column[:-4], rows.column(place).cast(pa.int32()))
        relations[name] = Relation(name, (schema.split()[0],), schema, rows)
    write_capture(SQL, Database(relations), tmp_path / "regions")
    return tmp_path / "regions"


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["openlineage", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def events(text: str) -> list[dict[str, Any]]:
    return [validated(json.loads(line)) for line in text.splitlines()]


def test_events_of_a_capture(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs of subqueries too, two facets of lineage, the parent run, the capture's address."""
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", f"airflow/dag.task/{RUN}")
    explorer = "http://127.0.0.1:8765/"
    told = ("--namespace", "warehouse", "--dataset", "shop.regions", "--explorer", explorer)
    start, end = events(run(str(capture), *told))
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert start["eventTime"] <= end["eventTime"]
    assert start["run"] == end["run"]
    assert end["run"]["facets"]["parent"]["run"]["runId"] == RUN
    assert end["job"]["name"] == "regions"
    assert end["job"]["facets"]["sql"]["query"] == SQL
    assert {each["name"] for each in end["inputs"]} == set(TYPES)
    (output,) = end["outputs"]
    assert (output["namespace"], output["name"]) == ("warehouse", "shop.regions")
    facet = output["facets"]["lipstick_capture"]
    assert (facet["address"], facet["explorer"]) == (capture.resolve().as_uri(), explorer)
    columns = output["facets"]["columnLineage"]
    (entry,) = end["job"]["facets"]["lineage"]["entries"]
    assert {each["name"] for each in entry["inputs"] if "field" not in each} == set(TYPES)
    for name, its in columns["fields"].items():
        own = [{**each, "type": "DATASET"} for each in its["inputFields"]]
        assert entry["fields"][name]["inputs"] == _plain(own)
    deciding = {(each["name"], each["field"]) for each in columns["dataset"]}
    assert deciding == {(i["name"], i["field"]) for i in entry["inputs"] if "field" in i}
    assert deciding >= {
        ("sales", "shop"),
        ("shops", "shop"),
        ("sales", "item"),
        ("items", "item"),
        ("items", "sold"),
        ("bounds", "least"),
    }


def _plain(inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what columnLineage adds to transformations."""
    kept = ("type", "subtype")
    return [
        {**i, "transformations": [{k: t[k] for k in kept} for t in i["transformations"]]}
        for i in inputs
    ]


def test_events_are_sent(capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the transport that OpenLineage's client is configured for; to a file in lines."""
    file = tmp_path / "events.json"
    run(str(capture), "--output", str(file))
    written = events(file.read_text())
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(tmp_path / "sent"))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    assert run(str(capture), "--send") == "2 events sent.\n"
    sent = events((tmp_path / "sent").read_text())
    assert [each["run"]["runId"] for each in sent] == [each["run"]["runId"] for each in written]
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "no such")
    assert "could not send the events" in run(str(capture), "--send", code=2)
    assert "--output or --send" in run(str(capture), "--send", "--output", "x", code=2)


@pytest.mark.parametrize("command", [["openlineage"], ["where", "--openlineage", "lake"]])
def test_without_the_package(
    command: list[str], capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openlineage", None)
    done = CliRunner().invoke(main, [*command, str(capture)])
    assert done.exit_code == 2
    assert "Install lipstick-spark[openlineage]" in done.output

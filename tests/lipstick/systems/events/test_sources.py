"""PROV documents, OpenLineage of several producers, and what jobs emit, end to end into stores."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lipstick.cli import main
from lipstick.systems.events import Emitter, ReducedAwayError, ReducedGraph, Settings, reduce_files
from lipstick.systems.events.dead_letters import read_letters
from tests.lipstick.systems.events.kills import run as killed
from tests.lipstick.systems.events.reduced import edges_in

TWEETS = {"t1": "#a #b", "t2": "#b", "t3": "none"}


def _map(emitter: Emitter, tweet: str, text: str) -> list[tuple[str, str]]:
    """Map a tweet to its hashtags, and emit that."""
    tags = [word for word in text.split() if word.startswith("#")]
    records = [(tag, f"{tweet}/{tag}") for tag in tags]
    with emitter:
        emitter.record("map", f"map.{tweet}", [tweet], [r for _, r in records], readers=1)
    return records


def _mapped(arguments: tuple[Emitter, str, str]) -> list[tuple[str, str]]:
    return _map(*arguments)


def _fail(emitter: Emitter) -> None:
    with emitter.execution("reduce", "failed") as execution:
        execution.use(["t1"])
        execution.generate(["phantom"], readers=0)
        raise ZeroDivisionError


def test_a_count_of_hashtags_in_processes_is_traced_to_its_tweets(tmp_path: Path) -> None:
    emitter = Emitter(tmp_path / "events", "hashtags")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        # The last task is run again, as a scheduler would after a failure.
        tasks = [(emitter, tweet, text) for tweet, text in [*TWEETS.items(), ("t3", "none")]]
        mapped = pool.map(_mapped, tasks)
    records: dict[str, list[str]] = {}
    for tag, record in (pair for pairs in mapped for pair in pairs):
        records.setdefault(tag, []).append(record)
    with emitter:
        for tag, used in records.items():
            for attempt in range(2):  # speculative: both end
                with emitter.execution("reduce", f"reduce.{tag}", attempt) as execution:
                    execution.use(used)
                    execution.generate([tag], readers=0)
        with pytest.raises(ZeroDivisionError):
            _fail(emitter)
        emitter.seal()
    outcome = reduce_files([tmp_path / "events"], tmp_path / "store")
    progress = outcome.topics["hashtags"]
    assert progress.exact
    assert (progress.repeated, progress.waiting) == (1, 2)
    assert progress.abandoned == 6
    assert sorted(edges_in(tmp_path / "store")) == [("#a", "t1"), ("#b", "t1"), ("#b", "t2")]
    graph = ReducedGraph.open(tmp_path / "store")
    assert graph.lineage("#b") == ["t1", "t2"]
    assert graph.descendants("t1") == ["#a", "#b"]
    with pytest.raises(ReducedAwayError, match="is not in the reduced graph"):
        graph.lineage("t1/#a")
    with pytest.raises(ReducedAwayError, match=r"There is #a, #b\.$"):
        graph.lineage("#")
    with pytest.raises(ReducedAwayError, match="records ancestry without operations"):
        graph.delete("t1")


def test_labels_count_the_ways(tmp_path: Path) -> None:
    from semiring.semirings import Counting

    with Emitter(tmp_path / "events", "t") as emitter:
        emitter.record("F", "f", ["i"], ["m1", "m2"], readers=1)
        emitter.record("G", "g", ["m1", "m2"], ["o"])
    reduce_files([tmp_path / "events"], tmp_path / "store", Settings(semiring=Counting()))
    graph = ReducedGraph.open(tmp_path / "store")
    assert graph.label("o", "i") == 2


def test_prov_documents_and_those_that_are_none(tmp_path: Path) -> None:
    document = {
        "prefix": {"e": "http://e/"},
        "used": {"_:u": {"prov:activity": "e:f", "prov:entity": "e:i"}},
        "wasGeneratedBy": {"_:g": {"prov:entity": "e:o", "prov:activity": "e:f"}},
        "wasAssociatedWith": {"_:a": {"prov:activity": "e:f", "prov:agent": "e:me"}},
    }
    cycle = {"wasDerivedFrom": {
        "_:1": {"prov:generatedEntity": "a", "prov:usedEntity": "b"},
        "_:2": {"prov:generatedEntity": "b", "prov:usedEntity": "a"},
    }}  # fmt: skip
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "one.json").write_text(json.dumps(document))
    (folder / "cycle.json").write_text(json.dumps(cycle))
    (folder / "none.json").write_text('{"used": 1}')
    (folder / "more.jsonl").write_text(
        '{"wasDerivedFrom": {"_:d": {"prov:generatedEntity": "p", "prov:usedEntity": "http://e/o"}}}'
    )
    (folder / "turn.json").write_text(
        '{"wasDerivedFrom": {"_:d": '
        '{"prov:generatedEntity": "http://e/i", "prov:usedEntity": "p"}}}'
    )
    outcome = reduce_files([folder], tmp_path / "store", Settings(format="prov"))
    letters = read_letters(tmp_path / "store.dead.jsonl")
    assert outcome.dead == len(letters) == 3
    assert [Path(each.origin).name for each in letters] == ["cycle.json", "none.json", "turn.json"]
    assert letters[2].reason.startswith("with the files before it: The edges have a cycle")
    assert edges_in(tmp_path / "store") == [("p", "http://e/i")]


def _event(
    kind: str, run: str, time: str, job: str, inputs: list[Any], outputs: list[Any]
) -> dict[str, Any]:
    return {
        "eventType": kind,
        "eventTime": f"2026-01-01T{time}:00Z",
        "run": {"runId": run, "facets": {}},
        "job": {"namespace": "prod", "name": job},
        "inputs": inputs,
        "outputs": outputs,
        "producer": "https://example.org/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
    }


def _dataset(name: str, **facets: Any) -> dict[str, Any]:
    return {"namespace": "db", "name": name, "facets": facets}


def test_openlineage_as_spark_airflow_dbt_and_flink_send_it(tmp_path: Path) -> None:
    """Spark has columns, dbt versions, Airflow tasks that fail, Flink runs that go on."""
    lineage = {
        "fields": {"total": {"inputFields": [{"namespace": "db", "name": "raw", "field": "x"}]}}
    }
    clean = _dataset("clean", columnLineage=lineage)
    events = [
        _event("START", "spark", "01:00", "spark.clean", [_dataset("raw")], []),
        _event("COMPLETE", "spark", "02:00", "spark.clean", [_dataset("raw")], [clean]),
        _event("START", "dbt", "03:00", "dbt.model", [_dataset("clean")], [_dataset("mart")]),
        _event("COMPLETE", "dbt", "04:00", "dbt.model", [_dataset("clean")], [_dataset("mart")]),
        _event("START", "air", "05:00", "dag.task", [_dataset("mart")], []),
        _event("FAIL", "air", "06:00", "dag.task", [_dataset("mart")], [_dataset("lost")]),
        _event("RUNNING", "flink", "07:00", "flink.job", [_dataset("mart")], [_dataset("sink")]),
    ]
    file = tmp_path / "events.jsonl"
    file.write_text("\n".join([*map(json.dumps, reversed(events)), "{}", ""]))
    result = CliRunner().invoke(
        main,
        ["events", "reduce", str(file), "--store", str(tmp_path / "s"), "--format", "openlineage"],
    )
    assert result.exit_code == 2, result.output
    assert "1 refused line" in result.output
    assert "not exact" in result.output
    assert "runs that no event ends: flink" in result.output
    edges = edges_in(tmp_path / "s")
    assert ("db/mart@dbt", "db/raw") in edges
    assert ("db/clean@spark#total", "db/raw#x") in edges or (
        "db/mart@dbt",
        "db/raw#x",
    ) in edges
    assert not any("lost" in end or "sink" in end for edge in edges for end in edge)


def test_the_command_line_reduces_tells_and_traces(tmp_path: Path) -> None:
    with Emitter(tmp_path / "in", "jobs") as emitter:
        emitter.record("F", "f", ["i1", "i2"], ["o"], readers=0)
    (tmp_path / "in" / "bad.jsonl").write_text("nothing\n")
    runner = CliRunner()
    checked = runner.invoke(main, ["events", "check", str(tmp_path / "in")])
    assert checked.exit_code == 1
    assert "bad.jsonl:1: " in checked.output
    store = str(tmp_path / "store")
    reduced = runner.invoke(main, ["events", "reduce", str(tmp_path / "in"), "--store", store])
    assert reduced.exit_code == 2, reduced.output
    assert "jobs: 3 edges in, 2 kept" in reduced.output
    told = runner.invoke(main, ["events", "stats", store, "--format", "json"])
    (row,) = json.loads(told.output)
    assert (row["received"], row["edges"], row["complete"], row["refused"]) == (3, 2, True, 1)
    assert (row["exact"], told.exit_code) == (False, 2)
    assert runner.invoke(main, ["events", "trace", store, "o"]).output == "i1\ni2\n"
    assert runner.invoke(main, ["events", "trace", store, "i1", "--forward"]).output == "o\n"
    lost = runner.invoke(main, ["events", "trace", store, "f"])
    assert lost.exit_code == 2
    assert "is not in the reduced graph" in lost.output


def test_a_reduction_that_was_killed_is_completed(tmp_path: Path) -> None:
    killed(1, tmp_path)


def test_a_topic_sealed_with_totals_is_closed_and_what_comes_later_repaired(
    tmp_path: Path,
) -> None:
    """The late execution reads an intermediate that was eliminated."""
    (tmp_path / "in").mkdir()
    for number, name in enumerate(("a", "b")):
        with Emitter(tmp_path / name, "t") as emitter:
            if number == 0:
                emitter.record("F", "f", ["i"], ["m"])
                emitter.record("G", "g", ["m"], ["o"])
                emitter.seal(used=2, generated=2)
            else:
                emitter.record("G", "late", ["m"], ["p"])
        (file,) = (tmp_path / name).iterdir()
        file.rename(tmp_path / "in" / f"{name}.jsonl")
    outcome = reduce_files([tmp_path / "in"], tmp_path / "store")
    progress = outcome.topics["t"]
    assert (progress.late, progress.repaired, progress.exact) == (1, 1, True)
    assert sorted(edges_in(tmp_path / "store")) == [("o", "i"), ("p", "i")]

"""Every command runs: each of `lipstick` and of the benchmark is in a journey, or in a page.

A journey is commands in their order, in a folder with small captures, stores, events and projects.
Those of the pages run in `test_pages.py`, with the wheel.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import benchmark_workflowgen.cli
import lipstick.cli
from benchmark_workflowgen.grid import PRESETS, preset
from benchmark_workflowgen.results import Results
from lipstick.systems.dbt import write_example
from lipstick.systems.events import Emitter, reduce_files
from tests.commands.environment import ROOT
from tests.commands.page import blocks
from tests.commands.test_pages import PAGES, runnable
from tests.graphquery.dealership import dealership
from tests.graphquery.federation.stores import example
from tests.lipstick.cli.test_cli_captures import SQL, cars
from tests.lipstick.cli.test_cli_workflow import REMEMBER
from tests.lipstick.stored import store_graph
from tests.oracle.written import write_capture
from tests.table_formats.postgres import running_postgres, server_folder

GROUPS = {
    "lipstick": lipstick.cli.main,
    "python -m benchmark_workflowgen": benchmark_workflowgen.cli.main,
}

JOURNEYS = {
    "captures": """
        lipstick rows monday
        lipstick what-if monday --without cars "car = 'C1'"
        lipstick diff monday tuesday total --where model=Civic
        lipstick where monday total --where model=Civic
        lipstick why value monday total --where model=Civic --too high
        lipstick openlineage monday
        lipstick explore monday bids reduced script.py federation.toml --output page.html
        lipstick mcp monday --tools
        lipstick fsck monday
    """,
    "stores": """
        lipstick fsck bids
        lipstick graph stats bids
        lipstick graph show bids --module dealer1
        lipstick graph zoom-out bids dealer1
        lipstick graph zoom-in bids dealer1 --zoom-out dealer1
        lipstick graph inputs bids agg#1/Best
        lipstick graph depends bids agg#1/Best input0/Requests:B1
        lipstick graph path bids input0/Requests:B1 agg#1/Best
        lipstick graph subgraph bids agg#1/Best
        lipstick graph delete bids input0/Requests:B1
        lipstick graph difference bids 0 0
        lipstick graph export bids --to dot --output bids.dot
        lipstick compact bids
        lipstick vacuum bids --older-than 1h
    """,
    "scripts": """
        lipstick script graph script.py
        lipstick script depends script.py b.csv
        lipstick script slice script.py b.csv
        lipstick script diff script.py script.py
        lipstick script run --record kept script.py
        lipstick script trace kept b.csv --row 0
    """,
    "streams": """
        lipstick stream demo --keep streams
        lipstick stream show streams/store
        lipstick stream ancestors streams/store readings --key attic
        lipstick stream descendants streams/store readings:1 --key attic
        lipstick stream plan streams/store
        lipstick stream replay streams/store lipstick.systems.streams.example:graph
        lipstick stream export streams/store alarms alarms exported
    """,
    "events": """
        lipstick events demo demonstration --tweets 20
        lipstick events check events
        lipstick events reduce events --store again
        lipstick events serve events --store served --close
        lipstick events stats reduced
        lipstick events trace reduced total
        lipstick events export reduced orders results offered
        lipstick events emit monday --into emitted
    """,
    "federations": """
        lipstick federation members federation.toml
        lipstick federation ancestors federation.toml D::d3
        lipstick federation descendants federation.toml A::a1
        lipstick federation delete federation.toml A::a1
        lipstick federation depends federation.toml D::d3 A::a1
        lipstick federation evaluate federation.toml D::d3
        lipstick federation flow federation.toml A::a1 D::d3
        lipstick federation path federation.toml A::a1 D::d3
        lipstick federation copy federation.toml B copy
        lipstick federation gossip federation.toml
        lipstick federation export D d3 d.Out --beside .
        lipstick federation token token
        lipstick federation forget federation.toml B
        lipstick federation demo
    """,
    "recordings": """
        lipstick record --save echo.gz -- cat script.py
        lipstick stitch echo.gz=host
    """,
    "on Spark": """
        lipstick workflow validate remember.yaml
        lipstick workflow run remember.yaml --inputs inputs.yaml --store run
        lipstick workflow output run
        lipstick workflow state run remember Known
        lipstick why check "SELECT count(*) > 0 FROM cars" --table cars={here}/cars.parquet:car
        lipstick why diff old.sql new.sql --table cars={here}/cars.parquet:car
        lipstick why not old.sql model=Jazz --table cars={here}/cars.parquet:car
        lipstick dbt example shop
        lipstick dbt check shop
        lipstick dbt diff shop --state shop/target
        lipstick dbt erasure shop
        lipstick dbt why shop no_dear_orders
        lipstick dbt impact shop raw_payments --where "order_id = 7"
        lipstick dbt openlineage shop
        lipstick dbt run shop computed --model stg_orders
    """,
    "erasures": """
        lipstick erase plan pipeline.yaml --where "cars:model = 'Jazz'" -o plan.json --in-place
        lipstick erase apply plan.json
        lipstick erase verify plan.json --key key --receipt receipt.json
        lipstick erase check receipt.json --key key
    """,
}
"""The journeys through `lipstick`, by what they are about."""

ON_SPARK = ("on Spark", "erasures")

EXPERIMENTS = {
    "list": "",
    "report": "ran",
    "run": "--preset smoke --output ran",
    "inference": "--runs 1 --units 100",
    "inference-scale": "--outputs 100 --folder tables --partitions 2 --memory 1g",
    "federation": "--stores 2 --nodes 2000 --questions 1 --naive 1",
    "graph-cost": "--nodes 20000 --modules 2 --executions 2 --networkx 1000 --repetitions 1",
    "graph-cost --engine spark": "--nodes 3000 --modules 2 --executions 2 --driver-memory 1g",
    "script-cost": "script.py --lines 200 --runs 1",
    "worker-cost": "--data tpch --repetitions 1 --limit 10 --memory 1g",
    "explanations": "--rows 20000 --repetitions 1 --data explained --memory 1g",
    "questions": "--data tpch --output asked.json --bound 20 --load 4 --queries Q1",
    "release": "--output release.json --rows 500 --repetitions 1",
    "streaming-cost": "--events 1000 --batches 2 --repetitions 1 --scratch streamed --only window",
    "events": "--tweets 100 --master local[2]",
    "streams": "--parameters streams.toml",
}
"""The commands of the benchmark that no page runs, each on as little as it takes."""

SMALL = {"cars": 24, "executions": 1, "stations": 2, "nodes": 20_000, "graph_repetitions": 1}
"""The smallest values of parameters of grids."""

STREAMS = """
[storage]
events_ = 500
components = [2]
payloads = [10]
batch = 250
[throughput]
kinds = ["map"]
components = [2]
payload = 10
batches = [250]
work = { "0" = 500 }
[memory]
kinds = ["map"]
components = [2]
events_ = 500
batch = 250
[latency]
kinds = ["map"]
components = [2]
events_ = 100
[questions]
events_ = 500
batches = [250]
questions = 2
["all ancestors"]
events_ = 500
batch = 250
cores = [1]
[workloads]
events = 500
batches = 2
repetitions = 1
questions = 1
queries = ["views of campaigns", "8, new sellers"]
"""
"""The parameters of `streams`, on as little as it takes."""

ELSEWHERE = {
    "python -m benchmark_workflowgen cluster": "tests/benchmark_workflowgen/test_cluster.py",
    "lipstick federation serve": "tests/lipstick/systems/federation/test_command.py",
    "python -m benchmark_workflowgen erasure": "tests/table_formats/test_experiments.py",
    "python -m benchmark_workflowgen statements": "tests/table_formats/test_experiments.py",
    "python -m benchmark_workflowgen provsql": "tests/commands/test_commands.py",
}
"""Commands that need more than a journey has, and the tests that run them."""


def commands_of(command: click.Command, path: str) -> Iterator[str]:
    """Yield the paths of all commands below one."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands_of(inner, f"{path} {name}")
    else:
        yield path


ALL = {each for root, group in GROUPS.items() for each in commands_of(group, root)}


def command_in(line: str) -> str | None:
    """Return the command that a line of a shell calls."""
    return max((each for each in ALL if f"{line} ".startswith(f"{each} ")), key=len, default=None)


LINES = [line for page in PAGES for block in blocks(page) for line in block.commands]


def lines(journey: str) -> list[str]:
    """Return the lines of a journey."""
    return [line.strip() for line in journey.strip().splitlines()]


def test_every_command_is_run_by_a_test() -> None:
    journeys = {command_in(line) for journey in JOURNEYS.values() for line in lines(journey)}
    experiments = {command_in(f"python -m benchmark_workflowgen {name}") for name in EXPERIMENTS}
    pages = {command_in(runnable(line)) for line in LINES}
    run = {*journeys, *experiments, *pages}
    assert sorted(ALL - run - set(ELSEWHERE)) == []
    assert not set(ELSEWHERE) & run
    for command, file in ELSEWHERE.items():
        words = command.replace("python -m benchmark_workflowgen", "").split()
        assert words[-1] in (ROOT / file).read_text("utf-8"), f"{file} does not run {command}"


def test_every_command_in_a_page_is_a_command() -> None:
    for line in LINES:
        for name in GROUPS:
            if re.match(rf"{name} ", line):
                assert command_in(line), line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what journeys are about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LIPSTICK_CHECK", "0")
    for day, price in (("monday", 40), ("tuesday", 90)):
        database = cars([10, 20, 30, price, 2_000, 60, 70, 5])
        write_capture(SQL, database, tmp_path / day)
    pq.write_table(database.relations["cars"].data, "cars.parquet")
    store_graph(dealership(), tmp_path / "bids")
    with Emitter("events", "orders") as emitter:
        emitter.record("sum", "sum.1", ["o1", "o2"], ["total"], inputs=True)
        emitter.seal()
    reduce_files(["events"], "reduced")
    members = "".join(f'[members.{each}]\nlocation = "{each}"\n' for each in example(tmp_path))
    precaching = '[precaching]\nhost = "D"\ncapacity = 1000000\nfolder = "cached"\n'
    Path("federation.toml").write_text(f"format = 1\n{precaching}{members}")
    Path("a.csv").write_text("x\n1\n")
    script = 'import pandas as pd\n\npd.read_csv("a.csv").to_csv("b.csv", index=False)\n'
    Path("script.py").write_text(script)
    return tmp_path


def travel(journey: str) -> None:
    """Do a journey; each command ends well."""
    for line in lines(JOURNEYS[journey].replace("{here}", str(Path.cwd()))):
        result = CliRunner().invoke(lipstick.cli.main, shlex.split(line)[1:])
        trace = result.exc_info if result.exit_code == 1 else None
        assert result.exit_code == 0, f"{line}: {result.output} {trace}"


@pytest.mark.parametrize("journey", [each for each in JOURNEYS if each not in ON_SPARK])
@pytest.mark.usefixtures("folder")
def test_a_journey_without_spark(journey: str) -> None:
    if journey == "recordings" and shutil.which("strace") is None:
        pytest.skip("needs strace")
    travel(journey)


@pytest.mark.slow
@pytest.mark.classic
@pytest.mark.parametrize("journey", ON_SPARK)
def test_a_journey_on_spark(journey: str, folder: Path, spark: SparkSession) -> None:
    write_example(folder / "before")
    Path("old.sql").write_text(f"{SQL} HAVING count(*) > 2")
    Path("new.sql").write_text(f"SELECT * FROM ({SQL}) WHERE n > 2")
    Path("remember.yaml").write_text(REMEMBER)
    Path("inputs.yaml").write_text("- Seen: [{Name: a, Many: 1}]\n")
    Path("pipeline.yaml").write_text(
        f"""
sources:
  cars: {{table: {folder}/cars, key: car}}
derived:
  models: {{query: "{SQL}", key: model, path: {folder}/models}}
"""
    )
    table = spark.read.parquet(f"{folder}/cars.parquet")
    table.coalesce(1).write.parquet(f"{folder}/cars")
    table.createOrReplaceTempView("cars")
    spark.sql(SQL).coalesce(1).write.parquet(f"{folder}/models")
    spark.catalog.dropTempView("cars")
    travel(journey)


@pytest.mark.slow
@pytest.mark.parametrize("name", [each for each in EXPERIMENTS if each not in ("list", "report")])
def test_an_experiment(
    name: str, folder: Path, tpch: Callable[[float], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An experiment runs in a process of its own, and prints its figures."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (folder / "tpch").symlink_to(tpch(0.01))
    Path("streams.toml").write_text(STREAMS)
    printed = experiment(name)
    assert re.search(r"\d", printed), printed
    if name == "run":
        assert len(Results(folder / "ran").read()) == 4
        assert experiment("list")
        assert experiment("report")
        page = (folder / "ran" / "report.html").read_text("utf-8")
        assert "<img" in page


@pytest.mark.slow
def test_provsql(tpch: Callable[[float], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """With PostgreSQL and its extension ProvSQL, which is built by hand."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    programs = server_folder()
    if programs is None or not list(
        Path("/usr/share/postgresql").glob("*/extension/provsql.control")
    ):
        pytest.skip("needs PostgreSQL with ProvSQL")
    preloaded = "-c shared_preload_libraries=provsql"
    with (
        TemporaryDirectory() as home,
        running_postgres(programs, Path(home), preloaded) as url,
    ):
        database = url.replace("jdbc:", "").replace("127.0.0.1", "test@127.0.0.1").split("?")[0]
        made = ["psql", database, "-c", "CREATE EXTENSION provsql CASCADE"]
        subprocess.run(made, check=True, capture_output=True)
        data = f"--data {tpch(0.01)} --database {database} --limit 20"
        printed = experiment("provsql", f"{data} --queries running_total,sole_suppliers")
    assert re.search(r'running_total polynomials: \{"seconds": [\d.]+, "said"', printed), printed


@pytest.mark.slow
@pytest.mark.parametrize("name", [each for each in PRESETS if each != "smoke"])
def test_every_experiment_of_a_preset(
    name: str, folder: Path, tpch: Callable[[float], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The experiments of large presets run with the smallest of their values."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    grid = tomllib.loads(preset(name).read_text("utf-8"))["experiment"]
    experiments = {each["name"]: smallest(each) for each in reversed(grid)}
    for each in experiments.values():
        if each["kind"] == "tpch":
            each["data"] = str(tpch(0.01))
    # JSON is YAML.
    Path("grid.yaml").write_text(json.dumps({"experiment": list(experiments.values())}))
    experiment("run", "--grid grid.yaml --output ran --memory 1g")
    assert {each.experiment for each in Results(folder / "ran").read()} == set(experiments)
    experiment("report", "ran")
    assert "<img" in (folder / "ran" / "report.html").read_text("utf-8")


def smallest(given: dict[str, Any]) -> dict[str, Any]:
    """Return an experiment of a grid with one value of each parameter, a small one."""
    one = {
        name: value if name == "variants" or not isinstance(value, list) else value[0]
        for name, value in given.items()
    }
    small = {name: value for name, value in SMALL.items() if name in one}
    once = {"repetitions": 1, "warm_up": 0} | ({"query": "Q6"} if one["kind"] == "tpch" else {})
    return {**one, **small, **once}


def experiment(name: str, options: str = "") -> str:
    """Run a command of the benchmark, and return what it printed."""
    words = shlex.split(options or EXPERIMENTS[name])
    command = [sys.executable, "-m", "benchmark_workflowgen", *name.split(), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

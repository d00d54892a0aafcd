"""The demonstration: its data, its checks of the machine, and one run from start to end."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from rich.console import Console

from lipstick.cli import main
from lipstick.demo import run as demo
from lipstick.demo.scenes import CHAIN, KEYS, QUERIES, chain
from lipstick.demo.screen import Screen, check, seconds
from lipstick.engines.spark.local_session import check_java
from semiring.errors import LipstickError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def no_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without tpcgen-cli."""
    monkeypatch.setattr(demo, "_generator", lambda: None)


# -- the command -------------------------------------------------------------------------------


def test_version_is_told() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.exit_code == 0
    assert result.output.startswith("lipstick, version ")


def test_demo_has_help() -> None:
    result = CliRunner().invoke(main, ["demo", "--help"])
    assert result.exit_code == 0
    assert "--data" in result.output


def test_errors_are_told_without_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 2
    assert result.output.startswith(f"Error: There is no Java in JAVA_HOME ({tmp_path}).\n")


# -- Java --------------------------------------------------------------------------------------


def _java(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = folder / "bin" / "java"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    script.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(folder))


@pytest.mark.parametrize(("version", "major"), [("17.0.15", 17), ("21", 21), ("25-ea", 25)])
def test_java_that_spark_runs_on(
    version: str, major: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _java(tmp_path, version, monkeypatch)
    assert check_java() == major


@pytest.mark.parametrize(("version", "major"), [("1.8.0_392", 8), ("11.0.2", 11)])
def test_old_java_is_refused(
    version: str, major: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _java(tmp_path, version, monkeypatch)
    with pytest.raises(LipstickError, match=rf"is version {major}\.\nSpark needs Java 17"):
        check_java()


def test_missing_java_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LipstickError, match=r"There is no Java on the PATH\."):
        check_java()


# -- data --------------------------------------------------------------------------------------


def test_cache_folder_follows_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert demo.cache_folder(0.1) == tmp_path / "lipstick" / "tpch" / "scale-0.1"


def test_cache_folder_without_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert demo.cache_folder(1) == Path.home() / ".cache" / "lipstick" / "tpch" / "scale-1"


def test_no_folder_and_an_empty_one_have_no_tables(tmp_path: Path) -> None:
    assert demo.find_tables(tmp_path / "absent") is None
    assert demo.find_tables(tmp_path) is None


def test_folder_without_a_table_is_refused(tmp_path: Path) -> None:
    for name in KEYS:
        (tmp_path / f"{name}.parquet").touch()
    (tmp_path / "part.parquet").unlink()
    with pytest.raises(LipstickError, match=r"lacks part\.parquet\.\nGive --data a folder"):
        demo.find_tables(tmp_path)


@pytest.mark.usefixtures("no_generator")
def test_missing_generator_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(
        LipstickError, match=r"tpcgen-cli is not installed\.\n.*lipstick demo --data"
    ):
        demo.generate(tmp_path / "tpch", 0.01)


def test_failed_generation_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = tmp_path / "generator"
    failing.write_text("#!/bin/sh\necho no space left >&2\nexit 3\n")
    failing.chmod(0o755)
    monkeypatch.setattr(demo, "_generator", lambda: failing)
    with pytest.raises(LipstickError, match="could not generate the tables: no space left"):
        demo.generate(tmp_path / "tables" / "tpch", 0.01)
    assert list((tmp_path / "tables").iterdir()) == []


def test_generated_tables_are_found(tmp_path: Path) -> None:
    demo.generate(tmp_path / "tpch", 0.001)
    tables = demo.find_tables(tmp_path / "tpch")
    assert tables is not None
    assert list(tables) == list(KEYS)


# -- queries, times, checks --------------------------------------------------------------------


def test_chain_is_text_over_the_relations_before() -> None:
    first, second = CHAIN[0], CHAIN[1]
    assert chain(first[0]) == first[1]
    assert chain(second[0]) == f"WITH {first[0]} AS ({first[1]})\n{second[1]}"


def test_queries_have_names_of_their_own() -> None:
    assert len({query.name for query in QUERIES}) == len(QUERIES)


def test_seconds() -> None:
    assert [seconds(0.0123), seconds(1.26)] == ["12 ms", "1.3 s"]


@pytest.mark.classic
@pytest.mark.parametrize("kept", [1, 2])
def test_check_compares_bags(spark: SparkSession, kept: int) -> None:
    class Asked:
        df = spark.createDataFrame([(1,), (1,)], "a int")

    reduced = {"check_compares_bags": spark.createDataFrame([(1,)] * kept, "a int")}
    out = io.StringIO()
    outcome = check(spark, Asked(), "SELECT a FROM check_compares_bags", reduced, 0.0)
    assert outcome.equal == (kept == 2)
    outcome.show(Screen(Console(file=out, width=200)), "annotations")
    assert ("NOT equal" in out.getvalue()) == (kept == 1)
    spark.catalog.dropTempView("check_compares_bags")


# -- the whole ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_demo_from_start_to_end(tpch: Callable[[float], Path]) -> None:
    """In a process of its own: it starts and stops Spark."""
    command = [sys.executable, "-m", "lipstick", "demo", "--data", str(tpch(0.01))]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK", "PYSPARK"))}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Cars:C2⊗1 + Cars:C3⊗1" in done.stdout
    assert "every what-if answer equal to its rerun" in done.stdout
    assert "\x1b" not in done.stdout
    assert "WARN" not in done.stderr


def test_a_difference_is_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "run", lambda scale, data: False)
    assert CliRunner().invoke(main, ["demo"]).exit_code == 1


def test_a_scale_with_repeated_keys_is_refused_before_tables_are_generated() -> None:
    done = CliRunner().invoke(main, ["demo", "--scale", "0.001"])
    assert done.exit_code == 2
    assert "0.001 is not in the range 0.01<=x<=100" in done.output

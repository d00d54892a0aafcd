"""Every fenced block of commands runs as it is typed, with the wheel in a fresh environment.

A page's Python and commands are run from top to bottom in an empty folder (`page.py`), in an
environment of what its `pip install` names (`environment.py`). Files that a page speaks of and does
not make are made by `before/PAGE.py`.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import textwrap
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.environment import NAME, ROOT, build_wheel, contents, make_environment, unpack
from tests.commands.page import Block, blocks

DESCRIPTION = (ROOT / "PACKAGE.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
BEFORE = Path(__file__).parent / "before"
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "PACKAGE.md", *sorted((ROOT / "docs").rglob("*.md")))
    if any(block.commands for block in blocks(page))
]

_CHECKOUT = "of a checkout: its tests and tools are not in the wheel"
NOT_RUN = {
    r"\./dev ": "of a checkout, and run by test_dev.py",
    r"(\S+=\S+ )*(\.venv/bin/)?(python -m )?pytest ": _CHECKOUT,
    r"(\.venv/bin/)?python -m tests\.": _CHECKOUT,
    r"mkdir tpcds && python": _CHECKOUT,
    r"tpcgen-cli tpcds ": "makes the tables of the next command, which is of a checkout",
    r"dbt test$": "needs dbt Core, which is not required",
    r"python -m benchmark_workflowgen cluster ": "run by benchmark_workflowgen/test_cluster.py",
    r"lipstick dbt why shop customers_snapshot": "needs a table format with versions: ./dev tables",
    r"lipstick erase ": "needs tables of Delta: ./dev tables",
    r"PYTHONPATH=\.cache/table-formats/site ": "needs tables of Delta and Iceberg: ./dev tables",
    r".*spark://host:7077": "needs a cluster",
    r".*sc://host:15002": "needs a server of Spark Connect",
    r".*\| dot -Tsvg": "needs Graphviz",
}
"""Commands that are not run here, and why."""

SMALLER = {
    "semiring-cost --data tpch-1 --captures captures --limit 30": "semiring-cost --data tpch-1 "
    "--captures captures --queries 6 --repetitions 1 --limit 30",
    "short-queries": "short-queries --rows 1000 --repetitions 1 --queries SUM,LIMIT,window",
    "run --preset paper --only TPC-H --output captures": "run --preset smoke --only tpch "
    "--output captures",
}
"""Commands of the benchmark that take hours, and what is run for them."""

RED = ("lipstick why check ", "lipstick why diff ", "lipstick dbt diff ")
"""Commands that end with 1 on these pages, whose checks fail and whose versions differ."""


def reason(command: str) -> str | None:
    """Return why a command is not run here; None if it is."""
    return next((why for each, why in NOT_RUN.items() if re.match(each, command)), None)


def runnable(command: str) -> str:
    """Return what is run for a command: itself, nothing, or itself on less."""
    if reason(command) or command.startswith("pip install "):
        return ""
    for long, short in SMALLER.items():
        if command == f"python -m benchmark_workflowgen {long}":
            return f"python -m benchmark_workflowgen {short}"
    if command.startswith(RED):
        return f"{command} && exit 3 || test $? -eq 1"
    return command


def requirements(page: list[Block]) -> frozenset[str]:
    """Return what the blocks of a page have pip install; the checkout is the wheel."""
    found: set[str] = {NAME}
    for block in page:
        for command in block.commands:
            if command.startswith("pip install "):
                words = shlex.split(command, comments=True)[2:]
                found.update(re.sub(r"^\.(?=\[|$)", NAME, word) for word in words)
    return frozenset(found)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def environment(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[frozenset[str]], Path]:
    """Return a function that makes an environment of some requirements, once."""
    folder = tmp_path_factory.mktemp("environments")
    unpacked = unpack(wheel, folder / "unpacked")
    made: dict[frozenset[str], Path] = {}

    def make(wanted: frozenset[str]) -> Path:
        if wanted not in made:
            made[wanted] = folder / str(len(made))
            make_environment(made[wanted], unpacked, wanted)
        return made[wanted]

    return make


def do(page: Path, environment: Path, folder: Path, tpch: Callable[[float], Path]) -> str:
    """Do what a page says in a folder, and return what was printed.

    Raises
    ------
    AssertionError
        When it does not end well.
    """
    said = [command for block in blocks(page) for command in block.commands]
    if any("tpch-1" in command for command in said):
        (folder / "tpch-1").symlink_to(tpch(0.01))
    runner = Path(__file__).with_name("page.py")
    command = [environment / "bin" / "python", "-P", runner, page]
    prepared = BEFORE / f"{'-'.join(page.relative_to(ROOT).with_suffix('').parts)}.py"
    if prepared.exists():
        command += ["--before", prepared]
    chosen = json.dumps({each: runnable(each) for each in said})
    kept = {name: os.environ[name] for name in ("JAVA_HOME", "LANG") if name in os.environ}
    java = shutil.which("java", path=f"{kept.get('JAVA_HOME', '')}/bin:{os.environ['PATH']}")
    assert java is not None
    search = [str(environment / "bin"), str(Path(java).parent), "/usr/bin", "/bin"]
    variables = {
        **kept,
        "PATH": os.pathsep.join(search),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "BROWSER": "true",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    done = subprocess.run(
        [*command, "--commands", chosen],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{page}: {done.stdout[-6000:]}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs_as_it_is_typed(
    page: Path,
    environment: Callable[[frozenset[str]], Path],
    tpch: Callable[[float], Path],
    tmp_path: Path,
) -> None:
    found = list(blocks(page))
    if not any(runnable(command) for block in found for command in block.commands):
        pytest.skip("no command of it is run here")
    if page.name == "recording.md" and shutil.which("strace") is None:
        pytest.skip("needs strace")
    do(page, environment(requirements(found)), tmp_path, tpch)


def test_what_is_not_run_is_there_and_has_a_reason() -> None:
    commands = [each for page in PAGES for block in blocks(page) for each in block.commands]
    for pattern in NOT_RUN:
        assert any(re.match(pattern, command) for command in commands), pattern
    told = {f"python -m benchmark_workflowgen {each}" for each in SMALLER}
    assert told <= set(commands)
    assert {path.stem for path in BEFORE.iterdir() if path.suffix == ".py"} <= {
        "-".join(page.relative_to(ROOT).with_suffix("").parts) for page in PAGES
    }


def test_commands_are_in_blocks_of_a_shell() -> None:
    """Else they would not be run."""
    for page in (ROOT / "docs").rglob("*.md"):
        for block in blocks(page):
            if not block.commands:
                assert not re.search(r"^(\$ )?(lipstick|\./dev|pip) [\w-]", block.code, re.M), page


def test_python_that_is_not_run_reads_and_imports_what_there_is() -> None:
    """Blocks of `py` need what a page has not: Delta, Kafka, a graph of one's own."""
    for page in (ROOT / "docs").rglob("*.md"):
        for block in blocks(page):
            if block.language == "py":
                parsed = ast.parse(textwrap.dedent(block.code))
                imports = [n for n in parsed.body if isinstance(n, ast.Import | ast.ImportFrom)]
                exec(compile(ast.Module(imports, []), str(page), "exec"), {})


def test_commands_of_a_checkout_name_files_that_are_there() -> None:
    for page in PAGES:
        for block in blocks(page):
            for command in block.commands:
                if reason(command) != _CHECKOUT:
                    continue
                for word in shlex.split(command):
                    if re.match(r"tests/[\w/.-]+$", word):
                        assert (ROOT / word).exists(), f"{page}: {word}"
                for module in re.findall(r"python -m (tests[\w.]*)", command):
                    path = ROOT.joinpath(*module.split("."))
                    assert path.with_suffix(".py").exists() or (path / "__main__.py").exists()


def test_the_wheel_has_the_packages_that_its_description_names(wheel: Path) -> None:
    files = contents(wheel)
    [packages] = re.findall(r"^\| package .*?\n\n", DESCRIPTION, re.M | re.S)
    top = {file.split("/")[0] for file in files if ".dist-info/" not in file}
    assert top == set(re.findall(r"^\| `(\w+)`", packages, re.M))
    [extras] = re.findall(r"^\| extra .*?\n\n", DESCRIPTION, re.M | re.S)
    assert set(re.findall(r"^\| `(\w+)`", extras, re.M)) == set(PROJECT["optional-dependencies"])
    assert PROJECT["readme"] == "PACKAGE.md"


def test_the_description_of_the_package_links_to_nothing_that_an_index_has_not() -> None:
    assert re.findall(r"\]\((?!https://)", DESCRIPTION) == []

"""Scripts as users write them, run from another folder: functions, options, modules, failures."""

from __future__ import annotations

from pathlib import Path

import pytest

from lipstick.systems.errors import ProgramFailedError
from lipstick.systems.scripts.running import RecordedRun, Rule, Trace, open_run, run_script, trace

REPORT = '''"""A report with options, and paths beside the script."""
import argparse
from pathlib import Path

import pandas as pd

HERE = Path(__file__).resolve().parent


def load(name):
    return pd.read_csv(HERE / "data" / name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    orders, people = load("orders.csv"), load("people.csv")
    chosen = orders[orders["n"] >= options.least]
    joined = chosen.merge(people, on="who")
    options.out.mkdir(exist_ok=True)
    joined.to_csv(options.out / "joined.csv", index=False)
    joined.groupby("city", as_index=False)["n"].sum().to_parquet(options.out / "cities.parquet")


if __name__ == "__main__":
    main()
'''

REGIONS = """\
import os
import pandas as pd
os.chdir(os.path.dirname(os.path.abspath(__file__)))
orders = pd.read_csv("data/orders.csv")
def save(frame, name):
    frame.to_csv(f"region_{name}.csv", index=False)
for region, part in orders.groupby("region"):
    save(part, region)
"""

FAILS = """\
import sys
import pandas as pd
def step(frame):
    return frame["missing"]
orders = pd.read_csv(sys.argv[1])
orders.sort_values("n").to_csv("sorted.csv", index=False)
try:
    step(orders)
except KeyError:
    print("no column")
result = step(orders)
result.to_csv("never.csv")
"""

PLAIN = """\
import csv
import sys
from collections import defaultdict
totals = defaultdict(int)
with open("project/data/orders.csv", newline="") as source:
    for row in csv.DictReader(source):
        totals[row["who"]] += int(row["n"])
unused = 3
with open("totals.csv", "w", newline="") as target:
    writer = csv.writer(target)
    writer.writerow(["who", "n"])
    writer.writerows(sorted(totals.items()))
sys.exit(0)
"""

HELPERS = """\
import pandas as pd
def clean(path):
    frame = pd.read_csv(path)
    return frame.dropna(subset=["price"])
"""

MODULES = """\
from helpers import clean
frame = clean("project/data/orders.csv")
frame["amount"] = frame["n"] * frame["price"]
frame.nlargest(2, "amount").to_csv("top.csv", index=False)
frame.describe().to_csv("stats.csv")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project beside the folder where it is run."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "orders.csv").write_text(
        "who,n,price,region\nann,1,2.5,north\nbob,5,1.0,south\nann,7,,north\n"
        "cid,9,4.0,south\ndot,2,3.0,east\n"
    )
    (folder / "data" / "people.csv").write_text("who,city\nann,oslo\nbob,rome\ncid,oslo\n")
    return folder


def ran(project: Path, text: str, *arguments: str) -> RecordedRun:
    (project / "s.py").write_text(text)
    run_script("project/s.py", arguments)
    return open_run("project/s.py.run")


def rows(traced: Trace) -> dict[str, tuple[int, ...] | None]:
    return {Path(item.file).name: item.rows for item in traced.inputs}


def test_options_functions_and_paths_of_pathlib(project: Path) -> None:
    run = ran(project, REPORT, "--least", "2", "out")
    files = [file for event in run.events for file in event.files]
    assert all(Path(file.path).is_absolute() and file.size > 0 for file in files)
    assert rows(trace(run, "joined.csv", row=1)) == {"orders.csv": (2,), "people.csv": (0,)}
    traced_row = trace(run, "out/cities.parquet", where={"city": "oslo"})
    # Which of ann's orders counted, nothing that pandas keeps tells.
    assert rows(traced_row)["people.csv"] == (0, 2)
    texts = [line.text for line in traced_row.lines]
    assert 'joined = chosen.merge(people, on="who")' in texts
    assert not any("parser" in text for text in texts)


def test_files_of_a_loop_after_a_change_of_folder(project: Path, tmp_path: Path) -> None:
    run = ran(project, REGIONS)
    assert [event.name for event in run.events if event.kind == "write"] == [
        "region_east.csv", "region_north.csv", "region_south.csv",
    ]  # fmt: skip
    assert rows(trace(run, "region_south.csv", row=1)) == {"orders.csv": (3,)}


def test_a_failure_says_its_line_and_keeps_what_was_written(project: Path) -> None:
    with pytest.raises(ProgramFailedError, match=r"s.py raised KeyError: 'missing', at line 4"):
        ran(project, FAILS, "project/data/orders.csv")
    run = open_run("project/s.py.run")
    assert run.failed == "KeyError: 'missing'"
    assert [event.name for event in run.events if event.kind == "write"] == ["sorted.csv"]
    assert rows(trace(run, "sorted.csv", row=1)) == {"orders.csv": (4,)}


def test_files_of_plain_python(project: Path) -> None:
    run = ran(project, PLAIN)
    assert run.failed is None
    traced_row = trace(run, "totals.csv", row=0)
    assert rows(traced_row) == {"orders.csv": None}
    assert not traced_row.certain
    assert {5, 6, 7, 12} <= {line.number for line in traced_row.lines}
    assert 8 not in {line.number for line in traced_row.lines}


def test_modules_of_the_project(project: Path) -> None:
    (project / "helpers.py").write_text(HELPERS)
    run = ran(project, MODULES)
    traced_row = trace(run, "top.csv", row=0)
    assert rows(traced_row) == {"orders.csv": (3,)}
    assert ("helpers.py", 4) in {(line.file, line.number) for line in traced_row.lines}
    assert trace(run, "stats.csv", row=0).inputs[0].rules == (Rule.ALL,)

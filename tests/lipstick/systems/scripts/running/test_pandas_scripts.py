"""Scripts of pandas and of plain Python, run unchanged and traced; no Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from lipstick.cli import main
from lipstick.systems.errors import ProgramFailedError
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.running import Rule, open_run, run_script, trace
from tests.lipstick.systems.scripts.test_water_demand import (
    IRRIGATION,
    MONTHS,
    model,
    notebook_of,
    stems,
)

__all__ = ["model"]

TEXT = """\
import sys
import pandas as pd

orders = pd.read_csv("orders.csv")
other = pd.read_csv("other.csv")
big = orders[orders["n"] > int(sys.argv[1])]
big.to_csv("big.csv", index=False)
totals = orders.groupby("who", as_index=False)["n"].sum()
totals.to_csv("totals.csv", index=False)
again = pd.read_csv("big.csv")
again["n"] = again["n"] * 2
again.to_csv("twice.csv", index=False)
with open("names.txt") as names:
    count = len(names.read())
with open("count.txt", "w") as out:
    out.write(str(count))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text("who,n\nann,1\nbob,5\nann,7\ncid,9\n")
    Path("other.csv").write_text("a\n1\n")
    Path("names.txt").write_text("ann bob")
    Path("s.py").write_text(TEXT)
    return tmp_path


def test_a_script_of_pandas_is_run_as_it_is_and_traced(folder: Path) -> None:
    read_csv = pd.read_csv
    run_script("s.py", ["4"])
    assert pd.read_csv is read_csv
    assert Path("big.csv").read_text() == "who,n\nbob,5\nann,7\ncid,9\n"
    run = open_run("s.py.run")
    assert [(event.kind, event.name, event.places[0][1]) for event in run.events] == [
        ("read", "orders.csv", 4), ("read", "other.csv", 5), ("write", "big.csv", 7),
        ("write", "totals.csv", 9), ("read", "big.csv", 10), ("write", "twice.csv", 12),
        ("read", "names.txt", 13), ("write", "count.txt", 15),
    ]  # fmt: skip
    traced = trace(run, "big.csv", row=1)
    assert [(Path(i.file).name, i.rows, i.rules) for i in traced.inputs] == [
        ("orders.csv", (2,), (Rule.INDEX,))
    ]
    assert not traced.certain
    assert [line.number for line in traced.lines] == [4, 6, 7]
    # Through the file that the script has written itself, by order and then by index; the text
    # does not say that nothing goes past the file, so that values tell, too.
    traced = trace(run, "twice.csv", row=2)
    assert [i.rows for i in traced.inputs] == [(3,)]
    assert traced.inputs[0].rules == (Rule.ORDER, Rule.INDEX, Rule.VALUES)
    traced = trace(run, "totals.csv", where={"who": "ann"})
    assert [i.rows for i in traced.inputs] == [(0, 2)]
    traced = trace(run, "count.txt")
    assert [(Path(i.file).name, i.rows) for i in traced.inputs] == [("names.txt", None)]
    assert not traced.certain
    with pytest.raises(ScriptError, match="has 3 rows, and no row 3"):
        trace(run, "big.csv", row=3)
    with pytest.raises(ScriptError, match=r"made no 'bug.csv'.\nIt wrote or collected 3 big.csv"):
        trace(run, "bug.csv")
    Path("orders.csv").write_text("who,n\n")
    with pytest.raises(ScriptError, match=r"orders.csv is not what it was"):
        trace(run, "big.csv", row=1)


def test_what_a_script_raises_is_said_and_the_record_stays(folder: Path) -> None:
    Path("s.py").write_text(TEXT + "raise SystemExit('no')\n")
    with pytest.raises(ProgramFailedError, match=r"s.py ended by SystemExit: no"):
        run_script("s.py", ["4"])
    run = open_run("s.py.run")
    assert (run.failed, len(run.events)) == ("SystemExit: no", 8)
    with pytest.raises(ScriptError, match="exists already"):
        run_script("s.py", ["4"])
    with pytest.raises(ProgramFailedError, match="ended by SystemExit"):
        run_script("s.py", ["4"], overwrite=True)
    assert open_run("s.py.run").failed == "SystemExit: no"
    with pytest.raises(ScriptError, match="is not the record of a run"):
        open_run(folder)


@pytest.mark.filterwarnings("error::FutureWarning")
def test_texts_that_became_times_link_no_rows(folder: Path) -> None:
    """Other columns do; and names in small letters are calls that are known."""
    Path("visits.csv").write_text("who,at\nAnn,2024-01-01\nBob,2024-01-02\n")
    Path("t.py").write_text(
        'import pandas as pd\nvisits = pd.read_csv("visits.csv")\n'
        'visits["at"] = pd.to_datetime(visits["at"])\n'
        'visits["small"] = visits["who"].str.lower()\n'
        'visits["month"] = visits["at"].dt.strftime("%Y-%m")\n'
        'visits = visits.sort_values("at", ascending=False).reset_index(drop=True)\n'
        'visits.to_csv("late.csv", index=False)\n'
    )
    traced_row = trace(run_script("t.py"), "late.csv", row=0)
    (item,) = traced_row.inputs
    assert item.rows == (1,)
    assert item.why == ("rows have the same who",)
    assert not traced_row.assumptions


def test_a_table_has_the_first_rows_of_many_and_json_all(folder: Path) -> None:
    Path("many.csv").write_text("n\n" + "1\n" * 2000)
    Path("m.py").write_text(
        'import pandas as pd\nmany = pd.read_csv("many.csv")\n'
        'many.groupby("n", as_index=False).size().to_csv("sizes.csv", index=False)\n'
    )
    run_script("m.py")
    asked = ["script", "trace", "m.py.run", "sizes.csv", "--row", "0"]
    shown = CliRunner().invoke(main, asked).output
    assert "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...] (2,000 rows)" in shown
    assert max(map(len, shown.splitlines())) < 400
    document = json.loads(CliRunner().invoke(main, [*asked, "--json"]).output)
    assert document["inputs"][0]["rows"] == list(range(2000))


def test_run_and_trace_from_the_command_line(folder: Path) -> None:
    def ran(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, ["script", *arguments])
        assert result.exit_code == code, result.output
        return result.output

    document = json.loads(ran("run", "--format", "json", "--record", "kept", "s.py", "4"))
    assert document["events"][2]["name"] == "big.csv"
    shown = json.loads(ran("trace", "kept", "totals.csv", "--row", "1", "--format", "json"))
    assert shown["inputs"][0]["rows"] == [1]
    assert shown["certain"] is False
    assert "rows have the same who" in ran("trace", "kept", "totals.csv", "--where", "who=bob")
    assert "COLUMN=VALUE" in ran("trace", "kept", "totals.csv", "--where", "who", code=2)
    Path("fails.py").write_text(TEXT + "1 / 0\n")
    assert "in <module>\n    1 / 0\n" in ran("run", "fails.py", "4", code=1)
    Path("ends.py").write_text("import sys\nsys.exit(4)\n")
    assert "recorded in" in ran("run", "ends.py", code=4)
    assert "exists already" in ran("run", "ends.py", code=2)
    Path("ends.py").write_text("import sys\nsys.exit('the 4th file is missing')\n")
    assert "the 4th file is missing\n" in ran("run", "--overwrite", "ends.py", code=1)


def test_a_cell_of_the_water_model_is_traced_as_script_and_as_notebook(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model.parent)
    cell = MONTHS.index((1987, 7))
    for path in (model, notebook_of(model)):
        run = run_script(path)
        traced_row = trace(run, "gross.csv", row=cell)
        assert stems(tuple(item.file for item in traced_row.inputs)) == IRRIGATION
        assert {item.rows for item in traced_row.inputs} == {(cell,)}
        assert {item.rules for item in traced_row.inputs} == {(Rule.ORDER,)}
        texts = {line.text for line in traced_row.lines}
        assert "gross = net * efficiency" in texts
        assert not any("households" in text for text in texts)


MOVED = {
    "sorted": "pd.DataFrame({'y': df.sort_values('x').reset_index(drop=True)['x'] * 2})",
    "backwards": "(df[['x']] * 2).iloc[::-1].reset_index(drop=True)",
    "sampled": "(df[['x']] * 2).sample(frac=1, random_state=1).reset_index(drop=True)",
    "by argsort": "pd.DataFrame({'y': df['x'].to_numpy()[np.argsort(df['x'])] * 2})",
}
MIXED = {
    "cumsum": "df.assign(y=df['x'].cumsum())",
    "shift": "df.assign(y=df['x'].shift())",
    "transform": "df.assign(y=df.groupby('g')['x'].transform('mean'))",
    "mean": "df.assign(y=df['x'].fillna(df['x'].mean()))",
    "rank": "pd.DataFrame({'y': df['x'].rank() * 7})",
}


@pytest.mark.parametrize("name", [*MOVED, *MIXED, "kept"])
def test_order_tells_rows_only_where_calls_are_one_to_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("k,x,g\na,3,p\nb,1,p\nc,2,q\nd,6,q\n")
    made = (MOVED | MIXED | {"kept": "pd.DataFrame({'y': df['x'] * 2})"})[name]
    text = f"import numpy as np\nimport pandas as pd\ndf = pd.read_csv('in.csv')\no = {made}\n"
    Path("s.py").write_text(text + "o.to_csv('out.csv', index=False)\n")
    (rows,) = trace(run_script("s.py"), "out.csv", row=1).inputs
    if name == "kept":
        assert (rows.rows, rows.rules) == ((1,), (Rule.ORDER,))
        return
    assert Rule.ORDER not in rows.rules
    assert not rows.certain
    if name in MOVED:
        assert rows.rows is None
        assert "may move rows" in rows.why[0]
    else:
        assert f"{name} may add further rows" in rows.why[0]


def test_a_script_asks_for_temporary_files_first_of_all(tmp_path: Path) -> None:
    """Python finds the folder of temporary files by opening one, once in a process."""
    (tmp_path / "first.py").write_text("import tempfile\n\nprint(tempfile.mkdtemp())\n")
    done = subprocess.run(
        [sys.executable, "-m", "lipstick", "script", "run", "first.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[5])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.split()[0]).is_dir()

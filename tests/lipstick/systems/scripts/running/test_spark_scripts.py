"""A script of Spark and pandas, run unchanged: from rows of outputs to rows of inputs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from lipstick.systems.errors import ProgramFailedError
from lipstick.systems.scripts.running import Rule, Trace, open_run, run_script, trace
from tests.lipstick.systems.scripts.test_water_demand import INPUTS, IRRIGATION, WATER, stems

pytestmark = pytest.mark.classic

SCRIPT = """\
import pandas as pd
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
orders = spark.read.csv("orders.csv", header=True, inferSchema=True)
prices = spark.read.parquet("prices.parquet")
joined = orders.join(prices, "item").where(F.col("n") > 1)
joined.write.mode("overwrite").parquet("joined.parquet")
again = spark.read.parquet("joined.parquet")
total = again.groupBy("who").agg(F.sum(F.col("n") * F.col("price")).alias("total"))
total.write.mode("overwrite").csv("total", header=True)
out = pd.read_csv("names.csv").merge(total.toPandas(), on="who")
out.to_csv("out.csv", index=False)
chance = orders.select("who", F.rand().alias("r"))
chance.write.parquet("chance.parquet")
spark.stop()
"""

ORDERS = [("a", "nut", 1), ("a", "bolt", 2), ("b", "nut", 3), ("b", "bolt", 4), ("c", "nut", 5)]
PRICES = {"bolt": 2.5, "nut": 0.5}


def within(text: str, folder: Path) -> str:
    """A script whose files are in a folder: the JVM stays where it was started."""
    for call in ("csv", "parquet"):
        for sign in ('"', 'f"'):
            text = text.replace(f"{call}({sign}", f"{call}({sign}{folder}/")
    return text


def rows(traced: Trace, name: str) -> tuple[int, ...] | None:
    (item,) = [item for item in traced.inputs if Path(item.file).name == name]
    return item.rows


def test_rows_are_traced_from_outputs_to_inputs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(ORDERS, columns=["who", "item", "n"]).to_csv("orders.csv", index=False)
    pd.DataFrame(PRICES.items(), columns=["item", "price"]).to_parquet("prices.parquet")
    Path("names.csv").write_text("who,full\nc,Cy\na,Anna\n")
    Path("s.py").write_text(within(SCRIPT, tmp_path))
    run_script("s.py")
    assert spark.range(3).count() == 3
    run = open_run("s.py.run")
    written = sorted(
        pd.concat(map(pd.read_csv, Path("total").glob("*.csv"))).itertuples(index=False)
    )
    assert [tuple(row) for row in written] == [("a", 5.0), ("b", 11.5), ("c", 2.5)]
    for who, _ in written:
        own_orders = [n for n, row in enumerate(ORDERS) if row[0] == who and row[2] > 1]
        items = sorted(list(PRICES).index(ORDERS[n][1]) for n in own_orders)
        traced_row = trace(run, "total", where={"who": who})
        assert traced_row.certain
        # Through the file that was written between, both times by annotations.
        assert rows(traced_row, "orders.csv") == tuple(own_orders)
        assert rows(traced_row, "prices.parquet") == tuple(items)
        assert {item.rules for item in traced_row.inputs} == {(Rule.ANNOTATED, Rule.ANNOTATED)}
        assert [line.number for line in traced_row.lines] == [5, 6, 7, 8, 9, 10, 11]
    for number in range(3):
        chosen = trace(run, "total", row=number)
        assert chosen.inputs == trace(run, "total", where={"who": chosen.row["who"]}).inputs
    # Behind toPandas rows are inferred, and exact again before it.
    traced_row = trace(run, "out.csv", where={"who": "a"})
    assert not traced_row.certain
    assert (rows(traced_row, "orders.csv"), rows(traced_row, "names.csv")) == ((1,), (1,))
    assert traced_row.inputs[0].why
    # The seed of rand() is the frame's: what was captured is what was written.
    event = next(event for event in run.events if event.name.endswith("chance.parquet"))
    assert event.inferred is None


DECIDED = """\
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
orders = spark.read.csv("orders.csv", header=True, inferSchema=True)
mean = orders.where("n < 5").agg(F.avg("n")).collect()[0][0]
orders.where(F.col("n") > mean).write.parquet("above.parquet")
orders.where("n > 2.5").write.parquet("fixed.parquet")
"""


def test_rows_that_a_collected_value_decides_about_are_not_certain(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows behind the value belong to the answer; a constant decides nothing."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(ORDERS, columns=["who", "item", "n"]).to_csv("orders.csv", index=False)
    Path("s.py").write_text(within(DECIDED, tmp_path))
    run_script("s.py")
    assert spark.range(3).count() == 3
    run = open_run("s.py.run")
    decided = trace(run, "above.parquet", where={"n": 5})
    assert not decided.certain
    made, deciding = decided.inputs
    assert (made.rows, made.rules, made.certain) == ((4,), (Rule.ANNOTATED,), True)
    assert deciding.rows == (0, 1, 2, 3)
    assert set(deciding.rules) == {Rule.ANNOTATED, Rule.DECIDES}
    assert any("a value of these rows decides at" in why for why in deciding.why)
    fixed = trace(run, "fixed.parquet", where={"n": 5})
    assert fixed.certain
    assert rows(fixed, "orders.csv") == (4,)


FAILS = """\
import sys
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
orders = spark.read.csv("orders.csv", header=True, inferSchema=True)
orders.where("n > 2").write.parquet("many.parquet")
{}
orders.write.parquet("never.parquet")
"""

ENDS = {
    "raise": ("raise ValueError('no') from KeyError('why')", "ValueError: no", 1),
    "udf": (
        """orders.select(F.udf(lambda n: 1 // (n - 2))("n")).write.parquet("part.parquet")""",
        "ZeroDivisionError", 1,
    ),
    "column": ("orders.select('missing').show()", "UNRESOLVED_COLUMN", 1),
    "exit": ("sys.exit(3)", "SystemExit: 3", 3),
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_a_script_that_fails_keeps_what_it_did_and_shows_its_own_traceback(
    end: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(ORDERS, columns=["who", "item", "n"]).to_csv("orders.csv", index=False)
    line, message, code = ENDS[end]
    Path("s.py").write_text(within(FAILS.format(line), tmp_path))
    with pytest.raises(ProgramFailedError, match=r"recorded in .*s\.py\.run") as failed:
        run_script("s.py")
    assert spark.range(3).count() == 3
    assert (message in str(failed.value), failed.value.code) == (True, code)
    shown = failed.value.traceback
    if code == 1:
        assert (
            shown.startswith("Traceback (most recent call last):\n") or "KeyError: 'why'" in shown
        )
        assert 'File "s.py", line 7, in <module>\n    ' + line[:20] in shown
        assert message in shown
        assert "lipstick/systems/scripts" not in shown
    run = open_run("s.py.run")
    assert run.failed is not None
    assert message in run.failed
    traced_row = trace(run, "many.parquet", row=1)
    assert traced_row.certain
    assert rows(traced_row, "orders.csv") == (3,)
    assert not Path("never.parquet").exists()


@pytest.mark.slow
def test_a_cell_of_the_water_model_on_spark_is_traced_exactly(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    months = [(year, month) for year in range(1999, 2001) for month in range(1, 13)]
    for input_number, name in enumerate(INPUTS):
        table = pd.DataFrame(months, columns=["year", "month"])
        # Every input has its months in another order.
        table["value"] = [float(input_number + number) for number in range(len(months))]
        table.sample(frac=1, random_state=input_number).to_parquet(f"{name}.parquet", index=False)
    text = (WATER / "demand_spark.script").read_text()
    Path("demand.py").write_text(within(text, tmp_path))
    run = run_script("demand.py")
    for output, names in (("gross.parquet", IRRIGATION), ("total.parquet", frozenset(INPUTS))):
        traced_row = trace(run, output, where={"year": 2000, "month": 7})
        assert traced_row.certain
        assert stems(tuple(item.file for item in traced_row.inputs)) == names
        for item in traced_row.inputs:
            table = pd.read_parquet(item.file)
            assert item.rows is not None
            cells = table.iloc[list(item.rows)][["year", "month"]].to_numpy().tolist()
            assert cells == [[2000, 7]], item.file

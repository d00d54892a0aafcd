"""What people do every day: rows of the plain answer, tables in memory, statements, notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lipstick import Algebra, Session, session
from lipstick.errors import (
    CapabilityError,
    InternalError,
    InvalidQueryError,
    LipstickError,
    SourceError,
)
from lipstick.tracking import source as sources
from rewriter.errors import UnsupportedError
from semiring.semirings import Counting

pytestmark = pytest.mark.engines("memory")

TABLE = pa.table({"id": [1, 2, 3], "x": ["a", "a", "b"], "d": ["2024-01-01", "2025-02-01", None]})


@pytest.fixture(scope="module")
def ls(spark: SparkSession) -> Iterator[Session]:
    with session(spark) as opened:
        opened.track("w", TABLE, key="id")
        yield opened


def test_rows_of_the_plain_answer(ls: Session, capsys: pytest.CaptureFixture[str]) -> None:
    query = ls.sql("SELECT x, count(*) AS n FROM w GROUP BY x ORDER BY x")
    rows = [{"x": "a", "n": 2}, {"x": "b", "n": 1}]
    assert [row.asDict() for row in query.collect()] == rows
    assert query.count() == 2
    assert query.columns == ["x", "n"]
    assert query.toArrow().to_pylist() == rows
    assert query.toPandas().to_dict("records") == rows
    query.show(1)
    assert "only showing top 1 row" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["table", "batch", "pandas"])
def test_tables_in_memory(ls: Session, kind: str) -> None:
    source: Any = {"table": TABLE, "batch": TABLE.to_batches()[0], "pandas": TABLE.to_pandas()}[
        kind
    ]
    ls.track("t", source, key="id")
    (row, annotation), *_ = ls.sql("SELECT x FROM t WHERE x = 'b'").polynomials()
    assert (row, str(annotation)) == ({"x": "b"}, "t:3")
    ls.untrack("t")


def test_large_tables_are_written_first(ls: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_BYTES", 10)
    for source in (TABLE, TABLE.to_pandas()):
        with pytest.raises(SourceError, match=r"too large to travel in every plan(.|\n)*Parquet"):
            ls.track("t", source, key="id")
    with pytest.raises(LipstickError, match=r"DataFrame \| Table \| RecordBatch \| PandasFrame"):
        ls.track("t", [1, 2], key="id")


@pytest.mark.classic
def test_what_is_no_query_is_parsed_by_spark(ls: Session) -> None:
    """The error is at the place of the user's text, and no command is run."""
    with pytest.raises(InvalidQueryError, match=r"near 'SELEC' at 1:1\n  SELEC 1\n") as raised:
        ls.sql("SELEC 1")
    assert "EXPLAIN" not in str(raised.value)


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("CREATE OR REPLACE TEMP VIEW v AS SELECT * FROM w", "Make the view with spark.sql"),
        ("CREATE VIEW v AS SELECT * FROM w", "Make the view with spark.sql"),
        ("CREATE TABLE IF NOT EXISTS t AS SELECT * FROM w", "Leave IF NOT EXISTS out"),
        ("FROM w INSERT INTO a SELECT id INSERT INTO b SELECT x", "a statement for each table"),
        ("INSERT OVERWRITE DIRECTORY '/x' USING csv SELECT * FROM w", "q.write.parquet"),
    ],
)
def test_statements_are_refused_with_what_to_write(
    ls: Session, statement: str, advice: str
) -> None:
    with pytest.raises(UnsupportedError, match=advice):
        ls.sql(statement)


@pytest.mark.classic
def test_queries_read_through_views(ls: Session) -> None:
    """As the advice says."""
    ls.spark.sql("CREATE OR REPLACE TEMP VIEW shown AS SELECT x FROM w WHERE id > 2")
    try:
        [(row, annotation)] = ls.sql("SELECT * FROM shown").polynomials()
        assert (row, str(annotation)) == ({"x": "b"}, "w:3")
    finally:
        ls.spark.catalog.dropTempView("shown")


@pytest.mark.parametrize("format", ["csv", "json", "text"])
def test_formats_without_types_are_refused(ls: Session, format: str, tmp_path: Path) -> None:
    """Before anything is written, with the call that writes plain rows."""
    path = tmp_path / "rows"
    with pytest.raises(UnsupportedError, match=rf"q\.df\.write\.{format}\("):
        getattr(ls.sql("SELECT x FROM w").write, format)(path)
    assert not path.exists()


@pytest.mark.classic
def test_fields_of_structs_in_files_are_dropped(
    ls: Session, spark: SparkSession, tmp_path: Path
) -> None:
    """Spark reads the other fields alone where a text names them, and the frame does not."""
    rows = spark.sql("SELECT 1 AS id, named_struct('a', 1, 'b', 2, 'c', array(3)) AS s")
    rows.write.parquet(str(tmp_path / "nested"))
    ls.track("nested", tmp_path / "nested", key="id", format="parquet")
    changed = F.col("s").withField("z", F.lit(1)).dropFields("b").alias("s")
    query = ls.annotate(spark.table("nested").select("id", changed))
    expected = [{"a": 1, "c": [3], "z": 1}]
    assert [row.s.asDict() for row in query.collect()] == expected
    more = spark.table("nested").withColumn("s", F.col("s").withField("z", F.lit(1)))
    two = ls.annotate(more.withColumn("s", F.col("s").dropFields("b")))
    assert [row.s.asDict() for row in two.collect()] == expected
    grouped = more.groupBy("s.z").agg(F.max(F.col("s").dropFields("b", "c")).alias("s"))
    assert [row.s.asDict() for row in ls.annotate(grouped).collect()] == [{"a": 1, "z": 1}]


def test_a_display_without_annotations_has_rows(
    ls: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason stands below them."""
    query = ls.sql("SELECT x FROM w WHERE id = 3")

    def refused(*_: object) -> None:
        raise CapabilityError("no annotations of this")

    monkeypatch.setattr(Algebra, "annotations_within", refused)
    shown = query._repr_html_()
    assert "<td>b</td>" in shown
    assert shown.index("<td>b</td>") < shown.index("no annotations of this")


def test_tracebacks_in_notebooks() -> None:
    """Of a user's error the message alone; of one of ours everything."""
    assert SourceError("no table\nName one.")._render_traceback_() == [
        "SourceError: no table\nName one."
    ]
    with pytest.raises(InternalError) as raised:
        raise InternalError("broken", "Report it.", "SELECT 1")
    assert any("test_everyday" in line for line in raised.value._render_traceback_())


def test_questions_to_open_sessions_are_answered_by_their_spark(ls: Session) -> None:
    """Scalars for which memory has no rule are computed by the session, for tensors too."""
    query = ls.sql(
        "SELECT date_format(r.d, 'yyyy') AS y, count(r.id) AS n FROM w LEFT JOIN w r "
        "ON r.id = w.id + 1 GROUP BY date_format(r.d, 'yyyy')"
    )
    tensors = {row["y"]: str(tensor) for row, tensor in query.algebra.tensors("n")}
    assert tensors == {None: "w:2·w:3⊗3", "2025": "w:1·w:2⊗2"}
    assert [tuple(row) for row in query.what_if({"w": [2]}).df.collect()] == [(None, 0)]
    many = query.what_if_many({"second": {"w": [2]}, "none": {"w": []}})
    assert many.method == "annotations"
    shown = [tuple(row.values()) for row in many.df.to_pylist()]
    assert [row for row in shown if row[0] == "second"] == [("second", None, 0)]
    assert {row for row in shown if row[0] == "none"} == {
        ("none", *row) for row in query.df.collect()
    }
    assert {row["scenario"] for row in many.changes.to_pylist()} == {"second"}


def test_sessions_compute_functions_that_memory_has_no_rules_for(ls: Session) -> None:
    """As probabilities that are those of all worlds, whose rows are plain Spark's."""
    ls.track(
        "f", pa.table({"id": range(8), "k": [*"abababab"], "v": [*range(7, 8007, 1000)]}), "id"
    )
    condition = "format_number(sum(v), 0) LIKE '1%'"
    query = ls.sql(
        f"SELECT k, soundex(max(k)) AS s FROM f GROUP BY k HAVING {condition} ORDER BY k"
    )
    worlds = "(SELECT explode(sequence(0, 255)) AS world) JOIN f ON shiftright(world, id) & 1 = 1"
    rows = f"SELECT k FROM {worlds} GROUP BY world, k HAVING {condition}"
    counted = ls.spark.sql(f"SELECT k, count(*) / 256 FROM ({rows}) GROUP BY k")
    expected = {row[0]: row[1] for row in counted.collect()}
    found = query.probability(0.5)
    assert {row["k"]: chance.value for row, chance in found} == pytest.approx(expected)
    assert all(chance.exact for _, chance in found)
    (_, value), *_ = query.algebra.tensors("s")
    with pytest.raises(CapabilityError, match=r"Only Spark, which computes .*SOUNDEX"):
        value.evaluate(Counting(), lambda token: 1)

"""`track`: sources, how tuples are named, and what is refused."""

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import (
    LipstickError,
    SourceChangedError,
    SourceError,
    TrackingError,
    UnsupportedError,
    UntrackedError,
)
from lipstick.tracking.tracker import Naming

ROWS = [(1, "a", 1.5), (2, "b", None), (3, None, 0.25)]
SCHEMA = "id int, name string, x double"


def write(spark: SparkSession, path: Path, format: str) -> str:
    """Write the rows as two files and return the folder."""
    frame = spark.createDataFrame(ROWS, SCHEMA).repartition(2)
    writer = frame.write.format(format)
    if format == "csv":
        writer = writer.option("header", "true")
    writer.save(str(path))
    return str(path)


@pytest.mark.many
@pytest.mark.parametrize("format", ["parquet", "csv", "json", "orc"])
def test_path_is_tracked_by_its_key(
    ls: lipstick.Session, spark: SparkSession, tmp_path: Path, format: str
) -> None:
    """Files of every format give the rows that Spark reads in them."""
    ls.track("t", write(spark, tmp_path / f"t.{format}", format), key="id")
    assert ls.sql("SELECT count(*) AS n, max(name) AS m FROM t").df.collect() == [(3, "b")]
    assert ls.tracked["t"].naming is Naming.KEY


@pytest.mark.engines("spark")
def test_table_is_tracked_under_its_own_name(ls: lipstick.Session, spark: SparkSession) -> None:
    """Without a source the name is that of a table or view."""
    spark.createDataFrame(ROWS, SCHEMA).createOrReplaceTempView("known")
    ls.track("known", key=["id"])
    assert {
        r["_value"]
        for r in ls.sql("SELECT name FROM known")
        .algebra.evaluate(lipstick.semirings.Which())
        .collect()
    } == {"{known:1}", "{known:2}", "{known:3}"}


def test_parquet_rows_are_named_by_their_place(
    ls: lipstick.Session, spark: SparkSession, tmp_path: Path
) -> None:
    """Without a key, a row of a Parquet file is its file and its place in it."""
    tracked = ls.track("t", write(spark, tmp_path / "t with space.parquet", "parquet"))
    assert tracked.naming is Naming.ROWS
    assert len(tracked.files) >= 1
    tokens = [row[0] for row in spark.table(tracked.view).select(tracked.token[0]).collect()]
    assert None not in tokens
    assert len(set(tokens)) == len(ROWS)
    q = ls.sql("SELECT * FROM t WHERE id >= 2")
    assert q.df.columns == ["id", "name", "x"]
    assert q.what_if({"t": "id = 2"}).df.count() == 1


def test_rows_are_named_by_their_values_and_an_ordinal(
    ls: lipstick.Session, spark: SparkSession
) -> None:
    """Equal rows get different tokens."""
    frame = spark.createDataFrame([(1, "a"), (1, "a"), (None, "b")], "id int, name string")
    tracked = ls.track("t", frame, key="*")
    assert tracked.naming is Naming.VALUES
    q = ls.sql("SELECT id, count(*) AS n FROM t GROUP BY id")
    answer = q.what_if({"t": [(1, "a", 2)]}).df.collect()
    assert sorted(answer, key=str) == [(1, 1), (None, 1)]
    assert q.what_if({"t": "name = 'b'"}).df.collect() == [(1, 2)], "a token may hold a NULL"
    assert len(q.lineage()["t"].collect()) == 3


def test_materialised_source_is_copied_once(ls: lipstick.Session, spark: SparkSession) -> None:
    """A source without stable rows is copied to Parquet and named by place."""
    tracked = ls.track("t", spark.createDataFrame(ROWS, SCHEMA), materialize=True)
    assert tracked.naming is Naming.ROWS
    assert ls.sql("SELECT count(*) AS n FROM t").df.collect() == [(3,)]


@pytest.mark.engines("spark")
@pytest.mark.connect
def test_tables_without_rows_are_tracked_and_changed(ls: lipstick.Session) -> None:
    """Spark Connect infers no columns of a table without rows."""
    none = pa.table({"id": pa.array([], pa.int32()), "at": pa.array([], pa.timestamp("us"))})
    ls.track("none", none, key="id")
    q = ls.sql("SELECT count(*) AS n FROM none")
    assert q.df.collect() == [(0,)]
    assert q.what_if(delete={"none": none.select(["id"])}).df.collect() == [(0,)]
    ls.track("some", pa.table({"id": [1], "at": [datetime(2026, 1, 1)]}), key="id")
    some = ls.sql("SELECT id FROM some")
    assert some.what_if(delete={"some": pa.table({"id": pa.array([], pa.int64())})}).df.count() == 1


def test_relation_without_provenance_is_a_factor_of_one(
    dealer: lipstick.Session, spark: SparkSession
) -> None:
    """Its tuples never appear in annotations."""
    names = spark.createDataFrame([("Civic", "Honda")], "Model string, Maker string")
    dealer.track("Makers", names, provenance=False)
    q = dealer.sql("SELECT CarId, Maker FROM Cars JOIN Makers USING (Model)")
    assert [str(p) for _, p in sorted(q.polynomials(), key=lambda pair: pair[0]["CarId"])] == [
        "Cars:C2",
        "Cars:C3",
    ]


@pytest.mark.many
@pytest.mark.parametrize(
    ("rows", "key", "message"),
    [
        ([(1, "a"), (1, "b")], ["id"], r"The key \(id\) of 't' is not unique: id=1 \(2 rows\)"),
        ([(None, "a"), (2, "b")], ["id"], r"The key \(id\) of 't' has NULLs: id=None"),
        ([(1, "a")], ["nothing"], r"'t' has no column 'nothing' to use as a key"),
        ([(1, "a")], [], r"a key has at least one column"),
    ],
)
def test_bad_key_is_refused(
    ls: lipstick.Session,
    spark: SparkSession,
    rows: list[tuple[object, ...]],
    key: list[str],
    message: str,
) -> None:
    """Duplicates, NULLs and unknown columns are named."""
    with pytest.raises(TrackingError, match=message):
        ls.track("t", spark.createDataFrame(rows, "id int, name string"), key=key)
    assert not ls.tracked


NESTED = (
    "map(1, 2)",
    "array(1)",
    "named_struct('a', 1)",
    "INTERVAL '1' DAY",
    "parse_json('{}')",
    "'a' COLLATE UTF8_LCASE",
)


@pytest.mark.engines("spark")
def test_values_that_are_in_no_key_name_rows_with_all_others(
    ls: lipstick.Session, spark: SparkSession
) -> None:
    """As parts of a key they are refused, before anything is read; as texts they are exact."""
    for number, value in enumerate(NESTED):
        rows = spark.sql(f"SELECT id, {value} AS m FROM VALUES (1), (1), (2) AS t(id)")
        with pytest.raises(TrackingError, match="Column 'm' of 't' is of type"):
            ls.track("t", rows, key=["id", "m"])
        ls.track(f"t{number}", rows, key="*")
        q = ls.sql(f"SELECT id FROM t{number}")
        tokens = [token.key for _, row in q.polynomials() for token in row.tokens]
        assert sorted((key[0], key[-1]) for key in tokens) == [(1, 1), (1, 2), (2, 1)]
        assert len(q.what_if(delete={f"t{number}": tokens[:1]}).df.collect()) == 2
        assert len(q.what_if(delete={f"t{number}": "id = 1"}).df.collect()) == 1


def test_unverified_key_is_marked(ls: lipstick.Session, spark: SparkSession) -> None:
    """`verify=False` trusts the key, and results say so."""
    ls.track("t", spark.createDataFrame(ROWS, SCHEMA), key="id", verify=False)
    assert "keys not verified: t" in ls.sql("SELECT id FROM t").plan.explain()


def test_name_can_be_tracked_once(dealer: lipstick.Session, spark: SparkSession) -> None:
    """A second source under a tracked name is refused until it is untracked."""
    frame = spark.createDataFrame([("C9",)], "CarId string")
    with pytest.raises(TrackingError, match="'cars' is tracked already"):
        dealer.track("cars", frame, key="CarId")
    dealer.untrack("Cars")
    dealer.track("cars", frame, key="CarId")
    assert dealer.sql("SELECT count(*) AS n FROM cars").df.collect() == [(1,)]


def test_the_same_source_may_be_tracked_again(
    ls: lipstick.Session, spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "numbers")
    spark.range(5).write.parquet(path)
    first = ls.track("numbers", path, key="id")
    assert ls.track("numbers", path, key="id") is first
    assert ls.track("Numbers", path, key=["id"]) is first
    for change in ({"key": "*"}, {"provenance": False}):
        with pytest.raises(TrackingError, match="is tracked already"):
            ls.track("numbers", path, **change)
    spark.range(6).write.mode("overwrite").parquet(path)
    with pytest.raises(TrackingError, match="is tracked already"):
        ls.track("numbers", path, key="id")


def test_rows_made_anew_are_the_same_source_while_they_are_equal(
    ls: lipstick.Session, spark: SparkSession
) -> None:
    """A cell of a notebook makes its rows again; other rows need `replace`."""
    rows = [("C1", "Civic"), ("C2", "Civic"), ("C2", "Civic")]
    frames = [spark.createDataFrame(rows, "id string, model string") for _ in range(2)]
    first = ls.track("again", frames[0], key="*")
    assert ls.track("again", frames[1], key="*") is first
    fewer = spark.createDataFrame(rows[:2], "id string, model string")
    for other in (fewer, frames[0].withColumnRenamed("model", "name")):
        with pytest.raises(TrackingError, match=r"Give replace=True to track this in its place"):
            ls.track("again", other, key="*")


def test_rows_with_maps_are_the_same_source_while_they_are_equal(
    ls: lipstick.Session, spark: SparkSession
) -> None:
    """A plan of such rows equals none, not even itself."""
    made = "SELECT * FROM VALUES (1, map('a', 1)), (2, map('b', {n})) AS v(id, m)"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW mapped AS {made.format(n=2)}")
    ls.track("mapped", key="id")
    ls.track("mapped too", spark.sql(made.format(n=2)), key="id")
    query = ls.sql("SELECT id, m['b'] AS n FROM mapped")
    assert query.what_if(delete={"mapped": [1]}).df.collect() == [(2, 2)]
    ls.track("mapped too", spark.sql(made.format(n=2)), key="id")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW mapped AS {made.format(n=3)}")
    with pytest.raises(SourceChangedError, match="stands for another view"):
        ls.sql("SELECT id, m['b'] AS n FROM mapped")
    with pytest.raises(TrackingError, match="Give replace=True"):
        ls.track("mapped too", spark.sql(made.format(n=3)), key="id")


def test_rows_with_maps_differ_by_the_microsecond(
    ls: lipstick.Session, spark: SparkSession
) -> None:
    """They are compared as texts, which have all of a moment."""
    made = "SELECT 1 AS id, map('a', timestamp'2024-01-01 10:00:00.00000{}') AS m"
    ls.track("moments", spark.sql(made.format(1)), key="id")
    ls.track("moments", spark.sql(made.format(1)), key="id")
    with pytest.raises(TrackingError, match="Give replace=True"):
        ls.track("moments", spark.sql(made.format(2)), key="id")


def test_a_relation_is_replaced(ls: lipstick.Session, spark: SparkSession) -> None:
    """Queries mean the new rows; frames that were annotated before keep the old ones."""
    old = spark.createDataFrame([("C1", 1), ("C2", 2)], "id string, n int")
    new = spark.createDataFrame([("C3", 3)], "id string, n int")
    ls.track("changing", old, key="id")
    before = ls.sql("SELECT id, n FROM changing")
    with pytest.raises(TrackingError, match="no column"):
        ls.track("changing", new, key="no_column", replace=True)
    assert sorted(before.df.collect()) == [("C1", 1), ("C2", 2)]
    ls.track("Changing", new, key="id", replace=True)
    assert ls.sql("SELECT id, n FROM changing").df.collect() == [("C3", 3)]
    assert sorted(before.df.collect()) == [("C1", 1), ("C2", 2)]
    assert before.what_if(delete={"changing": ["C1"]}).df.collect() == [("C2", 2)]
    assert sorted(row["id"] for row, _ in before.polynomials()) == ["C1", "C2"]
    with pytest.raises(TrackingError, match="'changing' is not tracked any more as it was"):
        before.filter("n > 1")
    ls.track("new name", new, key="id", replace=True)


def test_untracking_what_is_not_tracked_is_an_error(dealer: lipstick.Session) -> None:
    """The message lists what is tracked."""
    with pytest.raises(TrackingError, match="Tracked relations: Cars, Requests, SoldCars"):
        dealer.untrack("Vans")


def test_data_frame_without_key_is_refused(ls: lipstick.Session, spark: SparkSession) -> None:
    """Nothing names the rows of an arbitrary data frame stably; the ways out are listed."""
    with pytest.raises(SourceError, match=r"key='\*'.*materialize=True"):
        ls.track("t", spark.createDataFrame(ROWS, SCHEMA))


def test_missing_source_is_refused(ls: lipstick.Session) -> None:
    """A name that is neither table, view nor path."""
    with pytest.raises(SourceError, match="There is no table, view or path 'nowhere'"):
        ls.track("nowhere", key="id")


def test_untracked_relation_in_a_query_is_refused(
    dealer: lipstick.Session, spark: SparkSession
) -> None:
    """With its place, and what to do."""
    spark.createDataFrame(ROWS, SCHEMA).createOrReplaceTempView("stranger")
    with pytest.raises(UntrackedError, match=re.compile("stranger.*1:25.*track", re.DOTALL)):
        dealer.sql("SELECT CarId FROM Cars, stranger")


def test_changed_source_is_refused(
    ls: lipstick.Session, spark: SparkSession, tmp_path: Path
) -> None:
    """Annotations of old and new rows never mix."""
    path = write(spark, tmp_path / "t.parquet", "parquet")
    ls.track("t", path, key="id")
    q = ls.sql("SELECT * FROM t")
    file = next(Path(path).glob("*.parquet"))
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(SourceChangedError, match=r"The source of 't' .* changed"):
        ls.sql("SELECT * FROM t")
    with pytest.raises(SourceChangedError):
        q.save(tmp_path / "capture")
    assert not (tmp_path / "capture").exists()


@pytest.mark.parametrize("source", ["path", "frame", "table", "empty table"])
def test_rows_that_came_later_are_refused_by_every_question(
    ls: lipstick.Session, spark: SparkSession, tmp_path: Path, source: str
) -> None:
    """Rows are not shown of which the annotations know nothing, nor left out without a word."""
    path, rows = str(tmp_path / "t"), spark.createDataFrame(ROWS, SCHEMA)
    is_table = "table" in source
    (rows.limit(0) if source == "empty table" else rows).write.parquet(path)
    if is_table:
        spark.sql(f"CREATE TABLE grown USING parquet LOCATION '{path}'").collect()
    given = {"path": path, "frame": spark.read.parquet(path)}.get(source)
    ls.track("grown", given, key="id", **({"format": "parquet"} if source == "path" else {}))
    try:
        q = ls.sql("SELECT count(*) AS n FROM grown")
        before = q.df.collect()
        assert [row for row, _ in q.polynomials()] == [row.asDict() for row in before]
        if is_table:
            spark.sql("INSERT INTO grown VALUES (7, 'g', 0.5)").collect()
        else:
            rows.limit(1).write.mode("append").parquet(path)
        questions: list[Callable[[], object]] = [
            lambda: q.df,
            lambda: q.plan.annotated,
            q.polynomials,
            q.lineage,
            lambda: q.what_if({"grown": [1]}),
            lambda: q.algebra.evaluate(lipstick.semirings.Counting()),
            lambda: q.write.parquet(tmp_path / "written"),
            lambda: q.save(tmp_path / "saved"),
            lambda: ls.sql("SELECT * FROM grown"),
        ]
        for question in questions:
            with pytest.raises(SourceChangedError, match=r"The source of 'grown' .* changed"):
                question()
        assert not list(tmp_path.glob("written*"))
    finally:
        if is_table:
            spark.sql("DROP TABLE grown").collect()


@pytest.mark.classic
def test_a_session_without_spark_uses_the_active_one_and_leaves_it(spark: SparkSession) -> None:
    with lipstick.session() as ls:
        assert ls.spark is spark
    assert spark.range(2).count() == 2


def test_two_sessions_have_relations_of_one_name(spark: SparkSession) -> None:
    """What one session tracks, another never reads, whichever came last."""
    rows = spark.createDataFrame(ROWS, SCHEMA)
    text = "WITH twice AS (SELECT * FROM twice) SELECT twice.id FROM twice ORDER BY 1"
    with lipstick.session(spark) as first, lipstick.session(spark) as second:
        first.track("twice", rows, key="id")
        early = first.sql(text)
        shown = early.df
        second.track("twice", rows.where("id < 3").select("id"), key="id")
        late = first.sql(text)
        assert first.sql("SELECT * FROM twice").df.columns == rows.columns
        for answer in (shown, early.df, late.df):
            assert [row.id for row in answer.collect()] == [1, 2, 3]
        assert len(late.polynomials()) == 3
        assert late.what_if({"twice": [1]}).df.count() == 2
        assert second.sql(text).df.count() == len(second.sql(text).polynomials()) == 2
        assert first.annotate(rows.select("id")).df.count() == 3
        assert spark.table("twice").columns == ["id"]
        assert second.annotate(spark.table("twice")).df.count() == 2
        if not hasattr(spark, "_jsparkSession"):
            for frame in (spark.table("Twice"), spark.sql("SELECT count(*) FROM `twice`")):
                with pytest.raises(TrackingError, match="'twice' is two things here: another"):
                    first.annotate(frame)
        else:
            assert first.annotate(spark.table("twice")).df.count() == 2


def test_a_permanent_view_reads_tables(ls: lipstick.Session, spark: SparkSession) -> None:
    """A relation, or a view, of the name of a table that it reads is none of it."""
    spark.range(5).write.saveAsTable("below")
    spark.sql("CREATE VIEW above AS SELECT id FROM below").collect()
    try:
        ls.track("below", spark.range(2), key="id")
        with pytest.raises(UntrackedError, match=r"spark_catalog\.default\.below is not tracked"):
            ls.sql("SELECT count(*) FROM above")
        ls.untrack("below")
        with lipstick.session(spark) as other:
            with pytest.raises(UntrackedError, match=r"default\.below is not tracked"):
                other.sql("SELECT count(*) FROM above")
            spark.catalog.dropTempView("below")
            other.track("below", key="id")
            assert other.sql("SELECT count(*) FROM above").df.collect() == [(5,)]
    finally:
        spark.sql("DROP VIEW above").collect()
        spark.sql("DROP TABLE below").collect()


@pytest.mark.engines("memory")
def test_a_permanent_view_reads_tables_of_its_own_schema(
    ls: lipstick.Session, spark: SparkSession
) -> None:
    """Names in a view, and in the views that it reads, are of the schema it was created in."""
    spark.sql("CREATE DATABASE yard").collect()
    spark.range(2).write.saveAsTable("cars")
    spark.sql("USE yard").collect()
    try:
        spark.range(5).write.saveAsTable("cars")
        text = "WITH named AS (SELECT cars.id FROM cars) SELECT id FROM named WHERE id > 2"
        spark.sql(f"CREATE VIEW late AS {text}").collect()
        spark.sql("CREATE VIEW summed AS SELECT sum(id) AS s FROM late").collect()
        spark.sql("USE default").collect()
        ls.track("cars", key="id")
        with pytest.raises(UntrackedError, match=r"relation spark_catalog\.yard\.cars is not"):
            ls.sql("SELECT * FROM yard.late")
        ls.track("yard.cars", key="id")
        for name in ("yard.summed", "spark_catalog.yard.summed"):
            lineage = ls.sql(f"SELECT * FROM {name}").lineage()
            assert {
                n: [r.id for r in rows.sort("id").collect()] for n, rows in lineage.items()
            } == {"yard.cars": [3, 4]}
    finally:
        spark.sql("USE default").collect()
        spark.sql("DROP DATABASE yard CASCADE").collect()
        spark.sql("DROP TABLE cars").collect()


def test_a_name_with_a_dot_is_that_of_a_table(ls: lipstick.Session, spark: SparkSession) -> None:
    with pytest.raises(TrackingError, match=r"'a\.b' has a dot, as names of tables in a schema"):
        ls.track("a.b", spark.range(2), key="id")


def test_a_closed_session_says_so(spark: SparkSession, tmp_path: Path) -> None:
    """Whatever is asked of it, or of its queries."""
    ls = lipstick.session(spark)
    ls.track("gone", spark.createDataFrame(ROWS, SCHEMA), key="id")
    q = ls.sql("SELECT * FROM gone")
    q.polynomials()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark, "_sc", SimpleNamespace(_jsc=None), raising=False)
        for question in (q.plan.cost, lambda: ls.sql("SELECT 1"), lambda: lipstick.session(spark)):
            with pytest.raises(LipstickError, match="The Spark session was stopped"):
                question()
    ls.close()
    questions: list[Callable[[], object]] = [
        lambda: q.df,
        lambda: q.plan.annotated,
        q.algebra.members,
        q.polynomials,
        q.plan.cost,
        lambda: q.what_if({"gone": [1]}),
        lambda: q.what_if({"gone": [1]}, method="rerun"),
        lambda: q.what_if_many([]),
        lambda: q.save(tmp_path / "saved"),
        lambda: q.write.parquet(tmp_path / "written"),
        lambda: ls.sql("SELECT 1"),
        lambda: ls.annotate(spark.range(1)),
        lambda: ls.track("again", spark.range(1), key="id"),
        lambda: ls.untrack("gone"),
        lambda: ls.register("f", None),
    ]
    for question in questions:
        with pytest.raises(LipstickError, match="The session was closed"):
            question()
    assert repr(ls) == "<lipstick session, closed>"


def test_close_drops_the_views_of_the_session(spark: SparkSession) -> None:
    """Views of the session go; the SparkSession stays."""
    session = lipstick.session(spark)
    session.track("gone", spark.createDataFrame(ROWS, SCHEMA), key="id")
    view = session.tracked["gone"].view
    assert spark.catalog.tableExists(view)
    session.close()
    assert not spark.catalog.tableExists(view)
    assert not spark.catalog.tableExists("gone")
    assert spark.range(1).count() == 1


@pytest.mark.many
@pytest.mark.parametrize("first", [0, 1])
def test_closing_brings_back_the_views_that_relations_covered(
    spark: SparkSession, first: int
) -> None:
    """A user's view is there again when all sessions are closed, in either order."""
    spark.range(7).createOrReplaceTempView("Covered")
    sessions = [lipstick.session(spark), lipstick.session(spark)]
    for rows, session in enumerate(sessions, start=1):
        session.track("covered", spark.range(rows), key="id")
        assert spark.table("covered").count() == rows
    sessions.pop(first).close()
    assert spark.table("covered").count() == 2 - first
    sessions.pop().close()
    assert spark.table("covered").count() == 7
    assert spark.catalog.dropTempView("covered")


@pytest.mark.parametrize("temporary", [True, False])
def test_a_view_put_over_a_tracked_name(spark: SparkSession, temporary: bool) -> None:
    """A name that stands for something else by now is refused, and is left to the user."""
    view = spark.createDataFrame(ROWS, SCHEMA)
    if temporary:
        view.createOrReplaceTempView("Replaced")
    with lipstick.session(spark) as session:
        session.track("Replaced", None if temporary else view, key="id")
        read = "SELECT count(*) FROM replaced"
        assert session.sql(read).df.collect() == [(3,)]
        spark.table("Replaced").createOrReplaceTempView("Replaced")
        assert session.sql(read).df.collect() == [(3,)]
        spark.table("Replaced").where("id < 3").createOrReplaceTempView("Replaced")
        with pytest.raises(SourceChangedError, match="'Replaced' stands for another view than"):
            session.sql(read)
        assert session.sql("WITH replaced AS (SELECT 1) SELECT * FROM replaced").df.count() == 1
        session.untrack("Replaced")
        session.track("Replaced", key="id")
        assert session.sql(read).df.collect() == [(2,)]
    assert spark.table("replaced").count() == 2
    assert spark.catalog.dropTempView("replaced")


@pytest.mark.engines("spark")
def test_rows_without_columns_have_no_values_and_no_answer(
    ls: lipstick.Session, spark: SparkSession
) -> None:
    with pytest.raises(TrackingError, match="has no columns, whose values could name its rows"):
        ls.track("nothing", spark.range(3).select(), key="*")
    ls.track("t", spark.range(3), key="id")
    with pytest.raises(UnsupportedError, match="an answer without columns"):
        ls.sql("SELECT * EXCEPT (id) FROM t")
    with pytest.raises(UnsupportedError, match="an answer without columns"):
        ls.annotate(spark.range(3).select())
    assert ls.sql("SELECT count(*) FROM (SELECT * EXCEPT (id) FROM t)").df.collect() == [(3,)]

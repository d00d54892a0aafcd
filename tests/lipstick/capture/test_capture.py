"""Captures: whole or not at all, readable with pyarrow alone, the same answers everywhere."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick import pipeline
from lipstick.capture.documents import seal
from lipstick.capture.manifest import Manifest
from lipstick.errors import CaptureError, SourceChangedError, TrackingError, UnsupportedError
from semiring.errors import ArgumentError

pytestmark = pytest.mark.slow_over_connect

COUNTS = "SELECT Model, count(*) AS n, sum(Price) AS total FROM Cars GROUP BY Model"


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The rows of a frame in a fixed order."""
    return sorted((tuple(row) for row in frame.collect()), key=str)


@pytest.mark.quick
@pytest.mark.engines("memory", "spark")
def test_capture_is_readable_with_pyarrow_alone(dealer: lipstick.Session, tmp_path: Path) -> None:
    """Tokens are columns of members; the manifest tells the rest."""
    dealer.sql(COUNTS).save(tmp_path / "c")
    document = json.loads((tmp_path / "c" / "manifest.json").read_text(encoding="utf-8"))
    assert (document["format"], document["version"]) == ("lipstick capture", 2)
    manifest = document["content"]
    assert manifest["query"] == COUNTS
    assert manifest["counts"] == {"b0": {"members": 3, "rows": 2}}
    assert manifest["relations"]["Cars"]["token"] == ["CarId"]
    files = [path for path in (tmp_path / "c").rglob("*") if path.is_file()]
    written = {path.relative_to(tmp_path / "c").as_posix() for path in files}
    assert written == {name for name, *_ in manifest["files"]} | {"manifest.json"}
    [token] = manifest["blocks"][-1]["tokens"]
    members = ds.dataset(tmp_path / "c" / "b0" / "members").to_table()
    assert sorted(members.column(token["columns"][0]).to_pylist()) == ["C1", "C2", "C3"]


def test_a_query_is_captured_once(
    dealer: lipstick.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions need no other capture after save(), even if the saved folder is gone."""
    written = []
    capture = pipeline.capture
    monkeypatch.setattr(
        pipeline, "capture", lambda *given: written.append(given[3].name) or capture(*given)
    )
    q = dealer.sql(COUNTS)
    q.save(tmp_path / "c")
    shutil.rmtree(tmp_path / "c")
    assert rows(q.what_if(delete={"Cars": ["C2"]}).df) == [("Accord", 1, 24), ("Civic", 1, 22)]
    again = q.save(tmp_path / "again")
    assert rows(again.what_if(delete={"Cars": ["C1"]}).df) == [("Civic", 2, 42)]
    q.save(tmp_path / "tokens", values="reference")
    assert written == ["c", "tokens"]


def test_capture_outlives_the_session(dealer: lipstick.Session, tmp_path: Path) -> None:
    """It answers without Spark and without the sources."""
    dealer.sql(COUNTS).save(tmp_path / "c")
    dealer.close()
    c = lipstick.open(tmp_path / "c")
    answer = sorted(c.df.to_pylist(), key=lambda row: row["Model"])
    assert answer == [
        {"Model": "Accord", "n": 1, "total": 24},
        {"Model": "Civic", "n": 2, "total": 42},
    ]
    w = c.what_if({"Cars": ["C2"]})
    assert {row["Model"]: (row["n"], row["total"]) for row in w.df.to_pylist()} == {
        "Accord": (1, 24),
        "Civic": (1, 22),
    }
    assert w.method == "annotations"


def test_existing_path_is_not_overwritten(dealer: lipstick.Session, tmp_path: Path) -> None:
    """Nor touched."""
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "mine").write_text("kept", encoding="utf-8")
    with pytest.raises(CaptureError, match="exists already"):
        dealer.sql(COUNTS).save(tmp_path / "c")
    assert [file.name for file in (tmp_path / "c").iterdir()] == ["mine"]


def test_place_that_cannot_be_written_is_named(dealer: lipstick.Session, tmp_path: Path) -> None:
    """An error of the file system is one of the capture, and a path in a bucket is refused."""
    (tmp_path / "f").write_text("a file", encoding="utf-8")
    with pytest.raises(CaptureError, match=r"f/c cannot be written: .*f"):
        dealer.sql(COUNTS).save(tmp_path / "f" / "c")
    with pytest.raises(ArgumentError, match="s3a://bucket/c is on no local or mounted disk"):
        dealer.sql(COUNTS).save("s3a://bucket/c")


def test_another_capture_that_comes_first_is_kept(
    dealer: lipstick.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two captures written to one path at once the later one says that the path is taken."""
    q = dealer.sql(COUNTS)
    write = Manifest.write

    def late(manifest: Manifest, directory: Path) -> Manifest:
        monkeypatch.undo()
        dealer.sql(COUNTS).save(tmp_path / "c")
        return write(manifest, directory)

    monkeypatch.setattr(Manifest, "write", late)
    with pytest.raises(CaptureError, match="exists already"):
        q.save(tmp_path / "c")
    assert [each.name for each in tmp_path.iterdir()] == ["c"]


def test_uri_of_a_local_disk_is_its_path(dealer: lipstick.Session, tmp_path: Path) -> None:
    """As Spark takes it, for saving and for opening."""
    dealer.sql(COUNTS).save(f"file://{tmp_path}/c%20d")
    assert [each.name for each in tmp_path.iterdir()] == ["c%20d"]
    assert lipstick.open(f"file:{tmp_path}/c%20d").df.num_rows == 2


@pytest.mark.parametrize("step", ["_members", "_describe"])
def test_interrupted_save_leaves_nothing(
    dealer: lipstick.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A save that fails after some datasets leaves neither a capture nor parts of one."""
    from lipstick.capture.writer import CaptureWriter

    whole = getattr(CaptureWriter, step)

    def broken(self: CaptureWriter, *arguments: Any) -> Any:
        whole(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(CaptureWriter, step, broken)
    with pytest.raises(KeyboardInterrupt):
        dealer.sql(COUNTS).save(tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_directory_without_manifest_is_no_capture(tmp_path: Path) -> None:
    """What a killed process leaves is not taken for a capture."""
    with pytest.raises(CaptureError, match=r"is not a capture: it has no manifest\.json"):
        lipstick.open(tmp_path)


def test_other_format_version_is_refused(dealer: lipstick.Session, tmp_path: Path) -> None:
    """The versions are named."""
    dealer.sql(COUNTS).save(tmp_path / "c")
    path = tmp_path / "c" / "manifest.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_bytes(seal("capture", 99, document["content"]))
    with pytest.raises(CaptureError, match="capture format 99"):
        lipstick.open(tmp_path / "c")


@pytest.mark.engines("spark")
def test_values_by_reference_are_not_stored(dealer: lipstick.Session, tmp_path: Path) -> None:
    """Only tokens and grouping keys are; aggregates of the full database are still there."""
    dealer.sql(COUNTS).save(tmp_path / "c", values="reference")
    columns = pq.read_schema(next((tmp_path / "c" / "b0" / "members").glob("*.parquet"))).names
    assert not any("price" in column.lower() for column in columns)
    stored = ds.dataset(tmp_path / "c" / "b0" / "rows").to_table()
    assert stored.num_rows == 2


def test_unknown_kind_of_values_is_refused(dealer: lipstick.Session, tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(ArgumentError, match=r"values is 'both'.*\nIt should be: 'copy' or"):
        dealer.sql(COUNTS).save(tmp_path / "c", values="both")
    assert not (tmp_path / "c").exists()


@pytest.mark.classic
def test_groups_by_maps_are_refused(spark: SparkSession, dealer: lipstick.Session) -> None:
    frame = spark.sql("SELECT id, map('k', id % 2) AS m FROM range(4)")
    dealer.track("maps", frame, key="id")
    q = dealer.sql("SELECT m, count(*) AS n FROM maps GROUP BY m")
    assert q.df.count() == 2
    with pytest.raises(UnsupportedError, match="map_entries"):
        q.polynomials()
    entries = "array_sort(map_entries(m))"
    q = dealer.sql(f"SELECT {entries} AS e, count(*) AS n FROM maps GROUP BY {entries}")
    shown = {str(annotation) for _, annotation in q.polynomials()}
    assert shown == {"δ(maps:0 + maps:2)", "δ(maps:1 + maps:3)"}
    dealer.untrack("maps")


@pytest.mark.engines("spark")
@pytest.mark.classic
def test_only_groups_that_a_monotone_having_keeps_are_captured(
    dealer: lipstick.Session, tmp_path: Path
) -> None:
    """A deletion cannot bring another group in, if no value is negative."""
    q = dealer.sql(
        "SELECT Model, sum(Price) AS total FROM Cars GROUP BY Model HAVING sum(Price) > 30"
    )
    c = q.save(tmp_path / "c")
    assert c.manifest.pruned == ("b0",)
    assert c.manifest.counts["b0"]["members"] == 2
    assert rows(q.what_if({"Cars": ["C2"]}).df) == []


@pytest.mark.classic
@pytest.mark.engines("memory")
def test_rows_that_a_condition_selects_are_captured_alone(
    dealer: lipstick.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lineage of all of them joins no source of which every row took part."""
    monkeypatch.setattr("lipstick.engines.spark.engine._COUNTED_TOKENS", 2)
    pq.write_table(pa.table({"id": [1, 2, 3], "g": ["a", "a", "b"]}), tmp_path / "r.parquet")
    dealer.track("r", tmp_path / "r.parquet", key="id")
    q = dealer.sql("SELECT g, count(*) AS n FROM r GROUP BY g;")
    everything = q.lineage()["r"]
    assert rows(everything) == [(1, "a"), (2, "a"), (3, "b")]
    assert "Join" not in everything._jdf.queryExecution().toString()
    few = q.filter("g = 'a' AND n > 1")
    assert rows(few.df) == [("a", 2)]
    assert sum(counts["members"] for counts in few.capture.manifest.counts.values()) == 2
    assert rows(few.lineage()["r"]) == [(1, "a"), (2, "a")]
    merged = dealer.sql("SELECT g FROM r").algebra.k_relation(lipstick.semirings.Counting())
    assert rows(merged) == [("a", 2), ("b", 1)]
    alone, by_key, crossed = (
        dealer.sql(f"SELECT a.g FROM r AS a {join}").plan.cost().members
        for join in ("", "JOIN r AS b ON a.id = b.id", "CROSS JOIN r AS b")
    )
    assert by_key == alone > 0
    assert crossed == alone**2
    with pytest.raises(UnsupportedError, match=r"filter\(\) of a query in which chance decides"):
        dealer.sql("SELECT * FROM r TABLESAMPLE (50 PERCENT)").filter("id = 1")


@pytest.mark.slow
@pytest.mark.classic
@pytest.mark.engines("spark")
def test_only_groups_that_somebody_asks_for_are_captured(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of two blocks that can reduce each other the smaller one does, where Spark captures both."""
    with lipstick.session(spark) as ls:
        for name in ("few", "many"):
            count = 4 if name == "few" else 400
            frame = spark.range(count).selectExpr(f"id AS {name}", "id % 40 AS k")
            ls.track(name, frame, key=name)
        correlated = "SELECT few FROM few WHERE few < (SELECT avg(many) FROM many WHERE {})"
        exists = "SELECT {0} FROM {0} WHERE {0} < 100 AND EXISTS (SELECT 1 FROM {1} WHERE {2})"
        same = "many.k = few.k"
        captured = {}
        for number, sql in enumerate(
            (
                correlated.format(same),
                exists.format("few", "many", same),
                exists.format("many", "few", same),
                exists.format("few", "many", f"{same} AND many.k IN (SELECT k FROM few)"),
            )
        ):
            q = ls.sql(sql)
            counts = q.save(tmp_path / str(number)).manifest.counts
            captured[number] = (counts["b0"]["members"], counts["b1"]["members"])
            gone = {"many": [0, 40, 41], "few": [1]}
            left = spark.sql(
                sql.replace(
                    "FROM many", "FROM (SELECT * FROM many WHERE many NOT IN (0, 40, 41)) many"
                ).replace("FROM few", "FROM (SELECT * FROM few WHERE few <> 1) few")
            )
            assert rows(q.what_if(gone).df) == rows(left)
        assert captured == {0: (4, 40), 1: (4, 40), 2: (12, 4), 3: (4, 4)}


@pytest.mark.slow
@pytest.mark.classic
def test_negative_values_forbid_pruning(
    dealer: lipstick.Session, tmp_path: Path, spark: Any
) -> None:
    """Deleting -10 brings the group above the threshold."""
    frame = spark.createDataFrame([(1, "a", -10), (2, "a", 20)], "id int, g string, v int")
    dealer.track("signed", frame, key="id")
    q = dealer.sql("SELECT g, sum(v) AS s FROM signed GROUP BY g HAVING sum(v) > 15")
    assert q.df.count() == 0
    w = q.what_if({"signed": [1]})
    assert rows(w.df) == [("a", 20)]
    assert [row["_change"] for row in w.changes.collect()] == ["added"]


def test_keys_of_the_wrong_width_are_refused(dealer: lipstick.Session) -> None:
    """With the names of the key's columns."""
    with pytest.raises(TrackingError, match=r"A key of 'Cars' has 1 values \(CarId\), not 2"):
        dealer.sql(COUNTS).what_if({"Cars": [("C1", "C2")]})


def test_predicate_that_spark_refuses_is_an_error(dealer: lipstick.Session) -> None:
    """It names the relation and the predicate."""
    with pytest.raises(TrackingError, match=r"'Nothing = 1' cannot be applied to 'Cars'"):
        dealer.sql(COUNTS).what_if({"Cars": "Nothing = 1"})


def test_unknown_relation_in_a_deletion_is_an_error(dealer: lipstick.Session) -> None:
    """A relation that is tracked and not read may be named: nothing changes."""
    q = dealer.sql(COUNTS)
    with pytest.raises(TrackingError, match="does not read a tracked relation 'Vans'"):
        q.what_if({"Vans": ["V1"]})
    assert rows(q.what_if({"Requests": ["B1"]}).df) == rows(q.df)


def test_deletion_cascades_only_when_told(dealer: lipstick.Session) -> None:
    """Rows that refer to a deleted row go with it if `cascade` says so."""
    q = dealer.sql("SELECT CarId FROM Cars")
    assert len(rows(q.what_if({"Requests": ["B1"]}).df)) == 3
    joined = dealer.sql("SELECT c.CarId FROM Cars c LEFT SEMI JOIN Requests r ON c.Model = r.Model")
    assert rows(joined.what_if({"Requests": ["B1"]}).df) == []
    both = dealer.sql("SELECT CarId FROM Cars UNION ALL SELECT BidId FROM Requests")
    w = both.what_if({"Requests": ["B1"]}, cascade={"Cars": ("Model", "Requests")})
    assert len(rows(w.df)) == 3, "Cars.Model is not the key of Requests: nothing matches"


@pytest.mark.quick
@pytest.mark.engines("spark")
def test_rerun_gives_the_same_as_annotations(dealer: lipstick.Session) -> None:
    """And says that it ran the query."""
    q = dealer.sql(COUNTS)
    by_rerun = q.what_if({"Cars": ["C3"]}, method="rerun")
    assert by_rerun.method == "rerun"
    assert (
        rows(by_rerun.df)
        == rows(q.what_if({"Cars": ["C3"]}).df)
        == [
            ("Accord", 1, 24),
            ("Civic", 1, 20),
        ]
    )


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        COUNTS,
        pytest.param(
            "SELECT Model, min(Price) AS low, avg(Price) AS mean FROM Cars GROUP BY Model",
            marks=pytest.mark.classic,
        ),
        pytest.param(
            "SELECT c.Model, sum(c.Price) AS s FROM Cars c JOIN Requests r ON c.Model = r.Model "
            "WHERE c.Model IN (SELECT Model FROM Cars GROUP BY Model HAVING count(*) > 1) "
            "GROUP BY c.Model",
            marks=[pytest.mark.classic, pytest.mark.slow],
        ),
        pytest.param(
            "SELECT max(n) AS most FROM (SELECT Model, count(*) AS n FROM Cars GROUP BY Model)",
            marks=pytest.mark.classic,
        ),
    ],
)
def test_values_by_reference_give_the_same_answers(
    dealer: lipstick.Session, tmp_path: Path, sql: str
) -> None:
    """Values of what a deletion touches are looked up in the sources."""
    q = dealer.sql(sql)
    c = q.save(tmp_path / "c", values="reference")
    assert rows(c.df) == rows(q.df)
    for gone in (["C2"], ["C1", "C3"], ["C1", "C2", "C3"]):
        w, expected = c.what_if({"Cars": gone}), q.what_if({"Cars": gone}, method="rerun")
        assert rows(w.df) == rows(expected.df)
        assert rows(w.changes) == rows(expected.changes)
    counted = c.algebra.evaluate(lipstick.semirings.Counting()) if "HAVING" not in sql else c.df
    assert len(rows(counted)) == len(rows(q.df))


def test_changed_source_ends_lookups_by_reference(
    ls: lipstick.Session, spark: Any, tmp_path: Path
) -> None:
    """A value of the new file must not be taken for one of the old."""
    path = tmp_path / "t.parquet"
    spark.createDataFrame([(1, "a", 5), (2, "a", 7)], "id int, g string, v int").coalesce(
        1
    ).write.parquet(str(path))
    ls.track("t", str(path), key="id")
    c = ls.sql("SELECT g, sum(v) AS s FROM t GROUP BY g").save(tmp_path / "c", values="reference")
    file = next(path.glob("*.parquet"))
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(SourceChangedError, match="changed since the capture"):
        c.what_if({"t": [1]}).df.collect()


@pytest.mark.parametrize("kind", ["folder", "table"])
def test_an_opened_capture_reads_no_changed_source(
    ls: lipstick.Session, spark: Any, tmp_path: Path, kind: str
) -> None:
    """Questions that need the source refuse it; those that need the capture alone do not."""
    path = tmp_path / "t.parquet"
    spark.createDataFrame([(1, "a", 5), (2, "b", 7)], "id int, g string, v int").coalesce(
        1
    ).write.parquet(str(path))
    if kind == "table":
        spark.sql(f"CREATE TABLE pinned USING parquet LOCATION '{path}'").collect()
    try:
        ls.track("pinned", str(path) if kind == "folder" else None, key="id")
        c = ls.sql("SELECT g, sum(v) AS s FROM pinned GROUP BY g").save(tmp_path / "c")
        if kind == "folder":
            file = next(path.glob("*.parquet"))
            file.write_bytes(file.read_bytes() + b" ")
        else:
            spark.sql("INSERT INTO pinned VALUES (3, 'c', 1)").collect()
        opened = lipstick.open(tmp_path / "c", spark)
        questions: list[Callable[[], object]] = [
            lambda: opened.what_if({"pinned": "v = 5"}),
            lambda: opened.what_if({"pinned": [99]}),
            lambda: opened.what_if_updated({"pinned": {"v": "v + 1"}}),
            lambda: opened.what_if_many(lipstick.each("pinned", by="g")),
            lambda: opened.algebra.evaluate(lipstick.semirings.Counting(), {"pinned": "v"}),
            opened.lineage,
        ]
        for question in questions:
            with pytest.raises(SourceChangedError, match=r"'pinned' .* since the capture"):
                question()
        assert rows(opened.df) == rows(c.df)
        assert lipstick.open(tmp_path / "c").what_if({"pinned": [1]}).df.num_rows == 1
    finally:
        if kind == "table":
            spark.sql("DROP TABLE pinned").collect()


def test_limits_are_numbers_of_rows(dealer: lipstick.Session) -> None:
    """A negative one is not a place from the end."""
    q = dealer.sql("SELECT Model, count(*) AS n FROM Cars GROUP BY Model")
    for ask in (
        q.algebra.members,
        q.polynomials,
        partial(q.algebra.tensors, "n"),
        partial(q.probability, 0.5),
    ):
        with pytest.raises(ArgumentError, match="limit is -1: the number of rows to return"):
            ask(limit=-1)
    assert q.polynomials(limit=0) == []

"""Derivations on disk and what must hold of a target, without Spark."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql.types import StructType

from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.errors import CaptureError, TrackingError, UnsupportedError
from lipstick.questions.deletion import Deletion
from lipstick.tables.ancestry import Ancestry
from lipstick.tables.derivation import Derivation, Part, latest_version, read_latest, read_version
from lipstick.tables.hypothesis import Reduced, check_runs_again
from lipstick.tables.target import Target, named_key
from lipstick.tracking.source import Source
from rewriter.dialect import Into
from tests.oracle.written import schema_of
from tests.rewriter.lower.catalog import blocks

PART = Part("p", ("a", "b"), StructType().add("a", "integer").json(), ("f0", "f1"), captured=False)
SCHEMA = StructType().add("a", "integer").add("b", "string")


def derivation(directory: Path, version: int = 1, *parts: Part) -> Derivation:
    """A version of a table t(a, b)."""
    return Derivation(
        directory, version, "t", SCHEMA.json(), ("a",), True, parts or (PART,), (("f", 1, 2),)
    )


def record(name: str, derived: Derivation | None = None, token: str = "a") -> RelationRecord:
    """A relation as a capture knows it."""
    path = None if derived is None else str(derived.path)
    return RelationRecord(name, "v", "key", (token,), ("a", "b"), True, "table t", derived=path)


def test_version_is_read_as_it_was_written(tmp_path: Path) -> None:
    first = derivation(tmp_path)
    first.write()
    second = derivation(tmp_path, 2, PART, replace(PART, name="q"))
    second.write()
    assert latest_version(tmp_path) == 2
    assert read_latest(tmp_path) == second
    assert read_version(first.path) == first
    assert second.first_file(second.parts[1]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v000001.json", "v000002.json"]


def test_version_is_written_once(tmp_path: Path) -> None:
    """Of two processes that write one version, the second is told."""
    derivation(tmp_path).write()
    derivation(tmp_path).write()  # another process finished the same write
    with pytest.raises(CaptureError, match="written by two processes at once"):
        derivation(tmp_path, 1, replace(PART, name="q")).write()
    assert [path.name for path in tmp_path.iterdir()] == ["v000001.json"]


def test_directory_without_a_version(tmp_path: Path) -> None:
    """What an interrupted write leaves is not taken for a derivation."""
    (tmp_path / "parts").mkdir()
    for directory in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(CaptureError, match="is not a derivation of a table: it has no version"):
            read_latest(directory)


def test_other_format_is_refused(tmp_path: Path) -> None:
    written_derivation = derivation(tmp_path)
    written_derivation.write()
    document = json.loads(written_derivation.path.read_text())
    written_derivation.path.write_text(json.dumps({**document, "format": 7}))
    with pytest.raises(CaptureError, match="derivation format 7"):
        read_latest(tmp_path)
    written_derivation.path.write_text("{")
    with pytest.raises(CaptureError, match="cannot be read"):
        read_latest(tmp_path)


def test_versions_that_add_rows_are_one_relation(tmp_path: Path) -> None:
    """Their tuples have the same names; those of a table that was written anew have not."""
    first, more = derivation(tmp_path), derivation(tmp_path, 2, PART, replace(PART, name="q"))
    anew = derivation(tmp_path, 3, replace(PART, name="r"))
    for version in (first, more, anew):
        version.write()
    added = Ancestry({"t": record("t", first), "u": record("t", more)})
    assert added.records["t"].derived == str(more.path)
    added.check_unambiguous(["T"])
    replaced = Ancestry({"t": record("t", first), "u": record("t", anew)})
    with pytest.raises(TrackingError, match="is not the 'T' any more"):
        replaced.check_unambiguous(["T"])
    retracked = Ancestry({"t": record("t"), "u": record("t", token="b")})
    assert retracked.ambiguous == {"t"}


class Frame:
    """Of a data frame the schema."""

    schema = SCHEMA


THERE = Source(Frame(), "table t", None, ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("a int", "has 2 columns, the answer has 1"),
        ("a int, c string", "has no column c"),
        ("a bigint, b string", r"column a of 't' is int, the answer's is bigint(.|\n)*AS int\)"),
        ("a int, A int", "two columns of one name"),
    ],
)
def test_columns_that_a_table_does_not_have(answer: str, problem: str) -> None:
    target = Target("t", "t", "append")
    with pytest.raises(TrackingError, match=problem):
        target.columns(_schema(answer), THERE)


def test_columns_by_name_and_by_place() -> None:
    assert Target("t", "t", "append").columns(_schema("B string, A int"), THERE) == ("b", "a")
    placed = Target("t", "t", "overwrite", into=Into(), keeps_schema=True)
    assert placed.columns(_schema("x int, y string"), THERE) == ("a", "b")
    anew = Target("t", "t", "overwrite")
    assert anew.columns(_schema("x int"), THERE) == ("x",)


@pytest.mark.parametrize(
    ("answer", "problem"), [("a int, A int", "two columns called a"), ("a void", "has no type")]
)
def test_columns_that_no_table_has(answer: str, problem: str) -> None:
    with pytest.raises(TrackingError, match=problem):
        Target("t", "t", "error").columns(_schema(answer), None)


def test_settings_that_are_none() -> None:
    with pytest.raises(TrackingError, match="not 'ignore'"):
        Target("t", "t", "ignore")
    with pytest.raises(TrackingError, match="read from csv otherwise"):
        Target("t", "/t", "error", format="csv")
    with pytest.raises(TrackingError, match="no column 'c' to use as a key"):
        named_key("t", ["c"], ["a", "b"])
    assert named_key("t", ["B"], ["a", "b"]) == ("b",)


def test_provenance_is_kept_beside_a_path_or_in_the_store() -> None:
    store = Path("/store")
    assert Target("t", "/d/t.parquet/", "error", format="parquet").kept_in(store) == Path(
        "/d/t.parquet.provenance"
    )
    assert Target("db.t", "db.t", "error").kept_in(store) == Path("/store/derived/db.t")
    assert Target("t", "t", "error", directory=Path("/p")).kept_in(store) == Path("/p")


def _schema(ddl: str) -> StructType:
    schema = StructType()
    for column in ddl.split(", "):
        name, kind = column.split(" ")
        schema = schema.add(name, {"int": "integer", "bigint": "long"}.get(kind, kind))
    return schema


@pytest.mark.parametrize(
    ("sql", "recursive", "problem"),
    [
        ("SELECT car_id FROM cars TABLESAMPLE (10 PERCENT)", False, "in which chance decides"),
        ("SELECT car_id FROM cars", True, "a recursive query cannot be run again over"),
        ("SELECT car_id FROM cars", False, None),
    ],
)
def test_queries_that_cannot_be_run_over_other_rows(
    sql: str, recursive: bool, problem: str | None
) -> None:
    """Where values of a derived relation change, a query over it is run again."""
    manifest = Manifest(
        sql, ("car_id",), schema_of(["car_id"]), "copy", blocks(sql), {}, recursive=recursive
    )
    reduced = Reduced(Deletion({}), {"cars": "view"})
    if problem is None:
        check_runs_again(manifest, reduced)
        return
    with pytest.raises(UnsupportedError, match=problem):
        check_runs_again(manifest, reduced)

"""Captures of strangers are data: they lead nowhere else, and nothing of them is run."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lipstick.capture.capture import Capture, open_capture
from lipstick.capture.contents import StoredFile, describe
from lipstick.capture.documents import named_class, seal
from lipstick.capture.manifest import Manifest
from lipstick.errors import CaptureDamagedError, CaptureError
from lipstick.tables.derivation import read_latest
from lipstick.workflow.errors import WorkflowError
from lipstick.workflow.execution.tables import remember_structs
from tests.damage.subjects import A, ATable
from tests.oracle.database import Database
from tests.oracle.written import write_capture

SQL = "SELECT k, count(*) AS n, sum(x) AS s FROM a WHERE x > 1 GROUP BY k"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A capture of a block with members and rows."""
    write_capture(SQL, Database({"a": A}), tmp_path / "c")
    return tmp_path / "c"


def _claimed(capture: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Write a manifest that says something else, with a checksum that fits."""
    document = Manifest.read(capture).to_json()
    change(document)
    (capture / "manifest.json").write_bytes(seal("capture", 2, document))
    return capture


@pytest.mark.parametrize(
    "name", ["../x.parquet", "/etc/passwd", "b0/../../x", "b0//x", "C:/x", "b0\\x", "", ".", "a/."]
)
def test_no_name_of_a_file_leads_out_of_a_capture(capture: Path, name: str) -> None:
    with pytest.raises(ValueError, match="describes no file"):
        StoredFile(name, 1, 1, "0" * 64)

    def renamed(document: dict[str, Any]) -> None:
        document["files"][0][0] = name

    with pytest.raises(CaptureDamagedError, match=r"cannot be understood: .* describes no file"):
        open_capture(_claimed(capture, renamed))


def test_no_name_of_a_block_leads_out_of_a_capture(capture: Path) -> None:
    def renamed(document: dict[str, Any]) -> None:
        document["blocks"][-1]["name"] = "../other/b0"

    with pytest.raises(
        CaptureDamagedError,
        match=r"has a block called '\.\./other/b0'|the blocks that it describes are others",
    ):
        open_capture(_claimed(capture, renamed))


def test_no_link_leads_out_of_a_capture(capture: Path) -> None:
    shutil.move(capture / "b0", capture.parent / "elsewhere")
    (capture / "b0").symlink_to(capture.parent / "elsewhere")
    with pytest.raises(CaptureDamagedError, match="It is a link, which no capture has"):
        open_capture(capture)
    unopened = Capture(capture, Manifest.read(capture))
    with pytest.raises(CaptureDamagedError, match="It is a link, which no capture has"):
        _ = unopened.df


@pytest.mark.parametrize(
    ("scalar", "what"),
    [
        ("reflect('java.lang.System', 'exit', 0)", "a call of reflect, which runs a Java method"),
        ("g.n + `java_method`('java.lang.Runtime', 'getRuntime')", "a call of java_method"),
        ("system.builtin.try_reflect('java.util.UUID', 'randomUUID')", "a call of try_reflect"),
        ("(SELECT max(x) FROM parquet.`/etc/x`)", "a query inside of an expression"),
        ("g.n IN (SELECT x FROM secrets)", "a query inside of an expression"),
        ("EXISTS (SELECT 1 FROM secrets)", "a query inside of an expression"),
    ],
)
@pytest.mark.parametrize("part", ["outputs", "aggregates", "having", "members"])
def test_a_manifest_computes_values_and_nothing_else(
    capture: Path, scalar: str, what: str, part: str
) -> None:
    def changed(document: dict[str, Any]) -> None:
        block = document["blocks"][-1]
        if part == "outputs":
            block["outputs"][0][1] = scalar
        elif part == "aggregates":
            block["aggregates"][0][1] = scalar
        elif part == "having":
            block["having"] = [scalar]
        else:
            block["core"]["select"].append(["more", scalar])

    with pytest.raises(CaptureDamagedError, match=what):
        open_capture(_claimed(capture, changed))


UDT = {
    "type": "udt",
    "pyClass": "lipstick_test_stranger.Evil",
    "serializedClass": "gASVCgAAAAAAAACMBm9z",
    "sqlType": "string",
}
_STRUCT = {
    "type": "struct",
    "fields": [
        {
            "name": "v",
            "type": {"type": "array", "elementType": UDT},
            "nullable": True,
            "metadata": {},
        }
    ],
}


@pytest.mark.parametrize(
    "udt",
    [
        UDT,
        {"type": "udt", "class": "com.example.Evil", "sqlType": "string"},
        {"type": "udt", "pyClass": "os.path", "class": "org.apache.spark.X", "sqlType": "string"},
        {**UDT, "pyClass": "pyspark.ml.linalg.VectorUDT"},
    ],
)
@pytest.mark.parametrize("key", ["schema", "schemas"])
def test_no_type_brings_a_class(capture: Path, udt: dict[str, Any], key: str) -> None:
    """PySpark would import it, or unpickle what the manifest says that it is."""
    schema = {
        "type": "struct",
        "fields": [{"name": "v", "type": udt, "nullable": True, "metadata": {}}],
    }

    def changed(document: dict[str, Any]) -> None:
        if key == "schema":
            document["schema"]["fields"][0]["type"] = udt
        else:
            document["schemas"]["b0"]["members"] = schema

    with pytest.raises(CaptureDamagedError, match=r"has values of the class .*, whose code would"):
        open_capture(_claimed(capture, changed))


def test_types_of_sparks_own_are_read() -> None:
    vector = {"type": "udt", "class": "org.apache.spark.ml.linalg.VectorUDT", "sqlType": {}}
    assert named_class([vector, {**vector, "pyClass": "pyspark.ml.linalg.VectorUDT"}]) is None


def test_no_file_brings_a_class(capture: Path) -> None:
    """Spark reads the schema of a file that nothing else says from what the file says of it."""
    [path] = (capture / "b0" / "members").iterdir()
    table = pq.read_table(path)
    kept = {"org.apache.spark.sql.parquet.row.metadata": json.dumps(_STRUCT)}
    pq.write_table(table.replace_schema_metadata(kept), path)
    manifest = Manifest.read(capture)
    for files in (None, describe(capture, ["b0"])):
        claimed = replace(manifest, files=files)
        with pytest.raises(CaptureDamagedError, match=r"of the class lipstick_test_stranger\.Evil"):
            claimed.contents(capture).read("b0/members")


def test_no_version_of_a_table_brings_a_class(tmp_path: Path) -> None:
    table = ATable(tmp_path / "w", 1)
    version = read_latest(table.path)
    part = replace(version.parts[0], schema=json.dumps(_STRUCT))
    for other in (
        replace(version, version=3, schema=json.dumps(_STRUCT)),
        replace(version, version=4, parts=(part,)),
    ):
        other.write()
        with pytest.raises(CaptureDamagedError, match="has values of the class"):
            read_latest(table.path)


def test_no_store_of_a_run_brings_a_class() -> None:
    with pytest.raises(WorkflowError, match=r"values of the class lipstick_test_stranger\.Evil"):
        remember_structs({"v array<string>": _STRUCT})


def test_a_manifest_that_makes_no_sense_is_told(capture: Path) -> None:
    """Whatever is missing in it, or of another kind."""
    whole = Manifest.read(capture).to_json()
    for part in whole:
        for value in (None, 7, "x", [], {}, [[]], {"a": {}}):

            def changed(document: dict[str, Any], part: str = part, value: Any = value) -> None:
                document.clear()
                document.update(whole)
                document[part] = value

            try:
                open_capture(_claimed(capture, changed)).df.to_pylist()
            except CaptureError:
                pass
            finally:
                (capture / "manifest.json").write_bytes(seal("capture", 2, whole))


def test_what_is_stored_is_never_unpickled() -> None:
    """Nor run in another way: nothing that reads captures or stores imports what could."""
    root = Path(__file__).parents[3]
    folders = ("lipstick/capture", "lipstick/tables", "lipstick/engines/memory", "graphquery/store")
    runs = {"pickle", "marshal", "shelve", "cloudpickle", "importlib", "runpy"}
    for path in (each for folder in folders for each in (root / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {(node.module or "").partition(".")[0], *(a.name for a in node.names)}
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                names = {node.func.id} & {"eval", "exec", "compile", "__import__"}
                assert not names, f"{path}: {names}"
                continue
            else:
                continue
            assert not names & runs, f"{path}: {names & runs}"

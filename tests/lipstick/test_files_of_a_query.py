"""The number of files that a reader opens to follow one query, which may only become smaller."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lipstick
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.capture.writer import needs_rows
from lipstick.engines.memory.arrow_datasets import HeldDatasets
from lipstick.engines.memory.cores import CoreInputs, core_rows
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.grouping import group_rows
from lipstick.engines.memory.memory import Memory
from rewriter import (
    Environment,
    MemoryCatalog,
    TokenSource,
    TrackedRelation,
    bind_query,
    dialect,
    lower_query,
    planned_capture,
    rewritten_sql,
)
from rewriter.blocks import Block, topological
from rewriter.emit.statements import members_sql, plain_sql, rows_sql

ROOT = Path(lipstick.__file__).parent.parent
SQL = "SELECT model, count(*) AS n FROM cars GROUP BY model"
CARS = pa.table({"car_id": ["C1", "C2", "C3"], "model": ["Accord", "Civic", "Civic"]})
MOST = {"rewriter": 60, "lipstick/engines/memory": 40}
"""The files that may be entered, by folder."""


@contextmanager
def _entered(files: set[str]) -> Iterator[None]:
    """Collect the files of this project whose functions are called."""
    before = sys.getprofile()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


def _ask(folder: Path) -> list[str]:
    """Put the query of the README through the rewriter, capture it and ask, all without Spark."""
    catalog = MemoryCatalog([TrackedRelation("cars", ("car_id", "model"))])
    expression = dialect.parse(SQL)
    assert dialect.emit(expression, grouped=True)
    bound = bind_query(SQL, Environment(catalog, levels={}), expression)
    tokens = {"cars": TokenSource("cars", ("car_id",), (("car_id",),))}
    root = lower_query(bound.root, tokens, SQL)
    planned_capture(root, lambda *_: True)
    assert rewritten_sql(root)
    assert plain_sql(root)
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("model", "string"), ("n", "long"))
    ]
    schema = json.dumps({"type": "struct", "fields": fields})
    record = RelationRecord("cars", "cars", "key", ("car_id",), ("car_id", "model"), True, "cars")
    manifest = Manifest(SQL, ("model", "n"), schema, "copy", root, {"cars": record})
    _capture(root, manifest, folder)
    memory = Memory(folder, manifest)
    answers = [str(annotation) for _, annotation in memory.annotations()]
    answers += [str(tensor) for _, tensor in memory.tensors("n")]
    changes = memory.what_if({"cars": pa.table({"car_id": ["C2"]})}).changes
    return [*answers, str(changes.to_pylist()[1]["new"]["n"])]


def _capture(root: Block, manifest: Manifest, folder: Path) -> None:
    held = HeldDatasets()
    engine = Engine(held, manifest)
    for block in topological(root):
        assert block.core is not None
        assert members_sql(block, lambda each: each.name)
        members = core_rows(block.core, CoreInputs({"cars": CARS}, 100))
        held.hold(block, "members", members)
        tables = {"members": members}
        if needs_rows(block):
            assert rows_sql(block, lambda each: each.name, {})
            tables["rows"] = group_rows(engine.members(block))
        for name, table in tables.items():
            path = folder / block.name / name
            path.mkdir(parents=True)
            pq.write_table(table, path / "part.parquet")


def test_files_of_a_query(tmp_path: Path) -> None:
    """The rewriter and the engine in memory answer the README's query in few files."""
    expected = ["δ(cars:C1)", "δ(cars:C2 + cars:C3)", "cars:C1⊗1", "cars:C2⊗1 + cars:C3⊗1", "1"]
    assert _ask(tmp_path / "first") == expected  # imports are not part of the path
    files: set[str] = set()
    with _entered(files):
        assert _ask(tmp_path / "second") == expected
    for folder, most in MOST.items():
        entered = sorted(file for file in files if file.startswith(f"{ROOT / folder}/"))
        assert len(entered) <= most, "\n".join(entered)

"""Runs of a small workflow in processes without Spark: its queries are captured by DuckDB.

All else is what runs: the runner, derivations, the ledger and the store. So a process costs some
milliseconds, and can be killed many times.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, LongType, StructType

from graphquery.store import Store
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.capture.writer import needs_rows
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.store import StoredDatasets
from lipstick.workflow import Module, Relation, Specification, StateQuery, Workflow
from lipstick.workflow.definition.query import BEFORE
from lipstick.workflow.definition.steps import Step, steps
from lipstick.workflow.execution import benches, runner
from lipstick.workflow.execution.bench import QueryAnswer
from lipstick.workflow.execution.tables import remember_structs, struct_of
from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation
from rewriter.blocks import Block, TokenSource, topological
from rewriter.emit.statements import members_sql, rows_sql
from rewriter.lower import lower_query
from tests.graphquery.store.workload import Unsynced
from tests.oracle.duck import connected_duck
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.written import schema_of

ROW = "_row"
NO_STATE: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
EXECUTIONS = 8
NUMBERS = Relation("n int", key="n")
TOTAL = Relation("total bigint")
INPUTS: list[dict[str, Any]] = [{"In": [(n,)]} for n in range(EXECUTIONS)]
TYPES = {
    NUMBERS.ddl: StructType().add("n", IntegerType()),
    TOTAL.ddl: StructType().add("total", LongType()),
}
"""What Spark reads in the texts of columns."""


def counter() -> Workflow:
    """Two nodes: one remembers every number it was given, the other passes on how many."""
    remember = Specification(
        "remember",
        {"In": NUMBERS},
        {"Out": NUMBERS},
        {"Out": "SELECT n FROM Seen"},
        state={"Seen": NUMBERS},
        query_state=StateQuery(insert={"Seen": "SELECT n FROM In"}),
    )
    count = Specification(
        "count",
        {"Out": NUMBERS},
        {"Total": TOTAL},
        {"Total": "SELECT count(*) AS total FROM Out"},
    )
    nodes = {"remember": Module("remember", remember), "count": Module("count", count)}
    return Workflow("counter", nodes, [("remember", "count")], "remember", "count")


class DuckBench:
    """What a `Bench` is for queries that DuckDB and Spark understand alike."""

    provenance = True

    def __init__(
        self, spark: SparkSession, specification: Specification, folder: Path, *, tracked: bool
    ) -> None:
        assert spark is None
        assert tracked
        folder.mkdir(parents=True)
        self.store = folder
        declared = {**specification.inputs, **specification.state}
        before = {f"{BEFORE}{name}": each for name, each in specification.state.items()}
        self.schemas = {name: struct_of(each) for name, each in {**declared, **before}.items()}
        columns = {name: tuple(schema.names) for name, schema in self.schemas.items()}
        self.blocks: dict[Step, tuple[str, Block, tuple[str, ...]]] = {}
        for step in steps(specification):
            tokens = {name: TokenSource(name, (ROW,)) for name in columns}
            catalog = MemoryCatalog([TrackedRelation(*each) for each in columns.items()])
            root = bind_query(step.query.sql, Environment(catalog)).root
            names = tuple(attribute.name for attribute in root.attributes)
            self.blocks[step] = step.query.sql, lower_query(root, tokens, step.query.sql), names
            if step.role == "relation":
                columns[step.name] = names
        self.columns = columns
        self.database = connected_duck()

    def expect(self, rows: int) -> None:
        """Nothing is prepared."""

    def bind(self, name: str, table: pa.Table) -> None:
        """Give a relation its rows, numbered."""
        numbered = table.append_column(ROW, pa.array(range(table.num_rows), pa.int64()))
        self._keep(name, numbered)

    def answer(self, step: Step) -> QueryAnswer:
        """Capture a query as `lipstick.capture.writer` does."""
        sql, root, names = self.blocks[step]
        folder, rows = self.store / uuid.uuid4().hex, dict[str, str]()
        for block in topological(root):
            if block.core is not None:
                statement = members_sql(block, _members)
                self._capture(statement, _members(block), folder, block, "members")
            if needs_rows(block):
                self._capture(rows_sql(block, _members, rows), _rows(block), folder, block, "rows")
                rows[block.name] = _rows(block)
        relations = {
            name: RelationRecord(name, name, "rows", (ROW,), columns, True, name)
            for name, columns in self.columns.items()
        }
        manifest = Manifest(sql, names, schema_of(names), "copy", root, relations)
        engine = Engine(StoredDatasets(folder), manifest)
        state = engine.base(root.name)
        return QueryAnswer(engine.table(state), engine, state.repeated)

    def clear(self) -> None:
        """Remove the files of an invocation."""
        for path in self.store.iterdir():
            shutil.rmtree(path)

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def _capture(self, sql: str, name: str, folder: Path, block: Block, kind: str) -> None:
        table: Any = self.database.execute(to_duckdb(sql)).fetch_arrow_table()
        self._keep(name, table)
        path = folder / block.name / kind
        path.mkdir(parents=True)
        pq.write_table(table, path / "part.parquet")

    def _keep(self, name: str, table: pa.Table) -> None:
        self.database.register("loading", table)
        self.database.execute(f'CREATE OR REPLACE TABLE "{name}" AS FROM loading')
        self.database.unregister("loading")


def _members(block: Block) -> str:
    return f"{block.name}_m"


def _rows(block: Block) -> str:
    return f"{block.name}_r"


def run(path: Path) -> None:
    """Run the counter, or what is left of it, into a store; to be called in its own process."""
    remember_structs({ddl: struct.jsonValue() for ddl, struct in TYPES.items()})
    run_workflow(Store.open(path, files=Unsynced()), counter(), INPUTS)


def run_workflow(
    store: Store,
    workflow: Workflow,
    inputs: Sequence[Mapping[str, Any]],
    state: Mapping[str, Mapping[str, Any]] = NO_STATE,
) -> None:
    """Run a workflow whose columns' texts are known (see `remember_structs`)."""
    nothing = cast("SparkSession", None)
    with (
        patch.object(benches, "Bench", DuckBench),
        patch.object(benches, "isolated", lambda spark, settings: nullcontext(spark)),
        patch.object(benches, "sql_settings", lambda spark: {}),
        store.writer() as writer,
        runner.WorkflowRunner(workflow, nothing, writer, tracked=True, parallelism=1) as running,
    ):
        running.begin(state)
        running.run(inputs, 0)

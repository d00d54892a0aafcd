"""What is damaged: small captures, provenance of written tables and stores, with known answers.

Without Spark: captures are written by DuckDB. What Spark would read is read here as it would: all
files of a folder, after the same checks.
"""

from __future__ import annotations

import random
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import sqlglot

from graphquery import ProvenanceGraph
from graphquery.store import Snapshot, Store, StoreError
from lipstick.capture.capture import Capture, open_capture
from lipstick.capture.contents import MANIFEST
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.errors import CaptureError, SourceChangedError
from lipstick.tables.derivation import (
    CAPTURE,
    FILLED_FILES,
    ROWS,
    TUPLE,
    Derivation,
    Part,
    read_latest,
)
from lipstick.tables.derived_rows import described
from rewriter.blocks import topological
from rewriter.errors import UnsupportedError
from semiring.errors import LipstickError
from semiring.semirings import Counting
from semiring.support.document import file_checksum
from tests.graphquery.dealership import dealership
from tests.graphquery.store.workload import Unsynced, add, content
from tests.lipstick.stored import store_graph
from tests.oracle.database import Database
from tests.oracle.generator import generate
from tests.oracle.small import small
from tests.oracle.written import write_capture

Question = Callable[[Path], Any]


class Subject(ABC):
    """A folder, and questions to it.

    Parameters
    ----------
    path
        Where it is made.
    """

    named: tuple[type[LipstickError], ...] = (CaptureError,)
    """The errors that damage may be told by."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.right = self.answers(path)

    @property
    @abstractmethod
    def questions(self) -> Mapping[str, Question]:
        """What is asked of it, by what that is called."""

    @property
    def what(self) -> str:
        """What it is, for messages."""
        return type(self).__name__

    def answers(self, path: Path) -> dict[str, Any]:
        """The answers, or errors, to all questions."""
        return {name: self.answer(name, path) for name in self.questions}

    def answer(self, name: str, path: Path) -> Any:
        """The answer to one question; an error if it is one of ours."""
        try:
            return _plain(self.questions[name](path))
        except LipstickError as error:
            return error

    def older(self, name: str, answer: Any) -> bool:
        """Whether an answer was right before the last change."""
        return False

    def places(self, error: LipstickError, path: Path) -> bool:
        """Whether an error says where the damage is."""
        return str(path) in str(error)


class ACapture(Subject):
    """The capture of a random query."""

    def __init__(self, path: Path, seed: int) -> None:
        self.sql = _captured(path, seed)
        super().__init__(path)

    @property
    def what(self) -> str:
        """With the query."""
        return f"capture of {self.sql}"

    @property
    def questions(self) -> Mapping[str, Question]:
        """What a capture answers in memory, and the rows that Spark would read."""
        return {
            "answer": lambda path: open_capture(path).df,
            "what-if": lambda path: _without_first(open_capture(path)),
            "counts": lambda path: open_capture(path).algebra.evaluate(Counting()),
            "lineage": lambda path: open_capture(path).lineage(),
            "annotations": lambda path: open_capture(path).polynomials(None),
            "rows read by Spark": _read_by_spark,
        }


def _captured(path: Path, seed: int) -> str:
    """Capture the first query from a seed on that DuckDB knows, in which nothing is left open."""
    while True:
        case = generate(seed)
        try:
            write_capture(case.sql, case.database, path)
            return case.sql
        except (duckdb.Error, sqlglot.errors.SqlglotError, UnsupportedError):
            shutil.rmtree(path, ignore_errors=True)
            seed += 100_000


def _without_first(capture: Capture) -> Any:
    """The changes by a deletion of some tuples of every relation."""
    gone = {name: table.slice(0, 2) for name, table in capture.memory.lineage().items()}
    return capture.what_if(gone).changes


def _read_by_spark(path: Path) -> dict[str, Any]:
    capture = open_capture(path)
    contents = capture.manifest.contents(path)
    rows_by_dataset = {}
    for block in topological(capture.manifest.root):
        for dataset in ("members", "rows"):
            if contents.has(f"{block.name}/{dataset}"):
                contents.read(f"{block.name}/{dataset}")
                rows_by_dataset[f"{block.name}/{dataset}"] = _rows_of(path / block.name / dataset)
    return rows_by_dataset


def _rows_of(folder: Path) -> Any:
    """All rows that a folder has, whatever wrote them there."""
    visible = sorted(each for each in folder.iterdir() if each.name[0] not in "._")
    return [[_text(column) for column in pq.read_table(each).columns] for each in visible]


A = small(
    "a",
    "id int, k int, x int",
    [(n, n % 4, (7 * n) % 11 if n % 5 else None) for n in range(1, 40)],
)
WRITTEN = ("SELECT id, k, x FROM a WHERE x > 3", "SELECT id, k, x FROM a WHERE x <= 3 AND k < 3")


class ATable(Subject):
    """The provenance of a table that two statements wrote, and a capture of a query over it."""

    named = (CaptureError, SourceChangedError)

    def __init__(self, path: Path, seed: int) -> None:
        chance = random.Random(seed)
        first = _part(path, "p1", WRITTEN[0], chance.randint(1, 3))
        second = _part(path, "p2", WRITTEN[1], chance.randint(1, 3))
        self._version(path, 1, first).write()
        self._last = self._version(path, 2, first, second)
        self._last.write()
        self._above = path.parent / f"{path.name}-above"
        self.sql = "SELECT k, id FROM w"
        database = Database({"w": _relation(path, self._last)})
        write_capture(self.sql, database, self._above)
        super().__init__(path)

    @staticmethod
    def _version(path: Path, number: int, *parts: Part) -> Derivation:
        states = (("file:/w", number, number),)
        return Derivation(path, number, "w", _SCHEMA, ("id",), True, parts, states)

    @property
    def questions(self) -> Mapping[str, Question]:
        """What is asked of a query over the table, and of the table where it is tracked again."""
        return {
            "tracked": self._tracked,
            "annotations": lambda path: self._open(path).polynomials(None, expand=True),
            "origins": lambda path: self._open(path).lineage(),
            "rows read by Spark": self._rows,
            "makers": self._makers,
        }

    def _open(self, path: Path) -> Capture:
        """The query over the table, whose provenance is in some folder."""
        manifest = Manifest.read(self._above)
        record = RelationRecord(
            name="w",
            view="w",
            naming="key",
            token=("id",),
            columns=("id", "k", "x"),
            verified=True,
            description="table w",
            derived=str(path / self._last.path.name),
            derived_checksum=file_checksum(self._last.path),
        )
        return Capture(self._above, replace(manifest, relations={"w": record}))

    def _tracked(self, path: Path) -> Any:
        """The last version, if it is of the table that is there: as a session tracks it."""
        latest = read_latest(path)
        if latest.fingerprint != self._last.fingerprint:
            raise SourceChangedError(f"the table is not what was written with {path}")
        return [latest.name, latest.key, [part.name for part in latest.parts]]

    def _rows(self, path: Path) -> Any:
        capture = self._open(path)
        derivation = capture.ancestry.derivation(capture.manifest.relations["w"])
        return [
            (_rows_of(derivation.rows(part)), _rows_of(derivation.filled(part)))
            for part in derivation.parts
        ]

    def _makers(self, path: Path) -> Any:
        capture = self._open(path)
        makers = capture._part_captures(capture.manifest.relations["w"])
        return [(each.df.to_pylist(), each.polynomials(None)) for each in makers]


_SCHEMA = (
    '{"type":"struct","fields":['
    + ",".join(
        f'{{"name":"{name}","type":"integer","nullable":true,"metadata":{{}}}}'
        for name in ("id", "k", "x")
    )
    + "]}"
)


def _part(path: Path, name: str, sql: str, files: int) -> Part:
    """Write a part: the capture of its query, and its rows with the tuples that they are."""
    folder = path / "parts" / name
    folder.mkdir(parents=True)
    capture = write_capture(sql, Database({"a": A}), folder / CAPTURE)
    engine = capture.memory._engine
    state = engine.base(engine.root.name)
    identity = [state.take(column, state.ordered) for column in engine.root.identity]
    tuples = pa.StructArray.from_arrays(identity, [f"i{at}" for at in range(len(identity))])
    rows = capture.df.append_column(TUPLE, tuples)
    (folder / ROWS).mkdir()
    size = -(-rows.num_rows // files)
    for number in range(files):
        file = folder / ROWS / f"part-{number:05}.parquet"
        pq.write_table(rows.slice(number * size, size), file)
    (folder / FILLED_FILES).mkdir()
    pq.write_table(pa.table({"filled": [7]}), folder / FILLED_FILES / "part-0.parquet")
    part = described(Part(name, ("id", "k", "x"), _SCHEMA, (), True), folder)
    return replace(part, manifest=file_checksum(folder / CAPTURE / MANIFEST))


def _relation(path: Path, derivation: Derivation) -> Any:
    """The table as a relation that a query can read."""
    tables = [pq.read_table(path / "parts" / part.name / ROWS) for part in derivation.parts]
    rows = pa.concat_tables(tables).drop_columns([TUPLE])
    return small("w", "id int, k int, x int", [tuple(row.values()) for row in rows.to_pylist()])


class AStore(Subject):
    """A store: of a graph, or of numbered transactions."""

    named = (StoreError,)

    def __init__(self, path: Path, seed: int) -> None:
        self._graph = seed // 4 % 2 == 0
        if self._graph:
            store_graph(dealership(), path)
        else:
            store = Store.create(path, files=Unsynced())
            with store.writer() as writer:
                for number in range(3 + seed % 8):
                    with writer.transaction() as transaction:
                        add(transaction, number)
                        transaction.commit()
        super().__init__(path)
        last = Store.open(path).snapshot().version
        self._earlier = [
            {name: _plain(about(Store.open(path).snapshot(version))) for name, about in self._about}
            for version in range(last)
        ]

    @property
    def questions(self) -> Mapping[str, Question]:
        """All that is in it; and of a graph also what it is built to."""
        return {
            name: lambda path, about=about: about(Store.open(path).snapshot())
            for name, about in self._about
        }

    @property
    def _about(self) -> list[tuple[str, Callable[[Snapshot], Any]]]:
        return [("content", content), *([("graph", _graph)] if self._graph else ())]

    def older(self, name: str, answer: Any) -> bool:
        """Whether an answer is that of an earlier commit.

        A store whose last entry of the log is gone is what an interrupted commit leaves.
        """
        return any(answer == states[name] for states in self._earlier)

    def places(self, error: LipstickError, path: Path) -> bool:
        """Whether an error says where the damage is: a path, or a commit."""
        return str(path) in str(error) or "Commit " in str(error)


def _graph(snapshot: Snapshot) -> Any:
    graph = ProvenanceGraph.build(snapshot.segments.values(), snapshot.edges, snapshot.column, None)
    zoomed = graph.zoom_out(graph.modules)
    return [(each.ids.tolist(), each.edge_count) for each in (graph, zoomed)]


def _plain(value: Any) -> Any:
    """A value that can be compared."""
    if isinstance(value, pa.Table):
        return [str(value.schema), *(_text(column) for column in value.columns)]
    if isinstance(value, dict):  # of tables of tokens, in no order
        return {
            name: sorted(map(repr, _rows(each))) if isinstance(each, pa.Table) else repr(each)
            for name, each in value.items()
        }
    return repr(value)


def _text(column: pa.ChunkedArray) -> str:
    """All values of a column; structs may have two fields of one name, which Python has not."""
    whole = pa.concat_arrays(column.chunks) if column.chunks else pa.array([], column.type)
    text: str = whole.to_string(window=1_000_000, container_window=1_000_000)
    return text


def _rows(table: pa.Table) -> list[Any]:
    """Rows of a table, of which several columns may have one name."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

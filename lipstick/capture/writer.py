"""Writing a capture, whole or not at all: the members of all blocks first, then rows from them.

A capture is written beside its place and moved there when it is complete.

The core of a block runs once. Its rows, and the answer, are computed from the members just
written, so that answer and annotations cannot disagree: by Spark, or in this process if the
members are few (:mod:`lipstick.capture.local_rows`); so are members, if the relations are few rows.
Spark does not write members that nothing reads: members that the conditions of all readers exclude
and, for a subquery asked by few rows, members of the other groups.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

from lipstick.capture.files import Files, storable, stored_schema, write_table
from lipstick.capture.manifest import Manifest
from lipstick.errors import CaptureError
from lipstick.stages.reading import own_sql
from rewriter import CapturePlan, planned_capture
from rewriter.analysis.value_columns import value_columns
from rewriter.blocks import Block, Kind, core_relations, made_of, topological
from rewriter.emit.statements import (
    Groups,
    asked_groups_sql,
    dataset_types_sql,
    kept_groups_sql,
    members_sql,
    rows_sql,
)
from rewriter.errors import UnsupportedError

if TYPE_CHECKING:
    from lipstick.capture.local_rows import Relations


class MemberTypes:
    """The types of member columns that are known before anything is captured. No job runs."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._types: dict[tuple[str, str], DataType | None] = {}

    def alike(self, columns: Sequence[tuple[Block, str]]) -> bool:
        """Return True if member columns are known to have one type."""
        types = {self._type(block, name) for block, name in columns}
        return len(types) == 1 and None not in types

    def _type(self, block: Block, name: str) -> DataType | None:
        """The type of a member column; None where that depends on other blocks."""
        if (block.name, name) not in self._types:
            self._types[block.name, name] = self._analyzed(block, name)
        return self._types[block.name, name]

    def _analyzed(self, block: Block, name: str) -> DataType | None:
        if block.core is None:
            return None
        core = replace(block.core, semis=())
        if any(True for _ in core.reads()):
            return None
        sql = members_sql(replace(block, core=core), lambda inner: inner.name, (name,))
        return own_sql(self._spark, sql).schema[0].dataType


Progress = Callable[[str], None]
Computed = Callable[[Block, StructType], pa.Table | None]

_FEW = 1_000_000
"""Members that reduce another block's, at most: their keys are broadcast."""
_SMALLER = 4
"""The factor by which one of two blocks must be smaller to reduce the other, if either could."""


class CaptureWriter:
    """Writes the datasets of one query. Use :func:`lipstick.capture.writer.write_capture`."""

    def __init__(
        self,
        spark: SparkSession,
        manifest: Manifest,
        directory: Path,
        progress: Progress,
        relations: Relations,
    ) -> None:
        from lipstick.capture.local_rows import LocalRows

        self._spark = spark
        self._files = Files(spark)
        self._root = manifest.root
        self._directory = directory
        self._values = manifest.values
        self._progress = progress
        self._id = uuid.uuid4().hex[:8]
        self._views: dict[str, str] = {}
        self._written: dict[tuple[str, str], tuple[Path, StructType]] = {}
        self._plan = CapturePlan(self._root, lambda _: False)
        self._here = LocalRows(spark, manifest, relations)
        self._at_hand: dict[str, tuple[StructType, pa.Table]] = {}
        self._types: dict[tuple[str, str], StructType] = {}
        self._whole: set[str] = set()
        self.counts: dict[str, dict[str, int]] = {}
        self.schemas: dict[str, dict[str, Any]] = {}
        self.pruned: list[str] = []

    def write(self) -> None:
        """Write the members of every block, then the rows of every block, inner blocks first."""
        try:
            plan = planned_capture(self._root, MemberTypes(self._spark).alike)
            self._at_hand = dict(self._captured_here(plan))
            self._plan = self._chosen(plan)
            captured = [block for block in self._plan.order() if block.core]
            for number, block in enumerate(captured, start=1):
                self._progress(f"capturing block {block.name} ({number} of {len(captured)})")
                self._members(block)
            for block in topological(self._root):
                self._rows(block)
        finally:
            for view in self._views.values():
                self._spark.catalog.dropTempView(view)

    def _captured_here(
        self, plan: CapturePlan
    ) -> Iterator[tuple[str, tuple[StructType, pa.Table]]]:
        """Yield the members that are computed from relations whose rows are in this process."""
        if self._values == "reference":
            return
        bare = {b.name: _unreduced(plan.with_conditions(b)) for b in topological(self._root)}
        here = self._here.captured_from_relations(bare)
        self._types = self._analyzed(bare, here)
        for name in here:
            schema = self._types[name, "members"]
            table = self._here.captured(bare[name], schema)
            if table is not None:
                yield name, (schema, table)

    def _analyzed(
        self, bare: Mapping[str, Block], here: Collection[str]
    ) -> dict[tuple[str, str], StructType]:
        """The columns of members, and of rows made of them alone, as Spark would write them."""
        members = [block for name, block in bare.items() if name in here]
        rows = [
            block
            for block in topological(self._root)
            if needs_rows(block) and made_of(block) <= set(here)
        ]
        datasets = [*((b.name, "members") for b in members), *((b.name, "rows") for b in rows)]
        if not datasets:
            return {}
        sql = dataset_types_sql(self._root, lambda block: bare[block.name], members, rows)
        schema = own_sql(self._spark, sql).schema
        structs = (stored_schema(field.dataType) for field in schema.fields)
        return dict(zip(datasets, structs, strict=True))

    def _chosen(self, plan: CapturePlan) -> CapturePlan:
        """The plan to follow: of two blocks that can reduce each other, by the smaller one.

        Members that are here already are not reduced.
        """
        for name, reduction in plan.reductions.items():
            if name in self._at_hand:
                plan = plan.without_reduction(name)
            elif reduction.prefilter:
                count = self._scanned(plan, reduction.reader, _FEW)
                if (
                    count is None
                    or self._scanned(plan, reduction.block, _SMALLER * count) is not None
                ):
                    plan = plan.without_reduction(name)
        return plan

    def _scanned(self, plan: CapturePlan, block: Block, limit: int) -> int | None:
        """Return the number of members before other blocks filter them; None if above the limit."""
        block = plan.with_conditions(block)
        sql = members_sql(_unreduced(block), self._members_view)
        count = own_sql(self._spark, sql).limit(limit + 1).count()
        return None if count > limit else count

    def _members(self, block: Block) -> None:
        assert block.core is not None
        if block.name in self._at_hand:
            self._hold(block, "members", *self._at_hand[block.name])
            return
        bare = self._plan.captured(block)
        kept = self._asked_groups(block) or self._kept_groups(bare)
        referenced = self._referenced(block)
        whole = _joins(block) or kept is not None
        names = tuple(name for name, _ in block.core.select)
        if referenced and not whole:
            names = tuple(name for name in names if name not in referenced)
        frame = own_sql(self._spark, members_sql(bare, self._members_view, names, kept))
        if referenced and whole:
            path = self._directory / "tmp" / f"{block.name}-members"
            frame = storable(frame)
            self._files.write(frame, path)
            self._here.add(block, "members", path, frame.schema)
            self._whole.add(block.name)
            self._written[block.name, "members"] = path, frame.schema
        else:
            self._dataset(block, "members", frame)

    def _referenced(self, block: Block) -> tuple[str, ...]:
        """The member columns whose values are kept by reference."""
        return value_columns(block) if self._values == "reference" else ()

    def _rows(self, block: Block) -> None:
        referenced, whole = self._referenced(block), block.name in self._whole
        if needs_rows(block) and not self._has_rows_here(block):
            # A core of one scan is run again for values that are not kept: cheaper than keeping
            # them for a moment. A join is not run twice, nor a core of a few groups.
            again = bool(referenced) and not whole
            rows = {n: self._view_of(n, "rows") for n, kind in [*self._written] if kind == "rows"}
            bare = self._plan.captured(block)
            frame = own_sql(
                self._spark, rows_sql(bare, self._members_view, rows, from_sources=again)
            )
            _refuse_maps(block, frame.schema)
            self._dataset(block, "rows", frame, None if again else self._here.rows)
        if referenced and whole:
            kept = self._spark.table(self._members_view(block)).drop(*referenced)
            self._dataset(block, "members", kept, self._here.members)

    def _has_rows_here(self, block: Block) -> bool:
        """Compute the rows of a block here; return False if they, or its members, cannot be."""
        if not self._at_hand.keys() >= made_of(block):
            return False
        schema = self._types[block.name, "rows"]
        _refuse_maps(block, schema)
        table = self._here.rows(block, schema)
        if table is not None:
            self._hold(block, "rows", schema, table)
        return table is not None

    def _asked_groups(self, block: Block) -> Groups | None:
        """The groups that the members of the block's one reader ask for, if these are few."""
        reduction = self._plan.reductions.get(block.name)
        if reduction is None or self._here.count(reduction.reader, "members") > _FEW:
            return None
        asked_keys = own_sql(self._spark, asked_groups_sql(reduction, self._members_view))
        keys = tuple(key for _, key in reduction.pairs)
        return Groups(self._view(f"{block.name}_asked", asked_keys), keys, reduction.null_safe)

    def _kept_groups(self, block: Block) -> Groups | None:
        """Write the groups that a monotone HAVING keeps; None where members must all be kept."""
        monotone = self._plan.monotone.get(block.name)
        if monotone is None:
            return None
        path = self._directory / "tmp" / block.name
        frame = own_sql(self._spark, kept_groups_sql(block, self._members_view, monotone))
        self._files.write(frame, path)
        # Imports pandas, which takes longer than the import of all else.
        import pyarrow.dataset as ds

        # Read here: another job would take longer than these few columns.
        if ds.dataset(path, format="parquet").count_rows(filter=ds.field("_violation")):
            return None
        groups = self._files.read(path, storable(frame).schema)
        self.pruned.append(block.name)
        view = self._view(f"{block.name}_kept", groups.drop("_violation"))
        return Groups(view, tuple(name for name, _ in block.keys))

    def _members_view(self, block: Block) -> str:
        return self._view_of(block.name, "members")

    def _view_of(self, block: str, dataset: str) -> str:
        """A view of a dataset that was written of a block."""
        name = f"{block}_{dataset}"
        if name not in self._views:
            self._view(name, self._files.read(*self._written[block, dataset]))
        return self._views[name]

    def _view(self, name: str, frame: DataFrame) -> str:
        view = f"_lipstick_capture_{self._id}_{name}"
        frame.createOrReplaceTempView(view)
        self._views[name] = view
        return view

    def _dataset(
        self, block: Block, name: str, frame: DataFrame, here: Computed | None = None
    ) -> None:
        """Write the rows of a frame for a block, by Spark unless they can be computed here."""
        frame = storable(frame)
        table = here(block, frame.schema) if here is not None else None
        if table is not None:
            self._hold(block, name, frame.schema, table)
            return
        path = self._directory / block.name / name
        self._files.write(frame, path)
        count = self._here.add(block, name, path, frame.schema)
        self._describe(block, name, frame.schema, count)

    def _hold(self, block: Block, name: str, schema: StructType, table: pa.Table) -> None:
        """Write rows of a block that are in this process."""
        write_table(table, self._directory / block.name / name)
        self._describe(block, name, schema, self._here.hold(block, name, table))

    def _describe(self, block: Block, name: str, schema: StructType, count: int) -> None:
        path = self._directory / block.name / name
        self._written.setdefault((block.name, name), (path, schema))
        self.counts.setdefault(block.name, {})[name] = count
        self.schemas.setdefault(block.name, {})[name] = json.loads(schema.json())


def _refuse_maps(block: Block, rows: StructType) -> None:
    """Refuse tuples identified by maps: Spark groups by maps, but does not compare them."""
    for name in block.identity:
        kind = rows[name].dataType.simpleString()
        if "map<" in kind:
            raise UnsupportedError(
                f"a capture of groups by {name}, which is of the type {kind}, is not supported",
                "Group by its sorted entries: array_sort(map_entries(...)).",
            )


def _joins(block: Block) -> bool:
    return block.core is not None and len(list(core_relations(block.core))) > 1


def _unreduced(block: Block) -> Block:
    """The block whose members are not filtered by other blocks."""
    if block.core is None:
        return block
    return replace(block, core=replace(block.core, semis=()))


def needs_rows(block: Block) -> bool:
    """Return True if the rows of a block are not simply its stored members."""
    return not (
        block.kind is Kind.ROWS
        and block.core is not None
        and block.of_members_alone
        and not block.windowed
    )


INCOMPLETE = ".incomplete"
"""The suffix of folders of captures being written; a leftover one is of a process that died."""


def write_capture(
    spark: SparkSession,
    manifest: Manifest,
    directory: Path,
    progress: Progress = lambda _: None,
    relations: Relations = lambda _: None,
    finish: Callable[[Manifest, Path], None] = lambda *_: None,
) -> Manifest:
    """Write a capture into a directory that does not exist yet, whole or not at all.

    Parameters
    ----------
    relations
        Those whose rows are in this process: what is made of them alone is computed here.
    finish
        Adds to the folder of a capture, with the manifest that was written, before it is whole.

    Returns
    -------
    Manifest
        The manifest with row counts, as written.

    Raises
    ------
    CaptureError
        When the directory exists already, or cannot be written.
    """
    with _whole(directory) as building:
        writer = CaptureWriter(spark, manifest, building, progress, relations)
        writer.write()
        shutil.rmtree(building / "tmp", ignore_errors=True)
        done = replace(
            manifest,
            counts=writer.counts,
            schemas=writer.schemas,
            pruned=tuple(writer.pruned),
        )
        done = done.write(building)
        finish(done, building)
        return done


def copy_capture(
    source: Path, directory: Path, finish: Callable[[Path], None] = lambda _: None
) -> None:
    """Copy a capture to a directory that does not exist yet, whole or not at all.

    Raises
    ------
    CaptureError
        When the directory exists already, or cannot be written.
    """
    with _whole(directory) as building:
        shutil.copytree(source, building, dirs_exist_ok=True)
        finish(building)


def link_capture(source: Path, directory: Path) -> bool:
    """Make a capture of links to the files of another; False where the file system has none."""
    try:
        with _whole(directory) as building:
            shutil.copytree(source, building, copy_function=os.link, dirs_exist_ok=True)
    except CaptureError:
        return False
    return True


@contextmanager
def _whole(directory: Path) -> Iterator[Path]:
    """Yield the folder in which a directory is made; it gets its name when it is whole.

    Raises
    ------
    CaptureError
        When the directory exists already, or cannot be written.
    """
    taken = (
        f"{directory} exists already.\nA capture is never overwritten: choose another path, or "
        "remove it first."
    )
    if directory.exists():
        raise CaptureError(taken)
    building = directory.parent / f".{directory.name}.{uuid.uuid4().hex[:8]}{INCOMPLETE}"
    try:
        building.mkdir(parents=True)
        yield building
        building.rename(directory)
    except BaseException as error:
        with suppress(OSError):
            shutil.rmtree(building)
        if not isinstance(error, OSError):
            raise
        problem = f"{directory} cannot be written: {error}"
        raise CaptureError(taken if directory.exists() else problem) from error

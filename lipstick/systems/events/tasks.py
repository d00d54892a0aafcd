"""Emitting from tasks of Spark: the inputs and outputs of functions on RDDs and frames.

An attempt of a task is an attempt of an execution: the events of a failed task, or of a task that
Spark ran twice, do not count beside the successful attempt. Workers need only numpy and pyarrow:
the code is pickled by value.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeAlias, TypedDict, TypeVar, Unpack

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext, cloudpickle

from lipstick.systems.events import emit, hashtags
from lipstick.systems.events.emit import Emitter, Execution

for _module in (emit, hashtags, sys.modules[__name__]):
    cloudpickle.register_pickle_by_value(_module)  # type: ignore[no-untyped-call]

Batches: TypeAlias = Iterator[pa.RecordBatch]
T = TypeVar("T")
TOGETHER = 2_000
"""Number of records whose edges form one message."""


class DeclaredEntities(TypedDict, total=False):
    """Declarations on the entities that a function uses and generates, see `Emitter.record`.

    Attributes
    ----------
    readers
        The number of executions that will use each generated entity; None if unknown.
    inputs
        Whether the used entities are inputs of the computation.
    keep
        Whether the generated entities stay in the reduced graph even if they are read again.
    """

    readers: int | None
    inputs: bool
    keep: bool


class _Tasks:
    """The tasks of one use of a function, with the declarations on their entities."""

    def __init__(
        self,
        emitter: Emitter,
        function: str,
        *,
        readers: int | None = None,
        inputs: bool = False,
        keep: bool = False,
    ) -> None:
        self._emitter = emitter
        self._function = function
        self._token = uuid.uuid4().hex[:12]  # the same on all workers
        self._readers = readers
        self._entities = {"inputs": inputs, "keep": keep}

    @contextmanager
    def attempt(self) -> Iterator[Execution]:
        """Begin the attempt of the current task, including the micro-batch in a streaming query."""
        context = TaskContext.get()
        assert context is not None
        batch = context.getLocalProperty("streaming.sql.batchId") or "0"
        name = f"{self._function}/{self._token}/{batch}/{context.partitionId()}"
        execution = self._emitter.execution(self._function, name, context.attemptNumber())
        with self._emitter, execution:
            yield execution

    def derive(
        self, execution: Execution, edges: str | Sequence[tuple[str, str]], causes: int | None
    ) -> None:
        """Emit derivations: pairs, or JSON edges separated by commas."""
        emit: Any = execution.send_derived if isinstance(edges, str) else execution.derive
        emit(edges, readers=self._readers, causes=causes, **self._entities)


def map_partitions(
    emitter: Emitter,
    function: str,
    call: Callable[[Any], Iterable[Any]],
    *,
    source: Callable[[Any], str],
    result: Callable[[Any], str],
    **declared: Unpack[DeclaredEntities],
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function for `RDD.mapPartitions` that applies a function to every record, and emits.

    Parameters
    ----------
    function
        The name of the function in events.
    call
        Returns any number of records for one record, as for `RDD.flatMap`.
    source, result
        Return the identifiers of an input record, and of an output record.
    readers, inputs, keep
        See `Emitter.record`.
    """

    tasks = _Tasks(emitter, function, **declared)

    def run(records: Iterable[Any]) -> Iterator[Any]:
        with tasks.attempt() as execution:
            waiting = iter(records)
            while chunk := list(islice(waiting, TOGETHER)):
                results = [(source(record), list(call(record))) for record in chunk]
                edges = [(result(each), origin) for origin, several in results for each in several]
                tasks.derive(execution, edges, 1)
                for _, several in results:
                    yield from several

    return run


def combine_partitions(
    emitter: Emitter,
    function: str,
    call: Callable[[Any, list[Any]], Any],
    *,
    key: Callable[[Any], Any],
    source: Callable[[Any], str],
    result: Callable[[Any], str],
    **declared: Unpack[DeclaredEntities],
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function for `RDD.mapPartitions` that combines all records with a key, and emits.

    It serves as a combiner, or, after `RDD.partitionBy`, as a reducer. It holds the records of a
    partition.

    Parameters
    ----------
    call
        Returns a record from a key and the records with this key.
    key
        Of a record.
    function, source, result, readers, inputs, keep
        See `map_partitions`.
    """

    tasks = _Tasks(emitter, function, **declared)

    def run(records: Iterable[Any]) -> Iterator[Any]:
        groups: dict[Any, list[Any]] = {}
        for record in records:
            groups.setdefault(key(record), []).append(record)
        with tasks.attempt() as execution:
            waiting = iter(groups.items())
            while chunk := list(islice(waiting, TOGETHER)):
                combined_records = [(call(name, group), group) for name, group in chunk]
                edges = [
                    (identity, source(each))
                    for record, group in combined_records
                    for identity in (result(record),)
                    for each in group
                ]
                tasks.derive(execution, edges, None)
                yield from (record for record, _ in combined_records)

    return run


def map_in_arrow(
    emitter: Emitter,
    function: str,
    call: Callable[[pa.RecordBatch], pa.RecordBatch],
    *,
    result: str,
    origin: str,
    causes: int | None = 1,
    **declared: Unpack[DeclaredEntities],
) -> Callable[[Batches], Batches]:
    """Return a function for `DataFrame.mapInArrow` that applies a function to each batch, and
    emits.

    Parameters
    ----------
    call
        Returns a batch for a batch.
    result, origin
        Columns of its result: the identifier of the row, and the identifier of its origin; texts,
        or a list of texts where the origins are several.
    causes
        The number of origins of every row; None if it varies.
    function, readers, inputs, keep
        See `map_partitions`.
    """

    def edges(results: pa.RecordBatch) -> str:
        return _derived(results.column(result), results.column(origin))

    return _emitting(_Tasks(emitter, function, **declared), call, edges, causes)


def map_in_pandas(
    emitter: Emitter,
    function: str,
    call: Callable[[Any], Any],
    *,
    result: str,
    origin: str,
    causes: int | None = 1,
    **declared: Unpack[DeclaredEntities],
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the same for `DataFrame.mapInPandas`; see `map_in_arrow`."""

    def edges(results: Any) -> str:
        return _derived(pa.array(results[result]), pa.array(results[origin]))

    return _emitting(_Tasks(emitter, function, **declared), call, edges, causes)


def partitions_in_arrow(
    emitter: Emitter,
    function: str,
    call: Callable[[pa.Table], pa.Table],
    *,
    result: str,
    origin: str,
    causes: int | None = None,
    **declared: Unpack[DeclaredEntities],
) -> Callable[[Batches], Batches]:
    """Return the same for whole partitions, for groupings of a repartitioned frame.

    If `call` groups by `pyarrow.Table.group_by`, a list of a column holds the origins of a group.
    It holds a partition.
    """

    tasks = _Tasks(emitter, function, **declared)

    def run(batches: Batches) -> Batches:
        with tasks.attempt() as execution:
            several = list(batches)
            if several:
                results = call(pa.Table.from_batches(several)).combine_chunks()
                edges = _derived(*(_whole(results, name) for name in (result, origin)))
                tasks.derive(execution, edges, causes)
                yield from results.to_batches()

    return run


def per_batch(call: Callable[[pa.RecordBatch], pa.RecordBatch]) -> Callable[[Batches], Batches]:
    """Return `map_in_arrow` without events."""

    def run(batches: Batches) -> Batches:
        yield from map(call, batches)

    return run


def per_partition(call: Callable[[pa.Table], pa.Table]) -> Callable[[Batches], Batches]:
    """Return `partitions_in_arrow` without events."""

    def run(batches: Batches) -> Batches:
        several = list(batches)
        if several:
            yield from call(pa.Table.from_batches(several)).combine_chunks().to_batches()

    return run


def _emitting(
    tasks: _Tasks, call: Callable[[T], T], edges: Callable[[T], str], causes: int | None
) -> Callable[[Iterator[T]], Iterator[T]]:
    """Return a function of a task's batches that applies a function to each, and emits its
    output.
    """

    def run(batches: Iterator[T]) -> Iterator[T]:
        with tasks.attempt() as execution:
            for batch in batches:
                result = call(batch)
                tasks.derive(execution, edges(result), causes)
                yield result

    return run


def _whole(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name).combine_chunks()
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _derived(results: pa.Array, origins: pa.Array) -> str:
    """Return the edges from rows to their origins, as JSON with commas between."""
    if pa.types.is_list(origins.type) or pa.types.is_large_list(origins.type):
        results = results.take(pc.list_parent_indices(origins))
        origins = pc.list_flatten(origins)
    if not len(results):
        return ""
    ends = [_json_texts(results), _json_texts(origins)]
    edges = pc.binary_join_element_wise("[", ends[0], ",", ends[1], ',"wasDerivedFrom"]', "")
    text: str = pc.binary_join(pa.ListArray.from_arrays([0, len(edges)], edges), ",")[0].as_py()
    return text


def _json_texts(values: pa.Array) -> pa.Array:
    """Return identifiers as JSON strings, by arrays if only quotes need escaping."""
    texts = values.cast(pa.string())
    if pc.any(pc.match_substring_regex(texts, "[\\x00-\\x1f]")).as_py():
        return pa.array(
            [json.dumps(each, ensure_ascii=False) for each in texts.to_pylist()], pa.string()
        )
    for special in ("\\", '"'):
        texts = pc.replace_substring(texts, special, "\\" + special)
    return pc.binary_join_element_wise('"', texts, '"', "")

"""A recording in a store, queried without Spark: only the needed parts are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from graphquery.errors import StoreDamagedError
from graphquery.store import Snapshot, Store
from graphquery.store.streams import (
    BatchPart,
    QueryRecord,
    StateRecord,
    batches,
    checked,
    parts,
    queries,
    query_record,
    state_files,
    state_record,
)
from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch, concat_batches
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.engine import CODES
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.keys import Keys, concat_keys
from lipstick.systems.streams.layout import column_names, keys_of, unpacked
from lipstick.systems.streams.node import StreamNode
from lipstick.systems.streams.operator_state import StageState
from lipstick.systems.streams.operators import (
    AggregateBy,
    AggregateWindow,
    FilterEvents,
    KeyBy,
    LengthJoin,
    LengthWindow,
    Map,
    Merge,
    Operator,
    TimeJoin,
    TimeWindow,
)
from lipstick.systems.streams.operators.joins import Condition
from lipstick.systems.streams.operators.mapping import Absent
from lipstick.systems.streams.recording import Parts, Recording, added, no_content
from lipstick.systems.streams.source import Disorder, EventSource
from semiring.base import Array
from semiring.errors import LipstickError
from semiring.support.door import checked as checked_arguments


def graph_of(name: str, topology: Mapping[str, Any]) -> Graph:
    """Return the graph of a recorded topology, the inverse of :meth:`Graph.topology`.

    Raises
    ------
    StreamError
        When it has an operator that this version does not know.
    """
    graph = Graph(name)
    for sid, node in topology.items():
        kind, parameters = node["kind"], node["parameters"]
        source = EventSource(**parameters) if kind == "source" else None
        operator = None if kind == "source" else _operator(kind, parameters)
        inputs = tuple(node["inputs"])
        graph.nodes[sid] = StreamNode(
            sid, source, operator, inputs, node["keyed"], node["module"], node["twin"]
        )
    return graph


def _operator(kind: str, parameters: Mapping[str, Any]) -> Operator:
    match kind:
        case "map":
            return Map(Absent(parameters["function"]))
        case "filter":
            return FilterEvents(Absent(parameters["predicate"]))
        case "key_by":
            return KeyBy(parameters["column"])
        case "time_window":
            return TimeWindow(parameters["width"])
        case "length_window":
            return LengthWindow(parameters["length"])
        case "aggregate":
            return AggregateWindow(tuple((a, b, c) for a, b, c in parameters["columns"]))
        case "aggregate_by":
            return AggregateBy(Absent(parameters["function"]))
        case "time_join":
            condition = _condition(parameters["condition"])
            return TimeJoin(parameters["left"], parameters["right"], condition)
        case "length_join":
            condition = _condition(parameters["condition"])
            return LengthJoin(parameters["left"], parameters["right"], condition)
        case "merge":
            return Merge()
    raise StreamError(f"The store has an operator {kind!r} that this version does not know.")


def _condition(recorded: Any) -> Condition:
    if recorded is None:
        return None
    if isinstance(recorded, str):
        return Absent(recorded)
    return tuple((left, right) for left, right in recorded)


_CACHED = 1 << 23
"""Number of events whose keys are cached in memory."""


@checked_arguments
class Stored(Recording):
    """A query recorded by `Assertions`, at the newest version of a store.

    Parameters
    ----------
    path
        The path of the store; or a snapshot, to query its version.
    query
        The name of the recorded graph; None if the store has only one.

    Attributes
    ----------
    batches
        The number of recorded batches.
    ended
        Whether its input was closed.

    Raises
    ------
    StreamError
        When there is no such query.
    StoreDamagedError
        When its records are not what was written.
    """

    def __init__(self, path: str | Path | Snapshot, query: str | None = None) -> None:
        self._snapshot = path if isinstance(path, Snapshot) else Store.open(Path(path)).snapshot()
        records = self._snapshot.records
        names = queries(records)
        if query is None and len(names) == 1:
            (query,) = names
        if query not in names:
            said = f"The store {self._snapshot.root} has " + (
                f"the queries {', '.join(names)}" if names else "no recorded streams"
            )
            asked = "" if query is None else f", and none that is called {query!r}"
            advice = "Name one of them." if names else "Give a store that Assertions wrote."
            raise StreamError(f"{said}{asked}.\n{advice}")
        try:
            self._read(records, query)
        except LipstickError:
            raise
        except Exception as error:  # whatever a parser makes of what somebody wrote
            raise StoreDamagedError(
                f"The records of query {query!r} in {self._snapshot.root} cannot be understood: "
                f"{error!r}."
            ) from error

    def _read(self, records: Mapping[str, Any], query: str) -> None:
        record = query_record(query)
        document = checked(records[record], f"Record {record}", QueryRecord)
        topology = document["topology"]
        self.graph = graph_of(query, {sid: topology[sid] for sid in document["order"]})
        self.full: bool = document["full"]
        self.fingerprint: str = document["fingerprint"]
        if self.graph.fingerprint() != self.fingerprint:
            raise ValueError("its streams are not those of its fingerprint")
        self.codes = KeyCodes()
        self._parts: dict[str, list[BatchPart]] = {sid: [] for sid in self.graph.recorded}
        self._disorder: dict[str, Disorder] = {}
        self._cache: dict[tuple[str, int], Keys] = {}
        self._cached = 0
        self._first_codes = [0]
        recorded = batches(records, query)
        self.batches = len(recorded)
        for number, batch in recorded.items():
            for part in parts(batch, f"Batch {number} of {query}"):
                self._parts[part.stream].append(part)
            disorder = {sid: Disorder(**counts) for sid, counts in batch["disorder"].items()}
            self._disorder = added(self._disorder, disorder)
        state = records.get(state_record(query))
        if state is not None:
            checked(state, f"Record {state_record(query)}", StateRecord)
        self.ended = state is not None and state["ended"]
        if state is not None and any(node.keyed for node in self.graph.nodes.values()):
            self._restore_codes()
        self._ranges = {sid: Parts.of(map(_ranges, each)) for sid, each in self._parts.items()}

    def states(self) -> list[dict[str, StageState]]:
        """The state after the last batch, or the state of each partition of keys."""
        record = self._snapshot.records.get(state_record(self.graph.name))
        files = [] if record is None else state_files(record)
        return [unpacked(self._snapshot.read(file)) for file in files]

    def _restore_codes(self) -> None:
        """Read the values of keys; codes of a partition follow the codes of earlier ones."""
        values: list[pa.Array] = []
        starts = [0]
        for tables in self.states():
            values.append(tables[CODES].tables["values"].column("value").combine_chunks())
            starts.append(starts[-1] + len(values[-1]))
        filled = [each for each in values if len(each)]
        if filled:
            self.codes.restore(pa.concat_arrays(filled))
        if len(values) > 1:
            self._parts = {
                sid: [_shifted(part, starts[part.partition or 0]) for part in each]
                for sid, each in self._parts.items()
            }
            self._first_codes = starts

    def parts(self, sid: str) -> Parts:
        return self._ranges[self.graph.original(sid)]

    def load(self, sid: str, parts: Array) -> Keys:
        sid = self.graph.original(sid)
        keys = [self._keys(sid, i) for i in parts.tolist()]
        if not keys:
            return Keys.empty(self.graph.node(sid).keyed)
        return concat_keys(keys)[0]

    def load_content(self, sid: str, parts: Array) -> Batch:
        sid = self.graph.original(sid)
        if not self.has_content(sid):
            raise no_content(sid)
        batches = []
        for i in parts.tolist():
            part = self._parts[sid][i]
            if part.content is None:
                raise no_content(sid)
            rows = self._snapshot.read(part.content, None, part.content_offset or 0, part.rows)
            batches.append(Batch(self._keys(sid, i), rows))
        if not batches:
            return Batch(Keys.empty(self.graph.node(sid).keyed), pa.table({}))
        return concat_batches(batches)

    def has_content(self, sid: str) -> bool:
        return self.full or self.graph.node(self.graph.original(sid)).source is not None

    def disorder(self) -> Mapping[str, Disorder]:
        return self._disorder

    def bytes_of(self, sid: str) -> float:
        """Return the bytes of a stream's events; files with several streams are divided by rows."""
        files = self._snapshot.files
        total = 0.0
        for part in self._parts[self.graph.original(sid)]:
            for file in filter(None, (part.file, part.content)):
                total += files[file].size * part.rows / files[file].rows
        return total

    def placed(self, sid: str) -> list[tuple[Path, BatchPart]]:
        """Return the parts of a stream, each with its file, verified against its checksum."""
        parts = self._parts[self.graph.original(sid)]
        return [(self._snapshot.path(part.file), part) for part in parts]

    def first_code(self, part: BatchPart) -> int:
        """Return the code that a part's first code has among the codes of all partitions."""
        return self._first_codes[part.partition or 0]

    def _keys(self, sid: str, number: int) -> Keys:
        known = self._cache.get((sid, number))
        if known is not None:
            return known
        part = self._parts[sid][number]
        names = column_names(self.graph.node(sid).keyed, part.d)
        table = self._snapshot.read(part.file, names, part.offset, part.rows)
        keys = keys_of(table, part.first_t, part.first_n, part.d, self.first_code(part))
        if self._cached + len(keys) > _CACHED:
            self._cache.clear()
            self._cached = 0
        self._cache[sid, number] = keys
        self._cached += len(keys)
        return keys


def _ranges(part: BatchPart) -> dict[str, int]:
    """Return the numbers of a part that `Parts` holds."""
    return {each.name: getattr(part, each.name) for each in fields(Parts)}


def _shifted(part: BatchPart, codes: int) -> BatchPart:
    """Return a part of a stream with its codes shifted."""
    if part.first_code is None or part.last_code is None:
        return part
    return replace(part, first_code=part.first_code + codes, last_code=part.last_code + codes)

"""The rows of the input relations, beside the tokens that a capture has of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lipstick.capture.lookup import source_rows
from lipstick.capture.manifest import RelationRecord
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.reach import tokens
from lipstick.errors import TrackingError
from lipstick.tracking.naming import ROW_BITS, ROWS
from lipstick.tracking.states import local_path, local_state
from rewriter.blocks import Kind, ScanSource, topological
from rewriter.interpret import aggregate_call, interpret
from semiring.base import Array


class SourceRows:
    """The rows of one relation, by position.

    Attributes
    ----------
    table
        Its token columns, and its own columns that are not nested.
    whole
        True if these are all rows of the source; False: the keys of those in the capture alone.
    """

    def __init__(self, record: RelationRecord, table: pa.Table, *, whole: bool) -> None:
        self.record = record
        self.table = table.combine_chunks()
        self.whole = whole

    @property
    def name(self) -> str:
        """The name of the relation."""
        return self.record.name

    def __len__(self) -> int:
        count: int = self.table.num_rows
        return count

    def subset(self, rows: Array) -> SourceRows:
        """Return some of the rows."""
        return SourceRows(self.record, self.table.take(pa.array(rows)), whole=self.whole)

    @cached_property
    def tokens(self) -> pa.Table:
        """The token columns."""
        return self.table.select(list(self.record.token))

    def _token_columns(self) -> list[pa.Array]:
        return [column.combine_chunks() for column in self.tokens.columns]

    def rows_of(self, members: Members, scan: int) -> Array:
        """Return the row that each member of a block has of one of its scans; -1: none."""
        rows = np.full(members.count, -1, dtype=np.int64)
        positions, owners = members.tokens.index(scan).pairs(self._token_columns())
        rows[positions] = owners
        return rows

    @cached_property
    def _keys(self) -> KeyTable:
        return KeyTable(self._token_columns(), len(self))

    def find(self, tokens: pa.Table) -> Array:
        """Return the rows of some tokens; -1: there is none."""
        names = list(self.record.token)
        columns = [tokens.column(name).combine_chunks() for name in names]
        kinds = [self.table.schema.field(name).type for name in names]
        cast = [c if c.type == k else c.cast(k) for c, k in zip(columns, kinds, strict=True)]
        return self._keys.find(cast, tokens.num_rows)


def read_sources(
    engine: Engine, spark: SparkSession | None, given: Mapping[str, pa.Table]
) -> dict[str, SourceRows]:
    """Return the rows of the relations with tokens that a query reads, by name.

    Parameters
    ----------
    given
        Rows of relations whose sources need not be read.

    Raises
    ------
    SourceChangedError
        When a source is not what it was when the query was captured.
    TrackingError
        For given rows without the key of their relation, or of relations that are not read.
    """
    known = {name.lower(): table for name, table in given.items()}
    sources = {}
    for name, record in engine.manifest.relations.items():
        if record.token:
            table = known.pop(name.lower(), None)
            sources[name] = _source(engine, spark, record, table)
    if known:
        raise TrackingError(
            f"The query reads no relation {next(iter(known))!r} with tokens.\n"
            f"It reads: {', '.join(sorted(sources)) or 'none'}."
        )
    return sources


def _source(
    engine: Engine, spark: SparkSession | None, record: RelationRecord, table: pa.Table | None
) -> SourceRows:
    if table is not None:
        missing = [name for name in record.token if name not in table.column_names]
        if missing:
            raise TrackingError(
                f"The rows given for {record.name!r} have no column {missing[0]!r}; its key is "
                f"({', '.join(record.token)})."
            )
        return SourceRows(record, _flat(table), whole=True)
    here = _parquet_rows(record)
    if here is not None:
        return SourceRows(record, here, whole=True)
    if spark is None or not spark.catalog.tableExists(record.view):
        keys = tokens(engine, record.name)
        return SourceRows(record, keys, whole=False)
    rows = source_rows(spark, record)
    nested = ("array", "map", "struct", "variant", "binary", "interval")
    wanted = dict.fromkeys(
        field.name
        for field in rows.schema
        if field.name in record.token or not field.dataType.typeName().startswith(nested)
    )
    return SourceRows(record, rows.select(*(F.col(f"`{c}`") for c in wanted)).toArrow(), whole=True)


def _flat(table: pa.Table) -> pa.Table:
    names = [
        field.name
        for field in table.schema
        if not (pa.types.is_nested(field.type) or pa.types.is_binary(field.type))
    ]
    return table.select(names)


def _parquet_rows(record: RelationRecord) -> pa.Table | None:
    """Return the rows of a source that is local Parquet files, as pinned; None: it is not.

    Reading them in this process takes a fraction of the time that a job and its transfer take.
    """
    is_parquet = record.description.startswith("parquet ") and record.derived is None
    if not (is_parquet and record.fingerprint and record.columns):
        return None
    if any(local_state(state[0]) != state for state in record.fingerprint):
        return None
    uris = record.files if record.naming == ROWS else tuple(s[0] for s in record.fingerprint)
    if record.naming not in (ROWS, "key"):
        return None
    tables = []
    for number, uri in enumerate(uris):
        path = local_path(uri)
        if path is None:
            return None
        schema = pq.read_schema(path)
        if not {*record.columns} <= {*schema.names}:
            return None
        flat = [
            name
            for name in record.columns
            if not pa.types.is_nested(schema.field(name).type)
            and not pa.types.is_binary(schema.field(name).type)
        ]
        table = pq.read_table(path, columns=flat, partitioning=None)
        if record.naming == ROWS:
            places = (number << ROW_BITS) | np.arange(table.num_rows, dtype=np.int64)
            table = table.append_column(record.token[0], pa.array(places))
        tables.append(table)
    try:
        table = pa.concat_tables(tables)
    except pa.ArrowException:
        return None
    return table if {*record.token} <= {*table.column_names} else None


def decided_columns(engine: Engine, *, keys: bool) -> dict[str, set[str]]:
    """Return, per relation, the columns that the question itself is about.

    A condition on them would repeat the query: they are the arguments of aggregates other
    than COUNT, and what conditions of WHERE compare with constants.

    Parameters
    ----------
    keys
        Also the keys of groupings.
    """
    decided: dict[str, set[str]] = {}
    for block in topological(engine.manifest.root):
        if block.core is None:
            continue
        scans = {s.alias: s.relation for s in block.core.sources if isinstance(s, ScanSource)}
        columns = [interpret(p).columns for p in block.core.predicates]
        chosen = [each for each in columns if len({alias for alias, _ in each}) == 1]
        selected = {name: interpret(scalar).columns for name, scalar in block.core.select}
        calls = [aggregate_call(call) for _, call in block.aggregates]
        read = [a for call in calls if call.function != "COUNT" for a in call.arguments]
        read += [interpret(key) for _, key in block.keys if keys and block.kind is Kind.GROUP]
        chosen += [selected.get(name, ()) for scalar in read for _, name in scalar.columns]
        for alias, name in (column for each in chosen for column in each):
            if alias in scans:
                decided.setdefault(scans[alias], set()).add(name)
    return decided

"""The rows of the input relations, beside the tokens that a capture has of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lipstick.capture.manifest import RelationRecord
from lipstick.dataframes.arrow import arrow_rows
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.index import TokenIndex
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.reach import members_of, tokens
from lipstick.errors import CaptureError, SourceChangedError, TrackingError
from lipstick.tracking.naming import ROW_BITS, ROWS
from lipstick.tracking.states import local_path, local_state
from rewriter.algebra import Scalar
from rewriter.blocks import Kind, ScanSource, topological
from rewriter.interpret import aggregate_call, interpret
from semiring.arrays.arrow import decoded
from semiring.arrays.segments import ascending
from semiring.base import Array

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

INTERNAL = "_lipstick_"
"""The beginning of the names of columns that the source itself does not have."""

Read: TypeAlias = Callable[[Sequence[str], Array | None], pa.Table]
"""Reads columns of a relation, of rows by sorted positions or of all."""

Paths: TypeAlias = Mapping[str, tuple[str, ...]]
"""The ways to the fields of structs, by the names of the columns that have them."""


@dataclasses.dataclass(frozen=True, eq=False)
class SourceRows:
    """The rows of one relation by position, in columns that are read when they are asked for.

    Parameters
    ----------
    schema
        Its token columns, its own columns that are not nested, and the fields of structs.
    read
        Reads some of these columns, of some rows (sorted positions; None: of all).
    paths
        Of the fields of structs: the column, and the names of the fields in it.
    zone
        The time zone of the session, in which moments have hours; None: it is not known.

    Attributes
    ----------
    whole
        True if these are all rows of the source; False: only the keys that the capture has.
    """

    record: RelationRecord
    schema: pa.Schema
    count: int
    read: Read
    whole: bool
    paths: Paths = dataclasses.field(default_factory=dict)
    zone: str | None = None
    _columns: dict[str, pa.Array] = dataclasses.field(default_factory=dict, init=False)

    @staticmethod
    def of_table(
        record: RelationRecord,
        table: pa.Table,
        *,
        whole: bool,
        paths: Paths | None = None,
        zone: str | None = None,
    ) -> SourceRows:
        """Return the rows of a table."""

        def read(names: Sequence[str], rows: Array | None) -> pa.Table:
            chosen = table.select(list(names))
            return chosen if rows is None else chosen.take(pa.array(rows))

        return SourceRows(
            record, table.schema, table.num_rows, read, whole=whole, paths=paths or {}, zone=zone
        )

    @property
    def name(self) -> str:
        """The name of the relation."""
        return self.record.name

    def __len__(self) -> int:
        return self.count

    @property
    def own(self) -> list[str]:
        """The names of its own columns, without the fields of structs."""
        names = [n for n in self.schema.names if len(self.paths.get(n, (n,))) == 1]
        return [name for name in names if not name.startswith(INTERNAL)]

    def load(self, names: Iterable[str]) -> None:
        """Read columns at once that are going to be asked for."""
        missing = [name for name in dict.fromkeys(names) if name not in self._columns]
        if missing:
            self._keep(self.read(missing, None))

    def column(self, name: str) -> pa.Array:
        """Return a column; texts may be dictionary-coded."""
        self.load([name])
        return self._columns[name]

    def _keep(self, table: pa.Table) -> None:
        for name, column in zip(table.column_names, table.columns, strict=True):
            array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
            self._columns[name] = array

    def subset(self, rows: Array, names: Iterable[str]) -> SourceRows:
        """Return some columns and the tokens of some rows, given by sorted positions."""
        chosen = {*names}  # In the order of the source: of equal conditions the first is shown.
        others = [name for name in self.schema.names if name in chosen]
        wanted = dict.fromkeys([*self.record.token, *others])
        table = self.read(list(wanted), rows)
        return SourceRows.of_table(
            self.record, table, whole=self.whole, paths=self.paths, zone=self.zone
        )

    def take(self, rows: Array, names: Sequence[str] | None = None) -> pa.Table:
        """Return rows with some columns, none of them dictionary-coded, in the given order.

        Parameters
        ----------
        names
            Of columns, nested ones too where the source is read here; None: all that are not.
        """
        ordered = ascending(rows)
        table = self.read(self.schema.names if names is None else names, ordered)
        plain = pa.table([decoded(c.combine_chunks()) for c in table.columns], table.column_names)
        return plain.take(pa.array(np.searchsorted(ordered, rows)))

    @cached_property
    def tokens(self) -> pa.Table:
        """The token columns."""
        names = list(self.record.token)
        self.load(names)
        return pa.table([self._columns[name] for name in names], names)

    def _token_columns(self) -> list[pa.Array]:
        return [column.combine_chunks() for column in self.tokens.columns]

    def rows_of(self, members: Members, scan: int, chosen: Array | None = None) -> Array:
        """Return the row that members of a block have of one of its scans; -1: none.

        Parameters
        ----------
        chosen
            The positions of the members; None: all.
        """
        index, ours = members.tokens.index(scan), self._token_columns()
        if index.is_of(ours):
            return np.arange(members.count) if chosen is None else chosen
        if chosen is None:
            return index.owners(ours)
        assert members.dataset is not None
        names = members.block.tokens[scan].columns
        columns = [members.dataset.take(name, chosen) for name in names]
        return self.find(pa.table(columns, list(self.record.token)))

    def find(self, tokens: pa.Table) -> Array:
        """Return the rows of some tokens; -1: there is none."""
        names = list(self.record.token)
        columns = [tokens.column(name).combine_chunks() for name in names]
        kinds = [self.schema.field(name).type for name in names]
        cast = [c if c.type == k else c.cast(k) for c, k in zip(columns, kinds, strict=True)]
        return TokenIndex(cast).owners(self._token_columns())


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
            sources[name] = read_source(engine, spark, record, table)
    if known:
        raise TrackingError(
            f"The query reads no relation {next(iter(known))!r} with tokens.\n"
            f"It reads: {', '.join(sorted(sources)) or 'none'}."
        )
    return sources


def chosen_relation(names: Iterable[str], relation: str | None) -> str:
    """Return the one of some relations that has a name, in any case; None: the only one.

    Raises
    ------
    CaptureError
        When none has this name, or several are there and none is named.
    """
    listed = list(names)
    if relation is None and len(listed) == 1:
        return listed[0]
    chosen = [name for name in listed if relation is not None and name.lower() == relation.lower()]
    if not chosen:
        problem = "Several relations are read" if relation is None else f"No {relation!r}"
        raise CaptureError(
            f"{problem}.\nGive the relation whose tuples are meant: {', '.join(sorted(listed))}."
            if listed
            else "The query reads no relation whose rows have tokens."
        )
    return chosen[0]


def read_source(
    engine: Engine,
    spark: SparkSession | None,
    record: RelationRecord,
    table: pa.Table | None = None,
) -> SourceRows:
    """Return the rows of a relation with tokens, from a table if one is given.

    Raises
    ------
    SourceChangedError, TrackingError
        As of `read_sources`.
    """
    if table is not None:
        missing = [name for name in record.token if name not in table.column_names]
        if missing:
            raise TrackingError(
                f"The rows given for {record.name!r} have no column {missing[0]!r}; its key is "
                f"({', '.join(record.token)})."
            )
        paths = _leaves(table.schema)
        columns = [_leaf(table.column(path[0]), path) for path in paths.values()]
        flat = pa.table(columns, list(paths))
        return SourceRows.of_table(record, flat, whole=True, paths=paths)
    zone = engine.manifest.time_zone
    if spark is not None:
        zone = spark.conf.get("spark.sql.session.timeZone")
    here = parquet_rows(record, zone)
    if here is not None:
        return here
    if spark is None or not spark.catalog.tableExists(record.view):
        return SourceRows.of_table(record, tokens(engine, record.name), whole=False)
    from pyspark.sql import functions as F

    from lipstick.capture.lookup import source_rows

    rows = source_rows(spark, record)
    paths = _leaves_of_frame(rows.schema, ())
    columns = [F.col(".".join(f"`{c}`" for c in p)).alias(n) for n, p in paths.items()]
    table = arrow_rows(rows.select(*columns))
    return SourceRows.of_table(record, table, whole=True, paths=paths, zone=zone)


def with_held_columns(
    source: SourceRows, members: Members, number: int, places: Array
) -> SourceRows:
    """Add the columns that members hold of a scan as it is, where these are all its rows.

    Parameters
    ----------
    number, places
        The scan, and the row of each member.
    """
    block, dataset = members.block, members.dataset
    assert block.core is not None
    assert dataset is not None
    member = np.full(len(source), -1, dtype=np.int64)
    there = np.flatnonzero(places >= 0)
    member[places[there]] = there
    if (member < 0).any():
        return source
    names = source.schema.names
    source.load(names)
    table = pa.table([decoded(source.column(name)) for name in names], names=names)
    for name, scalar in block.core.select:
        alias, column = interpret(scalar).column or ("", "")
        is_bare = alias == block.tokens[number].alias and name in dataset.names
        if is_bare and column not in table.column_names:
            table = table.append_column(column, decoded(dataset.take(name, member)))
    return SourceRows.of_table(source.record, table, whole=False)


def held_rows(engine: Engine, source: SourceRows) -> SourceRows:
    """Return the rows of a source that is out of reach with all columns that a capture holds."""
    for name in () if source.whole else engine.blocks:
        members = members_of(engine.rows(name))
        if members is None or members.dataset is None:
            continue
        for number, token in enumerate(members.block.tokens):
            if token.relation == source.name:
                places = source.rows_of(members, number)
                source = with_held_columns(source, members, number, places)
    return source


def _leaves_of_frame(schema: StructType, before: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the ways to the values of a data frame that are not in collections, by name."""
    nested = ("array", "map", "variant", "binary", "interval")
    paths: dict[str, tuple[str, ...]] = {}
    for field in schema:
        path = (*before, field.name)
        if field.dataType.typeName() == "struct":
            for name, each in _leaves_of_frame(cast("StructType", field.dataType), path).items():
                paths.setdefault(name, each)
        elif not field.dataType.typeName().startswith(nested):
            paths[".".join(path)] = path
    return paths


def _leaves(fields: Iterable[pa.Field], before: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """Return the ways to the values of columns that are not in collections, by name."""
    paths: dict[str, tuple[str, ...]] = {}
    for field in fields:
        path = (*before, field.name)
        if pa.types.is_struct(field.type):
            inner = [field.type.field(number) for number in range(field.type.num_fields)]
            for name, each in _leaves(inner, path).items():
                paths.setdefault(name, each)
        elif _is_flat(field.type):
            paths[".".join(path)] = path
    return paths


def _leaf(column: pa.ChunkedArray, path: tuple[str, ...]) -> pa.ChunkedArray:
    return column if len(path) == 1 else pc.struct_field(column, list(path[1:]))


def parquet_rows(record: RelationRecord, zone: str | None = None) -> SourceRows | None:
    """Return the rows of a source that is local Parquet files, as pinned; None: it is not.

    Reading them in this process takes a fraction of the time that a job and its transfer take.
    """
    is_parquet = record.description.startswith("parquet ") and record.derived is None
    if not (is_parquet and record.fingerprint and record.columns):
        return None
    if record.naming not in (ROWS, "key"):
        return None
    uris = record.files if record.naming == ROWS else tuple(s[0] for s in record.fingerprint)
    paths = [local_path(uri) for uri in uris]
    if any(path is None for path in paths) or not _is_unchanged(record):
        return None
    files = _ParquetRows(record, [str(path) for path in paths])
    if files.schema is None:
        return None
    return SourceRows(
        record, files.schema, files.count, files.read, whole=True, paths=files.paths, zone=zone
    )


def _is_unchanged(record: RelationRecord) -> bool:
    return all(local_state(state[0]) == state for state in record.fingerprint)


class _ParquetRows:
    """The rows of local Parquet files, read a row group at a time.

    Attributes
    ----------
    schema
        None if the files do not have the columns of the relation with the same types.
    """

    def __init__(self, record: RelationRecord, paths: Sequence[str]) -> None:
        self._record = record
        self._texts: list[str] = []
        self._files: list[pq.ParquetFile] = []
        self.count = 0
        self.schema: pa.Schema | None = None
        schemas = []
        for path in paths:
            schema = pq.read_schema(path)
            if not {*record.columns} <= {*schema.names}:
                return
            kinds = [(name, readable(schema.field(name).type)) for name in record.columns]
            schemas.append(pa.schema(kinds))
        if any(schema != schemas[0] for schema in schemas):
            return
        self._whole = schemas[0]
        if record.naming == ROWS:
            self._whole = self._whole.append(pa.field(record.token[0], pa.int64()))
        self.paths = _leaves(self._whole)
        schema = pa.schema([(n, _kind(self._whole, p)) for n, p in self.paths.items()])
        if not {*record.token} <= {*schema.names}:
            return
        self._texts = texts = [
            field.name
            for field in schema
            if pa.types.is_string(field.type)
            and field.name not in record.token
            and len(self.paths[field.name]) == 1
        ]
        self._files = [pq.ParquetFile(path, read_dictionary=texts) for path in paths]
        self._plain = [
            pq.ParquetFile(path, metadata=f.metadata)
            for path, f in zip(paths, self._files, strict=True)
        ]
        self.count = sum(file.metadata.num_rows for file in self._files)
        self.schema = schema

    def read(self, names: Sequence[str], rows: Array | None) -> pa.Table:
        """Return columns, texts dictionary-coded, of rows by sorted positions; None: of all.

        Raises
        ------
        SourceChangedError
            When the files are others than when the query was captured.
        """
        if not _is_unchanged(self._record):
            raise SourceChangedError(
                f"The source of {self._record.name!r} ({self._record.description}) changed since "
                "the capture.\nCapture the query again."
            )
        naming = self._record.token[0] if self._record.naming == ROWS else None
        stored = [name for name in names if name != naming]
        tables, start = [], 0
        for number, file in enumerate(self._files):
            place = 0
            for group in range(file.metadata.num_row_groups):
                count = file.metadata.row_group(group).num_rows
                within = None
                if rows is not None:
                    first, last = np.searchsorted(rows, [start, start + count])
                    within = rows[first:last] - start
                start, place = start + count, place + count
                if within is not None and not len(within):
                    continue
                # One column at a time: what is decoded and not chosen stays in the caches.
                chosen = None if within is None else pa.array(within)
                few = within is not None and 4 * len(within) < count
                columns = {}
                for name in stored:
                    # Coding texts that are not chosen takes longer than reading them.
                    plain = few and name in self._texts and not self._coded(file, group, name)
                    read = self._plain[number] if plain else file
                    part = _part(read, group, self.paths.get(name, (name,)), chosen)
                    columns[name] = part.dictionary_encode() if plain else part
                if naming is not None and naming in names:
                    places = (number << ROW_BITS) | np.arange(place - count, place, dtype=np.int64)
                    columns[naming] = pa.chunked_array(
                        [places if within is None else places[within]]
                    )
                tables.append(pa.table(columns))
        if not tables:
            kinds = [(n, _kind(self._whole, self.paths.get(n, (n,)))) for n in names]
            return pa.schema(kinds).empty_table()
        return pa.concat_tables(tables).unify_dictionaries().select(list(names))

    def _coded(self, file: pq.ParquetFile, group: int, name: str) -> bool:
        """Return True if the texts of a row group are stored as numbers of a dictionary's."""
        leaves = [file.schema.column(leaf).path for leaf in range(len(file.schema))]
        column = file.metadata.row_group(group).column(leaves.index(name))
        return bool(column.total_uncompressed_size < 4 * column.num_values)


def _part(
    file: pq.ParquetFile, group: int, path: tuple[str, ...], chosen: pa.Array | None
) -> pa.ChunkedArray:
    """Return a column of a row group, of some of its rows or of all."""
    table = file.read_row_group(group, columns=[".".join(path)], use_threads=False)
    column = _leaf(table.column(0), path)
    kind = readable(column.type)
    if column.type != kind and chosen is not None and 4 * len(chosen) < len(column):
        # Casts copy whole columns, and views have no kernel that takes some values.
        parts = [part for at in chosen.to_pylist() for part in column.slice(at, 1).chunks]
        return pa.chunked_array(parts, column.type).cast(kind, safe=False)
    if column.type != kind:
        column = column.cast(kind, safe=False)
    if chosen is None:
        return column
    return column.take(chosen)


def _kind(schema: pa.Schema, path: tuple[str, ...]) -> pa.DataType:
    kind = schema.field(path[0]).type
    for name in path[1:]:
        kind = kind.field(name).type
    return readable(kind)


def readable(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column is read with.

    Texts that are views cannot be taken from. Times in nanoseconds are INT96 in the file, the form
    in which Spark writes instants by default.
    """
    plain = {
        pa.string_view(): pa.string(),
        pa.binary_view(): pa.binary(),
        pa.timestamp("ns"): pa.timestamp("us", "UTC"),
    }
    return plain.get(kind, kind)


def _is_flat(kind: pa.DataType) -> bool:
    return not (pa.types.is_nested(kind) or pa.types.is_binary(kind))


MEASURED: Final = ("aggregated", "extreme")
"""The roles of arguments of aggregates."""


def read_columns(
    engine: Engine, asked: Collection[str] | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield relations and columns that a query reads, and how: as what a role names.

    The roles are ``aggregated``, ``extreme`` for arguments of MIN and MAX, ``compared`` with
    constants, ``joined`` with other relations, and ``key`` of a grouping. COUNT decides nothing.

    Parameters
    ----------
    asked
        The aggregates of the last grouping that are asked about; None: all.
    """
    roles = {"COUNT": "", "MAX": "extreme", "MIN": "extreme"}
    for block in topological(engine.manifest.root):
        if block.core is None:
            continue
        scans = {s.alias: s.relation for s in block.core.sources if isinstance(s, ScanSource)}
        found = []
        for predicate in block.core.predicates:
            columns = interpret(predicate).columns
            alone = len({alias for alias, _ in columns}) == 1
            found.append(("compared" if alone else "joined", columns))
        selected = {name: interpret(scalar).columns for name, scalar in block.core.select}
        named = [(name, aggregate_call(call)) for name, call in block.aggregates]
        if asked is not None and block is engine.manifest.root:
            named = [each for each in named if each[0] in asked] or named
        read = [
            (roles.get(str(c.function), "aggregated"), a) for _, c in named for a in c.arguments
        ]
        if block.kind is Kind.GROUP:
            read += [("key", interpret(key)) for _, key in block.keys]
        for role, scalar in read:
            found += [(role, selected.get(name, ())) for _, name in scalar.columns if role]
        for role, columns in found:
            yield from ((scans[a], name, role) for a, name in columns if a in scans)


def decided_columns(engine: Engine, *, keys: bool) -> dict[str, set[str]]:
    """Return, per relation, the columns that the question itself is about.

    A condition on them would repeat the query: they are the arguments of aggregates other
    than COUNT, and what conditions of WHERE compare with constants.

    Parameters
    ----------
    keys
        Also the keys of groupings.
    """
    roles = {*MEASURED, "compared", *(("key",) if keys else ())}
    decided: dict[str, set[str]] = {}
    for relation, name, role in read_columns(engine):
        if role in roles:
            decided.setdefault(relation, set()).add(name)
    return decided


def extreme_columns(engine: Engine, scalar: Scalar) -> set[tuple[str, str]]:
    """Return relations and columns that an expression reads by MIN and MAX alone.

    Few rows decide an extreme, and their values say which.
    """
    asked = {name for _, name in interpret(scalar).columns}
    read = [((relation, name), role) for relation, name, role in read_columns(engine, asked)]
    otherwise = {column for column, role in read if role != "extreme"}
    return {column for column, _ in read} - otherwise

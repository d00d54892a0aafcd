"""The datasets of a capture, column by column: read when first asked for, then kept."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lipstick.capture.contents import Contents
from lipstick.errors import CaptureDamagedError, NeedsSparkError
from rewriter.blocks import Block, Kind
from semiring.arrays.arrow import decoded, whole
from semiring.base import Array

if TYPE_CHECKING:
    import pyarrow.dataset as ds

OPEN_WITH_SPARK = "Open the capture with Spark, lipstick.open(path, spark=spark), which answers it."


class Dataset(ABC):
    """One dataset of a capture: rows, numbered from 0.

    Strings may come dictionary-encoded.
    """

    count: int
    """The number of rows."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The names of the columns."""

    @abstractmethod
    def type(self, name: str) -> pa.DataType:
        """The type of a column; strings as such, not as dictionaries."""

    @abstractmethod
    def column(self, name: str) -> pa.Array:
        """A whole column, in one piece.

        Raises
        ------
        CaptureError
            When the dataset has no such column: aggregated values captured by reference.
        """

    def take(self, name: str, positions: Array) -> pa.Array:
        """A column's values at some rows; strings are decoded."""
        return decoded(self.column(name).take(pa.array(positions)))


class TakenDataset(Dataset):
    """Rows of a dataset in another order, or several times.

    Parameters
    ----------
    dataset
        The rows that are taken.
    places
        Finds which of them, when that is first asked.
    """

    def __init__(self, dataset: Dataset, places: Callable[[], Array]) -> None:
        self._dataset = dataset
        self._find = places
        self._columns: dict[str, pa.Array] = {}

    @cached_property
    def _places(self) -> Array:
        return self._find()

    @property
    def count(self) -> int:  # type: ignore[override]
        """See :class:`Dataset`."""
        return len(self._places)

    @property
    def names(self) -> list[str]:
        """See :class:`Dataset`."""
        return self._dataset.names

    def type(self, name: str) -> pa.DataType:
        """See :class:`Dataset`."""
        return self._dataset.type(name)

    def column(self, name: str) -> pa.Array:
        """See :class:`Dataset`."""
        if name not in self._columns:
            self._columns[name] = self._dataset.column(name).take(pa.array(self._places))
        return self._columns[name]


class Datasets(Protocol):
    """The source of the datasets of a capture."""

    def dataset(self, block: Block, name: str) -> Dataset | None:
        """The ``members`` or ``rows`` of a block; None: its members are its rows."""


class StoredDatasets:
    """The datasets of a capture in a directory.

    Parameters
    ----------
    where
        Its files, which are checked before they are read; or the directory of a capture that was
        written just now.
    """

    def __init__(self, where: Contents | Path) -> None:
        self._opened: dict[str, StoredDataset] = {}
        self._contents = where if isinstance(where, Contents) else Contents(where, None)

    def dataset(self, block: Block, name: str) -> Dataset | None:
        """See :class:`Datasets`."""
        folder = f"{block.name}/{name}"
        if name == "rows" and block.kind is Kind.ROWS and not self._contents.has(folder):
            return None
        if folder not in self._opened:
            path = self._contents.root / folder
            self._opened[folder] = StoredDataset(path, self._contents.read(folder))
        return self._opened[folder]


class StoredDataset(Dataset):
    """Rows in Parquet files, in the order of the files' names and of the rows in them.

    Parameters
    ----------
    path
        The directory of the files.
    files
        These, in their order; None: all that are there.

    Raises
    ------
    CaptureDamagedError
        When they cannot be read.
    """

    def __init__(self, path: Path, files: Sequence[Path] | None = None) -> None:
        self._path = path
        self._columns: dict[str, pa.Array] = {}
        if files is None:
            files = Contents(path, None).read("")
        with _readable(path):
            names = [str(file) for file in files]
            encoded, instants, spark, self._shredded = stored_as(names)
            self._collated = {name for name, kind in spark.items() if has_collation(kind)}
            self._dataset = _dataset(names, encoded)
            stored = _dataset(names, ()).schema
            self._schema = as_read(stored, instants, spark)
            self.count = self._dataset.count_rows()

    @property
    def names(self) -> list[str]:
        """See :class:`Dataset`."""
        names: list[str] = self._schema.names
        return names

    def type(self, name: str) -> pa.DataType:
        """See :class:`Dataset`."""
        return self._schema.field(self._known(name)).type

    def column(self, name: str) -> pa.Array:
        """See :class:`Dataset`."""
        if name in self._collated:
            raise NeedsSparkError(
                f"The texts {name!r} in {self._path.parent.name} have a collation, by which Spark "
                "compares them.\n" + OPEN_WITH_SPARK
            )
        known = self._known(name)
        if name in self._shredded:
            raise NeedsSparkError(
                f"The values {name!r} in {self._path.parent.name} are variants, of which Spark "
                "stores the fields apart.\n" + OPEN_WITH_SPARK
            )
        if name not in self._columns:
            with _readable(self._path):
                chunked = self._dataset.to_table(columns=[known]).column(0)
            if pa.types.is_dictionary(chunked.type):
                chunked = chunked.unify_dictionaries()
            elif chunked.type != self.type(name):
                chunked = chunked.cast(self._schema.field(name).type)
            self._check_texts(name, chunked)
            self._columns[name] = whole(chunked)
        return self._columns[name]

    def _check_texts(self, name: str, column: pa.ChunkedArray) -> None:
        """Refuse texts that are not UTF-8, as Spark's may be: Python and Arrow have none such."""
        if not has_texts(column.type):
            return
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise NeedsSparkError(
                f"The texts {name!r} in {self._path.parent.name} are not all UTF-8.\n"
                + OPEN_WITH_SPARK
            ) from error

    def _known(self, name: str) -> str:
        if name not in self._schema.names:
            raise NeedsSparkError(
                f"The capture has no values of {name!r} in {self._path.parent.name}: they were "
                "captured by reference.\n" + OPEN_WITH_SPARK
            )
        return name


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Name a dataset whose files cannot be read: manifests of old captures do not list files."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise CaptureDamagedError(
            f"The capture is damaged: {path} cannot be read: {error}\nRestore it from a copy."
        ) from error


def _dataset(files: list[str], encoded: tuple[str, ...]) -> ds.Dataset:
    # Imports pandas, which takes longer than the import of all else.
    import pyarrow.dataset as ds

    options = ds.ParquetReadOptions(dictionary_columns=encoded, coerce_int96_timestamp_unit="us")
    return ds.dataset(files, format=ds.ParquetFileFormat(read_options=options))


def every(count: int) -> Array:
    """The numbers of all of `count` rows."""
    return np.arange(count, dtype=np.int64)


_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
_COLLATIONS = "__COLLATIONS"
_DAYS_TO_SECONDS = tuple(f"interval {unit}" for unit in ("day", "hour", "minute", "second"))


def stored_as(files: list[str]) -> tuple[tuple[str, ...], set[str], dict[str, Any], set[str]]:
    """The strings stored as dictionaries in every file, the instants, Spark's types, and variants.

    Arrow cannot read delta-encoded strings as dictionaries, and reads Spark's 96-bit timestamps
    without saying that they are in UTC. The types are JSON values, of files that Spark wrote. The
    variants are the columns with some whose fields are stored apart (variant shredding).
    """
    strings: set[str] = set()
    plain: set[str] = set()
    instants: set[str] = set()
    spark: dict[str, Any] = {}
    shredded: set[str] = set()
    for file in files:
        with pq.ParquetFile(file) as parquet:
            shredded |= {f.name for f in parquet.schema_arrow if "typed_value: " in str(f.type)}
            strings |= {f.name for f in parquet.schema_arrow if pa.types.is_string(f.type)}
            spark |= _spark_types(parquet.schema_arrow.metadata or {})
            for column in parquet.schema:
                if column.physical_type == "INT96":
                    instants.add(column.path)
            for group in range(parquet.metadata.num_row_groups):
                chunks = parquet.metadata.row_group(group)
                for number in range(chunks.num_columns):
                    chunk = chunks.column(number)
                    if any("DELTA" in encoding for encoding in chunk.encodings):
                        plain.add(chunk.path_in_schema)
    return tuple(strings - plain), instants, spark, shredded


def _spark_types(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    """Return, by column, the schema fields that Spark stored in a file that it wrote."""
    fields = json.loads(metadata.get(_SPARK_SCHEMA, b'{"fields": []}'))["fields"]
    return {field["name"]: field for field in fields}


def has_collation(field: Mapping[str, Any]) -> bool:
    """Return True if Spark compares a column's texts, or texts in its values, by a collation."""
    return _COLLATIONS in json.dumps(field)


def has_texts(kind: pa.DataType) -> bool:
    """Return True if values of a type are texts, or have texts in them."""
    if pa.types.is_dictionary(kind):
        return has_texts(kind.value_type)
    if pa.types.is_nested(kind):
        return any(has_texts(kind.field(number).type) for number in range(kind.num_fields))
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def as_read(schema: pa.Schema, instants: set[str], spark: Mapping[str, Any]) -> pa.Schema:
    """The schema with instants in UTC, and with intervals of days to seconds.

    Parameters
    ----------
    instants
        The paths of their columns in Parquet.
    spark
        Spark's fields by name: it stores intervals as numbers.
    """
    return pa.schema(
        [
            field.with_type(
                _as_read(field.type, field.name, instants, spark.get(field.name, {}).get("type"))
            )
            for field in schema
        ]
    )


def _as_read(kind: pa.DataType, path: str, instants: set[str], spark_type: Any) -> pa.DataType:
    if path in instants:
        return pa.timestamp("us", "UTC")
    if isinstance(spark_type, str) and spark_type.startswith(_DAYS_TO_SECONDS):
        return pa.duration("us")
    known = spark_type if isinstance(spark_type, dict) else {}

    def within(field: pa.Field, step: str, type_: Any) -> pa.Field:
        return field.with_type(_as_read(field.type, f"{path}.{step}", instants, type_))

    if pa.types.is_struct(kind):
        types = {field["name"]: field["type"] for field in known.get("fields", ())}
        fields = [kind.field(number) for number in range(kind.num_fields)]
        return pa.struct([within(field, field.name, types.get(field.name)) for field in fields])
    if pa.types.is_list(kind):
        return pa.list_(within(kind.value_field, "list.element", known.get("elementType")))
    if pa.types.is_map(kind):
        key = within(kind.key_field, "key_value.key", known.get("keyType"))
        return pa.map_(key, within(kind.item_field, "key_value.value", known.get("valueType")))
    return kind

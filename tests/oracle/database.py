"""Databases to ask queries over, held in Arrow, and what is left of them after a deletion."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

Key: TypeAlias = tuple[Any, ...]
"""The values of a relation's key columns, in the order the key declares."""


_CHAR: Final = re.compile(r"char\(\d+\)")
_CHAR_COLUMN: Final = re.compile(r"(\w+) (char\((\d+)\))")
_KNOWN_AS: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""The metadata by which Spark knows a column of strings as CHAR(n)."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A base relation: its rows, its key, and its Spark schema."""

    name: str
    key: tuple[str, ...]
    schema: str
    data: pa.Table

    def row_keys(self, rows: pa.Table | None = None) -> list[Key]:
        """Return the key of every row, or of every one of some rows, in their order."""
        data = self.data if rows is None else rows
        columns = [data.column(name).to_pylist() for name in self.key]
        return list(zip(*columns, strict=True))

    def read_keys(self, texts: Collection[tuple[str, ...]]) -> frozenset[Key]:
        """Return keys of which every value is given as text."""
        types = [self.data.schema.field(name).type for name in self.key]
        columns = zip(zip(*texts, strict=True), types, strict=True)
        values = [pa.array(column, pa.string()).cast(kind).to_pylist() for column, kind in columns]
        return frozenset(zip(*values, strict=True))

    def among(self, keys: Collection[Key]) -> pa.ChunkedArray:
        """Return for every row whether its key is among these."""
        columns = [self.data.column(name) for name in self.key]
        columns_of_keys = [
            pa.array([key[i] for key in keys], c.type) for i, c in enumerate(columns)
        ]
        known = [values.unique() for values in columns_of_keys]
        return pc.is_in(_numbers(columns, known), _numbers(columns_of_keys, known), skip_nulls=True)

    def without(self, keys: Collection[Key]) -> pa.Table:
        """Return the rows whose key is not among these."""
        return self.data.filter(pc.invert(self.among(keys))) if keys else self.data

    def frame(self, spark: SparkSession, data: pa.Table | None = None) -> DataFrame:
        """Return the relation, or other rows of its schema, as a DataFrame.

        Spark makes no frame of CHAR(n); of a table it reads padded strings that it knows as such.
        """
        plain = _CHAR.sub("string", self.schema)
        frame = spark.createDataFrame(self.data if data is None else data, schema=plain)
        for name, char, length in _CHAR_COLUMN.findall(self.schema):
            frame = frame.withColumn(name, _rpad(frame[name], length))
            frame = frame.withMetadata(name, {_KNOWN_AS: char})
        return frame

    def padded(self, lengths: Mapping[str, int]) -> Relation:
        """Return the relation with these columns, if it has them, as CHAR of a length."""
        items = [item.split(" ") for item in self.schema.split(", ")]
        kinds = {name: f"char({length})" for name, length in lengths.items()}
        schema = ", ".join(f"{name} {kinds.get(name, kind)}" for name, kind in items)
        return replace(self, schema=schema)


@dataclass(frozen=True, slots=True)
class Database:
    """Relations by name."""

    relations: Mapping[str, Relation]

    def __str__(self) -> str:
        return "\n\n".join(_shown(relation) for relation in self.relations.values())

    def replaced(self, **data: pa.Table) -> Database:
        """Return the database with other rows in the relations named."""
        changed = {name: replace(self.relations[name], data=rows) for name, rows in data.items()}
        return Database({**self.relations, **changed})

    def padded(self, **lengths: int) -> Database:
        """Return the database with the columns of these names as CHAR of a length."""
        padded = {name: relation.padded(lengths) for name, relation in self.relations.items()}
        return Database(padded)

    def track(self, ls: Any, spark: SparkSession) -> None:
        """Register every relation with a lipstick session."""
        for relation in self.relations.values():
            ls.track(relation.name, relation.frame(spark), key=list(relation.key))


def _rpad(column: Column, length: str) -> Column:
    from pyspark.sql import functions as f

    return f.rpad(column, int(length), " ")


def _numbers(columns: Sequence[pa.Array], known: Sequence[pa.Array]) -> pa.Array:
    """Return keys as numbers whose digits are places among known values; NULL where one is not.

    A NULL is a value like others.
    """
    number = 0
    for column, values in zip(columns, known, strict=True):
        digit = pc.index_in(column, values).cast(pa.int64())
        number = pc.add_checked(pc.multiply_checked(number, len(values)), digit)
    return number


def _shown(relation: Relation, rows: int = 40) -> str:
    data = relation.data
    lines = [f"{relation.name}({relation.schema}) key ({', '.join(relation.key)})"]
    lines += [f"  {tuple(row.values())!r}" for row in data.slice(0, rows).to_pylist()]
    return "\n".join([*lines, *([f"  ... {data.num_rows} rows"] if data.num_rows > rows else [])])


@dataclass(frozen=True, slots=True)
class Deletion:
    """A set of base tuples, and how it is asked for.

    ``keys`` says what is deleted and is what the oracle believes; ``predicates`` are the relations
    for which the same set is put to lipstick as a predicate instead of a list of keys.
    """

    kind: str
    keys: Mapping[str, frozenset[Key]]
    predicates: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(keys) for keys in self.keys.values())

    def __str__(self) -> str:
        return f"{self.kind}: {self.argument()}"

    def argument(self) -> dict[str, str | list[Any]]:
        """Return the ``delete`` argument of ``what_if``: a key of one column stands for itself."""
        predicates = {name: text for name, text in self.predicates.items() if name in self.keys}
        return {**_listed(self.keys, but=predicates), **predicates}

    def key_lists(self) -> dict[str, list[Any]]:
        """Return the ``delete`` argument without predicates, as a capture takes it offline."""
        return _listed(self.keys)


def _listed(
    deleted: Mapping[str, frozenset[Key]], but: Collection[str] = ()
) -> dict[str, list[Any]]:
    return {
        name: [key[0] if len(key) == 1 else key for key in sorted(keys, key=repr)]
        for name, keys in deleted.items()
        if keys and name not in but
    }


NOTHING = Deletion("empty", {})

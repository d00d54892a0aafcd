"""Databases to ask queries over, held in Arrow, and what is left of them after a deletion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Key: TypeAlias = tuple[Any, ...]
"""The values of a relation's key columns, in the order the key declares."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A base relation: its rows, its key, and its Spark schema."""

    name: str
    key: tuple[str, ...]
    schema: str
    data: pa.Table

    def row_keys(self) -> list[Key]:
        """Return the key of every row, in the order of the rows."""
        columns = [self.data.column(name).to_pylist() for name in self.key]
        return list(zip(*columns, strict=True))

    def without(self, keys: Iterable[Key]) -> pa.Table:
        """Return the rows whose key is not among these."""
        gone = set(keys)
        if not gone:
            return self.data
        return self.data.filter(pa.array([key not in gone for key in self.row_keys()], pa.bool_()))

    def frame(self, spark: SparkSession, data: pa.Table | None = None) -> DataFrame:
        """Return the relation, or other rows of its schema, as a DataFrame."""
        return spark.createDataFrame(self.data if data is None else data, schema=self.schema)


@dataclass(frozen=True, slots=True)
class Database:
    """Relations by name."""

    relations: Mapping[str, Relation]

    def __str__(self) -> str:
        return "\n\n".join(_shown(relation) for relation in self.relations.values())

    def track(self, ls: Any, spark: SparkSession) -> None:
        """Register every relation with a lipstick session."""
        for relation in self.relations.values():
            ls.track(relation.name, relation.frame(spark), key=list(relation.key))


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
        return {**self.key_lists(), **{n: p for n, p in self.predicates.items() if n in self.keys}}

    def key_lists(self) -> dict[str, list[Any]]:
        """Return the ``delete`` argument without predicates, as a capture takes it offline."""
        return {
            name: [key[0] if len(key) == 1 else key for key in sorted(keys, key=repr)]
            for name, keys in self.keys.items()
            if keys
        }


NOTHING = Deletion("empty", {})

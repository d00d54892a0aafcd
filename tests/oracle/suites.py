"""Benchmark suites for the oracles: the texts that DuckDB carries, in Spark SQL, and their data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import sqlglot

from tests.oracle import tpcds, tpch
from tests.oracle.database import Database, Relation
from tests.oracle.rows import arrow_type_name


@dataclass(frozen=True, slots=True)
class Suite:
    """A benchmark: its relations with their primary keys, and its queries by number.

    Attributes
    ----------
    name
        DuckDB's name of it.
    altered
        What is replaced in a query's text, where its parameters find nothing at scale 0.01.
    changed
        What is done to the data for a query, where no parameters find anything.
    """

    name: str
    keys: Mapping[str, tuple[str, ...]]
    altered: Mapping[int, tuple[tuple[str, str], ...]]
    changed: Mapping[int, Callable[[Database], Database]] = field(default_factory=dict)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the queries."""
        return tuple(sorted(_texts(self.name)))

    def query(self, number: int) -> str:
        """Return a query in Spark SQL, its parameters altered where 0.01 asks for it.

        Raises
        ------
        ValueError
            If the text does not contain what is to be altered.
        """
        text = _texts(self.name)[number]
        for before, after in self.altered.get(number, ()):
            if before not in text:
                raise ValueError(f"query {number} does not contain {before!r}")
            text = text.replace(before, after)
        return _in_spark(text)

    def load(self, directory: Path) -> Database:
        """Return the relations from a directory of ``<name>.parquet``."""
        return Database({name: self._load(directory, name) for name in self.keys})

    def database(self, number: int, loaded: Database) -> Database:
        """Return the data to ask a query over: as loaded, but for relations that it changes."""
        return self.changed[number](loaded) if number in self.changed else loaded

    def _load(self, directory: Path, name: str) -> Relation:
        data = _plain_strings(pq.read_table(directory / f"{name}.parquet"))
        schema = ", ".join(f"{f.name} {arrow_type_name(f.type)}" for f in data.schema)
        return Relation(name, self.keys[name], schema, data)


TPCH: Final = Suite("tpch", tpch.KEYS, tpch.ALTERED)
TPCDS: Final = Suite("tpcds", tpcds.KEYS, tpcds.ALTERED, tpcds.CHANGED)


@cache
def _texts(suite: str) -> dict[int, str]:
    with duckdb.connect() as connection:
        connection.execute(f"LOAD {suite}")
        return dict(connection.execute(f"FROM {suite}_queries()").fetchall())


@cache
def _in_spark(text: str) -> str:
    return sqlglot.transpile(text, read="duckdb", write="spark", pretty=True)[0]


def _plain_strings(data: pa.Table) -> pa.Table:
    """Return the table with its string views as strings, which Spark and older readers know."""
    fields = [
        column.with_type(pa.string()) if pa.types.is_string_view(column.type) else column
        for column in data.schema
    ]
    return data.cast(pa.schema(fields))

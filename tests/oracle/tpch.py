"""TPC-H for the oracles: the texts that DuckDB carries, in Spark SQL, and the primary keys."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import sqlglot

from tests.oracle.database import Database, Relation
from tests.oracle.rows import arrow_type_name

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "supplier": ("s_suppkey",),
    "customer": ("c_custkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}

SUPPORTED: Final = tuple(range(1, 23))

# At scale 0.01 the standard parameters of these give an empty answer or a share of zero.
_ALTERED: Final[dict[int, tuple[tuple[str, str], ...]]] = {
    8: (("'BRAZIL'", "'UNITED STATES'"),),
    18: (("> 300", "> 250"),),
}


@cache
def _texts() -> dict[int, str]:
    with duckdb.connect() as connection:
        connection.execute("LOAD tpch")
        return dict(connection.execute("FROM tpch_queries()").fetchall())


@cache
def query(number: int) -> str:
    """Return a TPC-H query in Spark SQL, its parameters altered where 0.01 asks for it."""
    text = _texts()[number]
    for before, after in _ALTERED.get(number, ()):
        if before not in text:
            raise ValueError(f"query {number} does not contain {before!r}")
        text = text.replace(before, after)
    return sqlglot.transpile(text, read="duckdb", write="spark", pretty=True)[0]


def load(directory: Path) -> Database:
    """Return the eight relations from a directory of ``<name>.parquet``."""
    return Database({name: _load(directory, name) for name in KEYS})


def _load(directory: Path, name: str) -> Relation:
    data = _plain_strings(pq.read_table(directory / f"{name}.parquet"))
    schema = ", ".join(f"{f.name} {arrow_type_name(f.type)}" for f in data.schema)
    return Relation(name, KEYS[name], schema, data)


def _plain_strings(data: pa.Table) -> pa.Table:
    """Return the table with its string views as strings, which Spark and older readers know."""
    fields = [
        field.with_type(pa.string()) if pa.types.is_string_view(field.type) else field
        for field in data.schema
    ]
    return data.cast(pa.schema(fields))

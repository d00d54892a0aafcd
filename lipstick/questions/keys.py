"""Keys as users write them, resolved to tokens: what needs no Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from lipstick.capture.manifest import RelationRecord
from lipstick.errors import TrackingError

Cascade = Mapping[str, tuple[str | Sequence[str], str]]


def record_of(relations: Mapping[str, RelationRecord], name: str) -> RelationRecord:
    """Return the record of a relation with tokens, by its name in any case.

    Raises
    ------
    TrackingError
        When the query does not read it, or its tuples have no tokens.
    """
    record = next((r for known, r in relations.items() if known.lower() == name.lower()), None)
    if record is None:
        raise TrackingError(
            f"The query does not read a tracked relation {name!r}.\n"
            f"It reads: {', '.join(sorted(r.name for r in relations.values()))}."
        )
    if not record.token:
        raise TrackingError(
            f"{name!r} is tracked with provenance=False: its tuples have no tokens to delete.\n"
            "Track it with a key to ask what its rows contribute."
        )
    return record


def resolve_keys(
    relations: Mapping[str, RelationRecord],
    types: Mapping[str, pa.Schema],
    delete: Mapping[str, Any],
) -> dict[str, pa.Table]:
    """Turn lists of keys into tokens without Spark.

    Parameters
    ----------
    types
        The token columns of each relation, as the capture stores them.
    delete
        Per relation a list of keys, or an Arrow table with the key columns.

    Raises
    ------
    TrackingError
        For predicates, which need Spark, and as :func:`resolve_deletion`.
    """
    tokens = {}
    for name, what in delete.items():
        record = record_of(relations, name)
        schema = types[record.name]
        if isinstance(what, str) or not isinstance(what, Sequence | pa.Table):
            raise TrackingError(
                f"A predicate over {record.name!r} reads the tracked source, which needs Spark: "
                "lipstick.open(path, spark=spark). Without Spark, give a list of keys."
                + key_advice(what)
            )
        tokens[record.name] = tokens_of(record, what, schema)
    return tokens


def tokens_of(
    record: RelationRecord, what: Sequence[Any] | pa.Table, schema: pa.Schema
) -> pa.Table:
    try:
        if isinstance(what, pa.Table):
            return what.select(list(record.token)).cast(schema)
        return table_of_keys(record.name, what, schema)
    except (pa.ArrowException, KeyError, OverflowError, TypeError, ValueError) as error:
        raise TrackingError(f"Keys of {record.name!r}: {error}") from error


def table_of_keys(name: str, keys: Sequence[Any], schema: pa.Schema) -> pa.Table:
    rows = [key_values(name, schema.names, key) for key in keys]
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(schema)]
    return pa.Table.from_arrays(columns, schema=schema)


def key_values(name: str, columns: Sequence[str], key: Any) -> tuple[Any, ...]:
    """Return the values of a key in the order of its columns.

    Parameters
    ----------
    key
        A value, a tuple where the key has several columns, or the values by column.

    Raises
    ------
    TrackingError
        When it has another number of values.
    """
    values = key if isinstance(key, tuple) else (key,)
    if isinstance(key, Mapping):  # or a value of a struct
        given = {str(column).lower(): value for column, value in key.items()}
        if given.keys() == {column.lower() for column in columns}:
            values = tuple(given[column.lower()] for column in columns)
    if len(values) != len(columns):
        raise TrackingError(
            f"A key of {name!r} has {len(columns)} values ({', '.join(columns)}), "
            f"not {len(values)}: {key!r}."
        )
    return values


def key_advice(what: Any) -> str:
    """Return the advice for a value that is a key rather than a condition."""
    is_key = what.isalnum() if isinstance(what, str) else isinstance(what, int)
    return f"\nFor the row with this key write [{what!r}]." if is_key else ""

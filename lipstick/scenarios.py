"""Scenarios as users give them: many deletions, listed, tabulated or generated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.capture.manifest import RelationRecord
from lipstick.deletion import record_of, resolve_deletion, resolve_keys
from lipstick.errors import TrackingError
from lipstick.memory import Deleted, Memory, Scenarios, order
from lipstick.memory.keys import distinct
from lipstick.memory.store import OPEN_WITH_SPARK

SCENARIO = "scenario"


@dataclass(frozen=True, slots=True)
class Each:
    """A scenario per tuple of a relation, or per group of tuples that agree on columns."""

    relation: str
    by: tuple[str, ...]


def each(relation: str, by: str | Sequence[str] = ()) -> Each:
    """Leave out every tuple of a relation in turn, or every group of its tuples.

    Parameters
    ----------
    relation
        A tracked relation that the query reads. Tuples that took no part in the query make no
        scenario where the capture alone is read.
    by
        Columns: one scenario for each of their values, which deletes all tuples that have it. Key
        columns are known to the capture; others are read from the source, which needs Spark.

    Examples
    --------
    >>> capture.what_if_many(lipstick.each("lineitem", by="l_suppkey")).changes
    """
    return Each(relation, (by,) if isinstance(by, str) else tuple(by))


Given: TypeAlias = (
    Each | Sequence[Mapping[str, Any]] | Mapping[Any, Mapping[str, Any]] | Mapping[str, Any]
)
"""See :meth:`lipstick.Capture.what_if_many`."""


def resolve_scenarios(
    given: Given,
    relations: Mapping[str, RelationRecord],
    types: Mapping[str, pa.Schema],
    memory: Memory,
    spark: SparkSession | None,
) -> Scenarios:
    """Turn scenarios of any form into tokens.

    Parameters
    ----------
    types
        The token columns of each relation, as the capture stores them.

    Raises
    ------
    TrackingError
        As for a single deletion, and for tables without a column ``scenario``.
    """
    if isinstance(given, Each):
        return _each(given, relations, memory, spark)
    if isinstance(given, Mapping):
        tables = [isinstance(what, pa.Table | DataFrame) for what in given.values()]
        if tables and all(tables):
            return _tabulated(given, relations, types)
        labels, listed = list(given), list(given.values())
    else:
        labels, listed = list(range(len(given))), list(given)
    parts: dict[str, list[Deleted]] = {}
    for number, delete in enumerate(listed):
        if not isinstance(delete, Mapping):
            raise TrackingError(
                f"Scenario {labels[number]!r} says per relation what it deletes, as "
                f'{{"cars": ["C2"]}}, not {delete!r}.'
            )
        if spark is None:
            tokens = resolve_keys(relations, types, delete)
        else:
            tokens = dict(resolve_deletion(spark, relations, delete).tokens)
        for name, table in tokens.items():
            owners = np.full(table.num_rows, number, dtype=np.int64)
            parts.setdefault(name, []).append(Deleted(table.cast(types[name]), owners))
    deleted = {
        name: Deleted(
            pa.concat_tables([part.tokens for part in found]).combine_chunks(),
            np.concatenate([part.scenarios for part in found]),
        )
        for name, found in parts.items()
    }
    return Scenarios(pa.array(labels), deleted)


def _tabulated(
    given: Mapping[str, Any],
    relations: Mapping[str, RelationRecord],
    types: Mapping[str, pa.Schema],
) -> Scenarios:
    """Scenarios from tables of key columns and a column ``scenario``."""
    found: dict[str, tuple[pa.Table, pa.Array]] = {}
    for name, what in given.items():
        table = what.toArrow() if isinstance(what, DataFrame) else what
        record = record_of(relations, name)
        needed = (*record.token, SCENARIO)
        missing = [column for column in needed if column not in table.schema.names]
        if missing:
            raise TrackingError(
                f"The table of tuples that scenarios delete from {record.name!r} has no column "
                f"{missing[0]!r}; it needs {', '.join(needed)}."
            )
        label = table.column(SCENARIO).combine_chunks()
        tokens = table.select(list(record.token)).cast(types[record.name]).combine_chunks()
        found[record.name] = tokens, label
    labels = pa.concat_arrays([label for _, label in found.values()])
    codes, first = distinct([labels], len(labels))
    deleted, start = {}, 0
    for name, (tokens, label) in found.items():
        deleted[name] = Deleted(tokens, codes[start : start + len(label)])
        start += len(label)
    return Scenarios(labels.take(pa.array(first)), deleted)


def _each(
    given: Each,
    relations: Mapping[str, RelationRecord],
    memory: Memory,
    spark: SparkSession | None,
) -> Scenarios:
    record = record_of(relations, given.relation)
    by = given.by or record.token
    if set(by) <= set(record.token):
        table = memory.tokens(record.name)
    elif spark is None:
        raise TrackingError(
            f"The columns {', '.join(by)} of {record.name!r} are not its key, and the capture does "
            f"not have them.\n{OPEN_WITH_SPARK}"
        )
    else:
        names = dict.fromkeys([*record.token, *by])
        columns = [F.col(f"`{name}`") for name in names]
        table = spark.table(record.view).select(*columns).toArrow()
    groups = [table.column(name).combine_chunks() for name in by]
    codes, first = distinct(groups, table.num_rows)
    chosen = [group.take(pa.array(first)) for group in groups]
    by_value = order.order([order.Key(group) for group in chosen], len(first))
    chosen = [group.take(pa.array(by_value)) for group in chosen]
    codes = np.argsort(by_value)[codes]
    labels = chosen[0] if len(chosen) == 1 else pa.StructArray.from_arrays(chosen, names=list(by))
    tokens = table.select(list(record.token)).combine_chunks()
    return Scenarios(labels, {record.name: Deleted(tokens, codes)})

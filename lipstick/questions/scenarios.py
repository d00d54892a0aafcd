"""Scenarios as users give them: many deletions or updates, listed, tabulated or generated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
import pyarrow as pa

from lipstick.capture.manifest import RelationRecord
from lipstick.dataframes.arrow import arrow_rows
from lipstick.engines.memory import order
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.scenarios import Deleted, Scenarios
from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.errors import TrackingError
from lipstick.questions.keys import record_of, resolve_keys
from lipstick.questions.what_if import SCENARIO
from lipstick.tracking.unknown_keys import check_keys, check_predicates
from semiring.base import Array
from semiring.support.door import checked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lipstick.engines.protocol import AskedCapture


@dataclass(frozen=True, slots=True)
class Each:
    """A scenario per tuple of a relation, or per group of tuples that agree on columns."""

    relation: str
    by: tuple[str, ...]
    update: Mapping[str, Any] | None = None


@checked
def each(
    relation: str, by: str | Sequence[str] = (), *, update: Mapping[str, Any] | None = None
) -> Each:
    """Leave out, or change, every tuple of a relation in turn, or every group of its tuples.

    Parameters
    ----------
    relation
        A tracked relation that the query reads. Tuples that took no part in the query make no
        scenario where the capture alone is read.
    by
        Columns: one scenario for each of their values, which deletes all tuples that have it. Key
        columns are known to the capture; others are read from the source, which needs Spark.
    update
        For :meth:`~lipstick.Capture.what_if_updated_many`, with Spark: expressions by column, as
        :meth:`~lipstick.Capture.what_if_updated` takes them. A scenario changes its tuples.

    Examples
    --------
    >>> capture.what_if_many(lipstick.each("lineitem", by="l_suppkey")).changes
    >>> cheaper = {"l_extendedprice": "l_extendedprice * 0.9"}
    >>> each = lipstick.each("lineitem", by="l_suppkey", update=cheaper)
    >>> capture.what_if_updated_many(each).changes
    """
    return Each(relation, (by,) if isinstance(by, str) else tuple(by), update)


Given: TypeAlias = (
    Each | Sequence[Mapping[str, Any]] | Mapping[Any, Mapping[str, Any]] | Mapping[str, Any]
)
"""See :meth:`lipstick.Capture.what_if_many`."""


def resolve_scenarios(given: Given, capture: AskedCapture, *, strict: bool = False) -> Scenarios:
    """Turn scenarios of any form into tokens, and report keys that name no row.

    Raises
    ------
    TrackingError
        As for a single deletion, and for tables without a column ``scenario``.
    """
    if isinstance(given, Each):
        return _each(given, capture)
    relations, types = capture.manifest.relations, capture._token_types()
    resolved = (
        _tabulated(given, relations, types)
        if tabulated(given)
        else _listed(given, relations, types, capture.engine.spark, strict=strict)
    )
    for name, deleted in resolved.deleted.items():
        check_keys(capture, name, deleted.tokens, strict=strict)
    return resolved


def _listed(
    given: Any,
    relations: Mapping[str, RelationRecord],
    types: Mapping[str, pa.Schema],
    spark: SparkSession | None,
    *,
    strict: bool,
) -> Scenarios:
    """Scenarios from a list of deletions, or from a mapping from their names."""
    labels, listed = numbered(given, "deletes", '{"cars": ["C2"]}')
    parts: dict[str, list[Deleted]] = {}
    for number, delete in enumerate(listed):
        if spark is None:
            tokens = resolve_keys(relations, types, delete)
        else:
            from lipstick.questions.deletion import resolve_deletion

            tokens = dict(resolve_deletion(spark, relations, delete).tokens)
            check_predicates(delete, tokens, strict=strict)
        for name, table in tokens.items():
            owners = np.full(table.num_rows, number, dtype=np.int64)
            parts.setdefault(name, []).append(Deleted(table.cast(types[name]), owners))
    deleted = {
        name: Deleted(
            pa.concat_tables([part.tokens for part in deleted_parts]).combine_chunks(),
            np.concatenate([part.scenarios for part in deleted_parts]),
        )
        for name, deleted_parts in parts.items()
    }
    return Scenarios(pa.array(labels), deleted)


def tabulated(given: Given) -> TypeGuard[Mapping[str, Any]]:
    """Return True if scenarios are given by tables, one per relation."""
    if isinstance(given, Each) or not isinstance(given, Mapping):
        return False
    return bool(given) and all(map(_is_table, given.values()))


def _is_table(what: Any) -> bool:
    """Return True for tables of Arrow and data frames; a Column has attributes of any name."""
    return isinstance(what, pa.Table) or hasattr(type(what), "toArrow")


def numbered(given: Given, verb: str, example: str) -> tuple[list[Any], list[Mapping[str, Any]]]:
    """Return what listed or named scenarios are called, and what each of them is.

    Raises
    ------
    TrackingError
        Where one is not a mapping from relations; ``verb`` and ``example`` say what it should be.
    """
    assert not isinstance(given, Each)
    named = isinstance(given, Mapping)
    labels = list(given) if named else list(range(len(given)))
    listed = list(given.values()) if isinstance(given, Mapping) else list(given)
    for label, spec in zip(labels, listed, strict=True):
        if not isinstance(spec, Mapping):
            raise TrackingError(
                f"Scenario {label!r} says per relation what it {verb}, as {example}, not {spec!r}."
            )
    return labels, listed


def tables_by_scenario(
    given: Mapping[str, Any], relations: Mapping[str, RelationRecord], verb: str
) -> tuple[pa.Array, dict[str, tuple[pa.Table, Array]]]:
    """Return the labels of tabulated scenarios, and per relation its table and their numbers.

    Raises
    ------
    TrackingError
        Where a table lacks its key columns or the column ``scenario``.
    """
    tables, labels = dict[str, pa.Table](), list[pa.Array]()
    for name, what in given.items():
        table = what if isinstance(what, pa.Table) else what.toArrow()
        record = record_of(relations, name)
        needed = (*record.token, SCENARIO)
        missing = [column for column in needed if column not in table.schema.names]
        if missing:
            raise TrackingError(
                f"The table of tuples that scenarios {verb} in {record.name!r} has no column "
                f"{missing[0]!r}; it needs {', '.join(needed)}."
            )
        labels.append(table.column(SCENARIO).combine_chunks())
        tables[record.name] = table.drop_columns([SCENARIO])
    every = pa.concat_arrays(labels)
    codes, first = distinct([every], len(every))
    ends = np.cumsum([len(label) for label in labels])
    numbers = np.split(codes, ends[:-1])
    by_relation = {
        name: (table, scenario_numbers)
        for (name, table), scenario_numbers in zip(tables.items(), numbers, strict=True)
    }
    return every.take(pa.array(first)), by_relation


def _tabulated(
    given: Mapping[str, Any],
    relations: Mapping[str, RelationRecord],
    types: Mapping[str, pa.Schema],
) -> Scenarios:
    """Scenarios from tables of key columns and a column ``scenario``."""
    labels, tables = tables_by_scenario(given, relations, "delete")
    deleted = {}
    for name, (table, numbers) in tables.items():
        tokens = table.select(list(relations[name].token)).cast(types[name]).combine_chunks()
        deleted[name] = Deleted(tokens, numbers)
    return Scenarios(labels, deleted)


def _each(given: Each, capture: AskedCapture) -> Scenarios:
    record, spark = record_of(capture.manifest.relations, given.relation), capture.engine.spark
    by = given.by or record.token
    if given.update is not None:
        raise TrackingError(
            f"Scenarios that change tuples of {record.name!r} are asked with "
            "what_if_updated_many(); what_if_many() deletes."
        )
    if set(by) <= set(record.token):
        table = capture.memory.tokens(record.name)
    elif spark is None:
        raise TrackingError(
            f"The columns {', '.join(by)} of {record.name!r} are not its key, and the capture does "
            f"not have them.\n{OPEN_WITH_SPARK}"
        )
    else:
        from lipstick.capture.lookup import source_rows

        columns = [f"`{name}`" for name in dict.fromkeys([*record.token, *by])]
        table = arrow_rows(source_rows(spark, record).select(*columns))
    labels, numbers = groups(table, by)
    tokens = table.select(list(record.token)).combine_chunks()
    return Scenarios(labels, {record.name: Deleted(tokens, numbers)})


def groups(table: pa.Table, by: Sequence[str]) -> tuple[pa.Array, Array]:
    """Return the distinct values of some columns, sorted, and the number of each row's."""
    columns = [table.column(name).combine_chunks() for name in by]
    codes, first = distinct(columns, table.num_rows)
    chosen = [column.take(pa.array(first)) for column in columns]
    by_value = order.order([order.Key(column) for column in chosen], len(first))
    chosen = [column.take(pa.array(by_value)) for column in chosen]
    labels = chosen[0] if len(chosen) == 1 else pa.StructArray.from_arrays(chosen, names=list(by))
    return labels, np.argsort(by_value)[codes]

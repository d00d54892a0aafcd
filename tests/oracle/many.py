"""Many scenarios at once give what each of them gives alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.scenarios import Deleted, Scenarios


def check_many(memory: Memory, deletions: Sequence[Mapping[str, pa.Table]]) -> int:
    """Hold ``what_if_many`` against ``what_if`` of every scenario, bit for bit.

    Returns
    -------
    int
        How many scenarios change the answer.
    """
    many = memory.what_if_many(scenarios(deletions))
    changed = 0
    for number, deletion in enumerate(deletions):
        alone = memory.what_if(deletion)
        assert rows(_of(many.df, number)) == rows(alone.df), f"scenario {number}"
        assert _of(many.df, number).schema.types == alone.df.schema.types
        expected = _changes(alone.changes)
        assert sorted(rows(_of(many.changes, number))) == sorted(expected), f"scenario {number}"
        changed += bool(expected)
    return changed


def scenarios(deletions: Sequence[Mapping[str, pa.Table]]) -> Scenarios:
    """Deletions, numbered as they come."""
    tokens_by_name: dict[str, tuple[list[pa.Table], list[int]]] = {}
    for number, deletion in enumerate(deletions):
        for name, tokens in deletion.items():
            tables, owners = tokens_by_name.setdefault(name, ([], []))
            tables.append(tokens)
            owners += [number] * tokens.num_rows
    deleted = {
        name: Deleted(
            pa.concat_tables(tables).combine_chunks(), pa.array(owners, pa.int64()).to_numpy()
        )
        for name, (tables, owners) in tokens_by_name.items()
    }
    return Scenarios(pa.array(range(len(deletions)), pa.int64()), deleted)


def rows(table: pa.Table) -> list[str]:
    """The rows of a table as text, in which NaN is equal to itself."""
    return [repr(row) for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]


def _of(table: pa.Table, number: int) -> pa.Table:
    of_scenario = table.filter(pc.equal(table.column("scenario"), number))
    return of_scenario.select(list(range(1, table.num_columns)))


def _changes(changes: pa.Table) -> list[str]:
    """What one scenario changes, as rows of the table of many."""
    kinds = changes.column("_change").to_pylist()
    old, new = (_values(changes.column(side)) for side in ("old", "new"))
    return [
        repr((*(before if kind == "deleted" else after), kind))
        for kind, before, after in zip(kinds, old, new, strict=True)
        if kind != "unchanged"
    ]


def _values(column: pa.ChunkedArray) -> list[tuple[Any, ...]]:
    """Structs as tuples: names may occur twice."""
    parts = [part.to_pylist() for part in column.combine_chunks().flatten()]
    return list(zip(*parts, strict=True))

"""The answer with other values in columns of some input tuples, in one scenario or in many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.lossless import Declared, lossless
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.places import matches, pack, positions_of
from lipstick.engines.memory.regroup import Moved
from lipstick.engines.memory.scenarios import Updated
from lipstick.engines.memory.state import State, overlay
from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.errors import CaptureError, NeedsSparkError
from rewriter.analysis.value_columns import updated_columns
from rewriter.blocks import MEMBER
from rewriter.interpret import Resolve, Vector, from_arrow
from semiring.arrays.segments import union
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class NewValues:
    """New values of member columns.

    Attributes
    ----------
    rows
        The grouping that they go into.
    columns
        By the name of the member column.
    """

    rows: GroupRows
    columns: Mapping[str, _Column]

    @property
    def moved(self) -> Moved:
        """The members that have other values, and their groups."""
        return self.rows.grouping.moved(union(*(c.places for c in self.columns.values())))

    def resolve(self, places: Array) -> Resolve:
        """The columns of some members, each in its scenario."""
        members, taken = self.rows.members, dict[str, Vector]()
        known = members.resolve(places, members.base)

        def column(alias: str, name: str) -> Vector:
            if alias != MEMBER or name not in self.columns:
                return known(alias, name)
            if name not in taken:
                assert members.dataset is not None
                new = self.columns[name]
                found, index = matches(places, new.places)
                old = members.dataset.take(name, positions_of(places))
                taken[name] = from_arrow(overlay(old, found, new.values.take(pa.array(index))))
            return taken[name]

        return column


@dataclass(frozen=True, slots=True)
class _Column:
    """New values of a member column, by the sorted places of members."""

    places: Array
    values: pa.Array


def follow(engine: Engine, updated: Iterable[Updated]) -> NewValues:
    """Find the members whose columns have other values.

    Raises
    ------
    NeedsSparkError
        For queries of several blocks, and for columns that something else than an aggregate reads:
        what would then be joined, selected or grouped is not in the capture.
    CaptureError
        For keys that are given twice, and values that the type of their column cannot hold.
    """
    rows = engine.rows(engine.root.name)
    if not isinstance(rows, GroupRows) or not rows.members.alone:
        raise NeedsSparkError(
            "Other values are followed in memory through one grouping over joins, and this query "
            "has more.\n" + OPEN_WITH_SPARK
        )
    if engine.root.name in engine.manifest.pruned:
        raise NeedsSparkError(
            "The capture has the groups that HAVING keeps, and other values may bring others.\n"
            + OPEN_WITH_SPARK
        )
    schema = engine.manifest.schemas.get(engine.root.name, {}).get("members", {"fields": []})
    metadata = {field["name"]: field["metadata"] for field in schema["fields"]}
    new_columns: dict[tuple[str, str], list[_Column]] = {}

    def declared(column: str) -> Declared:
        return Declared.of(metadata.get(column))

    for update in updated:
        record = engine.manifest.relations[update.relation]
        tokens = engine.tokens(update.relation, update.table)
        for name in update.table.column_names:
            if name not in record.token:
                for column_name, column in _columns(rows.members, update, name, tokens, declared):
                    new_columns.setdefault((update.relation, column_name), []).append(column)
    return NewValues(
        rows,
        {
            column_name: _one(relation, parts)
            for (relation, column_name), parts in new_columns.items()
        },
    )


def _one(relation: str, parts: list[_Column]) -> _Column:
    """All new values of a column, sorted."""
    keys = np.concatenate([part.places for part in parts])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    if not bool((np.diff(keys, prepend=-1) > 0).all()):
        raise CaptureError(f"The new values of {relation!r} give a key twice.")
    values = pa.concat_arrays([part.values for part in parts])
    return _Column(keys, values.take(pa.array(order)))


def evaluate_update(engine: Engine, updated: Iterable[Updated]) -> State:
    """The rows of the answer once tuples have other values, in some scenarios.

    Raises
    ------
    CaptureError
        As :func:`follow`.
    """
    new = follow(engine, updated)
    return new.rows.updated(new.moved, new.resolve) if new.columns else new.rows.base


def _columns(
    members: Members,
    updated: Updated,
    name: str,
    tokens: pa.Table,
    declared: Callable[[str], Declared],
) -> Iterator[tuple[str, _Column]]:
    """The member columns that hold a column of a relation, with their new values."""
    relation = updated.relation
    held = updated_columns(members.block, relation, name)
    if held is None:
        raise NeedsSparkError(
            f"Column {name!r} of {relation!r} decides which rows are joined, selected or grouped, "
            "or is stored as part of an expression: other values make other members than the "
            "capture has.\n" + OPEN_WITH_SPARK
        )
    values = updated.table.column(name).combine_chunks()
    keys = [column.combine_chunks() for column in tokens.columns]
    for number, token in enumerate(members.block.tokens):
        if token.relation != relation or token.alias not in held:
            continue
        column_name = held[token.alias]
        assert members.dataset is not None
        positions, owners = members.tokens.index(number).pairs(keys)
        kind = members.dataset.type(column_name)
        new = lossless(relation, name, values, kind, declared(column_name)).take(pa.array(owners))
        yield column_name, _Column(pack(updated.scenarios[owners], positions), new)

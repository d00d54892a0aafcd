"""The answer had columns of some input tuples had other values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.errors import CaptureError
from lipstick.memory.engine import Engine
from lipstick.memory.groups import GroupRows
from lipstick.memory.members import Members
from lipstick.memory.state import NOTHING, State, matches, overlay
from rewriter.blocks import MEMBER
from rewriter.interpret import Resolve, Vector, from_arrow
from rewriter.updates import updated_columns
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class _Column:
    """New values of a member column, at sorted positions of members."""

    positions: Array
    values: pa.Array


def evaluate_update(engine: Engine, updates: Mapping[str, pa.Table]) -> State:
    """The rows of the answer once tuples have other values.

    Parameters
    ----------
    updates
        Per relation a table of its token columns, each token once, and new values of other columns.

    Raises
    ------
    CaptureError
        For queries of several blocks, and for columns that something else than an aggregate reads:
        what would then be joined, selected or grouped is not in the capture.
    """
    rows = engine.rows(engine.root.name)
    if not isinstance(rows, GroupRows) or not rows.members.alone:
        raise CaptureError(
            "Other values are followed through one grouping over joins, and this query has more.\n"
            "Run it over the changed relation instead."
        )
    if engine.root.name in engine.manifest.pruned:
        raise CaptureError(
            "The capture has the groups that HAVING keeps, and other values may bring others.\n"
            "Capture the query without HAVING, and compare its aggregates."
        )
    members, columns = rows.members, dict[str, _Column]()
    for relation, table in updates.items():
        record = engine.manifest.relations[relation]
        tokens = engine.tokens(relation, table)
        for name in table.column_names:
            if name not in record.token:
                values = table.column(name).combine_chunks()
                columns |= _columns(members, relation, name, tokens, values)
    if not columns:
        return rows.base
    touched = np.unique(np.concatenate([column.positions for column in columns.values()]))

    def resolve(positions: Array) -> Resolve:
        known = members.resolve(positions, members.base)
        taken: dict[str, Vector] = {}

        def column(alias: str, name: str) -> Vector:
            if alias != MEMBER or name not in columns:
                return known(alias, name)
            if name not in taken:
                assert members.dataset is not None
                new = columns[name]
                places, found = matches(positions, new.positions)
                old = members.dataset.take(name, positions)
                taken[name] = from_arrow(overlay(old, places, new.values.take(pa.array(found))))
            return taken[name]

        return column

    return rows.updated(touched, resolve)


def _columns(
    members: Members, relation: str, name: str, tokens: pa.Table, values: pa.Array
) -> dict[str, _Column]:
    """The member columns that hold a column of a relation, with their new values."""
    held = updated_columns(members.block, relation, name)
    if held is None:
        raise CaptureError(
            f"Column {name!r} of {relation!r} decides which rows are joined, selected or grouped, "
            "or is stored as part of an expression: other values make other members than the "
            "capture has.\nRun the query over the changed relation instead."
        )
    found = {}
    for number, token in enumerate(members.block.tokens):
        if token.relation != relation or token.alias not in held:
            continue
        mine = held[token.alias]
        assert members.dataset is not None
        keys = [column.combine_chunks() for column in tokens.columns]
        positions, owners = members.token(number).pairs(keys)
        order = np.argsort(positions, kind="stable")
        positions = positions[order]
        if len(positions) and not bool((np.diff(positions, prepend=-1) > 0).all()):
            raise CaptureError(f"The new values of {relation!r} give a key twice.")
        kind = members.dataset.type(mine)
        try:
            new = values.take(pa.array(owners[order])).cast(kind)
        except pa.ArrowException as error:
            raise CaptureError(
                f"The new values of {name!r} are not of its type {kind}: {error}"
            ) from error
        found[mine] = _Column(positions if len(positions) else NOTHING, new)
    return found

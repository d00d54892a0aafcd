"""The members of the answer's rows, listed."""

from __future__ import annotations

import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.reach import members_of
from lipstick.engines.memory.store import every
from semiring.base import Array


def list_members(engine: Engine, limit: int | None) -> pa.Table:
    """One row per answer row and member; see :meth:`Memory.members`."""
    root = engine.root
    rows, state = engine.rows(root.name), engine.base(root.name)
    ordered = state.ordered
    if isinstance(rows, GroupRows):
        chosen, owners = rows.grouping.members_of(ordered)
        alive = rows.members.base_alive
        if alive is not None:
            chosen, owners = chosen[alive[chosen]], owners[alive[chosen]]
    else:
        chosen, owners = ordered, every(len(ordered))
    chosen, owners = chosen[:limit], owners[:limit]
    columns = engine.columns(state, ordered[owners])
    names = list(engine.manifest.names)
    members = members_of(rows)
    if members is None:
        extra = {name: state.take(name, chosen) for name in root.identity}
    else:
        extra = _columns(engine, members, chosen)
    return pa.Table.from_arrays([*columns, *extra.values()], names=[*names, *extra])


def _columns(engine: Engine, members: Members, chosen: Array) -> dict[str, pa.Array]:
    if members.dataset is None:
        columns = {}
        for lookup in members.lookups:
            inner = engine.base(lookup.block.name)
            positions = members.references.of(lookup, chosen)
            for name in lookup.block.identity:
                columns[f"{lookup.alias}_{name}"] = inner.take(name, positions)
        return columns
    tokens = [column for token in members.block.tokens for column in token.columns]
    names = dict.fromkeys([*tokens, *members.dataset.names])
    return {name: members.dataset.take(name, chosen) for name in names}

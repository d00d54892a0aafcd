"""The tuples and members that some rows of the answer were made from, through every block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.index import TokenIndex
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.rows import Rows
from lipstick.engines.memory.store import every
from lipstick.engines.memory.unions import UnionRows
from lipstick.engines.memory.window_rows import WindowRows
from rewriter.blocks import Block
from semiring.arrays.arrow import decoded
from semiring.arrays.segments import ascending, mask_of
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Reached:
    """The tuples of one block that rows of the answer refer to, directly or not.

    Attributes
    ----------
    positions
        The tuples' positions, sorted.
    members
        The members, there without deletion, that they are made of; tuple by tuple.
    owners
        The place of each member's tuple in `positions`.
    """

    block: Block
    positions: Array
    members: Array
    owners: Array

    def place(self, positions: Array) -> Array:
        """The places of some reached positions."""
        if len(self.positions) and len(self.positions) == self.positions[-1] + 1:
            return positions
        return np.searchsorted(self.positions, positions)


@dataclass(frozen=True, slots=True)
class Referred:
    """The tuples of another block that members refer to, one for each member.

    Attributes
    ----------
    positions
        -1 where an optional reference finds none.
    """

    block: str
    positions: Array
    optional: bool = False


def reach(
    engine: Engine,
    positions: Array,
    *,
    scalars: bool = False,
    further: Callable[[Rows], Array] | None = None,
    owners: bool = True,
) -> dict[str, Reached]:
    """The tuples that rows of the answer were made from, per block, outer blocks first.

    Parameters
    ----------
    positions
        Positions of rows of the answer.
    scalars
        Also follow scalar subqueries, uncorrelated ones whole, and window functions: their values
        are not factors of an annotation, but may have decided a row or gone into it.
    further
        The tuples of a block that are also wanted, whichever others are; in place of the tuples
        that window functions see, and with both sides of a bag difference.
    owners
        False: the tuple of each member is not asked for. All members of all groups are found
        without numbering the groups.
    """
    wanted: dict[str, list[Array]] = {engine.root.name: [positions]}
    reached: dict[str, Reached] = {}
    for name in reversed(engine.blocks):
        if name not in wanted:
            continue
        block, rows = engine.blocks[name], engine.rows(name)
        chosen = ascending(np.concatenate(wanted[name]))
        if further is not None:
            chosen = ascending(np.concatenate([chosen, further(rows)]))
        elif scalars and isinstance(rows, WindowRows):
            chosen = rows.deciding(chosen)
        members, owned_by = _members(rows, chosen, owners=owners)
        one_side = block.difference is not None and not block.difference.common
        if scalars and one_side and further is None:
            # A row of EXCEPT ALL was made from the left side alone.
            assert isinstance(rows, GroupRows)
            left = rows.sides(members) == 0
            members, owned_by = members[left], owned_by[left]
        reached[name] = Reached(block, chosen, members, owned_by)
        for referred in _references(rows, chosen, members, scalars):
            there = referred.positions
            if referred.optional:
                there = there[there >= 0]
            wanted.setdefault(referred.block, []).append(there)
        if scalars:
            for lookup in block.subqueries:
                everything = _everything(engine.rows(lookup.block.name))
                wanted.setdefault(lookup.block.name, []).append(everything)
    return reached


def _everything(rows: Rows) -> Array:
    """All positions of a block, before LIMIT."""
    alive = rows.members.base_alive if isinstance(rows, MemberRows) else None
    return every(rows.base.size) if alive is None else np.flatnonzero(alive)


def _members(rows: Rows, positions: Array, *, owners: bool) -> tuple[Array, Array]:
    if isinstance(rows, MemberRows):
        return positions, every(len(positions))
    if not isinstance(rows, GroupRows):
        return NOTHING, NOTHING
    if not owners and rows.members.base_alive is None and len(positions) == rows.grouping.size:
        everyone = every(rows.members.count)
        return everyone, everyone
    return rows.grouping.present_members(positions)


def members_of(rows: Rows) -> Members | None:
    """The members of a block; None for a union, and for what a generator makes."""
    return rows.members if isinstance(rows, (GroupRows, MemberRows)) else None


def references(members: Members, positions: Array, *, values: bool = False) -> list[Referred]:
    """The tuples of other blocks that members were made from.

    With ``values`` also tuples whose values are only looked up: no factors.
    """
    base = members.base
    referred = [
        Referred(lookup.block.name, members.references.of(lookup, positions))
        for lookup in members.joined
    ]
    for membership in members.memberships:
        if membership.negated:
            continue
        there = membership.refer(positions, base)
        concerned = membership.concerned(positions, base)
        if concerned is not None:
            there = np.where(concerned, there, -1)
        optional = concerned is not None
        referred.append(Referred(membership.asked.block.name, there, optional))
    for outer in members.block.lookups:
        if outer.factor or values:
            finder = members.lookups[outer.alias]
            there = finder.find(positions, base) if values else finder.sought(positions, base)
            referred.append(Referred(outer.block.name, there, optional=True))
    return referred


def _references(rows: Rows, positions: Array, chosen: Array, values: bool) -> list[Referred]:
    if isinstance(rows, UnionRows):
        branches, inside = rows.places(rows.context)
        return [
            Referred(branch.name, inside[positions[branches[positions] == number]])
            for number, branch in enumerate(rows.block.branches)
        ]
    if isinstance(rows, ElementRows):
        return [Referred(rows.inner, rows.owners[positions])]
    members = members_of(rows)
    assert members is not None
    return references(members, chosen, values=values)


def lineage(engine: Engine, positions: Array) -> dict[str, pa.Table]:
    """The tokens that some rows were made from or decided by, per relation, each once.

    Returns
    -------
    dict
        For every relation with tokens that the query reads, a table of its token columns.
    """
    return {
        name: table
        for name, (table, _) in first_lineage(engine, lineage_reach(engine, positions)).items()
    }


def lineage_reach(engine: Engine, positions: Array) -> dict[str, Reached]:
    """Return the tuples that some rows were made from or decided by, per block."""
    return reach(engine, positions, scalars=True, owners=False)


def first_lineage(
    engine: Engine, reached_blocks: Mapping[str, Reached], most: int | None = None
) -> dict[str, tuple[pa.Table, int]]:
    """Return the first distinct tokens of reached tuples per relation, and how many there are.

    Parameters
    ----------
    reached_blocks
        See :func:`lineage_reach`.
    most
        The number of tokens of each relation that are read; None: all.
    """
    found: dict[str, list[tuple[Members, int, Array]]] = {}
    for name, reached in reached_blocks.items():
        members = members_of(engine.rows(name))
        for number, token in enumerate(reached.block.tokens):
            assert members is not None
            assert members.dataset is not None
            absent = members.tokens.index(number).absent
            taken = reached.members
            if absent is not None:
                taken = taken[~absent[taken]]
            found.setdefault(token.relation, []).append((members, number, taken))
    tables = {}
    for name, record in engine.manifest.relations.items():
        if not record.token:
            continue
        parts = found.get(name, [])
        if len(parts) == 1:
            ((members, number, taken),) = parts
            first = members.tokens.index(number).first(taken)
            columns = _token_columns(members, number, first[:most])
            tables[name] = pa.table(columns, list(record.token)), len(first)
        else:
            table = _distinct(record.token, [_token_columns(*part) for part in parts], engine, name)
            tables[name] = table.slice(0, most), table.num_rows
    return tables


def _token_columns(members: Members, number: int, taken: Array) -> list[pa.Array]:
    assert members.dataset is not None
    columns = members.block.tokens[number].columns
    return [members.dataset.take(column, taken) for column in columns]


def dependents(engine: Engine, relation: str, keys: Sequence[pa.Array]) -> Array | None:
    """The rows of the answer whose lineage has one of some tokens: the inverse of `lineage`.

    Parameters
    ----------
    keys
        The key columns of the tokens.

    Returns
    -------
    Array or None
        Positions, ascending; None where window functions decide the lineage. O(members).
    """
    root = engine.root.name
    reached = reach(engine, ascending(engine.base(root).ordered), scalars=True)
    hits: dict[str, Array] = {}
    for name in reversed(reached):
        rows, of_block = engine.rows(name), reached[name]
        if isinstance(rows, WindowRows):
            return None
        members = members_of(rows)
        marked = np.zeros(len(of_block.members if members else of_block.positions), dtype=np.bool_)
        for number, token in enumerate(of_block.block.tokens):
            if token.relation == relation and members is not None:
                marked |= np.isin(of_block.members, members.tokens.index(number).rows(keys))
        by_number = rows.places(rows.context)[0] if isinstance(rows, UnionRows) else None
        referred_blocks = _references(rows, of_block.positions, of_block.members, values=True)
        for number, referred in enumerate(referred_blocks):
            inner, there = reached.get(referred.block), referred.positions >= 0
            if inner is None:
                continue
            flags = np.zeros(len(there), dtype=np.bool_)
            flags[there] = hits[referred.block][inner.place(referred.positions[there])]
            if by_number is None:
                marked |= flags
            else:
                marked[by_number[of_block.positions] == number] |= flags
        hit = marked
        if members is not None:
            hit = mask_of(of_block.owners[marked], len(of_block.positions))
        if any(hits[each.block.name].any() for each in of_block.block.subqueries):
            hit[:] = True
        hits[name] = hit
    found: Array = reached[root].positions[hits[root]]
    return found


def tokens(engine: Engine, relation: str) -> pa.Table:
    """The tuples of a relation that took part in the query, each once, by its token columns."""
    parts = []
    for block in engine.blocks.values():
        for token in block.tokens:
            if token.relation == relation:
                captured = engine.captured(block)
                assert captured is not None
                columns = [captured.column(name) for name in token.columns]
                absent = TokenIndex(columns).absent
                columns = [decoded(column) for column in columns]
                if absent is not None:
                    columns = [column.filter(pa.array(~absent)) for column in columns]
                parts.append(columns)
    return _distinct(engine.manifest.relations[relation].token, parts, engine, relation)


def unused(engine: Engine, relation: str, keys: pa.Table) -> Array:
    """Return the places of the keys of a relation that no member has, sorted.

    Cost: after the first what-if of the relation, O(d log n) for d keys among n members.
    """
    columns = [column.combine_chunks() for column in keys.columns]
    used = np.zeros(keys.num_rows, dtype=np.bool_)
    for name, block in engine.blocks.items():
        for number, token in enumerate(block.tokens):
            if token.relation == relation:
                members = members_of(engine.rows(name))
                assert members is not None
                used[members.tokens.index(number).pairs(columns)[1]] = True
    return np.flatnonzero(~used)


def _distinct(
    names: tuple[str, ...], parts: list[list[pa.Array]], engine: Engine, relation: str
) -> pa.Table:
    if not parts:
        types = token_types(engine).get(relation, [pa.null()] * len(names))
        return pa.table([pa.nulls(0, kind) for kind in types], names=list(names))
    columns = [pa.concat_arrays(list(column)) for column in zip(*parts, strict=True)]
    _, first = distinct(columns, len(columns[0]))
    chosen = pa.array(first)
    return pa.table([column.take(chosen) for column in columns], names=list(names))


def token_types(engine: Engine) -> Mapping[str, list[pa.DataType]]:
    """The types of the token columns of each relation, as members store them."""
    types: dict[str, list[pa.DataType]] = {}
    for block in engine.blocks.values():
        for token in block.tokens:
            captured = engine.captured(block)
            assert captured is not None
            types[token.relation] = [captured.type(column) for column in token.columns]
    return types

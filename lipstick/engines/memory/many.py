"""Many deletions at once: which rows of the answer each scenario changes, and into what.

A row that a scenario may change is a pair of scenario and position. All pairs are computed
together, column by column; found by an index from tokens to members, they cost what the deletions
touch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.engines.memory import order
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.index import spread
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.reach import members_of
from lipstick.engines.memory.regroup import Moved, Regrouped, regroup
from lipstick.engines.memory.scenarios import Deleted, Scenarios, Updates, pairs
from lipstick.engines.memory.state import NOTHING, SORT, Rows, State, contains, sort_keys
from lipstick.engines.memory.updates import follow
from lipstick.errors import NeedsSparkError
from rewriter.blocks import GROUP, Block
from rewriter.interpret import Resolve, Vector, from_arrow
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows of the answer that scenarios may change.

    Attributes
    ----------
    scenarios, positions
        A pair for each row, sorted.
    present
        Boolean array: the row is in the scenario's answer.
    columns
        Outputs and what the answer is ordered by, for the rows that are present.
    """

    scenarios: Array
    positions: Array
    present: Array
    columns: Mapping[str, pa.Array]


def evaluate_many(engine: Engine, scenarios: Scenarios) -> Changes:
    """The rows of the answer that may differ from the captured one.

    Raises
    ------
    CaptureError
        As a single what-if of some scenario would.
    """
    deleted = {
        name: Deleted(engine.tokens(name, part.tokens), part.scenarios)
        for name, part in scenarios.deleted.items()
    }
    if engine.root.copies:
        raise NeedsSparkError(
            "Many scenarios over EXCEPT ALL or INTERSECT ALL are not answered at once.\n"
            "Ask what_if() for each of them."
        )
    rows = engine.rows(engine.root.name)
    members = members_of(rows)
    if members is None or not members.alone or rows.block.windowed:
        return _one_by_one(engine, scenarios, deleted)
    owners, gone = members.tokens.losing_in_scenarios(deleted)
    if isinstance(rows, GroupRows):
        base = rows.members.base
        lost = rows.grouping.moved(gone, owners)
        changes = _grouped(rows, regroup(rows, lost, Moved(NOTHING, NOTHING, NOTHING), base))
    else:
        assert isinstance(rows, MemberRows)
        changes = Changes(owners, gone, np.zeros(len(gone), dtype=np.bool_), {})
    return _within_limit(rows, changes)


def evaluate_updates(engine: Engine, updates: Updates) -> Changes:
    """The rows of the answer that may differ where tuples have other values.

    Raises
    ------
    CaptureError
        As a single update of some scenario would.
    """
    new = follow(engine, updates.updated)
    rows, moved = new.rows, new.moved
    changes = _grouped(rows, regroup(rows, moved, moved, rows.members.base, new.resolve))
    return _within_limit(rows, changes)


def needed(block: Block) -> list[str]:
    """The outputs of a block and what its rows are ordered by."""
    names = [output.name for output in block.outputs]
    names += [f"{SORT}{number}" for number in range(len(block.order))]
    return list(dict.fromkeys([*names, *(block.tie_break if block.limited else ())]))


def _grouped(rows: GroupRows, regrouped: Regrouped) -> Changes:
    """HAVING and the select list of groups with changed members."""

    def columns(places: Array) -> Callable[[str], pa.Array]:
        chosen = pa.array(places)

        def column(name: str) -> pa.Array:
            if name in regrouped.columns:
                return regrouped.columns[name].take(chosen)
            return rows.base.take(name, regrouped.groups[places])

        return column

    there = np.flatnonzero(regrouped.exists)
    shown = there[rows.having(_resolve(columns(there)), len(there))]
    now, groups = columns(shown), regrouped.groups[shown]
    resolve = _resolve(now)
    computed = {
        name: rows.output(name, resolve, groups, now) if name in rows.outputs else now(name)
        for name in needed(rows.block)
    }
    present = np.zeros(len(regrouped.groups), dtype=np.bool_)
    present[shown] = True
    return Changes(regrouped.scenarios, regrouped.groups, present, computed)


def _resolve(column: Callable[[str], pa.Array]) -> Resolve:
    taken: dict[str, Vector] = {}

    def resolve(alias: str, name: str) -> Vector:
        assert alias == GROUP
        if name not in taken:
            taken[name] = from_arrow(column(name))
        return taken[name]

    return resolve


def _within_limit(rows: Rows, changes: Changes) -> Changes:
    """Changes of a block's rows once LIMIT has cut them, where it has one.

    In each scenario the rows kept are among those that are there now, and the first of the others
    in the captured order: as many as LIMIT keeps and rows may have gone.
    """
    block, base = rows.block, rows.base
    if not block.limited:
        return changes
    stop = len(base.sequence) if block.limit is None else block.offset + block.limit
    owners, changed = np.unique(changes.scenarios, return_counts=True)
    stops = np.minimum(stop + changed, len(base.sequence))
    numbers, segments = spread(np.zeros(len(owners), dtype=np.int64), stops)
    width = base.size
    scenarios, positions = owners[segments], base.sequence[numbers]
    among_changed = contains(
        pairs(changes.scenarios, changes.positions, width), pairs(scenarios, positions, width)
    )
    scenarios, positions = scenarios[~among_changed], positions[~among_changed]
    merged = _merge(base, (scenarios, positions), changes, needed(block))
    keys = [order.Key(pa.array(merged.scenarios)), *sort_keys(block, merged.columns.__getitem__)]
    ranked = order.order(keys, len(merged.scenarios))
    by_scenario = merged.scenarios[ranked]
    rank = np.arange(len(ranked)) - np.searchsorted(by_scenario, by_scenario)
    kept = np.zeros(len(ranked), dtype=np.bool_)
    kept[ranked[(rank >= block.offset) & (rank < stop)]] = True
    # Rows that no deletion touched matter where the cut passes on their other side.
    plain, changed_kept = kept[: len(positions)], kept[len(positions) :]
    moved = np.flatnonzero(plain != base.present[positions])
    present = changes.present.copy()
    present[present] = changed_kept
    shown = np.concatenate([moved[plain[moved]], len(positions) + np.flatnonzero(changed_kept)])
    return _sorted(
        np.concatenate([scenarios[moved], changes.scenarios]),
        np.concatenate([positions[moved], changes.positions]),
        np.concatenate([plain[moved], present]),
        {name: column.take(pa.array(shown)) for name, column in merged.columns.items()},
    )


def _sorted(
    scenarios: Array, positions: Array, present: Array, columns: Mapping[str, pa.Array]
) -> Changes:
    """Changes whose pairs come in any order, and the columns with those present."""
    by_pair = np.lexsort([positions, scenarios])
    rank = np.cumsum(present) - 1
    chosen = pa.array(rank[by_pair][present[by_pair]])
    return Changes(
        scenarios[by_pair],
        positions[by_pair],
        present[by_pair],
        {name: column.take(chosen) for name, column in columns.items()},
    )


@dataclass(frozen=True, slots=True)
class Merged:
    """Captured rows and changed ones that are present, one after the other."""

    scenarios: Array
    positions: Array
    columns: Mapping[str, pa.Array]


def _merge(base: State, plain: tuple[Array, Array], changes: Changes, names: list[str]) -> Merged:
    scenarios, positions = plain
    columns = {}
    for name in names:
        column = base.take(name, positions)
        if name in changes.columns:
            column = pa.concat_arrays([column, changes.columns[name].cast(column.type)])
        columns[name] = column
    return Merged(
        np.concatenate([scenarios, changes.scenarios[changes.present]]),
        np.concatenate([positions, changes.positions[changes.present]]),
        columns,
    )


def merged_answers(engine: Engine, count: int, changes: Changes) -> Merged:
    """The answers of all scenarios, one after the other, each in its order."""
    block, base = engine.root, engine.base(engine.root.name)
    width = max(base.size, int(changes.positions.max(initial=-1)) + 1)
    scenarios = np.repeat(np.arange(count, dtype=np.int64), len(base.ordered))
    positions = np.tile(base.ordered, count)
    changed = pairs(changes.scenarios, changes.positions, width)
    untouched = ~contains(changed, pairs(scenarios, positions, width))
    plain = scenarios[untouched], positions[untouched]
    merged = _merge(base, plain, changes, needed(block))
    keys = [order.Key(pa.array(merged.scenarios))]
    if block.order or block.limited:
        keys += sort_keys(block, merged.columns.__getitem__)
    keys.append(order.Key(pa.array(merged.positions)))
    by_order = order.order(keys, len(merged.scenarios))
    chosen = pa.array(by_order)
    return Merged(
        merged.scenarios[by_order],
        merged.positions[by_order],
        {name: column.take(chosen) for name, column in merged.columns.items()},
    )


def _one_by_one(engine: Engine, scenarios: Scenarios, deleted: Mapping[str, Deleted]) -> Changes:
    """Evaluate the scenarios that touch a member of some block, each by itself."""
    touching = [NOTHING]
    for name in engine.blocks:
        members = members_of(engine.rows(name))
        if members is not None and members.dataset is not None:
            touching.append(members.tokens.losing_in_scenarios(deleted)[0])
    base, names = engine.base(engine.root.name), needed(engine.root)
    numbers, positions, presences = [NOTHING], [NOTHING], [np.zeros(0, dtype=np.bool_)]
    columns: dict[str, list[pa.Array]] = {name: [base.take(name, NOTHING)] for name in names}
    for number in np.unique(np.concatenate(touching)).tolist():
        state = engine.evaluate(scenarios.deleted_in(number))
        changed = np.union1d(state.changed, state.flipped)
        there = state.present[changed]
        numbers.append(np.full(len(changed), number))
        positions.append(changed)
        presences.append(there)
        for name, parts in columns.items():
            parts.append(state.take(name, changed[there]).cast(parts[0].type))
    return Changes(
        np.concatenate(numbers),
        np.concatenate(positions),
        np.concatenate(presences),
        {name: pa.concat_arrays(parts) for name, parts in columns.items()},
    )

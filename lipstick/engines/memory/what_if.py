"""Hypothetical answers as Arrow tables, in one scenario and in many, from states of the engine."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.many import ScenarioChanges, merged_answers
from lipstick.engines.memory.places import NOTHING, contains, positions_of, scenarios_of
from lipstick.engines.memory.state import State, as_type, same, spread
from lipstick.questions.what_if import CHANGE, SCENARIO, WhatIf, WhatIfMany
from semiring.arrays.segments import ascending, others
from semiring.base import Array


def what_if(engine: Engine, new: State) -> WhatIf[pa.Table]:
    """Return the hypothetical answer that a state has, to be compared with the captured one.

    Rows of the answer come first among the changes, in its order.
    """
    return WhatIf(
        "annotations",
        lambda: engine.table(new),
        lambda: _changes(engine, new),
        lambda: _cut_rows(engine, new),
    )


def _cut_rows(engine: Engine, new: State) -> pa.Table:
    """Return the rows of the answer that LIMIT alone leaves out; see :attr:`WhatIf.cut`."""
    before = engine.base(engine.root.name).ordered
    gone = np.flatnonzero(~new.present[before]) if engine.root.limited else NOTHING
    ranks = np.zeros(new.size, dtype=np.int64)
    if len(gone):
        ranks[new.sequence] = np.arange(1, len(new.sequence) + 1)
    cut = gone[ranks[before[gone]] > 0]
    columns = [pa.array(cut), pa.array(ranks[before[cut]]), *engine.columns(new, before[cut])]
    return pa.Table.from_arrays(columns, names=["_row", "_place", *engine.manifest.names])


def _changes(engine: Engine, new: State) -> pa.Table:
    """Return the change of each row: its kind, and the row before and after."""
    state = engine.base(engine.root.name)
    before, after = state.ordered, new.ordered
    was, remains = np.zeros((2, new.size), dtype=np.int64)
    was[before] = state.copies(before)
    remains[after] = new.copies(after)
    rows = np.concatenate([before, after[was[after] == 0]])
    # Of copies as many stay as are there before and after.
    copies = np.maximum(was, remains)[rows]
    number = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
    rows = np.repeat(rows, copies)
    is_old, is_new = number < was[rows], number < remains[rows]
    old, new_rows = _side(engine, state, rows, is_old), _side(engine, new, rows, is_new)
    return with_kinds(old, new_rows, is_old, is_new, contains(new.changed, rows))


def answers_compared(engine: Engine, again: Engine) -> WhatIf[pa.Table]:
    """Return the answer of a query that ran over other rows, compared with the captured one.

    Rows are paired by the identity of the answer's rows, which no two of them share.
    """
    return WhatIf(
        "blocks",
        lambda: again.table(again.base(again.root.name)),
        lambda: _paired(engine, again),
    )


def _paired(engine: Engine, again: Engine) -> pa.Table:
    before, after = (each.base(each.root.name) for each in (engine, again))
    rows, new_rows = before.ordered, after.ordered
    names = engine.root.identity
    keys = KeyTable([after.take(name, new_rows) for name in names], len(new_rows))
    places = keys.find([before.take(name, rows) for name in names], len(rows))
    added = others(len(new_rows), places[places >= 0])
    is_old = np.arange(len(rows) + len(added)) < len(rows)
    is_new = np.append(places >= 0, np.ones(len(added), dtype=np.bool_))
    old = _side(engine, before, np.append(rows, np.zeros_like(added)), is_old)
    new = _side(again, after, np.append(new_rows, 0)[np.append(places, added)], is_new)
    return with_kinds(old, new, is_old, is_new, is_old & is_new)


def with_kinds(
    old: pa.StructArray, new: pa.StructArray, is_old: Array, is_new: Array, suspect: Array
) -> pa.Table:
    """Return the kind of change of each row, and the row before and after.

    Parameters
    ----------
    suspect
        Boolean array: the rows that may differ where they are there before and after.
    """
    kinds = np.where(~is_new, 1, np.where(~is_old, 2, 0))
    suspect = np.flatnonzero((kinds == 0) & suspect)
    if len(suspect):
        chosen = pa.array(suspect)
        equal = np.ones(len(suspect), dtype=np.bool_)
        for left, right in zip(old.flatten(), new.flatten(), strict=True):
            equal &= same(left.take(chosen), right.take(chosen))
        kinds[suspect[~equal]] = 3
    words = pa.array(["unchanged", "deleted", "added", "changed"])
    return pa.table({CHANGE: words.take(pa.array(kinds)), "old": old, "new": new})


def _side(engine: Engine, state: State, rows: Array, there: Array) -> pa.StructArray:
    """Return the answer's columns as structs at the rows that are there; NULL elsewhere."""
    places = np.flatnonzero(there)
    columns = [spread(column, places, len(rows)) for column in engine.columns(state, rows[places])]
    named = zip(engine.manifest.names, columns, strict=True)
    fields = [pa.field(name, column.type) for name, column in named]
    return pa.StructArray.from_arrays(columns, fields=fields, mask=pa.array(~there))


def what_if_many(engine: Engine, labels: pa.Array, found: ScenarioChanges) -> WhatIfMany:
    """Return the hypothetical answers in scenarios; `found` has the rows that differ."""
    touched = len(ascending(scenarios_of(found.places)))
    return WhatIfMany(
        labels,
        "annotations",
        lambda: _answers(engine, labels, found),
        lambda: _differing_rows(engine, labels, found),
        touched,
    )


def _answers(engine: Engine, labels: pa.Array, found: ScenarioChanges) -> pa.Table:
    merged = merged_answers(engine, len(labels), found)
    columns = [merged.columns[output.name] for output in engine.root.outputs]
    return _table(engine, labels.take(pa.array(merged.scenarios)), columns)


def _differing_rows(engine: Engine, labels: pa.Array, found: ScenarioChanges) -> pa.Table:
    """Return the rows of each scenario that differ from the answer, with their kind of change."""
    base = engine.base(engine.root.name)
    positions = positions_of(found.places)
    captured = np.minimum(positions, base.size)
    was = np.append(base.present, False)[captured]
    before, now = np.zeros(len(positions), dtype=np.int64), found.copies
    before[was] = base.copies(positions[was])
    index = np.cumsum(found.present) - 1
    both, fewer = np.flatnonzero(was & found.present), np.flatnonzero(before > now)
    differs = np.zeros(len(positions), dtype=np.bool_)
    columns = []
    for output in engine.root.outputs:
        old = base.take(output.name, positions[fewer])
        new = found.columns[output.name]
        same_column = base.take(output.name, positions[both])
        taken = as_type(new.take(pa.array(index[both])), same_column.type)
        differs[both] |= ~same(same_column, taken)
        columns.append(pa.concat_arrays([as_type(new, old.type), old]))
    changed, more = np.flatnonzero(differs), np.flatnonzero(now > before)
    # Of each kind of change its rows, where their values are, and how often they are shown.
    parts = [
        (fewer, int(found.present.sum()) + np.arange(len(fewer)), (before - now)[fewer]),
        (changed, index[changed], np.minimum(before, now)[changed]),
        (more, index[more], (now - before)[more]),
    ]
    rows, places = (
        np.concatenate([np.repeat(part[at], part[2]) for part in parts]) for at in (0, 1)
    )
    kinds = np.repeat([0, 1, 2], [int(part[2].sum()) for part in parts])
    scenarios = scenarios_of(found.places)[rows]
    order = np.lexsort([_rank(base, positions[rows]), scenarios])
    chosen = pa.array(places[order])
    words = pa.array(["deleted", "changed", "added"]).take(pa.array(kinds[order]))
    table = _table(
        engine, labels.take(pa.array(scenarios[order])), [c.take(chosen) for c in columns]
    )
    return table.append_column(CHANGE, words)


def _rank(base: State, positions: Array) -> Array:
    """Return the places of rows in the answer; past its end for rows that are not in it."""
    rank = len(base.ordered) + np.arange(max(base.size, int(positions.max(initial=-1)) + 1))
    rank[base.ordered] = np.arange(len(base.ordered))
    ranks: Array = rank[positions]
    return ranks


def _table(engine: Engine, scenarios: pa.Array, columns: list[pa.Array]) -> pa.Table:
    names = [SCENARIO, *engine.manifest.names]
    return pa.Table.from_arrays([scenarios, *columns], names=names)

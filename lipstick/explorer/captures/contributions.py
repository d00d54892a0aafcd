"""The parts of an aggregated value, largest first, and its value without each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.capture.capture import Capture
from lipstick.engines.memory.formal.tensors import check_aggregate
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.reach import lineage
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.query import plain
from lipstick.explorer.captures.why import labels, position
from lipstick.explorer.cells import cell, number
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from rewriter.blocks import GROUP
from rewriter.interpret import interpret
from semiring.base import Array

BARS = 24
"""Contributions that are shown one by one; the rest is one bar."""

SCENARIOS = 2_000
"""Scenarios of a tornado at most."""

_SUMMED = ("SUM", "COUNT", "AVG")


def contributions(memory: Memory, row: int, column: str, budget: Budget) -> dict[str, Any]:
    """The tensor of a value: what each member brings to it, the largest first.

    Raises
    ------
    CaptureError
        Where the column is no aggregate; where its values are not in the capture.
    """
    engine = memory.engine
    at = np.array([position(memory, row)], dtype=np.int64)
    output = check_aggregate(engine, column, at)
    rows = engine.rows(engine.root.name)
    scalar = interpret(next(o.scalar for o in engine.root.outputs if o.name == output))
    if not isinstance(rows, GroupRows) or scalar.column is None or scalar.column[0] != GROUP:
        return _formal(memory, at, column)
    call = rows.calls[scalar.column[1]]
    members, _ = rows.grouping.members_of(at)
    alive = rows.members.base_alive
    members = members if alive is None else members[alive[members]]
    budget.check()
    values = pa.array(np.ones(len(members), dtype=np.int64))
    if call.arguments:
        resolve = rows.members.resolve(members, rows.members.base)
        values = call.arguments[0].evaluate(resolve).to_arrow(len(members))
    budget.check()
    there = np.flatnonzero(np.asarray(values.is_valid()))
    values, members = values.take(pa.array(there)), members[there]
    order = _order(values, call.function or "")
    shown = order[:BARS]
    common, names = _names(rows, members[shown])
    bars = [
        {"label": label, "value": number(value), "text": cell(value)}
        for label, value in zip(names, values.take(pa.array(shown)).to_pylist(), strict=True)
    ]
    answer: dict[str, Any] = {
        "column": column,
        "call": cell(plain(call.text, engine.root)),
        "common": common,
        "function": call.function,
        "distinct": call.distinct,
        "bars": bars,
        "count": len(members),
        "total": cell(engine.base(engine.root.name).take(output, at)[0].as_py()),
    }
    rest = order[BARS:]
    if len(rest):
        left = values.take(pa.array(rest))
        summed = call.function in _SUMMED
        value = pc.sum(left).as_py() if summed else left[0].as_py()
        answer["rest"] = {"count": len(rest), "value": number(value), "text": cell(value)}
    return answer


def _order(values: pa.Array, function: str) -> Array:
    """Return the places of values: largest first, for MIN smallest first, for sums by magnitude."""
    if function in _SUMMED and len(values):
        values = pc.abs(values)
    direction = "ascending" if function == "MIN" else "descending"
    order: Array = pc.array_sort_indices(values, order=direction).to_numpy()
    return order.astype(np.int64)


def _names(rows: GroupRows, members: Array) -> tuple[str, list[str]]:
    """The tokens that all of some members are made of, and of each the others."""
    inside = rows.members
    parts: list[list[str]] = [[] for _ in members]
    if inside.dataset is not None:
        for index, token_columns in enumerate(inside.block.tokens):
            columns = [inside.dataset.take(name, members) for name in token_columns.columns]
            absent = inside.tokens.index(index).absent
            table = pa.Table.from_arrays(columns, names=list(token_columns.columns))
            for part, member, label in zip(parts, members.tolist(), labels("", table), strict=True):
                if absent is None or not absent[member]:
                    part.append(f"{token_columns.relation}:{label}")
    shared = set(parts[0]).intersection(*parts[1:]) if len(parts) > 1 else set()
    common = " · ".join(label for label in parts[0] if label in shared) if parts else ""
    return common, [" · ".join(p for p in part if p not in shared) or "1" for part in parts]


def _formal(memory: Memory, at: Array, column: str) -> dict[str, Any]:
    """A tensor of a block below the last one, from its formal value."""
    (value,) = memory.formally(lambda formal: formal.values(column, at))
    terms = list(getattr(value, "simple_tensors", ()))
    ranked = sorted(terms, key=lambda term: -abs(number(term[1]) or 0.0))
    bars = [
        {"label": cell(k.truncated(2)), "value": number(v), "text": cell(v)}
        for k, v in ranked[:BARS]
    ]
    rest = [number(v) or 0.0 for _, v in ranked[BARS:]]
    answer: dict[str, Any] = {
        "column": column,
        "call": cell(str(value)),
        "function": None,
        "distinct": False,
        "bars": bars,
        "count": len(terms),
        "total": None,
    }
    if rest:
        answer["rest"] = {"count": len(rest), "value": sum(rest), "text": cell(sum(rest))}
    return answer


# -- tornado -------------------------------------------------------------------------------------


def tornado(capture: Capture, row: int, params: Params, budget: Budget) -> dict[str, Any]:
    """Return the values of a row without each of its inputs from one relation.

    Parameters
    ----------
    params
        ``column``; ``relation``; ``by``: a column of the relation's key, whose values are left out
        one after the other, all rows of the row's inputs with it at once; none: each input alone.
    """
    memory = capture.memory
    column, relation = params.text("column"), params.text("relation")
    names = list(memory.engine.manifest.names)
    if column not in names:
        raise ExploreError(f"The answer has no column {column!r}.")
    index = names.index(column)
    record = memory.engine.manifest.relations.get(relation)
    if record is None or not record.token:
        raise ExploreError(f"The query reads no relation {relation!r} with tokens.")
    at = np.array([position(memory, row)], dtype=np.int64)
    tokens = lineage(memory.engine, at)[relation]
    by = params.text("by", "")
    keys = tokens.select([by]) if by in tokens.column_names else tokens
    groups = keys.group_by(keys.column_names).aggregate([])
    if groups.num_rows > SCENARIOS:
        raise ExploreError(
            f"The row has {groups.num_rows:,} inputs from {relation}: at most {SCENARIOS:,} are "
            "left out one by one.\nLeave them out by a column."
        )
    texts = labels(record.naming, groups) if keys is tokens else labels("", groups)
    labelled = groups.append_column("scenario", pa.array(texts))
    scenarios = tokens.join(labelled, keys.column_names).select([*record.token, "scenario"])
    budget.check()
    changes = capture.what_if_many({relation: scenarios}).changes
    budget.check()
    answer = memory.answer()
    old = answer.column(index)[row].as_py()
    identity = _identity(memory, row)
    effects: dict[str, Any] = {}
    for change in changes.to_pylist() if changes.num_rows <= 50_000 else []:
        label = change["scenario"]
        if change["_change"] == "deleted" and _equal(change, answer, row, names):
            effects[label] = None
        elif change["_change"] == "changed" and all(change[n] == v for n, v in identity.items()):
            effects[label] = change[column]
    changed: dict[Any, float | None] = {t: _change(old, new) for t, new in effects.items()}
    bars = [
        {
            "label": text,
            "new": cell(effects[text]) if text in effects else cell(old),
            "gone": text in effects and effects[text] is None,
            "change": changed.get(text, 0.0),
        }
        for text in texts
    ]
    bars.sort(key=lambda bar: -abs(changed.get(str(bar["label"])) or 0.0))
    return {
        "column": column,
        "relation": relation,
        "key": list(record.token),
        "old": cell(old),
        "value": number(old),
        "bars": bars[:BARS],
        "count": len(bars),
        "identified": bool(identity),
    }


def _change(old: Any, new: Any) -> float | None:
    before, after = number(old), number(new)
    if before is None:
        return None
    return (after or 0.0) - before


def _identity(memory: Memory, row: int) -> dict[str, Any]:
    """Return a row's values of the grouping's keys, which identify it whatever is deleted."""
    engine = memory.engine
    places = engine.root.key_outputs
    if places is None:
        return {}
    answer = memory.answer()
    return {engine.manifest.names[p]: answer.column(p)[row].as_py() for p in places}


def _equal(change: dict[str, Any], answer: pa.Table, row: int, names: list[str]) -> bool:
    return all(change[name] == answer.column(p)[row].as_py() for p, name in enumerate(names))

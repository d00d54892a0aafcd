"""The contributions to a value as the page shows them: the largest first, in words and in bars."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from numbers import Number
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.capture.capture import Capture
from lipstick.display.number_text import percent, spelled
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.reach import reach, token_types
from lipstick.errors import first_line
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.input_rows import source_files
from lipstick.explorer.captures.least import least
from lipstick.explorer.captures.query import plain
from lipstick.explorer.captures.splits import splits
from lipstick.explorer.captures.why import labels, listed
from lipstick.explorer.cells import cell, cells, columns, kind, number
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.questions.contributions.axes import UNITS, Axes, Axis, InputGroups
from lipstick.questions.contributions.joint import JointInputs
from lipstick.questions.contributions.question import (
    GroupContributions,
    ValueInputs,
    contributions_of,
    inputs_of,
)
from lipstick.questions.why.sources import SourceRows
from rewriter.blocks import Kind
from rewriter.scalars.text import text
from semiring.base import Array

SHOWN = 50
"""Groups that are listed one by one; the others are one line."""

SPANS = 400
"""Spans and ranges at most, which are all listed."""

NAMED = 2
"""Columns that a row without a key is called by at most."""

SHARE = 0.25
"""The share of the time for an answer after which the groups that are left are unknown."""


STATES = {"gone": "row gone", "unknown": "unknown"}
"""The words shown in place of a value that is not there."""


class TooManyGroupsError(ExploreError):
    """The inputs are in too many groups to be shown so."""


AskedInputs = TypeVar("AskedInputs", ValueInputs, JointInputs)


@dataclass(frozen=True, slots=True)
class KeptInputs(Generic[AskedInputs]):
    """The inputs of a value, or of several, that some groupings keep.

    Attributes
    ----------
    only
        The groupings.
    """

    inputs: AskedInputs
    only: list[dict[str, Any]]

    def groups(self, by: Params) -> InputGroups:
        """Return the inputs in groups; by default by the rows of the finest axis.

        Raises
        ------
        TooManyGroupsError
            Where they are shown in their order, and are more than `SPANS`.
        """
        chosen = by.integer("axis", -1)
        groups = self.inputs.grouped(
            None if chosen < 0 else chosen, by.text("column", ""), by.text("unit", "")
        )
        if groups.ordered and groups.count > SPANS:
            raise TooManyGroupsError(
                f"{groups.count:,} groups are too many to show in their order: at most {SPANS}.\n"
                "Group by a longer span."
            )
        return groups

    def narrowed(self, only: Any) -> KeptInputs[AskedInputs]:
        """Keep the inputs of some groups."""
        given = Params(only)
        groups = self.groups(given)
        wanted: list[Any] = given.items("labels")
        named = group_labels(groups, np.arange(groups.count))
        here = [number for number, label in enumerate(named) if label in wanted]
        keep = np.flatnonzero(np.isin(groups.codes, here))
        axes = [
            replace(axis, rows=axis.rows[keep])
            if self.inputs.joint or axis is groups.axis
            else axis
            for axis in self.inputs.axes
        ]
        name = groups.column or groups.axis.name
        ends = list(dict.fromkeys(str(each or "NULL") for each in (*wanted[:1], *wanted[-1:])))
        said = {**only, "text": f"{name} {' to '.join(ends)}"}
        return KeptInputs(replace(self.inputs, axes=axes), [*self.only, said])


@dataclass(frozen=True, slots=True)
class Items:
    """The groups of the inputs of a value, each with its contribution.

    Attributes
    ----------
    counts
        The inputs of each group.
    found
        The value without each.
    order
        The groups as they are listed.
    """

    groups: InputGroups
    counts: Array
    found: GroupContributions
    order: Array

    @property
    def shown(self) -> Array:
        """The groups that are listed one by one."""
        return self.order[: SPANS if self.groups.ordered else SHOWN]


class ContributionViews:
    """The contributions to the values of one capture."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.axes = Axes(capture.memory)
        self.inputs = lru_cache(maxsize=8)(
            lambda row, column: inputs_of(capture.memory, self.axes, row, column)
        )
        # The questions about a value come one after the other: what they share is computed once.
        self._kept: tuple[str, KeptInputs[ValueInputs]] | None = None
        self._grouped: tuple[KeptInputs[ValueInputs], str, Items] | None = None

    def value(self, row: int, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the inputs of a value in groups, the largest contributions first.

        Parameters
        ----------
        params
            ``column`` of the answer; ``by``: ``axis``, ``column`` and ``unit`` (day, month, year or
            range) to group by, none of them for the rows of the finest axis; ``only``: groupings,
            each with the ``labels`` of the groups whose inputs are kept.
        """
        asked = self._asked(row, params)
        answer = self._described(asked)
        budget.check()
        try:
            items = self._items(asked, params, budget)
        except TooManyGroupsError as error:
            # The page still offers other groupings.
            return answer | {"refused": str(error), "bars": [], "sentence": ""}
        without = items.found.without
        answer |= described_groups(items.groups) | {
            "known": int(np.count_nonzero(without.known)),
            "reason": without.reason,
            "bars": bars_of(items, items.shown),
        }
        rest = items.order[len(items.shown) :]
        if len(rest):
            answer["rest"] = _rest(items, rest)
        answer["sentence"] = self._sentence(row, asked, items)
        return answer

    def listed(self, row: int, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the rows that :meth:`value` lists, with the columns of their source.

        Parameters
        ----------
        params
            As of :meth:`value`; ``numbers``: the numbers of :meth:`value` come first.
        """
        items = self._items(self._asked(row, params), params, budget)
        table = source_table(items.groups, items.shown)
        listed: dict[str, Any] = {"columns": columns(table.schema), "rows": cells(table)}
        if not params.flag("numbers"):
            return listed
        text = {"type": "STRING", "kind": "text"}
        named = [{"name": name, **text} for name in ("brings", "inputs", "without it")]
        numbers = [
            [bar["text"], str(bar["count"]), STATES.get(bar["state"], bar["without"])]
            for bar in bars_of(items, items.shown)
        ]
        rows = [[*own, *row] for own, row in zip(numbers, listed["rows"], strict=True)]
        return {"columns": [*named, *listed["columns"]], "rows": rows}

    def splits(self, row: int, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the columns by which the inputs stand out; see :func:`splits.splits`."""
        inputs = self._asked(row, params).inputs
        found = splits(self.capture.memory.engine, inputs, budget)
        return {
            "splits": [
                {
                    "by": {"axis": each.axis, "column": each.column, "unit": each.unit},
                    "text": f"{each.column} {in_unit(each.label, each.unit)}",
                    "share": percent(each.share),
                    "usual": f"{percent(each.usual)} of all rows of {inputs.axes[each.axis].name}",
                }
                for each in found
            ]
        }

    def least(self, row: int, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the fewest rows whose removal brings a value to a number; see `least.least`."""
        axis = self._asked(row, params).groups(Params(params.mapping("by"))).axis
        budget.check()
        return least(self.capture, row, axis, params)

    def _asked(self, row: int, params: Params) -> KeptInputs[ValueInputs]:
        column, only = params.text("column"), params.items("only")
        key = json.dumps([row, column, only], sort_keys=True, default=str)
        if self._kept is None or self._kept[0] != key:
            asked = KeptInputs(self.inputs(row, column), [])
            self._kept = key, reduce(KeptInputs.narrowed, only, asked)
        return self._kept[1]

    def _items(self, asked: KeptInputs[ValueInputs], params: Params, budget: Budget) -> Items:
        by = json.dumps(params.mapping("by"), sort_keys=True, default=str)
        if self._grouped is None or self._grouped[0] is not asked or self._grouped[1] != by:
            items = self._in_groups(asked, Params(params.mapping("by")), budget)
            self._grouped = asked, by, items
        return self._grouped[2]

    def _in_groups(self, asked: KeptInputs[ValueInputs], by: Params, budget: Budget) -> Items:
        groups = asked.groups(by)
        seconds = SHARE * budget.left
        found = contributions_of(self.capture.memory, asked.inputs, groups, seconds)
        budget.check()
        order = in_order(groups) if groups.ordered else found.order(SHOWN)
        counts = np.bincount(groups.codes, minlength=groups.count)
        return Items(groups, counts, found, order)

    # -- words -----------------------------------------------------------------------------

    def _described(self, asked: KeptInputs[ValueInputs]) -> dict[str, Any]:
        """Return what is measured, and what the inputs can be grouped by."""
        inputs, root = asked.inputs, self.capture.memory.engine.root
        call, aggregate = inputs.call, inputs.aggregate
        if call is None or aggregate is None:
            scalar = next(o.scalar for o in root.outputs if o.name == inputs.output)
            written = plain(text(scalar), root)
        else:
            written = plain(call.text, self.capture.memory.engine.blocks[aggregate.block])
        return {
            "column": inputs.column,
            "call": cell(written),
            "function": None if call is None else call.function,
            "total": cell(inputs.value),
            "measure": _measure(inputs),
            "additive": _is_additive(inputs),
            "nulls": inputs.nulls,
            "only": asked.only,
            "axes": [described_axis(axis) for axis in inputs.axes],
        }

    def _sentence(self, row: int, asked: KeptInputs[ValueInputs], items: Items) -> str:
        """Return what the value is made of, in words."""
        inputs, groups, found = asked.inputs, items.groups, items.found
        names = row_name(self.capture.memory, row)
        whole = f"{inputs.column} {worded(inputs.value)}{f' of {names}' if names else ''}"
        made = self._made(inputs, groups.axis)
        if asked.only:
            made += f" with {' and '.join(each['text'] for each in asked.only)}"
        if not groups.count:
            return f"{whole}: no input."
        if asked.only and _is_additive(inputs):
            together = replace(groups, codes=np.zeros_like(groups.codes), first=groups.first[:1])
            kept = contributions_of(self.capture.memory, inputs, together)
            made = f"{worded(kept.brought(np.zeros(1, dtype=np.int64))[0])} of it from {made}"
        unknown = groups.count - int(np.count_nonzero(found.without.known))
        if unknown == groups.count:
            return f"{whole}: {made}. What it is without each of them is unknown."
        best = found.order(1)[:1]
        (value,) = found.brought(best)
        (label,) = group_labels(groups, best)
        name = f"{groups.column or groups.axis.name} {'NULL' if label is None else label}"
        told = "" if not unknown else f" {unknown:,} of {groups.count:,} are unknown."
        most = ", the most" if groups.count > 1 else ""
        if inputs.summed and value is not None:
            size, total = number(value), number(inputs.value)
            said = percent(size / total) if total and size is not None else spelled(value)
            if not _is_additive(inputs):
                return f"{whole}: {made}; {said} is in {name} alone{most}.{told}"
            if groups.values is None and groups.count > 1 and _function(inputs) == "COUNT":
                return f"{whole}: {made}. Group them by a column to see where there are many."
            return f"{whole}: {made}; the largest, {name}, is {said}.{told}"
        if found.gone[best[0]]:
            return f"{whole}: {made}. Without {name} the row would not be there.{told}"
        one = "Without any one of them" if groups.count > 1 else f"Without {name}"
        if value:
            by = f"{spelled(abs(value))} {'more' if value < 0 else 'less'}"
            if pc.count_distinct(found.without.values).as_py() == 1 and not found.gone.any():
                return f"{whole}: {made}. {one} it is {by}.{told}"
            return f"{whole}: {made}. Without {name} it is {by}{most}.{told}"
        if found.sizes()[best[0]] > 0:
            after = found.without.values[int(best[0])].as_py()
            return f"{whole}: {made}. Without {name} it is {worded(after)}.{told}"
        return f"{whole}: {made}. {one} it is the same.{told}"

    def _made(self, inputs: ValueInputs, axis: Axis) -> str:
        """Return the input rows of a value in words, and the groups that they were in before."""
        engine = self.capture.memory.engine
        root, count = engine.root, axis.distinct
        made = [f"{count:,} {'row' if count == 1 else 'rows'} of {axis.name}"]
        if inputs.joint:
            return made[0]
        seen = {each.relation for each in inputs.axes}
        made += [f"none of {name}" for name in token_types(engine) if name not in seen]
        if root.kind is not Kind.GROUP:
            return f"its row is made of {listed(made)}"
        if root.tokens or len(root.derived) != 1:
            return listed(made)
        (inner,) = root.derived
        if inner.kind is not Kind.GROUP or not inner.keys:
            return listed(made)
        at = np.array([inputs.position], dtype=np.int64)
        groups = len(reach(engine, at)[root.name].members)
        by = ", ".join(plain(text(key), inner) for _, key in inner.keys)
        return f"{groups:,} {'group' if groups == 1 else 'groups'} by {by}, of {listed(made)}"


def row_name(memory: Memory, row: int) -> str:
    """Return what a row of the answer is called; empty where nothing names it."""
    answer, root = memory.answer(), memory.engine.root
    # Without a grouping, a row is called by its first columns that deletions do not change.
    stable = [place for place, output in enumerate(root.outputs) if output.stable]
    return ", ".join(
        _key(answer.column_names[place], answer.column(place)[row].as_py())
        for place in root.key_outputs or stable[:NAMED]
    )


def _key(name: str, value: Any) -> str:
    """Return a value of a row's key in words: numbers and truth values with their column."""
    if value is None:
        return f"{name} NULL"
    written = str(cell(value)).removesuffix(" 00:00:00")
    return f"{name} = {written}" if isinstance(value, Number) else written


def _function(inputs: ValueInputs) -> str | None:
    return None if inputs.call is None else inputs.call.function


def _is_additive(inputs: ValueInputs) -> bool:
    return inputs.summed and inputs.call is not None and not inputs.call.distinct


def _measure(inputs: ValueInputs) -> str:
    """Return what bars show, in words."""
    if not inputs.summed:
        return "how much less the value is without it"
    if not _is_additive(inputs):
        return "the distinct values that are in it alone; those in several groups are in none"
    verb = "it adds" if _function(inputs) == "SUM" else "it counts"
    return f"{'what' if verb == 'it adds' else 'how many'} {verb}; the shares add up to the whole"


def described_axis(axis: Axis) -> dict[str, Any]:
    """Return what inputs can be grouped by."""
    return {
        "name": axis.name,
        "relation": axis.relation,
        "note": _note(axis.source),
        "columns": columns(axis.source.schema),
    }


def described_groups(groups: InputGroups) -> dict[str, Any]:
    """Return what inputs are grouped by."""
    return {
        "groups": groups.count,
        "ordered": groups.ordered,
        "by": {"axis": groups.axis.place, "column": groups.column, "unit": groups.unit},
    }


def _note(source: SourceRows) -> str:
    """Return why there are only some of a relation's columns; empty where all are there."""
    if source.whole:
        return ""
    try:
        source_files(source.record)
    except ExploreError as error:
        return f"{first_line(error)} The columns here are those of the capture."
    return "Its columns are not those that were captured."


def worded(value: Any) -> str:
    return str(cell(value)) if value is not None and number(value) is None else spelled(value)


def bars_of(items: Items, shown: Array) -> list[dict[str, Any]]:
    """Return what each group that is listed brings, its share, and the value without it.

    ``change`` is the difference from the value, ``state`` of its row ``there``, ``gone`` or
    ``unknown``.
    """
    inputs, groups, found = items.found.inputs, items.groups, items.found
    total = number(inputs.value) if inputs.summed else None
    sizes = found.sizes()[shown].tolist()
    extreme = _function(inputs) in ("MIN", "MAX")
    bars = []
    for place, value, label, where, key, after, changed in zip(
        shown.tolist(),
        found.brought(shown),
        group_labels(groups, shown),
        conditions(groups, shown),
        _keys(groups, shown),
        found.without.values.take(pa.array(shown)).to_pylist(),
        sizes,
        strict=True,
    ):
        size = number(value)
        known, there = bool(found.without.known[place]), bool(found.without.there[place])
        bars.append(
            {
                "label": label,
                "value": size,
                "text": cell(value),
                "share": size / total if total and size is not None else None,
                "count": int(items.counts[place]),
                "decides": extreme and changed > 0,
                "key": key,
                "where": where,
                "without": cell(after),
                "state": ("there" if there else "gone") if known else "unknown",
            }
        )
    return bars


def _rest(items: Items, rest: Array) -> dict[str, Any]:
    """Return the groups that are not listed, as one."""
    answer: dict[str, Any] = {"count": len(rest), "inputs": int(items.counts[rest].sum())}
    inputs = items.found.inputs
    value = items.found.brought_together(rest) if _is_additive(inputs) else None
    if value is not None:
        size, total = number(value), number(inputs.value)
        answer |= {"text": cell(value), "value": size}
        if total and size is not None:
            answer["share"] = size / total
    return answer


def source_table(groups: InputGroups, chosen: Array) -> pa.Table:
    """Return some groups as rows of their source, or by their labels."""
    if groups.values is not None:
        return pa.table([pa.array(group_labels(groups, chosen), pa.string())], [groups.column])
    table = groups.axis.take(groups.first[chosen])
    # The key is what the rows are called: what else they have is seen first.
    key = [name for name in groups.axis.source.record.token if name in table.column_names]
    others = [name for name in table.column_names if name not in key]
    return table.select([*others, *key])


def in_order(groups: InputGroups) -> Array:
    """Return groups that are spans or ranges in their order."""
    order: Array = pc.array_sort_indices(groups.values).to_numpy().astype(np.int64)
    return order


def group_labels(groups: InputGroups, chosen: Array) -> list[str | None]:
    """Return the labels of some groups; None: NULL, or no row."""
    if groups.values is None:
        return _row_labels(groups.axis, groups.first[chosen])
    values = groups.values.take(pa.array(chosen)).to_pylist()
    if groups.step is not None:
        return [None if v is None else f"{_plain(v)} to {_plain(v + groups.step)}" for v in values]
    return [None if v is None else in_unit(v, groups.unit) for v in values]


def in_unit(value: Any, unit: str) -> str:
    """Return a value that is grouped by, times by their day, month or year."""
    return str(cell(value) or "NULL")[: {"day": 10, "month": 7, "year": 4}.get(unit)]


def _row_labels(axis: Axis, rows: Array) -> list[str | None]:
    """Return the keys of some rows as people write them; None: no row."""
    there = np.flatnonzero(rows >= 0)
    texts: Sequence[str | None] = labels(
        axis.source.record.naming, axis.source.tokens.take(pa.array(rows[there]))
    )
    named: list[str | None] = [None] * len(rows)
    for place, label in zip(there.tolist(), texts, strict=True):
        named[place] = label
    return named


def _keys(groups: InputGroups, chosen: Array) -> list[list[str | None] | None]:
    """Return the key of each of some groups that are rows; None: it is not a row with a key."""
    keys: list[list[str | None] | None] = [None] * len(chosen)
    if groups.values is None:
        rows = groups.first[chosen]
        there = np.flatnonzero(rows >= 0)
        tokens = groups.axis.source.tokens.take(pa.array(rows[there]))
        for place, key in zip(there.tolist(), cells(tokens, None), strict=True):
            keys[place] = key
    return keys


def conditions(groups: InputGroups, chosen: Array) -> list[str | None]:
    """Return the condition of each of some groups on the column, as people type it."""
    source = groups.axis.source
    askable = source.whole or groups.column in source.record.token
    if groups.values is None or not askable:
        return [None] * len(chosen)
    return [_condition(groups, v) for v in groups.values.take(pa.array(chosen)).to_pylist()]


def _condition(groups: InputGroups, value: Any) -> str | None:
    name = groups.column if groups.column.isidentifier() else f"`{groups.column}`"
    if value is None:
        return f"{name} is null"
    if groups.step is not None and not np.isfinite(value):
        return None
    if groups.step is not None:
        return f"{name} >= {_plain(value)} and {name} < {_plain(value + groups.step)}"
    type_ = groups.axis.source.schema.field(groups.column).type
    if groups.unit in UNITS and kind(type_) == "time":
        code = {"day": "D", "month": "M", "year": "Y"}[groups.unit]
        span = np.array([str(cell(value))[:10]], "datetime64[D]").astype(f"datetime64[{code}]")
        first, after = (each.astype("datetime64[D]")[0] for each in (span, span + 1))
        return f"{name} >= '{first}' and {name} < '{after}'"
    written = str(cell(value, None))
    if kind(pa.scalar(value).type) not in ("number", "truth"):
        written = "'" + written.replace("'", "''") + "'"
    return f"{name} = {written}"


def _plain(value: float) -> str:
    return f"{value:.12g}"

"""Contributions to a value: its inputs in groups, the largest first, and its value without each."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.capture.capture import Capture
from lipstick.engines.memory.formal.tensors import check_aggregate, column_number, made_by
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.scenarios import Deleted, Scenarios
from lipstick.errors import CaptureError
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.axes import Axes, Axis, InputGroups
from lipstick.explorer.captures.least import least
from lipstick.explorer.captures.measures import (
    Inputs,
    exact,
    extremes,
    measured,
    numbered,
    ranked,
    taken,
)
from lipstick.explorer.captures.query import explained, plain
from lipstick.explorer.captures.why import position
from lipstick.explorer.cells import cell, cells, columns, kind, number, spelled
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.questions.why.sources import SourceRows
from rewriter.blocks import Kind
from rewriter.interpret import AggregateCall, UninterpretableError, interpret
from rewriter.scalars.text import text
from semiring.base import Array

SHOWN = 50
"""InputGroups that are listed one by one; the others are one line."""

SPANS = 400
"""Spans and ranges at most, which are all listed."""

SCENARIOS = 2_000
"""InputGroups that are left out one by one, at most."""

_CHANGES = 100_000


class TooManyGroupsError(ExploreError):
    """The inputs are in too many groups to be shown so."""


@dataclass(frozen=True, slots=True)
class KeptInputs:
    """The inputs of a value that some groupings keep.

    Attributes
    ----------
    kept
        The places of these inputs among all.
    axes
        The rows of these inputs.
    only
        The groupings.
    """

    inputs: Inputs
    kept: Array
    axes: list[Axis]
    only: list[dict[str, Any]]

    def groups(self, by: Params) -> InputGroups:
        """Return the inputs in groups; by default by the rows of the finest axis."""
        if not self.axes:
            raise ExploreError("The value has no inputs that can be told apart.")
        places = range(len(self.axes))
        finest = 0 if len(places) == 1 else max(places, key=lambda at: self.axes[at].distinct)
        chosen = by.integer("axis", finest)
        if not 0 <= chosen < len(self.axes):
            raise ExploreError(f"The value has {len(self.axes)} axes, none {chosen}.")
        return self.axes[chosen].groups(by.text("column", ""), by.text("unit", ""))

    def narrowed(self, only: Any) -> KeptInputs:
        """Keep the inputs of some groups."""
        given = Params(only)
        groups = self.groups(given)
        wanted = given.items("labels")
        labels = groups.labels(np.arange(groups.count))
        here = [number for number, label in enumerate(labels) if label in wanted]
        keep = np.flatnonzero(np.isin(groups.codes, here))
        apart = self.inputs.values is None  # then each axis has inputs of its own
        axes = [
            axis if apart and axis is not groups.axis else replace(axis, rows=axis.rows[keep])
            for axis in self.axes
        ]
        name = groups.column or groups.axis.name
        ends = list(dict.fromkeys(str(each or "NULL") for each in (*wanted[:1], *wanted[-1:])))
        said = {**only, "text": f"{name} {' to '.join(ends)}"}
        return replace(
            self, kept=self.kept if apart else self.kept[keep], axes=axes, only=[*self.only, said]
        )


@dataclass(frozen=True, slots=True)
class Items:
    """The groups of the inputs of a value, each with what it brings to it.

    Attributes
    ----------
    counts
        The inputs of each group.
    values
        What each brings; NULL: it is not measured.
    order
        The groups as they are listed.
    """

    groups: InputGroups
    counts: Array
    values: pa.Array
    order: Array

    @property
    def shown(self) -> Array:
        """The groups that are listed one by one."""
        return self.order[: SPANS if self.groups.ordered else SHOWN]


class ContributionViews:
    """The contributions to the values of one capture."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self._axes = Axes(capture.memory)
        self._inputs = lru_cache(maxsize=4)(self._find)
        # The questions about a value come one after the other: what they share is computed once.
        self._kept: tuple[str, KeptInputs] | None = None
        self._grouped: tuple[KeptInputs, str, Items] | None = None

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
        answer = _described(asked)
        budget.check()
        try:
            items = self._items(asked, row, params, budget)
        except TooManyGroupsError as error:
            # The page still offers other groupings.
            return answer | {"refused": str(error), "bars": [], "sentence": ""}
        groups = items.groups
        by = {"axis": groups.axis.place, "column": groups.column, "unit": groups.unit}
        answer |= {"groups": groups.count, "ordered": groups.ordered, "by": by}
        answer["bars"] = _bars(asked.inputs, items, items.shown)
        rest = items.order[len(items.shown) :]
        if len(rest):
            answer["rest"] = _rest(asked.inputs, items, rest)
        answer["sentence"] = self._sentence(row, asked, items)
        return answer

    def listed(self, row: int, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the rows that :meth:`value` lists, with the columns of their source."""
        items = self._items(self._asked(row, params), row, params, budget)
        groups = items.groups
        if groups.values is not None:
            table = pa.table([pa.array(groups.labels(items.shown), pa.string())], [groups.column])
        else:
            table = groups.axis.take(groups.first[items.shown])
            # The key is what the rows are called: what else they have is seen first.
            key = [name for name in groups.axis.key if name in table.column_names]
            others = [name for name in table.column_names if name not in key]
            table = table.select([*others, *key])
        return {"columns": columns(table.schema), "rows": cells(table)}

    def without(self, row: int, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the value without the inputs of each group that :meth:`value` lists."""
        asked = self._asked(row, params)
        items = self._items(asked, row, params, budget)
        total = asked.inputs.total
        values, gone = self._left_out(row, asked.inputs, items.groups, items.shown, budget)
        return {
            "identified": self._identity is not None,
            "bars": [
                {"text": cell(value), "gone": lost, "change": _difference(value, total)}
                for value, lost in zip(values, gone, strict=True)
            ],
        }

    def least(self, row: int, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the fewest rows whose removal brings a value to a number; see `least.least`."""
        axis = self._asked(row, params).groups(Params(params.mapping("by"))).axis
        budget.check()
        return least(self.capture, row, axis, params)

    # -- inputs ----------------------------------------------------------------------------

    def _asked(self, row: int, params: Params) -> KeptInputs:
        column, only = params.text("column"), params.items("only")
        key = json.dumps([row, column, only], sort_keys=True, default=str)
        if self._kept is None or self._kept[0] != key:
            inputs = self._inputs(row, column)
            count = 0 if inputs.values is None else len(inputs.values)
            asked = KeptInputs(inputs, np.arange(count), inputs.axes, [])
            for each in only:
                asked = asked.narrowed(each)
            self._kept = key, asked
        return self._kept[1]

    def _find(self, row: int, column: str) -> Inputs:
        memory = self.capture.memory
        engine = memory.engine
        at = np.array([position(memory, row)], dtype=np.int64)
        place = column_number(engine, column)
        total = memory.answer().column(place)[row].as_py()
        try:
            block, output, at_block = made_by(engine, check_aggregate(engine, column, at), at)
            rows = engine.rows(block)
            if isinstance(rows, GroupRows):
                scalar = interpret(next(o.scalar for o in rows.block.outputs if o.name == output))
                assert scalar.column is not None
                call = rows.calls[scalar.column[1]]
                return self._of_call(rows, call, column, total, at_block)
        except (CaptureError, UninterpretableError):
            pass  # The value is not a plain aggregate: its inputs are left out in turn.
        if place not in explained(memory):
            raise ExploreError(f"{column!r} is not a number that inputs add up to or change.")
        written = plain(text(engine.root.outputs[place].scalar), engine.root)
        return Inputs(column, str(cell(written)), total, None, False, None, self._axes.of_row(at))

    def _of_call(
        self, rows: GroupRows, call: AggregateCall, column: str, total: Any, at: Array
    ) -> Inputs:
        """Return the inputs of an aggregate: the members of its group with a value."""
        members, _ = rows.grouping.members_of(at)
        alive = rows.members.base_alive
        members = members if alive is None else members[alive[members]]
        values = pa.array(np.ones(len(members), dtype=np.int64))
        nulls = 0
        if call.arguments:
            resolve = rows.members.resolve(members, rows.members.base)
            arguments = [a.evaluate(resolve).to_arrow(len(members)) for a in call.arguments]
            if any(argument.null_count for argument in arguments):
                valid = np.logical_and.reduce([np.asarray(a.is_valid()) for a in arguments])
                there = np.flatnonzero(valid)
                nulls, members = len(members) - len(there), members[there]
                arguments = [taken(argument, there) for argument in arguments]
            values = arguments[0] if len(arguments) == 1 else numbered(arguments)
        written = str(cell(plain(call.text, rows.block)))
        axes = self._axes.of_members(rows, members)
        return Inputs(column, written, total, call.function, call.distinct, values, axes, nulls)

    # -- groups ----------------------------------------------------------------------------

    def _items(self, asked: KeptInputs, row: int, params: Params, budget: Budget) -> Items:
        by = json.dumps(params.mapping("by"), sort_keys=True, default=str)
        if self._grouped is None or self._grouped[0] is not asked or self._grouped[1] != by:
            self._grouped = asked, by, self._in_groups(asked, row, params, budget)
        return self._grouped[2]

    def _in_groups(self, asked: KeptInputs, row: int, params: Params, budget: Budget) -> Items:
        groups = asked.groups(Params(params.mapping("by")))
        inputs = asked.inputs
        if groups.ordered and groups.count > SPANS:
            raise TooManyGroupsError(
                f"{groups.count:,} groups are too many to show in their order: at most {SPANS}.\n"
                "Group by a longer span."
            )
        counts = np.bincount(groups.codes, minlength=groups.count)
        if inputs.values is not None:
            values = measured(inputs, asked.kept, groups, counts)
        else:
            if groups.count > SCENARIOS:
                raise TooManyGroupsError(
                    f"The inputs are {groups.count:,} groups: at most {SCENARIOS:,} are left out "
                    "one by one.\nGroup them by a column, or keep some of them."
                )
            left, _ = self._left_out(row, inputs, groups, np.arange(groups.count), budget)
            changes = [_difference(value, inputs.total) for value in left]
            lost = [None if change is None else 0.0 - change for change in changes]
            values = pa.array(lost, pa.float64())
        budget.check()
        if groups.ordered and groups.values is not None:
            order = pc.array_sort_indices(groups.values).to_numpy().astype(np.int64)
        else:
            order = ranked(inputs, values, SHOWN)
        return Items(groups, counts, values, order)

    @property
    def _identity(self) -> tuple[int, ...] | None:
        """The columns that name a row whatever is deleted; None: there are none."""
        root = self.capture.memory.engine.root
        if root.kind is Kind.GROUP and not root.keys:
            return ()
        return None if root.key_outputs is None else tuple(root.key_outputs)

    def _left_out(
        self, row: int, inputs: Inputs, groups: InputGroups, shown: Array, budget: Budget
    ) -> tuple[list[Any], list[bool]]:
        """Return the value of a row without each of some groups, and which take the row away.

        Where nothing names the rows, a row that changes is not recognized.
        """
        axis = groups.axis
        if axis.relation is None or not isinstance(axis.table, SourceRows):
            raise ExploreError("Rows of a subquery are made from others, which can be left out.")
        place = np.full(groups.count, -1)
        place[shown] = np.arange(len(shown))
        chosen = (place[groups.codes] >= 0) & (axis.rows >= 0)
        width = int(axis.rows.max(initial=0)) + 1
        pairs = np.unique(place[groups.codes[chosen]] * width + axis.rows[chosen])
        scenarios, rows = np.divmod(pairs, width)
        tokens = axis.table.tokens.take(pa.array(rows))
        deleted = Deleted(tokens.cast(self.capture._token_types()[axis.relation]), scenarios)
        budget.check()
        memory = self.capture.memory
        labels = pa.array(np.arange(len(shown)))
        changes = memory.what_if_many(Scenarios(labels, {axis.relation: deleted})).changes
        budget.check()
        values: list[Any] = [inputs.total] * len(shown)
        gone = [False] * len(shown)
        answer, identity = memory.answer(), self._identity
        same = np.ones(changes.num_rows, dtype=np.bool_)
        for at in range(answer.num_columns) if identity is None else identity:
            column, value = changes.column(at + 1), answer.column(at)[row]
            mask = pc.equal(column, value) if value.is_valid else pc.is_null(column)
            same &= np.asarray(pc.fill_null(mask, False))
        found = changes.filter(pa.array(same)).slice(0, _CHANGES)
        after = found.column(1 + column_number(memory.engine, inputs.column))
        for scenario, change, value in zip(
            found.column(0).to_pylist(),
            found.column(found.num_columns - 1).to_pylist(),
            after.to_pylist(),
            strict=True,
        ):
            if change == "deleted":
                values[scenario], gone[scenario] = None, True
            elif change == "changed" and identity is not None:
                values[scenario] = value
        return values, gone

    # -- words -----------------------------------------------------------------------------

    def _sentence(self, row: int, asked: KeptInputs, items: Items) -> str:
        """Return what the value is made of, in words."""
        inputs, groups = asked.inputs, items.groups
        answer = self.capture.memory.answer()
        keys = [answer.column(place)[row].as_py() for place in self._identity or ()]
        names = ", ".join(spelled(key, separators=False) for key in keys)
        whole = f"{inputs.column} {spelled(inputs.total)}{f' of {names}' if keys else ''}"
        made = _rows_of(groups.axis)
        if asked.only:
            made += f" with {' and '.join(each['text'] for each in asked.only)}"
        if inputs.function in ("MIN", "MAX"):
            assert inputs.values is not None
            kept = taken(inputs.values, asked.kept)
            return f"{whole}: of {made} {extremes(inputs, kept)}."
        if not groups.count:
            return f"{whole}: no input."
        if asked.only and inputs.shared and not inputs.distinct:
            part = pc.sum(exact(items.values)).as_py()
            made = f"{spelled(part)} of it from {made}"
        order = ranked(inputs, items.values, 1) if groups.ordered else items.order
        (bar,) = _bars(inputs, items, order[:1])
        of_column = f"{groups.column} " if groups.column else f"{groups.axis.name} "
        name = f"{of_column}{'NULL' if bar['label'] is None else bar['label']}"
        value = bar["value"]
        if value is None:
            return f"{whole}: {made}."
        if inputs.values is None:
            word = "more" if value < 0 else "less"
            return f"{whole}: {made}. Without {name} it is {spelled(abs(value))} {word}, the most."
        if inputs.function == "AVG":
            way = "up" if value >= 0 else "down"
            return f"{whole}: {made}; {name} pulls it {way} by {spelled(abs(value))}, the most."
        said = spelled(value) if bar["share"] is None else _percent(bar["share"])
        if inputs.distinct:
            return f"{whole}: {made}; {said} is in {name} alone, the most."
        if groups.values is None and inputs.function == "COUNT" and groups.count > 1:
            return f"{whole}: {made}. Group them by a column to see where there are many."
        return f"{whole}: {made}; the largest, {name}, is {said}."


def _rows_of(axis: Axis) -> str:
    count = axis.distinct
    return f"{count:,} {'row' if count == 1 else 'rows'} of {axis.name}"


def _percent(share: float) -> str:
    return f"{spelled(100 * share)} %" if abs(share) < 0.01 else f"{100 * share:.1f} %"


def _difference(value: Any, old: Any) -> float | None:
    before = number(old)
    return None if before is None else (number(value) or 0.0) - before


def _bars(inputs: Inputs, items: Items, shown: Array) -> list[dict[str, Any]]:
    """Return what each group that is listed brings, its share in the whole, and what it is."""
    total = number(inputs.total) if inputs.shared else None
    groups = items.groups
    values = items.values.take(pa.array(shown)).to_pylist()
    sizes = [number(value) for value in values]
    return [
        {
            "label": label,
            "value": size,
            "text": cell(value),
            "share": size / total if total and size is not None else None,
            "count": count,
            "decides": inputs.function in ("MIN", "MAX") and value == inputs.total,
            "key": key,
            "where": where,
        }
        for value, size, label, where, key, count in zip(
            values,
            sizes,
            groups.labels(shown),
            groups.conditions(shown),
            groups.keys(shown),
            items.counts[shown].tolist(),
            strict=True,
        )
    ]


def _rest(inputs: Inputs, items: Items, rest: Array) -> dict[str, Any]:
    """Return the groups that are not listed, as one."""
    answer: dict[str, Any] = {"count": len(rest), "inputs": int(items.counts[rest].sum())}
    values, summed = items.values, inputs.shared or inputs.function == "AVG"
    if summed and not inputs.distinct and kind(values.type) == "number":
        if pa.types.is_floating(values.type) or values.null_count:
            value = pc.sum(exact(values.take(pa.array(rest)))).as_py()
        else:
            shown = values.take(pa.array(items.shown))
            value = pc.sum(exact(values)).as_py() - pc.sum(exact(shown)).as_py()
        size, total = number(value), number(inputs.total)
        answer |= {"text": cell(value), "value": size}
        if inputs.shared and total and size is not None:
            answer["share"] = size / total
    return answer


def _described(asked: KeptInputs) -> dict[str, Any]:
    """Return what is measured, and what the inputs can be grouped by."""
    inputs = asked.inputs
    return {
        "column": inputs.column,
        "call": inputs.text,
        "function": inputs.function,
        "total": cell(inputs.total),
        "measure": inputs.measure,
        "additive": inputs.shared and not inputs.distinct,
        "nulls": inputs.nulls,
        "only": asked.only,
        "axes": [
            {
                "name": axis.name,
                "relation": axis.relation,
                "note": axis.note,
                "columns": columns(axis.table.schema),
            }
            for axis in asked.axes
        ],
    }

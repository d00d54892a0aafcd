"""The value of a row without each input, or each group of inputs: one question, asked exactly."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import localcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.contributions import (
    AggregatePlace,
    ValuesWithout,
    values_without,
)
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.formal.tensors import check_aggregate, column_number, made_by
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.reach import token_types
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import AskedValue
from lipstick.errors import CaptureError
from lipstick.questions.contributions.axes import Axes, Axis, InputGroups
from lipstick.questions.why.measure import (
    as_numbers,
    difference,
    differences,
    is_measurable,
    is_number,
    rows_with,
)
from rewriter.blocks import GROUP, Kind
from rewriter.interpret import AggregateCall, UninterpretableError, interpret
from semiring.base import Array

if TYPE_CHECKING:
    from lipstick.engines.protocol import AskedCapture

_SILENT = 2.0
"""Seconds after which progress is reported."""


@dataclass(frozen=True, slots=True)
class ValueInputs:
    """One value of the answer, and the input rows that it has.

    Attributes
    ----------
    row, position
        The place of its row in the answer, and its position in the last block.
    output
        The column, by its name in the last block.
    call, aggregate
        The aggregate that the value is, and where; None: it is another expression.
    axes
        The rows that the inputs come from.
    divided
        True if the inputs are members of a group that no relation has twice a part in, so that a
        sum is made of parts; None: the axes are not of the same inputs, each has its own.
    nulls
        Inputs that an aggregate does not count, for their argument is NULL.
    """

    row: int
    position: int
    column: str
    output: str
    value: Any
    call: AggregateCall | None
    aggregate: AggregatePlace | None
    axes: list[Axis]
    divided: bool | None
    nulls: int

    @property
    def summed(self) -> bool:
        """True if the value is a sum or a number that inputs have parts in."""
        return bool(self.divided and self.call and self.call.function in ("SUM", "COUNT"))

    @property
    def joint(self) -> bool:
        """True if all axes are about the same inputs."""
        return self.divided is not None

    def grouped(self, axis: int | None, column: str, unit: str) -> InputGroups:
        """Return the inputs in groups; see :func:`grouped`."""
        return grouped(self.axes, axis, column, unit)


def grouped(axes: list[Axis], axis: int | None, column: str, unit: str) -> InputGroups:
    """Return inputs in groups; by default by the rows of the axis with the most rows.

    Raises
    ------
    CaptureError
        Where there are no inputs, no such axis or no such column.
    """
    if not axes:
        raise CaptureError("The value has no inputs that can be told apart.")
    places = range(len(axes))
    finest = 0 if len(places) == 1 else max(places, key=lambda at: axes[at].distinct)
    chosen = finest if axis is None else axis
    if not 0 <= chosen < len(axes):
        raise CaptureError(f"The value has {len(axes)} axes, none {chosen}.")
    return axes[chosen].groups(column, unit)


@dataclass(frozen=True, slots=True)
class GroupContributions:
    """The value of a row without each of some groups of inputs.

    Attributes
    ----------
    inputs
        The value, and its inputs.
    without
        The values, whether the row is still there, and whether this is known, one per group.
    """

    inputs: ValueInputs
    without: ValuesWithout

    @property
    def gone(self) -> Array:
        """Boolean array: the groups without which the row is not there."""
        return self.without.known & ~self.without.there

    def brought(self, groups: Array) -> list[Any]:
        """Return by how much the value is larger with each of some groups, exactly.

        Of a sum or a number what the group adds, whether or not the row is there without it. None
        where there is no such number: the value is unknown, gone or NULL without the group, or it
        is not a number.
        """
        values = self._compared.take(pa.array(groups)).to_pylist()
        return [
            difference(self.inputs.value, 0 if value is None and self.inputs.summed else value)
            if known
            else None
            for value, known in zip(values, self.without.known[groups].tolist(), strict=True)
        ]

    def brought_together(self, groups: Array) -> Any:
        """Return the sum of the parts that some groups have in a sum; None: one is not known."""
        if not self.without.known[groups].all() or self.inputs.value is None:
            return None
        parts = self._compared.take(pa.array(groups))
        if pa.types.is_decimal(parts.type):
            parts = parts.cast(pa.decimal256(76, parts.type.scale))
        elif pa.types.is_integer(parts.type):
            parts = parts.cast(pa.decimal128(38, 0))
        with localcontext(prec=100):
            return len(groups) * self.inputs.value - (pc.sum(parts).as_py() or 0)

    @property
    def _compared(self) -> pa.Array:
        return self.without.parts if self.inputs.summed else self.without.values

    def sizes(self) -> Array:
        """Return how much each group matters, as float64 to sort by; -1: that is not known.

        The size of the change of the value; the least there is where it is gone.
        """
        found, compared = self.without, self._compared
        least = np.nextafter(0.0, 1.0)
        if is_measurable(compared.type) and self.inputs.value is not None:
            (now,) = as_numbers(pa.array([self.inputs.value], found.values.type))
            numbers = as_numbers(compared)
            if np.isnan(now):
                sizes = np.where(np.isnan(numbers), 0.0, np.inf)
            else:
                with np.errstate(invalid="ignore"):  # infinities less infinities
                    sizes = np.abs(numbers - now)
                sizes = np.where(np.isnan(sizes), abs(now) if self.inputs.summed else least, sizes)
                sizes = np.where(numbers == now, 0.0, sizes)
        else:
            now = pa.scalar(self.inputs.value, found.values.type)
            sizes = np.array([least * (value != now) for value in found.values])
        return np.where(found.known, sizes, -1.0)

    def order(self, most: int | None = None) -> Array:
        """Return the groups, the most important first; unknown ones are last.

        Only the first `most` are in order, if that is given.
        """
        sizes = -self.sizes()
        if most is None or len(sizes) <= most:
            return np.argsort(sizes, kind="stable")
        ahead = sizes <= np.partition(sizes, most - 1)[most - 1]
        near = np.flatnonzero(ahead)
        near = near[np.argsort(sizes[near], kind="stable")]
        return np.concatenate([near, np.flatnonzero(~ahead)])


def position_of(memory: Memory, row: int) -> int:
    """Return the position in the last block of a row of the answer."""
    state = memory.engine.base(memory.engine.root.name)
    ordered = state.ordered
    copies = state.copies(ordered)
    return int(ordered[np.searchsorted(np.cumsum(copies), row, side="right")])


def has_inputs(memory: Memory, place: int) -> bool:
    """Return True if a column of the answer has values that deletions can change."""
    root = memory.engine.root
    output = root.outputs[place]
    try:
        check_aggregate(memory.engine, memory.engine.manifest.names[place], NOTHING)
    except CaptureError:
        if output.stable or not is_number(memory.answer().schema.field(place).type):
            return False
    if root.kind is not Kind.GROUP:
        return True
    # A key of the grouping is the same as long as its row is there.
    keys = {(GROUP, name) for name, _ in root.keys}
    try:
        columns = set(interpret(output.scalar).columns)
    except UninterpretableError:
        return True
    return not (columns and columns <= keys)


def inputs_of(memory: Memory, axes: Axes, row: int, column: str) -> ValueInputs:
    """Return a value of the answer, by the place of its row, and its inputs.

    Raises
    ------
    CaptureError
        Where there is no such column, or no deletion can change its values.
    """
    engine = memory.engine
    place, position = column_number(engine, column), position_of(memory, row)
    at = np.array([position], dtype=np.int64)
    output, value = engine.root.outputs[place].name, memory.answer().column(place)[row].as_py()
    named = memory.answer().column_names[place]
    call: AggregateCall | None = None
    part: AggregatePlace | None = None
    try:
        block, of_block, at_block = made_by(engine, check_aggregate(engine, column, at), at)
        rows = engine.rows(block)
        if isinstance(rows, GroupRows):
            scalar = interpret(next(o.scalar for o in rows.block.outputs if o.name == of_block))
            assert scalar.column is not None
            call = rows.calls[scalar.column[1]]
            part = AggregatePlace(block, scalar.column[1], int(at_block[0]))
            members, nulls = _counted_members(rows, call, at_block)
            found = axes.of_members(rows, members)
            if found:
                once = _are_read_once(engine, {axis.relation for axis in found})
                return ValueInputs(
                    row, position, named, output, value, call, part, found, once, nulls
                )
    except (CaptureError, UninterpretableError):
        pass  # The value is not a plain aggregate.
    if not has_inputs(memory, place):
        raise CaptureError(f"{column!r} is not a number that inputs add up to or change.")
    found = axes.of_row(at)
    return ValueInputs(row, position, named, output, value, None, None, found, None, 0)


def _are_read_once(engine: Engine, relations: set[str]) -> bool:
    """Return True if the query reads relations once each."""
    read = [token.relation for block in engine.blocks.values() for token in block.tokens]
    return all(read.count(relation) == 1 for relation in relations)


def _counted_members(rows: GroupRows, call: AggregateCall, at: Array) -> tuple[Array, int]:
    """Return the members of a group that an aggregate counts, and how many it leaves out."""
    members, _ = rows.grouping.present_members(at)
    if not call.arguments:
        return members, 0
    resolve = rows.members.resolve(members, rows.members.base)
    valid = np.ones(len(members), dtype=np.bool_)
    for argument in call.arguments:
        array = argument.evaluate(resolve).to_arrow(len(members))
        if array.null_count:
            valid &= np.asarray(array.is_valid())
    return members[valid], int(np.count_nonzero(~valid))


def contributions_of(
    memory: Memory,
    inputs: ValueInputs,
    groups: InputGroups,
    seconds: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> GroupContributions:
    """Return the value without each of some groups of its inputs.

    A group is left out by deleting the rows of its relation that are in it.

    Parameters
    ----------
    seconds
        After which the other groups stay unknown; None: never.
    progress
        Called with a line of text where it takes more than two seconds.

    Cost: one pass of :func:`lipstick.engines.memory.contributions.values_without`.
    """
    axis = groups.axis
    chosen = axis.rows >= 0
    width = int(axis.rows.max(initial=0)) + 1
    pairs = groups.codes[chosen] * width + axis.rows[chosen]
    if not bool((np.diff(pairs) > 0).all()):
        pairs = np.unique(pairs)
    scenarios, rows = np.divmod(pairs, width)
    keys = axis.source.tokens.take(pa.array(rows))
    kinds = token_types(memory.engine)[axis.relation]
    columns = [key.cast(kind) for key, kind in zip(keys.columns, kinds, strict=True)]
    tokens = pa.table(columns, keys.column_names)
    begun = time.monotonic()

    def go_on(done: int) -> bool:
        passed = time.monotonic() - begun
        if progress is not None and passed > _SILENT:
            progress(f"{done:,} of {groups.count:,} groups of {axis.name}")
        return seconds is None or passed < seconds

    deleted = {axis.relation: Deleted(tokens, scenarios)}
    found = values_without(
        memory.engine,
        AskedValue(inputs.position, inputs.output),
        deleted,
        groups.count,
        go_on,
        inputs.aggregate,
    )
    # Of inputs that have no row of the relation, there is nothing to leave out.
    found.known[np.bincount(scenarios, minlength=groups.count) == 0] = False
    return GroupContributions(inputs, found)


def contributions(
    capture: AskedCapture,
    column: str,
    row: int | Mapping[str, Any] | None,
    by: str | None,
    seconds: float | None,
    progress: Callable[[str], None] | None,
) -> pa.Table:
    """Return the value without each group of inputs; see :meth:`lipstick.Capture.contributions`."""
    memory = capture.memory
    axes = Axes(memory, capture.engine.spark)
    inputs = inputs_of(memory, axes, _place(memory, row), column)
    groups = inputs.grouped(*grouping(by, inputs.axes))
    found = contributions_of(memory, inputs, groups, seconds, progress)
    order = found.order()
    rows = groups.first[order]
    if groups.values is None:
        table = groups.axis.take(rows)
    else:
        table = pa.table([groups.values.take(pa.array(order))], [groups.column])
    counts = np.bincount(groups.codes, minlength=groups.count)[order]
    gone = pa.array(found.gone[order], mask=~found.without.known[order])
    after = found.without.values.take(pa.array(order))
    table = table.append_column("_inputs", pa.array(counts))
    table = table.append_column("_after", after)
    table = table.append_column("_effect", differences(after, inputs.value))
    return table.append_column("_gone", gone)


def _place(memory: Memory, row: int | Mapping[str, Any] | None) -> int:
    """Return the place of a row in the answer, given it or values of columns; None: the only row.

    Raises
    ------
    CaptureError
        When no row, or several, are meant.
    """
    answer = memory.answer()
    if isinstance(row, int):
        if not 0 <= row < answer.num_rows:
            raise CaptureError(f"The answer has {answer.num_rows:,} rows, none {row:,}.")
        return row
    places = rows_with(answer, row or {})
    if len(places) != 1:
        raise CaptureError(
            f"{len(places):,} rows of the answer are meant: name one by the values of its columns, "
            "row={...}, or by its place."
        )
    return int(places[0])


def grouping(by: str | None, axes: list[Axis]) -> tuple[int | None, str, str]:
    """Return the axis, column and unit that ``[RELATION.]COLUMN[:UNIT]`` or ``RELATION`` names.

    Raises
    ------
    CaptureError
        Where there is no such column.
    """
    if by is None:
        return None, "", ""
    path, _, unit = by.partition(":")
    relation, _, column = path.rpartition(".")
    for number, axis in enumerate(axes):
        if path == axis.name:
            return number, "", ""
        if relation in ("", axis.name) and column in axis.source.schema.names:
            return number, column, unit
    known = "; ".join(f"{a.name}: {', '.join(a.source.schema.names)}" for a in axes)
    raise CaptureError(f"The inputs have no column {path!r} to group by. There are {known}.")

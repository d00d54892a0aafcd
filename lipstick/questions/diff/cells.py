"""The change of one cell under one text, divided among the changed rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.errors import CaptureError
from lipstick.questions.diff.changes import ChangedRows
from lipstick.questions.diff.shares import (
    DividedChange,
    Sides,
    divide,
    divide_sum,
    side_members,
    whole_numbers,
)
from rewriter.analysis.rational_change import RationalChange, change_of
from rewriter.blocks import GROUP, Block, BlockSource
from rewriter.interpret import UninterpretableError, aggregate_call, interpret
from semiring.errors import CapabilityError


def rational(value: Any) -> Fraction:
    """Return a number, or a moment in days or seconds, exactly; 0 for NULL.

    Raises
    ------
    CaptureError
        For values that are not numbers, and for NaN and infinities.
    """
    match value:
        case None:
            return Fraction(0)
        case bool() | int() | Decimal():
            return Fraction(value)
        case float() if np.isfinite(value):
            return Fraction(value)
        case datetime():
            # Microseconds, as Arrow has them.
            return Fraction(pa.scalar(value, pa.timestamp("us")).value, 10**6)
        case date():
            return Fraction(pa.scalar(value, pa.date32()).value)
    raise CaptureError(f"{value!r} is not a number whose difference has parts.")


def data_parts(
    engines: Sequence[Engine],
    rows: Sequence[int | None],
    output: int,
    values: Sequence[Any],
    changes: Mapping[str, ChangedRows],
) -> tuple[list[tuple[Fraction, DividedChange]], Fraction]:
    """Return the parts of a cell under one text: divided changes with their slopes, and the rest.

    Parameters
    ----------
    rows
        The positions of the cell's row in the answers' blocks; None: it is not there.
    output
        The place of its column.
    values
        What the cell is in both.

    Raises
    ------
    CapabilityError
        For numbers whose change has no rule by rows.
    """
    root = engines[0].root
    both = [engine.rows(engine.root.name) for engine in engines]
    name = root.outputs[output].name
    text = interpret(root.outputs[output].scalar).text
    for its_rows in both:
        if isinstance(its_rows, WindowRows) or not isinstance(its_rows, GroupRows | MemberRows):
            raise no_rule(text, "windows and UNION")
    if root.copies or root.difference or _reads_rows(root):
        raise no_rule(text, "rows of subqueries and differences of bags")
    before, after = (
        side_members(its, position, changes, side)  # type: ignore[arg-type]
        for side, (its, position) in enumerate(zip(both, rows, strict=True))
    )
    sides = Sides(before, after, changes)
    reported = rational(values[1]) - rational(values[0])
    try:
        if isinstance(both[0], MemberRows):
            columns = [
                engines[number].base(engines[number].root.name).take(name, side.positions)
                for number, side in sides.known
            ]
            numbers, unit = whole_numbers(columns)
            divided = [(Fraction(1), divide_sum(numbers, unit, sides))]
        else:
            divided = _of_group(sides, root.outputs[output].scalar, engines, rows)
    except UninterpretableError as error:
        raise no_rule(str(error), "other aggregates and functions") from error
    moved = sum((slope * (each.after - each.before) for slope, each in divided), Fraction(0))
    lost = sum((slope * each.lost for slope, each in divided), Fraction(0))
    return divided, reported - moved + lost


def _reads_rows(root: Block) -> bool:
    """Return True if the members of a block are made of rows of other blocks."""
    core = root.core is not None and any(isinstance(s, BlockSource) for s in root.core.sources)
    return core or bool(root.joined or root.lookups)


def _of_group(
    sides: Sides, scalar: Any, engines: Sequence[Engine], rows: Sequence[int | None]
) -> list[tuple[Fraction, DividedChange]]:
    changed: dict[str, DividedChange] = {}
    calls = {name: aggregate_call(call) for name, call in engines[0].root.aggregates}

    def number(each: DividedChange, name: str) -> RationalChange:
        changed[name] = each
        return RationalChange(each.before, each.after, {name: Fraction(1)})

    def column(alias: str, name: str) -> RationalChange | None:
        if alias != GROUP:
            return None
        if name in calls:
            if f"{name} 0" not in changed:
                for place, each in enumerate(divide(calls[name], sides)):
                    number(each, f"{name} {place}")
            numbers = [
                RationalChange(each.before, each.after, {key: Fraction(1)})
                for key, each in changed.items()
                if key.rpartition(" ")[0] == name
            ]
            return numbers[0] if len(numbers) == 1 else numbers[0] / numbers[1]
        constants = [
            rational(engine.base(engine.root.name).take(name, np.array([row]))[0].as_py())
            for engine, row in zip(engines, rows, strict=True)
            if row is not None
        ]
        return RationalChange(constants[0], constants[0]) if len(set(constants)) == 1 else None

    change = change_of(scalar, column)
    if change is None:
        raise UninterpretableError(interpret(scalar).text)
    return [(slope, changed[name]) for name, slope in change.slopes.items()]


def no_rule(text: str, what: str) -> CapabilityError:
    """Return the error for a number whose change is not divided among rows."""
    return CapabilityError(
        f"The change of {text} is not divided among rows: {what} have no rule.\n"
        "Sums, counts, averages, least and greatest values, distinct counts, and what +, -, * and "
        "/ make of them have one."
    )

"""Columns of an answer by name, and the ones that are plain aggregates."""

from __future__ import annotations

from collections.abc import Mapping

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.reach import members_of
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.errors import CaptureError
from rewriter.blocks import GROUP, Kind
from rewriter.interpret import AggregateCall, interpret
from semiring.base import Array
from semiring.errors import closest


def column_number(engine: Engine, column: str) -> int:
    """Return the index of a column of the answer, given its name in any case.

    Raises
    ------
    CaptureError
        When there is no such column, or several.
    """
    names = engine.manifest.names
    numbers = [number for number, name in enumerate(names) if name == column]
    numbers = numbers or [p for p, name in enumerate(names) if name.lower() == column.lower()]
    if len(numbers) != 1:
        problem = "has several columns" if numbers else "has no column"
        raise CaptureError(f"The answer {problem} {column!r}.\n{closest(column, names)}")
    return numbers[0]


def check_aggregate(engine: Engine, column: str, positions: Array) -> str:
    """Return the name of the output behind a column of the answer, which must be an aggregate.

    Raises
    ------
    CaptureError
        When there is no such column, or several, or it is not just an aggregate.
    """
    shown = engine.root.outputs[column_number(engine, column)].name
    name, output, positions = made_by(engine, shown, positions)
    block, rows = engine.blocks[name], engine.rows(name)
    if isinstance(rows, WindowRows) and rows.aggregated(output) is not None:
        return shown
    scalar = interpret(next(o.scalar for o in block.outputs if o.name == output))
    calls: Mapping[str, AggregateCall] = rows.calls if isinstance(rows, GroupRows) else {}
    if scalar.column is None or scalar.column[0] != GROUP or scalar.column[1] not in calls:
        raise CaptureError(
            f"Column {column!r} is not an aggregate alone, whose members bring something to it.\n"
            f"algebra.tensors({column!r}) has its formal value."
        )
    call = calls[scalar.column[1]]
    if call.function is None:
        raise CaptureError(
            f"Column {column!r} is not a SUM, COUNT, MIN, MAX or AVG.\n"
            f"algebra.tensors({column!r}) has its formal value."
        )
    return shown


def made_by(engine: Engine, output: str, positions: Array) -> tuple[str, str, Array]:
    """Return the block and the output that compute an output, and the positions of its rows there.

    Blocks on the way only pass the output on.
    """
    name = engine.root.name
    while True:
        block, members = engine.blocks[name], members_of(engine.rows(name))
        scalar = interpret(next(o.scalar for o in block.outputs if o.name == output))
        lookups = {} if members is None else {lookup.alias: lookup for lookup in members.joined}
        lookup = lookups.get(scalar.column[0]) if scalar.column is not None else None
        if block.kind is not Kind.ROWS or members is None or lookup is None:
            return name, output, positions
        assert scalar.column is not None
        positions = members.references.of(lookup, positions)
        name, output = lookup.block.name, scalar.column[1]

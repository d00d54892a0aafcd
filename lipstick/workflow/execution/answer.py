"""What the query of a module gave: its rows, and where they are in its capture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.capture.capture import Capture
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.state import State
from semiring.arrow import whole
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gave: its rows, and where tracked, its capture with their positions in it."""

    table: pa.Table
    engine: Engine | None = None
    positions: Array | None = None


def captured_answer(engine: Engine, table: pa.Table) -> Answer:
    """The answer that a capture holds, whose rows are a table's."""
    return Answer(table, engine, repeated(engine.base(engine.root.name)))


def repeated(state: State) -> Array:
    """The positions of the rows of an answer, in its order, each as often as it is there."""
    return np.repeat(state.ordered, state.copies(state.ordered))


def rows_by_spark(capture: Capture, state: State) -> pa.Table:
    """The answer's rows in the order of its positions, its expressions computed by Spark."""
    root, positions = capture.manifest.root, repeated(state)
    rows = capture.cluster.present().toArrow()
    keys = KeyTable([whole(rows.column(name)) for name in root.identity], rows.num_rows)
    wanted = [state.take(name, positions) for name in root.identity]
    places = pa.array(keys.find(wanted, len(positions)))
    columns = [whole(rows.column(output.name)).take(places) for output in root.outputs]
    return pa.Table.from_arrays(columns, names=list(capture.manifest.names))

"""Stores whose replies are well formed and say nonsense: they are named, or refused by name."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphquery.federation.federation import Federation
from graphquery.federation.transport import LocalTransport
from graphquery.federation.wire import Message, Read, reader, received
from semiring.errors import LipstickError
from tests.graphquery.federation.oracle import COUNTING, OPTIONS, WHY

STRANGE: list[Any] = [None, -1, 7, 2**70, 0.5, "x", [], [[]], {}, "ff" * 16, ["ff" * 16], True]


class Lying(LocalTransport):
    """A folder whose replies are changed, and sealed again."""

    def __init__(self, path: Path, random: np.random.Generator) -> None:
        super().__init__(path)
        self.random = random
        self.lying = False

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Read]:
        with super().exchange(request, timeout) as read:
            reply = received(read)
            if self.lying:
                reply = self.changed(reply)
            yield reader(reply.to_bytes())

    def changed(self, reply: Message) -> Message:
        """A reply with something in its header or tables that does not belong there."""
        header = json.loads(json.dumps(reply.header))
        tables = dict(reply.tables)
        if tables and self.random.random() < 0.6:
            name = str(self.random.choice(list(tables)))
            tables[name] = self.table(tables[name])
            if self.random.random() < 0.1:
                del tables[name]
        else:
            self.header(header)
        return Message(header, tables)

    def header(self, document: Any) -> None:
        """Change one thing somewhere in a document."""
        keys = list(document) if isinstance(document, dict) else list(range(len(document)))
        if not keys:
            return
        key = keys[self.random.integers(len(keys))]
        if isinstance(document[key], (dict, list)) and document[key] and self.random.random() < 0.7:
            self.header(document[key])
        elif self.random.random() < 0.2:
            del document[key]
        else:
            document[key] = STRANGE[self.random.integers(len(STRANGE))]

    def table(self, table: pa.Table) -> pa.Table:
        """Change one column of a table."""
        number = int(self.random.integers(table.num_columns))
        name, count = table.column_names[number], len(table)
        how = self.random.integers(5)
        if how == 0:
            return table.remove_column(number)
        if how == 1:
            return table.slice(0, count // 2)
        values: pa.Array = pa.array(self.random.integers(-3, 2**40, count))
        if how == 2:
            values = pa.nulls(count, pa.int64())
        elif how == 3:
            values = pa.array(["x"] * count, pa.string())
        elif how == 4:
            values = pa.array(self.random.random(count))
        return table.set_column(number, name, values)


@pytest.mark.parametrize("seed", range(int(os.environ.get("LIPSTICK_FEDERATIONS", "2")) * 10))
def test_nonsense_is_named_and_never_an_accident(seed: int, stores: dict[str, Path]) -> None:
    random = np.random.default_rng(seed)
    options = list(OPTIONS.values())[seed % len(OPTIONS)]
    transports = {alias: Lying(path, random) for alias, path in stores.items()}
    federation = Federation(transports, options=options)
    liar = str(random.choice(list(stores)))
    transports[liar].lying = True
    questions = [
        lambda f: f.ancestors("D::d3"),
        lambda f: f.ancestors("D::d3", 6),
        lambda f: f.descendants("A::a1"),
        lambda f: f.flow("A::a1", "D::d3"),
        lambda f: f.paths("A::a0", "D::d3"),
        lambda f: f.delete(["A::a1", "C::c0"]),
        lambda f: f.depends("D::d3", ["A::a1", "C::c0"]),
        lambda f: f.evaluate(COUNTING, "D::d3"),
        lambda f: f.evaluate(WHY, "D::d3"),
        lambda f: f.names(f.ancestors("D::d3")),
        lambda f: f.refresh(),
    ]
    for question in questions:
        with contextlib.suppress(LipstickError):
            question(federation)

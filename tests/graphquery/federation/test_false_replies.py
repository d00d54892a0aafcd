"""Stores whose replies are well formed and false: they are left out, and the others answer."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphquery.federation.federation import Federation
from graphquery.federation.questions.answer import UNTRUSTED, NodesAnswer, Verdict, VerdictAnswer
from graphquery.federation.wire.messages import WireMessage, reader, received
from graphquery.federation.wire.transport import Incoming, LocalTransport
from tests.graphquery.federation.oracle import COUNTING, OPTIONS, WHY
from tests.graphquery.federation.unreliable import Unreliable

STRANGE: list[Any] = [None, -1, 7, 2**70, 0.5, "x", [], [[]], {}, "ff" * 16, ["ff" * 16], True]


class Lying(LocalTransport):
    """A folder whose replies are changed, and sealed again."""

    def __init__(self, path: Path, random: np.random.Generator) -> None:
        super().__init__(path)
        self.random = random
        self.lying = False

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Incoming]:
        with super().exchange(request, timeout) as incoming:
            reply = received(incoming.read)
            if self.lying:
                reply = self.changed(reply)
            yield Incoming(reader(reply.to_bytes()))

    def changed(self, reply: WireMessage) -> WireMessage:
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
        return WireMessage(header, tables)

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


QUESTIONS = {
    "ancestors": lambda f: f.ancestors("D::d3"),
    "ancestors within": lambda f: f.ancestors("D::d3", 6),
    "descendants": lambda f: f.descendants("A::a1"),
    "descendants within": lambda f: f.descendants("A::a1", 6),
    "delete": lambda f: f.delete(["A::a1", "A::a0"]),
    "flow": lambda f: f.flow("A::a1", "D::d3"),
    "paths": lambda f: f.paths("A::a0", "D::d3"),
    "depends": lambda f: f.depends("D::d3", ["A::a1", "A::a0"]),
    "counting": lambda f: f.evaluate(COUNTING, "D::d3"),
    "why": lambda f: f.evaluate(WHY, "D::d3"),
    "refresh": lambda f: f.refresh(),
}
"""Questions about nodes of the first and the last store; the others lie between them."""


def _without(answer: Any, liar: str) -> set[tuple[str, int, int]]:
    """Return the nodes of an answer that are in honest stores."""
    return {
        (alias, segment, ordinal)
        for alias, nodes in answer.nodes.items()
        if alias != liar
        for segment, ordinals in nodes.ordinals.items()
        for ordinal in ordinals.tolist()
    }


@pytest.mark.parametrize("liar", ["B", "C"])
@pytest.mark.parametrize("seed", range(int(os.environ.get("LIPSTICK_FEDERATIONS", "1")) * 5))
def test_a_lying_member_takes_nothing_from_the_others(
    seed: int, liar: str, stores: dict[str, Path]
) -> None:
    """No question fails, and what is known with the liar down is known with it lying, too.

    It lies before the federation is opened, or from then on.
    """
    random = np.random.default_rng((seed, ord(liar)))
    options = list(OPTIONS.values())[seed % len(OPTIONS)]

    def federation(member: LocalTransport, *, early: bool) -> Federation:
        transports = {alias: LocalTransport(path) for alias, path in stores.items()}
        if isinstance(member, Lying):
            member.lying = early
        opened = Federation({**transports, liar: member}, options=options)
        if isinstance(member, Lying):
            member.lying = True
        return opened

    down = Unreliable(stores[liar])
    down.down = True
    without = federation(down, early=True)
    for name, question in QUESTIONS.items():
        least = question(without)
        for early in (True, False):
            what = f"seed {seed}, {liar} lies, {name}, early {early}"
            lying = question(federation(Lying(stores[liar], random), early=early))
            if name == "refresh":
                assert set(stores) - {liar} <= set(lying.heads), what
            elif isinstance(lying, NodesAnswer):
                assert _without(least, liar) <= _without(lying, liar), what
            elif isinstance(lying, VerdictAnswer):
                assert least.verdict in (Verdict.UNKNOWN, lying.verdict), what


def test_a_member_that_claims_another_identity_is_left_out(stores: dict[str, Path]) -> None:
    """Believed is the store that was there before, the owner of a channel, and else neither."""

    class Claiming(LocalTransport):
        def __init__(self, path: Path, **claims: Any) -> None:
            super().__init__(path)
            self.claims = claims

        @contextlib.contextmanager
        def exchange(self, request: bytes, timeout: float | None) -> Iterator[Incoming]:
            with super().exchange(request, timeout) as incoming:
                reply = received(incoming.read)
                header = json.loads(json.dumps(reply.header))
                header.get("head", {}).update(self.claims)
                yield Incoming(reader(WireMessage(header, reply.tables).to_bytes()))

    honest = {alias: LocalTransport(path) for alias, path in stores.items()}
    identity = {alias: f"0{alias.lower()}" * 16 for alias in stores}
    whole = Federation(honest).ancestors("D::d3")
    heads = Federation(honest).directory.heads
    exports = {channel: asdict(each) for channel, each in heads["A"].exports.items()}
    forged = Claiming(stores["C"], store=identity["A"])
    neither = Federation({**honest, "F": forged}).directory
    assert {alias: each.reason for alias, each in neither.absent.items()} == {
        "A": UNTRUSTED,
        "F": UNTRUSTED,
    }
    known = Federation({**honest, "F": forged}, {"A": identity["A"]})
    assert list(known.directory.absent) == ["F"]
    assert len(known.ancestors("D::d3")) == len(whole)
    # The owner does not answer: who claims its identity still is not believed.
    gone = Unreliable(stores["A"])
    gone.down = True
    absent = Federation({**honest, "A": gone, "F": forged}, {"A": identity["A"]})
    answer = absent.ancestors("D::d3")
    assert {(each.store, each.reason) for each in answer.missing} == {("A", "unreachable")}
    assert "F" not in answer.nodes
    thief = Claiming(stores["C"], store="0f" * 16, exports=exports, imports={})
    stolen = Federation({**honest, "F": thief})
    assert list(stolen.directory.absent) == ["F"]
    assert len(stolen.ancestors("D::d3")) == len(whole)


def test_texts_of_members_are_escaped_and_short(stores: dict[str, Path]) -> None:
    class Refusing(LocalTransport):
        @contextlib.contextmanager
        def exchange(self, request: bytes, timeout: float | None) -> Iterator[Incoming]:
            text = "\x1b]0;title\x07\u202e" + "x" * 10_000
            yield Incoming(reader(WireMessage({"error": "refused", "message": text}).to_bytes()))

    failure = Federation({"A": Refusing(stores["A"])}).directory.absent["A"]
    assert failure.message.isprintable()
    assert failure.message.startswith("\\x1b]0;title\\x07\\u202e")
    assert len(failure.message) < 600
